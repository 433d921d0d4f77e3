"""Methods by name, and their parameters from text."""

import ast
from collections.abc import Sequence
from typing import Any

from sklearn.base import clone
from sklearn.utils import get_tags

from credalis._compare import METHODS
from credalis.cluster import CECM, BaseCredalClusterer

CLUSTERERS: dict[str, BaseCredalClusterer] = {**METHODS, "CECM": CECM()}
DEFAULT = "NNEVCLUS"

# Parameters that have an option of their own.
_OPTIONS = {
    "n_clusters": "-c",
    "random_state": "--seed",
    "n_jobs": "--n-jobs",
    "verbose": "--quiet",
}
# Others use labels and pairs only to learn a metric, which is an object of Python.
_LABELLED = ("NNEVCLUS", "NNEVCLUS-bp")
_LINKED = (*_LABELLED, "EVCLUS", "CECM")

_WORDS = {"true": True, "false": False, "none": None}


def make_estimator(
    method: str,
    parameters: Sequence[str],
    *,
    precomputed: bool,
    seed: int,
    n_jobs: int,
    verbose: bool,
) -> BaseCredalClusterer:
    """An estimator that is not fitted yet; its number of clusters is still open.

    Parameters
    ----------
    method : str
        A key of `CLUSTERERS`.
    parameters : sequence of str
        As in "key=value".
    precomputed, seed, n_jobs, verbose
        The options of these names.
    """
    estimator = clone(CLUSTERERS[method])
    settings: dict[str, Any] = dict(_setting(text, method) for text in parameters)
    if precomputed:
        settings.setdefault("metric", "precomputed")
    settings |= {"random_state": seed, "n_jobs": n_jobs, "verbose": int(verbose)}
    known = estimator.get_params(deep=False)
    estimator.set_params(**{k: v for k, v in settings.items() if k in known})
    if precomputed and not get_tags(estimator).input_tags.pairwise:
        able = [name for name in CLUSTERERS if _takes_dissimilarities(name)]
        raise ValueError(
            f"{method} cannot use --precomputed dissimilarities; {', '.join(able)} can"
        )
    return estimator


def finds_n_clusters(estimator: BaseCredalClusterer) -> bool:
    """Whether the method itself says how many clusters there are."""
    return "n_clusters" not in estimator.get_params(deep=False)


def check_side_information(method: str, given: dict[str, Any]) -> None:
    """Refuse labels or pairs that the method has no use for."""
    for name in given:
        able = _LABELLED if name == "partial_labels" else _LINKED
        if method not in able:
            raise ValueError(
                f"{method} cannot use {_option_of(name)}; {', '.join(able)} can"
            )


def _setting(text: str, method: str) -> tuple[str, Any]:
    """Name and value of one parameter."""
    name, sign, value = text.partition("=")
    name = name.strip()
    if not sign or not name:
        raise ValueError(f"--param must be key=value, got {text!r}")
    if name in _OPTIONS:
        raise ValueError(f"--param {name} has an option of its own: {_OPTIONS[name]}")
    known = CLUSTERERS[method].get_params(deep=False)
    if name not in known:
        listed = ", ".join(key for key in known if key not in _OPTIONS)
        raise ValueError(f"{method} has no parameter {name!r}; it has {listed}")
    return name, _value(value.strip())


def _value(text: str) -> Any:
    """A number, a truth value, None, a tuple of these, or text."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
    return tuple(value) if isinstance(value, list) else value


def _takes_dissimilarities(name: str) -> bool:
    estimator = clone(CLUSTERERS[name])
    if "metric" not in estimator.get_params(deep=False):
        return False
    estimator.set_params(metric="precomputed")
    return bool(get_tags(estimator).input_tags.pairwise)


def _option_of(parameter: str) -> str:
    return {"partial_labels": "--labels"}.get(parameter, f"--{parameter}").replace(
        "_", "-"
    )
