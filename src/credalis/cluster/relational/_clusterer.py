"""What the methods with prototypes on dissimilarities share."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from credalis._checks import check_choice, check_number, check_squarable
from credalis.cluster._framework._estimator import BaseCredalClusterer
from credalis.cluster._inputs._geometry import attribute_geometry
from credalis.cluster._inputs._medoids import (
    Core,
    check_rows,
    core_of,
    draw_seeds,
    objects_near,
    settled_medoids,
)
from credalis.dissimilarity import check_dissimilarities
from credalis.objectives._mass_costs import (
    masses_from_costs,
    row_blocks,
)

# New objects count as no farther away than this, so that weighted sums stay finite.
_FARTHEST = np.finfo(np.float64).max / 4


@dataclass(frozen=True, eq=False)
class RelationalProblem:
    """What all starts share.

    Attributes
    ----------
    matrix : array of shape (n_samples, n_samples)
        Dissimilarities as they enter J; read-only, it may be the user's.
    points : array of shape (n_samples, n_features) or None
        Where they come from, None for a given matrix.
    metric, transformer
        How they come from attributes.
    start : array or None
        Starting point that the user gave.
    candidates : array of int
        Objects that may start a cluster.
    delta : float
        Distance to noise.
    """

    matrix: NDArray[np.float64]
    points: NDArray[np.float64] | None
    metric: Any
    transformer: Any
    start: NDArray[Any] | None
    candidates: NDArray[np.intp]
    delta: float

    def fitted(self, rows: NDArray[np.intp]) -> dict[str, Any]:
        """Attributes that give the dissimilarities of new objects to some rows."""
        return {
            "metric_": self.metric,
            "transformer_": self.transformer,
            "references_": rows,
            "reference_points_": None if self.points is None else self.points[rows],
            "delta_": self.delta,
        }


class BaseRelationalClusterer(BaseCredalClusterer):
    """Base of RECM, ECMdd and MECM: one matrix of dissimilarities, prototypes.

    A subclass says what a start does (`_solve`), what delta adapts to
    (`_automatic_delta`), and what a unit of mass costs for new objects (`_costs`).
    """

    _outlier_advice = "increase delta"
    _inits: tuple[str, ...] = ("k-means++", "random")

    @property
    def _squares(self) -> bool:
        """Whether J has the squares of what the user gives."""
        return False

    @property
    def _has_squares(self) -> bool:
        """Whether the dissimilarities in J count as squares of distances."""
        return False

    @abstractmethod
    def _automatic_delta(self, matrix: NDArray[np.float64], core: Core) -> float:
        """The distance to noise that suits the data."""

    @abstractmethod
    def _costs(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Cost of a unit of mass, (n_focal_sets, n_new).

        ``values`` holds dissimilarities to the references, (n_references, n_new).
        """

    def _check_parameters(self):
        super()._check_parameters()
        check_cost_parameters(self)
        if isinstance(self.init, str):
            check_choice("init", self.init, self._inits)

    def _has_fixed_order(self, problem):
        return not isinstance(self.init, str)

    def _prepare(self, X, rng, **side_information):
        start = None if isinstance(self.init, str) else self._check_init(len(X))
        points, metric, transformer = None, self.metric, None
        if self._is_precomputed:
            matrix = check_dissimilarities(X, symmetrize=bool(self.symmetrize))
            if self._squares:
                own = None if np.may_share_memory(matrix, X) else matrix
                with np.errstate(over="ignore"):
                    matrix = np.square(matrix, out=own)
        else:
            geometry, transformer = attribute_geometry(X, self.metric, rng)
            points, metric = geometry.values, geometry.metric
            matrix = dissimilarities(points, points, metric, squared=self._squares)
            if not geometry.is_euclidean:
                matrix = check_dissimilarities(
                    matrix, name=f"the matrix of metric={metric!r}"
                )
        if not np.isfinite(matrix.max() * matrix.size):
            raise ValueError(
                "X must have dissimilarities whose squares can be added, got values "
                f"from {X.min():.3g} to {X.max():.3g}: scale the data"
            )
        candidates, delta = np.arange(len(X)), self.delta
        if isinstance(delta, str) or start is None:
            core = core_of(matrix, self.n_clusters, rng)
            candidates = objects_near(
                matrix[core.medoids].min(axis=0),
                self.n_clusters,
                are_squared=self._has_squares,
            )
            if isinstance(delta, str):
                delta = self._automatic_delta(matrix, core)
        return RelationalProblem(
            matrix, points, metric, transformer, start, candidates, float(delta)
        )

    def _check_init(self, n_samples: int) -> NDArray[Any]:
        """The starting point the user gives: row numbers of objects."""
        return check_rows(np.asarray(self.init), n_samples, self.n_clusters)

    def _seeds(self, problem, rng) -> NDArray[np.intp]:
        """Row numbers of the objects that a run starts from."""
        if problem.start is not None:
            return problem.start
        if self.init == "random":
            return rng.choice(problem.candidates, self.n_clusters, replace=False)
        seeds = draw_seeds(problem.matrix, self.n_clusters, problem.candidates, rng)
        if self.init == "k-medoids":
            return settled_medoids(problem.matrix, seeds)
        return seeds

    def _predict_masses(self, X):
        if self.reference_points_ is None:
            if X.min() < 0:
                raise ValueError(
                    "X must hold no negative dissimilarities, the smallest is "
                    f"{X.min():.3g}"
                )
        elif self.transformer_ is not None:
            X = np.asarray(self.transformer_.transform(X), dtype=np.float64)
        masses = np.empty((len(X), len(self.focal_sets_)))
        for rows in row_blocks(len(X), max(masses.shape[1], len(self.references_))):
            with np.errstate(over="ignore"):
                values = np.minimum(self._to_references(X[rows]), _FARTHEST)
                costs = self._costs(values.T)
            masses[rows] = masses_from_costs(costs, self.beta).T
        return masses

    def _to_references(self, X):
        """Dissimilarities of new objects to the references, (n_new, n_references)."""
        if self.reference_points_ is not None:
            return dissimilarities(
                X, self.reference_points_, self.metric_, squared=self._squares
            )
        values = X[:, self.references_]
        return np.square(values, out=values) if self._squares else values


def dissimilarities(
    X: NDArray[np.float64], Y: NDArray[np.float64], metric: Any, *, squared: bool
) -> NDArray[np.float64]:
    """Dissimilarities of the rows of X and Y, or their squares, (n_X, n_Y)."""
    if isinstance(metric, str) and metric == "euclidean":
        # From differences, so that equal points are at 0.
        return cdist(X, Y, "sqeuclidean" if squared else "euclidean")
    values = pairwise_distances(X, None if Y is X else Y, metric=metric)
    return np.square(values, out=values) if squared else values


def check_cost_parameters(estimator: Any) -> None:
    """Check alpha, beta and delta of an estimator."""
    check_number("alpha", estimator.alpha, at_least=0)
    check_number("beta", estimator.beta, above=1)
    if not isinstance(estimator.delta, str):
        check_squarable("delta", estimator.delta)
    else:
        check_choice("delta", estimator.delta, ("auto",))
