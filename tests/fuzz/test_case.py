"""What the generators take for a failure."""

import os
import signal
import time
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError

pytest.importorskip("resource", reason="there are no limits to set")
pytest.importorskip("click")
pytest.importorskip("pyarrow")

from tests.fuzz import run
from tests.fuzz.case import BrokenError, Call, Ended, Outcome, accepted, finish
from tests.fuzz.families import drawn, run_case


def ended(function, names=("X",), **options):
    return finish("api:0", Call("call", function, names), **options)


def raising(error):
    def call():
        raise error

    return call


def warning(category):
    return lambda: warnings.warn("something", category, stacklevel=2)


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (lambda: None, "accepted"),
        (lambda: Ended("exit code 1"), "exit code 1"),
        (lambda: "a text", "accepted"),
        (raising(ValueError("X must be a matrix")), "ValueError"),
        (raising(TypeError("no sparse X")), "TypeError"),
        (raising(NotFittedError("not fitted yet")), "NotFittedError"),
        (warning(ConvergenceWarning), "accepted"),
        (warning(UserWarning), "accepted"),
    ],
)
def test_right_ends(function, kind):
    outcome = ended(function)
    assert (outcome.kind, outcome.is_failure) == (kind, False)


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (raising(ValueError("Xs must be a matrix")), "ValueError that names nothing"),
        (raising(TypeError("an int")), "TypeError that names nothing"),
        (raising(AttributeError("X")), "AttributeError"),
        (raising(MemoryError()), "MemoryError"),
        (raising(IndexError("X")), "IndexError"),
        (raising(BrokenError("NaN in masses")), "wrong result"),
        (lambda: accepted(raising(ValueError("X"))), "wrong result"),
        (lambda: np.log(np.zeros(1)), "RuntimeWarning"),
        (warning(RuntimeWarning), "RuntimeWarning"),
        (warning(DeprecationWarning), "DeprecationWarning"),
    ],
)
def test_wrong_ends(function, kind):
    outcome = ended(function)
    assert (outcome.kind, outcome.is_failure) == (kind, True)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no timer")
def test_processor_time_is_limited_and_waiting_is_not():
    def busy():
        while True:
            pass

    assert ended(busy, budget=0.05).kind == "hang"
    assert ended(lambda: time.sleep(0.1), budget=0.05).kind == "accepted"


def test_a_seed_is_a_case():
    first, second = drawn("api:17"), drawn("api:17")
    assert first.what == second.what
    assert run_case("api:17") == run_case("api:17")
    assert drawn("api/uses.reports:17").what == "report"
    with pytest.raises(ValueError, match=r"kinds of api are .*uses\.reports"):
        drawn("api/nothing:17")
    with pytest.raises(ValueError, match=r"api, files, .* got 'none:1'"):
        drawn("none:1")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="cannot fork")
def test_a_crash_is_a_failure(monkeypatch):
    def crash(case):
        if case == "api:1":
            os.kill(os.getpid(), signal.SIGKILL)
        return Outcome(case, "call", "accepted")

    monkeypatch.setattr(run, "run_case", crash)
    tally = run.Tally()
    for outcome in run.outcomes(["api:0", "api:1", "api:2"]):
        tally.add(outcome)
    assert [each.case for each in tally.failures] == ["api:1"]
    assert "| api | 2 | 1 | 0 | 1 |" in "\n".join(tally.lines())
