"""Which columns of a table are attributes, and their values."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credalis.tables import Table, as_matrix
from credalis.tables._dialect import is_number
from credalis.tables._table import listed

if TYPE_CHECKING:
    import pyarrow as pa

# A column of text is one of numbers with a few signs for "missing" if so much of it
# parses, and if no more different cells do not.
_MOSTLY = 0.5
_MAX_SIGNS = 3


@dataclass(frozen=True, eq=False)
class Columns:
    """Values of some columns of a table.

    Attributes
    ----------
    numeric : tuple of str
        Names of the columns of numbers.
    numbers : array of shape (n_rows, n_numeric)
        Their values, NaN where one is missing.
    texts : dict of str to pyarrow.ChunkedArray
        The columns of text.
    others : dict of str to pyarrow.ChunkedArray
        Columns that are no attributes: identifiers, classes.
    """

    numeric: tuple[str, ...]
    numbers: NDArray[np.float64]
    texts: dict[str, "pa.ChunkedArray"]
    others: dict[str, "pa.ChunkedArray"]

    def __len__(self) -> int:
        return len(self.numbers)


def choose_columns(
    table: Table,
    columns: Sequence[str] | None = None,
    *,
    exclude: Sequence[str] = (),
    one_hot: bool = False,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the attributes that are numbers, and of those that are text.

    Parameters
    ----------
    table : Table
        The table.
    columns : sequence of str, default=None
        The attributes; None: all columns but those in `exclude`.
    exclude : sequence of str, default=()
        Columns that are no attributes.
    one_hot : bool, default=False
        Whether text is allowed.

    Raises
    ------
    ValueError
        If a name is not in the table, if no attribute is left, or if one holds neither
        numbers nor text that is allowed.
    """
    table.check_columns(exclude)
    wanted = table.columns if columns is None else table.check_columns(columns)
    if len(set(wanted)) < len(wanted):
        raise ValueError(f"--columns must name each column once, got {listed(wanted)}")
    excluded = set(exclude)
    chosen = [name for name in wanted if name not in excluded]
    if not chosen:
        raise ValueError(f"{table.name} has no column left to cluster by")
    kinds = table.kinds
    numeric = tuple(name for name in chosen if kinds[name] == "number")
    text = tuple(name for name in chosen if kinds[name] == "text")
    other = [name for name in chosen if kinds[name] == "other"]
    if other:
        types = ", ".join(f"{name!r} {table.schema.field(name).type}" for name in other)
        raise ValueError(
            f"{table.name} has columns that are neither numbers nor text ({types}): "
            f"leave them out with --exclude {','.join(other)}"
        )
    if text and not one_hot:
        raise ValueError(_about_text(table, text))
    return numeric, text


def read_columns(
    table: Table,
    numeric: Sequence[str],
    text: Sequence[str] = (),
    others: Sequence[str] = (),
) -> Columns:
    """Read columns batch by batch, so that a file is not in memory as well."""
    import pyarrow as pa

    names = list(dict.fromkeys([*numeric, *text, *others]))
    pieces: list[NDArray[np.float64]] = []
    rest: dict[str, list[Any]] = {name: [] for name in (*text, *others)}
    for batch in table.batches(names):
        pieces.append(as_matrix(batch, numeric))
        for name, chunks in rest.items():
            chunks.append(batch.column(name))
    if not pieces:
        raise ValueError(f"{table.name} has a header but no rows")
    columns = {name: pa.chunked_array(chunks) for name, chunks in rest.items()}
    return Columns(
        numeric=tuple(numeric),
        numbers=pieces[0] if len(pieces) == 1 else np.concatenate(pieces),
        texts={name: columns[name] for name in text},
        others={name: columns[name] for name in others},
    )


def _about_text(table: Table, text: Sequence[str]) -> str:
    """What can be done about columns of text; signs for "missing" are recognised."""
    for name in text:
        signs = _signs_of_missing(table, name)
        if signs:
            shown = " ".join(f"--na {sign!r}" for sign in signs)
            return (
                f"{table.name}, column {name!r}: most cells are numbers, but not "
                f"{listed(signs)}; if that stands for a missing value: {shown}"
            )
    return (
        f"{table.name} has columns of text: {listed(text)}; leave them out with "
        f"--exclude {','.join(text)}, use their categories with --one-hot, or name the "
        "one that identifies the rows with --id"
    )


def _signs_of_missing(table: Table, name: str) -> list[str]:
    dialect = getattr(table, "dialect", None)
    if dialect is None:
        return []
    place = dialect.names.index(name)
    cells = [row[place].strip() for row in dialect.sample if len(row) > place]
    strange = sorted({cell for cell in cells if cell and not is_number(cell)})
    n_numbers = sum(map(is_number, cells))
    is_mostly_numbers = n_numbers > _MOSTLY * len(cells)
    return strange if is_mostly_numbers and 0 < len(strange) <= _MAX_SIGNS else []
