"""ConsistencyDisplay: how right and how precise several partitions are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import check_numbers
from credalis._drawing.axes import add_legend, start_axes
from credalis._drawing.labels import place_labels
from credalis._drawing.palette import BASE_COLORS, INK, SOFT_INK
from credalis._refusals import refuses_by_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_TOLERANCE = 1e-9


@dataclass(kw_only=True, eq=False, repr=False)
class ConsistencyDisplay:
    """Consistency against nonspecificity of several partitions.

    A partition is better than another if it is more consistent with the truth (CI) and
    not less precise (NS), or more precise and not less consistent. Partitions that no
    other one beats are drawn in full colour and connected by a step line: whatever lies
    below and to the right of the line is beaten.

    Use `from_scores` to make a display.

    Parameters
    ----------
    names : list of str
        Names of the partitions, usually of the methods.
    ci : array of shape (n_partitions,)
        Consistency index, in [0, 1], higher is better.
    ns : array of shape (n_partitions,)
        Nonspecificity index, in [0, 1], lower is better.
    is_dominated : array of bool, shape (n_partitions,)
        Whether another partition is better.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of the last drawing.

    Examples
    --------
    >>> from credalis.plots import ConsistencyDisplay
    >>> display = ConsistencyDisplay.from_scores(
    ...     ["ECM", "EVCLUS", "NN-EVCLUS"], [0.90, 0.85, 0.95], [0.3, 0.1, 0.2]
    ... )
    >>> display.is_dominated
    array([ True, False, False])
    """

    names: list[str]
    ci: NDArray[np.float64]
    ns: NDArray[np.float64]
    is_dominated: NDArray[np.bool_]

    @classmethod
    @refuses_by_name
    def from_scores(
        cls,
        names: Sequence[str],
        ci: ArrayLike,
        ns: ArrayLike,
        *,
        ax: "Axes | None" = None,
    ) -> "ConsistencyDisplay":
        """Make a display from the two indices of each partition.

        Parameters
        ----------
        names : sequence of str
            Names of the partitions.
        ci, ns : array-like of shape (n_partitions,)
            Consistency and nonspecificity, in [0, 1].
        ax : matplotlib Axes, default=None
            Axes to draw on right away; with None, nothing is drawn until `plot`.

        Returns
        -------
        ConsistencyDisplay
        """
        if isinstance(names, str) or not _is_listed(names):
            raise ValueError(f"names must hold at least one name, got {names!r:.80}")
        ci = _checked_scores("ci", ci, len(names))
        ns = _checked_scores("ns", ns, len(names))
        display = cls(
            names=[str(name) for name in names],
            ci=ci,
            ns=ns,
            is_dominated=is_dominated(ci, ns),
        )
        return display if ax is None else display.plot(ax=ax)

    @property
    def front(self) -> NDArray[np.float64]:
        """(NS, CI) of the partitions that are not beaten, by increasing NS."""
        kept = ~self.is_dominated
        return np.unique(np.column_stack([self.ns[kept], self.ci[kept]]), axis=0)

    def __repr__(self) -> str:
        return f"ConsistencyDisplay({', '.join(self.names)})"

    def plot(
        self,
        *,
        ax: "Axes | None" = None,
        title: str | None = None,
        legend: bool = True,
    ) -> "ConsistencyDisplay":
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        title : str, default=None
            Title of the axes.
        legend : bool, default=True
            Whether to explain the marks.

        Returns
        -------
        ConsistencyDisplay
            The display itself, with ``ax_`` and ``figure_``.
        """
        ax = start_axes(self, ax, (5.8, 4.4), title=title)
        ax.set(
            xlabel="nonspecificity NS (lower is better)",
            ylabel="consistency CI (higher is better)",
        )
        # Small values have many digits, which must not touch each other.
        ax.locator_params(axis="x", nbins=6)
        line = self._draw_front(ax)
        handles = self._draw_points(ax)
        if legend:
            add_legend(ax, handles)
        # The best ones choose first where their names go.
        order = np.argsort(self.is_dominated, kind="stable")
        place_labels(
            ax,
            np.column_stack([self.ns, self.ci])[order],
            [self.names[i] for i in order],
            [SOFT_INK if self.is_dominated[i] else INK for i in order],
            line,
        )
        return self

    def _draw_points(self, ax: Any) -> list[Any]:
        """Full marks for what is not beaten, hollow ones for the rest."""
        best, beaten = ~self.is_dominated, self.is_dominated
        common = {"s": 62, "marker": "o", "linewidths": 1.2}
        handles = [
            ax.scatter(
                self.ns[best],
                self.ci[best],
                color=BASE_COLORS[0],
                edgecolors="white",
                label="not dominated",
                zorder=3,
                **common,
            )
        ]
        if beaten.any():
            hollow = ax.scatter(
                self.ns[beaten],
                self.ci[beaten],
                facecolors="white",
                edgecolors=SOFT_INK,
                label="dominated",
                zorder=2.5,
                **common,
            )
            handles.append(hollow)
        return handles

    def _draw_front(self, ax: Any) -> NDArray[np.float64]:
        """Step line through the partitions that are not beaten; its corners."""
        for values, fix in ((self.ns, ax.set_xlim), (self.ci, ax.set_ylim)):
            room = 0.12 * np.ptp(values) or 0.05
            fix(values.min() - room, values.max() + room)
        right, bottom = ax.get_xlim()[1], ax.get_ylim()[0]
        # Up to the first one, along to the next, up to it, and so on to the border.
        ns = np.append(np.repeat(self.front[:, 0], 2), right)
        ci = np.insert(np.repeat(self.front[:, 1], 2), 0, bottom)
        ax.plot(ns, ci, color=BASE_COLORS[0], linewidth=1.4, zorder=2)
        ax.fill_between(ns, ci, bottom, color=BASE_COLORS[0], alpha=0.06, linewidth=0)
        return np.column_stack([ns, ci])


def is_dominated(ci: NDArray[np.float64], ns: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether another one has CI' >= CI and NS' <= NS, one of them strictly."""
    as_good = (ci[:, None] >= ci) & (ns[:, None] <= ns)
    better = as_good & ((ci[:, None] > ci) | (ns[:, None] < ns))
    return np.asarray(better.any(axis=0))


def _checked_scores(name: str, scores: ArrayLike, n_names: int) -> NDArray[np.float64]:
    """Values of an index, or a ValueError that names it."""
    array = check_numbers(name, scores)
    if array.shape != (n_names,):
        raise ValueError(
            f"{name} must hold one value for each of the {n_names} names, got shape "
            f"{array.shape}"
        )
    inside = (array >= -_TOLERANCE) & (array <= 1 + _TOLERANCE)
    if not inside.all():
        raise ValueError(f"{name} must lie in [0, 1], got {array[~inside][0]:g}")
    return array


def _is_listed(names: Any) -> bool:
    """Whether there is at least one name."""
    try:
        return len(names) > 0
    except TypeError:
        return False
