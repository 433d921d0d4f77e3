"""A few nearest neighbours, all objects compared, against scikit-learn's search."""

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.neighbors import NearestNeighbors

from benchmarks.harness import compare
from credalis._neighbors import NeighborSearch

# As many as p-values of novelty ask for, of points among the references they keep.
N_NEIGHBORS, N_POINTS, N_REFERENCES = 6, 100_000, 2000


def run():
    return [
        searched("no clusters", normal(10)),
        searched("10 clusters", clustered(10)),
        searched("numbers 0, 1, 2", grid(10)),
        searched("no clusters", normal(50)),
        searched("no clusters", normal(200), n_points=10_000),
        searched("no clusters", normal(10), n_points=100),
        searched("no clusters", normal(10), n_references=200),
        searched("no clusters", normal(10), n_neighbors=50, n_points=10_000),
        searched("no clusters", normal(10, 20_000), n_references=10_000),
    ]


def normal(n_features, n_rows=N_POINTS):
    return np.random.default_rng(0).normal(size=(n_rows, n_features))


def clustered(n_features):
    return make_blobs(N_POINTS, n_features=n_features, centers=10, random_state=0)[0]


def grid(n_features):
    shape = (N_POINTS, n_features)
    return np.random.default_rng(0).integers(3, size=shape).astype(float)


def searched(
    name,
    X,
    *,
    n_neighbors=N_NEIGHBORS,
    n_points=N_POINTS,
    n_references=N_REFERENCES,
):
    """Our search, made ready and asked once, and that of scikit-learn."""
    points = X[:n_points]
    references = X[:: len(X) // n_references][:n_references]
    baseline = NearestNeighbors(algorithm="brute")

    def ours():
        search = NeighborSearch(references, "euclidean", max_tree_features=0)
        return search.query(points, n_neighbors)[1]

    def theirs():
        return baseline.fit(references).kneighbors(points, n_neighbors)[0]

    # Theirs are products, of which the digits of small distances are lost.
    np.testing.assert_allclose(ours(), theirs(), atol=1e-6)
    return compare(
        f"{n_neighbors} neighbours of {len(points)} points among {n_references}, "
        f"d={X.shape[1]}, {name}",
        ours,
        "scikit-learn's brute force",
        theirs,
        repeats=3,
        baseline_repeats=3,
    )
