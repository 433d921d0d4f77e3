"""
A table with words, numbers and gaps
====================================

Real tables have columns of several kinds, and cells that nobody filled in. With
Gower's dissimilarity, numbers count by their difference, words by whether they are the
same, and a missing cell leaves its column out of the comparison: nothing has to be
encoded or imputed.
"""

# %%
# A made-up survey of birds: three kinds on three islands, with a tenth of the cells
# missing.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from credalis import EVCLUS
from credalis.plots import cluster_colors

rng = np.random.default_rng(0)
kind = np.repeat([0, 1, 2], 60)
islands = np.array(["North", "South", "West"])
habits = np.array([[0.7, 0.2, 0.1], [0.1, 0.9, 0.0], [0.0, 0.1, 0.9]])
plumage = np.array([["black", "black", "grey"], ["grey", "brown", "brown"]])
table = pd.DataFrame(
    {
        "bill": rng.normal(np.array([38, 48, 46])[kind], 2.2).round(1),
        "flipper": rng.normal(np.array([187, 197, 217])[kind], 5.5).round(),
        "island": [rng.choice(islands, p=habits[k]) for k in kind],
        "plumage": plumage[rng.integers(0, 2, 180), kind],
        "ringed": rng.random(180) < 0.5,
    }
)
table = table.mask(rng.random(table.shape) < 0.1)
table.head()

# %%
# The estimator takes the frame as it is, and says what it has made of the columns.
model = EVCLUS(3, metric="gower", random_state=0).fit(table)
partition = model.partition_
print(*model.decisions_, sep="\n")
agreement = adjusted_rand_score(kind, model.labels_)
print(f"adjusted Rand index with the kinds: {agreement:.2f}")

# %%
# Birds whose two measurements are known, in colours mixed by their probabilities, and
# the islands on which the birds of each cluster were seen.
colors = cluster_colors(3)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4.2), width_ratios=(3, 2), layout="constrained"
)
left.scatter(table["bill"], table["flipper"], c=partition.pignistic @ colors, s=30)
unclear = table[~partition.is_clear]
left.scatter(
    unclear["bill"], unclear["flipper"], s=110, fc="none", ec="black", label="not clear"
)
left.set(xlabel="length of the bill (mm)", ylabel="length of the flipper (mm)")
left.legend()
shares = pd.crosstab(table["island"], model.labels_, normalize="columns")
shares.T.plot.barh(
    ax=right, stacked=True, color=["0.3", "0.6", "0.85"], edgecolor="white"
)
right.set(xlabel="share of the birds", ylabel="cluster")
for tick, color in zip(right.get_yticklabels(), colors, strict=True):
    tick.set(color=color, fontweight="bold", fontsize=14)
right.legend(title="island", loc="upper center", bbox_to_anchor=(0.5, 1.22), ncols=3)
plt.show()
