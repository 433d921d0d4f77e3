"""Arrays and memory-mapped files as sources."""

from collections.abc import Iterator, Sequence
from hashlib import sha256

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import naming
from credalis.sources._base import Array, Source, buffer_rows

# Consecutive rows that stay together when rows are mixed: long enough that a disk reads
# them at once, and few enough that a buffer holds dozens of them.
_PIECE_ROWS = 4096
_LEAST_PIECES = 32

# Rows, evenly spread, that tell an array from others.
_FINGERPRINT_ROWS = 1024


class ArraySource(Source):
    """An array in memory, or one in a file that is mapped into it (``numpy.memmap``).

    Only parts of it are ever copied. To mix the rows, pieces of 4096 consecutive ones
    are taken in random order, as many at a time as fit in a buffer: 51 pieces for ten
    columns. With more columns pieces are shorter, so that a buffer holds 32 of them.

    Parameters
    ----------
    array : array-like of shape (n_rows, n_features)
        Numbers.
    feature_names : sequence of str, default=None
        Names of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.sources import ArraySource
    >>> source = ArraySource(np.arange(10.0).reshape(5, 2))
    >>> [len(batch) for batch in source.batches(max_rows=2)]
    [2, 2, 1]
    """

    def __init__(
        self, array: ArrayLike, feature_names: Sequence[str] | None = None
    ) -> None:
        with naming("X"):
            values = array if isinstance(array, np.ndarray) else np.asarray(array)
        if values.ndim != 2 or 0 in values.shape:
            raise ValueError(
                "X must have two dimensions and at least one row and one column, got "
                f"shape {values.shape}"
            )
        if values.dtype.kind not in "biuf":
            raise ValueError(f"X must hold numbers, got dtype {values.dtype}")
        self.array = values
        self.n_rows, self.n_features = values.shape
        if feature_names is not None:
            self.feature_names = tuple(feature_names)
            if len(self.feature_names) != self.n_features:
                raise ValueError(
                    f"feature_names must have {self.n_features} names, one for each "
                    f"column, got {len(self.feature_names)}"
                )

    def fingerprint(self) -> str:
        """Shape and evenly spread rows."""
        rows = np.linspace(0, len(self.array) - 1, _FINGERPRINT_ROWS).astype(int)
        digest = sha256(repr((self.array.shape, self.feature_names)).encode())
        digest.update(np.ascontiguousarray(self._taken(np.unique(rows))).tobytes())
        return digest.hexdigest()

    def _parts(self, max_rows: int) -> Iterator[Array]:
        for start in range(0, len(self.array), max_rows):
            yield self._taken(slice(start, start + max_rows))

    def _mixed_parts(
        self, rng: np.random.RandomState, max_rows: int
    ) -> Iterator[Array]:
        piece_rows = min(_PIECE_ROWS, buffer_rows(self.n_features) // _LEAST_PIECES)
        piece_rows = max(1, min(piece_rows, max_rows))
        starts = np.arange(0, len(self.array), piece_rows)
        n_buffers = -(-len(starts) // max(1, max_rows // piece_rows))
        for chosen in np.array_split(rng.permutation(starts), n_buffers):
            yield np.concatenate(
                [self._taken(slice(start, start + piece_rows)) for start in chosen]
            )

    def _rows(self, chosen: NDArray[np.intp]) -> Array:
        rows = self._taken(chosen)
        self._check(rows)
        return rows

    def _taken(self, rows: slice | NDArray[np.intp]) -> Array:
        return np.asarray(self.array[rows], dtype=np.float64)
