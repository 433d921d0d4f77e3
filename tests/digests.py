"""Digests of results, to see whether a change of the code changes a bit of them.

    python tests/digests.py write FILE.json
    python tests/digests.py compare FILE.json

The first writes digests of masses, losses, histories and fitted attributes of all
estimators in all their modes; the second computes them again and prints what differs.
EVCLUS and NNEVCLUS have the settings of the articles, unless an entry is named after
the defaults. Other machines and other versions of NumPy round otherwise: write the file
with the code as it was, and compare on the same machine. ``--only TEXT`` restricts both
to the entries whose names contain a text.
"""

import argparse
import hashlib
import json
import sys
import tempfile
import time
import warnings
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import credalis
from credalis import (
    BCM,
    BPEC,
    CCM,
    CECM,
    ECM,
    EVCLUS,
    MECM,
    NNEVCLUS,
    RECM,
    Bootclus,
    CredalPartition,
    ECMdd,
    EkNNclus,
    FocalSets,
    compare,
)
from credalis.checkpoints import Checkpoint
from credalis.constraints import random_pairs, suggest_pairs
from credalis.io import open_table, predict_table
from credalis.metric_learning import (
    FDA,
    KFDA,
    KPCCA,
    LFDA,
    LSI,
    PCCA,
    DissimilarityPCA,
    DMLeig,
)
from credalis.model_selection import (
    search,
    select_dissimilarity_quantile,
    select_n_clusters,
)
from credalis.peaks import delta_bel
from credalis.sources import ArraySource, BatchSource, ParquetSource
from credalis.streaming import NewClusterMonitor

# Functions without arguments that return quantities by name.
ENTRIES = {}


def entry(name, function, *arguments, **options):
    assert name not in ENTRIES, name
    ENTRIES[name] = partial(function, *arguments, **options)


# Quantities and their digests.


def digest(value):
    """SHA-256 over type, shape and bytes of an array, or over a text."""
    if isinstance(value, str):
        return hashlib.sha256(value.encode()).hexdigest()
    array = np.ascontiguousarray(value)
    if array.dtype.hasobject:
        return digest(repr(array.tolist()))
    described = f"{array.dtype.str} {np.shape(value)} ".encode()
    return hashlib.sha256(described + array.tobytes()).hexdigest()


def flat(name, value):
    """Arrays, numbers and texts inside a value, by name; other objects are left out."""
    if isinstance(value, CredalPartition):
        yield name, value.masses
        yield f"{name} sets", repr(value.focal_sets.subsets)
    elif isinstance(value, FocalSets):
        yield name, repr(value.subsets)
    elif isinstance(value, (np.ndarray, np.generic, int, float, str)):
        yield name, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from flat(f"{name}[{key}]", item)
    elif isinstance(value, (list, tuple)):
        for number, item in enumerate(value):
            yield from flat(f"{name}[{number}]", item)


def attributes(model):
    """Fitted attributes, stored or computed when they are asked for."""
    found = {}
    for name in dir(model):
        if name.endswith("_") and not name.startswith("_"):
            with suppress(AttributeError):
                found |= flat(name, getattr(model, name))
    return found


def fitted(model, new=None):
    """What a fitted estimator holds, and what it says of new rows."""
    found = attributes(model)
    if new is not None:
        found["predicted masses"] = model.predict_partition(new).masses
        found["predicted labels"] = model.predict(new)
    return found


def saved(model, new):
    """What a file of the model holds, whatever its order, and what is read from it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.credalis")
        model.save(path)
        loaded = credalis.load(path)
        with np.load(path) as archive:
            arrays = {name: archive[name] for name in archive.files}
    header = json.loads(arrays.pop("credalis").tobytes())

    def without_numbers(value):
        if isinstance(value, list):
            return [without_numbers(item) for item in value]
        if not isinstance(value, dict):
            return value
        if value.get("is") == "array":
            return digest(arrays[value["name"]])
        return {key: without_numbers(item) for key, item in value.items()}

    content = json.dumps(without_numbers(header["object"]), sort_keys=True)
    return {
        "file": f"format {header['format']}: {content}",
        "loaded masses": loaded.predict_partition(new).masses,
    }


# Data.


@cache
def blobs():
    """Those of test_all_estimators, with their classes."""
    return make_blobs(120, centers=4, cluster_std=1.2, random_state=3)


@cache
def new_rows():
    """Near the blobs, between them, and far away."""
    X, _ = blobs()
    noise = np.random.RandomState(0).normal(scale=0.5, size=(30, 2))
    return np.concatenate([X[:30] + noise, [[0.0, 0.0], [60.0, -60.0]]])


@cache
def pairs():
    must_link, cannot_link = random_pairs(blobs()[1], 20, random_state=0)
    return {"must_link": must_link, "cannot_link": cannot_link}


@cache
def labels():
    y = blobs()[1]
    return {"partial_labels": np.where(np.arange(len(y)) % 8 == 0, y, -1)}


@cache
def matrices():
    """Dissimilarities of the blobs, and of new rows to them."""
    X, _ = blobs()
    return pairwise_distances(X), pairwise_distances(new_rows(), X)


@cache
def many():
    """Rows for the fits in blocks."""
    return make_blobs(
        1500, n_features=3, centers=4, cluster_std=1.5, random_state=3, shuffle=True
    )


@cache
def many_new():
    noise = np.random.RandomState(1).normal(scale=0.5, size=(30, 3))
    return np.concatenate([many()[0][:30] + noise, [[0.0] * 3, [60.0] * 3]])


def centers():
    X, y = blobs()
    return np.array([X[y == k].mean(axis=0) for k in range(4)])


def many_centers():
    X, y = many()
    return np.array([X[y == k].mean(axis=0) for k in range(4)])


# The settings of the articles, which most entries state whatever the defaults are.


def of_the_articles(cls, n_clusters, /, **given):
    """Parameters of EVCLUS or NNEVCLUS; of what is given nothing is changed."""
    quantile = 0.9 if n_clusters <= 4 else max(0.1, 2 / n_clusters)
    stated = {"dissimilarity_quantile": quantile, "empty_set": "stress"}
    if cls is NNEVCLUS:
        stated |= {"init": "random", "weight_decay": 0.0}
    else:
        is_two_sided = given.get("solver", "two-sided") == "two-sided"
        stated["init"] = "k-means++" if is_two_sided else "random"
    return stated | given


# All estimators, as the contract sees them.


def of_the_contract(number, is_default):
    # Not at the top: without pytest the rest is still of use.
    from test_all_estimators import ESTIMATORS

    model = clone(ESTIMATORS[number]).set_params(random_state=0)
    if isinstance(model, (EVCLUS, NNEVCLUS)) and not is_default:
        # What differs from the defaults is stated already.
        defaults = type(model)().get_params(deep=False)
        given = model.get_params(deep=False)
        given = {k: v for k, v in given.items() if v is not defaults[k]}
        stated = of_the_articles(type(model), model.n_clusters, **given)
        model.set_params(**stated)
    model.fit(blobs()[0])
    return fitted(model, new_rows()) | saved(model, new_rows())


for number in range(25):
    entry(f"contract {number}", of_the_contract, number, is_default=False)
    if 17 <= number <= 20:
        entry(f"contract {number} defaults", of_the_contract, number, is_default=True)


def contract_is_whole():
    from test_all_estimators import ESTIMATORS

    return {"estimators": "\n".join(map(repr, ESTIMATORS))}


entry("contract estimators", contract_is_whole)


# Fits in memory.


def in_memory(model, X=None, new=None, information=None, file=False):
    X = blobs()[0] if X is None else X()
    new = new_rows() if new is None else new()
    information = {} if information is None else information()
    model = clone(model).fit(X, **information)
    found = fitted(model, new)
    if hasattr(model, "score"):
        # Of fits to dissimilarities that new rows do not have there is none.
        with suppress(ValueError):
            found["score"] = model.score(new)
    return found | (saved(model, new) if file else {})


def network(**parameters):
    usual = {"n_clusters": 4, "n_init": 2, "max_iter": 60, "random_state": 0}
    given = usual | parameters
    return NNEVCLUS(**of_the_articles(NNEVCLUS, given["n_clusters"], **given))


def squared(first, second):
    return float(np.square(first - second).sum())


SOLVERS = {
    "lbfgs": {"solver": "lbfgs"},
    "adaptive": {"solver": "adaptive"},
    "adam": {"solver": "adam", "max_iter": 20, "batch_size": 40},
    "rmsprop": {"solver": "rmsprop", "max_iter": 20, "batch_size": 40},
}
INITS = {
    "peaks": "peaks",
    "evclus": "evclus",
    "k-means++": "k-means++",
    "centres": centers(),
    "rows": [3, 14, 15, 9],
}
for solver, parameters in SOLVERS.items():
    name = f"NNEVCLUS memory {solver}"
    entry(name, in_memory, network(**parameters), file=True)
    detector = {"novelty_detector": "ocsvm"}
    entry(f"{name} ocsvm", in_memory, network(**parameters, **detector), file=True)
    entry(
        f"{name} ocsvm paper",
        in_memory,
        network(**parameters, **detector, novelty_link="paper"),
    )
    for init, value in INITS.items():
        entry(f"{name} {init}", in_memory, network(**parameters, init=value))
    for focal_sets in ("singletons", "two-step", "full"):
        entry(
            f"{name} {focal_sets}",
            in_memory,
            network(**parameters, focal_sets=focal_sets),
        )
    entry(f"{name} pairs", in_memory, network(**parameters), information=pairs)
    entry(f"{name} labels", in_memory, network(**parameters), information=labels)
    entry(
        f"{name} all",
        in_memory,
        network(
            **parameters,
            **detector,
            focal_sets="two-step",
            hidden_layer_sizes=(7, 5),
            weight_decay=0.01,
            label_weight=0.3,
            constraint_weight=0.2,
        ),
        information=lambda: pairs() | labels(),
    )
    for dtype in ("float32", "float64"):
        entry(f"{name} {dtype}", in_memory, network(**parameters, dtype=dtype))
    entry(f"{name} tol", in_memory, network(**parameters, tol=1e-2))
    if solver in ("adam", "rmsprop"):
        early = network(**parameters, early_stopping=True, validation_fraction=0.2)
        entry(f"{name} early stopping", in_memory, early)
        entry(f"{name} rate", in_memory, network(**parameters, learning_rate_init=0.02))
    else:
        entry(f"{name} sampled", in_memory, network(**parameters, pairs_per_sample=15))

OTHER_NETWORKS = {
    "default": {"n_init": "auto", "max_iter": "auto"},
    "jobs": {"n_init": 3, "n_jobs": 2},
    "scale": {"dissimilarity_scale": 8.0},
    "quantile": {"dissimilarity_quantile": 0.5},
    "six clusters": {"n_clusters": 6},
    "one cluster": {"n_clusters": 1},
    "sets": {"focal_sets": FocalSets.pairs(4, [(0, 1)], frame=False)},
    "manhattan": {"metric": "manhattan"},
    "callable": {"metric": squared},
    "scaler": {"metric": StandardScaler()},
}
for name, parameters in OTHER_NETWORKS.items():
    entry(f"NNEVCLUS memory {name}", in_memory, network(**parameters))
for learner in (FDA(), KFDA(), LFDA(), LSI(), DMLeig(), PCCA(2), KPCCA(2)):
    entry(
        f"NNEVCLUS memory metric {type(learner).__name__}",
        in_memory,
        network(n_init=1, metric=learner),
        information=lambda: pairs() | labels(),
        file=True,
    )
entry(
    "NNEVCLUS memory metric pipeline",
    in_memory,
    network(n_init=1, metric=make_pipeline(StandardScaler(), PCCA(2))),
    information=pairs,
)
entry(
    "NNEVCLUS memory auto solver of many rows",
    in_memory,
    network(max_iter=5, n_init="auto"),
    X=lambda: many()[0],
    new=many_new,
)


def beyond_the_limit():
    """So many rows that an array is read in blocks as well."""
    X, _ = make_blobs(200_100, centers=4, random_state=3)
    model = network(focal_sets="singletons", max_iter=1, batch_size=200).fit(X)
    return fitted(model, X[:50] + 0.1)


entry("NNEVCLUS memory in blocks", beyond_the_limit)


# The defaults, and ∅ as novelty, which is one of them or is not.

usual = {"n_clusters": 4, "max_iter": 60, "random_state": 0}
DEFAULTS = {
    "defaults": NNEVCLUS(**usual),
    "defaults adam": NNEVCLUS(solver="adam", batch_size=40, **usual),
    "novelty": network(empty_set="novelty"),
    "novelty rate": network(empty_set="novelty", outlier_rate=0.1),
    "novelty ocsvm": network(empty_set="novelty", novelty_detector="ocsvm"),
    "novelty manhattan": network(empty_set="novelty", metric="manhattan"),
    "novelty scaler": network(empty_set="novelty", metric=StandardScaler()),
}
for name, model in DEFAULTS.items():
    entry(f"NNEVCLUS memory {name}", in_memory, model, file=True)
entry(
    "NNEVCLUS memory defaults of many rows",
    in_memory,
    NNEVCLUS(4, random_state=0),
    X=lambda: many()[0],
    new=many_new,
)


def from_matrix(model, symmetrize=False):
    D, new = matrices()
    if symmetrize:
        D = D + np.triu(0.1 * D)
        model = clone(model).set_params(symmetrize=True)
    model = clone(model).set_params(metric="precomputed").fit(D)
    found = fitted(model, new) | saved(model, new)
    return found | ({"score": model.score(new)} if hasattr(model, "score") else {})


entry("NNEVCLUS precomputed", from_matrix, network())
for name in ("defaults", "novelty"):
    entry(f"NNEVCLUS precomputed {name}", from_matrix, DEFAULTS[name])
entry("NNEVCLUS precomputed components", from_matrix, network(n_components=3))
entry("NNEVCLUS precomputed adam", from_matrix, network(solver="adam", max_iter=20))
entry("NNEVCLUS precomputed symmetrize", from_matrix, network(), symmetrize=True)
entry(
    "NNEVCLUS dissimilarities",
    in_memory,
    network(),
    information=lambda: {"dissimilarities": np.sqrt(matrices()[0])},
    file=True,
)
entry(
    "NNEVCLUS dissimilarities condensed adam",
    in_memory,
    network(solver="adam", max_iter=20),
    information=lambda: {"dissimilarities": matrices()[0][np.triu_indices(120, 1)]},
)


def warm(model):
    X, _ = blobs()
    model = clone(model).set_params(warm_start=True).fit(X)
    return fitted(model.fit(X[:100] + 0.1), new_rows())


def frames(model):
    import pandas as pd

    X = pd.DataFrame(blobs()[0], columns=["a", "b"])
    new = pd.DataFrame(new_rows(), columns=["a", "b"])
    return fitted(clone(model).fit(X), new)


for solver, parameters in SOLVERS.items():
    entry(f"NNEVCLUS warm start {solver}", warm, network(**parameters))
entry("NNEVCLUS frame", frames, network())


# Fits in blocks.


class Small:
    """Several buffers, and a sample of some rows, as of a large source."""

    def buffers(self, rng, max_rows=None):
        return super().buffers(rng, 400)

    def sample(self, rng, size):
        return super().sample(rng, 500)


class SmallArray(Small, ArraySource):
    """Rows whose number is known."""


class SmallBatches(Small, BatchSource):
    """Rows whose number is not known."""


class Interrupted(SmallArray):
    """Ctrl-C comes while the third buffer is read."""

    def buffers(self, rng, max_rows=None):
        for number, buffer in enumerate(super().buffers(rng, max_rows)):
            if number == 2:
                raise KeyboardInterrupt
            yield buffer


def array_source():
    return SmallArray(many()[0])


def batch_source():
    return SmallBatches(partial(np.array_split, many()[0], 7))


def in_blocks(model, make_source=array_source):
    return fitted(clone(model).fit(make_source()), many_new())


def from_parquet(model):
    import pyarrow as pa
    from pyarrow import parquet

    X, _ = many()
    with tempfile.TemporaryDirectory() as folder:
        for number, rows in enumerate(np.array_split(X, 3)):
            table = pa.table({name: rows[:, j] for j, name in enumerate("abc")})
            path = Path(folder, f"part{number}.parquet")
            parquet.write_table(table, path, row_group_size=150)
        return in_blocks(model, lambda: ParquetSource(folder))


def from_memmap(model):
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "rows.npy"), many()[0])
        mapped = np.load(Path(folder, "rows.npy"), mmap_mode="r")
        return in_blocks(model, lambda: SmallArray(mapped))


def with_checkpoint(model, X=None):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "fit.checkpoint")
        X = many()[0] if X is None else X()
        model = clone(model).fit(X, checkpoint=Checkpoint(path, seconds=0))
        again = clone(model).fit(X, checkpoint=path)
    found = fitted(model, many_new())
    return found | {f"again: {k}": v for k, v in fitted(again, many_new()).items()}


class KilledError(Exception):
    """Stands for the end of the process."""


class DyingCheckpoint(Checkpoint):
    """The fit ends right after the n-th state was written."""

    def __init__(self, path, n_writes):
        super().__init__(path, seconds=0)
        self.n_left = n_writes

    def write(self, state):
        super().write(state)
        self.n_left -= 1
        if self.n_left == 0:
            raise KilledError


def resumed(model, n_writes, make_source=array_source):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "fit.checkpoint")
        with suppress(KilledError):
            clone(model).fit(make_source(), checkpoint=DyingCheckpoint(path, n_writes))
            raise AssertionError("the fit has ended before it was killed")
        continued = clone(model).fit(make_source(), checkpoint=path)
    return fitted(continued, many_new())


def in_passes(**parameters):
    return network(**{"n_init": "auto", "max_iter": 2, "batch_size": 50} | parameters)


PASSES = {
    "plain": {},
    "default": {"max_iter": "auto", "batch_size": "auto"},
    "rmsprop": {"solver": "rmsprop"},
    "ocsvm": {"novelty_detector": "ocsvm"},
    "ocsvm paper": {"novelty_detector": "ocsvm", "novelty_link": "paper"},
    "scaler": {"metric": StandardScaler()},
    "manhattan": {"metric": "manhattan"},
    "centres": {"init": many_centers()},
    "peaks": {"init": "peaks"},
    "two-step": {"focal_sets": "two-step"},
    "full": {"focal_sets": "full"},
    "float64": {"dtype": "float64"},
    "decay": {"weight_decay": 0.01, "hidden_layer_sizes": (6, 5)},
    "rate": {"learning_rate_init": 0.01},
    "scale": {"dissimilarity_scale": 8.0},
    "starts": {"n_init": 2},
    "six clusters": {"n_clusters": 6},
    "novelty": {"empty_set": "novelty"},
}
PROTOTYPES = {
    "plain": {},
    "singletons": {"focal_sets": "singletons"},
    "two-step": {"focal_sets": "two-step"},
    "adaptive": {"metric": "adaptive"},
    "scaler": {"metric": StandardScaler()},
    "peaks": {"init": "peaks"},
    "centres": {"init": many_centers()},
    "delta": {"delta": 6.0, "beta": 1.6, "max_iter": 6},
}


def prototypes(estimator, **parameters):
    # Tight, so that the passes have something left to do.
    return estimator(4, tol=1e-10, random_state=0, **parameters)


BLOCKWISE = {
    f"NNEVCLUS {name}": in_passes(**parameters) for name, parameters in PASSES.items()
}
BLOCKWISE["NNEVCLUS defaults"] = NNEVCLUS(4, random_state=0)
for estimator in (ECM, CCM):
    for name, parameters in PROTOTYPES.items():
        model = prototypes(estimator, **parameters)
        BLOCKWISE[f"{estimator.__name__} {name}"] = model

for name, model in BLOCKWISE.items():
    method, _, variant = name.partition(" ")
    entry(f"{method} source {variant}", in_blocks, model)
for method in ("NNEVCLUS", "ECM", "CCM"):
    model = BLOCKWISE[f"{method} plain"]
    entry(f"{method} source batches", in_blocks, model, batch_source)
    entry(
        f"{method} source list", in_blocks, model, lambda: np.array_split(many()[0], 5)
    )
    entry(f"{method} source Parquet", from_parquet, model)
    entry(f"{method} source memmap", from_memmap, model)
    entry(f"{method} checkpoint", with_checkpoint, model)
    entry(f"{method} checkpoint of a source", with_checkpoint, model, array_source)
    for n_writes in (1, 3, 5):
        entry(f"{method} resumed {n_writes}", resumed, model, n_writes)
    entry(f"{method} resumed batches", resumed, model, 3, batch_source)
for method, variants in {
    "NNEVCLUS": ("rmsprop", "ocsvm", "scaler"),
    "ECM": ("adaptive", "scaler"),
    "CCM": ("adaptive", "scaler"),
}.items():
    for name in variants:
        model = BLOCKWISE[f"{method} {name}"]
        entry(f"{method} resumed {name}", resumed, model, 4)
entry(
    "NNEVCLUS source interrupted",
    in_blocks,
    BLOCKWISE["NNEVCLUS plain"],
    lambda: Interrupted(many()[0]),
)


# Streams.


def stream(model, first=None, reload=False):
    """Batches after a fit to some rows, or from nothing."""
    X, _ = many()
    model = clone(model)
    if first is not None:
        model.fit(X[:first])
    found = {}
    for number, batch in enumerate(np.array_split(X[first:], 4)):
        model.partial_fit(batch)
        if number == 1 and reload:
            with tempfile.TemporaryDirectory() as folder:
                model.save(Path(folder, "model"))
                model = credalis.load(Path(folder, "model"))
        found |= {f"{number}: {k}": v for k, v in fitted(model, many_new()).items()}
    return found | fitted(model, many_new())


STREAMS = {
    "plain": {},
    "ocsvm": {"novelty_detector": "ocsvm"},
    "batch size": {"batch_size": 60},
    "rate": {"batch_size": 60, "learning_rate_init": 0.02},
    "float32": {"batch_size": 60, "dtype": "float32"},
    "float64": {"batch_size": 60, "dtype": "float64"},
    "decay": {"batch_size": 60, "weight_decay": 0.01},
    "scaler": {"batch_size": 60, "metric": StandardScaler()},
    "manhattan": {"batch_size": 60, "metric": "manhattan"},
    "full": {"batch_size": 60, "focal_sets": "full"},
    "rmsprop": {"batch_size": 60, "solver": "rmsprop"},
    "torch": {"batch_size": 60, "engine": "torch"},
    "torch ocsvm": {"batch_size": 60, "engine": "torch", "novelty_detector": "ocsvm"},
    "novelty": {"batch_size": 60, "empty_set": "novelty"},
}
for name, parameters in STREAMS.items():
    entry(f"NNEVCLUS stream {name}", stream, network(**parameters))
for name in ("plain", "ocsvm", "batch size", "torch"):
    model = network(**STREAMS[name], n_init=1)
    entry(f"NNEVCLUS stream after a fit {name}", stream, model, first=200)
entry(
    "NNEVCLUS stream after an adam fit",
    stream,
    network(solver="adam", batch_size=60, max_iter=10),
    first=200,
)
entry("NNEVCLUS stream defaults", stream, NNEVCLUS(4, random_state=0))
entry("NNEVCLUS stream reloaded", stream, network(**STREAMS["batch size"]), reload=True)


def stream_after_source():
    model = in_passes().fit(array_source())
    return fitted(model.partial_fit(many()[0][:300]), many_new())


entry("NNEVCLUS stream after a source", stream_after_source)


# Dask.


def on_dask(model, chunks=(400, 3), frame=False, scheduler="synchronous"):
    import dask
    import dask.array as da
    import dask.dataframe as dd
    import pandas as pd

    X, _ = many()
    with dask.config.set(scheduler=scheduler, num_workers=2):
        if frame:
            lazy = dd.from_pandas(pd.DataFrame(X, columns=list("abc")), npartitions=3)
            new = pd.DataFrame(many_new(), columns=list("abc"))
        else:
            lazy, new = da.from_array(X, chunks=chunks), many_new()
        model = clone(model).fit(lazy)
        return fitted(model, new) | {
            f"lazy {method}": np.asarray(getattr(model, method)(lazy).compute())
            for method in ("predict", "predict_proba", "transform")
        }


DASK = (
    "plain",
    "rmsprop",
    "ocsvm",
    "scaler",
    "centres",
    "float64",
    "rate",
    "default",
    "defaults",
    "novelty",
)
for name in DASK:
    entry(f"NNEVCLUS Dask {name}", on_dask, BLOCKWISE[f"NNEVCLUS {name}"])
entry(
    "NNEVCLUS Dask uneven",
    on_dask,
    BLOCKWISE["NNEVCLUS plain"],
    ((700, 1, 3, 796), (2, 1)),
)
entry("NNEVCLUS Dask frame", on_dask, BLOCKWISE["NNEVCLUS plain"], frame=True)
entry(
    "NNEVCLUS Dask threads", on_dask, BLOCKWISE["NNEVCLUS plain"], scheduler="threads"
)


# PyTorch.


def with_torch(module=None, second=None, **parameters):
    from torch import nn

    modules = {
        "linear": lambda n: nn.Sequential(
            nn.Linear(2, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, n)
        ),
        "image": lambda n: nn.Sequential(
            nn.Conv2d(1, 2, 2), nn.Dropout(0.1), nn.Flatten(), nn.Linear(8, n)
        ),
    }
    model = network(engine="torch", **parameters)
    X, new = blobs()[0], new_rows()
    if module is not None:
        model.set_params(module=modules[module])
    if module == "image":
        grid = np.linspace(-1, 1, 9).reshape(3, 3)
        rows = np.concatenate([X, new])[:, :, None, None, None]
        X, new = np.split(rows[:, 0] + rows[:, 1] * grid, [len(X)])
    model.fit(X)
    found = fitted(model, new)
    if second == "partial_fit":
        model.partial_fit(X)
    elif second == "warm":
        model.set_params(warm_start=True).fit(X)
    if second is not None:
        found |= {f"second: {k}": v for k, v in fitted(model, new).items()}
    return found


SHORT = {"max_iter": 20, "batch_size": 40}
for solver, parameters in SOLVERS.items():
    entry(f"NNEVCLUS torch {solver}", with_torch, **parameters)
    entry(
        f"NNEVCLUS torch {solver} module",
        with_torch,
        module="linear",
        second="warm",
        **parameters,
    )
entry("NNEVCLUS torch ocsvm", with_torch, novelty_detector="ocsvm", init="peaks")
entry("NNEVCLUS torch two-step", with_torch, focal_sets="two-step")
entry("NNEVCLUS torch partial_fit", with_torch, second="partial_fit", **SHORT)
entry("NNEVCLUS torch early", with_torch, early_stopping=True, solver="adam", **SHORT)
entry(
    "NNEVCLUS torch images",
    with_torch,
    module="image",
    second="partial_fit",
    novelty_detector="ocsvm",
    **SHORT,
)


# New clusters in a stream.


def monitored(**parameters):
    places = np.array([[0, 0], [8, 0], [4, 7], [12, 7]], dtype=float)

    def rows(n, k, seed):
        return make_blobs(n, centers=places[:k], random_state=seed)[0]

    usual = {"novelty_detector": "ocsvm", "n_init": 1, "random_state": 0}
    given = of_the_articles(NNEVCLUS, 3, **usual | parameters)
    model = NNEVCLUS(3, **given).fit(rows(120, 3, 0))
    monitor = NewClusterMonitor(model, random_state=0).fit(rows(300, 3, 1))
    states = [monitor.update(rows(200, 3, 2)), monitor.update(rows(300, 4, 3))]
    found = attributes(monitor)
    found["states"] = repr(states)
    for number, cluster in enumerate(monitor.propose()):
        found |= flat(f"proposal {number}", vars(cluster))
    new = rows(50, 4, 4)
    found |= {f"extended: {k}": v for k, v in fitted(monitor.extend(), new).items()}
    more = monitor.extend(rows(60, 3, 5))
    return found | fitted(more, new)


MONITORED = {
    "plain": {},
    "two-step": {"focal_sets": "two-step"},
    "singletons": {"focal_sets": "singletons", "hidden_layer_sizes": (9, 8)},
    "adam": {"solver": "adam", "max_iter": 200, "batch_size": 40},
    "scaler": {"metric": StandardScaler()},
    "paper": {"novelty_link": "paper", "init": "peaks"},
    "torch": {"engine": "torch"},
    "novelty": {"novelty_detector": None, "empty_set": "novelty"},
    "novelty ocsvm": {"empty_set": "novelty"},
}
for name, parameters in MONITORED.items():
    entry(f"monitor {name}", monitored, **parameters)


# Prototypes and dissimilarities in memory.

for estimator in (ECM, CCM, BCM, BPEC, CECM):
    name = f"{estimator.__name__} memory"
    for metric in ("euclidean", "adaptive"):
        model = estimator(4, metric=metric, random_state=0)
        entry(f"{name} {metric}", in_memory, model, file=True)
    two = estimator(4, focal_sets="two-step", random_state=0)
    entry(f"{name} two-step", in_memory, two)
    full = estimator(3, focal_sets="full", random_state=0, n_init=2)
    entry(f"{name} full", in_memory, full)
    entry(
        f"{name} PCCA",
        in_memory,
        estimator(4, metric=PCCA(2), random_state=0),
        information=pairs,
        file=True,
    )
    entry(
        f"{name} FDA",
        in_memory,
        estimator(4, metric=FDA(), random_state=0),
        information=labels,
    )
    given = estimator(4, init=centers(), random_state=0)
    entry(f"{name} centres", in_memory, given)
    entry(f"{name} jobs", in_memory, estimator(4, n_init=3, n_jobs=2, random_state=0))

for penalty in ("symmetric", "paper"):
    for metric in ("euclidean", "adaptive"):
        entry(
            f"CECM pairs {penalty} {metric}",
            in_memory,
            CECM(3, penalty=penalty, metric=metric, n_init=2, random_state=0),
            information=pairs,
            file=True,
        )

EVCLUSES = {
    "all": {},
    "sampled": {"pairs_per_sample": 20},
    "landmarks": {"pairs": "landmarks", "pairs_per_sample": 20},
    "reference": {"solver": "reference", "pairs_per_sample": 20},
    "gradient": {"solver": "gradient", "entropy_weight": 0.01, "max_iter": 100},
    "random": {"init": "random"},
    "two-step": {"focal_sets": "two-step"},
    "manhattan": {"metric": "manhattan"},
    "jobs": {"n_init": 3, "n_jobs": 2},
}


def evclus(**parameters):
    usual = {"n_init": 2, "max_iter": 30, "random_state": 0}
    return EVCLUS(4, **of_the_articles(EVCLUS, 4, **usual | parameters))


for name, parameters in EVCLUSES.items():
    entry(f"EVCLUS {name}", in_memory, evclus(**parameters), file=True)
    entry(f"EVCLUS {name} pairs", in_memory, evclus(**parameters), information=pairs)
for name, model in {
    "defaults": EVCLUS(4, max_iter=30, random_state=0),
    "novelty": evclus(empty_set="novelty"),
}.items():
    entry(f"EVCLUS {name}", in_memory, model, file=True)
    entry(f"EVCLUS precomputed {name}", from_matrix, model)
entry("EVCLUS FDA", in_memory, evclus(metric=FDA()), information=labels)
entry(
    "EVCLUS neighbours",
    in_memory,
    evclus(constraint_neighbors=3, constraint_weight=0.3),
    information=pairs,
)
entry("EVCLUS PCCA", in_memory, evclus(metric=PCCA(2)), information=pairs)
entry("EVCLUS precomputed", from_matrix, evclus())
entry("EVCLUS precomputed symmetrize", from_matrix, evclus(), symmetrize=True)


def evclus_twice():
    X, _ = blobs()
    model = evclus(warm_start=True, max_iter=5).fit(X)
    first = model.partition_
    found = fitted(model.fit(X), new_rows())
    again = evclus(init=first, max_iter=5).fit(X)
    return found | {f"given: {k}": v for k, v in fitted(again, new_rows()).items()}


entry("EVCLUS warm start", evclus_twice)


RELATIONAL = {
    "RECM": RECM(4, random_state=0),
    "RECM squared": RECM(3, squared=True, init="random", random_state=0),
    "ECMdd": ECMdd(4, random_state=0),
    "ECMdd weighted": ECMdd(3, prototypes="weighted", random_state=0),
    "MECM": MECM(4, random_state=0),
    "MECM prototype": MECM(3, power=2, meta_dissimilarity="prototype", random_state=0),
    "EkNNclus": EkNNclus(random_state=0),
    "EkNNclus few": EkNNclus(n_neighbors=9, n_init=3, n_jobs=2, random_state=0),
}
for name, model in RELATIONAL.items():
    entry(f"{name} attributes", in_memory, model, file=True)
    entry(f"{name} precomputed", from_matrix, model)
    entry(f"{name} symmetrize", from_matrix, model, symmetrize=True)
for covariance_type in ("full", "diag", "spherical", "auto"):
    model = Bootclus(3, covariance_type=covariance_type, n_bootstrap=15, random_state=0)
    entry(f"Bootclus {covariance_type}", in_memory, model, file=True)
jobs = Bootclus(3, n_bootstrap=15, n_jobs=2, random_state=0)
entry("Bootclus jobs", in_memory, jobs)


# Learned metrics.


def learned(learner):
    X, y = blobs()
    random = {"random_state": 0} if "random_state" in learner.get_params() else {}
    found = {}
    for name, information in (("classes", {"y": y}), ("pairs", pairs())):
        if name == "pairs" and isinstance(learner, (FDA, LFDA, KFDA)):
            continue
        model = clone(learner).set_params(**random).fit(X, **information)
        found |= {f"{name}: {k}": v for k, v in attributes(model).items()}
        found[f"{name}: transformed"] = model.transform(new_rows())
    return found


LEARNERS = [
    FDA(),
    FDA(1, regularization=0.1),
    LFDA(),
    LFDA(1, scaling="orthonormal"),
    KFDA(),
    KFDA(kernel="laplacian", gamma="median"),
    LSI(),
    LSI(1, regularization=0.1),
    DMLeig(),
    DMLeig(1, smoothing=0.01),
    PCCA(),
    PCCA(1, beta=3.0, regularization=0.1),
    KPCCA(),
    KPCCA(1, kernel="polynomial", gamma=0.5, degree=2),
]
for learner in LEARNERS:
    entry(f"learned {learner!r}", learned, learner)


def components(**parameters):
    D, new = matrices()
    model = DissimilarityPCA(**parameters).fit(D)
    return attributes(model) | {"transformed": model.transform(new)}


entry("learned DissimilarityPCA", components)
entry("learned DissimilarityPCA 3", components, n_components=3)


# What uses estimators.


def number_of_clusters(model, **options):
    found = select_n_clusters(
        model, blobs()[0], [3, 4, 5], n_resamples=3, random_state=0, **options
    )
    return {
        **dict(flat("columns", found.columns())),
        "best": found.best,
        **fitted(found.best_estimator, new_rows()),
    }


entry("select_n_clusters ECM", number_of_clusters, ECM())
entry("select_n_clusters CECM pairs", lambda: number_of_clusters(CECM(), **pairs()))
for method in (EVCLUS, NNEVCLUS):
    few = {"n_init": 1, "max_iter": 20 if method is EVCLUS else 30}
    name = f"select_n_clusters {method.__name__}"
    entry(name, number_of_clusters, method(**of_the_articles(method, 4, **few)))
    entry(f"{name} defaults", number_of_clusters, method(**few))


def quantile():
    found = select_dissimilarity_quantile(
        network(n_init=1, max_iter=30),
        blobs()[0],
        (0.3, 0.6, 0.9),
        n_resamples=3,
        random_state=0,
    )
    return {**dict(flat("columns", found.columns())), "best": found.best}


entry("select_dissimilarity_quantile", quantile)


def searched(information):
    found = search(
        network(n_init=1, max_iter=30),
        {"weight_decay": [0.0, 0.1], "hidden_layer_sizes": [(3,), (6,)]},
        blobs()[0],
        cv=3,
        random_state=0,
        **information(),
    )
    # The rest is times and parameters.
    results = {k: v for k, v in found.cv_results_.items() if "test_score" in k}
    return fitted(found.best_estimator_, new_rows()) | dict(flat("results", results))


entry("search", searched, dict)
entry("search pairs", searched, pairs)


def compared(methods):
    X, y = blobs()
    result = compare(X, 4, methods, y, random_state=0)
    columns = result.to_pandas().drop(columns="seconds")
    found = {name: columns[name].to_numpy() for name in columns}
    found["methods"] = repr(list(columns.index))
    for name, model in result.estimators.items():
        found[f"masses of {name}"] = model.partition_.masses
    return found


one_start = EVCLUS(**of_the_articles(EVCLUS, 4, n_init=1))
entry("compare some", compared, [ECM(), CCM(), one_start, network()])
entry("compare names", compared, ["CCM-bp", "sECMdd"])
entry("compare names defaults", compared, ["NNEVCLUS", "NNEVCLUS-bp", "EVCLUS"])


def suggested():
    X, _ = blobs()
    partition = ECM(4, random_state=0).fit(X).partition_
    return {
        "first": suggest_pairs(partition, 10, random_state=0),
        "more": suggest_pairs(partition, 10, random_state=0, **pairs()),
    }


entry("suggest_pairs", suggested)


def peaks_of():
    return dict(flat("graph", vars(delta_bel(blobs()[0]))))


entry("delta_bel", peaks_of)


def table_of(model, suffix):
    model = clone(model).fit(many()[0])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"out.{suffix}")
        predict_table(model, array_source(), path)
        frame = open_table(path).read().to_pandas()
        return {name: frame[name].to_numpy() for name in frame}


for suffix in ("csv", "parquet"):
    model = network(n_init=1, solver="adam", max_iter=5)
    entry(f"predict_table {suffix}", table_of, model, suffix)
entry("predict_table ECM", table_of, ECM(4, random_state=0), "parquet")


def command(method, **parameters):
    """A table clustered and predicted by the command line."""
    from cli_data import GOOD, flowers
    from credalis.cli import main as run

    with tempfile.TemporaryDirectory() as folder:
        rows, out, model, again = (
            str(Path(folder, name))
            for name in ("rows.csv", "out.csv", "m.credalis", "again.csv")
        )
        Path(rows).write_text(flowers())
        options = ["-q", *GOOD[:-1], method, "-c", "2", "-o", out, "--model", model]
        for key, value in parameters.items():
            options += ["--param", f"{key}={value}"]
        for arguments in (
            ["cluster", rows, *options],
            ["predict", model, rows, "-q", "-o", again],
        ):
            if code := run(arguments):
                raise RuntimeError(f"credalis {arguments[0]} ended with {code}")
        return {"out": Path(out).read_text(), "again": Path(again).read_text()}


for method in ("ECM", "Bootclus"):
    entry(f"command {method}", command, method)
for cls in (NNEVCLUS, EVCLUS):
    method = cls.__name__
    entry(f"command {method}", command, method, **of_the_articles(cls, 2))
    entry(f"command {method} defaults", command, method)


# Writing and comparing.


def computed(function):
    """Digests and loss of an entry, or what went wrong."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            quantities = function()
        except Exception as error:
            return f"error: {type(error).__name__}: {error}"
    loss = quantities.get("loss_")
    return {
        "digests": {name: digest(value) for name, value in quantities.items()},
        "loss": None if loss is None else float(loss),
    }


def all_computed(only, timed):
    results = {}
    for name, function in ENTRIES.items():
        if only in name:
            start = time.perf_counter()
            results[name] = computed(function)
            seconds = time.perf_counter() - start
            if timed:
                print(f"{seconds:7.2f} s  {name}", file=sys.stderr)
            if isinstance(results[name], str):
                print(f"{name}: {results[name]}", file=sys.stderr)
    return results


def difference(before, now):
    """In words; None if there is none."""
    if now is None:
        return "is missing"
    if isinstance(before, str) or isinstance(now, str):
        if before == now:
            return None
        texts = [
            each if isinstance(each, str) else "a result" for each in (before, now)
        ]
        return f"was {texts[0]}, is {texts[1]}"
    names = [
        name if name in now["digests"] else f"{name} (missing)"
        for name, value in before["digests"].items()
        if now["digests"].get(name) != value
    ]
    if not names:
        return None
    return f"loss {before['loss']!r} -> {now['loss']!r}; differ: {', '.join(names)}"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["write", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="", help="text in the names of entries")
    parser.add_argument("--times", action="store_true", help="print seconds")
    options = parser.parse_args(arguments)
    print(f"credalis of {Path(credalis.__file__).parent}", file=sys.stderr)
    if options.command == "write":
        results = all_computed(options.only, options.times)
        options.file.write_text(json.dumps(results, indent=1) + "\n")
        print(f"{len(results)} entries written")
        return int(any(isinstance(each, str) for each in results.values()))
    before = json.loads(options.file.read_text())
    before = {name: each for name, each in before.items() if options.only in name}
    now = all_computed(options.only, options.times)
    differences = {
        name: text
        for name, each in before.items()
        if (text := difference(each, now.get(name))) is not None
    }
    for name, text in differences.items():
        print(f"{name}: {text}")
    n_new = len(now.keys() - before.keys())
    print(f"{len(differences)} of {len(before)} entries differ, {n_new} are new")
    return int(bool(differences))


if __name__ == "__main__":
    sys.exit(main())
