"""Labels, pairs and dissimilarities of a part of the rows."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import squareform
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from credalis import ECM, NNEVCLUS, RECM
from credalis.model_selection._clusterer import Clusterer
from credalis.model_selection._side_information import SideInformation, take_rows


@given(st.sets(st.integers(0, 9), min_size=1), st.randoms(use_true_random=False))
def test_parts_keep_what_concerns_them_in_their_own_numbers(part, random):
    rows = sorted(part)
    random.shuffle(rows)
    rows = np.array(rows)
    labels = np.arange(10) % 3 - 1
    must, cannot = [(0, 3), (7, 4), (3, 9)], [(1, 2)]
    matrix = np.abs(np.subtract.outer(np.arange(10), np.arange(10))).astype(float)
    information = SideInformation(
        10,
        {
            "partial_labels": labels,
            "must_link": must,
            "cannot_link": cannot,
            "dissimilarities": squareform(matrix),
        },
    )
    known = information.of(rows)
    np.testing.assert_array_equal(known["partial_labels"], labels[rows])
    np.testing.assert_array_equal(known["dissimilarities"], matrix[np.ix_(rows, rows)])
    for name, pairs in (("must_link", must), ("cannot_link", cannot)):
        back = {frozenset(pair) for pair in rows[known[name]].tolist()}
        inside = {frozenset(pair) for pair in pairs if part >= set(pair)}
        assert back == inside
    assert information.n_known_clusters == 2


def test_nothing_given_is_nothing_told():
    information = SideInformation(5, {"must_link": None})
    assert information.of(np.arange(3)) == {}
    assert information.n_known_clusters == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"must_link": [(0, 5)]}, "must_link must hold row numbers from 0 to 4"),
        ({"cannot_link": [(0, 0)]}, "cannot_link must join different objects"),
        (
            {"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2)]},
            "must_link joins them: 0-1-2",
        ),
        ({"partial_labels": [0, 1]}, r"partial_labels must have .* 5 rows of X, got"),
        ({"dissimilarities": np.ones((5, 4))}, r"dissimilarities must be .*\(5, 4\)"),
        ({"dissimilarities": np.ones(9)}, r"dissimilarities must be .*\(9,\)"),
    ],
)
def test_wrong_side_information_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        SideInformation(5, given)


def test_a_clusterer_that_takes_no_pairs_is_not_given_any():
    information = SideInformation(5, {"must_link": [(0, 1)]})
    information.check_used_by(Clusterer.find(NNEVCLUS()))
    with pytest.raises(ValueError, match="must_link must be None for RECM"):
        information.check_used_by(Clusterer.find(RECM()))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, np.array, list])
def test_rows_of_any_table(frame):
    X = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]
    table = pd.DataFrame(X, columns=["a", "b"])
    table = table.to_dict("list") if frame is pl.DataFrame else X
    part = take_rows(frame(table), np.array([2, 0]), is_pairwise=False)
    np.testing.assert_array_equal(part, [[4, 5], [0, 1]])


def test_rows_and_columns_of_a_matrix_of_pairs():
    matrix = np.arange(9).reshape(3, 3)
    part = take_rows(matrix, np.array([2, 0]), is_pairwise=True)
    assert part.tolist() == [[8, 6], [2, 0]]
    with pytest.raises(ValueError, match=r"X must be a square matrix.*\(3, 2\)"):
        take_rows(matrix[:, :2], np.array([0]), is_pairwise=True)


def test_the_clusterer_is_found_inside_pipelines():
    inner = make_pipeline(StandardScaler(), ECM(n_clusters=5))
    clusterer = Clusterer.find(make_pipeline(StandardScaler(), inner))
    assert clusterer.prefix == "pipeline__ecm__"
    assert clusterer.name == "ECM"
    assert clusterer.parameters["n_clusters"] == 5
    changed = clusterer.with_parameters(n_clusters=7)
    assert (clusterer.inner.n_clusters, changed.inner.n_clusters) == (5, 7)


def test_seeds_are_given_where_they_are_missing_or_everywhere():
    clusterer = Clusterer.find(make_pipeline(StandardScaler(), ECM(random_state=3)))
    kept = clusterer.with_seed(0, only_missing=True)
    assert kept["ecm"].random_state == 3
    first, same, other = (clusterer.with_seed(k)["ecm"].random_state for k in (0, 0, 1))
    assert first == same != other


@pytest.mark.parametrize(
    "wrong", [None, "ECM", ECM, make_pipeline(StandardScaler(), "passthrough")]
)
def test_what_is_no_clusterer_is_refused(wrong):
    with pytest.raises(ValueError, match="estimator must be a clusterer or a pipeline"):
        Clusterer.find(wrong)
