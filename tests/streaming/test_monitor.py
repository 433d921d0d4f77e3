import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

import credalis
from credalis import ECM, NNEVCLUS, FocalSets
from credalis.exceptions import PowerWarning
from credalis.streaming import NewClusterMonitor, ProposedCluster, StreamState
from credalis.streaming._balls import Balls, Reference
from credalis.streaming._calibration import strangeness
from credalis.streaming._evidence import CURRENT
from credalis.streaming._proposals import proposed_clusters

CENTERS = np.array([[0, 0], [8, 0], [4, 7], [12, 7], [-4, 8]], dtype=float)
KNOWN = CENTERS[:3]


def blobs(n_samples, centers, seed):
    return make_blobs(n_samples, centers=centers, random_state=seed)[0]


SETTINGS = {
    "stress": {
        "empty_set": "stress",
        "novelty_detector": "ocsvm",
        "weight_decay": 0.0,
    },
    "novelty": {"empty_set": "novelty"},
    "novelty ocsvm": {"empty_set": "novelty", "novelty_detector": "ocsvm"},
}


def network(setting, **parameters):
    return NNEVCLUS(3, n_init=1, **SETTINGS[setting], **parameters)


@pytest.fixture(scope="module", params=["stress", "novelty"])
def model(request):
    return network(request.param, random_state=0).fit(blobs(300, KNOWN, 0))


@pytest.fixture(scope="module")
def calibration():
    return blobs(600, KNOWN, 1)


@pytest.fixture
def monitor(model, calibration):
    return NewClusterMonitor(model, random_state=0).fit(calibration)


def states(monitor):
    return {
        name: getattr(monitor, name)
        for name in (
            "n_seen_",
            "n_rejected_",
            "n_places_",
            "log_evidence_",
            "p_value_",
            "alarm_at_",
        )
    }


def test_ordinary_objects_give_no_alarm_and_are_seldom_rejected(monitor, seed):
    state = monitor.update(blobs(5000, KNOWN, 10 + seed))
    assert isinstance(state, StreamState)
    assert not state.alarm
    assert not monitor.alarm_
    assert monitor.alarm_at_ is None
    assert state.n_seen == 5000
    # The conformal bound is 0.05 on average; this is one calibration sample of 150.
    assert 0 < state.n_rejected / 5000 < 0.1
    assert monitor.propose() == []


def test_new_cluster_gives_an_alarm_soon(monitor, seed):
    monitor.update(blobs(2000, KNOWN, 10 + seed))
    assert not monitor.alarm_
    X, y = make_blobs(1000, centers=CENTERS[:4], random_state=20 + seed)
    state = monitor.update(X)
    assert state.alarm
    assert state.p_value <= 0.01
    assert 2000 < monitor.alarm_at_ <= 3000
    n_new = (y[: monitor.alarm_at_ - 2000] == 3).sum()
    assert n_new <= 40


def test_scattered_outliers_give_no_alarm(monitor, seed):
    rng = np.random.default_rng(seed)
    X = blobs(4000, KNOWN, 10 + seed)
    is_outlier = rng.random(len(X)) < 0.05
    X[is_outlier] = rng.uniform(-12, 20, size=(is_outlier.sum(), 2))
    assert not monitor.update(X).alarm
    assert monitor.n_rejected_ > 0.7 * is_outlier.sum()


def test_state_does_not_depend_on_the_batches(model, calibration):
    X = np.concatenate([blobs(1500, KNOWN, 2), blobs(500, CENTERS[:4], 3)])
    found = []
    for size in (2000, 137, 1):
        monitor = NewClusterMonitor(model, max_rejected=30, random_state=0)
        monitor.fit(calibration)
        stop = 300 if size == 1 else len(X)
        for start in range(0, stop, size):
            monitor.update(X[start : start + size])
        if size == 1:
            reference = NewClusterMonitor(model, max_rejected=30, random_state=0)
            reference.fit(calibration).update(X[:stop])
            assert states(reference) == pytest.approx(states(monitor))
        else:
            found.append(monitor)
    first, second = found
    assert states(first) == pytest.approx(states(second))
    assert first.alarm_
    np.testing.assert_array_equal(first.rejected_, second.rejected_)
    for name in ("hits", "wide_hits", "places"):
        one, other = getattr(first.balls_, name), getattr(second.balls_, name)
        np.testing.assert_array_equal(one, other)


def test_hits_are_counted_as_they_should_be(model, calibration):
    monitor = NewClusterMonitor(model, random_state=0).fit(calibration)
    X = blobs(400, CENTERS[:4], 3)
    for rows in np.array_split(np.arange(len(X)), 7):
        monitor.update(X[rows])
    times = np.flatnonzero(strangeness(model, X) > monitor.threshold_)
    balls, radius = monitor.balls_, monitor.radius_
    np.testing.assert_array_equal(balls.objects, X[times])
    np.testing.assert_array_equal(balls.births, times + 1)
    np.testing.assert_array_equal(balls.numbers, 1 + np.arange(len(times)))
    n_places = 0
    for j, center in enumerate(balls.objects):
        gaps = np.hypot(*(balls.objects - center).T)
        known = np.hypot(*(monitor.reference_points_ - center).T)
        assert balls.hits[j] == (gaps[j + 1 :] <= radius).sum()
        assert balls.known_hits[j] == (known <= radius).sum()
        assert balls.wide_hits[j] == (gaps[j + 1 :] <= 1.5 * radius).sum()
        assert balls.wide_known_hits[j] == (known <= 1.5 * radius).sum()
        is_new_place = (gaps[:j] > radius).all()
        n_places += is_new_place
        assert balls.places[j] == (n_places if is_new_place else 0)
    assert 1 < n_places == monitor.n_places_ < len(times)


def test_memory_is_bounded(model, calibration):
    monitor = NewClusterMonitor(model, max_rejected=50, max_replay=100, random_state=0)
    monitor.fit(calibration)
    for seed in range(3):
        monitor.update(blobs(1000, CENTERS[:4], seed))
    assert monitor.n_rejected_ > 50
    assert monitor.rejected_.shape == (50, 2)
    assert monitor.replay_.shape == (100, 2)
    assert monitor.alarm_


def test_proposals_say_where_the_new_clusters_are_and_how_tight(monitor):
    monitor.update(blobs(1500, CENTERS, 4))
    clusters = monitor.propose()
    assert all(isinstance(cluster, ProposedCluster) for cluster in clusters)
    assert len(clusters) == 2
    assert clusters[0].size >= clusters[1].size > 200
    for cluster in clusters:
        gaps = np.hypot(*(CENTERS[3:] - cluster.center).T)
        assert gaps.min() < 0.3
        assert cluster.objects.shape == (cluster.size, 2)
        # Standard deviation 1 in each of two directions.
        assert cluster.spread == pytest.approx(np.sqrt(2), rel=0.15)
        assert cluster.spread == pytest.approx(monitor.radius_ / np.sqrt(2), rel=0.2)
        assert f"{cluster.size} objects" in repr(cluster)


def test_alarm_lasts(monitor):
    monitor.update(blobs(1000, CENTERS[:4], 4))
    at = monitor.alarm_at_
    assert monitor.update(blobs(1000, KNOWN, 5)).alarm
    assert monitor.alarm_at_ == at
    assert not monitor.fit(blobs(600, KNOWN, 1)).alarm_


def test_extension_knows_old_and_new_clusters(model, calibration):
    monitor = NewClusterMonitor(model, max_replay=300, random_state=0)
    monitor.fit(calibration).update(blobs(800, CENTERS, 4))
    centers = [cluster.center for cluster in monitor.propose()]
    weights = [layer.copy() for layer in model.weights_]
    larger = monitor.extend()
    assert larger.n_clusters == 5
    X = blobs(500, KNOWN, 6)
    # Old clusters keep their numbers, new ones follow as they were proposed.
    assert (larger.predict(X) == model.predict(X)).mean() > 0.98
    assert larger.predict(centers).tolist() == [3, 4]
    for old, now in zip(weights, model.weights_, strict=True):
        np.testing.assert_array_equal(old, now)


def test_extension_replays_what_it_is_given_as_well(model, calibration):
    monitor = NewClusterMonitor(model, max_replay=2, random_state=0)
    monitor.fit(calibration).update(blobs(300, CENTERS[:4], 4))
    X = blobs(300, KNOWN, 7)
    larger = monitor.extend(X)
    assert (larger.predict(X) == model.predict(X)).mean() > 0.98
    assert larger.predict(CENTERS[3:4]) == 3


def test_loaded_monitor_goes_on_where_it_was(monitor, tmp_path):
    monitor.update(blobs(700, KNOWN, 2))
    monitor.save(tmp_path / "monitor.credalis")
    loaded = credalis.load(tmp_path / "monitor.credalis")
    assert isinstance(loaded, NewClusterMonitor)
    for one in (monitor, loaded):
        one.update(blobs(500, CENTERS[:4], 3))
    assert monitor.alarm_
    assert states(monitor) == states(loaded)
    np.testing.assert_array_equal(monitor.rejected_, loaded.rejected_)
    larger = loaded.extend()
    larger.save(tmp_path / "model.credalis")
    X = blobs(200, CENTERS[:4], 8)
    again = credalis.load(tmp_path / "model.credalis")
    np.testing.assert_array_equal(again.transform(X), larger.transform(X))


def test_monitor_before_its_first_object_can_be_saved(monitor, tmp_path):
    monitor.save(tmp_path / "monitor.credalis")
    loaded = credalis.load(tmp_path / "monitor.credalis")
    assert not loaded.update(blobs(100, KNOWN, 2)).alarm


def test_names_of_columns_are_kept(calibration):
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(blobs(300, KNOWN, 0), columns=["east", "north"])
    model = NNEVCLUS(3, novelty_detector="ocsvm", n_init=1, random_state=0).fit(table)
    monitor = NewClusterMonitor(model, random_state=0)
    monitor.fit(pd.DataFrame(calibration, columns=["east", "north"]))
    new = pd.DataFrame(blobs(400, CENTERS[:4], 3), columns=["east", "north"])
    assert monitor.update(new).alarm
    larger = monitor.extend()
    assert larger.feature_names_in_.tolist() == ["east", "north"]
    assert larger.predict(new).max() == 3


def test_any_model_with_mass_on_the_empty_set_is_watched(calibration):
    model = ECM(3, random_state=0).fit(blobs(300, KNOWN, 0))
    monitor = NewClusterMonitor(model, random_state=0).fit(calibration)
    assert not monitor.update(blobs(1000, KNOWN, 2)).alarm
    assert monitor.update(blobs(400, CENTERS[:4], 3)).alarm
    [cluster] = monitor.propose()
    assert np.hypot(*(cluster.center - CENTERS[3])) < 0.5
    with pytest.raises(ValueError, match="model must be an NNEVCLUS for extend"):
        monitor.extend()


@pytest.mark.parametrize("setting", SETTINGS)
def test_extension_knows_the_new_cluster(setting, calibration):
    model = network(setting, random_state=0).fit(blobs(300, KNOWN, 0))
    monitor = NewClusterMonitor(model, random_state=0).fit(calibration)
    monitor.update(blobs(240, CENTERS[:4], 4))
    [cluster] = monitor.propose()
    assert cluster.size < 70
    new = blobs(500, CENTERS[3:4], 5)
    assert (model.predict_partition(new).outlier_mass >= 0.5).mean() > 0.9
    larger = monitor.extend()
    far = 40 * np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    assert (larger.predict_partition(far).outlier_mass > 0.5).all()
    # The larger model can be watched in turn.
    again = NewClusterMonitor(larger, random_state=0).fit(blobs(600, CENTERS[:4], 7))
    assert not again.update(blobs(1000, CENTERS[:4], 8)).alarm
    assert again.update(blobs(500, CENTERS, 9)).alarm


@pytest.mark.parametrize("setting", ["novelty", "novelty ocsvm"])
def test_extension_takes_new_objects_for_ordinary(setting):
    new, old = blobs(2000, CENTERS[3:4], 5), blobs(2000, KNOWN, 6)
    flagged = []
    # Some sixty objects say what the new cluster is like: a share from one such draw
    # may be twice the mean.
    for draw in range(4):
        model = network(setting, random_state=draw).fit(blobs(300, KNOWN, 100 * draw))
        monitor = NewClusterMonitor(model, random_state=0)
        monitor.fit(blobs(600, KNOWN, 100 * draw + 1))
        monitor.update(blobs(240, CENTERS[:4], 100 * draw + 4))
        larger = monitor.extend()
        flagged.append(
            [
                (larger.predict_partition(X).outlier_mass >= 0.5).mean()
                for X in (new, old)
            ]
        )
    assert (np.mean(flagged, axis=0) < 0.05).all()


def test_ties_of_the_mass_on_the_empty_set_are_broken(calibration):
    # With few training objects many new ones are beyond all of them in rank.
    model = network("novelty", outlier_rate=0.5, random_state=0).fit(
        blobs(40, KNOWN, 0)
    )
    masses = model.predict_partition(calibration).outlier_mass
    assert len(np.unique(masses)) < 0.2 * len(masses)
    scores = strangeness(model, calibration)
    assert len(np.unique(np.sort(scores)[300:])) == 300
    # The scores order the objects as the masses do, where these differ.
    assert (np.diff(masses[np.argsort(scores)]) >= 0).all()
    monitor = NewClusterMonitor(model, rejection_rate=0.05, random_state=0)
    monitor.fit(calibration)
    state = monitor.update(blobs(4000, KNOWN, 3))
    assert 0.02 < state.n_rejected / state.n_seen < 0.09


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("false_alarm_rate", 0.0),
        ("false_alarm_rate", 1.5),
        ("rejection_rate", 0),
        ("rejection_rate", "many"),
        ("min_share", -0.1),
        ("min_share", np.nan),
        ("radius", 0.0),
        ("radius", "large"),
        ("max_rejected", 1),
        ("max_replay", 2.5),
        ("model", NNEVCLUS),
        ("model", "nnevclus"),
    ],
)
def test_bad_parameter_is_named(model, calibration, name, value):
    monitor = NewClusterMonitor(model).set_params(**{name: value})
    with pytest.raises(ValueError, match=f"^{name} must be"):
        monitor.fit(calibration)


def test_model_that_cannot_be_watched_is_refused(calibration):
    X = blobs(60, KNOWN, 0)
    with pytest.raises(NotFittedError):
        NewClusterMonitor(NNEVCLUS(3)).fit(calibration)
    plain = NNEVCLUS(3, empty_set="stress", n_init=1, random_state=0).fit(X)
    with pytest.raises(ValueError, match="novelty_detector"):
        NewClusterMonitor(plain).fit(calibration)
    closed = ECM(3, focal_sets=FocalSets.singletons(3, empty=False)).fit(X)
    with pytest.raises(ValueError, match="empty set"):
        NewClusterMonitor(closed).fit(calibration)
    distances = np.hypot(*(X[:, None] - X).transpose(2, 0, 1))
    for relational in (
        NNEVCLUS(3, metric="precomputed", novelty_detector="ocsvm", n_init=1),
        NNEVCLUS(3, novelty_detector="ocsvm", n_init=1),
    ):
        given = relational.metric == "precomputed"
        if given:
            relational.fit(distances)
        else:
            relational.fit(X, dissimilarities=distances)
        with pytest.raises(ValueError, match="dissimilarities"):
            NewClusterMonitor(relational).fit(distances if given else calibration)


def test_bad_objects_are_refused_and_change_nothing(monitor, calibration):
    with pytest.raises(ValueError, match="at least 40 calibration objects"):
        NewClusterMonitor(monitor.model).fit(calibration[:39])
    monitor.update(blobs(500, KNOWN, 2))
    before = states(monitor)
    for bad in (np.full((3, 2), np.nan), np.zeros((3, 3)), [["a", "b"]], []):
        with pytest.raises(ValueError):
            monitor.update(bad)
    assert states(monitor) == before


def test_what_needs_a_calibration_or_a_cluster_says_so(model, calibration, tmp_path):
    monitor = NewClusterMonitor(model)
    for use in (
        lambda: monitor.update(calibration),
        monitor.propose,
        monitor.extend,
        lambda: monitor.save(tmp_path / "monitor"),
    ):
        with pytest.raises(NotFittedError):
            use()
    with pytest.raises(ValueError, match="there must be a new cluster"):
        monitor.fit(calibration).extend()


def test_radius_that_cannot_be_found_is_asked_for():
    X = np.repeat(KNOWN, 50, axis=0) + 0.0
    X[:3] += 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ECM(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="radius must be given"):
        NewClusterMonitor(model, random_state=0).fit(np.repeat(KNOWN, 50, axis=0))
    given = NewClusterMonitor(model, radius=1.0).fit(np.repeat(KNOWN, 200, axis=0))
    assert given.radius_ == 1.0


def test_fit_says_what_can_be_noticed(model, calibration):
    monitor = NewClusterMonitor(model, random_state=0).fit(calibration)
    assert 0.02 < monitor.detectable_share_ < 0.05
    with pytest.warns(PowerWarning, match=r"at least 5\.6% of the stream .* \(225 are"):
        monitor.fit(calibration[:300])
    assert monitor.detectable_share_ == pytest.approx(0.056, abs=0.001)
    strict = NewClusterMonitor(model, false_alarm_rate=1e-9, random_state=0)
    with pytest.warns(PowerWarning, match="no new cluster is noticed"):
        strict.set_params(rejection_rate=0.2).fit(calibration[:11])
    assert strict.detectable_share_ == np.inf


def test_cores_without_a_distance_to_themselves_are_clusters():
    places = np.array([[1e308, 0.0], [1e308, 1.0]])
    counts = np.ones(2, dtype=int)
    balls = Balls(places, places, *[counts] * 7)
    # As rounding leaves it at the end of the numbers.
    reference = Reference(
        np.empty((0, 2)), 10, lambda a, b: 1e290, 1e-300, 0.0, CURRENT
    )
    found = proposed_clusters(balls, np.array([5.0, 4.0]), 3.0, reference)
    assert [len(cluster.objects) for cluster in found] == [1, 1]
    assert [cluster.center[0] for cluster in found] == [1e308, 1e308]
