"""Imports go one way: a module imports only from lower layers."""

import ast
import re
from pathlib import Path

import pytest

import credalis

ROOT = Path(credalis.__file__).parent
CONTRIBUTING = Path(__file__).parent.parent / "CONTRIBUTING.md"

# From the lowest layer to the highest; CONTRIBUTING.md shows the same as a table.
LAYERS = [
    {
        "exceptions",
        "_checks",
        "_choices",
        "_files",
        "_html",
        "_listing",
        "_nearest",
        "_threads",
        "_wire",
    },
    {"_archive", "_control", "_refusals", "_warnings"},
    {"_progress"},
    {"_parallel"},
    {
        "belief",
        "optimize",
        "_coverage",
        "_neighbors",
        "_weights",
        "constraints",
        "dissimilarity",
        "tables",
    },
    {"checkpoints", "partition", "sources", "_novelty", "_worlds"},
    {"_calibration", "_rows", "objectives", "peaks", "metric_learning"},
    {"_drawing", "network"},
    {"metrics", "plots", "datasets"},
    {"cluster"},
    {"_predictions", "tabular"},
    {"_explain"},
    {
        "_compare",
        "anndata",
        "distributed",
        "io",
        "model_selection",
        "report",
        "streaming",
        "topics",
    },
    {"reproduce"},
    {"cli"},
    {"app"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

OPTIONAL = {
    "click",
    "distributed",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "python_calamine",
    "torch",
    "onnx",
    "onnxruntime",
    "dask",
    "jinja2",
    "plotly",
    "starlette",
    "uvicorn",
}

# The one folder that imports an optional package at once, itself imported in functions.
TORCH = "credalis.network._torch"

# The commands are declared with click, and the page is served with Starlette, so that
# their modules cannot do without it; the packages themselves import them only when a
# command runs, and say what is missing.
HOSTS = {
    "cli": {"click", "pyarrow"},
    "app": {"click", "starlette", "uvicorn"},
}

# Rooms that the rest of their subpackage builds on: they import nothing else of it.
FOUNDATIONS = ["cli/_shared", "reproduce/_framework"]
COMMANDS = sorted((ROOT / "cli").glob("_[a-z]*.py"))

MODULES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def subject(path):
    """First component below the package: ``belief`` for belief/_mobius.py."""
    return path.relative_to(ROOT).with_suffix("").parts[0]


def imported_names(tree):
    """(dotted name, is it inside a function or only for type checkers) of imports."""
    guarded = set()
    for node in ast.walk(tree):
        is_guard = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or (
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        )
        if is_guard:
            guarded.update(id(inner) for inner in ast.walk(node))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            module = node.module
            names = (
                [f"{module}.{alias.name}" for alias in node.names]
                if module == "credalis"
                else [module]
            )
        else:
            continue
        for name in names:
            yield name, id(node) in guarded


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_module_imports_only_from_lower_layers(path):
    name = subject(path)
    assert name in LEVEL, f"{name} is missing from the list of layers"
    for imported, is_guarded in imported_names(ast.parse(path.read_text())):
        parts = imported.split(".")
        if is_guarded:
            continue
        is_host = path.name != "__init__.py" and parts[0] in HOSTS.get(name, ())
        if not is_host and "_torch" not in path.parts:
            is_optional = parts[0] in OPTIONAL or imported.startswith(TORCH)
            assert not is_optional, f"{imported} is optional: import it where used"
        if parts[0] != "credalis" or parts[1] in (name, "__version__"):
            continue
        assert parts[1] in LEVEL, f"{name} imports {imported} from the top package"
        assert LEVEL[parts[1]] < LEVEL[name], f"{name} imports {imported}"


def test_what_displays_share_with_others_is_in_a_room_of_its_own():
    for path in MODULES:
        if subject(path) != "plots":
            for imported, _ in imported_names(ast.parse(path.read_text())):
                assert not imported.startswith("credalis.plots._"), path


def test_what_a_report_says_does_not_depend_on_how_it_is_drawn():
    for path in (ROOT / "report" / "_content").glob("*.py"):
        for imported, _ in imported_names(ast.parse(path.read_text())):
            assert not imported.startswith(("credalis.report._charts", "plotly")), path


@pytest.mark.parametrize("room", FOUNDATIONS)
def test_foundation_imports_nothing_else_of_its_subpackage(room):
    subpackage, name = room.split("/")
    paths = sorted((ROOT / room).rglob("*.py"))
    assert paths
    for path in paths:
        for imported, _ in imported_names(ast.parse(path.read_text("utf-8"))):
            parts = imported.split(".")
            if parts[:2] == ["credalis", subpackage]:
                assert parts[2:3] == [name], f"{path} imports {imported}"


def test_commands_do_not_import_each_other():
    assert len(COMMANDS) > 5
    names = {f"credalis.cli.{path.stem}" for path in COMMANDS}
    for path in COMMANDS:
        found = {name for name, _ in imported_names(ast.parse(path.read_text("utf-8")))}
        # The group has all of them.
        assert path.stem == "_main" or not found & names, path


def test_declarations_of_commands_import_no_work():
    paths = sorted((ROOT / "cli" / "_commands").glob("*.py"))
    assert len(paths) > len(COMMANDS)
    light = {"_choices", "cli"}
    for path in paths:
        for imported, is_guarded in imported_names(ast.parse(path.read_text("utf-8"))):
            parts = imported.split(".")
            if parts[0] == "credalis" and not is_guarded:
                assert parts[1] in light, f"{path} imports {imported}"
                assert parts[1] != "cli" or parts[2] == "_shared", path


def test_contributors_read_the_same_layers():
    text = CONTRIBUTING.read_text("utf-8")
    table = text[text.index("| layer | modules |") :].split("\n\n")[0]
    shown = [set(re.findall("`([^`]+)`", line)) for line in table.splitlines()[2:]]
    assert shown == LAYERS


def test_belief_needs_only_numpy():
    for path in (ROOT / "belief").glob("*.py"):
        for imported, _ in imported_names(ast.parse(path.read_text())):
            # One question is a linear programme; its solver is imported where used.
            is_program = path.name == "_decisions.py" and imported == "scipy.optimize"
            assert is_program or not imported.startswith(("scipy", "sklearn")), path


def test_belief_imports_no_solver_before_it_is_used():
    tree = ast.parse((ROOT / "belief" / "_decisions.py").read_text())
    for node in tree.body:
        assert not (
            isinstance(node, ast.ImportFrom) and node.module.startswith("scipy")
        )
