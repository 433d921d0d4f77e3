"""Four overlapping groups: clear objects, objects between clusters, outliers."""

import matplotlib.pyplot as plt

from credalis import Consensus
from credalis.datasets import make_four_class
from credalis.plots import CredalPartitionDisplay

X, _ = make_four_class(random_state=0)
model = Consensus(4, random_state=0).fit(X)
CredalPartitionDisplay.from_estimator(model, X).plot()
plt.show()
