"""The δ-Bel graph: centres of clusters stand apart at the upper right."""

import matplotlib.pyplot as plt

from credalis.datasets import make_four_class
from credalis.plots import DeltaBelDisplay

X, _ = make_four_class(random_state=0)
DeltaBelDisplay.from_data(X).plot()
plt.show()
