"""Transformers into spaces where Euclidean distances say what they should.

From labels: `FDA`, `LFDA`, `KFDA`. From pairs, given or between labelled objects:
`LSI`, `DMLeig`, `PCCA`, `KPCCA`. From dissimilarities: `DissimilarityPCA`. Each can
stand alone, in a pipeline, or as ``metric`` of a clusterer, which hands on its side
information.
"""

from credalis.metric_learning._dissimilarity_pca import DissimilarityPCA
from credalis.metric_learning._fda import FDA, LFDA
from credalis.metric_learning._kfda import KFDA
from credalis.metric_learning._mahalanobis import LSI, DMLeig
from credalis.metric_learning._pcca import KPCCA, PCCA

__all__ = [
    "FDA",
    "KFDA",
    "KPCCA",
    "LFDA",
    "LSI",
    "PCCA",
    "DMLeig",
    "DissimilarityPCA",
]
