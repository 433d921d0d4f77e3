"""Marks of a MassDisplay: the heat map, the bars, and the names along the axes."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credalis.plots._axes import add_legend
from credalis.plots._palette import (
    INK,
    SEQUENTIAL,
    SOFT_INK,
    cluster_colors,
    set_styles,
)

if TYPE_CHECKING:
    from credalis.plots._mass import MassDisplay

# More objects than this are named by their group, not one by one.
MAX_NAMED = 40
# More focal sets than this are not all named along an axis, or in a legend.
MAX_SET_NAMES = 45
MAX_SET_ENTRIES = 18
# More rows of a heat map than this would be thinner than a pixel.
MAX_ROWS = 400


def draw_heatmap(ax: Any, display: "MassDisplay", *, legend: bool) -> None:
    """Objects from top to bottom, focal sets from left to right."""
    n_shown, n_sets = display.masses.shape
    image = ax.imshow(
        averaged_rows(display.masses, MAX_ROWS),
        aspect="auto",
        interpolation="nearest",
        cmap=SEQUENTIAL,
        vmin=0.0,
        vmax=1.0,
        extent=(-0.5, n_sets - 0.5, n_shown - 0.5, -0.5),
    )
    _name_sets(ax, display.focal_sets.names)
    for position in np.arange(n_sets - 1) + 0.5:
        ax.axvline(position, color="white", linewidth=1.0 if n_sets < 50 else 0.3)
    _name_objects(ax, display, axis="y")
    if legend:
        bar = ax.figure.colorbar(image, ax=ax, shrink=0.6, aspect=22, pad=0.02)
        bar.set_label("mass")
        bar.outline.set_visible(False)


def averaged_rows(masses: NDArray[np.float64], n_rows: int) -> NDArray[np.float64]:
    """At most n_rows rows, means of neighbouring rows in blocks of (almost) one size.

    Left to itself, an image with more rows than pixels shows some and drops the rest.
    """
    if len(masses) <= n_rows:
        return masses
    starts = np.arange(n_rows) * len(masses) // n_rows
    sizes = np.diff(np.append(starts, len(masses)))
    return np.add.reduceat(masses, starts, axis=0) / sizes[:, None]


def draw_bars(ax: Any, display: "MassDisplay", *, legend: bool) -> None:
    """One column for each object, its masses one upon the other."""
    bottoms = stacked(display)
    tops = bottoms + display.masses
    n_shown = len(display.masses)
    edges = np.arange(n_shown + 1) - 0.5
    styles = set_styles(display.focal_sets)
    for j, style in enumerate(styles):
        # The last value is repeated: a step needs both of its ends.
        ax.fill_between(
            edges,
            np.append(bottoms[:, j], bottoms[-1, j]),
            np.append(tops[:, j], tops[-1, j]),
            step="post",
            facecolor=style.face,
            hatch=style.hatch,
            edgecolor=style.hatch_color if style.hatch else "none",
            linewidth=0.0,
        )
    if n_shown <= 100:
        ax.vlines(edges, 0, 1, color="white", linewidth=1.0 if n_shown <= 60 else 0.5)
    ax.set(xlim=(-0.5, n_shown - 0.5), ylim=(0, 1), ylabel="mass")
    _name_objects(ax, display, axis="x")
    if legend:
        add_legend(ax, _set_handles(display, styles))


def stacked(display: "MassDisplay") -> NDArray[np.float64]:
    """Lower ends of the masses, (n_shown, n_focal_sets).

    From bottom to top: the most plausible cluster of the object, the other clusters,
    larger sets by size, and ∅.
    """
    size = display.focal_sets.cardinality.astype(float)
    ranks = np.where(size == 0, np.inf, size)
    own = np.zeros((display.focal_sets.n_clusters + 1, len(size)), dtype=bool)
    own[:-1] = (display.focal_sets.membership & (size == 1)[:, None]).T
    order = np.argsort(np.where(own[display.groups], 0.0, ranks), axis=1, kind="stable")
    sorted_masses = np.take_along_axis(display.masses, order, axis=1)
    ends = np.cumsum(sorted_masses, axis=1) - sorted_masses
    bottoms = np.empty_like(ends)
    np.put_along_axis(bottoms, order, ends, axis=1)
    return bottoms


def _name_sets(ax: Any, names: tuple[str, ...]) -> None:
    """Names of the focal sets below the heat map; not all of them if they are many."""
    step = -(-len(names) // MAX_SET_NAMES)
    shown = range(0, len(names), step)
    column_width = ax.get_window_extent().width / ax.figure.dpi / len(shown)
    upright = column_width > 0.09 * max(map(len, names))
    ax.set_xticks(
        list(shown),
        [names[j] for j in shown],
        rotation=0 if upright else 90,
        fontsize="medium" if len(shown) <= 20 else "small",
    )
    ax.tick_params(axis="x", length=0)
    ax.set_xlabel("focal set" if step == 1 else f"focal set (one name in {step})")
    ax.spines["bottom"].set_visible(False)


def _name_objects(ax: Any, display: "MassDisplay", *, axis: str) -> None:
    """Names of a few objects, else of their groups, else their number."""
    n_shown = len(display.masses)
    along = ax.xaxis if axis == "x" else ax.yaxis
    side = "bottom" if axis == "x" else "left"
    ax.spines[side].set_visible(False)
    if display.is_grouped:
        _mark_groups(ax, display, axis)
    if n_shown <= MAX_NAMED:
        long = max(map(len, display.object_names)) > 2
        along.set_ticks(
            range(n_shown),
            display.object_names,
            rotation=90 if axis == "x" and long else 0,
            fontsize="small",
        )
        along.set_label_text("object")
    elif display.is_grouped:
        suffix = _name_groups(ax, display, axis)
        along.set_label_text(f"{n_shown} objects{suffix}")
    else:
        along.set_label_text("object, in the order shown")
    along.set_tick_params(length=0, pad=9 if display.is_grouped else 3)


def _name_groups(ax: Any, display: "MassDisplay", axis: str) -> str:
    """Names of the groups, short or not all of them where they would overlap."""
    starts, ends, groups = group_bounds(display.groups)
    middles = (starts + ends - 1) / 2
    extent = ax.get_window_extent()
    length = extent.width if axis == "x" else extent.height
    inches = middles / len(display.groups) * length / ax.figure.dpi
    n_clusters = display.focal_sets.n_clusters
    numbers = [str(group) if group < n_clusters else "∅" for group in groups]
    names = [
        f"cluster {group}" if group < n_clusters else "outliers" for group in groups
    ]
    sizes = np.array([0.09 * len(name) if axis == "x" else 0.13 for name in names])
    short = (np.diff(inches) < (sizes[:-1] + sizes[1:]) / 2).any()
    kept, end = [], -np.inf
    for i, position in enumerate(inches):
        if not short or position - end > 0.09:
            kept.append(i)
            end = position
    along = ax.xaxis if axis == "x" else ax.yaxis
    along.set_ticks(
        middles[kept],
        [(numbers if short else names)[i] for i in kept],
        rotation=90 if axis == "x" and len(kept) > 20 else 0,
        fontsize="small" if short else "medium",
    )
    return ", by cluster" if short else ""


def _mark_groups(ax: Any, display: "MassDisplay", axis: str) -> None:
    """A strip in the colours of the clusters along the axis, and lines between them."""
    from matplotlib.lines import Line2D
    from matplotlib.transforms import ScaledTranslation

    colors: list[Any] = [*cluster_colors(display.focal_sets.n_clusters), INK]
    starts, ends, groups = group_bounds(display.groups)
    horizontal = axis == "x"
    right, up = (0, -5 / 72) if horizontal else (-5 / 72, 0)
    place = ax.get_xaxis_transform() if horizontal else ax.get_yaxis_transform()
    place = place + ScaledTranslation(right, up, ax.figure.dpi_scale_trans)
    divide = ax.axvline if horizontal else ax.axhline
    for start, end, group in zip(starts, ends, groups, strict=True):
        along, across = [start - 0.5, end - 0.5], [0, 0]
        strip = Line2D(
            *((along, across) if horizontal else (across, along)),
            color=colors[group],
            linewidth=5,
            solid_capstyle="butt",
            transform=place,
            clip_on=False,
        )
        ax.add_artist(strip)
        if start > 0:
            divide(
                start - 0.5,
                color="white" if horizontal else SOFT_INK,
                linewidth=0.8 if len(groups) <= 16 else 0.3,
            )


def group_bounds(
    groups: NDArray[np.intp],
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Start, end (exclusive) and value of each run of equal values."""
    starts = np.flatnonzero(np.append(True, groups[1:] != groups[:-1]))
    return starts, np.append(starts[1:], len(groups)), groups[starts]


def _set_handles(display: "MassDisplay", styles: list[Any]) -> list[Any]:
    """Patches of the focal sets, those with most mass if they are many."""
    from matplotlib.patches import Patch

    names = display.focal_sets.names
    listed = np.arange(len(names))
    if len(names) > MAX_SET_ENTRIES:
        heaviest = np.argsort(-display.masses.mean(axis=0), kind="stable")
        listed = np.sort(heaviest[: MAX_SET_ENTRIES - 1])
    handles = [
        Patch(
            facecolor=styles[j].face,
            hatch=styles[j].hatch,
            edgecolor=styles[j].hatch_color if styles[j].hatch else "none",
            linewidth=0,
            label=names[j],
        )
        for j in listed
    ]
    n_hidden = len(names) - len(handles)
    if n_hidden:
        handles.append(
            Patch(facecolor="none", label=f"and {n_hidden} sets with less mass")
        )
    return handles
