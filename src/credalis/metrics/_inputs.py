"""Partitions and class labels as the metrics take them."""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis.belief import FocalSets
from credalis.partition import CredalPartition


@dataclass(frozen=True, eq=False)
class MassRows:
    """Mass functions of n_samples objects, read a few objects at a time.

    ``read`` takes a slice or an array of object numbers and returns masses of shape
    (n_objects, n_focal_sets). Class labels become masses only when they are read: a
    matrix of all of them would be larger than the partition they are compared with.
    """

    n_samples: int
    focal_sets: FocalSets
    read: Callable[[slice | NDArray[np.int64]], NDArray[np.float64]]


def check_partition(name: str, value: Any) -> CredalPartition:
    """A credal partition of two objects or more, or a ValueError that names it."""
    if not isinstance(value, CredalPartition):
        raise ValueError(f"{name} must be a CredalPartition, got {_kind(value)}")
    _check_has_pairs(name, value.n_samples)
    return value


def check_comparable(
    first: CredalPartition, second: CredalPartition | ArrayLike
) -> tuple[MassRows, MassRows]:
    """Masses of a credal partition, and of another one or of class labels."""
    partition = check_partition("first", first)
    if isinstance(second, CredalPartition):
        other = _rows_of_partition(second)
    else:
        other = _rows_of_labels(*class_codes("second", second))
    check_same_objects("second", other.n_samples, "first", partition.n_samples)
    return _rows_of_partition(partition), other


def check_same_objects(name: str, n_samples: int, other: str, expected: int) -> None:
    """A ValueError unless both numbers of objects are the same."""
    if n_samples != expected:
        raise ValueError(
            f"{name} must be about the same objects as {other}: expected {expected} "
            f"objects, got {n_samples}"
        )


def hard_codes(name: str, value: CredalPartition | ArrayLike) -> NDArray[np.intp]:
    """Labels of maximal plausibility of a partition, or the codes of class labels."""
    if isinstance(value, CredalPartition):
        return check_partition(name, value).labels
    return class_codes(name, value)[0]


def class_codes(name: str, labels: ArrayLike) -> tuple[NDArray[np.intp], int]:
    """Codes 0, ..., n_classes - 1 of class labels, and n_classes.

    Labels are numbers or strings; every distinct value is a class, -1 too. Missing
    values are refused, and so are numbers and strings together: NumPy would turn NaN
    among strings into a class "nan".
    """
    is_sequence = isinstance(labels, (list, tuple))
    array = np.asarray(labels, dtype=object if is_sequence else None)
    if array.ndim != 1 or array.size == 0:
        raise ValueError(
            f"{name} must be a CredalPartition or a vector of class labels, "
            f"got {_kind(labels)} of shape {array.shape}"
        )
    _check_has_pairs(name, len(array))
    if array.dtype.kind in "OT":
        array = _uniform(name, array)
    if array.dtype.kind not in "biufUS":
        raise ValueError(
            f"{name} must hold numbers or strings as class labels, "
            f"got dtype {array.dtype}"
        )
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise ValueError(
            f"{name} must have a class label for every object, got NaN at position "
            f"{int(np.isnan(array).argmax())}"
        )
    classes, codes = np.unique(array, return_inverse=True)
    return codes, len(classes)


def _uniform(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """An array of Python objects as an array of numbers or of strings."""
    kinds = str if isinstance(array[0], str) else (Real, np.bool_)
    for position, value in enumerate(array):
        if not isinstance(value, kinds):
            raise ValueError(
                f"{name} must hold numbers only or strings only as class labels, got "
                f"{value!r} at position {position}"
            )
    return np.array(array.tolist())


def _rows_of_partition(partition: CredalPartition) -> MassRows:
    masses = partition.masses
    return MassRows(len(masses), partition.focal_sets, masses.__getitem__)


def _rows_of_labels(codes: NDArray[np.intp], n_classes: int) -> MassRows:
    """All mass of an object on its class."""
    focal_sets = FocalSets.singletons(n_classes, empty=False, frame=False)
    certain = np.eye(n_classes)
    return MassRows(len(codes), focal_sets, lambda objects: certain[codes[objects]])


def _check_has_pairs(name: str, n_samples: int) -> None:
    if n_samples < 2:
        raise ValueError(
            f"{name} must have at least 2 objects, for the indices are means over "
            f"pairs, got {n_samples}"
        )


def _kind(value: object) -> str:
    return type(value).__name__
