"""Known or found classes of objects, for Displays that sort or colour by them."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def check_classes(labels: ArrayLike, n_samples: int) -> NDArray[np.intp]:
    """Labels 0, 1, ... with -1 for none, (n_samples,), or a ValueError."""
    array = np.asarray(labels)
    is_label = array.shape == (n_samples,) and array.dtype.kind in "iu"
    if not is_label or array.min(initial=0) < -1:
        raise ValueError(
            f"labels must be {n_samples} integers, 0, 1, ... or -1 for none, got "
            f"{labels!r:.80}"
        )
    return array.astype(np.intp)


def transformed(transformer: Any, X: Any) -> NDArray[np.float64]:
    """Features of X under a fitted transformer, (n_samples, n_features_out)."""
    if not hasattr(transformer, "transform"):
        raise ValueError(
            "transformer must have transform, got "
            f"{type(transformer).__name__} without it"
        )
    return np.asarray(transformer.transform(X), dtype=np.float64)
