"""Consensus that finds the number of clusters, or that there are none."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

from credalis import Consensus, FocalSets, load
from credalis.cluster.consensus._choice import Choice, most_credible
from credalis.cluster.consensus._mixtures import maximized, one_hot
from credalis.cluster.consensus._n_clusters import default_numbers, n_parameters
from credalis.exceptions import NoClustersWarning
from credalis.sources import ArraySource

QUICK = {"members": ["full", "ward"], "adequacy_gate": False, "random_state": 0}


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(120, centers=[[0, 0], [9, 0], [0, 9]], random_state=2)


def choice(n_clusters=3, p_value=0.001, agreement=(0.9, 0.85, 0.3), bic=(5, 3, 1)):
    agreement, bic = np.array(agreement), np.array(bic, dtype=float)
    return Choice(n_clusters, np.array([2, 3, 4]), agreement, bic, p_value)


def test_lowest_bic_among_those_that_are_agreed_on():
    numbers = np.arange(2, 6)
    agreement = np.array([0.95, 0.9, 0.84, 0.86])
    assert most_credible(numbers, agreement, np.array([4.0, 2.0, 1.0, 3.0])) == 3
    assert most_credible(numbers, agreement, np.array([4.0, 4.5, 1.0, 3.0])) == 5


def test_disagreement_is_admitted():
    assert "agreement says 2, BIC says 4" in choice().reason
    agreed = choice(2, bic=(1, 2, 3))
    assert agreed.reason == "2 clusters by agreement and BIC."
    last = choice(4, agreement=(0.1, 0.1, 0.9))
    assert last.reason.endswith("BIC; it is the largest number tried.")
    doubtful = choice(3, p_value=0.4)
    assert "but a test finds no gaps" in doubtful.reason
    assert choice(1, p_value=0.4).reason.startswith("No clusters: a test finds no gaps")
    assert choice(1, p_value=0.4).best_number == 3


@pytest.mark.parametrize("family", ["full", "tied", "diag", "spherical"])
def test_free_parameters_are_those_of_scikit_learn(family, rng):
    X = rng.normal(size=(60, 4))
    mixture = maximized(X, one_hot(np.arange(60) % 3, 3), family)
    other = GaussianMixture(3, covariance_type=family, max_iter=50).fit(X)
    assert n_parameters(mixture) == other._n_parameters()


def test_equal_spheres_have_one_scale(rng):
    mixture = maximized(rng.normal(size=(60, 4)), np.full((60, 3), 1 / 3), "isotropic")
    assert n_parameters(mixture) == 3 * 4 + 2 + 1


def test_numbers_that_are_tried(rng):
    X = rng.normal(size=(500, 2))
    assert default_numbers(X) == (range(2, 11), 40)
    assert default_numbers(X[:45]) == (range(2, 5), 4)
    assert default_numbers(X[:5]) == (range(2, 3), 2)
    assert default_numbers(X, 12) == (range(12, 13), 40)
    assert default_numbers(np.repeat(X[:30], 9, axis=0)) == (range(2, 4), 3)


@pytest.mark.slow
def test_more_numbers_are_tried_while_the_largest_is_the_best(rng):
    centers = np.random.RandomState(1).uniform(-40, 40, size=(13, 3))
    X = np.repeat(centers, 20, axis=0) + rng.normal(size=(260, 3))
    model = Consensus("auto", **QUICK).fit(X)
    assert model.n_clusters_ == 13
    assert model.selection_["table"][-1]["n_clusters"] == 15


def test_the_number_is_found(blobs, tmp_path):
    model = Consensus("auto", **QUICK).fit(blobs[0])
    assert model.n_clusters_ == model.partition_.n_clusters == 3
    assert model.n_clusters == "auto"
    table = model.selection_["table"]
    assert [row["n_clusters"] for row in table] == list(range(2, 11))
    assert max(table, key=lambda row: row["agreement"])["n_clusters"] == 3
    assert model.selection_["p_value"] < 0.02
    assert model.describe().startswith(model.selection_["reason"])
    model.save(tmp_path / "model.credalis")
    again = load(tmp_path / "model.credalis")
    assert again.selection_ == model.selection_
    assert again.n_clusters_ == 3
    same = Consensus(3, **QUICK).fit(blobs[0])
    assert same.n_clusters_ == 3
    assert same.selection_ == {}


def test_the_same_seed_finds_the_same(blobs):
    one, other = (Consensus("auto", **QUICK).fit(blobs[0]) for _ in range(2))
    assert one.selection_ == other.selection_
    np.testing.assert_array_equal(one.partition_.masses, other.partition_.masses)


def test_nothing_to_find(rng):
    X = rng.uniform(size=(100, 2))
    with pytest.warns(NoClustersWarning, match="no clusters.*give n_clusters"):
        model = Consensus("auto", **QUICK).fit(X)
    assert model.n_clusters_ == model.partition_.n_clusters == 1
    assert model.selection_["reason"].startswith("No clusters")
    assert model.predict(X[:3]).tolist() == [0, 0, 0]


def test_whoever_has_labels_knows_that_there_are_clusters(rng):
    X = rng.uniform(size=(100, 2))
    labels = np.full(100, -1)
    labels[:4] = [0, 1, 2, 1]
    model = Consensus("auto", **QUICK).fit(X, partial_labels=labels)
    assert model.n_clusters_ >= 3
    assert model.selection_["table"][0]["n_clusters"] == 3


@pytest.mark.parametrize("focal_sets", ["pairs", "two-step"])
def test_focal_sets_are_those_of_the_number_found(blobs, focal_sets):
    model = Consensus("auto", focal_sets=focal_sets, **QUICK).fit(blobs[0])
    assert model.focal_sets_.n_clusters == 3
    assert max(map(len, model.focal_sets_)) == 3


def test_data_in_blocks(blobs):
    model = Consensus("auto", **QUICK).fit(ArraySource(blobs[0]))
    assert model.n_clusters_ == 3
    assert model.selection_["table"]


def test_refits_of_a_calibration_have_the_number_that_was_found(blobs, monkeypatch):
    X = blobs[0]
    model = Consensus("auto", **QUICK).fit(X)
    fitted = []
    original = Consensus.fit

    def noting(self, *arguments, **given):
        fitted.append(self.n_clusters)
        return original(self, *arguments, **given)

    monkeypatch.setattr(Consensus, "fit", noting)
    model.calibrate(X, target="model", n_refits=1)
    assert fitted == [3, 3]
    assert model.predict_sets(X[:2], level=0.9).shape == (2, 3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": "many"}, "n_clusters must be an integer >= 1, got 'many'"),
        ({"focal_sets": FocalSets.pairs(3)}, "focal_sets must be a name if n_clusters"),
    ],
)
def test_what_is_refused(blobs, parameters, message):
    with pytest.raises(ValueError, match=message):
        Consensus(**{"n_clusters": "auto", **parameters}).fit(blobs[0])
