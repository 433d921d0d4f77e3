"""A grid search that knows pairs of objects, partial labels and the scale δ0."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    BaseCrossValidator,
    GridSearchCV,
    KFold,
    ParameterGrid,
)
from sklearn.utils import Tags, check_random_state, get_tags

from credalis._checks import check_integer, check_n_jobs, check_seed, naming
from credalis._control import Stop, fitting, poll, section, working_for
from credalis._refusals import refuses_by_name
from credalis._rows import number_of_rows
from credalis.model_selection._clusterer import Clusterer
from credalis.model_selection._fits import settled
from credalis.model_selection._side_information import RowInformation

Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]
Scoring = str | Callable[..., Any] | Collection[str] | Mapping[str, Any] | None
Splits: TypeAlias = int | BaseCrossValidator | Iterable[tuple[ArrayLike, ArrayLike]]
Refit = bool | str | Callable[[dict[str, Any]], int]

# Parameters that change δ0 or the dissimilarities themselves.
_SCALE_PARAMETERS = (
    "dissimilarity_quantile",
    "dissimilarity_scale",
    "metric",
    "symmetrize",
    "squared",
)

_FOUND = (
    "best_index_",
    "best_params_",
    "best_score_",
    "cv_results_",
    "multimetric_",
    "n_splits_",
    "refit_time_",
    "scorer_",
)


class CredalSearchCV(GridSearchCV):
    """Grid search over clusterers that are fitted with side information.

    A `GridSearchCV` with three differences:

    - `fit` takes partial labels, pairs of row numbers and dissimilarities. In every
      fold, pairs with an end outside of it are left out and the others renumbered;
      `GridSearchCV` would hand on wrong row numbers.
    - Without `scoring`, candidates are compared by their own ``score``, the negative
      stress on rows left out. Stress is comparable only at equal δ0 (with δ0 very small
      or very large, trivial partitions are perfect), so δ0 is taken from a fit of
      `estimator` to all rows and held fixed, and grids that would change it are
      refused.
    - Folds and starts depend on `random_state` only, not on `n_jobs`.

    As there, rows and columns of a precomputed matrix are both restricted to the fold,
    and after the search `predict` and the like are those of the best estimator.

    Parameters
    ----------
    estimator : clusterer or Pipeline
        What is to be fitted; it is cloned.
    param_grid : dict or list of dicts
        Names of parameters and the values to try, as in `GridSearchCV`.
    scoring : str, callable, list or dict, default=None
        As in `GridSearchCV`; None is the ``score`` of the estimator.
    cv : int, splitter or iterable, default=5
        Number of random folds, or how to split as in `GridSearchCV`.
    refit : bool, str or callable, default=True
        Whether to fit the best estimator to all rows, as in `GridSearchCV`.
    n_jobs : int, default=None
        Number of fits at the same time, as in joblib. It does not change the result.
    error_score : "raise" or float, default="raise"
        The score of a fit that fails; "raise" passes its error on.
    return_train_score : bool, default=False
        Whether ``cv_results_`` includes the scores on the rows fitted to.
    random_state : int, RandomState instance or None, default=None
        Seed of the folds, if `cv` is a number, and of the parts of the estimator that
        have none of their own.
    verbose : int, default=0
        As in `GridSearchCV`.

    Attributes
    ----------
    best_estimator_ : estimator
        Fitted to all rows with all side information, if `refit`.
    best_params_ : dict
        The best point of the grid.
    best_score_ : float
        Its mean score over the folds.
    cv_results_ : dict of arrays
        Scores of all points, as in `GridSearchCV`.
    fixed_params_ : dict
        Parameters outside of the grid that were set for all fits: δ0, if it was left to
        the data.

    See Also
    --------
    search : the same in one call.

    Examples
    --------
    >>> from credalis import NNEVCLUS
    >>> from credalis.datasets import make_four_class
    >>> from credalis.model_selection import CredalSearchCV
    >>> X, _ = make_four_class(100, random_state=0)
    >>> model = NNEVCLUS(4, n_init=1, tol=1e-3)
    >>> grid = {"weight_decay": [0.0, 0.01]}
    >>> best = CredalSearchCV(model, grid, cv=3, random_state=0)
    >>> best = best.fit(X, must_link=[(0, 2)])
    >>> best.cv_results_["split0_test_score"].shape
    (2,)
    >>> best.best_estimator_.partition_
    CredalPartition(100 objects, 4 clusters, 12 focal sets)
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        param_grid: Grid,
        *,
        scoring: Scoring = None,
        cv: Splits = 5,
        refit: Refit = True,
        n_jobs: int | None = None,
        error_score: float | Literal["raise"] = "raise",
        return_train_score: bool = False,
        random_state: int | RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            cv=cv,
            refit=refit,
            n_jobs=n_jobs,
            error_score=error_score,
            return_train_score=return_train_score,
            verbose=verbose,
        )
        self.random_state = random_state

    @refuses_by_name
    @fitting("CredalSearchCV")
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        partial_labels: ArrayLike | None = None,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
        dissimilarities: ArrayLike | None = None,
        **fit_params: Any,
    ) -> Self:
        """Search the grid.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            Data, or dissimilarities for a clusterer with ``metric="precomputed"``.
        y : array-like of shape (n_samples,), default=None
            True classes for `scoring`, restricted to the rows scored. A clusterer
            ignores it.
        partial_labels : array-like of int, shape (n_samples,), default=None
            Known clusters, -1 for unknown.
        must_link, cannot_link : array-like of int, shape (n_pairs, 2), default=None
            Pairs of row numbers of X.
        dissimilarities : array-like, default=None
            Dissimilarities of the same objects, as a square matrix or as a condensed
            vector; `scoring` has to be given then.
        **fit_params
            Other arguments of the estimator's `fit`, as in `GridSearchCV`.

        Returns
        -------
        self
        """
        n_samples = number_of_rows(X)
        if isinstance(X, memoryview):
            X = np.asarray(X)
        check_seed("random_state", self.random_state)
        check_n_jobs(self.n_jobs)
        rng = check_random_state(self.random_state)
        fold_seed, fit_seed = (int(seed) for seed in rng.randint(2**31 - 1, size=2))
        given = {
            "partial_labels": partial_labels,
            "must_link": must_link,
            "cannot_link": cannot_link,
            "dissimilarities": dissimilarities,
        }
        with naming("param_grid"):
            if len(ParameterGrid(self.param_grid)) == 0:
                raise ValueError("param_grid must hold at least one point, got none")
        information = RowInformation(n_samples, given)
        clusterer = Clusterer.find(self.estimator)
        information.check_used_by(clusterer)
        clusterer = Clusterer(
            clusterer.with_seed(fit_seed, only_missing=True), clusterer.prefix
        )
        self.fixed_params_ = {}
        if self.scoring is None:
            if dissimilarities is not None:
                raise ValueError(
                    "scoring must be given with dissimilarities, which are not known "
                    "between the rows of different folds"
                )
            _check_scores(clusterer, self.param_grid)
            clusterer, fixed = settled(
                clusterer, X, information, names=("dissimilarity_scale",)
            )
            self.fixed_params_ = {clusterer.prefix + k: v for k, v in fixed.items()}
        # Like all arguments of fit with one entry for each row, the row numbers are
        # restricted to the fold; routing would send them nowhere.
        with section() as stop, config_context(enable_metadata_routing=False):
            search = GridSearchCV(
                _FoldEstimator(
                    clusterer.estimator, clusterer.prefix, information, stop
                ),
                self.param_grid,
                scoring=_on_estimators(self.scoring),
                cv=self._folds(fold_seed, n_samples),
                refit=self.refit,
                n_jobs=self.n_jobs,
                error_score=self.error_score,
                return_train_score=self.return_train_score,
                verbose=self.verbose,
            )
            search.fit(X, y, row_numbers=np.arange(n_samples), **fit_params)
        self._take_over(search)
        return self

    def _folds(self, seed: int, n_samples: int) -> Splits:
        if not isinstance(self.cv, (int, np.integer)):
            if self.cv is None or hasattr(self.cv, "get_n_splits"):
                return self.cv
            with naming("cv"):
                splits = [tuple(map(np.asarray, (a, b))) for a, b in self.cv]
            if not splits or any(a.dtype.kind not in "iub" for s in splits for a in s):
                raise ValueError(
                    "cv must be a number of folds, a splitter or pairs of row numbers, "
                    f"got {self.cv!r}"
                )
            return splits
        n_splits = check_integer("cv", self.cv, at_least=2, at_most=n_samples)
        return KFold(n_splits, shuffle=True, random_state=seed)

    def _take_over(self, search: GridSearchCV) -> None:
        for name in _FOUND:
            if hasattr(search, name):
                setattr(self, name, getattr(search, name))
        for name in ("best_estimator_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        if hasattr(search, "best_estimator_"):
            self.best_estimator_ = search.best_estimator_.estimator
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_


@refuses_by_name
def search(
    estimator: BaseEstimator,
    param_grid: Grid,
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    partial_labels: ArrayLike | None = None,
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
    dissimilarities: ArrayLike | None = None,
    scoring: Scoring = None,
    cv: Splits = 5,
    refit: Refit = True,
    n_jobs: int | None = None,
    random_state: int | RandomState | None = None,
) -> CredalSearchCV:
    """Cross-validated search over a grid of parameters, with side information.

    Without `scoring`, it compares networks by their stress on rows left out, at fixed
    δ0: the way to choose weight decay and hidden units. δ0 itself is chosen by
    `select_dissimilarity_quantile`, the number of clusters by `select_n_clusters`.

    Parameters
    ----------
    estimator, param_grid, scoring, cv, refit, n_jobs, random_state
        As in `CredalSearchCV`.
    X, y, partial_labels, must_link, cannot_link, dissimilarities
        As in `CredalSearchCV.fit`.

    Returns
    -------
    CredalSearchCV
        Fitted: ``best_params_``, ``best_estimator_``, ``cv_results_``, ``predict``.

    Examples
    --------
    >>> from credalis import NNEVCLUS
    >>> from credalis.datasets import make_four_class
    >>> from credalis.model_selection import search
    >>> X, _ = make_four_class(100, random_state=0)
    >>> model = NNEVCLUS(4, n_init=1, tol=1e-3)
    >>> grid = {"weight_decay": [0.0, 0.01]}
    >>> found = search(model, grid, X, must_link=[(0, 2)], cv=3, random_state=0)
    >>> sorted(found.best_params_)
    ['weight_decay']
    >>> found.predict(X).shape
    (100,)
    """
    found = CredalSearchCV(
        estimator,
        param_grid,
        scoring=scoring,
        cv=cv,
        refit=refit,
        n_jobs=n_jobs,
        random_state=random_state,
    )
    return found.fit(
        X,
        y,
        partial_labels=partial_labels,
        must_link=must_link,
        cannot_link=cannot_link,
        dissimilarities=dissimilarities,
    )


class _FoldEstimator(BaseEstimator):
    """An estimator that is told which rows it gets, and which knows the rest.

    Its parameters, and whatever else it is asked for, are those of the estimator.
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        prefix: str,
        information: RowInformation,
        stop: Stop,
    ) -> None:
        self.estimator = estimator
        self.prefix = prefix
        self.information = information
        self.stop = stop

    def set_params(self, **parameters: Any) -> Self:
        self.estimator.set_params(**parameters)
        return self

    def fit(
        self, X: Any, y: Any = None, *, row_numbers: NDArray[np.intp], **fit_params: Any
    ) -> Self:
        """Fit with the side information of these rows."""
        known = self.information.of(np.asarray(row_numbers))
        known = {self.prefix + name: value for name, value in known.items()}
        with working_for(self.stop):
            self.estimator.fit(X, y, **known, **fit_params)
            # The best so far of a fit that was stopped is nothing to compare.
            poll()
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "estimator":
            raise AttributeError(name)
        return getattr(self.estimator, name)

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self.estimator)

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _OnEstimator:
    """A scorer that is shown the user's estimator."""

    def __init__(self, scorer: Callable[..., Any]) -> None:
        self.scorer = scorer

    def __call__(self, fitted: Any, *args: Any, **kwargs: Any) -> Any:
        inner = fitted.estimator if isinstance(fitted, _FoldEstimator) else fitted
        return self.scorer(inner, *args, **kwargs)


def _on_estimators(
    scoring: Scoring,
) -> _OnEstimator | dict[str, Any] | None:
    """The same scoring for estimators that know the rest of the rows."""
    if scoring is None:
        return None
    if isinstance(scoring, (list, tuple, set)):
        with naming("scoring"):
            scoring = {name: name for name in scoring}
    if isinstance(scoring, Mapping) and not scoring:
        raise ValueError("scoring must hold at least one score, got none")
    if isinstance(scoring, Mapping):
        return {name: _on_estimators(each) for name, each in scoring.items()}
    return _OnEstimator(scoring if callable(scoring) else get_scorer(scoring))


def _check_scores(clusterer: Clusterer, param_grid: Grid) -> None:
    """Refuse default scores that do not exist or cannot be compared."""
    if not hasattr(clusterer.estimator, "score"):
        raise ValueError(
            f"scoring must be given for {clusterer.name}, which has no score of its own"
        )
    for name in sorted({name for point in ParameterGrid(param_grid) for name in point}):
        own = name.removeprefix(clusterer.prefix)
        if not name.startswith(clusterer.prefix) or (
            own.split("__")[0] in _SCALE_PARAMETERS
        ):
            raise ValueError(
                f"param_grid must not hold {name!r} unless scoring is given: it "
                "changes the dissimilarities or δ0, and the score, the negative "
                "stress, is comparable only where they are equal (use "
                "select_dissimilarity_quantile for δ0)"
            )
