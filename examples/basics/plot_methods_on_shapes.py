"""
Which method finds which shape?
===============================

Six sets of points in the plane, eight methods. Colours are mixed as the evidence is: an
object in a pure colour is clear, one in a blend lies between clusters, and a cross is
an outlier. No method finds every shape, and in the last row there is nothing to find.
At the lower left of each panel is the time of the fit in seconds of one processor.
"""

# %%
# The sets are those of scikit-learn's comparison of clusterings. All methods have their
# defaults; EkNNclus chooses the number of clusters itself.
import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.preprocessing import StandardScaler

from credalis import (
    BPEC,
    ECM,
    EGMM,
    EVCLUS,
    NNEVCLUS,
    Consensus,
    CredalPartition,
    EkNNclus,
)
from credalis.exceptions import NoClustersWarning
from credalis.plots import cluster_colors

n = 200
sets = {
    "circles": (make_circles(n, factor=0.5, noise=0.05, random_state=30)[0], 2),
    "moons": (make_moons(n, noise=0.05, random_state=30)[0], 2),
    "spreads": (make_blobs(n, cluster_std=[1, 2.5, 0.5], random_state=170)[0], 3),
    "slanted": (make_blobs(n, random_state=170)[0] @ [[0.6, -0.6], [-0.4, 0.8]], 3),
    "blobs": (make_blobs(n, random_state=8)[0], 3),
    "nothing": (np.random.default_rng(30).random((n, 2)), 3),
}
methods = [
    lambda c: KMeans(c, random_state=0),
    lambda c: ECM(c, random_state=0),
    lambda c: BPEC(c),
    lambda c: EGMM(c, random_state=0),
    lambda c: EVCLUS(c, random_state=0),
    lambda c: NNEVCLUS(c, random_state=0),
    lambda c: EkNNclus(random_state=0),
    lambda c: Consensus(c, random_state=0),
]


# %%
# Probabilities mix the colours, and clusters get theirs from left to right. Labels, as
# those of k-means, are a partition without any doubt. ``Consensus`` alone tests whether
# there are gaps between groups. It warns of the last row, and of the circles too: in
# 200 points, the gap between them is not clear enough for the test.
def draw(ax, X, partition, seconds):
    probabilities = partition.pignistic
    positions = probabilities.T @ X[:, 0] / probabilities.sum(axis=0)
    colors = cluster_colors(partition.n_clusters)[positions.argsort().argsort()]
    inside = ~partition.is_outlier
    ax.scatter(*X[inside].T, c=(probabilities @ colors)[inside], s=8)
    ax.scatter(*X[~inside].T, c="black", marker="x", s=16, linewidths=1)
    ax.text(0.03, 0.03, f"{seconds:.2f}", transform=ax.transAxes)
    ax.set(xticks=[], yticks=[], xlim=(-2.6, 2.6), ylim=(-2.6, 2.6), aspect="equal")


figure, axes = plt.subplots(
    len(sets), len(methods), figsize=(11, 8.5), layout="constrained"
)
for row, (name, (X, n_clusters)) in zip(axes, sets.items(), strict=True):
    X = StandardScaler().fit_transform(X)
    for ax, make in zip(row, methods, strict=True):
        start = time.process_time()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", NoClustersWarning)
            model = make(n_clusters).fit(X)
        seconds = time.process_time() - start
        for each in told:
            print(f"{name}: {each.message}")
        if isinstance(model, KMeans):
            partition = CredalPartition.from_labels(model.labels_)
        else:
            partition = model.partition_
        draw(ax, X, partition, seconds)
        ax.set_title(type(model).__name__ if name == "circles" else None)
    row[0].set_ylabel(name, fontsize=12)
plt.show()
