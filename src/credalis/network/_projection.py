"""From rows of many columns to few coordinates, for distances and inputs alike."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import gen_batches
from sklearn.utils.extmath import randomized_svd

from credalis import _archive
from credalis._checks import check_integer

Array = NDArray[np.float64]

# With no more columns, rows are taken as they are: there is little to be gained.
MANY_FEATURES = 100

# Components that "auto" takes at least and at most; as many as there are clusters if
# that is between the latter two, since the means of c clusters span c - 1 dimensions.
_LEAST, _MOST, _MOST_OF_ALL = 10, 50, 100

# Rows that give the components, and power iterations of their search: with fewer, those
# just above the noise would not be found.
_MAX_ROWS = 10_000
_N_POWERS = 7

# Rows that are projected at a time.
_BLOCK_ROWS = 2048


def _check_parts(owner: str, entries: _archive.Entries) -> None:
    if (entries["mean"] is None) != (entries["components"] is None):
        raise ValueError(f"{owner}.mean must be None just as its components are")
    if entries["components"] is None and not entries["normalizes"]:
        raise ValueError(f"{owner} must have components, or normalise rows")


@dataclass(frozen=True, eq=False)
class Projection(_archive.SavedFields):
    """Principal components of rows, which may be brought to length 1 before.

    Euclidean distances of the places are those of the rows, but for what noise adds in
    all the directions that are left out. Places have one more coordinate, how far a row
    is from the span of the components: where only strangers are, they stay strangers.
    Rows of length 1 are scaled by √½, so that squared distances of their places are
    1 - cos of their angles.

    Attributes
    ----------
    n_features_in_ : int
        Columns of the rows.
    normalizes : bool
        Whether rows are brought to length 1 first; rows of zeros stay where they are.
    mean : array of shape (n_features,) or None
        What is subtracted.
    components : array of shape (n_components, n_features) or None
        Orthonormal directions, zero where there is no variance; None: rows are only
        brought to length 1.
    """

    n_features_in_: int
    normalizes: bool
    mean: Array | None = None
    components: Array | None = None

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "n_features_in_": _archive.Integer(at_least=1, size="n_columns"),
            "normalizes": _archive.Flag(),
            "mean": _archive.OneOf(
                _archive.Nothing(), _archive.Array("f", ("n_columns",))
            ),
            "components": _archive.OneOf(
                _archive.Nothing(), _archive.Array("f", (None, "n_columns"))
            ),
        },
        relations=(_check_parts,),
    )

    @classmethod
    def of(
        cls,
        X: Array,
        n_components: int | str | None,
        n_clusters: int,
        rng: np.random.RandomState,
        *,
        normalizes: bool = False,
    ) -> "Projection | None":
        """The projection that suits some rows; None if they are taken as they are.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            Rows.
        n_components : int, "auto" or None
            Number of components. "auto" is None up to 100 columns; beyond, it takes
            the components whose variance is larger than noise of the same strength in
            all directions could have, see `above_noise`, at least 10 and at most 50, or
            as many as there are clusters but no more than 100. None: no components.
        n_clusters : int
            Number of clusters.
        rng : RandomState
            Draws rows, and the start of the search for components.
        normalizes : bool, default=False
            Whether rows are brought to length 1.
        """
        n_features = X.shape[1]
        is_auto = isinstance(n_components, str)
        if n_components is None or (is_auto and n_features <= MANY_FEATURES):
            return cls(n_features, normalizes) if normalizes else None
        rows = X
        if len(X) > _MAX_ROWS:
            rows = X[np.sort(rng.choice(len(X), _MAX_ROWS, replace=False))]
        if normalizes:
            rows = unit_rows(rows)
        largest = min(rows.shape)
        if is_auto:
            n_searched = min(max(_MOST, min(n_clusters, _MOST_OF_ALL)), largest)
        else:
            n_searched = check_integer(
                "n_components", n_components, at_least=1, at_most=largest
            )
        mean = rows.mean(axis=0)
        centered = rows - mean
        # In units of the largest entry, so that no square over- or underflows.
        centered /= np.abs(centered).max() or 1.0
        _, values, directions = randomized_svd(
            centered, n_searched, n_iter=_N_POWERS, random_state=rng
        )
        variances = np.square(values)
        varies = variances > max(rows.shape) * np.finfo(float).eps * variances[0]
        if is_auto:
            rest = float(np.square(centered).sum() - variances.sum())
            n_above = above_noise(variances, rest, *rows.shape)
            n_kept = max(1, min(max(n_above, _LEAST), int(varies.sum())))
            directions, varies = directions[:n_kept], varies[:n_kept]
        return cls(n_features, normalizes, mean, directions * varies[:, None])

    @property
    def n_inputs(self) -> int:
        """Coordinates of a place that are inputs of a network."""
        return self.n_features_in_ if self.components is None else len(self.components)

    def transform(self, X: Array) -> Array:
        """Places of rows, (n_samples, n_components + 1)."""
        if self.components is None:
            return unit_rows(X) * np.sqrt(0.5)
        assert self.mean is not None
        places = np.empty((len(X), self.n_inputs + 1))
        for rows in gen_batches(len(X), _BLOCK_ROWS):
            deviations = unit_rows(X[rows]) if self.normalizes else X[rows]
            deviations = deviations - self.mean
            scores = deviations @ self.components.T
            squares = np.einsum("ij,ij->i", deviations, deviations)
            squares -= np.einsum("ij,ij->i", scores, scores)
            places[rows, :-1] = scores
            places[rows, -1] = np.sqrt(np.maximum(squares, 0.0))
        if self.normalizes:
            places *= np.sqrt(0.5)
        return places

    def inputs(self, places: Array) -> Array:
        """What a network sees of places: not how far they are from the components."""
        return places[:, : self.n_inputs]

    def widened(self, groups: list[Array]) -> "Projection":
        """The same with components towards the means of groups of other rows.

        Their coordinates come after those that there are.
        """
        if self.components is None or self.mean is None:
            return self
        components = self.components
        for rows in groups:
            rows = unit_rows(rows) if self.normalizes else rows
            direction = rows.mean(axis=0) - self.mean
            length = np.linalg.norm(direction)
            # Twice is enough: what rounding leaves of the others is gone.
            for _ in range(2):
                direction = direction - components.T @ (components @ direction)
            rest = np.linalg.norm(direction)
            if rest > np.sqrt(np.finfo(float).eps) * length:
                components = np.vstack([components, direction / rest])
        return replace(self, components=components)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Names of the coordinates."""
        names = [f"component{j}" for j in range(self.n_inputs)]
        if self.components is not None:
            names.append("residual")
        return np.array(names, dtype=object)


_archive.register(Projection)


def unit_rows(X: Array) -> Array:
    """Rows divided by their lengths; rows of zeros stay."""
    # First by the largest entries, so that no square over- or underflows.
    largest = np.abs(X).max(axis=1, keepdims=True)
    rows = X / np.where(largest > 0, largest, 1.0)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    rows /= np.where(lengths > 0, lengths, 1.0)
    return rows


def above_noise(variances: Array, rest: float, n_samples: int, n_features: int) -> int:
    """How many variances are larger than those of noise alone.

    Of n rows of d independent columns of variance σ², the largest variance of a
    component is about σ² (1 + √(d / n))² (Marchenko and Pastur). σ² is estimated from
    what the components above leave.

    Parameters
    ----------
    variances : array of shape (n_components,)
        Of the components, decreasing, in any unit.
    rest : float
        The sum of all other variances, in the same unit.
    n_samples, n_features : int
        Shape of the data.
    """
    n_above = len(variances)
    factor = (1 + np.sqrt(n_features / n_samples)) ** 2
    # Those of noise count as noise, too, from which it may be seen to be stronger.
    while n_above < n_features:
        noise = max(rest, 0.0) + float(variances[n_above:].sum())
        edge = factor * noise / (n_features - n_above)
        n_larger = min(n_above, int((variances > edge).sum()))
        if n_larger == n_above:
            break
        n_above = n_larger
    return n_above
