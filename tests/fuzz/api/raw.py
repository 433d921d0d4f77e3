"""Tables with words, dates and gaps where most people give numbers."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from tests.fuzz import data, models
from tests.fuzz.api.evidence import partition
from tests.fuzz.api.uses import frame
from tests.fuzz.case import Call, ensure, ensure_finite, names_of
from tests.fuzz.values import HOSTILE, mostly, pick

import credalis
from credalis import model_selection
from credalis.streaming import NewClusterMonitor

Rng = np.random.Generator

_FEW: dict[str, Any] = {"n_init": 1, "max_iter": 3, "random_state": 0}
_WORDS = {f"c{k}" for k in range(6)} | {"column", "view", "views", "partition"}


def _odd_column(rng: Rng, n: int) -> list[Any]:
    """Cells that no column should have."""
    kinds = (
        [2**64 + k for k in range(n)],
        [10**400] * n,
        [[k] for k in range(n)],
        [{"a": k} for k in range(n)],
        [1, "a", None, 2.5] * n,
        [1j * k for k in range(n)],
        [b"\xff"] * n,
        [object()] * n,
        [float("inf"), 1.0] * n,
        [1e308, -1e308, 5e-324] * n,
        [pd.Timestamp("2020-01-01", tz="UTC")] * n,
        [pd.Timedelta(1)] * n,
        [pd.Interval(0, 1)] * n,
        ["\ud800"] * n,
    )
    return pick(rng, kinds)[:n]


def _odd_frame(rng: Rng, n: int) -> Any:
    """A frame with such a column, or no frame at all."""
    numbers = data.ordinary(rng, n, 1)[:, 0].tolist()
    cells = {"c0": _odd_column(rng, n), "c1": numbers}
    things = (
        lambda: pd.DataFrame(cells),
        lambda: pd.DataFrame({**cells, "c0": pd.Series(cells["c0"], dtype=object)}),
        lambda: pl.DataFrame(cells, strict=False),
        lambda: pl.DataFrame({"c0": numbers}).lazy(),
        lambda: pd.DataFrame({"c0": pd.Categorical([None] * n), "c1": numbers}),
        lambda: pd.DataFrame([["a", 1]] * n, columns=["c0", "c0"]),
        lambda: pd.DataFrame(index=range(n)),
        lambda: pd.DataFrame({"c0": [], "c1": []}),
        lambda: pd.DataFrame({"c0": ["a"], "c1": [1]}),
        lambda: {"c0": np.eye(n), "c1": numbers},
        lambda: {"c0": numbers[:2], "c1": numbers},
        lambda: {"c0": pd.DataFrame({"a": numbers})},
        lambda: [np.ones((2, 2)), np.ones((3, 2))],
        lambda: pd.Series(["a"] * n),
        lambda: pl.Series(["a"] * n),
    )
    try:
        return pick(rng, things)()
    except Exception:  # no such frame can be made
        return cells


def _table(rng: Rng, n: int) -> Any:
    choice = rng.random()
    if choice < 0.65:
        return frame(rng, n)
    if choice < 0.9:
        return _odd_frame(rng, n)
    return data.dressed(rng, data.numbers(rng)[:n], 0.4)


def _model(rng: Rng) -> Any:
    kinds = (
        lambda: credalis.EVCLUS(2, metric="gower", **_FEW),
        lambda: credalis.ECMdd(2, metric="gower", **_FEW),
        lambda: credalis.EkNNclus(metric="gower", **_FEW),
        lambda: credalis.NNEVCLUS(2, metric="gower", **_FEW),
        lambda: credalis.CatECM(2, **_FEW),
        lambda: credalis.ECM(2, **_FEW),
    )
    return pick(rng, kinds)()


def choices(rng: Rng) -> Call:
    """Numbers of clusters, quantiles and comparisons on a table."""
    n = int(pick(rng, (5, 8, 12)))
    X, model = _table(rng, n), _model(rng)
    given: dict[str, Any] = {"random_state": 0}
    kind = int(rng.integers(4))
    if kind == 0 and not isinstance(model, credalis.EkNNclus):
        function: Any = model_selection.select_n_clusters
        call = lambda: function(model, X, [2, 3], n_resamples=3, **given)  # noqa: E731
    elif kind == 1:
        function = model_selection.select_dissimilarity_quantile
        model = credalis.EVCLUS(2, metric="gower", **_FEW)
        call = lambda: function(  # noqa: E731
            model, X, [0.5, 0.9], n_resamples=3, **given
        )
    elif kind == 2:
        function = model_selection.suggest_n_clusters
        call = lambda: function(X, [2, 3], members=["ward"], **given)  # noqa: E731
    else:
        function = credalis.compare
        if rng.random() < 0.3:
            given["sample_weight"] = data.weights(rng, n)
        if rng.random() < 0.3:
            given["y"] = data.labels(rng, n)
        call = lambda: function(X, 2, {"mine": model}, **given)  # noqa: E731
    names = names_of(function, type(model)) | _WORDS
    return Call(f"{function.__name__} on a raw table", call, names)


def uses(rng: Rng) -> Call:
    """What is done with a model that was fitted to a table."""
    n = int(pick(rng, (4, 8, 12, 20)))
    X, model = _table(rng, n), _model(rng)
    rows = X if rng.random() < 0.5 else _table(rng, n)
    told = {}
    if "sample_weight" in names_of(type(model).fit) and rng.random() < 0.3:
        told["sample_weight"] = data.weights(rng, n)
    kind = int(rng.integers(5))

    def run() -> None:
        fitted = model.fit(X, **told)
        if kind == 0:
            found = credalis.explain(fitted, rows)
            for each in found:
                ensure_finite([reason.weight for reason in each.reasons])
            str(found)
        elif kind == 1:
            monitor = NewClusterMonitor(fitted, rejection_rate=0.5, random_state=0)
            state = monitor.fit(X).update(rows)
            ensure(0 <= state.p_value <= 1, f"a p-value of {state.p_value}")
        elif kind == 2:
            fitted.calibrate(rows, "labels", np.arange(n) % 2)
        elif kind == 3:
            ensure_finite(fitted.outlier_p_values(rows))
        else:
            ensure_finite(fitted.transform(rows))

    names = (
        names_of(type(model), type(model).fit, model.calibrate, NewClusterMonitor)
        | _WORDS
    )
    names |= {"calibrate", "empty_set", "model", type(model).__name__}
    return Call(f"{type(model).__name__} used on a raw table", run, names)


def without_model(rng: Rng) -> Call:
    """A table that a model of numbers, or none, is asked about."""
    n = int(pick(rng, (4, 8, 12)))
    X = _table(rng, n)
    made = partition(rng)
    made = made[rng.integers(len(made), size=n)]
    if rng.random() < 0.4:
        model = models.estimator(str(pick(rng, models.ESTIMATORS)))
        function: Any = type(model).transform
        call = lambda: ensure_finite(model.transform(X))  # noqa: E731
    else:
        function = credalis.explain
        asked = mostly(rng, (made,), HOSTILE, 0.05)
        call = lambda: str(credalis.explain(asked, X))  # noqa: E731
    return Call("raw table without its model", call, names_of(function) | _WORDS)
