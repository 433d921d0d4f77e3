"""
The δ-Bel graph: which objects could be centres?
================================================

A cluster centre has many near neighbours, and is far from any object that has more of
them. The δ-Bel graph shows the one against the other for every object: centres are at
the upper right. It suggests the number of clusters, and where to start. Figure 7 of the
article.
"""

# %%
# 50 neighbours and q = 0.9, as in the article. Four objects stand out.
import matplotlib.pyplot as plt

from credalis import NNEVCLUS
from credalis.datasets import make_four_class
from credalis.peaks import delta_bel
from credalis.plots import CredalPartitionDisplay, DeltaBelDisplay

X, y = make_four_class(random_state=0)
graph = delta_bel(X, n_neighbors=50, quantile=0.9)
DeltaBelDisplay.from_delta_bel(graph, n_clusters=4).plot(title="δ-Bel graph")
plt.show()

# %%
# Where these four objects are, and what a network finds that starts from them.
centers = graph.suggest(4)
print("suggested number of clusters:", len(graph.suggest()))
model = NNEVCLUS(4, init="peaks", random_state=0).fit(X)
display = CredalPartitionDisplay.from_partition(model.partition_, X, centers=X[centers])
display.plot(title="Peaks, and the partition that starts from them")
display.ax_.set_aspect("equal")
plt.show()
