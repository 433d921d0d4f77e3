"""Whether one density model describes the data so well that it may outvote the others.

A mixture is adequate if it predicts rows that it has not seen better than every richer
and every simpler rival: heavier tails, other shapes, one component more, twice as many,
a single distribution, a kernel density. Where no parametric model is as good as the
kernel density, clusters have shapes that only neighbourhoods show. Models are compared
by z = mean / standard error of the differences of their held-out log-likelihoods. A
rival of as many components that finds the same clusters is hardly one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from credalis import _archive
from credalis.cluster.consensus._mixtures import (
    RIDGE,
    FittedMixture,
    Mixture,
    best_fit,
    fit_mixture,
    one_hot,
)

Array = NDArray[np.float64]

# Degrees of freedom of the rivals with heavy tails.
HEAVY_TAILS = 5.0

_N_FOLDS = 3

# Starts of k-means: for the components of rivals, and for those of the candidates.
_N_KMEANS = 3
_N_KMEANS_CANDIDATES = 10

# Differences of so many standard errors earn full trust.
_Z_MIXTURE = 2.0
_Z_NEIGHBORS = 5.0

# Rows that each component of the largest rival must be able to have.
_MIN_ROWS = 5

# From the simplest to the richest.
_CANDIDATES = ("isotropic", "spherical", "tied", "full")
_HEAVY_FAMILIES = ("full", "diag")
_BANDWIDTHS = np.geomspace(0.05, 2.0, 12)

# Of the kernel density and of the members that it speaks for.
NEIGHBORHOODS = "neighborhoods"


@dataclass(frozen=True, eq=False)
class Gate(_archive.SavedFields):
    """Which model may outvote the committee, and by how much.

    Attributes
    ----------
    trusted : str or None
        Family of the mixture, "neighborhoods" for whoever clusters by nearest
        neighbours, or None.
    weight : float
        g, from 0 to 1.
    rival : str or None
        The model that it was hardest to tell from.
    z : float
        By how many standard errors it is better.
    mixture : Mixture or None
        The trusted mixture.
    """

    trusted: str | None = None
    weight: float = 0.0
    rival: str | None = None
    z: float = 0.0
    mixture: Mixture | None = None

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "trusted": _archive.OneOf(_archive.Nothing(), _archive.Text()),
            "weight": _archive.Number(at_least=0, at_most=1),
            "rival": _archive.OneOf(_archive.Nothing(), _archive.Text()),
            "z": _archive.Number(),
            "mixture": _archive.OneOf(_archive.Nothing(), _archive.Instance(Mixture)),
        }
    )

    def summary(self) -> dict[str, Any]:
        """What a user is told."""
        names = ("trusted", "weight", "rival", "z")
        return {name: getattr(self, name) for name in names}


_archive.register(Gate)


def adequacy(
    X: Array,
    starts: list[Array],
    n_clusters: int,
    rng: np.random.RandomState,
    *,
    ridge: float | Array = RIDGE,
) -> Gate:
    """The gate for rows with unit mean variance.

    Parameters
    ----------
    X : array of shape (n, d)
        Rows.
    starts : list of arrays of shape (n, c)
        Memberships that EM starts from besides those of k-means: the members'.
    n_clusters : int
        c.
    rng : RandomState
        Draws folds and starts of rivals.
    ridge : float or array of shape (d,)
        Added to the variances of mixtures.
    """
    if len(X) * (1 - 1 / _N_FOLDS) < 2 * n_clusters * _MIN_ROWS:
        return Gate()
    folds = rng.permutation(np.arange(len(X)) % _N_FOLDS)
    tight = _kmeans(X, n_clusters, rng, n_init=_N_KMEANS_CANDIDATES)
    fitted = _best_families(X, [*starts, tight], ridge)
    held_out = partial(_held_out, X, folds, ridge)
    scores = {
        name: held_out(fit.memberships, family=name) for name, fit in fitted.items()
    }
    rivals = _rival_scores(X, held_out, fitted["full"], n_clusters, rng)
    rivals["diag"] = scores.pop("diag")
    best = _simplest(scores)
    rival = max(rivals, key=lambda name: rivals[name].mean())
    parametric = max(scores[best], rivals[rival], key=np.mean)
    z_kernel = _z((_kernel_scores(X, folds) - parametric)[_occur_once(X)])
    if z_kernel > 0:
        name = best if parametric is scores[best] else rival
        trust = min(1.0, z_kernel / _Z_NEIGHBORS)
        return Gate(NEIGHBORHOODS, trust, name, z_kernel)
    agreement = _agreement(X, fitted, best, ridge)
    trust, z, rival = min(
        (_trust(z, agreement.get(name, 0.0)), z, name)
        for name, z in ((name, _z(scores[best] - rivals[name])) for name in rivals)
    )
    if trust == 0:
        return Gate(None, 0.0, rival, z)
    return Gate(best, trust, rival, z, fitted[best].mixture)


def _simplest(scores: dict[str, Array]) -> str:
    """The simplest of the candidates within one standard error of the best."""
    best = max(_CANDIDATES, key=lambda name: scores[name].mean())
    return next(
        name
        for name in _CANDIDATES
        if _z(scores[best] - scores[name]) < 1 or name == best
    )


def _trust(z: float, agreement: float) -> float:
    """Weight g of a model that is z better than a rival, which agrees so far."""
    return float(np.clip(z / _Z_MIXTURE + max(agreement, 0.0), 0.0, 1.0))


def _agreement(
    X: Array, fitted: dict[str, FittedMixture], best: str, ridge: float | Array
) -> dict[str, float]:
    """Adjusted Rand index to the clusters of rivals with as many components."""
    rivals = {"diag": fitted["diag"]}
    for family in _HEAVY_FAMILIES:
        start = fitted["full"].memberships
        rivals[f"t {family}"] = fit_mixture(
            X, start, family, dof=HEAVY_TAILS, ridge=ridge
        )
    labels = fitted[best].memberships.argmax(axis=1)
    return {
        name: adjusted_rand_score(labels, fit.memberships.argmax(axis=1))
        for name, fit in rivals.items()
    }


def _best_families(
    X: Array, starts: list[Array], ridge: float | Array
) -> dict[str, FittedMixture]:
    """Mixtures of all shapes, from the members and from each other."""
    fitted: dict[str, FittedMixture] = {}
    for family in (*_CANDIDATES, "diag"):
        others = [fit.memberships for fit in fitted.values()]
        fitted[family] = best_fit(X, starts + others, family, ridge=ridge)
    for family in _CANDIDATES:
        # Shapes that came later may have found a better place.
        others = [fitted[each].memberships for each in fitted if each != family]
        again = best_fit(X, others, family, ridge=ridge)
        if again.log_likelihood > fitted[family].log_likelihood:
            fitted[family] = again
    return fitted


def _rival_scores(
    X: Array,
    held_out: Callable[..., Array],
    full: FittedMixture,
    n_clusters: int,
    rng: np.random.RandomState,
) -> dict[str, Array]:
    """Held-out log-likelihoods of the rivals, by their names."""
    heavy = {
        f"t {family}": held_out(full.memberships, family=family, dof=HEAVY_TAILS)
        for family in _HEAVY_FAMILIES
    }
    one = np.ones((len(X), 1))
    single = {
        f"one {family}": held_out(one, family=family)
        for family in ("full", "diag", "spherical")
    }
    more = {}
    for number, families in (
        (n_clusters + 1, ("full",)),
        (2 * n_clusters, ("full", "tied", "diag", "spherical")),
    ):
        start = _kmeans(X, number, rng)
        for family in families:
            name = f"{number} {family}"
            if name not in more:
                more[name] = held_out(start, family=family)
    return heavy | single | more


def _held_out(
    X: Array,
    folds: NDArray[np.integer],
    ridge: float | Array,
    start: Array,
    *,
    family: str,
    dof: float | None = None,
) -> Array:
    """Log-likelihood of each row under a mixture fitted without its fold, (n,)."""
    scores = np.empty(len(X))
    for fold in range(_N_FOLDS):
        is_out = folds == fold
        seen = X[~is_out]
        fit = fit_mixture(seen, start[~is_out], family, dof=dof, ridge=ridge)
        scores[is_out] = fit.mixture.log_likelihoods(X[is_out])
    return scores


def _kernel_scores(X: Array, folds: NDArray[np.integer]) -> Array:
    """Log-likelihood of each row under a kernel density without its fold, (n,).

    The bandwidth is the one with which the rows of the other folds predict each other
    best.
    """
    squares = cdist(X, X, "sqeuclidean")
    scores = np.empty(len(X))
    for fold in range(_N_FOLDS):
        is_out = folds == fold
        inside = squares[np.ix_(~is_out, ~is_out)]
        np.fill_diagonal(inside, np.inf)
        values = [_log_kernel(inside, width, X.shape[1]) for width in _BANDWIDTHS]
        width = _BANDWIDTHS[int(np.argmax([value.mean() for value in values]))]
        outside = squares[np.ix_(is_out, ~is_out)]
        scores[is_out] = _log_kernel(outside, width, X.shape[1])
    return scores


def _log_kernel(squares: Array, width: float, d: int) -> Array:
    """Log of the mean of Gaussian kernels over the columns, (n_rows,)."""
    constant = d * np.log(width) + d / 2 * np.log(2 * np.pi) + np.log(squares.shape[1])
    return logsumexp(squares * (-0.5 / width**2), axis=1) - constant


def _kmeans(
    X: Array, n_clusters: int, rng: np.random.RandomState, n_init: int = _N_KMEANS
) -> Array:
    """Memberships of k-means clusters."""
    kmeans = KMeans(n_clusters, n_init=n_init, random_state=rng)
    return one_hot(kmeans.fit_predict(X), n_clusters)


def _occur_once(X: Array) -> NDArray[np.bool_]:
    """Rows without a copy.

    Rows of a coarse grid come again and again, and kernels around their copies predict
    them better than any mixture, whatever the shape of the clusters.
    """
    _, places, counts = np.unique(X, axis=0, return_inverse=True, return_counts=True)
    is_single: NDArray[np.bool_] = counts[places.ravel()] == 1
    return is_single


def _z(differences: Array) -> float:
    """Mean over its standard error; 0 for fewer than two differences."""
    if len(differences) < 2:
        return 0.0
    error = differences.std(ddof=1) / np.sqrt(len(differences))
    return float(differences.mean() / error) if error > 0 else 0.0


def refined(gate: Gate, X: Array, ridge: float | Array) -> Gate:
    """The gate with its mixture fitted to all rows, if it was found on some."""
    if gate.mixture is None or gate.trusted is None:
        return gate
    again = fit_mixture(X, gate.mixture.memberships(X), gate.trusted, ridge=ridge)
    return replace(gate, mixture=again.mixture)
