"""Arithmetic of mass functions, partitions, and the numbers about them."""

import inspect
from typing import Any

import numpy as np
from tests.fuzz import data, models, parameters
from tests.fuzz.case import (
    Call,
    ensure,
    ensure_finite,
    ensure_labels,
    ensure_partition,
    names_of,
)
from tests.fuzz.values import FEW_OR_NONSENSE, HOSTILE, mostly, pick

from credalis import CredalPartition, FocalSets, belief, metrics

Rng = np.random.Generator


def masses(rng: Rng, focal_sets: FocalSets, n: int) -> np.ndarray:
    """Mass functions, many of them with zeros."""
    values = rng.dirichlet(np.full(len(focal_sets), pick(rng, (0.05, 0.3, 1.0))), n)
    if rng.random() < 0.3:
        values[: n // 2] = np.eye(len(focal_sets))[rng.integers(len(focal_sets))]
    return values


def partition(rng: Rng) -> CredalPartition:
    """A small partition."""
    focal_sets = parameters.focal_sets(rng, int(pick(rng, (1, 2, 3, 4))))
    return CredalPartition(masses(rng, focal_sets, data.n_rows(rng)), focal_sets)


def _offered(rng: Rng, values: np.ndarray) -> Any:
    """Masses as they may be given, half of the time wrong ones."""
    choice = rng.random()
    if choice < 0.5:
        return values
    spoiled = values.copy()
    at = tuple(rng.integers(size) for size in spoiled.shape)
    spoiled[at] = pick(rng, (np.nan, np.inf, -1.0, 1e300, -1e-9, 2.0))
    things = (
        spoiled,
        spoiled,
        values[0],
        values[:, :-1],
        values[:0],
        values[None],
        values.tolist(),
        values.astype(np.float32),
        values.astype(str),
        values.astype(complex),
        values.astype(object),
        values * 2,
        -values,
        np.zeros_like(values),
        [values[0].tolist(), [1.0]],
        pick(rng, HOSTILE),
    )
    return pick(rng, things)


_ONE = (
    *("belief", "implicability", "plausibility", "commonality", "contour", "pignistic"),
    *("plausibility_transform", "empty_mass", "entropy", "nonspecificity"),
    *("dempster_normalize", "yager_normalize", "is_bayesian", "is_certain"),
    *("is_consonant", "is_logical", "is_normalized", "is_vacuous", "pairwise_masses"),
    *("conflict_matrix", "pairwise_blocks"),
)
_TWO = ("belief_distance", "conflict", "jousselme_distance", "paired_masses")
_COMBINED = ("conjunctive", "dempster", "disjunctive")
_MOBIUS = (
    *("commonality_to_masses", "implicability_to_masses"),
    *("masses_to_commonality", "masses_to_implicability"),
)


def arithmetic(rng: Rng) -> Call:
    """A function of `credalis.belief`."""
    focal_sets = parameters.focal_sets(rng, int(pick(rng, (1, 2, 3, 4))))
    n = int(pick(rng, (1, 2, 5)))
    first = _offered(rng, masses(rng, focal_sets, n))
    second = _offered(rng, masses(rng, focal_sets, int(pick(rng, (n, n, 3)))))
    sets = mostly(rng, (focal_sets,), HOSTILE, 0.15)
    name = str(pick(rng, (*_ONE, *_TWO, *_COMBINED, *_MOBIUS, "jaccard_matrix")))
    function = getattr(belief, name)
    given: list[Any]
    named: dict[str, Any] = {}
    if name in _ONE:
        given = [first, sets]
        if name in ("belief", "implicability", "plausibility", "commonality"):
            given += [_subsets(rng, focal_sets)] if rng.random() < 0.5 else []
        if name.startswith("is_") and rng.random() < 0.3:
            named["tol"] = pick(rng, HOSTILE)
        if name == "pairwise_blocks" and rng.random() < 0.5:
            named["max_bytes"] = mostly(rng, (1, 100, 10**6), HOSTILE, 0.3)
    elif name in _TWO:
        given = [first, second, sets]
    elif name in _COMBINED:
        other = parameters.focal_sets(rng, focal_sets.n_clusters)
        given = [first, sets, second]
        if rng.random() < 0.5:
            given = [first, sets, _offered(rng, masses(rng, other, n)), other]
    elif name in _MOBIUS:
        given = [first]
    else:
        given = [sets]
    are_finite = _is_finite(first) and _is_finite(second)
    return Call(
        f"belief.{name}",
        lambda: _computed(function(*given, **named), are_finite),
        names_of(function) | {"masses"},
    )


_LISTED = {*_ONE, *_TWO, *_COMBINED, *_MOBIUS, "jaccard_matrix", "FocalSets"}
_FURTHER = tuple(
    name
    for name in belief.__all__
    if name not in _LISTED and callable(getattr(belief, name))
)


def further(rng: Rng) -> Call:
    """Any other function of `credalis.belief`, with values for all its parameters."""
    focal_sets = parameters.focal_sets(rng, int(pick(rng, (1, 2, 3))))
    c, n = focal_sets.n_clusters, int(pick(rng, (1, 2, 5)))
    values = masses(rng, focal_sets, n)
    probabilities = rng.dirichlet(np.ones(c), size=n)
    good: dict[str, tuple] = {
        "masses": (values, values[0]),
        "first": (values,),
        "second": (values[::-1], values[:1]),
        "sources": ([values, values], np.stack([values] * 3)),
        "weights": (rng.random((n, 2**c)), np.ones(2**c)),
        "contour": (probabilities / probabilities.max(axis=1, keepdims=True),),
        "probabilities": (probabilities, probabilities[0]),
        "utilities": (rng.random((2, c)), np.eye(c), -np.eye(c)),
        "criterion": (
            "pignistic",
            "maximality",
            "optimistic",
            "pessimistic",
            "hurwicz",
        ),
        "pessimism": (0.0, 0.5, 1.0),
        "tolerance": (0.5, 0.8, 1.0),
        "groups": (np.arange(c), np.zeros(c, dtype=int), [[k] for k in range(c)]),
        "inner": (False, True),
        "rule": ("dempster", "conjunctive", "disjunctive", "cautious", "bold", "yager"),
        "subset": ((0,), (), range(c)),
        "subsets": (None, [(0,)], focal_sets.subsets),
        "normalize": (True, False),
        "rate": (0.0, 0.3, 1.0),
        "rates": (np.full(c, 0.3), 0.2, [0.1]),
        "contexts": (None, [(0,)]),
        "sizes": ((c,), (1, c), (c, 1)),
        "axes": ((0,), (1,), 0, ()),
        "n_samples": (1, 5),
        "kind": ("any", "consonant", "bayesian"),
        "max_carried": (None, 1, 2),
        "concentration": (0.1, 1.0),
        "random_state": (0, None),
    }
    name = str(pick(rng, _FURTHER))
    function = getattr(belief, name)
    given: dict[str, Any] = {}
    for each in inspect.signature(function).parameters.values():
        if each.default is not each.empty and rng.random() < 0.5:
            continue
        if "focal_sets" in each.name:
            given[each.name] = mostly(rng, (focal_sets,), HOSTILE, 0.1)
        elif each.name in ("masses", "first", "second"):
            given[each.name] = _offered(rng, pick(rng, good[each.name][:1]))
        elif each.name in ("n_samples", "max_carried"):
            given[each.name] = mostly(rng, good[each.name], FEW_OR_NONSENSE, 0.2)
        else:
            given[each.name] = mostly(rng, good.get(each.name, (None,)), HOSTILE, 0.2)
    are_finite = all(map(_is_finite, given.values()))
    return Call(
        f"belief.{name}",
        lambda: _computed(function(**given), are_finite),
        names_of(function) | {"masses"},
    )


def _is_finite(values: Any) -> bool:
    try:
        if np.iscomplexobj(values):
            return False
        values = np.asarray(values, dtype=float)
    except (TypeError, ValueError, OverflowError):
        return True
    return bool(np.isfinite(values).all() and np.abs(values).max(initial=0) < 1e100)


def _subsets(rng: Rng, focal_sets: FocalSets) -> Any:
    good = (focal_sets, focal_sets.subsets, [(0,)], [()], [[0], ()], None)
    bad = ([(0, 99)], [(-1,)], [("a",)], [0], [(0.5,)], *HOSTILE)
    return mostly(rng, good, bad, 0.4)


def _computed(result: Any, are_finite: bool) -> None:
    if hasattr(result, "__next__"):
        result = [block for _, _, block in result]
    for part in result if isinstance(result, (tuple, list)) else [result]:
        if isinstance(part, np.ndarray) and are_finite:
            ensure_finite(part)


def sets(rng: Rng) -> Call:
    """Focal sets by all builders."""
    n_clusters = mostly(rng, (1, 2, 3, 5, 12, 13, 30), HOSTILE, 0.3)
    flags = {
        name: mostly(rng, (True, False), HOSTILE, 0.3)
        for name in ("empty", "frame")
        if rng.random() < 0.3
    }
    subsets = (
        *(((0,), (1,)), ((),), (), ((0, 0),), ((0,), (0,)), ((1, 0), (0, 1)), ((-1,),)),
        *(((5,),), (("a",),), ((0.0,),), ((True,),), (0, 1), [[0], [0, 1]], "01", None),
        *(
            ((2**63,),),
            ((np.int64(0),),),
            {0: 1},
            [[[0]]],
            np.eye(2),
            np.eye(2, dtype=int),
        ),
    )
    chosen = mostly(rng, subsets, HOSTILE, 0.3)
    kind = int(rng.integers(7))
    made = FocalSets.pairs(3)
    if kind == 0:
        call, function = lambda: FocalSets.singletons(n_clusters, **flags), "singletons"
    elif kind == 1:
        call, function = lambda: FocalSets.full(n_clusters, **flags), "full"
    elif kind == 2:
        few = mostly(rng, ("all", [(0, 1)], [(1, 0), (0, 1)], subsets), HOSTILE, 0.3)
        call, function = lambda: FocalSets.pairs(n_clusters, few, **flags), "pairs"
    elif kind == 3:
        call = lambda: FocalSets.from_subsets(n_clusters, chosen, **flags)  # noqa: E731
        function = "from_subsets"
    elif kind == 4:
        call, function = lambda: FocalSets(n_clusters, chosen), "__init__"
    elif kind == 5:
        order = mostly(rng, ([2, 0, 1], (0, 1, 2), range(3)), HOSTILE, 0.6)
        call, function = lambda: made.relabel(order), "relabel"
    else:
        text = mostly(rng, (made.to_json(), "{}", "[", "null", "1"), HOSTILE, 0.4)
        call, function = lambda: FocalSets.from_json(text), "from_json"
    method = getattr(FocalSets, function)
    names = names_of(method, FocalSets) | {"sets", "JSON"}
    return Call(f"FocalSets.{function}", lambda: _sound(call()), names)


def _sound(found: FocalSets) -> None:
    ensure(found.membership.shape == (len(found), found.n_clusters), "wrong membership")
    ensure(len(set(found.subsets)) == len(found), "the same set twice")
    if len(found) < 100:
        ensure(FocalSets.from_json(found.to_json()) == found, "another one from JSON")


def partitions(rng: Rng) -> Call:
    """A partition from masses, labels, memberships, and its methods."""
    kind = int(rng.integers(6))
    n = data.n_rows(rng)
    if kind == 0:
        focal_sets = parameters.focal_sets(rng, 3)
        given = [_offered(rng, masses(rng, focal_sets, n))]
        given.append(mostly(rng, (focal_sets,), HOSTILE, 0.2))
        make, name = CredalPartition, "CredalPartition"
    elif kind == 1:
        given = [data.labels(rng, n)]
        if rng.random() < 0.4:
            given.append(mostly(rng, (1, 2, 3, 5), HOSTILE, 0.5))
        make, name = CredalPartition.from_labels, "from_labels"
    elif kind == 2:
        given = [_offered(rng, rng.dirichlet(np.ones(3), n))]
        make, name = CredalPartition.from_fuzzy, "from_fuzzy"
    elif kind == 3:
        upper = rng.random((n, 3)) < 0.6
        lower = upper & (upper.sum(axis=1, keepdims=True) == 1)
        given = [lower, upper]
        if rng.random() < 0.6:
            given[rng.integers(2)] = pick(rng, (upper.tolist(), ~upper, *HOSTILE))
        make, name = CredalPartition.from_rough, "from_rough"
    elif kind == 4:
        possible = rng.random((n, 3))
        possible /= possible.max(axis=1, keepdims=True)
        given = [_offered(rng, possible)]
        make, name = CredalPartition.from_possibilities, "from_possibilities"
    else:
        return _method(rng)
    names = names_of(make) | {"labels"}
    return Call(name, lambda: ensure_partition(make(*given), gap=2e-6), names)


def _method(rng: Rng) -> Call:
    made = partition(rng)
    n = len(made)
    rules = ("maximum_mass", "interval_dominance", "verdict")
    hard = ("plausibility", "belief", "pignistic")
    rows = mostly(
        rng, ([0], slice(2), np.arange(n) == 0, [0, -1], range(n)), HOSTILE, 0.5
    )
    calls: tuple[tuple[str, Any], ...] = (
        (
            "decide",
            lambda: made.decide(
                mostly(rng, (*rules, *hard, "coverage"), HOSTILE, 0.2),
                outlier=mostly(rng, (None, -1), HOSTILE, 0.3),
                level=mostly(rng, (None,), HOSTILE, 0.2),
                calibration=mostly(rng, (None,), HOSTILE, 0.1),
            ),
        ),
        ("verdicts", lambda: made.verdicts(mostly(rng, (0.7, 0.9, 1.0), HOSTILE, 0.6))),
        (
            "summary",
            lambda: made.summary(clear_level=mostly(rng, (0.7,), HOSTILE, 0.5)),
        ),
        ("set_names", lambda: made.set_names(mostly(rng, rules, HOSTILE, 0.5))),
        (
            "lower_approximation",
            lambda: made.lower_approximation(mostly(rng, rules, HOSTILE, 0.5)),
        ),
        (
            "upper_approximation",
            lambda: made.upper_approximation(mostly(rng, rules, HOSTILE, 0.5)),
        ),
        (
            "normalized",
            lambda: made.normalized(mostly(rng, ("yager", "dempster"), HOSTILE, 0.4)),
        ),
        (
            "relabel",
            lambda: made.relabel(mostly(rng, (range(made.n_clusters),), HOSTILE, 0.6)),
        ),
        (
            "neighboring_clusters",
            lambda: made.neighboring_clusters(mostly(rng, (1, 2), HOSTILE, 0.6)),
        ),
        ("pairwise_masses", lambda: made.pairwise_masses(rows)),
        (
            "pairwise_blocks",
            lambda: list(
                made.pairwise_blocks(max_bytes=mostly(rng, (1, 999), HOSTILE, 0.5))
            ),
        ),
        ("__getitem__", lambda: ensure_partition(made[rows])),
        (
            "allclose",
            lambda: made.allclose(
                mostly(rng, (made,), HOSTILE, 0.5),
                atol=mostly(rng, (0, 1e-8), HOSTILE, 0.5),
            ),
        ),
        (
            "to_pandas",
            lambda: made.to_pandas(mostly(rng, (None, range(n)), HOSTILE, 0.4)),
        ),
        (
            "to_polars",
            lambda: made.to_polars(clear_level=mostly(rng, (0.7,), HOSTILE, 0.5)),
        ),
    )
    name, call = calls[rng.integers(len(calls))]
    names = names_of(getattr(CredalPartition, name)) | {"objects"}
    # As of a list: there is no such object.
    is_index = name in ("__getitem__", "pairwise_masses")
    return Call(
        f"CredalPartition.{name}", call, names, (IndexError,) if is_index else ()
    )


def indices(rng: Rng) -> Call:
    """A metric of one or two partitions."""
    first = partition(rng)
    n = len(first)
    second: Any = mostly(
        rng,
        (
            CredalPartition(masses(rng, first.focal_sets, n), first.focal_sets),
            partition(rng),
            data.labels(rng, n),
        ),
        HOSTILE,
        0.15,
    )
    offered = mostly(rng, (first,), (*HOSTILE, data.labels(rng, n)), 0.15)
    seed = mostly(rng, (None, 0), HOSTILE, 0.15)
    scores = rng.random((n, 2))
    calls: tuple[tuple[str, Any], ...] = (
        ("adjusted_rand_index", lambda f: f(offered, second)),
        ("consistency_index", lambda f: f(offered, second)),
        (
            "credal_rand_index",
            lambda f: f(
                offered,
                second,
                kind=mostly(rng, ("consistency", "jousselme", "belief"), HOSTILE, 0.2),
                random_state=seed,
            ),
        ),
        ("nonspecificity_index", lambda f: f(offered)),
        (
            "similarity_index",
            lambda f: f(
                offered,
                second,
                distance=mostly(rng, ("jousselme", "belief"), HOSTILE, 0.2),
                max_exact=mostly(rng, (1, 20000), HOSTILE, 0.1),
                n_pairs=mostly(rng, (5, 100), (-1, 0, None, "x", 1.5, np.nan), 0.1),
                random_state=seed,
            ),
        ),
        ("dominates", lambda f: f(_pair(rng), _pair(rng))),
        (
            "non_dominated",
            lambda f: f(mostly(rng, (scores, scores.tolist()), HOSTILE, 0.4)),
        ),
    )
    name, call = calls[rng.integers(len(calls))]
    function = getattr(metrics, name)
    return Call(f"metrics.{name}", lambda: _index(call(function)), names_of(function))


def _pair(rng: Rng) -> Any:
    return mostly(rng, ((0.5, 0.2), [0.1, 0.9], np.array([1.0, 0.0])), HOSTILE, 0.3)


def _index(value: Any) -> None:
    if isinstance(value, (float, np.floating)):
        ensure(np.isfinite(value) and value <= 1 + 1e-9, f"an index of {value}")


def asked_partition(rng: Rng) -> Call:
    """Labels of a fitted model, as a partition and back."""
    model = models.estimator(str(pick(rng, models.ESTIMATORS)))
    made = model.partition_
    chosen = rng.integers(len(made), size=int(pick(rng, (1, 3, 10))))
    return Call("partition of a model", lambda: _taken(made, chosen))


def _taken(made: CredalPartition, chosen: np.ndarray) -> None:
    part = made[chosen]
    ensure_partition(part, len(chosen))
    ensure_labels(part.labels, len(chosen), made.n_clusters)
    ensure((part.labels == made.labels[chosen]).all(), "other labels in a part")
