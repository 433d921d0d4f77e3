"""NN-EVCLUS: a neural network that maps attributes to mass functions."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from os import PathLike
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.svm import OneClassSVM
from sklearn.utils.validation import check_array, check_is_fitted

from credalis import _archive
from credalis._checks import check_choice, naming
from credalis._novelty import Calibration, NeighborNovelty
from credalis._threads import one_thread
from credalis._weights import MAX_COPIES, copies
from credalis.belief import FocalSets
from credalis.checkpoints import Checkpoint
from credalis.cluster._framework._estimator import BaseCredalClusterer
from credalis.cluster._framework._fit import MAX_WHOLE, Outcome, fit
from credalis.cluster._framework._solution import Solution, to_nobody
from credalis.cluster._inputs._geometry import EARLIER_DEFAULTS
from credalis.cluster._inputs._side_information import copied_information
from credalis.cluster._inputs._views import Views, are_tables, joined, view_columns
from credalis.cluster.nnevclus._blocks import start_blocks, train_blocks
from credalis.cluster.nnevclus._fewer import N_INIT_AFTER_FEWER, after_fewer
from credalis.cluster.nnevclus._network import FittedNetwork
from credalis.cluster.nnevclus._rounds import solve_views
from credalis.cluster.nnevclus._schema import (
    NETWORK,
    VIEWS,
    check_inputs,
    training_schema,
)
from credalis.cluster.nnevclus._settings import (
    ENGINES,
    Settings,
    check_can_have_views,
    check_mode,
    check_parameters,
    is_of_rows,
)
from credalis.cluster.nnevclus._start import (
    NetworkProblem,
    NetworkSolution,
    prepare,
    solve,
)
from credalis.cluster.nnevclus._stream import train_on_stream
from credalis.cluster.nnevclus._training import TrainingState
from credalis.cluster.nnevclus._views import (
    among_used,
    blending_shares,
    column_parts,
    column_weights,
    mean_matrix,
    rows_of_views,
    used_columns,
)
from credalis.metric_learning import DissimilarityPCA
from credalis.network import NoveltyScorer, Projection, Standardization, mean_stress
from credalis.objectives import cross_stress
from credalis.sources import Source

# Copies of a row, on average, that take no longer than weights, and rows with weights
# of which all pairs are held in memory.
_MOST_COPIES = 4
_MOST_WEIGHTED = 4000


class NNEVCLUS(BaseCredalClusterer):
    """Neural network-based evidential clustering.

    A multilayer perceptron maps the attributes of an object to its masses. It is
    trained so that the degree of conflict κ_ij of two objects matches their transformed
    dissimilarity δ*_ij = 1 - exp(-γ d_ij²), where γ is such that δ* = 0.95 at d = δ0:

        L = (1 - ν) mean (κ_ij - δ*_ij)² + ν P_labels + ξ P_pairs + (λ/2) P_weights

    P_labels is the mean squared difference between plausibilities and known labels,
    P_pairs half the mean of Pl(different) + 1 - Pl(same) over must-links and of
    Pl(same) + 1 - Pl(different) over cannot-links, and P_weights the sum over the
    layers of the mean squared weight. New objects are clustered by a forward pass.

    With several views of the objects, groups of columns or dissimilarities of several
    kinds, one network learns from all, and how much each counts is learned, too:

        J = Σ_v r_v f_v L_v + λ Σ_v r_v ln(V r_v)

    where L_v is L with the dissimilarities of view v, and f_v is in proportion to 1
    divided by the stress that the network has for uniform noise with the axes of the
    view, so that neither units nor the number of columns decide how much a view counts.
    For given weights r_v the network is that of the blended targets Σ_v q_v δ*_v with
    q_v ∝ r_v f_v, for a given network r_v ∝ exp(-f_v L_v / λ); both are found in turn.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters c. With one cluster, which is warned about, objects are told
        from outliers and nothing else.
    views : mapping from names to columns, list of lists of columns or None, \
default=None
        The columns of each view, by numbers or names. Columns that are in none are not
        used. None: one view of all columns, or the tables that X holds. Distances in a
        view are Euclidean; other dissimilarities of several views are given to `fit`.
    view_entropy : float, default=0.3
        λ: the larger it is, the more equal are the weights of the views. It is in units
        of the mean of what the costs of views are divided by.
    focal_sets : {"auto", "singletons", "pairs", "full", "two-step"} or FocalSets, \
default="auto"
        Which sets of clusters may carry mass. "auto" takes all pairs up to four
        clusters and singletons above; "two-step" fits with singletons first and then
        adds the pairs of neighbouring clusters. ∅ and Ω are included.
    hidden_layer_sizes : "auto" or tuple of int, default="auto"
        Units of each hidden layer; "auto" is one layer of 1.5 times the number of focal
        sets, from 33 clusters on of at most 150 units. Beyond 64 sets, those of three
        and more clusters do not count.
    metric : str, callable, Gower or transformer, default="euclidean"
        Dissimilarity of two rows of X: a metric of scikit-learn's
        ``pairwise_distances``, "gower" for the mean difference as a share of the range
        of each column, where X may be a data frame with categories, dates and gaps, the
        ``metric_`` of a `credalis.tabular.TablePreparation` for the matrix it makes of
        one, "precomputed" if X is a square matrix of dissimilarities, or a transformer
        in whose space Euclidean distances are taken.
        A transformer is cloned and fitted with the side information it can use. With
        "cosine", rows are brought to length 1 first, also for the network; a row of
        zeros is half as far from all others as one at a right angle to them.
    symmetrize : bool, default=False
        Replace an asymmetric matrix by the mean of it and its transpose instead of
        refusing it.
    n_components : int, "auto" or None, default="auto"
        Principal components of the rows from which distances and inputs of the network
        are taken, with the metrics "euclidean" and "cosine". "auto" takes rows of up to
        100 columns as they are. Of more columns it takes the components that vary more
        than noise could, at least 10 and at most 50, or as many as there are clusters
        but no more than 100; they are found in at most 10 000 rows. None takes all
        columns. Of a precomputed matrix, so many components of its rows are the inputs;
        see `DissimilarityPCA`. Of several matrices "auto" takes as many as each would
        have alone, together.
    dissimilarity_quantile : float, "auto" or "paper", default="auto"
        δ0 as a quantile of the dissimilarities. "auto" takes the δ0 with which the mean
        of δ* over the pairs is the share of pairs in different ones of hard clusters,
        found by k-means or around medoids; it knows the sizes of the clusters. "paper"
        is the quantile of the articles, 0.9 up to four clusters, then 2 / n_clusters
        but at least 0.1.
    dissimilarity_scale : float, default=None
        δ0 as an absolute value; it takes the place of the quantile.
    novelty_detector : None, "ocsvm", array-like of shape (n_samples,) or object with \
``decision_function``, default=None
        Moves mass to ∅ where an object is unlike all training objects. "ocsvm" is a
        Gaussian one-class SVM. Detectors see standardised inputs. An array holds scores
        of the training objects, larger for ordinary ones; a new object has that of the
        nearest of them.
    novelty_link : {"reference", "paper"}, default="reference"
        How the score f of the detector becomes the weight of the network's masses,
        with η = log(1 + exp(β0 + β1 f)) and trainable β: "reference" is 1 / (1 + η) as
        in the published program, "paper" is η / (1 + η) as in the text of the paper.
        The scores of a Gaussian SVM are bounded, so that far from all data the mass on
        ∅ tends to a limit below 1 with "reference" (0.9 or more on four overlapping
        clusters of 100 objects), and to 1 with "paper" only for unbounded detectors.
    weight_decay : float or "auto", default="auto"
        λ. "auto" is 0.01, with which doubt tells wrong labels from right ones better
        than with the 0 of most of the article, and 0 for a module, which has means of
        its own against overfitting.
    init : {"auto", "random", "peaks", "evclus", "k-means++"} or array-like, \
default="auto"
        Starting point. "auto" finds hard clusters by k-means (around medoids for
        dissimilarities) and fits the network to the inner objects of each of them,
        which then count as labels of weight ν = 0.1, also in ``loss_``. From 33
        clusters on it begins with a network that tells the nearest of their centres,
        and ν is 0.5: dissimilarities of so many clusters have little contrast. With
        labels or pairs given it is "random", the random weights of the paper. "peaks"
        takes belief peaks, "evclus" the objects of maximal plausibility in a partition
        found by `EVCLUS`, and "k-means++" random distant objects, as labelled seeds,
        one for each cluster. An array of shape (n_clusters, n_features) holds centres,
        whose nearest objects become the seeds; a vector of n_clusters integers holds
        the row numbers of the seeds. Seeds count as labels at the beginning of the
        training only. Given ones fix the numbers of the clusters.
    empty_set : {"novelty", "stress"}, default="novelty"
        What the reported mass on ∅ stands for. "novelty": being unlike all training
        objects, by the distances to the nearest of them, for which the model keeps at
        most 2000 of them; the other masses are normalised and share the rest. "stress":
        what the minimisation has left there, as in the articles. `loss_` and `stress_`
        always belong to the masses of the minimisation. So does `score`. A novelty
        detector, if there is one, gives the score of an object in place of distances.
    outlier_rate : float, default=0.01
        Share of ordinary objects that may be called outliers, with
        ``empty_set="novelty"``; see `outlier_p_values`.
    solver : {"auto", "lbfgs", "adaptive", "adam", "rmsprop"}, default="auto"
        "lbfgs" and "adaptive" (the adaptive-step method of the paper) look at all pairs
        at once; "adam" and "rmsprop" at random blocks of objects, with all pairs inside
        a block. "auto" is "lbfgs" up to 1000 objects, and "adam" above. But if the
        training starts from hard clusters, at most 32, and nothing else is said about
        it (``solver``, ``batch_size``, ``learning_rate_init``, ``dtype``, ``max_iter``,
        ``engine``, ``early_stopping``), more than 500 objects, however many, are
        trained on by "lbfgs" with some that stand for all: 2000, or all that have a
        hard cluster, in parts of 250 whose pairs count. Most iterations see 500.
    learning_rate_init : float or "auto", default="auto"
        First learning rate of "adam" (0.01, or 0.003 where a training begins with its
        clusters, 33 or more; falling to 0 along a cosine) or "rmsprop" (0.001,
        constant).
    batch_size : int or "auto", default="auto"
        Objects in a block.
    pairs_per_sample : int, default=None
        With a full-batch solver: number of random partners of each object that count;
        None stands for all.
    early_stopping : bool, default=False
        Hold out some objects and keep the network with the lowest stress on them; for
        "adam" and "rmsprop". Of a source or a Dask collection, rows of the sample are
        held out, which the passes leave out; after three passes without a better
        network the fit ends, and ``max_iter`` says how many there may be.
    validation_fraction : float, default=0.1
        Share of the objects to hold out.
    label_weight : float, default=0.5
        ν, in [0, 1].
    constraint_weight : float, default=0.5
        ξ.
    warm_start : bool, default=False
        Start from the network of the previous fit.
    engine : {"numpy", "torch"}, default="numpy"
        What computes cost and gradient. "torch" needs PyTorch and does the same, on any
        device and for any module.
    device : str, default="cpu"
        Where "torch" computes, for example "cuda".
    module : nn.Module, class or function, default=None
        Takes the place of the perceptron, with engine="torch". An instance gives the
        starting weights of every start and is not changed; a class or function makes a
        new module for each start, given the number of focal sets. The module returns
        one value for each focal set, before the softmax. Objects may then be arrays
        of any shape: X has shape (n_samples, ...), distances are those of
        the flattened objects, and all entries are standardised alike.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Numbers used in training; "auto" is float32 for "adam" and "rmsprop" and float64
        otherwise. Prediction is always in float64.
    n_init : int or "auto", default="auto"
        Number of starts, of which the best is kept; "auto" is 1 for full-batch solvers
        that start from hard clusters; with other starts 8 for "lbfgs", of which the
        worse half is dropped after 40 and after 80 iterations, and 5 for "adaptive";
        and 1 for "adam" and "rmsprop", with ``init="auto"`` the best of three short
        ones.
    max_iter : int or "auto", default="auto"
        Largest number of iterations of a start, epochs for "adam" and "rmsprop".
    tol : float, default=1e-4
        Relative decrease of L below which a start ends. It is twice as much where some
        of the objects stand for all.
    n_jobs : int, default=None
        Number of starts run at the same time, as in joblib. It does not change the
        result. Those of "lbfgs" share every evaluation and run in one thread anyway.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts. Pairs and blocks of objects that are drawn depend on it,
        too.
    verbose : int, default=0
        1 shows a progress bar on standard error.

    Attributes
    ----------
    partition_ : CredalPartition
        The mass functions of the objects.
    labels_ : array of shape (n_samples,)
        Cluster of maximal plausibility.
    weights_ : list of arrays of shape (n_out, n_in + 1)
        Weights of each layer, biases first; for a module a dictionary by name.
    input_shape_, output_order_ : tuple of int, array of int
        With a module: the shape of an object that is not a row of a table, and which
        output is which focal set.
    novelty_coefficients_ : array of shape (2,)
        β0 and β1, if there is a novelty detector.
    scale_ : float
        δ0 that was used; of several views, that of the one which counts most.
    views_ : dict from str to array of int
        With views: the columns of each; of given dissimilarities, all columns of X,
        from which the network learns them.
    view_weights_ : array of shape (n_views,)
        Weights r_v, in the order of `views_`.
    view_factors_, view_scales_ : array of shape (n_views,)
        f_v and δ0 of each view.
    view_units_ : array of shape (n_views,)
        Of several precomputed matrices: their means, in units of which they are
        averaged to make the inputs of the network.
    focal_sets_ : FocalSets
        Focal sets that were used.
    loss_ : float
        L of the network that was kept; J with several views.
    stress_ : float
        The stress alone, without penalties; of several views Σ_v q_v times that of
        each.
    history_ : array of shape (n_iter_,)
        L, or J, after each iteration or epoch; the last is that of the network kept.
    n_iter_ : int
        Number of iterations or epochs of the best start.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, if X had any.

    Notes
    -----
    Each view should show all clusters: those that only several views together tell
    apart are found in one table of all columns. Clusters that overlap so much that
    their stress is no less than that of noise can lose against a view of noise. A fit
    with several views takes five to fifteen times as long: networks are also trained on
    noise, and start from the hard clusters of each view and of all together.

    References
    ----------
    T. Denœux (2021), NN-EVCLUS: Neural network-based evidential clustering,
    Information Sciences 572, 297-330.

    Examples
    --------
    >>> from credalis import NNEVCLUS
    >>> from credalis.datasets import make_four_class
    >>> X, _ = make_four_class(200, random_state=0)
    >>> model = NNEVCLUS(n_clusters=4, random_state=0).fit(X)
    >>> model.predict([[0, 0], [4, 4]]).shape
    (2,)
    """

    _schema = BaseCredalClusterer._schema.extended(
        NETWORK.required,
        {**NETWORK.optional, **VIEWS, "stress_": _archive.Number()},
        check_inputs,
    )

    _words = "a neural network learned to give similar objects similar evidence"
    _variants: ClassVar = {"NNEVCLUS": {}, "NNEVCLUS-bp": {"init": "peaks"}}
    _uses_labels = True
    _uses_pairs = True
    _begins_with_fewer = True
    _is_for_many_rows = True
    _reads_dissimilarities = True
    _reads_blocks = True
    _reads_partitions = True
    _informs_blocks = True
    _chooses_max_iter = True
    _outlier_advice = (
        "set empty_set='novelty', with which only objects unlike all others are"
    )
    _earlier_defaults = EARLIER_DEFAULTS

    weights_: Any
    scale_: float
    standardization_: Standardization
    embedding_: DissimilarityPCA | None
    transformer_: Any
    metric_: Any
    has_given_dissimilarities_: bool
    novelty_: NoveltyScorer | None
    novelty_link_: str | None
    novelty_coefficients_: NDArray[np.float64]
    output_order_: NDArray[np.intp]
    views_: Views
    view_weights_: NDArray[np.float64]
    view_factors_: NDArray[np.float64]
    view_scales_: NDArray[np.float64]
    view_units_: NDArray[np.float64]

    # Where the training on a stream is, and what draws its blocks.
    _stream: tuple[TrainingState, np.random.RandomState] | None = None

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        views: Any = None,
        view_entropy: float = 0.3,
        focal_sets: str | FocalSets = "auto",
        hidden_layer_sizes: str | int | Sequence[int] = "auto",
        metric: Any = "euclidean",
        symmetrize: bool = False,
        n_components: int | str | None = "auto",
        dissimilarity_quantile: float | str = "auto",
        dissimilarity_scale: float | None = None,
        novelty_detector: Any = None,
        novelty_link: str = "reference",
        weight_decay: float | str = "auto",
        init: str | ArrayLike = "auto",
        empty_set: str = "novelty",
        outlier_rate: float = 0.01,
        solver: str = "auto",
        learning_rate_init: float | str = "auto",
        batch_size: int | str = "auto",
        pairs_per_sample: int | None = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        label_weight: float = 0.5,
        constraint_weight: float = 0.5,
        warm_start: bool = False,
        engine: str = "numpy",
        device: str = "cpu",
        module: Any = None,
        dtype: str = "auto",
        n_init: int | str = "auto",
        max_iter: int | str = "auto",
        tol: float = 1e-4,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.views = views
        self.view_entropy = view_entropy
        self.focal_sets = focal_sets
        self.hidden_layer_sizes = hidden_layer_sizes
        self.metric = metric
        self.symmetrize = symmetrize
        self.n_components = n_components
        self.dissimilarity_quantile = dissimilarity_quantile
        self.dissimilarity_scale = dissimilarity_scale
        self.novelty_detector = novelty_detector
        self.novelty_link = novelty_link
        self.weight_decay = weight_decay
        self.init = init
        self.empty_set = empty_set
        self.outlier_rate = outlier_rate
        self.solver = solver
        self.learning_rate_init = learning_rate_init
        self.batch_size = batch_size
        self.pairs_per_sample = pairs_per_sample
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.label_weight = label_weight
        self.constraint_weight = constraint_weight
        self.warm_start = warm_start
        self.engine = engine
        self.device = device
        self.module = module
        self.dtype = dtype
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
        dissimilarities: Any = None,
        partial_labels: ArrayLike | Mapping[int, int] | None = None,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        checkpoint: str | PathLike[str] | Checkpoint | None = None,
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), source or Dask collection
            Data, or with ``metric="precomputed"`` a square matrix of dissimilarities.
            With a module objects may have any shape. A mapping of tables with the same
            objects in their rows, or a mapping or list of such matrices, holds several
            views; `predict` and the like then take them in the same form. A list of
            tables is one table in batches.
        y : ignored
            Present for compatibility with pipelines and searches.
        dissimilarities : array-like, default=None
            Dissimilarities of the same objects, as a square matrix or as a condensed
            vector; they take the place of those from ``metric``. A mapping or list of
            matrices holds several views.
        partial_labels : array-like of int, shape (n_samples,), or mapping, default=None
            Known clusters, -1 for unknown, or a mapping from row numbers to clusters.
            They fix the numbers of the clusters.
        must_link, cannot_link : array-like of int, shape (n_pairs, 2), default=None
            Row numbers of objects known to be in the same cluster, and in different
            ones. Rows of a source or a Dask collection are numbered in their order;
            those that labels or pairs are about, at most 200 000, stay in memory.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: a row of weight 2 counts as two equal rows, one
            of weight 0 is not used and only gets masses. Whole weights of at most four
            on average are met by as many copies. Others are factors of the terms of
            pairs where a solver looks at all of them and at most 4000 rows; elsewhere
            the network is trained on as many rows as there are, but at most 20 000,
            drawn by their weights.
            None: all count once; so it must be for data in blocks and for given
            dissimilarities.
        checkpoint : str, path-like or `credalis.checkpoints.Checkpoint`, default=None
            File to continue from; X is read in blocks, as a file is.

        Returns
        -------
        self
        """
        self._stream = None
        X, dissimilarities, about_views = self._viewed(X, dissimilarities)
        fit(
            self,
            X,
            checkpoint,
            sample_weight=sample_weight,
            object_shape=self._object_shape(X),
            dissimilarities=dissimilarities,
            partial_labels=partial_labels,
            must_link=must_link,
            cannot_link=cannot_link,
            **about_views,
        )
        return self

    def _viewed(self, X: Any, dissimilarities: Any) -> tuple[Any, Any, dict[str, Any]]:
        """X as one table, dissimilarities, and what is known about views."""
        # A list of tables is one table in batches, but matrices come in no batches.
        may_be_views = isinstance(X, Mapping) or self._is_precomputed
        if not may_be_views or not are_tables(X):
            if self.views is not None and dissimilarities is not None:
                raise ValueError(
                    "views must be None where dissimilarities are given; several "
                    "matrices of them are the views"
                )
            return X, dissimilarities, {}
        if dissimilarities is not None:
            raise ValueError(
                "dissimilarities must be None where X is several tables, which are "
                "the views"
            )
        table, columns = joined(X, self.views)
        if not self._is_precomputed:
            check_can_have_views(self)
            return table, None, {"view_columns": columns}
        matrix, units = mean_matrix(X)
        return matrix, X, {"view_units": units}

    def partial_fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Train on a batch of a stream: one pass, one update for each block.

        A stream is learned by Adam from random weights, whatever solver and init say.
        The first batch of a new estimator also fixes the scaling of the inputs, δ0
        and the novelty detector, and should look like what follows. A fitted estimator
        goes on from where it is. There is no result for the objects of a stream:
        ``partition_`` and ``labels_`` are absent, `predict_partition` gives them.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            At least two objects.
        y : ignored
            Present for compatibility.

        Returns
        -------
        self
        """
        train_on_stream(self, X, self._object_shape(X))
        return self

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Negative stress of the rows of X, comparable only at equal ``scale_``.

        With ``metric="precomputed"`` the rows hold dissimilarities to the training
        objects, and the stress is that between the rows and the training objects.
        Otherwise it is that of all pairs of rows, beyond 4000 within blocks of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : ignored
            Present for compatibility with searches.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        if self.has_given_dissimilarities_:
            raise ValueError(
                "score needs dissimilarities that it can compute for new rows, but fit "
                "was given dissimilarities of its own"
            )
        rows = self._validate(X, reset=False)
        network = FittedNetwork.of(self)
        masses = network.masses(rows).T
        if hasattr(self, "views_"):
            return -self._stress_in_views(masses, rows)
        if self.embedding_ is not None:
            known = getattr(self, "training_masses_", self.partition_.masses).T
            return -cross_stress(masses, known, rows, self.focal_sets_, self.scale_)
        similarities = network.space.geometry(rows).similarities(self.scale_, float)
        with one_thread():
            return -mean_stress(masses, similarities, self.focal_sets_)

    def _stress_in_views(
        self, masses: NDArray[np.float64], rows: NDArray[np.float64]
    ) -> float:
        """Σ_v q_v times the stress in each view."""
        parts = column_parts(rows, among_used(self.views_))
        with one_thread():
            stresses = [
                mean_stress(masses, part.similarities(scale, float), self.focal_sets_)
                for part, scale in zip(parts, self.view_scales_, strict=True)
            ]
        return float(self._view_shares @ stresses)

    @property
    def _view_shares(self) -> NDArray[np.float64]:
        return blending_shares(self.view_weights_, self.view_factors_)

    def to_onnx(self, path: str | PathLike[str], *, dtype: str = "float32") -> None:
        """Write network and novelty model as ONNX, for runtimes without Python.

        The input "X" has the shape of the data; the outputs are "masses" of shape
        (n_samples, n_focal_sets), "plausibility" (n_samples, n_clusters) and "label"
        (n_samples,). The names of the focal sets are in the metadata. Needs the package
        onnx.

        Parameters
        ----------
        path : str or path-like
            The file; it appears whole or not at all.
        dtype : {"float32", "float64"}, default="float32"
            Type of input, outputs and all numbers between. "float64" gives the results
            of `predict_partition` to rounding, but a runtime may lack operators:
            onnxruntime has no convolutions in float64. "float32" gives them to about
            1e-4 if the attributes are not much larger than their spread: it has
            seven digits, also for years or coordinates that differ in the last one.
            With ``empty_set="novelty"`` it may also give an object the rank of its
            neighbour among the reference objects.

        Raises
        ------
        ValueError
            If the novelty detector is not a Gaussian one-class SVM, if ∅ stands for
            novelty by distances that are neither Euclidean nor precomputed nor by
            cosines, or if the module uses what ONNX does not have.

        Notes
        -----
        With ``empty_set="novelty"`` and no detector the file holds the reference
        objects, up to 2000 rows of the training data, and each row takes memory for
        its distances to them: give many rows in batches.
        """
        check_is_fitted(self)
        if hasattr(self, "views_") and not self.has_given_dissimilarities_:
            is_near = isinstance(getattr(self, "reference_", None), NeighborNovelty)
            if is_near or len(used_columns(self.views_)) < self.n_features_in_:
                raise ValueError(
                    "views must use all columns of X to be written as ONNX, and ∅ must "
                    "not be novelty by distances in views: fit with empty_set='stress'"
                )
        FittedNetwork.of(self).to_onnx(
            path,
            n_features=self.n_features_in_,
            reference=getattr(self, "reference_", None),
            outlier_rate=self.outlier_rate,
            dtype=dtype,
        )

    def to_state(self) -> dict[str, Any]:
        """What `save` stores; of a module only the weights.

        Returns
        -------
        dict
        """
        state = super().to_state()
        parameters = state["parameters"] | {"module": None}
        if isinstance(parameters["novelty_detector"], OneClassSVM):
            # The estimator has fitted a clone: what this one knows was not used.
            parameters["novelty_detector"] = clone(parameters["novelty_detector"])
        return state | {"parameters": parameters}

    @property
    def _detects_novelties(self) -> bool:
        return hasattr(self, "reference_") or self.novelty_detector is not None

    @property
    def _keeps_training_masses(self) -> bool:
        # `score` compares new objects with the training objects of a matrix.
        return self.embedding_ is not None

    def _start_advice(self, is_informed: bool) -> str:
        # With labels or pairs, "auto" is random.
        if is_informed or (isinstance(self.init, str) and self.init == "auto"):
            return super()._start_advice(is_informed)
        return "set init='auto', which starts from the clusters of k-means"

    def _reference_of(
        self,
        X: NDArray[np.float64],
        rng: np.random.RandomState,
        objects: NDArray[np.intp] | None = None,
    ) -> NeighborNovelty | Calibration:
        if self.novelty_ is None:
            return super()._reference_of(X, rng, objects)
        rows = X if objects is None else X[objects]
        return Calibration.of(-FittedNetwork.of(self).novelty_scores(rows))

    def _strangeness(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        if isinstance(self.reference_, NeighborNovelty):
            return super()._strangeness(X)
        return -FittedNetwork.of(self).novelty_scores(X)

    def _points(self, X: NDArray[np.float64]) -> tuple[NDArray[np.float64], Any]:
        if self.has_given_dissimilarities_:
            # New objects come without dissimilarities: their inputs are compared.
            space = FittedNetwork.of(self).space
            return space.standardize(space.attributes(X)), "euclidean"
        if hasattr(self, "views_"):
            weights = column_weights(self.views_, self._view_shares, self.view_scales_)
            return X * np.sqrt(weights), "euclidean"
        points, metric = super()._points(X)
        if isinstance(self.transformer_, Projection):
            # Squares of distances are in the same order, and others can compute these.
            metric = "euclidean"
        return points, metric

    def _object_shape(self, X: Any) -> tuple[int, ...] | None:
        """Shape of an object, if a module gets objects that are not rows."""
        if self.module is None or self._is_precomputed:
            return None
        with naming("X"):
            shape = np.shape(X)
        return shape[1:] if len(shape) > 2 else None

    def _validate(
        self, X: Any, *, reset: bool = True, ensure_min_samples: int = 2
    ) -> NDArray[np.float64]:
        """Data as rows; with a module each object may be an array of any shape.

        Of a table with views, the columns that are in some view.
        """
        if not reset and hasattr(self, "views_"):
            units = getattr(self, "view_units_", None)
            X = rows_of_views(X, self.views_, units)
        options = {"dtype": np.float64, "ensure_min_samples": ensure_min_samples}
        shape = self._object_shape(X)
        fitted_shape = None if reset else getattr(self, "input_shape_", None)
        if shape is not None or (fitted_shape is not None and np.ndim(X) > 2):
            # An image is not a table: its shape is looked at first, then it is one row.
            with naming("X"):
                X = check_array(X, allow_nd=True, input_name="X", **options)
            shape = X.shape[1:]
            X = X.reshape(len(X), -1)
        if not reset and shape != fitted_shape:
            expected = fitted_shape or (self.n_features_in_,)
            got = shape or np.shape(X)[1:]
            raise ValueError(
                f"X must hold objects of shape {expected} as in fit, got objects of "
                f"shape {got}"
            )
        rows = super()._validate(X, reset=reset, ensure_min_samples=ensure_min_samples)
        if reset:
            columns = None if self.views is None else self._view_columns()
        else:
            columns = getattr(self, "views_", None)
        if columns is None:
            return rows
        used = used_columns(columns)
        return rows if len(used) == rows.shape[1] else rows[:, used]

    def _view_columns(self) -> Views:
        names = getattr(self, "feature_names_in_", None)
        return view_columns(self.views, self.n_features_in_, names)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_parameters(self)

    def _check_stored_parameters(self) -> None:
        # Predictions of a perceptron need neither torch nor the device of the fit.
        check_choice("engine", self.engine, ENGINES)
        here = copy(self)
        here.engine, here.device, here.module = "numpy", "cpu", None
        here._check_parameters()

    def _prepare(
        self,
        X: NDArray[np.float64],
        rng: np.random.RandomState,
        *,
        settings: Settings | None = None,
        sample_weight: NDArray[np.float64] | None = None,
        **given: Any,
    ) -> NetworkProblem:
        if self.views is not None:
            given["view_columns"] = self._view_columns()
        given["focal_sets"] = self._first_focal_sets()
        if sample_weight is not None:
            self._check_weighted(given)
        if sample_weight is not None and self._weighs_terms(sample_weight):
            settings = settings or Settings.of(self, len(X))
            return prepare(settings, X, rng, weights=sample_weight, **given)
        objects = self._copies(X, sample_weight, given)
        if objects is not None:
            objects, told = copied_information(objects, len(X), self.n_clusters, given)
            given, X = {**given, **told}, X[objects]
        problem = prepare(settings or Settings.of(self, len(X)), X, rng, **given)
        if self._fewer is not None and self.module is None and not self._has_two_steps:
            problem = after_fewer(problem, FittedNetwork.of(self._fewer))
        return replace(problem, is_in_order=objects is None)

    def _check_weighted(self, given: Mapping[str, Any]) -> None:
        """Refuse what weights cannot be combined with."""
        if self._is_precomputed:
            raise ValueError(
                "sample_weight must be None for NNEVCLUS with metric='precomputed', "
                "whose inputs are made of the dissimilarities to all objects"
            )
        if given.get("dissimilarities") is not None:
            raise ValueError("sample_weight must be None if dissimilarities are given")
        if is_of_rows(self.init):
            raise ValueError(
                "init must not be row numbers with sample_weight, give the rows "
                "themselves"
            )

    def _weighs_terms(self, weights: NDArray[np.float64]) -> bool:
        """Whether weights are factors of the terms of all pairs, not copies.

        Few copies are as good, and what a solver does with random pairs or blocks, or a
        detector with objects, it does with copies.
        """
        n_rows = len(weights)
        are_whole = bool((weights == np.floor(weights)).all())
        if are_whole and weights.sum() <= min(_MOST_COPIES * n_rows, MAX_COPIES):
            return False
        settings = Settings.of(self, n_rows)
        return (
            settings.is_full_batch
            and n_rows <= _MOST_WEIGHTED
            and self.engine == "numpy"
            and not self.early_stopping
            and self.pairs_per_sample is None
            and self.novelty_detector is None
            and isinstance(self.init, str)
            and self.init in ("auto", "random")
        )

    def _copies(
        self,
        X: NDArray[np.float64],
        weights: NDArray[np.float64] | None,
        given: Mapping[str, Any],
    ) -> NDArray[np.intp] | None:
        """Row numbers of the objects to train on; None: all rows in their order.

        A random block of copies has the stress of all copies as its expectation; terms
        with weights in a random block of rows, divided by the sum of the weights that
        happen to be in it, have not.
        """
        if weights is None:
            is_told = any(
                value is not None and name not in ("view_columns", "focal_sets")
                for name, value in given.items()
            )
            is_fixed = not isinstance(self.init, str) or self.warm_start
            if is_told or is_fixed or self._is_precomputed:
                return None
            objects = copies(X, None)
            return None if (objects == np.arange(len(X))).all() else objects
        return copies(X, weights, self.n_clusters)

    def _has_fixed_order(self, problem: NetworkProblem) -> bool:
        return problem.has_fixed_order

    def _n_starts(self, problem: NetworkProblem) -> int:
        if problem.fewer is not None:
            return N_INIT_AFTER_FEWER
        return problem.settings.n_starts(problem.clusters is not None)

    def _max_iterations(self, problem: NetworkProblem) -> int:
        return problem.settings.max_iter

    def _solve(
        self,
        problem: NetworkProblem,
        focal_sets: FocalSets,
        rng: np.random.RandomState,
        *,
        previous: NetworkSolution | None,
        report: Callable[[int, float], None],
    ) -> NetworkSolution:
        train = solve if problem.views is None else solve_views
        return train(problem, focal_sets, [rng], previous=previous, report=report)

    def _solves_together(self, problem: NetworkProblem) -> bool:
        return problem.settings.runs_together

    def _solve_together(
        self,
        problem: NetworkProblem,
        focal_sets: FocalSets,
        rngs: list[np.random.RandomState],
        *,
        previous: NetworkSolution | None,
        reports: list[Callable[[int, float], None]],
    ) -> list[Solution]:
        def to_all(iteration: int, loss: float) -> None:
            for each in reports:
                each(iteration, loss)

        # To say nothing for each start in each iteration takes its time.
        is_heard = any(each is not to_nobody for each in reports)
        report = to_all if is_heard else to_nobody
        train = solve if problem.views is None else solve_views
        return [train(problem, focal_sets, rngs, previous=previous, report=report)]

    def _fitted_masses(
        self, X: NDArray[np.float64], solution: NetworkSolution
    ) -> NDArray[np.float64]:
        return solution.masses if solution.is_predicted else self._predict_masses(X)

    def _predict_masses(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        return FittedNetwork.of(self).masses(X)

    def _is_for_blocks(self, X: NDArray[np.float64], is_informed: bool) -> bool:
        if len(X) <= MAX_WHOLE or is_informed:
            return False
        if Settings.of(self, len(X)).may_sample:
            # The training looks at some of the rows, however many there are.
            return False
        if self.early_stopping or self.engine != "numpy":
            return False
        try:
            self._check_blocks()
        except ValueError:
            return False
        return not isinstance(self.init, str) or self.init in (
            "auto",
            "random",
            "k-means++",
        )

    def _check_blocks(self, *, are_partitions: bool = False) -> None:
        check_mode(self, "partitions" if are_partitions else "blocks")

    def _start_blocks(
        self,
        sample: NDArray[np.float64],
        seeds: NDArray[np.integer],
        **informed: NDArray[np.intp],
    ) -> dict[str, Any]:
        return start_blocks(self, sample, seeds, **informed)

    def _train_blocks(
        self, source: Source, state: dict[str, Any], checkpoint: Checkpoint | None
    ) -> Outcome:
        return train_blocks(self, source, state, checkpoint)


# Checkpoints of version 0.1 hold an estimator, so that the class must be there first.
NNEVCLUS._checkpoint_schema = training_schema(FittedNetwork, NNEVCLUS)
