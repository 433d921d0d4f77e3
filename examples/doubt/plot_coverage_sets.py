"""
Sets of clusters that hold the right one as often as you ask
============================================================

Masses say how sure a model is, but not how often it is right. After a calibration on
some labelled objects, the model answers with a *set* of clusters for each object, as
small as it can and as large as it must be for the sets to hold the right cluster as
often as you ask.
"""

# %%
# 500 objects are clustered, and the classes of 200 others are known. These also tell
# which class each cluster stands for.
import matplotlib.pyplot as plt
import numpy as np

from credalis import ECM
from credalis.datasets import make_four_class
from credalis.plots import cluster_colors

X, y = make_four_class(3000, random_state=0)
model = ECM(4, random_state=0).fit(X[:500])
model.calibrate(X[500:700], "labels", y[500:700])
clusters = model.predict(X[500:700])
classes = [np.bincount(y[500:700][clusters == k]).argmax() for k in range(4)]
new, right = X[700:], np.argsort(classes)[y[700:]]

# %%
# What the sets look like at a level of 98 %: amid a cluster they have one member, near
# the border of two clusters two, and where all clusters meet, or far from all, more.
sizes = model.predict_sets(new, level=0.98).sum(axis=1)
figure, ax = plt.subplots(figsize=(6, 4.8), layout="constrained")
for size, color in zip(range(1, 5), cluster_colors(4), strict=True):
    rows = sizes == size
    ax.scatter(*new[rows].T, s=9, color=color, label=f"{size}: {rows.mean():.0%}")
ax.set(xlabel="feature 0", ylabel="feature 1", xlim=(-6, 10), ylim=(-6, 10))
ax.set(aspect="equal", title="How many clusters a set holds at level 98 %")
ax.legend(title="clusters in a set", markerscale=2)
plt.show()

# %%
# Is the level kept? Sets grow with the level, and hold the right cluster at least about
# as often as asked. A set is never empty: at low levels it is the most plausible
# cluster alone, which is right more often than was asked for.
levels = np.array([0.8, 0.85, 0.9, 0.95, 0.98])
sets = [model.predict_sets(new, level=level) for level in levels]
covered = [each[np.arange(len(new)), right].mean() for each in sets]
blue, orange, *_ = cluster_colors(2)
figure, (left, ax) = plt.subplots(1, 2, figsize=(8, 3.6), layout="constrained")
left.plot(levels, levels, color="0.6", linestyle="--", label="asked")
left.plot(levels, covered, "o-", color=blue, label="seen")
left.set(xlabel="level", ylabel="share of sets with the right cluster")
left.legend()
ax.plot(levels, [each.sum(axis=1).mean() for each in sets], "o-", color=orange)
ax.set(xlabel="level", ylabel="mean number of clusters in a set", ylim=(0.9, None))
plt.show()
