"""The estimators."""

from sklearn.svm import OneClassSVM

from credalis import _archive
from credalis.cluster._framework._estimator import BaseCredalClusterer
from credalis.cluster._framework._savable import (
    TRANSFORMERS,
    restorer,
    to_state,
    unfitted_state,
)
from credalis.cluster._inputs._standardization import Standardization
from credalis.cluster.bootstrap._bootclus import Bootclus
from credalis.cluster.bootstrap._replicates import Replicates
from credalis.cluster.evclus._evclus import EVCLUS
from credalis.cluster.nnevclus._nnevclus import NNEVCLUS
from credalis.cluster.prototypes._bcm import BCM
from credalis.cluster.prototypes._bpec import BPEC
from credalis.cluster.prototypes._ccm import CCM
from credalis.cluster.prototypes._cecm import CECM
from credalis.cluster.prototypes._ecm import ECM
from credalis.cluster.relational._ecmdd import ECMdd
from credalis.cluster.relational._mecm import MECM
from credalis.cluster.relational._recm import RECM
from credalis.cluster.votes._eknnclus import EkNNclus
from credalis.metric_learning import (
    FDA,
    KFDA,
    KPCCA,
    LFDA,
    LSI,
    PCCA,
    DissimilarityPCA,
    DMLeig,
)
from credalis.network import KernelScores, NoveltyScorer

__all__ = [
    "BCM",
    "BPEC",
    "CCM",
    "CECM",
    "ECM",
    "EVCLUS",
    "MECM",
    "NNEVCLUS",
    "RECM",
    "BaseCredalClusterer",
    "Bootclus",
    "ECMdd",
    "EkNNclus",
]

for _class in (
    BCM,
    BPEC,
    CCM,
    CECM,
    ECM,
    EVCLUS,
    MECM,
    NNEVCLUS,
    RECM,
    DissimilarityPCA,
    ECMdd,
    Bootclus,
    EkNNclus,
    DMLeig,
    FDA,
    KFDA,
    KPCCA,
    KernelScores,
    LFDA,
    LSI,
    NoveltyScorer,
    Replicates,
    PCCA,
    Standardization,
):
    _archive.register(_class)

_archive.register(
    OneClassSVM, to_state=unfitted_state, from_state=restorer(OneClassSVM)
)
for _class in TRANSFORMERS:
    _archive.register(_class, to_state=to_state, from_state=restorer(_class))
