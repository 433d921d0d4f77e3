"""Parameters that estimators share: checks, and what they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from credalis._checks import (
    check_choice,
    check_flag,
    check_integer,
    check_n_jobs,
    check_number,
    check_seed,
    shown,
)
from credalis.belief import FocalSets

if TYPE_CHECKING:
    from credalis.cluster._framework._estimator import BaseCredalClusterer

FOCAL_SETS = ("auto", "singletons", "pairs", "full", "two-step")

# "auto" takes all pairs up to here: as many sets as the masses can be told apart on.
_MAX_CLUSTERS_WITH_ALL_PAIRS = 4

# Parameters of some estimators that are true or false.
_FLAGS = ("early_stopping", "squared", "symmetrize", "warm_start")


def check_common(estimator: BaseCredalClusterer) -> None:
    """Check the parameters that most estimators have, except n_clusters."""
    parameters = estimator.get_params(deep=False)
    max_iter, n_init = parameters["max_iter"], parameters["n_init"]
    if not (isinstance(max_iter, str) and estimator._chooses_max_iter):
        check_integer("max_iter", max_iter, at_least=1)
    if "tol" in parameters:
        check_number("tol", parameters["tol"], at_least=0)
    if not isinstance(parameters["verbose"], bool):
        check_integer("verbose", parameters["verbose"], at_least=0)
    if isinstance(n_init, str):
        check_choice("n_init", n_init, ("auto",))
    else:
        check_integer("n_init", n_init, at_least=1)
    for name in _FLAGS:
        if name in parameters:
            check_flag(name, parameters[name])
    check_n_jobs(parameters["n_jobs"])
    check_seed("random_state", parameters["random_state"])


def resolved_focal_sets(focal_sets: Any, n_clusters: int) -> FocalSets:
    """Focal sets that the parameter ``focal_sets`` stands for.

    Those of "two-step" are the ones of its first step.
    """
    if isinstance(focal_sets, FocalSets):
        if focal_sets.n_clusters != n_clusters:
            raise ValueError(
                f"focal_sets must be about n_clusters={n_clusters} clusters, got "
                f"sets of {focal_sets.n_clusters} clusters"
            )
        if not focal_sets.membership.any(axis=0).all():
            raise ValueError(
                f"every cluster must be in a focal set, got focal_sets={focal_sets!r}"
            )
        return focal_sets
    if not isinstance(focal_sets, str) or focal_sets not in FOCAL_SETS:
        listed = ", ".join(map(repr, FOCAL_SETS))
        raise ValueError(
            f"focal_sets must be one of {listed} or a FocalSets, "
            f"got {shown(focal_sets)}"
        )
    few = n_clusters <= _MAX_CLUSTERS_WITH_ALL_PAIRS
    if focal_sets == "full":
        return FocalSets.full(n_clusters)
    if focal_sets == "pairs" or (focal_sets == "auto" and few):
        return FocalSets.pairs(n_clusters)
    return FocalSets.singletons(n_clusters)
