"""Consensus: the committee, its gate, and the network that learns from it."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from credalis import ECM, Consensus, FocalSets, load
from credalis.belief import pignistic
from credalis.checkpoints import Checkpoint
from credalis.cluster.consensus._committee import Frame, Member
from credalis.cluster.consensus._distillation import (
    CrossEntropy,
    Distillation,
    Lesson,
    taught,
)
from credalis.cluster.consensus._members import MEMBERS, convene
from credalis.cluster.consensus._start import committee_masses
from credalis.exceptions import NoClustersWarning
from credalis.network import SideInformation, with_constant
from credalis.sources import ArraySource


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(
        240,
        centers=3,
        n_features=3,
        cluster_std=1.5,
        center_box=(-8, 8),
        random_state=1,
    )


@pytest.fixture(scope="module")
def fitted(blobs):
    return Consensus(3, random_state=0).fit(blobs[0])


def names(model):
    return [member["name"] for member in model.members_]


def ask(X, n_clusters, members=MEMBERS, *, has_gate=False, seed=0):
    """A session about rows, without any network."""
    return convene(
        X,
        n_clusters,
        members,
        np.random.RandomState(seed),
        has_gate=has_gate,
        report=lambda *_: None,
    )


def test_members_agree_on_clusters_that_are_there(fitted, blobs):
    assert adjusted_rand_score(blobs[1], fitted.labels_) > 0.95
    assert names(fitted)[:6] == ["full", "tied", "t", "ward", "spectral", "bpec"]
    assert fitted.agreement_ > 0.9
    assert fitted.failed_members_ == {}
    assert all(0 <= each["reliability"] <= 0.8 for each in fitted.members_)
    assert fitted.focal_sets_ == FocalSets.singletons(3)


def test_a_model_that_is_plainly_right_outvotes_the_others(rng):
    # Two Gaussians around the same centre: most members see something else, and there
    # is no gap.
    y = rng.integers(2, size=400)
    X = rng.normal(size=(400, 20)) * np.where(y, 1.0, 2.5)[:, None]
    with pytest.warns(NoClustersWarning):
        trusting = Consensus(random_state=0).fit(X)
    assert trusting.gate_["trusted"] == "spherical"
    assert "adequate spherical" in names(trusting)
    assert adjusted_rand_score(y, trusting.labels_) > 0.9
    with pytest.warns(NoClustersWarning):
        voting = Consensus(adequacy_gate=False, random_state=0).fit(X)
    assert voting.gate_["trusted"] is None
    assert adjusted_rand_score(y, voting.labels_) < 0.5
    assert "trusted: spherical" in trusting.describe()
    assert "no model" in voting.describe()


def test_shapes_that_only_neighborhoods_show():
    X, y = make_moons(300, noise=0.05, random_state=0)
    model = Consensus(random_state=0).fit(X)
    assert model.gate_["trusted"] == "neighborhoods"
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_doubt_is_where_members_differ(fitted, blobs):
    centers = np.array([blobs[0][blobs[1] == k].mean(axis=0) for k in range(3)])
    middle = centers[:2].mean(axis=0)
    sure, unsure = fitted.predict_proba([centers[0], middle]).max(axis=1)
    assert sure > 0.9 > unsure


def test_the_network_says_what_the_committee_says(blobs):
    X, y = make_blobs(
        900,
        centers=4,
        n_features=3,
        cluster_std=2.5,
        center_box=(-8, 8),
        random_state=2,
    )
    with pytest.warns(NoClustersWarning):
        model = Consensus(4, random_state=0, empty_set="nothing").fit(X[:500])
    session = ask(X[:500], 4, has_gate=True)
    said = committee_masses(session.committee, model.focal_sets_, X[500:])
    by_committee = pignistic(said, model.focal_sets_).argmax(axis=1)
    by_network = model.predict(X[500:])
    scores = [adjusted_rand_score(y[500:], each) for each in (by_committee, by_network)]
    assert scores[1] > scores[0] - 0.03


# Powers of two change no digit.
@pytest.mark.parametrize("unit", [2.0**-40, 2.0**40])
def test_units_play_no_part(fitted, blobs, unit):
    scaled = Consensus(3, random_state=0).fit(blobs[0] * unit)
    np.testing.assert_array_equal(scaled.labels_, fitted.labels_)


class Failing(ClusterMixin, BaseEstimator):
    """A clusterer with a bad day."""

    def fit(self, X, y=None):
        raise RuntimeError("no clusters today")


def test_a_member_that_fails_is_left_out(blobs):
    model = Consensus(3, members=["full", "ward", Failing()], random_state=0)
    with pytest.warns(UserWarning, match=r"Failing was left out.*no clusters today"):
        model.fit(blobs[0])
    assert names(model)[:2] == ["full", "ward"]
    assert model.failed_members_ == {"Failing": "RuntimeError: no clusters today"}
    assert "left out: Failing" in model.describe()
    assert adjusted_rand_score(blobs[1], model.labels_) > 0.9


def test_who_is_missing_is_said_of_a_file_too(many, small_samples):
    model = Consensus(**SMALL, members=["full", "ward", Failing()])
    with pytest.warns(UserWarning, match="Failing was left out"):
        model.fit(ArraySource(many[0]))
    assert list(model.failed_members_) == ["Failing"]


def test_a_small_cluster_is_not_smoothed_away(rng):
    sizes = [120, 100, 4]
    centers = [[0, 0], [9, 0], [4.5, 4.5]]
    X = np.vstack(
        [rng.normal(c, 0.5, size=(n, 2)) for c, n in zip(centers, sizes, strict=True)]
    )
    session = ask(X, 3, ["full", "tied", "ward", "bpec"])
    assert session.committee.n_smoothed == 4
    singletons, _ = session.committee.own_evidence()
    counts = np.bincount(singletons.argmax(axis=1), minlength=3)
    assert sorted(counts) == [4, 100, 120]


def test_a_cluster_that_votes_would_lose_is_the_references(blobs):
    session = ask(blobs[0], 3, ["full", "tied", "ward"])
    committee = session.committee
    assert len(committee.lost) == 0
    # Nobody but the reference knows the last cluster.
    common = [
        names[each.labels]
        for each, names in zip(committee.members, committee.names, strict=True)
    ]
    known = [np.where(labels == 2, 1, labels) for labels in common]
    known[committee.reference] = common[committee.reference]
    members = [
        Member(each.name, np.eye(3)[labels])
        for each, labels in zip(committee.members, known, strict=True)
    ]
    others = replace(
        committee, members=tuple(members), names=(np.arange(3),) * len(members)
    )
    n_found = [
        len(np.unique(each.own_evidence()[0].argmax(axis=1)))
        for each in (others, others.with_all_clusters())
    ]
    assert n_found == [2, 3]


def test_rows_that_no_mixture_can_judge_are_voted_on(blobs, monkeypatch):
    def hopeless(*_, **__):
        raise ValueError("the loss must stay finite")

    monkeypatch.setattr("credalis.cluster.consensus._members.adequacy", hopeless)
    model = Consensus(3, random_state=0).fit(blobs[0])
    assert model.gate_["trusted"] is None
    assert adjusted_rand_score(blobs[1], model.labels_) > 0.95


def test_without_any_member_there_is_no_consensus(blobs):
    with pytest.raises(ValueError, match=r"members must be able .* Failing#2"):
        Consensus(3, members=[Failing(), Failing()]).fit(blobs[0])


@pytest.mark.parametrize(
    "members",
    [
        [KMeans(), GaussianMixture()],
        [AgglomerativeClustering(), ECM()],
        [DBSCAN(eps=1.5), "full", "tied"],
        ["spectral"],
    ],
)
def test_any_clusterers_may_be_members(blobs, members):
    X, y = blobs
    model = Consensus(3, members=members, random_state=0).fit(X)
    assert model.failed_members_ == {}
    assert adjusted_rand_score(y, model.labels_) > 0.9
    # They also speak about rows that they have not seen.
    few = Consensus(3, members=members, committee_size=120, random_state=0).fit(X)
    assert adjusted_rand_score(y, few.labels_) > 0.9


def test_members_are_cloned(blobs):
    kmeans = KMeans(7)
    Consensus(3, members=[kmeans, "ward"], random_state=0).fit(blobs[0])
    assert kmeans.n_clusters == 7
    assert not hasattr(kmeans, "labels_")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"members": "all"}, r"members must be one of 'auto', got 'all'"),
        ({"members": []}, r"members must be 'auto' or a list .* got \[\]"),
        ({"members": ["full", "hdbscan"]}, r"members must be one of 'full', .* got"),
        ({"members": [KMeans]}, r"members must hold names or clusterers with fit"),
        ({"members": [3]}, r"members must hold names or clusterers with fit, got 3"),
        ({"adequacy_gate": "no"}, r"adequacy_gate must be a bool, got 'no'"),
        ({"committee_size": 1}, r"committee_size must be an integer >= 2, got 1"),
        ({"committee_size": 2}, r"committee_size must be at least n_clusters, got"),
        ({"hidden_layer_sizes": (4, 0)}, r"hidden_layer_sizes must be .* got 0"),
        ({"empty_set": "stress"}, r"empty_set must be one of 'novelty', 'nothing'"),
        ({"label_weight": 1.5}, r"label_weight must be .* got 1.5"),
    ],
)
def test_bad_parameters_are_named(blobs, parameters, message):
    with pytest.raises(ValueError, match=message):
        Consensus(3, **parameters).fit(blobs[0])


def test_labels_fix_the_numbers_of_the_clusters(blobs):
    X, y = blobs
    partial_labels = np.full(len(X), -1)
    for k in range(3):
        partial_labels[np.flatnonzero(y == k)[:3]] = (k + 1) % 3
    model = Consensus(3, random_state=0).fit(X, partial_labels=partial_labels)
    assert np.mean(model.labels_ == (y + 1) % 3) > 0.95


def test_labels_are_learned_against_the_committee(rng):
    # Two blobs, but the user means left and right halves of each.
    X = np.vstack([rng.normal(size=(80, 2)), rng.normal((0, 12), size=(80, 2))])
    halves = (X[:, 0] > 0).astype(int)
    plain = Consensus(members=["full", "ward"], random_state=0).fit(X)
    assert adjusted_rand_score(halves, plain.labels_) < 0.1
    told = Consensus(members=["full", "ward"], random_state=0, label_weight=0.9)
    told.fit(X, partial_labels=halves)
    assert np.mean(told.labels_ == halves) > 0.9


def test_pairs_are_learned(rng):
    # Objects of a blob, half of which must be with the other one.
    X = rng.normal(size=(120, 2))
    X[60:, 0] += 8
    moved = np.arange(30)
    X[moved, 1] += 2
    pairs = np.column_stack([moved, moved + 60])
    members = ["full", "ward"]
    plain = Consensus(members=members, random_state=0).fit(X)
    told = Consensus(members=members, constraint_weight=5.0, random_state=0)
    told.fit(X, must_link=pairs)
    broken = [
        np.mean(model.labels_[pairs[:, 0]] != model.labels_[pairs[:, 1]])
        for model in (plain, told)
    ]
    assert broken[0] == 1.0
    assert broken[1] < 0.5


def test_side_information_is_refused_by_name(blobs):
    X, _ = blobs
    with pytest.raises(ValueError, match="partial_labels must lie between"):
        Consensus(3).fit(X, partial_labels=np.full(len(X), 3))
    with pytest.raises(ValueError, match="must_link"):
        Consensus(3).fit(X, must_link=[[0, 1000]])
    with pytest.raises(ValueError, match="partial_labels must be None for data that"):
        Consensus(3).fit(ArraySource(X), partial_labels=np.zeros(len(X), dtype=int))


def test_labelled_rows_are_in_the_committee_of_many(rng):
    X, y = make_blobs(5000, centers=3, n_features=2, random_state=1)
    partial_labels = np.full(len(X), -1)
    partial_labels[:6] = y[:6]
    model = Consensus(3, committee_size=300, random_state=0)
    model.fit(X, partial_labels=partial_labels)
    known = np.unique(y[:6])
    is_known = np.isin(y, known)
    assert np.mean(model.labels_[is_known] == y[is_known]) > 0.95


def test_pairs_of_clusters_take_the_doubt_about_two(blobs):
    model = Consensus(3, focal_sets="pairs", random_state=0).fit(blobs[0])
    assert model.focal_sets_ == FocalSets.pairs(3)
    assert adjusted_rand_score(blobs[1], model.labels_) > 0.95


def test_the_empty_set_is_novelty(fitted, blobs):
    far = blobs[0].mean(axis=0) + 1000
    assert fitted.predict_partition([far]).is_outlier.all()
    assert fitted.outlier_p_values([far])[0] < 0.001
    assert fitted.partition_.is_outlier.mean() < 0.05
    plain = Consensus(3, empty_set="nothing", random_state=0).fit(blobs[0])
    assert not plain.predict_partition([far]).is_outlier.any()
    with pytest.raises(ValueError, match="empty_set='novelty'"):
        plain.outlier_p_values([far])


def test_cross_entropy_has_the_gradient_it_says(rng):
    targets = rng.dirichlet(np.ones(4), size=5).T
    masses = rng.dirichlet(np.ones(4), size=5).T
    entropy = CrossEntropy(targets)
    _, gradient = entropy.value_and_gradient(masses)
    for index in np.ndindex(masses.shape):
        step = np.zeros_like(masses)
        step[index] = 1e-6
        slope = (entropy.value(masses + step) - entropy.value(masses - step)) / 2e-6
        assert gradient[index] == pytest.approx(slope, rel=1e-5)
    # Never smaller than where the masses are the targets.
    assert entropy.value(masses) > entropy.value(targets)


def test_a_cluster_of_two_rows_is_learned(rng):
    # Among the rows of another cluster, so that a smooth network would pass it over.
    X = np.vstack([rng.normal(size=(400, 2)), rng.normal((9, 0), size=(300, 2))])
    X[:2] = [[0.0, 0.1], [0.1, 0.0]]
    y = np.repeat([0, 1], [400, 300])
    y[:2] = 2
    lesson = Lesson(
        with_constant(X),
        np.eye(5)[:, 1:4] @ np.eye(3)[:, y],
        FocalSets.singletons(3),
        SideInformation.nothing(),
    )
    network, trace = taught(
        lesson,
        Distillation.of(Consensus(3, max_iter=60), len(X)),
        np.arange(len(X)),
        np.random.RandomState(0),
        lambda *_: None,
    )
    labels = network.masses(trace.state, lesson.inputs)[1:4].argmax(axis=0)
    assert set(labels) == {0, 1, 2}
    assert np.mean(labels == y) > 0.9


def test_evidence_about_the_own_rows_is_what_was_combined(blobs):
    session = ask(blobs[0], 3, ["full", "ward", "spectral"])
    committee = session.committee
    own = np.column_stack(committee.own_evidence())
    np.testing.assert_allclose(own.sum(axis=1), 1.0)
    # Ward and spectral borrow from neighbours; in the middle of clusters that is all
    # the same.
    extended = np.column_stack(committee.evidence(blobs[0]))
    assert np.mean(own.argmax(axis=1) == extended.argmax(axis=1)) > 0.97


def test_many_features_are_projected(rng):
    y = rng.integers(2, size=90)
    X = rng.normal(size=(90, 130)) + 1.5 * y[:, None]
    frame = Frame.of(X)
    assert frame(X).shape == (90, 90)
    assert np.square(frame(X)).mean() == pytest.approx(1.0)
    assert adjusted_rand_score(y, Consensus(random_state=0).fit(X).labels_) == 1.0


@pytest.fixture(scope="module")
def many():
    return make_blobs(9000, n_features=3, centers=4, cluster_std=1.0, random_state=3)


@pytest.fixture
def small_samples(monkeypatch):
    monkeypatch.setattr("credalis.cluster._framework._fit.SAMPLE_ROWS", 2000)


SMALL = {"n_clusters": 4, "committee_size": 300, "random_state": 0}


@pytest.mark.slow
def test_more_rows_than_the_committee_has(many):
    X, y = many
    model = Consensus(**SMALL).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.97
    assert adjusted_rand_score(y, Consensus(**SMALL, max_iter=1).fit(X).labels_) > 0.95


def test_a_source_is_learned_in_blocks(many, small_samples, tmp_path):
    X, y = many
    checkpoint = Checkpoint(tmp_path / "fit.checkpoint", seconds=0)
    model = Consensus(**SMALL).fit(ArraySource(X), checkpoint=checkpoint)
    assert not hasattr(model, "partition_")
    assert adjusted_rand_score(y, model.predict(X)) > 0.97
    assert len(model.history_) == model.n_iter_ == 1
    # What has ended is read from the file, committee and all.
    again = Consensus(**SMALL).fit(ArraySource(X), checkpoint=checkpoint)
    np.testing.assert_array_equal(model.transform(X), again.transform(X))
    assert again.members_ == model.members_
    model.save(tmp_path / "model.credalis")
    copy = load(tmp_path / "model.credalis")
    np.testing.assert_array_equal(copy.transform(X), model.transform(X))
    assert copy.gate_ == model.gate_


class StopError(Exception):
    """The end of a process, as far as a test can have one."""


@pytest.mark.slow
def test_a_fit_that_stopped_goes_on(many, small_samples, tmp_path, monkeypatch):
    X, _ = many
    parameters = SMALL | {"max_iter": 2}
    whole = Consensus(**parameters).fit(ArraySource(X))
    write, n_writes = Checkpoint.write, 0

    def stopping(self, state):
        nonlocal n_writes
        write(self, state)
        n_writes += 1
        if n_writes == 2:
            raise StopError

    path = tmp_path / "fit.checkpoint"
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", stopping)
        with pytest.raises(StopError):
            Consensus(**parameters).fit(
                ArraySource(X), checkpoint=Checkpoint(path, seconds=0)
            )
    monkeypatch.setattr(ArraySource, "sample", None)  # a new start would need it
    rest = Consensus(**parameters).fit(
        ArraySource(X), checkpoint=Checkpoint(path, seconds=0)
    )
    np.testing.assert_array_equal(rest.transform(X), whole.transform(X))


def test_members_without_a_file_form_have_no_checkpoint(many, tmp_path):
    model = Consensus(4, members=[KMeans(), "ward"], random_state=0)
    with pytest.raises(ValueError, match="checkpoint must be None: members"):
        model.fit(many[0], checkpoint=tmp_path / "fit.checkpoint")


def test_partitions_of_dask_are_learned(many, small_samples):
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    X, y = many
    with warnings.catch_warnings(), dask.config.set(scheduler="synchronous"):
        warnings.simplefilter("ignore", DeprecationWarning)
        model = Consensus(**SMALL).fit(da.from_array(X, chunks=(1500, 3)))
        assert adjusted_rand_score(y, model.predict(X)) > 0.97
