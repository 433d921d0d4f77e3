"""A cluster model for topic modelling."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from credalis import ECM, EkNNclus
from credalis.topics import TopicClusterer

pytestmark = [
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


@pytest.mark.filterwarnings("ignore:n_clusters=1:UserWarning")
@parametrize_with_checks([TopicClusterer(n_clusters=2, random_state=0)])
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("estimator", [None, ECM(delta=3.0), EkNNclus()])
def test_the_share_of_documents_without_a_topic_is_chosen(share, estimator):
    X, y = make_blobs(200, centers=4, cluster_std=0.6, random_state=1)
    n_clusters = None if isinstance(estimator, EkNNclus) else 4
    model = TopicClusterer(
        estimator, n_clusters=n_clusters, outlier_share=share, random_state=0
    ).fit(X)
    is_out = model.labels_ == -1
    assert is_out.sum() <= share * 200
    if estimator is None:
        assert is_out.sum() == share * 200
    assert adjusted_rand_score(y[~is_out], model.labels_[~is_out]) > 0.95
    np.testing.assert_array_equal(model.probabilities_ == 0, is_out)
    assert model.probabilities_[~is_out].min() >= model.threshold_


def test_documents_far_from_all_topics_have_none():
    X, _ = make_blobs(200, centers=4, random_state=1)
    model = TopicClusterer(n_clusters=4, outlier_share=0.02, random_state=0).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert model.predict([[100.0, 100.0]]).tolist() == [-1]


def test_names_of_features_are_kept():
    X = pd.DataFrame(make_blobs(50, centers=2, random_state=0)[0], columns=["a", "b"])
    model = TopicClusterer(n_clusters=2, random_state=0).fit(X)
    assert model.feature_names_in_.tolist() == ["a", "b"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"outlier_share": -0.1}, r"outlier_share must .* got -0.1"),
        ({"outlier_share": 1.0}, r"outlier_share must .* got 1.0"),
        ({"estimator": 3}, r"estimator must be an estimator of credalis, got 3"),
        (
            {"estimator": EkNNclus(), "n_clusters": 3},
            r"n_clusters must be None for EkNNclus",
        ),
    ],
)
def test_bad_parameters_are_named(given, message):
    with pytest.raises(ValueError, match=message):
        TopicClusterer(**given).fit(np.eye(5))
