"""Values of the terms in operations that arrays and tensors share.

Given tensors, they run under automatic differentiation; given arrays, they say in one
line each what the terms with closed-form gradients compute.
"""

from typing import Any


def stress_sum(
    masses: Any, similarities: Any, disjoint: Any, rows: slice = slice(None)
) -> Any:
    """Sum of (κ_ij - δ*_ij)² over the objects i of a range and all objects j ≠ i.

    Parameters
    ----------
    masses : array or tensor of shape (n_focal_sets, n_samples)
        Masses.
    similarities : array or tensor of shape (n_rows, n_samples)
        1 - δ*_ij.
    disjoint : array or tensor of shape (n_focal_sets, n_focal_sets)
        The matrix C.
    rows : slice, default=slice(None)
        The objects i.
    """
    residuals = masses[:, rows].T @ (disjoint @ masses) + similarities - 1.0
    with_themselves = residuals.diagonal(rows.start or 0)
    return (residuals * residuals).sum() - (with_themselves * with_themselves).sum()


def sampled_stress(
    masses: Any, rows: Any, columns: Any, similarities: Any, disjoint: Any
) -> Any:
    """Mean of (κ_ij - δ*_ij)² over the pairs (rows[k], columns[k])."""
    conflicts = ((disjoint @ masses)[:, rows] * masses[:, columns]).sum(0)
    residuals = conflicts + similarities - 1.0
    return (residuals * residuals).mean()


def pair_penalty(masses: Any, must_link: Any, cannot_link: Any, apartness: Any) -> Any:
    """[Σ_ML m_iᵀ Q m_j + Σ_CL (2 - m_iᵀ Q m_j)] / (2 (|ML| + |CL|))."""
    against = apartness @ masses
    apart, together = (
        (against[:, pairs[:, 0]] * masses[:, pairs[:, 1]]).sum()
        for pairs in (must_link, cannot_link)
    )
    n_pairs = len(must_link) + len(cannot_link)
    return (apart + 2.0 * len(cannot_link) - together) / (2.0 * n_pairs)


def label_penalty(masses: Any, objects: Any, targets: Any, membership: Any) -> Any:
    """Sum of (pl_ik - y_ik)² over labelled objects i and clusters k, per object.

    Parameters
    ----------
    masses : array or tensor of shape (n_focal_sets, n_samples)
        Masses.
    objects : array or tensor of int, shape (n_labelled,)
        The labelled objects.
    targets : array or tensor of shape (n_clusters, n_labelled)
        y_ik: 1 for the cluster of the object, 0 for the others.
    membership : array or tensor of shape (n_focal_sets, n_clusters)
        Which clusters are in which focal set.
    """
    residuals = membership.T @ masses[:, objects] - targets
    return (residuals * residuals).sum() / len(objects)
