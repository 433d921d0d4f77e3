"""One mass function, and what follows from it for each cluster."""

import matplotlib.pyplot as plt
import numpy as np

from credalis import CredalPartition, FocalSets

focal_sets = FocalSets.from_subsets(3, [(), (0,), (1,), (0, 1), (0, 1, 2)])
partition = CredalPartition([[0.05, 0.5, 0.1, 0.25, 0.1]], focal_sets)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
colors = ["#333333", "#0069A8", "#F0A30A", "#7A9A5A", "#BBBBBB"]
left.bar(focal_sets.names, partition.masses[0], color=colors)
left.set(ylabel="mass", ylim=(0, 0.95), title="The masses")
for i, mass in enumerate(partition.masses[0]):
    left.text(i, mass + 0.02, f"{mass:.2f}", ha="center")

for k in range(3):
    belief, plausibility = partition.belief[0, k], partition.plausibility[0, k]
    right.plot(
        [k, k], [belief, plausibility], color="#0069A8", lw=10, solid_capstyle="butt"
    )
    right.plot(k, partition.pignistic[0, k], "D", color="#D5470C", ms=8, mec="white")
    right.text(k + 0.1, plausibility, f"plausibility {plausibility:.2f}", va="center")
    if plausibility - belief > 0.15:
        right.text(k + 0.1, belief, f"belief {belief:.2f}", va="center")
right.plot([], [], "D", color="#D5470C", label="pignistic probability")
right.legend(loc="upper right")
right.set(title="What follows for each cluster", ylim=(-0.05, 0.95), xlim=(-0.4, 3))
right.set_xticks(np.arange(3), [f"cluster {k}" for k in range(3)])
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
