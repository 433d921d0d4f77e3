"""Several estimators side by side on the same data."""

import time
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from credalis._checks import (
    check_choice,
    check_integer,
    check_n_jobs,
    check_seed,
    naming,
    shown,
)
from credalis._compare._recommendation import (
    Evidence,
    agreements,
    reason,
    recommended,
)
from credalis._control import fitting, poll
from credalis._parallel import in_parallel
from credalis._progress import Progress
from credalis._refusals import refuses_by_name
from credalis._rows import number_of_rows, take_rows
from credalis._warnings import warn_user
from credalis._weights import check_sample_weight
from credalis.cluster import BaseCredalClusterer, named_estimators
from credalis.exceptions import (
    ContrastWarning,
    ExperimentalWarning,
    NoClustersWarning,
    StrayRowsWarning,
    UnitsWarning,
)
from credalis.metrics import (
    adjusted_rand_index,
    consistency_index,
    non_dominated,
    nonspecificity_index,
)
from credalis.metrics._inputs import class_codes
from credalis.partition._presentation import html_table, text_table
from credalis.plots import ConsistencyDisplay

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_HEADER = (
    "method",
    "clusters",
    "ARI",
    "CI",
    "NS",
    "nonspecificity",
    "outliers",
    "agreement",
    "stability",
    "warnings",
    "seconds",
)

# A method is run again on this share of the objects, at most so many, to see how stable
# its result is.
_SHARE, _MAX_ROWS = 0.7, 500

# Warnings about the method and the data, not about the result. That the data show no
# groups counts against all results, though one method alone asks.
_NOT_AGAINST = (
    ContrastWarning,
    ExperimentalWarning,
    NoClustersWarning,
    StrayRowsWarning,
    UnitsWarning,
)


@dataclass(frozen=True)
class Scores:
    """Numbers about the result of one method.

    Attributes
    ----------
    method : str
        Its name.
    clusters : int
        Number of clusters, those without objects left out.
    ari : float or None
        Adjusted Rand index of the most plausible clusters with the classes; None
        without classes.
    ci : float or None
        Consistency index with the classes; None without classes.
    ns : float
        Nonspecificity about pairs of objects.
    nonspecificity : float
        Average nonspecificity of the objects.
    outliers : int
        Number of outliers, objects with a mass of at least one half on ∅.
    agreement : float or None
        Mean adjusted Rand index of the most plausible clusters with those of the other
        methods; None if there are none.
    stability : float or None
        Adjusted Rand index with what the method finds in a random part of the objects,
        70 % but at most 500, from another seed; None if it cannot be run on them.
    warnings : tuple of str
        Kinds of warnings of the fit that concern the result.
    seconds : float
        Time of the fit.
    """

    method: str
    clusters: int
    ari: float | None
    ci: float | None
    ns: float
    nonspecificity: float
    outliers: int
    agreement: float | None
    stability: float | None
    warnings: tuple[str, ...]
    seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What `compare` found: a table, and the fitted estimators.

    Printed, it is a table with one row for each method. ★ marks the method that is
    recommended, which does not depend on classes; with classes, * marks the methods
    that no other one dominates in consistency and nonspecificity.

    Parameters
    ----------
    scores : tuple of Scores
        One for each method.
    estimators : dict of str to estimator
        The fitted estimators by name.

    Examples
    --------
    >>> from credalis import compare
    >>> from credalis.datasets import make_four_class
    >>> X, y = make_four_class(random_state=0)
    >>> result = compare(X, 4, ["ECM", "EkNNclus"], y, random_state=0)
    >>> [each.method for each in result.scores]
    ['ECM', 'EkNNclus']
    >>> result["ECM"].partition_
    CredalPartition(400 objects, 4 clusters, 12 focal sets)
    >>> result.recommended
    'ECM'
    """

    scores: tuple[Scores, ...]
    estimators: dict[str, BaseCredalClusterer]

    @property
    def recommended(self) -> str:
        """Name of the method whose result to look at first.

        The one whose fit raised the fewest warnings about the result, and of several
        such the one with the largest mean of agreement and stability. Classes have no
        part in it.
        """
        return recommended(self._evidence()).method

    @property
    def reason(self) -> str:
        """Why this method is recommended, in words."""
        return reason(self._evidence())

    @property
    def has_classes(self) -> bool:
        """Whether the classes of the objects were given."""
        return self.scores[0].ci is not None

    @property
    def non_dominated(self) -> list[str]:
        """Names of the methods that no other one dominates in CI and NS."""
        ci, ns = self._indices()
        kept = non_dominated(np.column_stack([ci, ns]))
        names = [each.method for each in self.scores]
        return [name for name, is_kept in zip(names, kept, strict=True) if is_kept]

    def plot(
        self, *, ax: "Axes | None" = None, title: str | None = None
    ) -> ConsistencyDisplay:
        """Draw consistency against nonspecificity, and which methods dominate.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.
        title : str, default=None
            Title of the axes.

        Returns
        -------
        ConsistencyDisplay

        Raises
        ------
        ValueError
            If the classes were not given: there is no consistency then.
        """
        names = [each.method for each in self.scores]
        display = ConsistencyDisplay.from_scores(names, *self._indices())
        return display.plot(ax=ax, title=title)

    def to_pandas(self) -> "pd.DataFrame":
        """The table as a frame, with one row for each method."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("to_pandas needs pandas: pip install pandas") from error
        return pd.DataFrame([vars(each) for each in self.scores]).set_index("method")

    def __getitem__(self, name: str) -> BaseCredalClusterer:
        """The fitted estimator of a method."""
        return self.estimators[name]

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        lines = text_table(*self._table())
        return "\n".join([*lines, *self._footer()])

    def _repr_html_(self) -> str:
        footer = "".join(f"<p>{escape(line)}</p>" for line in self._footer())
        return (
            "<div class='credalis-comparison'>"
            f"{html_table(*self._table())}{footer}</div>"
        )

    def _evidence(self) -> list[Evidence]:
        return [
            Evidence(each.method, each.agreement, each.stability, each.warnings)
            for each in self.scores
        ]

    def _indices(self) -> tuple[list[float], list[float]]:
        """CI and NS of all methods."""
        ci = [each.ci for each in self.scores if each.ci is not None]
        if len(ci) < len(self.scores):
            raise ValueError(
                "y must hold the classes of the objects for a comparison of "
                "consistency, got None"
            )
        return ci, [each.ns for each in self.scores]

    def _table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """Header and rows as text; without classes, without what needs them."""
        best = self.recommended
        kept = set(self.non_dominated) if self.has_classes else set()
        rows: list[tuple[str, ...]] = [
            (
                each.method
                + ("*" if each.method in kept else " " * bool(kept))
                + ("★" if each.method == best else " "),
                str(each.clusters),
                "" if each.ari is None else f"{each.ari:.3f}",
                "" if each.ci is None else f"{each.ci:.3f}",
                f"{each.ns:.3f}",
                f"{each.nonspecificity:.3f}",
                str(each.outliers),
                "" if each.agreement is None else f"{each.agreement:.3f}",
                "" if each.stability is None else f"{each.stability:.3f}",
                str(len(each.warnings)),
                f"{each.seconds:.2f}",
            )
            for each in self.scores
        ]
        if self.has_classes:
            return _HEADER, rows
        shown = [j for j, name in enumerate(_HEADER) if name not in ("ARI", "CI")]
        return (
            tuple(_HEADER[j] for j in shown),
            [tuple(row[j] for j in shown) for row in rows],
        )

    def _footer(self) -> list[str]:
        """What the marks mean."""
        lines = [f"★ {self.recommended} is recommended: {self.reason}"]
        if self.has_classes:
            lines[0] += " (the classes have no part in this)"
            lines.append("* not dominated in CI and NS, given the classes")
        return lines


@refuses_by_name
@fitting("compare")
def compare(
    X: ArrayLike,
    n_clusters: int | None,
    methods: Iterable[Any] | Mapping[str, Any] | None = None,
    y: ArrayLike | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: int | None = None,
) -> Comparison:
    """Cluster the same data with several methods and put their results side by side.

    One of the results is recommended, with a reason in words. Each method is run a
    second time, on a part of the objects, to see how stable its result is.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Data. Features in different units should be scaled.
    n_clusters : int or None
        Number of clusters, for all methods that have this parameter; None leaves it as
        it is.
    methods : iterable of str or estimator, or dict of str to estimator, default=None
        Names, as in "ECM" or, from the belief peaks, "NNEVCLUS-bp" (a wrong one is
        answered with a list of all), or estimators, which are cloned. None takes all
        that have a name, slow ones and ones whose memory grows with n² included, but
        not those that on one table are the same as others.
    y : array-like of shape (n_samples,), default=None
        True classes. They are compared with the results; no method sees them.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts in the fits, for methods that take weights; without
        `methods`, only those are run. All columns of the comparison are about rows.
    n_jobs : int, default=None
        Number of methods run at the same time, as in joblib. It does not change the
        results, but the times.
    random_state : int, default=None
        Seed of the estimators that have none of their own.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from credalis import ECM, compare
    >>> from credalis.datasets import make_four_class
    >>> X, y = make_four_class(random_state=0)
    >>> methods = {"precise": ECM(beta=1.5), "cautious": ECM()}
    >>> compare(X, 4, methods, y, random_state=0).non_dominated
    ['precise']
    """
    if n_clusters is not None:
        check_integer("n_clusters", n_clusters, at_least=1)
    check_n_jobs(n_jobs)
    check_seed("random_state", random_state)
    n_rows = number_of_rows(X)
    if y is not None:
        _check_classes(n_rows, y)
    estimators = {
        name: _configured(estimator, n_clusters, random_state)
        for name, estimator in _named(methods).items()
    }
    weights = None
    if sample_weight is not None:
        estimators = _weighted(estimators, are_named=methods is not None)
        weights = check_sample_weight(sample_weight, n_rows)
    answers = in_parallel(
        _fit,
        [(name, estimator, X, weights) for name, estimator in estimators.items()],
        n_jobs=n_jobs,
        progress=Progress("compare", n_runs=len(estimators), max_iter=1, enabled=False),
    )
    results = {
        name: answer.estimator for name, answer in zip(estimators, answers, strict=True)
    }
    shared = agreements([result.partition_.labels for result in results.values()])
    scores = []
    for name, answer, agreement in zip(results, answers, shared, strict=True):
        for category, message in answer.told:
            warn_user(f"{name}: {message}", category)
        scores.append(_scores(name, answer, agreement, y))
    return Comparison(tuple(scores), results)


def _named(methods: Any) -> dict[str, Any]:
    """Estimators by name; what occurs twice gets a number."""
    known = named_estimators(for_data_alone=True)
    if methods is None:
        return {
            name: each
            for name, each in known.items()
            if not each._is_for_categories and not each._is_for_more_tables
        }
    if isinstance(methods, Mapping):
        named = {str(name): estimator for name, estimator in methods.items()}
    else:
        if isinstance(methods, str) or not isinstance(methods, Iterable):
            raise ValueError(
                "methods must be a list of names or estimators, or a dictionary of "
                f"estimators, got {shown(methods)}"
            )
        named = {}
        with naming("methods"):
            listed = list(methods)
        for method in listed:
            name = type(method).__name__
            if isinstance(method, str):
                name = check_choice("methods", method, known)
                method = known[name]
            n_before = sum(other.split(" #")[0] == name for other in named)
            named[f"{name} #{n_before + 1}" if n_before else name] = method
    if not named:
        raise ValueError("methods must hold at least one method, got none")
    for name, estimator in named.items():
        if not isinstance(estimator, BaseCredalClusterer):
            raise ValueError(
                f"methods must hold estimators of credalis or their names, got "
                f"{estimator!r} for {name!r}"
            )
    return named


def _weighted(
    estimators: dict[str, BaseCredalClusterer], *, are_named: bool
) -> dict[str, BaseCredalClusterer]:
    """Those that take weights; others are an error if somebody has named them."""
    able = {
        name: each
        for name, each in estimators.items()
        if has_fit_parameter(each, "sample_weight")
    }
    unable = [name for name in estimators if name not in able]
    if are_named and unable:
        raise ValueError(
            f"sample_weight must be None for methods that take no weights, as "
            f"{', '.join(unable)}"
        )
    return able


def _check_classes(n_rows: int, y: ArrayLike) -> None:
    """Refuse classes that do not fit the rows, before fits that may take long."""
    n_classes = len(class_codes("y", y)[0])
    if n_classes != n_rows:
        raise ValueError(
            f"y must have one class for each row of X, got {n_classes} for {n_rows}"
        )


def _configured(
    estimator: BaseCredalClusterer, n_clusters: int | None, random_state: int | None
) -> BaseCredalClusterer:
    """A clone with the number of clusters and the seed, where it takes them."""
    estimator = clone(estimator)
    parameters = estimator.get_params(deep=False)
    if n_clusters is not None and "n_clusters" in parameters:
        estimator.set_params(n_clusters=n_clusters)
    if parameters.get("random_state") is None and "random_state" in parameters:
        estimator.set_params(random_state=random_state)
    return estimator


@dataclass(frozen=True, eq=False)
class _Answer:
    """A fitted estimator and what its fit was like.

    ``told`` holds categories and texts of warnings.
    """

    estimator: BaseCredalClusterer
    seconds: float
    told: list[tuple[type[Warning], str]]
    stability: float | None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Kinds of warnings that concern the result."""
        kinds = {kind for kind, _ in self.told if not issubclass(kind, _NOT_AGAINST)}
        return tuple(sorted(kind.__name__ for kind in kinds))


def _fit(
    name: str,
    estimator: BaseCredalClusterer,
    X: ArrayLike,
    weights: NDArray[np.float64] | None,
) -> _Answer:
    """Fit to all objects, and again to a part of them."""
    given = {} if weights is None else {"sample_weight": weights}
    start = time.perf_counter()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            estimator.fit(X, **given)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from error
    # The best so far of a fit that was stopped is nothing to compare.
    poll()
    seconds = time.perf_counter() - start
    return _Answer(
        estimator,
        seconds,
        [(each.category, str(each.message)) for each in told],
        _stability(estimator, X, weights),
    )


def _stability(
    estimator: BaseCredalClusterer,
    X: Any,
    weights: NDArray[np.float64] | None,
) -> float | None:
    """Adjusted Rand index with the result on a part of the objects."""
    rng = np.random.RandomState(0)
    n_all = len(estimator.partition_)
    rows = rng.permutation(n_all)[: min(round(_SHARE * n_all), _MAX_ROWS)]
    is_pairwise = get_tags(estimator).input_tags.pairwise
    part = take_rows(X, rows, is_pairwise=is_pairwise)
    again = clone(estimator)
    if "random_state" in again.get_params(deep=False):
        again.set_params(random_state=1 + rng.randint(np.iinfo(np.int32).max))
    with warnings.catch_warnings():
        # Whatever there is to warn of was said of the fit to all objects.
        warnings.simplefilter("ignore")
        try:
            again.fit(
                part, **({} if weights is None else {"sample_weight": weights[rows]})
            )
        except ValueError:
            # Too few objects, or parameters that are about all of them.
            return None
    return float(
        adjusted_rand_score(estimator.partition_.labels[rows], again.partition_.labels)
    )


def _scores(
    name: str, answer: _Answer, agreement: float | None, y: ArrayLike | None
) -> Scores:
    partition = answer.estimator.partition_
    return Scores(
        method=name,
        clusters=len(np.unique(partition.labels)),
        ari=None if y is None else adjusted_rand_index(partition, y),
        ci=None if y is None else consistency_index(partition, y),
        ns=nonspecificity_index(partition),
        nonspecificity=float(partition.average_nonspecificity),
        outliers=int(partition.is_outlier.sum()),
        agreement=agreement,
        stability=answer.stability,
        warnings=answer.warnings,
        seconds=answer.seconds,
    )
