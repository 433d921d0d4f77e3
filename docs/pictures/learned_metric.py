"""A ring around a cluster, without and with a metric learned from fifty pairs."""

import matplotlib.pyplot as plt

from credalis import NNEVCLUS
from credalis.constraints import random_pairs
from credalis.datasets import make_circles_in_ring
from credalis.metric_learning import KPCCA
from credalis.plots import CredalPartitionDisplay

X, y = make_circles_in_ring(random_state=0)
must_link, cannot_link = random_pairs(y, 50, random_state=0)
plain = NNEVCLUS(2, random_state=0).fit(X)
learned = NNEVCLUS(
    2,
    metric=KPCCA(n_components=1, gamma="median"),
    weight_decay=0.01,
    constraint_weight=0.1,
    random_state=0,
).fit(X, must_link=must_link, cannot_link=cannot_link)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), sharey=True, layout="constrained")
for ax, model, title in zip(
    axes, (plain, learned), ("Distances as they are", "Fifty pairs, KPCCA"), strict=True
):
    display = CredalPartitionDisplay.from_partition(model.partition_, X)
    display.plot(ax=ax, title=title, legend=False, hulls=False)
axes[1].set_ylabel("")
plt.show()
