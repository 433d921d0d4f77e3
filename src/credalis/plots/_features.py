"""FeatureDisplay: boxplots of learned features, class by class."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._drawing.axes import start_panels, tidy
from credalis._drawing.inputs import (
    check_classes,
    check_feature_names,
    check_features,
    transformed,
)
from credalis._drawing.palette import INK, SOFT_INK, cluster_colors, lightened
from credalis._refusals import refuses_by_name

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(kw_only=True, eq=False, repr=False)
class FeatureDisplay:
    """Boxplots of features in each class, one panel for each feature.

    The box goes from the first to the third quartile with the median inside, whiskers
    to the farthest object within one and a half times its height; objects beyond are
    dots. A feature in which boxes do not overlap tells classes apart on its own.

    Use `from_features` or `from_transformer` to make a display.

    Parameters
    ----------
    features : array of shape (n_samples, n_features)
        Values.
    labels : array of int, shape (n_samples,)
        Classes or clusters; objects with -1 are left out.
    feature_names : list of str
        Titles of the panels.

    Attributes
    ----------
    axes_ : array of matplotlib Axes, shape (n_features,)
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of the last drawing.

    Examples
    --------
    >>> from credalis.plots import FeatureDisplay
    >>> display = FeatureDisplay.from_features([[0], [1], [7], [9]], [0, 0, 1, 1])
    >>> display
    FeatureDisplay(1 features, 2 classes)
    >>> [values.tolist() for values in display.groups(0)]
    [[0.0, 1.0], [7.0, 9.0]]
    """

    features: NDArray[np.float64]
    labels: NDArray[np.intp]
    feature_names: list[str]

    @classmethod
    @refuses_by_name
    def from_features(
        cls,
        features: ArrayLike,
        labels: ArrayLike,
        *,
        feature_names: Sequence[str] | None = None,
        ax: "Axes | Sequence[Axes] | None" = None,
    ) -> "FeatureDisplay":
        """Make a display from features and classes.

        Parameters
        ----------
        features : array-like of shape (n_samples, n_features)
            Values.
        labels : array-like of int, shape (n_samples,)
            Classes or clusters, -1 for objects to leave out.
        feature_names : sequence of str, default=None
            None: the columns of a data frame, else numbers.
        ax : matplotlib Axes or sequence of them, default=None
            Axes to draw on at once, one for each feature; None: nothing is drawn before
            `plot`.

        Returns
        -------
        FeatureDisplay
        """
        values = check_features(features, name="features")
        classes = check_classes(labels, len(values))
        if (classes < 0).all():
            raise ValueError("labels must hold a class of some object, got only -1")
        names = check_feature_names(feature_names, features, values.shape[1])
        display = cls(features=values, labels=classes, feature_names=names)
        return display if ax is None else display.plot(ax=ax)

    @classmethod
    @refuses_by_name
    def from_transformer(
        cls,
        transformer: Any,
        X: ArrayLike,
        labels: ArrayLike,
        *,
        ax: "Axes | Sequence[Axes] | None" = None,
    ) -> "FeatureDisplay":
        """Make a display of the features that a fitted transformer gives X.

        Parameters
        ----------
        transformer : object with ``transform``
            A fitted transformer, for example `credalis.metric_learning.PCCA`.
        X : array-like of shape (n_samples, n_features)
            Data.
        labels, ax
            As in `from_features`.

        Returns
        -------
        FeatureDisplay
        """
        names = None
        if hasattr(transformer, "get_feature_names_out"):
            names = list(transformer.get_feature_names_out())
        features = transformed(transformer, X)
        return cls.from_features(features, labels, feature_names=names, ax=ax)

    @property
    def n_classes(self) -> int:
        """One more than the largest label."""
        return int(self.labels.max()) + 1

    def groups(self, feature: int) -> list[NDArray[np.float64]]:
        """Values of a feature in each class.

        Parameters
        ----------
        feature : int
            The number of the feature.

        Returns
        -------
        list of ndarrays
        """
        column = self.features[:, feature]
        return [column[self.labels == k] for k in range(self.n_classes)]

    def __repr__(self) -> str:
        return (
            f"FeatureDisplay({self.features.shape[1]} features, "
            f"{self.n_classes} classes)"
        )

    def plot(
        self,
        *,
        ax: "Axes | Sequence[Axes] | None" = None,
        title: str | None = None,
    ) -> "FeatureDisplay":
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes or sequence of them, default=None
            Axes to draw on, one for each feature; None makes a figure.
        title : str, default=None
            Title above the panels.

        Returns
        -------
        FeatureDisplay
            The display itself, with ``axes_`` and ``figure_``.
        """
        n_panels = self.features.shape[1]
        axes = start_panels(
            self,
            ax,
            self.feature_names,
            "feature",
            n_columns=n_panels,
            size=(1.2 + n_panels * max(1.8, 0.45 * self.n_classes), 3.6),
            title=title,
            sharey=True,  # distances depend on the sizes of the features
        )
        for j, (panel, name) in enumerate(zip(axes, self.feature_names, strict=True)):
            self._draw_panel(panel, self.groups(j), name)
        axes[0].set_ylabel("value of the feature")
        return self

    def _draw_panel(
        self, ax: Any, groups: list[NDArray[np.float64]], name: str
    ) -> None:
        tidy(ax, grid="y")
        ax.set_title(name, loc="left", fontsize="medium", parse_math=False)
        parts = ax.boxplot(
            groups,
            positions=range(self.n_classes),
            widths=0.6,
            patch_artist=True,
            medianprops={"color": INK, "linewidth": 1.6},
            whiskerprops={"color": SOFT_INK},
            capprops={"color": SOFT_INK},
            flierprops={"marker": "o", "markersize": 2.5, "markeredgewidth": 0},
        )
        colors = cluster_colors(self.n_classes)
        for box, dots, color in zip(
            parts["boxes"], parts["fliers"], colors, strict=True
        ):
            box.set(facecolor=lightened(color, 0.45), edgecolor=color, linewidth=1.2)
            dots.set(markerfacecolor=color, alpha=0.7)
        ax.set_xticks(range(self.n_classes), [str(k) for k in range(self.n_classes)])
        ax.set_xlabel("class")
