"""Checks of parameters: what passes, and what the message says."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from credalis._checks import (
    check_choice,
    check_distributions,
    check_finite,
    check_flag,
    check_integer,
    check_n_jobs,
    check_number,
    check_numbers,
    check_seed,
    check_spread,
    check_squarable,
)


class TestInteger:
    @pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3)])
    def test_integers_of_any_width_become_python_integers(self, value):
        checked = check_integer("n", value, at_least=3, at_most=3)
        assert checked == 3
        assert type(checked) is int

    @pytest.mark.parametrize("value", [3.0, "3", None, True, np.True_, [3], np.nan])
    def test_nothing_else_is_an_integer(self, value):
        with pytest.raises(ValueError, match=r"^n must be an integer, got "):
            check_integer("n", value)

    def test_the_message_names_bounds_and_value(self):
        with pytest.raises(ValueError, match=r"^n must be an integer >= 2, got 1$"):
            check_integer("n", 1, at_least=2)
        with pytest.raises(
            ValueError, match=r"^n must be an integer >= 1 and <= 1234567, got 1234568$"
        ):
            check_integer("n", 1234568, at_least=1, at_most=1234567)


class TestNumber:
    @pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2)])
    def test_numbers_of_any_kind_become_floats(self, value):
        checked = check_number("beta", value, above=1, at_least=2, at_most=2)
        assert checked == 2.0
        assert type(checked) is float

    @pytest.mark.parametrize(
        "value",
        [
            *(np.nan, np.inf, -np.inf, pytest.param(10**400, id="huge")),
            *("2", None, True, np.False_, [2.0], 2j, Decimal(2)),
            *(Fraction(2), np.timedelta64(2, "s")),
        ],
    )
    def test_nothing_else_is_a_finite_number(self, value):
        with pytest.raises(ValueError, match=r"^beta must be a finite number, got "):
            check_number("beta", value)

    @pytest.mark.parametrize(
        ("bounds", "value", "message"),
        [
            ({"above": 1}, 1, "a finite number > 1, got 1$"),
            ({"above": 1.0}, 0.5, r"a finite number > 1, got 0\.5$"),
            ({"at_least": 0}, -1e-300, "a finite number >= 0, got -1e-300$"),
            ({"at_most": 0.25}, 0.5, r"a finite number <= 0\.25, got 0\.5$"),
            ({"above": 0, "at_most": 1}, 2, "a finite number > 0 and <= 1, got 2$"),
        ],
    )
    def test_the_message_names_bounds_and_value(self, bounds, value, message):
        with pytest.raises(ValueError, match=f"^beta must be {message}"):
            check_number("beta", value, **bounds)


class TestChoice:
    def test_a_choice_passes(self):
        assert check_choice("rule", "b", ("a", "b")) == "b"

    @pytest.mark.parametrize("value", ["c", "", "ab", None, 1, ["a"], b"a"])
    def test_the_message_lists_the_choices(self, value):
        with pytest.raises(ValueError, match=r"^rule must be one of 'a', 'b', got "):
            check_choice("rule", value, ("a", "b"))


class TestNumbers:
    @pytest.mark.parametrize(
        "values",
        [[1, 2], (1.0, 2.0), np.array([1, 2], dtype=np.float32), [np.int8(1), 2.0]],
    )
    def test_numbers_become_an_array_of_their_own(self, values):
        array = check_numbers("x", values)
        assert array.dtype == np.float64
        np.testing.assert_array_equal(array, [1, 2])
        assert not np.shares_memory(array, np.asarray(values))

    def test_an_array_of_the_right_type_is_copied_too(self):
        values = np.ones(3)
        assert not np.shares_memory(check_numbers("x", values), values)

    @pytest.mark.parametrize(
        ("values", "message"),
        [
            (["1", "2"], "got list: its type is text"),
            ([1, "2"], "got list: its type is text"),
            (np.array([1, "2"], dtype=object), "got ndarray: its type is text"),
            ("12", "got str: its type is text"),
            ([1j], "got list: its type is complex128"),
            (
                np.array(["2024-01-01"], dtype="M8[D]"),
                r"got ndarray: its type is datetime64\[D\]",
            ),
            ([[1], [1, 2]], "got list: .*inhomogeneous"),
            ([object()], "got list: "),
            ({1, 2}, "got set: "),
        ],
    )
    def test_what_is_no_number_is_refused(self, values, message):
        with pytest.raises(
            ValueError, match=f"^x must be an array of numbers, {message}"
        ):
            check_numbers("x", values)


class TestDistributions:
    def test_rows_that_sum_to_one_pass(self):
        rows = np.array([[0.25, 0.75], [1.0, 0.0]])
        np.testing.assert_array_equal(check_distributions("x", rows.copy()), rows)
        assert check_distributions("x", np.empty((0, 3))).shape == (0, 3)

    def test_rounding_passes_and_what_is_beyond_does_not(self):
        nearly = np.array([[-9e-9, 1.0 + 9e-7]])
        np.testing.assert_array_equal(
            check_distributions("x", nearly), [[0, 1.0 + 9e-7]]
        )
        with pytest.raises(ValueError, match=r"^x must be >= 0, the smallest is -1.1e"):
            check_distributions("x", np.array([[-1.1e-8, 1.0]]))
        with pytest.raises(
            ValueError, match=r"^each row of x must sum to 1, row 1 sums to 0\.9999989$"
        ):
            check_distributions("x", np.array([[0, 1.0], [0, 1 - 1.1e-6]]))

    def test_many_small_negative_values_do_not_hide_in_the_sum(self):
        # Clipped to zero they leave a row that sums to too much.
        row = np.full((1, 300), -9e-9)
        row[0, 0] = 1 + 299 * 9e-9
        with pytest.raises(ValueError, match="must sum to 1, row 0"):
            check_distributions("x", row)

    @pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
    def test_the_place_of_what_is_not_finite_is_named(self, value):
        matrix = np.zeros((3, 2))
        matrix[2, 1] = value
        for check in (check_finite, check_distributions):
            with pytest.raises(
                ValueError, match=rf"^x must be finite, got {value} in row 2, column 1$"
            ):
                check("x", matrix)


@pytest.mark.parametrize(
    "value", [np.zeros((3, 2)), np.zeros((100, 100)), "x\ny" * 500]
)
def test_a_message_is_one_line_whatever_came(value):
    for check in (check_integer, check_number, check_flag, check_seed):
        with pytest.raises(ValueError, match=r"^n must be [^\n]*, got ") as caught:
            check("n", value)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 300


class TestSquarable:
    def test_numbers_with_a_square_pass(self):
        for value in (1e-153, 2, 1e153):
            assert 0 < check_squarable("delta", value) ** 2 < np.inf

    @pytest.mark.parametrize("value", [1e-200, 1e200])
    def test_others_are_named(self, value):
        with pytest.raises(ValueError, match=r"^delta must lie between 1e-153 and "):
            check_squarable("delta", value)
        with pytest.raises(ValueError, match=r"^delta must be a finite number > 0,"):
            check_squarable("delta", -value)


class TestSpread:
    @pytest.mark.parametrize("unit", [0.0, 1e-150, 1.0, 1e150])
    def test_squares_that_are_numbers_pass(self, unit):
        check_spread("X", unit * np.arange(6.0).reshape(3, 2))

    @pytest.mark.parametrize("unit", [1e-200, 1e200, 1e308])
    def test_others_are_refused_with_the_range_of_the_values(self, unit):
        with pytest.raises(ValueError, match=r"^X must have distances .* from 0 to 1"):
            check_spread("X", unit * np.array([[0.0, 0.5], [1.0, 0.5]]))


class TestSeed:
    @pytest.mark.parametrize(
        "value", [None, 0, np.int64(3), 2**32 - 1, np.random, np.random.RandomState(0)]
    )
    def test_what_scikit_learn_takes_passes(self, value):
        check_seed("random_state", value)

    @pytest.mark.parametrize("value", ["x", -1, 2**32, 0.5, True, [1], np.zeros(2)])
    def test_the_rest_is_named(self, value):
        with pytest.raises(ValueError, match=r"^random_state must be .*, got "):
            check_seed("random_state", value)


class TestJobs:
    def test_numbers_but_0_pass(self):
        for value in (None, 1, 2, -1):
            check_n_jobs(value)

    @pytest.mark.parametrize("value", [0, 1.5, "all", np.inf, [2]])
    def test_the_rest_is_named(self, value):
        with pytest.raises(ValueError, match=r"^n_jobs must be .*, got "):
            check_n_jobs(value)


def test_a_text_is_no_flag():
    assert check_flag("symmetrize", np.True_) is True
    for value in ("no", 0, None):
        with pytest.raises(ValueError, match=r"^symmetrize must be a bool, got "):
            check_flag("symmetrize", value)


def test_an_integer_too_large_for_a_float_is_no_array_of_numbers():
    with pytest.raises(ValueError, match=r"^init must be an array of numbers, got int"):
        check_numbers("init", 10**400)
