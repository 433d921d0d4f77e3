"""
The butterfly: doubt and strangeness are different things
=========================================================

Twelve points: two wings of five, one point midway between the wings, and one far away.
A fuzzy partition can say only one thing about the last two: that they are partly in
each wing. In a credal partition, the point between the wings has mass on *both*
clusters, and the one far away has it on *none*. Figure 1 and Table 1 of the article.
"""

# %%
# EVCLUS looks for masses such that two objects conflict the more, the farther apart
# they are. The settings are those of the article, which does not print the scale δ₀ of
# the dissimilarities: 11 gives its table.
import matplotlib.pyplot as plt

from credalis import EVCLUS
from credalis.datasets import load_butterfly
from credalis.plots import CredalPartitionDisplay, MassDisplay

X = load_butterfly().data
model = EVCLUS(
    2,
    focal_sets="full",
    dissimilarity_scale=11,
    empty_set="stress",
    n_init=5,
    tol=1e-10,
    random_state=0,
).fit(X)
partition = model.partition_.relabel([1, 0])
numbers = [str(i) for i in range(1, 13)]

# %%
# The wings, with the number of each object. Filled are the lower approximations, the
# objects whose largest mass is on the cluster alone; dashed the upper ones.
display = CredalPartitionDisplay.from_partition(partition, X, rule="maximum_mass")
_, ax = plt.subplots(figsize=(8.5, 4.8), layout="constrained")
display.plot(ax=ax, title="Butterfly")
display.ax_.set_aspect("equal")
for number, point in zip(numbers, X, strict=True):
    display.ax_.annotate(number, point, xytext=(6, 6), textcoords="offset points")
plt.show()

# %%
# Masses of the twelve objects. Object 6 is between the clusters, object 12 is an
# outlier.
MassDisplay.from_partition(
    partition, kind="bars", order=None, object_names=numbers
).plot(title="Masses")
plt.show()

# %%
# Table 1 of the article: masses on ∅, on each cluster, and on both.
partition.to_pandas().filter(like="m ").round(3).set_axis(numbers)
