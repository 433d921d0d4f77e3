"""Terms of a cost on masses, weighted and added: ``0.5 * a + 0.1 * b``.

Masses in here have shape (n_focal_sets, n_samples), but (n_samples, n_focal_sets) in
costs of rows, which are minimised row by row, and where prototypes give them.
"""

from credalis.objectives._adaptive_metric import MetricSpace
from credalis.objectives._affine_stress import AffineStress, Entropy
from credalis.objectives._common_stress import CommonStress
from credalis.objectives._exponent import (
    automatic_exponent,
    mean_squared_cosine,
    mean_squared_cosine_within,
)
from credalis.objectives._mass_costs import (
    SMALLEST_COST,
    cluster_shares,
    mass_weights,
    masses_from_costs,
    row_blocks,
    set_costs,
)
from credalis.objectives._partner_stress import PartnerStress
from credalis.objectives._prototypes import (
    PrototypeModel,
    PrototypeMoments,
    SetPrototypes,
    barycenters,
    cluster_scatters,
    ecm_centers,
    ecm_model,
    prototype_costs,
    prototype_masses,
    prototype_moments,
    set_prototypes,
    updated_centers,
)
from credalis.objectives._row_stress import RowCost, RowStress
from credalis.objectives._stress import (
    BlockStress,
    DenseStress,
    PartStress,
    SampledStress,
    block_stress,
    cross_stress,
    residual_store,
)
from credalis.objectives._terms import LabelFit, Objective, PairConstraints, Scaled, Sum
from credalis.objectives._values import (
    label_penalty,
    pair_penalty,
    sampled_stress,
    stress_sum,
)
from credalis.objectives._weighted_stress import WeightedStress

__all__ = [
    "SMALLEST_COST",
    "AffineStress",
    "BlockStress",
    "CommonStress",
    "DenseStress",
    "Entropy",
    "LabelFit",
    "MetricSpace",
    "Objective",
    "PairConstraints",
    "PartStress",
    "PartnerStress",
    "PrototypeModel",
    "PrototypeMoments",
    "RowCost",
    "RowStress",
    "SampledStress",
    "Scaled",
    "SetPrototypes",
    "Sum",
    "WeightedStress",
    "automatic_exponent",
    "barycenters",
    "block_stress",
    "cluster_scatters",
    "cluster_shares",
    "cross_stress",
    "ecm_centers",
    "ecm_model",
    "label_penalty",
    "mass_weights",
    "masses_from_costs",
    "mean_squared_cosine",
    "mean_squared_cosine_within",
    "pair_penalty",
    "prototype_costs",
    "prototype_masses",
    "prototype_moments",
    "residual_store",
    "row_blocks",
    "sampled_stress",
    "set_costs",
    "set_prototypes",
    "stress_sum",
    "updated_centers",
]
