"""Terms of a cost on masses, weighted and added: ``0.5 * a + 0.1 * b``.

Masses in here have shape (n_focal_sets, n_samples).
"""

from credalis.objectives._base import Objective, Scaled, Sum
from credalis.objectives._block_stress import BlockStress, block_stress
from credalis.objectives._constraints import PairConstraints
from credalis.objectives._labels import LabelFit
from credalis.objectives._stress import DenseStress, SampledStress, cross_stress

__all__ = [
    "BlockStress",
    "DenseStress",
    "LabelFit",
    "Objective",
    "PairConstraints",
    "SampledStress",
    "Scaled",
    "Sum",
    "block_stress",
    "cross_stress",
]
