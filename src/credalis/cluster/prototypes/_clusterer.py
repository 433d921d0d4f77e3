"""What ECM, CCM, BCM, CECM and BPEC share: metric, starts, descent, prediction."""

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist
from sklearn.cluster import kmeans_plusplus

from credalis import _archive
from credalis._checks import (
    check_choice,
    check_finite,
    check_numbers,
    check_spread,
    shown,
)
from credalis._progress import Report
from credalis._weights import copied
from credalis.belief import FocalSets
from credalis.cluster._framework._estimator import BaseCredalClusterer
from credalis.cluster._framework._fit import fit
from credalis.cluster._framework._schema import TransformerRule
from credalis.cluster._framework._solution import Solution
from credalis.cluster._framework._soundness import warn_of_collapse
from credalis.cluster._inputs._clusters import (
    MAX_SAMPLE,
    Scale,
    noise_factor,
    robust_scale,
)
from credalis.cluster._inputs._geometry import FARTHEST, within_reach
from credalis.cluster._inputs._medoids import belief_peaks
from credalis.cluster._inputs._side_information import (
    Transformer,
    fit_transformer,
    placed,
    refuse_unused,
    side_information,
    transformed,
)
from credalis.network import SideInformation
from credalis.objectives import (
    MetricSpace,
    PrototypeModel,
    PrototypeMoments,
    SetPrototypes,
    automatic_exponent,
    cluster_scatters,
    mean_squared_cosine,
    prototype_masses,
    prototype_moments,
    set_prototypes,
    updated_centers,
)
from credalis.optimize import Trace, iterate

Array = NDArray[np.float64]

METRICS = ("euclidean", "adaptive")


@dataclass(frozen=True, eq=False)
class PrototypeProblem:
    """What all starts share.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
        Data, in the space of the transformer if there is one.
    beta, delta : float
        Exponent of the masses, and distance to noise.
    start : array of shape (n_clusters, n_features) or None
        Prototypes that all starts have in common.
    candidates : array or None
        Objects from which random prototypes are drawn.
    space : MetricSpace or None
        None unless the metric adapts.
    transformer : object or None
        The fitted transformer.
    information : SideInformation
        Labels and pairs.
    weights : array of shape (n_samples,) or None
        How often each object counts; None: once.
    """

    X: Array
    beta: float
    delta: float
    start: Array | None
    candidates: Array | None
    space: MetricSpace | None
    transformer: Transformer | None
    information: SideInformation
    weights: Array | None


@dataclass(frozen=True, eq=False)
class PrototypeStep:
    """Prototypes and metrics at which the loss is known, and those of the next step.

    ``kept_masses`` are masses that the next step starts from; None if it computes all
    afresh.
    """

    centers: Array
    metrics: Array | None
    next_centers: Array
    next_metrics: Array | None
    kept_masses: Array | None = None


# From prototypes, and masses that the step before has kept, to sums over the objects
# and masses to keep.
MassUpdate = Callable[
    [SetPrototypes, Array | None], tuple[PrototypeMoments, Array | None]
]


def check_metrics(
    owner: str, parameters: _archive.Entries, fitted: _archive.Entries
) -> None:
    """Refuse metrics in which squared distances are negative."""
    metrics = fitted["metrics_"]
    if metrics is None:
        return
    values = np.linalg.eigvalsh(metrics)
    is_symmetric = np.allclose(metrics, metrics.transpose(0, 2, 1), rtol=1e-6)
    if not is_symmetric or values.min() < -1e-9 * values.max():
        raise ValueError(f"{owner}.metrics_ must be positive semi-definite matrices")


class PrototypeClusterer(BaseCredalClusterer):
    """Base of the methods that have a prototype for each cluster.

    A subclass says what its distances are (`_model`).
    """

    _schema = BaseCredalClusterer._schema.extended(
        {
            "transformer_": TransformerRule(),
            "centers_": _archive.Array("f", ("n_clusters", "n_dimensions")),
            "metrics_": _archive.OneOf(
                _archive.Nothing(),
                _archive.Array("f", ("n_clusters", "n_dimensions", "n_dimensions")),
            ),
            "delta_": _archive.Number(above=0, at_most=1e153),
        },
        # Files of version 0.1 have no exponent but the parameter.
        {"beta_": _archive.Number(above=1)},
        check_metrics,
    )

    # A unit of mass on ∅ costs a power of δ, the distance to noise.
    _empty_sets = ("auto", "noise", "novelty")
    _outlier_advice = "increase delta"
    _earlier_defaults: ClassVar = {"empty_set": "noise"}
    _earlier_numbers: ClassVar = {"beta_": "beta"}
    _inits: ClassVar[tuple[str, ...]] = ("k-means", "k-means++", "peaks")
    _moves_centers: ClassVar[bool] = True

    n_clusters: int
    metric: str | Transformer
    beta: float | str
    delta: float | str
    empty_set: str
    outlier_rate: float
    init: str | ArrayLike
    max_iter: int
    tol: float

    centers_: Array
    metrics_: Array | None
    transformer_: Transformer | None
    beta_: float
    delta_: float

    @abstractmethod
    def _model(
        self, focal_sets: FocalSets, beta: float, delta: float
    ) -> PrototypeModel:
        """What is minimised."""

    def fit(
        self,
        X: ArrayLike,
        y: Any = None,
        *,
        partial_labels: ArrayLike | None = None,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
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
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: a row of weight 2 counts as two equal rows, one
            of weight 0 is not used and only gets masses. None: all count once.

        Returns
        -------
        self
        """
        fit(
            self,
            X,
            sample_weight=sample_weight,
            partial_labels=partial_labels,
            must_link=must_link,
            cannot_link=cannot_link,
        )
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
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

    def _has_fixed_order(self, problem: PrototypeProblem | None) -> bool:
        return not isinstance(self.init, str)

    def _n_starts(self, problem: PrototypeProblem) -> int:
        if isinstance(self.n_init, str) and problem.start is not None:
            return 1
        return super()._n_starts(problem)

    def _prepare(
        self,
        X: Array,
        rng: np.random.RandomState,
        *,
        sample_weight: Array | None = None,
        **given: Any,
    ) -> PrototypeProblem:
        information = side_information(
            **given,
            n_samples=len(X),
            n_clusters=self.n_clusters,
            label_weight=0.0,
            constraint_weight=0.0,
        )
        transformer, space = None, None
        if isinstance(self.metric, str):
            refuse_unused(self, information)
        else:
            transformer = fit_transformer(
                self.metric, X, rng, information, sample_weight
            )
        Z = transformed(transformer, X)
        check_spread("X", Z)
        if isinstance(self.metric, str) and self.metric == "adaptive":
            space = MetricSpace.of(Z, sample_weight)
        objects = copied(Z, X, sample_weight, self.n_clusters)
        start = self._fixed_start(X, objects, transformer)
        beta, delta, candidates = self.beta, self.delta, None
        if start is None or isinstance(beta, str) or isinstance(delta, str):
            scale = robust_scale(objects, self.n_clusters, rng)
            candidates = objects[scale.is_near]
            if start is None and self.init == "k-means":
                start = scale.centers
            beta = exponent(objects, scale, space) if isinstance(beta, str) else beta
            if isinstance(delta, str):
                factor = noise_factor(is_about_novelty=self._is_about_novelty)
                delta = factor * scale.distance
        return PrototypeProblem(
            Z,
            float(beta),
            float(delta),
            start,
            candidates,
            space,
            transformer,
            information,
            sample_weight,
        )

    def _fixed_start(
        self, X: Array, Z: Array, transformer: Transformer | None
    ) -> Array | None:
        """Prototypes at peaks or given ones, None for those that k-means finds."""
        if isinstance(self.init, str):
            return Z[self._peaks(Z)] if self.init == "peaks" else None
        centers = check_numbers("init", self.init)
        if centers.shape != (self.n_clusters, X.shape[1]):
            raise ValueError(
                f"init must have shape (n_clusters, n_features) = "
                f"({self.n_clusters}, {X.shape[1]}), got {centers.shape}"
            )
        check_spread("init", check_finite("init", centers))
        return transformed(transformer, centers)

    def _peaks(self, X: Array) -> NDArray[np.intp]:
        """Row numbers of the belief peaks."""
        return belief_peaks(X, self.n_clusters)

    def _solve(
        self,
        problem: PrototypeProblem,
        focal_sets: FocalSets,
        rng: np.random.RandomState,
        *,
        previous: Solution | None,
        report: Report,
    ) -> Solution:
        model = self._model(focal_sets, problem.beta, problem.delta)
        start, metrics = problem.start, None
        if previous is not None:
            start = previous.per_cluster["centers_"]
            metrics = previous.per_cluster.get("metrics_")
        elif start is None:
            start, _ = kmeans_plusplus(
                problem.candidates, self.n_clusters, random_state=rng
            )
        assert start is not None
        if problem.space is not None and metrics is None:
            metrics = np.tile(np.eye(start.shape[1]), (len(start), 1, 1))
        trace = alternate(
            PrototypeStep(start, metrics, start, metrics),
            model,
            self._mass_update(problem, model),
            problem.space,
            moves_centers=self._moves_centers,
            tol=self.tol,
            max_iter=self.max_iter,
            report=report,
        )
        return self._solution(problem, model, trace)

    def _mass_update(
        self, problem: PrototypeProblem, model: PrototypeModel
    ) -> MassUpdate:
        """The masses of all objects for given prototypes."""
        X, weights = problem.X, problem.weights
        return lambda sets, kept: (
            prototype_moments(X, sets, model, object_weights=weights),
            None,
        )

    def _solution(
        self,
        problem: PrototypeProblem,
        model: PrototypeModel,
        trace: Trace[PrototypeStep],
    ) -> Solution:
        return prototype_solution(trace, problem.X, model, problem.transformer)

    def _check_solution(self, problem: PrototypeProblem, solution: Solution) -> bool:
        separation = pdist(solution.per_cluster["centers_"]).max(initial=0.0)
        return warn_of_collapse(
            self,
            separation,
            np.sqrt(copied(problem.X, problem.X, problem.weights).var(axis=0).sum()),
            is_collapsing=self._is_collapsing(problem, solution),
        )

    def _is_collapsing(self, problem: PrototypeProblem, solution: Solution) -> bool:
        """Whether all prototypes at one point would cost no more.

        The last steps to that point are many and gain little: the stopping rule usually
        ends a start long before.
        """
        if not (self._moves_centers and solution.trace.converged):
            return False
        model = self._model(self.focal_sets_, problem.beta, problem.delta)
        centers = np.empty_like(self.centers_)
        centers[:] = self.centers_.mean(axis=0)
        sums, _ = self._mass_update(problem, model)(
            set_prototypes(centers, self.metrics_, model), None
        )
        return sums.loss <= solution.trace.loss

    def _predict_masses(self, X: Array) -> Array:
        model = self._model(self.focal_sets_, self.beta_, self.delta_)
        sets = set_prototypes(self.centers_, self.metrics_, model)
        return prototype_masses(self._measured(X), sets, model)

    def _measured(self, X: Array) -> Array:
        """Objects where distances are taken, near enough for costs to be numbers."""
        points = placed(self.transformer_, X)
        model = self._model(self.focal_sets_, self.beta_, self.delta_)
        sizes = np.maximum(self.focal_sets_.cardinality, 1).astype(np.float64)
        factor = (sizes**model.alpha * model.scales).max()
        if self.metrics_ is not None:
            factor *= np.abs(self.metrics_).max()
        farthest = FARTHEST / max(1.0, np.sqrt(factor))
        return within_reach(points, self.centers_.mean(axis=0), farthest)

    def _points(self, X: Array) -> tuple[Array, Any]:
        points, metric = self._measured(X), "euclidean"
        if self.metrics_ is None:
            return points, metric
        # So that the units of the columns do not count here, either.
        return points * np.sqrt(np.diagonal(self.metrics_.mean(axis=0))), metric


def exponent(X: Array, scale: Scale, space: MetricSpace | None) -> float:
    """The exponent of the masses that suits the dimension of the clusters.

    With an adaptive metric, clusters are as wide in all directions in which the data
    vary.
    """
    if space is not None:
        return automatic_exponent(1 / max(space.directions.shape[1], 1))
    # The first keeps the prototypes from one point, the second clusters from merging.
    rows = X[:: -(-len(X) // MAX_SAMPLE)]
    overall = mean_squared_cosine(rows - rows.mean(axis=0))
    within = mean_squared_cosine(scale.deviations(rows))
    return automatic_exponent(min(overall, within))


def alternate(
    start: PrototypeStep,
    model: PrototypeModel,
    update_masses: MassUpdate,
    space: MetricSpace | None,
    *,
    moves_centers: bool,
    tol: float,
    max_iter: int,
    report: Report | None = None,
    begin: Callable[[PrototypeStep], None] | None = None,
) -> Trace[PrototypeStep]:
    """Masses, prototypes and metrics in turn, each exactly, so that J never increases.

    The loss of an iteration is J at its prototypes, its metrics and the masses that
    fit them best. ``begin`` is called with the step that an iteration starts from,
    after its masses have been updated.
    """

    def iteration(before: PrototypeStep) -> tuple[PrototypeStep, float]:
        centers, metrics = before.next_centers, before.next_metrics
        sums, kept_masses = update_masses(
            set_prototypes(centers, metrics, model), before.kept_masses
        )
        if begin is not None:
            begin(before)
        moved = centers
        if moves_centers:
            moved = updated_centers(sums, model, centers, metrics)
        adapted = metrics
        if space is not None and metrics is not None:
            scatters = cluster_scatters(sums, model, centers, moved)
            adapted = space.metrics(scatters, metrics)
        return PrototypeStep(centers, metrics, moved, adapted, kept_masses), sums.loss

    return iterate(iteration, start, tol=tol, max_iter=max_iter, report=report)


def prototype_solution(
    trace: Trace[PrototypeStep],
    X: Array,
    model: PrototypeModel,
    transformer: Transformer | None,
) -> Solution:
    """The masses of objects at the last prototypes, and fitted attributes."""
    centers, metrics = trace.state.centers, trace.state.metrics
    per_cluster = {"centers_": centers}
    other = {
        "beta_": model.beta,
        "delta_": model.delta,
        "transformer_": transformer,
    }
    if metrics is None:
        other["metrics_"] = None
    else:
        per_cluster["metrics_"] = metrics
    return Solution(
        prototype_masses(X, set_prototypes(centers, metrics, model), model),
        trace,
        per_cluster=per_cluster,
        other=other,
        is_interrupted=trace.interrupted,
    )
