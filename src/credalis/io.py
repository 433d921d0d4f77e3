"""Reading what was saved, and tables in files."""

from os import PathLike
from typing import Any

# Imported so that every class that can be in a file is known.
import credalis.cluster
import credalis.tabular  # noqa: F401
from credalis import _archive
from credalis.tables import open_table

__all__ = ["load", "open_table"]


def load(path: str | PathLike[str]) -> Any:
    """Read an estimator or a credal partition written by its ``save``.

    The file holds arrays and JSON; nothing in it is executed. A model that the command
    line has saved is a `credalis.tabular.TabularModel`.

    Parameters
    ----------
    path : str or path-like
        The file.

    Returns
    -------
    object of the class that was saved

    Raises
    ------
    ValueError
        If the file is not one of ours, is damaged, or was written by a newer version.
    """
    return _archive.load(path)
