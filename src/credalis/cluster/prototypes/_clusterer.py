"""What ECM, CCM, BCM, CECM and BPEC share: metric, starts, descent, prediction."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import pdist
from sklearn.cluster import kmeans_plusplus

from credalis._checks import (
    check_choice,
    check_finite,
    check_numbers,
    check_spread,
    check_squarable,
    shown,
)
from credalis.belief import FocalSets
from credalis.cluster._framework._estimator import BaseCredalClusterer
from credalis.cluster._framework._fit import fit
from credalis.cluster._framework._solution import Solution
from credalis.cluster._framework._warnings import warn_of_collapse
from credalis.cluster._inputs._peaks import belief_peaks
from credalis.cluster._inputs._scale import robust_scale
from credalis.cluster._inputs._side_information import (
    fit_transformer,
    refuse_unused,
    side_information,
)
from credalis.cluster.prototypes._adaptive_metric import MetricSpace
from credalis.network import SideInformation
from credalis.objectives._prototypes import (
    Moments,
    Places,
    PrototypeModel,
    cluster_scatters,
    masses,
    places,
    sweep,
    updated_centers,
)
from credalis.optimize import Trace, iterate

Array = NDArray[np.float64]

METRICS = ("euclidean", "adaptive")


@dataclass(frozen=True, eq=False)
class Problem:
    """What all starts share.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        Data, in the space of the transformer if there is one.
    delta : float
        Distance to noise.
    start : array of shape (n_clusters, n_features) or None
        Prototypes that do not depend on chance.
    candidates : array or None
        Objects from which random prototypes are drawn.
    space : MetricSpace or None
        None unless the metric adapts.
    transformer : object or None
        The fitted transformer.
    information : SideInformation
        Labels and pairs.
    """

    X: Array
    delta: float
    start: Array | None
    candidates: Array | None
    space: MetricSpace | None
    transformer: Any
    information: SideInformation


@dataclass(frozen=True, eq=False)
class State:
    """Prototypes and metrics at which the loss is known, and those of the next step.

    ``held`` are masses that the next step needs; None if it computes all afresh.
    """

    centers: Array
    metrics: Array | None
    next_centers: Array
    next_metrics: Array | None
    held: Array | None = None


Sweep = Callable[[Places, Array | None], tuple[Moments, Array | None]]


class PrototypeClusterer(BaseCredalClusterer):
    """Base of the methods that have a prototype for each cluster.

    A subclass says what its distances are (`_model`).
    """

    _outlier_advice = "increase delta"
    _inits: tuple[str, ...] = ("k-means++", "peaks")
    _uses_pairs = False
    _moves_centers = True

    @abstractmethod
    def _model(self, focal_sets: FocalSets, delta: float) -> PrototypeModel:
        """What is minimised."""

    def fit(self, X, y=None, *, partial_labels=None, must_link=None, cannot_link=None):
        """Cluster the rows of X.

        Labels and pairs are for a transformer as `metric` that learns from them; they
        are refused if there is none.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : ignored
            Present for compatibility with pipelines and searches.
        partial_labels : array-like of int, shape (n_samples,), default=None
            Known clusters, -1 for unknown.
        must_link, cannot_link : array-like of int, shape (n_pairs, 2), default=None
            Row numbers of objects known to be in the same cluster, and in different
            ones.

        Returns
        -------
        self
        """
        fit(
            self,
            X,
            partial_labels=partial_labels,
            must_link=must_link,
            cannot_link=cannot_link,
        )
        return self

    @property
    def _is_adaptive(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "adaptive"

    def _check_parameters(self):
        super()._check_parameters()
        if not isinstance(self.delta, str):
            check_squarable("delta", self.delta)
        else:
            check_choice("delta", self.delta, ("auto",))
        if isinstance(self.init, str):
            check_choice("init", self.init, self._inits)
        is_transformer = hasattr(self.metric, "transform")
        if not is_transformer or isinstance(self.metric, type):
            listed = " or ".join(map(repr, METRICS))
            if not isinstance(self.metric, str) or self.metric not in METRICS:
                raise ValueError(
                    f"metric must be {listed} or a transformer, got "
                    f"{shown(self.metric)}"
                )

    def _has_fixed_order(self, problem):
        return not isinstance(self.init, str)

    def _n_starts(self, problem):
        if isinstance(self.n_init, str) and problem.start is not None:
            return 1
        return super()._n_starts(problem)

    def _prepare(self, X, rng, **given):
        information = side_information(
            **given,
            n_samples=len(X),
            n_clusters=self.n_clusters,
            label_weight=0.0,
            constraint_weight=0.0,
        )
        transformer = None
        if isinstance(self.metric, str):
            refuse_unused(self, information, uses_pairs=self._uses_pairs)
        else:
            transformer = fit_transformer(self.metric, X, rng, information)
        Z = transformed(transformer, X)
        check_spread("X", Z)
        start = self._fixed_start(X, Z, transformer)
        delta, candidates = self.delta, None
        if start is None or isinstance(delta, str):
            scale = robust_scale(Z, self.n_clusters, rng)
            candidates = Z[scale.is_near]
            delta = scale.distance if isinstance(delta, str) else delta
        space = MetricSpace.of(Z) if self._is_adaptive else None
        return Problem(
            Z, float(delta), start, candidates, space, transformer, information
        )

    def _fixed_start(self, X, Z, transformer):
        """Prototypes that do not depend on chance, None if the start is random."""
        if isinstance(self.init, str):
            return self._peaks(Z) if self.init == "peaks" else None
        centers = check_numbers("init", self.init)
        if centers.shape != (self.n_clusters, X.shape[1]):
            raise ValueError(
                f"init must have shape (n_clusters, n_features) = "
                f"({self.n_clusters}, {X.shape[1]}), got {centers.shape}"
            )
        return transformed(transformer, check_finite("init", centers))

    def _peaks(self, X):
        return X[belief_peaks(X, self.n_clusters)]

    def _solve(self, problem, focal_sets, rng, *, previous, report):
        model = self._model(focal_sets, problem.delta)
        start, metrics = problem.start, None
        if previous is not None:
            start = previous.per_cluster["centers_"]
            metrics = previous.per_cluster.get("metrics_")
        elif start is None:
            start, _ = kmeans_plusplus(
                problem.candidates, self.n_clusters, random_state=rng
            )
        if problem.space is not None and metrics is None:
            metrics = np.tile(np.eye(start.shape[1]), (len(start), 1, 1))
        trace = descend(
            State(start, metrics, start, metrics),
            model,
            self._sweep(problem, model),
            problem.space,
            moves_centers=self._moves_centers,
            tol=self.tol,
            max_iter=self.max_iter,
            report=report,
        )
        return self._solution(problem, model, trace)

    def _sweep(self, problem: Problem, model: PrototypeModel) -> Sweep:
        """The mass update over all objects."""
        return lambda where, held: (sweep(problem.X, where, model), None)

    def _solution(self, problem, model, trace):
        return solution_at(trace, problem.X, model, problem.transformer)

    def _check_solution(self, problem, solution):
        separation = pdist(solution.per_cluster["centers_"]).max(initial=0.0)
        warn_of_collapse(
            self,
            separation,
            np.sqrt(problem.X.var(axis=0).sum()),
            is_collapsing=self._is_collapsing(problem, solution),
        )

    def _is_collapsing(self, problem, solution):
        """Whether all prototypes at one point would cost no more.

        The last steps to that point are many and gain little: the stopping rule usually
        ends a start long before.
        """
        if not (self._moves_centers and solution.trace.converged):
            return False
        model = self._model(self.focal_sets_, problem.delta)
        centers = np.empty_like(self.centers_)
        centers[:] = self.centers_.mean(axis=0)
        sums, _ = self._sweep(problem, model)(
            places(centers, self.metrics_, model), None
        )
        return sums.loss <= solution.trace.loss

    def _predict_masses(self, X):
        model = self._model(self.focal_sets_, self.delta_)
        where = places(self.centers_, self.metrics_, model)
        return masses(transformed(self.transformer_, X), where, model)


def descend(
    start: State,
    model: PrototypeModel,
    update_masses: Sweep,
    space: MetricSpace | None,
    *,
    moves_centers: bool,
    tol: float,
    max_iter: int,
    report: Callable[[int, float], None] | None = None,
    begin: Callable[[State], None] | None = None,
) -> Trace[State]:
    """Masses, prototypes and metrics in turn, each exactly, so that J never increases.

    The loss of an iteration is J at its prototypes, its metrics and the masses that
    fit them best. ``begin`` is called with the state that an iteration starts from,
    after its masses have been updated.
    """

    def step(state: State) -> tuple[State, float]:
        centers, metrics = state.next_centers, state.next_metrics
        sums, held = update_masses(places(centers, metrics, model), state.held)
        if begin is not None:
            begin(state)
        moved = centers
        if moves_centers:
            moved = updated_centers(sums, model, centers, metrics)
        adapted = metrics
        if space is not None and metrics is not None:
            scatters = cluster_scatters(sums, model, centers, moved)
            adapted = space.metrics(scatters, metrics)
        return State(centers, metrics, moved, adapted, held), sums.loss

    return iterate(step, start, tol=tol, max_iter=max_iter, report=report)


def solution_at(
    trace: Trace[State], X: Array, model: PrototypeModel, transformer: Any
) -> Solution:
    """The masses of objects at the last prototypes, and fitted attributes."""
    centers, metrics = trace.state.centers, trace.state.metrics
    per_cluster = {"centers_": centers}
    other = {"delta_": model.delta, "transformer_": transformer}
    if metrics is None:
        other["metrics_"] = None
    else:
        per_cluster["metrics_"] = metrics
    return Solution(
        masses(X, places(centers, metrics, model), model),
        trace,
        per_cluster=per_cluster,
        other=other,
        is_interrupted=trace.interrupted,
    )


def transformed(transformer: Any, X: Array) -> Array:
    """X in the space of the transformer, X itself without one."""
    if transformer is None:
        return X
    return np.asarray(transformer.transform(X), dtype=np.float64)
