"""The dip, corridors, and the test for structure: level, power, invariances."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import cut_tree, ward
from scipy.optimize import linprog
from sklearn.datasets import make_blobs, make_moons

from credalis.cluster.consensus import _structure
from credalis.cluster.consensus._dip import dip, dip_p_value
from credalis.cluster.consensus._structure import (
    LEVEL,
    _between,
    _pieces,
    can_be_seen,
    clearest_corridor,
    structure_decision,
    structure_p_value,
    without_rounding,
)


def p_value(X, seed=0):
    return structure_p_value(X, np.random.RandomState(seed))


def decision(X, seed=0):
    return structure_decision(X, np.random.RandomState(seed))


def without_structure(kind, shape, rng):
    """Rows of a density that is log-concave, or of a multivariate t."""
    if kind == "t":
        return rng.normal(size=shape) / np.sqrt(rng.chisquare(3, size=(shape[0], 1)))
    if kind == "exponential":
        return rng.exponential(size=shape)
    return getattr(rng, kind)(size=shape)


def dip_by_programming(values):
    """The nearest unimodal distribution function, for every mode, as linear programs.

    Variables: G at the points, G beyond its jump at the mode, and the distance.
    """
    x = np.sort(values)
    n = len(x)
    best = np.inf
    for mode in range(n):
        rows, bounds = [], []

        def ask(bound, rows=rows, bounds=bounds, **terms):
            row = np.zeros(n + 2)
            for name, factor in terms.items():
                row[int(name[1:])] += factor
            rows.append(row)
            bounds.append(bound)

        def term(j):
            return f"g{j}"

        jump, distance = term(n), term(n + 1)
        for j in range(n):
            after = jump if j == mode else term(j)
            ask(-(j + 1), **{after: -1, distance: -1})
            ask(j, **{term(j): 1, distance: -1})
        ask(-mode, **{term(mode): -1, distance: -1})
        ask(mode + 1, **{jump: 1, distance: -1})
        ask(0, **{term(mode): 1, jump: -1})
        for j in range(1, n - 1):
            before, after = 1 / (x[j] - x[j - 1]), 1 / (x[j + 1] - x[j])
            here = before + after
            if j < mode:
                ask(0, **{term(j): here, term(j - 1): -before, term(j + 1): -after})
            elif j > mode:
                last = jump if j - 1 == mode else term(j - 1)
                ask(0, **{term(j): -here, last: before, term(j + 1): after})
        cost = np.zeros(n + 2)
        cost[-1] = 1
        found = linprog(cost, np.array(rows), bounds, bounds=[(0, n)] * (n + 2))
        best = min(best, found.fun)
    return best / n


@pytest.mark.parametrize("n", [4, 7, 11])
def test_the_dip_is_the_distance_from_the_nearest_unimodal_distribution(n, rng):
    for _ in range(3):
        values = rng.choice([-3.0, 3.0], n) + rng.normal(size=n)
        assert dip(values) == pytest.approx(dip_by_programming(values), abs=1e-9)


def test_dips_that_are_known():
    assert dip(np.arange(20.0)) == pytest.approx(1 / 40)
    assert dip(np.repeat([0.0, 1.0], 50)) == pytest.approx(1 / 4)
    assert dip(np.zeros(5)) == pytest.approx(1 / 2)
    values = np.random.default_rng(0).normal(size=60)
    assert dip(3 - 2 * values) == pytest.approx(dip(values))


@pytest.mark.parametrize("n", [15, 60])
def test_p_values_of_uniform_numbers_are_uniform(n, rng):
    found = np.array([dip_p_value(dip(rng.uniform(size=n)), n) for _ in range(500)])
    for level in (0.5, 0.1, 0.02):
        assert (found <= level).mean() == pytest.approx(level, abs=3 * level**0.5 / 22)


def test_p_values_fall_beyond_the_table_and_with_the_dip():
    found = [dip_p_value(value, 70) for value in np.linspace(0.01, 0.25, 40)]
    assert (np.diff(found) < 0).all()
    assert 0 < found[-1] < 1e-6
    assert dip_p_value(0.05, 3) > dip_p_value(0.05, 30)


def test_corridors_are_convex_and_hold_the_centers_of_their_ends(rng):
    X = rng.normal(size=(120, 3))
    labels = np.arange(120) % 5
    X[np.arange(120), labels % 3] += 4 * (labels // 3) + 2
    centers = np.array([X[labels == k].mean(axis=0) for k in range(5)])
    for corridor in _between(X, labels, np.eye(3)):
        is_inside = (corridor.offsets >= X @ corridor.normals.T).all(axis=1)
        inside = X[is_inside]
        middles = (inside + inside[rng.permutation(len(inside))]) / 2
        assert len(corridor.values(middles)) == len(middles)
        assert len(corridor.values(centers)) >= 2


@pytest.mark.parametrize("d", [2, 10])
@pytest.mark.parametrize("kind", ["normal", "uniform", "t", "exponential"])
def test_data_without_structure(kind, d, rng):
    for seed in range(2):
        X = without_structure(kind, (120, d), rng)
        assert p_value(X, seed) > LEVEL


def test_decisions_without_structure_keep_the_level(rng):
    kinds = ["normal", "uniform", "t", "exponential"] * 15
    found = [
        decision(without_structure(kind, (64, 2 + seed % 4), rng), seed) <= LEVEL
        for seed, kind in enumerate(kinds)
    ]
    # More than four of sixty have a probability below 1 % at the level.
    assert sum(found) <= 4


@pytest.mark.parametrize("distance", [0.0, 2.5, 3.5, 6.0])
def test_a_decision_is_that_of_the_whole_test(distance, rng):
    for seed in range(4):
        X = rng.normal(size=(150, 2))
        X[:75, 0] += distance
        bound, whole = decision(X, seed), p_value(X, seed)
        assert bound >= whole
        assert (bound <= LEVEL) == (whole <= LEVEL)


def test_a_decision_looks_no_further_than_it_must(monkeypatch, rng):
    searched = []

    def counted(X):
        searched.append(len(X))
        return clearest_corridor(X)

    monkeypatch.setattr(_structure, "clearest_corridor", counted)
    X = rng.normal(size=(120, 2))
    assert decision(X) > LEVEL
    # Two of the five divisions.
    assert len(searched) == 4
    searched.clear()
    X[:60, 0] += 8
    assert decision(X) <= LEVEL
    assert len(searched) == 1


def test_gaps_between_many_clusters_need_many_rows():
    assert can_be_seen(64, 2)
    assert not can_be_seen(63, 2)
    assert can_be_seen(200, 6)
    assert not can_be_seen(200, 7)
    # More rows than are looked at do not help.
    assert can_be_seen(10**6, 30)
    assert not can_be_seen(10**6, 40)


def test_pieces_are_those_of_the_tree(rng):
    for X in (rng.normal(size=(50, 2)), np.round(rng.normal(size=(50, 2)), 1)):
        tree = ward(X)
        for n_pieces in (1, 2, 5, 20, 50):
            expected = cut_tree(tree, n_pieces)[:, 0]
            np.testing.assert_array_equal(_pieces(tree, n_pieces), expected)


@pytest.mark.parametrize(("d", "c"), [(2, 2), (2, 6), (10, 3)])
def test_blobs_with_gaps_between_them(d, c):
    for seed in range(2):
        angles = 2 * np.pi * np.arange(c) / c
        centers = np.zeros((c, d))
        centers[:, :2] = 3.5 * np.c_[np.cos(angles), np.sin(angles)] / np.sin(np.pi / c)
        X, _ = make_blobs(150, centers=centers, random_state=seed)
        assert p_value(X, seed) < LEVEL


def test_moons_have_a_gap():
    X, _ = make_moons(250, noise=0.07, random_state=0)
    assert p_value(X) < LEVEL


def test_long_clusters_side_by_side_in_other_units(rng):
    X = rng.normal(size=(200, 2)) * [500.0, 0.01]
    X[:100, 1] += 0.08
    assert p_value(X) < LEVEL


def test_rounded_numbers_are_not_structure(rng):
    X = np.round(rng.normal(size=(150, 2)) * 1.5)
    assert p_value(X) > LEVEL
    # The steps themselves would be.
    assert dip_p_value(dip(X[:, 0]), 150) < LEVEL
    exact = rng.normal(size=(150, 2))
    spread = without_rounding(exact, np.random.RandomState(0))
    scaled = (exact - exact.mean(axis=0)) / np.sqrt(exact.var(axis=0).mean())
    np.testing.assert_allclose(spread, scaled, atol=1e-2)


def test_units_and_places_do_not_matter():
    X, _ = make_blobs(100, centers=2, cluster_std=2.5, random_state=4)
    assert p_value(1000 * X + 7) == pytest.approx(p_value(X), rel=1e-6)
    assert p_value(1e200 * X) == pytest.approx(p_value(X), rel=1e-6)


@pytest.mark.parametrize(
    "X",
    [
        np.arange(4.0).reshape(2, 2),
        np.zeros((40, 3)),
        np.c_[np.zeros(40), np.random.default_rng(0).normal(size=40)],
    ],
    ids=["few rows", "one point", "a constant column"],
)
def test_data_that_show_nothing(X):
    assert p_value(X) > LEVEL


def test_rows_that_a_far_one_makes_equal_have_no_corridor_between_them(rng):
    X = np.vstack([rng.normal(size=(99, 2)), [[1e150, 0.0]]])
    with np.errstate(invalid="raise", divide="raise"):
        assert 0 <= p_value(X) <= 1


def test_a_corridor_needs_rows():
    assert clearest_corridor(np.random.default_rng(0).normal(size=(9, 2))) is None
