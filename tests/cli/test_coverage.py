"""Sets with a level on the command line, and the rows they rest on."""

import json

import numpy as np
import pytest

import credalis
from cli_data import GOOD, flowers
from credalis.tables import open_table

pytest.importorskip("click")
pytest.importorskip("pyarrow")

N_ROWS = 200


@pytest.fixture
def table(run, tmp_path):
    """A table of 200 rows, and the classes of every third in a file."""
    text = flowers(n_rows=N_ROWS)
    (tmp_path / "t.csv").write_text(text)
    lines = [line.split(",") for line in text.splitlines()[1::3]]
    known = "".join(f"{line[0]},{line[-1]}\n" for line in lines)
    (tmp_path / "known.csv").write_text("id,class\n" + known)
    return "t.csv"


@pytest.fixture
def cluster(run, table):
    def run_cluster(*options):
        return run("cluster", table, "-c", "2", *GOOD, *options)

    return run_cluster


def column(path, name="coverage"):
    return open_table(path, text_columns=["id"]).read()[name].to_pylist()


LABELS = ("--coverage", "0.9", "--coverage-labels", "known.csv")


def test_labelled_rows_calibrate_and_are_not_fitted_to(cluster, run):
    result = cluster(*LABELS, "-o", "m.csv", "--model", "m.credalis", "--json")
    assert "67 rows with a known class are left out of the fit, 133 rem" in result.err
    values = json.loads(result.out)
    coverage = values["coverage"]
    assert coverage["target"] == "labels"
    # Twenty labels have found out which class is which cluster.
    assert coverage["calibration_rows"] == 47
    assert sum(coverage["sets_by_size"]) == values["rows"] == N_ROWS
    assert "true class" in coverage["assumption"]
    model = credalis.load("m.credalis")
    sets = model.predict_partition(open_table("t.csv")).decide(
        "coverage", level=0.9, calibration=model.estimator.calibration_
    )
    names = np.array(column("m.csv"))
    np.testing.assert_array_equal(names == "Ω", sets.all(axis=1))
    np.testing.assert_array_equal(names == "{0}", sets[:, 0] & ~sets[:, 1])
    # The groups are far apart: the named class is nearly always the only one.
    named = np.array(coverage["classes"])[np.array(column("m.csv", "label"), int)]
    kinds = [line[-1] for line in flowers(n_rows=N_ROWS).splitlines()[1:]]
    assert np.mean(named == kinds) > 0.98


def test_a_saved_model_gives_sets_of_its_level_or_another(cluster, run):
    cluster(*LABELS, "-o", "m.csv", "--model", "m.credalis")
    again = run("predict", "m.credalis", "t.csv", "-o", "p.csv")
    assert "sets at level 0.9: " in again.out
    assert "clusters by their classes: " in again.out
    assert "Nothing is promised for single rows" in again.out
    assert column("p.csv") == column("m.csv")
    options = ("--coverage", "0.95", "--fields", "label", "--json", "-o", "q.csv")
    other = json.loads(run("predict", "m.credalis", "t.csv", *options).out)
    assert other["coverage"]["level"] == 0.95
    assert open_table("q.csv").columns == ("id", "label", "coverage")
    info = run("info", "m.credalis").out
    assert "target labels, 47 rows, levels up to 0.9792. The set of" in info
    assert "calibration" in json.loads(run("info", "m.credalis", "--json").out)
    high = run("predict", "m.credalis", "t.csv", "--coverage", "0.999")
    assert "level must be at most 0.9792" in high.error


@pytest.mark.parametrize("target", [None, "model", "replicate"])
def test_sets_without_labels(cluster, target):
    option = () if target is None else ("--coverage-target", target)
    result = cluster("--coverage", "0.8", *option, "--json")
    coverage = json.loads(result.out)["coverage"]
    assert coverage["target"] == (target or "model")
    assert coverage["classes"] is None
    is_estimate = coverage["assumption"].startswith("An estimate, not a guarantee")
    assert is_estimate == (target != "replicate")
    assert ("fitted to 40 % of the rows" in result.err) == (target == "replicate")


def test_rows_that_were_left_out_have_no_set(run, table, tmp_path):
    lines = (tmp_path / "t.csv").read_text().splitlines()
    cells = lines[5].split(",")
    lines[5] = ",".join([cells[0], "", *cells[2:]])
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    options = ("--missing", "drop", "-o", "m.csv", *LABELS)
    assert run("cluster", table, "-c", "2", *GOOD, *options).code == 0
    assert [i for i, name in enumerate(column("m.csv")) if not name] == [4]


def test_the_report_has_all_rows(cluster, tmp_path):
    pytest.importorskip("plotly")
    pytest.importorskip("jinja2")
    assert cluster(*LABELS, "--report", "r.html").code == 0
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "200 objects in 2 clusters" in page
    assert "Sets at level 0.9: " in page
    assert "--coverage-labels known.csv" in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--coverage-labels", "known.csv"), "--coverage-labels needs --coverage P"),
        (("--coverage-target", "model"), "--coverage-target needs --coverage P"),
        ((*LABELS, "--coverage-target", "model"), "leave out --coverage-target"),
        (("--coverage", "0.9", "--precomputed"), "--coverage needs a table of attr"),
        (
            (*LABELS, "-m", "NNEVCLUS", "--labels", "known.csv"),
            "--labels cannot be combined with --coverage-labels",
        ),
        (
            (
                *("--coverage", "0.9", "--coverage-target", "replicate"),
                *("-m", "EVCLUS", "--must-link", "known.csv"),
            ),
            "--must-link cannot be combined with --coverage-target replicate",
        ),
    ],
)
def test_options_that_do_not_go_together(cluster, options, message):
    assert message in cluster(*options).error


def test_models_without_calibration_say_how_to_get_one(cluster, run):
    cluster("--model", "m.credalis")
    result = run("predict", "m.credalis", "t.csv", "--coverage", "0.9")
    assert "fit it with credalis cluster --coverage" in result.error
    assert cluster("--coverage", "1").code == 2
