"""Bootclus: masses that say how sure a bootstrapped mixture is of its clusters."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.mixture import GaussianMixture

from credalis import _archive
from credalis._checks import (
    check_choice,
    check_integer,
    check_number,
    check_runs,
    check_spread,
)
from credalis._progress import Progress, Report
from credalis.belief import FocalSets, check_n_clusters
from credalis.cluster._framework._estimator import BaseCredalClusterer
from credalis.cluster._framework._schema import WITH_PARTITION, covariance_shape
from credalis.cluster._framework._solution import Solution
from credalis.cluster._inputs._clusters import count_distinct
from credalis.cluster.bootstrap._interval_masses import IntervalFit, masses_of_new
from credalis.cluster.bootstrap._replicates import (
    COVARIANCE_TYPES,
    Replicates,
    best_mixture,
    bootstrap,
    pair_intervals,
)
from credalis.optimize import iterate

Array = NDArray[np.float64]

# All pairs up to here; beyond, pairs of objects and landmarks.
_MAX_ALL_PAIRS = 1000
# Training objects with which all others, and a new object, are compared.
_MIN_LANDMARKS = 300
_LANDMARKS_PER_CLUSTER = 40
PAIRS = ("auto", "all", "landmarks")
# New objects compared with them at a time.
_BLOCK_ROWS = 1024
# Landmarks and samples that are enough to compare new objects with each other.
_ROUGH_LANDMARKS, _ROUGH_LANDMARKS_PER_CLUSTER, _ROUGH_REPLICATES = 40, 8, 50


def _check_mixtures(
    owner: str, parameters: _archive.Entries, fitted: _archive.Entries
) -> None:
    replicates, means = fitted["replicates_"], fitted["means_"]
    shape = covariance_shape(fitted["covariance_type_"], *means.shape)
    if fitted["covariances_"].shape != shape:
        raise ValueError(
            f"{owner}.covariances_ must have shape {shape} for covariance_type_="
            f"{fitted['covariance_type_']!r}, got {fitted['covariances_'].shape}"
        )
    expected = (len(fitted["landmark_posteriors_"]), *means.shape)
    if replicates.means.shape != expected:
        raise ValueError(
            f"{owner}.replicates_.means must have shape {expected}, got "
            f"{replicates.means.shape}"
        )


class Bootclus(BaseCredalClusterer):
    """Credal partition calibrated by the bootstrap of a Gaussian mixture.

    A Gaussian mixture is fitted to the data and, by EM from there, to bootstrap samples
    of it. In each of the latter, P_ij = Σ_k π_ik π_jk is the probability that objects i
    and j are in the same cluster, and its quantiles over the samples are a confidence
    interval [P^l_ij, P^u_ij]. The masses minimise

        L = mean (m_iᵀ S m_j - P^l_ij)² + (m_iᵀ C m_j - (1 - P^u_ij))²

    over pairs of objects, where m_iᵀ S m_j is the degree of belief that i and j are in
    the same cluster and m_iᵀ C m_j that they are not, so that belief and plausibility
    of "the same cluster" come near to the interval. Rows of masses are updated in turn
    by small quadratic programs, from the posterior probabilities of the mixture; L
    never increases. No mass is on ∅.

    Parameters
    ----------
    n_clusters : int or list of int, default=2
        Number of clusters, which is that of the components; of several numbers the one
        with the lowest BIC is taken.
    focal_sets : {"auto", "singletons", "pairs", "full", "two-step"} or FocalSets, \
default="auto"
        Which sets of clusters may carry mass. "auto" is the published choice for any
        number of clusters: the clusters and all pairs, without Ω. "two-step" fits with
        singletons first and then adds the pairs of neighbouring clusters. ∅ is in all
        of them, but gets no mass.
    covariance_type : {"auto", "full", "tied", "diag", "spherical"}, default="auto"
        Covariance model of scikit-learn's GaussianMixture; "auto" takes the one with
        the lowest BIC. The published program chooses among more models.
    n_bootstrap : int, default=500
        Number B of bootstrap samples, at least 2.
    confidence : float, default=0.9
        Level of the intervals.
    pairs : {"auto", "all", "landmarks"}, default="auto"
        Which pairs of objects count: all, or those of each object with landmarks,
        random objects that are the partners of all. Time and memory grow with n² for
        "all", with n else. "auto" is "landmarks" if `pairs_per_sample` is given,
        otherwise "all", as in the article, up to 1000 objects and "landmarks" above.
    pairs_per_sample : int, default=None
        Number of landmarks. None is 300, or 40 for each cluster if that is more.
    reg_covar : float, default=1e-6
        Added to the diagonal of the covariance matrices, as a share of the mean
        variance of the features.
    n_init : int or "auto", default="auto"
        Number of starts of each mixture, of which the best is kept; "auto" is 5.
    max_iter : int, default=100
        Largest number of sweeps over the rows of masses.
    tol : float, default=1e-5
        Relative change of L below which the sweeps end.
    n_jobs : int, default=None
        Number of mixtures fitted at the same time, as in joblib. It does not change the
        result.
    random_state : int, RandomState instance or None, default=None
        Seed of the mixtures and of the bootstrap samples.
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
    covariance_type_ : str
        Covariance model.
    bic_ : float
        Bayesian information criterion of the mixture.
    weights_ : array of shape (n_clusters,)
        Weights of the components; component k is cluster k.
    means_ : array of shape (n_clusters, n_features)
        Their means.
    covariances_ : array
        Their covariances, in the form of GaussianMixture.
    focal_sets_ : FocalSets
        Focal sets that were used.
    loss_ : float
        L.
    history_ : array of shape (n_iter_,)
        L after each sweep.
    n_iter_ : int
        Number of sweeps.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, if X had any.

    Notes
    -----
    The published method has no prediction. Here a new object gets the masses that fit
    best the intervals between it and the landmarks, whose masses stay as they are;
    after a fit to all pairs these are 300 training objects (all, if there are no more),
    drawn at random. For a training object this differs from the fit: it is compared
    with fewer objects, and with itself as with another one. For this, the model keeps
    its mixtures, B sets of parameters.

    The cost of a fit is that of B mixtures plus B n² / 2 products, or B n L with L
    landmarks; memory is two n × n, or n × L, matrices in single precision and B n c
    posterior probabilities. Masses from 300 landmarks differed by no more than 0.012
    from those of all pairs on the 400 objects of fourclass.

    References
    ----------
    T. Denœux (2020), Calibrated model-based evidential clustering using bootstrapping,
    Information Sciences 528, 17-45.

    Examples
    --------
    >>> from credalis import Bootclus
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(60, centers=[[0, 0], [0, 4]], random_state=0)
    >>> model = Bootclus(n_clusters=[2, 3], n_bootstrap=50, random_state=0).fit(X)
    >>> model.n_clusters_, model.covariance_type_
    (2, 'spherical')
    >>> model.predict_partition([[0, 0], [0, 2]]).set_names()
    ['{1}', 'Ω']
    """

    _words = "a mixture of normal distributions was fitted to many resamples"
    _depends_on_units = False
    _predicts_from_partition = True

    _schema = BaseCredalClusterer._schema.extended(
        {
            **WITH_PARTITION,
            "weights_": _archive.Array(
                "f", ("n_clusters",), at_least=0, at_most=1 + 1e-6
            ),
            "means_": _archive.Array("f", ("n_clusters", "n_features")),
            "covariance_type_": _archive.Choice(*COVARIANCE_TYPES),
            "covariances_": _archive.Array("f", None),
            "n_clusters_": _archive.Integer(size="n_clusters"),
            "bic_": _archive.Number(),
            "replicates_": _archive.Instance(Replicates),
            "landmarks_": _archive.Array(
                "i", ("n_landmarks",), at_least=0, below="n_samples"
            ),
            "landmark_posteriors_": _archive.Array(
                "f",
                ("n_bootstrap", "n_landmarks", "n_clusters"),
                at_least=0,
                at_most=1 + 1e-6,
            ),
        },
        None,
        _check_mixtures,
    )

    max_iter: int

    replicates_: Replicates
    landmarks_: NDArray[np.intp]
    landmark_posteriors_: NDArray[np.float32]

    def __init__(
        self,
        n_clusters: int | list[int] | tuple[int, ...] = 2,
        *,
        focal_sets: str | FocalSets = "auto",
        covariance_type: str = "auto",
        n_bootstrap: int = 500,
        confidence: float = 0.9,
        pairs: str = "auto",
        pairs_per_sample: int | None = None,
        reg_covar: float = 1e-6,
        n_init: int | str = "auto",
        max_iter: int = 100,
        tol: float = 1e-5,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.focal_sets = focal_sets
        self.covariance_type = covariance_type
        self.n_bootstrap = n_bootstrap
        self.confidence = confidence
        self.pairs = pairs
        self.pairs_per_sample = pairs_per_sample
        self.reg_covar = reg_covar
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice(
            "covariance_type", self.covariance_type, ("auto", *COVARIANCE_TYPES)
        )
        check_runs("n_bootstrap", self.n_bootstrap, at_least=2)
        check_number("confidence", self.confidence, at_least=0, at_most=1)
        check_choice("pairs", self.pairs, PAIRS)
        if self.pairs_per_sample is not None:
            check_integer("pairs_per_sample", self.pairs_per_sample, at_least=1)
            if self.pairs == "all":
                raise ValueError(
                    "pairs_per_sample must be None for pairs='all', got "
                    f"{self.pairs_per_sample}"
                )
        check_number("reg_covar", self.reg_covar, at_least=0)

    def _check_n_clusters(self) -> None:
        if not isinstance(self.n_clusters, (list, tuple)):
            check_n_clusters(self.n_clusters)
            return
        if len(self.n_clusters) == 0:
            raise ValueError("n_clusters must hold at least one number, got none")
        for number in self.n_clusters:
            check_n_clusters(number)

    @property
    def _numbers(self) -> tuple[int, ...]:
        """The numbers of clusters to choose from."""
        if isinstance(self.n_clusters, (list, tuple)):
            return tuple(self.n_clusters)
        return (self.n_clusters,)

    def _check_enough_objects(self, X: Array) -> None:
        most = max(self._numbers)
        n_distinct = count_distinct(X, most)
        if n_distinct < most:
            raise ValueError(
                f"n_clusters must not exceed the number of distinct rows of X, got "
                f"n_clusters={most} and {n_distinct} distinct row(s)"
            )
        number = self.pairs_per_sample
        if number is not None and not most <= number <= len(X):
            raise ValueError(
                "pairs_per_sample, the number of landmarks, must be between the number "
                f"of clusters, {most}, and that of objects, {len(X)}, got {number}"
            )

    def _first_focal_sets(self) -> FocalSets | None:
        found = [self._focal_sets_of(number) for number in self._numbers]
        return found[0] if len(found) == 1 else None

    def _focal_sets_of(self, n_clusters: int) -> FocalSets:
        if isinstance(self.focal_sets, str) and self.focal_sets == "auto":
            return FocalSets.pairs(n_clusters, frame=False)
        return super()._focal_sets_of(n_clusters)

    def _n_starts(self, problem: BootstrapProblem | None) -> int:
        # The starts are those of the mixtures; from them on, nothing is random.
        return 1

    def _prepare(
        self, X: Array, rng: np.random.RandomState, **given: Any
    ) -> BootstrapProblem:
        check_spread("X", X)
        is_auto = self.covariance_type == "auto"
        seeds = rng.randint(np.iinfo(np.int32).max, size=self.n_bootstrap + 1)
        mixture, bic = best_mixture(
            X,
            self._numbers,
            COVARIANCE_TYPES if is_auto else (self.covariance_type,),
            reg_covar=float(self.reg_covar) * float(X.var(axis=0).mean()),
            n_init=super()._n_starts(None),
            seed=int(seeds[-1]),
            n_jobs=self.n_jobs,
        )
        progress = Progress(
            type(self).__name__,
            stage="mixtures",
            n_runs=1,
            max_iter=self.n_bootstrap,
            enabled=bool(self.verbose),
        )
        replicates, posteriors = bootstrap(
            X,
            mixture,
            seeds[:-1],
            n_jobs=self.n_jobs,
            report=lambda done, loss: progress.report(0, done, loss),
        )
        progress.close()
        n_landmarks = self._n_landmarks(len(X), mixture.n_components)
        landmarks = np.arange(len(X))
        if len(X) > (n_landmarks or _MIN_LANDMARKS):
            size = n_landmarks or _MIN_LANDMARKS
            landmarks = np.sort(rng.choice(len(X), size, replace=False))
        of_landmarks = posteriors[:, landmarks]
        order = np.arange(len(X))
        if n_landmarks is None:
            lower, upper = pair_intervals(posteriors, self.confidence)
        else:
            order = np.concatenate([landmarks, np.setdiff1d(order, landmarks)])
            lower, upper = pair_intervals(posteriors, self.confidence, of_landmarks)
            lower, upper = lower[order], upper[order]
        return BootstrapProblem(
            mixture,
            bic,
            replicates,
            mixture.predict_proba(X),
            order,
            lower,
            upper,
            landmarks,
            of_landmarks,
        )

    def _n_landmarks(self, n_samples: int, n_clusters: int) -> int | None:
        """How many landmarks all objects are compared with; None: all objects."""
        number = self.pairs_per_sample
        is_small = n_samples <= _MAX_ALL_PAIRS and number is None
        if self.pairs == "all" or (self.pairs == "auto" and is_small):
            return None
        if number is None:
            number = max(_MIN_LANDMARKS, _LANDMARKS_PER_CLUSTER * n_clusters)
        return min(number, n_samples)

    def _solve(
        self,
        problem: BootstrapProblem,
        focal_sets: FocalSets | None,
        rng: np.random.RandomState,
        *,
        previous: Solution | None,
        report: Report,
    ) -> Solution:
        if focal_sets is None:
            focal_sets = self._focal_sets_of(problem.mixture.n_components)
        fit = IntervalFit.of(problem.lower, problem.upper, focal_sets)
        kept = focal_sets.cardinality > 0
        order = problem.order
        start = _bayesian_masses(problem.posteriors, focal_sets)[np.ix_(order, kept)]

        trace = iterate(
            fit.sweep_and_loss,
            start,
            tol=self.tol,
            max_iter=self.max_iter,
            report=report,
        )
        masses = np.zeros((len(start), len(focal_sets)))
        masses[np.ix_(order, kept)] = trace.state
        mixture = problem.mixture
        per_cluster = {"weights_": mixture.weights_, "means_": mixture.means_}
        fitted = {
            "n_clusters_": mixture.n_components,
            "covariance_type_": mixture.covariance_type,
            "bic_": problem.bic,
            "replicates_": problem.replicates,
            "landmarks_": problem.landmarks,
            "landmark_posteriors_": problem.landmark_posteriors,
        }
        if mixture.covariance_type == "tied":
            fitted["covariances_"] = mixture.covariances_
        else:
            per_cluster["covariances_"] = mixture.covariances_
        return Solution(
            masses,
            trace,
            per_cluster=per_cluster,
            other=fitted,
            focal_sets=focal_sets,
            is_interrupted=trace.interrupted,
        )

    def _fitted_masses(self, X: Array, solution: Solution) -> Array:
        return solution.masses

    def _for_comparisons(self) -> Self:
        """The same with fewer landmarks, of all clusters alike, and bootstrap samples.

        What changes from one object to another costs too much otherwise: a pair of
        objects needs a quantile over all samples.
        """
        wanted = _ROUGH_LANDMARKS_PER_CLUSTER * self.focal_sets_.n_clusters
        wanted = min(max(_ROUGH_LANDMARKS, wanted), len(self.landmarks_))
        order = np.argsort(self.labels_[self.landmarks_], kind="stable")
        chosen = order[np.arange(wanted) * len(order) // wanted]
        rough = copy(self)
        rough.landmarks_ = self.landmarks_[chosen]
        rough.landmark_posteriors_ = self.landmark_posteriors_[
            :_ROUGH_REPLICATES, chosen
        ]
        rough.replicates_ = self.replicates_.some(_ROUGH_REPLICATES)
        return rough

    def _predict_masses(self, X: Array) -> Array:
        known = self.partition_.masses[self.landmarks_]
        masses = np.empty((len(X), len(self.focal_sets_)))
        for start in range(0, len(X), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            lower, upper = pair_intervals(
                self.replicates_.posteriors(X[rows]),
                self.confidence,
                self.landmark_posteriors_,
            )
            masses[rows] = masses_of_new(lower, upper, known, self.focal_sets_)
        return masses


@dataclass(frozen=True, eq=False)
class BootstrapProblem:
    """The mixtures, and what they say about pairs of objects.

    The rows of the bounds are the objects in the given order, landmarks first.
    """

    mixture: GaussianMixture
    bic: float
    replicates: Replicates
    posteriors: Array
    order: NDArray[np.intp]
    lower: NDArray[np.float32]
    upper: NDArray[np.float32]
    landmarks: NDArray[np.intp]
    landmark_posteriors: NDArray[np.float32]


def _bayesian_masses(probabilities: Array, focal_sets: FocalSets) -> Array:
    """The probability of each cluster on the smallest focal set that contains it.

    From probabilities (n_samples, n_clusters) to masses (n_samples, n_focal_sets).
    """
    size = np.where(focal_sets.membership, focal_sets.cardinality[:, None], np.inf)
    masses = np.zeros((len(probabilities), len(focal_sets)))
    for cluster, home in enumerate(size.argmin(axis=0)):
        masses[:, home] += probabilities[:, cluster]
    return masses
