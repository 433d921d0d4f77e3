"""CECM: constrained evidential c-means."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis import _archive
from credalis._checks import check_choice, check_exponent, check_number
from credalis.belief import FocalSets
from credalis.cluster._framework._fit import fit
from credalis.cluster._framework._solution import Solution
from credalis.cluster._inputs._side_information import Transformer
from credalis.cluster.prototypes._cecm_masses import (
    PENALTIES,
    ConstrainedObjects,
    penalty,
)
from credalis.cluster.prototypes._clusterer import (
    MassUpdate,
    PrototypeClusterer,
    PrototypeProblem,
    PrototypeStep,
)
from credalis.network import SideInformation
from credalis.objectives import (
    PrototypeModel,
    PrototypeMoments,
    SetPrototypes,
    ecm_model,
    masses_from_costs,
    prototype_costs,
    prototype_moments,
)
from credalis.optimize import Trace, iterate

Array = NDArray[np.float64]

# The masses of constrained objects are updated at most so often for the same
# prototypes, or until their cost stands still to this degree.
_MAX_SWEEPS = 20
_SWEEP_TOLERANCE = 1e-6


class CECM(PrototypeClusterer):
    """Constrained evidential c-means: ECM that knows some pairs of objects.

    Minimises

        J = (1 - ξ) / (n f) J_ECM + ξ / (|ML| + |CL|) [Σ_ML P_ij + Σ_CL R_ij]

    over masses, prototypes and, with an adaptive metric, the matrices of the clusters.
    J_ECM is the objective of `ECM` with β = 2, n and f are the numbers of objects and
    of focal sets, ML and CL are the pairs of objects that are known to be in the same
    cluster and in different ones. P and R are the costs of a violated pair, see
    ``penalty``. J_ECM depends on the unit of the data and the rest does not, so that
    the data should be scaled. Without pairs CECM is ECM. Prototypes and matrices are
    updated exactly.
    The masses of objects without constraints are those of ECM; those of the others
    follow from an exact update of one object after the other, which is repeated until
    the cost stands still. So J never increases. The problem of the masses is not
    convex: the updates start from the masses of ECM and end in a local minimum.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters c. With one cluster, which is warned about, objects are told
        from outliers and nothing else.
    focal_sets : {"auto", "singletons", "pairs", "full", "two-step"} or FocalSets, \
default="auto"
        Which sets of clusters may carry mass. "auto" takes all pairs up to four
        clusters and singletons above; "two-step" fits with singletons first and then
        adds the pairs of neighbouring clusters. ∅ and Ω are included. Without ∅ no
        object is an outlier.
    metric : "euclidean", "adaptive" or transformer, default="euclidean"
        How distances are measured. "adaptive" gives every cluster a Mahalanobis
        distance of its own, with a matrix S_k of determinant 1 that is fitted together
        with the rest. A transformer is cloned and fitted with the labels
        and pairs given to `fit`, if it can use them; distances are then Euclidean in
        its space.
    alpha : float, default=1.0
        Exponent of the cardinality: the larger, the less mass on large sets.
    delta : float or "auto", default="auto"
        Distance to noise: an object farther than this from all prototypes is rather an
        outlier. "auto" takes as delta² the 0.95 quantile of the squared distances to
        the nearest of the centres that k-means finds.
    empty_set : {"auto", "noise", "novelty"}, default="auto"
        What the reported mass on ∅ stands for. "noise": being farther than delta from
        all prototypes, as published. "novelty": being unlike all training objects, by
        the distances to the nearest of them; the other masses are normalised and share
        the rest, and delta only keeps outliers from moving the prototypes, for which an
        automatic one is twice as large. "auto" is "noise" if delta is a number,
        "novelty" else.
    outlier_rate : float, default=0.01
        Share of ordinary objects that may be called outliers, with
        ``empty_set="novelty"``; see `outlier_p_values`.
    constraint_weight : float, default=0.5
        ξ, at least 0 and below 1.
    penalty : {"symmetric", "paper", "reference"}, default="symmetric"
        What a pair costs, in terms of the plausibilities Pl(s) and Pl(¬s) that its
        objects are in the same cluster and that they are not.

        - "symmetric": P = (Pl(¬s) + 1 - Pl(s)) / 2 and R = (Pl(s) + 1 - Pl(¬s)) / 2, as
          in constrained EVCLUS and NN-EVCLUS.
        - "paper": P = Pl(¬s) and R = Pl(s), as published. Pl(¬s) is small for objects
          with mass on ∅, so that must-links make outliers.
        - "reference": as in the published program, P = 1 - Σ_k m_i({k}) m_j({k}) and
          R = Pl(s), with ξ/|ML| and ξ/|CL| as factors of the two sums, and one more
          term, Σ_ML (m_i∅ + m_j∅).
    init : "k-means", "k-means++", "peaks" or array-like of shape \
(n_clusters, n_features), default="k-means"
        Initial prototypes. "k-means" takes the centres that k-means finds, "k-means++"
        draws them from the objects that are not far from all others, "peaks" takes the
        belief peaks (`credalis.peaks`) of the data, or of 10 000 evenly spread rows.
        Given ones also fix the numbers of the clusters.
    n_init : int or "auto", default="auto"
        Number of starts, of which the best is kept; "auto" is 5, or 1 if all would be
        the same.
    max_iter : int, default=500
        Largest number of iterations of one start.
    tol : float, default=1e-6
        Relative change of J below which a start ends.
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
    centers_ : array of shape (n_clusters, n_features)
        Prototypes, in the space of the transformer if there is one.
    metrics_ : array of shape (n_clusters, n_features, n_features) or None
        Matrices S_k of the adaptive metric.
    constrained_rows_ : array of int, shape (n_constrained,)
        Row numbers of the objects of the pairs.
    transformer_ : object or None
        The fitted transformer.
    beta_ : float
        Exponent of the masses, 2.
    delta_ : float
        Distance to noise that was used.
    focal_sets_ : FocalSets
        Focal sets that were used.
    loss_ : float
        J of `centers_` and the masses that belong to them, with ∅ as noise.
    history_ : array of shape (n_iter_,)
        J at each iteration, with the masses that fit the prototypes best.
    n_iter_ : int
        Number of iterations of the best start.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, if X had any.

    Notes
    -----
    A new object has no constraints: `predict_partition` gives it the masses of ECM for
    the fitted prototypes. So on the data of the fit `predict` may differ from `labels_`
    for the objects of the pairs (`constrained_rows_`), and only for these.

    References
    ----------
    V. Antoine, B. Quost, M.-H. Masson and T. Denœux (2012), CECM: Constrained
    evidential c-means algorithm, Computational Statistics and Data Analysis 56(4),
    894-914.

    Examples
    --------
    >>> from credalis import CECM
    >>> from credalis.datasets import load_butterfly
    >>> X = load_butterfly().data
    >>> cecm = CECM(n_clusters=2, delta=5, init=[[-3, 0], [3, 0]])
    >>> cecm.fit(X).partition_.set_names()[5]
    'Ω'
    >>> cecm.fit(X, must_link=[(5, 6)], cannot_link=[(5, 3)]).partition_.set_names()[5]
    '{1}'
    """

    _words = "objects were compared with centres, respecting what is known about pairs"
    _collapse_advice = (
        "Measure distances in few dimensions, for example with "
        "metric=sklearn.decomposition.PCA(3)"
    )
    _uses_pairs = True
    _needs_side_information = True

    _schema = PrototypeClusterer._schema.extended(
        {
            "constrained_rows_": _archive.Array(
                "i", (None,), at_least=0, below="n_samples"
            )
        }
    )

    # The published one; with another, masses would not be solutions of quadratic
    # programs.
    beta = 2.0

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        focal_sets: str | FocalSets = "auto",
        metric: str | Transformer = "euclidean",
        alpha: float = 1.0,
        delta: float | str = "auto",
        empty_set: str = "auto",
        outlier_rate: float = 0.01,
        constraint_weight: float = 0.5,
        penalty: str = "symmetric",
        init: str | ArrayLike = "k-means",
        n_init: int | str = "auto",
        max_iter: int = 500,
        tol: float = 1e-6,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.focal_sets = focal_sets
        self.metric = metric
        self.alpha = alpha
        self.delta = delta
        self.empty_set = empty_set
        self.outlier_rate = outlier_rate
        self.constraint_weight = constraint_weight
        self.penalty = penalty
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

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

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : ignored
            Present for compatibility with pipelines and searches.
        partial_labels : array-like of int, shape (n_samples,), default=None
            Known clusters, -1 for unknown, for a transformer as `metric` that learns
            from them; refused if there is none.
        must_link, cannot_link : array-like of int, shape (n_pairs, 2), default=None
            Row numbers of objects known to be in the same cluster, and in different
            ones; also for a transformer that learns from them.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: a row of weight 2 counts as two equal rows, one
            of weight 0 is not used and only gets masses. None: all count once. Pairs
            are between rows, and count once whatever the weights, which must not be 0.

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
        check_exponent("alpha", self.alpha, self.n_clusters)
        check_choice("penalty", self.penalty, PENALTIES)
        weight = check_number("constraint_weight", self.constraint_weight, at_least=0)
        if weight >= 1:
            raise ValueError(
                f"constraint_weight must be below 1, got {self.constraint_weight!r}"
            )

    def _model(
        self, focal_sets: FocalSets, beta: float, delta: float
    ) -> PrototypeModel:
        return ecm_model(focal_sets, self.alpha, beta, delta)

    def _mass_update(
        self, problem: PrototypeProblem, model: PrototypeModel
    ) -> MassUpdate:
        information = problem.information
        objects = constrained_objects(information)
        is_free = np.ones(len(problem.X), dtype=bool)
        is_free[objects.rows] = False
        free, bound = problem.X[is_free], problem.X[objects.rows]
        weights = problem.weights
        if weights is None:
            n_samples, of_free, of_bound = len(problem.X), None, None
        else:
            n_samples = weights.sum()
            of_free, of_bound = weights[is_free], weights[objects.rows]
        scale = (1 - self.constraint_weight) / (n_samples * len(model.focal_sets))
        cost = penalty(
            self.penalty,
            model.focal_sets,
            self.constraint_weight,
            len(information.must_link),
            len(information.cannot_link),
        )

        def update(
            sets: SetPrototypes, kept: Array | None
        ) -> tuple[PrototypeMoments, Array]:
            unconstrained = prototype_costs(bound, sets, model)
            if kept is None:
                kept = masses_from_costs(unconstrained, 2.0).T
            quadratic = scale * unconstrained.T
            if of_bound is not None:
                quadratic *= of_bound[:, None]

            def improve(masses: Array) -> tuple[Array, float]:
                masses = objects.improved(masses, quadratic, cost)
                value = np.vdot(masses**2, quadratic) + objects.value(masses, cost)
                return masses, float(value)

            masses = iterate(
                improve, kept, tol=_SWEEP_TOLERANCE, max_iter=_MAX_SWEEPS
            ).state
            sums = prototype_moments(free, sets, model, object_weights=of_free)
            sums += prototype_moments(bound, sets, model, masses, of_bound)
            loss = scale * sums.loss + objects.value(masses, cost)
            return replace(sums, loss=loss), masses

        return update

    def _solution(
        self,
        problem: PrototypeProblem,
        model: PrototypeModel,
        trace: Trace[PrototypeStep],
    ) -> Solution:
        solution = super()._solution(problem, model, trace)
        rows = constrained_objects(problem.information).rows
        solution.masses[rows] = trace.state.kept_masses
        solution.row_numbers["constrained_rows_"] = rows
        return solution

    def _fitted_masses(self, X: Array, solution: Solution) -> Array:
        masses = self._predict_masses(X)
        rows = self.constrained_rows_
        masses[rows] = solution.masses[rows]
        return masses


def constrained_objects(information: SideInformation) -> ConstrainedObjects:
    """The objects that pairs are about."""
    return ConstrainedObjects.of(information.must_link, information.cannot_link)
