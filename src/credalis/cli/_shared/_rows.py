"""Rows of a table by the identifiers that files call them by."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from credalis.cli._shared._data import Data


class Rows:
    """Row numbers of the matrix by identifier.

    Parameters
    ----------
    table : str
        What the table is called in messages.
    texts : sequence of str
        Identifiers of all rows of the table.
    is_kept : array of bool, shape (n_rows,)
        Which of them are in the matrix.
    id_column : str or None
        The column of the identifiers; None: they are row numbers.
    """

    def __init__(
        self,
        table: str,
        texts: Sequence[str],
        is_kept: NDArray[np.bool_],
        id_column: str | None,
    ) -> None:
        self.what = "row" if id_column is None else f"value of {id_column!r}"
        self.table = table
        self.n_rows = int(is_kept.sum())
        self._numbers = np.cumsum(is_kept) - 1
        self._is_kept = is_kept
        self._positions = {text: position for position, text in enumerate(texts)}
        if len(self._positions) < len(texts):
            twice, _ = Counter(texts).most_common(1)[0]
            raise ValueError(
                f"{table}: labels and pairs need unique identifiers, but {twice!r} "
                f"occurs more than once in {id_column!r}"
            )

    @classmethod
    def of(cls, data: Data) -> "Rows":
        """The rows of a table that has been prepared."""
        return cls(data.name, data.key_texts(), data.prepared.is_kept, data.id_column)

    def __contains__(self, text: str) -> bool:
        return text in self._positions

    def number(self, path: str, line: int, text: str) -> int:
        """Row number of an identifier, or a ValueError that says where it stands."""
        if text not in self._positions:
            numbering = " (rows are numbered from 0)" if self.what == "row" else ""
            raise ValueError(
                f"{path}, row {line}: {self.table} has no {self.what} {text!r}"
                f"{numbering}"
            )
        position = self._positions[text]
        if not self._is_kept[position]:
            raise ValueError(
                f"{path}, row {line}: {self.what} {text!r} was left out because of "
                "missing values; remove it here, or use --missing impute"
            )
        return int(self._numbers[position])
