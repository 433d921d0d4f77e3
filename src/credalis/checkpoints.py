"""Files from which a long fit continues after it has been killed."""

import os
import re
import time
from typing import Any

import numpy as np

from credalis import _archive
from credalis._checks import check_number
from credalis._files import check_writable, checked_path

__all__ = ["Checkpoint"]

_DEFAULT_SECONDS = 180.0


class Checkpoint:
    """A file that a fit writes now and then, and continues from if it is there.

    Give it, or a path alone, as ``checkpoint`` to a ``fit``. The file is replaced as a
    whole, so that a fit can be killed at any moment; the same call then continues from
    it and ends with the same bits as a fit that nobody disturbed. It holds
    arrays and JSON and stays when the fit has ended.

    Parameters
    ----------
    path : str or path-like
        The file.
    seconds : float, default=180
        Time between two checkpoints; 0 writes one whenever possible.
    """

    def __init__(
        self, path: str | os.PathLike[str], seconds: float = _DEFAULT_SECONDS
    ) -> None:
        self.path = checked_path(path)
        self.seconds = check_number("seconds", seconds, at_least=0)
        self._identity: dict[str, Any] = {}
        self._defaults: dict[str, str] = {}
        self._last = -np.inf

    @classmethod
    def of(cls, value: Any) -> "Checkpoint | None":
        """A checkpoint for what a user gives: None, a path or a checkpoint.

        Parameters
        ----------
        value : Checkpoint or path-like
            What was given as `checkpoint`.

        Returns
        -------
        Checkpoint or None
        """
        if value is None or isinstance(value, Checkpoint):
            return value
        if not isinstance(value, (str, os.PathLike)):
            raise ValueError(
                "checkpoint must be a path, a Checkpoint or None, got "
                f"{type(value).__name__}"
            )
        return cls(checked_path(value, "checkpoint"))

    def begin(self, estimator: Any, fingerprint: str) -> dict[str, Any] | None:
        """The state to continue from, None for a new fit.

        Parameters
        ----------
        estimator : estimator
            Whose fit it is.
        fingerprint : str
            What tells its data from others.

        Returns
        -------
        dict or None

        Raises
        ------
        ValueError
            If the file belongs to a fit of other data or with other parameters, if
            the fit draws random numbers that it could not draw again, or if a
            parameter has no safe file form.
        """
        if not isinstance(estimator.random_state, (int, np.integer)):
            raise ValueError(
                "random_state must be an integer with a checkpoint, so that a fit that "
                f"starts again is the same fit, got {estimator.random_state!r}"
            )
        self._identity = {
            "format": _archive.FORMAT_VERSION,
            "class": type(estimator).__name__,
            "parameters": {
                name: _description(value)
                for name, value in estimator.get_params(deep=False).items()
                if name not in ("n_jobs", "verbose")
            },
            "data": fingerprint,
        }
        self._defaults = {
            name: _description(value)
            for name, value in type(estimator)().get_params(deep=False).items()
        }
        self._last = -np.inf
        for name, value in estimator.get_params(deep=False).items():
            try:
                _archive.check_savable(value, where=name)
            except ValueError as error:
                # Known before the work begins, not at the first checkpoint.
                raise ValueError(f"checkpoint must be None: {error}") from error
        check_writable(self.path)
        if not os.path.exists(self.path):
            return None
        content = _archive.load(self.path)
        if not isinstance(content, dict) or not {"identity", "state"} <= set(content):
            raise ValueError(f"{self.path} is not a checkpoint of a fit")
        identity = content["identity"]
        if identity["class"] == type(estimator).__name__:
            known = estimator._brought_up(identity["parameters"], _description)
            identity = {**identity, "parameters": known}
        self._check_same(identity)
        try:
            estimator._checkpoint_schema.check("state", content["state"], {})
        except ValueError as error:
            raise ValueError(
                f"checkpoint {self.path} does not hold what it says: {error}"
            ) from error
        return content["state"]

    @property
    def is_due(self) -> bool:
        """Whether the last state was written long enough ago."""
        return time.monotonic() - self._last >= self.seconds

    def write(self, state: dict[str, Any]) -> None:
        """Replace the file.

        Parameters
        ----------
        state : dict
            Where the fit is.
        """
        _archive.save({"identity": self._identity, "state": state}, self.path)
        self._last = time.monotonic()

    def _check_same(self, identity: dict[str, Any]) -> None:
        advice = "remove the file or name another one"
        # Those of format 1 did not say so; their states are read as they are.
        version = identity.get("format", 1)
        if version not in range(1, _archive.FORMAT_VERSION + 1):
            raise ValueError(
                f"checkpoint {self.path} has states of format {version!r}, this "
                f"version of credalis continues those up to "
                f"{_archive.FORMAT_VERSION}: {advice}"
            )
        if identity["class"] != self._identity["class"]:
            raise ValueError(
                f"checkpoint {self.path} belongs to a fit of {identity['class']}, not "
                f"of {self._identity['class']}: {advice}"
            )
        now = self._identity["parameters"]
        # What an earlier version did not know had its default.
        before = {**self._defaults, **identity["parameters"]}
        for name in sorted(now):
            if before.get(name) != now[name]:
                raise ValueError(
                    f"checkpoint {self.path} belongs to a fit with other parameters, "
                    f"{name}={before.get(name)} instead of {now.get(name)}: {advice}"
                )
        if identity["data"] != self._identity["data"]:
            raise ValueError(
                f"checkpoint {self.path} belongs to a fit of other data: {advice}"
            )


def _description(value: Any) -> str:
    """A text that is the same for the same parameter, in another process as well."""
    if isinstance(value, (np.ndarray, np.generic)):
        return repr(value.tolist())
    if callable(value):
        return f"{value.__module__}.{getattr(value, '__qualname__', type(value))}"
    return re.sub(r" at 0x[0-9a-f]+", "", repr(value))
