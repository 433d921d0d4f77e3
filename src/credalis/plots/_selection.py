"""SelectionDisplay: which value of a parameter the criteria prefer."""

from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credalis._drawing.axes import start_panels, tidy
from credalis._drawing.palette import BASE_COLORS, INK, SOFT_INK
from credalis._refusals import refuses_by_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# What a criterion measures, and whether it is drawn on a logarithmic scale. Its place
# here is that of its colour.
_MEASURES = {
    "stability": ("agreement of resamples", False),
    "peaks": ("drop after so many peaks", False),
    "stress": ("stress", True),
    "nonspecificity": ("average nonspecificity N*", False),
    "agreement": ("agreement of members", False),
    "bic": ("BIC of a mixture", False),
}
_PARAMETERS = {
    "n_clusters": "number of clusters",
    "dissimilarity_quantile": "quantile of the dissimilarities",
}
_PANEL = (3.9, 2.7)
# Letters of small print in an inch, and points from line to line.
_LETTERS = 16.5
_LINE = 10.5


@dataclass(kw_only=True, eq=False, repr=False)
class SelectionDisplay:
    """Criteria over the values of a parameter, and which value each prefers.

    There is one panel per criterion. A large mark shows the value it prefers; the
    headline gives this value, or says that the criterion is undecided, and why. A band
    through all panels marks the suggestion, and the title gives its reason. Error bars
    are one standard error.

    Use `from_selection` to make a display.

    Parameters
    ----------
    parameter : str
        Name of the parameter.
    values : array of shape (n_values,)
        Its values.
    curves : dict of arrays of shape (n_values,)
        Values of each criterion; those that are NaN or infinite are not drawn.
    errors : dict of arrays of shape (n_values,)
        Standard errors of some of them.
    preferred : dict
        For each criterion that takes part, the value it prefers, or None.
    reasons : dict of str
        For each of these, why.
    best : number or None
        The suggested value.
    reason : str
        Why it is suggested.

    Attributes
    ----------
    axes_ : array of matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of the last drawing.

    See Also
    --------
    credalis.model_selection.select_n_clusters : makes selections.

    Examples
    --------
    >>> from credalis.plots import SelectionDisplay
    >>> display = SelectionDisplay(
    ...     parameter="n_clusters",
    ...     values=[2, 3, 4],
    ...     curves={"stability": [0.8, 0.95, 0.6]},
    ...     errors={},
    ...     preferred={"stability": 3},
    ...     reasons={"stability": "partitions come back"},
    ...     best=3,
    ...     reason="3 clusters by stability.",
    ... )
    >>> display
    SelectionDisplay(n_clusters: 3 by stability)
    """

    parameter: str
    values: NDArray[Any]
    curves: dict[str, NDArray[np.float64]]
    errors: dict[str, NDArray[np.float64]]
    preferred: dict[str, Any]
    reasons: dict[str, str]
    best: Any
    reason: str

    def __post_init__(self) -> None:
        self.values = np.array(self.values)
        for name in ("curves", "errors"):
            copies = {k: np.array(v, float) for k, v in getattr(self, name).items()}
            setattr(self, name, copies)
            for key, curve in copies.items():
                if curve.shape != self.values.shape or self.values.ndim != 1:
                    raise ValueError(
                        f"{name} must hold one number for each of the values, got "
                        f"shape {curve.shape} of {key!r} for {self.values.shape}"
                    )
        if not self.curves:
            raise ValueError("curves must hold at least one criterion, got none")

    @classmethod
    @refuses_by_name
    def from_selection(
        cls, selection: Any, *, ax: "Axes | Sequence[Axes] | None" = None
    ) -> "SelectionDisplay":
        """Make a display from a selection.

        Parameters
        ----------
        selection : Selection
            What `credalis.model_selection.select_n_clusters` or
            `select_dissimilarity_quantile` returns.
        ax : matplotlib Axes or sequence of them, default=None
            Axes to draw on at once, one for each criterion; None: nothing is drawn
            before `plot`.

        Returns
        -------
        SelectionDisplay
        """
        if not hasattr(selection, "votes"):
            raise ValueError(
                "selection must be a Selection with curves and votes, got "
                f"{type(selection).__name__}"
            )
        display = cls(
            parameter=selection.parameter,
            values=selection.values,
            curves=selection.curves,
            errors=selection.errors,
            preferred={name: vote.value for name, vote in selection.votes.items()},
            reasons={name: vote.reason for name, vote in selection.votes.items()},
            best=selection.best,
            reason=selection.reason,
        )
        return display if ax is None else display.plot(ax=ax)

    @property
    def n_panels(self) -> int:
        """Number of criteria."""
        return len(self.curves)

    def __repr__(self) -> str:
        chosen = "undecided" if self.best is None else f"{self.best:g}"
        return (
            f"SelectionDisplay({self.parameter}: {chosen} by {', '.join(self.curves)})"
        )

    def plot(
        self,
        *,
        ax: "Axes | Sequence[Axes] | None" = None,
        title: str | None = None,
    ) -> "SelectionDisplay":
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, default=None
            Axes to draw on, one for each criterion; None makes a figure.
        title : str, default=None
            Title above the panels of a new figure; None: the reason for the suggestion.

        Returns
        -------
        SelectionDisplay
            The display itself, with ``axes_`` and ``figure_``.
        """
        n_columns = 2 if self.n_panels in (2, 4) else min(self.n_panels, 3)
        n_rows = -(-self.n_panels // n_columns)
        width = _PANEL[0] * n_columns
        axes = start_panels(
            self,
            ax,
            list(self.curves),
            "criterion",
            n_columns=n_columns,
            size=(width, _PANEL[1] * n_rows + 0.6),
        )
        if ax is None:
            above = self.reason if title is None else title
            axes[0].figure.suptitle(
                fill(above, int(width * _LETTERS * 0.7)),
                x=0.012,
                horizontalalignment="left",
                color=INK,
            )
        known = list(dict.fromkeys([*_MEASURES, *self.curves]))
        for panel, name in zip(axes, self.curves, strict=True):
            color = BASE_COLORS[known.index(name) % len(BASE_COLORS)]
            self._draw_panel(panel, name, color)
        self._write_headlines(axes)
        return self

    def _draw_panel(self, ax: Any, name: str, color: str) -> None:
        curve = self.curves[name]
        seen = np.isfinite(curve)
        label, is_log = _MEASURES.get(name, (name, False))
        tidy(ax, grid="y")
        if self.best is not None:
            half = 0.3 * np.diff(self.values).min() if len(self.values) > 1 else 0.5
            ax.axvspan(
                self.best - half, self.best + half, color=SOFT_INK, alpha=0.13, lw=0
            )
        if name in self.errors:
            ax.errorbar(
                self.values[seen],
                curve[seen],
                self.errors[name][seen],
                fmt="none",
                ecolor=color,
                elinewidth=1.1,
                alpha=0.7,
                zorder=2,
            )
        ax.plot(
            self.values[seen],
            curve[seen],
            color=color,
            linewidth=1.8,
            marker="o",
            markersize=4.5,
            markeredgecolor="white",
            markeredgewidth=0.6,
            zorder=2.5,
        )
        self._mark_preferred(ax, name, color)
        ax.set(xlabel=_PARAMETERS.get(self.parameter, self.parameter), ylabel=label)
        self._set_ticks(ax, is_log and bool((curve[seen] > 0).all()))

    def _mark_preferred(self, ax: Any, name: str, color: str) -> None:
        """A large mark at the value the criterion prefers."""
        value = self.preferred.get(name)
        if value is None:
            return
        height = self.curves[name][self.values == value]
        if len(height) and np.isfinite(height[0]):
            ax.plot(
                value,
                height[0],
                marker="o",
                color=color,
                markersize=10,
                markeredgecolor="white",
                markeredgewidth=1.4,
                zorder=3,
            )

    def _write_headlines(self, axes: NDArray[Any]) -> None:
        """What each criterion says and, in small print below, why."""
        inches = min(ax.get_window_extent().width / ax.figure.dpi for ax in axes)
        why = [
            fill(self.reasons.get(name, ""), max(int(inches * _LETTERS), 20))
            for name in self.curves
        ]
        room = _LINE * max(1 + text.count("\n") for text in why)
        for ax, name, text in zip(axes, self.curves, why, strict=True):
            says = self.preferred.get(name)
            ending = "" if name not in self.preferred else ": undecided"
            ax.set_title(
                name + (ending if says is None else f": {says:g}"),
                loc="left",
                fontsize="medium",
                color=INK,
                pad=8 + room,
            )
            ax.annotate(
                text,
                (0, 1),
                xycoords="axes fraction",
                xytext=(0, 5 + room),
                textcoords="offset points",
                verticalalignment="top",
                fontsize="small",
                color=SOFT_INK,
                parse_math=False,
            )

    def _set_ticks(self, ax: Any, is_log: bool) -> None:
        from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

        if self.values.dtype.kind in "iu":
            ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        if is_log:
            ax.set_yscale("log")
            ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            ax.yaxis.set_minor_locator(NullLocator())
            ax.yaxis.set_major_formatter("{x:g}")
