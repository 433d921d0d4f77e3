"""One thread for a computation, and as many as before when the last has ended."""

import threading

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from credalis import ECM, NNEVCLUS
from credalis._threads import one_thread
from credalis.datasets import make_four_class


def blas_threads():
    return [
        pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"
    ]


@pytest.fixture
def two_threads():
    with threadpool_limits(2):
        if 2 not in blas_threads():
            pytest.skip("needs a library for linear algebra with threads")
        yield


def test_the_limit_ends_with_the_last_user(two_threads):
    before = blas_threads()
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    assert set(blas_threads()) == {1}
    first.__exit__(None, None, None)
    assert set(blas_threads()) == {1}
    second.__exit__(None, None, None)
    assert blas_threads() == before


def test_an_error_lifts_the_limit(two_threads):
    before = blas_threads()
    with pytest.raises(ZeroDivisionError), one_thread():
        _ = 1 / 0
    assert blas_threads() == before


@pytest.mark.parametrize(
    "model", [ECM(4, random_state=0), NNEVCLUS(4, n_init=1, random_state=0)]
)
def test_fits_in_threads_have_the_bits_of_one_alone(model, two_threads):
    X, _ = make_four_class(120, random_state=0)
    alone = model.fit(X).partition_.masses
    before = blas_threads()
    results = []

    def fit():
        results.append(type(model)(**model.get_params()).fit(X).partition_.masses)

    threads = [threading.Thread(target=fit) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    for masses in results:
        np.testing.assert_array_equal(masses, alone)
    assert blas_threads() == before
