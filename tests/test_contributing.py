"""What contributors are told is so: the targets of make, and the choice of tests."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import changed
import credalis
import tagged

ROOT = Path(__file__).parents[1]


def targets():
    text = (ROOT / "Makefile").read_text("utf-8")
    return re.search(r"^\.PHONY: (.*)$", text, re.M).group(1).split()


def test_make_alone_lists_every_target_with_one_line():
    make = shutil.which("make")
    if make is None:
        pytest.skip("needs make")
    result = subprocess.run(
        [make, "--silent"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    listed = [line.split()[1] for line in result.stdout.splitlines()]
    assert listed == targets()[1:]


def test_contributing_has_every_target():
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    table = text[text.index("| command |") :].split("\n\n")[0]
    assert set(re.findall("`make ([^`]+)`", table)) == set(targets()[1:])


def test_package_changelog_and_citations_name_the_same_version():
    assert set(tagged.versions().values()) == {credalis.__version__}


def test_workflows_run_targets_of_make_and_pin_what_they_use():
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert workflows
    for workflow in workflows:
        text = workflow.read_text("utf-8")
        commands = re.findall(r"^ *- run: (.*)$", text, re.M)
        assert len(commands) == text.count("run: ")
        assert {command.split()[0] for command in commands} == {"make"}
        assert {command.split()[1] for command in commands} <= set(targets())
        # A tag can be moved to other code, a hash cannot.
        for action in re.findall(r"uses: (.*)$", text, re.M):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v[\d.]+", action)


ALWAYS = ["tests/test_layers.py", "tests/test_public_api.py"]


@pytest.mark.parametrize(
    ("source", "tests"),
    [
        ("belief/_mobius.py", ["tests/belief/test_mobius.py"]),
        ("metrics/__init__.py", ["tests/metrics"]),
        ("cli/_shared/_console.py", ["tests/cli"]),
        (
            "report/_page.py",
            [
                "tests/test_report.py",
                "tests/test_report_browser.py",
                "tests/test_report_charts.py",
                "tests/test_report_layout.py",
                "tests/test_report_reasons.py",
            ],
        ),
        ("peaks.py", ["tests/test_peaks.py"]),
    ],
)
def test_a_source_file_stands_for_its_doctests_and_its_mirror(source, tests):
    path = f"src/credalis/{source}"
    own = [path] if (ROOT / path).exists() else []
    assert changed.chosen_tests({path}) == (sorted([*own, *ALWAYS, *tests]), [])


def test_a_module_without_a_mirror_stands_for_the_tests_that_name_it():
    paths, _ = changed.chosen_tests({"src/credalis/io.py"})
    assert "tests/test_predictions.py" in paths


def test_an_estimator_adds_its_contract():
    file = changed.estimator_files()["ECM"].as_posix()
    paths, estimators = changed.chosen_tests({file})
    assert "tests/cluster/test_ecm.py" in paths
    assert estimators == ["ECM"]
    words = changed.expression(estimators).strip("()").split(" and not ")
    assert words[0] == "ECM"
    assert set(words[1:]) == {
        *("RECM", "CECM", "MECM", "ECMdd", "CatECM", "MultiviewECMdd", "TECM")
    }


def test_what_estimators_share_adds_the_contract_of_all():
    _, estimators = changed.chosen_tests({"src/credalis/cluster/__init__.py"})
    assert estimators == sorted(changed.estimator_files())
    both = {"src/credalis/cluster/__init__.py", "tests/test_all_estimators.py"}
    assert changed.chosen_tests(both)[1] == []


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("tests/metrics/test_rand.py", "tests/metrics/test_rand.py"),
        ("tests/objectives/conftest.py", "tests/objectives"),
        ("tests/changed.py", "tests/test_contributing.py"),
        ("README.md", "tests/test_pages.py"),
        ("CONTRIBUTING.md", "tests/test_contributing.py"),
    ],
)
def test_other_files_stand_for_the_tests_about_them(path, test):
    assert changed.chosen_tests({path}) == (sorted([*ALWAYS, test]), [])


def test_files_that_are_gone_are_not_passed_on():
    gone = {"tests/test_gone.py", "src/credalis/belief/_gone.py", "LICENSE"}
    assert changed.chosen_tests(gone) == (sorted(["tests/belief", *ALWAYS]), [])


@pytest.mark.parametrize("files", [None, {"pyproject.toml"}, {"tests/conftest.py"}])
def test_a_fixed_choice_where_nothing_better_is_known(files):
    paths, estimators = changed.chosen_tests(files)
    assert len(paths) > 10
    assert all((ROOT / path).exists() for path in paths)
    assert set(estimators) < set(changed.estimator_files())


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A small repository in the place of ours; a function that runs git in it."""
    if shutil.which("git") is None:
        pytest.skip("needs git")
    monkeypatch.setattr(changed, "ROOT", tmp_path)
    names = ("AUTHOR", "COMMITTER")
    for name in names:
        monkeypatch.setenv(f"GIT_{name}_NAME", "somebody")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "somebody@example.org")

    def git(*arguments):
        subprocess.run(["git", *arguments], cwd=tmp_path, check=True)

    return git


def test_changes_are_those_since_the_main_branch(repository, tmp_path):
    repository("init", "--quiet", "--initial-branch", "main")
    for name in ("kept", "edited", "removed", "moved"):
        (tmp_path / name).write_text(f"{name}\n")
    repository("add", ".")
    repository("commit", "--quiet", "--message", "first")
    assert changed.changed_files() == set()
    repository("switch", "--quiet", "--create", "work")
    (tmp_path / "edited").write_text("other\n")
    repository("rm", "--quiet", "removed")
    repository("mv", "moved", "there")
    repository("commit", "--quiet", "--all", "--message", "second")
    (tmp_path / "new").write_text("new\n")
    expected = {"edited", "removed", "moved", "there", "new"}
    assert changed.changed_files() == expected


def test_without_a_main_branch_nothing_is_known(repository, tmp_path, monkeypatch):
    assert changed.changed_files() is None
    repository("init", "--quiet", "--initial-branch", "trunk")
    assert changed.changed_files() is None
    monkeypatch.setenv("PATH", str(tmp_path))
    assert changed.changed_files() is None
