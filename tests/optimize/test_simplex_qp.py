"""Quadratic programs on the simplex."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize, nnls

from credalis.optimize import (
    FactoredQuadratics,
    RowQuadratics,
    TurnedProducts,
    _simplex_qp,
    minimize_on_simplex,
    minimize_quartic,
    quadratics,
    simplex_gap,
)

NUMBERS = st.one_of(st.just(0.0), st.floats(-1, 1).filter(lambda x: abs(x) > 1e-3))


@st.composite
def problems(draw, max_rows=4, max_variables=7):
    """G of any rank, h in its range, and points to start from, zeros included."""
    n_rows = draw(st.integers(1, max_rows))
    n_variables = draw(st.integers(1, max_variables))
    n_factors = draw(st.integers(1, 2 * max_variables))
    shape = (n_rows, n_factors, n_variables)
    factors = draw(arrays(np.float64, shape, elements=NUMBERS))
    targets = draw(arrays(np.float64, (n_rows, n_factors), elements=NUMBERS))
    weights = draw(
        arrays(
            np.float64,
            (n_rows, n_variables),
            elements=st.one_of(st.just(0.0), st.floats(0.01, 1)),
        )
    )
    weights[weights.sum(axis=1) == 0, 0] = 1.0
    start = weights / weights.sum(axis=1, keepdims=True)
    linear = np.einsum("rkf,rk->rf", factors, targets)
    return factors, linear, start


def values(gram, linear, x):
    return np.einsum("ri,rij,rj->r", x, gram, x) - 2 * (linear * x).sum(axis=1)


@given(problems(), st.booleans())
def test_optimality_conditions_hold(problem, at_once):
    factors, linear, start = problem
    gram = factors.transpose(0, 2, 1) @ factors
    x = minimize_on_simplex(RowQuadratics(gram, linear), start, at_once=at_once)
    assert (x >= 0).all()
    np.testing.assert_allclose(x.sum(axis=1), 1.0, atol=1e-12)
    scale = np.maximum(1.0, np.abs(linear).max(initial=0.0))
    assert simplex_gap(RowQuadratics(gram, linear), x).max() <= 1e-8 * scale
    gain = values(gram, linear, x) - values(gram, linear, start)
    assert gain.max() <= 1e-12 * scale


@pytest.mark.parametrize("at_once", [False, True])
def test_optimality_conditions_hold_for_many_random_problems(seed, at_once):
    rng = np.random.default_rng(seed)
    for n_variables, n_factors in [(4, 3), (17, 40), (30, 12)]:
        factors = rng.uniform(size=(300, n_factors, n_variables))
        gram = factors.transpose(0, 2, 1) @ factors
        linear = np.einsum("rkf,rk->rf", factors, rng.uniform(size=factors.shape[:2]))
        start = rng.dirichlet(np.full(n_variables, 0.3), size=300)
        x = minimize_on_simplex(RowQuadratics(gram, linear), start, at_once=at_once)
        assert simplex_gap(RowQuadratics(gram, linear), x).max() <= 1e-8


@pytest.mark.parametrize("n_factors", [200, 20])
def test_variables_that_move_at_once_end_where_single_ones_do(
    rng, monkeypatch, n_factors
):
    one_by_one, left_over = _simplex_qp._descend, []

    def descend(problems, start):
        left_over.append(len(start))
        return one_by_one(problems, start)

    factor = rng.normal(size=(100, n_factors))
    problem = RowQuadratics(factor @ factor.T, rng.normal(size=(50, 100)))
    start = rng.dirichlet(np.full(100, 0.3), size=50)
    expected = minimize_on_simplex(problem, start)
    monkeypatch.setattr(_simplex_qp, "_descend", descend)
    found = minimize_on_simplex(problem, start, at_once=True)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    # With a regular matrix all rows arrive, with one of low rank some do not.
    assert sum(left_over) == 0 if n_factors > 100 else 0 < sum(left_over) <= 50


def test_the_minimum_is_that_of_other_solvers(rng):
    factors = rng.normal(size=(20, 12, 6))
    targets = rng.normal(size=(20, 12))
    gram = factors.transpose(0, 2, 1) @ factors
    linear = np.einsum("rkf,rk->rf", factors, targets)
    ours = minimize_on_simplex(RowQuadratics(gram, linear), np.full((20, 6), 1 / 6))
    for k in range(20):
        heavy = 1e4
        stacked = np.vstack([factors[k], np.full((1, 6), heavy)])
        theirs, _ = nnls(stacked, np.append(targets[k], heavy))
        np.testing.assert_allclose(ours[k], theirs, atol=1e-5)
        general = minimize(
            lambda x, k=k: ((factors[k] @ x - targets[k]) ** 2).sum(),
            np.full(6, 1 / 6),
            bounds=[(0, 1)] * 6,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
            options={"ftol": 1e-12},
        )
        mine = ((factors[k] @ ours[k] - targets[k]) ** 2).sum()
        assert mine <= general.fun + 1e-7


def test_a_common_matrix_is_the_same_as_one_for_each_row(rng):
    factors = rng.normal(size=(30, 8))
    gram, linear = factors.T @ factors, rng.normal(size=(50, 8))
    start = rng.dirichlet(np.ones(8), size=50)
    np.testing.assert_allclose(
        minimize_on_simplex(RowQuadratics(gram, linear), start),
        minimize_on_simplex(RowQuadratics(np.tile(gram, (50, 1, 1)), linear), start),
        atol=1e-10,
    )


def test_a_matrix_less_rank_one_is_the_same_as_one_for_each_row(rng):
    factors, removed = rng.normal(size=(30, 8)), rng.uniform(size=(50, 8))
    gram, linear = factors.T @ factors + 8 * np.eye(8), rng.normal(size=(50, 8))
    start = rng.dirichlet(np.ones(8), size=50)
    common = RowQuadratics(gram, linear, removed)
    own = RowQuadratics(gram - removed[:, :, None] * removed[:, None, :], linear)
    x = minimize_on_simplex(common, start)
    np.testing.assert_allclose(x, minimize_on_simplex(own, start), atol=1e-7)
    assert simplex_gap(own, x).max() < 1e-8
    np.testing.assert_allclose(common.products(start), own.products(start), atol=1e-12)


def test_a_matrix_for_each_group_is_the_same_as_one_for_each_row(rng):
    factors = rng.normal(size=(3, 9, 5))
    grams = factors.transpose(0, 2, 1) @ factors
    owners = np.array([0, 0, 2, 2, 2])
    linear, start = rng.normal(size=(5, 5)), rng.dirichlet(np.ones(5), 5)
    removed = 0.1 * rng.normal(size=(5, 5))
    own = grams[owners] - removed[:, :, None] * removed[:, None, :]
    grouped = RowQuadratics(grams, linear, removed, owners)
    single = RowQuadratics(own, linear)
    np.testing.assert_allclose(grouped.products(start), single.products(start))
    np.testing.assert_allclose(grouped.corners(), single.corners())
    np.testing.assert_allclose(
        minimize_on_simplex(grouped, start),
        minimize_on_simplex(single, start),
        atol=1e-8,
    )


@pytest.mark.parametrize("owners", [None, np.array([0, 0, 1, 1, 1, 1])])
def test_factors_are_the_same_as_the_matrix(rng, owners):
    n_variables, n_rows = 40, 6
    shape = (n_variables, 12) if owners is None else (2, n_variables, 12)
    factor = rng.normal(size=shape)
    # In the range of the matrix, as in least squares: else the minimum is no number.
    targets = rng.normal(size=(n_rows, 12))
    own = factor[owners] if owners is not None else np.stack([factor] * n_rows)
    linear = np.einsum("rfk,rk->rf", own, targets)
    removed = 0.3 * own[:, :, 0]
    factored = quadratics(factor, linear, removed, owners)
    assert isinstance(factored, FactoredQuadratics)
    gram = factor @ factor.swapaxes(-1, -2)
    whole = RowQuadratics(gram, linear, removed, owners)
    start = rng.dirichlet(np.full(n_variables, 0.1), n_rows)
    np.testing.assert_allclose(factored.products(start), whole.products(start))
    np.testing.assert_allclose(factored.corners(), whole.corners())
    # The matrix is singular, so that points may differ, but not what they are worth.
    x, y = (minimize_on_simplex(each, start) for each in (factored, whole))
    np.testing.assert_allclose(whole.products(x), whole.products(y), atol=1e-6)
    assert simplex_gap(factored, x).max() < 1e-8
    np.testing.assert_allclose(simplex_gap(factored, start), simplex_gap(whole, start))
    turned = np.ascontiguousarray(factor.swapaxes(-1, -2))
    assert isinstance(quadratics(turned, targets), RowQuadratics)


@pytest.mark.parametrize("owners", [None, np.array([0, 0, 1, 1, 1, 1])])
def test_fast_products_are_those_of_the_factors(rng, owners):
    n_variables, n_rows = 40, 6
    turn = rng.normal(size=(n_variables, n_variables))
    turn += turn.T
    shape = (12, n_variables) if owners is None else (2, 12, n_variables)
    inner = rng.uniform(size=shape) * (rng.uniform(size=shape) < 0.2)
    factor = (inner @ turn).swapaxes(-1, -2)
    own = factor[owners] if owners is not None else np.stack([factor] * n_rows)
    linear = np.einsum("rfk,rk->rf", own, rng.normal(size=(n_rows, 12)))
    slow = FactoredQuadratics(factor, linear, 0.3 * own[:, :, 0], owners)
    fast = replace(slow, turned=TurnedProducts.of(inner, lambda x: x @ turn))
    start = rng.dirichlet(np.full(n_variables, 0.1), n_rows)
    for rows in (np.arange(n_rows), np.array([4, 5])):
        one, other = (
            each.near(start, 1e-9).take(rows).products(start[rows])
            for each in (slow, fast)
        )
        np.testing.assert_allclose(one, other, atol=1e-12)
    assert simplex_gap(slow, minimize_on_simplex(fast, start)).max() < 1e-8


@pytest.mark.parametrize("n_factors", [80, 12])
def test_where_the_search_begins_does_not_matter(rng, n_factors):
    factors = rng.normal(size=(n_factors, 20))
    linear = rng.normal(size=(25, n_factors)) @ factors
    start = np.full((25, 20), 1 / 20)
    for problem in (
        RowQuadratics(factors.T @ factors, linear),
        FactoredQuadratics(factors.T.copy(), linear),
    ):
        cold = minimize_on_simplex(problem, start)
        for begin in (rng.dirichlet(np.ones(20), 25), problem.corners(), cold):
            given = begin.copy()
            warm = minimize_on_simplex(problem, start, begin)
            np.testing.assert_allclose(warm, cold, atol=1e-7)
            assert simplex_gap(problem, warm).max() < 1e-8
            np.testing.assert_array_equal(begin, given)


def test_a_start_with_all_entries_ends_where_others_do(rng):
    factors = rng.normal(size=(80, 30))
    gram = factors.T @ factors
    problem = RowQuadratics(gram, rng.normal(size=(25, 30)) @ gram)
    wide = minimize_on_simplex(problem, np.full((25, 30), 1 / 30))
    narrow = minimize_on_simplex(problem, problem.corners())
    np.testing.assert_allclose(wide, narrow, atol=1e-7)
    assert simplex_gap(problem, wide).max() < 1e-8


def test_the_unit_matrix_gives_the_projection(rng):
    points = rng.normal(size=(40, 5))
    x = minimize_on_simplex(RowQuadratics(np.eye(5), points), np.full((40, 5), 0.2))
    shifts = points - x
    for row, shift in zip(x, shifts, strict=True):
        np.testing.assert_allclose(shift[row > 0], shift.max(), atol=1e-8)


def test_without_curvature_the_best_corner_is_taken():
    x = minimize_on_simplex(
        RowQuadratics(np.zeros((3, 3)), np.array([[0.0, 1.0, 0.5]])),
        np.full((1, 3), 1 / 3),
    )
    np.testing.assert_allclose(x, [[0, 1, 0]], atol=1e-12)


def test_where_nothing_matters_the_start_is_kept():
    start = np.array([[0.2, 0.3, 0.5]])
    x = minimize_on_simplex(RowQuadratics(np.zeros((3, 3)), np.zeros((1, 3))), start)
    np.testing.assert_allclose(x, start, atol=1e-12)


def test_gap_is_zero_at_the_minimum_only():
    gram, linear = np.eye(2), np.array([[2.0, 0.0], [2.0, 0.0]])
    gaps = simplex_gap(RowQuadratics(gram, linear), np.array([[1.0, 0.0], [0.5, 0.5]]))
    assert gaps[0] == 0
    assert gaps[1] > 0


@given(arrays(np.float64, 4, elements=st.floats(-10, 10)))
def test_quartic_is_minimised_on_the_unit_interval(coefficients):
    t, value = minimize_quartic(coefficients)
    grid = np.linspace(0, 1, 1001)
    powers = grid[:, None] ** np.arange(1, 5)
    assert 0 <= t <= 1
    assert value == pytest.approx(t ** np.arange(1, 5) @ coefficients, abs=1e-12)
    assert value <= (powers @ coefficients).min() + 1e-6
