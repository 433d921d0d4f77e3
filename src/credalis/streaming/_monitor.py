"""An alarm for new clusters in a stream, with a bound on false alarms."""

from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted

from credalis import _archive
from credalis._checks import (
    check_choice,
    check_integer,
    check_number,
    check_seed,
    check_widths,
    is_table,
    naming,
)
from credalis._refusals import refuses_by_name, takes_any_number
from credalis._warnings import warn_user
from credalis.cluster import NNEVCLUS
from credalis.cluster.nnevclus._extension import extended
from credalis.exceptions import PowerWarning
from credalis.streaming._balls import Balls, Reference
from credalis.streaming._calibration import (
    check_monitored,
    cluster_size,
    conformal_threshold,
    metric_of,
    points_of,
    strangeness,
)
from credalis.streaming._evidence import CURRENT, EARLIER, detectable_share
from credalis.streaming._proposals import ProposedCluster, proposed_clusters
from credalis.streaming._schema import SCHEMA
from credalis.streaming._state import StreamState

Array = NDArray[np.float64]

# Rejected objects looked at together: bounds the memory for their distances.
_BLOCK = 1000

# What is bet on, by `evidence_version_`, and the version of a new fit.
_BETS = {1: EARLIER, 2: CURRENT}
_VERSION = 2

# A new cluster of this share of a stream should be noticed.
_LARGE_SHARE = 0.05


class NewClusterMonitor(BaseEstimator):
    """Watch the mass on ∅ of a stream and raise an alarm when a new cluster appears.

    An object of the stream is *rejected* if its mass on ∅ exceeds that of almost all
    objects of a calibration sample. Single rejected objects are outliers; a new
    cluster is a place where they gather. The ball around the j-th rejected object is
    watched from then on: with K of N calibration objects, and k of the n later objects
    of the stream, rejected and in the ball, the evidence against the hypothesis that
    q <= max(p, ε), where p and q are the probabilities of this for a calibration
    object and for an object of the stream, is

        E = A(K, N) B(k, n) / sup p^K (1 - p)^(N-K) q^k (1 - q)^(n-k),

    the supremum over all p and q that satisfy the hypothesis. B(k, n) is the integral
    of q^k (1 - q)^(n-k) under the prior Beta(1/2, 5): a new cluster is a small part of
    the stream. A(K, N) is that of p^K (1 - p)^(N-K) under a prior that is 0 with
    probability 1/2, for a place where nothing was, and Beta(1/2, 1/2) otherwise. E_j is
    the mean of this for the ball and for a ball with 1.5 times its radius, which holds
    nearly all of a cluster. The alarm is given when

        Σ_j w_j E_j >= 1 / α,    w_j = (s(j) + s(i_j)) / 2,
        s(j) = 1 / log₂(j + 1) - 1 / log₂(j + 2),  Σ_j s(j) = 1,

    where i_j counts the rejected objects that fell into no ball that was watched, and
    s(i_j) is 0 for the others. Each ball starts anew, with a stake that falls hardly
    faster than 1 / j, so that a cluster that comes late is found nearly as fast.

    A quarter of the calibration sample determines what is rejected and how large the
    balls are; the N objects of the rest are counted.

    **False alarms.** Let the calibration objects be independent draws from one law, the
    objects of the stream independent draws from one law, and both independent of the
    model. If no ball around a rejected object has q > max(p, ε), then the probability
    that an alarm is *ever* given, however long the stream, is at most α: each E_j is
    bounded by a martingale with mean 1 (universal inference), hence so is the weighted
    sum, and Ville's inequality applies. This covers a stream of the same law as the
    calibration sample, and also one with outliers, as long as they scatter so that no
    ball gets a share above ε of the stream. It does not cover objects that depend on
    each other (sorted data, time series), nor a model that changes while it is used.

    Given the calibration sample, the ranks of the stream's objects in it are not
    independent, and a test that takes them for that gives too many alarms. Here the
    sample is part of the evidence, and the supremum over p pays for its finite size.
    Ranks among calibration and stream together are independent, but a test of them
    would also find outliers that scatter.

    **Power.** N calibration objects outside of a ball do not rule out that its
    probability is a few times 1 / N: the evidence for a share q never exceeds
    (1 - q)^-N. ``detectable_share_`` says which share of the stream a new cluster must
    have; below it, a longer stream does not help, more calibration objects do.

    Memory is bounded: the last rejected objects of the stream, the rejected objects of
    the calibration sample, and a part of this sample for replay. The state does not
    depend on how the stream is cut into batches.

    Parameters
    ----------
    model : estimator
        A fitted estimator of this library with `predict_partition` and ∅ among its
        focal sets; NNEVCLUS with ``empty_set="novelty"`` or with a novelty detector.
        Its mass on ∅ should be large far from all clusters. It is not changed.
    false_alarm_rate : float, default=0.01
        α, the probability of a false alarm over the whole stream.
    rejection_rate : float, default=0.05
        Share of ordinary objects that are rejected: a conformal bound, found on a
        quarter of the calibration sample, but at least 1 / rate objects.
    min_share : float, default=0.005
        ε: a ball with at most this share of the stream holds outliers, not a cluster.
    radius : float or "auto", default="auto"
        Radius of the balls, in the metric of the model. "auto" is the median over the
        clusters of the root mean squared distance of two objects of a cluster.
    max_rejected : int, default=1000
        Number of rejected objects that are kept and whose balls are watched.
    max_replay : int, default=5000
        Number of calibration objects that are kept for `extend`.
    random_state : int, RandomState instance or None, default=None
        Seed of the division of the calibration sample.

    Attributes
    ----------
    alarm_ : bool
        Whether there was an alarm.
    alarm_at_ : int or None
        Number of objects seen when it was given.
    n_seen_, n_rejected_ : int
        Objects of the stream so far, and how many of them were rejected.
    log_evidence_ : float
        log Σ_j w_j E_j after the last rejected object.
    p_value_ : float
        1 / the largest Σ_j w_j E_j so far, at most 1: valid at any time.
    threshold_ : float
        Mass on ∅ above which an object is rejected. For a model with
        ``empty_set="novelty"`` it is the score behind this mass, the log of the mean
        distance to the nearest training objects or the negative score of the detector:
        it tells strange objects apart that have the same mass.
    detectable_share_ : float
        Smallest share of the stream at which a new cluster gives an alarm, if it is
        there from the beginning, is apart from the known ones, rejected in full and no
        wider than they are; infinity if there are too few calibration objects for any.
        The share is the one whose *expected* counts are just enough.
    evidence_version_ : int
        2, or 1 for a monitor that version 0.1 has saved: it goes on with the priors
        Beta(1/2, 1/2), the weights 1 / (j (j + 1)) and one radius until it is fitted.
    radius_ : float
        Radius of the balls.
    rejected_ : array of shape (n_kept, n_features)
        The rejected objects that are kept, oldest first.
    replay_, replay_labels_ : array of shape (n_replay, n_features) and (n_replay,)
        Calibration objects for `extend`, and their clusters.
    n_features_in_ : int
        Number of features.

    See Also
    --------
    credalis.NNEVCLUS.partial_fit : Follow a stream without asking what is new in it.

    References
    ----------
    L. Wasserman, A. Ramdas, S. Balakrishnan (2020), Universal inference, PNAS 117(29),
    16880-16890.
    J. Ville (1939), Étude critique de la notion de collectif, Gauthier-Villars.
    V. Vovk, A. Gammerman, G. Shafer (2005), Algorithmic learning in a random world,
    Springer (for the threshold).

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from credalis import NNEVCLUS
    >>> from credalis.streaming import NewClusterMonitor
    >>> centers = [[0, 0], [8, 0], [4, 7], [12, 7]]
    >>> X, _ = make_blobs(900, centers=centers[:3], random_state=0)
    >>> model = NNEVCLUS(3, novelty_detector="ocsvm", random_state=0).fit(X[:300])
    >>> monitor = NewClusterMonitor(model, random_state=0).fit(X[300:])
    >>> ordinary, _ = make_blobs(1000, centers=centers[:3], random_state=1)
    >>> monitor.update(ordinary).alarm
    False
    >>> mixed, _ = make_blobs(400, centers=centers, random_state=2)
    >>> monitor.update(mixed).alarm
    True
    >>> [cluster] = monitor.propose()
    >>> cluster.center.round()
    array([12.,  7.])
    >>> larger = monitor.extend()
    >>> larger.n_clusters, larger.predict([[12, 7]])
    (4, array([3]))
    """

    def __init__(
        self,
        model: BaseEstimator,
        *,
        false_alarm_rate: float = 0.01,
        rejection_rate: float = 0.05,
        min_share: float = 0.005,
        radius: float | Literal["auto"] = "auto",
        max_rejected: int = 1000,
        max_replay: int = 5000,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.model = model
        self.false_alarm_rate = false_alarm_rate
        self.rejection_rate = rejection_rate
        self.min_share = min_share
        self.radius = radius
        self.max_rejected = max_rejected
        self.max_replay = max_replay
        self.random_state = random_state

    @refuses_by_name
    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Calibrate, and start a stream: nothing seen, no alarm.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Objects of the known clusters that the model was not fitted to.
        y : ignored
            Present for compatibility.

        Returns
        -------
        self

        Warns
        -----
        PowerWarning
            If a new cluster must be more than 5 % of the stream to be noticed.
        """
        self._check_parameters()
        partition = self.model.predict_partition(X)
        data = _rows(X)
        n_least = 2 * int(np.ceil(min(1 / float(self.rejection_rate), 1e15)))
        if len(data) < n_least:
            raise ValueError(
                f"X must hold at least {n_least} calibration objects for "
                f"rejection_rate={self.rejection_rate}, got {len(data)}"
            )
        rng = check_random_state(self.random_state)
        # The balls must know nothing of the objects that are counted in them: a quarter
        # says what is rejected and how large the balls are, the rest is counted. What
        # can be noticed depends on how many are counted.
        n_shaping = max(n_least // 2, len(data) // 4)
        shaping, counted = np.array_split(rng.permutation(len(data)), [n_shaping])
        scores = strangeness(self.model, X)
        self.threshold_ = conformal_threshold(scores[shaping], self.rejection_rate)
        is_rejected = scores > self.threshold_
        points = points_of(self.model, data)
        if isinstance(self.radius, str):
            inside = shaping[~is_rejected[shaping]]
            self.radius_ = cluster_size(
                points[inside], partition.labels[inside], metric_of(self.model)
            )
        else:
            self.radius_ = self.radius
        self.reference_points_ = points[counted[is_rejected[counted]]]
        self.n_counted_ = len(counted)
        n_replay = min(self.max_replay, len(data))
        replayed = np.sort(rng.permutation(len(data))[:n_replay])
        self.replay_, self.replay_labels_ = data[replayed], partition.labels[replayed]
        self.n_features_in_ = data.shape[1]
        self.balls_ = Balls.none(data.shape[1], points.shape[1])
        self.evidence_version_ = _VERSION
        self.n_seen_ = self.n_rejected_ = self.n_places_ = 0
        self.log_evidence_, self.p_value_ = -np.inf, 1.0
        self.alarm_ = False
        self.alarm_at_: int | None = None
        if self.detectable_share_ > _LARGE_SHARE:
            self._warn_of_little_power()
        return self

    @takes_any_number
    def update(self, X: ArrayLike) -> StreamState:
        """Look at the next objects of the stream, in their order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The objects.

        Returns
        -------
        StreamState
        """
        check_is_fitted(self, "balls_")
        scores = strangeness(self.model, X)
        data = _rows(X)
        rejected = np.flatnonzero(scores > self.threshold_)
        reference = self._reference
        for start in range(0, len(rejected), _BLOCK):
            rows = rejected[start : start + _BLOCK]
            objects, times = data[rows], self.n_seen_ + 1 + rows
            self.balls_, totals, self.n_places_ = self.balls_.followed_by(
                objects,
                points_of(self.model, objects),
                times,
                n_rejected=self.n_rejected_,
                n_places=self.n_places_,
                at_most=self.max_rejected,
                reference=reference,
            )
            self.n_rejected_ += len(objects)
            self.log_evidence_ = float(totals[-1])
            self.p_value_ = min(self.p_value_, float(np.exp(min(0.0, -totals.max()))))
            reached = np.flatnonzero(totals >= self._log_threshold)
            if not self.alarm_ and len(reached):
                self.alarm_, self.alarm_at_ = True, int(times[reached[0]])
        self.n_seen_ += len(data)
        return StreamState(self.n_seen_, self.n_rejected_, self.p_value_, self.alarm_)

    @takes_any_number
    def propose(self) -> list[ProposedCluster]:
        """New clusters among the rejected objects that are kept, the largest first.

        A ball whose own evidence, w_j E_j without the wider ball, reaches 1/α is the
        core of a cluster; cores
        within one radius of each other are in the same cluster, together with the
        rejected objects within one radius of them. Two new clusters that touch are
        therefore proposed as one. The list is empty if nothing gathers.

        Returns
        -------
        list of ProposedCluster
        """
        check_is_fitted(self, "balls_")
        if len(self.balls_) == 0:
            return []
        reference = self._reference
        # A wide ball reaches out to objects that are not in the cluster.
        log_weighted = self.balls_.log_weighted(
            self.n_seen_, reference, with_wide=False
        )
        threshold = self._log_threshold
        total = logsumexp(self.balls_.log_weighted(self.n_seen_, reference))
        if total >= threshold:
            # Just after an alarm, all balls together may have what none has alone.
            threshold = min(threshold, log_weighted.max())
        return proposed_clusters(self.balls_, log_weighted, threshold, reference)

    @refuses_by_name
    def extend(self, X: ArrayLike | None = None) -> NNEVCLUS:
        """A network that also knows the proposed clusters.

        The network of the model gets outputs, and with ``hidden_layer_sizes="auto"``
        hidden units, for the new clusters. It is trained on replayed calibration
        objects, each shown at first in the cluster where the model puts it, and on the
        objects of the proposals. Then the labels are dropped, as those of seeds are.
        Old clusters keep their numbers; new ones follow in the order of `propose`. δ0,
        scaling and novelty detector are found again for all these objects; a detector
        that has no ``fit`` stays as it is. With ``empty_set="novelty"`` objects are
        then compared with those of the proposals and of the replay, of each old cluster
        as many as the smallest new one has, but at least 50.

        The monitor goes on with the old model. To watch a stream with the new one,
        calibrate a new monitor on objects of the old and new clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Further objects of the known clusters to replay, for example those of the
            first fit.

        Returns
        -------
        NNEVCLUS
            As after `partial_fit`, it has no ``partition_`` and no ``labels_``.

        Raises
        ------
        ValueError
            If the model is not an NNEVCLUS, or if there is nothing to propose.
        """
        check_is_fitted(self, "balls_")
        if not isinstance(self.model, NNEVCLUS):
            raise ValueError(
                f"model must be an NNEVCLUS for extend, got {type(self.model).__name__}"
            )
        clusters = self.propose()
        if not clusters:
            raise ValueError(
                "there must be a new cluster to extend the model by, but propose() "
                "finds none"
            )
        replay, labels = self.replay_, self.replay_labels_
        if X is not None:
            more = self.model.predict_partition(X).labels
            replay = np.concatenate([replay, _rows(X)])
            labels = np.concatenate([labels, more])
        return extended(
            self.model, replay, labels, [cluster.objects for cluster in clusters]
        )

    @property
    def rejected_(self) -> Array:
        """The rejected objects that are kept, oldest first."""
        return self.balls_.objects

    @property
    def detectable_share_(self) -> float:
        """Smallest share of the stream at which a new cluster gives an alarm."""
        return detectable_share(
            self.n_counted_,
            false_alarm_rate=self.false_alarm_rate,
            rejection_rate=self.rejection_rate,
            tolerated=self.min_share,
            bets=_BETS[self.evidence_version_],
        )

    @property
    def _reference(self) -> Reference:
        return Reference(
            self.reference_points_,
            self.n_counted_,
            metric_of(self.model),
            self.radius_,
            self.min_share,
            _BETS[self.evidence_version_],
        )

    @property
    def _log_threshold(self) -> float:
        return -float(np.log(self.false_alarm_rate))

    def _warn_of_little_power(self) -> None:
        share = self.detectable_share_
        found = (
            f"only new clusters of at least {share:.1%} of the stream are noticed"
            if share <= 1
            else "no new cluster is noticed"
        )
        warn_user(
            f"{found}: there are too few calibration objects ({self.n_counted_} are "
            "counted)",
            PowerWarning,
        )

    def _check_parameters(self) -> None:
        check_monitored(self.model)
        check_widths(self.get_params(deep=False))
        check_number("false_alarm_rate", self.false_alarm_rate, above=0, at_most=0.5)
        check_number("rejection_rate", self.rejection_rate, above=0, at_most=0.5)
        check_number("min_share", self.min_share, at_least=0, at_most=0.5)
        if isinstance(self.radius, str):
            check_choice("radius", self.radius, ("auto",))
        else:
            check_number("radius", self.radius, above=0)
        check_integer("max_rejected", self.max_rejected, at_least=2)
        check_integer("max_replay", self.max_replay, at_least=2)
        check_seed("random_state", self.random_state)

    def save(
        self, path: str | PathLike[str], *, key: bytes | str | None = None
    ) -> None:
        """Write model and state to a file that `credalis.load` reads.

        The file holds arrays and JSON, never code; it appears whole or not at all. A
        monitor that is loaded goes on where the saved one stopped. A key of at least 16
        bytes signs the file.

        Parameters
        ----------
        path : path-like
            The file.
        key : bytes or str, optional
            A secret of at least 16 bytes, with which the file is signed.

        Raises
        ------
        ValueError
            If a parameter of monitor or model has no safe file form.
        """
        check_is_fitted(self, "balls_")
        _archive.save(self, path, key=key)

    _schema: ClassVar[_archive.Rule] = SCHEMA

    def to_state(self) -> dict[str, Any]:
        """What `save` stores: parameters and fitted attributes.

        Returns
        -------
        dict
        """
        fitted = {name: value for name, value in vars(self).items() if name[-1] == "_"}
        fitted["balls_"] = self.balls_.to_state()
        return {"parameters": self.get_params(deep=False), "fitted": fitted}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Inverse of `to_state`.

        Parameters
        ----------
        state : dict
            What `to_state` has returned.

        Returns
        -------
        NewClusterMonitor
        """
        monitor = cls(**state["parameters"])
        monitor._check_parameters()
        monitor.evidence_version_, monitor.n_places_ = 1, 0
        for name, value in state["fitted"].items():
            setattr(monitor, name, value)
        monitor.balls_ = Balls.from_state(state["fitted"]["balls_"])
        return monitor


def _rows(X: ArrayLike) -> Array:
    with naming("X"):
        try:
            return check_array(X, dtype=np.float64, input_name="X")
        except (TypeError, ValueError) as error:
            if not is_table(X):
                raise
            raise ValueError(
                "X must be numbers without gaps, which is what a monitor counts: give "
                "it, and the fit of its model, TablePreparation().fit_transform(table)"
            ) from error
