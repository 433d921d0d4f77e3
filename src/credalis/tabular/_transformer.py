"""TablePreparation: the preparation of a table as a transformer of scikit-learn."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from credalis._checks import check_choice, is_frame, naming, shown
from credalis._choices import DATE_PARTS
from credalis._refusals import refuses_by_name
from credalis._weights import check_sample_weight
from credalis.dissimilarity import Gower
from credalis.tabular._decisions import decide
from credalis.tabular._frames import FrameTable, as_arrow
from credalis.tabular._preparation import SCALINGS, Preparation, prepare

if TYPE_CHECKING:
    import pyarrow as pa

_MISSING = ("pairwise", "impute", "error")


class TablePreparation(TransformerMixin, BaseEstimator):
    """From the columns of a table, whatever they hold, to a matrix of numbers.

    Numbers are scaled, truth values are 0 and 1, dates are days, words with few values
    and pandas' or polars' categories become indicators, ordered categories ranks;
    columns that identify rows, free text and columns of one value are left out. What
    was decided is in ``decisions_``, a line each. ``credalis cluster`` does the same.

    Parameters
    ----------
    scaling : {"standard", "robust", "none"}, default="standard"
        What becomes of numbers: mean 0 and standard deviation 1, median 0 and
        interquartile range 1, or themselves. With "robust" the range that Gower's
        dissimilarity divides by is that of the inner 90 % of the values.
    missing : {"pairwise", "impute", "error"}, default="pairwise"
        What becomes of missing cells. "pairwise": ``metric_`` leaves the column out of
        pairs with such a cell; in the matrix, a median and an indicator stand for it.
        "impute": a median or the most frequent category. "error": a ValueError.
    weights : {"balanced", "equal"}, default="balanced"
        How much columns count in ``metric_``: so that all add alike, on average over
        pairs of rows, or all with the same weight, by which categories outvote numbers.
    columns : sequence of str, default=None
        The columns that count; None: all that look as if they could.
    exclude : sequence of str, default=()
        Columns that do not count.
    date_parts : sequence of str, default=("days",)
        What becomes of dates: some of "days" since 1970-01-01, "year", "month",
        "weekday" and "hour", of which the last three begin again.
    orders : dict of str to sequence of str, default=None
        Columns whose categories have an order, from the lowest to the highest.
        Ordered categories of pandas have theirs.
    cyclic : dict of str to float, default=None
        Columns of numbers that begin again, and their periods, as in ``{"hour": 24}``.

    Attributes
    ----------
    preparation_ : Preparation
        What is done to a table; `TabularModel` takes it.
    metric_ : Gower
        Gower's dissimilarity between rows of the matrix, for ``metric=`` of an
        estimator.
    decisions_ : list of str
        What was decided about the columns.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : array of str
        Their names, if it has some.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis import EVCLUS
    >>> from credalis.tabular import TablePreparation
    >>> table = {"size": [1.0, 1.2, None, 8.8, 9.1, 9.0],
    ...          "colour": ["red", "red", "red", "blue", "blue", None]}
    >>> preparation = TablePreparation()
    >>> X = preparation.fit_transform(table)
    >>> preparation.get_feature_names_out().tolist()
    ['size', 'colour=blue', 'colour=red', 'size is missing', 'colour is missing']
    >>> model = EVCLUS(2, metric=preparation.metric_, random_state=0).fit(X)
    >>> model.labels_.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    True
    """

    preparation_: Preparation
    metric_: Gower
    decisions_: list[str]
    n_features_in_: int
    feature_names_in_: NDArray[np.object_]

    def __init__(
        self,
        *,
        scaling: str = "standard",
        missing: str = "pairwise",
        weights: str = "balanced",
        columns: Sequence[str] | None = None,
        exclude: Sequence[str] = (),
        date_parts: Sequence[str] = ("days",),
        orders: Mapping[str, Sequence[str]] | None = None,
        cyclic: Mapping[str, float] | None = None,
    ) -> None:
        self.scaling = scaling
        self.missing = missing
        self.weights = weights
        self.columns = columns
        self.exclude = exclude
        self.date_parts = date_parts
        self.orders = orders
        self.cyclic = cyclic

    @refuses_by_name
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what the columns hold.

        Parameters
        ----------
        X : DataFrame of pandas or polars, pyarrow Table, dict of columns, or array
            The table.
        y : ignored
            Present for compatibility with pipelines.

        Returns
        -------
        self
        """
        return self._learn(X)

    def _learn(self, X: Any, sample_weight: NDArray[np.float64] | None = None) -> Self:
        """`fit`, with weights of the rows for scales and balance."""
        check_choice("scaling", self.scaling, SCALINGS)
        check_choice("missing", self.missing, _MISSING)
        with naming("date_parts"):
            date_parts = tuple(self.date_parts)
        for part in date_parts:
            check_choice("date_parts", part, tuple(DATE_PARTS))
        for name in ("orders", "cyclic"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, Mapping):
                raise ValueError(f"{name} must be a mapping, got {shown(value)}")
        content = self._content(X, reset=True)
        columns, self.decisions_ = decide(
            FrameTable(content),
            self.columns,
            exclude=self.exclude,
            date_parts=date_parts,
            orders=self.orders,
            cyclic=self.cyclic,
        )
        found = prepare(
            columns,
            scaling=self.scaling,
            missing=self.missing,
            metric="gower",
            weights=self.weights,
            sample_weight=check_sample_weight(sample_weight, len(columns)),
            name="X",
        )
        self.preparation_ = found.preparation
        metric = found.preparation.gower()
        assert metric is not None
        self.metric_ = metric
        return self

    def _content(self, X: Any, *, reset: bool) -> "pa.Table":
        """The columns of a frame or of an array; a fit remembers their number."""
        if not is_frame(X):
            # An array has to be what scikit-learn says it has to be.
            with naming("X"):
                X = validate_data(
                    self,
                    X,
                    reset=reset,
                    dtype=None,
                    ensure_all_finite="allow-nan" if self.missing != "error" else True,
                )
            return as_arrow(X)
        content = as_arrow(X)
        if reset:
            self.n_features_in_ = content.num_columns
            names = content.schema.names
            self.feature_names_in_ = np.array(names, dtype=object)
        return content

    @refuses_by_name
    def transform(self, X: Any) -> NDArray[np.float64]:
        """The matrix of a table, one row for each of its rows."""
        check_is_fitted(self)
        content = self._content(X, reset=False)
        return self.preparation_.matrix(content, missing=self.missing)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the columns of the matrix."""
        check_is_fitted(self)
        return np.array(self.preparation_.feature_names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def known_columns(X: Any) -> dict[str, Any]:
    """What an estimator that is fitted to a table remembers about its columns.

    All columns of an array count: no name tells what they are for.
    """
    with naming("X"):
        columns = None if is_frame(X) else [f"x{j}" for j in range(np.shape(X)[1])]
    found = TablePreparation(columns=columns).fit(X)
    names = ("n_features_in_", "feature_names_in_", "preparation_", "decisions_")
    return {name: getattr(found, name) for name in names if hasattr(found, name)}
