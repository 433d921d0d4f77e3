"""Reading what was saved, and tables in files."""

from os import PathLike, fspath
from typing import Any

# Imported so that every class that can be in a file is known.
import credalis.cluster
import credalis.tabular  # noqa: F401
from credalis import _archive
from credalis._predictions import predict_table
from credalis.tables import open_table

__all__ = ["load", "open_table", "predict_table"]


def load(path: str | PathLike[str], *, key: bytes | str | None = None) -> Any:
    """Read an estimator, a partition or a monitor written by its ``save``.

    The file holds arrays and JSON; nothing in it is executed. A model that the command
    line has saved is a `credalis.tabular.TabularModel`.

    Parameters
    ----------
    path : str or path-like
        The file.
    key : bytes or str, default=None
        The secret that the file was signed with when it was saved. Files without this
        signature are refused. Without a key, the digest in the file tells whether it
        was damaged, not who has written it.

    Returns
    -------
    object of the class that was saved

    Raises
    ------
    ValueError
        If the file is not one of ours, is damaged, was written by a newer version, or
        is not signed with the key.
    """
    # Known only from here on, so that it is not loaded with the library.
    import credalis.streaming  # noqa: F401

    value = _archive.load(path, key=key)
    if not hasattr(value, "save"):
        raise ValueError(
            f"{fspath(path)} must hold an estimator, a partition or a monitor, "
            f"it holds a {type(value).__name__}"
        )
    return value
