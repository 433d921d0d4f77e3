"""
A first look: clear, between, or none of them
=============================================

Four groups overlap, and some objects lie far from all of them. A clustering that gives
each object one cluster hides both. Here every object gets a *mass function*, evidence
spread over sets of clusters, and the result can say "cluster 2", "2 or 3, cannot tell",
or "none of them".
"""

# %%
# The data are four groups with heavy tails. :class:`~credalis.Consensus` asks several
# different clustering methods and takes as evidence how far they agree. The summary
# counts the objects that are clear, between clusters, and outliers.
import matplotlib.pyplot as plt
from sklearn.cluster import KMeans

from credalis import Consensus, CredalPartition
from credalis.datasets import make_four_class
from credalis.plots import CredalPartitionDisplay, MassDisplay

X, y = make_four_class(random_state=0)
model = Consensus(n_clusters=4, random_state=0).fit(X)
partition = model.partition_
print(partition.summary())

# %%
# Beside it, what k-means says: each object is in one cluster, and all count alike. On
# the right, solid outlines hold the objects that are clearly in a cluster, dashed ones
# those that may be, and rings are around outliers.
centers = [X[partition.labels == k].mean(axis=0) for k in range(4)]
hard = CredalPartition.from_labels(KMeans(4, init=centers).fit_predict(X))
figure, (left, right) = plt.subplots(
    *(1, 2), figsize=(10, 4.4), sharex=True, sharey=True, layout="constrained"
)
CredalPartitionDisplay.from_partition(hard, X).plot(
    ax=left, title="k-means", legend=False
)
CredalPartitionDisplay.from_partition(partition, X).plot(ax=right, title="Consensus")
left.set_aspect("equal")
right.set_aspect("equal")
plt.show()

# %%
# Everything that is said about each object is one table. Here are its first columns;
# the masses follow.
partition.to_pandas().iloc[:5, :9].round(3)

# %%
# New objects get masses, too: one amid a cluster, one between two clusters, one between
# all four, and one far away.
new = [[0, 0], [2, 0], [2, 2], [15, 15]]
names = ["amid a cluster", "between two", "between all", "far away"]
MassDisplay.from_partition(
    model.predict_partition(new), kind="bars", order=None, object_names=names
).plot(title="Masses of four new objects")
plt.show()
