"""
What a mass function looks like
===============================

Evidence about which of three clusters an object belongs to can be certain, divided,
vague or absent. A probability is a point in a triangle whose corners are the clusters.
A mass function is an *area*: all probabilities that are compatible with it. Its size
shows how much is not known, and the dot is the pignistic probability, by which to bet.
"""

# %%
# Six mass functions over subsets of three clusters. What is not said is on no set.
from itertools import permutations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.spatial import ConvexHull

from credalis import CredalPartition, FocalSets
from credalis.plots import MassDisplay, cluster_colors

cases = {
    "certain": {(0,): 1.0},
    "a probability": {(0,): 0.5, (1,): 0.3, (2,): 0.2},
    "0 or 1": {(0, 1): 1.0},
    "nested": {(0,): 0.5, (0, 1): 0.3, (0, 1, 2): 0.2},
    "anything": {(0,): 0.3, (1,): 0.1, (0, 2): 0.2, (1, 2): 0.2, (0, 1, 2): 0.2},
    "ignorance": {(0, 1, 2): 1.0},
}
sets = FocalSets.full(3)
masses = np.array([[m.get(s, 0.0) for s in sets.subsets] for m in cases.values()])
partition = CredalPartition(masses, sets)

# %%
# A probability is compatible with a mass function if the mass of each set has been
# given to its members. The corners of the area are found by giving everything to the
# first member in some order of the clusters.
corners = np.array([[0, 0], [1, 0], [0.5, np.sqrt(0.75)]])


def extreme_points(mass_function):
    points = []
    for order in permutations(range(3)):
        probability = np.zeros(3)
        for subset, mass in mass_function.items():
            probability[min(subset, key=order.index)] += mass
        points.append(probability @ corners)
    return np.unique(np.round(points, 9), axis=0)


blue, orange, *_ = cluster_colors(2)
figure, axes = plt.subplots(2, 3, figsize=(8.4, 5.6), layout="constrained")
for ax, (name, case), bet in zip(
    axes.flat, cases.items(), partition.pignistic, strict=True
):
    ax.fill(*corners.T, facecolor="0.96", edgecolor="0.6")
    points = extreme_points(case)
    if len(points) > 2:
        points = points[ConvexHull(points).vertices]
    ax.fill(*points.T, facecolor=blue, alpha=0.35, edgecolor=blue, linewidth=3)
    ax.plot(*(bet @ corners), "o", color=orange, markersize=8, markeredgecolor="black")
    for k, (x, y) in enumerate(corners):
        ax.text(x, y + (0.06 if k == 2 else -0.12), k, ha="center")
    ax.set_title(name)
    ax.set(xlim=(-0.1, 1.1), ylim=(-0.15, 1), aspect="equal")
    ax.axis("off")
plt.show()

# %%
# The same six as stacks of masses.
MassDisplay.from_partition(
    partition, kind="bars", order=None, object_names=list(cases)
).plot(title="Masses")
plt.show()

# %%
# And in numbers: belief is what speaks for a cluster alone, plausibility what does not
# speak against it. The pignistic probability lies between the two.
numbers = {
    "belief": partition.belief,
    "pignistic": partition.pignistic,
    "plausibility": partition.plausibility,
}
pd.concat(
    {name: pd.DataFrame(values, list(cases)) for name, values in numbers.items()},
    axis=1,
).round(2)
