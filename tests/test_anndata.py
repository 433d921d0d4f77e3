"""Cells of AnnData objects: what is read, and what is written."""

import json

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from credalis import ECM, EkNNclus
from credalis.anndata import cluster

anndata = pytest.importorskip(
    "anndata", reason="AnnData is not installed: pip install credalis[anndata]"
)

# What AnnData does with the newest pandas.
pytestmark = pytest.mark.filterwarnings("ignore:The 'future.infer_string' option")


def simulated_cells(n_cells, n_genes=40, n_types=4):
    """Counts of genes in cells of some types, and their principal components."""
    rng = np.random.default_rng(0)
    types = rng.integers(n_types, size=n_cells)
    rates = np.exp(rng.normal(size=(n_types, n_genes)))
    depth = rng.uniform(1, 3, size=(n_cells, 1))
    counts = rng.poisson(rates[types] * depth)
    # Two cells in one droplet.
    counts[:5] = rng.poisson((rates[0] + rates[1]) * depth[:5])
    adata = anndata.AnnData(counts.astype(np.float32))
    adata.obs_names = [f"cell {i}" for i in range(n_cells)]
    logs = np.log1p(1000 * counts / counts.sum(axis=1, keepdims=True))
    adata.obsm["X_pca"] = PCA(10, random_state=0).fit_transform(logs)
    return adata, types


def test_cells_are_annotated():
    adata, types = simulated_cells(3000)
    model = cluster(adata, 4)
    obs = adata.obs
    assert adjusted_rand_score(types, obs["credal"]) > 0.95
    assert obs["credal"].cat.categories.tolist() == ["0", "1", "2", "3"]
    np.testing.assert_array_equal(obs["credal"].astype(int), model.labels_)
    np.testing.assert_array_equal(obs["credal_doubt"], model.partition_.doubt)
    np.testing.assert_array_equal(obs["credal_outlier"], model.partition_.is_outlier)
    np.testing.assert_array_equal(adata.obsm["credal"], model.partition_.masses)
    np.testing.assert_array_equal(obs["credal_set"] == "∅", model.partition_.is_outlier)
    # Droplets of two cells are not ordinary ones.
    doubt = obs["credal_doubt"].to_numpy()
    assert doubt[:5].mean() > 5 * doubt[5:].mean()


def test_any_method_any_name_and_a_file(tmp_path):
    adata, types = simulated_cells(300)
    model = cluster(adata, 4, estimator=ECM(alpha=2.0), key_added="ecm")
    assert type(model) is ECM
    assert model.get_params()["random_state"] == 0
    uns = adata.uns["ecm"]
    assert uns["method"] == "ECM"
    assert uns["use_rep"] == "X_pca"
    assert json.loads(uns["parameters"])["alpha"] == 2.0
    assert list(uns["focal_sets"]) == list(model.focal_sets_.names)
    assert adjusted_rand_score(types, adata.obs["ecm"]) > 0.9
    # New cells.
    assert model.predict(adata.obsm["X_pca"][:3]).shape == (3,)
    with anndata.settings.override(allow_write_nullable_strings=True):
        adata.write_h5ad(tmp_path / "cells.h5ad")
        read = anndata.read_h5ad(tmp_path / "cells.h5ad")
    assert read.obs["ecm"].tolist() == adata.obs["ecm"].tolist()
    assert read.uns["ecm"]["parameters"] == uns["parameters"]
    np.testing.assert_array_equal(read.obsm["ecm"], adata.obsm["ecm"])


def test_a_stored_graph_of_neighbours_is_used():
    adata, types = simulated_cells(300)
    X = adata.obsm["X_pca"]
    adata.obsp["distances"] = kneighbors_graph(X, 40, mode="distance")
    model = cluster(adata, estimator=EkNNclus(), neighbors_key="distances")
    assert model.n_neighbors_ == 40
    assert adata.uns["credal"]["neighbors_key"] == "distances"
    assert adjusted_rand_score(types, adata.obs["credal"]) > 0.9
    found = EkNNclus(n_neighbors=40, random_state=0).fit(X)
    np.testing.assert_array_equal(found.labels_, model.labels_)


def test_the_table_itself_and_a_view_of_some_cells():
    adata, _ = simulated_cells(200)
    some = adata[50:150].copy()
    model = cluster(some, 4, use_rep="X", estimator=ECM())
    assert model.n_features_in_ == 40
    assert len(some.obs["credal"]) == 100
    assert "credal" not in adata.obs


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"use_rep": np.array([1, 2])}, r"use_rep must be 'X' or a key .*\[1, 2\]"),
        ({"use_rep": "X_umap"}, r"use_rep must be 'X' or a key .*'X_pca'.* 'X_umap'"),
        ({"key_added": ""}, r"key_added must be a name, got ''"),
        ({"estimator": "ECM"}, r"estimator must be an estimator of credalis"),
        ({"estimator": EkNNclus()}, r"n_clusters must be None for EkNNclus"),
        ({"neighbors_key": "distances"}, r"neighbors_key must be None for Consensus"),
        (
            {
                "neighbors_key": "distances",
                "estimator": EkNNclus(),
                "n_clusters": None,
            },
            r"neighbors_key must be a key of adata.obsp",
        ),
    ],
)
def test_bad_calls_are_named_and_write_nothing(given, message):
    adata, _ = simulated_cells(20)
    with pytest.raises(ValueError, match=message):
        cluster(adata, **{"n_clusters": 2, **given})
    assert adata.obs.columns.empty
    assert not adata.uns
    with pytest.raises(ValueError, match="adata must be an AnnData object"):
        cluster(np.eye(3), 2)


def test_sparse_counts_need_another_representation():
    from scipy.sparse import csr_matrix

    adata, _ = simulated_cells(20)
    adata.X = csr_matrix(adata.X)
    with pytest.raises(ValueError, match=r"use_rep must .* a sparse matrix"):
        cluster(adata, 2, use_rep="X")
