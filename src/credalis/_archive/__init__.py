"""Files of models and results: arrays and JSON, checked, never pickle."""

from credalis._archive._objects import (
    FORMAT_VERSION,
    Key,
    SavedFields,
    SavedState,
    check_savable,
    load,
    read,
    register,
    save,
)

__all__ = [
    "FORMAT_VERSION",
    "Key",
    "SavedFields",
    "SavedState",
    "check_savable",
    "load",
    "read",
    "register",
    "save",
]
