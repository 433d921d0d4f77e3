"""ShepardDisplay: do conflicts between objects match their dissimilarities?"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from credalis._checks import check_choice, check_squarable
from credalis._drawing.axes import add_color_bar, start_axes
from credalis._drawing.inputs import check_partition, fitted
from credalis._drawing.legibility import MAX_DOTS
from credalis._drawing.pairs import (
    choose_pairs,
    count_pairs,
    dissimilarity_space,
    given_dissimilarities,
    objects_of_pairs,
    paired_conflicts,
    paired_dissimilarities,
)
from credalis._drawing.palette import BASE_COLORS, INK, SEQUENTIAL
from credalis._refusals import refuses_by_name
from credalis.dissimilarity import transform
from credalis.partition import CredalPartition

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

N_PAIRS = 100_000
_N_HEXAGONS = 42
_X_AXES = {
    "transformed": "transformed dissimilarity δ*",
    "raw": "dissimilarity d",
}


@dataclass(kw_only=True, eq=False, repr=False)
class ShepardDisplay:
    """Degrees of conflict of pairs of objects against their dissimilarities.

    In EVCLUS and its relatives the conflict κ of two objects should match their
    transformed dissimilarity δ* = φ(d), which is 0 for d = 0 and 0.95 for d = δ0. Pairs
    above the line κ = δ* are told apart more than their dissimilarity asks for, pairs
    below it less. A few thousand pairs are drawn as dots, more are counted in hexagons.

    Use `from_partition` or `from_estimator` to make a display.

    Parameters
    ----------
    dissimilarities : array of shape (n_pairs,)
        d of the pairs that are shown.
    targets : array of shape (n_pairs,)
        δ* of these pairs, in [0, 1].
    conflicts : array of shape (n_pairs,)
        κ of these pairs, in [0, 1].
    pairs : array of int, shape (n_pairs, 2)
        Row numbers of the two objects, the smaller one first.
    scale : float
        δ0.
    n_samples : int
        Number of objects.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the last drawing.
    figure_ : matplotlib Figure
        Figure of the last drawing.

    References
    ----------
    T. Denœux (2021), NN-EVCLUS: Neural network-based evidential clustering,
    Information Sciences 572, 297-330.

    Examples
    --------
    >>> from credalis import CredalPartition
    >>> from credalis.plots import ShepardDisplay
    >>> partition = CredalPartition.from_labels([0, 0, 1])
    >>> display = ShepardDisplay.from_partition(partition, [0.5, 3, 3], scale=2)
    >>> display.conflicts
    array([0., 1., 1.])
    >>> display.targets.round(3)
    array([0.171, 0.999, 0.999])
    >>> round(display.stress, 4)
    0.0097
    """

    dissimilarities: Array
    targets: Array
    conflicts: Array
    pairs: Indices
    scale: float
    n_samples: int

    @classmethod
    @refuses_by_name
    def from_partition(
        cls,
        partition: CredalPartition,
        dissimilarities: ArrayLike,
        *,
        scale: float,
        n_pairs: int = N_PAIRS,
        random_state: Any = 0,
        ax: "Axes | None" = None,
    ) -> "ShepardDisplay":
        """Make a display from a partition and the dissimilarities of its objects.

        Parameters
        ----------
        partition : CredalPartition
            Masses of n_samples objects.
        dissimilarities : array-like
            Square matrix (n_samples, n_samples), or its part above the diagonal row by
            row as a vector of n_samples (n_samples - 1) / 2 values.
        scale : float
            δ0, the dissimilarity for which δ* is 0.95.
        n_pairs : int, default=100000
            Largest number of pairs; if there are more, this many are drawn at random.
        random_state : int, RandomState instance or None, default=0
            Seed of this choice.
        ax : matplotlib Axes, default=None
            Axes to draw on right away; with None, nothing is drawn until `plot`.

        Returns
        -------
        ShepardDisplay
        """
        check_partition(partition)
        numbers = choose_pairs(partition.n_samples, n_pairs, random_state)
        values = given_dissimilarities(dissimilarities, numbers, partition.n_samples)
        pairs = objects_of_pairs(numbers, partition.n_samples)
        display = cls._compute(partition, values, pairs, scale)
        return display if ax is None else display.plot(ax=ax)

    @classmethod
    @refuses_by_name
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        *,
        dissimilarities: ArrayLike | None = None,
        n_pairs: int = N_PAIRS,
        random_state: Any = 0,
        ax: "Axes | None" = None,
    ) -> "ShepardDisplay":
        """Make a display from a fitted estimator and the data it was fitted to.

        The masses are those that were trained, also if the estimator reports ∅ as
        novelty (``empty_set="novelty"``).

        Parameters
        ----------
        estimator : object with ``partition_`` and ``scale_``
            A fitted clusterer that matches conflicts with dissimilarities.
        X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
            The data it was fitted to.
        dissimilarities : array-like, default=None
            What ``fit`` was given as ``dissimilarities``. None: those that the
            estimator takes from X.
        n_pairs, random_state, ax
            As in `from_partition`.

        Returns
        -------
        ShepardDisplay
        """
        partition, scale = fitted(estimator, "partition_"), fitted(estimator, "scale_")
        if hasattr(estimator, "_training_masses"):
            # ∅ may be reported as novelty; conflicts were matched before that.
            masses = estimator._training_masses(X)
            partition = CredalPartition(masses, partition.focal_sets)
        space, metric = dissimilarity_space(estimator, X, dissimilarities)
        numbers = choose_pairs(partition.n_samples, n_pairs, random_state)
        pairs = objects_of_pairs(numbers, partition.n_samples)
        if isinstance(metric, str) and metric == "precomputed":
            values = given_dissimilarities(space, numbers, partition.n_samples)
        else:
            values = paired_dissimilarities(space, metric, pairs)
        display = cls._compute(partition, values, pairs, scale)
        return display if ax is None else display.plot(ax=ax)

    @classmethod
    def _compute(
        cls, partition: CredalPartition, values: Array, pairs: Indices, scale: float
    ) -> "ShepardDisplay":
        scale = check_squarable("scale", scale)
        return cls(
            dissimilarities=values,
            targets=transform(values, scale),
            conflicts=paired_conflicts(partition, pairs),
            pairs=pairs,
            scale=scale,
            n_samples=partition.n_samples,
        )

    @property
    def residuals(self) -> Array:
        """κ - δ* of the pairs that are shown, shape (n_pairs,)."""
        return self.conflicts - self.targets

    @property
    def stress(self) -> float:
        """Mean of (κ - δ*)² over the pairs that are shown."""
        return float(np.square(self.residuals).mean())

    @property
    def n_all_pairs(self) -> int:
        """Number of pairs of different objects."""
        return count_pairs(self.n_samples)

    @property
    def shown(self) -> str:
        """How many pairs are shown, as in "5 000 of 79 800 pairs"."""
        n_shown, n_all = len(self.pairs), self.n_all_pairs
        share = f"{_counted(n_shown)} of " if n_shown < n_all else ""
        return f"{share}{_counted(n_all)} pair{'s' if n_all > 1 else ''}"

    def __repr__(self) -> str:
        return f"ShepardDisplay({self.shown}, stress={self.stress:.3g})".replace(
            "\N{NO-BREAK SPACE}", " "
        )

    def plot(
        self,
        *,
        ax: "Axes | None" = None,
        title: str | None = None,
        legend: bool = True,
        x: str = "transformed",
    ) -> "ShepardDisplay":
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None makes a new figure.
        title : str, default=None
            Title of the axes.
        legend : bool, default=True
            Whether to name the line and, where pairs are counted in hexagons, to add
            the scale of the counts.
        x : {"transformed", "raw"}, default="transformed"
            Which dissimilarities the horizontal axis shows: δ*, with the line κ = δ*,
            or d, with the curve κ = φ(d).

        Returns
        -------
        ShepardDisplay
            The display itself, with ``ax_`` and ``figure_``.
        """
        check_choice("x", x, tuple(_X_AXES))
        ax = start_axes(self, ax, (5.4, 4.4), title=title)
        ax.set(xlabel=f"{_X_AXES[x]} ({self.shown})", ylabel="degree of conflict κ")
        is_raw = x == "raw"
        values = self.dissimilarities if is_raw else self.targets
        longest = max(values.max(), self.scale) if is_raw else 1.0
        self._draw_pairs(ax, values, longest, legend)
        line = np.linspace(0, longest, 201 if is_raw else 2)
        ax.plot(
            line,
            transform(line, self.scale) if is_raw else line,
            color=BASE_COLORS[5],
            linewidth=1.5,
            label="κ = φ(d)" if is_raw else "κ = δ*",
            zorder=3,
        )
        ax.set_xlim(-0.03 * longest, 1.03 * longest)
        ax.set_ylim(-0.03, 1.03)
        self._write_stress(ax)
        if legend:
            # The corner below the line is the emptiest one.
            ax.legend(
                loc="lower right",
                bbox_to_anchor=(1.0, 0.13),
                frameon=False,
                labelcolor=INK,
            )
        return self

    def _draw_pairs(self, ax: Any, values: Array, longest: float, legend: bool) -> None:
        """Dots, or hexagons coloured by the number of pairs inside."""
        if len(values) <= MAX_DOTS:
            ax.scatter(
                values,
                self.conflicts,
                s=np.clip(400 / np.sqrt(len(values)), 9, 36),
                color=BASE_COLORS[0],
                alpha=float(np.clip(8 / np.sqrt(len(values)), 0.3, 0.8)),
                linewidths=0,
                zorder=2,
            )
            return
        from matplotlib import colormaps
        from matplotlib.colors import ListedColormap, LogNorm

        hexagons = ax.hexbin(
            values,
            self.conflicts,
            gridsize=_N_HEXAGONS,
            extent=(0, longest, 0, 1),
            mincnt=1,
            norm=LogNorm(),
            # The palest blues would be lost on white.
            cmap=ListedColormap(colormaps[SEQUENTIAL](np.linspace(0.2, 1, 256))),
            linewidths=0.1,
            zorder=2,
        )
        if legend:
            label = "pairs in a hexagon"
            bar = add_color_bar(hexagons, ax, label, shrink=0.6, aspect=22)
            bar.ax.minorticks_off()
            bar.ax.yaxis.set_major_formatter(lambda count, _: _counted(count))

    def _write_stress(self, ax: Any) -> None:
        """Mean squared and root mean squared residual, lower right."""
        ax.text(
            0.97,
            0.04,
            f"stress {self.stress:.3g}\nRMS residual {np.sqrt(self.stress):.3g}",
            transform=ax.transAxes,
            ha="right",
            va="bottom",
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 2},
            zorder=4,
        )


def _counted(count: float) -> str:
    """A whole number with its thousands set apart."""
    return f"{count:,.0f}".replace(",", "\N{NO-BREAK SPACE}")
