"""
Outliers at a rate that you choose
==================================

"Outlier" should mean something that can be checked. Each object gets a p-value, its
rank among the training objects by how far it is from its neighbours. Of ordinary new
objects, one in a hundred has a p-value of at most 0.01. So you choose the rate of false
alarms, instead of finding out about it.
"""

# %%
# The model is fitted to ordinary objects. Of 1000 new ones, every twentieth comes from
# somewhere else.
import matplotlib.pyplot as plt
import numpy as np

from credalis import ECM
from credalis.datasets import make_four_class
from credalis.plots import cluster_colors


def draw(seed):
    """Objects to fit, new ones, and which of these are from somewhere else."""
    X, _ = make_four_class(500, df=30, random_state=2 * seed)
    new, _ = make_four_class(1000, df=30, random_state=2 * seed + 1)
    is_strange = np.arange(1000) % 20 == 0
    new[is_strange] = np.random.default_rng(seed).uniform(-8, 12, size=(50, 2))
    return X, new, is_strange


X, new, is_strange = draw(0)
model = ECM(4, random_state=0).fit(X)

# %%
# A higher rate finds more of the strange objects, those beside a cluster, at the price
# of more false alarms. An object from somewhere else that falls amid a cluster is found
# by nobody.
blue, orange, *_ = cluster_colors(2)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.8), sharey=True, layout="constrained")
for ax, rate in zip(axes, (0.01, 0.05), strict=True):
    flagged = model.flag_outliers(new, rate=rate)
    ax.scatter(*new[~is_strange].T, s=8, color="0.75", label="ordinary")
    ax.scatter(*new[is_strange].T, s=22, color=orange, label="from somewhere else")
    ax.scatter(*new[flagged].T, s=60, ec=blue, fc="none", lw=1.3, label="flagged")
    ax.set(xlabel="feature 0", aspect="equal")
    ax.set_title(
        f"rate={rate}: {flagged[is_strange].sum()} of 50 found,\n"
        f"{flagged[~is_strange].mean():.1%} of ordinary objects flagged"
    )
axes[0].set_ylabel("feature 1")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
plt.show()

# %%
# Is the rate kept? Each point is a new training set with new objects. On average they
# are near the line; a single training set may lead to half or to more than twice as
# many false alarms. To choose the share of false ones among the alarms instead, ask for
# ``fdr=``.
rates = [0.01, 0.02, 0.05, 0.1]
seen = []
for seed in range(20):
    X, new, is_strange = draw(seed)
    p_values = ECM(4, random_state=0).fit(X).outlier_p_values(new[~is_strange])
    seen.append([(p_values <= rate).mean() for rate in rates])
figure, ax = plt.subplots(figsize=(5, 4), layout="constrained")
ax.plot(rates, rates, color="0.6", linestyle="--", label="asked for")
for shares in seen:
    ax.plot(rates, shares, "o", color=blue, alpha=0.25, markersize=5)
ax.plot(rates, np.mean(seen, axis=0), "s", color=orange, label="mean of 20 draws")
ax.set(xlabel="rate", ylabel="share of ordinary objects flagged")
ax.legend()
plt.show()
