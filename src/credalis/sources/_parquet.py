"""Parquet files and folders as a source."""

import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis.sources._base import Array, Source, check_columns, gathered
from credalis.tables import as_matrix, kind_of, open_table, reading

# Row groups that are read side by side.
_N_LANES = 8

# Bytes of a column read ahead, so that row groups of any size are streamed.
_BUFFER_BYTES = 2**18


class ParquetSource(Source):
    """Columns of a Parquet file, or of all files of a folder.

    Mixing takes the row groups in random order and reads eight of them side by side, so
    that a buffer holds runs of rows from eight places or, if row groups are small, from
    more. Within a row group the order stays as it is. Rows are therefore random if the
    file is in no particular order, or if it has many more than eight row groups; a
    sorted file of a few large row groups should be shuffled, or written again with
    smaller ones (``row_group_size=10_000``).

    Parameters
    ----------
    path : str or path-like
        A file or a folder, whose files are taken in the order of their names; those
        whose names begin with "." or "_" are left out.
    columns : sequence of str, default=None
        Names of the columns to use, by default all that stand in the files. Columns of
        numbers that stand in the names of folders, as in "year=2024", are used if they
        are named here: they say where rows are kept, seldom what they are like.
    """

    def __init__(
        self, path: str | os.PathLike[str], columns: Sequence[str] | None = None
    ) -> None:
        table = open_table(path)
        if table.format != "parquet":
            raise ValueError(f"{table.name} must be Parquet, it is {table.format}")
        self.name = table.name
        self._files = getattr(table, "files", [Path(path)])
        # Of each file, the columns that stand in the names of its folders.
        self._folders: list[dict[str, Any]] = getattr(table, "folder_values", [{}])
        in_folders = {name for values in self._folders for name in values}
        if columns is None:
            columns = [name for name in table.columns if name not in in_folders]
        self.feature_names = check_columns(table, columns)
        self.n_features = len(self.feature_names)
        self._in_files = [name for name in self.feature_names if name not in in_folders]
        metadata = [self._metadata(file) for file in self._files]
        self.n_rows = sum(each.num_rows for each in metadata)
        if self.n_rows == 0:
            raise ValueError(f"{self.name} must have at least one row")
        # Number of the file, of the row group in it, and its rows.
        self._groups = np.array(
            [
                (number, group, each.row_group(group).num_rows)
                for number, each in enumerate(metadata)
                for group in range(each.num_row_groups)
            ]
        )

    def fingerprint(self) -> str:
        """Columns, and of each row group its rows, bytes and extreme values."""
        digest = sha256(repr((self.n_rows, self.feature_names)).encode())
        for file, values in zip(self._files, self._folders, strict=True):
            if values:
                digest.update(repr(sorted(values.items())).encode())
            metadata = self._metadata(file)
            for number in range(metadata.num_row_groups):
                group = metadata.row_group(number)
                digest.update(repr((group.num_rows, group.total_byte_size)).encode())
                for column in range(group.num_columns):
                    statistics = group.column(column).statistics
                    if statistics is not None and statistics.has_min_max:
                        extremes = (statistics.min, statistics.max)
                        digest.update(repr(extremes).encode())
        return digest.hexdigest()

    def _parts(self, max_rows: int) -> Iterator[Array]:
        return self._read(self._groups, max_rows)

    def _mixed_parts(
        self, rng: np.random.RandomState, max_rows: int
    ) -> Iterator[Array]:
        order = rng.permutation(len(self._groups))
        n_lanes = min(_N_LANES, len(order))
        lane_rows = max(1, max_rows // n_lanes)
        lanes = [
            gathered(self._read(self._groups[order[k::n_lanes]], lane_rows), lane_rows)
            for k in range(n_lanes)
        ]
        while lanes:
            parts = [next(lane, None) for lane in lanes]
            lanes = [
                lane
                for lane, part in zip(lanes, parts, strict=True)
                if part is not None
            ]
            read = [part for part in parts if part is not None]
            if read:
                yield np.concatenate(read)

    def _read(self, groups: NDArray[np.intp], max_rows: int) -> Iterator[Array]:
        """Rows of row groups, in the order of the groups."""
        is_new_file = np.diff(groups[:, 0], prepend=-1) != 0
        for run in np.split(groups, np.flatnonzero(is_new_file)[1:]):
            path, values = self._files[run[0, 0]], self._folders[run[0, 0]]
            with reading(str(path)):
                for batch in self._open(path).iter_batches(
                    batch_size=max_rows,
                    row_groups=run[:, 1].tolist(),
                    columns=self._in_files,
                    use_threads=False,
                ):
                    yield self._matrix(batch, values)

    def _matrix(self, batch: Any, values: dict[str, Any]) -> Array:
        """Columns in the order wanted, those of the folders constant; None is NaN."""
        assert self.feature_names is not None
        if len(self._in_files) == self.n_features:
            return as_matrix(batch, self.feature_names)
        matrix = np.empty((batch.num_rows, self.n_features))
        for j, name in enumerate(self.feature_names):
            if name in self._in_files:
                matrix[:, j] = as_matrix(batch, [name])[:, 0]
            else:
                value = values.get(name)
                matrix[:, j] = np.nan if value is None else value
        return matrix

    def _metadata(self, file: Path) -> Any:
        """What a file says of itself, its columns being those wanted."""
        with reading(str(file)):
            metadata = self._open(file).metadata
        schema = metadata.schema.to_arrow_schema()
        for name in self._in_files:
            if name not in schema.names:
                raise ValueError(
                    f"{file} must have the columns of the other files, it has no "
                    f"{name!r}: name the columns to use, "
                    "credalis.sources.from_table(table, columns=[...])"
                )
            kind = kind_of(schema.field(name).type)
            if kind != "number":
                raise ValueError(
                    f"{file} must hold numbers, its column {name!r} holds {kind}"
                )
        return metadata

    def _open(self, file: Path) -> Any:
        from pyarrow import parquet

        return parquet.ParquetFile(file, buffer_size=_BUFFER_BYTES, pre_buffer=False)
