from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credalis import CredalPartition, FocalSets
from credalis.cluster.bootstrap._interval_masses import (
    SMALLEST_LOSS,
    IntervalFit,
    masses_of_new,
)
from helpers import assert_decreasing

PAIRS = FocalSets.pairs(3, frame=False)


def converged(fit, masses, n_sweeps=100):
    for _ in range(n_sweeps):
        masses = fit.sweep(masses)
    return masses


def with_empty(masses):
    return np.column_stack([np.zeros(len(masses)), masses])


def random_intervals(rng, n_samples):
    middle, width = rng.random((2, n_samples, n_samples))
    lower = np.clip(middle - 0.5 * width, 0, 1)
    upper = np.clip(middle + 0.5 * width, 0, 1)
    return np.triu(lower) + np.triu(lower, 1).T, np.triu(upper) + np.triu(upper, 1).T


def test_loss_is_the_mean_misfit_of_belief_and_plausibility(rng):
    lower, upper = random_intervals(rng, 12)
    masses = rng.dirichlet(np.ones(6), 12)
    about_pairs = CredalPartition(with_empty(masses), PAIRS).pairwise_masses()
    belief = about_pairs[..., 1]
    plausibility = 1 - about_pairs[..., 2]
    i, j = np.triu_indices(12, 1)
    expected = np.mean((belief - lower)[i, j] ** 2 + (plausibility - upper)[i, j] ** 2)
    assert IntervalFit.of(lower, upper, PAIRS).loss(masses) == pytest.approx(expected)


def test_loss_with_landmarks_is_the_mean_over_pairs_with_one(rng):
    lower, upper = random_intervals(rng, 12)
    masses = rng.dirichlet(np.ones(6), 12)
    about_pairs = CredalPartition(with_empty(masses), PAIRS).pairwise_masses()
    belief, plausibility = about_pairs[..., 1], 1 - about_pairs[..., 2]
    i, j = np.triu_indices(12, 1)
    i, j = i[i < 5], j[i < 5]
    expected = np.mean((belief - lower)[i, j] ** 2 + (plausibility - upper)[i, j] ** 2)
    fit = IntervalFit.of(lower[:, :5], upper[:, :5], PAIRS)
    assert fit.n_pairs == len(i)
    assert fit.loss(masses) == pytest.approx(expected)


@given(
    st.integers(0, 10_000),
    st.sampled_from(["pairs", "singletons", "full"]),
    st.sampled_from([30, 11, 1]),
)
def test_no_sweep_increases_the_loss(seed, kind, n_landmarks):
    rng = np.random.default_rng(seed)
    lower, upper = random_intervals(rng, 30)
    focal_sets = getattr(FocalSets, kind)(3)
    fit = IntervalFit.of(lower[:, :n_landmarks], upper[:, :n_landmarks], focal_sets)
    masses = rng.dirichlet(np.ones(len(focal_sets) - 1), 30)
    losses = [fit.loss(masses)]
    for _ in range(4):
        masses = fit.sweep(masses)
        np.testing.assert_allclose(masses.sum(axis=1), 1.0)
        assert (masses >= 0).all()
        losses.append(fit.loss(masses))
    assert_decreasing(losses)


@pytest.mark.parametrize("n_landmarks", [30, 11, 1])
def test_the_loss_of_a_sweep_is_that_of_its_masses(rng, n_landmarks):
    lower, upper = random_intervals(rng, 30)
    fit = IntervalFit.of(lower[:, :n_landmarks], upper[:, :n_landmarks], PAIRS)
    masses, loss = fit.sweep_and_loss(rng.dirichlet(np.ones(6), 30))
    assert loss == pytest.approx(fit.loss(masses), rel=1e-12)


def test_reference_masses_from_intervals(reference, seed):
    expected = reference("bootclus_mass_from_P.json")
    fit = IntervalFit.of(
        np.array(expected["lower"]), np.array(expected["upper"]), PAIRS
    )
    start = np.random.default_rng(seed).dirichlet(np.ones(6), 30)
    masses = converged(fit, start, 20)
    assert fit.loss(masses) <= fit.loss(np.array(expected["mass1"])[:, 1:]) * (1 + 1e-8)
    partition = CredalPartition(with_empty(masses), PAIRS)
    for name in ("mass1", "mass2"):
        # Random starts number the clusters as they like.
        gaps = [
            np.abs(partition.relabel(order).masses - np.array(expected[name])).max()
            for order in permutations(range(3))
        ]
        assert min(gaps) < 1e-5
    about_pairs = partition.pairwise_masses()
    off_diagonal = ~np.eye(30, dtype=bool)
    np.testing.assert_allclose(
        about_pairs[..., 1][off_diagonal],
        np.array(expected["Bel"])[off_diagonal],
        atol=1e-5,
    )
    np.testing.assert_allclose(
        1 - about_pairs[..., 2][off_diagonal],
        np.array(expected["Pl"])[off_diagonal],
        atol=1e-5,
    )


def test_degenerate_intervals_give_the_hard_partition(rng):
    labels = rng.integers(3, size=60)
    together = (labels[:, None] == labels).astype(np.float32)
    for focal_sets in (PAIRS, FocalSets.full(3)):
        fit = IntervalFit.of(together, together, focal_sets)
        near = CredalPartition.from_labels(labels).masses[:, 1:4]
        start = np.zeros((60, len(focal_sets) - 1))
        singles = (focal_sets.cardinality == 1)[1:]
        start[:, singles] = 0.6 * near + 0.4 / 3
        masses = converged(fit, start)
        assert fit.loss(masses) == SMALLEST_LOSS
        np.testing.assert_allclose(masses[:, singles], near, atol=1e-6)


def test_vacuous_intervals_give_vacuous_masses():
    fit = IntervalFit.of(np.zeros((20, 20)), np.ones((20, 20)), FocalSets.full(2))
    start = np.random.default_rng(0).dirichlet(np.ones(3), 20)
    masses = converged(fit, start)
    assert fit.loss(masses) < 1e-6


def test_large_blocks_end_where_single_rows_do(reference, monkeypatch):
    from credalis.cluster.bootstrap import _interval_masses

    expected = reference("bootclus_mass_from_P.json")
    bounds = np.array(expected["lower"]), np.array(expected["upper"])
    fit = IntervalFit.of(*bounds, PAIRS)
    start = np.random.default_rng(3).dirichlet(np.ones(6), 30)
    losses = []
    for share in (1, 30):
        monkeypatch.setattr(_interval_masses, "_BLOCK_SHARE", share)
        losses.append(fit.loss(converged(fit, start)))
    assert losses[0] == pytest.approx(losses[1], rel=1e-6)


def test_a_new_object_like_an_old_one_gets_its_masses(reference):
    expected = reference("bootclus_mass_from_P.json")
    lower, upper = np.array(expected["lower"]), np.array(expected["upper"])
    masses = np.array(expected["mass1"])
    # The object itself stands among the others, as a hypothetical second one.
    found = masses_of_new(lower, upper, masses, PAIRS)
    assert np.abs(found - masses).max() < 0.1
    assert (found[:, 0] == 0).all()
