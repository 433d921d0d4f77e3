"""Bootstrapped Gaussian mixtures, and what they say about pairs of objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.mixture import GaussianMixture

from credalis import _archive
from credalis._control import poll
from credalis._parallel import in_parallel
from credalis._threads import one_thread
from credalis.cluster._framework._schema import covariance_shape
from credalis.cluster._inputs._geometry import FARTHEST, within_reach
from credalis.cluster.bootstrap._mixtures import (
    Mixture,
    expectation_maximization,
    responsibilities,
)

Array = NDArray[np.float64]

COVARIANCE_TYPES = ("full", "tied", "diag", "spherical")

# Probabilities that are known to no more than this; what all samples agree on to this
# degree needs no quantile.
_PRECISION = 1e-7

# Probabilities below this are none: products of such take long, as numbers do that are
# too small for all their digits.
_NO_PROBABILITY = np.float32(1e-15)

# Pairs of objects treated at a time: some thousands of samples of them fit in a cache.
# Their number is no power of two, or all samples of a pair would be in a few of its
# places when they are gathered.
_TILE_ROWS, _TILE_COLUMNS = 24, 63

_MAX_EM_ITERATIONS = 1000
_EM_TOLERANCE = 1e-4

# Objects farther away from the means, in standard deviations, count as this far.
_FARTHEST_DEVIATION = 1e100

# Mixtures fitted between two reports.
_REPORTED_TOGETHER = 25


def _check_precisions(owner: str, entries: _archive.Entries) -> None:
    n_bootstrap, *sizes = entries["means"].shape
    shape = (n_bootstrap, *covariance_shape(entries["covariance_type"], *sizes))
    if entries["precisions_cholesky"].shape != shape:
        raise ValueError(
            f"{owner}.precisions_cholesky must have shape {shape} for covariance_type="
            f"{entries['covariance_type']!r}, got "
            f"{entries['precisions_cholesky'].shape}"
        )


@dataclass(frozen=True, eq=False)
class Replicates(_archive.SavedFields):
    """Gaussian mixtures of bootstrap samples.

    Attributes
    ----------
    covariance_type : str
        Covariance model of GaussianMixture.
    weights : array of shape (n_bootstrap, n_components)
        Weights of the components.
    means : array of shape (n_bootstrap, n_components, n_features)
        Their means.
    precisions_cholesky : array of shape (n_bootstrap, ...)
        Cholesky factors of their precisions, in the form of GaussianMixture.
    """

    covariance_type: str
    weights: Array
    means: Array
    precisions_cholesky: Array

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "covariance_type": _archive.Choice(*COVARIANCE_TYPES),
            "weights": _archive.Array(
                "f", ("n_bootstrap", "n_components"), at_least=0, at_most=1 + 1e-6
            ),
            "means": _archive.Array("f", ("n_bootstrap", "n_components", "n_features")),
            "precisions_cholesky": _archive.Array("f", None),
        },
        relations=(_check_precisions,),
    )

    def some(self, n_replicates: int) -> Replicates:
        """The first of them."""
        return replace(
            self,
            weights=self.weights[:n_replicates],
            means=self.means[:n_replicates],
            precisions_cholesky=self.precisions_cholesky[:n_replicates],
        )

    def posteriors(self, X: Array) -> NDArray[np.float32]:
        """π_ik of the rows of X, shape (n_bootstrap, n_rows, n_components)."""
        n_bootstrap, n_components = self.weights.shape
        # In units of the narrowest component: its squares are numbers, and far away
        # one component has all probability long before.
        narrowest = 1 / np.abs(self.precisions_cholesky).max()
        farthest = min(_FARTHEST_DEVIATION * narrowest, FARTHEST)
        X = within_reach(X, self.means.mean(axis=(0, 1)), farthest)
        turned = np.ascontiguousarray(X.T)
        found = np.empty((n_bootstrap, len(X), n_components), np.float32)
        parameters = zip(
            self.weights, self.means, self.precisions_cholesky, strict=True
        )
        for b, each in enumerate(parameters):
            shares, _ = responsibilities(turned, Mixture(*each), self.covariance_type)
            found[b] = shares.T
        return found


def best_mixture(
    X: Array,
    numbers: Sequence[int],
    covariance_types: Sequence[str],
    *,
    reg_covar: float,
    n_init: int,
    seed: int,
    n_jobs: int | None,
) -> tuple[GaussianMixture, float]:
    """The mixture of lowest BIC among numbers of components and covariance models.

    Returns
    -------
    mixture : GaussianMixture
    bic : float
    """
    candidates = [
        GaussianMixture(
            number,
            covariance_type=covariance_type,
            reg_covar=reg_covar,
            n_init=n_init,
            max_iter=_MAX_EM_ITERATIONS,
            tol=_EM_TOLERANCE,
            random_state=seed,
        )
        for number in numbers
        for covariance_type in covariance_types
    ]
    fitted = in_parallel(
        _fit_candidate, [(candidate, X) for candidate in candidates], n_jobs=n_jobs
    )
    return min(fitted, key=lambda pair: pair[1])


def bootstrap(
    X: Array,
    mixture: GaussianMixture,
    seeds: NDArray[np.integer],
    *,
    n_jobs: int | None,
    report: Callable[[int, float], None],
) -> tuple[Replicates, NDArray[np.float32]]:
    """Mixtures of bootstrap samples, and the posteriors of the objects under them.

    Each sample has as many objects as the data, drawn with replacement; EM starts at
    the mixture of all data.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Data.
    mixture : GaussianMixture
        Fitted to the data.
    seeds : array of int, shape (n_bootstrap,)
        Seeds of the samples.
    n_jobs : int or None
        Mixtures fitted at the same time.
    report : callable
        Called with the number of mixtures fitted and the negative mean log-likelihood
        of the last.

    Returns
    -------
    replicates : Replicates
    posteriors : array of float32, shape (n_bootstrap, n_samples, n_components)
    """
    posteriors = np.empty((len(seeds), len(X), mixture.n_components), np.float32)
    fitted: list[Mixture] = []
    for start in range(0, len(seeds), _REPORTED_TOGETHER):
        chosen = slice(start, start + _REPORTED_TOGETHER)
        answers = in_parallel(
            _fit_replicate,
            [(X, mixture, seed) for seed in seeds[chosen]],
            n_jobs=n_jobs,
        )
        for found, (_, _, values) in zip(posteriors[chosen], answers, strict=True):
            found[:] = values
        fitted += [replicate for replicate, _, _ in answers]
        report(len(fitted), -answers[-1][1])
    replicates = Replicates(
        mixture.covariance_type,
        np.array([each.weights for each in fitted]),
        np.array([each.means for each in fitted]),
        np.array([each.precisions_cholesky for each in fitted]),
    )
    return replicates, posteriors


def pair_intervals(
    posteriors: NDArray[np.float32],
    confidence: float,
    others: NDArray[np.float32] | None = None,
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Percentile intervals of the probability that two objects are in one cluster.

    In the mixture of bootstrap sample b it is P_ij = Σ_k π_ik π_jk, whatever the order
    of the components. The bounds are the (1 ∓ confidence)/2 quantiles over b, from
    samples of a few pairs at a time. Both are 0 where no sample can exceed 1e-7, most
    of which are not even computed.

    Parameters
    ----------
    posteriors : array of float32, shape (n_bootstrap, n_samples, n_components)
        π_ik.
    confidence : float
        Share of the samples inside the interval.
    others : array of float32, shape (n_bootstrap, n_others, n_components), default=None
        The other objects of the pairs; None stands for the same objects.

    Returns
    -------
    lower, upper : array of float32, shape (n_samples, n_others)
    """
    # No sample of a pair exceeds the product of these.
    largest = posteriors.max(axis=0)
    order = np.argsort(largest.argmax(axis=1), kind="stable")
    largest_others, order_of_others = largest, order
    if others is not None:
        largest_others = others.max(axis=0)
        order_of_others = np.argsort(largest_others.argmax(axis=1), kind="stable")
    columns_of = (posteriors if others is None else others)[:, order_of_others]
    turned = np.ascontiguousarray(_without_traces(columns_of).transpose(0, 2, 1))
    lower = np.zeros((len(order), len(order_of_others)), np.float32)
    upper = np.zeros_like(lower)
    # Objects of a component are next to each other, and so are those far from them.
    for top in range(0, len(order), _TILE_ROWS):
        poll()
        rows = order[top : top + _TILE_ROWS]
        left = _without_traces(posteriors[:, rows])
        most = (largest[rows] @ largest_others[order_of_others].T).max(axis=0)
        if others is None:
            most[:top] = 0.0  # pairs below the diagonal are those above
        places = np.flatnonzero(most > _PRECISION)
        while len(places):
            part = slice(places[0], places[0] + _TILE_COLUMNS)
            columns = order_of_others[part]
            samples = left @ turned[:, :, part]
            bounds = _quantiles(samples.reshape(len(samples), -1), confidence)
            for all_of, own in zip((lower, upper), bounds, strict=True):
                own = own.reshape(samples.shape[1:])
                all_of[np.ix_(rows, columns)] = own
                if others is None:
                    all_of[np.ix_(columns, rows)] = own.T
            places = places[places >= part.stop]
    return lower, upper


def _without_traces(posteriors: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.where(posteriors < _NO_PROBABILITY, np.float32(0), posteriors)


def _quantiles(
    samples: NDArray[np.float32], confidence: float
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Lower and upper quantile of each column, by linear interpolation."""
    # Rounding may exceed 1. NumPy compares with an array several times as fast as with
    # a number.
    np.minimum(samples, np.ones(samples.shape[1], samples.dtype), out=samples)
    lower, upper = samples.min(axis=0), samples.max(axis=0)
    spread = np.flatnonzero(upper - lower > _PRECISION)
    ranked = np.ascontiguousarray(samples[:, spread].T)
    ranked.sort(axis=1)
    for bound, level in ((lower, (1 - confidence) / 2), (upper, (1 + confidence) / 2)):
        place = level * (len(samples) - 1)
        below = int(place)
        above = min(below + 1, len(samples) - 1)
        gap = ranked[:, above] - ranked[:, below]
        bound[spread] = ranked[:, below] + np.float32(place - below) * gap
    return lower, upper


def _fit_candidate(mixture: GaussianMixture, X: Array) -> tuple[GaussianMixture, float]:
    """A mixture fitted to the data, and its BIC."""
    with one_thread():
        mixture.fit(X)
        return mixture, float(mixture.bic(X))


def _fit_replicate(
    X: Array, mixture: GaussianMixture, seed: int
) -> tuple[Mixture, float, NDArray[np.float32]]:
    """The mixture of a bootstrap sample, its fit, and the posteriors of the objects."""
    chosen = np.random.RandomState(seed).randint(len(X), size=len(X))
    start = Mixture(mixture.weights_, mixture.means_, mixture.precisions_cholesky_)
    with one_thread():
        replicate, likelihood = expectation_maximization(
            X,
            np.bincount(chosen, minlength=len(X)),
            start,
            mixture.covariance_type,
            reg_covar=mixture.reg_covar,
            tol=_EM_TOLERANCE,
            max_iter=_MAX_EM_ITERATIONS,
        )
        turned = np.ascontiguousarray(X.T)
        shares, _ = responsibilities(turned, replicate, mixture.covariance_type)
    return replicate, likelihood, shares.T.astype(np.float32)


_archive.register(Replicates)
