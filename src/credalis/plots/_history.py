"""HistoryDisplay: how the objective of the best run went down."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credalis._drawing.axes import start_axes
from credalis._drawing.inputs import fitted
from credalis._drawing.palette import BASE_COLORS, INK
from credalis._refusals import refuses_by_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Values that span more than this factor are drawn on a logarithmic scale.
LOG_RATIO = 50.0


@dataclass(kw_only=True, eq=False, repr=False)
class HistoryDisplay:
    """Objective of the best run against the iteration.

    The vertical axis is logarithmic if the values are positive and the largest is more
    than 50 times the smallest.

    Use `from_estimator` to make a display.

    Parameters
    ----------
    history : array of shape (n_iterations,)
        Objective after each iteration.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of the last drawing.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> from credalis.plots import HistoryDisplay
    >>> fitted = SimpleNamespace(history_=[90.0, 3.0, 0.5, 0.4])
    >>> display = HistoryDisplay.from_estimator(fitted)
    >>> display.iterations, display.is_log
    (array([1, 2, 3, 4]), True)
    """

    history: NDArray[np.float64]

    def __post_init__(self) -> None:
        try:
            history = np.array(self.history, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"history must be a sequence of numbers, got {self.history!r}"
            ) from error
        if history.ndim != 1 or history.size == 0 or not np.isfinite(history).all():
            raise ValueError(
                "history must be a sequence of at least one finite number, got "
                f"{self.history!r}"
            )
        self.history = history

    @classmethod
    @refuses_by_name
    def from_estimator(
        cls,
        estimator: Any,
        *,
        ax: "Axes | None" = None,
    ) -> "HistoryDisplay":
        """Make a display from a fitted estimator.

        Parameters
        ----------
        estimator : object with ``history_``
            A fitted clusterer.
        ax : matplotlib Axes, default=None
            Axes to draw on right away; with None, nothing is drawn until `plot`.

        Returns
        -------
        HistoryDisplay
        """
        display = cls(history=fitted(estimator, "history_"))
        return display if ax is None else display.plot(ax=ax)

    @property
    def iterations(self) -> NDArray[np.intp]:
        """1, 2, ..., n_iterations."""
        return np.arange(1, len(self.history) + 1)

    @property
    def is_log(self) -> bool:
        """Whether the values span so much that a logarithmic scale is better."""
        low, high = self.history.min(), self.history.max()
        return bool(low > 0 and high / low > LOG_RATIO)

    def __repr__(self) -> str:
        return f"HistoryDisplay({len(self.history)} iterations)"

    def plot(
        self, *, ax: "Axes | None" = None, title: str | None = None
    ) -> "HistoryDisplay":
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        title : str, default=None
            Title of the axes.

        Returns
        -------
        HistoryDisplay
            The display itself, with ``ax_`` and ``figure_``.
        """
        ax = start_axes(self, ax, (5.6, 3.5), title=title)
        from matplotlib.ticker import MaxNLocator

        color = BASE_COLORS[0]
        last = (self.iterations[-1], self.history[-1])
        ax.plot(
            self.iterations,
            self.history,
            color=color,
            linewidth=1.8,
            marker="o" if len(self.history) <= 60 else None,
            markersize=4,
        )
        ax.plot(*last, marker="o", color=color, markeredgecolor="white", markersize=8)
        ax.annotate(
            f"{self.history[-1]:.4g}",
            last,
            xytext=(0, 9),
            textcoords="offset points",
            ha="center",
            color=INK,
        )
        if self.is_log:
            ax.set_yscale("log")
        ticks = MaxNLocator(integer=True, min_n_ticks=1, steps=[1, 2, 5, 10])
        ax.xaxis.set_major_locator(ticks)
        room = max(0.5, 0.03 * len(self.history))
        ax.set_xlim(1 - room, len(self.history) + room)
        ax.set(xlabel="iteration", ylabel="objective")
        return self
