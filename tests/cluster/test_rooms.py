"""How the estimators are laid out: rooms, their imports, who may set what."""

import ast
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import credalis
from credalis.cluster import BaseCredalClusterer, estimator_classes

PACKAGE = Path(credalis.__file__).parent
ROOT = PACKAGE / "cluster"
ROOMS = {path.name for path in ROOT.iterdir() if (path / "__init__.py").exists()}

# What a room imports besides the framework, the inputs and lower layers.
EDGES = {
    ("consensus", "evclus"),
    ("consensus", "nnevclus"),
    ("consensus", "prototypes"),
    ("nnevclus", "evclus"),
}

MODULES = {
    ".".join(("credalis", *path.relative_to(PACKAGE).with_suffix("").parts)): path
    for path in ROOT.rglob("*.py")
    if path.name != "__init__.py"
}


def trees():
    return {name: ast.parse(path.read_text()) for name, path in MODULES.items()}


def imported_modules(tree):
    """Modules of `credalis.cluster` that are imported, also inside of functions."""
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and id(node) not in guarded:
            for alias in node.names:
                for name in (node.module, f"{node.module}.{alias.name}"):
                    if name in MODULES:
                        yield name


def room(name):
    return name.split(".")[2]


def test_rooms_import_only_what_is_declared():
    found = {
        (room(name), room(imported))
        for name, tree in trees().items()
        for imported in imported_modules(tree)
    }
    allowed = {(one, other) for one in ROOMS for other in ("_framework", "_inputs")}
    allowed |= {(one, one) for one in ROOMS} | EDGES
    allowed -= {("_inputs", "_framework")}
    assert found <= allowed
    assert found >= EDGES, "an edge that is declared but not there"


def test_the_framework_imports_no_method():
    for name, tree in trees().items():
        if room(name) == "_framework":
            rooms = {room(imported) for imported in imported_modules(tree)}
            assert rooms <= {"_framework", "_inputs"}, name


def test_ecm_needs_few_files():
    known = trees()
    found, waiting = set(), ["credalis.cluster.prototypes._ecm"]
    while waiting:
        name = waiting.pop()
        # What a file may hold is declared beside the way of a fit.
        if name not in found and not name.endswith("._schema"):
            found.add(name)
            waiting += imported_modules(known[name])
    assert len(found) <= 12, sorted(found)
    assert not any(room(name) in ("nnevclus", "evclus") for name in found)


def is_fitted_name(name):
    return name.endswith("_") and not name.startswith("_")


def test_only_the_route_of_a_fit_sets_fitted_attributes():
    for name, tree in trees().items():
        if name == "credalis.cluster._framework._fit":
            continue
        for node in ast.walk(tree):
            is_fitted = isinstance(node, ast.Attribute) and is_fitted_name(node.attr)
            # A mixture of scikit-learn is put together from its parameters, a rough
            # copy for comparisons from what was fitted.
            owner = getattr(getattr(node, "value", None), "id", None)
            if is_fitted and owner not in ("mixture", "rough"):
                assert isinstance(node.ctx, ast.Load), f"{name}:{node.lineno}"
            is_setter = isinstance(node, ast.Call) and (
                getattr(node.func, "id", None) in ("setattr", "delattr")
                # A class, when it is defined, is not a fitted estimator.
                and getattr(node.args[0], "id", None) != "cls"
            )
            # Parts of other libraries in files are not estimators of ours.
            if name != "credalis.cluster._framework._registry":
                assert not is_setter, f"{name}:{node.lineno}"


def test_one_handler_of_interrupts():
    handlers = []
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            caught = ast.dump(node) if isinstance(node, ast.ExceptHandler) else ""
            # The body of a handler may raise what it does not catch.
            if "KeyboardInterrupt" in caught.partition("body=")[0]:
                handlers.append(path.relative_to(PACKAGE).as_posix())
    # That of all fits, the end of the page, questions left open, the end of a command.
    allowed = ["_control.py", "app/_run.py", "cli/_ask.py", "cli/_main.py"]
    assert sorted(handlers) == allowed


def test_one_schedule():
    schedules = [
        name
        for name, tree in trees().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", None) == "cosine_schedule"
    ]
    assert schedules == ["credalis.cluster.nnevclus._training"]


@pytest.mark.parametrize("cls", estimator_classes())
def test_estimators_have_at_most_two_ancestors_of_ours(cls):
    ancestors = [
        base for base in cls.__mro__[1:] if base.__module__.startswith("credalis.")
    ]
    assert len(ancestors) <= 2, ancestors
    assert BaseCredalClusterer in ancestors


def crossed_files(script):
    """Files of the package whose functions run in a script, counted in a process."""
    program = f"""
import sys, tempfile, warnings
from pathlib import Path
import numpy as np
import credalis
from credalis import NNEVCLUS
from credalis.datasets import make_four_class
warnings.simplefilter("ignore")
root = str(Path(credalis.__file__).parent)
seen = set()
def profile(frame, event, argument):
    name = frame.f_code.co_filename
    if event == "call" and name.startswith(root):
        # Imports inside of functions run modules, they do not call them. What a file
        # may hold is declared beside the way of a fit.
        if frame.f_code.co_name != "<module>" and not name.endswith("_schema.py"):
            seen.add(name)
{textwrap.dedent(script)}
print(len(seen))
print(*sorted(seen), sep="\\n")
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    n_files, *names = result.stdout.split()
    return int(n_files), names


def test_a_fit_in_memory_crosses_few_files():
    n_files, names = crossed_files(
        """
        X, _ = make_four_class(400, random_state=0)
        sys.setprofile(profile)
        NNEVCLUS(4, random_state=0, n_init=1, max_iter=20).fit(X)
        sys.setprofile(None)
        """
    )
    # One of them recognises rows that repeat, one is the descent of all starts, one
    # names the arguments of what is refused.
    assert n_files <= 31, "\n".join(names)


def test_a_fit_of_a_file_with_a_checkpoint_crosses_few_files():
    pytest.importorskip("pyarrow")
    n_files, names = crossed_files(
        """
        import pyarrow as pa, pyarrow.parquet as pq
        from credalis.sources import ParquetSource
        X, _ = make_four_class(2000, random_state=0)
        folder = Path(tempfile.mkdtemp())
        pq.write_table(pa.table({"a": X[:, 0], "b": X[:, 1]}), folder / "x.parquet")
        sys.setprofile(profile)
        model = NNEVCLUS(4, random_state=0)
        model.fit(ParquetSource(folder / "x.parquet"), checkpoint=folder / "c")
        sys.setprofile(None)
        """
    )
    # Eight of them are novelty by the nearest neighbours, rows that repeat, the digest
    # of a file, how the fit can be stopped and listened to, the descent of all starts,
    # and the names of what is refused.
    assert n_files <= 42, "\n".join(names)
