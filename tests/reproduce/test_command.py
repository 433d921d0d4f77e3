"""``credalis reproduce`` on the command line."""

import json

import pytest

pytest.importorskip("click")
pytest.importorskip("matplotlib")

from credalis.cli import main
from credalis.reproduce import EXPERIMENTS


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run_command(*arguments):
        capsys.readouterr()
        code = main(["reproduce", *map(str, arguments)])
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run_command


def test_list_names_all_experiments(run):
    code, out, _ = run("list")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(EXPERIMENTS)
    code, out, _ = run("list", "--json")
    found = json.loads(out)["experiments"]
    assert [each["name"] for each in found] == list(EXPERIMENTS)
    assert all(each["quick"] <= each["cells"] for each in found)


def test_run_writes_a_report_and_goes_on_from_it(run, tmp_path):
    code, out, err = run("examples", "-o", "there")
    assert (code, err) == (0, "")
    assert "6 of 6 values that can be compared are reproduced or better" in out
    assert "2 computed, 0 finished before" in out
    assert (tmp_path / "there" / "report.html").is_file()
    assert (tmp_path / "there" / "report.md").is_file()
    code, out, _ = run("examples", "-o", "there", "--json")
    values = json.loads(out)
    assert (values["computed"], values["kept"]) == (0, 2)
    assert values["findings"][0]["verdict"] == "reproduced"


def test_missing_data_are_no_error(run, tmp_path):
    code, out, _ = run("circles", "--data", tmp_path)
    assert code == 0
    assert "2 without data" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tables"], "NAME must be one of list, all, examples,"),
        (["list", "examples"], "list must stand alone, got list examples"),
        (["examples", "--n-jobs", "0"], "--n-jobs must be a number of processes"),
    ],
)
def test_wrong_usage(run, arguments, message):
    code, _, err = run(*arguments)
    assert code == 2
    assert err.startswith("credalis: error: ")
    assert message in err


def test_a_directory_that_is_none(run):
    code, _, err = run("examples", "--data", "nowhere")
    assert code == 1
    assert "data must be an existing directory, got 'nowhere'" in err
