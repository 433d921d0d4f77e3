"""How unlike all training objects an object is, as a p-value and as a mass on ∅.

The score of an object is the log of its mean distance to the nearest reference objects,
which are training objects; one that is equal to the object is left out once, so that a
training object is scored as if it were new. The p-value of a score is

    p(s) = (1 + #{i : s_i ≥ s}) / (n + 1)

over the scores s_i of the reference objects: for a new object from where the reference
objects come from, P(p ≤ r) is at most r up to the correlation of scores that share
neighbours. Ranks alone would flag the asked share of the training objects themselves
whatever the data, and none of few; so reference objects that are improbable under a
logistic distribution with the quartiles of the scores do not count among the s_i, and
beyond the largest of these p is the tail of that distribution if it is smaller.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from credalis import _archive
from credalis._checks import check_lengths
from credalis._neighbors import METRIC_NAMES, NeighborSearch
from credalis.belief import FocalSets
from credalis.dissimilarity import Gower

Array = NDArray[np.float64]

# What distances in a file can be taken with.
METRIC = _archive.OneOf(_archive.Instance(Gower), _archive.Choice(*METRIC_NAMES))

# Reference objects that a model keeps.
MAX_REFERENCES = 2000

# An object with this many others around it is not alone: more neighbours would make
# strangers of the objects of small clusters, and find no more of those that are.
_MAX_NEIGHBORS, _MIN_NEIGHBORS = 5, 3

# Reference objects less probable than this under the tail do not calibrate, and of few
# objects those of which less than half a one is to be expected (Chauvenet's criterion):
# a stranger among them would make itself ordinary.
_IMPROBABLE = 1e-3
_LEAST_EXPECTED = 0.5

# Scores, logs of distances, whose quartiles are closer than twice this are spread by
# rounding or by ties: distances that differ by a few percent say nothing.
_LEAST_SPREAD = 0.05

# With more features, a tree over so few objects takes longer than comparing all: up to
# ten times in ten dimensions.
_MAX_TREE_FEATURES = 2

# Objects scored at a time.
_BLOCK_ROWS = 4096

# Scores that differ by this share of the spread are equal.
_ROUNDING = 1e-9

# Objects closer than this share of the usual distance are equal: a transformer places
# one object and the same among others up to rounding.
SAME = 1e-9

# What is left for the clusters where ∅ has all mass up to rounding: it adds nothing to
# a sum of 1, but still says which cluster comes first.
LEAST_REST = 1e-30


def _check_scores(owner: str, entries: _archive.Entries) -> None:
    scores = entries["scores"]
    if len(scores) == 0 or (scores[1:] < scores[:-1]).any():
        raise ValueError(f"{owner}.scores must be ascending, and at least one")


def _check_references(owner: str, entries: _archive.Entries) -> None:
    points, columns = entries["points"], entries["columns"]
    if (points is None) == (columns is None):
        raise ValueError(f"{owner} must have either points or columns")
    is_matrix = entries["metric"] == "precomputed"
    if is_matrix != (points is None):
        raise ValueError(
            f"{owner}.metric must be 'precomputed' just without points, got "
            f"{entries['metric']!r}"
        )
    n_references = len(columns if points is None else points)
    if entries["n_neighbors"] >= n_references:
        raise ValueError(
            f"{owner}.n_neighbors must be less than {n_references}, the number of "
            f"references, got {entries['n_neighbors']}"
        )


@dataclass(frozen=True, eq=False)
class Calibration:
    """From scores, larger for stranger objects, to p-values.

    Attributes
    ----------
    center, spread : float
        Median of the scores of the reference objects, and half of the distance of
        their quartiles.
    scores : array of shape (n_calibration,)
        Scores that ranks are taken among, ascending.
    """

    center: float
    spread: float
    scores: Array

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "center": _archive.Number(),
            "spread": _archive.Number(above=0),
            "scores": _archive.Array("f", ("n_scores",)),
        },
        relations=(_check_scores,),
    )

    @classmethod
    def of(cls, scores: Array, *, least_spread: float = 0.0) -> "Calibration":
        """The calibration for the scores of reference objects."""
        low, center, high = np.quantile(scores, [0.25, 0.5, 0.75])
        spread = max(float(high - low) / 2, least_spread, np.finfo(np.float64).tiny)
        bare = cls(float(center), spread, np.empty(0))
        improbable = max(_IMPROBABLE, _LEAST_EXPECTED / len(scores))
        kept = scores[bare.tail(scores) > improbable]
        return cls(float(center), spread, np.sort(kept))

    def tail(self, scores: Array) -> Array:
        """Probability of so large a score under a logistic law of these quartiles."""
        # The quartiles of the standard logistic distribution are ± log 3.
        with np.errstate(over="ignore"):
            z = np.log(3.0) * (scores - self.center) / self.spread
        return np.exp(-np.logaddexp(0.0, z))

    def p_values(self, scores: Array) -> Array:
        """Ranks among the reference objects; beyond all of them also the tail."""
        n = len(self.scores)
        # A reference object that comes again has its score but for rounding.
        reached = scores - _ROUNDING * self.spread
        p = (1 + n - np.searchsorted(self.scores, reached, side="left")) / (n + 1)
        is_beyond = reached > self.scores[-1]
        return np.where(is_beyond, np.minimum(p, self.tail(scores)), p)

    def to_state(self) -> dict[str, Any]:
        """Plain numbers and arrays."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "Calibration":
        """Inverse of `to_state`."""
        return cls(**state)


@dataclass(frozen=True, eq=False)
class NeighborNovelty:
    """Novelty by the distances to the nearest reference objects.

    Attributes
    ----------
    points : array of shape (n_references, n_features) or None
        Reference objects; None if objects come as dissimilarities to training objects.
    columns : array of int, shape (n_references,), or None
        Which training objects the references are, for dissimilarities.
    metric : str or callable
        Metric between objects.
    n_neighbors : int
        Reference objects that an object is compared with.
    floor : float
        Mean distances below this count as this: among copies and on grids, smaller
        ones are chance.
    calibration : Calibration
        From scores to p-values.
    """

    points: Array | None
    columns: NDArray[np.intp] | None
    metric: Any
    n_neighbors: int
    floor: float
    calibration: Calibration

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "points": _archive.OneOf(
                _archive.Nothing(), _archive.Array("f", (None, None))
            ),
            "columns": _archive.OneOf(
                _archive.Nothing(), _archive.Array("i", (None,), at_least=0)
            ),
            "metric": METRIC,
            "n_neighbors": _archive.Integer(at_least=1),
            "floor": _archive.Number(above=0),
            "calibration": _archive.Instance(Calibration),
        },
        relations=(_check_references,),
    )

    @classmethod
    def of(
        cls,
        values: Array,
        metric: Any,
        rng: np.random.RandomState,
        objects: NDArray[np.intp] | None = None,
    ) -> "NeighborNovelty":
        """The novelty of objects that are unlike these.

        Parameters
        ----------
        values : array of shape (n_samples, n_features) or (n_samples, n_samples)
            Training objects, or with ``metric="precomputed"`` their dissimilarities.
        metric : str or callable
            Metric between objects.
        rng : RandomState
            Draws the reference objects if there are too many.
        objects : array of int or None
            Row numbers of the training objects that count, some of them several times;
            None: all.
        """
        n_samples = len(values) if objects is None else len(objects)
        chosen = np.arange(n_samples)
        if n_samples > MAX_REFERENCES:
            chosen = np.sort(rng.choice(n_samples, MAX_REFERENCES, replace=False))
        if objects is not None:
            chosen = objects[chosen]
        is_matrix = isinstance(metric, str) and metric == "precomputed"
        # A small table has small clusters, where so many would be of other ones.
        wanted = round(np.sqrt(len(chosen)) / 2)
        wanted = max(_MIN_NEIGHBORS, min(_MAX_NEIGHBORS, wanted))
        bare = cls(
            points=None if is_matrix else np.array(values[chosen]),
            columns=chosen if is_matrix else None,
            metric=metric,
            n_neighbors=min(wanted, len(chosen) - 1),
            floor=0.0,
            calibration=Calibration(0.0, 1.0, np.zeros(1)),
        )
        lengths = bare._lengths(values[chosen])
        check_lengths(lengths, metric)
        floor = _resolution(lengths)
        scores = _log_mean(lengths, floor)
        calibration = Calibration.of(scores, least_spread=_LEAST_SPREAD)
        return cls(
            bare.points, bare.columns, metric, bare.n_neighbors, floor, calibration
        )

    def scores(self, X: Array) -> Array:
        """Log of the mean distance to the nearest reference objects, (n_samples,)."""
        scores = np.empty(len(X))
        for start in range(0, len(X), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            scores[rows] = _log_mean(self._lengths(X[rows]), self.floor)
        return scores

    def p_values(self, X: Array) -> Array:
        """How probable so large a distance is for an ordinary object, (n_samples,)."""
        return self.calibration.p_values(self.scores(X))

    def to_state(self) -> dict[str, Any]:
        """Plain numbers, arrays and the calibration."""
        names = ("points", "columns", "metric", "n_neighbors", "floor", "calibration")
        return {name: getattr(self, name) for name in names}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "NeighborNovelty":
        """Inverse of `to_state`."""
        return cls(**state)

    @cached_property
    def _search(self) -> NeighborSearch:
        return NeighborSearch(
            self.points, self.metric, max_tree_features=_MAX_TREE_FEATURES
        )

    def _lengths(self, X: Array) -> Array:
        """Distances to the nearest references, a single equal one left out."""
        values = X if self.columns is None else X[:, self.columns]
        lengths = self._search.query(values, self.n_neighbors + 1)[1]
        # Some metrics have no distances for rows at the end of the numbers.
        lengths = np.where(np.isnan(lengths), np.inf, lengths)
        is_copy = lengths[:, :1] <= SAME * self.floor
        return np.where(is_copy, lengths[:, 1:], lengths[:, :-1])


_archive.register(Calibration)
_archive.register(NeighborNovelty)


def empty_masses(p_values: Array, outlier_rate: float) -> Array:
    """Masses on ∅ with the odds (r / p)² at the rate r: ½ or more just where p ≤ r."""
    with np.errstate(over="ignore"):
        masses = 1.0 / (1.0 + np.square(p_values / outlier_rate))
    below = np.nextafter(0.5, 0.0)
    is_flagged = p_values <= outlier_rate
    return np.where(is_flagged, np.maximum(masses, 0.5), np.minimum(masses, below))


def report_novelty(masses: Array, focal_sets: FocalSets, empty: Array) -> Array:
    """Masses with m(∅) = ``empty`` and the others as they were to each other.

    The masses are overwritten: those of many objects are large. Where all mass was on
    ∅, nothing is known about the clusters: it goes to Ω, or if that is no focal set to
    all others alike.
    """
    index = focal_sets.empty_index
    assert index is not None
    masses[:, index] = 0.0
    total = masses.sum(axis=1)
    is_lost = total <= np.finfo(np.float64).tiny
    if is_lost.any():
        is_frame = focal_sets.cardinality == focal_sets.n_clusters
        vacuous = is_frame if is_frame.any() else focal_sets.cardinality > 0
        masses[is_lost], total[is_lost] = vacuous, vacuous.sum()
    masses *= (np.maximum(1.0 - empty, LEAST_REST) / total)[:, None]
    masses[:, index] = empty
    return masses


def _resolution(lengths: Array) -> float:
    """Median distance to the nearest object that is not equal."""
    nearest = np.where(lengths > 0, lengths, np.inf).min(axis=1)
    nearest = nearest[np.isfinite(nearest)]
    return float(np.median(nearest)) if len(nearest) else 1.0


def _log_mean(lengths: Array, floor: float) -> Array:
    """Log of the means of rows, at least that of the floor."""
    # In units of the largest length, so that no sum overflows; infinite ones have none.
    unit = lengths.max(axis=1)
    unit[(unit == 0) | np.isinf(unit)] = 1.0
    with np.errstate(over="ignore", divide="ignore"):
        logs = np.log((lengths / unit[:, None]).mean(axis=1)) + np.log(unit)
    return np.maximum(logs, np.log(floor))
