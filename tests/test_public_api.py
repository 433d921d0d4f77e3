"""The public names, and what importing them costs."""

import importlib
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import credalis

PUBLIC = {
    "BCM",
    "BPEC",
    "CCM",
    "CECM",
    "ECM",
    "EGMM",
    "CatECM",
    "EVCLUS",
    "MECM",
    "NNEVCLUS",
    "RECM",
    "MultiviewECMdd",
    "TECM",
    "WMVEC",
    "Consensus",
    "CredalPartition",
    "ECMdd",
    "Bootclus",
    "EkNNclus",
    "FitControl",
    "FitEvent",
    "FocalSets",
    "belief",
    "compare",
    "constraints",
    "datasets",
    "explain",
    "load",
    "metric_learning",
    "metrics",
    "model_selection",
    "peaks",
    "plots",
    "report",
}
OPTIONAL = {
    "click",
    "dask",
    "distributed",
    "jinja2",
    "matplotlib",
    "onnx",
    "pandas",
    "plotly",
    "polars",
    "pyarrow",
    "starlette",
    "torch",
    "uvicorn",
}
SUBPACKAGES = [
    "anndata",
    "belief",
    "checkpoints",
    "cluster",
    "constraints",
    "datasets",
    "distributed",
    "metric_learning",
    "metrics",
    "model_selection",
    "network",
    "objectives",
    "optimize",
    "partition",
    "peaks",
    "plots",
    "reproduce",
    "sources",
    "streaming",
    "tables",
    "tabular",
    "topics",
]


def test_public_names_are_the_documented_ones():
    assert set(credalis.__all__) == PUBLIC
    assert all(hasattr(credalis, name) for name in PUBLIC)


@pytest.mark.parametrize("name", SUBPACKAGES)
def test_subpackage_lists_its_public_names_and_documents_them(name):
    module = importlib.import_module(f"credalis.{name}")
    assert module.__doc__
    assert sorted(set(module.__all__)) == sorted(module.__all__)
    for public in module.__all__:
        value = getattr(module, public)
        if callable(value):
            assert value.__doc__, f"{name}.{public} has no docstring"


def run_python(code):
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    return result.stdout


def imported_by(code):
    """Names of the modules that a process has imported after some code."""
    shown = run_python(f"import sys\n{code}\nprint(*sys.modules, sep='\\n')")
    return set(shown.splitlines())


def test_import_imports_nothing_else():
    found = imported_by("import credalis")
    ours = {name for name in found if name.startswith("credalis")}
    assert ours == {"credalis", "credalis._listing"}
    assert not found & {"numpy", "scipy", "sklearn", "click"}


def test_estimators_import_no_optional_package_and_not_what_surrounds_them():
    # What scikit-learn imports is its own affair: it looks for pandas, for example.
    before = imported_by("import sklearn.cluster, sklearn.svm, sklearn.mixture")
    new = imported_by(
        "import sklearn.cluster, sklearn.svm, sklearn.mixture\n"
        "from credalis import NNEVCLUS, Consensus, CredalPartition, load"
    )
    new -= before
    assert not {name.split(".")[0] for name in new} & OPTIONAL
    for around in ("cli", "plots", "report", "reproduce", "_compare", "streaming"):
        assert f"credalis.{around}" not in new


def test_all_public_names_can_be_imported_without_an_optional_package():
    before = imported_by("import sklearn.cluster, sklearn.svm, sklearn.mixture")
    new = imported_by("from credalis import *") - before
    assert not {name.split(".")[0] for name in new} & OPTIONAL


def test_star_and_dir_show_every_public_name():
    code = (
        "from credalis import *\n"
        "import credalis\n"
        "print(sorted(set(credalis.__all__) - set(globals())))\n"
        "print(sorted(set(credalis.__all__) - set(dir(credalis))))\n"
        "print(callable(report), callable(compare), NNEVCLUS is credalis.NNEVCLUS)\n"
    )
    assert run_python(code).splitlines() == ["[]", "[]", "True True True"]


def test_subpackages_are_attributes():
    modules = {
        path.stem
        for path in Path(credalis.__file__).parent.iterdir()
        if not path.name.startswith("_") and path.name != "py.typed"
    }
    # Commands and page are programs; the name of the report is that of its function.
    lazy = {*credalis._LISTED_SUBPACKAGES, *credalis._OTHER_SUBPACKAGES}
    assert lazy == modules - {"app", "cli", "report"}
    for name in lazy:
        assert getattr(credalis, name) is importlib.import_module(f"credalis.{name}")
    with pytest.raises(AttributeError, match="has no attribute 'NNEVCLU'"):
        credalis.NNEVCLU  # noqa: B018


@pytest.mark.parametrize(
    "first",
    [
        "import credalis.report",
        "from credalis.report import report",
        pytest.param(
            "from credalis.report._content import text", marks=pytest.mark.slow
        ),
        pytest.param("import credalis; credalis.report", marks=pytest.mark.slow),
    ],
)
def test_report_is_a_function_whatever_is_imported_first(first):
    code = (
        f"{first}\nimport credalis, inspect\n"
        "from credalis import report\n"
        "print(inspect.isfunction(report), credalis.report is report)"
    )
    assert run_python(code).strip() == "True True"


def test_pickles_are_read_in_a_process_that_has_imported_nothing(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = credalis.ECM(2, random_state=0).fit(X)
    file = tmp_path / "model.pickle"
    file.write_bytes(pickle.dumps((model, credalis.ECM, model.partition_)))
    code = (
        "import pickle, sys\n"
        f"model, cls, partition = pickle.load(open({str(file)!r}, 'rb'))\n"
        "print(type(model) is cls, repr(partition))"
    )
    assert run_python(code).strip() == f"True {model.partition_!r}"


def test_version_is_the_one_of_the_distribution():
    from importlib.metadata import version

    assert credalis.__version__ == version("credalis")
