"""CI and NS in closed form against the sum over all pairs."""

import numpy as np

from benchmarks.harness import compare
from credalis import CredalPartition, FocalSets
from credalis.metrics import consistency_index, nonspecificity_index

N_CLUSTERS = 15
N_SMALL = 3000
N_LARGE = 1_000_000


def run():
    rng = np.random.default_rng(0)
    small, small_labels = random_partition(N_SMALL, rng)
    large, large_labels = random_partition(N_LARGE, rng)

    def all_pairs():
        return pairwise_indices(small, small_labels)

    def closed_form(partition, labels):
        return consistency_index(partition, labels), nonspecificity_index(partition)

    np.testing.assert_allclose(closed_form(small, small_labels), all_pairs())
    return [
        compare(
            f"CI and NS, n={N_SMALL}, f=17",
            lambda: closed_form(small, small_labels),
            "sum over all pairs",
            all_pairs,
        ),
        compare(
            f"CI and NS, n={N_LARGE}, f=17",
            lambda: closed_form(large, large_labels),
            f"all pairs of n={N_SMALL}",
            all_pairs,
            repeats=2,
        ),
    ]


def random_partition(n_samples, rng):
    focal_sets = FocalSets.singletons(N_CLUSTERS)
    masses = rng.dirichlet(np.full(len(focal_sets), 0.3), size=n_samples)
    return CredalPartition(masses, focal_sets), rng.integers(N_CLUSTERS, size=n_samples)


def pairwise_indices(partition, labels):
    """The definitions: means over i < j of pairwise masses."""
    same_class = labels[:, None] == labels[None, :]
    masses = partition.pairwise_masses()
    empty, same, different, either = np.moveaxis(masses, -1, 0)
    upper = np.triu_indices(len(labels), 1)
    conflict = empty + np.where(same_class, different, same)
    return 1 - conflict[upper].mean(), (empty + either)[upper].mean()
