"""What all estimators share: validation, restarts, fitted attributes, files."""

from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from credalis import _archive
from credalis._checks import (
    check_choice,
    check_flag,
    check_integer,
    check_n_jobs,
    check_number,
    check_seed,
    shown,
)
from credalis.belief import FocalSets
from credalis.cluster._framework._blocks import source_of
from credalis.cluster._framework._solution import Solution, best_start, one_thread
from credalis.cluster._framework._warnings import ResultWarnings
from credalis.cluster._inputs._scale import count_distinct
from credalis.partition import adopt
from credalis.sources import ArraySource, Source

FOCAL_SETS = ("auto", "singletons", "pairs", "full", "two-step")

# "auto" takes all pairs up to here: as many sets as the masses can be told apart on.
_MAX_CLUSTERS_WITH_ALL_PAIRS = 4

_DEFAULT_N_INIT = 5

# Parameters of some estimators that are true or false.
_FLAGS = ("early_stopping", "squared", "symmetrize", "warm_start")


class BaseCredalClusterer(
    ResultWarnings, ClusterMixin, TransformerMixin, BaseEstimator, metaclass=ABCMeta
):
    """Base of the evidential clustering estimators.

    A subclass says what one start does (`_solve`) and what the masses of new objects
    are (`_predict_masses`); everything around it is done here.
    """

    _reads_blocks = False
    # Whether max_iter may be "auto".
    _chooses_max_iter = False

    # Whether the last fit was ended by its user.
    _is_interrupted = False

    @abstractmethod
    def _solve(
        self,
        data: Any,
        focal_sets: Any,
        rng: np.random.RandomState,
        *,
        previous: Solution | None,
        report: Callable[[int, float], None],
    ) -> Solution:
        """One run: from a random start, or from a previous solution with fewer sets."""

    @abstractmethod
    def _predict_masses(self, X: NDArray[np.float64]) -> NDArray[np.float64]:
        """Masses of the rows of X, needing little memory beyond the result."""

    def _fitted_masses(
        self, X: NDArray[np.float64], solution: Solution
    ) -> NDArray[np.float64]:
        """Masses of the training objects, the fitted attributes being set.

        The code of predict_partition, so that predict(X) equals labels_. A method
        whose masses are its parameters returns those of the solution.
        """
        return self._predict_masses(X)

    def _validate(
        self, X: Any, *, reset: bool = True, ensure_min_samples: int = 2
    ) -> NDArray[np.float64]:
        """The data as a checked array."""
        return validate_data(
            self,
            X,
            dtype=np.float64,
            reset=reset,
            ensure_min_samples=ensure_min_samples,
        )

    def _prepare(
        self,
        X: NDArray[np.float64],
        rng: np.random.RandomState,
        **side_information: Any,
    ) -> Any:
        """What all starts share: the data, and parameters that depend on it."""
        return X

    def _check_solution(self, data: Any, solution: Solution) -> None:
        """Warn of a solution that is not what the user hopes for."""

    def _has_fixed_order(self, data: Any) -> bool:
        """Whether the user has fixed which cluster has which number."""
        return False

    def _n_starts(self, data: Any) -> int:
        if not isinstance(self.n_init, str):
            return self.n_init
        return 1 if self._has_fixed_order(data) else _DEFAULT_N_INIT

    def _max_iterations(self, data: Any) -> int:
        return self.max_iter

    def fit(self, X, y=None):
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
        return self._fit(X)

    def _fit_blocks(self, source: Source, checkpoint: Any) -> None:
        """Fit to data that are read in blocks, without results for the objects."""
        raise NotImplementedError

    def _is_for_blocks(self, X: NDArray[np.float64], is_informed: bool) -> bool:
        """Whether there are so many objects that they are read in blocks."""
        return False

    def _fit(
        self, X: Any, checkpoint: Any = None, **side_information: Any
    ) -> "BaseCredalClusterer":
        """Validate, run all starts, keep the best, store it."""
        if hasattr(X, "__dask_graph__"):
            from credalis.distributed import fit_distributed

            fit_distributed(self, X, checkpoint, side_information)
            return self
        source = source_of(self, X, checkpoint, side_information)
        if source is not None:
            self._fit_blocks(source, checkpoint)
            return self
        X = self._validate(X)
        self._check_parameters()
        is_informed = any(value is not None for value in side_information.values())
        if checkpoint is not None or self._is_for_blocks(X, is_informed):
            names = getattr(self, "feature_names_in_", None)
            self._fit_blocks(ArraySource(X, names), checkpoint)
            with one_thread():
                self.partition_ = adopt(self._predict_masses(X), self.focal_sets_)
            self.labels_ = self.partition_.labels.copy()
            return self
        self._check_enough_objects(X)
        rng = check_random_state(self.random_state)
        focal_sets = self._first_focal_sets()
        # Sums depend on the number of threads that add; one thread gives the same bits
        # whatever else runs.
        with one_thread():
            data = self._prepare(X, _child(rng), **side_information)
            # Every random number a start needs comes from its own seed, drawn first, so
            # that the result does not depend on the order in which the starts run.
            seeds = rng.randint(np.iinfo(np.int32).max, size=self._n_starts(data))
            solution = best_start(self, data, focal_sets, seeds)
            focal_sets = solution.focal_sets or focal_sets
            assert focal_sets is not None, "a start without focal sets finds them"
            if self._has_two_steps and not solution.is_interrupted:
                focal_sets = _with_neighboring_pairs(solution.masses, focal_sets)
                solution = best_start(self, data, focal_sets, seeds[:1], solution)
            self._store(X, data, solution, focal_sets)
        self._check_solution(data, solution)
        self._warn(solution, self._max_iterations(data))
        return self

    def predict_partition(self, X):
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
        X = self._validate(X, reset=False, ensure_min_samples=1)
        with one_thread():
            return adopt(self._predict_masses(X), self.focal_sets_)

    def predict(self, X):
        """Cluster of maximal plausibility of each row of X, shape (n_samples,)."""
        if hasattr(X, "__dask_graph__"):
            return self._lazily(X, "predict")
        return self.predict_partition(X).labels.copy()

    def predict_proba(self, X):
        """Pignistic probabilities, shape (n_samples, n_clusters).

        Uniform for a row with all its mass on ∅.
        """
        if hasattr(X, "__dask_graph__"):
            return self._lazily(X, "predict_proba")
        return self.predict_partition(X).pignistic.copy()

    def transform(self, X):
        """Masses of the rows of X, shape (n_samples, n_focal_sets)."""
        if hasattr(X, "__dask_graph__"):
            return self._lazily(X, "transform")
        return self.predict_partition(X).masses.copy()

    def _lazily(self, X, method):
        """A Dask array that computes nothing before it is asked to."""
        from credalis.distributed import lazily

        return lazily(self, X, method)

    def get_feature_names_out(self, input_features=None):
        """Names of the focal sets, the columns of `transform`."""
        check_is_fitted(self)
        return np.array(self.focal_sets_.names, dtype=object)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted estimator to a file that `credalis.load` reads.

        The file holds arrays and JSON, never code; it appears whole or not at all.

        Raises
        ------
        ValueError
            If a parameter has no safe file form, for example a RandomState.
        """
        check_is_fitted(self)
        _archive.save(self, path)

    def to_state(self) -> dict[str, Any]:
        """What `save` stores: parameters and fitted attributes."""
        fitted = {
            name: value
            for name, value in vars(self).items()
            if name.endswith("_") and not name.startswith("_")
        }
        return {"parameters": self.get_params(deep=False), "fitted": fitted}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "BaseCredalClusterer":
        """Inverse of `to_state`."""
        estimator = cls(**state["parameters"])
        for name, value in state["fitted"].items():
            setattr(estimator, name, value)
        return estimator

    @property
    def _has_two_steps(self) -> bool:
        return isinstance(self.focal_sets, str) and self.focal_sets == "two-step"

    def _check_parameters(self) -> None:
        self._check_n_clusters()
        if not isinstance(self.max_iter, str) or not self._chooses_max_iter:
            check_integer("max_iter", self.max_iter, at_least=1)
        if hasattr(self, "tol"):
            check_number("tol", self.tol, at_least=0)
        if not isinstance(self.verbose, bool):
            check_integer("verbose", self.verbose, at_least=0)
        if not isinstance(self.n_init, str):
            check_integer("n_init", self.n_init, at_least=1)
        else:
            check_choice("n_init", self.n_init, ("auto",))
        for name in _FLAGS:
            if hasattr(self, name):
                check_flag(name, getattr(self, name))
        check_n_jobs(self.n_jobs)
        check_seed("random_state", self.random_state)

    def _check_n_clusters(self) -> None:
        check_integer("n_clusters", self.n_clusters, at_least=1)

    def _check_enough_objects(self, X: NDArray[np.float64]) -> None:
        n_distinct = count_distinct(X, self.n_clusters)
        if n_distinct < self.n_clusters:
            raise ValueError(
                f"n_clusters must not exceed the number of distinct rows of X, got "
                f"n_clusters={self.n_clusters} and {n_distinct} distinct row(s)"
            )

    def _first_focal_sets(self) -> Any:
        """Focal sets of the first and usually only step; None: `_solve` finds them."""
        return self._focal_sets_of(self.n_clusters)

    def _focal_sets_of(self, n_clusters: int) -> FocalSets:
        """Focal sets that the parameter stands for with so many clusters."""
        if isinstance(self.focal_sets, FocalSets):
            if self.focal_sets.n_clusters != n_clusters:
                raise ValueError(
                    f"focal_sets must be about n_clusters={n_clusters} clusters, got "
                    f"sets of {self.focal_sets.n_clusters} clusters"
                )
            if not self.focal_sets.membership.any(axis=0).all():
                raise ValueError(
                    "every cluster must be in a focal set, got focal_sets="
                    f"{self.focal_sets!r}"
                )
            return self.focal_sets
        if not isinstance(self.focal_sets, str) or self.focal_sets not in FOCAL_SETS:
            listed = ", ".join(map(repr, FOCAL_SETS))
            raise ValueError(
                f"focal_sets must be one of {listed} or a FocalSets, "
                f"got {shown(self.focal_sets)}"
            )
        few = n_clusters <= _MAX_CLUSTERS_WITH_ALL_PAIRS
        if self.focal_sets == "full":
            return FocalSets.full(n_clusters)
        if self.focal_sets == "pairs" or (self.focal_sets == "auto" and few):
            return FocalSets.pairs(n_clusters)
        return FocalSets.singletons(n_clusters)

    def _store(
        self,
        X: NDArray[np.float64],
        data: Any,
        solution: Solution,
        focal_sets: FocalSets,
    ) -> None:
        """Set the fitted attributes, clusters without objects last."""
        if not self._has_fixed_order(data):
            solution, focal_sets = self._empty_clusters_last(solution, focal_sets)
        self.focal_sets_ = focal_sets
        for fitted in (solution.per_cluster, solution.per_set, solution.other):
            for name, value in fitted.items():
                setattr(self, name, value)
        self._is_interrupted = solution.is_interrupted
        self.loss_ = solution.trace.loss
        self.history_ = solution.trace.losses
        self.n_iter_ = solution.trace.n_iter
        self.partition_ = adopt(self._fitted_masses(X, solution), focal_sets)
        self.labels_ = self.partition_.labels.copy()

    def _empty_clusters_last(
        self, solution: Solution, focal_sets: FocalSets
    ) -> tuple[Solution, FocalSets]:
        """Renumber so that clusters without objects come last."""
        labels = adopt(solution.masses, focal_sets).labels
        is_empty = np.bincount(labels, minlength=focal_sets.n_clusters) == 0
        new_labels = np.argsort(np.argsort(is_empty, kind="stable"))
        renamed = focal_sets.relabel(new_labels)
        if set(renamed) == set(focal_sets):
            columns = np.array([renamed.index(subset) for subset in focal_sets])
            return solution.renumbered(new_labels, columns), focal_sets
        if isinstance(self.focal_sets, FocalSets):
            # Other numbers would need other sets than those the user asked for.
            return solution, focal_sets
        return solution.renumbered(new_labels, np.arange(len(renamed))), renamed


def _with_neighboring_pairs(
    masses: NDArray[np.float64], focal_sets: FocalSets
) -> FocalSets:
    """Singletons and the pairs of clusters that are each other's neighbours."""
    partition = adopt(masses, focal_sets)
    return FocalSets.pairs(focal_sets.n_clusters, partition.neighboring_clusters())


def _child(rng: np.random.RandomState) -> np.random.RandomState:
    """A generator of its own, so that what it draws does not shift later draws."""
    return np.random.RandomState(rng.randint(np.iinfo(np.int32).max))
