"""Names beside points, without overlaps where there is room."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Directions in order of preference, as (horizontal, vertical) signs.
_DIRECTIONS = ((1, 0), (-1, 1), (1, -1), (1, 1), (-1, -1), (-1, 0), (0, 1), (0, -1))
_DISTANCES = (5.5, 16.0, 28.0, 42.0)
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

    Each name takes the first of 32 places where it meets no other name, no point, no
    border and no part of a line of horizontal and vertical pieces (n_corners, 2), or
    the place where it meets least. A thin line leads to a name that is far off, past
    points and other names. Where names meet, other orders are tried, and the best one
    is taken.
    """
    # The layout decides how much room there is; it is made when the figure is drawn.
    ax.figure.canvas.figure.draw_without_rendering()
    texts = [
        ax.annotate(
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
        for point, name, color in zip(points, names, colors, strict=True)
    ]
    pixels = ax.transData.transform(points)
    taken = _boxes_of_marks(ax, pixels, line)
    least, places = np.inf, {}
    for order in _orders(pixels):
        cost, found = _arranged(ax, texts, pixels, order, taken)
        if cost < least:
            least, places = cost, found
        if cost == 0:
            break
    for k, (point, text) in enumerate(zip(points, texts, strict=True)):
        _move(text, *places[k])
        if places[k][0] > _DISTANCES[0]:
            _lead(ax, point, text)
    return texts


def _boxes_of_marks(
    ax: Any, pixels: NDArray[np.float64], line: NDArray[np.float64]
) -> list[NDArray[np.float64]]:
    """What points and the pieces of a line cover."""
    point_radius, line_radius = 4 * ax.figure.dpi / 72, _line_radius(ax)
    corners = ax.transData.transform(line)
    pieces = np.sort(np.stack([corners[:-1], corners[1:]]), axis=0)
    low = np.vstack([pixels - point_radius, pieces[0] - line_radius])
    high = np.vstack([pixels + point_radius, pieces[1] + line_radius])
    return list(np.hstack([low, high]))


def _orders(pixels: NDArray[np.float64]) -> Iterator[NDArray[np.intp]]:
    """Orders in which names are written: as given, and from all sides."""
    yield np.arange(len(pixels))
    for values in (*pixels.T, *-pixels.T):
        yield np.argsort(values, kind="stable")


def _arranged(
    ax: Any,
    texts: Sequence[Any],
    pixels: NDArray[np.float64],
    order: NDArray[np.intp],
    marks: list[NDArray[np.float64]],
) -> tuple[float, dict[int, tuple[float, tuple[int, int]]]]:
    """How much meets if names are written in this order, and where each one is."""
    taken = marks.copy()
    written: list[NDArray[np.float64]] = []
    frame, radius = _box(ax), _line_radius(ax)
    total, found = 0.0, {}
    for k in order.tolist():
        pixel, costs = pixels[k], []
        apart = [box for box in marks[: len(pixels)] if not _holds(box, pixel)]
        places = list(product(_DISTANCES, _DIRECTIONS))
        for place in places:
            _move(texts[k], *place)
            box = _box(texts[k])
            costs.append(
                _overlap(box, taken, frame) + _crossed(pixel, box, apart + written)
            )
            if costs[-1] == 0:
                break
        best = int(np.argmin(costs))
        found[k] = places[best]
        total += costs[best]
        _move(texts[k], *places[best])
        box = _box(texts[k])
        taken.append(box)
        written.append(box)
        if places[best][0] > _DISTANCES[0]:
            # Names to come keep off the line as well.
            way = _way(pixel, box)
            taken.extend(np.hstack([way - radius, way + radius]))
    return total, found


def _line_radius(ax: Any) -> float:
    return 1.5 * ax.figure.dpi / 72


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
    others: list[NDArray[np.float64]],
) -> float:
    """Area of the points and names that the line to a name would cross."""
    way = _way(pixel, box)
    crossed = (other for other in others if _holds(other, way))
    return sum(float(np.prod(other[2:] - other[:2])) for other in crossed)


def _holds(box: NDArray[np.float64], points: NDArray[np.float64]) -> bool:
    """Whether one of the points (…, 2) is in a box."""
    return bool(((points >= box[:2]) & (points <= box[2:])).all(axis=-1).any())


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
