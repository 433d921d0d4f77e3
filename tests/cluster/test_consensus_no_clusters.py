"""Consensus that is asked for clusters where there may be none."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import pairwise_distances

from credalis import Consensus, FitControl, load
from credalis.checkpoints import Checkpoint
from credalis.cluster.consensus import _start, _structure
from credalis.cluster.consensus._committee import Session
from credalis.cluster.consensus._members import convene
from credalis.exceptions import FitCancelledError, NoClustersWarning
from credalis.model_selection import select_n_clusters
from credalis.sources import ArraySource

QUICK = {"members": ["full", "ward"], "adequacy_gate": False, "random_state": 0}


@pytest.fixture(scope="module")
def noise():
    return np.random.default_rng(0).normal(size=(150, 2))


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=2)[0]


def fitted(X, n_clusters=3, **settings):
    """A fit that must not warn."""
    return Consensus(n_clusters, **{**QUICK, **settings}).fit(X)


def doubtful(X, n_clusters=3, **settings):
    """A fit that must."""
    with pytest.warns(NoClustersWarning, match="shows no sure gaps between groups"):
        return Consensus(n_clusters, **{**QUICK, **settings}).fit(X)


def test_clusters_of_noise_are_warned_of(noise):
    told = r"p = 1, .*: the 3 clusters may only divide one group.*suggest_n_clusters"
    with pytest.warns(NoClustersWarning, match=told) as caught:
        model = Consensus(3, **QUICK).fit(noise)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert model.structure_p_value_ == 1.0
    assert model.describe().startswith("A test finds no gaps between groups of rows")
    assert "the 3 clusters may only divide one group" in model.describe()


def test_clusters_with_gaps_are_not(blobs):
    model = fitted(blobs)
    assert model.structure_p_value_ < 1e-4
    assert model.describe().startswith("2 members")


def test_the_test_is_made_where_a_transformer_leads(noise, blobs):
    wide = np.column_stack([blobs, 100 * noise[:, 0]])
    assert fitted(wide, metric=PCA(3)).structure_p_value_ < 0.02
    assert doubtful(wide, metric=PCA(1)).structure_p_value_ > 0.02


def test_of_many_columns_the_components_are_looked_at(noise, monkeypatch):
    seen = []

    def noted(rows, rng):
        seen.append(rows.shape)
        return _structure.structure_decision(rows, rng)

    monkeypatch.setattr(_start, "structure_decision", noted)
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 120)) / np.sqrt(np.arange(1, 121))
    assert doubtful(X, 2).structure_p_value_ > 0.02
    X[:75, 0] += 8
    assert fitted(X, 2).structure_p_value_ < 0.02
    assert seen == [(150, 100), (150, 100)]


def test_whoever_knows_of_clusters_is_not_told(noise):
    labels = np.full(len(noise), -1)
    labels[:3] = [0, 1, 2]
    for known in (
        {"partial_labels": labels},
        {"must_link": [[0, 1]]},
        {"cannot_link": [[0, 1]]},
    ):
        model = Consensus(3, **QUICK).fit(noise, **known)
        assert model.structure_p_value_ is None


def test_dissimilarities_are_not_tested(noise):
    for metric, X in (
        ("precomputed", pairwise_distances(noise)),
        ("gower", noise),
        ("manhattan", noise),
    ):
        model = fitted(X, metric=metric, members=["average"])
        assert model.structure_p_value_ is None


def test_few_rows_are_not_tested(noise):
    assert fitted(noise[:95]).structure_p_value_ is None
    assert doubtful(noise[:96]).structure_p_value_ > 0.02


def test_one_cluster_divides_nothing(noise):
    with pytest.warns(UserWarning, match="n_clusters=1"):
        model = Consensus(1, **QUICK).fit(noise)
    assert model.structure_p_value_ is None


def test_an_open_number_has_the_p_value_of_its_choice(noise, blobs):
    model = fitted(blobs, "auto")
    assert model.structure_p_value_ == model.selection_["p_value"] < 0.02
    with pytest.warns(NoClustersWarning, match="no clusters"):
        model = Consensus("auto", **QUICK).fit(noise)
    assert model.structure_p_value_ == model.selection_["p_value"] > 0.02


@pytest.mark.parametrize("settings", [{}, {"n_init": 2}, {"focal_sets": "two-step"}])
def test_what_the_test_draws_moves_nothing_else(noise, settings, monkeypatch):
    model = doubtful(noise, **settings)
    monkeypatch.setattr(_start, "structure_decision", lambda rows, rng: 0.001)
    untested = fitted(noise, **settings)
    np.testing.assert_array_equal(model.partition_.masses, untested.partition_.masses)
    np.testing.assert_array_equal(model.history_, untested.history_)
    assert untested.structure_p_value_ == 0.001


def test_the_number_of_jobs_changes_nothing(noise):
    X = noise + np.where(np.arange(len(noise)) < 75, 0.0, 4.0)[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoClustersWarning)
        one, two = (
            Consensus(2, n_init=2, n_jobs=n_jobs, **QUICK).fit(X) for n_jobs in (1, 2)
        )
    assert one.structure_p_value_ == two.structure_p_value_ < 1.0
    np.testing.assert_array_equal(one.partition_.masses, two.partition_.masses)


def test_a_cancel_ends_the_test(noise, monkeypatch):
    searched = []

    def cancelled(X):
        searched.append(len(X))
        control.cancel()

    monkeypatch.setattr(_structure, "clearest_corridor", cancelled)
    with FitControl() as control, pytest.raises(FitCancelledError, match="Consensus"):
        Consensus(3, **QUICK).fit(noise)
    assert len(searched) == 1


def test_rows_in_blocks_are_tested_once(noise, blobs, tmp_path):
    assert fitted(ArraySource(blobs)).structure_p_value_ < 0.02
    with pytest.warns(NoClustersWarning, match="shows no sure gaps"):
        model = Consensus(3, **QUICK).fit(
            ArraySource(noise), checkpoint=Checkpoint(tmp_path / "c", seconds=0)
        )
    with pytest.warns(NoClustersWarning, match="shows no sure gaps"):
        again = Consensus(3, **QUICK).fit(ArraySource(noise), checkpoint=tmp_path / "c")
    assert again.structure_p_value_ == model.structure_p_value_ > 0.02


def test_a_model_remembers_it(noise, tmp_path):
    model = doubtful(noise)
    model.save(tmp_path / "model.credalis")
    again = load(tmp_path / "model.credalis")
    assert again.structure_p_value_ == model.structure_p_value_
    assert again.describe() == model.describe()


def test_files_of_earlier_versions_do_not_know_it(noise, tmp_path):
    model = doubtful(noise)
    del model.structure_p_value_
    model.save(tmp_path / "model.credalis")
    again = load(tmp_path / "model.credalis")
    assert not hasattr(again, "structure_p_value_")
    assert again.describe().startswith("2 members")
    session = convene(
        noise,
        2,
        ["ward"],
        np.random.RandomState(0),
        has_gate=False,
        report=lambda *_: None,
    )
    state = session.to_state()
    del state["p_value"]
    Session._schema.check("Session", state, {})
    assert Session.from_state(state).p_value is None


def test_fits_with_several_numbers_do_not_repeat_it(noise):
    # Whether there are any is what is asked.
    selection = select_n_clusters(
        Consensus(**QUICK), noise, [2, 3], criteria=["peaks"], random_state=0
    )
    assert list(selection.values) == [2, 3]
