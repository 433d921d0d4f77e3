"""What a newcomer meets between a table and an answer."""

import gzip
import json
import re
import sys

import numpy as np
import pytest

import credalis
from cli_data import GOOD, N_ROWS, flowers
from credalis.tables import open_table

pytest.importorskip("click")
pa = pytest.importorskip("pyarrow")


def memberships(path):
    return open_table(path, text_columns=["id"]).read().to_pydict()


class TestAnswers:
    def test_summary_memberships_and_model(self, run, csv, files):
        result = run(
            *("cluster", csv, "-c", "2", *GOOD),
            *("-o", "m.csv", "--model", "m.credalis"),
        )
        assert result.code == 0
        assert "Credal partition of 60 objects in 2 clusters" in result.out
        assert "memberships m.csv" in result.out
        assert "60 rows, 2 columns ('height', 'width'), scaled to mean 0" in result.err
        assert files() == ["flowers.csv", "m.credalis", "m.csv"]
        table = memberships("m.csv")
        assert table["id"] == [f"f{i:03d}" for i in range(N_ROWS)]
        assert list(table)[1:6] == ["label", "set", "outlier", "ambiguous", "doubt"]
        model = credalis.load("m.credalis")
        partition = model.predict_partition(open_table(csv))
        masses = np.array([table[f"m {name}"] for name in model.focal_sets.names])
        np.testing.assert_array_equal(masses.T, partition.masses)
        np.testing.assert_array_equal(table["label"], partition.labels)

    @pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.csv.gz", "t.npy"])
    def test_every_format_gives_the_same_answer(self, run, csv, name, tmp_path):
        table = open_table(csv).read(["height", "width"])
        if name.endswith(".parquet"):
            pytest.importorskip("pyarrow.parquet").write_table(table, name)
        elif name.endswith(".feather"):
            pytest.importorskip("pyarrow.feather").write_feather(table, name)
        elif name.endswith(".npy"):
            np.save(name, np.column_stack(list(table.to_pydict().values())))
        else:
            (tmp_path / name).write_bytes(gzip.compress(flowers().encode()))
        options = ("--id", "id", "--exclude", "colour,kind") if ".csv" in name else ()
        expected = run("cluster", csv, "-c", "2", *GOOD, "-q", "--json")
        result = run("cluster", name, "-c", "2", "-m", "ECM", *options, "--json")
        ours, theirs = json.loads(result.out), json.loads(expected.out)
        assert ours["clusters"] == theirs["clusters"]
        assert ours["loss"] == theirs["loss"]

    @pytest.mark.parametrize("name", ["m.tsv", "m.csv.gz", "m.parquet", "m.feather"])
    def test_every_output_holds_the_same(self, run, csv, name):
        assert run("cluster", csv, "-c", "2", *GOOD, "-o", "m.csv").code == 0
        assert run("cluster", csv, "-c", "2", *GOOD, "-o", name).code == 0
        assert memberships(name) == memberships("m.csv")

    def test_pipes_and_a_summary_on_standard_error(self, run, csv):
        content = flowers().encode()
        result = run("cluster", "-", "-c", "2", *GOOD, "-o", "-", stdin=content)
        assert result.code == 0
        assert "Credal partition of 60 objects" in result.err
        assert "memberships" not in result.err  # no file to name
        assert result.out.startswith('"id","label","set"')
        assert result.out.count("\n") == N_ROWS + 1
        quiet = run("cluster", csv, "-c", "2", *GOOD, "-o", "-", "-q")
        assert quiet.out == result.out
        assert quiet.err == ""

    def test_json_is_for_programs(self, run, csv):
        result = run("cluster", csv, "-c", "2", *GOOD, "--json", "--seed", "3")
        values = json.loads(result.out)
        assert (values["rows"], values["n_clusters"], values["seed"]) == (60, 2, 3)
        assert sum(each["most_plausible"] for each in values["clusters"]) == 60
        assert values["warnings"] == []

    def test_fields_are_chosen(self, run, csv):
        run("cluster", csv, "-c", "2", *GOOD, "-o", "m.csv", "--fields", "set,label")
        assert list(memberships("m.csv")) == ["id", "label", "set"]
        assert run("cluster", csv, "-c", "2", "--fields", "lable").code == 2

    def test_scaling_is_said_and_changes_the_answer(self, run, csv):
        losses = {}
        for scale in ("standard", "robust", "none"):
            result = run("cluster", csv, "-c", "2", *GOOD, "--scale", scale, "--json")
            losses[scale] = json.loads(result.out)["loss"]
            assert {"none": "not scaled"}.get(scale, "scaled to") in result.err
        assert len(set(losses.values())) == 3

    def test_parameters_reach_the_method(self, run, csv):
        parameters = ("--param", "alpha=2", "--param", "focal_sets=full")
        run("cluster", csv, "-c", "2", *GOOD, *parameters, "--model", "m.credalis")
        estimator = credalis.load("m.credalis").estimator
        assert (estimator.alpha, estimator.focal_sets) == (2, "full")

    def test_methods_have_any_case_and_may_find_the_number(self, run, csv):
        options = ("--id", "id", "--exclude", "colour,kind", "-m", "eknnclus")
        assert run("cluster", csv, *options).code == 0
        assert "finds the number" in run("cluster", csv, *options, "-c", "2").error

    def test_a_number_is_chosen_and_the_reason_told(self, run, csv):
        result = run("cluster", csv, "-c", "2-4", *GOOD, "--json")
        values = json.loads(result.out)
        assert values["n_clusters"] == 2
        assert values["chosen"]["tried"] == [2, 4]
        assert "2 clusters chosen: 2 clusters by" in result.err
        assert "agreement: 2, members agree most" in result.err

    def test_auto_asks_first_whether_there_is_anything(self, run, csv, rng):
        result = run("cluster", csv, "-c", "auto", *GOOD, "--json")
        values = json.loads(result.out)
        assert values["n_clusters"] == 2
        assert values["chosen"]["p_value"] < 0.02
        np.save("noise.npy", rng.uniform(size=(90, 2)))
        options = ("cluster", "noise.npy", "-m", "ECM")
        result = run(*options, "-c", "auto")
        assert result.code == 1
        assert "there seem to be no clusters" in result.error
        assert "as in -c 3" in result.error
        result = run(*options, "-c", "2-4")
        assert result.code == 0
        assert "but a test finds no gaps" in result.err

    def test_clusters_that_may_be_none_are_warned_of(self, run, csv, rng, tmp_path):
        np.save("noise.npy", rng.normal(size=(120, 2)))
        options = ("--param", "members=['full','ward']", "--report", "r.html")
        result = run("cluster", "noise.npy", "-c", "3", *options, "--json", "-q")
        assert result.code == 0
        told = "X shows no sure gaps between groups (p = "
        assert result.err.startswith(f"credalis: warning: {told}")
        assert result.err.count("\n") == 1
        (warning,) = json.loads(result.out)["warnings"]
        assert warning.startswith(told)
        assert "-c auto on the command line" in warning
        page = (tmp_path / "r.html").read_text(encoding="utf-8")
        assert "the 3 clusters may only divide one group." in page
        # Of sixty rows in three clusters nothing is asked.
        result = run("cluster", csv, "-c", "3", *GOOD[:-2], "--json")
        assert json.loads(result.out)["warnings"] == []

    def test_labels_say_that_there_are_clusters(self, run, tmp_path, rng):
        np.save("noise.npy", rng.uniform(size=(60, 2)))
        (tmp_path / "labels.csv").write_text("row,label\n0,a\n1,b\n2,c\n")
        options = ("cluster", "noise.npy", "--labels", "labels.csv")
        quick = ("--param", "n_init=1", "--param", "max_iter=5")
        result = run(*options, *quick, "-c", "auto", "--json")
        assert result.code == 0
        assert json.loads(result.out)["n_clusters"] >= 3
        assert "-c must reach beyond the 3" in run(*options, "-c", "2-3").error

    def test_the_choice_for_many_dissimilarities_rests_on_a_sample(
        self, run, csv, monkeypatch
    ):
        monkeypatch.setattr("credalis.cli._shared._n_clusters.MAX_ROWS", 40)
        heights = np.array(open_table(csv).read(["height"])["height"])
        np.save("d.npy", np.abs(heights[:, None] - heights))
        result = run("cluster", "d.npy", "-c", "2-3", "--precomputed", "-m", "RECM")
        assert "on 40 of 60 rows" in result.err
        assert "peaks: 2" in result.err
        assert result.code == 0

    def test_one_hot(self, run, csv):
        options = ("--id", "id", "--exclude", "kind", "-m", "ECM", "--one-hot")
        run("cluster", csv, "-c", "2", *options, "--model", "m.credalis")
        preparation = credalis.load("m.credalis").preparation
        assert preparation.categories == {"colour": ["blue", "red"]}

    def test_dissimilarities(self, run, csv, tmp_path):
        heights = np.array(open_table(csv).read(["height"])["height"])
        np.save("d.npy", np.abs(heights[:, None] - heights))
        options = ("cluster", "d.npy", "-c", "2", "--precomputed")
        result = run(*options, "-m", "RECM", "-o", "m.csv")
        assert result.code == 0
        assert "dissimilarities of 60 objects" in result.err
        result = run(*options, "--model", "m.credalis")
        assert result.code == 0
        estimator = credalis.load("m.credalis").estimator
        assert type(estimator).__name__ == "Consensus"
        assert estimator.metric_ == "precomputed"
        assert "ECM cannot use --precomputed" in run(*options, "-m", "ECM").error
        error = run(
            "cluster", csv, "-c", "2", *GOOD[:-1], "RECM", "--precomputed"
        ).error
        assert "must be square for --precomputed, got 60 rows and 2 columns" in error

    def test_the_report_is_a_page_about_the_table(self, run, csv, tmp_path):
        pytest.importorskip("plotly")
        result = run("cluster", csv, "-c", "2", *GOOD, "--report", "report.html")
        assert result.code == 0
        page = (tmp_path / "report.html").read_text()
        assert "<h1>flowers.csv <time" in page
        assert "f000" in page
        assert "credalis cluster flowers.csv -c 2" in page

    def test_a_report_without_plotly_is_refused_before_the_fit(
        self, run, csv, monkeypatch, files
    ):
        monkeypatch.setitem(sys.modules, "plotly", None)
        result = run("cluster", csv, "-c", "2", *GOOD, "--report", "report.html")
        assert result.code == 1
        assert 'pip install "credalis[report]"' in result.error
        assert files() == ["flowers.csv"]

    def test_the_report_gets_the_table_in_its_own_units(self, run, csv, monkeypatch):
        calls = []
        monkeypatch.setattr(
            credalis, "report", lambda *args, **about: calls.append((args, about))
        )
        options = ("--missing", "drop", "--report", "report.html")
        with open(csv, "a") as stream:
            stream.write("extra,,3,red,a\n")
        assert run("cluster", csv, "-c", "2", *GOOD, *options).code == 0
        (((estimator, X, path), about),) = calls
        assert path == "report.html"
        assert X.shape == (60, 2)
        assert about["ids"] == [f"f{i:03d}" for i in range(60)]
        assert list(about["data"]) == ["height", "width", "colour", "kind"]
        assert about["described"] == ("colour", "kind")
        assert about["data"]["height"].max() > 20
        assert about["command"] == (
            "credalis cluster flowers.csv -c 2 -m ECM --report report.html --exclude "
            "colour,kind --id id --missing drop --seed 0"
        )
        assert len(estimator.labels_) == 60


class TestMissingValues:
    @pytest.fixture
    def gappy(self, tmp_path):
        (tmp_path / "gaps.csv").write_text(
            "id,a,b\n"
            + "".join(f"r{i},{i % 2 * 9 + i / 50},{i}\n" for i in range(20))
            + "r20,,1\nr21,NA,2\nr22,3,?\n"
        )
        return ("cluster", "gaps.csv", "-c", "2", "-m", "ECM", "--id", "id")

    def test_strict_is_an_error_with_a_count(self, run, gappy, files):
        error = run(*gappy, "--strict", "--na", "?", "-o", "m.csv").error
        assert "missing values in 3 of 23 rows ('a' 2, 'b' 1)" in error
        assert "--missing drop" in error
        assert files() == ["gaps.csv"]

    def test_a_sign_for_missing_is_recognised(self, run, gappy):
        error = run(*gappy, "--strict").error
        assert "column 'b': most cells are numbers, but not '?'" in error
        assert "--na '?'" in error
        result = run(*gappy)
        assert result.code == 0
        assert "'?' in 'b' stands for a missing value" in result.err

    def test_a_method_that_needs_every_cell_gets_medians(self, run, gappy):
        result = run(*gappy, "-o", "m.csv", "--json")
        assert (
            "ECM needs every cell: medians stand in for missing numbers, no category "
            "for missing words: 'a' 2, 'b' 1" in result.err
        )
        assert None not in memberships("m.csv")["label"]
        assert len(json.loads(result.out)["decisions"]) == 3

    def test_other_methods_leave_cells_out_of_pairs(self, run, gappy):
        result = run(*gappy[:-4], "-m", "EVCLUS", "--id", "id", "-o", "m.csv")
        assert result.code == 0
        assert (
            "missing cells leave a column out of a pair of rows: 'a' 2, 'b' 1"
            in result.err
        )
        assert "rows are compared by Gower's dissimilarity" in result.err
        table = memberships("m.csv")
        assert None not in table["label"]
        # The first column alone decides, where it is known.
        assert len(set(table["label"][:20:2])) == 1
        assert table["label"][0] != table["label"][1]

    def test_dropped_rows_are_empty_in_the_output(self, run, gappy):
        options = ("--na", "?", "--missing", "drop", "-o", "m.csv", "--json")
        result = run(*gappy, *options)
        assert "3 of 23 rows left out because of missing values: 'a' 2" in result.err
        assert json.loads(result.out)["dropped"] == 3
        table = memberships("m.csv")
        assert table["id"][-4:] == ["r19", "r20", "r21", "r22"]
        assert table["label"][-3:] == [None] * 3
        assert None not in table["label"][:-3]

    def test_imputed_rows_have_masses(self, run, gappy):
        result = run(*gappy, "--na", "?", "--missing", "impute", "-o", "m.csv")
        assert "medians filled in for missing values: 'a' 2, 'b' 1" in result.err
        assert None not in memberships("m.csv")["label"]

    def test_a_column_without_values(self, run, tmp_path):
        (tmp_path / "t.csv").write_text("a,b\n1,\n2,\n3,\n")
        command = ("cluster", "t.csv", "-c", "2", "-m", "ECM", "--missing", "drop")
        error = run(*command, "--strict").error
        assert "no value at all in 'b': leave that out with --exclude b" in error
        assert "'b' left out: no value at all" in run(*command, "--columns", "a,b").err


class TestSideInformation:
    def test_labels_and_pairs_by_identifier(self, run, csv, tmp_path):
        (tmp_path / "labels.csv").write_text("id,kind\nf000,tall\nf001,small\nf002,\n")
        (tmp_path / "must.csv").write_text("f003;f005\n")
        (tmp_path / "cannot.csv").write_text("first,second\nf004,f007\n")
        result = run(
            *("cluster", csv, "-c", "2", "--id", "id", "--exclude", "colour,kind"),
            *("--labels", "labels.csv", "--must-link", "must.csv"),
            *("--cannot-link", "cannot.csv", "-o", "m.csv"),
        )
        assert result.code == 0, result.err
        assert "labels become clusters: small is 0, tall is 1" in result.err
        assert "cannot.csv: the first line is taken as a header" in result.err
        assert "clusters by their labels: 0 is small, 1 is tall" in result.out
        table = memberships("m.csv")
        assert {"pl {small}", "pl {tall}", "m {small,tall}"} <= table.keys()
        assert set(table["set"]) <= {"{small}", "{tall}", "{small,tall}", "∅"}
        label = table["label"]
        assert label[0] == "tall"
        assert label[1] == "small"

    def test_rows_without_identifiers_are_numbered_from_zero(self, run, csv, tmp_path):
        (tmp_path / "must.csv").write_text("0,2\n0,60\n")
        options = ("--columns", "height,width", "-m", "CECM", "--must-link", "must.csv")
        error = run("cluster", csv, "-c", "2", *options).error
        assert error == (
            "must.csv, row 2: flowers.csv has no row '60' (rows are numbered from 0)"
        )

    @pytest.mark.parametrize(
        ("option", "content", "message"),
        [
            ("--must-link", "f000,f999\n", "row 1: flowers.csv has no .* 'f999'"),
            ("--must-link", "f000,f001,f002\n", "must have two columns.*got 3"),
            ("--must-link", "f001,f001\n", "two different rows, got 'f001' twice"),
            ("--must-link", "", "pairs.csv is empty"),
            ("--labels", "f000,a\nf000,b\n", "'f000' has two different labels"),
            ("--labels", "f000,a\nf001,b\nf002,c\n", "3 different labels, more than"),
        ],
    )
    def test_what_does_not_fit_is_told(
        self, run, csv, tmp_path, option, content, message
    ):
        (tmp_path / "pairs.csv").write_text(content)
        options = ("--id", "id", "--exclude", "colour,kind", option, "pairs.csv")
        result = run("cluster", csv, "-c", "2", *options)
        assert result.code == 1
        assert re.search(message, result.err)

    def test_contradictions_are_told_by_identifier(self, run, csv, tmp_path):
        (tmp_path / "must.csv").write_text("f000,f001\nf001,f002\n")
        (tmp_path / "cannot.csv").write_text("f005,f006\nf000,f002\n")
        options = ("--must-link", "must.csv", "--cannot-link", "cannot.csv")
        result = run("cluster", csv, "-c", "2", *GOOD[:-1], "CECM", *options)
        assert "cannot.csv, row 2: 'f000' and 'f002' cannot be in" in result.err
        assert result.code == 1

    def test_identifiers_must_differ(self, run, csv, tmp_path):
        with open(csv, "a") as stream:
            stream.write("f001,1,2,red,a\n")
        (tmp_path / "must.csv").write_text("f000,f002\n")
        without = run("cluster", csv, "-c", "2", *GOOD)
        assert without.code == 0
        assert (
            "warning: flowers.csv: the identifiers in 'id' are not unique"
            in without.err
        )
        options = (*GOOD[:-1], "CECM", "--must-link", "must.csv")
        result = run("cluster", csv, "-c", "2", *options)
        assert result.code == 1
        assert "'f001' occurs more than once in 'id'" in result.err

    def test_a_method_without_use_for_it_says_so(self, run, csv, tmp_path):
        (tmp_path / "must.csv").write_text("f000,f002\n")
        error = run("cluster", csv, "-c", "2", *GOOD, "--must-link", "must.csv").error
        assert "ECM cannot use --must-link; NNEVCLUS" in error

    def test_a_row_that_was_left_out(self, run, csv, tmp_path):
        with open(csv, "a") as stream:
            stream.write("gap,,2,red,a\n")
        (tmp_path / "must.csv").write_text("f000,gap\n")
        options = (*GOOD[:-1], "CECM", "--must-link", "must.csv", "--missing", "drop")
        result = run("cluster", csv, "-c", "2", *options)
        assert "'gap' was left out because of missing values" in result.err


class TestWrongUse:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["cluster"], "Missing argument 'DATA'"),
            (["cluster", "flowers.csv"], "say how many clusters you want with -c"),
            (["cluster", "flowers.csv", "-c", "1"], "a number of 2 or more"),
            (["cluster", "flowers.csv", "-c", "many"], "or auto, got 'many'"),
            (["cluster", "flowers.csv", "-c", "2", "-m", "k-means"], "k-means"),
            (["cluster", "flowers.csv", "-c", "2", "--sed", "1"], "--sed"),
            (["dance"], "No such command 'dance'"),
        ],
    )
    def test_usage_errors_have_exit_code_two(self, run, csv, arguments, message):
        result = run(*arguments)
        assert result.code == 2
        assert message in result.error
        assert "--help" in result.error

    def test_no_command_shows_the_help(self, run):
        result = run()
        assert result.code == 2
        assert "Usage: credalis" in result.err
        for command in ("demo", "cluster", "predict", "peaks", "compare", "info"):
            assert command in result.err

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--columns", "heigt"], "no column 'heigt'; did you mean 'height'?"),
            (
                ["--exclude", "kind,colour", "--strict"],
                "columns of text: 'id'; leave them out",
            ),
            (["--cyclic", "height"], "--cyclic must name a column and its period"),
            (["--order", "colour=red"], "--order must name a column and its categ"),
            (["--cyclic", "colour=4"], "--cyclic must be about columns that count"),
            (["--dates", "minute"], "--dates must be one of"),
            (["--sheet", "a"], "flowers.csv is no workbook: leave out --sheet"),
            (["--id", "name"], "flowers.csv has no column 'name'; its columns are"),
            (["--param", "alpha"], "--param must be key=value, got 'alpha'"),
            (["--param", "gamma=1"], "ECM has no parameter 'gamma'; it has"),
            (["--param", "random_state=1"], "an option of its own: --seed"),
            (["-o", "m.xlsx"], "must end in .csv"),
            (["-o", "no/m.csv"], "there is no folder"),
            (["-o", "."], ". is a folder: name a file in it"),
            (["-o", "flowers.csv"], "--output flowers.csv would overwrite the input"),
            (["-o", "x.csv", "--model", "x.csv"], "--model x.csv would overwrite what"),
            (["--delimiter", "ab"], "--delimiter must be one character"),
            (["--param", "alpha=minus", *GOOD], "alpha must be a finite number"),
        ],
    )
    def test_errors_have_exit_code_one(self, run, csv, files, options, message):
        result = run("cluster", csv, "-c", "2", "-m", "ECM", *options)
        assert result.code == 1
        assert message in result.err.splitlines()[-1]
        assert "Traceback" not in result.err
        assert files() == ["flowers.csv"]

    @pytest.mark.parametrize(
        ("name", "content", "message"),
        [
            ("no.csv", None, "there is no file no.csv"),
            ("t.csv", b"", "t.csv is empty"),
            ("t.csv", b"a,b\n", "t.csv has a header but no rows"),
            ("t.csv", b"a,b\n1,2\n3\n", "t.csv, line 3: 2 cells expected"),
            ("t.csv", b"a,b\n1,\x81\n", "--encoding latin-1"),
            (
                "t.csv",
                b"a,b\n1,inf\n2,3\n",
                "column 'b', row 0: numbers must be finite",
            ),
            ("t.csv", b"k,l\nx,1\nx,1\nx,1\n", "no column left to cluster by: 'l', "),
            ("t.csv", b"a,b\n1,2\n", "t.csv has 1 row to cluster"),
            ("t.csv", b"a,b\n1,2\n1,2\n", "number of distinct rows"),
            ("t.xlsx", b"PK\x03\x04 no workbook", "t.xlsx cannot be read"),
            ("t.parquet", b"PAR1 but not really", "t.parquet cannot be read"),
        ],
        ids=[
            *(
                "absent",
                "empty",
                "header only",
                "ragged",
                "latin-1",
                "infinite",
                "constant",
            ),
            *("one row", "copies", "zip", "parquet"),
        ],
    )
    def test_tables_that_cannot_be_clustered(
        self, run, tmp_path, files, name, content, message
    ):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        result = run("cluster", name, "-c", "2", "-m", "ECM", "-o", "m.csv")
        assert result.code == 1
        assert message in result.err.splitlines()[-1]
        assert result.err.splitlines()[-1].startswith("credalis: error: ")
        assert files() == ([name] if content is not None else [])

    def test_encodings_and_decimal_commas_work_when_told_or_found(self, run, tmp_path):
        rows = "".join(f"{i % 2 * 9},{i};1,{i}\n" for i in range(10, 40))
        (tmp_path / "t.csv").write_bytes(f"Größe;Länge\n{rows}".encode("latin-1"))
        options = ("cluster", "t.csv", "-c", "2", "-m", "ECM")
        assert "--encoding names another" in run(*options, "--strict").error
        result = run(*options)
        assert "not UTF-8, read as cp1252: line 1 then says 'Größe;Länge'" in result.err
        assert "'Größe', 'Länge'" in result.err
        assert "cp1252" not in run(*options, "--encoding", "latin-1").err

    def test_odd_columns_are_pointed_out(self, run, tmp_path):
        rows = "".join(f"{i},{i % 2 * 9 + i / 99},7\n" for i in range(30))
        (tmp_path / "t.csv").write_text(f"n,a,k\n{rows}")
        result = run("cluster", "t.csv", "-c", "2", "-m", "ECM", "-q", "--strict")
        assert result.code == 0
        assert "all values of 'k' are equal" in result.err
        assert (
            "column 'n' numbers the rows; if it identifies them, use --id n"
            in result.err
        )
        result = run("cluster", "t.csv", "-c", "2", "-m", "ECM")
        assert "'n' left out: numbers the rows (--id n keeps it" in result.err
        assert "'k' left out: one value everywhere" in result.err

    def test_warnings_of_the_method_are_lines(self, run, csv):
        result = run("cluster", csv, "-c", "2", *GOOD, "--param", "max_iter=1")
        assert "credalis: warning: ECM did not converge in max_iter=1" in result.err

    def test_help_names_the_methods_and_gives_examples(self, run):
        text = run("cluster", "--help").out
        assert "EkNNclus" in text
        assert "credalis cluster flowers.csv -c 3" in text


def test_the_same_command_gives_the_same_bytes(run, csv, tmp_path):
    for name in "ab":
        options = ("-o", f"{name}.parquet", "--model", f"{name}.credalis")
        run("cluster", csv, "-c", "2", *GOOD, *options)
    for ending in ("parquet", "credalis"):
        first, second = ((tmp_path / f"{name}.{ending}").read_bytes() for name in "ab")
        assert first == second


def test_output_of_arrays_loads_in_numpy(run, csv):
    run("cluster", csv, "-c", "2", *GOOD, "-o", "m.npy")
    records = np.load("m.npy")
    assert records["id"][0] == "f000"
    np.testing.assert_allclose(
        sum(records[name] for name in records.dtype.names if name.startswith("m ")), 1
    )
