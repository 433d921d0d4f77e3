"""A new estimator is one file and one line: everything else asks the registry."""

import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import credalis
from credalis.cluster import estimator_classes, named_estimators

PACKAGE = Path(credalis.__file__).parent

TOY = '''
"""Toy: the halves of the first column."""

import numpy as np

from credalis import _archive
from credalis.cluster._framework._estimator import BaseCredalClusterer
from credalis.cluster._framework._solution import Solution
from credalis.optimize import Trace


class Toy(BaseCredalClusterer):
    """Toy."""

    _schema = BaseCredalClusterer._schema.extended(
        {"edges_": _archive.Array("f", (None,))}
    )
    _words = "the first column was cut in the middle"
    _is_for_many_rows = True

    def __init__(
        self, n_clusters=2, *, focal_sets="singletons", n_init=1, max_iter=1,
        n_jobs=None, random_state=None, verbose=0,
    ):
        self.n_clusters = n_clusters
        self.focal_sets = focal_sets
        self.n_init = n_init
        self.max_iter = max_iter
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _solve(self, X, focal_sets, rng, *, previous, report):
        edges = np.quantile(X[:, 0], np.linspace(0, 1, self.n_clusters + 1)[1:-1])
        return Solution(
            _masses(X, edges, focal_sets), Trace(None, np.zeros(1), True),
            other={"edges_": edges},
        )

    def _predict_masses(self, X):
        return _masses(X, self.edges_, self.focal_sets_)


def _masses(X, edges, focal_sets):
    masses = np.zeros((len(X), len(focal_sets)))
    clusters = np.searchsorted(edges, X[:, 0])
    masses[np.arange(len(X)), [focal_sets.index((k,)) for k in clusters]] = 1.0
    return masses
'''

LINE = "from credalis.cluster.votes._toy import Toy as Toy\n"

PROGRAM = """
import sys
from pathlib import Path

import numpy as np

import credalis
from credalis import Toy, load
from credalis._listing import listed_methods
from credalis.cluster import named_estimators
from credalis.cli import main

assert Path(credalis.__file__).parent == Path(sys.argv[1])
assert "Toy" in credalis.__all__
assert "Toy" in [method.name for method in listed_methods()]
assert isinstance(named_estimators()["Toy"], Toy)
X = np.random.default_rng(0).normal(size=(40, 2))
model = Toy(2).fit(X)
model.save("toy.credalis")
assert (load("toy.credalis").predict(X) == model.labels_).all()
table = credalis.compare(X, 2, methods=["Toy", "ECM"], random_state=0)
assert "Toy" in str(table)
credalis.report(model, X, "toy.html")
assert "the first column was cut in the middle" in Path("toy.html").read_text("utf-8")
np.savetxt("toy.csv", X, delimiter=",", header="a,b", comments="")
for arguments in (
    ["cluster", "toy.csv", "-c", "2", "-m", "toy", "-o", "out.csv"],
    ["compare", "toy.csv", "-c", "2", "--methods", "toy"],
):
    sys.argv = ["credalis", *arguments]
    try:
        main()
    except SystemExit as end:
        assert not end.code, arguments
assert len(Path("out.csv").read_text().splitlines()) == 41
"""


def test_a_new_estimator_is_one_file_and_one_line(tmp_path):
    for package in ("click", "plotly", "jinja2", "pyarrow"):
        pytest.importorskip(package)
    copy = tmp_path / "src" / "credalis"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "cluster" / "votes" / "_toy.py").write_text(TOY)
    init = copy / "cluster" / "__init__.py"
    text = init.read_text("utf-8")
    assert text.count("# isort: on\n") == 1
    init.write_text(text.replace("# isort: on\n", f"{LINE}# isort: on\n"), "utf-8")
    program = f"import sys; sys.path.insert(0, {str(copy.parent)!r})\n{PROGRAM}"
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), str(copy)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("cls", estimator_classes())
def test_every_estimator_says_what_others_ask(cls):
    assert cls.__name__ in credalis.__all__
    assert vars(cls)["_words"], "the report wants half a sentence"
    assert not cls._words[0].isupper()
    assert not cls._words.endswith(".")
    for name, parameters in cls.variants().items():
        assert named_estimators()[name].get_params(deep=False).items() >= (
            parameters.items()
        )


def test_subclasses_of_users_can_be_saved(tmp_path):
    class Mine(credalis.ECM):
        pass

    X = np.random.default_rng(0).normal(size=(30, 2))
    model = Mine(2, random_state=0).fit(X)
    model.save(tmp_path / "mine.credalis")
    loaded = credalis.load(tmp_path / "mine.credalis")
    assert type(loaded) is Mine
    assert type(named_estimators()["ECM"]) is credalis.ECM
    assert type(named_estimators()["Mine"]) is Mine
    np.testing.assert_array_equal(loaded.predict(X), model.labels_)
