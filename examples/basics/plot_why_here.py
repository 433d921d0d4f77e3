"""
Why is this object here?
========================

A flower lies between two clusters. Which of its measurements speak for the one, and
which for the other? ``explain`` asks the model what it would say if a measurement were
different, and answers in words, in numbers and with a small decision tree.
"""

# %%
# Three clusters of irises, and the flower in row 77, which is between two of them.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from credalis import Consensus, explain
from credalis.plots import cluster_colors

flowers = load_iris(as_frame=True).data
model = Consensus(3, random_state=0).fit(flowers)
found = explain(model, flowers, [77])
print(found[0])

# %%
# Each bar is how much a measurement moves the plausibility of a cluster, for it to the
# right, against it to the left.
clusters = found[0].clusters
colors = cluster_colors(3)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
partition = model.partition_
left.scatter(
    flowers["petal length (cm)"],
    flowers["petal width (cm)"],
    c=partition.pignistic @ colors,
    s=22,
)
left.scatter(*flowers.iloc[77, 2:], s=220, facecolors="none", edgecolors="black", lw=2)
left.annotate(
    "row 77", flowers.iloc[77, 2:], xytext=(-58, 16), textcoords="offset points"
)
left.set(xlabel="petal length (cm)", ylabel="petal width (cm)")
for offset, cluster in zip((0.2, -0.2), clusters, strict=True):
    weights = {r.feature: r.weight for r in found[0].reasons if r.cluster == cluster}
    positions = np.array([flowers.columns.get_loc(feature) for feature in weights])
    right.barh(
        positions + offset,
        list(weights.values()),
        height=0.38,
        color=colors[cluster],
        label=f"cluster {cluster}",
    )
right.set_yticks(range(4), [f"{c}\n{flowers[c][77]}" for c in flowers.columns])
right.axvline(0, color="black", linewidth=0.8)
right.set_xlabel("change of plausibility")
right.legend()
plt.show()

# %%
# The whole partition as a tree, and how often it comes to the same decision.
print(found.tree)
