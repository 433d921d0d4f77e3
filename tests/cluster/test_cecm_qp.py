import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose

from credalis.cluster.prototypes._cecm_masses import separable_simplex_qp

N_COLUMNS = 4
quadratics = arrays(np.float64, (3, N_COLUMNS), elements=st.floats(1e-6, 1e6))
linears = arrays(np.float64, (3, N_COLUMNS), elements=st.floats(-1e3, 1e3))


def objective(masses, quadratic, linear):
    return (quadratic * masses**2 + linear * masses).sum(axis=1)


def test_worked_example():
    masses = separable_simplex_qp(np.array([[1.0, 1, 2]]), np.array([[0.0, 1, -1]]))
    assert_allclose(masses, [[0.5, 0, 0.5]])


@given(quadratics, linears)
def test_solution_satisfies_the_optimality_conditions(quadratic, linear):
    masses = separable_simplex_qp(quadratic, linear)
    assert (masses >= 0).all()
    assert_allclose(masses.sum(axis=1), 1)
    slopes = 2 * quadratic * masses + linear
    size = 1 + np.abs(slopes).max(axis=1, keepdims=True)
    # Where there is mass, the slope is the smallest of the row.
    gaps = (slopes - slopes.min(axis=1, keepdims=True)) / size
    assert (gaps * (masses > 1e-9) <= 1e-9).all()


@given(quadratics, linears, st.floats(0.01, 1), st.integers(0, 3), st.integers(0, 3))
def test_no_other_masses_cost_less(quadratic, linear, share, source, target):
    best = separable_simplex_qp(quadratic, linear)
    other = best.copy()
    moved = share * other[:, source]
    other[:, source] -= moved
    other[:, target] += moved
    gap = objective(best, quadratic, linear) - objective(other, quadratic, linear)
    scale = 1 + np.abs(linear).max(axis=1) + (quadratic * best**2).sum(axis=1)
    assert (gap <= 1e-9 * scale).all()


@given(quadratics)
def test_without_linear_costs_masses_are_inverse_to_the_quadratic_ones(quadratic):
    masses = separable_simplex_qp(quadratic, np.zeros_like(quadratic))
    expected = 1 / quadratic / (1 / quadratic).sum(axis=1, keepdims=True)
    assert_allclose(masses, expected, rtol=1e-9)


@given(quadratics, linears, st.floats(-1e3, 1e3))
def test_common_shift_of_the_linear_costs_changes_nothing(quadratic, linear, shift):
    assert_allclose(
        separable_simplex_qp(quadratic, linear + shift),
        separable_simplex_qp(quadratic, linear),
        atol=1e-6,
    )


def test_column_without_quadratic_cost_takes_what_the_others_leave():
    # m = 1/2 on the first column costs as much at the margin as the second.
    masses = separable_simplex_qp(np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]]))
    assert_allclose(masses, [[0.5, 0.5]])
    masses = separable_simplex_qp(np.array([[1.0, 0.0]]), np.array([[0.0, 0.0]]))
    assert_allclose(masses, [[0, 1]], atol=1e-12)


def test_no_rows_are_no_problem():
    assert separable_simplex_qp(np.ones((0, 3)), np.ones((0, 3))).shape == (0, 3)
