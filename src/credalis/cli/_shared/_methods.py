"""Methods by name, and their parameters from text."""

import ast
from collections.abc import Sequence
from typing import Any

from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from credalis._checks import check_number
from credalis.cluster import BaseCredalClusterer, named_estimators

# Parameters that have an option of their own.
_OPTIONS = {
    "n_clusters": "-c",
    "random_state": "--seed",
    "n_jobs": "--n-jobs",
    "outlier_rate": "--outlier-rate",
    "verbose": "--quiet",
}
_WORDS = {"true": True, "false": False, "none": None}


def make_estimator(
    method: str,
    parameters: Sequence[str],
    *,
    precomputed: bool,
    outlier_rate: float | None = None,
    seed: int,
    n_jobs: int,
    verbose: bool,
) -> BaseCredalClusterer:
    """An estimator that is not fitted yet; its number of clusters is still open.

    Parameters
    ----------
    method : str
        A key of `named_estimators`.
    parameters : sequence of str
        As in "key=value".
    precomputed, outlier_rate, seed, n_jobs, verbose
        The options of these names.
    """
    estimator = named_estimators()[method]
    settings: dict[str, Any] = dict(_setting(text, method) for text in parameters)
    if precomputed:
        settings.setdefault("metric", "precomputed")
    if outlier_rate is not None:
        settings |= _calibrated(method, outlier_rate, settings)
    settings |= {"random_state": seed, "n_jobs": n_jobs, "verbose": int(verbose)}
    known = estimator.get_params(deep=False)
    estimator.set_params(**{k: v for k, v in settings.items() if k in known})
    if precomputed and not get_tags(estimator).input_tags.pairwise:
        able = _names("_reads_dissimilarities")
        raise ValueError(
            f"{method} cannot use --precomputed dissimilarities; {', '.join(able)} can"
        )
    return estimator


def _calibrated(
    method: str, outlier_rate: float, settings: dict[str, Any]
) -> dict[str, Any]:
    """Parameters that let a method flag this share of ordinary rows."""
    able = [
        name
        for name, each in named_estimators().items()
        if "outlier_rate" in each.get_params(deep=False)
    ]
    if method not in able:
        raise ValueError(f"{method} has no --outlier-rate; {', '.join(able)} have one")
    if settings.get("empty_set", "novelty") != "novelty":
        raise ValueError(
            "--outlier-rate needs empty_set=novelty, got --param "
            f"empty_set={settings['empty_set']}"
        )
    check_number("--outlier-rate", outlier_rate, above=0, at_most=0.5)
    return {"outlier_rate": outlier_rate, "empty_set": "novelty"}


def takes_gower(estimator: BaseCredalClusterer) -> bool:
    """Whether a method compares rows by Gower's dissimilarity, if nothing else is said.

    It can take a metric, and the user has named no other one.
    """
    metric = estimator.get_params(deep=False).get("metric")
    is_free = isinstance(metric, str) and metric in ("euclidean", "gower")
    return estimator._reads_dissimilarities and is_free


def wants_gower(estimator: BaseCredalClusterer) -> bool:
    """Whether the user has asked for Gower's dissimilarity."""
    metric = estimator.get_params(deep=False).get("metric")
    return isinstance(metric, str) and metric == "gower"


def finds_n_clusters(estimator: BaseCredalClusterer) -> bool:
    """Whether the method itself says how many clusters there are."""
    return "n_clusters" not in estimator.get_params(deep=False)


def check_side_information(method: str, given: dict[str, Any]) -> None:
    """Refuse labels or pairs that the method has no use for.

    Some use them only to learn a metric, which is an object of Python.
    """
    for name in given:
        use = "_uses_labels" if name == "partial_labels" else "_uses_pairs"
        able = _names(use)
        if method not in able:
            raise ValueError(
                f"{method} cannot use {_option_of(name)}; {', '.join(able)} can"
            )


def check_uses_pairs(estimator: BaseCredalClusterer) -> None:
    """Refuse a fitted method that has no use for answers about pairs."""
    if not estimator._uses_pairs:
        able = ", ".join(_names("_uses_pairs"))
        raise ValueError(
            f"{type(estimator).__name__} cannot use answers about pairs of rows; "
            f"{able} can: fit the model again with -m"
        )


def check_takes_weights(method: str) -> None:
    """Refuse weights of rows that the method does not take."""
    able = [
        name
        for name, each in named_estimators().items()
        if has_fit_parameter(each, "sample_weight")
    ]
    if method not in able:
        raise ValueError(f"{method} cannot use --weights; {', '.join(able)} can")


def _setting(text: str, method: str) -> tuple[str, Any]:
    """Name and value of one parameter."""
    name, sign, value = text.partition("=")
    name = name.strip()
    if not sign or not name:
        raise ValueError(f"--param must be key=value, got {text!r}")
    if name in _OPTIONS:
        raise ValueError(f"--param {name} has an option of its own: {_OPTIONS[name]}")
    known = named_estimators()[method].get_params(deep=False)
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


def _names(ability: str) -> list[str]:
    """Names of the methods that can do something."""
    return [name for name, each in named_estimators().items() if getattr(each, ability)]


def _option_of(parameter: str) -> str:
    return {"partial_labels": "--labels"}.get(parameter, f"--{parameter}").replace(
        "_", "-"
    )
