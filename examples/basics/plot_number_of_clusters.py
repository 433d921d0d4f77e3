"""
How many clusters, and are there any?
=====================================

A method finds as many clusters as you ask for, even where there are none. So there are
two questions: is there anything to divide, and into how many parts? A test answers the
first, and it can say no. Several criteria answer the second; they may disagree, and
then they say so.
"""

# %%
# One of the two sets is a single cloud, the other has four groups with heavy tails.
# ``suggest_n_clusters`` looks for gaps between groups in one half of the rows and has
# to find them again in the other half. If there are none, the answer is 1, with a
# warning.
import warnings

import matplotlib.pyplot as plt
import numpy as np

from credalis import ECM
from credalis.datasets import make_four_class
from credalis.exceptions import NoClustersWarning
from credalis.model_selection import select_n_clusters, suggest_n_clusters
from credalis.plots import SelectionDisplay

warnings.simplefilter("ignore", NoClustersWarning)
groups, _ = make_four_class(400, random_state=0)
cloud = np.random.default_rng(0).normal(2, 1.6, size=(400, 2))
figure, axes = plt.subplots(1, 2, figsize=(8, 4.2), layout="constrained")
for ax, X in zip(axes, (cloud, groups), strict=True):
    suggestion = suggest_n_clusters(X, range(2, 7), random_state=0)
    ax.scatter(*X.T, s=12, color="#0069a8")
    ax.set(xlabel="feature 0", ylabel="feature 1", aspect="equal")
    ax.set_title(
        f"suggested: {suggestion.best} (no gaps: p = {suggestion.p_value:.2g})"
    )
    print(suggestion.reason)
plt.show()

# %%
# For a method of your choice, other criteria look at fits with two to six clusters, and
# each says what it prefers: belief peaks (objects that stand out as centres), stability
# (clusters come back in other samples) and nonspecificity (masses on small sets). Here
# they do not agree, which is worth knowing.
selection = select_n_clusters(
    ECM(focal_sets="full", empty_set="noise"),
    groups,
    range(2, 7),
    n_resamples=3,
    random_state=0,
)
SelectionDisplay.from_selection(selection).plot()
plt.show()
