"""Tables with words and dates, views, cells, topics, and reports of a result."""

import datetime
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from tests.fuzz import data, models
from tests.fuzz.api.evidence import partition
from tests.fuzz.case import (
    Call,
    accepted,
    ensure,
    ensure_finite,
    ensure_labels,
    ensure_partition,
    names_of,
)
from tests.fuzz.values import FEW_OR_NONSENSE, HOSTILE, mostly, pick

import credalis
from credalis.tabular import TablePreparation
from credalis.topics import TopicClusterer

Rng = np.random.Generator

_FEW: dict[str, Any] = {"n_init": 1, "max_iter": 5, "random_state": 0}
_CELLS = ("red", "blue", "", "é∅", "a" * 300, "1", "nan", "=1+1", "\x1b[31m", None)


def _column(rng: Rng, n: int) -> list[Any]:
    """One column of a table, in Python's values."""
    days = rng.integers(0, 20000, size=n)
    kinds: tuple[list[Any], ...] = (
        data.ordinary(rng, n, 1)[:, 0].tolist(),
        data.numbers(rng, 1)[np.arange(n) % 2, 0].tolist(),
        rng.integers(3, size=n).tolist(),
        (rng.random(n) < 0.5).tolist(),
        [("red", "blue", "green")[k] for k in rng.integers(3, size=n)],
        [pick(rng, _CELLS) for _ in range(n)],
        [f"word {k}" for k in range(n)],
        [datetime.date(2000, 1, 1) + datetime.timedelta(int(d)) for d in days],
        [datetime.datetime(1970, 1, 1) + datetime.timedelta(int(d)) for d in days],
        [None] * n,
        ["low", "high"] * (n // 2) + ["low"] * (n % 2),
    )
    found = pick(rng, kinds)
    if rng.random() < 0.25:
        return [None if rng.random() < 0.3 else value for value in found]
    return list(found)


def frame(rng: Rng, n: int) -> Any:
    """A table with columns of several kinds, in one of the forms that there are."""
    names = [f"c{k}" for k in range(int(pick(rng, (1, 2, 3, 4, 6))))]
    if rng.random() < 0.1:
        names[0] = str(pick(rng, ("", "a b", "größe", "id", "x" * 200)))
    columns = {name: _column(rng, n) for name in names}
    form = int(rng.integers(4))
    if form == 0:
        return pd.DataFrame(columns)
    if form == 1:
        return pl.DataFrame(columns, strict=False)
    if form == 2:
        return pa.table(columns)
    return pd.DataFrame(columns, index=[f"r{i % 7}" for i in range(n)])


def _offered(rng: Rng, n: int, share: float = 0.1) -> Any:
    table = frame(rng, n)
    return data.dressed(rng, data.numbers(rng), 0.4) if rng.random() < share else table


def preparations(rng: Rng) -> Call:
    """Columns of any kind as a matrix, and other rows of them."""
    given = {
        "scaling": mostly(rng, ("standard", "robust", "none"), HOSTILE, 0.05),
        "missing": mostly(rng, ("pairwise", "error", "drop"), HOSTILE, 0.05),
        "weights": mostly(rng, ("balanced", "equal"), HOSTILE, 0.05),
        "columns": mostly(rng, (None,), (["c0"], ["nowhere"], *HOSTILE), 0.1),
        "exclude": mostly(rng, ((), ["c1"]), (["nowhere"], *HOSTILE), 0.1),
        "date_parts": mostly(
            rng, (("days",), ("year", "month")), (("x",), *HOSTILE), 0.1
        ),
        "orders": mostly(
            rng, (None,), ({"c0": ["low", "high"]}, {"c0": []}, *HOSTILE), 0.1
        ),
        "cyclic": mostly(rng, (None,), ({"c0": 24.0}, {"c0": 0}, *HOSTILE), 0.1),
    }
    n = data.n_rows(rng)
    table, other = _offered(rng, n), _offered(rng, 5, 0.4)
    is_same = rng.random() < 0.7

    def run() -> None:
        prepared = TablePreparation(**given).fit(table)
        if given["missing"] == "error":
            accepted(prepared.transform, table)
        else:
            prepared.transform(table if is_same else other)

    cls = TablePreparation
    names = names_of(cls, cls.fit) | {f"c{k}" for k in range(6)} | {"column"}
    return Call("TablePreparation", run, names)


def tables(rng: Rng) -> Call:
    """A fit to a table with words, dates and gaps."""
    kinds = (
        lambda: credalis.CatECM(2, **_FEW),
        lambda: credalis.EVCLUS(2, metric="gower", **_FEW),
        lambda: credalis.RECM(2, metric="gower", **_FEW),
        lambda: credalis.ECMdd(2, metric="gower", **_FEW),
        lambda: credalis.EkNNclus(metric="gower", **_FEW),
        lambda: credalis.NNEVCLUS(2, metric="gower", **_FEW),
        lambda: credalis.ECM(2, **_FEW),
    )
    model = pick(rng, kinds)()
    n = data.n_rows(rng)
    table, other = _offered(rng, n), frame(rng, 4)
    is_same = rng.random() < 0.7

    def run() -> None:
        fitted = model.fit(table)
        ensure_partition(fitted.partition_)
        if is_same:
            ensure_partition(accepted(fitted.predict_partition, table))
        else:
            ensure_partition(fitted.predict_partition(other))

    names = names_of(type(model), model.fit) | {f"c{k}" for k in range(6)} | {"column"}
    return Call(f"{type(model).__name__}.fit to a table", run, names)


def comparisons(rng: Rng) -> Call:
    """Methods side by side on a table."""
    table = _offered(rng, 12)
    methods = mostly(rng, (["ECM"], ["EVCLUS"], ["CatECM"]), HOSTILE, 0.1)
    n_clusters = mostly(rng, (2, 3), HOSTILE, 0.1)
    names = names_of(credalis.compare) | {f"c{k}" for k in range(6)} | {"column"}
    return Call(
        "compare on a table",
        lambda: credalis.compare(table, n_clusters, methods, random_state=0),
        names,
    )


def views(rng: Rng) -> Call:
    """Several tables of the same objects, and prototypes from other data."""
    n = data.n_rows(rng)
    parts = [data.ordinary(rng, n, int(pick(rng, (1, 2, 3)))) for _ in range(2)]
    if rng.random() < 0.3:
        parts[1] = data.numbers(rng)
    shown: Any = [data.dressed(rng, part, 0.1) for part in parts]
    if rng.random() < 0.8:
        shown = dict(zip(("a", "b"), shown, strict=True))
    if rng.random() < 0.1:
        shown = pick(rng, ({}, {"a": parts[0]}, {1: parts[0], 2: parts[1]}, *HOSTILE))
    cls = pick(rng, (credalis.WMVEC, credalis.MultiviewECMdd, credalis.NNEVCLUS))
    model = cls(2, views=mostly(rng, (None,), HOSTILE, 0.05), **_FEW)

    def run() -> None:
        fitted = model.fit(shown)
        if isinstance(shown, list) and not hasattr(fitted, "partition_"):
            return  # batches of one table
        ensure_partition(fitted.partition_)
        ensure_partition(accepted(fitted.predict_partition, shown), len(fitted.labels_))

    return Call(f"{cls.__name__}.fit to views", run, names_of(cls, cls.fit) | {"view"})


def topics(rng: Rng) -> Call:
    """Clusters with documents of no topic."""
    X = data.numbers(rng)
    shown, rows = data.dressed(rng, X, 0.1), data.new_rows(rng, X)
    given = {
        "estimator": mostly(
            rng,
            (None, credalis.ECM(2, **_FEW), credalis.EkNNclus(**_FEW)),
            (credalis.ECM, *HOSTILE),
            0.1,
        ),
        "n_clusters": mostly(rng, (None, 2, 3), HOSTILE, 0.1),
        "outlier_share": mostly(rng, (0.0, 0.1, 0.9), HOSTILE, 0.1),
        "random_state": mostly(rng, (0, None), HOSTILE, 0.1),
    }

    def run() -> None:
        model = TopicClusterer(**given).fit(shown)
        ensure((model.labels_ >= -1).all(), "labels out of range")
        ensure_finite(model.probabilities_)
        if model.n_features_in_ == rows.shape[1]:
            ensure((accepted(model.predict, rows) >= -1).all(), "labels out of range")

    names = names_of(TopicClusterer, TopicClusterer.fit, credalis.ECM)
    return Call("TopicClusterer", run, names)


class _Cells:
    """What `credalis.anndata` reads and writes of an AnnData object."""

    def __init__(self, X: Any, obsm: dict[str, Any]) -> None:
        self.X, self.obsm = X, obsm
        self.n_obs = len(next(iter(obsm.values())))
        self.obs = pd.DataFrame(index=[f"cell {k}" for k in range(self.n_obs)])
        self.obs_names = self.obs.index
        self.obsp: dict[str, Any] = {}
        self.uns: dict[str, Any] = {}
        self.is_view = False


def cells(rng: Rng) -> Call:
    """Annotations of cells."""
    from credalis.anndata import cluster

    X = data.numbers(rng)
    adata = mostly(rng, (_Cells(X, {"X_pca": X}),), HOSTILE, 0.1)
    given = {
        "n_clusters": mostly(rng, (2, 3), HOSTILE, 0.1),
        "use_rep": mostly(rng, ("X_pca", "X"), HOSTILE, 0.1),
        "key_added": mostly(rng, ("credal",), HOSTILE, 0.1),
        "estimator": mostly(rng, (credalis.ECM(**_FEW),), HOSTILE, 0.1),
        "neighbors_key": mostly(rng, (None,), HOSTILE, 0.1),
        "random_state": mostly(rng, (0, None), HOSTILE, 0.1),
    }

    def run() -> None:
        model = cluster(adata, **given)
        ensure_finite(adata.obsm[given["key_added"]])
        ensure_labels(model.labels_, len(X), model.focal_sets_.n_clusters)

    return Call("anndata.cluster", run, names_of(cluster, credalis.ECM) | {"X"})


def reports(rng: Rng) -> Call:
    """A page about a model or a partition."""
    made: Any = partition(rng)
    X: Any = data.numbers(rng)
    if rng.random() < 0.6:
        name = str(pick(rng, models.ESTIMATORS))
        made, X = models.estimator(name), models.training_data(name)
    elif rng.random() < 0.7:
        made = made[rng.integers(len(made), size=len(X))]
    result = mostly(rng, (made,), HOSTILE, 0.1)
    shown = data.dressed(rng, X, 0.1)
    n = len(X)
    given = {
        "data": mostly(rng, (None, frame(rng, n)), (frame(rng, 3), *HOSTILE), 0.1),
        "ids": mostly(rng, (None, range(n)), (["a"], *HOSTILE), 0.1),
        "clear_level": mostly(rng, (0.7, 1.0), HOSTILE, 0.1),
        "coverage": mostly(rng, (None,), HOSTILE, 0.05),
        "described": mostly(rng, ((),), (["c0"], *HOSTILE), 0.1),
        "cluster_names": mostly(rng, (None,), (["a"], ["a", "b", "c"], *HOSTILE), 0.1),
        "notes": mostly(rng, ((), ["<b>"]), HOSTILE, 0.1),
        "title": mostly(rng, (None, "<script>"), HOSTILE, 0.1),
        "date": mostly(rng, (None, datetime.date(2020, 1, 1)), HOSTILE, 0.1),
        "command": mostly(rng, (None, "credalis"), HOSTILE, 0.1),
    }

    def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            try:
                credalis.report(result, shown, path, **given)
            except Exception:
                ensure(os.listdir(folder) == [], "half of a page")
                raise
            ensure("<script>alert" not in path.read_text(), "what is no text")

    names = names_of(credalis.report) | {"partition"} | {f"c{k}" for k in range(6)}
    return Call("report", run, names)


def sources(rng: Rng) -> Call:
    """Prototypes that come from other data, and neighbours that were found before."""
    from scipy import sparse

    X = data.numbers(rng)
    shown = data.dressed(rng, X, 0.05)
    if rng.random() < 0.5:
        model: Any = credalis.TECM(2, transfer=pick(rng, (0.0, 1.0, 1e6)), **_FEW)
        other = data.numbers(rng, X.shape[1])
        told = {"source": mostly(rng, (other, X), (X[:1], *HOSTILE), 0.2)}
        model.set_params(n_source_clusters=mostly(rng, (None, 2), FEW_OR_NONSENSE, 0.2))
    else:
        model = credalis.EkNNclus(**_FEW)
        lengths = np.abs(rng.normal(size=(len(X), len(X))))
        lengths[lengths < 0.7] = 0
        np.fill_diagonal(lengths, 0)
        bad = (lengths, -lengths, sparse.csr_array(lengths[:2]), lengths * np.nan)
        graph = sparse.csr_array(lengths * 10.0 ** pick(rng, (0, 0, 150, -200)))
        told = {"neighbor_graph": mostly(rng, (graph,), (*bad, *HOSTILE), 0.2)}
    cls = type(model)

    def run() -> None:
        ensure_partition(model.fit(shown, **told).partition_)
        ensure_partition(accepted(model.predict_partition, shown))

    return Call(f"{cls.__name__}.fit with more", run, names_of(cls, cls.fit))
