"""
How many clusters are there?
============================

Several criteria look at fits with two to six clusters, and each says what it prefers.
"""

# %%
# Four overlapping groups with heavy tails.
import matplotlib.pyplot as plt

from credalis import ECM
from credalis.datasets import make_four_class
from credalis.model_selection import select_n_clusters
from credalis.plots import SelectionDisplay

X, _ = make_four_class(300, random_state=0)
selection = select_n_clusters(
    ECM(focal_sets="full", empty_set="noise"), X, range(2, 7), random_state=0
)

# %%
# The curves, the numbers that the criteria prefer, and the suggestion with its reason.
SelectionDisplay.from_selection(selection).plot()
plt.show()
