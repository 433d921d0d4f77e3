"""What a level of 0.95 means: over calibrations, over clusters, and after a drift."""

import matplotlib.pyplot as plt
import numpy as np

from credalis import ECM, NNEVCLUS
from credalis.datasets import make_four_class

rng = np.random.default_rng(0)


def coverage(model, X, clusters):
    """How often a set of level 0.95 holds the right cluster."""
    return model.predict_sets(X, level=0.95)[np.arange(len(X)), clusters]


def calibrated(model, X, y):
    """The model, calibrated with 100 rows drawn at random."""
    rows = rng.choice(len(X), 100, replace=False)
    return model.calibrate(X[rows], "labels", y[rows])


def clusters_of(model, X, y):
    """The cluster of the class of each row: the one that most of its rows are in."""
    classes = range(y.max() + 1)
    return np.array([np.bincount(model.predict(X[y == k])).argmax() for k in classes])[
        y
    ]


X, y = make_four_class(6500, random_state=0)
model = ECM(4, random_state=0).fit(X[:500])
clusters = clusters_of(model, X, y)
rates = [
    coverage(
        calibrated(model, X[500:4500], y[500:4500]), X[4500:], clusters[4500:]
    ).mean()
    for _ in range(80)
]
model.calibrate(X[500:4500], "labels", y[500:4500])
shifts = np.linspace(0, 3, 13)
drifted = [
    coverage(model, X[4500:] + np.array([s, 0]), clusters[4500:]).mean() for s in shifts
]

small = (rng.uniform(size=4500) < 0.2).astype(int)
pair = rng.normal(np.c_[3 * small, 0 * small], np.c_[[1, 2]][small])
network = NNEVCLUS(2, random_state=0).fit(pair[:500])
clusters = clusters_of(network, pair, small)
by_class = []
for _ in range(20):
    calibrated(network, pair[500:2500], small[500:2500])
    covered = coverage(network, pair[2500:], clusters[2500:])
    by_class.append(
        [covered[small[2500:] == k].mean() for k in range(2)] + [covered.mean()]
    )

figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.4), layout="constrained")
axes[0].hist(rates, 15, color="#0069A8", edgecolor="white")
axes[0].axvline(np.mean(rates), color="black", label=f"mean {np.mean(rates):.3f}")
axes[0].axvline(0.95, color="#D5470C", ls="--", label="level")
axes[0].set(xlabel="coverage of new rows", ylabel="calibrations with 100 labels")
axes[0].legend(loc="upper right")
axes[0].set_ylim(0, 16)
axes[0].set_title("On average, not each time", fontsize="medium", loc="left")
axes[1].bar(
    ["large\n(80 %)", "small\n(20 %)", "both"],
    np.mean(by_class, axis=0),
    color="#0069A8",
)
axes[1].axhline(0.95, color="#D5470C", ls="--")
axes[1].set(ylim=(0, 1.05), ylabel="coverage")
axes[1].set_title("Not within each class", fontsize="medium", loc="left")
axes[2].plot(shifts, drifted, color="#0069A8", lw=2)
axes[2].axhline(0.95, color="#D5470C", ls="--")
axes[2].set(xlabel="shift of the new rows", ylabel="coverage", ylim=(0, 1.05))
axes[2].set_title("Not after a drift", fontsize="medium", loc="left")
for ax in axes:
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
