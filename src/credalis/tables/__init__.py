"""Tables in files: open, stream, write; no clustering.

CSV and TSV (delimiter, header and decimal comma are detected), sheets of Excel and
OpenDocument workbooks, Parquet files and folders, Arrow and Feather, NPY and NPZ, each
also compressed with gzip and through a pipe. Parsing is done by pyarrow, which comes
with ``pip install "credalis[parquet]"``, and of workbooks by python-calamine, with
``pip install "credalis[excel]"``.
"""

from credalis.tables._open import open_table
from credalis.tables._table import (
    Table,
    as_floats,
    as_matrix,
    as_text,
    kind_of,
    reading,
)
from credalis.tables._write import output_format, write_table

__all__ = [
    "Table",
    "as_floats",
    "as_matrix",
    "as_text",
    "kind_of",
    "open_table",
    "output_format",
    "reading",
    "write_table",
]
