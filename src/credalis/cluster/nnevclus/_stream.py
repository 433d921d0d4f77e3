"""Training of NNEVCLUS on batches of a stream."""

from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from credalis.cluster._framework._solution import one_thread
from credalis.cluster._inputs._geometry import fitted_geometry
from credalis.cluster._inputs._side_information import side_information
from credalis.cluster.nnevclus._problem import (
    BATCH_SIZE,
    fitted_network,
    hidden_sizes,
    network_of,
    prepare,
)
from credalis.cluster.nnevclus._solve import (
    copied_weights,
    flat_parameters,
    network_attributes,
)
from credalis.cluster.nnevclus._training import block_trainer
from credalis.network import TrainingData, torch_engine, with_constant

Array = NDArray[np.float64]

# A stream has no end for a schedule to fall towards: a small constant rate.
_LEARNING_RATE = 0.003


def train_on_stream(estimator: Any, X: Any) -> None:
    """Check a batch, start with it if it is the first, and train on it."""
    is_new = not hasattr(estimator, "weights_")
    X = estimator._validate(X, reset=is_new)
    estimator._check_parameters()
    if estimator._is_precomputed:
        raise ValueError(
            "metric must not be 'precomputed' for partial_fit: the objects of a stream "
            "have no common dissimilarity matrix"
        )
    if not is_new:
        _check_same_model(estimator)
    with one_thread():
        if is_new:
            estimator._check_enough_objects(X)
            _start(estimator, X, check_random_state(estimator.random_state))
        estimator.loss_ = _train_on_batch(estimator, X)
    for name in ("partition_", "labels_", "stress_", "history_"):
        if hasattr(estimator, name):
            delattr(estimator, name)
    estimator.n_iter_ = getattr(estimator, "n_iter_", 0) + 1


def _check_same_model(estimator: Any) -> None:
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


def _start(estimator: Any, X: NDArray[np.float64], rng: np.random.RandomState) -> None:
    """Scaling, δ0, novelty detector and random weights from the first batch."""
    problem = prepare(
        estimator,
        X,
        rng,
        dissimilarities=None,
        partial_labels=None,
        must_link=None,
        cannot_link=None,
    )
    focal_sets = estimator._first_focal_sets()
    hidden = hidden_sizes(estimator, focal_sets)
    network = network_of(estimator, problem.attributes.shape[1], hidden, focal_sets)
    parameters = network.initial_parameters(rng)
    estimator.focal_sets_ = focal_sets
    for name, value in network_attributes(network, parameters, problem).items():
        setattr(estimator, name, value)


def _train_on_batch(estimator: Any, X: NDArray[np.float64]) -> float:
    """One pass over a batch, one update for each block; the mean cost is returned."""
    inputs, novelty = estimator.standardization_(X), estimator.novelty_
    data = TrainingData(
        with_constant(inputs),
        None if novelty is None else novelty(inputs),
        fitted_geometry(estimator, X).similarities(estimator.scale_, np.float64),
        estimator.focal_sets_,
        side_information(
            None,
            None,
            None,
            n_samples=len(X),
            n_clusters=estimator.n_clusters,
            label_weight=estimator.label_weight,
            constraint_weight=estimator.constraint_weight,
        ),
    )
    network = fitted_network(estimator)
    batch_size = estimator.batch_size
    batch_size = BATCH_SIZE if isinstance(batch_size, str) else batch_size
    trainer = block_trainer(
        network, data, min(batch_size, len(X)), estimator.engine, estimator.device
    )
    if not hasattr(estimator, "_stream"):
        rate = estimator.learning_rate_init
        rate = _LEARNING_RATE if isinstance(rate, str) else rate
        optimizer = trainer.optimizer("adam", rate)
        estimator._stream = optimizer, check_random_state(estimator.random_state)
    optimizer, rng = estimator._stream
    vector = trainer.vector(flat_parameters(estimator))
    surroundings = (
        torch_engine().training(network, rng)
        if estimator.engine == "torch"
        else nullcontext()
    )
    with surroundings:
        loss = trainer.epoch(vector, rng, optimizer.step)
    parameters = trainer.array(vector)
    if not (np.isfinite(loss) and _is_usable(network, parameters, data)):
        # The weights stay what they were; the moments of the updates are spoilt.
        del estimator._stream
        raise ValueError(
            f"loss and masses must stay finite, they are not after a batch whose loss "
            f"was {loss}: lower learning_rate_init"
        )
    estimator.weights_ = copied_weights(network, parameters)
    if network.link is not None:
        estimator.novelty_coefficients_ = parameters[-2:].copy()
    return loss


def _is_usable(network: Any, parameters: Array, data: TrainingData) -> bool:
    """Whether masses are finite after the last update, whose loss nobody has seen."""
    assert isinstance(data.inputs, np.ndarray)
    scores = None if data.scores is None else data.scores[:BATCH_SIZE]
    with np.errstate(all="ignore"):
        masses = network.masses(parameters, data.inputs[:, :BATCH_SIZE], scores)
    return bool(np.isfinite(masses).all())
