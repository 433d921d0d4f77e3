"""Names beside points, without overlaps where there is room."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Directions in order of preference, as (horizontal, vertical) signs.
_DIRECTIONS = ((1, 0), (-1, 1), (1, -1), (1, 1), (-1, -1), (-1, 0), (0, 1), (0, -1))
_DISTANCES = (5.5, 16.0, 28.0)
_ALIGNMENTS = {1: "left", 0: "center", -1: "right"}
_VERTICALS = {1: "bottom", 0: "center", -1: "top"}


def place_labels(
    ax: Any,
    points: NDArray[np.float64],
    names: Sequence[str],
    colors: Sequence[Any],
    line: NDArray[np.float64],
) -> list[Any]:
    """Write a name beside each point (n, 2), one after the other.

    Each name takes the first of 24 places where it meets no other name, no point, no
    border and no part of a line of horizontal and vertical pieces (n_corners, 2), or
    the place where it meets least. A thin line leads to a name that is far off, past
    other names.
    """
    # The layout decides how much room there is; it is made when the figure is drawn.
    ax.figure.canvas.figure.draw_without_rendering()
    pixels = ax.transData.transform(points)
    point_radius, line_radius = 4 * ax.figure.dpi / 72, 1.5 * ax.figure.dpi / 72
    corners = ax.transData.transform(line)
    pieces = np.sort(np.stack([corners[:-1], corners[1:]]), axis=0)
    low = np.vstack([pixels - point_radius, pieces[0] - line_radius])
    high = np.vstack([pixels + point_radius, pieces[1] + line_radius])
    taken = list(np.hstack([low, high]))
    written: list[NDArray[np.float64]] = []
    texts = []
    for point, pixel, name, color in zip(points, pixels, names, colors, strict=True):
        text = ax.annotate(
            name,
            point,
            xytext=(0, 0),
            textcoords="offset points",
            fontsize="small",
            color=color,
            zorder=5,
            # "$" may stand in a name.
            parse_math=False,
        )
        costs = []
        places = list(product(_DISTANCES, _DIRECTIONS))
        for place in places:
            _move(text, *place)
            box = _box(text)
            costs.append(_overlap(box, taken, _box(ax)) + _crossed(pixel, box, written))
            if costs[-1] == 0:
                break
        best = int(np.argmin(costs))
        _move(text, *places[best])
        box = _box(text)
        taken.append(box)
        written.append(box)
        if places[best][0] > _DISTANCES[0]:
            _lead(ax, point, text)
            # Names to come keep off the line as well.
            way = _way(pixel, box)
            taken.extend(np.hstack([way - line_radius, way + line_radius]))
        texts.append(text)
    return texts


def _move(text: Any, distance: float, direction: tuple[int, int]) -> None:
    # A diagonal step is longer, and needs to clear the point in one direction only.
    share = 0.75 if all(direction) else 1.0
    text.set_position(tuple(share * distance * step for step in direction))
    text.set_horizontalalignment(_ALIGNMENTS[direction[0]])
    text.set_verticalalignment(_VERTICALS[direction[1]])


def _box(artist: Any) -> NDArray[np.float64]:
    """Left, bottom, right and top in pixels."""
    return np.array(artist.get_window_extent().extents)


def _overlap(
    box: NDArray[np.float64],
    taken: list[NDArray[np.float64]],
    frame: NDArray[np.float64],
) -> float:
    """Area shared with other boxes, and area outside the frame."""
    others = np.array(taken)
    corners = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    shared = np.prod(np.maximum(corners, 0), axis=1).sum()
    inside = np.minimum(box[2:], frame[2:]) - np.maximum(box[:2], frame[:2])
    outside = np.prod(box[2:] - box[:2]) - np.prod(np.maximum(inside, 0))
    return float(shared + max(outside, 0))


def _way(pixel: NDArray[np.float64], box: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points on the line from a point to the nearest point of a name's box."""
    end = np.clip(pixel, box[:2], box[2:])
    return pixel + np.linspace(0.1, 0.9, 15)[:, None] * (end - pixel)


def _crossed(
    pixel: NDArray[np.float64],
    box: NDArray[np.float64],
    written: list[NDArray[np.float64]],
) -> float:
    """Area of the names that the line to this one would cross."""
    way = _way(pixel, box)
    area = 0.0
    for other in written:
        if ((way >= other[:2]) & (way <= other[2:])).all(axis=1).any():
            area += float(np.prod(other[2:] - other[:2]))
    return area


def _lead(ax: Any, point: NDArray[np.float64], text: Any) -> None:
    """A thin line from a point to its name."""
    ax.annotate(
        "",
        point,
        xytext=text.get_position(),
        textcoords="offset points",
        arrowprops={"arrowstyle": "-", "linewidth": 0.6, "color": text.get_color()},
        zorder=4,
    )
