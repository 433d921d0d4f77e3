"""Training of NNEVCLUS on batches of a stream."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from credalis._threads import one_thread
from credalis.cluster._framework._fit import (
    about_features,
    fitted_attributes,
    set_fitted,
    store_reference,
)
from credalis.cluster.nnevclus._network import FittedNetwork, network_for
from credalis.cluster.nnevclus._settings import Settings, check_mode
from credalis.cluster.nnevclus._start import prepare
from credalis.cluster.nnevclus._training import (
    MemoryFeed,
    TrainingState,
    block_trainer,
    engine_context,
    run,
    train,
)

if TYPE_CHECKING:
    from credalis.cluster.nnevclus._nnevclus import NNEVCLUS

# Objects whose masses show whether the last update, whose loss nobody has seen, has
# left a usable network.
_N_TRIED = 200


def train_on_stream(
    estimator: NNEVCLUS, X: Any, object_shape: tuple[int, ...] | None
) -> None:
    """Check a batch, start with it if it is the first, and train on it."""
    is_new = not hasattr(estimator, "weights_")
    X = estimator._validate(X, reset=is_new)
    estimator._check_parameters()
    check_mode(estimator, "stream")
    settings = Settings.of(estimator, len(X), "stream")
    with one_thread():
        if is_new:
            estimator._check_enough_objects(X)
            fitted = _started(estimator, settings, X, object_shape)
        else:
            _check_same_model(estimator)
            fitted = FittedNetwork.of(estimator)
        before, rng = estimator._stream or (
            TrainingState(fitted.parameters),
            check_random_state(estimator.random_state),
        )
        state = _trained(fitted, settings, X, before, rng)
        fitted = replace(fitted, parameters=state.trace().state)
        with np.errstate(all="ignore"):
            masses = fitted.masses(X[:_N_TRIED])
        if not np.isfinite(masses).all():
            raise ValueError(
                "masses must stay finite, they are not after a batch whose loss was "
                f"{state.history[-1]}: lower learning_rate_init"
            )
    known = {
        name: value
        for name, value in fitted_attributes(estimator).items()
        if name == "reference_"
    }
    set_fitted(
        estimator,
        {
            **about_features(estimator),
            "focal_sets_": fitted.focal_sets,
            "loss_": state.history[-1],
            "n_iter_": getattr(estimator, "n_iter_", 0) + 1,
            **fitted.fitted_attributes(),
            **known,
        },
    )
    if is_new:
        # Like the scale of the inputs, what is ordinary is what the first batch says.
        store_reference(estimator, X, np.random.RandomState(0))
    estimator._stream = replace(state, history=()), rng


def _trained(
    fitted: FittedNetwork,
    settings: Settings,
    X: NDArray[np.float64],
    before: TrainingState,
    rng: np.random.RandomState,
) -> TrainingState:
    """One pass over a batch, one update for each block."""
    data = fitted.training_data(X, settings.dtype)
    trainer = block_trainer(fitted.network, data, settings)
    feed = MemoryFeed(trainer, settings.solver, rng, n_positions=None)
    begin = replace(before, parameters=fitted.parameters, n_passes=0)
    with engine_context(fitted.network, settings, rng):
        return run(train(settings, feed, begin), begin)


def _started(
    estimator: NNEVCLUS,
    settings: Settings,
    X: NDArray[np.float64],
    object_shape: tuple[int, ...] | None,
) -> FittedNetwork:
    """Scaling, δ0, novelty detector and random weights from the first batch."""
    rng = check_random_state(estimator.random_state)
    space = prepare(settings, X, rng, object_shape=object_shape).space
    focal_sets = estimator._focal_sets_of(estimator.n_clusters)
    network = network_for(settings, space, focal_sets)
    return FittedNetwork(network, network.initial_parameters(rng), focal_sets, space)


def _check_same_model(estimator: NNEVCLUS) -> None:
    """Refuse to go on from a fit that a stream cannot continue."""
    if estimator.has_given_dissimilarities_:
        raise ValueError(
            "partial_fit needs dissimilarities that it can compute for new rows, but "
            "fit was given dissimilarities of its own"
        )
    n_clusters = estimator.focal_sets_.n_clusters
    if estimator.n_clusters != n_clusters:
        raise ValueError(
            f"n_clusters must stay {n_clusters}, as in what is being continued, got "
            f"{estimator.n_clusters}: use a clone for another stream"
        )
