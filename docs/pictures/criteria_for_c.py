"""How many clusters: what each criterion says about four overlapping groups."""

import matplotlib.pyplot as plt

from credalis import ECM
from credalis.datasets import make_four_class
from credalis.model_selection import select_n_clusters
from credalis.plots import SelectionDisplay

X, _ = make_four_class(random_state=0)
selection = select_n_clusters(
    ECM(focal_sets="full", empty_set="noise"),
    X,
    range(2, 7),
    n_resamples=5,
    random_state=0,
)
SelectionDisplay.from_selection(selection).plot()
plt.show()
