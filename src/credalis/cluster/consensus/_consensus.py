"""Consensus: a committee of clusterings whose agreement is the evidence."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from credalis import _archive
from credalis._checks import (
    check_choice,
    check_factor,
    check_flag,
    check_integer,
    check_number,
    shown,
)
from credalis._novelty import METRIC
from credalis._progress import Report
from credalis.belief import FocalSets
from credalis.checkpoints import Checkpoint
from credalis.cluster._framework._estimator import BaseCredalClusterer
from credalis.cluster._framework._fit import MAX_WHOLE, Outcome, fit
from credalis.cluster._framework._schema import (
    InputsRule,
    TransformerRule,
    WeightsRule,
    check_inputs_are_features,
)
from credalis.cluster._framework._solution import Solution
from credalis.cluster._inputs._geometry import Metric
from credalis.cluster._inputs._side_information import Transformer, placed
from credalis.cluster.consensus._committee import P_VALUE
from credalis.cluster.consensus._members import check_members
from credalis.cluster.consensus._relation import NO_MIXTURES
from credalis.cluster.consensus._start import (
    CHECKPOINT,
    ConsensusProblem,
    StudentSolution,
    embedded,
    prepare,
    solve_start,
    start_blocks,
    stray_text,
    train_blocks,
    warn_of_session,
)
from credalis.cluster.consensus._structure import LEVEL, finding
from credalis.cluster.consensus._student import Student
from credalis.dissimilarity import Gower
from credalis.metric_learning import DissimilarityPCA
from credalis.network import Standardization
from credalis.sources import Source


def _check_inputs(
    owner: str, parameters: _archive.Entries, fitted: _archive.Entries
) -> None:
    """Refuse a network whose inputs are not what becomes of the features."""
    embedding, references = fitted.get("embedding_"), fitted.get("references_")
    if embedding is None and fitted.get("transformer_") is None:
        check_inputs_are_features(owner, parameters, fitted)
    if embedding is None:
        return
    if references is None or embedding.n_features_in_ != len(references):
        raise ValueError(
            f"{owner}.embedding_ must be about as many objects as there are references_"
        )
    if len(fitted["standardization_"].mean) != embedding.n_components_:
        raise ValueError(
            f"{owner}.standardization_ must be about the {embedding.n_components_} "
            "components of embedding_"
        )


class Consensus(BaseCredalClusterer):
    """Evidence from a committee of different clusterings, learned by a network.

    Several clusterings of at most 2000 rows vote. A member that agrees with the others
    (a_b, its mean adjusted Rand index with them) is reliable, r_b = 0.8 a_b
    (a_b / a_max)²; its memberships q_b, smoothed over 15 neighbours and aligned to
    those of the member with the largest a_b, are discounted by r_b and combined by
    Dempster's rule:

        m({k}) ∝ Π_b (r_b q_bk + 1 - r_b) - Π_b (1 - r_b),   m(Ω) ∝ Π_b (1 - r_b)

    Where a Gaussian mixture predicts unseen rows better than every richer and every
    simpler rival, or a kernel density better than all of them (on rows without a copy:
    a coarse grid has few), that model, or spectral clustering, may outvote the others
    by a weight g from 0 to 1 (``gate_``): a_b becomes (1 - g) a_b + g max(ARI(b,
    trusted), 0), and the masses are (1 - g) those of the votes plus g the posterior
    probabilities of the mixture. A rival of as many components that finds nearly the
    same clusters need not be beaten, as long as it is not clearly better. A perceptron
    then learns the masses t from the attributes,

        L = (1 - ν) H + ν P_labels + ξ P_pairs + (λ/2) P_weights

    with the cross-entropy H = mean -Σ_A t_i(A) log m_i(A) and the penalties of
    `NNEVCLUS`, so that new rows are clustered by a forward pass.

    With another metric than the Euclidean one, the members are methods that need
    nothing but dissimilarities, and there is no gate, because mixtures and densities
    need attributes.

    Parameters
    ----------
    n_clusters : int or "auto", default=2
        Number of clusters c. With one cluster, which is warned about, objects are told
        from outliers and nothing else. "auto" tries 2 to 10, on to 40 while the largest
        is the best, and takes the lowest BIC among those on which members agree nearly
        as well as on the best, or 1, with a warning, if there seems to be nothing to
        find; see the notes.
    focal_sets : {"auto", "singletons", "pairs", "full", "two-step"} or FocalSets, \
default="auto"
        Which sets of clusters may carry mass. "auto" takes singletons; with pairs,
        mass on Ω moves to the two clusters in question. "two-step" fits with singletons
        first and then adds the pairs of neighbouring clusters. ∅ and Ω are included.
    metric : str, callable, Gower or transformer, default="euclidean"
        Dissimilarity of two rows of X: a metric of scikit-learn's
        ``pairwise_distances``, "gower" for the mean difference as a share of the range
        of each column, where X may be a data frame with categories, dates and gaps, the
        ``metric_`` of a `credalis.tabular.TablePreparation` for the matrix it makes of
        one, "precomputed" if X is a square matrix of dissimilarities, or a transformer
        in whose space Euclidean distances are taken.
        A transformer is cloned and fitted with the side information it can use.
    symmetrize : bool, default=False
        Replace an asymmetric matrix by the mean of it and its transpose instead of
        refusing it.
    members : "auto" or list, default="auto"
        Who votes: names or clusterers. "auto" takes all names: "full" and "tied"
        (Gaussian mixtures), "t" (a mixture of t distributions with ν = 5), "ward",
        "spectral" (on 10 nearest neighbours) and "bpec". With another metric these are
        "spectral", "kernel" (spectral clustering with exp(-(2 d / median d)²)),
        "average" (linkage), "ward" (of Gower's dissimilarities the roots), "medoids"
        and "evclus"; a clusterer with ``metric="precomputed"`` is then given
        dissimilarities, others see the rows. A clusterer has ``fit`` and
        then ``predict_proba``, ``labels_`` or ``predict``; it is cloned, gets the
        number of clusters as ``n_clusters``, else as ``n_components``, if it has one of
        these, and sees the rows as they are given. The others see them in one common
        unit: scale the columns if their units differ.
    adequacy_gate : bool, default=True
        Whether a model that predicts unseen rows best may outvote the others.
    committee_size : int, default=2000
        Largest number of rows that the members cluster, drawn at random.
    hidden_layer_sizes : "auto" or tuple of int, default="auto"
        Units of each hidden layer; "auto" is one layer of 64.
    weight_decay : float, default=0.2
        λ.
    label_weight : float, default=0.5
        ν, in [0, 1].
    constraint_weight : float, default=0.5
        ξ.
    empty_set : {"novelty", "nothing"}, default="novelty"
        What the reported mass on ∅ stands for. "novelty": being unlike all training
        objects, by the distances to the nearest of them. "nothing": hardly any mass is
        there, as the members have no word for it.
    outlier_rate : float, default=0.01
        Share of ordinary objects that may be called outliers, with
        ``empty_set="novelty"``; see `outlier_p_values`.
    n_init : int or "auto", default="auto"
        Number of starts of the network, of which the best is kept; "auto" is 1.
    max_iter : int or "auto", default="auto"
        Largest number of iterations of the network; passes over the objects if there
        are more than 4000. "auto" is 150, which keeps it from learning single objects.
    tol : float, default=1e-5
        Relative decrease of L below which a start ends.
    n_jobs : int, default=None
        Number of starts run at the same time, as in joblib. It does not change the
        result.
    random_state : int, RandomState instance or None, default=None
        Seed of the members and of the network.
    verbose : int, default=0
        1 shows a progress bar on standard error.

    Attributes
    ----------
    partition_ : CredalPartition
        The mass functions of the objects, as the network gives them.
    labels_ : array of shape (n_samples,)
        Cluster of maximal plausibility.
    n_clusters_ : int
        Number of clusters c.
    metric_ : str, callable or Gower
        How rows were compared, in the space of the transformer if there is one.
    transformer_ : object
        The fitted transformer, or None.
    embedding_ : DissimilarityPCA
        With ``metric="precomputed"``, from dissimilarities to the inputs of the
        network.
    references_ : array of int
        With ``metric="precomputed"``, row numbers of the training objects, at most
        `committee_size`, that new ones are compared with.
    selection_ : dict
        With ``n_clusters="auto"``: ``"table"`` with ``"n_clusters"``, ``"agreement"``
        and ``"bic"`` of all numbers that were tried, ``"p_value"`` of the hypothesis
        that there is nothing to find, and the ``"reason"`` of the choice. Else empty.
    structure_p_value_ : float or None
        p-value of the hypothesis that the rows have no groups with gaps between them,
        or an upper bound of it; above 0.02 it is warned about. None where it was not
        tested: with labels or pairs, another metric than the Euclidean one, one
        cluster, or less than 32 rows for each cluster.
    n_stray_ : int
        Number of rows, of those that were looked at, that are farther from their fifth
        neighbour than ordinary rows are from each other, as one with a wrong decimal
        point. Members and network do not see them, unless something is known about
        them; ``partition_`` calls them outliers.
    members_ : list of dict
        For each member its ``"name"``, ``"weight"`` a_b and ``"reliability"`` r_b. A
        mixture that the gate has let in is called "adequate" and its family.
    failed_members_ : dict of str
        Members that could not cluster the rows, and why.
    agreement_ : float
        Mean adjusted Rand index of two members.
    gate_ : dict
        ``"trusted"``: the family of the mixture that may outvote the others,
        "neighborhoods" if spectral clustering may, or None; ``"weight"``: g;
        ``"rival"``: the model that it was hardest to tell from; ``"z"``: by how many
        standard errors it predicts unseen rows better than this one.
    weights_ : list of arrays of shape (n_out, n_in + 1)
        Weights of each layer of the network, biases first.
    focal_sets_ : FocalSets
        Focal sets that were used.
    loss_ : float
        L of the network that was kept.
    history_ : array of shape (n_iter_,)
        L after each iteration or pass.
    n_iter_ : int
        Number of iterations or passes of the best start.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, if X had any.

    Notes
    -----
    Agreement is evidence, not truth. An error that all members share is invisible to
    it: of handwritten digits that all members cluster alike and wrongly, the masses
    are as sure as of others. Known to go wrong: noise all over the place, a fifth of
    the rows, can mislead members and gate alike; a ring around a wide blob is found by
    no member; of two thin clusters side by side the members that see them may be
    outvoted. The members are told how many clusters there are and find as many, also
    where there is none; low agreement is a sign of it in many dimensions, but not in
    two.

    Every fit without labels and pairs therefore tests at 2 % whether there are
    clusters: of data without any at most two in a hundred are said to have some.
    Without any means that the density is log-concave (Gaussian, uniform in a convex
    region, exponential …) or one with heavier tails such as the multivariate t; then
    it has no two modes along any line through any convex region, which is what the
    test looks for in one half of the rows and confirms in the other. With
    ``n_clusters="auto"`` all objects are then in one cluster. With a number it is done,
    and `credalis.exceptions.NoClustersWarning` says that there may be nothing to
    divide; it is not proved, because clusters without a gap between them look the same,
    for instance two of different spread around the same centre. The test looks at 1200
    rows at most (at 100 principal components, if the number is given and there are
    more columns), the choice of a number at 1000.

    Labels fix the numbers of the clusters and count as certain; labels and pairs do
    not change what the members find, but what the network learns. Arrays of more than
    200 000 rows, files and Dask collections are read in blocks: members cluster a
    sample, and the network learns what they say about every row.

    Examples
    --------
    >>> from credalis import Consensus
    >>> from credalis.datasets import make_four_class
    >>> X, _ = make_four_class(random_state=0)
    >>> model = Consensus(n_clusters=4, random_state=0).fit(X)
    >>> [member["name"] for member in model.members_][:3]
    ['full', 'tied', 't']
    >>> model.predict([[0, 0], [4, 4]]).shape
    (2,)
    """

    _schema = BaseCredalClusterer._schema.extended(
        {
            "standardization_": InputsRule(),
            "weights_": WeightsRule(),
            "n_clusters_": _archive.Integer(size="n_clusters"),
            "selection_": _archive.Named(_archive.Plain()),
            "members_": _archive.Each(_archive.Named(_archive.Plain())),
            "failed_members_": _archive.Named(_archive.Text()),
            "agreement_": _archive.Number(),
            "gate_": _archive.Named(_archive.Plain()),
        },
        {
            # Files of earlier versions do not know whether there are groups.
            "structure_p_value_": P_VALUE,
            "n_stray_": _archive.Integer(at_least=0),
            # They are about Euclidean distances.
            "metric_": METRIC,
            "transformer_": TransformerRule(),
            "embedding_": _archive.Instance(DissimilarityPCA),
            "references_": _archive.Array(
                "i", (None,), at_least=0, below="n_features", is_ascending=True
            ),
        },
        _check_inputs,
    )
    _checkpoint_schema = CHECKPOINT

    _words = "several methods voted, and a network learned where they agree"
    _uses_labels = True
    _uses_pairs = True
    _reads_dissimilarities = True
    _is_for_many_rows = True
    _reads_blocks = True
    _reads_partitions = True
    _chooses_max_iter = True
    _empty_sets = ("novelty", "nothing")
    _outlier_advice = "lower outlier_rate"

    weights_: list[NDArray[np.float64]]
    standardization_: Standardization
    n_clusters_: int
    selection_: dict[str, Any]
    members_: list[dict[str, Any]]
    failed_members_: dict[str, str]
    agreement_: float
    gate_: dict[str, Any]
    structure_p_value_: float | None
    n_stray_: int
    metric_: Metric
    transformer_: Transformer | None
    embedding_: DissimilarityPCA
    references_: NDArray[np.intp]

    def __init__(
        self,
        n_clusters: int | str = 2,
        *,
        focal_sets: str | FocalSets = "auto",
        metric: Metric = "euclidean",
        symmetrize: bool = False,
        members: str | Sequence[Any] = "auto",
        adequacy_gate: bool = True,
        committee_size: int = 2000,
        hidden_layer_sizes: str | int | Sequence[int] = "auto",
        weight_decay: float = 0.2,
        label_weight: float = 0.5,
        constraint_weight: float = 0.5,
        empty_set: str = "novelty",
        outlier_rate: float = 0.01,
        n_init: int | str = "auto",
        max_iter: int | str = "auto",
        tol: float = 1e-5,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.focal_sets = focal_sets
        self.metric = metric
        self.symmetrize = symmetrize
        self.members = members
        self.adequacy_gate = adequacy_gate
        self.committee_size = committee_size
        self.hidden_layer_sizes = hidden_layer_sizes
        self.weight_decay = weight_decay
        self.label_weight = label_weight
        self.constraint_weight = constraint_weight
        self.empty_set = empty_set
        self.outlier_rate = outlier_rate
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        partial_labels: ArrayLike | None = None,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
        checkpoint: str | PathLike[str] | Checkpoint | None = None,
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), source or Dask collection
            Data, or with ``metric="precomputed"`` a square matrix of dissimilarities.
        y : ignored
            Present for compatibility with pipelines and searches.
        partial_labels : array-like of int, shape (n_samples,), default=None
            Known clusters, -1 for unknown. They fix the numbers of the clusters.
        must_link, cannot_link : array-like of int, shape (n_pairs, 2), default=None
            Row numbers of objects known to be in the same cluster, and in different
            ones.
        checkpoint : str, path-like or `credalis.checkpoints.Checkpoint`, default=None
            File to continue from; X is read in blocks, as beyond 200 000 objects.

        Returns
        -------
        self
        """
        fit(
            self,
            X,
            checkpoint,
            partial_labels=partial_labels,
            must_link=must_link,
            cannot_link=cannot_link,
        )
        return self

    def describe(self) -> str:
        """The committee in words: who was believed, who was trusted, who failed.

        Returns
        -------
        str
        """
        check_is_fitted(self)
        lines = [self.selection_["reason"]] if self.selection_ else []
        lines += [caveat for caveat in self._caveats() if caveat not in lines]
        lines += [
            f"{len(self.members_)} members, mean agreement {self.agreement_:.2f} "
            "(1: the same clusters; agreement is no proof)"
        ]
        lines += [
            f"  {each['name']}: weight {each['weight']:.2f}, "
            f"reliability {each['reliability']:.2f}"
            for each in self.members_
        ]
        gate = self.gate_
        if not _is_euclidean(getattr(self, "metric_", "euclidean")):
            lines.append(f"trusted: no model, {NO_MIXTURES}")
        elif gate["trusted"] is not None:
            lines.append(
                f"trusted: {gate['trusted']} by {gate['weight']:.2f}, for how it "
                f"predicts unseen rows; next to it {gate['rival']} "
                f"(z = {gate['z']:.1f})"
            )
        else:
            lines.append("trusted: no model describes the data better than its rivals")
        lines += [
            f"left out: {name} ({reason})"
            for name, reason in self.failed_members_.items()
        ]
        return "\n".join(lines)

    def _start_advice(self, is_informed: bool) -> str:
        return (
            "its members do not agree on them, see describe(); ask for fewer clusters"
        )

    def _caveats(self) -> list[str]:
        caveats = []
        n_stray = getattr(self, "n_stray_", 0)
        if n_stray:
            found = stray_text(n_stray)
            caveats.append(f"The data hold {found}: are all cells right?")
        if self.selection_:
            if self.n_clusters_ == 1:
                caveats.append(self.selection_["reason"])
            return caveats
        p_value = getattr(self, "structure_p_value_", None)
        if p_value is not None and p_value > LEVEL:
            found = finding(p_value)
            caveats.append(
                f"{found[0].upper()}{found[1:]}: the {self.n_clusters_} clusters may "
                "only divide one group."
            )
        return caveats

    @property
    def _detects_novelties(self) -> bool:
        return self.empty_set == "novelty"

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._finds_n_clusters and not self._has_columns:
            raise ValueError(
                "n_clusters must be a number unless metric is 'euclidean' or Gower's, "
                f"got 'auto' with metric={shown(self.metric)}: BIC and the test for "
                "clusters need attributes; credalis.model_selection.select_n_clusters "
                "tries several numbers"
            )
        check_members(self.members, by_dissimilarities=self._compares)
        check_flag("adequacy_gate", self.adequacy_gate)
        check_integer("committee_size", self.committee_size, at_least=2)
        sizes = self.hidden_layer_sizes
        if isinstance(sizes, str):
            check_choice("hidden_layer_sizes", sizes, ("auto",))
        else:
            for size in np.atleast_1d(np.asarray(sizes, dtype=object)):
                check_integer("hidden_layer_sizes", size, at_least=1)
        if isinstance(self.max_iter, str):
            check_choice("max_iter", self.max_iter, ("auto",))
        check_factor("weight_decay", self.weight_decay, at_least=0)
        check_number("label_weight", self.label_weight, at_least=0, at_most=1)
        check_number("constraint_weight", self.constraint_weight, at_least=0)

    @property
    def _compares(self) -> bool:
        """Whether members see dissimilarities, not coordinates."""
        return not (_is_euclidean(self.metric) or self._has_transformer)

    @property
    def _has_transformer(self) -> bool:
        return hasattr(self.metric, "transform")

    @property
    def _has_columns(self) -> bool:
        """Whether rows are compared column by column."""
        is_gower = isinstance(self.metric, Gower) or (
            isinstance(self.metric, str) and self.metric == "gower"
        )
        return is_gower or not self._compares

    @property
    def _finds_n_clusters(self) -> bool:
        return isinstance(self.n_clusters, str) and self.n_clusters == "auto"

    def _check_n_clusters(self) -> None:
        if not self._finds_n_clusters:
            super()._check_n_clusters()
        elif isinstance(self.focal_sets, FocalSets):
            raise ValueError(
                "focal_sets must be a name if n_clusters is 'auto', got sets of "
                f"{self.focal_sets.n_clusters} clusters"
            )

    def _check_enough_objects(self, X: NDArray[np.float64]) -> None:
        if not self._finds_n_clusters:
            super()._check_enough_objects(X)

    def _first_focal_sets(self) -> FocalSets | None:
        # A number that is left open is known once the members have been asked.
        return None if self._finds_n_clusters else super()._first_focal_sets()

    def _focal_sets_of(self, n_clusters: int) -> FocalSets:
        if isinstance(self.focal_sets, str) and self.focal_sets == "auto":
            return FocalSets.singletons(n_clusters)
        return super()._focal_sets_of(n_clusters)

    def _prepare(
        self, X: NDArray[np.float64], rng: np.random.RandomState, **given: Any
    ) -> ConsensusProblem:
        return prepare(self, X, rng, **given)

    def _has_fixed_order(self, problem: ConsensusProblem) -> bool:
        return problem.information.has_labels

    def _n_starts(self, problem: ConsensusProblem) -> int:
        return 1 if isinstance(self.n_init, str) else self.n_init

    def _max_iterations(self, problem: ConsensusProblem) -> int:
        return problem.settings.max_iter

    def _solve(
        self,
        problem: ConsensusProblem,
        focal_sets: FocalSets | None,
        rng: np.random.RandomState,
        *,
        previous: Solution | None,
        report: Report,
    ) -> StudentSolution:
        if focal_sets is None:
            focal_sets = self._focal_sets_of(problem.session.committee.n_clusters)
        return solve_start(problem, focal_sets, rng, report)

    def _check_solution(
        self, problem: ConsensusProblem, solution: StudentSolution
    ) -> None:
        warn_of_session(solution.session)

    def _predict_masses(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        if hasattr(self, "embedding_"):
            X = embedded(self.embedding_, X[:, self.references_])
        return Student.of(self).masses(placed(getattr(self, "transformer_", None), X))

    def _is_for_blocks(self, X: NDArray[np.float64], is_informed: bool) -> bool:
        needs_all = is_informed or self._is_precomputed or self._has_transformer
        return len(X) > MAX_WHOLE and not needs_all

    def _check_blocks(self, *, are_partitions: bool = False) -> None:
        if self._is_precomputed:
            raise ValueError(
                "metric must not be 'precomputed' for data that are read in blocks: "
                "their rows have no common dissimilarity matrix"
            )
        if self._has_transformer:
            raise ValueError(
                "metric must be no transformer for data that are read in blocks, got "
                f"{shown(self.metric)}"
            )

    def _start_blocks(
        self, sample: NDArray[np.float64], seeds: NDArray[np.integer]
    ) -> dict[str, Any]:
        return start_blocks(self, sample, seeds)

    def _train_blocks(
        self, source: Source, state: dict[str, Any], checkpoint: Checkpoint | None
    ) -> Outcome:
        return train_blocks(self, source, state, checkpoint)


def _is_euclidean(metric: Metric) -> bool:
    return isinstance(metric, str) and metric == "euclidean"
