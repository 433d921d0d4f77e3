"""Bent groups among noise: HDBSCAN finds them, Consensus does not."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_moons

from credalis import Consensus, CredalPartition
from credalis.plots import CredalPartitionDisplay

moons, _ = make_moons(500, noise=0.07, random_state=0)
noise = np.random.default_rng(0).uniform([-1.8, -1.3], [2.8, 1.8], (60, 2))
X = np.vstack([moons, noise])
labels = HDBSCAN(min_cluster_size=20, copy=True).fit_predict(X)
partitions = {
    "HDBSCAN": CredalPartition.from_labels(labels),
    "Consensus": Consensus(2, random_state=0).fit(X).partition_,
}
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
for ax, (title, partition) in zip(axes, partitions.items(), strict=True):
    display = CredalPartitionDisplay.from_partition(partition, X)
    display.plot(ax=ax, title=title, legend=False, hulls=False)
axes[1].set_ylabel("")
plt.show()
