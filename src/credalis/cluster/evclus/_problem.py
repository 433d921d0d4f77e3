"""What all starts of EVCLUS share, worked out once from data and parameters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import (
    check_choice,
    check_distributions,
    check_integer,
    check_number,
    check_numbers,
)
from credalis._weights import DistinctRows, copies
from credalis.belief import FocalSets
from credalis.cluster._inputs._clusters import hard_clusters
from credalis.cluster._inputs._geometry import (
    Geometry,
    attribute_geometry,
    check_scale_parameters,
    scale_of,
    takes_contrast,
)
from credalis.cluster._inputs._side_information import (
    Transformer,
    refuse_unused,
    side_information,
)
from credalis.constraints import expand
from credalis.dissimilarity import (
    Gower,
    RoundedMatrix,
    Similarities,
    check_dissimilarities,
    sample_pairs,
)
from credalis.network import SideInformation
from credalis.objectives import (
    CommonStress,
    PairConstraints,
    PartnerStress,
    RowCost,
    RowStress,
)
from credalis.partition import CredalPartition

if TYPE_CHECKING:
    from credalis.cluster.evclus._evclus import EVCLUS

# Numbers of objects, long or short.
Indices = NDArray[np.signedinteger]

# Similarities that are kept.
Stored = NDArray[np.float64] | RoundedMatrix

SOLVERS = ("two-sided", "reference", "gradient")
PAIRS = ("auto", "all", "sampled", "landmarks")
INITS = ("auto", "random", "k-means++")

# All pairs up to here; beyond, pairs of objects and landmarks.
_MAX_ALL_PAIRS = 2000
_DEFAULT_PARTNERS = 500

# Similarities are stored, not computed anew in each sweep, up to this many (0.8 GB);
# those of Gower's dissimilarity with all digits up to that many.
_MAX_STORED = 100_000_000
_MAX_EXACT = 20_000_000
_ROWS_STORED_AT_ONCE = 512

# Objects that a start is made on first, and how many clusters call for more of them.
_MAX_SMALL = 1000
_SUBSET_SIZE = 500
_SUBSET_PER_CLUSTER = 30


@dataclass(frozen=True, eq=False)
class EvclusProblem:
    """Data, pairs and constraints of a fit.

    Attributes
    ----------
    geometry : Geometry
        Where the dissimilarities come from, objects in the order of the rows of X.
    transformer : object
        The fitted transformer that made its points, if there is one.
    scale : float
        δ0.
    order : array of shape (n_objects,)
        Row numbers of the objects, in the order in which everything below has them; of
        rows that are one object, the first.
        Landmarks come first; the order is random, so that the first objects are a
        sample and neighbours in X are not updated together.
    similarities : Similarities
        1 - δ*_ij.
    n_landmarks : int
        Number of landmarks; all objects if all pairs count.
    stored : array or RoundedMatrix of shape (n_samples, n_landmarks), or None
        The similarities to the landmarks, if they are stored.
    partners : tuple of arrays of shape (n_pairs,), or None
        Objects i and j of the pairs, and their similarities, if pairs are sampled.
    must_link, cannot_link : array of shape (n_pairs, 2)
        Constraints.
    constraint_weight : float
        ξ.
    solver : str
        How to minimise.
    weights : array of shape (n_objects,) or None
        Weights of the objects; None: all are 1.
    objects : array of int, shape (n_samples,), or None
        Which of the objects the rows of X are; None: each its own.
    accuracy : float
        Relative error of a sum over the partners of an object that does not matter.
    """

    geometry: Geometry
    transformer: Transformer | None
    scale: float
    order: NDArray[np.intp]
    similarities: Similarities
    n_landmarks: int
    stored: Stored | None
    partners: tuple[Indices, Indices, NDArray[np.float64]] | None
    must_link: NDArray[np.intp]
    cannot_link: NDArray[np.intp]
    constraint_weight: float
    solver: str
    weights: NDArray[np.float64] | None = None
    objects: NDArray[np.intp] | None = None
    accuracy: float = 0.0

    @property
    def n_samples(self) -> int:
        """Number of objects."""
        return len(self.order)

    @property
    def n_rows(self) -> int:
        """Number of rows of X, some of which may be one object."""
        return self.n_samples if self.objects is None else len(self.objects)

    def stress(self, focal_sets: FocalSets) -> RowStress:
        """Stress over the pairs that count."""
        if self.partners is None:
            return CommonStress(
                self.similarities,
                self.n_landmarks,
                focal_sets,
                self.stored,
                self.weights,
            )
        one_sided = self.solver == "reference"
        return PartnerStress(
            *self.partners, self.n_samples, focal_sets, one_sided, self.accuracy
        )

    def cost(self, focal_sets: FocalSets) -> RowCost:
        """Stress and constraints."""
        stress = self.stress(focal_sets)
        if len(self.must_link) + len(self.cannot_link) == 0:
            return RowCost(stress)
        return RowCost(stress, self.constraints(focal_sets), self.constraint_weight)

    def constraints(self, focal_sets: FocalSets) -> PairConstraints:
        """The term of the must-links and cannot-links."""
        return PairConstraints(
            self.must_link, self.cannot_link, self.n_samples, focal_sets
        )

    def subset(self, focal_sets: FocalSets) -> CommonStress:
        """All pairs of the first objects, as many as it takes to find the clusters."""
        size = self.n_landmarks
        if size == self.n_samples > _MAX_SMALL:
            wanted = max(_SUBSET_SIZE, _SUBSET_PER_CLUSTER * focal_sets.n_clusters)
            size = min(size, wanted)
        some = self.similarities.between(slice(0, size))
        if self.stored is not None:
            stored: Stored = self.stored[:size, :size]
        else:
            stored = _filled(np.empty((size, size)), some, size)
        weights = None if self.weights is None else self.weights[:size]
        return CommonStress(some, size, focal_sets, stored, weights)

    def in_order_of_rows(self, masses: NDArray[np.float64]) -> NDArray[np.float64]:
        """Masses of the rows of X."""
        if self.objects is not None:
            return masses[self.objects]
        result = np.empty_like(masses)
        result[self.order] = masses
        return result

    @property
    def references(self) -> NDArray[np.intp]:
        """Row numbers of the objects that new ones are compared with."""
        if self.n_landmarks < self.n_samples:
            return self.order[: self.n_landmarks]
        return np.sort(self.order)

    @property
    def reference_weights(self) -> NDArray[np.float64] | None:
        """Their weights; None: all are 1."""
        if self.weights is None:
            return None
        if self.n_landmarks < self.n_samples:
            return self.weights[: self.n_landmarks]
        return self.weights[np.argsort(self.order)]


def prepare(
    estimator: EVCLUS,
    X: NDArray[np.float64],
    rng: np.random.RandomState,
    *,
    sample_weight: NDArray[np.float64] | None = None,
    **given: Any,
) -> EvclusProblem:
    """Check what is known, find δ0, fit the transformer, choose the pairs."""
    if sample_weight is not None:
        _check_weighted(estimator)
    information = side_information(
        **given,
        n_samples=len(X),
        n_clusters=estimator.n_clusters,
        label_weight=0.0,
        constraint_weight=estimator.constraint_weight,
    )
    geometry, transformer = _geometry(estimator, X, rng, information, sample_weight)
    must, cannot = information.must_link, information.cannot_link
    if estimator.constraint_neighbors and len(must) + len(cannot):
        check_integer(
            "constraint_neighbors", estimator.constraint_neighbors, at_most=len(X) - 1
        )
        must, cannot = expand(
            must,
            cannot,
            geometry.values,
            n_neighbors=estimator.constraint_neighbors,
            metric=geometry.metric,
        )
    share, copied = 0.0, geometry.some(copies(X, sample_weight, estimator.n_clusters))
    if takes_contrast(estimator):
        share = hard_clusters(copied, estimator.n_clusters, rng).share_apart
    scale = scale_of(estimator, copied, share, rng)
    distinct = _distinct(estimator, X, sample_weight, has_pairs=len(must) + len(cannot))
    # The reference program goes through the objects as they come.
    is_random = estimator.solver == "two-sided"
    n_objects = len(distinct.rows)
    shuffled = rng.permutation(n_objects) if is_random else np.arange(n_objects)
    order, place = distinct.rows[shuffled], np.argsort(shuffled)[distinct.objects]
    kind, n_partners = _pairs(estimator, len(X), n_objects)
    own = geometry.some(distinct.rows)
    similarities = own.similarities(scale, np.float64).take(shuffled)
    n_landmarks, partners = n_objects, None
    stored: Stored | None = None
    if kind == "landmarks":
        n_landmarks = n_partners
    if kind == "sampled":
        # The sums over partners read half as long numbers in less time.
        is_small = n_objects * n_partners <= np.iinfo(np.int32).max
        dtype = np.int32 if is_small else np.int64
        rows, columns = sample_pairs(n_objects, n_partners, rng, dtype)
        partners = rows, columns, similarities.pairs(rows, columns)
    elif estimator.solver != "gradient" and n_objects * n_landmarks <= _MAX_STORED:
        # Tables of many rows: to compute them anew would take six times as long.
        is_rounded = (
            isinstance(geometry.metric, Gower) and n_objects * n_landmarks > _MAX_EXACT
        )
        shape = n_objects, n_landmarks
        room: Stored = RoundedMatrix.empty(*shape) if is_rounded else np.empty(shape)
        stored = _filled(room, similarities, n_landmarks)
    return EvclusProblem(
        geometry,
        transformer,
        scale,
        order,
        similarities,
        n_landmarks,
        stored,
        partners,
        place[must],
        place[cannot],
        estimator.constraint_weight,
        estimator.solver,
        None if distinct.weights is None else distinct.weights[shuffled],
        None if n_objects == len(X) else place,
        estimator.tol,
    )


def _check_weighted(estimator: EVCLUS) -> None:
    """Refuse weights where copies would not share their masses."""
    if estimator.solver != "two-sided":
        raise ValueError(
            "sample_weight must be None unless solver='two-sided', got solver="
            f"{estimator.solver!r}"
        )
    if _is_sampled(estimator):
        raise ValueError(
            "sample_weight must be None for pairs='sampled': use pairs='landmarks'"
        )


def _is_sampled(estimator: EVCLUS) -> bool:
    """Whether objects have random partners of their own, whatever the solver."""
    is_auto = estimator.pairs == "auto"
    is_given = is_auto and estimator.pairs_per_sample is not None
    return estimator.pairs == "sampled" or is_given


def _distinct(
    estimator: EVCLUS,
    X: NDArray[np.float64],
    weights: NDArray[np.float64] | None,
    *,
    has_pairs: int,
) -> DistinctRows:
    """Rows that are one object: equal ones, unless something tells them apart."""
    is_known = has_pairs or not isinstance(estimator.init, str) or estimator._is_warm
    is_common = estimator.solver == "two-sided" and not _is_sampled(estimator)
    if is_known or estimator._is_precomputed or not is_common:
        return DistinctRows.all_of(len(X), weights)
    return DistinctRows.of(X, weights)


def _geometry(
    estimator: EVCLUS,
    X: NDArray[np.float64],
    rng: np.random.RandomState,
    information: SideInformation,
    weights: NDArray[np.float64] | None,
) -> tuple[Geometry, Transformer | None]:
    """Where dissimilarities come from, and the transformer if there is one."""
    if not hasattr(estimator.metric, "transform"):
        refuse_unused(estimator, information)
    if estimator._is_precomputed:
        matrix = check_dissimilarities(X, symmetrize=estimator.symmetrize)
        return Geometry(matrix, "precomputed"), None
    return attribute_geometry(X, estimator._own_metric, rng, information, weights)


def check_parameters(estimator: EVCLUS) -> None:
    """Parameters of EVCLUS that do not depend on the data."""
    check_scale_parameters(estimator)
    check_choice("solver", estimator.solver, SOLVERS)
    check_choice("pairs", estimator.pairs, PAIRS)
    if isinstance(estimator.init, str):
        check_choice("init", estimator.init, INITS)
    if estimator.pairs_per_sample is not None:
        check_integer("pairs_per_sample", estimator.pairs_per_sample, at_least=1)
    check_number("constraint_weight", estimator.constraint_weight, at_least=0)
    check_integer("constraint_neighbors", estimator.constraint_neighbors, at_least=0)
    check_number("entropy_weight", estimator.entropy_weight, at_least=0)
    if estimator.pairs == "all" and estimator.pairs_per_sample is not None:
        raise ValueError(
            "pairs_per_sample must be None for pairs='all', got "
            f"{estimator.pairs_per_sample}"
        )
    kinds = {"gradient": ("all",), "reference": ("all", "sampled")}
    allowed = kinds.get(estimator.solver, PAIRS)
    kind = estimator.pairs
    if kind == "auto" and estimator.pairs_per_sample is not None:
        kind = "sampled"
    if kind not in (*allowed, "auto"):
        raise ValueError(
            f"pairs must be {' or '.join(map(repr, allowed))} for solver="
            f"{estimator.solver!r}, got {kind!r}"
        )
    is_seeded = isinstance(estimator.init, str) and estimator.init == "k-means++"
    if estimator.solver == "gradient" and is_seeded:
        raise ValueError(
            "init must be 'auto', 'random' or masses for solver='gradient', got "
            "'k-means++'"
        )
    if estimator.entropy_weight and estimator.solver != "gradient":
        raise ValueError(
            "entropy_weight must be 0 unless solver='gradient', got "
            f"{estimator.entropy_weight} with solver={estimator.solver!r}"
        )


def given_masses(
    init: CredalPartition | ArrayLike,
    n_samples: int,
    focal_sets: FocalSets,
    name: str = "init",
) -> NDArray[np.float64]:
    """Masses on these focal sets from a partition or an array."""
    if not isinstance(init, CredalPartition):
        masses = check_numbers(name, init)
        if masses.shape != (n_samples, len(focal_sets)):
            raise ValueError(
                f"{name} must have shape (n_samples, n_focal_sets) = ({n_samples}, "
                f"{len(focal_sets)}) when it is an array, got {masses.shape}"
            )
        masses = check_distributions(name, masses)
        return masses / masses.sum(axis=1, keepdims=True)
    if len(init) != n_samples or init.focal_sets.n_clusters != focal_sets.n_clusters:
        raise ValueError(
            f"{name} must be a partition of {n_samples} objects in "
            f"{focal_sets.n_clusters} clusters, got {len(init)} objects and "
            f"{init.focal_sets.n_clusters} clusters"
        )
    masses = np.zeros((n_samples, len(focal_sets)))
    for column, subset in enumerate(init.focal_sets):
        if subset in focal_sets:
            masses[:, focal_sets.index(subset)] = init.masses[:, column]
        elif init.masses[:, column].any():
            raise ValueError(
                f"{name} must have no mass outside the focal sets of the fit, got mass "
                f"on {init.focal_sets.names[column]}"
            )
    return masses / masses.sum(axis=1, keepdims=True)


def _pairs(estimator: EVCLUS, n_samples: int, n_objects: int) -> tuple[str, int]:
    """Which kind of pairs counts, and how many of each object.

    Some of the samples may be one object.
    """
    kind, n_partners = estimator.pairs, estimator.pairs_per_sample
    if kind == "auto":
        can_be_all = n_objects <= _MAX_ALL_PAIRS or estimator.solver == "gradient"
        kind = "all" if can_be_all else "landmarks"
        if n_partners is not None or (kind, estimator.solver) == (
            "landmarks",
            "reference",
        ):
            kind = "sampled"
    if n_partners is None:
        n_partners = min(_DEFAULT_PARTNERS, n_samples - 1)
    if n_partners > n_samples - 1:
        raise ValueError(
            f"pairs_per_sample must be <= n_samples - 1 = {n_samples - 1}, got "
            f"{n_partners}"
        )
    if kind == "landmarks" and n_partners < estimator.n_clusters:
        raise ValueError(
            f"pairs_per_sample, the number of landmarks, must be >= n_clusters = "
            f"{estimator.n_clusters}, got {n_partners}"
        )
    return kind, min(n_partners, n_objects) if kind == "landmarks" else n_partners


def _filled(values: Stored, similarities: Similarities, n_landmarks: int) -> Stored:
    """Similarities to the first objects, (n_samples, n_landmarks)."""
    for start in range(0, similarities.n_samples, _ROWS_STORED_AT_ONCE):
        rows = slice(start, min(start + _ROWS_STORED_AT_ONCE, similarities.n_samples))
        values[rows] = similarities.block(rows, slice(0, n_landmarks))
    values[np.arange(n_landmarks), np.arange(n_landmarks)] = 1.0
    return values
