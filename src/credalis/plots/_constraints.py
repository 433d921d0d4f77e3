"""ConstraintDisplay: must-links and cannot-links between objects in the plane."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._drawing.axes import add_legend, line_handle, start_axes
from credalis._drawing.inputs import (
    check_classes,
    check_feature_names,
    check_features,
)
from credalis._drawing.legibility import MAX_LISTED, MAX_OUTLINED, point_size
from credalis._drawing.palette import (
    BASE_COLORS,
    INK,
    SOFT_INK,
    cluster_colors,
    cluster_markers,
    marker_area,
)
from credalis._drawing.projection import planar_view
from credalis._refusals import refuses_by_name
from credalis.constraints import check_constraints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SIZE = (7.4, 4.8)
_MUST_COLOR, _CANNOT_COLOR = BASE_COLORS[0], BASE_COLORS[5]
_DASHES = (0, (4, 2.5))


@dataclass(kw_only=True, eq=False, repr=False)
class ConstraintDisplay:
    """The graph of constraints over the data.

    A solid line joins two objects of a must-link, a dashed one those of a cannot-link.
    Objects without constraints are pale; with labels, colour and shape of the others
    say which class they are of. Without any pair, the labels are what is known: objects
    that have one stand out.

    Two features are shown as they are; more are reduced to their first two principal
    components, and a single one is drawn against the row number.

    Use `from_pairs` to make a display.

    Parameters
    ----------
    points : array of shape (n_samples, 2)
        The objects in the plane.
    must_link, cannot_link : array of int, shape (n_pairs, 2)
        Row numbers.
    labels : array of int, shape (n_samples,)
        Classes, -1 for none.
    axis_labels : tuple of two str
        What the axes stand for.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of the last drawing.

    Examples
    --------
    >>> from credalis.plots import ConstraintDisplay
    >>> X = [[0, 0], [0, 1], [5, 5], [6, 5]]
    >>> ConstraintDisplay.from_pairs(X, must_link=[(0, 1)], cannot_link=[(1, 2)])
    ConstraintDisplay(4 objects, 1 must-links, 1 cannot-links)
    """

    points: NDArray[np.float64]
    must_link: NDArray[np.intp]
    cannot_link: NDArray[np.intp]
    labels: NDArray[np.intp]
    axis_labels: tuple[str, str]

    @classmethod
    @refuses_by_name
    def from_pairs(
        cls,
        X: ArrayLike,
        must_link: ArrayLike | None = None,
        cannot_link: ArrayLike | None = None,
        *,
        labels: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        ax: "Axes | None" = None,
    ) -> "ConstraintDisplay":
        """Make a display from data and pairs.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The objects.
        must_link, cannot_link : array-like of int, shape (n_pairs, 2), default=None
            Row numbers.
        labels : array-like of int, shape (n_samples,), default=None
            Classes or clusters to be told apart, -1 for none.
        feature_names : sequence of str, default=None
            By default the columns of X if it is a data frame, otherwise numbers.
        ax : matplotlib Axes, default=None
            Axes to draw on right away; with None, nothing is drawn until `plot`.

        Returns
        -------
        ConstraintDisplay
        """
        features = check_features(X)
        names = check_feature_names(feature_names, X, features.shape[1])
        n_samples = len(features)
        must, cannot = check_constraints(must_link, cannot_link, n_samples)
        classes = np.full(n_samples, -1) if labels is None else labels
        if features.shape[1] == 1:
            points = np.column_stack([features[:, 0], np.arange(n_samples)])
            axis_labels = (names[0], "row")
        else:
            view = planar_view(features, names, np.zeros(n_samples))
            points, axis_labels = view.points, view.axis_labels
        display = cls(
            points=points,
            must_link=must,
            cannot_link=cannot,
            labels=check_classes(classes, n_samples),
            axis_labels=axis_labels,
        )
        return display if ax is None else display.plot(ax=ax)

    @property
    def is_constrained(self) -> NDArray[np.bool_]:
        """Whether an object is in a pair, shape (n_samples,).

        Without pairs, whether it has a label.
        """
        if not len(self.must_link) and not len(self.cannot_link):
            return self.labels >= 0
        result = np.zeros(len(self.points), dtype=bool)
        result[np.concatenate([self.must_link, self.cannot_link]).ravel()] = True
        return result

    def __repr__(self) -> str:
        return (
            f"ConstraintDisplay({len(self.points)} objects, {len(self.must_link)} "
            f"must-links, {len(self.cannot_link)} cannot-links)"
        )

    def plot(
        self,
        *,
        ax: "Axes | None" = None,
        title: str | None = None,
        legend: bool = True,
    ) -> "ConstraintDisplay":
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
        ConstraintDisplay
            The display itself, with ``ax_`` and ``figure_``.
        """
        ax = start_axes(self, ax, _SIZE, title=title)
        from matplotlib.collections import LineCollection

        ax.set(xlabel=self.axis_labels[0], ylabel=self.axis_labels[1])
        handles = self._draw_objects(ax)
        for pairs, color, dashes, kind in (
            (self.cannot_link, _CANNOT_COLOR, _DASHES, "cannot-link"),
            (self.must_link, _MUST_COLOR, "solid", "must-link"),
        ):
            name = f"{kind} ({len(pairs)})"
            lines = LineCollection(
                list(self.points[pairs]),
                colors=color,
                linestyles=[dashes],
                linewidths=1.1,
                alpha=0.85,
                zorder=1.8,
                label=name,
            )
            ax.add_collection(lines)
            if len(pairs):
                handles.append(line_handle(name, color, dashes, 1.3))
        if legend and handles:
            add_legend(ax, handles)
        return self

    def _draw_objects(self, ax: Any) -> list[Any]:
        """Pale objects without pairs, then the others by class; marks of the legend."""
        size = point_size(len(self.points))
        crowded = len(self.points) > MAX_OUTLINED
        constrained = self.is_constrained
        ax.scatter(
            *self.points[~constrained].T,
            s=0.5 * size,
            color=SOFT_INK,
            alpha=0.35,
            linewidths=0,
            rasterized=crowded,
            zorder=1.5,
        )
        n_classes = int(self.labels.max(initial=-1)) + 1
        colors = [*cluster_colors(n_classes), INK]
        markers = [*cluster_markers(n_classes), "o"]
        handles = []
        for k in [*range(n_classes), -1]:
            members = constrained & (self.labels == k)
            if not members.any():
                continue
            marks = ax.scatter(
                *self.points[members].T,
                s=size * marker_area(markers[k]),
                marker=markers[k],
                color=[colors[k]],
                edgecolors="white",
                linewidths=0.4,
                zorder=2,
                label=f"class {k}" if k >= 0 else "in a pair",
            )
            if n_classes <= MAX_LISTED:
                handles.append(marks)
        return handles
