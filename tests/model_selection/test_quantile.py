"""δ0 by stability."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from credalis import ECM, EVCLUS, NNEVCLUS
from credalis.model_selection import select_dissimilarity_quantile

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*did not converge"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning"),
]


@pytest.fixture(scope="module")
def X():
    return make_blobs(80, centers=4, cluster_std=0.8, random_state=3)[0]


@pytest.fixture
def network():
    # From random weights: starts from hard clusters are stable with any δ0.
    return NNEVCLUS(
        4, focal_sets="singletons", init="random", n_init=2, max_iter=100, tol=1e-3
    )


def test_scales_that_make_outliers_of_all_objects_are_not_chosen(X, network):
    selection = select_dissimilarity_quantile(
        network, X, [0.9, 0.1, 0.4], n_resamples=4, random_state=0
    )
    assert selection.parameter == "dissimilarity_quantile"
    assert selection.values.tolist() == [0.1, 0.4, 0.9]
    assert selection.best in (0.4, 0.9)
    table = selection.columns()
    assert table["outlier_share"][0] > 0.2
    assert (np.diff(table["scale"]) > 0).all()
    assert selection.reason.startswith(f"The quantile {selection.best} for δ0: part")
    assert selection.best_estimator.dissimilarity_quantile == selection.best


def test_same_seed_same_result_for_any_number_of_jobs_and_in_pipelines(X, network):
    plain, together = (
        select_dissimilarity_quantile(
            network, X, [0.2, 0.6], n_resamples=3, random_state=0, n_jobs=n_jobs
        )
        for n_jobs in (1, 2)
    )
    pipeline = make_pipeline("passthrough", network)
    piped = select_dissimilarity_quantile(
        pipeline, X, [0.2, 0.6], n_resamples=3, random_state=0
    )
    for other in (together, piped):
        for name, column in plain.columns().items():
            np.testing.assert_array_equal(column, other.columns()[name])
    assert piped.best_estimator[-1].dissimilarity_quantile == plain.best


def test_what_no_sample_confirms_is_not_suggested(network):
    noise = np.random.default_rng(0).normal(size=(40, 6))
    network.set_params(n_clusters=4, n_init=1, max_iter=20)
    selection = select_dissimilarity_quantile(
        network, noise, [0.1, 0.2], n_resamples=3, random_state=0
    )
    assert selection.best is None
    assert selection.reason.startswith("No quantile for δ0: no partition comes back")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"quantiles": 0.5}, "quantiles must be a list or range of numbers, got 0.5"),
        ({"quantiles": "0.5"}, "quantiles must be a list or range of numbers"),
        ({"quantiles": [0.05, 0.5]}, "quantiles must be a finite number >= 0.1"),
        ({"quantiles": [0.5, 1.0]}, "quantiles must be a finite number .* <= 0.95"),
        ({"quantiles": [0.5]}, "quantiles must hold two or more different numbers"),
        ({"n_resamples": 2}, "n_resamples must be an integer >= 3"),
        ({"estimator": ECM()}, "must have the parameter dissimilarity_quantile"),
        ({"estimator": StandardScaler()}, "must have the parameter dissimilarity_q"),
        (
            {"estimator": NNEVCLUS(dissimilarity_scale=2.0)},
            "estimator must have dissimilarity_scale=None.*got 2.0",
        ),
    ],
)
def test_wrong_arguments_are_refused(X, network, arguments, message):
    given = {"estimator": network, "X": X, **arguments}
    with pytest.raises(ValueError, match=message):
        select_dissimilarity_quantile(**given)


@pytest.mark.parametrize("name", ["NNEVCLUS", "EVCLUS", "pipeline"])
def test_quantiles_are_judged_by_the_masses_that_were_trained(name, X, network):
    def selected(empty_set):
        estimator = {
            "NNEVCLUS": network,
            "EVCLUS": EVCLUS(4, focal_sets="singletons", n_init=1, max_iter=30),
            "pipeline": network,
        }[name].set_params(empty_set=empty_set)
        if name == "pipeline":
            estimator = make_pipeline(StandardScaler(), estimator)
        return select_dissimilarity_quantile(
            estimator, X, [0.1, 0.9], n_resamples=3, random_state=0
        )

    stress, novelty = selected("stress"), selected("novelty")
    assert novelty.best == stress.best
    for column, values in stress.columns().items():
        np.testing.assert_allclose(novelty.columns()[column], values, atol=1e-12)
    # Nearly all objects are outliers of the objective, hardly any is a novelty.
    assert stress.columns()["outlier_share"][0] > 0.2
    fitted = novelty.estimators[0.1]
    fitted = fitted[-1] if name == "pipeline" else fitted
    assert fitted.partition_.outlier_mass.mean() < 0.1
