"""Objects in the plane: as they are, by principal components, or along a line."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError
from sklearn.decomposition import PCA

Points = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PlanarView:
    """Objects and prototypes in two dimensions.

    Parameters
    ----------
    points : array of shape (n_samples, 2)
    axis_labels : tuple of two str
    centers : array of shape (n_centers, 2) or None
    is_strip : bool
        Whether only the first coordinate is a feature, and the second one is doubt.
    """

    points: Points
    axis_labels: tuple[str, str]
    centers: Points | None
    is_strip: bool = False


def planar_view(
    X: Points,
    names: Sequence[str],
    doubt: NDArray[np.float64],
    centers: Points | None = None,
) -> PlanarView:
    """Two features as they are, more by PCA, a single one against the doubt.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    names : sequence of str
        Names of the features.
    doubt : array of shape (n_samples,)
        Second coordinate of the objects if there is one feature.
    centers : array of shape (n_centers, n_features), default=None
        Points to be taken along.
    """
    if X.shape[1] == 1:
        if centers is not None:
            centers = np.column_stack([centers, np.zeros(len(centers))])
        points = np.column_stack([X[:, 0], doubt])
        return PlanarView(points, (names[0], "doubt"), centers, is_strip=True)
    # Objects that are all equal have no principal components.
    if X.shape[1] == 2 or len(X) < 2 or np.ptp(X, axis=0).max() == 0:
        if centers is not None:
            centers = centers[:, :2]
        return PlanarView(X[:, :2], (names[0], names[1]), centers)
    pca = PCA(n_components=2, random_state=0).fit(X)
    first, second = (
        f"principal component {j + 1} ({_percentage(share)} of variance)"
        for j, share in enumerate(pca.explained_variance_ratio_)
    )
    if centers is not None:
        centers = pca.transform(centers)
    return PlanarView(pca.transform(X), (first, second), centers)


def convex_hull(points: Points) -> Points:
    """Corners of the convex hull of points (n, 2), counter-clockwise.

    No point gives no corner, one point (or copies of it) one, points on a line two.
    """
    points = np.unique(points, axis=0)
    if len(points) < 3:
        return points
    # Features may have units far apart; the hull does not depend on them.
    low, span = points.min(axis=0), np.ptp(points, axis=0)
    scaled = (points - low) / np.where(span > 0, span, 1.0)
    _, spread, directions = np.linalg.svd(scaled - scaled.mean(axis=0), False)
    if spread[1] > 1e-9 * spread[0]:
        try:
            return points[ConvexHull(scaled).vertices]
        except QhullError:  # flat beyond what Qhull can tell
            pass
    along = scaled @ directions[0]
    return points[[along.argmin(), along.argmax()]]


def interval(points: Points, height: float) -> Points:
    """Ends of the interval that the first coordinates span, drawn at this height."""
    if len(points) == 0:
        return np.empty((0, 2))
    ends = np.unique([points[:, 0].min(), points[:, 0].max()])
    return np.column_stack([ends, np.full(len(ends), height)])


def _percentage(share: float) -> str:
    return "< 1 %" if 0 < share < 0.005 else f"{share:.0%}".replace("%", " %")
