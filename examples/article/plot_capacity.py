"""
How large a network, and how much weight decay?
===============================================

More hidden units always fit the training objects better; new objects gain only up to a
point. A penalty on the weights does the opposite: it costs a little in training and
pays off with new objects. Figure 14 of the article, with a set drawn like its
*fourclass*.
"""

# %%
# The loss is the stress, the mean of squared differences between conflicts and
# dissimilarities. It can be compared because the scale δ₀ of the dissimilarities is the
# same in all fits. With 100 objects, fewer than in the article, and a long training
# that ends after 1500 iterations at the latest, the effect is plain.
import warnings

import matplotlib.pyplot as plt
from sklearn.exceptions import ConvergenceWarning

from credalis import NNEVCLUS
from credalis.datasets import make_four_class
from credalis.plots import cluster_colors

warnings.simplefilter("ignore", ConvergenceWarning)
X, _ = make_four_class(100, random_state=0)
new, _ = make_four_class(1000, random_state=1)


def losses(n_hidden, weight_decay):
    model = NNEVCLUS(
        4,
        focal_sets="pairs",
        dissimilarity_scale=6.5,
        empty_set="stress",
        hidden_layer_sizes=(n_hidden,),
        weight_decay=weight_decay,
        max_iter=1500,
        tol=1e-7,
        n_init=1,
        random_state=0,
    ).fit(X)
    return -model.score(X), -model.score(new)


# %%
# On the left without weight decay, on the right with 50 hidden units. The broken lines
# are the losses of 1000 new objects.
sizes = [2, 5, 20, 50, 100]
decays = [1e-4, 1e-3, 1e-2, 1e-1]
studies = {
    "hidden units": (sizes, [losses(size, 0.0) for size in sizes]),
    "weight decay λ": (decays, [losses(50, decay) for decay in decays]),
}
blue, orange, *_ = cluster_colors(2)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), sharey=True, layout="constrained")
for ax, (name, (values, found)) in zip(axes, studies.items(), strict=True):
    training, test = zip(*found, strict=True)
    ax.plot(values, test, "s--", color=orange, label="new objects")
    ax.plot(values, training, "o-", color=blue, label="training objects")
    ax.set(xlabel=name, xscale="log")
axes[0].set_xticks(sizes, sizes)
axes[0].minorticks_off()
axes[0].set_ylabel("loss")
axes[0].legend()
plt.show()
