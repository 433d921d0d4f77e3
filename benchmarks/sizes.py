"""Time, memory and agreement with the truth, from 10³ to 10⁶ rows.

``python -m benchmarks sizes`` fits all methods to rows of known clusters, each cell in
a process of its own. A cell that takes more than ten minutes of the processor or 8 GB
is shown as – and not compared, and so are those of the same method with more rows,
which are not tried. The whole takes hours; it can be interrupted and goes on where it
was, and ``--rows``, ``--shapes`` and ``--methods`` restrict it.
CREDALIS_SCRATCH names the directory for the rows.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks import embeddings
from benchmarks.journal import RESULTS, Journal, fingerprint

ROWS = (1_000, 10_000, 100_000, 1_000_000)
# Columns and clusters, and how far the next centre is, in units of the deviations
# inside a cluster: the rule that knows the law has an ARI of 0.95 to 0.99.
SHAPES = {"10x10": (10, 10), "2x50": (2, 50), "50x100": (50, 100), "768x50": (768, 50)}
_SEPARATIONS = {(10, 10): 5.2, (2, 50): 4.7, (50, 100): 6.5}
_DEVIATIONS = (0.8, 1.2)
_N_CANDIDATES = 20
_CHUNK = 100_000

OURS = ("NNEVCLUS", "EVCLUS", "ECM", "BPEC")
METHODS = (*OURS, "KMeans", "MiniBatchKMeans", "GaussianMixture", "HDBSCAN")

# What is asked of NNEVCLUS: to be so close to the best ARI where that is this large,
# and from so many rows on to take no more than this many times the time of a mixture.
_ENOUGH, _CLOSE = 0.9, 0.01
_MANY_ROWS, _TIMES_MIXTURE = 10_000, 1.5

_SECONDS, _GIGABYTES = 600, 8


@cache
def law(n_features, n_clusters):
    """Centres that keep their distance, and axes of the clusters."""
    rng = np.random.default_rng([0, n_features, n_clusters])
    centers = rng.uniform(size=(1, n_features))
    for _ in range(n_clusters - 1):
        candidates = rng.uniform(size=(_N_CANDIDATES, n_features))
        apart = np.linalg.norm(candidates[:, None] - centers, axis=2).min(axis=1)
        centers = np.vstack([centers, candidates[apart.argmax()]])
    lengths = np.linalg.norm(centers[:, None] - centers, axis=2)
    np.fill_diagonal(lengths, np.inf)
    centers *= _SEPARATIONS[n_features, n_clusters] / lengths.min(axis=1).mean()
    axes = []
    for _ in range(n_clusters):
        rotation, _ = np.linalg.qr(rng.normal(size=(n_features, n_features)))
        axes.append(rotation * rng.uniform(*_DEVIATIONS, size=n_features))
    return centers, axes


def draw(n_rows, n_features, n_clusters, seed):
    """Rows as float32, and their clusters."""
    if n_features == embeddings.N_FEATURES:
        return embeddings.latent(n_rows, n_clusters, seed)
    centers, axes = law(n_features, n_clusters)
    rng = np.random.default_rng([seed, n_features, n_clusters])
    y = rng.integers(n_clusters, size=n_rows)
    X = rng.normal(size=(n_rows, n_features))
    for k in range(n_clusters):
        X[y == k] = X[y == k] @ axes[k].T + centers[k]
    return X.astype(np.float32), y


def best_agreement(n_features, n_clusters, n_rows=20_000):
    """ARI of the rule that knows the law, where it can be computed."""
    if n_features == embeddings.N_FEATURES:
        return np.nan
    X, y = draw(n_rows, n_features, n_clusters, 0)
    scores = []
    for center, axis in zip(*law(n_features, n_clusters), strict=True):
        scaled = np.linalg.solve(axis, (X - center).T)
        volume = np.linalg.slogdet(axis)[1]
        scores.append(-0.5 * np.square(scaled).sum(axis=0) - volume)
    return adjusted_rand_score(y, np.argmax(scores, axis=0))


def write_rows(folder, n_rows, n_features, n_clusters):
    """Rows and clusters in two files, one part after the other."""
    shape = (n_rows, n_features)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float32, shape)
    y = np.empty(n_rows, dtype=np.int64)
    for number, start in enumerate(range(0, n_rows, _CHUNK)):
        part = slice(start, min(start + _CHUNK, n_rows))
        X[part], y[part] = draw(part.stop - start, n_features, n_clusters, number)
    X.flush()
    np.save(folder / "y.npy", y)


def model_of(method, n_clusters):
    """A method with its defaults."""
    import sklearn.cluster
    from sklearn.mixture import GaussianMixture

    import credalis

    if method in OURS:
        return getattr(credalis, method)(n_clusters, random_state=0)
    if method == "GaussianMixture":
        return GaussianMixture(n_clusters, covariance_type="full", random_state=0)
    if method == "HDBSCAN":
        return sklearn.cluster.HDBSCAN(copy=False)
    return getattr(sklearn.cluster, method)(n_clusters, random_state=0)


def labels_of(model, X):
    """Fit and say which cluster each row is in."""
    model.fit(X)
    if hasattr(model, "labels_"):
        return model.labels_
    starts = range(0, len(X), _CHUNK)
    return np.concatenate([model.predict(X[k : k + _CHUNK]) for k in starts])


def run_cell(folder, method, n_clusters, seconds, gigabytes):
    """One fit in this process, which ends if it takes too much; prints JSON."""
    import time
    import warnings

    warnings.simplefilter("ignore")
    model = model_of(method, n_clusters)
    path = Path(folder) / "X.npy"
    is_large = path.stat().st_size > 2**26
    X = np.load(path, mmap_mode="r" if is_large else None)
    before = time.process_time()
    # Text of the program is no memory of the method.
    limit = int(gigabytes * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    last = int(before + seconds) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (last, last))
    clock = time.monotonic()
    try:
        labels = labels_of(model, X)
    except MemoryError:
        print(json.dumps({"reason": "memory"}))
        return
    record = {
        "seconds": time.process_time() - before,
        "clock": time.monotonic() - clock,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "ari": adjusted_rand_score(np.load(Path(folder) / "y.npy"), labels),
    }
    print(json.dumps(record))


def measured(folder, method, n_clusters, seconds, gigabytes):
    """The record of one cell, or the reason why there is none."""
    arguments = (str(folder), method, n_clusters, seconds, gigabytes)
    program = f"from benchmarks.sizes import run_cell; run_cell(*{arguments!r})"
    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    result = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=os.environ | one,
        cwd=Path(__file__).parent.parent,
    )
    lines = result.stdout.splitlines()
    if result.returncode == 0 and lines:
        return json.loads(lines[-1])
    if result.returncode < 0:
        return {"reason": f"ended by signal {-result.returncode}"}
    return {"reason": result.stderr.strip().splitlines()[-1][:200]}


def failures(records):
    """Sentences about the cells in which NNEVCLUS misses what is asked of it.

    Parameters
    ----------
    records : dict
        From (shape, rows, method) to records.
    """
    told = []
    for shape, rows in sorted({key[:2] for key in records}):
        cell = {
            method: record
            for (*place, method), record in records.items()
            if place == [shape, rows] and "ari" in record
        }
        ours = cell.get("NNEVCLUS")
        if ours is None:
            continue
        best = max(cell, key=lambda method: cell[method]["ari"])
        if _ENOUGH < cell[best]["ari"] > ours["ari"] + _CLOSE:
            told.append(
                f"{shape}, {rows} rows: ARI {ours['ari']:.3f}, {best} has "
                f"{cell[best]['ari']:.3f}"
            )
        mixture = cell.get("GaussianMixture")
        if mixture is None or rows < _MANY_ROWS:
            continue
        ratio = ours["seconds"] / mixture["seconds"]
        if ratio > _TIMES_MIXTURE:
            told.append(f"{shape}, {rows} rows: {ratio:.1f} times GaussianMixture")
    return told


def shown(record):
    """A cell of the table: seconds, megabytes, ARI."""
    if "ari" not in record:
        return "–"
    return (
        f"{record['seconds']:.3g} s, {record['megabytes']:.0f} MB, {record['ari']:.3f}"
    )


def markdown(records):
    """A table for each shape."""
    parts = []
    for shape in dict.fromkeys(key[0] for key in records):
        rows = sorted({key[1] for key in records if key[0] == shape})
        methods = [
            m for m in METHODS if any(k[0] == shape and k[2] == m for k in records)
        ]
        lines = [
            f"| {shape} | " + " | ".join(f"n = {n:,}" for n in rows) + " |",
            "|---" * (len(rows) + 1) + "|",
        ]
        for method in methods:
            cells = [
                shown(records[shape, n, method])
                if (shape, n, method) in records
                else ""
                for n in rows
            ]
            lines.append(f"| {method} | " + " | ".join(cells) + " |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def main(arguments):
    """Measure what is missing, print all of it and what falls short."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks sizes", description=__doc__
    )
    parser.add_argument("--rows", nargs="+", type=float, default=ROWS)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--seconds", type=float, default=_SECONDS)
    parser.add_argument("--gigabytes", type=float, default=_GIGABYTES)
    given = parser.parse_args(arguments)
    journal = Journal(RESULTS / "sizes.jsonl")
    scratch = os.environ.get("CREDALIS_SCRATCH")
    records = {}
    for shape in given.shapes:
        too_much: set[str] = set()
        for n_rows in sorted(map(int, given.rows)):
            with tempfile.TemporaryDirectory(dir=scratch) as name:
                folder = Path(name)

                def measure(method, folder=folder, n_rows=n_rows, size=SHAPES[shape]):
                    if not (folder / "X.npy").exists():
                        write_rows(folder, n_rows, *size)
                    return measured(
                        folder, method, size[1], given.seconds, given.gigabytes
                    )

                for method in given.methods:
                    if method in too_much:
                        records[shape, n_rows, method] = {"reason": "fewer were many"}
                        continue
                    key = {
                        "shape": shape,
                        "rows": n_rows,
                        "method": method,
                        "limits": [given.seconds, given.gigabytes],
                        "sources": fingerprint("sizes", of_credalis=method in OURS),
                    }
                    record = journal.recall(key, measure, method)
                    records[shape, n_rows, method] = record
                    if "ari" not in record:
                        too_much.add(method)
                    what = record.get("reason") or shown(record)
                    print(f"{shape}, {n_rows} rows, {method}: {what}", flush=True)
    print(f"\n{markdown(records)}\n")
    for shape in given.shapes:
        print(
            f"{shape}: ARI of the rule that knows the law "
            f"{best_agreement(*SHAPES[shape]):.3f}"
        )
    for sentence in failures(records):
        print(f"falls short: {sentence}")
