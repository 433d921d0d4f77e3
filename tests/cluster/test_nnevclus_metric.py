"""NNEVCLUS in a learned space: side information arrives, circles come apart."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import credalis
from credalis import NNEVCLUS
from credalis.constraints import random_pairs
from credalis.datasets import make_circles_in_ring
from credalis.metric_learning import FDA, KFDA, KPCCA, LFDA, LSI, PCCA, DMLeig


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(60, n_features=3, centers=3, random_state=2)


@pytest.fixture(scope="module")
def pairs(blobs):
    must_link, cannot_link = random_pairs(blobs[1], 30, random_state=0)
    return {"must_link": must_link, "cannot_link": cannot_link}


def quick(**parameters):
    return NNEVCLUS(3, n_init=1, random_state=0, **parameters)


class Listener(TransformerMixin, BaseEstimator):
    """Notes what its fit was given."""

    def fit(self, X, y=None, *, must_link=None, cannot_link=None):
        self.seen_ = (y, must_link, cannot_link)
        return self

    def transform(self, X):
        return np.asarray(X)


@pytest.mark.filterwarnings("ignore::credalis.exceptions.EmptyClusterWarning")
@pytest.mark.parametrize("in_pipeline", [False, True])
@pytest.mark.parametrize("routing", [False, True])
def test_side_information_reaches_the_metric(blobs, pairs, in_pipeline, routing):
    X, y = blobs
    metric = make_pipeline(StandardScaler(), Listener()) if in_pipeline else Listener()
    partial = np.where(np.arange(60) < 6, y, -1)
    with sklearn.config_context(enable_metadata_routing=routing):
        model = quick(metric=metric).fit(X, partial_labels=partial, **pairs)
    listener = model.transformer_[-1] if in_pipeline else model.transformer_
    labels, must_link, cannot_link = listener.seen_
    np.testing.assert_array_equal(labels, partial)
    np.testing.assert_array_equal(must_link, pairs["must_link"])
    np.testing.assert_array_equal(cannot_link, pairs["cannot_link"])
    assert not hasattr(metric, "seen_")


def test_no_labels_are_no_labels(blobs, pairs):
    model = quick(metric=Listener()).fit(blobs[0], **pairs)
    assert model.transformer_.seen_[0] is None


LEARNERS = [FDA(), LFDA(), KFDA(), LSI(), DMLeig(), PCCA(2), KPCCA(2)]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda each: type(each).__name__)
def test_every_learner_serves_as_metric_and_is_saved(blobs, pairs, learner, tmp_path):
    X, y = blobs
    partial = np.where(np.arange(60) < 20, y, -1)
    model = quick(metric=learner).fit(
        X, partial_labels=partial, **_consistent(pairs, y)
    )
    path = tmp_path / "model.credalis"
    model.save(path)
    copy = credalis.load(path)
    assert type(copy.metric) is type(learner)
    assert copy.metric.get_params() == learner.get_params()
    assert copy.predict_partition(X + 0.1) == model.predict_partition(X + 0.1)
    assert copy.score(X) == model.score(X)
    assert adjusted_rand_score(y, model.labels_) > 0.9


def _consistent(pairs, y):
    """Pairs drawn from the same classes never contradict the labels."""
    assert (y[pairs["must_link"][:, 0]] == y[pairs["must_link"][:, 1]]).all()
    return pairs


@pytest.mark.filterwarnings("ignore::credalis.exceptions.EmptyClusterWarning")
def test_same_seed_same_bits_without_a_seed_of_the_metric(blobs, pairs):
    X, _ = blobs
    first = quick(metric=KPCCA(2)).fit(X, **pairs)
    second = quick(metric=KPCCA(2)).fit(X, **pairs)
    assert first.partition_ == second.partition_
    assert first.metric.random_state is None
    # A seed that was given is kept.
    seeded = quick(metric=make_pipeline(StandardScaler(), PCCA(2, random_state=7)))
    assert seeded.fit(X, **pairs).transformer_[-1].random_state == 7


def test_steps_of_two_kinds_of_labels_are_refused(blobs, pairs):
    X, y = blobs
    metric = make_pipeline(PCCA(2), LinearDiscriminantAnalysis())
    with pytest.raises(ValueError, match=r"metric must not mix .*'pcca'.*'lineardisc"):
        quick(metric=metric).fit(X, partial_labels=y, **pairs)


def test_metric_without_its_information_says_what_it_needs(blobs):
    with pytest.raises(ValueError, match="PCCA learns from must_link and cannot_link"):
        quick(metric=PCCA()).fit(blobs[0])
    with pytest.raises(ValueError, match=r"FDA learns from labels.*partial_labels"):
        quick(metric=FDA()).fit(blobs[0])


def test_pipeline_of_features_and_clusterer(blobs, pairs):
    # Features as inputs and for distances: both steps get the pairs.
    X, _ = blobs
    # Three starts, as one may lose a cluster.
    model = quick().set_params(n_init=3)
    pipeline = make_pipeline(PCA(2), PCCA(2, random_state=0), model)
    routed = {
        f"{step}__{name}": value
        for step in ("pcca", "nnevclus")
        for name, value in pairs.items()
    }
    labels = pipeline.fit_predict(X, **routed)
    Z = PCCA(2, random_state=0).fit_transform(PCA(2).fit_transform(X), **pairs)
    np.testing.assert_array_equal(labels, clone(model).fit(Z, **pairs).labels_)
    np.testing.assert_array_equal(pipeline.predict(X), labels)


def circles_agreement(X, y, draw, metric, **information):
    """The published setting: 30 hidden units, λ = 0.01, ξ = 0.1."""
    model = NNEVCLUS(
        2,
        focal_sets="full",
        metric=clone(metric),
        hidden_layer_sizes=(30,),
        weight_decay=0.01,
        constraint_weight=0.1,
        random_state=draw,
    )
    return adjusted_rand_score(y, model.fit(X, **information).labels_)


def pairs_of_draw(y, draw):
    must_link, cannot_link = random_pairs(y, 50, random_state=draw)
    return {"must_link": must_link, "cannot_link": cannot_link}


def labels_of_draw(y, draw):
    labels = np.full(len(y), -1)
    some = np.random.default_rng(draw).choice(len(y), 50, replace=False)
    labels[some] = y[some]
    return {"partial_labels": labels}


def test_fifty_pairs_part_a_cluster_from_the_ring_around_it():
    X, y = make_circles_in_ring(random_state=0)
    alone = NNEVCLUS(2, random_state=0).fit(X).labels_
    assert adjusted_rand_score(y, alone) < 0.3
    metric = KPCCA(1, gamma="median")
    assert circles_agreement(X, y, 0, metric, **pairs_of_draw(y, 0)) > 0.95
    metric = KFDA(gamma="median")
    assert circles_agreement(X, y, 0, metric, **labels_of_draw(y, 0)) > 0.95


# Whether the last of its digits converge is not what this is about.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.slow
@pytest.mark.parametrize(
    ("metric", "information", "expected"),
    [
        (KPCCA(1, gamma=0.3), pairs_of_draw, 0.95),
        (KPCCA(1, gamma="median"), pairs_of_draw, 0.97),
        (KFDA(gamma=0.3), labels_of_draw, 0.95),
        (KFDA(gamma="median"), labels_of_draw, 0.97),
    ],
)
def test_circles_over_ten_draws(benchmark_data, metric, information, expected):
    X, y = benchmark_data("circles")
    agreements = [
        circles_agreement(X, y, draw, metric, **information(y, draw))
        for draw in range(10)
    ]
    assert np.mean(agreements) >= expected, agreements
