"""The rejected objects that are kept, each the centre of a ball that is watched."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.metrics import pairwise_distances

from credalis import _archive
from credalis.streaming._evidence import log_evidence

Array = NDArray[np.float64]
Counts = NDArray[np.intp]
Metric = str | Callable[[Array, Array], float]


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
    """

    points: Array
    n_objects: int
    metric: Metric
    radius: float
    tolerated: float

    def are_close(self, points: Array, others: Array) -> NDArray[np.bool_]:
        """Which points are in the balls around which others."""
        if len(points) == 0 or len(others) == 0:
            return np.zeros((len(points), len(others)), dtype=bool)
        distances = pairwise_distances(points, others, metric=self.metric)
        return distances <= self.radius


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
    """

    objects: Array
    points: Array
    numbers: Counts
    births: Counts
    known_hits: Counts
    hits: Counts

    @classmethod
    def none(cls, n_features: int, n_dimensions: int) -> "Balls":
        """Before the first object is rejected."""
        counts = np.empty(0, dtype=np.intp)
        return cls(
            np.empty((0, n_features)),
            np.empty((0, n_dimensions)),
            counts,
            counts,
            counts,
            counts.copy(),
        )

    def __len__(self) -> int:
        return len(self.objects)

    def log_weighted(self, now: int, reference: Reference) -> Array:
        """log(w_j E_j) of each ball once `now` objects were seen.

        The weights w_j = 1 / (j (j + 1)) of the balls of a stream sum to 1.
        """
        evidence = log_evidence(
            self.known_hits,
            reference.n_objects,
            self.hits,
            now - self.births,
            reference.tolerated,
        )
        return evidence - np.log(self.numbers) - np.log(self.numbers + 1.0)

    def followed_by(
        self,
        objects: Array,
        points: Array,
        times: Counts,
        *,
        n_rejected: int,
        at_most: int,
        reference: Reference,
    ) -> tuple["Balls", Array]:
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
        at_most : int
            How many balls to keep; the oldest go.
        reference : Reference
            What to compare with.

        Returns
        -------
        balls : Balls
        totals : array of shape (n_new,)
            log Σ_j w_j E_j after each of the objects.
        """
        n_old, n_new = len(self), len(objects)
        everything = Balls(
            np.concatenate([self.objects, objects]),
            np.concatenate([self.points, points]),
            np.append(self.numbers, n_rejected + 1 + np.arange(n_new)),
            np.append(self.births, times),
            np.append(
                self.known_hits,
                reference.are_close(points, reference.points).sum(axis=1),
            ),
            np.append(self.hits, np.zeros(n_new, dtype=np.intp)),
        )
        are_close = reference.are_close(points, everything.points)
        totals = np.full(n_new, -np.inf)
        for i, now in enumerate(times):
            # An object hits the balls that were there when it came, not its own.
            watched = slice(max(0, n_old + i - at_most), n_old + i)
            everything.hits[watched] += are_close[i, watched]
            if watched.stop > watched.start:
                balls = everything.part(watched)
                totals[i] = logsumexp(balls.log_weighted(now, reference))
        return everything.part(slice(-at_most, None)), totals

    def part(self, rows: slice) -> "Balls":
        """Some of the balls."""
        return Balls(*(values[rows] for values in vars(self).values()))
