"""
Clusters of time series that run at different speeds
====================================================

Series of the same shape may be shifted or stretched in time, so that their values at
the same moment differ. Dynamic time warping compares them along the best alignment. It
is not a metric, and series have no means: EVCLUS needs nothing but the matrix of
dissimilarities.
"""

# %%
# Series of three shapes, each at a speed of its own, and some that change their shape
# halfway.
import matplotlib.pyplot as plt
import numpy as np

from credalis import EVCLUS

rng = np.random.default_rng(0)
time = np.linspace(0, 1, 40)
shapes = [
    lambda t: np.sin(2 * np.pi * t),
    lambda t: np.where(t < 0.5, -1.0, 1.0),
    lambda t: 1 - 4 * np.abs(t - 0.5),
]
series, kinds = [], []
for kind in np.repeat([0, 1, 2], 20):
    warped = time ** rng.uniform(0.6, 1.6)
    series.append(shapes[kind](warped) + 0.1 * rng.normal(size=40))
    kinds.append(kind)
for _ in range(4):
    half = np.where(time < 0.5, shapes[0](time), shapes[1](time))
    series.append(half + 0.1 * rng.normal(size=40))
    kinds.append(3)
series, kinds = np.array(series), np.array(kinds)


# %%
# Dissimilarities of all pairs, the cheapest paths through the differences, come from
# the package dtaidistance. Where it is not installed, NumPy finds the same ones more
# slowly.
def dynamic_time_warping(series, window=12):
    try:
        from dtaidistance import dtw
    except ImportError:
        return warping_by_hand(series, window)
    return dtw.distance_matrix_fast(series, window=window + 1)


def warping_by_hand(series, window):
    n_series, length = series.shape
    costs = np.full((n_series, n_series, length + 1, length + 1), np.inf)
    costs[..., 0, 0] = 0
    for i in range(length):
        for j in range(max(0, i - window), min(length, i + window + 1)):
            step = np.square(series[:, None, i] - series[None, :, j])
            before = np.minimum(costs[..., i, j], costs[..., i, j + 1])
            costs[..., i + 1, j + 1] = step + np.minimum(before, costs[..., i + 1, j])
    return np.sqrt(costs[..., -1, -1])


matrix = dynamic_time_warping(series)
model = EVCLUS(3, metric="precomputed", random_state=0).fit(matrix)
partition = model.partition_

# %%
# Each cluster with its series; those that are not clear are drawn in thick lines. The
# series that change their shape are among them.
figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), sharey=True, layout="constrained")
for k, ax in enumerate(axes):
    for i in np.flatnonzero(partition.labels == k):
        is_doubtful = not partition.is_clear[i]
        color, width = ("#d5470c", 1.6) if is_doubtful else ("0.65", 0.8)
        ax.plot(time, series[i], color=color, lw=width, zorder=2 + is_doubtful)
    ax.set_title(f"cluster {k}")
    ax.set_xlabel("time")
axes[0].set_ylabel("value")
figure.suptitle(
    "Series in the cluster (grey) and between clusters (thick)", fontsize=11
)
plt.show()
