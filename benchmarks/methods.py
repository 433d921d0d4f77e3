"""One fit by each method: the seconds in the table of all methods."""

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

import credalis
from benchmarks.harness import compare
from credalis._listing import class_names

N_ROWS, N_COLUMNS, N_CLUSTERS = 1000, 5, 5


def run():
    X, _ = make_blobs(N_ROWS, N_COLUMNS, centers=N_CLUSTERS, random_state=0)
    return [
        compare(
            name,
            fit_of(name, X),
            "k-means, 10 starts",
            lambda: KMeans(N_CLUSTERS, n_init=10, random_state=0).fit(X),
            repeats=2,
        )
        for name in class_names()
    ]


def fit_of(name, X):
    """A fit with the defaults, of the rows in the form that the method asks for."""
    settings, data = {"n_clusters": N_CLUSTERS, "random_state": 0}, X
    if name == "EkNNclus":
        # It finds the number of clusters itself.
        del settings["n_clusters"]
    elif name == "CatECM":
        data = np.floor(X / 4).astype(int).astype(str)
    elif name in ("MultiviewECMdd", "WMVEC"):
        data = {"first": X[:, :3], "second": X[:, 3:]}
    elif name == "TECM":
        settings["source_centers"] = X[:N_CLUSTERS]

    def fit():
        with warnings.catch_warnings():
            # About formulas that could not be confirmed, not about time.
            warnings.simplefilter("ignore")
            getattr(credalis, name)(**settings).fit(data)

    return fit
