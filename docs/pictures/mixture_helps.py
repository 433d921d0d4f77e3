"""How sure a mixture and NNEVCLUS are, all over the plane."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.mixture import GaussianMixture

from credalis import NNEVCLUS
from credalis.datasets import make_four_class

X, _ = make_four_class(random_state=0)
mixture = GaussianMixture(4, n_init=10, random_state=0).fit(X)
model = NNEVCLUS(4, random_state=0).fit(X)

side = np.linspace(-14, 18, 120)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
doubts = {
    "Gaussian mixture:\none minus the largest posterior": 1
    - mixture.predict_proba(grid).max(axis=1),
    "NNEVCLUS:\ndoubt, with the mass on ∅": model.predict_partition(grid).doubt,
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), sharey=True, layout="constrained")
for ax, (title, doubt) in zip(axes, doubts.items(), strict=True):
    area = ax.contourf(
        side, side, doubt.reshape(120, 120), np.linspace(0, 1, 11), cmap="Oranges"
    )
    ax.plot(*X.T, ".", color="#0069A8", ms=3)
    ax.set_title(title, fontsize="medium", loc="left")
    ax.set(xlabel="feature 0", aspect="equal")
axes[0].set_ylabel("feature 1")
figure.colorbar(area, ax=axes, label="doubt")
plt.show()
