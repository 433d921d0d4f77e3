"""Where a fit begins that follows one with fewer clusters of the same rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from credalis.cluster.nnevclus._network import FittedNetwork
from credalis.network import CredalNetwork, with_constant

# Starts of a fit that follows one with fewer clusters: from its hard clusters, and from
# what was found before.
N_INIT_AFTER_FEWER = 2

if TYPE_CHECKING:
    from credalis.belief import FocalSets
    from credalis.cluster.nnevclus._start import NetworkProblem


def after_fewer(problem: NetworkProblem, fewer: FittedNetwork) -> NetworkProblem:
    """The problem that begins with what a fit with fewer clusters has found.

    Its hard clusters get the numbers of the clusters that they share most objects with,
    and those without such a partner are the new ones. The problem is returned as it is
    if it would not begin with hard clusters, so many times, or has other inputs.
    """
    clusters, settings = problem.clusters, problem.settings
    n_old, n_clusters = fewer.focal_sets.n_clusters, settings.n_clusters
    if clusters is None or problem.views is not None or not _is_alike(problem, fewer):
        return problem
    sizes = np.bincount(clusters.labels, minlength=n_clusters)
    is_open = settings.n_init is None and not settings.begins_with_clusters
    if not is_open or n_old >= n_clusters or not sizes.all():
        return problem
    space, objects = fewer.space, clusters.objects
    masses = fewer.network.masses(
        fewer.parameters,
        with_constant(space.standardize(problem.attributes[objects])),
        None if problem.scores is None else problem.scores[objects],
    )
    plausible = fewer.focal_sets.membership.T.astype(float) @ masses
    shared = np.zeros((n_clusters, n_old))
    np.add.at(shared, (clusters.labels, plausible.argmax(axis=0)), 1.0)
    known, numbers = linear_sum_assignment(shared, maximize=True)
    new_labels = np.full(n_clusters, -1)
    new_labels[known] = numbers
    new_labels[new_labels < 0] = np.arange(n_old, n_clusters)
    renumbered = replace(clusters, labels=new_labels[clusters.labels])
    return replace(problem, clusters=renumbered, fewer=fewer)


def start_after_fewer(
    network: CredalNetwork,
    problem: NetworkProblem,
    focal_sets: FocalSets,
    rng: np.random.RandomState,
) -> NDArray[np.float64]:
    """Parameters that do for the old clusters what they did, and tell the new ones."""
    fewer, clusters = problem.fewer, problem.clusters
    assert fewer is not None
    assert clusters is not None
    inputs = problem.space.standardize(problem.attributes[clusters.objects])
    return fewer.extended(
        network, problem.space, focal_sets, inputs, clusters.labels, rng
    ).parameters


def _is_alike(problem: NetworkProblem, fewer: FittedNetwork) -> bool:
    """Whether both networks are perceptrons that take the attributes of rows."""
    space, earlier = problem.space, fewer.space
    is_plain = problem.settings.module is None and problem.settings.is_full_batch
    return (
        is_plain
        and isinstance(fewer.network, CredalNetwork)
        and (space.novelty is None) == (earlier.novelty is None)
        and space.n_inputs == earlier.n_inputs
        and all(
            each.projection is None and each.embedding is None
            for each in (space, earlier)
        )
    )
