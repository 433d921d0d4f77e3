"""What the comparisons in ``benchmarks`` measure and draw, on cases done by hand."""

import gzip
import json
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

pytest.importorskip("benchmarks", reason="benchmarks are not part of the sources")

from benchmarks import (
    bars,
    comparison,
    contenders,
    defaults,
    doubt,
    embeddings,
    generated,
    page,
    scores,
    sizes,
)
from benchmarks.choose import choose_cases
from benchmarks.harness import Skipped, table
from benchmarks.journal import Journal

from credalis._listing import class_names


class TestScores:
    def test_clusters_are_matched_to_classes_one_to_one(self):
        y = np.array([0, 0, 0, 1, 1, 2])
        labels = np.array([2, 2, 0, 0, 0, 1])
        matched = scores.class_of_cluster(y, labels, 4)
        assert_array_equal(matched, [1, 2, 0, -1])
        right = scores.is_right(y, labels, matched)
        assert_array_equal(right, [True, True, False, True, True, True])

    def test_noise_is_in_no_cluster_and_never_right(self):
        y, labels = np.array([0, 0, 1]), np.array([0, -1, -1])
        matched = scores.class_of_cluster(y, labels, 1)
        assert_array_equal(matched, [0])
        assert_array_equal(scores.is_right(y, labels, matched), [True, False, False])

    def test_nothing_but_noise(self):
        y, labels = np.array([0, 1]), np.array([-1, -1])
        matched = scores.class_of_cluster(y, labels, 0)
        assert not scores.is_right(y, labels, matched).any()
        assert not scores.is_covered(y, np.zeros((2, 0), bool), matched).any()

    def test_a_class_without_a_cluster_is_never_right(self):
        y, labels = np.array([0, 0, 1]), np.zeros(3, dtype=int)
        matched = scores.class_of_cluster(y, labels, 1)
        assert_array_equal(scores.is_right(y, labels, matched), [True, True, False])

    def test_accuracy_among_the_surest(self):
        right, confidence = np.array([1, 0, 1, 0]), np.array([0.6, 0.7, 0.9, 0.1])
        curve = scores.accuracy_by_coverage(right, confidence)
        assert_allclose(curve, [1, 1 / 2, 2 / 3, 1 / 2])
        assert scores.surer_half(right, confidence) == 1 / 2
        assert_allclose(scores.error_over_coverages(right, confidence), 1 / 3)

    def test_rows_of_equal_confidence_come_in_the_mean_of_all_orders(self):
        right, confidence = np.array([1, 0, 0, 1]), np.array([0.5, 0.5, 0.5, 0.9])
        curve = scores.accuracy_by_coverage(right, confidence)
        assert_allclose(curve, [1, 2 / 3, 5 / 9, 1 / 2])

    @pytest.mark.parametrize(
        ("confidence", "gain"),
        [([4, 3, 2, 1], 1.0), ([5, 5, 5, 5], 0.0), ([1, 2, 3, 4], -1.0)],
        ids=["oracle", "no order", "the wrong way round"],
    )
    def test_gain_of_doubt(self, confidence, gain):
        right = np.array([1, 1, 0, 0])
        found = scores.gain_of_doubt(right, np.array(confidence, dtype=float))
        assert_allclose(found, gain, atol=1e-12)

    @pytest.mark.parametrize("right", [np.ones(3), np.zeros(3)])
    def test_no_gain_where_no_order_is_better(self, right):
        assert np.isnan(scores.gain_of_doubt(right, np.arange(3.0)))

    def test_calibration_error(self):
        # Two bins: (.9 + 1)/2 against 1/2, and .55 against 1, of three rows.
        right, confidence = np.array([1, 0, 1]), np.array([0.92, 1.0, 0.55])
        expected = (abs(1.92 - 1) + abs(0.55 - 1)) / 3
        assert_allclose(scores.calibration_error(right, confidence), expected)
        assert scores.calibration_error(np.ones(2), np.ones(2)) == 0

    def test_coverage_of_sets_is_by_matched_clusters(self):
        y, matched = np.array([0, 1, 1]), np.array([1, 0])
        sets = np.array([[True, True], [False, True], [True, False]])
        assert_array_equal(scores.is_covered(y, sets, matched), [True, False, True])

    def test_smallest_sets_at_a_level(self):
        probabilities = np.array([[0.95, 0.05, 0], [0.2, 0.3, 0.5], [0.6, 0.3, 0.1]])
        sets = scores.smallest_sets(probabilities, 0.9)
        assert_array_equal(sets, [[1, 0, 0], [1, 1, 1], [1, 1, 0]])

    def test_average_precision(self):
        is_planted = np.array([True, False, True, False])
        found = scores.average_precision(is_planted, np.array([4.0, 3, 2, 1]))
        assert_allclose(found, (1 + 2 / 3) / 2)
        assert np.isnan(scores.average_precision(np.zeros(2, bool), np.ones(2)))

    def test_mean_of_what_is_there(self):
        assert scores.mean([1, None, np.nan, 3]) == 2
        assert np.isnan(scores.mean([]))


class TestGenerated:
    def test_names_are_unique_and_quick_cases_are_among_all(self):
        names = [case.name for case in generated.CASES]
        assert len({*names}) == len(names)
        assert {case.name for case in generated.QUICK} <= {*names}

    @pytest.mark.parametrize("case", generated.QUICK, ids=lambda case: case.name)
    def test_a_seed_says_which_table(self, case):
        first, again, other = case.table(3), case.table(3), case.table(4)
        assert_array_equal(first.X, again.X)
        assert_array_equal(first.y, again.y)
        assert not np.array_equal(first.X, other.X)
        assert f"n={len(first.X)}, d={first.X.shape[1]}" in case.name

    @pytest.mark.parametrize(("n_clusters", "n_features"), [(2, 2), (30, 2), (12, 50)])
    def test_the_nearest_centers_are_so_far_apart(self, rng, n_clusters, n_features):
        centers = generated.spread_centers(n_clusters, n_features, 8.0, rng)
        gaps = np.linalg.norm(centers[:, None] - centers, axis=2)
        assert_allclose(gaps[gaps > 0].min(), 8)

    def test_sizes_by_ratio(self):
        sizes = np.bincount(generated.blobs(4, 1000, 2, 8, 10).table(0).y)
        assert sizes.sum() == 1000
        assert_allclose(sizes[0] / sizes[-1], 10, rtol=0.02)

    def test_planted_rows_are_far_from_all_others(self):
        table = generated.planted(2, 500, 2).table(0)
        assert table.is_planted.sum() == 25
        assert_array_equal(table.y == -1, table.is_planted)
        for cluster in range(2):
            center = table.X[table.y == cluster].mean(axis=0)
            distances = np.linalg.norm(table.X[table.is_planted] - center, axis=1)
            assert distances.min() > 6 - 0.3  # the mean is not the centre

    def test_novelty_is_amid_the_clusters(self):
        table = generated.novelty(4, 400, 5).table(0)
        novel = table.new_rows[table.new_is_novel]
        for cluster in range(4):
            center = table.X[table.y == cluster].mean(axis=0)
            distance = np.linalg.norm(novel - center, axis=1).mean()
            assert_allclose(distance, 7, atol=0.5)

    @pytest.mark.parametrize("df", [None, 4])
    def test_posteriors_are_bayes_rule(self, rng, df):
        from scipy.stats import multivariate_normal, multivariate_t

        mixture = generated.make_mixture(3, 2, 2, rng, ratio=5, axes=20, df=df)
        X, y = mixture.draw(50, rng)
        scales = mixture.factors @ mixture.factors.transpose(0, 2, 1)
        weighted = np.column_stack(
            [
                weight
                * (
                    multivariate_normal(center, scale).pdf(X)
                    if df is None
                    else multivariate_t(center, scale, df=df).pdf(X)
                )
                for center, scale, weight in zip(
                    mixture.centers, scales, mixture.weights, strict=True
                )
            ]
        )
        expected = weighted / weighted.sum(axis=1, keepdims=True)
        assert_allclose(mixture.posterior(X), expected, rtol=1e-6, atol=1e-12)
        assert (mixture.posterior(X).argmax(axis=1) == y).mean() > 0.6

    def test_a_sample_keeps_rows_together(self, rng):
        table = generated.planted(2, 100, 2).table(0)
        sample = table.sample(30, rng)
        assert len(sample.X) == len(sample.y) == 30
        assert_array_equal(sample.y == -1, sample.is_planted)
        assert table.sample(100, rng) is table


class TestChoose:
    @pytest.fixture
    def directory(self, tmp_path, monkeypatch):
        (tmp_path / "choose").mkdir()
        with gzip.open(tmp_path / "choose" / "small.csv.gz", "wt") as file:
            file.write("a,b,label\n0,10,0\n2,10,1\n0,30,1\n2,30,-1\n")
        monkeypatch.setenv("CREDALIS_DATA", str(tmp_path))

    @pytest.mark.usefixtures("directory")
    def test_tables_are_standardised(self):
        (case,) = choose_cases()
        table = case.table(0)
        assert (case.name, case.family) == ("small", "choose")
        assert_allclose(table.X, [[-1, -1], [1, -1], [-1, 1], [1, 1]])
        assert_array_equal(table.y, [0, 1, 1, -1])
        assert table.n_clusters == 2  # -1 is no class

    @pytest.mark.usefixtures("directory")
    def test_a_seed_says_which_rows(self):
        (case,) = choose_cases(max_rows=2)
        assert len(case.table(0).X) == 2
        assert_array_equal(case.table(0).X, case.table(0).X)

    def test_without_tables_the_reason_is_given(self, monkeypatch):
        monkeypatch.delenv("CREDALIS_DATA", raising=False)
        with pytest.raises(Skipped, match="CREDALIS_DATA"):
            choose_cases()


class TestContenders:
    @pytest.mark.parametrize("contender", contenders.baselines(), ids=lambda c: c.name)
    def test_baselines_find_blobs(self, contender):
        table = generated.blobs(4, 200, 2, 8).table(0)
        answer = contender.fit_predict(table.X, 4, 0)
        matched = scores.class_of_cluster(table.y, answer.labels, answer.sets.shape[1])
        assert scores.is_right(table.y, answer.labels, matched).mean() > 0.9
        assert scores.is_covered(table.y, answer.sets, matched).mean() > 0.9
        assert answer.confidence.min() >= 0
        assert answer.confidence.max() <= 1

    def test_fuzzy_memberships(self):
        memberships = contenders.fuzzy_memberships(
            np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [3.0]])
        )
        assert_allclose(memberships, [[1, 0], [0.8, 0.2], [0.2, 0.8]], atol=1e-12)

    def test_all_estimators_take_part(self):
        names = contenders.contenders()
        assert {"NNEVCLUS", "ECM", "BPEC", "KMeans", "HDBSCAN"} <= {*names}
        assert names["NNEVCLUS"].max_rows is None
        assert names["EVCLUS"].max_rows == contenders.FEW_ROWS

    def test_an_estimator_answers(self):
        table = generated.blobs(4, 200, 2, 8).table(0)
        answer = contenders.contenders()["ECM"].fit_predict(table.X, 4, 0)
        assert_array_equal(
            answer.sets, scores.smallest_sets(answer.partition.pignistic)
        )
        assert_array_equal(answer.ranking, -answer.partition.doubt)


class TestJournal:
    def test_nothing_is_measured_twice(self, tmp_path):
        path = tmp_path / "results" / "journal.jsonl"
        calls = []

        def measure(value):
            calls.append(value)
            return {"value": value}

        key = {"case": "a"}
        assert Journal(path).recall(key, measure, 1) == {"value": 1}
        path.write_text(path.read_text() + '{"key": {"case": "b"}, "rec')
        again = Journal(path)
        assert again.recall(key, measure, 2) == {"value": 1}
        assert calls == [1]


def record(method, case, family, **measures):
    return {"method": method, "case": case, "family": family, **measures}


class TestTables:
    RECORDS = (
        record("A", "x", "blobs", ari=0.2),
        record("A", "x", "blobs", ari=0.4),
        record("A", "y", "blobs", ari=0.9),
        record("A", "z", "choose", ari=0.0),
    )

    def test_means_over_seeds_then_over_tables(self):
        assert_allclose(comparison.by_case(self.RECORDS, "A", "blobs")["x"]["ari"], 0.3)
        (row,) = comparison.means(self.RECORDS, {"ARI": "ari", "gain": "gain"}, "blobs")
        assert row.cells == ("A", "3", "0.600", "")
        assert table([row]).split() == [
            "method",
            "fits",
            "ARI",
            "gain",
            *["A", "3", "0.600"],
        ]
        assert doubt.markdown([row]).splitlines()[-1] == "| A | 3 | 0.600 |  |"


class TestBars:
    def test_worst_table_decides_about_blobs(self):
        records = [
            record("KMeans", "easy", "blobs", ari=1.0),
            record("KMeans", "hard", "blobs", ari=0.9),
            record("NNEVCLUS", "easy", "blobs", ari=0.97, empty=0, flagged=0.0),
            record("NNEVCLUS", "hard", "blobs", ari=0.85, empty=1, flagged=0.06),
        ]
        found = {bar.bar: bar for bar in bars.bars(records)}
        easy = found["ARI lost to k-means on easy blobs <= 0.02"]
        assert_allclose(easy.figure, 0.03)
        assert not easy.is_met
        assert found["ARI lost to k-means on other blobs <= 0.07"].is_met
        assert not found["empty clusters on blobs <= 0"].is_met
        flagged = found["clean rows flagged, generated <= 0.02"]
        assert_allclose(flagged.figure, 0.03)
        assert flagged.where == "hard"

    def test_mean_decides_about_choose(self):
        errors = {"clear error": 0.1, "rest error": 0.3, "flagged": 0.01}
        records = [
            record("KMeans", "a", "choose", ari=0.5),
            record("KMeans", "b", "choose", ari=0.5),
            record("NNEVCLUS", "a", "choose", ari=0.6, **errors),
            record("NNEVCLUS", "b", "choose", ari=0.38, **errors),
        ]
        found = {bar.bar: bar for bar in bars.bars(records)}
        lost = found["mean ARI lost to k-means, choose <= 0.02"]
        assert_allclose(lost.figure, 0.01)
        assert lost.is_met
        assert lost.where == "b"
        assert found["error of clear by error of the rest, choose <= 0.5"].is_met


class TestRuns:
    def test_goes_on_after_a_failure_and_from_where_it_was(
        self, tmp_path, monkeypatch, capsys
    ):
        monkeypatch.setattr(comparison, "RESULTS", tmp_path)
        options = SimpleNamespace(methods=["KMeans", "HDBSCAN"], seeds=2, quick=True)
        calls = []

        def measure(contender, case, seed):
            calls.append((contender.name, seed))
            if contender.name == "HDBSCAN" and seed == 1:
                raise ValueError("too few rows")
            return {"seed squared": seed**2}

        cases = [generated.noise(2, 10, 2, "uniform")]
        first = comparison.measured("defaults", cases, measure, options)
        assert [record["seed squared"] for record in first] == [0, 1, 0]
        assert "HDBSCAN fails on uniform noise" in capsys.readouterr().out
        calls.clear()
        assert comparison.measured("defaults", cases, measure, options) == first
        assert calls == [("HDBSCAN", 1)]

    @pytest.mark.parametrize(
        "case",
        [
            generated.planted(2, 60, 2),
            generated.novelty(3, 100, 2),
            generated.noise(2, 60, 2, "uniform"),
        ],
        ids=lambda case: case.family,
    )
    def test_a_record_of_defaults_can_be_written(self, case):
        for name in ("ECM", "KMeans"):
            found = defaults.run(contenders.contenders()[name], case, 0)
            assert json.loads(json.dumps(found)).keys() == found.keys()
            assert ("found" in found) == (name == "ECM" and case.family != "noise")
            assert ("ari" in found) == (case.family != "noise")

    def test_a_record_of_doubt(self):
        case = generated.MIXTURES[0]
        found = doubt.run(contenders.contenders()["GaussianMixture"], case, 0)
        assert len(found["curve"]) == doubt.N_COVERAGES
        assert_allclose(found["curve"][-1], found["accuracy"])
        assert found["precision"] > 0.5
        assert 0.8 < found["size by Bayes"] < 1.25

    def test_true_posteriors_are_calibrated_and_cover(self):
        class Options:
            seeds = 1

        (found,) = doubt.bayes_records(generated.MIXTURES[:1], Options)
        assert found["coverage"] >= 0.88
        assert found["ece"] < 0.06
        assert found["size by Bayes"] == 1

    def test_figure_of_doubt(self):
        pytest.importorskip("matplotlib")
        from benchmarks.doubt_figure import N_BEST, figure

        names = [f"method {number}" for number in range(8)]
        records = [
            record(name, "x", "mixtures", curve=[1.0, 0.9 - number / 100])
            | {"coverage": 0.9, "size by Bayes": 1.2}
            for number, name in enumerate((*names, doubt.BAYES))
        ]
        drawn = figure(records, doubt.BAYES, {names[-1]})
        labels = [text.get_text() for text in drawn.legends[0].get_texts()]
        named = [*names[:N_BEST], "others", names[-1], doubt.BAYES]
        assert labels == named
        curves, sets = drawn.axes
        assert len(curves.lines) == len(names)
        assert len(sets.lines) == len(names) + 2  # the level, and Bayes


class TestSizes:
    def test_rows_of_any_shape(self):
        for n_features, n_clusters in sizes.SHAPES.values():
            X, y = sizes.draw(60, n_features, n_clusters, 0)
            assert X.shape == (60, n_features)
            assert X.dtype == np.float32
            assert y.max() < n_clusters

    def test_the_clusters_can_be_told_apart(self):
        assert 0.9 < sizes.best_agreement(10, 10, n_rows=2000) < 1

    def test_a_cell_runs_in_its_own_process(self, tmp_path):
        sizes.write_rows(tmp_path, 300, 10, 10)
        record = sizes.measured(tmp_path, "KMeans", 10, 60, 8)
        assert 0 < record["ari"] <= 1
        assert record["seconds"] < 60
        assert sizes.measured(tmp_path, "KMeans", 10, 60, 0.01).keys() == {"reason"}

    def test_what_falls_short(self):
        good = {"ari": 0.95, "seconds": 1.0, "megabytes": 100.0}
        records = {
            ("2x50", 10_000, "NNEVCLUS"): good,
            ("2x50", 10_000, "KMeans"): good | {"ari": 0.955},
            ("2x50", 10_000, "GaussianMixture"): good | {"seconds": 0.7},
            ("2x50", 10_000, "HDBSCAN"): {"reason": "memory"},
        }
        assert sizes.failures(records) == []
        records["2x50", 10_000, "GaussianMixture"] = good | {"seconds": 0.5}
        records["2x50", 10_000, "KMeans"] = good | {"ari": 0.97}
        assert len(sizes.failures(records)) == 2
        text = sizes.markdown(records)
        assert "| KMeans | 1 s, 100 MB, 0.970 |" in text
        assert "| HDBSCAN | – |" in text


class TestEmbeddings:
    def test_rows_have_length_one(self):
        for X, y in (embeddings.latent(50, 5, 0), embeddings.digits(40)):
            assert X.shape == (len(y), embeddings.N_FEATURES)
            assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)

    def test_a_law_has_rows_of_any_seed(self):
        first, again = embeddings.latent(30, 5, 1), embeddings.latent(30, 5, 1)
        assert_array_equal(first[0], again[0])
        assert (first[0] != embeddings.latent(30, 5, 2)[0]).any()


class TestPage:
    def test_the_page_is_that_of_the_stored_runs(self):
        assert page.PAGE.read_text("utf-8") == page.markdown()

    @pytest.mark.parametrize(
        ("seconds", "text"),
        [(12.0, "12 s"), (0.099, "99 ms"), (3.5e-5, "35 µs"), (1.6e-8, "16 ns")],
    )
    def test_times_have_a_unit_that_suits_them(self, seconds, text):
        assert page._seconds(seconds) == text

    def test_seconds_of_all_methods_are_those_of_the_stored_run(self):
        run = json.loads((page.RUNS / "methods.json").read_text("utf-8"))
        text = (page.PAGE.parents[1] / "methods.md").read_text("utf-8")
        rows = [line.split("|") for line in text.splitlines() if line[:3] == "| `"]
        shown = {cells[1].strip(" `"): cells[4].strip() for cells in rows}
        assert set(shown) == set(class_names())
        assert shown == {
            each["work"]: f"{each['seconds']:.2g}" for each in run["measurements"]
        }

    def test_a_run_becomes_a_table(self, tmp_path, monkeypatch):
        monkeypatch.setattr(page, "RUNS", tmp_path / "runs")
        monkeypatch.setattr(page, "PAGE", tmp_path / "page.md")
        measured = {
            "work": "sorting",
            "baseline": "by hand",
            "seconds": 0.0021,
            "baseline_seconds": 4.2,
            "ratio": 2000.0,
        }
        content = {"environment": {"cores": 2}, "measurements": [measured]}
        page.store("order", content)
        text = page.PAGE.read_text("utf-8")
        assert "| sorting | by hand | 2.1 ms | 4.2 s | 2000.0 |" in text
        assert "Measured with cores 2." in text
