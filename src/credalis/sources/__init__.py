"""Rows that are read in blocks: mapped files, tables in files, batches from anywhere.

Estimators that can be fitted to them, `NNEVCLUS`, `ECM` and `CCM`, take a source as X,
or what `as_source` makes one from.
"""

from credalis.sources._arrays import ArraySource
from credalis.sources._base import Source
from credalis.sources._batches import BatchSource, TableSource
from credalis.sources._dask import DaskSource, lazily
from credalis.sources._open import as_source, from_table
from credalis.sources._parquet import ParquetSource

__all__ = [
    "ArraySource",
    "BatchSource",
    "DaskSource",
    "ParquetSource",
    "Source",
    "TableSource",
    "as_source",
    "from_table",
    "lazily",
]
