"""
Does a cluster that was absent from training show up?
=====================================================

A one-class detector lets the network say "none of the clusters I know". Here one of
four groups is held back: at prediction time its objects are reported as outliers.
"""

# %%
# Train on three of the four groups.
import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from credalis import NNEVCLUS
from credalis.plots import CredalPartitionDisplay

X, y = make_blobs(400, centers=[[0, 0], [7, 0], [3, 7], [10, 8]], random_state=0)
seen, unseen = X[y != 3], X[y == 3]
model = NNEVCLUS(3, novelty_detector="ocsvm", random_state=0).fit(seen)

# %%
# Predict all of them, the unseen group included.
partition = model.predict_partition(X)
share = model.predict_partition(unseen).is_outlier.mean()
display = CredalPartitionDisplay.from_partition(partition, X)
display.plot(title=f"{share:.0%} of the unseen group are outliers")
plt.show()
