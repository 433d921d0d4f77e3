"""What is known about the rows, for any part of them, and where the clusterer is."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import squareform
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from credalis import ECM, RECM
from credalis.model_selection import search, select_n_clusters

X = np.column_stack([np.arange(10.0), np.zeros(10)])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    part=st.sets(st.integers(0, 9), min_size=1, max_size=9),
    random=st.randoms(use_true_random=False),
)
def test_parts_keep_what_concerns_them_in_their_own_numbers(
    part, random, recorder, seen
):
    rows = sorted(part)
    random.shuffle(rows)
    rows = np.array(rows)
    labels = np.arange(10) % 3 - 1
    must, cannot = [(0, 3), (7, 4), (3, 9)], [(1, 2)]
    matrix = np.abs(np.subtract.outer(np.arange(10), np.arange(10))).astype(float)
    seen.clear()
    search(
        recorder(),
        {"power": [0]},
        X,
        partial_labels=labels,
        must_link=must,
        cannot_link=cannot,
        dissimilarities=squareform(matrix),
        scoring=lambda fitted, X, y=None: 0.0,
        cv=[(rows, np.setdiff1d(np.arange(10), rows))],
        refit=False,
    )
    [known] = seen
    np.testing.assert_array_equal(known["rows"], rows)
    np.testing.assert_array_equal(known["partial_labels"], labels[rows])
    np.testing.assert_array_equal(known["dissimilarities"], matrix[np.ix_(rows, rows)])
    for name, pairs in (("must_link", must), ("cannot_link", cannot)):
        back = {frozenset(pair) for pair in rows[known[name]].tolist()}
        inside = {frozenset(pair) for pair in pairs if part >= set(pair)}
        assert back == inside


def test_nothing_given_is_nothing_told(recorder, seen):
    search(recorder(), {"power": [0]}, X, must_link=None, cv=2)
    names = ("partial_labels", "must_link", "cannot_link", "dissimilarities")
    assert seen
    assert all(each[name] is None for each in seen for name in names)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"must_link": [(0, 10)]}, "must_link must hold row numbers from 0 to 9"),
        ({"cannot_link": [(0, 0)]}, "cannot_link must join different objects"),
        (
            {"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2)]},
            "must_link joins them: 0-1-2",
        ),
        ({"partial_labels": [0, 1]}, r"partial_labels must have .* 10 rows of X, got"),
        ({"dissimilarities": np.ones((10, 4))}, r"dissimilarities must be .*\(10, 4\)"),
        ({"dissimilarities": np.ones(9)}, r"dissimilarities must be .*\(9,\)"),
    ],
)
def test_wrong_side_information_is_refused(given, message, recorder):
    with pytest.raises(ValueError, match=message):
        search(recorder(), {"power": [0]}, X, **given)
    with pytest.raises(ValueError, match=message):
        select_n_clusters(recorder(), X, [2, 3], **given)


def test_a_clusterer_that_takes_no_pairs_is_not_given_any():
    with pytest.raises(ValueError, match="must_link must be None for RECM"):
        select_n_clusters(RECM(), X, [2, 3], must_link=[(0, 1)])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, np.array, list])
def test_rows_of_any_table(frame, recorder, seen):
    table = {"a": X[:, 0], "b": 2 * X[:, 0]}
    if frame in (np.array, list):
        table = np.column_stack(list(table.values())).tolist()
    select_n_clusters(
        recorder(), frame(table), [2, 3], criteria="stability", n_resamples=3
    )
    parts = [each for each in seen if len(each["rows"]) < 10]
    assert len(parts) == 2 * 3
    for each in parts:
        np.testing.assert_array_equal(each["X"][:, 1], 2.0 * each["rows"])


def test_a_matrix_of_pairs_has_as_many_rows_as_columns(recorder):
    model = recorder(metric="precomputed")
    with pytest.raises(ValueError, match=r"X must be a square matrix.*\(10, 2\)"):
        select_n_clusters(model, X, [2, 3])


def test_the_clusterer_is_found_inside_pipelines():
    inner = make_pipeline(StandardScaler(), ECM(n_clusters=5, random_state=3))
    given = make_pipeline(StandardScaler(), inner)
    selection = select_n_clusters(given, X, [2, 3], criteria="peaks", random_state=0)
    for n_clusters, fitted in selection.estimators.items():
        # Its seed is its own, and the estimator that was given has not changed.
        assert fitted["pipeline"]["ecm"].n_clusters == n_clusters
        assert fitted["pipeline"]["ecm"].random_state == 3
        assert len(fitted["pipeline"]["ecm"].labels_) == len(X)
    assert given["pipeline"]["ecm"].n_clusters == 5
    with pytest.raises(ValueError, match="parameter n_clusters, got Tail without it"):
        select_n_clusters(make_pipeline(inner, Tail()), X, [2, 3])


class Tail(StandardScaler):
    """The last step of a pipeline that clusters nothing."""


def test_seeds_are_given_where_they_are_missing_or_everywhere(recorder, seen):
    def seeds(own, seed):
        """Of the fits to all rows, and of those to parts of them."""
        seen.clear()
        model = recorder(random_state=own)
        select_n_clusters(
            model, X, [2, 3], criteria="stability", n_resamples=3, random_state=seed
        )
        drawn = [(len(each["rows"]) < 10, each["random_state"]) for each in seen]
        return [[value for is_part, value in drawn if is_part == k] for k in (0, 1)]

    whole, parts = seeds(7, 0)
    assert set(whole) == {7}
    assert None not in parts
    assert 7 not in parts
    assert seeds(7, 0) == [whole, parts]
    assert seeds(7, 1) != [whole, parts]
    assert None not in seeds(None, 0)[0]


@pytest.mark.parametrize(
    "wrong", [None, "ECM", ECM, make_pipeline(StandardScaler(), "passthrough")]
)
def test_what_is_no_clusterer_is_refused(wrong):
    with pytest.raises(ValueError, match="estimator must be a clusterer or a pipeline"):
        select_n_clusters(wrong, X, [2, 3])
