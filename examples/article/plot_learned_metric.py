"""
Can a few pairs show which distance matters?
============================================

A round cluster lies inside a ring: objects far apart on the ring belong together, which
no distance-based clustering can know. Fifty pairs of objects that a person has judged
are enough to learn a feature in which the two are apart.
"""

# %%
# The data, and fifty random pairs.
import matplotlib.pyplot as plt
import numpy as np

from credalis import NNEVCLUS
from credalis.constraints import random_pairs
from credalis.datasets import make_circles_in_ring
from credalis.metric_learning import KFDA, KPCCA
from credalis.plots import (
    ConstraintDisplay,
    ContourDisplay,
    DistanceMatrixDisplay,
    FeatureDisplay,
)

X, y = make_circles_in_ring(random_state=0)
must_link, cannot_link = random_pairs(y, 50, random_state=0)
ConstraintDisplay.from_pairs(X, must_link, cannot_link, labels=y).plot()
plt.show()

# %%
# KPCCA finds one feature that keeps must-links together and cannot-links apart. The
# network still sees the attributes themselves; only distances are taken in the learned
# space. The settings are those of the paper.
model = NNEVCLUS(
    2,
    focal_sets="full",
    init="random",
    dissimilarity_quantile=0.9,
    empty_set="stress",
    metric=KPCCA(n_components=1, gamma="median"),
    hidden_layer_sizes=(30,),
    weight_decay=0.01,
    constraint_weight=0.1,
    random_state=0,
)
model.fit(X, must_link=must_link, cannot_link=cannot_link)
FeatureDisplay.from_transformer(model.transformer_, X, y).plot()
plt.show()

# %%
# The distances of all pairs of objects, before and after: within a class they are now
# small.
DistanceMatrixDisplay.from_transformer(model.transformer_, X, y).plot()
plt.show()


# %%
# Plausibilities of the two clusters, and the line where they are equal.
def plot_plausibilities(model, title):
    display = ContourDisplay.from_estimator(model, X, grid_resolution=100)
    display.plot(title=title)
    for ax in display.axes_:
        difference = display.values[0] - display.values[1]
        ax.contour(display.x, display.y, difference, levels=[0], colors="red")


plot_plausibilities(model, "Fifty pairs, KPCCA")
plt.show()

# %%
# The masses behind them.
ContourDisplay.from_estimator(model, X, response="mass", grid_resolution=100).plot()
plt.show()

# %%
# Fifty labelled objects and KFDA do the same.
labels = np.full(len(X), -1)
some = np.random.default_rng(0).choice(len(X), 50, replace=False)
labels[some] = y[some]
model.set_params(metric=KFDA(gamma="median")).fit(X, partial_labels=labels)
plot_plausibilities(model, "Fifty labels, KFDA")
plt.show()
