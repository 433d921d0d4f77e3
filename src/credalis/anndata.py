"""Clusters of cells: AnnData objects in, annotations of their cells out.

AnnData (https://anndata.readthedocs.io) holds cells with annotations. `cluster` reads a
representation of the cells, such as their principal components, and writes what a
credal partition says about each of them where other tools of the field look for it.
"""

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import clone

from credalis._checks import shown
from credalis._refusals import refuses_by_name
from credalis.cluster import BaseCredalClusterer, Consensus, EkNNclus

__all__ = ["cluster"]


@refuses_by_name
def cluster(
    adata: Any,
    n_clusters: int | None = None,
    *,
    use_rep: str = "X_pca",
    key_added: str = "credal",
    estimator: BaseCredalClusterer | None = None,
    neighbors_key: str | None = None,
    random_state: int | None = 0,
) -> BaseCredalClusterer:
    """Cluster the cells of an AnnData object and annotate them.

    Written are, with ``key_added="credal"``:

    - ``adata.obs["credal"]``: the cluster of maximal plausibility, a category "0", "1",
      ...;
    - ``adata.obs["credal_set"]``: the cluster that the cell is clearly in or those it
      lies between, "∅" for an outlier, a category;
    - ``adata.obs["credal_doubt"]``: how much is not known, see
      `credalis.CredalPartition.doubt`;
    - ``adata.obs["credal_outlier"]``: whether the cell is unlike all others;
    - ``adata.obsm["credal"]``: the masses, a column for each focal set;
    - ``adata.uns["credal"]``: the names of the focal sets, the method and its settings,
      and what it has read.

    Parameters
    ----------
    adata : anndata.AnnData
        Cells. They may be a view of others, which then becomes a copy.
    n_clusters : int or None, default=None
        Number of clusters; None: that of the estimator, or one that it finds.
    use_rep : str, default="X_pca"
        What cells are described by: a key of ``adata.obsm``, or "X" for the table
        itself, which must be dense.
    key_added : str, default="credal"
        Name of the annotations.
    estimator : estimator of credalis or None, default=None
        The method, which is cloned; None: `credalis.Consensus`.
    neighbors_key : str or None, default=None
        A graph of neighbours in ``adata.obsp`` that has distances, such as "distances"
        of ``scanpy.pp.neighbors``. `credalis.EkNNclus` takes it instead of looking for
        neighbours itself; other methods cannot.
    random_state : int or None, default=0
        Seed, if the estimator has none of its own.

    Returns
    -------
    estimator
        The fitted estimator, which predicts further cells from the same representation.

    Examples
    --------
    ``sc.pp.pca(adata)`` comes first; then

    >>> from credalis.anndata import cluster
    >>> model = cluster(adata, 8)  # doctest: +SKIP
    >>> adata.obs[["credal", "credal_set", "credal_doubt"]]  # doctest: +SKIP
    """
    _check_cells(adata)
    if not isinstance(key_added, str) or not key_added:
        raise ValueError(f"key_added must be a name, got {shown(key_added)}")
    X = _representation(adata, use_rep)
    model = _model(estimator, n_clusters, random_state)
    given: dict[str, Any] = {}
    if neighbors_key is not None:
        given["neighbor_graph"] = _graph(adata, neighbors_key, model)
    model.fit(X, **given)
    _annotate(adata, model, key_added, use_rep, neighbors_key)
    return model


def _check_cells(adata: Any) -> None:
    parts = ("obs", "obsm", "obsp", "uns", "n_obs")
    if not all(hasattr(adata, part) for part in parts):
        raise ValueError(f"adata must be an AnnData object, got {shown(type(adata))}")


def _representation(adata: Any, use_rep: str) -> Any:
    """What the rows of the cells are."""
    if isinstance(use_rep, str) and use_rep == "X":
        if adata.X is None or issparse(adata.X):
            kind = "nothing" if adata.X is None else "a sparse matrix"
            raise ValueError(
                "use_rep must be a key of adata.obsm where adata.X is no dense table, "
                f"it is {kind}: compute principal components first, for example with "
                "scanpy.pp.pca"
            )
        return np.asarray(adata.X)
    if not isinstance(use_rep, str) or use_rep not in adata.obsm:
        known = ", ".join(map(repr, adata.obsm.keys())) or "none"
        raise ValueError(
            f"use_rep must be 'X' or a key of adata.obsm (there are: {known}), got "
            f"{shown(use_rep)}"
        )
    return np.asarray(adata.obsm[use_rep])


def _model(
    estimator: Any, n_clusters: int | None, random_state: int | None
) -> BaseCredalClusterer:
    """The estimator to fit, with these settings."""
    if estimator is None:
        estimator = Consensus()
    if not isinstance(estimator, BaseCredalClusterer):
        raise ValueError(
            f"estimator must be an estimator of credalis, got {shown(estimator)}"
        )
    model = clone(estimator)
    known = model.get_params(deep=False)
    if n_clusters is not None:
        if "n_clusters" not in known:
            raise ValueError(
                f"n_clusters must be None for {type(model).__name__}, which finds it, "
                f"got {shown(n_clusters)}"
            )
        model.set_params(n_clusters=n_clusters)
    if known["random_state"] is None:
        model.set_params(random_state=random_state)
    return model


def _graph(adata: Any, key: str, model: BaseCredalClusterer) -> Any:
    if not isinstance(model, EkNNclus):
        raise ValueError(
            f"neighbors_key must be None for {type(model).__name__}: only EkNNclus "
            "takes a graph of neighbours"
        )
    if not isinstance(key, str) or key not in adata.obsp:
        known = ", ".join(map(repr, adata.obsp.keys())) or "none"
        raise ValueError(
            f"neighbors_key must be a key of adata.obsp (there are: {known}), got "
            f"{shown(key)}"
        )
    return adata.obsp[key]


def _annotate(
    adata: Any,
    model: BaseCredalClusterer,
    key: str,
    use_rep: str,
    neighbors_key: str | None,
) -> None:
    """Write everything, once it is known."""
    partition = model.partition_
    table = partition.to_pandas(index=adata.obs_names)
    names = [str(k) for k in range(partition.n_clusters)]
    labels = table["label"].astype(str).astype("category")
    labels = labels.cat.set_categories(names)
    uns = {
        "focal_sets": np.array(partition.focal_sets.names, dtype=object),
        "method": type(model).__name__,
        # As text: files of cells know no None and no lists of lists.
        "parameters": json.dumps(model.get_params(deep=False), default=repr),
        "use_rep": use_rep,
    }
    if neighbors_key is not None:
        uns["neighbors_key"] = neighbors_key
    adata.obs[key] = labels
    adata.obs[f"{key}_set"] = table["set"].astype("category")
    adata.obs[f"{key}_doubt"] = table["doubt"]
    adata.obs[f"{key}_outlier"] = table["outlier"]
    masses: NDArray[np.float64] = np.array(partition.masses)
    adata.obsm[key] = masses
    adata.uns[key] = uns
