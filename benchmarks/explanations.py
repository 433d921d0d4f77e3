"""Explanations: do the columns that are named matter, and how long does it take?

The one, two or three columns named first as speaking for the most plausible cluster get
the cells of random rows, 15 times. How far does the plausibility of the cluster, as a
share of all clusters', fall, and how often does the label change? The candidates are
the exchange with typical cells, which `credalis.explain` does, the gradient of the same
share by central differences, times the deviation from the mean or from the typical cell
of the strongest rival, Shapley values from 30 permutations with random rows, and random
columns. 25 clear objects and 25 between clusters of each table and method.
"""

import time
import warnings

import numpy as np

from benchmarks.choose import choose_cases
from benchmarks.harness import Score, benchmark_data, benchmark_labels
from credalis import ECM, EGMM, EVCLUS, NNEVCLUS, Bootclus, Consensus, explain
from credalis._explain._cells import cells_of
from credalis._explain._reasons import (
    cluster_scores,
    plausibility_shares,
)
from credalis._explain._typical import typical_cells

NAMES = ("iris", "wine", "heart", "ecoli", "glass", "drybean")
OTHERS = ("banknote_swiss", "oils", "olive_area", "penguins")
METHODS = (NNEVCLUS, Consensus, ECM, EVCLUS, EGMM)
MAX_ROWS, N_OBJECTS, N_DONORS, N_PERMUTATIONS = 400, 25, 15, 30
N_REMOVED = (1, 2, 3)


def run():
    found, times = {}, {}
    for name, X, n_clusters in cases():
        for method in (*METHODS, Bootclus):
            model = fitted(method, X, n_clusters)
            times.setdefault(method.__name__, []).append(milliseconds(model, X))
            if method in METHODS:
                for way, values in effects(model, X).items():
                    found.setdefault(way, []).append(values)
        print(name, X.shape, flush=True)
    scores = []
    for way, values in found.items():
        lost, changed = np.array(values).T
        remark = f"label changed in {changed.mean():.0%}"
        work = "loss by removal of what is named"
        scores.append(Score(work, way, lost.mean(), lost.std(), len(lost), remark))
    for method, values in times.items():
        remark = f"most: {max(values):.1f}"
        values = np.array(values)
        scores.append(
            Score(
                "ms per object",
                method,
                values.mean(),
                values.std(),
                len(values),
                remark,
            )
        )
    return scores


def cases():
    """Standardised tables of at most 400 rows, and the numbers of their classes."""
    rng = np.random.default_rng(0)
    tables = [(n, benchmark_data(n), benchmark_labels(n)) for n in NAMES]
    for case in choose_cases():
        if case.name in OTHERS:
            table = case.draw(rng)
            tables.append((case.name, table.X, table.y))
    for name, X, y in tables:
        rows = np.random.default_rng(0).permutation(len(X))[:MAX_ROWS]
        X = X[rows]
        yield name, (X - X.mean(axis=0)) / X.std(axis=0), len(np.unique(y))


def fitted(method, X, n_clusters):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return method(n_clusters, random_state=0).fit(X)


def milliseconds(model, X):
    """For each of 30 objects in one call, with the tree."""
    start = time.process_time()
    explain(model, X, range(30))
    return 1e3 * (time.process_time() - start) / 30


def effects(model, X):
    """Loss of plausibility and share of changed labels, by way of choosing columns."""
    rng = np.random.default_rng(1)
    partition = model.partition_
    verdicts = partition.verdicts()
    rows = np.concatenate(
        [
            rng.permutation(np.flatnonzero(flags))[:N_OBJECTS]
            for flags in (verdicts.is_clear, verdicts.is_between)
        ]
    )
    order = np.argsort(-partition.plausibility[rows], axis=1, kind="stable")
    own, rival = order[:, 0], order[:, 1]
    ways = {
        way: removal(model, X, rows, own, np.argsort(-scores, axis=1))
        for way, scores in candidates(model, X, rows, own, rival, rng).items()
    }
    return ways


def candidates(model, X, rows, own, rival, rng):
    """Scores of the columns, (n_rows, n_columns), by several ways."""
    cells = cells_of(model, X, None)
    typical = typical_cells(
        cells.columns, model.partition_, model.partition_.verdicts()
    )
    exchange = cluster_scores(cells, rows, typical)[np.arange(len(rows)), own]
    gradient = differences(model, X, rows, own)
    medians = np.zeros((model.focal_sets_.n_clusters, X.shape[1]))
    columns = np.arange(X.shape[1])
    medians[typical.clusters] = X[typical.rows, columns]
    return {
        "exchange with typical cells": exchange,
        "gradient, from the mean": gradient * X[rows],
        "gradient, from the rival": gradient * (X[rows] - medians[rival]),
        "Shapley values": shapley(model, X, rows, own, rng),
        "random columns": rng.normal(size=exchange.shape),
    }


def share(model, X, own):
    """Plausibility share of a cluster for each row of X, of any leading shape."""
    shares = plausibility_shares(model.predict_partition(X.reshape(-1, X.shape[-1])))
    shares = shares.reshape(*X.shape[:-1], -1)
    own = np.broadcast_to(own.reshape(-1, *[1] * (X.ndim - 2)), X.shape[:-1])
    return np.take_along_axis(shares, own[..., None], -1)[..., 0]


def differences(model, X, rows, own):
    """Gradient of the share by central differences."""
    step = 0.05
    moves = step * np.eye(X.shape[1])
    above = share(model, X[rows][:, None] + moves, own)
    below = share(model, X[rows][:, None] - moves, own)
    return (above - below) / (2 * step)


def shapley(model, X, rows, own, rng):
    n_columns = X.shape[1]
    values = np.zeros((len(rows), n_columns))
    for _ in range(N_PERMUTATIONS):
        order = rng.permutation(n_columns)
        donors = X[rng.integers(len(X), size=len(rows))]
        path = np.repeat(X[rows][:, None], n_columns + 1, axis=1)
        for place, j in enumerate(order):
            path[:, place + 1 :, j] = donors[:, None, j]
        found = share(model, path, own)
        values[:, order] += found[:, :-1] - found[:, 1:]
    return values


def removal(model, X, rows, own, order):
    """Mean loss of the share, and how often the label changes, without columns."""
    before = share(model, X[rows][:, None], own)
    lost, changed = [], []
    for n_removed in N_REMOVED:
        rng = np.random.default_rng(2)
        donors = X[rng.integers(len(X), size=(len(rows), N_DONORS))]
        without = np.repeat(X[rows][:, None], N_DONORS, axis=1)
        columns = np.broadcast_to(
            order[:, None, :n_removed], (len(rows), N_DONORS, n_removed)
        )
        cells = np.take_along_axis(donors, columns, 2)
        np.put_along_axis(without, columns, cells, 2)
        lost.append((before - share(model, without, own)).mean())
        labels = model.predict(without.reshape(-1, X.shape[1]))
        changed.append((labels.reshape(len(rows), -1) != own[:, None]).mean())
    return np.mean(lost), np.mean(changed)
