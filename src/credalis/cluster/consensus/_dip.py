"""The dip: how far a sample is from having a single mode, and its p-value.

D = min over unimodal G of sup |F_n - G|, with F_n the empirical distribution function
(J. A. Hartigan and P. M. Hartigan, 1985, The dip test of unimodality, Annals of
Statistics 13(1), 70-84).
"""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Upper quantiles of √n D of n uniform numbers, at these probabilities, from 40 000 (n =
# 5000) to 10⁶ (n <= 200) simulated samples.
_PROBABILITIES = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0001)
_QUANTILES = {
    10: (0.309, 0.376, 0.413, 0.441, 0.477, 0.504, 0.527, 0.553, 0.570, 0.618),
    20: (0.328, 0.395, 0.435, 0.470, 0.511, 0.539, 0.566, 0.597, 0.620, 0.685),
    50: (0.346, 0.416, 0.459, 0.497, 0.542, 0.573, 0.603, 0.640, 0.664, 0.741),
    100: (0.355, 0.427, 0.471, 0.511, 0.557, 0.590, 0.620, 0.658, 0.685, 0.769),
    200: (0.362, 0.435, 0.480, 0.521, 0.569, 0.602, 0.634, 0.673, 0.701, 0.790),
    500: (0.368, 0.443, 0.489, 0.531, 0.580, 0.615, 0.645, 0.684, 0.712, 0.803),
    1000: (0.372, 0.446, 0.493, 0.535, 0.585, 0.620, 0.653, 0.693, 0.722, 0.805),
    5000: (0.376, 0.452, 0.499, 0.541, 0.589, 0.626, 0.660, 0.704, 0.727, 0.824),
}


def dip_p_value(value: float, n: int) -> float:
    """Probability that n uniform numbers have a dip of at least this.

    Between the sizes of the table √n D is taken to be linear in 1/√n, between its
    probabilities log p to be linear in n D², and so beyond them. Fewer than ten values
    count as ten, which makes p larger.
    """
    sizes = np.array(list(_QUANTILES))
    table = np.array(list(_QUANTILES.values()))
    inverse = 1 / np.sqrt(np.clip(n, sizes[0], sizes[-1]))
    squares = np.square(
        [np.interp(inverse, 1 / np.sqrt(sizes[::-1]), row[::-1]) for row in table.T]
    )
    logs = np.log(_PROBABILITIES)
    found = n * value**2
    if found <= squares[0]:
        # From 1 to ½, where nothing depends on it.
        return float(1.0 - 0.5 * found / squares[0])
    if found <= squares[-1]:
        return float(np.exp(np.interp(found, squares, logs)))
    slope = (logs[-1] - logs[-2]) / (squares[-1] - squares[-2])
    return float(np.exp(logs[-1] + slope * (found - squares[-1])))


def dip(values: Array) -> float:
    """D of a sample, from 1/(2n) to 1/4.

    A unimodal distribution function is convex up to its mode and concave beyond it.
    The interval that holds the mode is narrowed down: convex and concave hulls of the
    steps over it are farthest apart at its next, smaller self, and what lies outside
    has to be convex or concave, which the steps are not by some distance.

    Parameters
    ----------
    values : array of shape (n,)
        The sample, in any order.
    """
    n = len(values)
    ordered = np.sort(values)
    # Lower corners of the steps are (x_j, j), upper ones (x_j, j + 1). Of equal values
    # the first has the lowest and the last the highest corner.
    points = np.unique(ordered)
    lower = np.searchsorted(ordered, points, side="left").astype(np.float64)
    upper = np.searchsorted(ordered, points, side="right").astype(np.float64)
    largest = float((upper - lower).max(initial=1.0))
    first, last = 0, len(points) - 1
    while last > first:
        x = points[first : last + 1]
        below = _hull(x, lower[first : last + 1])
        above = _hull(x, -upper[first : last + 1])
        convex = np.interp(x, x[below], lower[first : last + 1][below])
        concave = np.interp(x, x[above], upper[first : last + 1][above])
        # The hulls are farthest apart at a corner of one of them.
        apart = concave - convex
        corner = int(apart.argmax())
        if apart[corner] <= largest:
            break
        low = int(below[np.searchsorted(below, corner, side="right") - 1])
        high = int(above[np.searchsorted(above, corner, side="left")])
        left = (upper[first : first + low + 1] - convex[: low + 1]).max()
        right = (concave[high:] - lower[first + high : last + 1]).max()
        largest = max(largest, float(left), float(right))
        if low == 0 and high == last - first:
            break
        first, last = first + low, first + high
    return largest / (2 * n)


def _hull(x: Array, y: Array) -> NDArray[np.intp]:
    """Corners of the greatest convex function below the points, as indices."""
    xs, ys = x.tolist(), y.tolist()
    corners: list[int] = []
    for j in range(len(xs)):
        while len(corners) > 1:
            a, b = corners[-2], corners[-1]
            is_below = (xs[b] - xs[a]) * (ys[j] - ys[a]) > (xs[j] - xs[a]) * (
                ys[b] - ys[a]
            )
            if is_below:
                break
            corners.pop()
        corners.append(j)
    return np.array(corners)
