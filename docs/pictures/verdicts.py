"""The masses of six objects: three clear, two between clusters, one outlier."""

import matplotlib.pyplot as plt
import numpy as np

from credalis import NNEVCLUS
from credalis.datasets import make_four_class
from credalis.plots import MassDisplay

X, _ = make_four_class(random_state=0)
partition = NNEVCLUS(4, random_state=0).fit(X).partition_
by_doubt = np.argsort(partition.doubt)
clear = by_doubt[(partition.is_clear & (partition.outlier_mass < 0.05))[by_doubt]]
between = by_doubt[partition.is_ambiguous[by_doubt]]
outliers = by_doubt[partition.is_outlier[by_doubt]]
chosen = [*clear[[0, 200, -1]], *between[[5, -1]], outliers[-1]]
words = ["clear", "clear", "just clear", "between", "between", "outlier"]
names = [str(i) for i in range(len(X))]
for i, word in zip(chosen, words, strict=True):
    names[i] = f"{word}\n({i})"
display = MassDisplay.from_partition(
    partition, kind="bars", objects=chosen, order=None, object_names=names
)
_, ax = plt.subplots(figsize=(8, 4), layout="constrained")
display.plot(ax=ax, title="Six of the 400 objects")
ax.tick_params(axis="x", rotation=0)
ax.set_xlabel("")
plt.show()
