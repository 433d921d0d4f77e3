"""Whether there are clusters, and how many: any estimator, wrong input."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from credalis import ECM, NNEVCLUS
from credalis.model_selection import select_n_clusters, suggest_n_clusters
from credalis.plots import SelectionDisplay

MEMBERS = ["full", "ward"]


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(120, centers=[[0, 0], [9, 0], [0, 9]], random_state=2)[0]


@pytest.fixture(scope="module")
def noise():
    return np.random.default_rng(0).normal(size=(120, 2))


def test_clusters_are_counted(blobs):
    found = suggest_n_clusters(blobs, random_state=0)
    assert found.best == 3
    assert found.p_value < 0.02
    assert found.values.tolist() == list(range(2, 11))
    assert found.votes["agreement"].value == 3
    assert list(found.columns()) == ["n_clusters", "agreement", "bic"]
    assert found.summary().endswith(found.reason)
    with pytest.raises(ValueError, match="no best estimator, as none was fitted"):
        _ = found.best_estimator
    again = suggest_n_clusters(blobs, random_state=0)
    np.testing.assert_array_equal(found.curves["agreement"], again.curves["agreement"])


def test_there_may_be_none(noise):
    found = suggest_n_clusters(noise, members=MEMBERS, random_state=0)
    assert found.best == 1
    assert found.p_value > 0.02
    forced = suggest_n_clusters(
        noise, range(3, 6), may_be_one=False, members=MEMBERS, random_state=0
    )
    assert forced.best in (3, 4, 5)
    assert "but a test finds no gaps" in forced.reason


def test_progress_is_shown(blobs, capsys):
    suggest_n_clusters(blobs, [2, 3], members=MEMBERS, random_state=0, verbose=1)
    shown = capsys.readouterr().err
    assert shown.startswith("suggest_n_clusters, number of clusters [####")
    suggest_n_clusters(blobs, [2, 3], members=MEMBERS, random_state=0)
    assert capsys.readouterr().err == ""


def test_as_a_criterion_for_any_estimator(blobs):
    model = make_pipeline(StandardScaler(), ECM(n_init=1))
    found = select_n_clusters(
        model, blobs * [1, 1000], range(2, 6), criteria="consensus", random_state=0
    )
    assert found.best == 3
    assert list(found.estimators) == [3]
    assert found.best_estimator[-1].partition_.n_clusters == 3


def test_labels_name_clusters(noise):
    labels = np.full(len(noise), -1)
    labels[:3] = [0, 1, 2]
    found = select_n_clusters(
        NNEVCLUS(n_init=1, max_iter=5),
        noise,
        range(2, 5),
        criteria="consensus",
        partial_labels=labels,
        random_state=0,
    )
    assert found.values.tolist() == [3, 4]
    assert found.best in (3, 4)


def test_no_clusters_for_any_estimator(noise):
    found = select_n_clusters(
        ECM(n_init=1), noise, [2, 3], criteria="consensus", random_state=0
    )
    assert found.best == 1
    assert found.best_estimator.partition_.n_clusters == 1


def test_it_is_drawn(blobs):
    found = suggest_n_clusters(blobs, range(2, 5), members=MEMBERS, random_state=0)
    display = SelectionDisplay.from_selection(found).plot()
    assert len(display.axes_) == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_clusters": "many"}, "n_clusters must be .*auto.*, got 'many'"),
        ({"n_clusters": [1, 2]}, "n_clusters must be .*>= 2, got 1"),
        ({"n_clusters": [2]}, "n_clusters must hold two or more"),
        ({"n_clusters": [2, 500]}, "n_clusters must not exceed .* 120 distinct"),
        ({"may_be_one": "no"}, "may_be_one must be .*, got 'no'"),
        ({"members": "all"}, "members must be"),
    ],
)
def test_what_is_refused(blobs, given, message):
    with pytest.raises(ValueError, match=message):
        suggest_n_clusters(blobs, **given)


def test_dissimilarities_are_refused(blobs):
    model = NNEVCLUS(metric="precomputed")
    with pytest.raises(ValueError, match="criteria must not be 'consensus' for dis"):
        select_n_clusters(model, np.ones((9, 9)), criteria="consensus")
    with pytest.raises(ValueError, match="criteria must be"):
        select_n_clusters(ECM(), blobs, criteria=["consensus", "peaks"])
