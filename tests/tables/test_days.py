import numpy as np

from credalis.tables._days import day_text, days, moments


def test_days_are_counted_from_1970_and_back():
    given = np.array(["1969-12-31T12:00", "1970-01-02", "2024-05-31T18:45", "NaT"])
    given = given.astype("datetime64[us]")
    numbers = days(given)
    assert numbers[:2].tolist() == [-0.5, 1.0]
    assert np.isnan(numbers[3])
    np.testing.assert_array_equal(moments(numbers), given)


def test_a_moment_is_on_the_day_that_has_begun():
    assert [day_text(day) for day in (-0.5, 0.0, 0.999)] == [
        "1969-12-31",
        "1970-01-01",
        "1970-01-01",
    ]
