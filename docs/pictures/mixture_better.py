"""Data drawn from a Gaussian mixture: the mixture is the right model."""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.mixture import GaussianMixture

from credalis import ECM, CredalPartition
from credalis.plots import CredalPartitionDisplay

rng = np.random.default_rng(0)
groups = [
    rng.multivariate_normal([0, 0], [[2, 0.9], [0.9, 0.8]], 250),
    rng.multivariate_normal([3.2, 1], [[0.4, 0], [0, 2]], 150),
    rng.multivariate_normal([0, 4], [[1.5, -0.8], [-0.8, 0.9]], 100),
]
X, y = np.vstack(groups), np.repeat([0, 1, 2], [250, 150, 100])


def aligned(partition):
    """The partition with the numbers of the true groups, and its share of errors."""
    counts = np.zeros((3, 3))
    np.add.at(counts, (partition.labels, y), 1)
    partition = partition.relabel(linear_sum_assignment(-counts)[1])
    return partition, (partition.labels != y).mean()


mixture = GaussianMixture(3, n_init=10, random_state=0).fit(X)
partitions = {
    "Gaussian mixture": CredalPartition.from_fuzzy(mixture.predict_proba(X)),
    "ECM": ECM(3, random_state=0).fit(X).partition_,
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), sharey=True, layout="constrained")
for ax, (name, partition) in zip(axes, partitions.items(), strict=True):
    partition, error = aligned(partition)
    display = CredalPartitionDisplay.from_partition(partition, X)
    display.plot(ax=ax, title=f"{name}: {error:.0%} wrong", legend=False)
axes[1].set_ylabel("")
plt.show()
