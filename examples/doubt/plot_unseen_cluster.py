"""
Does a cluster that was absent from training show up?
=====================================================

You can ask a network about anything, even objects unlike all it was trained on.
It should then say "none of the clusters I know". Here one of four groups is held back
from the training, and appears only when objects are to be predicted.
"""

# %%
# The network is trained on three groups. As in the article, a one-class support vector
# machine learns what ordinary objects look like, and where its score is low, the masses
# of the network move to ∅.
import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from credalis import NNEVCLUS
from credalis.plots import ContourDisplay, CredalPartitionDisplay

X, y = make_blobs(400, centers=[[0, 0], [7, 0], [3, 7], [10, 8]], random_state=0)
seen, unseen = X[y != 3], X[y == 3]
model = NNEVCLUS(3, novelty_detector="ocsvm", random_state=0).fit(seen)

# %%
# All objects are predicted, those of the unseen group included: these are outliers, and
# so are a few on the rims of the known groups.
partition = model.predict_partition(X)
share = model.predict_partition(unseen).is_outlier.mean()
display = CredalPartitionDisplay.from_partition(partition, X)
display.plot(title=f"{share:.0%} of the unseen group are outliers")
display.ax_.set_aspect("equal")
plt.show()

# %%
# The mass on ∅ over the plane. The support vector machine encloses all three groups,
# and the gaps between them. By default, an object is instead compared with its nearest
# neighbours in the training data, and the gaps are no place for ordinary objects.
default = NNEVCLUS(3, random_state=0).fit(seen)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
for ax, each, name in zip(
    axes, (model, default), ('novelty_detector="ocsvm"', "default"), strict=True
):
    ContourDisplay.from_estimator(
        each, X, response="mass", focal_set=[()], grid_resolution=120
    ).plot(ax=ax, legend=ax is axes[1])
    ax.set_title(f"m(∅), {name}", loc="left")
axes[1].set_ylabel(None)
plt.show()
