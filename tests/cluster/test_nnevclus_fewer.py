"""Fits that begin with what one with fewer clusters has found."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from credalis import NNEVCLUS
from credalis.cluster.nnevclus._fewer import N_INIT_AFTER_FEWER, after_fewer
from credalis.cluster.nnevclus._network import FittedNetwork
from credalis.cluster.nnevclus._settings import Settings
from credalis.cluster.nnevclus._start import prepare

pytestmark = pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning")

X, Y = make_blobs(120, centers=4, n_features=3, cluster_std=0.7, random_state=2)
SCALE = 8.0


def fitted(n_clusters, fewer=None, **parameters):
    model = NNEVCLUS(
        n_clusters, dissimilarity_scale=SCALE, random_state=0, **parameters
    )
    if fewer is not None:
        model._fewer = fewer
    return model.fit(X)


def problem(n_clusters, **parameters):
    model = NNEVCLUS(n_clusters, dissimilarity_scale=SCALE, **parameters)
    return prepare(Settings.of(model, len(X)), X, np.random.RandomState(0))


@pytest.mark.parametrize("focal_sets", ["singletons", "pairs"])
def test_clusters_keep_their_numbers_and_one_is_divided(focal_sets):
    fewer = fitted(3, focal_sets=focal_sets)
    more = fitted(4, fewer, focal_sets=focal_sets)
    # Three of the four clusters are one by one those of before.
    table = np.zeros((4, 3), dtype=int)
    np.add.at(table, (more.labels_, fewer.labels_), 1)
    assert (table[:3].argmax(axis=1) == [0, 1, 2]).all()
    assert (np.count_nonzero(table, axis=1) == 1).all()
    assert len(np.unique(more.labels_)) == 4


@pytest.mark.parametrize("n_clusters", [4, 6])
def test_the_loss_is_no_higher_than_without(n_clusters):
    before = fitted(n_clusters - 1)
    assert fitted(n_clusters, before).loss_ <= 1.01 * fitted(n_clusters).loss_


def test_hard_clusters_are_numbered_like_those_of_before():
    before = FittedNetwork.of(fitted(3))
    alone = problem(4)
    after = after_fewer(alone, before)
    assert after.fewer is before
    old, new = alone.clusters.labels, after.clusters.labels
    # Other numbers for the same clusters.
    assert len(set(zip(old, new, strict=True))) == 4
    masses = before.masses(X[after.clusters.objects])
    kept = (masses @ before.focal_sets.membership).argmax(axis=1)
    assert (kept[new < 3] == new[new < 3]).mean() > 0.9


@pytest.mark.parametrize(
    "parameters", [{"n_init": 2}, {"init": "random"}, {"solver": "adam"}]
)
def test_what_does_not_begin_with_hard_clusters_stays_as_it_is(parameters):
    alone = problem(4, **parameters)
    assert after_fewer(alone, FittedNetwork.of(fitted(3))) is alone


def test_fits_that_begin_with_many_clusters_stand_alone():
    before = FittedNetwork.of(fitted(3))
    alone = problem(33, focal_sets="singletons")
    assert after_fewer(alone, before) is alone
    alone = problem(32, focal_sets="singletons")
    assert after_fewer(alone, before).fewer is before


def test_as_many_clusters_are_no_fewer():
    alone = problem(3)
    assert after_fewer(alone, FittedNetwork.of(fitted(3))) is alone


def test_number_of_starts_and_novelty():
    before = fitted(3, novelty_detector="ocsvm")
    model = NNEVCLUS(4, novelty_detector="ocsvm", dissimilarity_scale=SCALE)
    model._fewer = before
    prepared = model._prepare(X, np.random.RandomState(0))
    assert model._n_starts(prepared) == N_INIT_AFTER_FEWER
    # Without a coupling there is nothing to go on with.
    model = NNEVCLUS(4, dissimilarity_scale=SCALE)
    model._fewer = before
    assert model._prepare(X, np.random.RandomState(0)).fewer is None
