"""Atomic, versioned files of arrays and JSON, without pickle.

A file is a NumPy ``.npz`` archive: the arrays, and one text entry that describes the
object in JSON. Nothing in it is executed when it is read. A class takes part through
`register`: it says how it turns into a dictionary of plain values, arrays and other
registered objects, and back.
"""

import json
import os
import zipfile
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from credalis._checks import check_integer, shown
from credalis._files import atomic_write, naming_errors

FORMAT_VERSION = 1
_HEADER = "credalis"

SavedState = dict[str, Any]

_BY_CLASS: dict[type, tuple[str, Callable[[Any], SavedState]]] = {}
_BY_NAME: dict[str, tuple[type, Callable[[SavedState], Any]]] = {}


class SavedFields:
    """A value that is saved as its fields."""

    def to_state(self) -> SavedState:
        """The fields by their names."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: SavedState) -> Self:
        """Inverse of `to_state`."""
        return cls(**state)


def register(
    cls: type,
    *,
    to_state: Callable[[Any], SavedState] | None = None,
    from_state: Callable[[SavedState], Any] | None = None,
) -> None:
    """Let objects of a class be saved.

    Without functions the class must have the methods ``to_state`` and ``from_state``.
    """
    name = cls.__name__
    _BY_CLASS[cls] = (name, to_state or cls.to_state)  # type: ignore[attr-defined]
    _BY_NAME[name] = (cls, from_state or cls.from_state)  # type: ignore[attr-defined]


def save(value: Any, path: str | os.PathLike[str]) -> None:
    """Write an object of a registered class; the file appears whole or not at all.

    Raises
    ------
    ValueError
        If a part of the object cannot be saved; nothing is written then.
    """
    arrays: dict[str, np.ndarray] = {}
    header = {
        "format": FORMAT_VERSION,
        "versions": _versions(),
        "object": _encode(value, arrays, where=type(value).__name__),
    }
    text = json.dumps(header, ensure_ascii=False).encode()
    arrays[_HEADER] = np.frombuffer(text, dtype=np.uint8)

    with naming_errors(os.fspath(path)), atomic_write(path) as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]


def check_savable(value: Any, *, where: str) -> None:
    """Refuse with a ValueError what `save` would refuse.

    Parameters
    ----------
    value : object
        A part of what will be saved.
    where : str
        What the part is called in the message.
    """
    _encode(value, {}, where=where)


def load(path: str | os.PathLike[str], expected: type | None = None) -> Any:
    """Read an object written by `save`.

    Parameters
    ----------
    path : str or path-like
        The file.
    expected : type, default=None
        The class the object must be of.

    Raises
    ------
    ValueError
        If the file is not one of ours, is damaged, was written by a newer version, or
        holds an object of another class.
    """
    header, arrays = read(path)
    try:
        value = _decode(header["object"], arrays)
    except Exception as error:
        raise ValueError(
            f"{os.fspath(path)} does not hold what it says, or it is damaged: "
            f"{_described(error)}"
        ) from error
    if expected is not None and not isinstance(value, expected):
        raise ValueError(
            f"{os.fspath(path)} must hold a {expected.__name__}, "
            f"it holds a {type(value).__name__}"
        )
    return value


def read(path: str | os.PathLike[str]) -> tuple[SavedState, dict[str, np.ndarray]]:
    """Header and arrays of a file, checked for format and version."""
    # Opened here, so that a file that is missing or forbidden says so.
    with open(path, "rb") as stream:
        try:
            if not zipfile.is_zipfile(stream):
                raise ValueError("it is not an archive of arrays")
            stream.seek(0)
            with np.load(stream, allow_pickle=False) as archive:
                if _HEADER not in archive:
                    raise ValueError("there is no credalis header in it")
                header = json.loads(archive[_HEADER].tobytes())
                version = check_integer("its format", header["format"], at_least=1)
                writer = header["versions"]["credalis"]
                # What a newer version wrote may be unreadable: it is left alone.
                names = archive.files if version <= FORMAT_VERSION else []
                arrays = {name: archive[name] for name in names if name != _HEADER}
        except Exception as error:
            # A flipped bit can ask for a password, another compression or 10^18
            # numbers; NumPy and zipfile raise nearly everything on the way.
            raise ValueError(
                f"{os.fspath(path)} is not a file saved by credalis, or it is damaged: "
                f"{_described(error)}"
            ) from error
    if version > FORMAT_VERSION:
        raise ValueError(
            f"{os.fspath(path)} has format {version}, this version of credalis reads "
            f"formats up to {FORMAT_VERSION}: it was written by credalis {writer}, "
            "please upgrade"
        )
    return header, arrays


def _described(error: Exception) -> str:
    """What went wrong; a KeyError, for one, says nothing without its name."""
    text = str(error)
    if type(error) in (ValueError, zipfile.BadZipFile) and text:
        return text
    return f"{type(error).__name__} {text}".rstrip()


def _encode(value: Any, arrays: dict[str, np.ndarray], *, where: str) -> Any:
    """A JSON value; arrays are put aside under a number."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, (np.bool_, np.integer, np.floating)):
        return value.item()
    if type(value) in _BY_CLASS:
        name, to_state = _BY_CLASS[type(value)]
        state = to_state(value)
        return {"is": name, "state": _encode_items(state, arrays, where=where)}
    if isinstance(value, np.ndarray):
        return _encode_array(value, arrays, where=where)
    if isinstance(value, (list, tuple)):
        items = [
            _encode(item, arrays, where=f"{where}[{j}]") for j, item in enumerate(value)
        ]
        return {"is": type(value).__name__, "items": items}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"is": "dict", "items": _encode_items(value, arrays, where=where)}
    raise ValueError(
        f"{where} cannot be saved: {shown(value)} is a {type(value).__name__}, which "
        "has no safe file form here; use skops or joblib to store the whole object"
    )


def _encode_items(
    state: SavedState, arrays: dict[str, np.ndarray], *, where: str
) -> SavedState:
    return {
        key: _encode(item, arrays, where=f"{where}.{key}")
        for key, item in state.items()
    }


def _encode_array(
    value: np.ndarray, arrays: dict[str, np.ndarray], *, where: str
) -> SavedState:
    if value.dtype.hasobject:
        # Names of columns are object arrays of strings; anything else is refused.
        if not all(isinstance(item, str) for item in value.flat):
            raise ValueError(
                f"{where} cannot be saved: it is an array of Python objects"
            )
        items = value.ravel().tolist()
        return {"is": "strings", "items": items, "shape": list(value.shape)}
    name = f"array{len(arrays)}"
    arrays[name] = value
    return {"is": "array", "name": name}


def _decode(value: Any, arrays: dict[str, np.ndarray]) -> Any:
    """Inverse of `_encode`."""
    if not isinstance(value, dict):
        return value
    kind = value["is"]
    if kind == "array":
        return arrays[value["name"]]
    if kind == "strings":
        return np.array(value["items"], dtype=object).reshape(value["shape"])
    if kind in ("list", "tuple"):
        items = [_decode(item, arrays) for item in value["items"]]
        return items if kind == "list" else tuple(items)
    if kind == "dict":
        return _decode_items(value["items"], arrays)
    if kind not in _BY_NAME:
        raise ValueError(f"it holds an object of the unknown class {kind!r}")
    _, from_state = _BY_NAME[kind]
    return from_state(_decode_items(value["state"], arrays))


def _decode_items(items: SavedState, arrays: dict[str, np.ndarray]) -> SavedState:
    return {key: _decode(item, arrays) for key, item in items.items()}


def _versions() -> dict[str, str]:
    import scipy
    import sklearn

    from credalis import __version__

    return {
        "credalis": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
    }
