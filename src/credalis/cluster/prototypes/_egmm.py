"""EGMM: evidential Gaussian mixture model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist
from sklearn.cluster import kmeans_plusplus

from credalis import _archive
from credalis._checks import (
    check_choice,
    check_finite,
    check_number,
    check_numbers,
    check_spread,
)
from credalis._control import stoppable
from credalis._progress import Report
from credalis._weights import copied
from credalis.belief import FocalSets, check_n_clusters
from credalis.cluster._framework._estimator import BaseCredalClusterer
from credalis.cluster._framework._fit import fit
from credalis.cluster._framework._schema import covariance_shape
from credalis.cluster._framework._solution import Solution, best_start
from credalis.cluster._framework._soundness import warn_of_collapse
from credalis.cluster._inputs._clusters import count_distinct, robust_scale
from credalis.cluster._inputs._geometry import within_reach
from credalis.cluster._inputs._medoids import belief_peaks
from credalis.cluster.prototypes._egmm_mixture import (
    COVARIANCE_TYPES,
    EvidentialMixture,
    ebic,
    expectation,
    maximization,
    ridge_penalty,
    starting_mixture,
)
from credalis.optimize import iterate

Array = NDArray[np.float64]

INITS = ("k-means", "k-means++", "peaks")

# New objects whose densities are computed at a time.
_BLOCK_ROWS = 4096
# Standard deviations whose squares, summed over all objects, are numbers.
_FARTHEST_START = 1e100

# Distances, in units of a covariance, whose squares can be told apart: objects that are
# farther away get the masses of their direction.
_FARTHEST = 1e10
_LARGEST = 1e300


def _check_mixture(
    owner: str, parameters: _archive.Entries, fitted: _archive.Entries
) -> None:
    """Refuse covariances of another form, and those that are none."""
    kind, covariances = parameters["covariance_type"], fitted["covariances_"]
    weights, n_features = fitted["weights_"], fitted["means_"].shape[1]
    shape = covariance_shape(kind, len(weights), n_features)
    if covariances.shape != shape:
        raise ValueError(
            f"{owner}.covariances_ must have shape {shape} for covariance_type="
            f"{kind!r}, got {covariances.shape}"
        )
    sets = fitted["focal_sets_"]
    is_empty = sets.cardinality == 0
    if abs(weights.sum() - 1) > 1e-6 or weights[is_empty].any():
        raise ValueError(f"{owner}.weights_ must sum to 1 without ∅, got {weights}")
    try:
        EvidentialMixture(
            sets, weights, fitted["means_"], covariances, kind
        ).whitenings()
    except np.linalg.LinAlgError as error:
        raise ValueError(f"{owner}.covariances_ must be positive definite") from error


class EGMM(BaseCredalClusterer):
    """Evidential Gaussian mixture: a normal distribution for each set of clusters.

    Maximises over the weights π_A of the sets of clusters, the means μ_k of the
    clusters and the covariance Σ the likelihood of the rows x_i of X under

        p(x) = Σ_{A ≠ ∅} π_A N(x; v_A, Σ),   v_A = Σ_{k ∈ A} μ_k / |A|,

    by the EM algorithm. The mass m_iA is the probability that x_i is from the
    distribution of A: objects halfway between the clusters of A are a group of its own,
    those about which nothing is known but that they belong to A. No mass is on ∅. The
    means solve H μ = B with H_kl = Σ_i Σ_{A ⊇ {k, l}} m_iA / |A|² and
    B_k = Σ_i x_i Σ_{A ∋ k} m_iA / |A|. The likelihood, with the penalty of `reg_covar`,
    never falls.

    Parameters
    ----------
    n_clusters : int or list of int, default=2
        Number of clusters; of several numbers the one with the highest EBIC is taken.
    focal_sets : {"auto", "singletons", "pairs", "full", "two-step"} or FocalSets, \
default="auto"
        Which sets of clusters may carry mass. "auto" takes all pairs up to four
        clusters and singletons above; "two-step" fits with singletons first and then
        adds the pairs of neighbouring clusters. ∅, which gets no mass, and Ω are
        included.
    covariance_type : {"tied", "full", "diag"}, default="tied"
        "tied": one matrix for all sets, as published. "full": a matrix for each set.
        "diag": a variance of each feature for each set. The latter two go beyond the
        published method; sets of few objects may then need a larger `reg_covar`.
    reg_covar : float, default=1e-6
        The ridge ρ: ρ times the variance of a feature is added to its variance in Σ.
        With covariances for each set the share of a set does not depend on its size: of
        n objects and f sets, one of n_A objects gets ρ n / (f n_A). What is maximised
        is log p(X) - n ρ / 2 times the mean of tr Σ_A⁻¹ over the sets, in units of the
        standard deviations of the features.
    init : "k-means", "k-means++", "peaks" or array-like of shape \
(n_clusters, n_features), default="k-means"
        Initial prototypes. "k-means" takes the centres that k-means finds, "k-means++"
        draws them from the objects that are not far from all others, "peaks" takes the
        belief peaks (`credalis.peaks`) of the data, or of 10 000 evenly spread rows.
        Given ones also fix the numbers of the clusters. They are the first means, and
        distances are taken in units of the standard deviations of the features.
    n_init : int or "auto", default="auto"
        Number of starts, of which the best is kept; "auto" is 5, or 1 if all would be
        the same.
    max_iter : int, default=1000
        Largest number of iterations of one start.
    tol : float, default=1e-6
        Change of `loss_` below which a start ends.
    n_jobs : int, default=None
        Number of starts run at the same time, as in joblib. It does not change the
        result.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 shows a progress bar on standard error.

    Attributes
    ----------
    partition_ : CredalPartition
        The mass functions of the objects.
    labels_ : array of shape (n_samples,)
        Cluster of maximal plausibility.
    n_clusters_ : int
        Number of clusters.
    weights_ : array of shape (n_focal_sets,)
        Weights π_A, 0 for ∅.
    means_ : array of shape (n_clusters, n_features)
        Means μ_k of the clusters.
    covariances_ : array
        Covariances, of shape (n_features, n_features) if they are tied, else of
        (n_focal_sets, n_features, n_features) or (n_focal_sets, n_features). Those of
        ∅, and of sets that have lost all objects, mean nothing.
    log_likelihood_ : float
        log p(X), without the penalty.
    ebic_ : float
        Evidential Bayesian information criterion log p(X) - ν/2 log n, the larger, the
        better; ν counts weights, means and covariances. How the article counts could
        not be confirmed.
    focal_sets_ : FocalSets
        Focal sets that were used.
    loss_ : float
        What is maximised, divided by -n.
    history_ : array of shape (n_iter_,)
        The same at each iteration.
    n_iter_ : int
        Number of iterations of the best start.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, if X had any.

    Notes
    -----
    With a covariance for each set, the means minimise
    Σ_i Σ_A m_iA (x_i - v_A)ᵀ Σ_A⁻¹ (x_i - v_A) for the covariances so far: a system of
    c d equations in which every term of H and of B is multiplied by its Σ_A⁻¹. The
    covariances are then updated for the new means. This is conditional maximisation
    (ECM, Meng and Rubin 1993), and the penalised likelihood does not fall either.

    The result does not depend on the units of the columns. A column of which all values
    are the same has no part in the likelihood; its variance is given as 1.

    References
    ----------
    L. Jiao, T. Denœux, Z.-G. Liu and Q. Pan (2022), EGMM: an evidential version of the
    Gaussian mixture model for clustering, Applied Soft Computing 129, 109619.

    Examples
    --------
    >>> from credalis import EGMM
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(150, centers=[[0, 0], [4, 0], [8, 0]], random_state=0)
    >>> model = EGMM(n_clusters=2, random_state=0).fit(X)
    >>> model.predict_partition([[0, 0], [4, 0], [8, 0]]).set_names()
    ['{1}', 'Ω', '{0}']
    """

    _words = (
        "a mixture of normal distributions was fitted, one for each set of clusters"
    )
    _depends_on_units = False
    _is_for_many_rows = True
    _collapse_advice = "Ask for fewer clusters, or give other means as init"

    _schema = BaseCredalClusterer._schema.extended(
        {
            "weights_": _archive.Array(
                "f", ("n_focal_sets",), at_least=0, at_most=1 + 1e-6
            ),
            "means_": _archive.Array("f", ("n_clusters", "n_features")),
            "covariances_": _archive.Array("f", None),
            "n_clusters_": _archive.Integer(size="n_clusters"),
            "log_likelihood_": _archive.Number(),
            "ebic_": _archive.Number(),
        },
        None,
        _check_mixture,
    )

    max_iter: int

    weights_: Array
    means_: Array
    covariances_: Array
    n_clusters_: int
    log_likelihood_: float
    ebic_: float

    def __init__(
        self,
        n_clusters: int | list[int] | tuple[int, ...] = 2,
        *,
        focal_sets: str | FocalSets = "auto",
        covariance_type: str = "tied",
        reg_covar: float = 1e-6,
        init: str | ArrayLike = "k-means",
        n_init: int | str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.focal_sets = focal_sets
        self.covariance_type = covariance_type
        self.reg_covar = reg_covar
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: ArrayLike, y: Any = None, *, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : ignored
            Present for compatibility with pipelines and searches.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: a row of weight 2 counts as two equal rows, one
            of weight 0 is not used and only gets masses. None: all count once.

        Returns
        -------
        self
        """
        fit(self, X, sample_weight=sample_weight)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("covariance_type", self.covariance_type, COVARIANCE_TYPES)
        check_number("reg_covar", self.reg_covar, at_least=0)
        if isinstance(self.init, str):
            check_choice("init", self.init, INITS)

    @property
    def _numbers(self) -> list[int]:
        """The numbers of clusters to choose from."""
        if isinstance(self.n_clusters, (list, tuple)):
            return list(self.n_clusters)
        return [self.n_clusters]

    def _check_n_clusters(self) -> None:
        if not self._numbers:
            raise ValueError("n_clusters must hold at least one number, got none")
        for number in self._numbers:
            check_n_clusters(number)

    def _check_enough_objects(self, X: Array) -> None:
        most = max(self._numbers)
        n_distinct = count_distinct(X, most)
        if n_distinct < most:
            raise ValueError(
                "n_clusters must not exceed the number of distinct rows of X, got "
                f"n_clusters={most} and {n_distinct} distinct row(s)"
            )

    def _first_focal_sets(self) -> FocalSets | None:
        found = [self._focal_sets_of(number) for number in self._numbers]
        return found[0] if len(found) == 1 else None

    def _has_fixed_order(self, problems: list[MixtureProblem] | None) -> bool:
        return not isinstance(self.init, str)

    def _n_starts(self, problems: list[MixtureProblem]) -> int:
        # Of several numbers of clusters, each has its own starts.
        if len(problems) > 1:
            return 1
        if isinstance(self.n_init, str) and problems[0].start is not None:
            return 1
        return super()._n_starts(problems)

    def _prepare(
        self,
        X: Array,
        rng: np.random.RandomState,
        *,
        sample_weight: Array | None = None,
        **given: Any,
    ) -> list[MixtureProblem]:
        check_spread("X", X)
        # Each has a variance of its own, however large the others are.
        for column in X.T:
            check_spread("each column of X", column[:, None])
        units = Units.of(X, sample_weight)
        Z = units.removed_from(X)
        objects = copied(Z, X, sample_weight, max(self._numbers))
        return [
            replace(
                self._problem(Z, objects, units, number, rng), weights=sample_weight
            )
            for number in self._numbers
        ]

    def _problem(
        self,
        Z: Array,
        objects: Array,
        units: Units,
        n_clusters: int,
        rng: np.random.RandomState,
    ) -> MixtureProblem:
        """Where starts with so many clusters begin, found among objects."""
        if not isinstance(self.init, str):
            means = check_finite("init", check_numbers("init", self.init))
            expected = (n_clusters, len(units.center))
            if means.shape != expected:
                raise ValueError(
                    f"init must have shape (n_clusters, n_features) = {expected}, got "
                    f"{means.shape}"
                )
            return MixtureProblem(Z, units, n_clusters, units.removed_from(means))
        if self.init == "peaks":
            start = objects[belief_peaks(objects, n_clusters)]
            return MixtureProblem(Z, units, n_clusters, start)
        scale = robust_scale(objects, n_clusters, rng)
        if self.init == "k-means":
            return MixtureProblem(Z, units, n_clusters, scale.centers)
        return MixtureProblem(Z, units, n_clusters, None, objects[scale.is_near])

    def _solve(
        self,
        problems: list[MixtureProblem],
        focal_sets: FocalSets | None,
        rng: np.random.RandomState,
        *,
        previous: Solution | None,
        report: Report,
    ) -> Solution:
        if focal_sets is None:
            return self._best_number(problems, rng, report)
        problem = next(
            each for each in problems if each.n_clusters == focal_sets.n_clusters
        )
        start = problem.start
        if previous is not None:
            start = problem.units.removed_from(previous.per_cluster["means_"])
        elif start is None:
            start, _ = kmeans_plusplus(
                problem.candidates, problem.n_clusters, random_state=rng
            )
        assert start is not None
        return self._fitted_mixture(problem, focal_sets, start, report)

    def _best_number(
        self, problems: list[MixtureProblem], rng: np.random.RandomState, report: Report
    ) -> Solution:
        """The solution of highest EBIC, each number with its own starts."""
        found: list[Solution] = []
        with stoppable(lambda: bool(found)) as ending:
            for problem in problems:
                sets = self._focal_sets_of(problem.n_clusters)
                n_starts = self._n_starts([problem])
                seeds = rng.randint(np.iinfo(np.int32).max, size=n_starts)
                best = best_start(self, [problem], sets, seeds, is_quiet=True)
                found.append(replace(best, focal_sets=sets))
                if best.is_interrupted:
                    break
                report(best.trace.n_iter, best.trace.loss)
        solution = max(found, key=lambda each: each.other["ebic_"])
        is_whole = len(found) == len(problems) and not found[-1].is_interrupted
        return replace(solution, is_interrupted=ending.is_early or not is_whole)

    def _fitted_mixture(
        self,
        problem: MixtureProblem,
        focal_sets: FocalSets,
        start: Array,
        report: Report,
    ) -> Solution:
        """The mixture that EM finds from these means."""
        if np.abs(start).max() > _FARTHEST_START:
            raise ValueError(
                f"init must be within {_FARTHEST_START:g} standard deviations of X, "
                f"got one at {np.abs(start).max():.3g}"
            )
        ridge = float(self.reg_covar)
        weights, n_samples = problem.weights, problem.n_samples
        first = starting_mixture(
            problem.Z, start, focal_sets, self.covariance_type, ridge, weights
        )
        offset = problem.units.log_volume

        def step(before: MixtureStep) -> tuple[MixtureStep, float]:
            mixture = before.following
            masses, log_likelihood = expectation(problem.Z, mixture, weights)
            log_likelihood -= n_samples * offset
            loss = ridge_penalty(mixture, ridge) - log_likelihood / n_samples
            following = maximization(problem.Z, masses, mixture, ridge, weights)
            return MixtureStep(mixture, following, masses, log_likelihood, loss), loss

        try:
            trace = iterate(
                step,
                MixtureStep(first, first, np.empty((0, 0)), -np.inf, np.inf),
                tol=self.tol,
                max_iter=self.max_iter,
                report=report,
                # Of a logarithm, a relative change means nothing.
                has_settled=lambda one, two: abs(one.loss - two.loss) <= self.tol,
            )
            last = trace.state
            with np.errstate(over="ignore", invalid="ignore"):
                mixture = problem.units.given_to(last.mixture)
            if not np.isfinite(mixture.covariances).all():
                raise ValueError(
                    "reg_covar must be smaller for these data, covariances are no "
                    f"numbers, got {self.reg_covar}"
                )
            mixture.whitenings()  # as predictions will ask for
        except np.linalg.LinAlgError as error:
            raise ValueError(
                "reg_covar must be larger for these data, a covariance is singular, "
                f"got {self.reg_covar}"
            ) from error
        per_set: dict[str, Array] = {"weights_": mixture.weights}
        other: dict[str, Any] = {}
        where = other if self.covariance_type == "tied" else per_set
        where["covariances_"] = mixture.covariances
        return Solution(
            last.masses,
            trace,
            per_cluster={"means_": mixture.means},
            per_set=per_set,
            other={
                **other,
                "n_clusters_": problem.n_clusters,
                "log_likelihood_": last.log_likelihood,
                "ebic_": ebic(
                    last.log_likelihood, last.mixture.n_parameters, n_samples
                ),
            },
            is_interrupted=trace.interrupted,
        )

    def _check_solution(
        self, problems: list[MixtureProblem], solution: Solution
    ) -> bool:
        problem = problems[0]
        means = problem.units.removed_from(solution.per_cluster["means_"])
        separation = pdist(means).max(initial=0.0)
        spread = np.sqrt(
            copied(problem.Z, problem.Z, problem.weights).var(axis=0).sum()
        )
        return warn_of_collapse(self, separation, spread)

    def _predict_masses(self, X: Array) -> Array:
        mixture = EvidentialMixture(
            self.focal_sets_,
            self.weights_,
            self.means_,
            self.covariances_,
            self.covariance_type,
        )
        center, spread = self.means_.mean(axis=0), mixture.spreads
        mixture = mixture.in_units(-center / spread, 1 / spread)
        largest = np.abs(mixture.whitenings()).sum(axis=-1).max()
        farthest = _FARTHEST / max(1.0, largest)
        masses = np.empty((len(X), len(self.focal_sets_)))
        for start in range(0, len(X), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            with np.errstate(over="ignore"):
                Z = np.clip((X[rows] - center) / spread, -_LARGEST, _LARGEST)
            Z = within_reach(Z, np.zeros(len(center)), farthest)
            masses[rows], _ = expectation(Z, mixture)
        return masses

    @property
    def _detects_novelties(self) -> bool:
        return False


@dataclass(frozen=True, eq=False)
class Units:
    """How data are standardised: columns of which all values are the same left out.

    Attributes
    ----------
    center, scale : array of shape (n_features,)
        Means and standard deviations of the columns.
    varies : array of bool, shape (n_features,)
        Columns with different values; if there are none, all of them.
    """

    center: Array
    scale: Array
    varies: NDArray[np.bool_]

    @classmethod
    def of(cls, X: Array, weights: Array | None = None) -> Units:
        """Those of the columns of X, rows being counted as their weights say."""
        # From the first row, so that no sum of large numbers overflows.
        moved = X - X[0]
        if weights is None:
            scale, mean = moved.std(axis=0), moved.mean(axis=0)
        else:
            shares = weights / weights.sum()
            mean = shares @ moved
            scale = np.sqrt(shares @ np.square(moved - mean))
            # Rounding is no variation.
            scale[(moved == 0).all(axis=0)] = 0.0
        varies = scale > 0
        center = X[0] + mean
        everything = np.ones_like(varies)
        return cls(
            center, np.where(varies, scale, 1.0), varies if varies.any() else everything
        )

    @property
    def log_volume(self) -> float:
        """Logarithm of the factor by which densities are smaller in the old units."""
        return float(np.log(self.scale).sum())

    def removed_from(self, X: Array) -> Array:
        """Rows in units of the standard deviations."""
        return ((X - self.center) / self.scale)[:, self.varies]

    def given_to(self, mixture: EvidentialMixture) -> EvidentialMixture:
        """The mixture of the data as they were, with variance 1 in other columns."""
        means = np.zeros((len(mixture.means), len(self.center)))
        means[:, self.varies] = mixture.means
        if mixture.covariance_type == "diag":
            covariances = np.ones((len(mixture.weights), len(self.center)))
            covariances[:, self.varies] = mixture.covariances
        else:
            n_sets = mixture.covariances.shape[:-2]
            covariances = np.tile(np.eye(len(self.center)), (*n_sets, 1, 1))
            inside = self.varies[:, None] & self.varies
            covariances[..., inside] = mixture.covariances.reshape(*n_sets, -1)
        wide = replace(mixture, means=means, covariances=covariances)
        return wide.in_units(self.center, self.scale)


@dataclass(frozen=True, eq=False)
class MixtureProblem:
    """What all starts with a number of clusters share.

    Attributes
    ----------
    Z : array of shape (n_samples, n_features)
        Standardised data.
    units : Units
        What they were standardised by.
    n_clusters : int
        Number of clusters.
    start : array of shape (n_clusters, n_features) or None
        Means that all starts have in common.
    candidates : array or None
        Objects from which random means are drawn.
    weights : array of shape (n_samples,) or None
        How often each object counts; None: once.
    """

    Z: Array
    units: Units
    n_clusters: int
    start: Array | None
    candidates: Array | None = None
    weights: Array | None = None

    @property
    def n_samples(self) -> float:
        """Number of objects, or the sum of their weights."""
        return len(self.Z) if self.weights is None else float(self.weights.sum())


@dataclass(frozen=True, eq=False)
class MixtureStep:
    """A mixture, its masses and likelihood, and the mixture of the next step."""

    mixture: EvidentialMixture
    following: EvidentialMixture
    masses: Array
    log_likelihood: float
    loss: float
