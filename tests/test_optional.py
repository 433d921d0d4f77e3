"""Without the optional packages everything else works, and errors say what to do."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

BLOCKED = (
    "torch",
    "onnx",
    "onnxruntime",
    "dask",
    "distributed",
    "jinja2",
    "plotly",
    "pyarrow",
)


HIDE = f"""
import sys

class Absent:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] in {BLOCKED!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent)
"""


def run_without(code):
    """Run code in a process that cannot import some packages."""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", HIDE + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[1],
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_errors_name_the_extra_and_the_rest_works(tmp_path):
    code = f"""
        import numpy as np
        import credalis
        X = np.random.default_rng(0).normal(size=(30, 2))
        X[::2] += 8
        model = credalis.NNEVCLUS(2, n_init=1, random_state=0).fit(X)
        assert len(set(model.labels_)) == 2
        assert "<table>" in model.partition_._repr_html_()
        model.save({str(tmp_path / "model.credalis")!r})
        assert credalis.load({str(tmp_path / "model.credalis")!r}).predict(X).any()
        import credalis.distributed, credalis.io, credalis.streaming
        from credalis.sources import ArraySource, BatchSource
        for source in (ArraySource(X), BatchSource([X, X])):
            assert credalis.ECM(2, random_state=0).fit(source).predict(X).any()
        for call in (
            lambda: credalis.NNEVCLUS(2, engine="torch").fit(X),
            lambda: model.to_onnx({str(tmp_path / "model.onnx")!r}),
            lambda: credalis.io.open_table({str(tmp_path / "rows.parquet")!r}),
            lambda: credalis.io.predict_table(model, X, "rows.parquet"),
            lambda: credalis.report(model, X, {str(tmp_path / "report.html")!r}),
        ):
            try:
                call()
            except ImportError as error:
                print(error)
    """
    assert run_without(code).splitlines() == [
        "engine='torch' needs PyTorch: pip install credalis[torch]",
        "to_onnx needs the package onnx: pip install credalis[onnx]",
        *2 * ['tables in files need pyarrow: pip install "credalis[parquet]"'],
        "report needs plotly: pip install 'credalis[report]'",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["model.credalis"]


def test_a_perceptron_trained_by_torch_is_loaded_without_it(tmp_path):
    pytest.importorskip("torch")
    import numpy as np

    from credalis import NNEVCLUS

    X = np.random.default_rng(0).normal(size=(30, 2))
    X[::2] += 8
    model = NNEVCLUS(2, engine="torch", n_init=1, random_state=0).fit(X)
    model.save(tmp_path / "model.credalis")
    code = f"""
        import numpy as np
        import credalis
        X = np.random.default_rng(0).normal(size=(30, 2))
        X[::2] += 8
        model = credalis.load({str(tmp_path / "model.credalis")!r})
        print(model.predict(X).tolist())
    """
    assert run_without(code).strip() == str(model.predict(X).tolist())


def test_the_tests_skip():
    code = """
        import pytest
        paths = [
            "tests/cluster/test_nnevclus_torch.py",
            "tests/cluster/test_nnevclus_onnx.py",
            "tests/network/test_torch.py",
            "tests/test_distributed.py",
            "tests/test_predictions.py",
            "src/credalis/network",
        ]
        codes = pytest.main(["-q", "-p", "no:cacheprovider", *paths])
        assert codes in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED), codes
    """
    # Modules that import torch are not looked for examples in.
    assert "5 skipped" in run_without(code)
