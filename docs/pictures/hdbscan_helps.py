"""Overlapping groups: HDBSCAN calls every third object noise."""

import matplotlib.pyplot as plt
from sklearn.cluster import HDBSCAN

from credalis import NNEVCLUS, CredalPartition
from credalis.datasets import make_four_class
from credalis.plots import CredalPartitionDisplay

X, _ = make_four_class(random_state=0)
labels = HDBSCAN(min_cluster_size=15, copy=True).fit_predict(X)
credal = NNEVCLUS(4, random_state=0).fit(X).partition_
partitions = {
    f"HDBSCAN: {(labels == -1).sum()} of 400 are noise": CredalPartition.from_labels(
        labels
    ),
    f"NNEVCLUS: {credal.is_ambiguous.sum()} between clusters,\n"
    f"{credal.is_outlier.sum()} outliers": credal,
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4.6), sharey=True, layout="constrained")
for ax, (title, partition) in zip(axes, partitions.items(), strict=True):
    display = CredalPartitionDisplay.from_partition(partition, X)
    display.plot(ax=ax, title=title, legend=False)
axes[1].set_ylabel("")
plt.show()
