"""Labels and pairs that come with the data, and transformers that learn from them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from inspect import signature
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.utils import get_tags

from credalis._checks import naming, shown
from credalis._weights import copies
from credalis.constraints import check_constraints, check_pairs, spread_labels
from credalis.network import SideInformation

if TYPE_CHECKING:
    from credalis.cluster._framework._estimator import BaseCredalClusterer

# How far rows are moved at a time that are too far away for a transformer.
_NEARER = 1e-10


class Transformer(Protocol):
    """What distances can be measured after: one of scikit-learn's transformers."""

    def transform(self, X: Any) -> Any:
        """Rows in the space of the transformer."""


def check_partial_labels(
    partial_labels: ArrayLike | None, n_samples: int, n_clusters: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The labelled objects, ascending, and their clusters."""
    if partial_labels is None:
        return np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    if isinstance(partial_labels, Mapping):
        return _check_mapped_labels(partial_labels, n_samples, n_clusters)
    with naming("partial_labels"):
        labels = np.asarray(partial_labels)
    if labels.shape != (n_samples,):
        raise ValueError(
            f"partial_labels must have one label for each of the {n_samples} rows of "
            f"X, got shape {labels.shape}"
        )
    if labels.dtype.kind not in "iu":
        raise ValueError(
            f"partial_labels must be integers, -1 for unknown, got dtype {labels.dtype}"
        )
    wrong = labels[(labels < -1) | (labels >= n_clusters)]
    if len(wrong):
        raise ValueError(
            f"partial_labels must lie between -1 and n_clusters - 1 = "
            f"{n_clusters - 1}, got {wrong[0]}"
        )
    objects = np.flatnonzero(labels >= 0)
    return objects, labels[objects].astype(np.intp)


def _check_mapped_labels(
    partial_labels: Mapping[int, int], n_samples: int, n_clusters: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The same of a mapping from row numbers to clusters."""
    for what, numbers, first, last in (
        ("row numbers", partial_labels.keys(), 0, n_samples - 1),
        ("clusters", partial_labels.values(), -1, n_clusters - 1),
    ):
        for number in numbers:
            is_whole = isinstance(number, (int, np.integer))
            if not is_whole or isinstance(number, bool) or not first <= number <= last:
                raise ValueError(
                    f"partial_labels must map row numbers to clusters, {what} from "
                    f"{first} to {last}, got {number!r}"
                )
    known = sorted((row, k) for row, k in partial_labels.items() if k >= 0)
    objects, labels = np.array(known, dtype=np.intp).reshape(-1, 2).T
    return objects, labels


@dataclass(frozen=True, eq=False)
class KnownRows:
    """Labels and pairs about a few of many rows, which are read by their numbers.

    Attributes
    ----------
    rows : array of int, ascending
        Numbers of the rows that anything is known about.
    objects, labels : array of int, shape (n_labels,)
        Places among these rows, and their clusters.
    must_link, cannot_link : array of int, shape (n_pairs, 2)
        Pairs of places among these rows.
    """

    rows: NDArray[np.intp]
    objects: NDArray[np.intp]
    labels: NDArray[np.intp]
    must_link: NDArray[np.intp]
    cannot_link: NDArray[np.intp]

    @classmethod
    def of(
        cls,
        n_samples: int,
        n_clusters: int,
        *,
        partial_labels: Any = None,
        must_link: Any = None,
        cannot_link: Any = None,
    ) -> KnownRows:
        """Checked labels and pairs; memory grows with their number alone."""
        labelled, labels = check_partial_labels(partial_labels, n_samples, n_clusters)
        must = check_pairs("must_link", must_link, n_samples)
        cannot = check_pairs("cannot_link", cannot_link, n_samples)
        rows = np.unique(np.concatenate([labelled, must.ravel(), cannot.ravel()]))
        objects = np.searchsorted(rows, labelled)
        must, cannot = check_constraints(
            np.searchsorted(rows, must),
            np.searchsorted(rows, cannot),
            max(1, len(rows)),
            rows=rows,
        )
        known = np.full(len(rows), -1)
        known[objects] = labels
        spread_labels(known, must, cannot, name="partial_labels", rows=rows)
        return cls(rows, objects, labels, must, cannot)

    def fingerprint(self) -> str:
        """A short text that tells this knowledge from other."""
        parts = (self.rows, self.objects, self.labels, self.must_link, self.cannot_link)
        digest = sha256(repr([part.shape for part in parts]).encode())
        for part in parts:
            digest.update(part.astype("<i8").tobytes())
        return digest.hexdigest()

    def among(self, numbers: NDArray[np.intp]) -> dict[str, NDArray[np.intp]]:
        """What `fit` is told about rows of which these are some, by place.

        The numbers of all rows, ascending, are given.
        """
        places = np.searchsorted(numbers, self.rows)
        partial_labels = np.full(len(numbers), -1, dtype=np.intp)
        partial_labels[places[self.objects]] = self.labels
        return {
            "partial_labels": partial_labels,
            "must_link": places[self.must_link],
            "cannot_link": places[self.cannot_link],
        }


def among_rows(
    rows: NDArray[np.intp], n_samples: int, n_clusters: int, given: dict[str, Any]
) -> dict[str, Any]:
    """Labels and pairs about rows of X as labels and pairs about some of them.

    Parameters
    ----------
    rows : array of int, ascending
        The rows that have a positive weight.
    n_samples, n_clusters : int
        Number of all rows, and of clusters.
    given : dict
        ``partial_labels``, ``must_link`` or ``cannot_link`` of all rows.
    """
    known = KnownRows.of(n_samples, n_clusters, **given)
    without = np.setdiff1d(known.rows, rows)
    if len(without):
        raise ValueError(
            f"{' and '.join(given)} must be about rows with a positive sample_weight, "
            f"that of row {without[0]} is 0"
        )
    found = known.among(rows)
    return {name: found[name] for name in given}


def copied_information(
    objects: NDArray[np.intp], n_samples: int, n_clusters: int, given: Mapping[str, Any]
) -> tuple[NDArray[np.intp], dict[str, Any]]:
    """Labels and pairs about rows of X as labels and pairs about copies of them.

    It is the first copy of a row that they are about, whatever its weight.

    Parameters
    ----------
    objects : array of int
        Row numbers of the copies.
    n_samples, n_clusters : int
        Number of rows, and of clusters.
    given : mapping
        What `fit` was told, among it ``partial_labels``, ``must_link`` and
        ``cannot_link``.

    Returns
    -------
    objects : array of int
        The same, with rows that anything is known about and that have no copy.
    told : dict
        Labels and pairs about the copies.
    """
    names = ("partial_labels", "must_link", "cannot_link")
    told = {name: given[name] for name in names if given.get(name) is not None}
    if not told:
        return objects, {}
    known = KnownRows.of(n_samples, n_clusters, **told)
    objects = np.concatenate([objects, np.setdiff1d(known.rows, objects)])
    first = np.full(n_samples, -1, dtype=np.intp)
    first[objects[::-1]] = np.arange(len(objects))[::-1]
    labels = np.full(len(objects), -1, dtype=np.intp)
    labels[first[known.rows[known.objects]]] = known.labels
    found = {
        "partial_labels": labels,
        "must_link": first[known.rows[known.must_link]],
        "cannot_link": first[known.rows[known.cannot_link]],
    }
    return objects, {name: found[name] for name in told}


def side_information(
    partial_labels: ArrayLike | None = None,
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
    *,
    n_samples: int,
    n_clusters: int,
    label_weight: float,
    constraint_weight: float,
) -> SideInformation:
    """Checked labels and pairs with their weights."""
    if partial_labels is None and must_link is None and cannot_link is None:
        nothing = SideInformation.nothing()
        return replace(
            nothing, label_weight=label_weight, constraint_weight=constraint_weight
        )
    must, cannot = check_constraints(must_link, cannot_link, n_samples)
    objects, labels = check_partial_labels(partial_labels, n_samples, n_clusters)
    known = np.full(n_samples, -1)
    known[objects] = labels
    spread_labels(known, must, cannot, name="partial_labels")  # refuses contradictions
    return SideInformation(
        objects, labels, must, cannot, label_weight, constraint_weight
    )


def refuse_unused(estimator: BaseCredalClusterer, information: SideInformation) -> None:
    """Side information that would have no effect, without a learner, is a mistake."""
    has_unused_pairs = information.has_constraints and not estimator._uses_pairs
    for name, is_unused in (
        ("partial_labels", information.has_labels),
        ("must_link and cannot_link", has_unused_pairs),
    ):
        if is_unused:
            raise ValueError(
                f"{type(estimator).__name__} uses {name} only for a metric that learns "
                f"from them: metric must be a transformer then, got "
                f"{estimator._parameter('metric')!r}"
            )


# Other libraries warn of data that vary in no direction; what is not finite in their
# spaces is refused.
@np.errstate(divide="ignore", over="ignore", invalid="ignore")
def fit_transformer(
    metric: Any,
    X: NDArray[np.float64],
    rng: np.random.RandomState,
    information: SideInformation | None = None,
    weights: NDArray[np.float64] | None = None,
) -> Any:
    """A clone of a transformer, fitted with the side information it can use.

    Of a pipeline, every step gets what it can use. Seeds that were not given are drawn
    from rng. Without ``information`` the estimator has no use for any. Objects with
    weights are as many copies.
    """
    if weights is not None:
        X, information = _copied(X, weights, information)
    try:
        return _fitted_transformer(metric, X, rng, information)
    except np.linalg.LinAlgError as error:
        raise ValueError(
            f"X must be data that metric={shown(metric)} can be fitted to: {error}"
        ) from error


def _copied(
    X: NDArray[np.float64],
    weights: NDArray[np.float64],
    information: SideInformation | None,
) -> tuple[NDArray[np.float64], SideInformation | None]:
    """Copies of the objects, and what is known about the objects said of the copies.

    All copies have the label of their object, and one of them its pairs.
    """
    objects = copies(X, weights)
    if information is None:
        return X[objects], None
    pairs = (information.must_link, information.cannot_link)
    known = np.unique(np.concatenate([information.objects, *map(np.ravel, pairs)]))
    # Whatever is known is kept, be the weight as small as it may.
    objects = np.concatenate([objects, np.setdiff1d(known, objects)])
    labels = np.full(len(X), -1)
    labels[information.objects] = information.labels
    first = np.zeros(len(X), dtype=np.intp)
    first[objects[::-1]] = np.arange(len(objects))[::-1]
    labelled = np.flatnonzero(labels[objects] >= 0)
    return X[objects], replace(
        information,
        objects=labelled,
        labels=labels[objects][labelled],
        must_link=first[information.must_link],
        cannot_link=first[information.cannot_link],
    )


def _fitted_transformer(
    metric: Any,
    X: NDArray[np.float64],
    rng: np.random.RandomState,
    information: SideInformation | None,
) -> Any:
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


@np.errstate(divide="ignore", over="ignore", invalid="ignore")
def transformed(
    transformer: Transformer | None, X: NDArray[np.float64]
) -> NDArray[np.float64]:
    """X in the space of the transformer, X itself without one."""
    if transformer is None:
        return X
    return np.asarray(transformer.transform(X), dtype=np.float64)


def placed(
    transformer: Transformer | None, X: NDArray[np.float64]
) -> NDArray[np.float64]:
    """New objects in the space of the transformer, wherever they are.

    Those that are so far away that their features are no numbers are taken from nearer
    on their way to 0, as far out as it can be.
    """
    if transformer is None:
        return X
    with np.errstate(over="ignore", invalid="ignore"):
        places = _places(transformer, X)
        if np.isfinite(places).all():
            return places
        places = places.copy()
        lost = np.flatnonzero(~np.isfinite(places).all(axis=1))
        rows = X[lost]
        while len(lost) and rows.any():
            rows = rows * _NEARER
            places[lost] = _places(transformer, rows)
            is_lost = ~np.isfinite(places[lost]).all(axis=1)
            lost, rows = lost[is_lost], rows[is_lost]
    return places


def _places(transformer: Transformer, X: NDArray[np.float64]) -> NDArray[np.float64]:
    """X in the space of the transformer, NaN for rows that it refuses.

    A step of a pipeline refuses what the step before has made infinite.
    """
    try:
        return transformed(transformer, X)
    except ValueError:
        origin = transformed(transformer, np.zeros((1, X.shape[1])))
        places = np.full((len(X), origin.shape[1]), np.nan)
        for place, row in zip(places, X, strict=True):
            with suppress(ValueError):
                place[:] = transformed(transformer, row[None])[0]
        return places


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
