"""Small tables beside methods of scikit-learn: the seconds that say what doubt costs.

The data are those of the pictures of docs/start/instead_of.md.
"""

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

from benchmarks.harness import compare
from credalis import ECM, NNEVCLUS, Consensus
from credalis.datasets import make_four_class

_REPEATS = 7


def run():
    touching = make_four_class(random_state=0)[0]
    apart = make_blobs(600, centers=4, cluster_std=0.8, random_state=3)[0]
    ten = {"n_init": 10, "random_state": 0}
    touch = f"four groups that touch, {len(touching)} objects"
    pairs = (
        (ECM, "k-means, 10 starts", KMeans(4, **ten)),
        (NNEVCLUS, "mixture, 10 starts", GaussianMixture(4, **ten)),
        (Consensus, "HDBSCAN", HDBSCAN(copy=True)),
    )
    return [
        *(
            timed(touch, touching, method(4, random_state=0), name, baseline)
            for method, name, baseline in pairs
        ),
        timed(
            f"four groups far apart, {len(apart)} objects",
            apart,
            Consensus(4, random_state=0),
            "k-means, one start",
            KMeans(4, random_state=0),
        ),
        timed(
            "three ellipses, 500 objects",
            ellipses(),
            Consensus(3, random_state=0),
            "mixture, 10 starts",
            GaussianMixture(3, **ten),
        ),
    ]


def timed(work, X, model, name, baseline):
    """A fit beside that of a baseline."""
    return compare(
        f"{work}, {type(model).__name__}",
        lambda: model.fit(X),
        name,
        lambda: baseline.fit(X),
        repeats=_REPEATS,
        baseline_repeats=_REPEATS,
    )


def ellipses():
    """Three normal groups of different shapes."""
    rng = np.random.default_rng(0)
    return np.vstack(
        [
            rng.multivariate_normal([0, 0], [[2, 0.9], [0.9, 0.8]], 250),
            rng.multivariate_normal([3.2, 1], [[0.4, 0], [0, 2]], 150),
            rng.multivariate_normal([0, 4], [[1.5, -0.8], [-0.8, 0.9]], 100),
        ]
    )
