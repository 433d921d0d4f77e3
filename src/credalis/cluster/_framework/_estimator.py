"""The base class of all estimators: their verbs, and what a subclass must say."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted, validate_data

from credalis import _archive
from credalis._calibration import calibration_of
from credalis._checks import (
    check_choice,
    check_flag,
    check_integer,
    check_n_jobs,
    check_number,
    check_numeric,
    check_runs,
    check_seed,
    check_squarable,
    check_widths,
    is_automatic,
    is_frame,
    is_table,
    naming,
    shown,
)
from credalis._coverage import (
    DEFAULT_LEVEL,
    CoverageCalibration,
    false_discovery_flags,
)
from credalis._novelty import (
    Calibration,
    NeighborNovelty,
    empty_masses,
    report_novelty,
)
from credalis._refusals import refuses_by_name, takes_any_number
from credalis._threads import one_thread
from credalis.belief import FocalSets, check_n_clusters
from credalis.checkpoints import Checkpoint
from credalis.cluster._framework import _registry
from credalis.cluster._framework._fit import (
    Outcome,
    RememberedRows,
    fit,
    fitted_attributes,
    note_table,
    set_fitted,
    store_calibration,
)
from credalis.cluster._framework._schema import ESTIMATOR
from credalis.cluster._framework._solution import Solution
from credalis.cluster._inputs._clusters import count_distinct
from credalis.cluster._inputs._side_information import placed
from credalis.exceptions import InvalidMassError
from credalis.partition import CredalPartition, index_of, uncopied_partition
from credalis.sources import Source, lazily

if TYPE_CHECKING:
    from credalis.tabular import Preparation

FOCAL_SETS = ("auto", "singletons", "pairs", "full", "two-step")

# "auto" takes all pairs up to here: as many sets as the masses can be told apart on.
_MAX_CLUSTERS_WITH_ALL_PAIRS = 4

# Parameters of some estimators that are true or false.
_FLAGS = ("early_stopping", "squared", "symmetrize", "warm_start")


def check_common(estimator: BaseCredalClusterer) -> None:
    """Check the parameters that most estimators have, except n_clusters."""
    parameters = estimator.get_params(deep=False)
    check_widths(parameters)
    max_iter, n_init = parameters["max_iter"], parameters["n_init"]
    if not (isinstance(max_iter, str) and estimator._chooses_max_iter):
        check_integer("max_iter", max_iter, at_least=1)
    if "tol" in parameters:
        check_number("tol", parameters["tol"], at_least=0)
    if not isinstance(parameters["verbose"], bool):
        check_integer("verbose", parameters["verbose"], at_least=0)
    if not is_automatic("n_init", n_init):
        check_runs("n_init", n_init)
    for name in _FLAGS:
        if name in parameters:
            check_flag(name, parameters[name])
    if "empty_set" in parameters:
        check_choice("empty_set", parameters["empty_set"], estimator._empty_sets)
        check_number("outlier_rate", parameters["outlier_rate"], above=0, at_most=0.5)
    if "beta" in parameters and not is_automatic("beta", parameters["beta"]):
        check_number("beta", parameters["beta"], above=1)
    if "delta" in parameters and not is_automatic("delta", parameters["delta"]):
        check_squarable("delta", parameters["delta"])
    check_n_jobs(parameters["n_jobs"])
    check_seed("random_state", parameters["random_state"])


def resolved_focal_sets(focal_sets: Any, n_clusters: int) -> FocalSets:
    """Focal sets that the parameter ``focal_sets`` stands for.

    Those of "two-step" are the ones of its first step.
    """
    if isinstance(focal_sets, FocalSets):
        if focal_sets.n_clusters != n_clusters:
            raise ValueError(
                f"focal_sets must be about n_clusters={n_clusters} clusters, got "
                f"sets of {focal_sets.n_clusters} clusters"
            )
        if not focal_sets.membership.any(axis=0).all():
            raise ValueError(
                f"every cluster must be in a focal set, got focal_sets={focal_sets!r}"
            )
        return focal_sets
    if not isinstance(focal_sets, str) or focal_sets not in FOCAL_SETS:
        listed = ", ".join(map(repr, FOCAL_SETS))
        raise ValueError(
            f"focal_sets must be one of {listed} or a FocalSets, "
            f"got {shown(focal_sets)}"
        )
    few = n_clusters <= _MAX_CLUSTERS_WITH_ALL_PAIRS
    if focal_sets == "full":
        return FocalSets.full(n_clusters)
    if focal_sets == "pairs" or (focal_sets == "auto" and few):
        return FocalSets.pairs(n_clusters)
    return FocalSets.singletons(n_clusters)


_DEFAULT_N_INIT = 5

# Verbs of subclasses that name what they cannot calculate with.
_REFUSING = {"fit", "partial_fit", "score"}


def _check_are_numbers(masses: NDArray[np.float64]) -> None:
    """Refuse rows of X whose masses are none."""
    are_numbers = np.isfinite(masses).all(axis=1)
    if not are_numbers.all():
        raise ValueError(
            "X must hold rows that have masses, got no numbers for row "
            f"{int(are_numbers.argmin())}"
        ) from None


class BaseCredalClusterer(
    ClusterMixin, TransformerMixin, BaseEstimator, metaclass=ABCMeta
):
    """Base of the evidential clustering estimators.

    A subclass says what one start does (`_solve`) and what the masses of new objects
    are (`_predict_masses`); everything around it is done here. Defining it registers
    it: it can be saved, compared, called from the command line and reported on.
    """

    # What the attributes of a fitted estimator may be; a file with others is refused.
    _schema: ClassVar[_archive.Fitted] = ESTIMATOR
    # What a checkpoint may hold, for methods that read blocks.
    _checkpoint_schema: ClassVar[_archive.Rule] = _archive.Fields({})
    # Half a sentence for the report: how the clusters were found.
    _words: ClassVar[str] = ""
    # Parameters of the variants that have names in the literature; None: one variant
    # with the name of the class.
    _variants: ClassVar[Mapping[str, Mapping[str, Any]] | None] = None
    # Whether `fit` learns clusters, not only a metric, from labels and from pairs, and
    # whether the method is another one without them.
    _uses_labels: ClassVar[bool] = False
    _uses_pairs: ClassVar[bool] = False
    _needs_side_information: ClassVar[bool] = False
    # Whether a fit can begin with what one with fewer clusters of the same rows has
    # found, and that one.
    _begins_with_fewer: ClassVar[bool] = False
    _fewer: Any = None
    # Whether time and memory of a fit grow no faster than the number of rows.
    _is_for_many_rows: ClassVar[bool] = False
    # Whether numbers are categories to the method, which is then compared with others
    # only if it is named.
    _is_for_categories: ClassVar[bool] = False
    # Whether it is for more than one table, such as views or a source, and on one table
    # the same as another method, so that it is compared only if it is named.
    _is_for_more_tables: ClassVar[bool] = False
    # Whether predictions rest on the masses of the training objects.
    _predicts_from_partition: ClassVar[bool] = False
    # Whether X may be a matrix of dissimilarities, a source, and a Dask collection.
    _reads_dissimilarities: ClassVar[bool] = False
    _reads_blocks: ClassVar[bool] = False
    _reads_partitions: ClassVar[bool] = False
    # Whether labels and pairs about rows of these, by their numbers, are used.
    _informs_blocks: ClassVar[bool] = False
    # Whether max_iter may be "auto".
    _chooses_max_iter: ClassVar[bool] = False
    # What ∅ may stand for.
    _empty_sets: ClassVar[tuple[str, ...]] = ("stress", "novelty")
    # Whether the result depends on the units of the columns; a `metric` says more.
    _depends_on_units: ClassVar[bool] = True
    # What to do about many outliers, and about prototypes that coincide; None: take
    # another exponent.
    _outlier_advice: ClassVar[str] = "scale the data"
    _collapse_advice: ClassVar[str | None] = None
    # What parameters stood for in files that do not know `empty_set`, if they are
    # "auto" there or not there at all.
    _earlier_defaults: ClassVar[Mapping[str, str]] = {}
    # Numbers that files of earlier versions do not hold, and the parameters they were.
    _earlier_numbers: ClassVar[Mapping[str, str]] = {}

    n_init: int | str
    max_iter: Any
    n_jobs: int | None
    random_state: int | np.random.RandomState | None
    verbose: int

    # Fingerprints of the rows of a fit in this process; files do not hold them.
    _remembered: RememberedRows | None = None

    calibration_: CoverageCalibration
    preparation_: Preparation
    decisions_: list[str]
    reference_: NeighborNovelty | Calibration
    training_masses_: NDArray[np.float64]
    partition_: CredalPartition
    labels_: NDArray[np.intp]
    focal_sets_: FocalSets

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for verb in _REFUSING & vars(cls).keys():
            setattr(cls, verb, refuses_by_name(vars(cls)[verb]))
        _registry.register(cls)

    @refuses_by_name
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        y : ignored
            Present for compatibility with pipelines and searches.

        Returns
        -------
        self
        """
        fit(self, X)
        return self

    @takes_any_number
    def predict_partition(self, X: ArrayLike) -> CredalPartition:
        """Mass functions of the rows of X under the fitted model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data; of a Dask collection `transform` gives the masses.

        Returns
        -------
        CredalPartition
        """
        check_is_fitted(self)
        index = index_of(X)
        X = self._validate(X, reset=False, ensure_min_samples=1)
        with one_thread():
            masses = self._reported_masses(X)
        try:
            return uncopied_partition(masses, self.focal_sets_, index)
        except InvalidMassError:
            _check_are_numbers(masses)
            raise

    @takes_any_number
    def outlier_p_values(self, X: ArrayLike) -> NDArray[np.float64]:
        """How probable it is that an ordinary object is as strange, for each row of X.

        An object is an outlier if this is at most ``outlier_rate``. Of new objects that
        come from where the training objects do, and provided that these are ordinary,
        no more than about this share is flagged.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.

        Returns
        -------
        array of shape (n_samples,)
        """
        check_is_fitted(self)
        if not hasattr(self, "reference_"):
            self._refuse_p_values()
        X = self._validate(X, reset=False, ensure_min_samples=1)
        with one_thread():
            return self._p_values(X)

    def flag_outliers(
        self, X: ArrayLike, *, rate: float | None = None, fdr: float | None = None
    ) -> NDArray[np.bool_]:
        """Which rows of X are outliers, with a bound on false alarms.

        Just one of `rate` and `fdr` must be given. Both bounds hold on average if the
        ordinary rows of X come from where the training objects come from and these are
        ordinary; outliers among the training objects lead to fewer flags.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data, rows that the model was not fitted to.
        rate : float, default=None
            Of the ordinary rows, the share that may be flagged: the rows of
            `outlier_p_values` at most as large.
        fdr : float, default=None
            Of the flagged rows, the share that may be ordinary: the procedure of
            Benjamini and Hochberg on `outlier_p_values` of all rows together. The flag
            of a row depends on the others.

        Returns
        -------
        array of bool, shape (n_samples,)
        """
        if (rate is None) == (fdr is None):
            raise ValueError(
                "just one of rate, the share of ordinary rows that may be flagged, and "
                "fdr, the share of flags that may be false, must be given, got "
                f"rate={shown(rate)} and fdr={shown(fdr)}"
            )
        if rate is not None:
            rate = check_number("rate", rate, above=0, at_most=0.5)
            return self.outlier_p_values(X) <= rate
        fdr = check_number("fdr", fdr, above=0, at_most=0.5)
        return false_discovery_flags(self.outlier_p_values(X), fdr)

    @refuses_by_name
    def calibrate(
        self,
        X: Any,
        target: str = "replicate",
        labels: ArrayLike | None = None,
        *,
        refit: bool = False,
        n_refits: int = 5,
    ) -> Self:
        """Find the thresholds of `predict_sets`, so that sets have a level.

        What a level promises depends on the target; ``calibration_.assumption`` says it
        in words. The calibration is saved with the model; a new fit drops it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows that the model was not fitted to, from where new rows will come from.
            Rows of the fit are refused where they are recognised: a model that was
            loaded from a file does not know them any more, and rows that often repeat
            tell nothing. For the target "model" the rows of the fit will do.
        target : {"replicate", "labels", "model"}, default="replicate"
            What the set of a new row shall hold. "labels": the cluster of its true
            class; it needs 60 to 120 labels, some of which find out which class is
            which cluster. "replicate": the cluster in which an independent clustering
            by the same method puts it; some are made of parts of X, and
            compared on a third of X that is in none of them. "model": the component of
            the row if the data came from a mixture of Gaussian or of t distributions
            with as many components as there are clusters, an estimate by refits to
            drawn data, of which the more cautious kind counts; no guarantee.
        labels : array-like of int or str, shape (n_samples,), default=None
            For the target "labels", the true classes, at most as many as clusters; -1
            or "" where they are not known. Rows without one are not used.
        refit : bool, default=False
            Whether X are all rows, of which some shall be kept from the fit: the model
            is fitted again, to the rows without labels, or for the target "replicate"
            to 40 % of all. Labels, pairs and weights that fit was given are not given
            again.
        n_refits : int, default=5
            For the target "replicate", clusterings that are made of parts of X; for
            "model", data sets that are drawn from each of two mixtures and clustered.

        Returns
        -------
        self
        """
        if not check_flag("refit", refit):
            check_is_fitted(self)
        found = calibration_of(self, X, target, labels, refit=refit, n_refits=n_refits)
        store_calibration(self, found)
        return self

    def predict_sets(
        self, X: ArrayLike, level: float = DEFAULT_LEVEL
    ) -> NDArray[np.bool_]:
        """Sets of clusters that hold the right one with a probability that is asked.

        What "right" means is up to `calibrate`; ``calibration_.assumption`` says it.
        The most plausible cluster is always in the set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Data.
        level : float, default=0.9
            Probability, below 1.

        Returns
        -------
        array of bool, shape (n_samples, n_clusters)
        """
        check_is_fitted(self)
        return self.predict_partition(X).decide(
            "coverage", level=level, calibration=self._known_calibration()
        )

    def _known_calibration(self) -> CoverageCalibration:
        if not hasattr(self, "calibration_"):
            raise ValueError(
                f"{type(self).__name__} must be calibrated for sets with a level: call "
                "calibrate with rows that it was not fitted to"
            )
        return self.calibration_

    def predict(self, X: Any) -> Any:
        """Cluster of maximal plausibility of each row of X, shape (n_samples,)."""
        if hasattr(X, "__dask_graph__"):
            return lazily(self, X, "predict")
        return self.predict_partition(X).labels.copy()

    def predict_proba(self, X: Any) -> Any:
        """Pignistic probabilities, shape (n_samples, n_clusters).

        Uniform for a row with all its mass on ∅.
        """
        if hasattr(X, "__dask_graph__"):
            return lazily(self, X, "predict_proba")
        return self.predict_partition(X).pignistic.copy()

    def transform(self, X: Any) -> Any:
        """Masses of the rows of X, shape (n_samples, n_focal_sets)."""
        if hasattr(X, "__dask_graph__"):
            return lazily(self, X, "transform")
        masses = self.predict_partition(X).masses
        if not masses.flags.owndata:
            return masses.copy()
        # Nobody else holds the partition: a copy would take as long as the products.
        masses.flags.writeable = True
        return masses

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the focal sets, the columns of `transform`."""
        check_is_fitted(self)
        return np.array(self.focal_sets_.names, dtype=object)

    def save(
        self, path: str | PathLike[str], *, key: bytes | str | None = None
    ) -> None:
        """Write the fitted estimator to a file that `credalis.load` reads.

        The file holds arrays and JSON, never code; it appears whole or not at all, and
        a digest tells whether it has been damaged since.

        Parameters
        ----------
        path : str or path-like
            The file.
        key : bytes or str, default=None
            A secret of at least 16 bytes that signs the file: `credalis.load` with the
            same key refuses files that somebody else has written.

        Raises
        ------
        ValueError
            If a parameter has no safe file form, for example a RandomState.
        """
        check_is_fitted(self)
        _archive.save(self, path, key=key)

    def to_state(self) -> dict[str, Any]:
        """What `save` stores: parameters and fitted attributes."""
        self._check_stored_parameters()
        return {
            "parameters": self.get_params(deep=False),
            "fitted": fitted_attributes(self),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Inverse of `to_state`."""
        estimator = cls(**cls._brought_up(state["parameters"], lambda value: value))
        estimator._check_stored_parameters()
        fitted = state["fitted"]
        if "focal_sets_" in fitted:
            earlier = {
                name: float(getattr(estimator, parameter))
                for name, parameter in cls._earlier_numbers.items()
                if name not in fitted
            }
            fitted = {**fitted, **earlier}
        set_fitted(estimator, fitted)
        return estimator

    @classmethod
    def variants(cls) -> Mapping[str, Mapping[str, Any]]:
        """Parameters of the variants of the method, by their names."""
        # Of this class alone: a subclass is no variant of the method it derives from.
        own = vars(cls).get("_variants")
        return {cls.__name__: {}} if own is None else own

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        is_pairwise = self._reads_dissimilarities and self._is_precomputed
        tags.input_tags.pairwise = is_pairwise
        if self._takes_tables:
            tags.input_tags.allow_nan = True
            tags.input_tags.categorical = True
            tags.input_tags.string = True
        return tags

    # What a subclass says.

    @abstractmethod
    def _solve(
        self,
        data: Any,
        focal_sets: Any,
        rng: np.random.RandomState,
        *,
        previous: Any,
        report: Callable[[int, float], None],
    ) -> Solution:
        """One run: from a random start, or from a previous solution with fewer sets."""

    def _solves_together(self, data: Any) -> bool:
        """Whether several starts shall go to `_solve_together`."""
        return False

    def _solve_together(
        self,
        data: Any,
        focal_sets: Any,
        rngs: list[np.random.RandomState],
        *,
        previous: Any,
        reports: list[Callable[[int, float], None]],
    ) -> list[Solution]:
        """`_solve` for several starts at once, where that takes less time.

        Of those that cannot be the best, nothing needs to come back.
        """
        raise NotImplementedError

    @abstractmethod
    def _predict_masses(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Masses of the rows of X, needing little memory beyond the result."""

    def _fitted_masses(
        self, X: NDArray[np.float64], solution: Any
    ) -> NDArray[np.float64]:
        """Masses of the training objects, the fitted attributes being set.

        The code of predict_partition, so that predict(X) equals labels_. A method
        whose masses are its parameters returns those of the solution.
        """
        return self._predict_masses(X)

    def _validate(
        self, X: Any, *, reset: bool = True, ensure_min_samples: int = 2
    ) -> NDArray[np.float64]:
        """The data as a checked array; of a table, the matrix.

        A fit gets to know its columns, and forgets those of an earlier one.
        """
        if reset and hasattr(self, "preparation_"):
            note_table(self, {})
        is_new = reset and self._takes_tables and is_table(X)
        with naming("X"):
            if is_new or hasattr(self, "preparation_"):
                return self._validate_table(X, reset, ensure_min_samples)
            try:
                return self._validate_numbers(X, reset, ensure_min_samples)
            except (TypeError, ValueError, IndexError):
                if is_frame(X):
                    check_numeric(X)
                raise

    def _validate_numbers(
        self, X: Any, reset: bool, ensure_min_samples: int
    ) -> NDArray[np.float64]:
        # Sums over rows that lie otherwise in memory, as those of a frame may, are
        # rounded otherwise, and an iteration can end elsewhere.
        return validate_data(
            self,
            X,
            dtype=np.float64,
            order="C",
            reset=reset,
            ensure_min_samples=ensure_min_samples,
        )

    def _objects(
        self, X: NDArray[np.float64], rows: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """Some of the objects, by row number, or their dissimilarities."""
        if self._reads_dissimilarities and self._is_precomputed:
            return X[np.ix_(rows, rows)]
        return X[rows]

    def _validate_table(
        self, X: Any, reset: bool, ensure_min_samples: int
    ) -> NDArray[np.float64]:
        # From the layer above, for those who give a table.
        from credalis.tabular import as_arrow, known_columns

        if reset:
            note_table(self, known_columns(X))
        return check_array(
            self.preparation_.matrix(as_arrow(X)),
            ensure_min_samples=ensure_min_samples,
            input_name="X",
            estimator=self,
        )

    def _prepare(
        self, X: NDArray[np.float64], rng: np.random.RandomState, **given: Any
    ) -> Any:
        """What all starts share: the data, and parameters that depend on it."""
        return X

    def _check_solution(self, data: Any, solution: Any) -> bool | None:
        """Warn of a solution that is not what the user hopes for.

        True if its clusters are none, so that nothing else needs to be said of them.
        """

    def _caveats(self) -> list[str]:
        """What speaks against the clusters, in sentences for a report."""
        return []

    def _has_fixed_order(self, data: Any) -> bool:
        """Whether the user has fixed which cluster has which number."""
        return False

    def _n_starts(self, data: Any) -> int:
        if not isinstance(self.n_init, str):
            return self.n_init
        return 1 if self._has_fixed_order(data) else _DEFAULT_N_INIT

    def _max_iterations(self, data: Any) -> int:
        return self.max_iter

    def _check_parameters(self) -> None:
        self._check_n_clusters()
        check_common(self)

    def _check_stored_parameters(self) -> None:
        """Check the parameters of a file, which another machine may have written."""
        self._check_parameters()

    def _check_n_clusters(self) -> None:
        check_n_clusters(self._parameter("n_clusters"))

    def _check_enough_objects(self, X: NDArray[np.float64]) -> None:
        n_clusters = self._parameter("n_clusters")
        n_distinct = count_distinct(X, n_clusters)
        if n_distinct < n_clusters:
            raise ValueError(
                f"n_clusters must not exceed the number of distinct rows of X, got "
                f"n_clusters={n_clusters} and {n_distinct} distinct row(s)"
            )

    def _first_focal_sets(self) -> FocalSets | None:
        """Focal sets of the first and usually only step; None: `_solve` finds them."""
        return self._focal_sets_of(self._parameter("n_clusters"))

    def _focal_sets_of(self, n_clusters: int) -> FocalSets:
        """Focal sets that the parameter stands for with so many clusters."""
        return resolved_focal_sets(self._parameter("focal_sets"), n_clusters)

    # What ∅ stands for.

    def _refuse_p_values(self) -> NoReturn:
        """Say what to do for p-values of outliers."""
        name = type(self).__name__
        if "empty_set" not in self.get_params(deep=False):
            able = [
                cls.__name__
                for cls in _registry.estimator_classes()
                if "empty_set" in cls().get_params(deep=False)
            ]
            raise ValueError(
                f"{name} must not be asked for p-values of outliers, it has none: use "
                f"one of {', '.join(able)} with empty_set='novelty'"
            )
        raise ValueError(
            f"{name} must be fitted with empty_set='novelty' and with ∅ among its "
            "focal sets for p-values of outliers, got "
            f"empty_set={self._parameter('empty_set')!r}"
        )

    @property
    def _is_about_novelty(self) -> bool:
        """Whether ∅, where it is a focal set, is told as novelty."""
        empty_set = self._parameter("empty_set")
        # Who says what is far away means this by an outlier.
        has_automatic_delta = isinstance(self._parameter("delta"), str)
        return empty_set == "novelty" or (empty_set == "auto" and has_automatic_delta)

    @property
    def _reports_novelty(self) -> bool:
        return self._is_about_novelty and self.focal_sets_.empty_index is not None

    def _reference_of(
        self,
        X: NDArray[np.float64],
        rng: np.random.RandomState,
        objects: NDArray[np.intp] | None = None,
    ) -> NeighborNovelty | Calibration:
        """What gives the p-values of new objects, the other attributes being set.

        Of these objects, by row number; None: all.
        """
        return NeighborNovelty.of(*self._points(X), rng, objects)

    def _points(self, X: NDArray[np.float64]) -> tuple[NDArray[np.float64], Any]:
        """Where the distances of objects are taken, and the metric there."""
        transformer = getattr(self, "transformer_", None)
        return placed(transformer, X), getattr(self, "metric_", "euclidean")

    def _strangeness(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores that the p-values come from, larger for stranger objects."""
        assert isinstance(self.reference_, NeighborNovelty)
        return self.reference_.scores(self._points(X)[0])

    def _p_values(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        reference = self.reference_
        if isinstance(reference, NeighborNovelty):
            reference = reference.calibration
        return reference.p_values(self._strangeness(X))

    def _reported(
        self, masses: NDArray[np.float64], X: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Masses of the method, overwritten by those that the user is told of."""
        if not hasattr(self, "reference_"):
            return masses
        empty = empty_masses(self._p_values(X), self._parameter("outlier_rate"))
        if not masses.flags.writeable:
            # As they come from another process.
            masses = masses.copy()
        return report_novelty(masses, self.focal_sets_, empty)

    @property
    def _keeps_training_masses(self) -> bool:
        """Whether masses of training objects are needed where these are not."""
        return self._predicts_from_partition

    def _training_masses(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Masses of the training objects X that `loss_` and `stress_` belong to.

        Those of ``partition_`` differ from them by what they say about ∅.
        """
        if not hasattr(self, "reference_"):
            return self.partition_.masses
        if hasattr(self, "training_masses_"):
            return self.training_masses_
        with one_thread():
            return self._predict_masses(self._validate(X, reset=False))

    def _reported_masses(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Masses of the rows of X as the user is told of them."""
        return self._reported(self._predict_masses(X), X)

    def _for_comparisons(self) -> Self:
        """A model that says how new objects differ from each other, if that is quicker.

        Its masses need not be exactly those that are reported.
        """
        return self

    # What a subclass that reads blocks says.

    def _is_for_blocks(self, X: NDArray[np.float64], is_informed: bool) -> bool:
        """Whether there are so many objects that they are read in blocks."""
        return False

    def _check_blocks(self, *, are_partitions: bool = False) -> None:
        """Refuse parameters that make no sense without all objects at once.

        Or, with ``are_partitions``, on the workers of Dask.
        """

    def _start_blocks(
        self, sample: NDArray[np.float64], seeds: NDArray[np.integer]
    ) -> dict[str, Any]:
        """What a checkpoint holds of a fit that a sample has started."""
        raise NotImplementedError(f"{type(self).__name__} does not read blocks")

    def _train_blocks(
        self, source: Source, state: dict[str, Any], checkpoint: Checkpoint | None
    ) -> Outcome:
        """Train on all rows from a state on."""
        raise NotImplementedError(f"{type(self).__name__} does not read blocks")

    # What parameters mean.

    @classmethod
    def _brought_up(
        cls, parameters: Mapping[str, Any], form: Callable[[Any], Any]
    ) -> Mapping[str, Any]:
        """Parameters of a file, those of earlier versions as they are called now.

        ``form`` is how the file holds values.
        """
        if "empty_set" in parameters:
            return parameters
        automatic = form("auto")
        earlier = {
            name: form(value)
            for name, value in cls._earlier_defaults.items()
            if parameters.get(name, automatic) == automatic
        }
        return {**parameters, **earlier}

    def _parameter(self, name: str) -> Any:
        return getattr(self, name, None)

    def _start_advice(self, is_informed: bool) -> str:
        """What to do about clusters that were lost.

        ``is_informed`` says whether labels, pairs or the like were given.
        """
        parameters = self.get_params(deep=False)
        sizes = self.focal_sets_.cardinality
        has_unions = ((sizes > 1) & (sizes < self.focal_sets_.n_clusters)).any()
        if has_unions and "alpha" in parameters:
            # The prototype of a set of clusters takes the place of one that is lost.
            advice = f"set focal_sets='singletons', raise alpha={parameters['alpha']}"
        elif "beta" in parameters:
            advice = f"lower beta={parameters['beta']}"
        else:
            advice = "raise n_init, ask for fewer clusters"
        return f"{advice}, or try other methods (credalis.compare)"

    @property
    def _detects_novelties(self) -> bool:
        """Whether much mass is on ∅ far from all training objects."""
        return True

    @property
    def _has_two_steps(self) -> bool:
        focal_sets = self._parameter("focal_sets")
        return isinstance(focal_sets, str) and focal_sets == "two-step"

    @property
    def _has_given_sets(self) -> bool:
        return isinstance(self._parameter("focal_sets"), FocalSets)

    @property
    def _takes_tables(self) -> bool:
        """Whether X may hold words, dates and gaps."""
        metric = self._parameter("metric")
        is_gower = isinstance(metric, str) and metric == "gower"
        return self._reads_dissimilarities and is_gower

    @property
    def _own_metric(self) -> Any:
        """The metric; that of the columns if X is a table."""
        if self._takes_tables and hasattr(self, "preparation_"):
            return self.preparation_.gower()
        return self._parameter("metric")

    @property
    def _is_precomputed(self) -> bool:
        metric = self._parameter("metric")
        return isinstance(metric, str) and metric == "precomputed"
