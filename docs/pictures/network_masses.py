"""The masses that the network gives to every place of the plane."""

import matplotlib.pyplot as plt

from credalis import NNEVCLUS
from credalis.datasets import make_four_class
from credalis.plots import ContourDisplay

X, _ = make_four_class(random_state=0)
model = NNEVCLUS(4, random_state=0).fit(X)
ContourDisplay.from_estimator(
    model,
    X,
    response="mass",
    focal_set=["∅", (0,), (1,), (2,), (3,), "Ω"],
    grid_resolution=80,
).plot()
plt.show()
