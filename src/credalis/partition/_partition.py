"""CredalPartition: the result of every evidential clustering."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis import _archive, belief
from credalis._checks import (
    check_choice,
    check_distributions,
    check_integer,
    check_number,
    check_numbers,
    naming,
    shown,
)
from credalis._choices import CLEAR_LEVEL
from credalis._coverage import DEFAULT_LEVEL, CoverageCalibration, coverage_sets
from credalis._refusals import refuses_by_name
from credalis.belief import FocalSets
from credalis.belief._focal_sets import check_permutation
from credalis.belief._transforms import nonempty_mass
from credalis.exceptions import InvalidMassError
from credalis.partition import _classical, _presentation
from credalis.partition._verdicts import (
    OUTLIER_MASS,
    Verdicts,
    check_clear_level,
    verdicts,
)

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

HARD_RULES = ("plausibility", "belief", "pignistic")
SET_RULES = ("maximum_mass", "interval_dominance", "verdict")

# Sums in another order differ by rounding where they are equal on paper.
_ROUNDING = 1e-12

_BLOCK_ROWS = 10_000


@dataclass(frozen=True, eq=False, repr=False)
class CredalPartition:
    """Mass functions of ``n_samples`` objects over common focal sets.

    The masses are checked when the object is made: finite, not negative, each row
    summing to one. Everything else is a view computed when it is first asked for. A
    partition of no objects is allowed: it is what a selection may leave.

    Parameters
    ----------
    masses : array-like of shape (n_samples, n_focal_sets)
        Row i is the mass function of object i. Sums within 1e-6 of 1 pass as rounding,
        and so do values above -1e-8, which become 0; anything beyond is an error.
    focal_sets : FocalSets
        What the columns stand for.
    index : array-like of length n_samples, default=None
        Names of the objects: `fit` and ``predict_partition`` keep the index of a pandas
        frame, and `to_pandas` gives it back. Files do not hold it.

    Raises
    ------
    InvalidMassError
        If the numbers are not mass functions; a ``ValueError``.

    See Also
    --------
    CredalPartition.from_labels : hard partitions as a special case.
    CredalPartition.from_fuzzy : fuzzy partitions.
    CredalPartition.from_rough : rough partitions.
    CredalPartition.from_possibilities : possibilistic partitions.

    Examples
    --------
    >>> from credalis import CredalPartition, FocalSets
    >>> partition = CredalPartition(
    ...     [[0, 1, 0, 0], [0, 0.6, 0.2, 0.2], [0.1, 0, 0.7, 0.2], [0, 0, 0, 1]],
    ...     FocalSets.full(2),
    ... )
    >>> partition.plausibility
    array([[1. , 0. ],
           [0.8, 0.4],
           [0.2, 0.9],
           [1. , 1. ]])
    >>> partition.labels
    array([0, 0, 1, 0])
    >>> partition.is_clear
    array([ True, False,  True, False])
    >>> partition.set_names("verdict")
    ['{0}', 'Ω', '{1}', 'Ω']
    """

    masses: NDArray[np.float64]
    focal_sets: FocalSets
    index: Any = None

    # Shape and values of the masses are checked whenever a partition is made.
    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "masses": _archive.Array("f", (None, None)),
            "focal_sets": _archive.Instance(FocalSets),
        }
    )

    def __post_init__(self) -> None:
        if not isinstance(self.focal_sets, FocalSets):
            raise ValueError(
                f"focal_sets must be a FocalSets, got {type(self.focal_sets).__name__}"
            )
        object.__setattr__(self, "masses", _checked(self.masses, self.focal_sets))
        _check_names(self.index, len(self.masses))

    @property
    def n_samples(self) -> int:
        """Number of objects."""
        return len(self.masses)

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return self.focal_sets.n_clusters

    @cached_property
    def plausibility(self) -> NDArray[np.float64]:
        """Plausibility of each cluster (contour function), (n_samples, n_clusters)."""
        return read_only(belief.contour(self.masses, self.focal_sets))

    @cached_property
    def belief(self) -> NDArray[np.float64]:
        """Belief in each cluster, shape (n_samples, n_clusters)."""
        return read_only(belief.belief(self.masses, self.focal_sets))

    @cached_property
    def pignistic(self) -> NDArray[np.float64]:
        """Pignistic probability, (n_samples, n_clusters); uniform where m(∅) = 1."""
        return read_only(belief.pignistic(self.masses, self.focal_sets))

    @cached_property
    def normalized_plausibility(self) -> NDArray[np.float64]:
        """Plausibility divided by its sum: the plausibility transform."""
        return read_only(belief.plausibility_transform(self.masses, self.focal_sets))

    @cached_property
    def outlier_mass(self) -> NDArray[np.float64]:
        """m(∅), the support for "none of these clusters", shape (n_samples,)."""
        return read_only(belief.empty_mass(self.masses, self.focal_sets))

    @cached_property
    def labels(self) -> NDArray[np.intp]:
        """Cluster of maximal plausibility; ties go to the lowest number."""
        return self._column_by_row(
            lambda masses: first_maximum(belief.contour(masses, self.focal_sets))
        )

    @cached_property
    def maximum_mass_index(self) -> NDArray[np.intp]:
        """Column of the focal set with the largest mass; ties go to the first."""
        return self._column_by_row(lambda masses: masses.argmax(axis=1))

    @cached_property
    def maximum_mass_sets(self) -> NDArray[np.bool_]:
        """Clusters in the focal set of largest mass, (n_samples, n_clusters)."""
        return read_only(self.focal_sets.membership[self.maximum_mass_index])

    @cached_property
    def interval_dominance_sets(self) -> NDArray[np.bool_]:
        """Clusters at least as plausible as the largest belief: none beats them."""
        best = self.belief.max(axis=1, keepdims=True)
        return read_only(self.plausibility >= best * (1 - _ROUNDING))

    @cached_property
    def lower(self) -> NDArray[np.bool_]:
        """Lower approximations: objects certainly in a cluster.

        Shape (n_samples, n_clusters); see `lower_approximation` for the other rule.
        """
        sets = self.maximum_mass_sets
        return read_only(sets & (sets.sum(axis=1, keepdims=True) == 1))

    @cached_property
    def upper(self) -> NDArray[np.bool_]:
        """Upper approximations: objects possibly in a cluster.

        Shape (n_samples, n_clusters); see `upper_approximation` for the other rule.
        """
        return self.maximum_mass_sets

    @cached_property
    def is_outlier(self) -> NDArray[np.bool_]:
        """Whether m(∅) of an object is at least one half, shape (n_samples,).

        Nothing is an outlier where ∅ is not among the focal sets.
        """
        return read_only(self.outlier_mass >= OUTLIER_MASS)

    @property
    def is_clear(self) -> NDArray[np.bool_]:
        """Whether an object is no outlier and clearly in one cluster, (n_samples,).

        The belief in this cluster, divided by 1 - m(∅), is at least 0.7; see `verdicts`
        for another level.
        """
        return self._verdicts.is_clear

    @property
    def is_ambiguous(self) -> NDArray[np.bool_]:
        """Whether an object lies between clusters: neither clear nor an outlier."""
        return self._verdicts.is_between

    @cached_property
    def between_sets(self) -> NDArray[np.bool_]:
        """Clusters that an object lies between, shape (n_samples, n_clusters).

        Those at least half as plausible as the most plausible one, and at least the
        two most plausible; none for objects that are clear or outliers.
        """
        return read_only(self._verdicts.between_sets)

    @property
    def verdict_sets(self) -> NDArray[np.bool_]:
        """Clusters an object is clearly in or between, (n_samples, n_clusters).

        One for a clear object, two or more for one between clusters, none for an
        outlier.
        """
        return self._verdicts.sets

    @cached_property
    def _verdicts(self) -> Verdicts:
        return self._computed_verdicts(CLEAR_LEVEL)

    @cached_property
    def nonspecificity(self) -> NDArray[np.float64]:
        """N(m) / log₂ c of each object: 0 if it is precise, 1 if nothing is known."""
        if self.n_clusters == 1:
            return read_only(np.zeros(self.n_samples))
        bits = belief.nonspecificity(self.masses, self.focal_sets)
        return read_only(bits / np.log2(self.n_clusters))

    def _column_by_row(
        self, choose: Callable[[NDArray[np.float64]], NDArray[np.intp]]
    ) -> NDArray[np.intp]:
        """A column for each row, some rows at a time.

        All plausibilities, or the copy that argmax makes of a read-only array, are more
        numbers than should be held beside the masses.
        """
        columns = np.empty(self.n_samples, dtype=np.intp)
        for start in range(0, self.n_samples, _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            columns[rows] = choose(self.masses[rows])
        return read_only(columns)

    @property
    def average_nonspecificity(self) -> float:
        """Mean of `nonspecificity`, the index N of the literature, in [0, 1].

        NaN for a partition of no objects.
        """
        return float(self.nonspecificity.mean()) if self.n_samples else float("nan")

    @cached_property
    def doubt(self) -> NDArray[np.float64]:
        """The larger of m(∅) and one minus the largest pignistic probability.

        0: certainly in one cluster. 1 - 1/k: halfway between k clusters. 1: in none of
        them. Sorted by it, objects with a wrong label come late.
        """
        unsure = 1.0 - self.pignistic.max(axis=1)
        return read_only(np.clip(np.maximum(unsure, self.outlier_mass), 0.0, 1.0))

    @cached_property
    def cluster_similarity(self) -> NDArray[np.float64]:
        """Σ pl_ik pl_il over the objects, (n_clusters, n_clusters).

        Plausibilities are divided by 1 - m(∅); objects wholly on ∅ do not count. Two
        clusters are similar when the same objects may belong to both.
        """
        inside = nonempty_mass(self.masses, self.focal_sets)
        counts = inside > _ROUNDING
        plausibility = self.plausibility[counts] / inside[counts, None]
        return read_only(plausibility.T @ plausibility)

    @classmethod
    @refuses_by_name
    def from_labels(
        cls, labels: ArrayLike, n_clusters: int | None = None
    ) -> "CredalPartition":
        """Hard partition: all mass of an object on its cluster.

        Parameters
        ----------
        labels : array-like of int, shape (n_samples,)
            Cluster of each object, 0 to n_clusters - 1; -1 stands for an object of no
            cluster and becomes a mass on ∅.
        n_clusters : int, default=None
            None: one more than the largest label.
        """
        return cls(*_classical.masses_from_labels(labels, n_clusters))

    @classmethod
    @refuses_by_name
    def from_fuzzy(cls, memberships: ArrayLike) -> "CredalPartition":
        """Fuzzy partition: memberships (n_samples, n_clusters) become Bayesian masses.

        Rows must sum to one.

        Parameters
        ----------
        memberships : array-like of shape (n_samples, n_clusters)
            Non-negative rows that sum to 1.

        Returns
        -------
        CredalPartition
        """
        return cls(*_classical.masses_from_fuzzy(memberships))

    @classmethod
    @refuses_by_name
    def from_rough(cls, lower: ArrayLike, upper: ArrayLike) -> "CredalPartition":
        """Rough partition: all mass of an object on the set of its possible clusters.

        Parameters
        ----------
        lower, upper : array-like of bool, shape (n_samples, n_clusters)
            Lower and upper approximations. An object is in the lower approximation of
            a cluster if and only if it is in the upper approximation of this cluster
            alone. An object in no upper approximation is an outlier.
        """
        return cls(*_classical.masses_from_rough(lower, upper))

    @classmethod
    @refuses_by_name
    def from_possibilities(cls, possibilities: ArrayLike) -> "CredalPartition":
        """Possibilistic partition: the consonant masses with this contour function.

        Parameters
        ----------
        possibilities : array-like of shape (n_samples, n_clusters)
            Possibility of each cluster, in [0, 1]. What is missing to one in the
            largest possibility of an object goes to ∅.
        """
        return cls(*_classical.masses_from_possibilities(possibilities))

    @refuses_by_name
    def lower_approximation(self, rule: str = "maximum_mass") -> NDArray[np.bool_]:
        """Objects whose set is a single cluster, as (n_samples, n_clusters).

        Parameters
        ----------
        rule : str, default="maximum_mass"
            How an object gets its set of clusters: "maximum_mass",
            "interval_dominance", or "verdict", by which clear objects have one.

        Returns
        -------
        ndarray of bool, shape (n_samples, n_clusters)
        """
        sets = self._sets(rule)
        return sets & (sets.sum(axis=1, keepdims=True) == 1)

    @refuses_by_name
    def upper_approximation(self, rule: str = "maximum_mass") -> NDArray[np.bool_]:
        """Objects whose set contains the cluster, as (n_samples, n_clusters).

        Parameters
        ----------
        rule : str, default="maximum_mass"
            A rule of `decide` that gives sets of clusters.

        Returns
        -------
        ndarray of bool, shape (n_samples, n_clusters)
        """
        return self._sets(rule).copy()

    @refuses_by_name
    def verdicts(self, clear_level: float = CLEAR_LEVEL) -> Verdicts:
        """One word for each object: outlier, clear or between.

        They are decided in this order: an outlier has m(∅) >= 1/2; of the others, an
        object is clear if its belief in one cluster, divided by 1 - m(∅), reaches
        `clear_level`; all others lie between clusters.

        Parameters
        ----------
        clear_level : float, default=0.7
            Above 2/3, so that no other cluster is half as plausible as that of a clear
            object, and at most 1.

        Returns
        -------
        Verdicts
            Arrays ``is_outlier``, ``is_clear``, ``is_between``, of which just one is
            True for an object, and ``sets``, the clusters it is clearly in or between.

        Examples
        --------
        >>> from credalis import CredalPartition
        >>> partition = CredalPartition.from_fuzzy([[0.95, 0.05], [0.75, 0.25]])
        >>> partition.verdicts()
        Verdicts(2 clear, 0 between, 0 outliers at clear_level=0.7)
        >>> partition.verdicts(clear_level=0.9).is_between
        array([False,  True])
        """
        level = check_clear_level(clear_level)
        if level == CLEAR_LEVEL:
            return self._verdicts
        return self._computed_verdicts(level)

    def _computed_verdicts(self, level: float) -> Verdicts:
        """Some rows at a time, as in `_column_by_row`."""
        flags = np.empty((3, self.n_samples), dtype=bool)
        sets = np.empty((self.n_samples, self.n_clusters), dtype=bool)
        for start in range(0, self.n_samples, _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            masses = self.masses[rows]
            found = verdicts(
                belief.belief(masses, self.focal_sets),
                belief.contour(masses, self.focal_sets),
                belief.empty_mass(masses, self.focal_sets),
                nonempty_mass(masses, self.focal_sets),
                level,
            )
            flags[:, rows] = found.is_outlier, found.is_clear, found.is_between
            sets[rows] = found.sets
        is_outlier, is_clear, is_between = read_only(flags)
        return Verdicts(is_outlier, is_clear, is_between, read_only(sets), level)

    @refuses_by_name
    def decide(
        self,
        rule: str = "plausibility",
        *,
        outlier: int | None = None,
        level: float | None = None,
        calibration: CoverageCalibration | None = None,
    ) -> NDArray[Any]:
        """Hard or set-valued decisions.

        Parameters
        ----------
        rule : str, default="plausibility"
            "plausibility", "belief" or "pignistic": the cluster that maximises it
            (ties go to the lowest number). "maximum_mass": the focal set of largest
            mass. "interval_dominance": the clusters that no other dominates.
            "verdict": the cluster an object is clearly in, or those it lies between;
            none for an outlier. "coverage": the clusters whose pignistic probability
            reaches the threshold of a level, and the most plausible one in any case.
        outlier : int, default=None
            Label for the objects of `is_outlier`, usually -1. None: they get the
            cluster the rule says. For hard decisions only.
        level : float, default=None
            For "coverage", the probability that a set holds the right cluster. None:
            0.9.
        calibration : CoverageCalibration, default=None
            For "coverage", where the threshold comes from: ``calibration_`` of the
            model that has made the partition. Its ``assumption`` says what the level
            promises.

        Returns
        -------
        array of int, shape (n_samples,), for a hard rule, or
        array of bool, shape (n_samples, n_clusters), for a set-valued one.
        """
        check_choice("rule", rule, (*HARD_RULES, *SET_RULES, "coverage"))
        if rule != "coverage":
            for name, value in (("level", level), ("calibration", calibration)):
                if value is not None:
                    raise ValueError(
                        f"{name} must be None for the rule {rule!r}, only 'coverage' "
                        f"has one, got {shown(value)}"
                    )
        if rule not in HARD_RULES:
            if outlier is not None:
                raise ValueError(
                    f"outlier must be None for the set-valued rule {rule!r}, which "
                    f"gives sets of clusters and no labels, got {outlier!r}"
                )
            if rule == "coverage":
                return self._coverage_sets(level, calibration)
            return self._sets(rule).copy()
        labels = first_maximum(getattr(self, rule))
        if outlier is not None:
            number = check_integer("outlier", outlier)
            with naming("outlier"):
                labels[self.is_outlier] = number
        return labels

    @refuses_by_name
    def set_names(self, rule: str = "maximum_mass") -> list[str]:
        """Readable set of clusters of each object, as in "∅", "{1}", "{0,2}".

        Parameters
        ----------
        rule : str, default="maximum_mass"
            A rule of `decide` that gives sets of clusters.

        Returns
        -------
        list of str
        """
        return _presentation.set_names(self._sets(rule))

    @refuses_by_name
    def pairwise_masses(
        self, rows: ArrayLike | None = None, columns: ArrayLike | None = None
    ) -> NDArray[np.float64]:
        """Masses about pairs of objects: same cluster or different clusters.

        Parameters
        ----------
        rows, columns : array-like of int, default=None
            Objects; None stands for all. For many objects use `pairwise_blocks`.

        Returns
        -------
        array of shape (n_rows, n_columns, 4)
            Masses of ∅, {same}, {different} and {same, different}.
        """
        first = self.masses if rows is None else self[rows].masses
        second = self.masses if columns is None else self[columns].masses
        return belief.pairwise_masses(first, self.focal_sets, second)

    def pairwise_blocks(
        self, *, max_bytes: int = 2**26
    ) -> Iterator[tuple[slice, slice, NDArray[np.float64]]]:
        """`pairwise_masses` of all pairs, block by block within a memory limit.

        Yields ``(rows, columns, block)`` with ``rows.start <= columns.start``, so that
        each pair of different objects occurs once, or twice in a diagonal block.

        Parameters
        ----------
        max_bytes : int, default=67108864
            Memory that a block may take.

        Returns
        -------
        iterator of (slice, slice, ndarray of shape (n, m, 4))
        """
        check_integer("max_bytes", max_bytes, at_least=1)
        return belief.pairwise_blocks(self.masses, self.focal_sets, max_bytes=max_bytes)

    @refuses_by_name
    def neighboring_clusters(self, n_neighbors: int = 1) -> list[tuple[int, int]]:
        """Pairs of clusters that are among each other's most similar ones.

        The second step of the two-step choice of focal sets: fit with singletons, then
        add the pairs found here with ``FocalSets.pairs(n_clusters, pairs)``.

        Parameters
        ----------
        n_neighbors : int, default=1
            How many of the most similar clusters count as neighbours of a cluster.

        Returns
        -------
        list of (int, int)
        """
        check_integer("n_neighbors", n_neighbors, at_least=1)
        similarity = self.cluster_similarity.copy()
        np.fill_diagonal(similarity, -np.inf)
        nearest = np.argsort(-similarity, axis=1, kind="stable")
        nearest = nearest[:, : min(n_neighbors, self.n_clusters - 1)]
        is_neighbor = np.zeros_like(similarity, dtype=bool)
        np.put_along_axis(is_neighbor, nearest, True, axis=1)
        mutual = np.triu(is_neighbor & is_neighbor.T)
        return [(int(first), int(second)) for first, second in np.argwhere(mutual)]

    @refuses_by_name
    def normalized(self, rule: str = "dempster") -> "CredalPartition":
        """A copy with nothing on ∅.

        Parameters
        ----------
        rule : {"dempster", "yager"}, default="dempster"
            "dempster" divides by 1 - m(∅) and makes an object wholly on ∅ vacuous;
            "yager" moves m(∅) to Ω. Ω is added to the focal sets if it is needed.

        Returns
        -------
        CredalPartition
        """
        check_choice("rule", rule, ("dempster", "yager"))
        normalize = (
            belief.dempster_normalize if rule == "dempster" else belief.yager_normalize
        )
        return CredalPartition(*normalize(self.masses, self.focal_sets), self.index)

    @refuses_by_name
    def relabel(self, new_labels: Iterable[int]) -> "CredalPartition":
        """A copy in which cluster k is called ``new_labels[k]``.

        If the relabelled focal sets are the same sets in another order, the columns
        are put in the original order, so that only the masses change.

        Parameters
        ----------
        new_labels : iterable of int
            The new number of each cluster, a permutation.

        Returns
        -------
        CredalPartition
        """
        labels = check_permutation("new_labels", new_labels, self.n_clusters)
        relabeled = self.focal_sets.relabel(labels)
        if set(relabeled.subsets) == set(self.focal_sets.subsets):
            columns = [relabeled.index(subset) for subset in self.focal_sets]
            return CredalPartition(self.masses[:, columns], self.focal_sets, self.index)
        return CredalPartition(self.masses, relabeled, self.index)

    def __getitem__(self, objects: Any) -> "CredalPartition":
        """The objects of a slice, of a list of numbers or of a boolean mask."""
        index = objects
        if not isinstance(index, slice):
            with naming("objects"):
                index = np.atleast_1d(np.asarray(objects))
            if index.size == 0:
                index = index.astype(np.intp)
            _check_index(index, self.n_samples)
        names = self.index
        if names is not None:
            names = names[index] if hasattr(names, "take") else np.asarray(names)[index]
        return CredalPartition(self.masses[index], self.focal_sets, names)

    def __len__(self) -> int:
        return self.n_samples

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CredalPartition):
            return NotImplemented
        return self.focal_sets == other.focal_sets and np.array_equal(
            self.masses, other.masses
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # Arrays come back from a pickle writeable; the views would come along.
        return type(self), (self.masses, self.focal_sets)

    @refuses_by_name
    def allclose(self, other: "CredalPartition", *, atol: float = 1e-8) -> bool:
        """Whether focal sets are equal and masses differ by no more than atol.

        Parameters
        ----------
        other : CredalPartition
            What to compare with.
        atol : float, default=1e-08
            Largest difference between masses.

        Returns
        -------
        bool
        """
        if not isinstance(other, CredalPartition):
            raise ValueError(f"other must be a CredalPartition, got {shown(other)}")
        atol = check_number("atol", atol, at_least=0)
        return (
            self.focal_sets == other.focal_sets
            and self.masses.shape == other.masses.shape
            and np.allclose(self.masses, other.masses, rtol=0.0, atol=atol)
        )

    def __repr__(self) -> str:
        return (
            f"CredalPartition({self.n_samples} objects, {self.n_clusters} clusters, "
            f"{len(self.focal_sets)} focal sets)"
        )

    def _repr_html_(self) -> str:
        return _presentation.html(self, self._verdicts)

    @refuses_by_name
    def summary(self, *, clear_level: float = CLEAR_LEVEL) -> str:
        """Text about the clusters: objects that are clear, between them, or outliers.

        Parameters
        ----------
        clear_level : float, default=0.7
            As in `verdicts`.

        Returns
        -------
        str
        """
        return _presentation.summary(self, self.verdicts(clear_level))

    @refuses_by_name
    def to_pandas(
        self, index: Any = None, *, clear_level: float = CLEAR_LEVEL
    ) -> "pd.DataFrame":
        """Table with one row per object.

        Columns: ``label``; ``set``, the cluster that the object is clearly in or those
        it lies between, ∅ for an outlier; ``outlier``; ``ambiguous``, whether it lies
        between clusters; ``doubt``; then ``pl {k}`` for the plausibilities and ``m A``
        for the masses.

        Parameters
        ----------
        index : array-like, default=None
            Names of the objects. None: those the partition has, which are the index of
            the pandas frame that was clustered; else numbers from 0.
        clear_level : float, default=0.7
            As in `verdicts`.

        Returns
        -------
        pandas.DataFrame
        """
        index = self.index if index is None else index
        return _presentation.to_pandas(self, index, self.verdicts(clear_level))

    @refuses_by_name
    def to_polars(self, *, clear_level: float = CLEAR_LEVEL) -> "pl.DataFrame":
        """Table with one row per object; columns as in `to_pandas`.

        Parameters
        ----------
        clear_level : float, default=0.7
            Belief in one cluster from which on an object is clear, above 2/3.

        Returns
        -------
        polars.DataFrame
        """
        return _presentation.to_polars(self, self.verdicts(clear_level))

    def save(
        self, path: str | PathLike[str], *, key: bytes | str | None = None
    ) -> None:
        """Write arrays and JSON to one file; it appears whole or not at all.

        A key of at least 16 bytes signs the file.

        Parameters
        ----------
        path : path-like
            The file.
        key : bytes or str, optional
            A secret of at least 16 bytes, with which the file is signed.
        """
        _archive.save(self, path, key=key)

    @classmethod
    def load(
        cls, path: str | PathLike[str], *, key: bytes | str | None = None
    ) -> "CredalPartition":
        """Read a file written by `save`, with a key only one that it has signed.

        Parameters
        ----------
        path : path-like
            The file.
        key : bytes or str, optional
            The secret with which the file was signed; others are refused.

        Returns
        -------
        CredalPartition
        """
        return _archive.load(path, expected=cls, key=key)

    def to_state(self) -> dict[str, Any]:
        """What `save` stores.

        Returns
        -------
        dict
        """
        return {"masses": np.asarray(self.masses), "focal_sets": self.focal_sets}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "CredalPartition":
        """Inverse of `to_state`.

        Parameters
        ----------
        state : dict
            What `to_state` has returned.

        Returns
        -------
        CredalPartition
        """
        return cls(state["masses"], state["focal_sets"])

    def _coverage_sets(
        self, level: float | None, calibration: CoverageCalibration | None
    ) -> NDArray[np.bool_]:
        if not isinstance(calibration, CoverageCalibration):
            raise ValueError(
                "calibration must be the calibration_ of a model for the rule "
                f"'coverage', see its method calibrate, got {shown(calibration)}"
            )
        if calibration.n_clusters != self.n_clusters:
            raise ValueError(
                f"calibration must be about {self.n_clusters} clusters, as the "
                f"partition, got one about {calibration.n_clusters}"
            )
        threshold = calibration.threshold(DEFAULT_LEVEL if level is None else level)
        return coverage_sets(self.pignistic, self.labels, threshold)

    def _sets(self, rule: str) -> NDArray[np.bool_]:
        check_choice("rule", rule, SET_RULES)
        return getattr(self, f"{rule}_sets")


def _check_index(index: NDArray[Any], n_samples: int) -> None:
    """Refuse numbers of objects that there are not; an IndexError, as for a list."""
    kind, shape = index.dtype.kind, index.shape
    if kind not in "iub" or index.ndim != 1:
        raise IndexError(
            "objects must be a slice, a list of numbers or a boolean mask, got "
            f"{shown(index)}"
        )
    if kind == "b" and shape != (n_samples,):
        raise IndexError(
            f"objects must be a mask of {n_samples} truth values, got shape {shape}"
        )
    if kind != "b" and ((index >= n_samples) | (index < -n_samples)).any():
        raise IndexError(
            f"objects must be numbers of the {n_samples} objects, got {shown(index)}"
        )


def _check_names(index: Any, n_samples: int) -> None:
    if index is not None and (not hasattr(index, "__len__") or len(index) != n_samples):
        raise ValueError(
            f"index must hold a name for each of the {n_samples} objects, got "
            f"{shown(index)}"
        )


def index_of(X: Any) -> Any:
    """Names of the rows of a pandas frame; None for anything else."""
    return X.index if hasattr(X, "iloc") and hasattr(X, "columns") else None


def uncopied_partition(
    masses: NDArray[np.float64], focal_sets: FocalSets, index: Any = None
) -> CredalPartition:
    """A partition that keeps the array it is given instead of a copy.

    For masses that nobody else holds and that are too many to be held twice. They are
    checked as usual, and can no longer be written to. The index is as in the class.
    """
    partition = object.__new__(CredalPartition)
    object.__setattr__(partition, "focal_sets", focal_sets)
    object.__setattr__(partition, "masses", _checked(masses, focal_sets, copy=False))
    _check_names(index, len(partition.masses))
    object.__setattr__(partition, "index", index)
    return partition


def _checked(
    masses: ArrayLike, focal_sets: FocalSets, *, copy: bool = True
) -> NDArray[np.float64]:
    """Read-only float64 masses, a copy unless they are one, or an InvalidMassError."""
    try:
        array = check_numbers("masses", masses) if copy else np.asarray(masses)
        if array.ndim != 2 or array.shape[1] != len(focal_sets):
            raise ValueError(
                f"masses must have shape (n_samples, {len(focal_sets)}), one column "
                f"for each focal set, got {array.shape}"
            )
        return read_only(check_distributions("masses", array))
    except ValueError as error:
        raise InvalidMassError(*error.args) from error


def first_maximum(values: NDArray[np.float64]) -> NDArray[np.intp]:
    """First column of each row that holds its largest value, up to rounding."""
    largest = values.max(axis=1, keepdims=True)
    return (values >= largest * (1 - _ROUNDING)).argmax(axis=1)


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, protected against writing."""
    array.setflags(write=False)
    return array
