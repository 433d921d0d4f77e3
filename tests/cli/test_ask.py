"""Questions at the terminal, in a pipe and in a file, and what the answers change."""

import csv as csv_module
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("click")
pytest.importorskip("pyarrow")

from credalis.io import load, open_table

OPTIONS = ("-c", "2", "-m", "EVCLUS", "--param", "max_iter=20", "-q")


def blurred(n_rows=40, ids=None):
    """Two groups that overlap, with identifiers and the truth."""
    rng = np.random.default_rng(0)
    truth = np.arange(n_rows) % 2
    names = ids or [f"f{i:02}" for i in range(n_rows)]
    lines = ["id,height,width,colour"]
    for name, k in zip(names, truth, strict=True):
        height, width = rng.normal([3.0 * k, 1.5 * k], 1)
        lines.append(f"{name},{height:.3f},{width:.3f},{'red' if k else 'blue'}")
    return "\n".join(lines) + "\n"


@pytest.fixture
def table(tmp_path):
    (tmp_path / "t.csv").write_text(blurred())
    return "t.csv"


@pytest.fixture
def model(run, table):
    columns = ("--id", "id", "--exclude", "colour")
    result = run("cluster", table, *columns, *OPTIONS, "--model", "m.credalis")
    assert result.code == 0, result.err
    return "m.credalis"


def answers(path="answers.csv"):
    with open(path, newline="", encoding="utf-8") as stream:
        return list(csv_module.DictReader(stream))


def table_of():
    return open_table("t.csv").read()


def is_same(row):
    return (int(row["first"][1:]) - int(row["second"][1:])) % 2 == 0


def oracle(n, run, model, table):
    """Lines that answer the first n questions truly."""
    typed = []
    for _ in range(n):
        run("ask", model, table, "-n", len(typed) + 1, stdin=_lines([*typed, "s"]))
        typed.append("s" if is_same(answers()[-1]) else "d")
        os.remove("answers.csv")
    return typed


def _lines(words):
    return "".join(f"{word}\n" for word in words).encode()


class TestDialogue:
    def test_two_rows_side_by_side_with_what_differs(self, run, model, table):
        result = run("ask", model, table, "-n", "1", stdin=b"s\n")
        assert result.code == 0, result.err
        (row,) = answers()
        assert "question 1 of 1: are these in the same cluster?" in result.err
        header = next(
            line for line in result.err.splitlines() if row["first"] in line.split()
        )
        assert header.split() == [row["first"], row["second"]]
        cells = dict(line.split(",")[:2] for line in blurred().splitlines()[1:])
        shown = next(
            line.split() for line in result.err.splitlines() if " height " in f" {line}"
        )
        expected = [float(cells[row[key]]) for key in ("first", "second")]
        assert [float(text) for text in shown[1:]] == pytest.approx(expected, rel=1e-3)
        assert "height" in row["differ"]

    def test_answers_are_kept_and_change_the_model(self, run, model, table):
        typed = oracle(5, run, model, table)
        result = run(
            *("ask", model, table, "-n", "5", "--save-model", "b.credalis"),
            stdin=_lines(typed),
        )
        assert result.code == 0, result.err
        words = {"s": "same", "d": "different"}
        assert [row["answer"] for row in answers()] == [words[word] for word in typed]
        assert "5 answers: " in result.out
        assert "answers that hold, of 5" in result.out
        assert "model b.credalis" in result.out
        assert load("b.credalis").facts["answers"]["same"] == typed.count("s")
        assert run("predict", "b.credalis", table, "--explain", "-q").code == 0
        values = json.loads(run("ask", model, table, "-n", "0", "--json").out)
        assert values["after"]["answers_that_hold"] >= 4
        assert values["answers"] == {
            "same": typed.count("s"),
            "different": typed.count("d"),
            "cannot tell": 0,
        }
        before, after = (
            load(path).predict(table_of()) for path in (model, "b.credalis")
        )
        moved = {each["row"] for each in values["moved"]}
        differs = min((before != after).sum(), (before == after).sum())
        assert len(moved) == differs

    def test_what_is_no_answer_is_asked_again(self, run, model, table):
        result = run("ask", model, table, "-n", "1", stdin=b"maybe\n\ns\n")
        assert result.err.count("is no answer") == 2
        assert [row["answer"] for row in answers()] == ["same"]

    def test_undo_asks_the_last_question_again(self, run, model, table):
        result = run("ask", model, table, "-n", "2", stdin=b"u\ns\nu\nd\nc\n")
        assert "there is no answer to undo" in result.err
        assert [row["answer"] for row in answers()] == ["different", "cannot tell"]
        assert result.err.count("question 1 of 2") == 3

    def test_cannot_tell_is_not_asked_again_and_nothing_is_fitted(
        self, run, model, table
    ):
        result = run("ask", model, table, "-n", "3", stdin=b"c\nc\n?\n")
        asked = {frozenset((row["first"], row["second"])) for row in answers()}
        assert len(asked) == 3
        assert "nothing to fit again" in result.err
        assert result.out == ""

    def test_quit_and_the_end_of_a_pipe_fit_with_the_answers_so_far(
        self, run, model, table
    ):
        for end in (b"d\nq\n", b"d\n"):
            result = run("ask", model, table, "-n", "5", stdin=end)
            assert result.code == 0
            assert len(answers()) == 1
            assert "1 answer: 0 same, 1 different" in result.out
            os.remove("answers.csv")

    def test_a_second_session_goes_on(self, run, model, table):
        run("ask", model, table, "-n", "2", stdin=b"d\ns\n")
        result = run("ask", model, table, "-n", "1", stdin=b"d\n")
        assert "answers.csv: 2 answers so far" in result.err
        asked = {frozenset((row["first"], row["second"])) for row in answers()}
        assert len(asked) == 3

    def test_the_same_seed_asks_the_same(self, run, model, table):
        for name in ("a.csv", "b.csv"):
            command = ("ask", model, table, "-n", "4", "--answers", name)
            run(*command, "--seed", "3", stdin=b"d\ns\nd\nd\n")
        assert answers("a.csv") == answers("b.csv")

    def test_nothing_is_left_to_ask(self, run, model, tmp_path):
        lines = blurred().splitlines()[:3]
        (tmp_path / "two.csv").write_text("\n".join(lines))
        result = run("ask", model, "two.csv", "-n", "9", stdin=b"d\nd\nd\n")
        assert "there is nothing left to ask" in result.err
        assert "two.csv has 2 rows, but the model was fitted to 40" in result.err


class TestFiles:
    def test_questions_are_written_to_be_filled_in(self, run, model, table):
        result = run("ask", model, table, "-n", "5", "--to-fill", "--answers", "q.csv")
        assert "5 open questions in q.csv" in result.out
        rows = answers("q.csv")
        assert [row["answer"] for row in rows] == [""] * 5
        lines = ["first;second;answer"]
        for row in rows:
            word = "Same" if is_same(row) else "different"
            lines.append(f"{row['first']};{row['second']};{word}")
        # As a spreadsheet may save it.
        Path("q.csv").write_text("\n".join(lines))
        result = run("ask", model, table, "-n", "0", "--answers", "q.csv", "--json")
        assert sum(json.loads(result.out)["answers"].values()) == 5

    def test_open_questions_come_first(self, run, model, table):
        run("ask", model, table, "-n", "3", "--to-fill")
        waiting = answers()
        run("ask", model, table, "-n", "1", stdin=b"c\n")
        assert answers()[0] == {**waiting[0], "answer": "cannot tell"}
        assert len(answers()) == 3

    def test_open_questions_that_others_settle_are_not_asked(self, run, model, table):
        lines = ["first,second,answer", "f00,f01,same", "f01,f02,same", "f00,f02,"]
        Path("answers.csv").write_text("\n".join(lines))
        run("ask", model, table, "-n", "1", stdin=b"c\n")
        asked = [row for row in answers() if row["answer"] == "cannot tell"]
        assert {asked[0]["first"], asked[0]["second"]} != {"f00", "f02"}

    @pytest.mark.parametrize(
        ("lines", "match"),
        [
            ("f00,f01,perhaps", "row 2: the answer must be same, different or"),
            ("f00,f00,same", "row 2: a question is about two different rows"),
            ("f00,nobody,same", "row 2: t.csv has no value of 'id' 'nobody'"),
            ("f00,f01,same\nf01,f00,different", "row 3: 'f01' and 'f00' cannot be in"),
        ],
    )
    def test_wrong_answers_are_refused_by_line(self, run, model, table, lines, match):
        text = f"first,second,answer\n{lines}\n"
        Path("answers.csv").write_text(text)
        for command in (
            ("ask", model, table),
            ("cluster", table, "--id", "id", *OPTIONS, "--answers", "answers.csv"),
        ):
            result = run(*command, stdin=b"s\n")
            assert result.code == 1
            assert f"answers.csv, {match}" in result.error
        assert Path("answers.csv").read_text() == text

    def test_a_file_of_something_else_is_left_alone(self, run, model, table):
        Path("answers.csv").write_text("a,b\n1,2\n")
        result = run("ask", model, table, stdin=b"s\n")
        assert "must have the columns first, second, answer" in result.error
        assert Path("answers.csv").read_text() == "a,b\n1,2\n"

    def test_identifiers_that_a_spreadsheet_would_compute(self, run, tmp_path):
        ids = [f"={i}+1" for i in range(40)]
        (tmp_path / "t.csv").write_text(blurred(ids=ids))
        columns = ("--id", "id", "--exclude", "colour")
        run("cluster", "t.csv", *columns, *OPTIONS, "--model", "m.credalis")
        run("ask", "m.credalis", "t.csv", "-n", "1", stdin=b"d\n")
        assert answers()[0]["first"].startswith("'=")
        result = run("ask", "m.credalis", "t.csv", "-n", "0")
        assert result.code == 0, result.err
        assert answers()[0]["first"].startswith("'=")

    def test_cluster_takes_the_answers_with_what_they_imply(self, run, table):
        lines = ["first,second,answer", "f00,f02,same", "f02,f04,yes", "f00,f01,no"]
        lines += ["f05,f07,cannot tell", "f09,f11,"]
        Path("answers.csv").write_text("\n".join(lines))
        Path("cannot.csv").write_text("f00,f01\nf01,f02\nf01,f04\n")
        command = ("cluster", table, "--id", "id", *OPTIONS)
        run(*command, "--answers", "answers.csv", "-o", "one.csv")
        Path("must.csv").write_text("f00,f02\nf02,f04\nf00,f04\n")
        files = ("--must-link", "must.csv", "--cannot-link", "cannot.csv")
        run(*command, *files, "-o", "other.csv")
        assert answers("one.csv") == answers("other.csv")

    def test_answers_against_other_files_are_named(self, run, table):
        for name, lines in (
            ("answers.csv", "first,second,answer\nf00,f02,different\n"),
            ("must.csv", "f00,f01\nf01,f02\n"),
        ):
            Path(name).write_text(lines)
        files = ("--must-link", "must.csv", "--answers", "answers.csv")
        result = run("cluster", table, "--id", "id", *OPTIONS, *files)
        assert "(f00, f02), but must_link joins them: f00-f01-f02" in result.error


class TestModels:
    def test_rows_without_identifiers_have_numbers(self, run, table):
        options = ("--exclude", "colour,id")
        run("cluster", table, *options, *OPTIONS, "--model", "m.credalis")
        run("ask", "m.credalis", table, "-n", "1", stdin=b"d\n")
        assert answers()[0]["first"].isdigit()

    def test_categories_and_gaps(self, run, tmp_path):
        text = blurred().replace("f03,", "f03,,").replace("f05,", "f05,")
        lines = [line for line in text.splitlines() if line.count(",") == 3]
        lines[5] = lines[5].rsplit(",", 1)[0] + ","
        (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
        run("cluster", "t.csv", "--id", "id", *OPTIONS, "--model", "m.credalis")
        result = run("ask", "m.credalis", "t.csv", "-n", "3", stdin=b"d\nd\ns\n")
        assert result.code == 0, result.err
        assert "colour" in result.err

    def test_a_network_with_names_of_clusters(self, run, table):
        Path("labels.csv").write_text("f00,cat\nf01,dog\nf02,cat\nf03,dog\n")
        options = ("-m", "NNEVCLUS", "--param", "max_iter=5", "--labels", "labels.csv")
        run(
            "cluster", table, "-c", "2", "--id", "id", *options, "--model", "m.credalis"
        )
        command = ("ask", "m.credalis", table, "-n", "1", "--save-model", "m.credalis")
        result = run(*command, stdin=b"d\n")
        assert result.code == 0
        assert "the model was fitted with --labels, which its file" in result.err
        assert sorted(load("m.credalis").facts["cluster_names"]) == ["cat", "dog"]

    def test_weights_of_the_fit_count_again(self, run, tmp_path):
        lines = blurred().splitlines()
        cells = [f"{line},{k % 3 + 1}" for k, line in enumerate(lines[1:])]
        (tmp_path / "t.csv").write_text("\n".join([f"{lines[0]},n", *cells]) + "\n")
        options = ("--id", "id", "--exclude", "colour", "--weights", "n")
        run("cluster", "t.csv", *options, *OPTIONS, "--model", "m.credalis")
        command = ("ask", "m.credalis", "t.csv", "--save-model", "b.credalis")
        assert run(*command, "-n", "1", stdin=b"d\n").code == 0
        files = ("--answers", "answers.csv", "--model", "c.credalis")
        run("cluster", "t.csv", *options, *OPTIONS, *files)
        found = [
            load(path).predict_partition(table_of())
            for path in ("b.credalis", "c.credalis")
        ]
        assert found[0] == found[1]
        text = "\n".join(lines) + "\n"
        (tmp_path / "t.csv").write_text(text)
        assert "no column 'n'" in run(*command).error

    def test_dissimilarities(self, run, tmp_path):
        points = np.random.default_rng(0).normal(size=(20, 1))
        np.save(tmp_path / "d.npy", np.abs(points - points.T))
        run("cluster", "d.npy", "--precomputed", *OPTIONS, "--model", "d.credalis")
        command = ("ask", "d.credalis", "d.npy", "-n", "1")
        result = run(*command, "--save-model", "e.credalis", stdin=b"d\n")
        assert result.code == 0, result.err
        assert "dissimilarity" in result.err

    def test_methods_without_a_use_for_pairs_are_refused_before_a_question(
        self, run, table
    ):
        options = ("--id", "id", "-m", "ECM", "--model", "m.credalis", "-q")
        run("cluster", table, "-c", "2", *options)
        result = run("ask", "m.credalis", table, stdin=b"s\n")
        assert "ECM cannot use answers about pairs of rows; NNEVCLUS" in result.error
        assert "question" not in result.err


class TestRefusals:
    def test_data_from_the_pipe_that_answers_come_from(self, run, model):
        result = run("ask", model, "-", stdin=b"s\n")
        assert result.code == 2
        assert "answers are read from standard input" in result.error

    def test_files_that_would_be_overwritten(self, run, model, table):
        result = run("ask", model, table, "--answers", table, stdin=b"s\n")
        assert "--answers t.csv would overwrite the input" in result.error
        result = run("ask", model, table, "--answers", "a.npy", stdin=b"s\n")
        assert "--answers must be a .csv or .tsv file" in result.error

    def test_too_few_rows(self, run, model, tmp_path):
        (tmp_path / "one.csv").write_text("\n".join(blurred().splitlines()[:2]))
        assert "at least 2 rows" in run("ask", model, "one.csv", stdin=b"s\n").error

    def test_a_table_without_the_columns(self, run, model, tmp_path):
        (tmp_path / "other.csv").write_text("id,height\na,1\nb,2\n")
        assert "lacks column 'width'" in run("ask", model, "other.csv").error


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_an_interrupt_loses_no_answer(model, table, tmp_path):
    command = [sys.executable, "-m", "credalis", "ask", model, table, "-n", "9"]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdin.write(b"d\nd\n")
    process.stdin.flush()
    deadline = time.monotonic() + 60
    path = tmp_path / "answers.csv"
    while time.monotonic() < deadline:
        if path.exists() and len(answers(path)) == 2:
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"interrupted" in err
    assert b"2 answers in answers.csv" in err
    assert out == b""
    assert [row["answer"] for row in answers(path)] == ["different"] * 2
