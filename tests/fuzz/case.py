"""One case: a call of the library, and the ends that count as failures."""

import contextlib
import inspect
import io
import re
import signal
import time
import warnings
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

import numpy as np
from sklearn.exceptions import (
    ConvergenceWarning,
    DataConversionWarning,
    NotFittedError,
)

from credalis import CredalPartition

# Processor time that no case of so few rows may need.
BUDGET = 20.0


class BrokenError(AssertionError):
    """A result that is wrong, or a refusal of what must be taken."""


class Hang(BaseException):
    """The budget of processor time is used up."""


class Ended(str):
    """How a call has ended that returns no result of the library."""


@dataclass(frozen=True)
class Call:
    """What a case does.

    Attributes
    ----------
    what : str
        The function or method, for the table of outcomes.
    run : callable
        Calls it and looks at what it returns; raises BrokenError if that is wrong. It
        may return an Ended.
    names : collection of str
        Of these words, one must be in the message of a refusal.
    allowed : tuple of exception classes
        Further refusals that are right, such as FileNotFoundError.
    """

    what: str
    run: Callable[[], object]
    names: Collection[str] = ()
    allowed: tuple[type[BaseException], ...] = ()


@dataclass(frozen=True)
class Outcome:
    """How a case has ended.

    Attributes
    ----------
    case : str
        Family and seed.
    what : str
        The function or method.
    kind : str
        "accepted", the name of the exception by which it was refused, or a failure.
    is_failure : bool
        Whether it must not end so.
    message : str
        What the exception said.
    seconds : float
        Processor time.
    """

    case: str
    what: str
    kind: str
    is_failure: bool = False
    message: str = ""
    seconds: float = field(default=0.0, compare=False)


def finish(case: str, call: Call, budget: float = BUDGET) -> Outcome:
    """Run a call, and say how it has ended."""
    before = time.process_time()
    kind, is_failure, message = "accepted", False, ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with limited(budget), silent():
                ended = call.run()
            if isinstance(ended, Ended):
                kind = str(ended)
        except Hang:
            kind, is_failure = "hang", True
            message = f"more than {budget:g} s of processor time"
        except BrokenError as error:
            kind, is_failure, message = "wrong result", True, str(error)
        except (ValueError, TypeError, *call.allowed) as error:
            kind, message = type(error).__name__, str(error)
            if isinstance(error, NotFittedError):
                kind = "NotFittedError"
            elif not names_one(message, call.names):
                kind, is_failure = f"{kind} that names nothing", True
        except Exception as error:
            kind, is_failure = type(error).__name__, True
            message = f"{kind}: {error}"
    for warning in caught:
        if not is_documented(warning.category):
            kind, is_failure = warning.category.__name__, True
            message = f"{warning.filename}:{warning.lineno}: {warning.message}"
    seconds = time.process_time() - before
    return Outcome(case, call.what, kind, is_failure, message[:400], seconds)


def names_one(message: str, names: Collection[str]) -> bool:
    """Whether a message has one of the names as a word."""
    return any(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", message) for name in names)


def is_documented(category: type[Warning]) -> bool:
    """Whether a warning is one of those that the library may give."""
    if issubclass(category, (ConvergenceWarning, DataConversionWarning)):
        return True
    is_own = category.__module__.split(".")[0] in ("builtins", "credalis")
    return is_own and issubclass(category, UserWarning)


@contextlib.contextmanager
def limited(seconds: float) -> Iterator[None]:
    """Raise Hang when so much processor time has been used."""

    def stop(number: int, frame: object) -> None:
        raise Hang

    before = signal.signal(signal.SIGPROF, stop)
    # Again and again: something may have swallowed the first one.
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Progress bars write to standard error."""
    with contextlib.redirect_stderr(io.StringIO()):
        yield


def accepted(function: Callable, *given: object, **options: object) -> object:
    """What a function returns that must not refuse this."""
    try:
        return function(*given, **options)
    except (ValueError, TypeError) as error:
        name = getattr(function, "__name__", str(function))
        raise BrokenError(f"{name} refused what it must take: {error}") from error


def ensure(is_right: object, message: str) -> None:
    """Say what is wrong unless it is right."""
    if not is_right:
        raise BrokenError(message)


def ensure_partition(
    partition: CredalPartition, n_samples: int | None = None, *, gap: float = 1e-9
) -> None:
    """Masses are masses, and labels are clusters."""
    ensure(isinstance(partition, CredalPartition), f"not a partition: {partition!r}")
    masses = partition.masses
    n_samples = len(masses) if n_samples is None else n_samples
    shape = n_samples, len(partition.focal_sets)
    ensure(masses.shape == shape, f"masses of shape {masses.shape}, not {shape}")
    ensure(np.isfinite(masses).all(), "NaN in masses")
    ensure((masses >= 0).all(), "negative masses")
    ensure(np.abs(masses.sum(axis=1) - 1).max(initial=0) < gap, "sums that are not 1")
    ensure_labels(partition.labels, n_samples, partition.n_clusters)
    for view in (partition.plausibility, partition.pignistic, partition.belief):
        ensure(np.isfinite(view).all(), "NaN in a view of the masses")


def ensure_labels(labels: object, n_samples: int, n_clusters: int) -> None:
    """Labels are numbers of clusters."""
    labels = np.asarray(labels)
    ensure(labels.shape == (n_samples,), f"labels of shape {labels.shape}")
    ensure(labels.dtype.kind == "i", f"labels of type {labels.dtype}")
    ensure(((labels >= 0) & (labels < n_clusters)).all(), "labels out of range")


def ensure_finite(value: object) -> None:
    """No NaN in numbers that came of numbers."""
    ensure(not np.isnan(np.asarray(value, dtype=float)).any(), "NaN in the result")


def names_of(*callables: Callable) -> set[str]:
    """Names of all parameters."""
    names: set[str] = set()
    for each in callables:
        names |= inspect.signature(each).parameters.keys()
    return names - {"self", "cls"}
