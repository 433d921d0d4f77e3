"""
NN-EVCLUS: a map from attributes to masses
==========================================

EVCLUS gives masses to the objects that it has seen. NN-EVCLUS trains a network whose
outputs are the masses, with the same loss, so that new objects get theirs without any
further optimisation, and the masses are smooth functions of the attributes. Figures 9
to 13 of the article, with a set drawn like its *fourclass*.
"""

# %%
# A network of 20 hidden units with the settings of the article: random starts, of which
# the best of five is kept, and a one-class support vector machine that moves mass to ∅
# where there are no data.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.svm import OneClassSVM

from credalis import EVCLUS, NNEVCLUS
from credalis.datasets import make_four_class
from credalis.plots import (
    ContourDisplay,
    CredalPartitionDisplay,
    HistoryDisplay,
    ShepardDisplay,
)

X, y = make_four_class(random_state=0)
settings = {
    "focal_sets": "pairs",
    "dissimilarity_quantile": "paper",
    "pairs_per_sample": 100,
    "empty_set": "stress",
    "n_init": 5,
    "random_state": 0,
}
model = NNEVCLUS(
    4,
    init="random",
    hidden_layer_sizes=(20,),
    novelty_detector=OneClassSVM(nu=0.2, gamma=0.2),
    **settings,
).fit(X)

# %%
# Learning curve and Shepard diagram. EVCLUS is free to choose every mass; the loss of
# the network is less than twice as large.
evclus = EVCLUS(4, **settings).fit(X)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2), layout="constrained")
HistoryDisplay.from_estimator(model).plot(ax=left, title="Learning curve")
left.axhline(evclus.loss_, color="black", linestyle="--", label="EVCLUS")
left.set_yscale("log")
left.legend()
ShepardDisplay.from_estimator(model, X).plot(ax=right, title="Shepard diagram")
plt.show()

# %%
# The partition of the 400 objects, and what the same network says of 1000 new ones.
new, _ = make_four_class(1000, random_state=1)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4.4), width_ratios=(3, 4), layout="constrained"
)
CredalPartitionDisplay.from_estimator(model, X, rule="maximum_mass").plot(
    ax=left, title="Clustered", legend=False
)
CredalPartitionDisplay.from_partition(
    model.predict_partition(new), new, rule="maximum_mass"
).plot(ax=right, title="New")
plt.show()

# %%
# Masses as functions of the two attributes: on each cluster, and on the four pairs of
# clusters that have most of it, which are those that touch. Between two clusters, mass
# moves from each of them to both.
sets = model.focal_sets_
is_pair = sets.cardinality == 2
heaviest = np.argsort(-model.partition_.masses.mean(axis=0) * is_pair)[:4]
shown = [*((k,) for k in range(4)), *(sets.subsets[j] for j in sorted(heaviest))]
ContourDisplay.from_estimator(
    model, X, response="mass", focal_set=shown, grid_resolution=80
).plot()
plt.show()

# %%
# Plausibilities of the four clusters.

# sphinx_gallery_thumbnail_number = 4
ContourDisplay.from_estimator(model, X, grid_resolution=80).plot()
plt.show()
