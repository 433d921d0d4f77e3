"""What Displays ask of a fitted estimator."""

from typing import Any

from sklearn.exceptions import NotFittedError


def fitted(estimator: Any, attribute: str) -> Any:
    """A fitted attribute, or a NotFittedError (a ValueError) that names it."""
    value = getattr(estimator, attribute, None)
    if value is None:
        raise NotFittedError(
            f"estimator must be fitted and have {attribute}, got "
            f"{type(estimator).__name__} without it"
        )
    return value
