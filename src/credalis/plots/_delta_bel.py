"""DeltaBelDisplay: which objects stand out as centres of clusters."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import naming
from credalis._drawing.axes import add_legend, start_axes
from credalis._drawing.inputs import check_names
from credalis._drawing.labels import place_labels
from credalis._drawing.legibility import MAX_LISTED, MAX_OUTLINED, point_size
from credalis._drawing.palette import (
    BASE_COLORS,
    INK,
    SOFT_INK,
    cluster_colors,
    cluster_markers,
    marker_area,
)
from credalis._refusals import refuses_by_name
from credalis.peaks import DeltaBel, delta_bel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = (7.2, 4.4)
# Beside more centres than MAX_LISTED stands only the cluster, beside more than this
# nothing.
_MAX_NUMBERED = 20
# Longer names of objects are cut.
_MAX_NAME = 20


@dataclass(kw_only=True, eq=False, repr=False)
class DeltaBelDisplay:
    """Belief that an object is a centre against its distance to better ones.

    Centres of clusters lie in the upper right: many objects are near them (Bel), and no
    better candidate is (δ). Objects of low Bel and large δ are outliers. The chosen
    centres have the colours and markers of their clusters; beside each of up to ten
    stand the cluster and the row number or the name, beside each of up to twenty the
    cluster. Dashed lines are the thresholds that separate the centres from the other
    objects.

    Use `from_delta_bel` or `from_data` to make a display.

    Parameters
    ----------
    delta, belief : arrays of shape (n_samples,)
        The graph.
    centers : array of int, shape (n_clusters,)
        Row numbers of the chosen objects; the k-th is the centre of cluster k.
    object_names : sequence of str, default=None
        What the objects are called; None: by their row numbers.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of the last drawing.

    See Also
    --------
    credalis.peaks.delta_bel : computes the graph.

    Examples
    --------
    >>> from credalis.plots import DeltaBelDisplay
    >>> X = [[0], [1], [2], [10], [11]]
    >>> display = DeltaBelDisplay.from_data(X, n_neighbors=2)
    >>> display.centers
    array([1, 3])
    >>> display.min_delta, round(display.min_belief, 3)
    (4.5, 0.246)
    """

    delta: NDArray[np.float64]
    belief: NDArray[np.float64]
    centers: NDArray[np.intp]
    object_names: Sequence[str] | None = None

    @classmethod
    @refuses_by_name
    def from_delta_bel(
        cls,
        graph: DeltaBel,
        *,
        n_clusters: int | None = None,
        centers: ArrayLike | None = None,
        object_names: Sequence[str] | None = None,
        ax: "Axes | None" = None,
    ) -> "DeltaBelDisplay":
        """Make a display from a δ-Bel graph.

        Parameters
        ----------
        graph : DeltaBel
            What `credalis.peaks.delta_bel` returns.
        n_clusters : int, default=None
            Number of centres that the graph is asked to suggest; None leaves the number
            to it.
        centers : array-like of int, default=None
            Row numbers of your own choice, as ``graph.threshold(...)`` returns them.
        object_names : sequence of str, default=None
            What the objects are called, one name for each; None: by their row numbers.
        ax : matplotlib Axes, default=None
            Axes to draw on right away; with None, nothing is drawn until `plot`.

        Returns
        -------
        DeltaBelDisplay
        """
        if centers is None:
            rows = graph.suggest(n_clusters)
        elif n_clusters is not None:
            raise ValueError(
                "n_clusters and centers must not both be given, got "
                f"n_clusters={n_clusters!r} and {len(np.ravel(centers))} centers"
            )
        else:
            rows = _checked_rows(centers, len(graph))
        if object_names is not None:
            object_names = check_names(
                "object_names", object_names, len(graph), "objects"
            )
        display = cls(
            delta=np.array(graph.delta),
            belief=np.array(graph.belief),
            centers=rows,
            object_names=object_names,
        )
        return display if ax is None else display.plot(ax=ax)

    @classmethod
    @refuses_by_name
    def from_data(
        cls,
        X: ArrayLike,
        *,
        n_clusters: int | None = None,
        n_neighbors: int | str = "auto",
        quantile: float | None = 0.9,
        metric: str | Callable = "euclidean",
        symmetrize: bool = False,
        ax: "Axes | None" = None,
    ) -> "DeltaBelDisplay":
        """Make a display from objects or dissimilarities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            Objects, or with ``metric="precomputed"`` their dissimilarities.
        n_neighbors, quantile, metric, symmetrize
            As in `credalis.peaks.delta_bel`.
        n_clusters, ax
            As in `from_delta_bel`.

        Returns
        -------
        DeltaBelDisplay
        """
        graph = delta_bel(
            X,
            n_neighbors=n_neighbors,
            quantile=quantile,
            metric=metric,
            symmetrize=symmetrize,
        )
        return cls.from_delta_bel(graph, n_clusters=n_clusters, ax=ax)

    @property
    def n_clusters(self) -> int:
        """Number of chosen centres."""
        return len(self.centers)

    @property
    def is_center(self) -> NDArray[np.bool_]:
        """Whether an object is chosen, shape (n_samples,)."""
        return np.isin(np.arange(len(self.delta)), self.centers)

    @property
    def min_delta(self) -> float:
        """Threshold of δ: halfway from the centres to the next object of high Bel.

        ``graph.threshold(display.min_delta, display.min_belief)`` gives the centres
        again, unless another object has as much of both as the least of the centres.
        """
        is_high = self.belief >= self.belief[self.centers].min(initial=np.inf)
        return self._halfway(self.delta, is_high)

    @property
    def min_belief(self) -> float:
        """Threshold of Bel: halfway from the centres to the next object of large δ."""
        return self._halfway(self.belief, self.delta > self.min_delta)

    def _halfway(
        self, values: NDArray[np.float64], is_rival: NDArray[np.bool_]
    ) -> float:
        """Between the least value of the centres and the next one of their rivals."""
        least = values[self.centers].min(initial=values.max())
        below = values[is_rival & (values < least)]
        return float((least + below.max(initial=0.0)) / 2)

    def __repr__(self) -> str:
        return f"DeltaBelDisplay({len(self.delta)} objects, {self.n_clusters} clusters)"

    def plot(
        self,
        *,
        ax: "Axes | None" = None,
        title: str | None = None,
        legend: bool = True,
    ) -> "DeltaBelDisplay":
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
        DeltaBelDisplay
            The display itself, with ``ax_`` and ``figure_``.
        """
        ax = start_axes(self, ax, _SIZE, title=title)
        ax.set(
            xlabel="δ (distance to the nearest object of higher Bel)",
            ylabel="Bel (belief in the object as a centre)",
        )
        handles = [self._draw_objects(ax)]
        if self.n_clusters:
            handles += [self._draw_centers(ax), self._draw_thresholds(ax)]
        if legend:
            add_legend(ax, handles)
        if self.n_clusters:
            self._name_centers(ax)
        return self

    @property
    def _points(self) -> NDArray[np.float64]:
        """(δ, Bel) of the chosen centres, shape (n_clusters, 2)."""
        return np.column_stack([self.delta[self.centers], self.belief[self.centers]])

    def _draw_objects(self, ax: Any) -> Any:
        """Grey dots for the objects that are not chosen."""
        for values, fix in ((self.delta, ax.set_xlim), (self.belief, ax.set_ylim)):
            room = 0.07 * (np.ptp(values) or 1.0)
            fix(values.min() - room / 2, values.max() + room)
        others = ~self.is_center
        crowded = len(self.delta) > MAX_OUTLINED
        return ax.scatter(
            self.delta[others],
            self.belief[others],
            s=0.8 * point_size(len(self.delta)),
            color=SOFT_INK,
            alpha=0.4 if crowded else 0.6,
            linewidths=0,
            rasterized=crowded,
            label="object",
            zorder=2,
        )

    def _draw_thresholds(self, ax: Any) -> Any:
        """Dashed lines through the axes, and a tint where both are exceeded."""
        common = {
            "color": SOFT_INK,
            "linewidth": 1.1,
            "linestyle": (0, (4, 2.5)),
            "zorder": 1.7,
        }
        ax.axhline(self.min_belief, **common)
        ax.fill_between(
            [self.min_delta, ax.get_xlim()[1]],
            self.min_belief,
            ax.get_ylim()[1],
            color=BASE_COLORS[0],
            alpha=0.06,
            linewidth=0,
            zorder=1,
        )
        return ax.axvline(self.min_delta, label="threshold", **common)

    def _draw_centers(self, ax: Any) -> Any:
        """The chosen objects in the colours and markers of their clusters."""
        from matplotlib.lines import Line2D

        points, markers = self._points, cluster_markers(self.n_clusters)
        is_roomy = self.n_clusters <= _MAX_NUMBERED
        area = 70 if self.n_clusters <= MAX_LISTED else 45 if is_roomy else 30
        for k, color in enumerate(cluster_colors(self.n_clusters)):
            # The highest Bel has the largest other δ: a mark below another is larger.
            hidden = is_roomy and _is_close(ax, points[k], points[k + 1 :])
            ax.scatter(
                *points[k],
                s=area * marker_area(markers[k]) * (2.4 if hidden else 1),
                marker=markers[k],
                color=color,
                edgecolors="white",
                linewidths=0.9,
                zorder=3,
            )
        return Line2D(
            [],
            [],
            linestyle="none",
            marker="o",
            markersize=7.5,
            color=BASE_COLORS[0],
            markeredgecolor="white",
            label="centre"
            + self._name(": cluster", f" ({'object' if self.object_names else 'row'})"),
        )

    def _name(self, cluster: str, row: str) -> str:
        """As much of the name of a centre as there is room for."""
        if self.n_clusters > _MAX_NUMBERED:
            return ""
        return cluster + row if self.n_clusters <= MAX_LISTED else cluster

    def _object_name(self, row: int) -> str:
        if self.object_names is None:
            return f"row {row}"
        name = self.object_names[row]
        return name if len(name) <= _MAX_NAME else f"{name[: _MAX_NAME - 1]}…"

    def _name_centers(self, ax: Any) -> None:
        """Names beside the centres, clear of each other and of the thresholds."""
        from matplotlib.patheffects import withStroke

        names = [
            self._name(f"{k}", f" ({self._object_name(int(row))})")
            for k, row in enumerate(self.centers)
        ]
        if not any(names):
            return
        (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        x, y = self.min_delta, self.min_belief
        lines = np.array([(x, bottom), (x, top), (x, y), (left, y), (right, y)])
        for text in place_labels(ax, self._points, names, [INK] * len(names), lines):
            text.set_path_effects([withStroke(linewidth=2.2, foreground="white")])


def _is_close(ax: Any, point: NDArray[np.float64], others: NDArray[np.float64]) -> bool:
    """Whether one of the others (n, 2) is within 1 % of the axes."""
    ranges = np.ptp([ax.get_xlim(), ax.get_ylim()], axis=1)
    return bool((np.abs(others - point) < 0.01 * ranges).all(axis=1).any())


def _checked_rows(centers: ArrayLike, n_samples: int) -> NDArray[np.intp]:
    """Distinct row numbers, or a ValueError."""
    with naming("centers"):
        rows = np.array(centers)
    if rows.size == 0:
        rows = rows.astype(np.intp)
    if (
        rows.ndim != 1
        or rows.dtype.kind not in "iu"
        or len(np.unique(rows)) < len(rows)
        or ((rows < 0) | (rows >= n_samples)).any()
    ):
        raise ValueError(
            f"centers must hold distinct row numbers from 0 to {n_samples - 1}, got "
            f"{centers!r}"
        )
    return rows.astype(np.intp)
