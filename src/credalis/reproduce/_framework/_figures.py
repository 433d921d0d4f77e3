"""Displays of the library as PNG images, without a window."""

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from credalis._drawing.axes import tidy
from credalis._drawing.palette import BASE_COLORS, INK

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DPI = 130


def image(display: Any, size: tuple[float, float], **options: Any) -> bytes:
    """A Display on one pair of axes; sizes are in inches, options go to `plot`."""
    figure = new_figure(size)
    display.plot(ax=figure.subplots(), **options)
    return png(figure)


def panels(
    display: Any,
    n_panels: int,
    n_columns: int,
    size: tuple[float, float],
    then: Callable[[Any, Sequence[Any]], None] | None = None,
    **options: Any,
) -> bytes:
    """A Display with several panels; `then` may add to display and axes."""
    figure = new_figure(size)
    axes = np.atleast_1d(figure.subplots(n_panels // n_columns, n_columns)).ravel()
    display.plot(ax=axes[0] if n_panels == 1 else list(axes), **options)
    if then is not None:
        then(display, list(axes))
    return png(figure)


def boundary(display: Any, axes: Sequence[Any]) -> None:
    """The line where two clusters are equally plausible, as in the paper red."""
    difference = display.values[0] - display.values[1]
    for ax in axes:
        ax.contour(
            display.x, display.y, difference, levels=[0], colors="red", linewidths=2
        )


def lines(
    x: Sequence[float],
    curves: dict[str, Sequence[float]],
    *,
    x_label: str,
    y_label: str,
    x_scale: str = "linear",
) -> bytes:
    """Curves over a parameter: the first solid, others broken."""
    figure = new_figure((5.4, 3.8))
    ax = figure.subplots()
    for (name, values), style in zip(curves.items(), ("-", "--", ":"), strict=False):
        ax.plot(x, values, style, marker="o", markersize=4, label=name)
    ax.set(xlabel=x_label, ylabel=y_label, xscale=x_scale)
    tidy(ax)
    ax.legend(frameon=False)
    return png(figure)


def bars(
    names: Sequence[str],
    means: Sequence[float],
    deviations: Sequence[float],
    *,
    title: str,
    y_label: str,
    highest: float,
) -> bytes:
    """Means as bars, with one standard deviation around them, on an axis to `highest`.

    Figures that are compared have the same.
    """
    figure = new_figure((5.8, 3.6))
    ax = figure.subplots()
    ax.bar(
        range(len(names)),
        means,
        yerr=deviations,
        capsize=4,
        color=BASE_COLORS[4],
        ecolor=INK,
    )
    ax.set_xticks(range(len(names)), [name.replace("+", "\n+") for name in names])
    ax.tick_params(axis="x", labelsize="small")
    ax.set(ylabel=y_label, ylim=(min(0, *means), highest))
    tidy(ax, grid="y", title=title)
    return png(figure)


def new_figure(size: tuple[float, float]) -> "Figure":
    """A figure that belongs to no window; matplotlib is an extra."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "the figures of the report need matplotlib: pip install credalis[plot]"
        ) from error
    return Figure(figsize=size, layout="constrained")


def png(figure: "Figure") -> bytes:
    """The figure as the content of a PNG file."""
    stream = io.BytesIO()
    # Without the program's version and date the same figure is the same file.
    figure.savefig(stream, format="png", dpi=_DPI, metadata={"Software": None})
    return stream.getvalue()
