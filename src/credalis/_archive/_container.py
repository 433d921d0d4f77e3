"""Files of named arrays that tell when they are damaged.

A file is an ``.npz`` archive whose members are stored as they are, and whose comment,
at the very end, holds two sums over what comes before them:

    credalis hmac-sha256:<64 characters> sha256:<64 hexadecimal digits>

The last is the SHA-256 of every byte before it. It detects damage, not an attacker, who
would compute it again. The other is the HMAC of every byte before it under a secret
key, or 64 dashes. Both are checked before anything is built. Files of format 1 have no
comment; the checksums that the archive has for each member are all they offer.

Nothing is allocated that is not in the file: members are not compressed, lie within the
file, and the shape of an array is compared with the bytes that are there.
"""

import hashlib
import hmac
import math
import os
import tokenize
import zipfile
from typing import Any, BinaryIO

import numpy as np

from credalis._files import atomic_write, checked_path, naming_errors

_SIGNATURE = b"credalis hmac-sha256:"
_DIGEST = b" sha256:"
_UNSIGNED = b"-" * 64
_LENGTH = len(_SIGNATURE) + len(_DIGEST) + 128
_CHUNK_BYTES = 2**20

# Shapes and types of arrays are short texts; longer ones are hostile.
_MAX_ARRAY_HEADER = 10_000


class SignatureError(ValueError):
    """A file is not signed with the key that was given."""


def write(
    path: str | os.PathLike[str],
    arrays: dict[str, np.ndarray],
    key: bytes | str | None = None,
) -> None:
    """Write arrays with their digest, and a signature if there is a key."""
    secret = checked_key(key)
    path = checked_path(path)
    with naming_errors(path), atomic_write(path) as stream:
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
            for name, values in arrays.items():
                # Without the date of today: equal models are equal files.
                info = zipfile.ZipInfo(f"{name}.npy")
                with archive.open(info, "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, values, allow_pickle=False)
            # Its length is part of what is summed up; the sums take its place below.
            archive.comment = b" " * _LENGTH
        size = stream.tell()
        end = size - _LENGTH
        stream.seek(end)
        stream.write(_SIGNATURE)
        signature = _UNSIGNED
        if secret is not None:
            sums = hmac.new(secret, None, "sha256")
            whole = _summed(stream, end + len(_SIGNATURE), sums)
            signature = whole.hexdigest().encode()
        stream.seek(end + len(_SIGNATURE))
        stream.write(signature + _DIGEST)
        whole = _summed(stream, size - 64, hashlib.sha256())
        stream.seek(size - 64)
        stream.write(whole.hexdigest().encode())


class Container:
    """The arrays of an open file, whose sums are right.

    Parameters
    ----------
    stream : binary file
        The file, which stays open.
    key : bytes, str or None
        The secret that it must be signed with.
    """

    def __init__(self, stream: BinaryIO, key: bytes | str | None = None) -> None:
        secret = checked_key(key)
        if not zipfile.is_zipfile(stream):
            raise ValueError("it is not an archive of arrays")
        self._size = stream.seek(0, os.SEEK_END)
        self.has_digest = _check_sums(stream, self._size, secret)
        self._archive = zipfile.ZipFile(stream)
        members = self._archive.infolist()
        self._members: dict[str, zipfile.ZipInfo] = {}
        for each in members:
            name = each.filename.removesuffix(".npy")
            if name == each.filename or name in self._members:
                raise ValueError(f"it has an unexpected member {each.filename!r}")
            if each.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"its member {each.filename!r} is compressed")
            if each.flag_bits & 1:
                raise ValueError(f"its member {each.filename!r} is encrypted")
            self._members[name] = each
        if sum(each.file_size for each in members) > self._size:
            raise ValueError("its members are larger than the file")

    def __enter__(self) -> "Container":
        return self

    def __exit__(self, *error: object) -> None:
        self._archive.close()

    @property
    def names(self) -> list[str]:
        """Names of the arrays."""
        return list(self._members)

    def array(self, name: str) -> np.ndarray:
        """An array, read to its end, so that its checksum is compared."""
        info = self._members[name]
        with self._archive.open(info) as member:
            shape, is_fortran, dtype = _array_header(member)
            if dtype.hasobject:
                raise ValueError(
                    f"array {name!r} holds Python objects, allow_pickle is never given"
                )
            if dtype.itemsize == 0:
                # NumPy would give each of them room that is not in the file.
                raise ValueError(f"array {name!r} has entries of no size")
            n_bytes = math.prod(shape) * dtype.itemsize
            there = info.file_size - member.tell()
            if n_bytes != there:
                raise ValueError(
                    f"array {name!r} says that it has {n_bytes} bytes, it has {there}"
                )
            content = np.empty(n_bytes, dtype=np.uint8)
            n_read = 0
            while n_read < n_bytes:
                chunk = member.read(_CHUNK_BYTES)
                if not chunk:
                    raise ValueError(f"array {name!r} ends too early")
                content[n_read : n_read + len(chunk)] = np.frombuffer(chunk, np.uint8)
                n_read += len(chunk)
            # The checksum is compared when there is nothing left to read.
            member.read(1)
        return content.view(dtype).reshape(shape, order="F" if is_fortran else "C")


def _array_header(member: Any) -> tuple[tuple[int, ...], bool, np.dtype]:
    version = np.lib.format.read_magic(member)
    if version == (1, 0):
        read = np.lib.format.read_array_header_1_0
    elif version == (2, 0):
        read = np.lib.format.read_array_header_2_0
    else:
        raise ValueError(f"arrays must have version 1.0 or 2.0, got {version}")
    try:
        return read(member, max_header_size=_MAX_ARRAY_HEADER)
    except (SyntaxError, tokenize.TokenError) as error:
        raise ValueError(f"an array has no proper header: {error}") from error


def _check_sums(stream: BinaryIO, size: int, key: bytes | None) -> bool:
    """Compare the sums at the end of a file; whether there are any."""
    trailer = b""
    if size > _LENGTH:
        stream.seek(size - _LENGTH)
        trailer = stream.read(_LENGTH)
    middle = len(_SIGNATURE) + 64
    if not (trailer.startswith(_SIGNATURE) and trailer[middle:-64] == _DIGEST):
        if key is not None:
            raise SignatureError("has no signature, so that key must be None")
        return False
    digest = _summed(stream, size - 64, hashlib.sha256()).hexdigest()
    if not hmac.compare_digest(digest.encode(), trailer[-64:]):
        raise ValueError("its digest is that of other content")
    if key is not None:
        signature = trailer[len(_SIGNATURE) : middle]
        if signature == _UNSIGNED:
            raise SignatureError("has no signature, so that key must be None")
        before = size - _LENGTH + len(_SIGNATURE)
        expected = _summed(stream, before, hmac.new(key, None, "sha256")).hexdigest()
        if not hmac.compare_digest(expected.encode(), signature):
            raise SignatureError("was not signed with this key")
    return True


def _summed(stream: BinaryIO, n_bytes: int, sums: Any) -> Any:
    """Sums over the first bytes of a file."""
    stream.seek(0)
    while n_bytes > 0:
        chunk = stream.read(min(n_bytes, _CHUNK_BYTES))
        if not chunk:
            raise ValueError("it ends too early")
        sums.update(chunk)
        n_bytes -= len(chunk)
    return sums


def checked_key(key: Any) -> bytes | None:
    """The bytes of a key; short ones could be guessed."""
    if key is None:
        return None
    if isinstance(key, str):
        key = key.encode()
    if not isinstance(key, (bytes, bytearray)):
        raise ValueError(f"key must be bytes or text, got {type(key).__name__}")
    if len(key) < 16:
        raise ValueError(f"key must have at least 16 bytes, got {len(key)}")
    return bytes(key)
