"""Rows of numbers, and what is known about them, as users may give it."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse
from scipy.spatial.distance import cdist, squareform
from tests.fuzz.values import HOSTILE, NUMBERS, pick

Rng = np.random.Generator


def n_rows(rng: Rng) -> int:
    """Few rows."""
    return int(
        pick(rng, (2, 4, 5, 6, 8, 10, 12, 15, 20, 20, 25, 30, 30, 40, 50, 60, 60))
    )


def numbers(rng: Rng, n_features: int | None = None) -> np.ndarray:
    """A matrix of numbers: ordinary, degenerate or extreme, sometimes not finite."""
    n, d = n_rows(rng), n_features or int(pick(rng, (1, 1, 2, 2, 2, 3, 4, 6, 12)))
    kind = rng.choice(list(_KINDS), p=_WEIGHTS)
    return np.ascontiguousarray(_KINDS[kind](rng, n, d), dtype=np.float64)


def ordinary(rng: Rng, n: int, d: int) -> np.ndarray:
    """Two to four groups of rows."""
    centers = rng.normal(scale=6, size=(int(rng.integers(1, 5)), d))
    return centers[rng.integers(len(centers), size=n)] + rng.normal(size=(n, d))


def _copies(rng: Rng, n: int, d: int) -> np.ndarray:
    few = rng.normal(size=(max(1, n // int(pick(rng, (2, 3, 5)))), d))
    return few[rng.integers(len(few), size=n)]


def _scaled(rng: Rng, n: int, d: int) -> np.ndarray:
    powers = (-320, -300, -200, -160, -150, -100, -20, -8, 8, 20, 70, 100, 140, 150)
    return ordinary(rng, n, d) * 10.0 ** pick(rng, (*powers, 153, 155, 160, 200, 300))


def _moved(rng: Rng, n: int, d: int) -> np.ndarray:
    return ordinary(rng, n, d) + 10.0 ** pick(rng, (3, 6, 9, 12, 15, 17, 30, 100, 200))


def _mixed_units(rng: Rng, n: int, d: int) -> np.ndarray:
    return ordinary(rng, n, d) * 10.0 ** rng.integers(-12, 12, size=d)


def _with_outlier(rng: Rng, n: int, d: int) -> np.ndarray:
    X = ordinary(rng, n, d)
    X[rng.integers(n)] = 10.0 ** pick(rng, (1, 2, 3, 6, 12, 50, 100, 150, 154, 300))
    return X


def _collinear(rng: Rng, n: int, d: int) -> np.ndarray:
    return np.outer(rng.normal(size=n), rng.normal(size=d))


def _with_constant(rng: Rng, n: int, d: int) -> np.ndarray:
    X = ordinary(rng, n, d)
    X[:, rng.integers(d)] = pick(rng, (0.0, 1.0, -3.5, 1e10))
    return X


def _not_finite(rng: Rng, n: int, d: int) -> np.ndarray:
    X = ordinary(rng, n, d)
    X[rng.integers(n), rng.integers(d)] = pick(rng, (np.nan, np.inf, -np.inf))
    return X


def _nearly_equal(rng: Rng, n: int, d: int) -> np.ndarray:
    return 1.0 + np.finfo(float).eps * rng.integers(0, 4, size=(n, d))


_KINDS = {
    "ordinary": ordinary,
    "uniform": lambda rng, n, d: rng.random((n, d)),
    "heavy tails": lambda rng, n, d: rng.standard_cauchy((n, d)),
    "grid": lambda rng, n, d: rng.integers(0, 4, size=(n, d)).astype(float),
    "binary": lambda rng, n, d: rng.integers(0, 2, size=(n, d)).astype(float),
    "copies": _copies,
    "all equal": lambda rng, n, d: np.full((n, d), pick(rng, (0.0, 1.0, -7.5, 1e200))),
    "scaled": _scaled,
    "moved": _moved,
    "mixed units": _mixed_units,
    "outlier": _with_outlier,
    "collinear": _collinear,
    "constant column": _with_constant,
    "not finite": _not_finite,
    "nearly equal": _nearly_equal,
    "signed zeros": lambda rng, n, d: rng.choice([0.0, -0.0, 5e-324], size=(n, d)),
}
_WEIGHTS = np.array([30, 4, 4, 5, 3, 6, 2, 7, 5, 4, 7, 4, 5, 3, 2, 1], dtype=float)
_WEIGHTS /= _WEIGHTS.sum()


def dressed(rng: Rng, X: np.ndarray, share: float = 0.07) -> object:
    """The matrix in one of the forms that users have, or something else instead."""
    if rng.random() < share:
        return _disguised(rng, X)
    if rng.random() < 0.6:
        return X
    with np.errstate(all="ignore"):
        return pick(rng, _FORMS)(X)


_FORMS = (
    lambda X: X.tolist(),
    np.asfortranarray,
    lambda X: np.repeat(X, 2, axis=0)[::2],
    lambda X: X[::-1],
    lambda X: X.astype(np.float32),
    lambda X: X.astype(np.longdouble),
    lambda X: X.astype(object),
    lambda X: pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])]),
    lambda X: pl.DataFrame({f"c{k}": X[:, k] for k in range(X.shape[1])}),
    lambda X: np.ma.masked_array(X),
    lambda X: _read_only(X),
    lambda X: np.nan_to_num(X, posinf=9, neginf=-9).clip(-100, 100).astype(np.int8),
    lambda X: memoryview(X),
)


def _read_only(X: np.ndarray) -> np.ndarray:
    X = X.copy()
    X.flags.writeable = False
    return X


def _disguised(rng: Rng, X: np.ndarray) -> object:
    """Anything but a matrix of finite numbers."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _other_things(rng, X)


def _other_things(rng: Rng, X: np.ndarray) -> object:
    things = (
        X[0],
        X[:0],
        X[:, :0],
        X[:1],
        X[None],
        X.astype(str),
        X.astype(complex),
        X > 0,
        [row[: 1 + k % 2] for k, row in enumerate(X.tolist())],
        np.array([["a", 1.0]] * len(X), dtype=object),
        np.array([[None, 1.0]] * len(X), dtype=object),
        np.array([[object(), 1.0]] * len(X), dtype=object),
        np.zeros((len(X), 2), dtype="M8[s]"),
        np.zeros(len(X), dtype=[("a", float), ("b", int)]),
        sparse.csr_array(np.nan_to_num(X)),
        sparse.coo_matrix(np.nan_to_num(X)),
        pd.DataFrame({"a": ["x"] * len(X), "b": X[:, 0]}),
        pd.DataFrame({"a": pd.array([1] * len(X), dtype="Int64"), "b": X[:, 0]}),
        pd.DataFrame(X, columns=list(range(X.shape[1]))),
        pd.DataFrame(X, columns=["same"] * X.shape[1]),
        pd.DataFrame({"a": pd.Categorical(["u", "v"] * len(X))[: len(X)]}),
        pd.DataFrame({0: X[:, 0], "mixed": X[:, 0]}),
        pd.Series(X[:, 0]),
        pl.DataFrame({"a": ["x"] * len(X)}),
        pl.Series(X[:, 0]),
        iter(X.tolist()),
        {"X": X.tolist()},
        np.ma.masked_array(X, mask=X > 0),
        X.tobytes(),
        10**400,
        [[10**400, 1]] * len(X),
        [["1", "2"]] * len(X),
        np.matrix(np.nan_to_num(X)) if rng.random() < 0.5 else X.T,
        np.uint64(2**64 - 1) - np.zeros(X.shape, np.uint64),
    )
    if rng.random() < 0.25:
        return pick(rng, HOSTILE)
    return pick(rng, things)


def dissimilarities(rng: Rng, X: np.ndarray | None = None) -> object:
    """A square matrix, mostly of distances; sometimes something else."""
    with np.errstate(all="ignore"):
        return _dissimilarities(rng, X)


def _dissimilarities(rng: Rng, X: np.ndarray | None) -> object:
    if X is None:
        X = numbers(rng)
    X = np.nan_to_num(X, posinf=9.0, neginf=-9.0).clip(-1e150, 1e150)
    with np.errstate(all="ignore"):
        D = cdist(X, X, metric=str(pick(rng, ("euclidean", "cityblock", "chebyshev"))))
    choice = rng.random()
    if choice < 0.6:
        return D
    i, j = rng.integers(len(D), size=2)
    spoiled = D.copy()
    spoiled[i, j] = pick(rng, (*NUMBERS[:14], np.nan, np.inf, 1e200, 1e300))
    with np.errstate(all="ignore"):
        things = (
            spoiled,
            np.maximum(spoiled, spoiled.T),
            rng.random(D.shape),
            D + np.eye(len(D)),
            D[:-1],
            D[:-1, :-1],
            squareform(D, checks=False),
            D * 1e160,
            D * 1e-200,
            np.zeros_like(D),
            1 - np.eye(len(D)),
            D.astype(np.float32),
            D.tolist(),
            D.astype(int) if np.abs(D).max(initial=0) < 1e9 else D,
            pd.DataFrame(D),
            sparse.csr_array(D),
            D.astype(str),
            D[0],
            D[:0, :0],
            -D,
        )
    return pick(rng, (*things, pick(rng, HOSTILE)))


def weights(rng: Rng, n: int) -> object:
    """Weights of rows: mostly right ones, whole or not, some of them 0."""
    choice = rng.random()
    if choice < 0.35:
        return rng.integers(4, size=n)
    if choice < 0.7:
        return rng.exponential(pick(rng, (1e-20, 0.1, 1.0, 100.0, 1e20)), size=n)
    things = (
        np.where(rng.random(n) < 0.9, 0.0, 1.0),
        10.0 ** rng.integers(-300, 40, size=n),
        rng.integers(10**6, size=n).tolist(),
        np.zeros(n),
        np.ones(n) * pick(rng, (1e308, 1e-308, 5e-324)),
        np.where(rng.random(n) < 0.2, np.nan, 1.0),
        np.where(rng.random(n) < 0.2, -1.0, 1.0),
        np.ones(n + 1),
        np.ones((n, 1)),
        np.ones(n).astype(str),
        np.ones(n, dtype=bool),
        np.array([None] * n),
        *HOSTILE,
    )
    return pick(rng, things)


def labels(rng: Rng, n: int, n_clusters: int = 3) -> object:
    """Partial labels: mostly right ones, some of them unknown."""
    with np.errstate(all="ignore"):
        return _labels(rng, n, n_clusters)


def _labels(rng: Rng, n: int, n_clusters: int) -> object:
    y = rng.integers(max(n_clusters, 1), size=n)
    choice = rng.random()
    if choice < 0.65:
        return np.where(rng.random(n) < pick(rng, (0.3, 0.7, 0.9)), -1, y)
    things = (
        y,
        np.full(n, -1),
        y.tolist(),
        y + 1,
        y - 2,
        y.astype(float),
        np.where(rng.random(n) < 0.5, np.nan, y),
        np.full(n, np.inf),
        y[:-1],
        np.append(y, 0),
        y[:, None],
        y.astype(str),
        np.array(["", "a", "b"])[y % 3],
        y.astype(bool),
        y * 10**9,
        y.astype(object),
        np.array([None] * n),
        pd.Series(y, index=range(5, 5 + n)),
        pd.Series(y, dtype="Int64"),
        pd.Categorical(y),
        y + 0.5,
        y.astype(complex),
        np.zeros(n, dtype=int),
        [*y[:-1].tolist(), "a"],
        y.astype(np.uint8),
        [],
        y.astype(np.int64).astype("M8[D]"),
    )
    return pick(rng, (*things, pick(rng, HOSTILE)))


def pairs(rng: Rng, n: int) -> object:
    """Pairs of objects, mostly existing ones."""
    with np.errstate(all="ignore"):
        return _pairs(rng, n)


def _pairs(rng: Rng, n: int) -> object:
    found = rng.integers(n, size=(int(rng.integers(1, 8)), 2))
    choice = rng.random()
    if choice < 0.7:
        return found[found[:, 0] != found[:, 1]]
    things = (
        found,
        found + n,
        found - n,
        found.T,
        found.tolist(),
        [tuple(pair) for pair in found.tolist()],
        found.astype(float),
        found + 0.5,
        np.full((2, 2), np.nan),
        np.full((2, 2), np.inf),
        found.astype(str),
        found.astype(object),
        found > 0,
        np.empty((0, 2)),
        [],
        [[0]],
        [[0, 1, 2]],
        [0, 1],
        [[0, 1], [1]],
        [[0, 10**400]],
        [[0, None]],
        found.astype(np.int8),
        found.astype(np.uint64),
        [[0, 2**63]],
        pd.DataFrame(found),
        sparse.csr_array(found),
        found.astype(complex),
        found[None],
        [[i, j] for i in range(n) for j in range(i)],
        np.repeat(found, 3, axis=0),
    )
    return pick(rng, (*things, pick(rng, HOSTILE)))


def new_rows(rng: Rng, X: np.ndarray) -> np.ndarray:
    """Finite rows for a prediction, from near to the end of the numbers."""
    with np.errstate(all="ignore"):
        rows = _new_rows(rng, np.asarray(X, dtype=np.float64))
    return np.nan_to_num(rows)


def _new_rows(rng: Rng, X: np.ndarray) -> np.ndarray:
    d, m = X.shape[1], int(pick(rng, (1, 1, 2, 5, 20)))
    kind = rng.integers(6)
    if kind == 0:
        return X[rng.integers(len(X), size=m)].copy()
    if kind == 1:
        return X[rng.integers(len(X), size=m)] + rng.normal(size=(m, d))
    if kind == 2:
        return rng.normal(size=(m, d)) * 10.0 ** rng.integers(-300, 300)
    edges = (0.0, -0.0, 1e150, -1e150, 1e154, 1e200, 1e308, -1.7e308, 5e-324, 1.0)
    if kind == 3:
        return rng.choice(edges, size=(m, d))
    if kind == 4:
        near = X[rng.integers(len(X), size=m)].copy()
        near[:, rng.integers(d)] = pick(rng, edges)
        return near
    return rng.standard_cauchy((m, d)) * 10.0 ** rng.integers(0, 150)
