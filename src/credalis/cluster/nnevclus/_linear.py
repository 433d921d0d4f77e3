"""A network that knows the centres of clusters before any training.

Which of some centres is the nearest is linear in the attributes: with ‖x - v_k‖² =
‖x‖² - 2 x·v_k + ‖v_k‖², the posterior probabilities of round clusters of variance s² in
each direction are the softmax of (x·v_k - ‖v_k‖² / 2) / s². Two units for each input,
max(z, 0) and max(-z, 0), or one unit max(z + b, 0) with b beyond all objects, hand the
inputs on to the outputs.
"""

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets
from credalis.network import CredalNetwork, Standardization

Array = NDArray[np.float64]

# Inputs of objects that are this much farther out than all others still count.
_MARGIN = 2.0

# Where other sets of clusters begin: below the largest output of nearly all objects, by
# so much that they have little mass, but enough to be moved.
_LOW_SHARE = 0.01
_BELOW = 3.0


def can_be_linear(network: CredalNetwork) -> bool:
    """Whether there are enough hidden units to hand on all inputs."""
    n_inputs, *hidden, _ = network.perceptron.sizes
    return len(hidden) == 1 and hidden[0] >= n_inputs


def linear_start(
    network: CredalNetwork,
    start: Array,
    attributes: Array,
    labels: NDArray[np.intp],
    standardize: Standardization,
    focal_sets: FocalSets,
) -> Array:
    """Parameters with which outputs tell the nearest of the centres of clusters.

    Parameters
    ----------
    network : CredalNetwork
        One for which `can_be_linear` is true.
    start : array of shape (n_parameters,)
        Random parameters. Hidden units that are not needed keep their weights; they
        count nothing until training says so.
    attributes : array of shape (n_samples, n_inputs)
        Objects.
    labels : array of int, shape (n_samples,)
        Their clusters, none of which is empty.
    standardize : Standardization
        From attributes to inputs.
    focal_sets : FocalSets
        The outputs.
    """
    n_clusters, n_inputs = focal_sets.n_clusters, attributes.shape[1]
    deviations = attributes - standardize.mean
    sums = np.zeros((n_clusters, n_inputs))
    np.add.at(sums, labels, deviations)
    centers = sums / np.bincount(labels, minlength=n_clusters)[:, None]
    variance = np.square(deviations - centers[labels]).mean() or 1.0
    slopes = centers * standardize.scale / variance
    constants = -0.5 * np.square(centers).sum(axis=1) / variance
    parameters = start.copy()
    hidden, outputs = network.weights(parameters)
    outputs[:] = 0.0
    inputs = deviations / standardize.scale
    rows = np.arange(n_inputs)
    columns = np.array([focal_sets.index((k,)) for k in range(n_clusters)])
    if len(hidden) >= 2 * n_inputs:
        hidden[: 2 * n_inputs] = 0.0
        hidden[rows, 1 + rows] = 1.0
        hidden[n_inputs + rows, 1 + rows] = -1.0
        outputs[columns, 1 : 1 + n_inputs] = slopes
        outputs[columns, 1 + n_inputs : 1 + 2 * n_inputs] = -slopes
    else:
        shift = _MARGIN * np.abs(inputs).max(axis=0)
        hidden[:n_inputs] = 0.0
        hidden[rows, 0] = shift
        hidden[rows, 1 + rows] = 1.0
        outputs[columns, 1 : 1 + n_inputs] = slopes
        constants = constants - slopes @ shift
    outputs[columns, 0] = constants
    largest = (inputs @ slopes.T - 0.5 * np.square(centers).sum(axis=1) / variance).max(
        axis=1
    )
    others = np.setdiff1d(np.arange(len(focal_sets)), columns)
    outputs[others, 0] = np.quantile(largest, _LOW_SHARE) - _BELOW
    return parameters
