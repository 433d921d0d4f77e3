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
_PROBABILITIES = (
    *(0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005),
    *(0.002, 0.001, 0.0005, 0.0002, 0.0001, 0.00005),
)
_QUANTILES = {
    10: (
        0.3091,
        0.3756,
        0.4126,
        0.4413,
        0.4766,
        0.5040,
        0.5272,
        0.5530,
        0.5699,
        0.5857,
        0.6033,
        0.6180,
        0.6310,
    ),
    20: (
        0.3279,
        0.3950,
        0.4347,
        0.4702,
        0.5111,
        0.5392,
        0.5655,
        0.5972,
        0.6195,
        0.6397,
        0.6656,
        0.6852,
        0.6979,
    ),
    50: (
        0.3456,
        0.4161,
        0.4587,
        0.4968,
        0.5419,
        0.5730,
        0.6027,
        0.6398,
        0.6643,
        0.6869,
        0.7168,
        0.7411,
        0.7680,
    ),
    100: (
        0.3549,
        0.4271,
        0.4713,
        0.5107,
        0.5572,
        0.5901,
        0.6201,
        0.6576,
        0.6851,
        0.7129,
        0.7433,
        0.7689,
        0.7919,
    ),
    200: (
        0.3617,
        0.4353,
        0.4805,
        0.5210,
        0.5693,
        0.6024,
        0.6336,
        0.6726,
        0.7008,
        0.7273,
        0.7615,
        0.7903,
        0.8187,
    ),
    500: (
        0.3682,
        0.4432,
        0.4894,
        0.5309,
        0.5804,
        0.6145,
        0.6448,
        0.6845,
        0.7115,
        0.7427,
        0.7734,
        0.8032,
        0.8271,
    ),
    1000: (
        0.3716,
        0.4464,
        0.4933,
        0.5349,
        0.5847,
        0.6199,
        0.6532,
        0.6933,
        0.7216,
        0.7474,
        0.7818,
        0.8046,
        0.8252,
    ),
    5000: (
        0.3759,
        0.4518,
        0.4987,
        0.5408,
        0.5888,
        0.6257,
        0.6596,
        0.7040,
        0.7272,
        0.7638,
        0.8050,
        0.8240,
        0.8332,
    ),
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
        # A fall from 1 to ½, of which nothing depends.
        return float(1.0 - 0.5 * found / squares[0])
    if found <= squares[-1]:
        return float(np.exp(np.interp(found, squares, logs)))
    slope = (logs[-1] - logs[-4]) / (squares[-1] - squares[-4])
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
