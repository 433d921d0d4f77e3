"""How the columns of a table become the numbers that an estimator sees."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from credalis import _archive
from credalis._checks import check_choice
from credalis._choices import MISSING, SCALINGS
from credalis.tables import as_matrix
from credalis.tables._table import as_array, listed
from credalis.tabular._columns import Columns
from credalis.tabular._scaling import check_finite_columns, constant_columns, scaling_of

if TYPE_CHECKING:
    import pyarrow as pa

# More categories than this are names, not categories.
_MAX_CATEGORIES = 50


def _check_columns(owner: str, entries: _archive.Entries) -> None:
    numeric, categories = entries["numeric"], entries["categories"]
    if len(numeric) != len(entries["center"]):
        raise ValueError(
            f"{owner}.center must have an entry for each of {len(numeric)} numeric "
            f"columns, got {len(entries['center'])}"
        )
    if len({*numeric, *categories}) != len(numeric) + len(categories):
        raise ValueError(f"{owner} must have different columns, got {numeric}")
    if entries["fill_categories"].keys() != categories.keys():
        raise ValueError(f"{owner}.fill_categories must be about its categories")


@dataclass(frozen=True, eq=False)
class Preparation(_archive.SavedFields):
    """Columns, their scaling, their categories, and what stands in for missing values.

    A number x becomes (x - center) / scale. A text becomes one indicator for each
    category, 0 or 1 and not scaled: two different categories are then as far apart as
    two typical values of a standardised column. A category that was not there when the
    preparation was made has no indicator.

    Attributes
    ----------
    numeric : tuple of str
        Columns of numbers.
    categories : dict of str to list of str
        For each column of text its categories.
    scaling, missing : str
        As in `prepare`.
    center, scale, fill : array of shape (n_numeric,)
        For each column of numbers; `fill` is the median.
    fill_categories : dict of str to str
        For each column of text the most frequent category.
    """

    numeric: tuple[str, ...]
    categories: dict[str, list[str]]
    scaling: str
    missing: str
    center: NDArray[np.float64]
    scale: NDArray[np.float64]
    fill: NDArray[np.float64]
    fill_categories: dict[str, str]

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "numeric": _archive.Each(_archive.Text()),
            "categories": _archive.Named(_archive.Each(_archive.Text())),
            "scaling": _archive.Choice(*SCALINGS),
            "missing": _archive.Choice(*MISSING),
            "center": _archive.Array("f", ("n_numeric",)),
            "scale": _archive.Array("f", ("n_numeric",), above=0),
            "fill": _archive.Array("f", ("n_numeric",)),
            "fill_categories": _archive.Named(_archive.Text()),
        },
        relations=(_check_columns,),
    )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that a table must have."""
        return (*self.numeric, *self.categories)

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of the matrix, as in "width" and "colour=red"."""
        indicators = [
            f"{name}={category}"
            for name, categories in self.categories.items()
            for category in categories
        ]
        return [*self.numeric, *indicators]

    def check_table(self, name: str, columns: Sequence[str]) -> None:
        """Refuse a table without the columns that are needed; others are ignored."""
        present = set(columns)
        absent = [column for column in self.columns if column not in present]
        if absent:
            raise ValueError(
                f"{name} lacks {'column' if len(absent) == 1 else 'columns'} "
                f"{listed(absent)} that the model was fitted with; it has "
                f"{listed(columns)}"
            )

    def transform(
        self,
        batch: "pa.RecordBatch | pa.Table",
        *,
        missing: str | None = None,
        name: str = "the table",
        first_row: int = 0,
    ) -> "Features":
        """The matrix of a batch.

        Parameters
        ----------
        batch : pyarrow RecordBatch or Table
            With the columns of `columns`, in any order.
        missing : str, default=None
            Another treatment of missing values than that of the fit.
        name, first_row
            For messages.
        """
        treatment = check_choice("missing", missing or self.missing, MISSING)
        numbers = as_matrix(batch, self.numeric)
        check_finite_columns(numbers, self.numeric, name, first_row)
        texts = {column: batch.column(column) for column in self.categories}
        is_missing = np.isnan(numbers).any(axis=1) | _has_no_text(texts, len(numbers))
        if is_missing.any() and treatment == "error":
            raise ValueError(
                f"{name}, row {first_row + int(is_missing.argmax())}: there is a "
                "missing value; --missing drop leaves such rows empty, --missing "
                "impute fills in the medians of the data the model was fitted to"
            )
        if treatment == "impute":
            np.copyto(numbers, self.fill, where=np.isnan(numbers))
            is_kept = np.ones(len(numbers), dtype=bool)
        else:
            is_kept = ~is_missing
        indicators, n_unknown = self._indicators(texts, len(numbers))
        numbers -= self.center
        numbers /= self.scale
        X = np.concatenate([numbers, indicators], axis=1) if texts else numbers
        return Features(X if is_kept.all() else X[is_kept], is_kept, n_unknown)

    def _indicators(
        self, texts: dict[str, Any], n_rows: int
    ) -> tuple[NDArray[np.float64], int]:
        """Indicators of all categories, and how many cells have an unknown one."""
        import pyarrow as pa
        import pyarrow.compute as pc

        blocks, n_unknown = [np.empty((n_rows, 0))], 0
        for name, categories in self.categories.items():
            values = texts[name].cast(pa.string())
            filled = pc.fill_null(values, self.fill_categories[name])
            codes = pc.fill_null(pc.index_in(filled, pa.array(categories)), -1)
            codes = as_array(codes)
            n_unknown += int((codes < 0).sum())
            blocks.append((codes[:, None] == np.arange(len(categories))).astype(float))
        return np.concatenate(blocks, axis=1), n_unknown


@dataclass(frozen=True, eq=False)
class Features:
    """What an estimator sees of a batch.

    Attributes
    ----------
    X : array of shape (n_kept, n_features)
        The rows without those that are left out.
    is_kept : array of bool, shape (n_rows,)
        Which rows these are.
    n_unknown : int
        Cells with a category that the preparation does not know.
    """

    X: NDArray[np.float64]
    is_kept: NDArray[np.bool_]
    n_unknown: int


@dataclass(frozen=True, eq=False)
class Prepared:
    """A table that is ready to be clustered.

    Attributes
    ----------
    preparation : Preparation
        What was done.
    X : array of shape (n_kept, n_features)
        The matrix.
    is_kept : array of bool, shape (n_rows,)
        Rows of the table that are in it.
    n_missing : dict of str to int
        For each column with missing values their number.
    notes : list of str
        What the user should know.
    """

    preparation: Preparation
    X: NDArray[np.float64]
    is_kept: NDArray[np.bool_]
    n_missing: dict[str, int]
    notes: list[str] = field(default_factory=list)


def prepare(
    columns: Columns,
    *,
    scaling: str = "standard",
    missing: str = "error",
    name: str = "the table",
) -> Prepared:
    """Learn the preparation of columns and apply it.

    Parameters
    ----------
    columns : Columns
        Values of the attributes.
    scaling : {"standard", "robust", "none"}, default="standard"
        "standard": mean 0 and standard deviation 1; "robust": median 0 and
        interquartile range 1.
    missing : {"error", "drop", "impute"}, default="error"
        What becomes of rows with missing values: a ValueError, left out, or filled in
        with the median or the most frequent category.
    name : str
        What the table is called in messages.
    """
    check_choice("scaling", scaling, SCALINGS)
    check_choice("missing", missing, MISSING)
    numbers = columns.numbers
    check_finite_columns(numbers, columns.numeric, name)
    n_missing = _missing_counts(columns)
    is_missing = np.isnan(numbers).any(axis=1) | _has_no_text(
        columns.texts, len(numbers)
    )
    if is_missing.any():
        _check_missing(name, missing, n_missing, is_missing)
    is_used = ~is_missing if missing == "drop" else np.ones(len(numbers), dtype=bool)
    used = numbers if is_used.all() else numbers[is_used]
    center, scale, notes = scaling_of(used, scaling, columns.numeric)
    categories, frequent = _categories(columns.texts, is_used, name)
    preparation = Preparation(
        numeric=columns.numeric,
        categories=categories,
        scaling=scaling,
        missing=missing,
        center=center,
        scale=scale,
        fill=np.nanmedian(used, axis=0) if used.size else np.zeros(used.shape[1]),
        fill_categories=frequent,
    )
    notes += constant_columns(used, columns.numeric)
    features = preparation.transform(_as_arrow(columns))
    return Prepared(preparation, features.X, features.is_kept, n_missing, notes)


def _as_arrow(columns: Columns) -> "pa.Table":
    import pyarrow as pa

    numbers = {
        name: pa.array(columns.numbers[:, j], from_pandas=True)
        for j, name in enumerate(columns.numeric)
    }
    return pa.table({**numbers, **columns.texts})


def _missing_counts(columns: Columns) -> dict[str, int]:
    counts = dict(
        zip(
            columns.numeric, np.isnan(columns.numbers).sum(axis=0).tolist(), strict=True
        )
    )
    counts.update({name: text.null_count for name, text in columns.texts.items()})
    return {name: count for name, count in counts.items() if count}


def _check_missing(
    name: str, missing: str, counts: dict[str, int], is_missing: NDArray[np.bool_]
) -> None:
    """Refuse what the treatment cannot cure."""
    n_rows = len(is_missing)
    empty = [column for column, count in counts.items() if count == n_rows]
    if empty:
        raise ValueError(
            f"{name} has no value at all in {listed(empty)}: leave that out with "
            f"--exclude {','.join(empty)}"
        )
    shown = ", ".join(f"{column!r} {count}" for column, count in counts.items())
    if missing == "error":
        raise ValueError(
            f"{name} has missing values in {int(is_missing.sum())} of {n_rows} rows "
            f"({shown}): --missing drop leaves these rows out, --missing impute fills "
            "in medians"
        )
    if missing == "drop" and is_missing.all():
        raise ValueError(
            f"{name} has missing values in all of its {n_rows} rows ({shown}): exclude "
            "columns, or use --missing impute"
        )


def _has_no_text(texts: dict[str, Any], n_rows: int) -> NDArray[np.bool_]:
    is_missing = np.zeros(n_rows, dtype=bool)
    for values in texts.values():
        if values.null_count:
            is_missing |= as_array(values.is_null())
    return is_missing


def _categories(
    texts: dict[str, Any], is_used: NDArray[np.bool_], name: str
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Categories of each column of text, sorted, and its most frequent one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    categories, frequent = {}, {}
    for column, values in texts.items():
        used = values.cast(pa.string()).filter(pa.array(is_used)).drop_null()
        counts = {
            item["values"]: item["counts"] for item in pc.value_counts(used).to_pylist()
        }
        if len(counts) > _MAX_CATEGORIES:
            raise ValueError(
                f"{name}, column {column!r} has {len(counts)} different texts, too "
                f"many for categories (at most {_MAX_CATEGORIES}): --exclude {column}, "
                f"or --id {column} if it identifies the rows"
            )
        categories[column] = sorted(counts)
        frequent[column] = max(sorted(counts), key=counts.__getitem__)
    return categories, frequent
