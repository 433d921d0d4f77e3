"""Six methods on one table: consistency against nonspecificity."""

import matplotlib.pyplot as plt

from credalis import compare
from credalis.datasets import make_four_class

X, y = make_four_class(random_state=0)
methods = ["ECM", "CCM", "BPEC", "EVCLUS", "NNEVCLUS", "EGMM"]
compare(X, 4, methods, y, random_state=0).plot()
plt.show()
