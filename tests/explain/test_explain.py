"""Why objects are where they are."""

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import credalis
from credalis import (
    ECM,
    EVCLUS,
    NNEVCLUS,
    Bootclus,
    CatECM,
    CredalPartition,
    FocalSets,
    explain,
)
from credalis._explain import Explanations
from credalis._explain._batches import RowExplainer, with_typical_cells
from credalis._explain._cells import MODEL, NEIGHBORS, cells_of
from credalis._explain._reasons import (
    cluster_scores,
    plausibility_shares,
)
from credalis._explain._typical import typical_cells
from credalis.tabular import TablePreparation, TabularModel


def blobs(n=40, seed=0):
    """Two clusters apart in the last column; row 0 between them, row 1 far away."""
    X = np.random.default_rng(seed).normal(scale=0.8, size=(2 * n, 3))
    X[n:, 2] += 5
    X[0] = [0, 0, 2.5]
    X[1] = [9, 0, 0]
    return X


def mixed_table(n=30):
    """Kinds and sizes of two sorts, with gaps and dates."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "size": np.concatenate([rng.normal(0, 1, n), rng.normal(8, 1, n)]),
            "kind": ["a"] * n + ["b"] * n,
            "colour": rng.choice(["red", "blue"], 2 * n),
            "day": pd.date_range("2024-01-01", periods=2 * n),
        }
    )
    table.loc[[3, 40], "size"] = np.nan
    table.loc[[5, 50], "kind"] = None
    return table


@pytest.fixture(scope="module")
def iris():
    return load_iris().data


@pytest.fixture(scope="module")
def iris_model(iris):
    return NNEVCLUS(3, random_state=0).fit(iris)


class TestOneObject:
    def test_the_column_that_separates_speaks_for_the_cluster(self):
        X = blobs()
        model = ECM(2, random_state=0).fit(X)
        found = explain(model, X, [5, 70])
        for each, own in zip(found, model.labels_[[5, 70]], strict=True):
            assert each.verdict == "clear"
            assert each.clusters[0] == own
            assert [r.feature for r in each.speaking(own)] == ["feature 2"]
            assert [r.feature for r in each.objecting(each.clusters[1])]

    def test_an_object_between_clusters_names_its_rivals(self):
        X = blobs()
        model = ECM(2, random_state=0).fit(X)
        (each,) = explain(model, X, 0)
        assert each.verdict == "between"
        assert set(each.clusters) == {0, 1}
        assert list(each.plausibility) == sorted(each.plausibility, reverse=True)
        assert each.sentence.startswith("between ")

    def test_an_outlier_is_told_what_is_unusual(self):
        X = blobs()
        model = ECM(2, random_state=0).fit(X)
        (each,) = explain(model, X, [1])
        assert each.verdict == "outlier"
        assert [reason.feature for reason in each.speaking(-1)] == ["feature 0"]
        assert each.clusters[0] == model.labels_[2]
        assert "feature 0 9 is unusual" in each.sentence

    def test_an_outlier_that_several_cells_make_strange(self):
        X = blobs()
        X[1] = [9, 9, 0]
        model = ECM(2, random_state=0).fit(X)
        (each,) = explain(model, X, [1])
        found = {reason.feature for reason in each.speaking(-1)}
        assert found == {"feature 0", "feature 1"}

    def test_typical_objects_are_clear_members_and_not_itself(self, iris, iris_model):
        for each in explain(iris_model, iris, range(0, 150, 10), n_typical=2):
            assert set(each.typical) == set(each.clusters)
            for cluster, rows in each.typical.items():
                assert 1 <= len(rows) <= 2
                assert each.row not in rows
                assert (iris_model.labels_[list(rows)] == cluster).all()
                assert iris_model.partition_.is_clear[list(rows)].all()

    def test_the_nearest_typical_object_is_the_nearest(self):
        X = blobs()
        X[10] = X[5] + 1e-3
        partition = CredalPartition.from_labels(np.repeat([0, 1], 40))
        (each,) = explain(partition, X, [5], n_typical=1)
        # Of hard clusters the better half is the first half: row 10 is in it.
        assert each.typical[0] == (10,)


class TestScores:
    def test_equation(self, iris, iris_model):
        """φ_kj = P_k(x) - Σ_l π_l P_k(x with t_lj), cell by cell."""
        cells = cells_of(iris_model, iris, None)
        partition = cells.partition()
        typical = typical_cells(cells.columns, partition, partition.verdicts())
        rows = np.array([3, 77, 140])
        found = cluster_scores(cells, rows, typical)
        for i, row in enumerate(rows):
            own = plausibility_shares(iris_model.predict_partition(iris[[row]]))[0]
            for j in range(4):
                expected = own.copy()
                for place, share in enumerate(typical.shares):
                    x = iris[[row]].copy()
                    x[0, j] = iris[typical.rows[place, j], j]
                    after = plausibility_shares(iris_model.predict_partition(x))[0]
                    expected -= share * after
                assert_allclose(found[i, :, j], expected, atol=1e-12)

    def test_typical_cells_are_medians_of_clear_members(self, iris, iris_model):
        cells = cells_of(iris_model, iris, None)
        partition = cells.partition()
        typical = typical_cells(cells.columns, partition, partition.verdicts())
        for place, cluster in enumerate(typical.clusters):
            is_member = (partition.labels == cluster) & partition.is_clear
            for j in range(4):
                value = iris[typical.rows[place, j], j]
                members = np.sort(iris[is_member, j])
                assert value == members[(len(members) - 1) // 2]

    def test_cells_sum_to_nothing_over_the_clusters(self, iris, iris_model):
        """Shares sum to 1, so that what speaks for one speaks against others."""
        cells = cells_of(iris_model, iris, None)
        partition = cells.partition()
        typical = typical_cells(cells.columns, partition, partition.verdicts())
        found = cluster_scores(cells, np.arange(20), typical)
        assert_allclose(found.sum(axis=1), 0, atol=1e-9)

    def test_removing_the_named_columns_changes_most(self, iris, iris_model):
        """Cells of other rows in place of the named ones, and of the least named."""
        rng = np.random.default_rng(0)
        cells = cells_of(iris_model, iris, None)
        partition = cells.partition()
        typical = typical_cells(cells.columns, partition, partition.verdicts())
        rows = np.arange(0, 150, 5)
        own = partition.labels[rows]
        scores = cluster_scores(cells, rows, typical)[np.arange(len(rows)), own]
        order = np.argsort(-scores, axis=1)
        lost = [_lost(iris_model, iris, rows, own, order[:, k], rng) for k in (0, -1)]
        assert lost[0] > lost[1] + 0.1

    def test_a_column_that_does_not_count_has_no_weight(self):
        X = blobs()
        without = FunctionTransformer(np.delete, kw_args={"obj": 0, "axis": 1})
        half = make_pipeline(without, ECM(2, random_state=0)).fit(X)
        found = explain(half, X, [5, 6, 0, 50], n_features=3)
        named = {reason.feature for each in found for reason in each.reasons}
        assert "feature 0" not in named
        assert "feature 2" in named


def _lost(model, X, rows, own, columns, rng):
    """Mean loss of plausibility, as a share, with cells of random rows."""
    before = plausibility_shares(model.predict_partition(X[rows]))
    losses = []
    for _ in range(10):
        changed = X[rows].copy()
        donors = rng.integers(len(X), size=len(rows))
        changed[np.arange(len(rows)), columns] = X[donors, columns]
        after = plausibility_shares(model.predict_partition(changed))
        losses.append((before - after)[np.arange(len(rows)), own].mean())
    return np.mean(losses)


class TestModels:
    @pytest.mark.parametrize("name", ["NNEVCLUS", "EVCLUS", "EGMM", "EkNNclus", "RECM"])
    def test_estimators(self, name):
        X = blobs()
        estimator = getattr(credalis, name)()
        wanted = {"n_clusters": 2, "random_state": 0}
        known = estimator.get_params()
        estimator.set_params(**{k: v for k, v in wanted.items() if k in known})
        model = estimator.fit(X)
        found = explain(model, X, [5, 70])
        assert found.basis == MODEL
        named = {r.feature for each in found for r in each.speaking(each.clusters[0])}
        assert "feature 2" in named

    @pytest.mark.filterwarnings("ignore::credalis.exceptions.ExperimentalWarning")
    def test_categories_are_told_by_their_words(self):
        table = mixed_table()[["kind", "colour"]]
        model = CatECM(2, prototypes="shares", random_state=0).fit(table)
        cells = table.to_numpy(dtype=object)
        unnamed = clone(model).fit(cells)
        for made, X in ((model, table), (unnamed, cells)):
            found = explain(made, X, [0, 5])
            values = {r.value for each in found for r in each.reasons}
            assert values <= {"a", "b", "red", "blue", "missing"}
            assert "a" in values

    def test_a_frame_names_the_columns(self):
        pd = pytest.importorskip("pandas")
        frame = pd.DataFrame(blobs(), columns=["left", "right", "up"])
        model = ECM(2, random_state=0).fit(frame)
        assert explain(model, frame, [5])[0].reasons[0].feature == "up"
        # An array is told by the names of the fit, as a fitted model knows them.
        plain = clone(model).fit(frame.to_numpy())
        assert explain(plain, frame.to_numpy(), [5])[0].reasons[0].feature[-1] == "2"

    def test_pipeline_exchanges_the_columns_before_its_steps(self, iris):
        model = make_pipeline(StandardScaler(), PCA(2), ECM(3, random_state=0))
        model.fit(iris)
        found = explain(model, iris, [0, 149])
        assert found.basis == MODEL
        assert all(each.reasons for each in found)

    def test_pipeline_on_frames_of_words(self):
        table = mixed_table()
        model = make_pipeline(TablePreparation(), NNEVCLUS(2, random_state=0))
        model.fit(table)
        found = explain(model, table, [0, 3, 5, 59])
        features = {reason.feature for each in found for reason in each.reasons}
        assert features <= {"size", "kind", "colour", "day"}
        assert "kind" in features

    def test_pipeline_on_frames_without_our_preparation(self):
        pl = pytest.importorskip("polars")
        pd = pytest.importorskip("pandas")
        X = blobs()
        for frame in (
            pd.DataFrame(X, columns=list("abc")),
            pl.DataFrame(X, schema=list("abc")),
        ):
            model = make_pipeline(StandardScaler(), ECM(2, random_state=0)).fit(frame)
            assert explain(model, frame, [5])[0].reasons[0].feature == "c"

    def test_tabular_model_with_categories_and_gaps(self):
        table = mixed_table()
        model = TabularModel.of(EVCLUS(2, metric="gower", random_state=0), table)
        found = explain(model, table, [0, 3, 5, 59])
        kinds = [r for r in found[0].reasons if r.feature == "kind"]
        assert {(r.value, r.typical) for r in kinds} == {("a", "a"), ("a", "b")}
        missing = [r.value for r in found[1].reasons if r.feature == "size"]
        assert set(missing) <= {"missing"}
        assert any(
            line.startswith(("kind", "size", "day")) for line in found.tree.lines
        )

    def test_rows_that_a_preparation_leaves_out(self):
        table = mixed_table()
        whole = TabularModel.of(EVCLUS(2, random_state=0), table.dropna())
        model = TabularModel(
            dataclasses.replace(whole.preparation, missing="drop"), whole.estimator
        )
        assert [each.row for each in explain(model, table, [4, 59])] == [4, 59]
        with pytest.raises(ValueError, match="rows must not name a row that is left"):
            explain(model, table, [3])

    def test_loaded_models_say_the_same(self, tmp_path, iris, iris_model):
        table = mixed_table()
        tabular = TabularModel.of(EVCLUS(2, metric="gower", random_state=0), table)
        for model, X in ((iris_model, iris), (tabular, table)):
            model.save(tmp_path / "model.credalis")
            loaded = credalis.load(tmp_path / "model.credalis")
            assert str(explain(loaded, X, [0, 7])) == str(explain(model, X, [0, 7]))

    def test_names_of_clusters(self):
        table = mixed_table()
        model = TabularModel.of(EVCLUS(2, metric="gower", random_state=0), table)
        model.facts["cluster_names"] = ["cats", "dogs"]
        text = str(explain(model, table, [0]))
        assert "clearly in cats" in text or "clearly in dogs" in text
        assert "{cats}" in text
        given = explain(model, table, [0], cluster_names=["x", "y"])
        assert given[0].names == ("x", "y")


class TestWithoutPrediction:
    def test_a_partition_speaks_through_the_nearest_rows(self):
        X = blobs()
        partition = CredalPartition.from_labels(np.repeat([0, 1], 40))
        found = explain(partition, X, [5, 70])
        assert found.basis == NEIGHBORS
        assert [each.clusters[0] for each in found] == [0, 1]
        for each in found:
            assert each.speaking(each.clusters[0])[0].feature == "feature 2"

    def test_dissimilarities_with_a_table_that_describes_the_objects(self):
        X = blobs()
        distances = np.linalg.norm(X[:, None] - X, axis=2)
        model = EVCLUS(2, metric="precomputed", random_state=0).fit(distances)
        found = explain(model, X, [5])
        assert found.basis == NEIGHBORS
        assert found[0].speaking(model.labels_[5])[0].feature == "feature 2"
        with pytest.raises(ValueError, match="got a matrix of dissimilarities"):
            explain(model, distances, [5])

    def test_words_and_gaps(self):
        table = mixed_table()
        partition = CredalPartition.from_labels(np.repeat([0, 1], 30))
        found = explain(partition, table, [5, 3])
        assert found[0].verdict == "clear"
        assert found.tree.fidelity == 1

    def test_a_partition_of_other_objects_is_refused(self):
        partition = CredalPartition.from_labels([0, 1, 1])
        with pytest.raises(ValueError, match="one row for each of the 3 objects"):
            explain(partition, blobs())
        with pytest.raises(ValueError, match="partition must be about the 80 rows"):
            explain(ECM(2).fit(blobs()), blobs(), partition=partition)


class TestResult:
    def test_rows_in_their_order(self, iris, iris_model):
        rows = [100, 3, 77, 3]
        assert [each.row for each in explain(iris_model, iris, rows)] == rows

    def test_the_most_doubtful_by_default(self, iris, iris_model):
        found = explain(iris_model, iris)
        doubt = iris_model.partition_.doubt
        assert len(found) == 10
        assert found[0].row == doubt.argmax()

    def test_only_the_tree(self, iris, iris_model):
        found = explain(iris_model, iris, [])
        assert len(found) == 0
        assert found.tree.n_leaves <= 6
        assert str(found) == str(found.tree)

    def test_a_given_partition_is_explained(self, iris, iris_model):
        turned = iris_model.partition_.relabel([1, 2, 0])
        (each,) = explain(iris_model, iris, [0], partition=turned)
        assert each.clusters[0] == turned.labels[0]

    def test_sequence_text_and_table(self, iris, iris_model):
        pytest.importorskip("pandas")
        found = explain(iris_model, iris, range(5))
        assert isinstance(found, Explanations)
        assert len(list(found)) == len(found) == 5
        assert found[1:3] == found.objects[1:3]
        assert "Explanations(5 objects" in repr(found)
        table = found.to_pandas()
        assert set(table["row"]) == set(range(5))
        assert len(table) >= 5
        names = "row verdict cluster plausibility feature value typical weight"
        assert list(table.columns) == names.split()
        assert "object 4: " in str(found)

    def test_nothing_can_be_changed(self, iris, iris_model):
        found = explain(iris_model, iris, [0])
        with pytest.raises(dataclasses.FrozenInstanceError):
            found.tree = None
        with pytest.raises(dataclasses.FrozenInstanceError):
            found[0].row = 3

    def test_the_most_important_are_named_first_and_not_too_many(
        self, iris, iris_model
    ):
        for each in explain(iris_model, iris, range(0, 150, 7), n_features=2):
            for cluster in each.clusters:
                weights = [r.weight for r in each.speaking(cluster)]
                assert weights == sorted(weights, reverse=True)
                assert len(weights) <= 2

    def test_an_object_without_a_reason_has_a_row_of_the_table(self):
        pytest.importorskip("pandas")
        masses = np.tile([0.0, 0.5, 0.5, 0.0], (12, 1))
        partition = CredalPartition(masses, FocalSets.full(2))
        found = explain(partition, blobs(6), [4])
        assert "no single column decides" in found[0].sentence
        assert len(found.to_pandas()) == 1

    def test_everything_an_outlier(self):
        masses = np.tile([1.0, 0.0, 0.0, 0.0], (12, 1))
        partition = CredalPartition(masses, FocalSets.full(2))
        found = explain(partition, blobs(6), [0, 3])
        assert [each.verdict for each in found] == ["outlier", "outlier"]
        assert found.tree.lines == ("all rows: ∅ (12 rows)",)

    def test_one_row_alone(self):
        model = ECM(2, random_state=0).fit(blobs())
        found = explain(model, blobs()[[5]], [0])
        assert found[0].typical[found[0].clusters[0]] == ()
        assert found.tree.n_rows == 1

    def test_of_many_rows_a_sample_counts(self, monkeypatch):
        monkeypatch.setattr("credalis._explain._explain.MAX_ROWS", 50)
        X = blobs()
        model = ECM(2, random_state=0).fit(X)
        found = explain(model, X, [0, 79, 2])
        assert [each.row for each in found] == [0, 79, 2]
        assert 50 <= found.tree.n_rows <= 53
        assert explain(model, X).tree.n_rows == 50


class TestRefusals:
    @pytest.mark.parametrize(
        ("rows", "match"),
        [
            ([80], "rows must be between 0 and 79, got 80"),
            ([-1], "rows must be between 0 and 79, got -1"),
            ([0.5], "rows must be row numbers"),
            ("all", "rows must be row numbers"),
            ([[1, 2]], "rows must be row numbers"),
        ],
    )
    def test_rows(self, rows, match):
        model = ECM(2, random_state=0).fit(blobs())
        with pytest.raises(ValueError, match=match):
            explain(model, blobs(), rows)

    @pytest.mark.parametrize("model", [3, None, "model", object()])
    def test_models(self, model):
        with pytest.raises(ValueError, match="model must be a fitted clusterer"):
            explain(model, blobs())

    def test_parameters(self):
        X = blobs()
        model = ECM(2, random_state=0).fit(X)
        for name, value in (
            ("n_features", 0),
            ("n_typical", -1),
            ("clear_level", 0.2),
            ("cluster_names", ["one"]),
            ("cluster_names", "ab"),
            ("partition", 3),
        ):
            with pytest.raises(ValueError, match=name):
                explain(model, X, [0], **{name: value})

    def test_a_model_that_is_not_fitted(self):
        with pytest.raises(ValueError, match="not fitted"):
            explain(ECM(2), blobs())

    def test_a_table_of_other_columns(self, iris, iris_model):
        with pytest.raises(ValueError, match="X has 3 features"):
            explain(iris_model, iris[:, :3])
        table = mixed_table()
        model = TabularModel.of(EVCLUS(2, metric="gower", random_state=0), table)
        with pytest.raises(ValueError, match="lacks column"):
            explain(model, table.drop(columns="size"))


class TestPieces:
    """Tables that are read in pieces, as the command line does."""

    @staticmethod
    def pieces(model, content, starts):
        explainer = RowExplainer(model)
        lines = []
        for start, stop in pairwise(starts):
            piece = content.slice(start, stop - start)
            features = model.transform(piece)
            partition = model.estimator.predict_partition(features.X)
            lines += explainer.sentences(piece, features, partition)
        return lines

    def test_pieces_say_what_the_whole_says(self):
        pa = pytest.importorskip("pyarrow")
        table = mixed_table()
        model = TabularModel.of(EVCLUS(2, metric="gower", random_state=0), table)
        content = pa.Table.from_pandas(table, preserve_index=False)
        # By what the model remembers, or the first piece tells.
        first = self.pieces(model, content, [0, 60])
        matrix = model.transform(table).X
        partition = model.predict_partition(table)
        model.facts = with_typical_cells({}, model.preparation, matrix, partition)
        assert self.pieces(model, content, [0, 7, 8, 60]) == first
        found = explain(model, table, range(60), n_features=2)
        assert [each.sentence for each in found] == first

    def test_of_many_rows_a_sample_tells_what_is_typical(self, monkeypatch):
        monkeypatch.setattr("credalis._explain._batches.MAX_ROWS", 20)
        table = mixed_table()
        model = TabularModel.of(EVCLUS(2, metric="gower", random_state=0), table)
        matrix, partition = model.transform(table).X, model.predict_partition(table)
        facts = with_typical_cells({"a": 1}, model.preparation, matrix, partition)
        assert facts["a"] == 1
        assert facts["typical"]["clusters"] == [0, 1]
        assert_allclose(sum(facts["typical"]["shares"]), 1)


def test_columns_by_a_rough_model_are_those_of_the_model_itself():
    # Bootclus compares rows with fewer landmarks and samples than it predicts with.
    rng = np.random.RandomState(0)
    X = rng.standard_normal((90, 4))
    X[30:60, 1] += 6
    X[60:, 2] += 6
    model = Bootclus(3, n_bootstrap=120, random_state=0).fit(X)
    rough = model._for_comparisons()
    assert len(rough.landmarks_) < len(model.landmarks_)
    assert len(rough.replicates_.weights) < 120
    assert set(model.labels_[rough.landmarks_]) == {0, 1, 2}
    np.testing.assert_allclose(rough.transform(X), model.transform(X), atol=0.15)
    assert (rough.predict(X) == model.predict(X)).all()
    found = explain(model, X, range(90))
    for row, explanation in enumerate(found):
        first = max(explanation.reasons, key=lambda reason: reason.weight)
        assert first.feature in ("feature 1", "feature 2"), row
    # What is told of the masses is what the model says, and the model stays as it was.
    assert len(model.replicates_.weights) == 120
