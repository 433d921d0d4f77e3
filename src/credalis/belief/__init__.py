"""Arithmetic of mass functions: vectorised over the rows of a mass matrix.

A mass matrix has one row per object and one column per focal set; `FocalSets` says
what the columns stand for. A single mass function is a vector.
"""

from credalis.belief._combination import (
    conflict,
    conflict_matrix,
    conjunctive,
    dempster,
    disjunctive,
    mass_apart,
)
from credalis.belief._consonant import (
    consonant_masses,
    isopignistic_masses,
)
from credalis.belief._decisions import (
    act_scores,
    admissible_acts,
    decide,
    partial_utilities,
)
from credalis.belief._decomposition import (
    bold,
    cautious,
    conjunctive_weights,
    conjunctive_weights_to_masses,
    disjunctive_weights,
    disjunctive_weights_to_masses,
)
from credalis.belief._discounting import (
    condition,
    contextual_discount,
    decondition,
    discount,
)
from credalis.belief._distances import (
    belief_distance,
    jaccard_matrix,
    jousselme_distance,
)
from credalis.belief._focal_sets import MAX_CLUSTERS as MAX_CLUSTERS
from credalis.belief._focal_sets import FocalSets
from credalis.belief._focal_sets import check_n_clusters as check_n_clusters
from credalis.belief._frames import (
    coarsen,
    marginalize,
    refine,
    vacuous_extension,
)
from credalis.belief._mobius import (
    commonality_to_masses,
    implicability_to_masses,
    masses_to_commonality,
    masses_to_implicability,
)
from credalis.belief._random import (
    random_masses,
)
from credalis.belief._relational import (
    PAIR_COLUMNS,
    PAIR_FOCAL_SETS,
    paired_masses,
    pairwise_blocks,
    pairwise_masses,
)
from credalis.belief._stacks import (
    combine,
)
from credalis.belief._transforms import (
    belief,
    commonality,
    contour,
    dempster_normalize,
    empty_mass,
    implicability,
    pignistic,
    plausibility,
    plausibility_transform,
    yager_normalize,
)
from credalis.belief._uncertainty import (
    entropy,
    is_bayesian,
    is_certain,
    is_consonant,
    is_logical,
    is_normalized,
    is_vacuous,
    nonspecificity,
)

__all__ = [
    "PAIR_COLUMNS",
    "PAIR_FOCAL_SETS",
    "FocalSets",
    "act_scores",
    "admissible_acts",
    "belief",
    "belief_distance",
    "bold",
    "cautious",
    "coarsen",
    "combine",
    "commonality",
    "commonality_to_masses",
    "condition",
    "conflict",
    "conflict_matrix",
    "conjunctive",
    "conjunctive_weights",
    "conjunctive_weights_to_masses",
    "consonant_masses",
    "contextual_discount",
    "contour",
    "decide",
    "decondition",
    "dempster",
    "dempster_normalize",
    "discount",
    "disjunctive",
    "disjunctive_weights",
    "disjunctive_weights_to_masses",
    "empty_mass",
    "entropy",
    "implicability",
    "implicability_to_masses",
    "is_bayesian",
    "is_certain",
    "is_consonant",
    "is_logical",
    "is_normalized",
    "is_vacuous",
    "isopignistic_masses",
    "jaccard_matrix",
    "jousselme_distance",
    "marginalize",
    "mass_apart",
    "masses_to_commonality",
    "masses_to_implicability",
    "nonspecificity",
    "paired_masses",
    "pairwise_blocks",
    "pairwise_masses",
    "partial_utilities",
    "pignistic",
    "plausibility",
    "plausibility_transform",
    "random_masses",
    "refine",
    "vacuous_extension",
    "yager_normalize",
]
