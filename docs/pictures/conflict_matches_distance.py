"""What NN-EVCLUS minimises: conflicts of pairs against transformed dissimilarities."""

import matplotlib.pyplot as plt
import numpy as np

from credalis import NNEVCLUS
from credalis.datasets import make_four_class
from credalis.plots import ShepardDisplay

X, _ = make_four_class(random_state=0)
model = NNEVCLUS(4, random_state=0).fit(X)
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
distances = np.linspace(0, 12, 300)
rate = -np.log(0.05) / model.scale_**2
left.plot(distances, 1 - np.exp(-rate * distances**2), color="#0069A8", lw=2)
left.axvline(model.scale_, color="#777777", ls="--")
left.text(model.scale_ + 0.2, 0.1, f"δ₀ = {model.scale_:.1f}")
left.axhline(0.95, color="#777777", ls=":")
left.set(xlabel="distance d of two objects", ylabel="δ*, the conflict they should have")
left.set_title("What is asked for", fontsize="medium", loc="left")
left.spines[["top", "right"]].set_visible(False)
ShepardDisplay.from_estimator(model, X).plot(ax=right, title="What was reached")
plt.show()
