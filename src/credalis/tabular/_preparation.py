"""How the columns of a table become the numbers that an estimator sees."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from credalis import _archive
from credalis._checks import check_choice
from credalis._choices import MISSING, SCALINGS
from credalis._weights import copies
from credalis.dissimilarity import Gower, extent_of
from credalis.tables._table import as_array, check_names, listed, option
from credalis.tabular._columns import MAX_CATEGORIES, Columns, Plan
from credalis.tabular._readings import as_strings
from credalis.tabular._scaling import check_finite_columns, constant_columns, scaling_of

if TYPE_CHECKING:
    import pyarrow as pa

METRICS = ("euclidean", "gower")
WEIGHTS = ("balanced", "equal")


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
    known = {*numeric, *categories, *entries.get("plan", Plan()).cyclic}
    if not set(entries.get("gappy", ())) <= known:
        raise ValueError(f"{owner}.gappy must be some of its columns")
    extent = entries.get("extent")
    if extent is not None and (extent[0] > extent[1]).any():
        raise ValueError(f"{owner}.extent must hold no low above its high")
    weights = entries.get("weights")
    if weights is not None and len(weights) != len(known):
        raise ValueError(
            f"{owner}.weights must have an entry for each of {len(known)} columns, got "
            f"{len(weights)}"
        )
    if entries.get("metric") == "gower" and extent is None:
        raise ValueError(f"{owner}.extent must not be None with the metric of Gower")


@dataclass(frozen=True, eq=False)
class Preparation(_archive.SavedFields):
    """Columns, their scaling, their categories, and what stands in for missing values.

    A number x becomes (x - center) / scale, a value of a column that begins again its
    cosine and sine. A text becomes one indicator for each category, 0 or 1 and not
    scaled: two different categories are then as far apart as two typical values of a
    standardised column. A category that was not there when the preparation was made has
    no indicator. With ``missing="pairwise"``, columns with gaps have an indicator of
    them at the end, by which `gower` leaves them out of a pair.

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
    plan : Plan
        How cells are read.
    gappy : tuple of str
        Columns with an indicator of missing cells.
    metric : str
        As in `prepare`.
    extent : array of shape (2, n_numeric) or None
        Where each column of numbers begins and ends, for the metric of Gower.
    weights : array of shape (n_attributes,) or None
        How much each column counts in it; None: all alike.
    """

    numeric: tuple[str, ...]
    categories: dict[str, list[str]]
    scaling: str
    missing: str
    center: NDArray[np.float64]
    scale: NDArray[np.float64]
    fill: NDArray[np.float64]
    fill_categories: dict[str, str]
    plan: Plan = field(default_factory=Plan)
    gappy: tuple[str, ...] = ()
    metric: str = "euclidean"
    extent: NDArray[np.float64] | None = None
    weights: NDArray[np.float64] | None = None

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
        # Files of earlier versions have numbers and categories alone.
        {
            "plan": _archive.Instance(Plan),
            "gappy": _archive.Each(_archive.Text()),
            "metric": _archive.Choice(*METRICS),
            "extent": _archive.OneOf(
                _archive.Nothing(), _archive.Array("f", (2, "n_numeric"))
            ),
            "weights": _archive.OneOf(
                _archive.Nothing(), _archive.Array("f", (None,), above=0)
            ),
        },
        relations=(_check_columns,),
    )

    @property
    def cyclic(self) -> tuple[str, ...]:
        """Names of the columns that begin again."""
        return tuple(self.plan.cyclic)

    @property
    def attributes(self) -> tuple[str, ...]:
        """Names of all columns that count; parts of a date have their own."""
        return (*self.numeric, *self.cyclic, *self.categories)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that a table must have."""
        sources = self.plan.sources
        names = [sources.get(name, name) for name in self.attributes]
        return tuple(dict.fromkeys(names))

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of the matrix, as in "width" and "colour=red"."""
        circles = [
            f"{name} ({axis})" for name in self.cyclic for axis in ("cosine", "sine")
        ]
        indicators = [
            f"{name}={category}"
            for name, categories in self.categories.items()
            for category in categories
        ]
        gaps = [f"{name} is missing" for name in self.gappy]
        return [*self.numeric, *circles, *indicators, *gaps]

    def gower(self) -> Gower | None:
        """Gower's dissimilarity of rows of the matrix; None: it is not asked for."""
        if self.metric != "gower" or self.extent is None:
            return None
        n_numbers, n_circles = len(self.numeric), 2 * len(self.cyclic)
        start = n_numbers + n_circles
        categories = []
        for own in self.categories.values():
            categories.append(tuple(range(start, start + len(own))))
            start += len(own)
        places = {name: start + j for j, name in enumerate(self.gappy)}
        low, high = (self.extent - self.center) / self.scale
        return Gower(
            n_features=len(self.feature_names),
            numbers=np.arange(n_numbers),
            low=low,
            high=high,
            cyclic=np.arange(n_numbers, n_numbers + n_circles, 2),
            categories=tuple(categories),
            gaps=np.array([places.get(name, -1) for name in self.attributes]),
            weights=np.ones(len(self.attributes))
            if self.weights is None
            else self.weights,
        )

    def check_table(self, name: str, columns: Sequence[str]) -> None:
        """Refuse a table without the columns that are needed; others are ignored."""
        needed, present = set(self.columns), set(columns)
        check_names(name, [column for column in columns if column in needed])
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
        numbers = self.plan.numbers_of(batch, self.numeric)
        cycles = self.plan.numbers_of(batch, self.cyclic)
        texts = {key: as_strings(batch.column(key), key) for key in self.categories}
        check_finite_columns(numbers, self.numeric, name, first_row)
        check_finite_columns(cycles, self.cyclic, name, first_row)
        return self.encode(
            numbers, cycles, texts, missing=missing, name=name, first_row=first_row
        )

    def encode(
        self,
        numbers: NDArray[np.float64],
        cycles: NDArray[np.float64],
        texts: dict[str, Any],
        *,
        missing: str | None = None,
        name: str = "the table",
        first_row: int = 0,
    ) -> "Features":
        """The matrix of values, as `transform`; the numbers are overwritten."""
        treatment = check_choice("missing", missing or self.missing, MISSING)
        unknown = unknown_cells(numbers, cycles, texts)
        is_missing = np.asarray(unknown.any(axis=1))
        if is_missing.any() and treatment == "error":
            raise ValueError(
                f"{name}, row {first_row + int(is_missing.argmax())}: there is a "
                "missing value; --missing drop leaves such rows empty, --missing "
                "impute fills in the medians of the data the model was fitted to"
            )
        is_kept: NDArray[np.bool_] = ~is_missing
        if treatment == "impute":
            is_kept = np.ones(len(numbers), dtype=bool)
        elif treatment == "pairwise":
            is_kept = np.asarray((~unknown).any(axis=1))
        np.copyto(numbers, self.fill, where=np.isnan(numbers))
        indicators, n_unknown = self._indicators(texts, len(numbers), treatment)
        numbers -= self.center
        numbers /= self.scale
        X = numbers
        if X.shape[1] < len(self.feature_names):
            gaps = self._gaps(unknown) * (treatment != "impute")
            X = np.concatenate([X, self._circles(cycles), indicators, gaps], axis=1)
        n_filled = self._n_filled(unknown[is_kept], treatment)
        X = X if is_kept.all() else X[is_kept]
        return Features(X, is_kept, n_unknown, n_filled)

    def _n_filled(self, unknown: NDArray[np.bool_], treatment: str) -> int:
        """How many missing cells of the rows that are kept no indicator tells of."""
        if treatment == "pairwise":
            is_told = [name in self.gappy for name in self.attributes]
            unknown = unknown[:, ~np.array(is_told, dtype=bool)]
        return int(unknown.sum())

    def matrix(
        self, content: "pa.Table", *, missing: str | None = None, name: str = "X"
    ) -> NDArray[np.float64]:
        """The matrix of a whole table; no row is left out, not even one of gaps."""
        self.check_table(name, content.schema.names)
        features = self.transform(content, missing=missing, name=name)
        if features.is_kept.all():
            return features.X
        matrix = np.tile(self.blank(), (len(features.is_kept), 1))
        matrix[features.is_kept] = features.X
        return matrix

    def blank(self) -> NDArray[np.float64]:
        """What stands in the matrix for a row of which no cell is known."""
        features = np.zeros(len(self.feature_names))
        features[: len(self.numeric)] = (self.fill - self.center) / self.scale
        features[len(features) - len(self.gappy) :] = 1.0
        return features

    def _circles(self, cycles: NDArray[np.float64]) -> NDArray[np.float64]:
        """Cosines and sines, side by side; 0 where there is no value."""
        angles = 2 * np.pi * cycles / np.array(list(self.plan.cyclic.values()))
        points = np.stack([np.cos(angles), np.sin(angles)], axis=2)
        return np.nan_to_num(points.reshape(len(cycles), -1), nan=0.0)

    def _gaps(self, unknown: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Indicators of missing cells."""
        places = {name: j for j, name in enumerate(self.attributes)}
        return unknown[:, [places[name] for name in self.gappy]].astype(np.float64)

    def _indicators(
        self, texts: dict[str, Any], n_rows: int, treatment: str
    ) -> tuple[NDArray[np.float64], int]:
        """Indicators of all categories, and how many cells have an unknown one."""
        import pyarrow as pa
        import pyarrow.compute as pc

        blocks, n_unknown = [np.empty((n_rows, 0))], 0
        for name, categories in self.categories.items():
            values = texts[name]
            if treatment != "pairwise":
                values = pc.fill_null(values, self.fill_categories[name])
            found = pc.index_in(values, pa.array(categories, pa.string()))
            codes = as_array(pc.fill_null(found, -1))
            n_unknown += int((codes < 0).sum()) - values.null_count
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
    n_filled : int
        Missing cells that something else stands in for, without an indicator.
    """

    X: NDArray[np.float64]
    is_kept: NDArray[np.bool_]
    n_unknown: int
    n_filled: int = 0


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
    metric: str = "euclidean",
    weights: str = "balanced",
    sample_weight: NDArray[np.float64] | None = None,
    name: str = "the table",
) -> Prepared:
    """Learn the preparation of columns and apply it.

    Parameters
    ----------
    columns : Columns
        Values of the attributes.
    scaling : {"standard", "robust", "none"}, default="standard"
        "standard": mean 0 and standard deviation 1; "robust": median 0 and
        interquartile range 1. The range that Gower's dissimilarity divides by is that
        of all values, with "robust" that of their inner 90 %.
    missing : {"error", "drop", "impute", "pairwise"}, default="error"
        What becomes of rows with missing values: a ValueError, left out, or filled in
        with the median or the most frequent category. "pairwise": with indicators, by
        which Gower's dissimilarity leaves a column out of a pair; for Euclidean
        distances, with the median or with no category at all.
    metric : {"euclidean", "gower"}, default="euclidean"
        Whether Gower's dissimilarity will be asked for.
    weights : {"balanced", "equal"}, default="balanced"
        Whether its columns count so that all add alike, on average over pairs of rows,
        or all with the same weight.
    sample_weight : array of shape (n_rows,), default=None
        How often each row counts for scales, medians and balance; None: once.
    name : str
        What the table is called in messages.
    """
    check_choice("scaling", scaling, SCALINGS)
    check_choice("missing", missing, MISSING)
    check_choice("metric", metric, METRICS)
    check_choice("weights", weights, WEIGHTS)
    numbers = columns.numbers
    check_finite_columns(numbers, columns.numeric, name)
    check_finite_columns(columns.cycles, columns.cyclic, name)
    texts = {key: as_strings(values, key) for key, values in columns.texts.items()}
    cycles = columns.cycles
    unknown = unknown_cells(numbers, cycles, texts)
    n_missing = missing_counts(columns)
    is_missing = np.asarray(unknown.any(axis=1))
    if is_missing.any():
        _check_missing(name, missing, n_missing, unknown)
    is_used: NDArray[np.bool_] = ~is_missing
    if missing != "drop":
        is_used = np.asarray((~unknown).any(axis=1))
    counted = _counted_rows(is_used, sample_weight)
    used = numbers if counted is None else numbers[counted]
    center, scale, notes = scaling_of(used, scaling, columns.numeric)
    categories, frequent = _categories(texts, is_used, name)
    preparation = Preparation(
        numeric=columns.numeric,
        categories=categories,
        scaling=scaling,
        missing=missing,
        center=center,
        scale=scale,
        fill=np.nanmedian(used, axis=0) if used.size else np.zeros(used.shape[1]),
        fill_categories=frequent,
        plan=columns.plan,
        gappy=tuple(n_missing) if (missing, metric) == ("pairwise", "gower") else (),
        metric=metric,
        extent=None
        if metric == "euclidean"
        else np.array(extent_of(used, "robust" if scaling == "robust" else "range")),
    )
    notes += constant_columns(used, columns.numeric)
    features = preparation.encode(numbers.copy(), cycles, texts, name=name)
    gower = preparation.gower()
    if gower is not None and weights == "balanced":
        rows = features.X
        if sample_weight is not None:
            # Rows of the matrix are those that were kept.
            assert counted is not None
            place = np.cumsum(features.is_kept) - 1
            rows = rows[place[counted]]
        balanced = gower.balanced(rows).weights
        preparation = replace(preparation, weights=balanced)
    return Prepared(preparation, features.X, features.is_kept, n_missing, notes)


def _counted_rows(
    is_used: NDArray[np.bool_], sample_weight: NDArray[np.float64] | None
) -> NDArray[Any] | None:
    """Which rows count, those with weights as often as these say; None: all."""
    if sample_weight is None:
        return None if is_used.all() else is_used
    rows = np.flatnonzero(is_used & (sample_weight > 0))
    if not len(rows):
        return is_used
    return rows[copies(rows[:, None].astype(np.float64), sample_weight[rows])]


def missing_counts(columns: Columns) -> dict[str, int]:
    """For each column with missing cells their number."""
    counts = [
        *np.isnan(columns.numbers).sum(axis=0).tolist(),
        *np.isnan(columns.cycles).sum(axis=0).tolist(),
        *(values.null_count for values in columns.texts.values()),
    ]
    return {
        name: count for name, count in zip(columns.names, counts, strict=True) if count
    }


def unknown_cells(
    numbers: NDArray[np.float64], cycles: NDArray[np.float64], texts: dict[str, Any]
) -> NDArray[np.bool_]:
    """Which cells have no value, (n_rows, n_columns)."""
    is_null = [as_array(values.is_null())[:, None] for values in texts.values()]
    return np.concatenate([np.isnan(numbers), np.isnan(cycles), *is_null], axis=1)


def _check_missing(
    name: str, missing: str, counts: dict[str, int], unknown: NDArray[np.bool_]
) -> None:
    """Refuse what the treatment cannot cure."""
    n_rows, is_missing = len(unknown), unknown.any(axis=1)
    empty = [column for column, count in counts.items() if count == n_rows]
    if empty:
        raise ValueError(
            f"{name} has no value at all in {listed(empty)}: leave that out with "
            f"{option('--exclude', empty)}"
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


def _categories(
    texts: dict[str, Any], is_used: NDArray[np.bool_], name: str
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Categories of each column of text, sorted, and its most frequent one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    categories, frequent = {}, {}
    for column, values in texts.items():
        used = values.filter(pa.array(is_used)).drop_null()
        counts = {
            item["values"]: item["counts"] for item in pc.value_counts(used).to_pylist()
        }
        if len(counts) > MAX_CATEGORIES:
            raise ValueError(
                f"{name}, column {column!r} has {len(counts)} different texts, too "
                f"many for categories (at most {MAX_CATEGORIES}): "
                f"{option('--exclude', [column])}, or {option('--id', [column])} if it "
                "identifies the rows"
            )
        categories[column] = sorted(counts)
        frequent[column] = max(sorted(counts), key=counts.__getitem__)
    return categories, frequent
