"""Terms of a cost on masses, weighted and added: ``0.5 * a + 0.1 * b``.

Masses in here have shape (n_focal_sets, n_samples), but (n_samples, n_focal_sets) in
costs of rows, which are minimised row by row.
"""

from credalis.objectives._affine_stress import AffineStress, Entropy
from credalis.objectives._base import Objective, Scaled, Sum
from credalis.objectives._block_stress import (
    BlockStress,
    block_stress,
    residual_store,
)
from credalis.objectives._constraints import PairConstraints
from credalis.objectives._labels import LabelFit
from credalis.objectives._row_stress import (
    CommonStress,
    PartnerStress,
    RowCost,
    RowStress,
)
from credalis.objectives._stress import DenseStress, SampledStress, cross_stress
from credalis.objectives._values import (
    label_penalty,
    pair_penalty,
    sampled_stress,
    stress_sum,
)

__all__ = [
    "AffineStress",
    "BlockStress",
    "CommonStress",
    "DenseStress",
    "Entropy",
    "LabelFit",
    "Objective",
    "PairConstraints",
    "PartnerStress",
    "RowCost",
    "RowStress",
    "SampledStress",
    "Scaled",
    "Sum",
    "block_stress",
    "cross_stress",
    "label_penalty",
    "pair_penalty",
    "residual_store",
    "sampled_stress",
    "stress_sum",
]
