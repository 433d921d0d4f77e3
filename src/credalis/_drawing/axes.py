"""What all Displays do with axes: make them, clear their clutter, place a legend."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis._checks import shown
from credalis._drawing.palette import GRID, INK, SOFT_INK


def import_pyplot(display: object) -> Any:
    """``matplotlib.pyplot``, or an ImportError that says how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            f"{type(display).__name__} needs matplotlib: pip install credalis[plot]"
        ) from error
    return plt


def start_axes(
    display: Any,
    ax: Any,
    size: tuple[float, float],
    *,
    title: str | None,
    grid: str | None = "both",
) -> Any:
    """The axes given, or those of a new figure of this size in inches, made tidy.

    The display keeps them as ``ax_``, and their figure.
    """
    plt = import_pyplot(display)
    if ax is None:
        _, ax = plt.subplots(figsize=size, layout="constrained")
    _check_axes(ax)
    tidy(ax, grid=grid, title=title)
    display.ax_, display.figure_ = ax, ax.figure
    return ax


def start_panels(
    display: Any,
    ax: Any,
    names: Sequence[str],
    kind: str,
    *,
    n_columns: int,
    size: tuple[float, float],
    title: str | None = None,
    **options: Any,
) -> NDArray[Any]:
    """The axes given, one for each named panel, or those of a new figure in a grid.

    The display keeps them as ``axes_``, and their figure. The kind is what an error
    calls a panel; options go to matplotlib.
    """
    plt = import_pyplot(display)
    if ax is None:
        n_rows = -(-len(names) // n_columns)
        _, grid = plt.subplots(
            n_rows,
            n_columns,
            figsize=size,
            squeeze=False,
            layout="constrained",
            **options,
        )
        for unused in grid.ravel()[len(names) :]:
            unused.remove()
        axes = grid.ravel()[: len(names)]
    else:
        axes = np.ravel(np.array(ax, dtype=object))
        for each in axes:
            _check_axes(each)
    if len(axes) != len(names):
        raise ValueError(
            f"ax must hold {len(names)} axes, one for each {kind} "
            f"({', '.join(names)}), got {len(axes)}"
        )
    display.axes_, display.figure_ = axes, axes[0].figure
    if title is not None:
        display.figure_.suptitle(title, x=0.01, horizontalalignment="left")
    return axes


def _check_axes(ax: Any) -> None:
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise ValueError(f"ax must be Axes of matplotlib, got {shown(ax)}")


def tidy(ax: Any, *, grid: str | None = "both", title: str | None = None) -> None:
    """No upper and right frame, a light grid behind the data, the title at the left."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("bottom", "left"):
        ax.spines[side].set_color(SOFT_INK)
    ax.tick_params(colors=SOFT_INK, labelcolor=INK)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(True, axis=grid, color=GRID, linewidth=0.8)
    if title is not None:
        ax.set_title(title, loc="left")
    # A column of the user's table may be called "$x^$": that is no formula.
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set_parse_math(False)


def add_color_bar(drawn: Any, ax: Any, label: str, **options: Any) -> Any:
    """A bar without a frame that says what the colours mean."""
    bar = drawn.axes.figure.colorbar(drawn, ax=ax, pad=0.02, **options)
    bar.set_label(label)
    bar.outline.set_visible(False)
    return bar


def line_handle(label: str, color: Any, style: Any, width: float) -> Any:
    """A line for a legend."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=color, linestyle=style, linewidth=width, label=label)


def mark_handle(label: str, marker: str, face: Any, edge: Any, size: float) -> Any:
    """A mark for a legend."""
    from matplotlib.lines import Line2D

    return Line2D(
        [],
        [],
        linestyle="none",
        marker=marker,
        markerfacecolor=face,
        markeredgecolor=edge,
        markersize=size,
        markeredgewidth=0.8,
        label=label,
    )


def add_legend(ax: Any, handles: list[Any]) -> Any:
    """A legend beside the data; without a layout that makes room, the axes shrink.

    A handle is an artist with a label, or a tuple of artists drawn over each other, the
    first of which has the label.
    """
    artists = [h if isinstance(h, tuple) else (h,) for h in handles]
    legend = ax.legend(
        handles,
        [first.get_label() for first, *_ in artists],
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        borderaxespad=0.3,
        frameon=False,
        fontsize="small",
    )
    figure = ax.figure
    if figure.get_layout_engine() is None:
        # The place the grid gives: drawing twice must not shrink the axes twice.
        place = ax.get_subplotspec()
        box = ax.get_position() if place is None else place.get_position(figure)
        room = legend.get_window_extent().width / figure.bbox.width
        ax.set_position(
            (box.x0, box.y0, max(box.width - room, box.width / 3), box.height)
        )
        ax.set_in_layout(True)
    return legend
