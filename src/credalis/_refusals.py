"""What public functions do about numbers that are none, and things that are no arrays.

Each public function or method that calculates is decorated: `refuses_by_name` is for
those that may refuse what they are given, `takes_any_number` for those that have an
answer to all finite numbers, such as predictions. Of several calls inside each other
the outermost one names its arguments, which are those that the user knows.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar

import numpy as np
from numpy.linalg import LinAlgError

from credalis.exceptions import InvalidMassError

P = ParamSpec("P")
R = TypeVar("R")

_is_inside: ContextVar[bool] = ContextVar("is_inside", default=False)

# Kinds of arrays that can be calculated with.
_KINDS_OF_NUMBERS = "biuf"

# Attribute of errors that are none of ours.
_MARK = "_is_of_the_user"


class _InnerRefusalError(ValueError):
    """Numbers that are none, to be refused by the name of an outer argument."""


@contextmanager
def real_numbers(names: str = "X and the parameters") -> Iterator[None]:
    """Refuse data and parameters by which a result on the way would be no number.

    NumPy would warn of it, name nothing, and go on with infinity or NaN; where it finds
    no factors or eigenvalues of a matrix, it names nothing either.
    """
    with _arithmetic("raise", lambda: names):
        yield


@contextmanager
def of_the_user() -> Iterator[None]:
    """Let errors of what the user has given, such as a listener, stay as they are."""
    try:
        yield
    except Exception as error:
        # A mark of the error itself goes with it from one process to another.
        error.__dict__[_MARK] = True
        raise


def refuses_by_name(function: Callable[P, R]) -> Callable[P, R]:
    """Let a public function name its arguments if it cannot calculate with them.

    That is if a result on the way is no number, as in `real_numbers`, and if an error
    names no argument although some cannot become arrays of numbers. Other errors are
    none of the user's, and stay as they are.
    """

    @wraps(function)
    def refusing(*given: P.args, **named: P.kwargs) -> R:
        if _is_inside.get():
            return function(*given, **named)
        call = _Call(function, given, named)
        with _arithmetic("raise", call.names), _blaming(call):
            return function(*given, **named)

    return refusing


def takes_any_number(function: Callable[P, R]) -> Callable[P, R]:
    """Let a public function go on with infinity where numbers are too large.

    Whoever is decorated makes sure that the result is no NaN.
    """

    @wraps(function)
    def taking(*given: P.args, **named: P.kwargs) -> R:
        call = _Call(function, given, named)
        with _arithmetic("ignore", call.names), _blaming(call):
            return function(*given, **named)

    return taking


@dataclass(frozen=True, eq=False)
class _Call:
    """A call of a public function, looked at only if it has failed."""

    function: Callable[..., Any]
    given: tuple[Any, ...]
    named: dict[str, Any]

    def arguments(self) -> dict[str, Any]:
        """Values by the names of the function, without those that are not given."""
        signature = inspect.signature(self.function)
        try:
            return dict(signature.bind(*self.given, **self.named).arguments)
        except TypeError:  # which the call has said, too
            return dict(self.named)

    def values(self) -> dict[str, Any]:
        """Values by the names that the user knows, parameters of an object included."""
        values = self.arguments()
        owner = values.pop("self", None)
        values.pop("cls", None)
        if hasattr(owner, "get_params"):
            values |= owner.get_params(deep=False)
        return values

    def names(self) -> str:
        """The arguments that hold numbers, in words."""
        values = self.arguments()
        owner = values.pop("self", None)
        names = [name for name, value in values.items() if not _is_word(value)]
        if hasattr(owner, "get_params"):
            names.append("the parameters")
        return _listed(names)


@contextmanager
def _arithmetic(
    way: Literal["raise", "ignore"], names: Callable[[], str]
) -> Iterator[None]:
    """Name arguments by which a number on the way is none, and do so about infinity."""
    is_outermost = not _is_inside.get()
    token = _is_inside.set(True)
    try:
        with np.errstate(over=way, divide=way, invalid=way):
            yield
    except (ArithmeticError, LinAlgError, _InnerRefusalError) as error:
        if hasattr(error, _MARK):
            raise
        reason = error.args[-1] if isinstance(error, _InnerRefusalError) else error
        message = (
            f"{names()} must be such that all numbers on the way fit into float64, "
            f"got {reason}: scale the data, or choose less extreme values"
        )
        if is_outermost:
            raise ValueError(message) from error
        raise _InnerRefusalError(message, str(reason)) from error
    finally:
        _is_inside.reset(token)


@contextmanager
def _blaming(call: _Call) -> Iterator[None]:
    """Name the arguments that are no arrays of numbers if an error names nothing."""
    try:
        yield
    except (InvalidMassError, AttributeError, _InnerRefusalError, LinAlgError):
        # Whoever is not fitted says so by a kind of AttributeError.
        raise
    except (TypeError, ValueError) as error:
        if hasattr(error, _MARK):
            raise
        message, values = str(error), call.values()
        names = {*inspect.signature(call.function).parameters, *values}
        # How those who call a check call what is checked.
        names.add(str(values.get("name", "X")))
        if any(re.search(rf"(?<!\w){re.escape(n)}(?!\w)", message) for n in names):
            raise
        odd = [name for name, value in values.items() if not _is_calculable(value)]
        if not odd:
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        verb = "is" if len(odd) == 1 else "are"
        raise kind(f"{_listed(odd)} {verb} not valid: {message}") from error


def _is_word(value: object) -> bool:
    """Whether a value says something, but not as a number."""
    return value is None or isinstance(value, (str, bool, type)) or callable(value)


def _is_calculable(value: object) -> bool:
    """Whether a value may be meant: numbers, words, an object with verbs of its own."""
    is_ours = type(value).__module__.partition(".")[0] == "credalis"
    if is_ours or _is_word(value) or hasattr(value, "get_params"):
        return True
    if hasattr(value, "__dask_graph__"):  # not to be computed for a message
        return True
    try:
        return np.asarray(value).dtype.kind in _KINDS_OF_NUMBERS
    except Exception:
        return False


def _listed(names: list[str]) -> str:
    if len(names) < 2:
        return "".join(names) or "the arguments"
    return f"{', '.join(names[:-1])} and {names[-1]}"
