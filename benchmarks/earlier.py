"""Fits of this version against those of an earlier one, in turn.

CREDALIS_EARLIER names a directory with the package of the earlier version, for example
``src`` of a second clone. Each fit is a process of its own that imports one of the two
and says how long it took, on one core and without the imports, and where it ended.
``python -m benchmarks.earlier NAME`` is such a process.
"""

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris, make_blobs
from threadpoolctl import threadpool_limits

import credalis
from benchmarks.harness import Measurement, Skipped, benchmark_data, seconds
from credalis import EVCLUS, NNEVCLUS, Bootclus, EkNNclus

N_RUNS = 3
N_CLUSTERS = 15

# Of networks, so that their losses can be compared.
_SAME_COST = {"weight_decay": 0.0, "random_state": 0}


def sampled_pairs():
    """EVCLUS on s2, 500 random partners of each object."""
    X = benchmark_data("s2")
    return EVCLUS(N_CLUSTERS, pairs_per_sample=500, random_state=0), (X,), {}


def landmarks():
    """EVCLUS on s2, 500 landmarks."""
    return EVCLUS(N_CLUSTERS, random_state=0), (benchmark_data("s2"),), {}


def pairs_of_clusters():
    """EVCLUS on s2, all pairs of 15 clusters as focal sets."""
    X = benchmark_data("s2")
    return EVCLUS(N_CLUSTERS, focal_sets="pairs", random_state=0), (X,), {}


def constrained():
    """CEVCLUS on iris, 60 random pairs."""
    X, y = load_iris(return_X_y=True)
    pairs = np.random.RandomState(0).randint(len(X), size=(60, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    together = y[pairs[:, 0]] == y[pairs[:, 1]]
    links = {"must_link": pairs[together], "cannot_link": pairs[~together]}
    return EVCLUS(3, random_state=0), (X,), links


def unconstrained():
    """EVCLUS on iris."""
    return EVCLUS(3, random_state=0), (load_iris(return_X_y=True)[0],), {}


def all_subsets():
    """EVCLUS on 100 objects, all subsets of 7 clusters."""
    X, _ = make_blobs(100, centers=7, n_features=3, random_state=0)
    return EVCLUS(7, focal_sets="full", random_state=0), (X,), {}


def bootstrapped_s2():
    """Bootclus on s2, 5000 objects in 15 clusters."""
    return Bootclus(N_CLUSTERS, random_state=0), (benchmark_data("s2"),), {}


def bootstrapped_blobs():
    """Bootclus on 5000 objects in 4 clusters that overlap."""
    X, _ = make_blobs(5000, centers=4, cluster_std=2.0, random_state=0)
    return Bootclus(4, random_state=0), (X,), {}


def bootstrapped_fourclass():
    """Bootclus on fourclass."""
    return Bootclus(4, random_state=0), (benchmark_data("fourclass"),), {}


def random_starts_iris():
    """NNEVCLUS on iris, five random starts."""
    X, _ = load_iris(return_X_y=True)
    return NNEVCLUS(3, init="random", n_init=5, **_SAME_COST), (X,), {}


def random_starts_fourclass():
    """NNEVCLUS on fourclass, five random starts."""
    X = benchmark_data("fourclass")
    return NNEVCLUS(4, init="random", n_init=5, **_SAME_COST), (X,), {}


def ten_clusters():
    """NNEVCLUS on 10,000 objects in 10 clusters that overlap, d=10."""
    X, _ = make_blobs(10_000, centers=10, n_features=10, cluster_std=4, random_state=0)
    return NNEVCLUS(10, **_SAME_COST), (X,), {}


def hundred_clusters():
    """NNEVCLUS on 10,000 objects in 100 clusters, d=10."""
    X, _ = make_blobs(10_000, centers=100, n_features=10, random_state=0)
    return NNEVCLUS(100, **_SAME_COST), (X,), {}


def neighbours():
    """EkNNclus on 10,000 objects without clusters, d=10, two sweeps."""
    X = np.random.default_rng(0).normal(size=(10_000, 10))
    return EkNNclus(random_state=0, max_iter=2), (X,), {}


FITS = {
    function.__name__: function
    for function in (
        sampled_pairs,
        constrained,
        unconstrained,
        pairs_of_clusters,
        landmarks,
        all_subsets,
        bootstrapped_s2,
        bootstrapped_blobs,
        bootstrapped_fourclass,
        random_starts_iris,
        random_starts_fourclass,
        ten_clusters,
        hundred_clusters,
        neighbours,
    )
}


def run():
    earlier = os.environ.get("CREDALIS_EARLIER")
    if not earlier:
        raise Skipped("CREDALIS_EARLIER names no directory of an earlier version")
    return [_measured(name, Path(earlier).resolve()) for name in FITS]


def _measured(name, earlier):
    this = Path(credalis.__file__).resolve().parents[1]
    runs = [(_fitted(name, this), _fitted(name, earlier)) for _ in range(N_RUNS)]
    ours, theirs = (
        min(each, key=lambda run: run["seconds"]) for each in zip(*runs, strict=True)
    )
    return Measurement(
        f"{FITS[name].__doc__} Loss {ours['loss']:.7g}",
        f"version {theirs['version']}, loss {theirs['loss']:.7g}",
        ours["seconds"],
        theirs["seconds"],
        theirs["seconds"] / ours["seconds"],
    )


def _fitted(name, sources):
    answer = subprocess.run(
        [sys.executable, "-m", "benchmarks.earlier", name],
        env={**os.environ, "PYTHONPATH": str(sources)},
        cwd=Path(__file__).parents[1],
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(answer.stdout)


def main():
    model, arguments, options = FITS[sys.argv[1]]()
    with warnings.catch_warnings(), threadpool_limits(limits=1):
        warnings.simplefilter("ignore")
        # What is imported or compiled when it is first needed is no part of a fit.
        EVCLUS(2, random_state=0).fit(np.arange(20.0)[:, None])
        taken = seconds(lambda: model.fit(*arguments, **options))
    found = {"seconds": taken, "loss": model.loss_, "version": credalis.__version__}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
