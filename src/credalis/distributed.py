"""Fits to Dask arrays and data frames, and lazy predictions of all estimators.

``fit`` of `NNEVCLUS`, `Consensus`, `ECM` and `CCM` takes a Dask collection as X; see
`credalis.sources.DaskSource` for what becomes of it, and `credalis.cluster.nnevclus`
for how networks are trained.
"""

from typing import Any

from credalis.cluster import BaseCredalClusterer
from credalis.sources import lazily

__all__ = ["fit_distributed", "lazily"]


def fit_distributed(
    estimator: BaseCredalClusterer,
    X: Any,
    checkpoint: None = None,
    side_information: dict[str, Any] | None = None,
) -> None:
    """Fit an estimator to a Dask collection, without results for its objects.

    Parameters
    ----------
    estimator : NNEVCLUS, Consensus, ECM or CCM
        Gets the fitted attributes.
    X : dask array of shape (n_rows, n_features) or dask data frame
        Its partitions are those of the training. Workers hold them while it lasts, all
        threads about as many rows.
    checkpoint : None
        There is none: work that is lost is done again by Dask.
    side_information : dict, default=None
        Labels and pairs by the numbers of the rows, for `NNEVCLUS`.
    """
    given = {} if side_information is None else side_information
    estimator.fit(X, checkpoint=checkpoint, **given)  # type: ignore[call-arg]
