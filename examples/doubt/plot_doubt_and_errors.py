"""
Are the errors where the doubt is?
==================================

Compared with true labels, a clustering makes errors. If its doubt is worth anything,
they are among the doubtful objects: leave out more of these, and the error of the rest
must fall. Three ways to doubt are compared: the masses of ``Consensus``, the margin of
k-means (distance to the nearest centre over that to the second one), and the
probabilities of a Gaussian mixture.
"""

# %%
# Each method gives labels and a number for the doubt. Clusters have no names, so that
# each is given the class that suits it best; what then differs is an error. Of the
# tumours ``Consensus`` warns that it sees no gaps between groups, which is true: the
# classes overlap. We know that there are two. Of the round groups, whose tails are
# heavy, it warns that one object is far away from all others.
import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA
from sklearn.metrics import confusion_matrix
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from credalis import Consensus
from credalis.datasets import make_four_class
from credalis.exceptions import NoClustersWarning, StrayRowsWarning
from credalis.plots import cluster_colors

warnings.simplefilter("ignore", NoClustersWarning)
warnings.simplefilter("ignore", StrayRowsWarning)


def consensus(X, n_clusters):
    partition = Consensus(n_clusters, random_state=0).fit(X).partition_
    return partition.labels, partition.doubt


def mixture(X, n_clusters):
    probabilities = GaussianMixture(n_clusters, random_state=0).fit(X).predict_proba(X)
    return probabilities.argmax(axis=1), 1 - probabilities.max(axis=1)


def k_means(X, n_clusters):
    model = KMeans(n_clusters, n_init=10, random_state=0).fit(X)
    nearest, second, *_ = np.sort(model.transform(X), axis=1).T
    return model.labels_, nearest / second


def is_wrong(labels, y):
    classes, clusters = linear_sum_assignment(
        confusion_matrix(y, labels), maximize=True
    )
    return classes[clusters.argsort()][labels] != y


# %%
# Objects come in the order of their doubt. On the tumours and the digits, ``Consensus``
# decides half of the objects without any error, where the mixture is often sure and
# wrong; with all digits decided, the mixture has fewer errors. On four round groups,
# the margin of k-means says all there is to say.
cancer, digits = load_breast_cancer(), load_digits()
sets = {
    "tumours": (StandardScaler().fit_transform(cancer.data), cancer.target),
    "digits": (PCA(20, random_state=0).fit_transform(digits.data), digits.target),
    "four round groups": make_four_class(1000, random_state=0),
}
methods = {"Consensus": consensus, "Gaussian mixture": mixture, "k-means": k_means}
styles = list(zip(cluster_colors(3), ["-", "--", ":"], strict=True))
figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
for ax, (name, (X, y)) in zip(axes, sets.items(), strict=True):
    decided = np.arange(1, len(X) + 1)
    for (method, cluster), (color, line) in zip(methods.items(), styles, strict=True):
        labels, doubt = cluster(X, len(np.unique(y)))
        errors = is_wrong(labels, y)[doubt.argsort(kind="stable")].cumsum()
        ax.plot(decided / len(X), errors / decided, line, c=color, lw=2.2, label=method)
    ax.set(
        title=name, xlabel="share of objects decided", xlim=(0.05, 1), ylim=(0, None)
    )
axes[0].set_ylabel("share of errors among them")
axes[0].legend(frameon=False)
plt.show()
