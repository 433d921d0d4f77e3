"""Groups far apart: k-means and Consensus say the same."""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from credalis import Consensus, CredalPartition
from credalis.plots import CredalPartitionDisplay

X, y = make_blobs(600, centers=4, cluster_std=0.8, random_state=3)
hard = CredalPartition.from_labels(KMeans(4, random_state=0).fit_predict(X))
credal = Consensus(4, random_state=0).fit(X).partition_

figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True, layout="constrained")
for ax, partition, name in zip(
    axes, (hard, credal), ("k-means", "Consensus"), strict=True
):
    right = adjusted_rand_score(y, partition.labels)
    display = CredalPartitionDisplay.from_partition(partition, X)
    display.plot(ax=ax, title=f"{name}: adjusted Rand index {right:.2f}", legend=False)
axes[1].set_ylabel("")
plt.show()
