"""Tables as the command line reads them, and the commands that read them."""

import contextlib
import gzip
import io
import json
import os
import re
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import feather, parquet
from tests import workbooks
from tests.fuzz import data, files
from tests.fuzz.case import Call, Ended, ensure
from tests.fuzz.values import pick

from credalis.cli import main
from credalis.tables import open_table

Rng = np.random.Generator

_NAMES = (
    *("a", "b", "c", "x y", "größe", "id", "", "a", "=1+1", "1", "\x1b[31mred", "∅"),
    *("label", "very" * 40, "'", '"', "a,b", "nan", "NA", "-", "--id", "a;b", "\t"),
)
_CELLS = (
    *("", "NA", "NaN", "null", "inf", "-inf", "1e400", "-1e-400", "0x10", "1_000"),
    *("1,5", "1.5.2", "abc", "=cmd()", "true", "2020-01-01", "1e308", "-1e308", "é"),
    *('"', '""', '"open', "'", " 1 ", "\x00", "\x1b]0;t\x07", "9" * 400, "+5", "１"),
    *(
        "-",
        "--",
        "None",
        "1e5",
        "1E+05",
        "0.1e-5",
        ".5",
        "5.",
        "1 000",
        "$5",
        "\u22123",
    ),
)
# Rows of the table that questions are about.
_N_ASKED = 24
_ENCODINGS = ("utf-8", "utf-8", "utf-8", "latin-1", "utf-16", "utf-8-sig", "cp1252")


def matrix(rng: Rng) -> tuple[list[str], np.ndarray]:
    """Names of columns and numbers."""
    d = int(pick(rng, (1, 2, 2, 2, 2, 3, 5)))
    X = data.ordinary(rng, int(pick(rng, (2, 3, 5, 12, 20, 40))), d)
    if rng.random() < 0.2:
        X = data.numbers(rng, d)
    names = [f"c{k}" for k in range(d)]
    if rng.random() < 0.15:
        names = [str(pick(rng, _NAMES)) for _ in range(d)]
    return names, X


def text(rng: Rng, names: list[str], X: np.ndarray) -> bytes:
    """A CSV file, often with something odd in it."""
    delimiter = str(pick(rng, (",", ",", ",", ";", "\t", "|", " ")))
    newline = str(pick(rng, ("\n", "\n", "\r\n", "\r")))
    cells = [[f"{value:.6g}" for value in row] for row in X]
    if rng.random() < 0.3:
        for row, name in enumerate(_keys(rng, len(X))):
            cells[row].insert(0, name)
        names = ["id", *names]
    if rng.random() < 0.25:
        for _ in range(int(rng.integers(1, 4))):
            row = cells[rng.integers(len(cells))]
            row[rng.integers(len(row))] = str(pick(rng, _CELLS))
    if rng.random() < 0.04:
        cells[rng.integers(len(cells))].append("9")
    if rng.random() < 0.04:
        cells[rng.integers(len(cells))].pop()
    if rng.random() < 0.1:
        cells.insert(int(rng.integers(len(cells))), [])
    lines = [
        delimiter.join(_quoted(rng, cell, delimiter) for cell in row) for row in cells
    ]
    if rng.random() < 0.85:
        lines.insert(0, delimiter.join(_quoted(rng, name, delimiter) for name in names))
    if rng.random() < 0.05:
        lines = lines[:1]
    content = newline.join(lines) + (newline if rng.random() < 0.8 else "")
    if rng.random() < 0.1:
        content = content.replace(".", ",")
    return content.encode(str(pick(rng, _ENCODINGS)), errors="replace")


def _quoted(rng: Rng, cell: str, delimiter: str) -> str:
    if any(mark in cell for mark in (delimiter, '"', "\n")) and rng.random() < 0.8:
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _keys(rng: Rng, n: int) -> list[str]:
    keys = [f"r{k:03d}" for k in range(n)]
    if rng.random() < 0.2:
        keys[0] = str(pick(rng, _CELLS))
    if rng.random() < 0.1:
        keys[0] = keys[-1]
    return keys


def arrow_table(rng: Rng, names: list[str], X: np.ndarray) -> pa.Table:
    """Columns of any type."""
    n = len(X)
    columns: list[pa.Array] = [pa.array(column) for column in X.T]
    if rng.random() < 0.5:
        whole = np.nan_to_num(X[:, 0], posinf=9, neginf=-9).clip(-100, 100)
        others = (
            pa.array(whole.astype(np.int8)),
            pa.array(np.abs(whole).astype(np.uint64)),
            pa.array(whole.astype(np.float32)),
            pa.array(whole.astype(np.float16)),
            pa.array(whole > 0),
            pa.array([None] * n),
            pa.array([None if k % 3 == 0 else float(k) for k in range(n)]),
            pa.array(["red", "blue", None, ""][k % 4] for k in range(n)),
            pa.array([f"{v:.3f}" for v in whole]).dictionary_encode(),
            pa.array(list(range(n)), pa.timestamp("s")),
            pa.array(list(range(n)), pa.date32()),
            pa.array([[1.0, 2.0]] * n),
            pa.array([{"x": 1}] * n),
            pa.array([b"\xff\x00"] * n),
            pa.array(list(range(n)), pa.decimal128(9, 2)),
            pa.array(list(range(n)), pa.duration("ms")),
            pa.array([2**63] * n, pa.uint64()),
        )
        columns[rng.integers(len(columns))] = pick(rng, others)
    return pa.table(columns, names=names)


def workbook(rng: Rng, kind: str, names: list[str], X: np.ndarray) -> bytes:
    """A workbook of one sheet or of two."""
    rows: list[list[Any]] = [list(names), *np.nan_to_num(X).tolist()]
    if rng.random() < 0.3:
        row = rows[rng.integers(len(rows))]
        cells = ("text", None, "", "12.5 %", "€ 3.20", "2020-01-01", "1,5", "é∅")
        row[rng.integers(len(row))] = pick(rng, cells)
    if rng.random() < 0.1:
        rows.insert(0, [])
    stream = io.BytesIO()
    if kind == "ods":
        workbooks.write_ods(stream, rows)
    elif rng.random() < 0.2:
        workbooks.write_xlsx(stream, First=rows, Second=[["a"], [1.0]])
    else:
        workbooks.write_xlsx(stream, Sheet1=rows)
    return stream.getvalue()


def bytes_of(rng: Rng) -> tuple[str, bytes, list[str]]:
    """Name of a file, its content, and the names of its columns."""
    names, X = matrix(rng)
    kind = str(
        pick(rng, (*("csv",) * 5, "parquet", "feather", "npy", "npz", "xlsx", "ods"))
    )
    stream = io.BytesIO()
    if kind == "csv":
        content = text(rng, names, X)
        name = str(pick(rng, ("data.csv", "data.csv", "data.tsv", "data", "data.txt")))
    elif kind == "parquet":
        with contextlib.suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
            parquet.write_table(arrow_table(rng, names, X), stream)
        content, name = stream.getvalue(), "data.parquet"
    elif kind == "feather":
        packing = str(pick(rng, ("lz4", "zstd", "uncompressed")))
        with contextlib.suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
            feather.write_feather(arrow_table(rng, names, X), stream, packing)
        content, name = stream.getvalue(), "data.feather"
    elif kind == "npy":
        with np.errstate(all="ignore"):
            kinds = ("f8", "f8", "f4", "i4", "?", "U5", "c16", "O")
            values = np.nan_to_num(X).astype(str(pick(rng, kinds)))
        if rng.random() < 0.2:
            values = pick(rng, (values[0], values[None], values[:0], values[0, 0]))
        np.save(stream, values, allow_pickle=True)
        content, name = stream.getvalue(), "data.npy"
    elif kind in ("xlsx", "ods"):
        content, name = workbook(rng, kind, names, X), f"data.{kind}"
    else:
        made = {"X": X, "y": X[:, 0]}
        if rng.random() < 0.5:
            made.pop("y")
        np.savez(stream, **made)
        content, name = stream.getvalue(), "data.npz"
    if rng.random() < 0.15 and content:
        content = files.damaged(rng, content)
    if kind == "csv" and rng.random() < 0.1:
        content, name = gzip.compress(content, 1), name + ".gz"
        if rng.random() < 0.3:
            content = content[: len(content) // 2]
    return name, content, names


def _options(rng: Rng, names: list[str], *, is_fit: bool) -> list[str]:
    """Some options, most of them sensible."""
    column = str(pick(rng, (*names, "id", "no such")))
    reading: tuple[list[str], ...] = (
        ["--id", column],
        ["--na", str(pick(rng, ("-", "abc", "")))],
        ["--delimiter", str(pick(rng, (",", ";", "\\t", "ab", "")))],
        ["--decimal", str(pick(rng, (".", ",", "x")))],
        [str(pick(rng, ("--header", "--no-header")))],
        ["--encoding", str(pick(rng, ("utf-8", "latin-1", "nonsense", "")))],
        ["--missing", str(pick(rng, ("error", "drop", "impute", "pairwise", "x")))],
        ["--sheet", str(pick(rng, ("1", "Sheet1", "First", "0", "x", "")))],
        ["--fields", str(pick(rng, ("label", "label,masses", "", "x")))],
        ["--clear-level", str(pick(rng, ("0.7", "0.5", "nan", "x")))],
        [str(pick(rng, ("--csv-safe", "--no-csv-safe")))],
        ["--json"],
    )
    fitting: tuple[list[str], ...] = (
        ["--columns", ",".join(names[:2])],
        ["--exclude", column],
        ["--scale", str(pick(rng, ("standard", "robust", "none")))],
        ["--one-hot"],
        ["--strict"],
        ["--describe", column],
        ["--dates", str(pick(rng, ("days", "hour", "x", "")))],
        ["--cyclic", str(pick(rng, (f"{column}=24", "x", "=", f"{column}=0")))],
        ["--order", str(pick(rng, (f"{column}=a,b", "x", "=")))],
        ["--precomputed"],
        ["--seed", str(pick(rng, ("0", "5", "-1", "x", str(2**40))))],
        ["--param", str(pick(rng, ("alpha=2", "alpha=x", "max_iter=5", "no=1", "x")))],
        ["--outlier-rate", str(pick(rng, ("0.05", "2", "nan")))],
    )
    choices = reading + (fitting if is_fit else ())
    n_chosen = int(pick(rng, (0, 0, 0, 1, 1, 2, 3)))
    chosen = rng.choice(len(choices), size=n_chosen, replace=False)
    return [word for number in chosen for word in choices[number]]


def commands(rng: Rng) -> Call:
    """A command on a table."""
    name, content, names = bytes_of(rng)
    command = str(pick(rng, ("cluster",) * 7 + ("predict",) * 3 + ("peaks", "info")))
    output = str(pick(rng, ("out.csv", "out.csv", "out.parquet", "out.tsv.gz", "-")))
    method = str(pick(rng, ("ECM", "ECM", "EkNNclus", "RECM", "CCM", "BPEC")))
    words = [command, name]
    if command == "cluster":
        words += [
            "-c",
            str(pick(rng, ("2", "2", "2", "3", "3", "1", "x"))),
            "-m",
            method,
        ]
        words += ["-o", output] if rng.random() < 0.8 else ["--model", "made.credalis"]
        words += _options(rng, names, is_fit=True)
    elif command == "predict":
        words = ["predict", "model.credalis", name, "-o", output]
        words += _options(rng, names, is_fit=False)
        words += ["--explain"] if rng.random() < 0.3 else []
    elif command == "peaks":
        words += [word for word in _options(rng, names, is_fit=True)[:2]]
    known = {name, *names, "id", "no such", "model.credalis", "made.credalis", output}
    return Call(
        f"credalis {command}",
        lambda: _command(words, {name: content}, known),
    )


def questions(rng: Rng) -> Call:
    """Questions, with answers from a file and from a pipe."""
    keys = [f"r{k:02}" for k in range(_N_ASKED)]
    lines = []
    for _ in range(int(pick(rng, (0, 1, 3, 8)))):
        cells = [*rng.choice(keys, 2), pick(rng, ("same", "different", "c", "", "D"))]
        if rng.random() < 0.1:
            cells[rng.integers(3)] = str(pick(rng, (*_CELLS, "nobody")))
        lines.append(",".join(_quoted(rng, str(cell), ",") for cell in cells))
    header = str(pick(rng, ("first,second,answer",) * 9 + ("a,b,c",)))
    content = "\n".join([header, *lines, ""]).encode()
    if rng.random() < 0.1:
        content = files.damaged(rng, content)
    words = ("s", "d", "d", "c", "u", "u", "q", "", "same", "\x1b[31m", "é", "x" * 300)
    typed = "".join(f"{pick(rng, words)}\n" for _ in range(rng.integers(12))).encode()
    command = ["ask", "asked.credalis", "asked.csv", "-n", str(pick(rng, (0, 1, 3, 6)))]
    more: tuple[list[str], ...] = ([], [], ["--to-fill"], ["--json"])
    command += pick(rng, (*more, ["--save-model", "made.credalis"], ["--seed", "7"]))
    if rng.random() < 0.2:
        command = ["cluster", "asked.csv", "-c", "2", "--id", "id", "-m", "EVCLUS"]
        command += ["--answers", "answers.csv", "--param", "max_iter=2"]
    has_file = "cluster" in command or rng.random() < 0.7

    def run() -> Ended:
        with _folder() as folder:
            (folder / "asked.csv").write_bytes(_asked()[0])
            (folder / "asked.credalis").write_bytes(_asked()[1])
            path = folder / "answers.csv"
            if has_file:
                path.write_bytes(content)
            code, out, err = _run(command, typed)
            ensure(code in (0, 1), f"exit code {code}")
            ensure("Traceback" not in err, "a traceback")
            ensure("unexpected" not in err.split("error: ")[-1][:12], err[-300:])
            ensure("\x1b" not in out + err, "an escape for the terminal")
            left = [name for name in os.listdir(folder) if name.endswith(".part")]
            ensure(not left, "a part was left behind")
            if code:
                ensure("answers.csv" in err.splitlines()[-1], f"names nothing: {err}")
                ensure(path.read_bytes() == content, "answers changed after an error")
                return Ended(f"exit code {code}")
            if path.exists():
                ensure(
                    set(open_table(path).columns) >= {"first", "second", "answer"}, ""
                )
            return Ended("accepted")

    return Call(f"credalis {command[0]} answers", run)


def _command(words: list[str], contents: dict[str, bytes], known: set[str]) -> Ended:
    """Run a command in a folder of its own, and judge how it ends."""
    with _folder() as folder:
        for name, content in contents.items():
            (folder / name).write_bytes(content)
        (folder / "model.credalis").write_bytes(_model())
        before = set(os.listdir(folder))
        code, out, err = _run(words)
        after = set(os.listdir(folder))
        ensure(code in (0, 1, 2), f"exit code {code}")
        ensure("Traceback" not in err, "a traceback")
        ensure("unexpected" not in err.split("error: ")[-1][:12], err[-300:])
        ensure(not [n for n in after if n.endswith(".part")], "a part was left behind")
        ensure("\x1b" not in out + err, "an escape for the terminal")
        if code == 0:
            for name in after - before:
                _whole(folder / name)
            if "--json" in words and "-" not in words:
                json.loads(out)
            return Ended("accepted")
        ensure(after == before, f"{after - before} after an error")
        error = err.strip().splitlines()[-1]
        ensure(
            error.startswith("credalis: error: "), f"no error was told: {err[-200:]}"
        )
        ensure(_names_something(error, known), f"names nothing: {error}")
        return Ended(f"exit code {code}")


_PARAMETERS = (
    *("X", "n_clusters", "n_neighbors", "row", "rows", "column", "columns", "line"),
    *(
        "encoding",
        "delimiter",
        "decimal",
        "header",
        "alpha",
        "max_iter",
        "distances",
        "standard output",
        "outlier_rate",
        "metric",
    ),
)


def _names_something(error: str, known: set[str]) -> bool:
    """A file, a column, an option or a parameter."""
    message = error.removeprefix("credalis: error: ")
    if re.search(r"(?<!\w)-{1,2}[a-z][a-z-]*", message):
        return True
    shown = {name for name in known if name.strip()}
    words = shown | {repr(name) for name in known} | set(_PARAMETERS)
    return any(word in message for word in words)


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            yield Path(name)
        finally:
            os.chdir(before)


def _run(words: list[str], typed: bytes = b"") -> tuple[int, str, str]:
    """Exit code and what was printed."""
    streams = [io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2)]
    before = sys.stdout, sys.stderr, sys.stdin
    sys.stdout, sys.stderr = streams
    sys.stdin = io.TextIOWrapper(io.BytesIO(typed), "utf-8")
    try:
        code = main(words)
    except SystemExit as error:
        code = int(error.code or 0)
    finally:
        sys.stdout, sys.stderr, sys.stdin = before
    told = []
    for stream in streams:
        stream.flush()
        told.append(stream.buffer.getvalue().decode(errors="replace"))
    return code, *told


_made: list[bytes] = []


def _model() -> bytes:
    """A model of a table with the columns c0 and c1."""
    if not _made:
        rng = np.random.default_rng(0)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "data.csv"
            lines = [f"{a:.4f},{b:.4f}" for a, b in data.ordinary(rng, 30, 2)]
            path.write_text("\n".join(["c0,c1", *lines]))
            words = ["cluster", str(path), "-c", "2", "-m", "ECM", "-q"]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                code, _, err = _run([*words, "--model", f"{folder}/model"])
            assert code == 0, err
            _made.append((Path(folder) / "model").read_bytes())
    return _made[0]


_asked_before: list[tuple[bytes, bytes]] = []


def _asked() -> tuple[bytes, bytes]:
    """A table with identifiers, and a model of it that can use answers."""
    if not _asked_before:
        rng = np.random.default_rng(1)
        rows = rng.normal(size=(_N_ASKED, 2)) + np.arange(_N_ASKED)[:, None] % 2
        lines = [f"r{k:02},{a:.4f},{b:.4f}" for k, (a, b) in enumerate(rows)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "asked.csv"
            path.write_text("\n".join(["id,c0,c1", *lines]))
            words = [
                "cluster",
                str(path),
                "-c",
                "2",
                "-m",
                "EVCLUS",
                "--id",
                "id",
                "-q",
            ]
            words += ["--param", "max_iter=2", "--param", "n_init=1"]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                code, _, err = _run([*words, "--model", f"{folder}/model"])
            assert code == 0, err
            model = (Path(folder) / "model").read_bytes()
            _asked_before.append((path.read_bytes(), model))
    return _asked_before[0]


def _whole(path: Path) -> None:
    """What a command has written can be read."""
    if path.suffix == ".parquet":
        table = parquet.read_table(path)
    elif path.name.endswith((".csv", ".tsv.gz")):
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        mark = "\t" if ".tsv" in path.name else ","
        parse = arrow_csv.ParseOptions(delimiter=mark, newlines_in_values=True)
        table = arrow_csv.read_csv(io.BytesIO(content), parse_options=parse)
    else:
        return
    ensure(table.num_rows > 0, "a table without rows")
    for name in table.column_names:
        if name.startswith(("pl ", "m ")):
            # A column without any number has no type of its own.
            values = np.asarray(table.column(name).drop_null(), dtype=np.float64)
            ensure(np.isfinite(values).all(), f"NaN in column {name}")


def readers(rng: Rng) -> Call:
    """A table that is opened, described and read."""
    name, content, names = bytes_of(rng)
    given: dict[str, Any] = {}
    for option, values in {
        "delimiter": (",", ";", "", "ab", 3),
        "header": (True, False, "no"),
        "decimal": (".", ",", "x"),
        "encoding": ("utf-8", "utf-16", "nonsense", 5),
        "text_columns": (names[:1], ["no such"]),
        "missing_values": (["-"], ["abc", ""]),
    }.items():
        if rng.random() < 0.1:
            given[option] = pick(rng, values)
    max_rows = int(pick(rng, (1, 7, 1000)))

    def run() -> None:
        with _folder() as folder:
            (folder / name).write_bytes(content)
            table = open_table(folder / name, **given)
            n_rows = sum(
                batch.num_rows
                for batch in table.batches(table.columns, max_rows=max_rows)
            )
            ensure(table.n_rows in (None, n_rows), "another number of rows")

    options = ("delimiter", "header", "decimal", "encoding", "text_columns", "path")
    return Call("open_table", run, {name, *options, "missing_values"})


KINDS = {commands: 8, readers: 3, questions: 2}
