"""The public names, and what importing them costs."""

import importlib
import subprocess
import sys

import pytest

import credalis

PUBLIC = {
    "BCM",
    "BPEC",
    "CCM",
    "CECM",
    "ECM",
    "EVCLUS",
    "MECM",
    "NNEVCLUS",
    "RECM",
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
    "load",
    "metric_learning",
    "metrics",
    "model_selection",
    "peaks",
    "plots",
    "report",
}
SUBPACKAGES = [
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


def test_import_loads_no_optional_package():
    code = (
        "import sys, sklearn.cluster; before = set(sys.modules)\n"
        "import credalis\n"
        "optional = {'matplotlib', 'pandas', 'polars', 'torch', 'onnx', 'dask', "
        "'plotly', 'jinja2', 'click', 'pyarrow'}\n"
        "new = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new & optional))"
    )
    assert run_python(code).strip() == "[]"


def test_version_is_the_one_of_the_distribution():
    from importlib.metadata import version

    assert credalis.__version__ == version("credalis")
