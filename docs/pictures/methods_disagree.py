"""Three tables, four methods each: where they agree, and where not."""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from credalis import BPEC, ECM, EGMM, Consensus
from credalis.plots import CredalPartitionDisplay

rng = np.random.default_rng(0)
even, uneven = np.repeat([0, 1], 120), np.repeat([0, 1], [300, 30])
tables = {
    "round": (rng.normal(np.c_[3.2 * even, 0 * even], 1), even),
    "long": (rng.normal(np.c_[0 * even, 3.2 * even], [5, 0.6]), even),
    "wide and narrow": (
        rng.normal(np.c_[7 * uneven, 0 * uneven], np.c_[[2.2, 0.5]][uneven]),
        uneven,
    ),
}
methods = {
    "ECM": ECM(2, random_state=0),
    "BPEC": BPEC(2, random_state=0),
    "EGMM": EGMM(2, covariance_type="full", reg_covar=1e-3, random_state=0),
    "Consensus": Consensus(2, random_state=0),
}
figure, axes = plt.subplots(3, 4, figsize=(10, 7), layout="constrained")
for row, (table, (X, y)) in zip(axes, tables.items(), strict=True):
    for ax, (name, method) in zip(row, methods.items(), strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            partition = method.fit(X).partition_
        right = adjusted_rand_score(y, partition.labels)
        display = CredalPartitionDisplay.from_partition(partition, X)
        display.plot(ax=ax, title=f"{name}: {right:.2f}", legend=False, hulls=False)
        ax.set(xlabel="", ylabel=table if ax is row[0] else "", xticks=[], yticks=[])
plt.show()
