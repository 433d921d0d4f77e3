"""Run the tests that concern what has changed since the main branch.

``python tests/changed.py`` is part of ``make check-fast``; its arguments are passed on
to pytest. A source file stands for its doctests and the tests that mirror it: those of
its name, else of its folder, else of the folder above, and so on. A file of
`credalis.cluster` adds the contract of the estimators that it defines, or else of those
in its folder. Where git cannot say what has changed, or the change may concern
everything, a fixed choice of tests is run.
"""

import inspect
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE, TESTS = Path("src/credalis"), Path("tests")
MAIN_BRANCHES = ("origin/main", "main", "origin/master", "master")

CONTRACT = "tests/test_all_estimators.py"
ALWAYS = ("tests/test_layers.py", "tests/test_public_api.py")
CONCERN_EVERYTHING = {"pyproject.toml", "tests/conftest.py"}

# About five minutes of one processor, from every layer.
SOME_TESTS = (
    "tests/belief",
    "tests/cli",
    "tests/cluster/test_ecm.py",
    "tests/cluster/test_nnevclus.py",
    "tests/metrics",
    "tests/model_selection",
    "tests/network",
    "tests/objectives",
    "tests/optimize",
    "tests/partition",
    "tests/reproduce",
    "tests/sources",
    "tests/streaming",
    "tests/tables",
    "tests/tabular",
    "tests/test_archive.py",
    "tests/test_compare.py",
)
SOME_ESTIMATORS = ("ECM", "EVCLUS")

# The tests of files that are neither source nor tests, by file or by folder.
OTHERS = {
    "CONTRIBUTING.md": "tests/test_contributing.py",
    "Makefile": "tests/test_contributing.py",
    "benchmarks": "tests/test_benchmarks.py",
    "README.md": "tests/test_pages.py",
    "docs": "tests/test_pages.py tests/test_reference.py tests/test_site.py",
    "examples": "tests/test_examples.py",
}


def changed_files() -> set[str] | None:
    """Paths that differ from the main branch; None if git cannot say.

    Files that were deleted or moved away are among them.
    """
    for branch in MAIN_BRANCHES:
        base = _git("merge-base", "HEAD", branch)
        if base:
            differing = _git("diff", "--name-only", "--no-renames", base[0])
            untracked = _git("ls-files", "--others", "--exclude-standard")
            if differing is not None and untracked is not None:
                return {*differing, *untracked}
    return None


def _git(*arguments: str) -> list[str] | None:
    """Lines that git prints; None if it fails or is absent."""
    try:
        result = subprocess.run(
            ["git", "-c", "core.quotePath=false", *arguments],
            cwd=ROOT,
            capture_output=True,
            encoding="utf-8",
        )
    except OSError:
        return None
    return result.stdout.splitlines() if result.returncode == 0 else None


def chosen_tests(changed: set[str] | None) -> tuple[list[str], list[str]]:
    """Paths for pytest, and the estimators whose contract is checked."""
    if changed is None or changed & CONCERN_EVERYTHING:
        return [*SOME_TESTS, *ALWAYS], list(SOME_ESTIMATORS)
    paths, estimators = set(ALWAYS), set()
    for name in changed:
        path = Path(name)
        if path.is_relative_to(SOURCE):
            paths.update(_tests_of_source(path))
            if path.is_relative_to(SOURCE / "cluster"):
                estimators.update(_estimators_of(path))
        elif path.is_relative_to(TESTS):
            paths.update(_tests_of_test(path))
        elif path.parts[0] in OTHERS:
            paths.update(OTHERS[path.parts[0]].split())
    if CONTRACT in paths:
        estimators.clear()
    return _without_repetition(paths), sorted(estimators)


def _without_repetition(paths: Iterable[str]) -> list[str]:
    """Paths that exist, without those inside another of them."""
    there = {Path(each) for each in paths if (ROOT / each).exists()}
    return sorted(path.as_posix() for path in there if not there & {*path.parents})


def _tests_of_source(source: Path) -> list[str]:
    """Its doctests, and the nearest tests that mirror it."""
    own = [source.as_posix()] if source.suffix == ".py" else []
    parts = source.relative_to(SOURCE).with_suffix("").parts
    if parts[-1] == "__init__":
        parts = parts[:-1]
    for depth in range(len(parts), 0, -1):
        name = parts[depth - 1].strip("_")
        folder = "" if depth == 1 else f"{parts[0]}/**/"
        mirror = TESTS.joinpath(*parts[:depth])
        found = [
            *_matching(f"tests/{folder}test_{name}.py"),
            *_matching(f"tests/{folder}test_{name}_*.py"),
            *([mirror.as_posix()] if (ROOT / mirror).is_dir() else []),
        ]
        if found:
            return own + found
    return own + (_naming(rf"\bcredalis\.{parts[0]}\b") if parts else [])


def _tests_of_test(path: Path) -> list[str]:
    """A test itself; of what tests share, those that share it."""
    if path.name.startswith("test_"):
        return [path.as_posix()]
    if path.name == "conftest.py":
        return [path.parent.as_posix()]
    if path.suffix == ".py":
        return _naming(rf"(?m)^(import|from) {path.stem}\b")
    return _naming(re.escape(path.name))


def _matching(pattern: str) -> list[str]:
    return [path.relative_to(ROOT).as_posix() for path in ROOT.glob(pattern)]


def _naming(pattern: str) -> list[str]:
    """Tests with such a text in them."""
    return [
        name
        for name in _matching("tests/**/test_*.py")
        if re.search(pattern, (ROOT / name).read_text("utf-8"))
    ]


def _estimators_of(source: Path) -> list[str]:
    """Estimators that a file of `credalis.cluster` defines, or else its folder."""
    files = estimator_files()
    own = [name for name, file in files.items() if file == source]
    beside = [name for name, file in files.items() if source.parent in file.parents]
    return own or beside or list(files)


def estimator_files() -> dict[str, Path]:
    """The file of each estimator."""
    from credalis import cluster

    classes = {name: getattr(cluster, name) for name in cluster.__all__}
    return {
        name: Path(inspect.getfile(value)).resolve().relative_to(ROOT)
        for name, value in classes.items()
        if inspect.isclass(value) and not inspect.isabstract(value)
    }


def expression(estimators: Iterable[str]) -> str:
    """What selects these estimators and no other whose name has theirs in it."""
    alone = []
    for name in estimators:
        longer = [each for each in estimator_files() if name in each and each != name]
        alone.append(" and not ".join([name, *longer]))
    return " or ".join(f"({each})" for each in alone)


def main(options: Iterable[str]) -> int:
    """Run the chosen tests; the exit code is that of the first run that fails."""
    paths, estimators = chosen_tests(changed_files())
    runs = [paths]
    if estimators:
        runs.append([CONTRACT, "-k", expression(estimators)])
    for arguments in runs:
        print("pytest", *arguments, flush=True)
        command = [sys.executable, "-m", "pytest", *options, *arguments]
        code = subprocess.run(command, cwd=ROOT).returncode
        if code:
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
