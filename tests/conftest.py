"""Shared fixtures: seeds, and the data that may or may not be on this machine."""

import json
import os
import signal
from pathlib import Path

# Before NumPy is imported: several test processes share the processors, and threads of
# linear algebra that wait for each other cost more than they bring.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

import numpy as np
import pytest
from hypothesis import settings

import required
from credalis.cluster._framework import _registry

# A busy machine is slow, not wrong. `make test-slow` tries more examples.
settings.register_profile("credalis", deadline=None, max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "credalis"))

# A shell lets the commands that it starts in the background ignore interrupts; tests
# that interrupt something would then wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """What is required is not skipped."""
    outcome = yield
    required.insist(outcome.get_result())


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    """Nor are whole files that need it."""
    outcome = yield
    required.insist(outcome.get_result())


def pytest_collection_modifyitems(items):
    """Processes that share the tests must give them the same names."""
    addressed = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if addressed:
        raise pytest.UsageError(f"names of tests must not hold addresses: {addressed}")


@pytest.fixture(autouse=True)
def estimators_of_a_test_stay_in_it():
    """A subclass registers itself, also one that only a test knows."""
    # Without monkeypatch, which tests undo in an order that fixtures rely on.
    before = dict(_registry._estimators)
    yield
    _registry._estimators.clear()
    _registry._estimators.update(before)


@pytest.fixture
def nobody_was_told(monkeypatch):
    """What is said once in a process is said again."""
    monkeypatch.setattr("credalis._warnings._already_told", set())


@pytest.fixture(params=[0, 1, 2])
def seed(request):
    """A few seeds, so that no test leans on a lucky one."""
    return request.param


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def reference():
    """Read a file of values computed by an independent program."""
    directory = os.environ.get("CREDALIS_REFERENCE")
    if not directory:
        pytest.skip("CREDALIS_REFERENCE does not name a directory of reference values")

    def read(name):
        path = Path(directory) / name
        if path.suffix == ".json":
            return json.loads(path.read_text())
        return np.loadtxt(path, delimiter=",", skiprows=1 if "mass" in name else 0)

    return read


@pytest.fixture(scope="session")
def benchmark_data():
    """Read a benchmark data set: ``benchmark_data("wine")`` is ``(X, y)``."""
    if not os.environ.get("CREDALIS_DATA"):
        pytest.skip("CREDALIS_DATA does not name a directory of benchmark data")
    from credalis.datasets import fetch_benchmark

    def read(name):
        bunch = fetch_benchmark(name, download_if_missing=False)
        return bunch.data, bunch.target

    return read


@pytest.fixture(scope="session")
def protein():
    """Dissimilarities of 213 proteins, and their classes."""
    if not os.environ.get("CREDALIS_DATA"):
        pytest.skip("CREDALIS_DATA does not name a directory of benchmark data")
    from credalis.datasets import fetch_benchmark

    bunch = fetch_benchmark("protein", download_if_missing=False)
    return bunch.dissimilarities, bunch.target
