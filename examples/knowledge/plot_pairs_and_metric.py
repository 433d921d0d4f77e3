"""
What are fifty pairs worth, and what is a learned metric?
=========================================================

Somebody has judged some pairs of flowers: same species, or not. The pairs can enter the
loss, where they concern the flowers in them and through these the others; or they can
teach a metric, which concerns all alike. The constrained clustering of iris in the
article.
"""

# %%
# For each number of pairs, two random draws. ``PCCA`` learns a linear map that keeps
# must-links together and cannot-links apart; the methods then see its three features.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from credalis import CECM, EVCLUS
from credalis.constraints import random_pairs
from credalis.metric_learning import PCCA
from credalis.metrics import adjusted_rand_index
from credalis.plots import cluster_colors

X, y = load_iris(return_X_y=True)
evclus = EVCLUS(3, dissimilarity_quantile=0.5, empty_set="stress", random_state=0)
methods = {"CEVCLUS": evclus, "CECM": CECM(3, random_state=0)}


def agreement(model, n_pairs, draw, learns_metric):
    must, cannot = random_pairs(y, n_pairs, random_state=draw)
    pairs = {"must_link": must, "cannot_link": cannot}
    if learns_metric:
        features = PCCA(3, random_state=draw).fit(X, **pairs).transform(X)
    else:
        features = X
    return adjusted_rand_index(y, model.fit(features, **pairs).labels_)


# %%
# Points are draws, lines are their means. With few pairs the learned metric is worth
# most; with hundreds, the methods know nearly as much without it.
numbers = [50, 100, 200]
figure, axes = plt.subplots(1, 2, figsize=(8, 3.8), sharey=True, layout="constrained")
blue, orange, *_ = cluster_colors(2)
for ax, (name, model) in zip(axes, methods.items(), strict=True):
    for learns_metric, color, style, label in (
        (True, blue, "o-", "metric learned by PCCA"),
        (False, orange, "s--", "given distances"),
    ):
        found = np.array(
            [[agreement(model, n, k, learns_metric) for k in range(2)] for n in numbers]
        )
        ax.plot(numbers, found.mean(axis=1), style, color=color, label=label)
        ax.plot(numbers, found, ".", color=color, alpha=0.5)
    ax.set(title=name, xlabel="number of pairs", xticks=numbers)
axes[0].set_ylabel("adjusted Rand index")
axes[0].legend(loc="lower right", fontsize="small")
plt.show()
