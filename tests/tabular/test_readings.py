"""Cells of text, dates and times as numbers."""

import datetime as dt

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")

from credalis.tabular._readings import (  # noqa: E402
    as_numbers,
    in_words,
    reading_of,
    signs_of_missing,
)


def read(cells, kind=None):
    """How cells are read, and the numbers."""
    column = pa.array(cells, kind)
    reading = reading_of(column)
    signs = signs_of_missing(column, reading)
    return reading, as_numbers(column, reading, "x", signs=signs).tolist()


@pytest.mark.parametrize(
    ("cells", "reading", "numbers"),
    [
        (["1,000,000", "500", "2,345.5"], "point", [1e6, 500, 2345.5]),
        (["12.5 %", "3%", "-0.5 %"], "point", [12.5, 3, -0.5]),
        (["€ 3.20", "€1,000.00", "0"], "point", [3.2, 1000, 0]),
        (["3,20 €", "1.000,50 €"], "comma", [3.2, 1000.5]),
        (["-1,5", "2,75"], "comma", [-1.5, 2.75]),
        (["1 000", "23\u202f456", "−7"], "point", [1000, 23456, -7]),
        (["1'000", "20"], "point", [1000, 20]),
        (["USD 12", "USD 13.5"], "point", [12, 13.5]),
        (["1,000", "2,500"], "point", [1000, 2500]),
        ([" 1.5e3 ", "2"], "point", [1500, 2]),
    ],
)
def test_amounts_are_numbers(cells, reading, numbers):
    assert read(cells) == (reading, numbers)


@pytest.mark.parametrize(
    "cells",
    [
        ["a", "b"],
        ["$ 5", "€ 5"],
        ["0", "1", "2", "3+"],
        ["12,34,5", "1"],
        ["5 %", "6", "7", "8"],
        ["€ 5 €", "€ 6 €"],
        ["01/02/2020", "03/04/2020"],
        ["31.02.2020", "01.01.2020"],
        [None, None],
    ],
    ids=[
        *("words", "two currencies", "a rank", "odd groups", "few signs", "twice"),
        *("no order", "no such day", "nothing"),
    ],
)
def test_what_is_not_clear_stays_text(cells):
    assert reading_of(pa.array(cells, pa.string())) is None


def test_signs_stand_for_missing_numbers():
    column = pa.array(["1", "2.5", "?", "n/a", None])
    assert signs_of_missing(column, "point") == ["?", "n/a"]
    found = as_numbers(column, "point", "x", signs=["?", "n/a"])
    np.testing.assert_array_equal(found, [1, 2.5, np.nan, np.nan, np.nan])
    with pytest.raises(ValueError, match=r"column 'x': 'n/a' is not a number .*--na"):
        as_numbers(column, "point", "x", signs=["?"])


@pytest.mark.parametrize(
    ("cells", "reading"),
    [
        (["2020-12-31", "2021-1-2"], "ymd days"),
        (["2020/12/31", "2021/01/02"], "ymd days"),
        (["31.12.2020", "02.01.2021"], "dmy days"),
        (["31/12/2020", "02/01/2021"], "dmy days"),
        (["12/31/2020", "01/02/2021"], "mdy days"),
    ],
)
def test_text_of_dates_is_days(cells, reading):
    assert read(cells) == (reading, [18627.0, 18629.0])


def test_a_text_that_is_no_date_is_named():
    with pytest.raises(ValueError, match=r"'x': '2020' is not a date in the order"):
        as_numbers(pa.array(["2020"]), "dmy days", "x")


def test_moments_days_times_and_durations():
    noon = dt.datetime(1970, 1, 2, 12)
    assert read([noon]) == ("date days", [1.5])
    assert read([dt.date(1970, 1, 3)]) == ("date days", [2.0])
    assert read([dt.time(6, 30)]) == ("time", [6.5])
    assert read([dt.timedelta(hours=36)]) == ("duration", [1.5])
    assert read([True, False]) == ("truth", [1.0, 0.0])


def test_parts_of_dates():
    column = pa.array([dt.datetime(2024, 2, 29, 23), None])
    parts = {
        part: as_numbers(column, f"date {part}", "x")[0]
        for part in ("year", "month", "weekday", "hour")
    }
    assert parts == {"year": 2024, "month": 2, "weekday": 3, "hour": 23}
    assert np.isnan(as_numbers(column, "date hour", "x")[1])
    days = pa.array([dt.date(2024, 2, 29)])
    assert as_numbers(days, "date hour", "x").tolist() == [0.0]


def test_ordered_categories_are_ranks():
    column = pa.array(["M", "S", None, "L", "XL"])
    found = as_numbers(column, "rank", "x", order=["S", "M", "L"])
    np.testing.assert_array_equal(found, [1, 0, np.nan, 2, np.nan])


def test_another_type_than_in_the_fit_is_named():
    with pytest.raises(ValueError, match="'x' must hold numbers, but its type is str"):
        as_numbers(pa.array(["a"]), "number", "x")
    with pytest.raises(ValueError, match="'x' must hold days since"):
        as_numbers(pa.array(["a"]), "date days", "x")
    # A column that happens to hold plain numbers needs no reading.
    assert as_numbers(pa.array([1.5]), "point", "x").tolist() == [1.5]


def test_readings_in_words():
    assert in_words("point", "5 %") == "numbers with decimal points, in per cent"
    assert in_words("comma", "5,0 €") == "numbers with decimal commas, in €"
    assert in_words("point", "1,000,000") == (
        "numbers with decimal points and commas between thousands"
    )
    assert in_words("comma", "€ 1 000") == (
        "numbers with decimal commas and blanks between thousands, in €"
    )
    assert in_words("dmy days") == "days since 1970-01-01 from d/m/y"
    assert in_words("time") == "hours of the day"
