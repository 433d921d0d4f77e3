"""
Which questions are worth asking?
=================================

A person can be asked whether two objects belong together. Each answer costs time, so
that one should ask about pairs that the partition cannot judge. ``suggest_pairs``
chooses them, and arranges them so that answers can be combined. How much better is this
than asking about random pairs?
"""

# %%
# Irises, whose species play the part of the person. After every ten answers, what they
# imply is worked out and the flowers are clustered again.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris

from credalis import CECM
from credalis.constraints import closure, random_pairs, suggest_pairs
from credalis.metrics import adjusted_rand_index
from credalis.plots import ConstraintDisplay, cluster_colors

X, y = load_iris(return_X_y=True)


def split(pairs):
    """Answers to the questions: pairs that must and that cannot be linked."""
    is_same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return pairs[is_same], pairs[~is_same]


def fit(pairs):
    must, cannot = closure(*split(pairs), len(X))
    model = CECM(3, alpha=2, random_state=0)
    return model.fit(X, must_link=must, cannot_link=cannot).partition_


def agreements(seed, is_guided, n_rounds=6):
    rng = np.random.RandomState(seed)
    pairs = np.empty((0, 2), dtype=int)
    partition = fit(pairs)
    found = [adjusted_rand_index(y, partition.labels)]
    for _ in range(n_rounds):
        if is_guided:
            must, cannot = split(pairs)
            new = suggest_pairs(
                partition, 10, must_link=must, cannot_link=cannot, random_state=rng
            )
        else:
            new = np.concatenate(random_pairs(y, 10, random_state=rng))
        pairs = np.concatenate([pairs, new])
        partition = fit(pairs)
        found.append(adjusted_rand_index(y, partition.labels))
    return found, pairs


# %%
# Thin lines are single runs, thick ones their means.
answers = 10 * np.arange(7)
blue, orange, *_ = cluster_colors(2)
figure, ax = plt.subplots(figsize=(6, 4.2), layout="constrained")
for is_guided, color, style, name in (
    (True, blue, "o-", "suggested pairs"),
    (False, orange, "s--", "random pairs"),
):
    runs = [agreements(seed, is_guided)[0] for seed in range(3)]
    ax.plot(answers, np.transpose(runs), color=color, alpha=0.3, linewidth=0.9)
    ax.plot(answers, np.mean(runs, axis=0), style, color=color, lw=2.2, label=name)
ax.set(xlabel="answers", ylabel="adjusted Rand index with the species")
ax.legend(loc="lower right")
plt.show()

# %%
# Sixty suggested pairs. Each cluster has an anchor, with which doubtful flowers are
# compared, so that answers also tell how these relate to each other.
_, pairs = agreements(0, is_guided=True)
must, cannot = split(pairs)
ConstraintDisplay.from_pairs(X, must, cannot, labels=y).plot(title="What was asked")
plt.show()
