"""The estimators."""

from sklearn.svm import OneClassSVM

from credalis import _archive
from credalis.cluster._base import BaseCredalClusterer
from credalis.cluster._bcm import BCM
from credalis.cluster._bootclus import Bootclus
from credalis.cluster._bootstrap import Replicates
from credalis.cluster._bpec import BPEC
from credalis.cluster._ccm import CCM
from credalis.cluster._cecm import CECM
from credalis.cluster._ecm import ECM
from credalis.cluster._ecmdd import ECMdd
from credalis.cluster._eknnclus import EkNNclus
from credalis.cluster._evclus import EVCLUS
from credalis.cluster._mecm import MECM
from credalis.cluster._nnevclus import NNEVCLUS
from credalis.cluster._nnevclus_data import Standardization
from credalis.cluster._recm import RECM
from credalis.cluster._savable import (
    TRANSFORMERS,
    restorer,
    to_state,
    unfitted_state,
)
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
