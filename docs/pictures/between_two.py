"""How the masses change along a line through two clusters."""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from credalis import NNEVCLUS

X, _ = make_blobs(600, centers=[[0, 0], [4, 0]], random_state=0)
model = NNEVCLUS(2, focal_sets="full", random_state=0).fit(X)
line = np.linspace(-6, 10, 400)
partition = model.predict_partition(np.c_[line, np.zeros(400)])
left = model.predict([[0.0, 0.0]])[0]
sets = {
    "left cluster": (f"{{{left}}}", "#0069A8"),
    "Ω: either": ("Ω", "#BBBBBB"),
    "right cluster": (f"{{{1 - left}}}", "#F0A30A"),
    "∅: neither": ("∅", "#333333"),
}
names = list(partition.focal_sets.names)
masses = [partition.masses[:, names.index(name)] for name, _ in sets.values()]
colors = [color for _, color in sets.values()]

figure, (above, ax) = plt.subplots(
    2, 1, figsize=(8, 5), sharex=True, height_ratios=[2, 3], layout="constrained"
)
above.plot(*X.T, ".", color="#777777", ms=4)
above.axhline(0, color="black", lw=1)
above.set(ylabel="feature 1")
ax.stackplot(line, masses, colors=colors, labels=sets)
ax.set(xlabel="feature 0", ylabel="mass along the line", xlim=(-6, 10), ylim=(0, 1))
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plt.show()
