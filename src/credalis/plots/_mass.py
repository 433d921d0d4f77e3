"""MassDisplay: the masses of the objects, as a heat map or as stacked bars."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import check_choice, naming
from credalis._drawing.axes import add_color_bar, add_legend, start_axes
from credalis._drawing.inputs import check_names, check_partition, fitted
from credalis._drawing.legibility import averaged_rows, group_bounds, group_name
from credalis._drawing.palette import (
    INK,
    SEQUENTIAL,
    SOFT_INK,
    SetStyle,
    cluster_colors,
    set_styles,
)
from credalis._refusals import refuses_by_name
from credalis.belief import FocalSets
from credalis.partition import CredalPartition

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KINDS = ("heatmap", "bars")
ORDERS = ("cluster", "doubt")

# More bars than this are thinner than a pixel on most screens.
MAX_BARS = 500
# More objects than this are named by their group, not one by one.
_MAX_NAMED = 40
# More focal sets than this are not all named along an axis, or in a legend.
_MAX_SET_NAMES = 45
_MAX_SET_ENTRIES = 18
# More rows of a heat map than this would be thinner than a pixel.
_MAX_ROWS = 400


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
    @refuses_by_name
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
            Axes to draw on right away; with None, nothing is drawn until `plot`.

        Returns
        -------
        MassDisplay
        """
        check_partition(partition)
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
    @refuses_by_name
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
            Axes to draw on; None makes a new figure.
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
            ax = start_axes(self, ax, (width, 3.8), title=title, grid=None)
            _draw_bars(ax, self, legend=legend)
        else:
            width = float(np.clip(2.6 + 0.42 * len(self.focal_sets), 4.4, 10.0))
            ax = start_axes(self, ax, (width, 5.2), title=title, grid=None)
            _draw_heatmap(ax, self, legend=legend)
        return self


def _checked_objects(objects: ArrayLike | None, n_samples: int) -> NDArray[np.intp]:
    """Numbers of the objects to show, or a ValueError."""
    if objects is None:
        return np.arange(n_samples)
    with naming("objects"):
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
    return check_names("object_names", object_names, n_samples, "objects")


def _draw_heatmap(ax: Any, display: MassDisplay, *, legend: bool) -> None:
    """Objects from top to bottom, focal sets from left to right."""
    n_shown, n_sets = display.masses.shape
    image = ax.imshow(
        averaged_rows(display.masses, _MAX_ROWS),
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
        add_color_bar(image, ax, "mass", shrink=0.6, aspect=22)


def _draw_bars(ax: Any, display: MassDisplay, *, legend: bool) -> None:
    """One column for each object, its masses one upon the other."""
    bottoms = _stacked(display)
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


def _stacked(display: MassDisplay) -> NDArray[np.float64]:
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
    step = -(-len(names) // _MAX_SET_NAMES)
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


def _name_objects(ax: Any, display: MassDisplay, *, axis: str) -> None:
    """Names of a few objects, else of their groups, else their number."""
    n_shown = len(display.masses)
    along = ax.xaxis if axis == "x" else ax.yaxis
    side = "bottom" if axis == "x" else "left"
    ax.spines[side].set_visible(False)
    if display.is_grouped:
        _mark_groups(ax, display, axis)
    if n_shown <= _MAX_NAMED:
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


def _name_groups(ax: Any, display: MassDisplay, axis: str) -> str:
    """Names of the groups, short or not all of them where they would overlap."""
    starts, ends, groups = group_bounds(display.groups)
    middles = (starts + ends - 1) / 2
    extent = ax.get_window_extent()
    length = extent.width if axis == "x" else extent.height
    inches = middles / len(display.groups) * length / ax.figure.dpi
    n_clusters = display.focal_sets.n_clusters
    names = [group_name(group, n_clusters) for group in groups]
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
        [group_name(groups[i], n_clusters, is_short=short) for i in kept],
        rotation=90 if axis == "x" and len(kept) > 20 else 0,
        fontsize="small" if short else "medium",
    )
    return ", by cluster" if short else ""


def _mark_groups(ax: Any, display: MassDisplay, axis: str) -> None:
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


def _set_handles(display: MassDisplay, styles: list[SetStyle]) -> list[Any]:
    """Patches of the focal sets, those with most mass if they are many."""
    from matplotlib.patches import Patch

    names = display.focal_sets.names
    listed = np.arange(len(names))
    if len(names) > _MAX_SET_ENTRIES:
        heaviest = np.argsort(-display.masses.mean(axis=0), kind="stable")
        listed = np.sort(heaviest[: _MAX_SET_ENTRIES - 1])
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
