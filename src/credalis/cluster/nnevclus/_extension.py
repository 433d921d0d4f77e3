"""A fitted NNEVCLUS with further clusters, without forgetting those it knows."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from credalis._control import fitting
from credalis._threads import one_thread
from credalis._warnings import warn_user
from credalis.belief import FocalSets
from credalis.cluster._framework._fit import (
    about_features,
    set_fitted,
    store_reference,
)
from credalis.cluster._inputs._clusters import hard_clusters
from credalis.cluster._inputs._geometry import scale_of, takes_contrast
from credalis.cluster.nnevclus._network import FittedNetwork, network_for
from credalis.cluster.nnevclus._nnevclus import NNEVCLUS
from credalis.cluster.nnevclus._settings import Settings
from credalis.cluster.nnevclus._start import (
    NetworkProblem,
    NetworkSolution,
    prepare,
    say_nothing,
    train_on_labels,
    train_to_end,
)
from credalis.network import renamed_subset
from credalis.partition import uncopied_partition

Array = NDArray[np.float64]

# How much the labels count while they are shown: as much as the stress.
_LABEL_WEIGHT = 0.5

# Objects of an old cluster that say what is ordinary, however few are in a new one.
_LEAST_OLD = 50


@fitting("the extension")
def extended(
    model: NNEVCLUS,
    replay: Array,
    labels: NDArray[np.intp],
    new_clusters: Sequence[Array],
) -> NNEVCLUS:
    """A model that knows new clusters besides the old ones.

    Parameters
    ----------
    model : NNEVCLUS
        Fitted to attributes; it is not changed.
    replay : array of shape (n_replay, n_features)
        Objects of the old clusters.
    labels : array of int, shape (n_replay,)
        Their clusters.
    new_clusters : sequence of arrays of shape (n_objects, n_features)
        Objects of each new cluster.

    Returns
    -------
    NNEVCLUS
        With the old clusters under their numbers and the new ones after them.

    Raises
    ------
    ValueError
        If the network is a module of the user's: how its outputs grow is not known.
    """
    if model.module is not None:
        raise ValueError(
            "model must be a perceptron to be extended, got one with "
            f"module={model.module!r}: fit a new model with more clusters instead"
        )
    n_old = model.focal_sets_.n_clusters
    n_clusters = n_old + len(new_clusters)
    rng = check_random_state(model.random_state)
    X = np.concatenate([replay, *new_clusters])
    sizes = [len(objects) for objects in new_clusters]
    labels = np.append(labels, np.repeat(np.arange(n_old, n_clusters), sizes))
    result = _enlarged(model, n_clusters)
    result._check_parameters()
    known = FittedNetwork.of(model)
    with one_thread():
        problem = _problem(known, result, X, rng, new_clusters)
        solution = _trained(known, model, result, problem, labels, rng)
        if result._has_two_steps:
            solution = _second_step(problem, solution, rng)
    if solution.is_interrupted:
        # Half an extension is of no use while the old model is still there.
        raise KeyboardInterrupt
    if not solution.trace.converged:
        warn_user(
            f"the extension did not converge in max_iter={problem.settings.max_iter} "
            "iterations: increase max_iter or tol of the model",
            ConvergenceWarning,
        )
    set_fitted(
        result,
        {
            **about_features(model),
            "focal_sets_": solution.network.focal_sets,
            **solution.attributes(),
        },
    )
    if result._reports_novelty:
        with one_thread():
            chosen = _balanced(labels, n_old, rng)
            store_reference(result, X[chosen], rng)
    return result


def _trained(
    known: FittedNetwork,
    model: NNEVCLUS,
    result: NNEVCLUS,
    problem: NetworkProblem,
    labels: NDArray[np.intp],
    rng: np.random.RandomState,
) -> NetworkSolution:
    """A larger network, shown the labels first and then trained without them."""
    focal_sets = _first_sets(known.focal_sets, result)
    hidden = known.trained_weights.hidden_sizes
    if isinstance(model.hidden_layer_sizes, str):
        wanted = problem.settings.hidden_sizes(focal_sets)
        hidden = tuple(np.maximum(hidden, wanted))
    network = network_for(problem.settings, problem.space, focal_sets, hidden)
    larger = known.extended(
        network, problem.space, focal_sets, problem.inputs, labels, rng
    )
    labelled = replace(
        problem.information,
        objects=np.arange(len(labels)),
        labels=labels,
        label_weight=_LABEL_WEIGHT,
    )
    shown = train_on_labels(
        network, larger.parameters, problem, focal_sets, labelled, rng
    )
    if shown.interrupted:
        raise KeyboardInterrupt
    return train_to_end(network, shown.state, problem, focal_sets, rng, say_nothing)


def _balanced(
    labels: NDArray[np.intp], n_old: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Row numbers of all new objects and of no more of each old cluster.

    Few objects among many are far from each other: compared with all old objects, those
    of a new cluster would be outliers because nobody has seen enough of them yet.
    """
    sizes = np.bincount(labels)
    at_most = max(_LEAST_OLD, int(sizes[n_old:].min()))
    chosen = []
    for cluster, size in enumerate(sizes):
        members = np.flatnonzero(labels == cluster)
        if cluster < n_old and size > at_most:
            members = rng.choice(members, at_most, replace=False)
        chosen.append(members)
    return np.sort(np.concatenate(chosen))


def _enlarged(model: NNEVCLUS, n_clusters: int) -> NNEVCLUS:
    """An estimator that is not fitted, with the parameters that still make sense."""
    result = clone(model).set_params(n_clusters=n_clusters)
    if not isinstance(model.init, str):
        # Centres or row numbers of the old clusters only, of the old data.
        result.set_params(init="random")
    if isinstance(model.focal_sets, FocalSets):
        result.set_params(focal_sets=_grown_sets(model.focal_sets_, n_clusters))
    return result


def _first_sets(old: FocalSets, result: NNEVCLUS) -> FocalSets:
    if result._has_two_steps:
        return _grown_sets(old, result.n_clusters)
    return result._focal_sets_of(result.n_clusters)


def _grown_sets(old: FocalSets, n_clusters: int) -> FocalSets:
    """The old sets and the new singletons; Ω stays Ω."""
    renamed = [renamed_subset(subset, old.n_clusters, n_clusters) for subset in old]
    frame = tuple(range(n_clusters))
    kept = [subset for subset in renamed if subset and subset != frame]
    added = [(cluster,) for cluster in range(old.n_clusters, n_clusters)]
    return FocalSets.from_subsets(
        n_clusters,
        [*kept, *added],
        empty=() in renamed,
        frame=frame in renamed,
    )


def _problem(
    known: FittedNetwork,
    result: NNEVCLUS,
    X: Array,
    rng: np.random.RandomState,
    new_clusters: Sequence[Array] = (),
) -> NetworkProblem:
    """Scaling, δ0 and novelty detector for old and new objects together."""
    projection = known.space.projection
    if projection is not None:
        settings = replace(Settings.of(result, len(X)), init="random")
        wider = projection.widened(list(new_clusters))
        return prepare(settings, X, rng, projection=wider)
    # The labels say where the clusters are, so that no seeds are needed, and a
    # transformer stays what it is: it may have been fitted to pairs of other objects.
    settings = replace(
        Settings.of(result, len(X)), init="random", metric=known.space.metric
    )
    problem = prepare(settings, X, rng)
    transformer = known.space.transformer
    if transformer is None:
        return problem
    geometry = known.space.geometry(X)
    share = 0.0
    if takes_contrast(settings):
        share = hard_clusters(geometry, settings.n_clusters, rng).share_apart
    space = replace(
        problem.space,
        transformer=transformer,
        scale=scale_of(settings, geometry, share, rng),
    )
    return replace(problem, geometry=geometry, space=space)


def _second_step(
    problem: NetworkProblem, solution: NetworkSolution, rng: np.random.RandomState
) -> NetworkSolution:
    """Go on with the pairs of neighbouring clusters among the focal sets."""
    first = solution.network.focal_sets
    pairs = {subset for subset in first if len(subset) == 2}
    pairs |= set(uncopied_partition(solution.masses, first).neighboring_clusters())
    focal_sets = FocalSets.pairs(first.n_clusters, pairs)
    weights = solution.network.trained_weights.extended(focal_sets)
    network = network_for(
        problem.settings, problem.space, focal_sets, weights.hidden_sizes
    )
    start = weights.put_into(network, np.empty(network.n_parameters))
    return train_to_end(network, start, problem, focal_sets, rng, say_nothing)
