"""Tables of text, parsed by pyarrow."""

import re
from collections.abc import Iterator, Sequence
from io import BytesIO
from shlex import quote
from typing import TYPE_CHECKING, Any

from credalis.tables._dialect import Dialect
from credalis.tables._table import ByteSource, Table, arrow, kind_of

if TYPE_CHECKING:
    import pyarrow as pa

# Bytes parsed together; a line must not be longer.
_BLOCK_BYTES = 2**22
_CONVERSION = re.compile(r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error")
_VALUE = re.compile(r"invalid value '(.*)'", re.S)
_RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+)")


class CsvTable(Table):
    """A text file whose column types are those of its beginning.

    Parameters
    ----------
    source : ByteSource
        The bytes.
    dialect : Dialect
        How they write a table.
    text_columns : sequence of str
        Columns that are not parsed: identifiers keep their leading zeros.
    missing_values : sequence of str
        What stands for a missing value, besides empty cells, NA, NaN and null.
    """

    format = "csv"

    def __init__(
        self,
        source: ByteSource,
        dialect: Dialect,
        *,
        text_columns: Sequence[str] = (),
        missing_values: Sequence[str] = (),
    ) -> None:
        self.name = source.name
        self.is_repeatable = source.is_repeatable
        self.dialect = dialect
        self._source = source
        self._text_columns = frozenset(text_columns)
        self._missing_values = list(missing_values)
        self.unnamed = dialect.unnamed
        self.notes = list(dialect.notes)
        self.schema = self._inferred()

    def _batches(self, columns: list[str], max_rows: int) -> Iterator["pa.RecordBatch"]:
        from pyarrow import csv

        types = {field.name: field.type for field in self.schema}
        with self._source.open() as stream:
            try:
                reader = csv.open_csv(stream, **self._options(types, columns))
                yield from reader
            except arrow().ArrowInvalid as error:
                raise ValueError(self._explained(error)) from error
            except UnicodeError as error:
                raise ValueError(self._not_text) from error

    def _inferred(self) -> "pa.Schema":
        """Types of the first block; whole numbers may be followed by fractions."""
        pa = arrow()
        head = self._source.whole_lines
        try:
            found = self._schema_of(head, _BLOCK_BYTES)
        except pa.ArrowInvalid as error:
            if self._source.is_short:
                raise ValueError(self._explained(error)) from error
            # The head may end within quotes: its first half decides.
            found = self._schema_of(head, len(head) // 2)
        except UnicodeError as error:
            raise ValueError(self._not_text) from error
        return pa.schema(
            [(field.name, self._settled(field.name, field.type)) for field in found]
        )

    @property
    def _not_text(self) -> str:
        return (
            f"{self.name} is not {self.dialect.encoding} text: say how it is encoded, "
            "for example with --encoding cp1252"
        )

    def _schema_of(self, head: bytes, block_bytes: int) -> "pa.Schema":
        from pyarrow import csv

        options = self._options({}, None, block_bytes)
        return csv.open_csv(BytesIO(head), **options).schema

    def _settled(self, name: str, found: "pa.DataType") -> "pa.DataType":
        pa = arrow()
        if name in self._text_columns:
            return pa.string()
        if kind_of(found) == "number" and not pa.types.is_boolean(found):
            return pa.float64()
        return pa.string() if pa.types.is_binary(found) else found

    def _options(
        self,
        types: dict[str, Any],
        columns: list[str] | None,
        block_bytes: int = _BLOCK_BYTES,
    ) -> dict[str, Any]:
        from pyarrow import csv

        dialect = self.dialect
        converting = csv.ConvertOptions(
            column_types=types,
            include_columns=columns,
            decimal_point=dialect.decimal,
            strings_can_be_null=True,
        )
        converting.null_values = [*converting.null_values, *self._missing_values]
        encoding = dialect.encoding.replace("-sig", "")
        return {
            "read_options": csv.ReadOptions(
                column_names=dialect.names,
                skip_rows=dialect.n_skipped,
                block_size=block_bytes,
                encoding=encoding.replace("utf-8", "utf8"),
                use_threads=False,
            ),
            "parse_options": csv.ParseOptions(
                delimiter=dialect.delimiter, newlines_in_values=True
            ),
            "convert_options": converting,
        }

    def _explained(self, error: Exception) -> str:
        """Line, column and cell instead of pyarrow's numbers."""
        text = str(error)
        ragged, conversion = _RAGGED.search(text), _CONVERSION.search(text)
        if ragged:
            line, expected, came = ragged.groups()
            return (
                f"{self.name}, line {line}: {expected} cells expected, as in the "
                f"first line, got {came}; cells are separated by "
                f"{_shown(self.dialect.delimiter)}"
            )
        if conversion:
            return self._misfit(conversion, text)
        if "Empty CSV" in text:
            return f"{self.name} is empty"
        return f"{self.name} cannot be read: {text.splitlines()[0]}"

    def _misfit(self, conversion: re.Match[str], text: str) -> str:
        column, line = conversion.groups()
        name = self.dialect.names[int(column)]
        where = f"{self.name}, {f'line {line}, ' if line else ''}column {name!r}"
        value = _VALUE.search(text)
        if "UTF8" in text or (value and "\ufffd" in value.group(1)):
            return (
                f"{where}: not {self.dialect.encoding} text: say how the file is "
                "encoded, for example with --encoding cp1252"
            )
        cell = repr(value.group(1)) if value else "a cell"
        sign = quote(value.group(1)) if value else "TEXT"
        kind = kind_of(self.schema.field(name).type)
        expected = "a number" if kind == "number" else "what the rows above hold"
        return (
            f"{where}: {cell} is not {expected}; correct it, or if it stands for a "
            f"missing value, say so with --na {sign}"
        )


def _shown(delimiter: str) -> str:
    return {"\t": "tabs", " ": "blanks"}.get(delimiter, repr(delimiter))
