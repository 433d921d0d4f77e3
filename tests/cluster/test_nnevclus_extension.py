import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from credalis import NNEVCLUS, FocalSets
from credalis.belief import plausibility
from credalis.cluster.nnevclus._extension import (
    _enlarged,
    _first_sets,
    _grown_sets,
    _problem,
    extended,
)
from credalis.cluster.nnevclus._network import FittedNetwork, network_for
from credalis.network import (
    Standardization,
    weights_for_other_inputs,
)

CENTERS = np.array([[0, 0], [9, 0], [4, 8], [13, 8]], dtype=float)


def fitted(**parameters):
    X, _ = make_blobs(150, centers=CENTERS[:3], random_state=0)
    settings = {"novelty_detector": "ocsvm", "n_init": 1, "random_state": 0}
    return NNEVCLUS(3, **{**settings, **parameters}).fit(X)


def replayed(model):
    X, _ = make_blobs(150, centers=CENTERS[:3], random_state=1)
    new = make_blobs(50, centers=CENTERS[3:], random_state=2)[0]
    return X, model.predict(X), new


def assert_extended(model, larger):
    """Old clusters under their numbers, and a fourth where it should be."""
    X, labels, new = replayed(model)
    assert larger.n_clusters == larger.focal_sets_.n_clusters == 4
    assert (larger.predict(X) == labels).mean() > 0.97
    assert (larger.predict(new) == 3).mean() > 0.97
    for name in ("partition_", "labels_"):
        assert not hasattr(larger, name)
    assert larger.history_[-1] == larger.loss_
    assert larger.n_iter_ == len(larger.history_)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"focal_sets": "singletons"},
        {"focal_sets": "full"},
        {"focal_sets": "two-step"},
        {"focal_sets": FocalSets.pairs(3, [(0, 1)], frame=False)},
        {"hidden_layer_sizes": (15, 12)},
        {"init": CENTERS[:3]},
        {"init": "peaks", "novelty_link": "paper"},
        {"metric": "cityblock", "dissimilarity_scale": 12.0},
        {"metric": StandardScaler()},
        {"novelty_detector": None},
        {"label_weight": 0.0},
        {"solver": "adam", "max_iter": 300, "early_stopping": True},
    ],
    ids=lambda parameters: ", ".join(parameters) or "default",
)
def test_extension_keeps_old_clusters_and_adds_one(parameters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = fitted(**parameters)
        X, labels, new = replayed(model)
        larger = extended(model, X, labels, [new])
    assert_extended(model, larger)


def test_extended_model_is_an_estimator_like_any_other(tmp_path):
    import credalis

    model = fitted(dissimilarity_quantile="paper")
    X, labels, new = replayed(model)
    larger = extended(model, X, labels, [new])
    assert larger.stress_ < 0.002
    again = extended(model, X, labels, [new])
    np.testing.assert_array_equal(larger.transform(new), again.transform(new))
    larger.save(tmp_path / "larger")
    loaded = credalis.load(tmp_path / "larger")
    np.testing.assert_array_equal(larger.transform(new), loaded.transform(new))
    # Objects far from everything are outliers; those of the new cluster no longer are.
    outliers = larger.predict_partition([[40.0, -40.0], CENTERS[3]]).is_outlier
    assert outliers.tolist() == [True, False]
    assert model.predict_partition(new).is_outlier.mean() > 0.9
    assert larger.score(X) > -0.02
    larger.partial_fit(X)
    assert (larger.predict(X) == labels).mean() > 0.97
    larger.fit(np.concatenate([X, new]))
    assert len(larger.labels_) == len(X) + len(new)


def test_two_clusters_at_once():
    model = fitted()
    X, labels, new = replayed(model)
    other = make_blobs(40, centers=[[-5, 9]], random_state=3)[0]
    larger = extended(model, X, labels, [other, new])
    assert larger.n_clusters == 5
    assert larger.predict([[-5, 9], CENTERS[3]]).tolist() == [3, 4]
    assert (larger.predict(X) == labels).mean() > 0.97


def test_start_says_of_old_clusters_what_the_old_network_says():
    """Before training, new outputs take mass only where the new objects are."""
    model = fitted(novelty_detector=None, focal_sets="singletons", empty_set="stress")
    X, labels, new = replayed(model)
    everything = np.concatenate([X, new])
    all_labels = np.append(labels, np.full(len(new), 3))
    rng = check_random_state(0)
    result = _enlarged(model, 4)
    known = FittedNetwork.of(model)
    focal_sets = _first_sets(known.focal_sets, result)
    problem = _problem(known, result, everything, rng)
    network = network_for(problem.settings, problem.space, focal_sets, (12,))
    larger = known.extended(
        network, problem.space, focal_sets, problem.inputs, all_labels, rng
    )
    masses = larger.masses(everything)
    old = model.transform(everything)
    # ∅, {0}, {1}, {2}, {3}, Ω: without {3} the quotients are those of the old network.
    rest = np.delete(masses, 4, axis=1)
    known = slice(None, len(X))
    np.testing.assert_allclose(
        rest[known] / rest[known].sum(axis=1, keepdims=True), old[known], atol=1e-9
    )
    labels_now = plausibility(masses, focal_sets).argmax(axis=1)
    assert (labels_now == all_labels).mean() > 0.97


def test_weights_for_other_inputs_do_the_same(rng):
    X = rng.normal([5, -3], [2, 0.1], size=(20, 2))
    old, new = Standardization.of(X), Standardization.of(3 * X[:7] + 1)
    weights = [rng.normal(size=(4, 3)), rng.normal(size=(2, 5))]
    moved = weights_for_other_inputs(weights, old, new)

    def units(layer, inputs):
        return inputs @ layer[:, 1:].T + layer[:, 0]

    np.testing.assert_allclose(units(weights[0], old(X)), units(moved[0], new(X)))
    assert moved[1] is weights[1]


@pytest.mark.parametrize(
    ("old", "expected"),
    [
        (FocalSets.singletons(3), FocalSets.singletons(4)),
        (FocalSets.singletons(3, empty=False), FocalSets.singletons(4, empty=False)),
        (
            FocalSets.pairs(3, [(0, 2)], frame=False),
            FocalSets(4, ((), (0,), (1,), (2,), (0, 2), (3,))),
        ),
        (
            FocalSets.singletons(2),
            FocalSets(4, ((), (0,), (1,), (2,), (3,), (0, 1, 2, 3))),
        ),
        (FocalSets(1, ((), (0,))), FocalSets(4, ((), (0,), (1,), (2,), (3,)))),
    ],
    ids=repr,
)
def test_sets_grow_and_the_frame_stays_the_frame(old, expected):
    assert _grown_sets(old, 4) == expected


def test_extension_that_does_not_converge_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = fitted(max_iter=30, tol=0.0)
    X, labels, new = replayed(model)
    with pytest.warns(ConvergenceWarning, match="extension did not converge"):
        extended(model, X, labels, [new])


def test_torch_engine_is_extended_but_not_a_module():
    nn = pytest.importorskip("torch").nn
    model = fitted(engine="torch", solver="lbfgs")
    assert_extended(model, extended(model, *replayed(model)[:2], [replayed(model)[2]]))
    model = fitted(
        engine="torch", module=lambda n: nn.Linear(2, n), solver="lbfgs", tol=0.1
    )
    with pytest.raises(ValueError, match="model must be a perceptron to be extended"):
        extended(model, *replayed(model)[:2], [replayed(model)[2]])
