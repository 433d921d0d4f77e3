"""Source: rows that are read in blocks."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

from credalis._checks import check_integer
from credalis._control import poll
from credalis.tables import Table

Array = NDArray[np.float64]

# Rows of a batch, and numbers that are held while rows are mixed (16 MiB).
BATCH_ROWS = 2**16
_BUFFER_ENTRIES = 2**21
_MAX_BUFFER_ROWS = 2**18
_MIN_BUFFER_ROWS = 2**12

# A last part up to this share of a buffer joins the one before it.
_SMALL_SHARE = 0.25


class Source(ABC):
    """Rows of numbers that need not fit in memory.

    Attributes
    ----------
    name : str
        What the rows are called in messages.
    n_rows : int or None
        Number of rows; None if it is not known before all have been read.
    n_features : int
        Number of columns.
    feature_names : tuple of str or None
        Names of the columns, if they have any.
    is_repeatable : bool
        Whether the rows can be read more than once.
    """

    name: str = "X"
    n_rows: int | None
    n_features: int
    feature_names: tuple[str, ...] | None = None
    is_repeatable: bool = True

    def batches(self, max_rows: int = BATCH_ROWS) -> Iterator[Array]:
        """All rows in their order.

        Parameters
        ----------
        max_rows : int, default=65536
            Largest number of rows of a batch; batches may have fewer.

        Yields
        ------
        array of shape (n_batch_rows, n_features), finite
        """
        check_integer("max_rows", max_rows, at_least=1)
        n_seen = 0
        for part in self._parts(max_rows):
            self._check_columns(part)
            for start in range(0, len(part), max_rows):
                batch = part[start : start + max_rows]
                self._check(batch, first_row=n_seen)
                n_seen += len(batch)
                yield batch
        self._check_count(n_seen)

    def buffers(
        self, rng: np.random.RandomState, max_rows: int | None = None
    ) -> Iterator[Array]:
        """All rows in large parts, each of which comes from many places.

        How random it is depends on the source, see its class; inside a part rows are
        still in runs. `random_blocks` mixes them.

        Parameters
        ----------
        rng : RandomState
            Draws the places.
        max_rows : int, default=None
            Number of rows in memory together. By default 2²¹ numbers, but at least 4096
            and at most 262 144 rows. The last part may be up to a quarter larger.
        """
        if max_rows is None:
            max_rows = buffer_rows(self.n_features)
        check_integer("max_rows", max_rows, at_least=1)
        buffer: Array | None = None
        for part in self._mixed_parts(rng, max_rows):
            self._check(part)
            if buffer is None:
                buffer = part
            elif len(buffer) + len(part) <= (1 + _SMALL_SHARE) * max_rows:
                buffer = np.concatenate([buffer, part])
            else:
                yield buffer
                buffer = part
        if buffer is not None:
            yield buffer

    def random_blocks(self, rng: np.random.RandomState, size: int) -> Iterator[Array]:
        """All rows once, in random blocks of ``size`` rows or a few more.

        Each buffer is shuffled and cut into blocks: rows of one block are as random as
        the buffer is, see `buffers`.
        """
        check_integer("size", size, at_least=1)
        for buffer in self.buffers(rng):
            order = rng.permutation(len(buffer))
            yield from (
                buffer[rows]
                for rows in np.array_split(order, max(1, len(buffer) // size))
            )

    def sample(self, rng: np.random.RandomState, size: int) -> Array:
        """Rows drawn without replacement, all with the same chance, in their order.

        One pass over the rows; all of them if there are no more than ``size``.
        """
        check_integer("size", size, at_least=1)
        if self.n_rows is None:
            return self._reservoir(rng, size)
        size = min(size, self.n_rows)
        chosen = np.sort(
            sample_without_replacement(self.n_rows, size, random_state=rng)
        )
        return self._rows(chosen)

    def count(self) -> int:
        """Number of rows; all are read if it is not known."""
        if self.n_rows is None:
            for _ in self.batches():
                pass
        assert self.n_rows is not None
        return self.n_rows

    def sample_with(
        self, rng: np.random.RandomState, size: int, rows: NDArray[np.intp]
    ) -> tuple[Array, NDArray[np.intp]]:
        """A sample as by `sample`, these rows besides, and the numbers of them all."""
        n_rows = self.count()
        drawn = sample_without_replacement(n_rows, min(size, n_rows), random_state=rng)
        chosen = np.union1d(drawn, rows).astype(np.intp)
        return self._rows(chosen), chosen

    def run(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """What a function returns, computed where the rows are: here."""
        return function(*arguments)

    def mapped(self, function: Callable[[Array], Any]) -> Iterator[Any]:
        """What a function returns of one batch after the other, which are all rows."""
        for batch in self.batches():
            poll()
            yield function(batch)

    @abstractmethod
    def fingerprint(self) -> str:
        """A short text that tells these rows from others, without reading all."""

    @abstractmethod
    def _parts(self, max_rows: int) -> Iterator[Array]:
        """All rows in their order; what is larger than ``max_rows`` is cut."""

    def _mixed_parts(
        self, rng: np.random.RandomState, max_rows: int
    ) -> Iterator[Array]:
        """Parts of at most ``max_rows`` rows from many places; here: in their order."""
        yield from gathered(self.batches(max_rows), max_rows)

    def _rows(self, chosen: NDArray[np.intp]) -> Array:
        """Rows with these numbers, which ascend."""
        found, n_seen = [], 0
        for batch in self.batches():
            first, last = np.searchsorted(chosen, [n_seen, n_seen + len(batch)])
            found.append(batch[chosen[first:last] - n_seen])
            n_seen += len(batch)
        return np.concatenate(found)

    def _reservoir(self, rng: np.random.RandomState, size: int) -> Array:
        """The rows with the smallest of independent random keys."""
        kept: Array = np.empty((0, self.n_features))
        keys = np.empty(0)
        for batch in self.batches():
            kept = np.concatenate([kept, batch])
            keys = np.concatenate([keys, rng.uniform(size=len(batch))])
            if len(keys) > size:
                smallest = np.sort(np.argpartition(keys, size - 1)[:size])
                kept, keys = kept[smallest], keys[smallest]
        return kept

    def _check_count(self, n_seen: int) -> None:
        """Learn how many rows there are, or see that they are still as many."""
        if self.n_rows is not None and n_seen != self.n_rows:
            raise ValueError(
                f"{self.name} must give the same rows whenever it is read, got "
                f"{n_seen} rows after {self.n_rows}"
            )
        self.n_rows = n_seen

    def _check_columns(self, batch: Array) -> None:
        if batch.ndim != 2 or batch.shape[1] != self.n_features:
            raise ValueError(
                f"{self.name} must have {self.n_features} columns in every batch, got "
                f"a batch of shape {batch.shape}"
            )

    def _check(self, batch: Array, first_row: int | None = None) -> None:
        if np.isfinite(batch).all():
            return
        row, column = np.argwhere(~np.isfinite(batch))[0]
        where = "" if first_row is None else f"row {first_row + row}, "
        what = (
            f"column {column}"
            if self.feature_names is None
            else f"column {self.feature_names[column]!r}"
        )
        raise ValueError(
            f"{self.name} must be finite, got {batch[row, column]} in {where}{what}"
        )


def buffer_rows(n_features: int) -> int:
    """Rows of a buffer, unless it is said how many."""
    n_rows = _BUFFER_ENTRIES // n_features
    return min(max(n_rows, _MIN_BUFFER_ROWS), _MAX_BUFFER_ROWS)


def gathered(batches: Iterator[Array], max_rows: int) -> Iterator[Array]:
    """Small batches joined to parts of at most ``max_rows`` rows."""
    kept: list[Array] = []
    n_rows = 0
    for batch in batches:
        if kept and n_rows + len(batch) > max_rows:
            yield np.concatenate(kept)
            kept, n_rows = [], 0
        kept.append(batch)
        n_rows += len(batch)
    if kept:
        yield np.concatenate(kept)


def check_columns(table: Table, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Names of the columns wanted, all of which must hold numbers."""
    names = table.columns if columns is None else table.check_columns(columns)
    if not names:
        raise ValueError(f"{table.name} must have at least one column")
    for name in names:
        if table.kinds[name] != "number":
            raise ValueError(
                f"{table.name} must hold numbers, its column {name!r} holds "
                f"{table.kinds[name]}: name the columns to use, "
                "credalis.sources.from_table(table, columns=[...])"
            )
    return tuple(names)
