"""Concave functions on the matrices of trace 1."""

import numpy as np
import pytest

from credalis.optimize import maximize_on_spectraplex


def sum_of_roots(q):
    return np.sqrt(q).sum(), 0.5 / np.sqrt(q)


def sum_of_logarithms(q):
    return np.log(q).sum(), 1 / q


def test_diagonal_problem_in_closed_form():
    # max Σ a_t s_t^(1/2) on the simplex: s ∝ a².
    a = np.array([1.0, 2.0, 3.0])
    solution = maximize_on_spectraplex(np.diag(a), sum_of_roots)
    np.testing.assert_allclose(solution.matrix, np.diag(a**2 / (a @ a)), atol=1e-5)
    assert solution.value == pytest.approx(np.sqrt(a @ a))


def test_linear_function_gives_the_leading_eigenvector(rng):
    U = rng.normal(size=(20, 4))
    solution = maximize_on_spectraplex(U, lambda q: (q.sum(), np.ones(20)))
    assert solution.value == pytest.approx(np.linalg.eigvalsh(U.T @ U)[-1])
    assert np.linalg.eigvalsh(solution.matrix)[-1] == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("function", [sum_of_roots, sum_of_logarithms])
def test_solution_is_feasible_and_certified(function, seed):
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(15, 4))
    solution = maximize_on_spectraplex(U, function)
    S = solution.matrix
    assert solution.converged
    assert np.trace(S) == pytest.approx(1.0)
    assert np.linalg.eigvalsh(S)[0] >= -1e-12
    np.testing.assert_allclose(solution.factor.T @ solution.factor, S, atol=1e-12)
    assert 0 <= solution.gap <= 1e-4 * abs(solution.value)
    for _ in range(200):
        B = rng.normal(size=(4, 4))
        other = B @ B.T / np.trace(B @ B.T)
        forms = np.einsum("ij,jk,ik->i", U, other, U)
        assert function(forms)[0] <= solution.value + solution.gap


def test_gap_tells_how_far_an_unfinished_search_is(rng):
    U = rng.normal(size=(15, 4)) * [1, 2, 5, 10]
    unfinished = maximize_on_spectraplex(U, sum_of_roots, max_iter=1)
    best = maximize_on_spectraplex(U, sum_of_roots)
    assert not unfinished.converged
    assert unfinished.value < best.value <= unfinished.value + unfinished.gap
    again = maximize_on_spectraplex(U, sum_of_roots, start=best.factor)
    assert again.value == pytest.approx(best.value)
