"""Novelty detectors behind the one-class coupling."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.svm import OneClassSVM
from sklearn.utils import gen_batches

from credalis import _archive

# Share of the objects that may be novel, and the width of the kernel in d dimensions,
# of the detector "ocsvm".
_NU = 0.2
_GAMMA_TIMES_FEATURES = 0.4

# Upper quartile of the scores of the training objects: with it the coupling starts
# where its weight is neither 1 for all objects nor small for ordinary ones. The median
# would be 0 for a detector that takes every second object for novel.
_TYPICAL_SCORE = 3.7
_TYPICAL_QUANTILE = 0.75

# A support vector machine takes time quadratic in the number of objects.
_MAX_SAMPLE = 5000

_BLOCK_ENTRIES = 2**20
_BLOCK_ROWS = 2048


def _check_vectors(owner: str, entries: _archive.Entries) -> None:
    if len(entries["support_vectors"]) == 0:
        raise ValueError(f"{owner}.support_vectors must hold at least one, got none")


def _check_points(owner: str, entries: _archive.Entries) -> None:
    if len(entries["points"]) == 0:
        raise ValueError(f"{owner}.points must hold at least one, got none")


@dataclass(frozen=True, eq=False)
class KernelScores(_archive.SavedFields):
    """Σ_l a_l exp(-γ ‖x - s_l‖²) - ρ: a Gaussian one-class SVM as plain arrays."""

    support_vectors: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    offset: float
    gamma: float

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "support_vectors": _archive.Array("f", ("n_vectors", "n_inputs")),
            "coefficients": _archive.Array("f", ("n_vectors",)),
            "offset": _archive.Number(),
            "gamma": _archive.Number(above=0),
        },
        relations=(_check_vectors,),
    )

    @property
    def n_inputs(self) -> int:
        """Number of columns of the rows that have scores."""
        return self.support_vectors.shape[1]

    def decision_function(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Score of each row of X, in blocks."""
        scores = np.empty(len(X))
        n_rows = max(1, _BLOCK_ENTRIES // len(self.support_vectors))
        for start in range(0, len(X), n_rows):
            rows = slice(start, start + n_rows)
            squared = cdist(X[rows], self.support_vectors, "sqeuclidean")
            scores[rows] = np.exp(-self.gamma * squared) @ self.coefficients
        return scores - self.offset


@dataclass(frozen=True, eq=False)
class NearestScores(_archive.SavedFields):
    """Scores that are known for some objects; others have that of the nearest one."""

    points: NDArray[np.float64]
    scores: NDArray[np.float64]

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "points": _archive.Array("f", ("n_points", "n_inputs")),
            "scores": _archive.Array("f", ("n_points",)),
        },
        relations=(_check_points,),
    )

    @property
    def n_inputs(self) -> int:
        """Number of columns of the rows that have scores."""
        return self.points.shape[1]

    def decision_function(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Score of each row of X."""
        _, nearest = cKDTree(self.points).query(X)
        # Beyond all distances, the query finds nobody.
        return self.scores[np.minimum(nearest, len(self.scores) - 1)]


@dataclass(frozen=True, eq=False)
class NoveltyScorer(_archive.SavedFields):
    """A fitted detector whose scores have an upper quartile of 3.7.

    The scores of a one-class SVM grow with the number of objects; a network
    that starts from the same coefficients everywhere needs scores of one size.
    """

    detector: Any
    factor: float

    # No other detector has a file form.
    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "detector": _archive.Instance(KernelScores, NearestScores),
            "factor": _archive.Number(above=0),
        }
    )

    def __call__(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Score of each row of X, larger for ordinary objects."""
        return self.factor * np.asarray(self.detector.decision_function(X), dtype=float)


def fit_novelty(
    detector: Any,
    X: NDArray[np.float64],
    standardize: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    rng: np.random.RandomState,
) -> tuple[NoveltyScorer, NDArray[np.float64]]:
    """Fit a detector to standardised inputs.

    Parameters
    ----------
    detector : "ocsvm", array of shape (n_samples,) or object with ``decision_function``
        "ocsvm" is a Gaussian one-class SVM, fitted to at most 5000 random objects.
        Numbers are the scores of the rows of X, and of what is next to them. An
        object that has ``fit`` is cloned and fitted to all; where its ``random_state``
        is None, the clone gets a seed.
    X : array of shape (n_samples, n_features)
        Attributes.
    standardize : callable
        Turns attributes into inputs.
    rng : RandomState
        Draws the objects and the seeds.

    Returns
    -------
    scorer : NoveltyScorer
    scores : array of shape (n_samples,)
        Its scores of the rows of X.
    """
    sample = X
    if isinstance(detector, str):
        detector = OneClassSVM(nu=_NU, gamma=_GAMMA_TIMES_FEATURES / X.shape[1])
        if len(X) > _MAX_SAMPLE:
            sample = X[rng.choice(len(X), _MAX_SAMPLE, replace=False)]
    if isinstance(detector, (list, tuple, np.ndarray)):
        detector = np.array(detector, dtype=np.float64)
        if detector.shape != (len(X),):
            raise ValueError(
                f"novelty_detector must hold a score for each of the {len(X)} objects, "
                f"got shape {detector.shape}"
            )
        detector = NearestScores(standardize(X), detector)
    elif hasattr(detector, "fit"):
        sample = standardize(sample)
        detector = _seeded(detector, rng).fit(sample)
    if isinstance(detector, OneClassSVM) and detector.kernel == "rbf":
        detector = KernelScores(
            np.asarray(detector.support_vectors_),
            np.asarray(detector.dual_coef_)[0],
            -float(detector.intercept_[0]),
            _kernel_rate(detector.gamma, sample),
        )
    scores = np.empty(len(X))
    for rows in gen_batches(len(X), _BLOCK_ROWS):
        inputs = standardize(X[rows])
        block_scores = np.asarray(detector.decision_function(inputs), dtype=float)
        if block_scores.shape != (len(inputs),):
            raise ValueError(
                "novelty_detector must return one score per row from "
                f"decision_function, got shape {block_scores.shape} for "
                f"{len(inputs)} rows"
            )
        scores[rows] = block_scores
    if not np.isfinite(scores).all():
        raise ValueError(
            "novelty_detector must return finite scores from decision_function, "
            f"got {scores[~np.isfinite(scores)][0]}"
        )
    typical = np.quantile(scores, _TYPICAL_QUANTILE)
    if typical <= 0:
        typical = np.quantile(np.abs(scores), _TYPICAL_QUANTILE)
    factor = float(_TYPICAL_SCORE / typical) if typical else 1.0
    scores *= factor
    return NoveltyScorer(detector, factor), scores


def _seeded(detector: Any, rng: np.random.RandomState) -> Any:
    """A clone whose random numbers, if it has no seed of its own, come from rng."""
    if not hasattr(detector, "get_params"):
        return deepcopy(detector)
    seeds = {
        name: rng.randint(2**31 - 1)
        for name, value in sorted(detector.get_params().items())
        if name.split("__")[-1] == "random_state" and value is None
    }
    return clone(detector).set_params(**seeds)


def _kernel_rate(gamma: str | float, X: NDArray[np.float64]) -> float:
    """The rate γ of the kernel of a support vector machine fitted to X."""
    if gamma == "scale":
        return float(1 / (X.shape[1] * X.var())) if X.var() else 1.0
    return 1 / X.shape[1] if gamma == "auto" else float(gamma)
