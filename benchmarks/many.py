"""NNEVCLUS of hundreds of clusters beside mini-batch k-means.

Two draws of 300 blobs, one of 1000, and 100 clusters of a million rows with 768 columns
of float32 in a mapped file, which must do with 2 GB besides the mapped pages. Each fit
is a process of its own with one thread; a batch of labels counts as part of it.
CREDALIS_SCRATCH names the directory for the rows, 3 GB.
"""

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

from benchmarks.embeddings import N_FEATURES as N_EMBEDDED
from benchmarks.sizes import measured, write_rows

METHODS = ("NNEVCLUS", "MiniBatchKMeans")
# Rows, clusters and draws.
BLOBS = ((20_000, 300, 0), (20_000, 300, 1), (100_000, 1000, 0))
N_COLUMNS = 10
EMBEDDED = (1_000_000, 100)
_SECONDS, _GIGABYTES = 600, 2


@dataclass(frozen=True)
class Cell:
    """One fit, and its time by that of mini-batch k-means."""

    work: str
    method: str
    seconds: float
    ratio: float
    ari: float
    megabytes: float

    HEADER = ("work", "method", "s", "by k-means", "ARI", "MB with mapped pages")

    @property
    def cells(self):
        numbers = (f"{self.seconds:.3g}", f"{self.ratio:.1f}", f"{self.ari:.3f}")
        return (self.work, self.method, *numbers, f"{self.megabytes:.0f}")


def run():
    return [*blobs(), *embedded()]


def blobs():
    """Spherical clusters, each as wide as the others."""
    for n_rows, n_clusters, draw in BLOBS:
        with tempfile.TemporaryDirectory(dir=scratch()) as name:
            X, y = make_blobs(n_rows, N_COLUMNS, centers=n_clusters, random_state=draw)
            np.save(Path(name) / "X.npy", X)
            np.save(Path(name) / "y.npy", y)
            work = f"{n_clusters} blobs, {n_rows} rows, draw {draw}"
            yield from compared(work, Path(name), n_clusters)


def embedded():
    """Rows as encoders give them, from a file."""
    n_rows, n_clusters = EMBEDDED
    with tempfile.TemporaryDirectory(dir=scratch()) as name:
        write_rows(Path(name), n_rows, N_EMBEDDED, n_clusters)
        work = f"{n_clusters} clusters, {n_rows} rows of {N_EMBEDDED} columns"
        yield from compared(work, Path(name), n_clusters)


def compared(work, folder, n_clusters):
    """Each method on the same rows; a RuntimeError if one does not end."""
    found = {}
    for method in METHODS:
        found[method] = measured(folder, method, n_clusters, _SECONDS, _GIGABYTES)
        if "ari" not in found[method]:
            raise RuntimeError(f"{work}, {method}: {found[method]['reason']}")
    base = found["MiniBatchKMeans"]["seconds"]
    for method, record in found.items():
        yield Cell(
            work,
            method,
            record["seconds"],
            record["seconds"] / base,
            record["ari"],
            record["megabytes"],
        )


def scratch():
    return os.environ.get("CREDALIS_SCRATCH")
