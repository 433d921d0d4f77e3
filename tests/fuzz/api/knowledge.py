"""Pairs and labels, and the metrics that are learned from them."""

from typing import Any

import numpy as np
from tests.fuzz import data, models, parameters
from tests.fuzz.api.evidence import partition
from tests.fuzz.case import Call, accepted, ensure, ensure_finite, names_of
from tests.fuzz.values import FEW_OR_NONSENSE, HOSTILE, mostly, pick

from credalis import constraints
from credalis import metric_learning as learning

Rng = np.random.Generator


def pairs(rng: Rng) -> Call:
    """A function of `credalis.constraints`."""
    n = data.n_rows(rng)
    must, cannot = data.pairs(rng, n), data.pairs(rng, n)
    size = mostly(rng, (n,), FEW_OR_NONSENSE, 0.15)
    X = data.dressed(rng, data.ordinary(rng, n, 2))
    y = data.labels(rng, n)
    n_pairs = mostly(rng, (0, 1, 5), HOSTILE, 0.3)
    seed = mostly(rng, (None, 0), HOSTILE, 0.15)
    made: Any = mostly(rng, (partition(rng),), HOSTILE, 0.15)
    calls = {
        "check_constraints": lambda f: f(must, cannot, size),
        "check_labels": lambda f: f(y),
        "check_pairs": lambda f: f("must_link", must, size),
        "closure": lambda f: f(must, cannot, size),
        "expand": lambda f: f(
            must,
            cannot,
            X,
            n_neighbors=mostly(rng, (1, 1, 2, 3), HOSTILE, 0.2),
            metric=mostly(rng, ("euclidean", "cosine"), HOSTILE, 0.15),
        ),
        "random_pairs": lambda f: f(y, n_pairs, random_state=seed),
        "suggest_pairs": lambda f: f(
            made, n_pairs, must_link=must, cannot_link=cannot, random_state=seed
        ),
    }
    name = str(pick(rng, tuple(calls)))
    function = getattr(constraints, name)
    names = names_of(function) | {"must_link", "cannot_link"}
    return Call(f"constraints.{name}", lambda: calls[name](function), names)


_LEARNERS = (
    *(learning.FDA, learning.LFDA, learning.KFDA, learning.PCCA, learning.KPCCA),
    *(learning.LSI, learning.DMLeig),
)


def learners(rng: Rng) -> Call:
    """A metric learner with any labels and pairs."""
    cls = pick(rng, _LEARNERS)
    X = data.numbers(rng)
    share = pick(rng, (0.0, 0.0, 0.2))
    given = parameters.drawn(rng, cls, X, 2, share)
    told: dict[str, Any] = {}
    if rng.random() < 0.75:
        told["y"] = data.labels(rng, len(X))
    for name in ("must_link", "cannot_link"):
        if rng.random() < 0.3:
            told[name] = data.pairs(rng, len(X))
    shown = data.dressed(rng, X, 0.1)
    rows = data.new_rows(rng, X)
    return Call(
        f"{cls.__name__}.fit",
        lambda: _learn(cls(**given), shown, told, rows),
        names_of(cls, cls.fit),
    )


def _learn(learner: Any, X: Any, told: dict, rows: np.ndarray) -> None:
    learner.fit(X, **told)
    features = accepted(learner.transform, X)
    ensure_finite(features)
    ensure(len(features) == len(learner.fit_transform(X, **told)), "other features")


def transforms(rng: Rng) -> Call:
    """New rows for a learned metric."""
    name = str(pick(rng, models.LEARNERS))
    learner = models.learner(name)
    X = data.numbers(rng, 2 if rng.random() < 0.8 else None)
    shown = data.dressed(rng, X, 0.3)
    return Call(
        f"{name}.transform", lambda: ensure_finite(learner.transform(shown)), {"X"}
    )


def dissimilarity_pca(rng: Rng) -> Call:
    """Principal components of a matrix of dissimilarities."""
    cls = learning.DissimilarityPCA
    given = parameters.drawn(rng, cls, models.ROWS, 2, 0.3)
    D, other = data.dissimilarities(rng), data.dissimilarities(rng)

    def run() -> None:
        made = cls(**given).fit(D)
        ensure_finite(accepted(made.transform, D))
        made.transform(other)

    return Call("DissimilarityPCA.fit", run, names_of(cls, cls.fit))
