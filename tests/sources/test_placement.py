"""Partitions that move to workers with less to do."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from credalis.sources._placement import leveled, moves

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")


def loads(sizes, holders, threads):
    """Rows for each thread of each worker, parts with one holder."""
    total = dict.fromkeys(threads, 0.0)
    for size, (worker,) in zip(sizes, holders, strict=True):
        total[worker] += size / threads[worker]
    return total


def after(holders, targets):
    return [(targets.get(k, worker),) for k, (worker,) in enumerate(holders)]


@pytest.mark.parametrize("n_first", range(9))
def test_equal_parts_end_on_two_workers_in_equal_numbers(n_first):
    holders = [("a",)] * n_first + [("b",)] * (8 - n_first)
    targets = moves([100] * 8, holders, {"a": 1, "b": 1})
    assert len(targets) == abs(n_first - 4)
    assert after(holders, targets).count(("a",)) == 4


def test_a_worker_has_rows_for_all_its_threads():
    holders = [("a",)] * 6
    targets = moves([10] * 6, holders, {"a": 1, "b": 2})
    assert sorted(after(holders, targets)) == [("a",)] * 2 + [("b",)] * 4


def test_what_is_level_or_nearly_so_stays():
    threads = {"a": 1, "b": 1}
    assert moves([10, 10], [("a",), ("b",)], threads) == {}
    assert moves([10, 10, 10], [("a",), ("a",), ("b",)], threads) == {}
    assert moves([100, 4, 100], [("a",), ("a",), ("b",)], threads) == {}
    assert moves([], [], threads) == {}


def test_copies_and_lost_parts():
    threads = {"a": 1, "b": 1}
    assert moves([10, 10], [("a", "b"), ("a",)], threads) == {}
    assert moves([10, 10], [("a",), ("a", "b")], threads) == {}
    assert moves([10, 10], [(), ("gone",)], threads) == {}


@given(
    st.lists(
        st.tuples(st.integers(0, 1000), st.sampled_from("abcd")),
        min_size=1,
        max_size=30,
    ),
    st.dictionaries(st.sampled_from("abcd"), st.integers(1, 4), min_size=4),
)
@settings(max_examples=100)
def test_the_fullest_worker_never_gets_fuller(parts, threads):
    sizes = [size for size, _ in parts]
    holders = [(worker,) for _, worker in parts]
    before = loads(sizes, holders, threads)
    later = loads(sizes, after(holders, moves(sizes, holders, threads)), threads)
    assert max(later.values()) <= max(before.values()) * (1 + 1e-12)


def test_partitions_without_a_cluster_stay_as_they_are():
    with dask.config.set(scheduler="synchronous"):
        parts = dask.persist(*(dask.delayed(np.ones)(3) for _ in range(3)))
        assert leveled(parts, [3, 3, 3]) is parts


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_partitions_of_a_cluster_move_and_are_not_kept_twice():
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=False,
            dashboard_address=":0",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        first = min(client.nthreads())
        with dask.annotate(workers=[first]):
            parts = dask.persist(*(dask.delayed(np.full)(5, k) for k in range(6)))
        distributed.wait(parts)
        assert len(client.has_what()[first]) == 6
        parts = leveled(parts, [5] * 6)
        distributed.wait(parts)
        deadline = time.monotonic() + 20
        while (held := sorted(map(len, client.has_what().values()))) != [3, 3]:
            assert time.monotonic() < deadline, held
            time.sleep(0.05)
        assert leveled(parts, [5] * 6) is parts
        for k, values in enumerate(dask.compute(*parts)):
            np.testing.assert_array_equal(values, np.full(5, k))
