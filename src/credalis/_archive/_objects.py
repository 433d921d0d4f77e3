"""Versioned files of arrays and JSON, without pickle.

A file is a NumPy ``.npz`` archive: the arrays, and one text entry that describes the
object in JSON. Nothing in it is executed when it is read. A class takes part through
`register`: it says how it turns into a dictionary of plain values, arrays and other
registered objects, and back. `_container` holds and checks the bytes.
"""

import json
import os
import zipfile
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from credalis._archive import _container
from credalis._archive._schema import Rule
from credalis._checks import check_integer, shown
from credalis._files import checked_path

FORMAT_VERSION = 2
_HEADER = "credalis"

SavedState = dict[str, Any]
Key = bytes | str | None

_BY_CLASS: dict[type, tuple[str, Callable[[Any], SavedState]]] = {}
_BY_NAME: dict[str, tuple[type, Callable[[SavedState], Any]]] = {}
_SCHEMAS: dict[type, Rule] = {}


class SavedFields:
    """A value that is saved as its fields."""

    def to_state(self) -> SavedState:
        """The fields by their names."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: SavedState) -> Self:
        """Inverse of `to_state`."""
        return cls(**state)


# Arrays of other kinds have no place in a model: no objects, no records, no numbers
# whose size depends on the machine.
_KINDS = {"b": (1,), "i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (2, 4, 8)}


def register(
    cls: type,
    *,
    to_state: Callable[[Any], SavedState] | None = None,
    from_state: Callable[[SavedState], Any] | None = None,
    schema: Rule | None = None,
) -> None:
    """Let objects of a class be saved.

    Without functions the class must have the methods ``to_state`` and ``from_state``;
    without a schema, the attribute ``_schema``.
    """
    name = cls.__name__
    _SCHEMAS[cls] = schema or cls._schema  # type: ignore[attr-defined]
    _BY_CLASS[cls] = (name, to_state or cls.to_state)  # type: ignore[attr-defined]
    _BY_NAME[name] = (cls, from_state or cls.from_state)  # type: ignore[attr-defined]


def save(value: Any, path: str | os.PathLike[str], *, key: Key = None) -> None:
    """Write an object of a registered class; the file appears whole or not at all.

    Parameters
    ----------
    value : object
        What to save.
    path : str or path-like
        The file.
    key : bytes or str, default=None
        A secret that signs the file; see `load`.

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
    _container.write(path, arrays, key)


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


def load(
    path: str | os.PathLike[str], expected: type | None = None, *, key: Key = None
) -> Any:
    """Read an object written by `save`.

    Parameters
    ----------
    path : str or path-like
        The file.
    expected : type, default=None
        The class the object must be of.
    key : bytes or str, default=None
        The secret that the file must be signed with; files without a signature, and
        those of format 1, which had none, are refused then.

    Raises
    ------
    ValueError
        If the file is not one of ours, is damaged, was written by a newer version, or
        holds an object of another class.
    """
    header, arrays = read(path, key=key)
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


def read(
    path: str | os.PathLike[str], *, key: Key = None
) -> tuple[SavedState, dict[str, np.ndarray]]:
    """Header and arrays of a file, checked for damage, format and version."""
    name = path = checked_path(path)
    _container.checked_key(key)
    # Opened here, so that a file that is missing or forbidden says so.
    with open(path, "rb") as stream:
        try:
            with _container.Container(stream, key) as container:
                if _HEADER not in container.names:
                    raise ValueError("there is no credalis header in it")
                header = json.loads(container.array(_HEADER).tobytes())
                version = check_integer("its format", header["format"], at_least=1)
                writer = header["versions"]["credalis"]
                is_newer = version > FORMAT_VERSION
                # What a newer version wrote may be unreadable: it is left alone.
                arrays = {} if is_newer else _arrays(container, header, version)
        except _container.SignatureError as error:
            raise ValueError(f"{name} {error}") from error
        except Exception as error:
            # A flipped bit can ask for a password, another compression or 10^18
            # numbers; NumPy and zipfile raise nearly everything on the way.
            raise ValueError(
                f"{name} is not a file saved by credalis, or it is damaged: "
                f"{_described(error)}"
            ) from error
    if is_newer:
        raise ValueError(
            f"{name} has format {version}, this version of credalis reads "
            f"formats up to {FORMAT_VERSION}: it was written by credalis {writer}, "
            "please upgrade"
        )
    return header, arrays


def _arrays(
    container: _container.Container, header: SavedState, version: int
) -> dict[str, np.ndarray]:
    """The arrays that the header refers to, which must be all there are."""
    if (version >= 2) != container.has_digest:
        there = "has" if container.has_digest else "has not"
        raise ValueError(f"it says format {version} and {there} a digest at its end")
    named = sorted(_array_names(header["object"]))
    stored = sorted(set(container.names) - {_HEADER})
    if named != stored:
        raise ValueError(
            f"its header is about the arrays {shown(named)}, it holds {shown(stored)}"
        )
    return {name: container.array(name) for name in named}


def _array_names(value: Any) -> set[str]:
    """Names of the arrays that an encoded object refers to."""
    names: set[str] = set()
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            if item.get("is") == "array" and isinstance(item.get("name"), str):
                names.add(item["name"])
            pending += item.values()
        elif isinstance(item, list):
            pending += item
    return names


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
        plain = value.item()
        if isinstance(plain, np.generic):
            raise ValueError(
                f"{where} cannot be saved: {shown(value)} is a {type(value).__name__}, "
                "whose size depends on the machine; use float"
            )
        return plain
    if type(value) in _BY_CLASS:
        name, to_state = _BY_CLASS[type(value)]
        state = to_state(value)
        encoded = {"is": name, "state": _encode_items(state, arrays, where=where)}
        # What is not read again is not written.
        _SCHEMAS[type(value)].check(name, state, {})
        return encoded
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
    kind, size = value.dtype.kind, value.dtype.itemsize
    if kind != "U" and size not in _KINDS.get(kind, ()):
        raise ValueError(
            f"{where} cannot be saved: it is an array of {value.dtype}, which has no "
            "safe file form here"
        )
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
    cls, from_state = _BY_NAME[kind]
    state = _decode_items(value["state"], arrays)
    _SCHEMAS[cls].check(kind, state, {})
    return from_state(state)


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
