"""What is known about some of the objects, for any part of the rows."""

from collections.abc import Mapping
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import squareform

from credalis._checks import check_numbers, naming
from credalis._rows import Rows
from credalis.constraints import check_constraints, renumber
from credalis.model_selection._clusterer import Clusterer

NAMES = ("partial_labels", "must_link", "cannot_link", "dissimilarities")


class RowInformation:
    """Labels, pairs and dissimilarities of the rows of X.

    Parameters
    ----------
    n_samples : int
        Number of rows of X.
    given : mapping
        Values of the arguments in `NAMES`, as `fit` of a clusterer takes them; None is
        the same as nothing.
    """

    def __init__(self, n_samples: int, given: Mapping[str, Any]) -> None:
        self.n_samples = n_samples
        self.names = [name for name in NAMES if given.get(name) is not None]
        self._values = {name: given[name] for name in self.names}
        pairs = check_constraints(
            given.get("must_link"), given.get("cannot_link"), n_samples
        )
        for name, checked in zip(("must_link", "cannot_link"), pairs, strict=True):
            if name in self._values:
                self._values[name] = checked
        if "partial_labels" in self._values:
            with naming("partial_labels"):
                labels = np.asarray(self._values["partial_labels"])
            if labels.shape != (n_samples,):
                raise ValueError(
                    "partial_labels must have one entry for each of the "
                    f"{n_samples} rows of X, got shape {labels.shape}"
                )
            self._values["partial_labels"] = labels
        if "dissimilarities" in self._values:
            self._values["dissimilarities"] = _square(
                self._values["dissimilarities"], n_samples
            )

    @property
    def dissimilarities(self) -> NDArray[np.float64] | None:
        """The square matrix, if one is given."""
        return self._values.get("dissimilarities")

    @property
    def n_known_clusters(self) -> int:
        """Smallest number of clusters that the labels allow, 0 without labels."""
        labels = self._values.get("partial_labels")
        return 0 if labels is None else int(labels.max(initial=-1)) + 1

    def check_used_by(self, clusterer: Clusterer) -> None:
        """ValueError if `fit` of the clusterer does not take what is given."""
        known = signature(clusterer.inner.fit).parameters
        for name in self.names:
            if name not in known:
                raise ValueError(
                    f"{name} must be None for {clusterer.name}, whose fit does not "
                    "take it"
                )

    def of(self, rows: Rows) -> dict[str, Any]:
        """Arguments of `fit` for these rows: pairs within them, in their numbers."""
        arguments: dict[str, Any] = {}
        for name, value in self._values.items():
            if name == "partial_labels":
                arguments[name] = value[rows]
            elif name == "dissimilarities":
                arguments[name] = value[np.ix_(rows, rows)]
            else:
                arguments[name] = renumber(value, rows)
        return arguments


def _square(dissimilarities: Any, n_samples: int) -> NDArray[np.float64]:
    """The square form of a matrix or a condensed vector."""
    matrix = check_numbers("dissimilarities", dissimilarities)
    if matrix.ndim == 1 and len(matrix) == n_samples * (n_samples - 1) // 2:
        matrix = squareform(matrix)
    if matrix.shape != (n_samples, n_samples):
        raise ValueError(
            "dissimilarities must be a square matrix or a condensed vector for "
            f"{n_samples} objects, got shape {matrix.shape}"
        )
    return matrix
