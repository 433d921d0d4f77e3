"""Two kinds of not knowing: mass between clusters, and mass on none of them."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from credalis import NNEVCLUS

X, _ = make_blobs(
    300, centers=[[0, 0], [4, 0], [12, 7]], cluster_std=1.2, random_state=0
)
model = NNEVCLUS(3, random_state=0).fit(X)
x, y = np.linspace(-6, 18, 140), np.linspace(-7, 13, 120)
grid = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
partition = model.predict_partition(grid)
known = 1 - partition.outlier_mass
conditional = 1 - partition.pignistic.max(axis=1)
panels = {
    "Doubt between clusters": known * conditional,
    "Mass on ∅: none of them": partition.outlier_mass,
}
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4), sharey=True, layout="constrained")
for ax, (title, values) in zip(axes, panels.items(), strict=True):
    area = ax.contourf(
        x, y, values.reshape(120, 140), np.linspace(0, 1, 11), cmap="Oranges"
    )
    ax.plot(*X.T, ".", color="#0069A8", ms=3)
    ax.plot(2, 0, "X", color="black", ms=10, mec="white")
    ax.plot(7.5, 3.5, "P", color="black", ms=10, mec="white")
    ax.set_title(title, fontsize="medium", loc="left")
    ax.set(xlabel="feature 0")
axes[0].set_ylabel("feature 1")
figure.colorbar(area, ax=axes)
plt.show()
