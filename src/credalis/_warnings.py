"""Warnings that name the line of the caller, however deep they arise."""

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from types import FrameType

import joblib
import numpy as np
import sklearn

from credalis.exceptions import ExperimentalWarning

# Calls pass through these on their way from the user to us: scikit-learn's pipelines
# and searches, joblib's threads, context managers that decorate functions.
_PASSED = (
    *(
        os.path.join(path, "")
        for path in (os.path.dirname(__file__), *sklearn.__path__, *joblib.__path__)
    ),
    contextlib.__file__,
)

_already_told: set[str] = set()


def warn_user(message: str, category: type[Warning]) -> None:
    """Warn at the first frame outside of credalis, scikit-learn and joblib."""
    level = 1
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_PASSED):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level + 1)


@contextlib.contextmanager
def unheard() -> Iterator[None]:
    """Clusterers that are not ours, and what they complain of, numbers included."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def warn_experimental(method: str, what: str) -> None:
    """Warn, once in a process for each method, of what could not be confirmed."""
    if method in _already_told:
        return
    warn_user(f"{method} is experimental: {what}", ExperimentalWarning)
    # Only now: where warnings are errors, the next call should tell it again.
    _already_told.add(method)
