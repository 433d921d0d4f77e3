"""MassDisplay: the masses of the objects, as a heat map or as stacked bars."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import check_choice
from credalis.belief import FocalSets
from credalis.partition import CredalPartition
from credalis.plots import _mass_marks
from credalis.plots._axes import axes_or_new, tidy
from credalis.plots._fitted import fitted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("heatmap", "bars")
ORDERS = ("cluster", "doubt")

# More bars than this are thinner than a pixel on most screens.
MAX_BARS = 500


@dataclass(kw_only=True, eq=False, repr=False)
class MassDisplay:
    """Masses of the objects on the focal sets.

    The heat map has one row for each object and one column for each focal set; where
    more than 400 objects are shown, a row is the mean of neighbouring ones. The bars
    have one column for each object: the mass of its most plausible cluster at the
    bottom, in the colour of the cluster, then the other clusters, larger sets hatched,
    Ω pale grey and ∅ black.

    Use `from_partition` or `from_estimator` to make a display.

    Parameters
    ----------
    masses : array of shape (n_shown, n_focal_sets)
        Masses of the objects shown, in the order shown.
    focal_sets : FocalSets
        What the columns of masses stand for.
    objects : array of int, shape (n_shown,)
        Numbers of the objects shown.
    groups : array of int, shape (n_shown,)
        Most plausible cluster of each object shown, n_clusters for an outlier.
    object_names : list of str
        Names of the objects shown.
    kind : {"heatmap", "bars"}, default="heatmap"
        How to draw.
    is_grouped : bool, default=True
        Whether the objects are sorted by group.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of the last drawing.

    See Also
    --------
    CredalPartitionDisplay : the objects in the plane.

    Examples
    --------
    >>> from credalis import CredalPartition, FocalSets
    >>> from credalis.plots import MassDisplay
    >>> partition = CredalPartition(
    ...     [[1, 0, 0, 0], [0, 0.1, 0.9, 0], [0, 0.6, 0.2, 0.2], [0, 0.8, 0.1, 0.1]],
    ...     FocalSets.full(2),
    ... )
    >>> display = MassDisplay.from_partition(partition)
    >>> display.objects
    array([3, 2, 1, 0])
    >>> display.groups
    array([0, 0, 1, 2])
    """

    masses: NDArray[np.float64]
    focal_sets: FocalSets
    objects: NDArray[np.intp]
    groups: NDArray[np.intp]
    object_names: list[str]
    kind: str = "heatmap"
    is_grouped: bool = True

    @classmethod
    def from_partition(
        cls,
        partition: CredalPartition,
        *,
        kind: str = "heatmap",
        objects: ArrayLike | None = None,
        order: str | None = "cluster",
        object_names: Sequence[str] | None = None,
        ax: "Axes | None" = None,
    ) -> "MassDisplay":
        """Make a display from a partition.

        Parameters
        ----------
        partition : CredalPartition
            Masses of n_samples objects.
        kind : {"heatmap", "bars"}, default="heatmap"
            How to draw. At most 500 objects can be shown as bars.
        objects : array-like of int or bool, default=None
            Numbers of the objects to show, or a mask; None shows all.
        order : {"cluster", "doubt"} or None, default="cluster"
            "cluster": by most plausible cluster, outliers last, and by increasing
            doubt among equals. "doubt": by increasing doubt. None: as they come.
        object_names : sequence of str, default=None
            Names of all n_samples objects; None: their numbers.
        ax : matplotlib Axes, default=None
            Axes to draw on at once; None: nothing is drawn before `plot`.

        Returns
        -------
        MassDisplay
        """
        check_choice("kind", kind, KINDS)
        if order is not None:
            check_choice("order", order, ORDERS)
        chosen = _checked_objects(objects, partition.n_samples)
        if kind == "bars" and len(chosen) > MAX_BARS:
            raise ValueError(
                f"objects must name at most {MAX_BARS} objects for kind='bars', got "
                f"{len(chosen)}: choose some of them, or use kind='heatmap'"
            )
        names = _checked_names(object_names, partition.n_samples)
        groups = np.where(partition.is_outlier, partition.n_clusters, partition.labels)
        if order == "cluster":
            chosen = chosen[np.lexsort((partition.doubt[chosen], groups[chosen]))]
        elif order == "doubt":
            chosen = chosen[np.argsort(partition.doubt[chosen], kind="stable")]
        display = cls(
            masses=partition.masses[chosen],
            focal_sets=partition.focal_sets,
            objects=chosen,
            groups=groups[chosen],
            object_names=[names[i] for i in chosen],
            kind=kind,
            is_grouped=order == "cluster",
        )
        return display if ax is None else display.plot(ax=ax)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        *,
        kind: str = "heatmap",
        objects: ArrayLike | None = None,
        order: str | None = "cluster",
        object_names: Sequence[str] | None = None,
        ax: "Axes | None" = None,
    ) -> "MassDisplay":
        """Make a display from a fitted estimator.

        Parameters
        ----------
        estimator : object with ``partition_``
            A fitted clusterer.
        kind, objects, order, object_names, ax
            As in `from_partition`.

        Returns
        -------
        MassDisplay
        """
        return cls.from_partition(
            fitted(estimator, "partition_"),
            kind=kind,
            objects=objects,
            order=order,
            object_names=object_names,
            ax=ax,
        )

    def __repr__(self) -> str:
        return (
            f"MassDisplay({len(self.masses)} objects, {len(self.focal_sets)} focal "
            f"sets, {self.kind})"
        )

    def plot(
        self,
        *,
        ax: "Axes | None" = None,
        title: str | None = None,
        legend: bool = True,
    ) -> "MassDisplay":
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a figure.
        title : str, default=None
            Title of the axes.
        legend : bool, default=True
            Whether to add the legend of the bars, or the colour bar of the heat map.

        Returns
        -------
        MassDisplay
            The display itself, with ``ax_`` and ``figure_``.
        """
        if self.kind == "bars":
            width = float(np.clip(2.8 + 0.18 * len(self.masses), 4.0, 8.0))
            ax = axes_or_new(self, ax, (width, 3.8))
            tidy(ax, grid=None, title=title)
            _mass_marks.draw_bars(ax, self, legend=legend)
        else:
            width = float(np.clip(2.6 + 0.42 * len(self.focal_sets), 4.4, 10.0))
            ax = axes_or_new(self, ax, (width, 5.2))
            tidy(ax, grid=None, title=title)
            _mass_marks.draw_heatmap(ax, self, legend=legend)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _checked_objects(objects: ArrayLike | None, n_samples: int) -> NDArray[np.intp]:
    """Numbers of the objects to show, or a ValueError."""
    if objects is None:
        return np.arange(n_samples)
    array = np.asarray(objects)
    if array.dtype == bool and array.shape == (n_samples,):
        array = np.flatnonzero(array)
    if array.ndim != 1 or array.size == 0 or array.dtype.kind not in "iu":
        raise ValueError(
            "objects must be a vector of numbers of objects, or a mask of length "
            f"{n_samples}, with at least one object, got {objects!r}"
        )
    if array.min() < 0 or array.max() >= n_samples:
        wrong = array[(array < 0) | (array >= n_samples)][0]
        raise ValueError(
            f"objects must lie between 0 and n_samples - 1 = {n_samples - 1}, "
            f"got {wrong}"
        )
    return array.astype(np.intp)


def _checked_names(object_names: Sequence[str] | None, n_samples: int) -> list[str]:
    if object_names is None:
        return [str(i) for i in range(n_samples)]
    if isinstance(object_names, str) or len(object_names) != n_samples:
        raise ValueError(
            f"object_names must hold one name for each of the {n_samples} objects, "
            f"got {len(object_names)}"
        )
    return [str(name) for name in object_names]
