"""Fast Möbius transforms on the full power set, in the order of `FocalSets.full`.

Each costs c 2^(c-1) additions per row, against 4^c for the defining sums.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import check_moderate, check_numbers
from credalis._refusals import refuses_by_name

Values = NDArray[np.float64]


@refuses_by_name
def masses_to_commonality(masses: ArrayLike) -> Values:
    """Q(A) = Σ m(B) over B ⊇ A, for masses of shape (..., 2 ** n_clusters).

    Parameters
    ----------
    masses : array-like of shape (..., 2 ** n_clusters)
        Masses of all subsets, in binary order.

    Returns
    -------
    ndarray of shape (..., 2 ** n_clusters)
    """
    values, bits = _binary_axes("masses", masses)
    for without, with_bit in bits:
        without += with_bit
    return values


@refuses_by_name
def commonality_to_masses(commonalities: ArrayLike) -> Values:
    """Inverse of `masses_to_commonality`.

    Parameters
    ----------
    commonalities : array-like of shape (..., 2 ** n_clusters)
        Q(A) of all subsets, in binary order.

    Returns
    -------
    ndarray of shape (..., 2 ** n_clusters)
    """
    values, bits = _binary_axes("commonalities", commonalities)
    for without, with_bit in bits:
        without -= with_bit
    return values


@refuses_by_name
def masses_to_implicability(masses: ArrayLike) -> Values:
    """b(A) = Σ m(B) over B ⊆ A, for masses of shape (..., 2 ** n_clusters).

    Parameters
    ----------
    masses : array-like of shape (..., 2 ** n_clusters)
        Masses of all subsets, in binary order.

    Returns
    -------
    ndarray of shape (..., 2 ** n_clusters)
    """
    values, bits = _binary_axes("masses", masses)
    for without, with_bit in bits:
        with_bit += without
    return values


@refuses_by_name
def implicability_to_masses(implicabilities: ArrayLike) -> Values:
    """Inverse of `masses_to_implicability`.

    Parameters
    ----------
    implicabilities : array-like of shape (..., 2 ** n_clusters)
        b(A) of all subsets, in binary order.

    Returns
    -------
    ndarray of shape (..., 2 ** n_clusters)
    """
    values, bits = _binary_axes("implicabilities", implicabilities)
    for without, with_bit in bits:
        with_bit -= without
    return values


def _binary_axes(
    name: str, array: ArrayLike
) -> tuple[Values, list[tuple[Values, Values]]]:
    """A copy, and for each cluster its views on the sets without and with it."""
    values = check_moderate(name, check_numbers(name, array))
    n_sets = values.shape[-1] if values.ndim else 0
    n_clusters = n_sets.bit_length() - 1
    if n_sets != 2 ** max(n_clusters, 0):
        raise ValueError(
            f"{name} must have 2 ** n_clusters entries on their last axis, one for "
            f"each subset, got shape {values.shape}"
        )
    bits = []
    for cluster in range(n_clusters):
        n_blocks = n_sets // 2 ** (cluster + 1)
        view = values.reshape(*values.shape[:-1], n_blocks, 2, 2**cluster)
        bits.append((view[..., 0, :], view[..., 1, :]))
    return values, bits
