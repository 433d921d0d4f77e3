import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from credalis import BPEC, ECM
from credalis.datasets import load_butterfly


def test_reference_program_with_euclidean_distances(reference, benchmark_data):
    X, _ = benchmark_data("fourclass")
    values = reference("bpec_fourclass.json")
    bpec = BPEC(
        4, focal_sets="pairs", metric="euclidean", delta=3, init=values["g"]
    ).fit(X)
    assert bpec.loss_ == pytest.approx(values["euclid"]["crit"][0], rel=1e-12)
    assert_allclose(bpec.partition_.masses, values["euclid"]["mass"], atol=1e-12)


def test_reference_program_with_adaptive_metrics(reference, benchmark_data):
    X, _ = benchmark_data("fourclass")
    values = reference("bpec_fourclass.json")
    expected = values["mahalanobis"]
    # Lines of the form "[1] iteration J".
    trace = [float(line.split()[-1]) for line in expected["log"]]
    bpec = BPEC(4, focal_sets="pairs", delta=3, init=values["g"], tol=0)
    with pytest.warns(ConvergenceWarning):
        bpec.set_params(max_iter=len(trace)).fit(X)
    assert_allclose(bpec.history_, trace, rtol=1e-12)
    assert_allclose(bpec.partition_.masses, expected["mass"], atol=1e-12)
    # The program lists the matrices of all sets but the empty one, clusters first.
    assert_allclose(bpec.metrics_, np.array(expected["S"])[:4], atol=1e-12)


def test_reference_program_finds_the_same_peaks(reference, benchmark_data):
    X, _ = benchmark_data("fourclass")
    values = reference("bpec_fourclass.json")
    bpec = BPEC(4, focal_sets="pairs", delta=3, n_neighbors=50).fit(X)
    assert_allclose(bpec.centers_, X[np.array(values["peaks"]) - 1])


def test_prototypes_do_not_move():
    X = load_butterfly().data
    start = [[-3.0, 0.5], [3.0, -0.5]]
    for metric in ("euclidean", "adaptive"):
        bpec = BPEC(2, metric=metric, delta=5, init=start).fit(X)
        assert_allclose(bpec.centers_, start)


def test_euclidean_masses_are_the_first_of_ecm():
    X = load_butterfly().data
    start = [[-3.0, 0.5], [3.0, -0.5]]
    bpec = BPEC(2, metric="euclidean", delta=5, init=start).fit(X)
    with pytest.warns(ConvergenceWarning):
        ecm = ECM(2, delta=5, init=start, max_iter=1).fit(X)
    assert bpec.partition_ == ecm.partition_


def test_neighbors_and_quantile_reach_the_graph():
    X = load_butterfly().data
    with pytest.raises(ValueError, match="n_neighbors must be less than the number"):
        BPEC(2, n_neighbors=100).fit(X)
    with pytest.raises(ValueError, match=r"quantile must be a finite number >= 0"):
        BPEC(2, quantile=-1).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1}, r"alpha must be a finite number >= 0, got -1"),
        ({"beta": 1}, r"beta must be a finite number > 1, got 1"),
        ({"init": "k-means++"}, r"init must be one of 'peaks', got 'k-means\+\+'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        BPEC(2, **parameters).fit(load_butterfly().data)
