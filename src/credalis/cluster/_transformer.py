"""Transformers in whose space distances are taken."""

from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils import get_tags

from credalis.network import SideInformation


def fit_transformer(
    metric: Any,
    X: NDArray[np.float64],
    rng: np.random.RandomState,
    information: SideInformation | None = None,
) -> Any:
    """A clone of a transformer, fitted with the side information it can use.

    Of a pipeline, every step gets what it can use. Seeds that were not given are drawn
    from rng. Without ``information`` the estimator has no use for any.
    """
    transformer = clone(metric)
    _set_seeds(transformer, rng)
    steps = _steps(transformer)
    learners = [name for name, step in steps if _takes_pairs(step)]
    needs_labels = [
        name
        for name, step in steps
        if name not in learners and get_tags(step).target_tags.required
    ]
    if learners and needs_labels:
        raise ValueError(
            f"metric must not mix steps that take -1 as unknown, like {learners[0]!r}, "
            f"and steps that take it as a class, like {needs_labels[0]!r}"
        )
    if information is None:
        if learners or needs_labels:
            raise ValueError(
                f"metric={metric!r} learns from labels or pairs, which this estimator "
                "does not take: fit it before and pass the transformed data"
            )
        return transformer.fit(X)
    labels = np.full(len(X), -1)
    labels[information.objects] = information.labels
    if learners:
        pairs = {
            "must_link": information.must_link,
            "cannot_link": information.cannot_link,
        }
        y = labels if information.has_labels else None
        if not hasattr(transformer, "steps"):
            return transformer.fit(X, y, **pairs)
        routed = {
            f"{name}__{key}": value for name in learners for key, value in pairs.items()
        }
        # The names of steps say where pairs go, whatever routing the user has chosen.
        with config_context(enable_metadata_routing=False):
            return transformer.fit(X, y, **routed)
    if not needs_labels:
        return transformer.fit(X)
    known = labels >= 0
    if not known.any():
        raise ValueError(
            f"metric={metric!r} learns from labels: pass partial_labels to fit"
        )
    return transformer.fit(X[known], labels[known])


def _steps(transformer: Any) -> list[tuple[str, Any]]:
    """Names and steps of a pipeline that are fitted, or the transformer alone."""
    steps = getattr(transformer, "steps", None) or [("", transformer)]
    return [(name, step) for name, step in steps if hasattr(step, "fit")]


def _takes_pairs(step: Any) -> bool:
    return "must_link" in signature(step.fit).parameters


def _set_seeds(transformer: Any, rng: np.random.RandomState) -> None:
    """Give every part without a seed one of its own, so that fits can be repeated."""
    seeds = {
        name: rng.randint(np.iinfo(np.int32).max)
        for name, value in sorted(transformer.get_params().items())
        if name.split("__")[-1] == "random_state" and value is None
    }
    transformer.set_params(**seeds)
