"""Our methods against those of the package evclust 0.2.1 from PyPI.

That package runs in an environment of its own, ``.venv-evclust``, which is made when
it is first needed. Both get the same data and, where theirs takes one, the same start,
stop by their default rules if nothing else is said, and run on one core. Its answers
are checked too: whether its masses are mass functions, and how well its clusters agree
with ours.

Its EVCLUS solves a least-squares problem per object without the constraints that make
the solution a mass function. Two lines speak of it: ours to convergence, which is more
work than theirs, and ours to a stress below that of its answer, with negative masses
set to zero and the rest rescaled to sum to one.
"""

import json
import os
import subprocess
import tempfile
import venv
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from benchmarks.harness import Measurement, Skipped, seconds
from credalis import (
    BPEC,
    CCM,
    ECM,
    EVCLUS,
    MECM,
    RECM,
    CredalPartition,
    ECMdd,
    FocalSets,
)
from credalis.belief import conflict_matrix
from credalis.datasets import make_four_class
from credalis.exceptions import InvalidMassError
from credalis.peaks import delta_bel

VERSION = "0.2.1"
ENVIRONMENT = Path(__file__).parent.parent / ".venv-evclust"
REPEATS = 3
BASELINE_REPEATS = 2
TIME_LIMIT = 1200


@dataclass(frozen=True)
class Case:
    """One piece of work done by both.

    Attributes
    ----------
    work : str
        What it is.
    function : str
        Their function, as in "ecm.ecm".
    call : str
        An expression with ``f`` for the function and names of `Arrays`.
    answer : str
        Key of their result: "mass" is compared as masses, anything else as numbers.
    ours : callable
        Our answer from the same arrays: an estimator, fitted, or numbers.
    four_features : bool, default=False
        Whether the data have four features rather than the two of the four classes.
    """

    work: str
    function: str
    call: str
    answer: str
    ours: Callable
    four_features: bool = False


class Arrays(NamedTuple):
    """What both are given."""

    x: NDArray[np.float64]  # Data.
    d: NDArray[np.float64]  # Distances.
    s: NDArray[np.float64]  # Squared distances.
    g: NDArray[np.float64]  # Four rows of x, as prototypes.
    m: NDArray[np.float64]  # Masses on the twelve sets of type "pairs".


CASES = [
    Case(
        "ECM, four classes, n=400, pairs",
        "ecm.ecm",
        "f(x, 4, g0=g, type='pairs', delta=5, disp=False)",
        "mass",
        lambda a: ECM(4, focal_sets="pairs", beta=2, delta=5, init=a.g).fit(a.x),
    ),
    Case(
        "ECM, four classes, n=400, full",
        "ecm.ecm",
        "f(x, 4, g0=g, type='full', delta=5, disp=False)",
        "mass",
        lambda a: ECM(4, focal_sets="full", beta=2, delta=5, init=a.g).fit(a.x),
    ),
    Case(
        # Theirs fails unless there are as many features as clusters.
        "BPEC, four features, n=400, pairs",
        "bpec.bpec",
        "f(x, g, type='pairs', delta=5, disp=False)",
        "mass",
        lambda a: BPEC(
            4, focal_sets="pairs", metric="euclidean", beta=2, delta=5, init=a.g
        ).fit(a.x),
        four_features=True,
    ),
    Case(
        "CCM, four classes, n=400, full",
        "ccm.ccm",
        "f(x, 4, type='full', delta=5, disp=False)",
        "mass",
        lambda a: CCM(
            4,
            focal_sets=FocalSets.full(4),
            max_cardinality=4,
            beta=2,
            delta=5,
            init=a.g,
        ).fit(a.x),
    ),
    Case(
        "RECM, four classes, n=400, pairs, 20 iterations",
        "recm.recm",
        # It wants squared distances and a number of NumPy.
        "f(s, 4, m0=m, type='pairs', delta=s.dtype.type(5), maxit=20, epsi=0, "
        "disp=False)",
        "mass",
        lambda a: RECM(
            4, focal_sets="pairs", beta=1.5, delta=5, init=a.m, max_iter=20, tol=0
        ).fit(a.x),
    ),
    Case(
        "sECMdd, four classes, n=400, full",
        "ecmdd.ecmdd",
        "f(d, 4, type='full', delta=5, disp=False)",
        "mass",
        lambda a: ECMdd(
            4, focal_sets="full", beta=2, delta=5, n_init=1, random_state=0
        ).fit(a.x),
    ),
    Case(
        "MECM, four classes, n=400, full",
        "mecm.mecm",
        "f(d, 4, type='full', delta=5, disp=False)",
        "mass",
        lambda a: MECM(
            4, focal_sets="full", beta=2, delta=5, n_init=1, random_state=0
        ).fit(a.x),
    ),
    Case(
        "EVCLUS, four classes, n=400, pairs, 100 partners",
        "kevclus.kevclus",
        "f(x=x, k=100, c=4, type='pairs', disp=False)",
        "mass",
        lambda a: EVCLUS(
            4, focal_sets="pairs", pairs_per_sample=100, n_init=1, random_state=0
        ).fit(a.x),
    ),
    Case(
        "EVCLUS, four classes, n=400, pairs, all partners",
        "kevclus.kevclus",
        "f(x=x, c=4, type='pairs', disp=False)",
        "mass",
        lambda a: EVCLUS(4, focal_sets="pairs", n_init=1, random_state=0).fit(a.x),
    ),
    Case(
        "EVCLUS, the same, ours stopped after one sweep",
        "kevclus.kevclus",
        "f(x=x, c=4, type='pairs', disp=False)",
        "mass",
        lambda a: EVCLUS(
            4, focal_sets="pairs", n_init=1, max_iter=1, random_state=0
        ).fit(a.x),
    ),
    # Theirs includes a drawing, without which it cannot be called.
    Case(
        "δ-Bel graph, four classes, n=400, K=50",
        "bpec.delta_Bel",
        "f(x, 50, 0.9)",
        "BelC",
        lambda a: delta_bel(a.x, n_neighbors=50, quantile=0.9).belief,
    ),
]

# Run by the other interpreter: time the call, store the answer.
RUNNER = """
import contextlib, importlib, io, json, sys, time, warnings
import numpy as np
function, call, answer, repeats, source, target = sys.argv[1:]
warnings.simplefilter("ignore")
module, name = function.split(".")
arrays = dict(np.load(source))
best = float("inf")
with contextlib.redirect_stdout(io.StringIO()):
    known = {"f": getattr(importlib.import_module("evclust." + module), name)}
    for _ in range(int(repeats)):
        start = time.process_time()
        result = eval(call, {**known, **arrays})
        best = min(best, time.process_time() - start)
np.save(target, np.asarray(result[answer], dtype=float))
print(json.dumps(best))
"""


def run():
    python = interpreter()
    sets = {False: four_classes(), True: four_blobs()}
    measurements = []
    for case in CASES:
        arrays = sets[case.four_features]
        answer = run_theirs(python, case, arrays)
        if answer is None:
            continue
        their_seconds, theirs = answer
        with threadpool_limits(limits=1), warnings.catch_warnings():
            # Some cases ask for a fixed number of iterations.
            warnings.simplefilter("ignore", ConvergenceWarning)
            ours = case.ours(arrays)
            ours_seconds = min(
                seconds(lambda case=case, arrays=arrays: case.ours(arrays))
                for _ in range(REPEATS)
            )
        print(f"{case.work}: {checked(case, ours, theirs, arrays)}")
        measurements.append(
            Measurement(
                case.work,
                f"evclust {VERSION}",
                ours_seconds,
                their_seconds,
                their_seconds / ours_seconds,
            )
        )
    return measurements


def four_classes():
    return arrays_of(make_four_class(400, random_state=0)[0])


def four_blobs():
    X, _ = make_blobs(400, n_features=4, centers=4, cluster_std=1, random_state=0)
    return arrays_of(X)


def arrays_of(X):
    generator = np.random.default_rng(0)
    start = X[generator.choice(len(X), 4, replace=False)]
    masses = generator.dirichlet(np.ones(len(FocalSets.pairs(4))), len(X))
    distances = cdist(X, X)
    return Arrays(X, distances, distances**2, start, masses)


def interpreter():
    """The Python that has the package; makes its environment if there is none."""
    folder = "Scripts" if os.name == "nt" else "bin"
    python = ENVIRONMENT / folder / "python"
    ready = ENVIRONMENT / f"evclust-{VERSION}"
    if ready.exists():
        return python
    venv.create(ENVIRONMENT, with_pip=True, clear=True)
    install = [python, "-m", "pip", "install", "--quiet", f"evclust=={VERSION}"]
    try:
        subprocess.run(install, check=True, capture_output=True, text=True)
    except subprocess.CalledProcessError as error:
        raise Skipped(
            f"evclust {VERSION} cannot be installed: {error.stderr}"
        ) from error
    ready.touch()
    return python


def run_theirs(python, case, arrays):
    """Seconds and answer of their function, None if it fails."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    surroundings = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        **dict.fromkeys(threads, "1"),
        "MPLBACKEND": "Agg",
    }
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "data.npz", Path(folder) / "answer.npy"
        np.savez(source, **arrays._asdict())
        command = [python, "-c", RUNNER, case.function, case.call, case.answer]
        try:
            done = subprocess.run(
                [*command, str(BASELINE_REPEATS), source, target],
                check=True,
                capture_output=True,
                text=True,
                env=surroundings,
                timeout=TIME_LIMIT,
            )
        except subprocess.CalledProcessError as error:
            print(f"{case.work}: theirs fails, {error.stderr.strip().splitlines()[-1]}")
            return None
        return json.loads(done.stdout), np.load(target)


def checked(case, ours, theirs, arrays):
    """What can be said about their answer beside ours."""
    if case.answer != "mass":
        return f"largest difference {np.abs(theirs - ours).max():.2g}"
    notes = []
    sets = ours.focal_sets_
    if theirs.shape[-1] != len(sets):
        return f"theirs have {theirs.shape[-1]} masses for {len(sets)} sets"
    try:
        CredalPartition(theirs, sets)
    except InvalidMassError as error:
        notes.append(f"theirs are no mass functions ({error})")
    agreement = adjusted_rand_score(
        (theirs @ sets.membership.astype(float)).argmax(axis=1), ours.labels_
    )
    masses = ours.partition_.masses
    notes.append(f"ARI {agreement:.3f}")
    notes.append(f"largest difference of masses {np.abs(theirs - masses).max():.2g}")
    if isinstance(ours, EVCLUS):
        repaired = np.maximum(theirs, 0)
        repaired /= repaired.sum(axis=1, keepdims=True)
        notes.append(
            f"stress {stress(masses, sets, arrays.d):.4f}, "
            f"theirs made valid {stress(repaired, sets, arrays.d):.4f}"
        )
    return "; ".join(notes)


def stress(masses, focal_sets, distances):
    """Normalised stress of all pairs of different objects, by both's default scale."""
    scale = np.quantile(distances[np.triu_indices(len(distances), 1)], 0.9)
    wanted = 1 - 0.05 ** (distances / scale) ** 2
    conflicts = conflict_matrix(masses, focal_sets)
    np.fill_diagonal(conflicts, 0)
    return np.sum((conflicts - wanted) ** 2) / np.sum(wanted**2)
