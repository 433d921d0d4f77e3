"""Training of NNEVCLUS on batches of a stream."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from credalis.cluster._geometry import fitted_geometry
from credalis.cluster._nnevclus_problem import (
    BATCH_SIZE,
    fitted_network,
    hidden_sizes,
    network_of,
    prepare,
)
from credalis.cluster._nnevclus_solve import flat_parameters, network_attributes
from credalis.cluster._side_information import side_information
from credalis.network import BlockTrainer, TrainingData, with_constant
from credalis.optimize import Adam

# A stream has no end for a schedule to fall towards: a small constant rate.
_LEARNING_RATE = 0.003


def start_stream(
    estimator: Any, X: NDArray[np.float64], rng: np.random.RandomState
) -> None:
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


def train_on_batch(estimator: Any, X: NDArray[np.float64]) -> float:
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
    parameters = flat_parameters(estimator)
    if not hasattr(estimator, "_stream"):
        rate = estimator.learning_rate_init
        rate = _LEARNING_RATE if isinstance(rate, str) else rate
        estimator._stream = Adam(rate), check_random_state(estimator.random_state)
    optimizer, rng = estimator._stream
    batch_size = estimator.batch_size
    batch_size = BATCH_SIZE if isinstance(batch_size, str) else batch_size
    trainer = BlockTrainer(network, data, min(batch_size, len(X)))
    loss = trainer.epoch(parameters, rng, optimizer.step)
    estimator.weights_ = [
        layer.copy() for layer in network.perceptron.layers(parameters)
    ]
    if network.link is not None:
        estimator.novelty_coefficients_ = parameters[-2:].copy()
    return loss
