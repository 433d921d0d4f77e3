"""Overlapping groups: where the wrong labels are, and whether a method says so."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans

from credalis import NNEVCLUS, CredalPartition
from credalis.datasets import make_four_class
from credalis.plots import CredalPartitionDisplay

X, y = make_four_class(random_state=0)


def aligned(partition):
    """The partition with the numbers of the true groups, and its wrong objects."""
    counts = np.zeros((4, 4))
    np.add.at(counts, (partition.labels, y), 1)
    partition = partition.relabel(linear_sum_assignment(-counts)[1])
    return partition, partition.labels != y


hard, hard_wrong = aligned(
    CredalPartition.from_labels(KMeans(4, n_init=10, random_state=0).fit_predict(X))
)
credal, credal_wrong = aligned(NNEVCLUS(4, random_state=0).fit(X).partition_)
clear = credal.is_clear
titles = [
    f"k-means: {hard_wrong.sum()} of 400 are wrong,\nand nothing tells them apart",
    f"NNEVCLUS: {credal_wrong.sum()} are wrong, but only\n"
    f"{(credal_wrong & clear).sum()} of the {clear.sum()} that it calls clear",
]

figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), sharey=True, layout="constrained")
for ax, partition, wrong, title in zip(
    axes, (hard, credal), (hard_wrong, credal_wrong), titles, strict=True
):
    display = CredalPartitionDisplay.from_partition(partition, X)
    display.plot(ax=ax, title=title, legend=False, hulls=False)
    ax.plot(*X[wrong].T, "o", mfc="none", mec="red", ms=9, mew=1, label="wrong label")
axes[0].legend(loc="upper left")
axes[1].set_ylabel("")
plt.show()
