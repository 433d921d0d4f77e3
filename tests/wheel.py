"""What a stranger gets: the wheel in clean environments, alone and with each extra.

``python tests/wheel.py dist`` installs the wheel of a folder, looks at what is in it,
and runs the demo and the tests that apply: away from the sources, so that nothing but
the wheel can be imported.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path

_ROOT = Path(__file__).parents[1]

# What else the tests need, beside the extra.
_TOOLS = ["pytest>=8.1.1", "hypothesis>=6.100", "pandas>=2.2.3", "httpx>=0.27"]

# Extras that are made of others, or for developers.
_NOT_ALONE = {"all", "bench", "test", "docs"}

# Before anything else is installed.
_FIRST_FIT = """
import credalis
from credalis.datasets import make_four_class

X, _ = make_four_class(80, random_state=0)
print(credalis.ECM(4, random_state=0).fit(X).partition_.summary())
"""

# Tests that need no extra, and those about what an extra brings.
_TESTS = {
    "": ["belief", "metrics", "objectives", "optimize", "cluster/test_ecm.py"],
    "plot": ["plots"],
    "report": ["test_html.py"],
    "cli": ["cli/test_predict.py"],
    "app": ["app/test_settings.py", "app/test_security.py"],
    "excel": ["tables/test_workbooks.py"],
    "parquet": ["tables/test_formats.py"],
    "dask": ["sources/test_placement.py"],
    "anndata": ["test_anndata.py"],
    "onnx": ["cluster/test_nnevclus_onnx.py"],
    "torch": ["cluster/test_nnevclus_torch.py"],
}


def main():
    (wheel,) = Path(sys.argv[1]).resolve().glob("*.whl")
    look_into(wheel)
    project = tomllib.loads((_ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    pins = [name for name in extras["test"] if name.startswith("torch==")]
    chosen = sys.argv[2:] or ["", *(name for name in extras if name not in _NOT_ALONE)]
    for extra in chosen:
        with tempfile.TemporaryDirectory() as folder:
            try_out(wheel, extra, Path(folder), pins if extra == "torch" else [])


def look_into(wheel):
    """Neither tests nor data that nobody reads."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    print(f"{wheel.name}: {len(names)} files, {wheel.stat().st_size / 1e6:.2f} MB")
    strange = [name for name in names if not name.startswith("credalis")]
    if strange:
        sys.exit(f"{wheel.name} holds {strange}")
    if "credalis/app/static/main.js" not in names:
        sys.exit(f"{wheel.name} lacks the page")
    if "credalis/app/static/jsconfig.json" in names:
        sys.exit(f"{wheel.name} holds what only developers need")


def try_out(wheel, extra, folder, pins):
    """A clean environment, the import, the demo, the tests."""
    print(f"--- {extra or 'no extra'}", flush=True)
    python = environment(folder)
    wanted = f"{wheel}[{extra}]" if extra else str(wheel)
    run(python, "-m", "pip", "install", "--quiet", wanted, *pins)
    run(python, "-c", _FIRST_FIT)
    if extra == "cli":
        run(python, "-m", "credalis", "demo", cwd=folder)
    run(python, "-m", "pip", "install", "--quiet", *_TOOLS)
    tests = folder / "tests"
    shutil.copytree(_ROOT / "tests", tests)
    shutil.copy(_ROOT / "pyproject.toml", folder)
    options = ["-q", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib"]
    run(python, "-m", "pytest", *options, *_TESTS[extra], cwd=tests)


def environment(folder):
    """The Python of a new virtual environment."""
    run(sys.executable, "-m", "venv", folder / "venv")
    is_windows = os.name == "nt"
    return folder / "venv" / ("Scripts/python.exe" if is_windows else "bin/python")


def run(*command, cwd=None):
    subprocess.run([str(word) for word in command], check=True, cwd=cwd)


if __name__ == "__main__":
    main()
