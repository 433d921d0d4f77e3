"""Parquet files and folders, Arrow and Feather files, Arrow streams."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credalis.tables._table import ByteSource, Table, check_names, reading

if TYPE_CHECKING:
    import pyarrow as pa

_SUFFIXES = (".parquet", ".pq")
_FIRST_BYTES = b"PAR1"

# Bytes of a column read ahead, so that row groups of any size are streamed.
_BUFFER_BYTES = 2**20


class ParquetTable(Table):
    """One Parquet file."""

    format = "parquet"

    def __init__(self, source: ByteSource) -> None:
        self.name = source.name
        self.is_repeatable = True  # a pipe has been read to memory
        self._where = source.path if source.is_plain_file else source.open_seekable()
        with reading(self.name), self._open() as file:
            self.schema = file.schema_arrow
            self.n_rows = file.metadata.num_rows
        check_names(self.name, self.schema.names)

    def _open(self) -> Any:
        from pyarrow import parquet

        return parquet.ParquetFile(
            self._where, buffer_size=_BUFFER_BYTES, pre_buffer=False
        )

    def _batches(self, columns: list[str], max_rows: int) -> Iterator["pa.RecordBatch"]:
        for batch in self._open().iter_batches(
            batch_size=max_rows, columns=columns, use_threads=False
        ):
            yield batch.select(columns)


class ParquetFolder(Table):
    """A folder of Parquet files, in the order of their names.

    Names or bytes say which files are Parquet. Files and folders whose names begin
    with "." or "_" are left out: writers keep notes and unfinished work there. Folders
    that are called "year=2024", as Hive calls them, are columns.

    Attributes
    ----------
    files : list of Path
        The files.
    folder_values : list of dict
        For each file the columns that stand in the names of its folders.
    """

    format = "parquet"

    def __init__(self, path: Path) -> None:
        from pyarrow import dataset

        self.name = str(path)
        self.files = [file for file in sorted(path.rglob("*")) if _is_part(file, path)]
        if not self.files:
            raise ValueError(f"{path} is a folder without Parquet files")
        with reading(self.name):
            self._dataset = dataset.dataset(
                [str(file) for file in self.files],
                format="parquet",
                partitioning="hive",
                partition_base_dir=str(path),
            )
            self.schema = self._dataset.schema
            self.n_rows = self._dataset.count_rows()
            values = {
                Path(part.path): dataset.get_partition_keys(part.partition_expression)
                for part in self._dataset.get_fragments()
            }
        self.folder_values = [values[file] for file in self.files]
        check_names(self.name, self.schema.names)

    def _batches(self, columns: list[str], max_rows: int) -> Iterator["pa.RecordBatch"]:
        # Without these limits the scanner reads ahead by gigabytes.
        yield from self._dataset.to_batches(
            columns=columns,
            batch_size=max_rows,
            batch_readahead=2,
            fragment_readahead=1,
        )


def _is_part(file: Path, folder: Path) -> bool:
    if any(name[0] in "._" for name in file.relative_to(folder).parts):
        return False
    if not file.is_file():
        return False
    if file.suffix.lower() in _SUFFIXES:
        return True
    with open(file, "rb") as stream:
        return stream.read(len(_FIRST_BYTES)) == _FIRST_BYTES


class ArrowTable(Table):
    """An Arrow file (Feather is the same), mapped into memory, or an Arrow stream."""

    format = "arrow"

    def __init__(self, source: ByteSource, *, is_stream: bool) -> None:

        self.name = source.name
        self._is_stream = is_stream
        self._path = source.path
        is_mapped = source.is_plain_file
        self._content = None if is_mapped else source.open_seekable().read()
        with reading(self.name), self._open() as reader:
            self.schema = reader.schema
        check_names(self.name, self.schema.names)

    def _open(self) -> Any:
        import pyarrow as pa

        where = self._content or pa.memory_map(str(self._path))
        return (pa.ipc.open_stream if self._is_stream else pa.ipc.open_file)(where)

    def _batches(self, columns: list[str], max_rows: int) -> Iterator["pa.RecordBatch"]:
        with self._open() as reader:
            if self._is_stream:
                for batch in reader:
                    yield batch.select(columns)
            else:
                for k in range(reader.num_record_batches):
                    yield reader.get_batch(k).select(columns)
