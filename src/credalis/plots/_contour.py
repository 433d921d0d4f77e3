"""ContourDisplay: what an estimator says all over the plane."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import check_choice, check_integer
from credalis._drawing.axes import add_color_bar, start_panels, tidy
from credalis._drawing.inputs import check_feature_names, check_features
from credalis._drawing.legibility import MAX_OUTLINED, point_size
from credalis._drawing.palette import INK, SEQUENTIAL
from credalis._refusals import refuses_by_name
from credalis.belief import FocalSets

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CLUSTER_RESPONSES = ("plausibility", "belief", "pignistic")
_RESPONSES = (*_CLUSTER_RESPONSES, "mass", "doubt", "nonspecificity")
# More panels than this are too small to be read.
_MAX_PANELS = 24
LEVELS = np.linspace(0, 1, 11)
_ROWS_AT_ONCE = 2**14
_MARGIN = 0.08


@dataclass(kw_only=True, eq=False, repr=False)
class ContourDisplay:
    """Plausibilities, masses or doubt over the plane, one panel for each.

    For estimators that predict, fitted to two features. Contours are at 0, 0.1, ..., 1;
    the training objects show through.

    Use `from_estimator` to make a display.

    Parameters
    ----------
    x, y : arrays of shape (grid_resolution,)
        Coordinates of the grid.
    values : array of shape (n_panels, grid_resolution, grid_resolution)
        ``values[p, i, j]`` is what panel p shows at ``(x[j], y[i])``, in [0, 1].
    panel_names : list of str
        Titles of the panels.
    points : array of shape (n_samples, 2)
        The training objects.
    axis_labels : tuple of two str
        Names of the features.
    response : str
        What the values are.

    Attributes
    ----------
    axes_ : array of matplotlib Axes, shape (n_panels,)
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of the last drawing.

    See Also
    --------
    CredalPartitionDisplay : the objects in the plane.

    Examples
    --------
    >>> from credalis import CredalPartition
    >>> from credalis.plots import ContourDisplay
    >>> class Halves:
    ...     def predict_partition(self, X):
    ...         return CredalPartition.from_labels((X[:, 0] > 0).astype(int), 2)
    >>> display = ContourDisplay.from_estimator(
    ...     Halves(), [[-1, 0], [1, 1]], grid_resolution=20
    ... )
    >>> display.panel_names
    ['cluster 0', 'cluster 1']
    >>> display.values.shape
    (2, 20, 20)
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    values: NDArray[np.float64]
    panel_names: list[str]
    points: NDArray[np.float64]
    axis_labels: tuple[str, str]
    response: str

    @classmethod
    @refuses_by_name
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        *,
        response: str = "plausibility",
        cluster: int | Iterable[int] | None = None,
        focal_set: Any = None,
        grid_resolution: int = 200,
        feature_names: Sequence[str] | None = None,
        ax: "Axes | Sequence[Axes] | None" = None,
    ) -> "ContourDisplay":
        """Make a display from a fitted estimator and the data it was fitted to.

        Parameters
        ----------
        estimator : object with ``predict_partition``
            A fitted clusterer that predicts.
        X : array-like of shape (n_samples, 2)
            The data it was fitted to; they fix the part of the plane that is shown.
        response : str, default="plausibility"
            "plausibility", "belief" or "pignistic": a panel for each cluster. "mass": a
            panel for each focal set. "doubt" or "nonspecificity": one panel.
        cluster : int or iterable of int, default=None
            Clusters to show; None shows all.
        focal_set : subset, name, or list of these, default=None
            Focal sets to show for response="mass", as in ``(0, 1)``, ``"Ω"``,
            ``"{0,1}"`` or ``[(), (0,)]``; None shows all.
        grid_resolution : int, default=200
            Number of grid points in each direction.
        feature_names : sequence of two str, default=None
            By default the columns of X if it is a data frame, otherwise numbers.
        ax : matplotlib Axes or sequence of them, default=None
            Axes to draw on at once, one for each panel; None: nothing is drawn before
            `plot`.

        Returns
        -------
        ContourDisplay
        """
        check_integer("grid_resolution", grid_resolution, at_least=2)
        _check_selection(response, cluster, focal_set)
        points = _checked_points(estimator, X)
        first, second = check_feature_names(feature_names, X, 2, estimator)
        x, y = (_spread(column, grid_resolution) for column in points.T)
        grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
        values, names = _predicted(estimator, X, grid, response, cluster, focal_set)
        display = cls(
            x=x,
            y=y,
            values=values.reshape(-1, len(y), len(x)),
            panel_names=names,
            points=points,
            axis_labels=(first, second),
            response=response,
        )
        return display if ax is None else display.plot(ax=ax)

    @property
    def n_panels(self) -> int:
        """Number of panels."""
        return len(self.values)

    def __repr__(self) -> str:
        return f"ContourDisplay({self.response}: {', '.join(self.panel_names)})"

    def plot(
        self,
        *,
        ax: "Axes | Sequence[Axes] | None" = None,
        title: str | None = None,
        legend: bool = True,
    ) -> "ContourDisplay":
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, default=None
            Axes to draw on, one for each panel; None makes a figure.
        title : str, default=None
            Title above the panels.
        legend : bool, default=True
            Whether to add the colour bar that all panels share.

        Returns
        -------
        ContourDisplay
            The display itself, with ``axes_`` and ``figure_``.
        """
        n_columns = _n_columns(self.n_panels)
        n_rows = -(-self.n_panels // n_columns)
        cell = 4.2 if self.n_panels == 1 else 2.9 if n_columns <= 2 else 2.3
        axes = start_panels(
            self,
            ax,
            self.panel_names,
            "panel",
            n_columns=n_columns,
            size=(cell * n_columns + 1.2, 0.9 * cell * n_rows + 0.6),
            title=title,
            sharex=True,
            sharey=True,
        )
        for panel, values, name in zip(
            axes, self.values, self.panel_names, strict=True
        ):
            filled = self._draw_panel(panel, values, name)
        if ax is None:
            self._label_outer(axes, n_columns)
        if legend:
            aspect = 15 + 10 * (n_rows if ax is None else 1)
            options = {"shrink": 0.8, "aspect": aspect, "ticks": LEVELS[::2]}
            add_color_bar(filled, list(axes), self.response, **options)
        return self

    def _draw_panel(self, ax: Any, values: NDArray[np.float64], name: str) -> Any:
        """Filled contours, the objects upon them, lines on top."""
        grid = (self.x, self.y, values)
        filled = ax.contourf(*grid, levels=LEVELS, cmap=SEQUENTIAL, zorder=1)
        n_samples = len(self.points)
        ax.scatter(
            *self.points.T,
            s=0.25 * point_size(n_samples),
            color=INK,
            alpha=float(np.clip(6 / np.sqrt(n_samples), 0.05, 0.5)),
            linewidths=0,
            rasterized=n_samples > MAX_OUTLINED,
            zorder=1.5,
        )
        # matplotlib warns about lines that would be nowhere.
        if ((values.min() < LEVELS) & (values.max() > LEVELS)).any():
            ax.contour(*grid, levels=LEVELS, colors="white", linewidths=0.5, zorder=2)
        tidy(ax, grid=None)
        ax.set_title(name, loc="left", fontsize="medium")
        labels = dict(zip(("xlabel", "ylabel"), self.axis_labels, strict=True))
        ax.set(xlim=self.x[[0, -1]], ylim=self.y[[0, -1]], **labels)
        return filled

    def _label_outer(self, axes: NDArray[Any], n_columns: int) -> None:
        """Names of the features only where no panel follows below, or to the left."""
        for i, panel in enumerate(axes):
            is_lowest, is_first = i + n_columns >= self.n_panels, i % n_columns == 0
            panel.tick_params(labelbottom=is_lowest, labelleft=is_first)
            if not is_lowest:
                panel.set_xlabel("")
            if not is_first:
                panel.set_ylabel("")


def _checked_points(estimator: Any, X: Any) -> NDArray[np.float64]:
    """The objects (n_samples, 2) of an estimator that predicts, or a ValueError."""
    if not hasattr(estimator, "predict_partition"):
        raise ValueError(
            "estimator must have predict_partition, got "
            f"{type(estimator).__name__} without it"
        )
    points = check_features(X)
    if points.shape[1] != 2:
        raise ValueError(
            f"X must have 2 features for contours over the plane, got {points.shape[1]}"
        )
    return points


def _predicted(
    estimator: Any,
    X: Any,
    grid: NDArray[np.float64],
    response: str,
    cluster: Any,
    focal_set: Any,
) -> tuple[NDArray[np.float64], list[str]]:
    """Responses (n_panels, n_rows) at the points of a grid, and names of the panels."""
    view = "masses" if response == "mass" else response
    panels: dict[int, str] = {}
    blocks = []
    for start in range(0, len(grid), _ROWS_AT_ONCE):
        rows = _like(X, grid[start : start + _ROWS_AT_ONCE])
        partition = estimator.predict_partition(rows)
        panels = panels or _choose_panels(
            partition.focal_sets, response, cluster, focal_set
        )
        values = getattr(partition, view).reshape(partition.n_samples, -1)
        blocks.append(values[:, list(panels)])
    # Rounding beyond 0 and 1 would leave holes in the contours.
    return np.clip(np.vstack(blocks), 0.0, 1.0).T, list(panels.values())


def _spread(column: NDArray[np.float64], n_points: int) -> NDArray[np.float64]:
    """Equally spaced points over the range of a feature and a little beyond."""
    low, high = column.min(), column.max()
    room = _MARGIN * (high - low) or max(abs(low), 1.0) * _MARGIN
    return np.linspace(low - room, high + room, n_points)


def _like(X: Any, rows: NDArray[np.float64]) -> Any:
    """Rows in the container that the estimator was fitted to, with the same names."""
    if not hasattr(X, "columns"):
        return rows
    return type(X)(dict(zip(X.columns, rows.T, strict=True)))


def _n_columns(n_panels: int) -> int:
    """Columns of a grid that is about square, with few empty cells."""
    if n_panels <= 3:
        return n_panels
    width = int(np.ceil(np.sqrt(n_panels)))
    return min((width, width + 1), key=lambda columns: -n_panels % columns)


def _check_selection(response: str, cluster: Any, focal_set: Any) -> None:
    """An unknown response, or a selection that it does not use, is a ValueError."""
    check_choice("response", response, _RESPONSES)
    if cluster is not None and response not in _CLUSTER_RESPONSES:
        raise ValueError(
            f"cluster must be None for response={response!r}, got {cluster!r}"
        )
    if focal_set is not None and response != "mass":
        raise ValueError(
            f"focal_set must be None unless response='mass', got {focal_set!r} for "
            f"response={response!r}"
        )


def _choose_panels(
    focal_sets: FocalSets, response: str, cluster: Any, focal_set: Any
) -> dict[int, str]:
    """Columns of the responses to show, with their names."""
    if response == "mass":
        columns = _chosen_sets(focal_sets, focal_set)
        panels = {j: f"m({focal_sets.names[j]})" for j in columns}
    elif response in _CLUSTER_RESPONSES:
        columns = _chosen_clusters(focal_sets.n_clusters, cluster)
        panels = {k: f"cluster {k}" for k in columns}
    else:
        panels = {0: response}
    if len(panels) > _MAX_PANELS:
        choice = "focal_set" if response == "mass" else "cluster"
        raise ValueError(
            f"{choice} must choose at most {_MAX_PANELS} panels, got {len(panels)}"
        )
    return panels


def _chosen_clusters(n_clusters: int, cluster: Any) -> list[int]:
    if cluster is None:
        return list(range(n_clusters))
    chosen = list(cluster) if isinstance(cluster, Iterable) else [cluster]
    if not chosen:
        raise ValueError("cluster must name at least one cluster, got none")
    return [
        check_integer("cluster", k, at_least=0, at_most=n_clusters - 1) for k in chosen
    ]


def _chosen_sets(focal_sets: FocalSets, focal_set: Any) -> list[int]:
    """Columns of one or several focal sets, given by clusters or by name."""
    if focal_set is None:
        return list(range(len(focal_sets)))
    single = isinstance(focal_set, str) or not isinstance(focal_set, Iterable)
    wanted = [focal_set] if single else list(focal_set)
    if not single and all(isinstance(item, Integral) for item in wanted):
        wanted = [tuple(wanted)]
    columns = []
    key: Any
    for item in wanted:
        known: Any = focal_sets.subsets
        key = tuple(sorted(item)) if isinstance(item, Iterable) else None
        if isinstance(item, str):
            known, key = focal_sets.names, item.replace(" ", "")
        if key not in known:
            raise ValueError(
                f"focal_set must be among {', '.join(focal_sets.names)}, got {item!r}"
            )
        columns.append(known.index(key))
    return columns
