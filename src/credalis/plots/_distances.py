"""DistanceMatrixDisplay: distances before and after a transformation."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from credalis._checks import check_integer
from credalis._drawing.axes import add_color_bar, start_panels
from credalis._drawing.inputs import check_classes, check_features, transformed
from credalis._drawing.palette import INK, SEQUENTIAL, SOFT_INK
from credalis._refusals import refuses_by_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PANEL_NAMES = ("before", "after")


@dataclass(kw_only=True, eq=False, repr=False)
class DistanceMatrixDisplay:
    """Distances between objects as images, objects ordered by class.

    The left panel shows Euclidean distances between the rows of the data, the right one
    those between their features, each relative to its largest value. Pale blocks along
    the diagonal are classes whose objects are near each other.

    Use `from_transformer` to make a display.

    Parameters
    ----------
    distances : array of shape (n_panels, n_objects, n_objects)
        Distances between the objects shown, relative to the largest.
    labels : array of int, shape (n_objects,)
        Their classes in increasing order, those without a class last.
    panel_names : tuple of str
        Titles of the panels.

    Attributes
    ----------
    axes_ : array of matplotlib Axes, shape (n_panels,)
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of the last drawing.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from credalis.plots import DistanceMatrixDisplay
    >>> X = [[0, 0], [4, 90], [0, 80], [4, 10]]
    >>> scaler = StandardScaler().fit(X)
    >>> display = DistanceMatrixDisplay.from_transformer(scaler, X, [0, 1, 0, 1])
    >>> display
    DistanceMatrixDisplay(4 objects, before and after)
    >>> display.labels
    array([0, 0, 1, 1])
    """

    distances: NDArray[np.float64]
    labels: NDArray[np.intp]
    panel_names: tuple[str, ...] = PANEL_NAMES

    @classmethod
    @refuses_by_name
    def from_transformer(
        cls,
        transformer: Any,
        X: ArrayLike,
        labels: ArrayLike,
        *,
        max_objects: int = 1000,
        ax: "Sequence[Axes] | None" = None,
    ) -> "DistanceMatrixDisplay":
        """Make a display of distances before and after a fitted transformer.

        Parameters
        ----------
        transformer : object with ``transform``
            A fitted transformer, for example `credalis.metric_learning.PCCA`.
        X : array-like of shape (n_samples, n_features)
            Data.
        labels : array-like of int, shape (n_samples,)
            Classes or clusters, -1 for none.
        max_objects : int, default=1000
            Largest number of objects shown. Of more, this many are taken, evenly spread
            over the order.
        ax : sequence of two matplotlib Axes, default=None
            Axes to draw on right away; with None, nothing is drawn until `plot`.

        Returns
        -------
        DistanceMatrixDisplay
        """
        points = check_features(X)
        classes = check_classes(labels, len(points))
        check_integer("max_objects", max_objects, at_least=2)
        last = classes.max(initial=0) + 1
        order = np.argsort(np.where(classes < 0, last, classes), kind="stable")
        if len(order) > max_objects:
            shown = np.linspace(0, len(order) - 1, max_objects).round().astype(int)
            order = order[shown]
        features = transformed(transformer, X)[order]
        points = points[order]
        matrices = [cdist(points, points), cdist(features, features)]
        display = cls(
            distances=np.stack([each / (each.max() or 1.0) for each in matrices]),
            labels=classes[order],
        )
        return display if ax is None else display.plot(ax=ax)

    def __repr__(self) -> str:
        names = " and ".join(self.panel_names)
        return f"DistanceMatrixDisplay({len(self.labels)} objects, {names})"

    def plot(
        self,
        *,
        ax: "Sequence[Axes] | None" = None,
        title: str | None = None,
        legend: bool = True,
    ) -> "DistanceMatrixDisplay":
        """Draw.

        Parameters
        ----------
        ax : sequence of matplotlib Axes, default=None
            Axes to draw on, one for each panel; None makes a figure.
        title : str, default=None
            Title above the panels.
        legend : bool, default=True
            Whether to add the colour bar that the panels share.

        Returns
        -------
        DistanceMatrixDisplay
            The display itself, with ``axes_`` and ``figure_``.
        """
        axes = start_panels(
            self,
            ax,
            self.panel_names,
            "panel",
            n_columns=len(self.panel_names),
            size=(7.6, 3.6),
            title=title,
        )
        for panel, matrix, name in zip(
            axes, self.distances, self.panel_names, strict=True
        ):
            image = panel.imshow(
                matrix, cmap=SEQUENTIAL, vmin=0, vmax=1, interpolation="nearest"
            )
            panel.set_title(name, loc="left", fontsize="medium")
            self._mark_classes(panel)
        if legend:
            label = "distance / largest distance"
            add_color_bar(image, list(axes), label, shrink=0.8)
        return self

    def _mark_classes(self, ax: Any) -> None:
        """Lines between classes, their numbers along the sides."""
        starts = np.flatnonzero(np.diff(self.labels, prepend=self.labels[0] - 1))
        ends = np.append(starts[1:], len(self.labels))
        for edge in starts[1:]:
            ax.axhline(edge - 0.5, color=INK, linewidth=0.7)
            ax.axvline(edge - 0.5, color=INK, linewidth=0.7)
        names = [str(k) if k >= 0 else "none" for k in self.labels[starts]]
        middles = (starts + ends - 1) / 2
        ax.set_xticks(middles, names)
        ax.set_yticks(middles, names)
        ax.tick_params(length=0, labelcolor=INK)
        ax.set(xlabel="class", ylabel="class")
        for side in ax.spines.values():
            side.set_color(SOFT_INK)
