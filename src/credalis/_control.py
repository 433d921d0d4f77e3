"""How fits are told to stop, by Ctrl-C or by their callers, and who listens to them.

All loops of a fit call `poll` and stand in `stoppable`, the only handler of interrupts:
it keeps what a loop has found. What `fitting` surrounds is a fit; whoever works for it
in another thread, process or machine is given its `Stop`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Literal
from weakref import WeakSet

from credalis._wire import FarEnd, Wire, dask_client
from credalis.exceptions import FitCancelledError

Reason = Literal["interrupted", "cancelled", "over"]


@dataclass(frozen=True)
class FitEvent:
    """How far a fit is.

    Attributes
    ----------
    method : str
        Who is at work: the class of the estimator, or the function.
    stage : str
        What it does before or after the runs, as in "members"; empty in the runs.
    run, n_runs : int
        Number of the start, from 0, and how many there are.
    iteration, max_iter : int
        Iterations of this run so far, and how many there can be.
    loss : float or None
        Loss after this iteration, if it has one.
    share : float
        Done of all runs of this stage, between 0 and 1. Runs that converge end sooner.
    is_over : bool
        Whether this run has ended.
    """

    method: str
    stage: str
    run: int
    n_runs: int
    iteration: int
    max_iter: int
    loss: float | None
    share: float
    is_over: bool = False


Listener = Callable[[FitEvent], Any]


class Stop:
    """Whether those who share it should stop, and why.

    Parameters
    ----------
    leaders : tuple of Stop
        Whenever one of these is set, this one is.
    above : Stop or None
        The one of a larger part of the same fit, which an interrupt of this one ends.
    """

    def __init__(self, leaders: tuple[Stop, ...] = (), above: Stop | None = None):
        self.reason: Reason | None = None
        self.above = above
        self._followers: WeakSet[Stop] = WeakSet()
        self._client = dask_client() if "distributed" in sys.modules else None
        self._wire: Wire | None = None
        # A signal may come while its thread holds the lock.
        self._lock = threading.RLock()
        for leader in leaders:
            leader._lead(self)

    def __reduce__(self) -> tuple:
        return FarStop, (self.wire,)

    def __deepcopy__(self, memo: dict[int, Any]) -> Stop:
        # Estimators that hold it are cloned.
        return self

    @property
    def wire(self) -> Wire:
        """What leads to other processes, laid when it is first asked for."""
        with self._lock:
            if self._wire is None:
                self._wire = Wire(self._client)
                if self.reason is not None:
                    self._wire.cut(is_idle=True)
            return self._wire

    @property
    def has_come(self) -> bool:
        """Whether to stop."""
        return self.reason is not None

    def set(self, reason: Reason) -> None:
        """Stop all who share this one. The first reason counts."""
        with self._lock:
            if self.reason is None:
                self.reason = reason
                if self._wire is not None:
                    self._wire.cut(is_idle=reason == "over")
            followers = list(self._followers)
        for follower in followers:
            follower.set(reason)

    def interrupt(self) -> None:
        """Stop the whole fit that this one is a part of."""
        top = self
        while top.above is not None:
            top = top.above
        top.set("interrupted")

    def _lead(self, follower: Stop) -> None:
        with self._lock:
            self._followers.add(follower)
        if self.reason is not None:
            follower.set(self.reason)


class FarStop(Stop):
    """What a `Stop` is in another process."""

    def __init__(self, wire: FarEnd) -> None:
        super().__init__()
        self._far_end = wire

    def __reduce__(self) -> tuple:
        return FarStop, (self._far_end,)

    @property
    def has_come(self) -> bool:
        """Whether to stop."""
        if self.reason is None and self._far_end.is_cut:
            self.set("interrupted")
        return self.reason is not None


class FitControl:
    """Listen to fits, and cancel them from anywhere.

    A ``with`` statement puts all fits inside of it, in the same thread, under control:
    of any estimator, alone, in a pipeline or a search, with whatever ``n_jobs``, in
    memory, from files or on Dask, and of `compare`, `select_n_clusters` and their like.

    A fit that is cancelled ends like one after Ctrl-C. It returns the best result so
    far, with a ConvergenceWarning; if there is none yet, it raises
    `credalis.exceptions.FitCancelledError`. Threads and processes stop with the
    iteration they are in. A control that was cancelled stays so, and ends every further
    fit under it at once.

    Parameters
    ----------
    callback : callable, default=None
        Called with a `FitEvent` after each iteration of a run (at most ten times in a
        second for a run in another process), by the thread that the run is in, but
        never by two threads at a time. It should be quick, the run waits for it. An
        exception that it raises ends the fit and comes out of it.

    Attributes
    ----------
    cancelled : bool
        Whether `cancel` was called.

    Examples
    --------
    >>> from credalis import ECM, FitControl
    >>> from credalis.datasets import make_four_class
    >>> X, _ = make_four_class(random_state=0)
    >>> losses = []
    >>> with FitControl(lambda event: losses.append(event.loss)) as control:
    ...     model = ECM(4, n_init=1, random_state=0).fit(X)
    >>> losses[-1] == model.loss_
    True
    """

    def __init__(self, callback: Listener | None = None) -> None:
        if callback is not None and not callable(callback):
            raise ValueError(f"callback must be callable or None, got {callback!r}")
        self.callback = callback
        self._stop = Stop()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._stop.has_come

    def cancel(self) -> None:
        """End all fits under this control; from any thread, also from the callback."""
        self._stop.set("cancelled")

    def __enter__(self) -> FitControl:
        _controls.set((*_controls.get(), self))
        return self

    def __exit__(self, *error: object) -> None:
        # Not the value from before: threads may share a control.
        entered = list(_controls.get())
        entered.reverse()
        entered.remove(self)
        _controls.set(tuple(reversed(entered)))


@dataclass
class _Scope:
    """A fit, or a part of it in one thread.

    Attributes
    ----------
    stop : Stop
        What ends it.
    keeps : bool
        Whether it ends with what its first loop that was stopped has found, so that
        there is nothing left to stop. Else every `poll` raises from then on.
    listeners : tuple of callables
        Told how far it is.
    method : str
        Who is at work.
    n_loops : int
        Loops that are running, one inside the other.
    is_over : bool
        Whether it is past stopping.
    """

    stop: Stop
    keeps: bool = False
    listeners: tuple[Listener, ...] = ()
    method: str = ""
    n_loops: int = 0
    is_over: bool = False


@dataclass
class Ending:
    """How a block has ended.

    Attributes
    ----------
    is_early : bool
        Whether Ctrl-C or a cancel ended it.
    """

    is_early: bool = field(default=False)


_controls: ContextVar[tuple[FitControl, ...]] = ContextVar("controls", default=())
_scope: ContextVar[_Scope | None] = ContextVar("scope", default=None)


def poll() -> None:
    """Raise KeyboardInterrupt if the fit should stop; less than a microsecond."""
    scope = _scope.get()
    if scope is not None and not scope.is_over and scope.stop.has_come:
        raise KeyboardInterrupt


@contextmanager
def stoppable(has_result: Callable[[], bool]) -> Iterator[Ending]:
    """A block that ends early at Ctrl-C or a cancel, if it has a result by then.

    Without one, KeyboardInterrupt passes.
    """
    ending = Ending()
    scope = _scope.get()
    if scope is not None:
        scope.n_loops += 1
    try:
        yield ending
    except KeyboardInterrupt:
        if scope is not None:
            scope.stop.interrupt()
        if not has_result():
            raise
        ending.is_early = True
        if scope is not None and scope.keeps and scope.n_loops == 1:
            scope.is_over = True
    finally:
        if scope is not None:
            scope.n_loops -= 1


@contextmanager
def fitting(method: str) -> Iterator[None]:
    """A fit, which the controls that were entered can stop and listen to.

    One inside of another is a part of that: it stops with it, and nobody listens.
    """
    outer = _scope.get()
    if outer is not None:
        with _entered(_Scope(outer.stop, method=method)):
            yield
        return
    controls = _controls.get()
    stop = Stop(tuple(control._stop for control in controls))
    told = tuple(each.callback for each in controls if each.callback is not None)

    def is_cancelled() -> bool:
        return stop.reason == "cancelled"

    with _ended(stop), _entered(_Scope(stop, listeners=told, method=method)):
        with stoppable(is_cancelled) as ending:
            yield
        if ending.is_early:
            raise FitCancelledError(f"{method} was cancelled before it had a result")


@contextmanager
def keeping() -> Iterator[None]:
    """The part of a fit that keeps what it has when it is stopped; one start."""
    outer = _scope.get()
    if outer is None:
        yield
        return
    with _entered(_Scope(outer.stop, keeps=True, listeners=outer.listeners)):
        yield


@contextmanager
def section() -> Iterator[Stop]:
    """Work for the current fit in other threads or processes, which ends with it."""
    outer = _scope.get()
    above = None if outer is None else outer.stop
    stop = Stop(() if above is None else (above,), above)
    with _ended(stop):
        yield stop


@contextmanager
def rest_of_fit() -> Iterator[Stop]:
    """What ends the current fit, for work of which there is much in little pieces."""
    outer = _scope.get()
    if outer is None:
        with section() as stop:
            yield stop
    else:
        yield outer.stop


@contextmanager
def working_for(stop: Stop) -> Iterator[None]:
    """A part of a fit that was begun elsewhere."""
    with _entered(_Scope(stop)):
        yield


def past_stopping() -> None:
    """From now on nothing stops the current fit: it only has to store its result."""
    scope = _scope.get()
    if scope is not None:
        scope.is_over = True


def is_cancelled() -> bool:
    """Whether the current fit was cancelled by its caller."""
    scope = _scope.get()
    return scope is not None and scope.stop.reason == "cancelled"


def was_cancelled() -> bool:
    """Whether fits here and now would be cancelled at once."""
    return any(control.cancelled for control in _controls.get())


def method_at_work() -> str:
    """What `fitting` has called the current fit."""
    scope = _scope.get()
    return "" if scope is None else scope.method


def listeners() -> tuple[Listener, ...]:
    """Who listens to the current fit."""
    scope = _scope.get()
    return () if scope is None else scope.listeners


@contextmanager
def _ended(stop: Stop) -> Iterator[None]:
    try:
        yield
        stop.set("over")
    finally:
        # Also after an error: what the others are at is not wanted any more.
        stop.set("interrupted")


@contextmanager
def _entered(scope: _Scope) -> Iterator[None]:
    token = _scope.set(scope)
    try:
        yield
    finally:
        _scope.reset(token)
