"""What the methods with prototypes on dissimilarities share."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from credalis import _archive
from credalis._checks import check_choice, check_exponent, naming
from credalis._novelty import METRIC
from credalis.cluster._framework._estimator import BaseCredalClusterer
from credalis.cluster._framework._schema import (
    TransformerRule,
    check_points,
)
from credalis.cluster._inputs._clusters import noise_factor
from credalis.cluster._inputs._geometry import (
    Metric,
    attribute_geometry,
    check_not_negative,
)
from credalis.cluster._inputs._medoids import (
    Core,
    check_rows,
    core_of,
    draw_seeds,
    objects_near,
    settled_medoids,
)
from credalis.cluster._inputs._side_information import Transformer, placed
from credalis.dissimilarity import Gower, check_dissimilarities, dissimilarities_between
from credalis.objectives import (
    automatic_exponent,
    masses_from_costs,
    mean_squared_cosine_within,
    row_blocks,
)

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Rows whose dissimilarities by Gower are put into one matrix, of 3.2 GB.
MAX_GOWER_ROWS = 20_000

# New objects count as no farther away than this, so that weighted sums stay finite.
_FARTHEST = 1e250
# Nor do sets of clusters cost more than this.
_HIGHEST = 1e300


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
    core : Core or None
        Hard clusters; None if nothing depends on them.
    candidates : array of int
        Objects that may start a cluster.
    beta, delta : float
        Exponent of the masses, and distance to noise.
    """

    matrix: Array
    points: Array | None
    metric: Metric
    transformer: Transformer | None
    start: NDArray[Any] | None
    core: Core | None
    candidates: Indices
    beta: float
    delta: float

    def fitted(self, rows: Indices) -> dict[str, Any]:
        """Attributes that give the dissimilarities of new objects to some rows."""
        return {
            "metric_": self.metric,
            "transformer_": self.transformer,
            "references_": rows,
            "reference_points_": None if self.points is None else self.points[rows],
            "beta_": self.beta,
            "delta_": self.delta,
        }


def _check_references(
    owner: str, parameters: _archive.Entries, fitted: _archive.Entries
) -> None:
    check_points(
        f"{owner}.references_",
        fitted["reference_points_"],
        fitted["references_"],
        fitted["n_features_in_"],
    )


def check_medoids(owner: str, fitted: _archive.Entries, *names: str) -> None:
    """Refuse medoids that are not among the references."""
    for name in names:
        if name not in fitted:
            raise ValueError(f"{owner}.{name} is missing")
        if len(fitted[name]) and fitted[name].max() > fitted["references_"].max():
            raise ValueError(f"{owner}.{name} must be among its references_")


class RelationalClusterer(BaseCredalClusterer):
    """Base of RECM, ECMdd and MECM: one matrix of dissimilarities, prototypes.

    A subclass says what a start does (`_solve`), what delta adapts to
    (`_automatic_delta`), and what a unit of mass costs for new objects (`_costs`).
    """

    _schema = BaseCredalClusterer._schema.extended(
        {
            "metric_": METRIC,
            "transformer_": TransformerRule(),
            "references_": _archive.Array(
                "i", ("n_references",), at_least=0, is_ascending=True
            ),
            "reference_points_": _archive.OneOf(
                _archive.Nothing(),
                _archive.Array("f", ("n_references", "n_dimensions")),
            ),
            "delta_": _archive.Number(above=0, at_most=1e153),
        },
        # Files of version 0.1 have no exponent but the parameter.
        {"beta_": _archive.Number(above=1)},
        _check_references,
    )

    _reads_dissimilarities = True
    # A unit of mass on ∅ costs a power of δ, the distance to noise.
    _empty_sets = ("auto", "noise", "novelty")
    _outlier_advice = "increase delta"
    _earlier_defaults: ClassVar = {"empty_set": "noise"}
    _earlier_numbers: ClassVar = {"beta_": "beta"}
    # No automatic exponent is larger.
    _largest_beta: ClassVar[float] = 2.0
    # The first is found once for all starts.
    _inits: ClassVar[tuple[str, ...]] = ("auto", "k-medoids", "k-means++", "random")

    n_clusters: int
    metric: Metric
    symmetrize: bool
    alpha: float
    beta: float | str
    delta: float | str
    empty_set: str
    outlier_rate: float
    init: str | ArrayLike
    max_iter: int
    tol: float

    metric_: Metric
    transformer_: Transformer | None
    references_: Indices
    reference_points_: Array | None
    beta_: float
    delta_: float

    @property
    def _squares(self) -> bool:
        """Whether J has the squares of what the user gives."""
        return False

    @property
    def _has_squares(self) -> bool:
        """Whether the dissimilarities in J count as squares of distances."""
        return False

    @property
    def _power(self) -> float:
        """Power of the distances in J."""
        return 2.0 if self._has_squares else 1.0

    @property
    def _delta_power(self) -> float:
        """Power of δ in J."""
        return 2.0

    @abstractmethod
    def _automatic_delta(self, matrix: Array, core: Core, beta: float) -> float:
        """The distance to noise that suits the data."""

    @abstractmethod
    def _costs(self, values: Array) -> Array:
        """Cost of a unit of mass, (n_focal_sets, n_new).

        ``values`` holds dissimilarities to the references, (n_references, n_new).
        """

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_exponent("alpha", self.alpha, self.n_clusters)
        if isinstance(self.init, str):
            check_choice("init", self.init, self._inits)

    def _has_fixed_order(self, problem: RelationalProblem) -> bool:
        return not isinstance(self.init, str)

    def _prepare(
        self, X: Array, rng: np.random.RandomState, **given: Any
    ) -> RelationalProblem:
        start = None if isinstance(self.init, str) else self._check_init(len(X))
        points, metric = None, self.metric
        transformer: Transformer | None = None
        if self._is_precomputed:
            matrix = check_dissimilarities(X, symmetrize=bool(self.symmetrize))
            if self._squares:
                own = None if np.may_share_memory(matrix, X) else matrix
                with np.errstate(over="ignore"):
                    matrix = np.square(matrix, out=own)
        else:
            geometry, transformer = attribute_geometry(X, self._own_metric, rng)
            points, metric = geometry.values, geometry.metric
            if isinstance(metric, Gower) and len(X) > MAX_GOWER_ROWS:
                raise ValueError(
                    f"{type(self).__name__} keeps the dissimilarities of all pairs: X "
                    f"must have at most {MAX_GOWER_ROWS} rows with Gower's, got "
                    f"{len(X)}; EVCLUS and NNEVCLUS take more"
                )
            matrix = dissimilarities(points, points, metric, squared=self._squares)
            if not geometry.is_euclidean:
                matrix = check_dissimilarities(
                    matrix, name=f"the matrix of metric={metric!r}"
                )
        with np.errstate(over="ignore"):
            largest = matrix.max() if self._has_squares else np.square(matrix.max())
            is_infinite = not np.isfinite(largest * matrix.size)
        if is_infinite:
            raise ValueError(
                "X must have dissimilarities whose squares can be added, got values "
                f"from {X.min():.3g} to {X.max():.3g}: scale the data"
            )
        core, candidates = None, np.arange(len(X))
        beta, delta = self.beta, self.delta
        if start is None or isinstance(beta, str) or isinstance(delta, str):
            are_squared = self._has_squares
            core = core_of(matrix, self.n_clusters, rng, are_squared=are_squared)
            candidates = objects_near(
                matrix[core.medoids].min(axis=0),
                self.n_clusters,
                are_squared=are_squared,
            )
            if isinstance(beta, str):
                beta = self._automatic_beta(matrix, core)
            if isinstance(delta, str):
                delta = self._automatic_delta(matrix, core, beta)
                # A unit of mass costs δ to one power, and a distance to another.
                factor = noise_factor(is_about_novelty=self._is_about_novelty)
                delta *= factor ** (self._power / self._delta_power)
        return RelationalProblem(
            matrix,
            points,
            metric,
            transformer,
            start,
            core,
            candidates,
            float(beta),
            float(delta),
        )

    def _automatic_beta(self, matrix: Array, core: Core) -> float:
        """The exponent of the masses that suits the dimension of the clusters."""
        squares = matrix[np.ix_(core.objects, core.objects)]
        if not self._has_squares:
            # In a unit whose square is a number; a power of two rounds nothing.
            squares = np.square(np.ldexp(squares, -int(np.frexp(squares.max())[1])))
        # The first keeps the prototypes from one point, the second clusters from
        # merging.
        everything = np.zeros(len(squares), dtype=np.intp)
        overall = mean_squared_cosine_within(squares, everything, 1)
        within = mean_squared_cosine_within(squares, core.labels, self.n_clusters)
        share = min(overall, within)
        return automatic_exponent(share, self._power, self._largest_beta)

    def _n_starts(self, problem: RelationalProblem) -> int:
        is_found = isinstance(self.init, str) and self.init == self._inits[0]
        if isinstance(self.n_init, str) and is_found:
            return 1
        return super()._n_starts(problem)

    def _check_init(self, n_samples: int) -> NDArray[Any]:
        """The starting point the user gives: row numbers of objects."""
        with naming("init"):
            rows = np.asarray(self.init)
        return check_rows(rows, n_samples, self.n_clusters)

    def _seeds(self, problem: RelationalProblem, rng: np.random.RandomState) -> Indices:
        """Row numbers of the objects that a run starts from."""
        if problem.start is not None:
            return problem.start
        if self.init == "random":
            return rng.choice(problem.candidates, self.n_clusters, replace=False)
        if self.init == "auto":
            assert problem.core is not None
            return problem.core.medoids
        seeds = draw_seeds(problem.matrix, self.n_clusters, problem.candidates, rng)
        if self.init == "k-medoids":
            return settled_medoids(problem.matrix, seeds)
        return seeds

    def _predict_masses(self, X: Array) -> Array:
        if self.reference_points_ is None:
            check_not_negative(X)
        X = placed(self.transformer_, X)
        masses = np.empty((len(X), len(self.focal_sets_)))
        for rows in row_blocks(len(X), max(masses.shape[1], len(self.references_))):
            with np.errstate(over="ignore", invalid="ignore"):
                # Also in place of NaN, which some metrics give so far away.
                values = np.fmin(self._to_references(X[rows]), _FARTHEST)
                costs = np.fmin(self._costs(values.T), _HIGHEST)
            masses[rows] = masses_from_costs(costs, self.beta_).T
        return masses

    def _to_references(self, X: Array) -> Array:
        """Dissimilarities of new objects to the references, (n_new, n_references)."""
        if self.reference_points_ is not None:
            return dissimilarities(
                X, self.reference_points_, self.metric_, squared=self._squares
            )
        values = X[:, self.references_]
        return np.square(values, out=values) if self._squares else values

    def _among_references(self, rows: Indices) -> Indices:
        """Where rows are among the references; anywhere for those that are not."""
        return np.searchsorted(self.references_, rows)


def dissimilarities(X: Array, Y: Array, metric: Metric, *, squared: bool) -> Array:
    """Dissimilarities of the rows of X and Y, or their squares, (n_X, n_Y)."""
    if isinstance(metric, str) and metric == "euclidean":
        # From differences, so that equal points are at 0.
        return cdist(X, Y, "sqeuclidean" if squared else "euclidean")
    with np.errstate(over="ignore", invalid="ignore"):
        values = dissimilarities_between(X, None if Y is X else Y, metric)
        return np.square(values, out=values) if squared else values
