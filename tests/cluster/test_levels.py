"""Calibration of models, sets with a level, outliers with a rate."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances

from credalis import ECM, EVCLUS, NNEVCLUS, Bootclus, CredalPartition, EkNNclus, load
from credalis.cluster._framework._fit import RememberedRows


@pytest.fixture(scope="module")
def data():
    """Three groups that overlap, in random order."""
    return make_blobs(900, centers=3, cluster_std=2.5, random_state=1)


@pytest.fixture(scope="module")
def model(data):
    """Fitted to the first 300 rows; tests that change it take a copy."""
    return ECM(3, random_state=0, n_init=1).fit(data[0][:300])


@pytest.fixture
def own(model):
    return pickle.loads(pickle.dumps(model))


@pytest.fixture(scope="module")
def network(data):
    model = NNEVCLUS(3, empty_set="novelty", n_init=1, random_state=0)
    return model.fit(data[0][:600])


class TestLabels:
    def test_sets_hold_the_true_class_as_often_as_asked(self, data, own):
        X, y = data
        own.calibrate(X[300:600], "labels", y[300:600])
        clusters = np.argsort(own.calibration_.classes)
        for level in (0.8, 0.9, 0.95):
            sets = own.predict_sets(X[600:], level)
            covered = sets[np.arange(300), clusters[y[600:]]].mean()
            # Two samples of about 300 rows: four standard errors.
            assert covered > level - 4 * np.sqrt(2 * level * (1 - level) / 270)
            assert sets.any(axis=1).all()
            assert sets[np.arange(300), own.predict(X[600:])].all()

    def test_higher_levels_give_larger_sets(self, data, own):
        X, y = data
        own.calibrate(X[300:420], "labels", y[300:420])
        small, large = (own.predict_sets(X[600:], level) for level in (0.6, 0.98))
        assert (small <= large).all()
        assert large.sum() > small.sum()
        sets = own.predict_partition(X[600:]).decide(
            "coverage", level=0.98, calibration=own.calibration_
        )
        np.testing.assert_array_equal(sets, large)

    def test_names_and_unknown_classes(self, data, own):
        X, y = data
        numbers = np.where(np.arange(600) < 450, y[300:], -1)
        own.calibrate(X[300:], "labels", numbers)
        known = own.calibration_
        words = np.where(numbers < 0, "", np.array(["a", "b", "c"])[numbers])
        own.calibrate(X[300:], "labels", words.astype(object))
        assert known.n_rows == own.calibration_.n_rows == 420
        np.testing.assert_array_equal(known.thresholds, own.calibration_.thresholds)
        assert own.calibration_.classes == tuple("abc"[k] for k in known.classes)

    def test_labels_that_align_do_not_calibrate(self, data, own):
        X, y = data
        own.calibrate(X[300:360], "labels", y[300:360])
        assert own.calibration_.n_rows == 30
        own.calibrate(X[300:500], "labels", y[300:500])
        assert own.calibration_.n_rows == 170

    def test_fewer_classes_than_clusters(self, data, own):
        X, y = data
        own.calibrate(X[300:420], "labels", np.minimum(y[300:420], 1))
        assert sorted(own.calibration_.classes, key=str) == [0, 1, None]

    def test_what_is_refused(self, data, own):
        X, y = data
        with pytest.raises(ValueError, match=r"at most as many .* 6 classes and 3 clu"):
            own.calibrate(X[300:], "labels", y[300:] + 3 * (np.arange(600) % 2))
        with pytest.raises(ValueError, match=r"at least 20 rows, .* got 19"):
            own.calibrate(X[300:319], "labels", y[300:319])
        with pytest.raises(ValueError, match=r"labels must have shape \(100,\)"):
            own.calibrate(X[300:400], "labels", y[300:350])
        with pytest.raises(ValueError, match="labels must be integers, -1"):
            own.calibrate(X[300:], "labels", y[300:] / 2)
        with pytest.raises(ValueError, match="labels must be the classes of rows"):
            own.calibrate(X[300:], "labels")
        with pytest.raises(ValueError, match="labels must be None for target='repl"):
            own.calibrate(X[300:], labels=y[300:])
        assert not hasattr(own, "calibration_")


class TestReplicate:
    def test_sets_hold_what_another_clustering_says(self, data, own):
        X = data[0]
        own.calibrate(X[300:600])
        other = clone(own).set_params(random_state=7).fit(X[600:750])
        rows = X[750:]
        labels = other.predict(rows)
        shared = np.array(
            [own.predict_proba(rows)[labels == k].sum(0) for k in (0, 1, 2)]
        )
        clusters = shared.argmax(axis=1)
        assert sorted(clusters) == [0, 1, 2]
        sets = own.predict_sets(rows, 0.9)
        assert sets[np.arange(150), clusters[labels]].mean() > 0.9 - 4 * 0.035
        assert "repeatability" in own.calibration_.assumption

    def test_the_same_seed_gives_the_same_thresholds(self, data, own):
        first = own.calibrate(data[0][300:500], n_refits=2).calibration_
        second = own.calibrate(data[0][300:500], n_refits=2).calibration_
        np.testing.assert_array_equal(first.thresholds, second.thresholds)

    def test_another_number_of_clusters_lowers_what_can_be_promised(self, data):
        X = data[0]
        model = EkNNclus(n_neighbors=10, random_state=0, n_init=1).fit(X[:300])
        model.calibrate(X[300:600], n_refits=1)
        assert model.calibration_.n_clusters == model.focal_sets_.n_clusters
        assert 0 <= model.calibration_.max_level < 1

    def test_too_few_rows(self, data, own):
        with pytest.raises(ValueError, match="at least 60 rows for target='rep"):
            own.calibrate(data[0][300:350])


class TestModel:
    def test_data_from_a_mixture_are_covered(self, data, own):
        X, y = data
        own.calibrate(X[:300], "model", n_refits=2)
        assert own.calibration_.assumption.startswith("An estimate, not a guarantee")
        labels, y = own.predict(X[600:]), y[600:]
        found = [np.bincount(labels[y == k]).argmax() for k in range(3)]
        sets = own.predict_sets(X[600:], 0.9)
        assert sets[np.arange(300), np.array(found)[y]].mean() > 0.85

    def test_rows_are_not_held_back(self, data, own):
        with pytest.raises(ValueError, match="refit must be False for target='model'"):
            own.calibrate(data[0], "model", refit=True)


class TestRows:
    def test_rows_of_the_fit_are_refused(self, data, own):
        X, y = data
        with pytest.raises(ValueError, match="about 100 of 200 are among those that"):
            own.calibrate(X[200:400], "labels", y[200:400])
        # One row in fifty may be there twice by chance.
        own.calibrate(np.vstack([X[:4], X[300:500]]), n_refits=1)

    def test_rows_that_repeat_among_themselves_tell_nothing(self, data):
        X = np.round(data[0] / 3)
        model = ECM(3, random_state=0, n_init=1).fit(X[:300])
        model.calibrate(X[300:500], n_refits=1)
        assert model.predict_sets(X[500:], level=0.8).any(axis=1).all()

    def test_a_sample_of_the_fit_is_enough_to_notice(self):
        X = np.random.default_rng(0).normal(size=(1000, 3))
        remembered = RememberedRows.of(X[::10], n_rows=1000)
        assert remembered.share == 0.1
        assert 150 < remembered.n_among(X[:250]) <= 250
        assert remembered.n_among(X[:250] + 1e-9) == 0
        assert RememberedRows.of(-0.0 * X[:1]).n_among(0.0 * X[:1]) == 1

    def test_the_model_is_fitted_without_rows_that_calibrate_it(self, data):
        X, y = data
        labels = np.full(900, -1)
        labels[::9] = y[::9]
        model = ECM(3, random_state=0, n_init=1)
        model.calibrate(X, "labels", labels, refit=True)
        expected = clone(model).fit(X[labels < 0])
        assert model.partition_ == expected.partition_
        # All labelled: half of the rows remain for the fit.
        model.calibrate(X, "labels", y, refit=True)
        assert len(model.partition_) == 450
        model.calibrate(X, refit=True, n_refits=1)
        assert len(model.partition_) == 360

    def test_too_many_classes_leave_the_model_as_it_was(self, data, own):
        X, y = data
        before = own.partition_
        with pytest.raises(ValueError, match="6 classes and 3 clusters"):
            own.calibrate(X, "labels", y + 3 * (np.arange(900) % 2), refit=True)
        assert own.partition_ is before

    @pytest.mark.filterwarnings("ignore:EVCLUS did not converge")
    def test_what_cannot_be_clustered_again(self, data):
        X, y = data
        D = pairwise_distances(X[:150])
        model = EVCLUS(3, metric="precomputed", n_init=1, max_iter=5, random_state=0)
        model.fit(D[:90, :90])
        for target in ("replicate", "model"):
            with pytest.raises(ValueError, match=f"target='{target}' needs EVCLUS to"):
                model.calibrate(D[:, :90], target)
        model.calibrate(D[90:, :90], "labels", y[90:150])
        assert model.predict_sets(D[90:, :90], 0.8).shape == (60, 3)
        started = EVCLUS(3, init=model.partition_, max_iter=2, random_state=0)
        with pytest.raises(ValueError, match="an init about the rows of the fit"):
            started.calibrate(X, refit=True)

    def test_frames_and_lists(self, data):
        X, y = data
        frame = pd.DataFrame(X, columns=["a", "b"])
        model = ECM(3, random_state=0, n_init=1).fit(frame[:300])
        model.calibrate(frame[300:400], "labels", pd.Series(y[300:400]))
        known = model.calibration_.thresholds
        plain = ECM(3, random_state=0, n_init=1).fit(X[:300].tolist())
        plain.calibrate(X[300:400].tolist(), "labels", y[300:400].tolist())
        np.testing.assert_array_equal(plain.calibration_.thresholds, known)


class TestLife:
    def test_it_is_part_of_the_file(self, data, own, tmp_path):
        X, y = data
        words = np.array(["a", "b", "c"])[y]
        own.calibrate(X[300:420], "labels", words[300:420])
        own.save(tmp_path / "model")
        loaded = load(tmp_path / "model")
        np.testing.assert_array_equal(
            loaded.predict_sets(X[600:]), own.predict_sets(X[600:])
        )
        assert loaded.calibration_.classes == own.calibration_.classes
        assert loaded.calibration_.assumption == own.calibration_.assumption

    def test_a_new_fit_drops_it(self, data, own):
        X, y = data
        own.calibrate(X[300:420], "labels", y[300:420])
        own.fit(X[:200])
        with pytest.raises(ValueError, match="ECM must be calibrated for sets"):
            own.predict_sets(X)

    def test_going_on_with_a_stream_drops_it(self, data):
        X, y = data
        model = NNEVCLUS(3, random_state=0).partial_fit(X[:300])
        model.calibrate(X[300:420], "labels", y[300:420])
        model.predict_sets(X[420:], 0.8)
        model.partial_fit(X[:300])
        assert not hasattr(model, "calibration_")

    def test_it_is_not_the_calibration_of_a_clone(self, data, own):
        X, y = data
        own.calibrate(X[300:420], "labels", y[300:420])
        with pytest.raises(NotFittedError):
            clone(own).predict_sets(X)
        with pytest.raises(NotFittedError):
            clone(own).calibrate(X)

    def test_only_the_best_cluster_of_a_hard_partition_or_all(self, own):
        partition = CredalPartition.from_labels([0, 1, 2, 2])
        rng = np.random.RandomState(0)
        X = rng.randn(200, 2)
        own.calibrate(X + 30, "labels", rng.randint(3, size=200))
        sets = partition.decide("coverage", level=0.3, calibration=own.calibration_)
        assert sets[np.arange(4), [0, 1, 2, 2]].all()


class TestOutliers:
    def test_about_the_asked_share_of_ordinary_rows_is_flagged(self, data, network):
        rows = data[0][600:]
        p_values = network.outlier_p_values(rows)
        for rate in (0.01, 0.05, 0.2):
            flags = network.flag_outliers(rows, rate=rate)
            np.testing.assert_array_equal(flags, p_values <= rate)
            assert flags.mean() < rate + 4 * np.sqrt(rate / 300)
        assert network.flag_outliers(rows, rate=0.2).mean() > 0.1

    def test_outliers_are_found_with_few_false_ones(self, data, network):
        far = np.random.default_rng(0).normal([60, 60], 10, size=(20, 2))
        flags = network.flag_outliers(np.vstack([data[0][600:], far]), fdr=0.1)
        assert flags[300:].all()
        assert flags[:300].sum() <= 8

    def test_just_one_of_rate_and_fdr(self, data, network):
        for options in ({}, {"rate": 0.1, "fdr": 0.1}):
            with pytest.raises(ValueError, match=r"just one of rate, .* and fdr"):
                network.flag_outliers(data[0], **options)
        for name in ("rate", "fdr"):
            for value in (0, 0.6, "0.1"):
                with pytest.raises(ValueError, match=f"{name} must be a finite number"):
                    network.flag_outliers(data[0], **{name: value})

    def test_models_without_p_values_say_what_to_do(self, data):
        X = data[0]
        able = NNEVCLUS(3, empty_set="stress", n_init=1, random_state=0).fit(X[:60])
        with pytest.raises(ValueError, match="NNEVCLUS must be fitted with empty_set="):
            able.flag_outliers(X, rate=0.05)
        other = Bootclus(3, n_bootstrap=2, n_init=1, random_state=0).fit(X[:100])
        with pytest.raises(ValueError, match=r"Bootclus must not be asked .*NNEVCLUS"):
            other.flag_outliers(X, fdr=0.1)
