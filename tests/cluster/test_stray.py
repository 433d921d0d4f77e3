"""Rows far from everything: which they are, and that they decide nothing."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score

from credalis import Consensus, compare, load
from credalis.cluster._inputs._stray import stray_rows
from credalis.exceptions import StrayRowsWarning
from credalis.model_selection import suggest_n_clusters
from credalis.sources import ArraySource

TYPOS = (17, 70, 120)


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(300, 3))


def mistyped(X, factor=10.0, places=TYPOS, column=2):
    """X with some cells of one column times a factor."""
    X = X.copy()
    X[list(places), column] = np.abs(X[list(places), column]) * factor
    return X


def consensus(X, n_clusters, *, strays, **options):
    """A fit that warns of stray rows, or of nothing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = Consensus(n_clusters, random_state=0).fit(X, **options)
    found = [each.category for each in caught]
    assert found == ([StrayRowsWarning] if strays else [])
    return model


class TestStrayRows:
    def test_no_ordinary_row_is_one(self, rows):
        assert len(stray_rows(rows)) == 0

    @pytest.mark.parametrize("factor", [20.0, 1e6, 1e150])
    def test_cells_with_a_wrong_decimal_point(self, rows, factor):
        X = rows.copy()
        X[[5, 80], [0, 1]] = factor, -factor
        assert stray_rows(X).tolist() == [5, 80]

    @pytest.mark.parametrize(("far", "found"), [(53.4, []), (53.6, [40])])
    def test_by_hand(self, far, found):
        # The middle is 0.5, 19 of 20 rows are within 19 of it, and the fifth nearest
        # row to the last one is 15.5: it is stray beyond 15.5 + 2 · 19.
        X = np.append(np.arange(-19.5, 20.0), far)[:, None]
        assert stray_rows(X).tolist() == found

    @pytest.mark.parametrize(("n_far", "n_stray"), [(5, 5), (6, 0), (100, 0)])
    def test_a_group_is_none_however_far(self, rows, n_far, n_stray):
        group = 1e4 + np.random.default_rng(1).normal(size=(n_far, 3))
        assert len(stray_rows(np.vstack([rows, group]))) == n_stray

    def test_rows_that_are_nearly_all_the_same(self):
        X = np.zeros((200, 2))
        X[:4] = [[0, 1], [3, 0], [50, 50], [0, 900]]
        assert len(stray_rows(X)) == 0

    @pytest.mark.parametrize("n_rows", [1, 2, 5])
    def test_few_rows(self, n_rows):
        assert len(stray_rows(10.0 ** np.arange(n_rows)[:, None])) == 0

    def test_of_many_rows_some_are_searched(self):
        X = np.random.default_rng(2).normal(size=(9000, 2))
        X[[3, 5001]] = [[80.0, 0.0], [0.0, -90.0]]
        assert stray_rows(X).tolist() == [3, 5001]

    @given(
        shift=st.floats(-1e3, 1e3),
        unit=st.sampled_from([2.0**-40, 0.25, 1.0, 2.0**60]),
        seed=st.integers(0, 20),
    )
    def test_neither_units_nor_order_matter(self, shift, unit, seed):
        rng = np.random.default_rng(seed)
        X = rng.standard_t(2, size=(80, 2))
        found = set(stray_rows(X))
        order = rng.permutation(len(X))
        moved = (X[order] + round(shift)) * unit
        assert {int(order[k]) for k in stray_rows(moved)} == found


class TestConsensus:
    @pytest.mark.parametrize("places", [TYPOS[:1], TYPOS])
    @pytest.mark.parametrize("factor", [10.0, 1000.0])
    def test_wrong_cells_cost_no_cluster(self, places, factor):
        X, y = load_iris(return_X_y=True)
        clean = consensus(X, 3, strays=False)
        # The smallest cell of this column is a tenth of the largest.
        X[list(places), 2] = 5.0
        model = consensus(mistyped(X, factor, places), 3, strays=True)
        assert model.n_stray_ == len(places)
        assert model.partition_.is_outlier[list(places)].all()
        others = np.setdiff1d(np.arange(len(X)), places)
        wanted = adjusted_rand_score(y[others], clean.labels_[others])
        found = adjusted_rand_score(y[others], model.labels_[others])
        assert found >= wanted - 0.03
        assert "so far away from all others" in model.describe()
        assert model._caveats()[0].endswith("are all cells right?")

    def test_nothing_is_told_of_ordinary_rows(self):
        model = consensus(load_iris(return_X_y=True)[0], 3, strays=False)
        assert model.n_stray_ == 0
        assert "far away" not in model.describe()

    def test_the_number_of_clusters(self):
        X, _ = make_blobs(400, centers=5, n_features=4, random_state=3)
        X = mistyped(X, 1000.0)
        assert consensus(X, "auto", strays=True).n_clusters_ == 5
        assert suggest_n_clusters(X, random_state=0).best == 5

    def test_known_rows_stay(self):
        X, y = load_iris(return_X_y=True)
        X[70, 2] = 50.0
        labels = np.full(len(X), -1)
        labels[[0, 70, 100]] = y[[0, 70, 100]]
        model = consensus(X, 3, strays=False, partial_labels=labels)
        assert model.n_stray_ == 0
        linked = consensus(X, 3, strays=False, must_link=[(70, 71)])
        assert linked.n_stray_ == 0

    def test_known_rows_beside_stray_ones(self):
        X, y = load_iris(return_X_y=True)
        X[[17, 70], 2] = 50.0, 80.0
        labels = np.full(len(X), -1)
        labels[[5, 60, 140]] = y[[5, 60, 140]]
        model = consensus(X, 3, strays=True, partial_labels=labels)
        assert (model.labels_[[5, 60, 140]] == y[[5, 60, 140]]).all()
        assert adjusted_rand_score(y, model.labels_) > 0.85

    def test_all_rows_stay_if_too_few_clusters_were_left(self):
        X = np.vstack([np.zeros((60, 1)), np.ones((60, 1)), [[1e3]], [[-1e3]]])
        model = consensus(X, 4, strays=False)
        assert model.n_stray_ == 0

    def test_more_rows_than_the_committee_sees(self):
        X, y = make_blobs(3000, centers=4, n_features=5, random_state=1)
        X = mistyped(X, 1000.0)
        model = consensus(X, 4, strays=True)
        others = np.setdiff1d(np.arange(len(X)), TYPOS)
        assert adjusted_rand_score(y[others], model.labels_[others]) > 0.99
        assert model.partition_.is_outlier[list(TYPOS)].all()

    def test_blocks(self):
        X, y = make_blobs(5000, centers=4, n_features=5, random_state=1)
        X = mistyped(X, 1e5)
        model = Consensus(4, random_state=0)
        with pytest.warns(StrayRowsWarning, match=r"without them\. Look"):
            model.fit(ArraySource(X))
        others = np.setdiff1d(np.arange(len(X)), TYPOS)
        labels = model.predict(X)
        assert adjusted_rand_score(y[others], labels[others]) > 0.99

    def test_it_does_not_count_against_the_method(self):
        X, _ = load_iris(return_X_y=True)
        X[70, 2] = 48.0
        with pytest.warns(StrayRowsWarning):
            table = compare(X, 3, methods=["Consensus", "ECM"], random_state=0)
        assert [each.warnings for each in table.scores] == [(), ()]

    def test_files(self, tmp_path):
        X, _ = load_iris(return_X_y=True)
        X[70, 2] = 48.0
        model = consensus(X, 3, strays=True)
        model.save(tmp_path / "model.credalis")
        again = load(tmp_path / "model.credalis")
        assert again.n_stray_ == 1
        assert again.describe() == model.describe()
        assert np.array_equal(again.predict(X), model.labels_)

    def test_the_same_bits_without_stray_rows(self, monkeypatch):
        X, _ = load_iris(return_X_y=True)
        model = consensus(X, 3, strays=False)
        monkeypatch.setattr(
            "credalis.cluster.consensus._start.stray_rows",
            lambda rows: np.empty(0, dtype=np.intp),
        )
        untouched = consensus(X, 3, strays=False)
        assert np.array_equal(model.partition_.masses, untouched.partition_.masses)
