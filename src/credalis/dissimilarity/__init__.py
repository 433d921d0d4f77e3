"""Dissimilarities of objects, and their transformation to targets for conflicts.

A dissimilarity d becomes the target δ* = φ(d) = 1 - exp(-γ d²) in [0, 1), with γ such
that φ(δ0) = 0.95. The classes here give the similarities 1 - δ* = exp(-γ d²) of
any block of pairs without ever holding those of all pairs.
"""

from credalis.dissimilarity._gower import Gower, extent_of, gower_distances
from credalis.dissimilarity._similarities import (
    MAX_STORED,
    TARGET_AT_SCALE,
    BlendedSimilarities,
    DeferredSimilarities,
    EuclideanSimilarities,
    MatrixSimilarities,
    MetricSimilarities,
    RoundedMatrix,
    Similarities,
    StoredSimilarities,
    check_dissimilarities,
    decay_rate,
    dissimilarities_between,
    sample_pairs,
    transform,
)

__all__ = [
    "MAX_STORED",
    "TARGET_AT_SCALE",
    "BlendedSimilarities",
    "DeferredSimilarities",
    "EuclideanSimilarities",
    "Gower",
    "MatrixSimilarities",
    "MetricSimilarities",
    "RoundedMatrix",
    "Similarities",
    "StoredSimilarities",
    "check_dissimilarities",
    "decay_rate",
    "dissimilarities_between",
    "extent_of",
    "gower_distances",
    "sample_pairs",
    "transform",
]
