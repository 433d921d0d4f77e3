"""Models and checkpoints in files that were damaged, or that somebody has forged."""

import hashlib
import json
import pickle
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz import models
from tests.fuzz.case import Call, ensure, ensure_partition
from tests.fuzz.values import HOSTILE, NUMBERS, pick

import credalis
from credalis import CCM, ECM, NNEVCLUS, CredalPartition
from credalis._archive import _container
from credalis.checkpoints import Checkpoint

Rng = np.random.Generator

_KEY = b"the owner's secret key"
_OTHER_KEY = b"the key of another one"
_FORMAT1 = Path(__file__).parents[1] / "fixtures" / "format1"
_OLD = (
    *("bcm", "bpec", "ccm", "cecm", "ecm", "ecm_adaptive", "ecmdd", "eknnclus"),
    *("evclus", "mecm", "monitor", "nnevclus", "partition", "recm", "tabular"),
)


def _written(make: Callable[[Path], Any]) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        make(path)
        return path.read_bytes()


@cache
def saved_bytes(name: str, *, is_signed: bool = False) -> bytes:
    """The file of one of the small models."""
    made = models.saved_object(name)
    return _written(lambda path: made.save(path, key=_KEY if is_signed else None))


@cache
def _contents(name: str) -> tuple[str, dict[str, np.ndarray]]:
    """Header, as text, and arrays."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(saved_bytes(name))
        with np.load(path) as archive:
            found = {each: archive[each] for each in archive.files}
    return found.pop("credalis").tobytes().decode(), found


@cache
def _said(name: str) -> list[np.ndarray]:
    return models.predictions(pickle.loads(pickle.dumps(models.saved_object(name))))


def damaged(rng: Rng, whole: bytes) -> bytes:
    """The same bytes with something wrong in them."""
    content = bytearray(whole)
    kind, at = int(rng.integers(10)), int(rng.integers(len(whole)))
    if kind < 4:
        for position in rng.integers(len(whole), size=int(pick(rng, (1, 1, 2, 5)))):
            content[position] ^= 1 << int(rng.integers(8))
    elif kind == 4:
        del content[at:]
    elif kind == 5:
        content[at:at] = rng.bytes(int(rng.integers(1, 20)))
    elif kind == 6:
        del content[at : at + int(rng.integers(1, 40))]
    elif kind == 7:
        content[at : at + 16] = bytes(len(content[at : at + 16]))
    elif kind == 8:
        content += rng.bytes(int(rng.integers(1, 300)))
    else:
        other = int(rng.integers(len(whole)))
        content[at], content[other] = content[other], content[at]
    return bytes(content)


def flips(rng: Rng) -> Call:
    """A damaged file is refused, whatever the damage is."""
    name = str(pick(rng, models.SAVED))
    is_signed = rng.random() < 0.2
    whole = saved_bytes(name, is_signed=is_signed)
    content = damaged(rng, whole)
    # Without the key the signature is not looked at, but the digest covers it.
    key = _KEY if is_signed and rng.random() < 0.5 else None
    return _refused("damaged file", content, whole, key)


def _refused(what: str, content: bytes, whole: bytes, key: bytes | None) -> Call:
    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.credalis"
            path.write_bytes(content)
            loaded = credalis.load(path, key=key)
            ensure(content == whole, f"a damaged file was read: {loaded!r:.80}")

    return Call(what, run, {"model.credalis"})


def keys(rng: Rng) -> Call:
    """With a key, only what was signed with it is read."""
    name = str(pick(rng, models.SAVED))
    kind = int(rng.integers(4))
    if kind == 0:
        content, key = saved_bytes(name), _KEY
    elif kind == 1:
        content, key = saved_bytes(name, is_signed=True), _OTHER_KEY
    elif kind == 2:
        content, key = resealed(damaged(rng, saved_bytes(name, is_signed=True))), _KEY
    else:
        content, key = (_FORMAT1 / f"{pick(rng, _OLD)}.credalis").read_bytes(), _KEY
    # Damage of the digest alone is mended when it is computed again.
    signed = saved_bytes(name, is_signed=True) if kind == 2 else b""
    return _refused("file without the right signature", content, signed, key)


def resealed(content: bytes) -> bytes:
    """The bytes with the digest that belongs to them."""
    if len(content) < 64:
        return content
    return content[:-64] + hashlib.sha256(content[:-64]).hexdigest().encode()


def bits_of_format1(rng: Rng) -> Call:
    """Files of version 0.1 have checksums of members only: what counts is checked."""
    name = str(pick(rng, _OLD))
    whole = (_FORMAT1 / f"{name}.credalis").read_bytes()
    content = damaged(rng, whole)

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.credalis"
            path.write_bytes(content)
            loaded = credalis.load(path)
            for found, expected in zip(
                models.predictions(loaded), _said_by_format1(name), strict=True
            ):
                same = np.array_equal(found, expected)
                ensure(same, "a damaged file was read and predicts otherwise")

    return Call("damaged file of format 1", run, {"model.credalis"})


@cache
def _said_by_format1(name: str) -> list[np.ndarray]:
    return models.predictions(credalis.load(_FORMAT1 / f"{name}.credalis"))


def archives(rng: Rng) -> Call:
    """Bits of the archive itself, with a digest that belongs to them."""
    name = str(pick(rng, models.SAVED))
    content = resealed(damaged(rng, saved_bytes(name)))
    return _forged("forged archive", name, lambda path: path.write_bytes(content))


def contents(rng: Rng) -> Call:
    """Another header or other arrays, with a digest that belongs to them."""
    name = str(pick(rng, models.SAVED))
    text, arrays = _contents(name)
    arrays = {key: values.copy() for key, values in arrays.items()}
    header = json.loads(text)
    for _ in range(int(pick(rng, (1, 1, 1, 2, 3)))):
        if rng.random() < 0.5 or not arrays:
            _change_header(rng, header)
        else:
            _change_arrays(rng, arrays)

    def write(path: Path) -> None:
        encoded = json.dumps(header, default=str).encode()
        members = {**arrays, "credalis": np.frombuffer(encoded, dtype=np.uint8)}
        _container.write(path, members)

    return _forged("forged content", name, write)


def _change_header(rng: Rng, header: Any) -> None:
    """Another value, another name or something less, anywhere."""
    places = list(_places(header))
    owner, key = places[rng.integers(len(places))]
    kind = int(rng.integers(6))
    if kind == 0:
        del owner[key]
    elif kind == 1 and isinstance(owner, dict):
        owner[f"{key}_"] = owner[key]
    elif kind == 2:
        other_owner, other_key = places[rng.integers(len(places))]
        owner[key] = json.loads(json.dumps(other_owner[other_key]))
    elif kind == 3 and isinstance(owner[key], (int, float)):
        owner[key] = owner[key] * pick(rng, (-1, 0, 2, 10**9, 0.5)) + pick(rng, (0, 1))
    elif kind == 4 and isinstance(owner, dict):
        owner[str(pick(rng, ("predict", "fit", "__class__", "is", "state", "x_")))] = 1
    else:
        values = (None, True, -1, 0, 1, 2, 1.5, 1e308, "", "auto", [], {}, "nan")
        more = (float("nan"), float("inf"), 2**63, 10**30, [[]], {"is": "array"})
        owner[key] = pick(rng, values + more)


def _places(value: Any) -> Any:
    """All items of dictionaries and lists, at any depth."""
    items: Any = ()
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    for key, item in items:
        yield value, key
        yield from _places(item)


def _change_arrays(rng: Rng, arrays: dict[str, np.ndarray]) -> None:
    """Other numbers, another shape or type, one more or less."""
    name = str(pick(rng, tuple(arrays)))
    values = arrays[name]
    kind = int(rng.integers(9))
    with np.errstate(all="ignore"):
        if kind < 3 and values.size and values.dtype.kind in "fiu":
            numbers = [n for n in NUMBERS if isinstance(n, (int, float))]
            at = tuple(int(rng.integers(size)) for size in values.shape)
            try:
                values[at] = pick(rng, numbers)
            except (OverflowError, ValueError):
                values[at] = 0
        elif kind == 3:
            arrays[name] = values[: len(values) // 2] if values.ndim else values
        elif kind == 4:
            arrays[name] = values.T
        elif kind == 5:
            kinds = ("f4", "i8", "?", "f2", "u1", "U3", "c16")
            kept = str(pick(rng, kinds))
            if values.dtype.kind != "U" or kept == "U3":
                arrays[name] = values.astype(kept)
        elif kind == 6:
            arrays[name] = arrays[str(pick(rng, tuple(arrays)))]
        elif kind == 7:
            del arrays[name]
        else:
            arrays[str(pick(rng, ("array99", "predict", "../x")))] = values
    if kind == 4 and name in arrays and values.ndim < 2:
        arrays[name] = values[None]


def _forged(what: str, name: str, write: Callable[[Path], Any]) -> Call:
    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.credalis"
            write(path)
            loaded = credalis.load(path)
        _look(loaded)

    # A model with huge weights is valid; its predictions are a ValueError.
    names = {"model.credalis", "masses", "X", "loss"}
    return Call(what, run, names)


def _look(loaded: Any) -> None:
    """A file that was read holds something that works."""
    if isinstance(loaded, CredalPartition):
        ensure_partition(loaded, gap=2e-6)
        return
    for values in models.predictions(loaded):
        ensure(not np.isnan(values).any(), "NaN in predictions of a file")
    if hasattr(loaded, "partition_"):
        ensure_partition(loaded.partition_, gap=2e-6)


_STARTED: dict[str, Any] = {
    "ECM": ECM(2, max_iter=3, random_state=0),
    "CCM": CCM(2, max_iter=3, random_state=0),
    "NNEVCLUS": NNEVCLUS(2, solver="adam", max_iter=2, random_state=0),
}


@cache
def _checkpoint(name: str) -> tuple[bytes, np.ndarray]:
    """A checkpoint after the first steps, and the masses at the end."""
    kept: list[bytes] = []

    class Watched(Checkpoint):
        def write(self, state: dict[str, Any]) -> None:
            super().write(state)
            kept.append(Path(self.path).read_bytes())

    with tempfile.TemporaryDirectory() as folder:
        file = Watched(Path(folder) / "state", 0.0)
        model = pickle.loads(pickle.dumps(_STARTED[name]))
        with models.quiet():
            masses = model.fit(models.ROWS, checkpoint=file).partition_.masses
    return kept[0], masses


def checkpoints(rng: Rng) -> Call:
    """A fit continues from what was written, or refuses to."""
    name = str(pick(rng, ("ECM", "ECM", "CCM", "CCM", "NNEVCLUS")))
    whole, masses = _checkpoint(name)
    is_whole = rng.random() < 0.1
    content = whole if is_whole else damaged(rng, whole)
    is_forged = not is_whole and rng.random() < 0.4
    if is_forged:
        content = resealed(content)
    model = pickle.loads(pickle.dumps(_STARTED[name]))
    if rng.random() < 0.1:
        model.set_params(n_clusters=3)
    is_other = model.n_clusters == 3

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.credalis"
            path.write_bytes(content)
            model.fit(models.ROWS, checkpoint=path)
            ensure_partition(model.partition_)
            if not is_forged:
                ensure(content == whole, "continued from a damaged file")
                ensure(not is_other, "continued with other parameters")
                same = np.array_equal(model.partition_.masses, masses)
                ensure(same, "continued to another end")

    return Call("checkpoint", run, {"model.credalis"})


def foreign(rng: Rng) -> Call:
    """Files of others, and nothing at all."""
    content = pick(
        rng,
        (
            b"",
            rng.bytes(int(rng.integers(1, 400))),
            b"PK\x03\x04" + rng.bytes(100),
            b"PK\x05\x06" + bytes(18),
            b"\x93NUMPY\x01\x00" + rng.bytes(50),
            pickle.dumps(models.ROWS),
            b"a,b\n1,2\n",
            _written(lambda path: np.savez(path.open("wb"), a=models.ROWS)),
            repr(pick(rng, HOSTILE)).encode(),
        ),
    )
    return _refused("foreign file", content, b"", None)


KINDS = {
    flips: 40,
    bits_of_format1: 8,
    archives: 12,
    contents: 28,
    checkpoints: 4,
    keys: 5,
    foreign: 3,
}
