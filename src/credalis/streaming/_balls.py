"""The rejected objects that are kept, each the centre of a ball that is watched."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from credalis import _archive
from credalis.dissimilarity import dissimilarities_between
from credalis.streaming._evidence import Bets, log_evidence

Array = NDArray[np.float64]
Counts = NDArray[np.intp]
Metric = str | Callable[[Array, Array], float]

# Radius of a wide ball, in radii. Around an object of a Gaussian cluster as wide as the
# known ones, a ball holds 0.5 (many dimensions) to 0.7 (one) of the cluster on average,
# a wide one 0.87 (one) to nearly 1 (many).
WIDENING = 1.5


@dataclass(frozen=True, eq=False)
class Reference:
    """What balls are compared with; it does not change while a stream runs.

    Attributes
    ----------
    points : array of shape (n_points, n_dimensions)
        The calibration objects that are rejected, where distances are taken.
    n_objects : int
        Number of all calibration objects among which these were found.
    metric : str or callable
        Metric between points.
    radius : float
        Radius of the balls.
    tolerated : float
        Share of the stream that a ball may have without being of interest.
    bets : Bets
        What is bet on balls.
    """

    points: Array
    n_objects: int
    metric: Metric
    radius: float
    tolerated: float
    bets: Bets

    def are_close(self, points: Array, others: Array) -> NDArray[np.bool_]:
        """Which points are in the balls around which others."""
        return self.distances(points, others) <= self.radius

    def distances(self, points: Array, others: Array) -> Array:
        """Distances of points and others, (n_points, n_others)."""
        if len(points) == 0 or len(others) == 0:
            return np.zeros((len(points), len(others)))
        return dissimilarities_between(points, others, self.metric)


@dataclass(frozen=True, eq=False)
class Balls(_archive.SavedFields):
    """Rejected objects, oldest first, and how often their balls were hit since.

    Attributes
    ----------
    objects : array of shape (n_balls, n_features)
        The objects as they came.
    points : array of shape (n_balls, n_dimensions)
        The same where distances are taken.
    numbers : array of int, shape (n_balls,)
        The how-manieth rejected object of the stream each of them is, from 1.
    births : array of int, shape (n_balls,)
        The how-manieth object of the stream each of them is, from 1.
    known_hits : array of int, shape (n_balls,)
        Rejected calibration objects in the ball.
    hits : array of int, shape (n_balls,)
        Rejected objects of the stream that came after and fell into the ball.
    places : array of int, shape (n_balls,)
        The how-manieth rejected object that fell into no ball each of them is, from 1;
        0 for those that fell into one.
    wide_known_hits, wide_hits : array of int, shape (n_balls,)
        The same as `known_hits` and `hits` for wide balls around the same objects.
    """

    objects: Array
    points: Array
    numbers: Counts
    births: Counts
    known_hits: Counts
    hits: Counts
    places: Counts
    wide_known_hits: Counts
    wide_hits: Counts

    @classmethod
    def none(cls, n_features: int, n_dimensions: int) -> "Balls":
        """Before the first object is rejected."""
        counts = (np.empty(0, dtype=np.intp) for _ in range(7))
        return cls(np.empty((0, n_features)), np.empty((0, n_dimensions)), *counts)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Inverse of `to_state`; what version 0.1 has not counted is 0."""
        zeros = np.zeros(len(state["hits"]), dtype=np.intp)
        uncounted = ("places", "wide_known_hits", "wide_hits")
        return cls(**{**{name: zeros.copy() for name in uncounted}, **state})

    def __len__(self) -> int:
        return len(self.objects)

    def log_weighted(
        self, now: int, reference: Reference, *, with_wide: bool = True
    ) -> Array:
        """log(w_j E_j) of each ball once `now` objects were seen.

        The weights w_j of the balls of a stream, the stakes, sum to at most 1. E_j is a
        weighted mean of the evidence for the ball and for the wide ball; the latter can
        be left out of the sum.
        """
        bets = reference.bets
        evidence = self._log_evidence(self.known_hits, self.hits, now, reference)
        if bets.on_wide:
            evidence += np.log1p(-bets.on_wide)
        if bets.on_wide and with_wide:
            wide = self._log_evidence(
                self.wide_known_hits, self.wide_hits, now, reference
            )
            evidence = np.logaddexp(evidence, wide + np.log(bets.on_wide))
        return evidence + bets.log_stakes_on(self.numbers, self.places)

    def _log_evidence(
        self, known_hits: Counts, hits: Counts, now: int, reference: Reference
    ) -> Array:
        return log_evidence(
            known_hits,
            reference.n_objects,
            hits,
            now - self.births,
            reference.tolerated,
            reference.bets,
        )

    def followed_by(
        self,
        objects: Array,
        points: Array,
        times: Counts,
        *,
        n_rejected: int,
        n_places: int,
        at_most: int,
        reference: Reference,
    ) -> tuple["Balls", Array, int]:
        """The balls after further rejected objects, one after the other.

        Parameters
        ----------
        objects : array of shape (n_new, n_features)
            The rejected objects in the order in which they came.
        points : array of shape (n_new, n_dimensions)
            The same where distances are taken.
        times : array of int, shape (n_new,)
            The how-manieth object of the stream each of them is.
        n_rejected : int
            How many objects were rejected before.
        n_places : int
            How many of these fell into no ball that was there.
        at_most : int
            How many balls to keep; the oldest go.
        reference : Reference
            What to compare with.

        Returns
        -------
        balls : Balls
        totals : array of shape (n_new,)
            log Σ_j w_j E_j after each of the objects.
        n_places : int
            How many rejected objects have fallen into no ball by then.
        """
        n_old, n_new = len(self), len(objects)
        wide_radius = WIDENING * reference.radius
        to_known = reference.distances(points, reference.points)
        zeros = np.zeros(n_new, dtype=np.intp)
        everything = Balls(
            np.concatenate([self.objects, objects]),
            np.concatenate([self.points, points]),
            np.append(self.numbers, n_rejected + 1 + np.arange(n_new)),
            np.append(self.births, times),
            np.append(self.known_hits, (to_known <= reference.radius).sum(axis=1)),
            np.append(self.hits, zeros),
            np.append(self.places, zeros),
            np.append(self.wide_known_hits, (to_known <= wide_radius).sum(axis=1)),
            np.append(self.wide_hits, zeros),
        )
        distances = reference.distances(points, everything.points)
        are_close, are_near = distances <= reference.radius, distances <= wide_radius
        totals = np.full(n_new, -np.inf)
        for i, now in enumerate(times):
            # An object hits the balls that were there when it came, not its own.
            watched = slice(max(0, n_old + i - at_most), n_old + i)
            everything.hits[watched] += are_close[i, watched]
            everything.wide_hits[watched] += are_near[i, watched]
            if not are_close[i, watched].any():
                n_places += 1
                everything.places[n_old + i] = n_places
            if watched.stop > watched.start:
                balls = everything.part(watched)
                totals[i] = logsumexp(balls.log_weighted(now, reference))
        return everything.part(slice(-at_most, None)), totals, n_places

    def part(self, rows: slice) -> "Balls":
        """Some of the balls."""
        return Balls(*(values[rows] for values in vars(self).values()))
