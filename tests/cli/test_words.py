"""Clear, between and outlier on the command line, and the levels that decide."""

import json
from pathlib import Path

import numpy as np
import pytest

import credalis
from cli_data import GOOD
from credalis.tables import open_table

pytest.importorskip("click")
pytest.importorskip("pyarrow")

NETWORK = ("--id", "id", "--exclude", "colour,kind", "--param", "n_init=1")


def memberships(path):
    return open_table(path, text_columns=["id"]).read().to_pydict()


class TestClearLevel:
    @pytest.mark.parametrize("level", [None, 0.99])
    def test_all_outputs_say_the_same(self, run, csv, level):
        option = () if level is None else ("--clear-level", str(level))
        options = (*GOOD, *option, "-o", "m.csv", "--model", "m.credalis")
        values = json.loads(run("cluster", csv, "-c", "2", *options, "--json").out)
        assert values["clear_level"] == (level or 0.7)
        assert values["clear"] + values["ambiguous"] + values["outliers"] == 60
        table = memberships("m.csv")
        assert sum(table["ambiguous"]) == values["ambiguous"]
        assert sum(table["outlier"]) == values["outliers"]
        sets = np.array(table["set"])
        np.testing.assert_array_equal(sets == "Ω", table["ambiguous"])
        np.testing.assert_array_equal(sets == "∅", table["outlier"])
        for each in values["clusters"]:
            assert each["clear"] == (sets == f"{{{each['cluster']}}}").sum()
            assert each["between"] == values["ambiguous"]
        partition = credalis.load("m.credalis").predict_partition(open_table(csv))
        expected = partition.verdicts(level or 0.7)
        assert values["clear"] == expected.is_clear.sum()
        assert partition.to_pandas(clear_level=level or 0.7)["set"].tolist() == (
            sets.tolist()
        )
        assert values["clusters"][0]["certainly_in"] == partition.lower[:, 0].sum()
        text = run("cluster", csv, "-c", "2", *options).out
        words = f"clear           {values['clear']} ("
        assert words in text
        assert f"belief in one cluster at least {level or 0.7})" in text

    def test_a_model_keeps_the_level_until_another_is_given(self, run, csv):
        options = (*GOOD, "--model", "m.credalis", "--clear-level", "0.99")
        fitted = json.loads(run("cluster", csv, "-c", "2", *options, "--json").out)
        again = json.loads(run("predict", "m.credalis", csv, "--json").out)
        assert again["clear_level"] == 0.99
        assert again["clear"] == fitted["clear"]
        other = run("predict", "m.credalis", csv, "--json", "--clear-level", "0.7")
        assert json.loads(other.out)["clear"] > fitted["clear"]
        words = f"{fitted['clear']} clear, {fitted['ambiguous']} between, "
        text = run("info", "m.credalis").out
        assert words in text
        assert "outliers; clear from 0.99" in text

    @pytest.mark.parametrize("level", ["0.5", "2", "much", "nan"])
    def test_levels_that_make_no_sense_are_refused(self, run, csv, level):
        result = run("cluster", csv, "-c", "2", *GOOD, "--clear-level", level)
        assert result.code == 2
        assert "--clear-level" in result.err
        assert f"above 2/3 and at most 1, got '{level}'" in result.err

    def test_the_report_has_the_level(self, run, csv):
        pytest.importorskip("plotly")
        pytest.importorskip("jinja2")
        options = (*GOOD, "--clear-level", "0.9", "--report", "r.html")
        assert run("cluster", csv, "-c", "2", *options).code == 0
        page = Path("r.html").read_text(encoding="utf-8")
        assert "the belief in one cluster is at least 0.9" in page
        assert "--clear-level 0.9" in page

    def test_what_a_method_cannot_say_is_said(self, run, csv):
        options = ("--id", "id", "--exclude", "colour,kind", "-m", "EkNNclus")
        result = run("cluster", csv, *options, "--model", "m.credalis")
        line = "No mass is on ∅: this result says nothing about outliers."
        assert line in result.out
        assert line in run("predict", "m.credalis", csv, "-o", "p.csv").out
        assert line not in run("cluster", csv, "-c", "2", *GOOD).out

    def test_files_of_the_first_version_have_their_own_words(self, run):
        path = Path(__file__).parents[1] / "fixtures" / "format1" / "tabular.credalis"
        text = run("info", path).out
        assert " ambiguous, " in text
        assert "outliers; by the largest mass" in text


class TestOutlierRate:
    def test_the_rate_reaches_the_method_and_its_model(self, run, csv):
        flagged = {}
        for rate in ("0.01", "0.3"):
            options = (*NETWORK, "--outlier-rate", rate, "--model", "m.credalis")
            result = run("cluster", csv, "-c", "2", *options, "--json")
            flagged[rate] = json.loads(result.out)["outliers"]
            estimator = credalis.load("m.credalis").estimator
            assert estimator.outlier_rate == float(rate)
            assert estimator.empty_set == "novelty"
            again = json.loads(run("predict", "m.credalis", csv, "--json").out)
            assert again["outliers"] == flagged[rate]
        assert flagged["0.01"] < flagged["0.3"]

    def test_methods_without_a_rate_say_which_have_one(self, run, csv):
        options = ("--id", "id", "--exclude", "colour,kind", "-m", "EkNNclus")
        result = run("cluster", csv, *options, "--outlier-rate", "0.05")
        assert result.code == 1
        assert result.error.startswith("EkNNclus has no --outlier-rate; ")
        assert "NNEVCLUS" in result.error

    def test_contradictions_and_wrong_rates_are_refused(self, run, csv):
        command = ("cluster", csv, "-c", "2", *NETWORK, "--outlier-rate")
        result = run(*command, "0.05", "--param", "empty_set=stress")
        assert "--outlier-rate needs empty_set=novelty, got" in result.error
        for rate in ("0", "0.6", "nan"):
            assert "--outlier-rate must be a finite number > 0 and <= 0.5" in (
                run(*command, rate).error
            )
        result = run(*command[:-1], "--param", "outlier_rate=0.1")
        assert "has an option of its own: --outlier-rate" in result.error
