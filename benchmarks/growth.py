"""NNEVCLUS against the number of rows: time, loss and ARI, none of which may jump."""

from dataclasses import dataclass

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks.harness import seconds
from credalis import NNEVCLUS

SIZES = (100, 300, 500, 550, 1000, 1100, 10_000, 100_000, 200_000, 210_000, 10**6)
N_FEATURES, N_CLUSTERS, DEVIATION = 10, 10, 4.0
N_NEW = 3000


@dataclass(frozen=True)
class Fit:
    """One fit: seconds on the processor, and what it is worth."""

    n_rows: int
    seconds: float
    loss: float
    stress: float
    stress_of_new: float
    ari: float
    ari_of_new: float

    HEADER = ("rows", "s", "loss", "stress", "of new rows", "ARI", "of new rows")

    @property
    def cells(self):
        return (
            str(self.n_rows),
            f"{self.seconds:.2f}",
            f"{self.loss:.5f}",
            f"{self.stress:.5f}",
            f"{self.stress_of_new:.5f}",
            f"{self.ari:.3f}",
            f"{self.ari_of_new:.3f}",
        )


def run():
    centers = np.random.RandomState(5).uniform(-10, 10, (N_CLUSTERS, N_FEATURES))
    new, y_new = _rows(N_NEW, centers, seed=4)
    fits = []
    with threadpool_limits(limits=1):
        for n_rows in SIZES:
            X, y = _rows(n_rows, centers, seed=3)
            model = NNEVCLUS(N_CLUSTERS, random_state=0)
            fits.append(
                Fit(
                    n_rows,
                    seconds(lambda model=model, X=X: model.fit(X)),
                    model.loss_,
                    model.stress_,
                    -model.score(new),
                    adjusted_rand_score(y, model.labels_),
                    adjusted_rand_score(y_new, model.predict(new)),
                )
            )
    return fits


def _rows(n_rows, centers, seed):
    return make_blobs(n_rows, centers=centers, cluster_std=DEVIATION, random_state=seed)
