"""Transformers into spaces where Euclidean distances say what they should."""

from credalis.metric_learning._dissimilarity_pca import DissimilarityPCA

__all__ = ["DissimilarityPCA"]
