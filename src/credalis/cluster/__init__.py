"""The estimators."""

from credalis import _archive
from credalis.cluster._base import BaseCredalClusterer
from credalis.cluster._ecm import ECM
from credalis.cluster._nnevclus import NNEVCLUS
from credalis.cluster._nnevclus_data import Standardization
from credalis.cluster._savable import TRANSFORMERS, restorer, to_state
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

__all__ = ["ECM", "NNEVCLUS", "BaseCredalClusterer"]

for _class in (
    ECM,
    NNEVCLUS,
    DMLeig,
    DissimilarityPCA,
    FDA,
    KFDA,
    KPCCA,
    KernelScores,
    LFDA,
    LSI,
    NoveltyScorer,
    PCCA,
    Standardization,
):
    _archive.register(_class)

for _class in TRANSFORMERS:
    _archive.register(_class, to_state=to_state, from_state=restorer(_class))
