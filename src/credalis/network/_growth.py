"""Weights of a perceptron for further clusters; its other outputs stay as they are."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from credalis.belief import FocalSets
from credalis.network._model import Standardization
from credalis.optimize import minimize_lbfgs

Array = NDArray[np.float64]
Subset = tuple[int, ...]

# Keeps the outputs of new clusters finite where the objects can be told apart.
_REGRESSION_PENALTY = 1e-4


def renamed_subset(subset: Subset, n_old: int, n_new: int) -> Subset:
    """What a focal set becomes when there are more clusters: Ω stays Ω."""
    if n_old > 1 and len(subset) == n_old:
        return tuple(range(n_new))
    return subset


def output_weights(known: Mapping[Subset, Array], focal_sets: FocalSets) -> Array:
    """Weights of the outputs for focal sets, (n_focal_sets, n_units + 1).

    Those of a set that is not known are between those of its clusters, lowered so that
    it is not chosen before training says so.
    """
    rows = []
    for subset in focal_sets:
        if subset in known:
            rows.append(known[subset])
            continue
        parts = [known[(cluster,)] for cluster in subset if (cluster,) in known]
        row = np.mean(parts, axis=0)
        row[0] -= 1.0
        rows.append(row)
    return np.array(rows)


def separating_weights(
    hidden: Array, others: Array, is_member: NDArray[np.bool_]
) -> Array:
    """Weights of an output that is chosen for the members of a new cluster.

    Where the old network is sure of an old cluster, an output with random weights gets
    no gradient and would never learn. With all other weights fixed, to tell members
    from the rest is a logistic regression on the hidden units.

    Parameters
    ----------
    hidden : array of shape (n_units + 1, n_samples)
        Hidden units, the first row ones.
    others : array of shape (n_samples,)
        What the new output competes with: log Σ exp of the old outputs.
    is_member : array of bool, shape (n_samples,)
        Which objects are members; as a whole they count as much as all others.
    """
    signs = np.where(is_member, -1.0, 1.0)
    importance = np.where(is_member, 0.5 / is_member.sum(), 0.5 / (~is_member).sum())

    def value_and_gradient(row: Array) -> tuple[float, Array]:
        margins = signs * (row @ hidden - others)
        slopes = importance * signs * expit(margins)
        penalty = _REGRESSION_PENALTY * row
        value = importance @ np.logaddexp(0.0, margins) + 0.5 * (penalty @ row)
        return float(value), hidden @ slopes + penalty

    start = np.zeros(len(hidden))
    return minimize_lbfgs(value_and_gradient, start, tol=1e-4, max_iter=500).state


def weights_for_other_inputs(
    weights: list[Array], old: Standardization, new: Standardization
) -> list[Array]:
    """Weights that do with inputs scaled anew what they did with the old ones.

    There may be further inputs after these.
    """
    n_old = len(old.mean)
    mean, scale = new.mean[:n_old], new.scale[:n_old]
    first = weights[0].copy()
    # z = (s' z' + m' - m) / s for inputs z and z' of the same object.
    first[:, 0] += weights[0][:, 1:] @ ((mean - old.mean) / old.scale)
    first[:, 1:] *= scale / old.scale
    return [first, *weights[1:]]
