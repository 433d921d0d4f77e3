"""Our methods against those of the package evclust 0.2.1 from PyPI.

That package runs in an environment of its own, ``.venv-evclust``, which is made when
it is first needed. Both get the same data and the same start, stop by their default
rules and run on one core. Its answers are checked too: whether its masses are mass
functions, and how well its clusters agree with ours.
"""

import json
import os
import subprocess
import tempfile
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.distance import cdist
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
        An expression with ``f`` for the function and the arrays ``x`` (data), ``d``
        (its distances) and ``g`` (four of its rows).
    answer : str
        Key of their result: "mass" is compared as masses, anything else as numbers.
    ours : callable
        Our answer from the same arrays: an estimator, fitted, or numbers.
    """

    work: str
    function: str
    call: str
    answer: str
    ours: Callable


CASES = [
    Case(
        "ECM, four classes, n=400, pairs",
        "ecm.ecm",
        "f(x, 4, g0=g, type='pairs', delta=5, disp=False)",
        "mass",
        lambda x, g: ECM(4, focal_sets="pairs", delta=5, init=g).fit(x),
    ),
    Case(
        "ECM, four classes, n=400, full",
        "ecm.ecm",
        "f(x, 4, g0=g, type='full', delta=5, disp=False)",
        "mass",
        lambda x, g: ECM(4, focal_sets="full", delta=5, init=g).fit(x),
    ),
    Case(
        "BPEC, four classes, n=400, pairs",
        "bpec.bpec",
        "f(x, g, type='pairs', delta=5, disp=False)",
        "mass",
        lambda x, g: BPEC(4, focal_sets="pairs", delta=5, init=g).fit(x),
    ),
    Case(
        "CCM, four classes, n=400, full",
        "ccm.ccm",
        "f(x, 4, type='full', delta=5, disp=False)",
        "mass",
        lambda x, g: CCM(
            4, focal_sets=FocalSets.full(4), max_cardinality=4, delta=5, init=g
        ).fit(x),
    ),
    Case(
        "RECM, four classes, n=400, pairs",
        "recm.recm",
        # It wants a number of NumPy.
        "f(d, 4, type='pairs', delta=d.dtype.type(5), disp=False)",
        "mass",
        lambda x, g: RECM(
            4, focal_sets="pairs", beta=1.5, delta=5, n_init=1, random_state=0
        ).fit(x),
    ),
    Case(
        "sECMdd, four classes, n=400, full",
        "ecmdd.ecmdd",
        "f(d, 4, type='full', delta=5, disp=False)",
        "mass",
        lambda x, g: ECMdd(
            4, focal_sets="full", beta=2, delta=5, n_init=1, random_state=0
        ).fit(x),
    ),
    Case(
        "MECM, four classes, n=400, full",
        "mecm.mecm",
        "f(d, 4, type='full', delta=5, disp=False)",
        "mass",
        lambda x, g: MECM(4, focal_sets="full", delta=5, n_init=1, random_state=0).fit(
            x
        ),
    ),
    Case(
        "EVCLUS, four classes, n=400, pairs, 100 partners",
        "kevclus.kevclus",
        "f(x=x, k=100, c=4, type='pairs', disp=False)",
        "mass",
        lambda x, g: EVCLUS(
            4, focal_sets="pairs", pairs_per_sample=100, n_init=1, random_state=0
        ).fit(x),
    ),
    # Theirs includes a drawing, without which it cannot be called.
    Case(
        "δ-Bel graph, four classes, n=400, K=50",
        "bpec.delta_Bel",
        "f(x, 50, 0.9)",
        "BelC",
        lambda x, g: delta_bel(x, n_neighbors=50, quantile=0.9).belief,
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
    X, _ = make_four_class(400, random_state=0)
    start = X[np.random.default_rng(0).choice(len(X), 4, replace=False)]
    measurements = []
    for case in CASES:
        answer = run_theirs(python, case, X, start)
        if answer is None:
            continue
        their_seconds, theirs = answer
        with threadpool_limits(limits=1):
            ours = case.ours(X, start)
            ours_seconds = min(
                seconds(lambda case=case: case.ours(X, start)) for _ in range(REPEATS)
            )
        print(f"{case.work}: {checked(case, ours, theirs)}")
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


def run_theirs(python, case, X, start):
    """Seconds and answer of their function, None if it fails."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    surroundings = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        **dict.fromkeys(threads, "1"),
        "MPLBACKEND": "Agg",
    }
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "data.npz", Path(folder) / "answer.npy"
        np.savez(source, x=X, g=start, d=cdist(X, X))
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


def checked(case, ours, theirs):
    """What can be said about their answer beside ours."""
    if case.answer != "mass":
        return f"largest difference {np.abs(theirs - ours).max():.2g}"
    notes = []
    n_sets = len(ours.focal_sets_)
    if theirs.shape[-1] != n_sets:
        return f"theirs have {theirs.shape[-1]} masses for {n_sets} sets"
    try:
        CredalPartition(theirs, ours.focal_sets_)
    except InvalidMassError as error:
        notes.append(f"theirs are no mass functions ({error})")
    members = ours.focal_sets_.membership.astype(float)
    agreement = adjusted_rand_score((theirs @ members).argmax(axis=1), ours.labels_)
    difference = np.abs(theirs - ours.partition_.masses).max()
    return "; ".join(
        [*notes, f"ARI {agreement:.3f}, largest difference of masses {difference:.2g}"]
    )
