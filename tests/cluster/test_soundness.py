"""What the checks after a fit find, and what they leave alone."""

import warnings
from functools import partial

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from credalis import ECM, EVCLUS, NNEVCLUS, RECM, Bootclus
from credalis.belief import FocalSets
from credalis.cluster._framework import _soundness as soundness
from credalis.cluster._inputs._geometry import Geometry
from credalis.exceptions import (
    ContrastWarning,
    EmptyClusterWarning,
    MergedClustersWarning,
    OutlierWarning,
    UnitsWarning,
)


@pytest.fixture
def four_blobs():
    """Four clusters at the corners of a square of ten standard deviations."""
    centers = [[0, 0], [0, 10], [10, 0], [10, 10]]
    return make_blobs(160, centers=centers, random_state=0)


@pytest.fixture
def twelve_blobs():
    return make_blobs(240, centers=12, center_box=(-20, 20), random_state=4)[0]


def groups_of(X, n_groups):
    geometry = soundness.in_one_unit(X, "euclidean")
    return geometry, soundness.find_groups(geometry, n_groups)


def said(estimator, X):
    """Kinds of warnings of a fit, in their order."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X)
    assert all(each.filename == __file__ for each in caught)
    return [each.category for each in caught]


class TestEmpty:
    def test_clusters_without_objects_are_counted(self):
        labels = np.array([0, 2, 2, 0])
        assert soundness.count_empty(labels, FocalSets.singletons(3)) == 1
        assert soundness.count_empty(labels, FocalSets.singletons(5)) == 3
        assert soundness.count_empty(np.arange(3), FocalSets.full(3)) == 0

    def test_clusters_that_cannot_be_told_apart_do_not_count(self):
        sets = FocalSets(3, [(), (0,), (1, 2)])
        assert soundness.count_empty(np.array([0, 1]), sets) == 0


class TestGroups:
    def test_the_halves_of_one_cluster_have_no_gap(self, rng):
        for X in (rng.normal(size=(400, 2)), rng.uniform(size=(400, 1))):
            assert not soundness.has_gaps(groups_of(X, 2)[1])

    def test_noise_in_many_dimensions_has_no_gap(self, rng):
        assert not soundness.has_gaps(groups_of(rng.normal(size=(80, 1000)), 2)[1])

    def test_gap_counts_standard_deviations(self, rng):
        X = rng.normal(size=(800, 1))
        X[::2] += 10
        groups = groups_of(X, 2)[1]
        everything = np.ones(len(groups.rows), dtype=bool)
        assert groups.gap(0, 1, everything) == pytest.approx(5, rel=0.1)

    def test_dissimilarities_have_the_same_gaps(self, four_blobs):
        X, _ = four_blobs
        geometry = soundness.in_one_unit(squareform(pdist(X)), "precomputed")
        groups = soundness.find_groups(geometry, 4)
        points, same = groups_of(X, 4)
        ours = np.zeros(len(X), dtype=int)
        everything = np.ones(len(groups.rows), dtype=bool)
        assert groups.gap(0, 1, everything) > soundness.GAP
        assert soundness.excess_of_squares(geometry, groups, ours) == pytest.approx(
            soundness.excess_of_squares(points, same, ours)
        )

    def test_few_objects_say_nothing(self, rng):
        assert groups_of(rng.normal(size=(19, 2)), 2)[1] is None
        assert groups_of(np.repeat([[0.0], [1.0]], 30, axis=0), 3)[1] is None


class TestMerged:
    def test_two_blobs_in_one_cluster_while_another_is_split(self, four_blobs):
        X, y = four_blobs
        geometry, groups = groups_of(X, 4)
        assert soundness.find_merged(geometry, groups, y) is None
        merged = np.where(y == 3, 2, y)
        merged[(y == 0) & (X[:, 0] > 0)] = 3
        assert soundness.find_merged(geometry, groups, merged) == 2

    def test_a_cut_through_a_large_cluster(self):
        X, y = make_blobs([270, 30], centers=[[0, 0], [8, 0]], random_state=0)
        geometry, groups = groups_of(X, 2)
        cut = (X[:, 0] > 0).astype(int)
        assert soundness.find_merged(geometry, groups, cut) == 1
        assert soundness.find_merged(geometry, groups, y) is None

    def test_clusters_that_are_not_round(self, rng):
        moons = make_moons(300, noise=0.05, random_state=0)
        rings = make_circles(300, noise=0.03, factor=0.4, random_state=0)
        stripes = rng.normal(size=(300, 2)) * [6, 0.4] + np.repeat(
            [[0, 0], [0, 4]], 150, axis=0
        )
        for X, y in (moons, rings, (stripes, np.repeat([0, 1], 150))):
            assert soundness.find_merged(*groups_of(X, 2), y) is None

    def test_a_few_outliers_are_no_group(self, rng):
        X = np.vstack([rng.normal(size=(196, 2)), [[50, 50]] * 4])
        y = (X[:, 0] > 0).astype(int)
        assert soundness.find_merged(*groups_of(X, 2), y) is None

    def test_a_bad_run_of_k_means_accuses_nobody(self, four_blobs):
        X, y = four_blobs
        geometry, groups = groups_of(X, 4)
        # What k-means has found is no better than the clusters.
        assert soundness.excess_of_squares(geometry, groups, y) == pytest.approx(0)


class TestOutliers:
    @pytest.mark.parametrize(
        ("n_outliers", "n_samples", "rate", "expected"),
        [
            (0, 100, 0.01, False),
            (10, 200, 0.01, False),  # five per cent of real outliers
            (60, 200, 0.01, True),
            (110, 1000, 0.1, False),
            (260, 1000, 0.1, True),
            (50, 100, None, False),
            (51, 100, None, True),
        ],
    )
    def test_how_many_are_too_many(self, n_outliers, n_samples, rate, expected):
        found = soundness.are_too_many_outliers(n_outliers, n_samples, rate)
        assert found == expected


class TestColumns:
    def test_units(self, rng):
        X = rng.normal(size=(50, 3)) * [1, 1000, 20]
        assert soundness.unequal_columns(soundness.column_spreads(X)) == (1, 0)
        X = StandardScaler().fit_transform(X)
        assert soundness.unequal_columns(soundness.column_spreads(X)) is None

    def test_columns_that_are_nearly_constant_have_no_unit(self, rng):
        X = rng.normal(size=(50, 3)) * [1, 0, 10]
        X[0, 1] = 1e-6
        assert soundness.unequal_columns(soundness.column_spreads(X)) is None

    @pytest.mark.parametrize("metric", ["precomputed", "correlation", "mahalanobis"])
    def test_metrics_without_units(self, metric):
        assert not soundness.depends_on_units(metric)
        assert soundness.depends_on_units("cityblock")

    def test_contrast(self, rng):
        noise = rng.normal(size=(60, 500))
        geometry, groups = groups_of(noise, 2)
        spread = soundness.relative_spread(geometry)
        assert spread == pytest.approx(np.sqrt(0.5 / 500), rel=0.1)
        assert soundness.lacks_contrast(spread, groups)
        noise[::2, :20] += 3
        assert not soundness.lacks_contrast(spread, groups_of(noise, 2)[1])
        plane = Geometry(rng.normal(size=(60, 2)))
        assert not soundness.lacks_contrast(soundness.relative_spread(plane), None)


class TestFits:
    """Each warning is raised where it should be, and its advice makes it go away."""

    def test_lost_clusters(self, twelve_blobs):
        lossy = NNEVCLUS(
            12,
            init="random",
            dissimilarity_quantile=1 / 6,
            n_init=1,
            max_iter=300,
            random_state=1,
        )
        kinds = said(lossy, twelve_blobs)
        assert kinds.count(EmptyClusterWarning) == 1
        assert kinds.count(MergedClustersWarning) == 1
        assert lossy._start_advice(False).startswith("set init='auto'")
        assert lossy._start_advice(True).startswith("raise n_init")
        kinds = said(lossy.set_params(init="auto"), twelve_blobs)
        assert EmptyClusterWarning not in kinds
        assert MergedClustersWarning not in kinds

    def test_a_cluster_that_a_pair_has_taken_the_place_of(self):
        X = make_blobs(120, centers=4, cluster_std=1.2, random_state=3)[0]
        model = ECM(4, focal_sets="pairs", alpha=1, beta=2, random_state=0)
        assert said(model, X) == [MergedClustersWarning]
        assert model._start_advice(False).startswith(
            "set focal_sets='singletons', raise"
        )
        assert said(model.set_params(focal_sets="singletons"), X) == []
        assert model._start_advice(False).startswith("lower beta=2")

    def test_all_objects_on_the_empty_set(self, rng):
        X = rng.normal(size=(40, 400))
        # On all columns: few components have contrast.
        for method in (partial(NNEVCLUS, n_components=None), EVCLUS):
            model = method(
                2,
                empty_set="stress",
                dissimilarity_quantile=0.99,
                n_init=1,
                max_iter=30,
                random_state=0,
            )
            assert OutlierWarning in said(model, X)
            assert model._outlier_advice.startswith("set empty_set='novelty'")
            assert OutlierWarning not in said(model.set_params(empty_set="novelty"), X)

    def test_sparse_clusters_taken_for_outliers(self, rng):
        X = np.vstack([rng.normal(size=(130, 2)), rng.normal(size=(30, 2)) * 40 + 200])
        model = EVCLUS(2, empty_set="novelty", n_init=1, max_iter=20, random_state=0)
        kinds = said(model, X)
        assert OutlierWarning in kinds
        empty = model.partition_.masses[:, model.focal_sets_.empty_index]
        rate = float(f"{soundness.rate_that_suits(empty, 0.01):.1g}")
        assert OutlierWarning not in said(model.set_params(outlier_rate=rate), X)

    def test_units(self, four_blobs):
        X = four_blobs[0] * [1, 1000]
        assert UnitsWarning in said(ECM(4, random_state=0), X)
        assert UnitsWarning not in said(ECM(4, metric="adaptive", random_state=0), X)
        pipeline = make_pipeline(StandardScaler(), ECM(4, random_state=0))
        assert said(pipeline, X) == []
        matrix = squareform(pdist(X))
        assert UnitsWarning not in said(
            RECM(4, metric="precomputed", random_state=0), matrix
        )

    def test_a_mixture_has_no_units(self, four_blobs):
        X = four_blobs[0] * [1, 1000]
        model = Bootclus(4, n_bootstrap=2, covariance_type="tied", random_state=0)
        assert UnitsWarning not in said(model, X)

    def test_columns_have_their_names(self, four_blobs):
        pd = pytest.importorskip("pandas")
        X = pd.DataFrame(four_blobs[0] * [1, 1000], columns=["height", "income"])
        with pytest.warns(UnitsWarning, match=r"'income' .* column 'height'"):
            ECM(4, random_state=0).fit(X)

    def test_noise(self, rng):
        kinds = said(ECM(2, random_state=0), rng.normal(size=(60, 500)))
        assert kinds.count(ContrastWarning) == 1
        # Clusters that are far apart, but not compared with the noise.
        X = rng.normal(size=(60, 500))
        X[::2, :20] += 3
        assert ContrastWarning not in said(ECM(2, random_state=0), X)

    @pytest.mark.parametrize("method", [EVCLUS, NNEVCLUS])
    @pytest.mark.parametrize(("scale", "what"), [(1e-3, "small"), (1e4, "large")])
    def test_scales_without_contrast(self, four_blobs, method, scale, what):
        model = method(4, dissimilarity_scale=scale, n_init=1, random_state=0)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(four_blobs[0][::2])
        told = [each for each in caught if each.category is ContrastWarning]
        assert len(told) == 1
        assert f"δ0 = {scale:.3g} is so {what}" in str(told[0].message)

    def test_sound_results(self, four_blobs):
        X = four_blobs[0][::2]
        for method in (ECM, RECM, EVCLUS, NNEVCLUS):
            assert said(method(4, n_init=2, random_state=0), X) == []
