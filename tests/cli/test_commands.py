"""peaks, compare, completion, and what all commands share."""

import ast
import json
import os
import signal
import subprocess
import sys
import time

import pytest

import credalis
from cli_data import GOOD, flowers
from credalis.cli import _compare, main
from credalis.cluster import ECM

pytest.importorskip("click")
pytest.importorskip("pyarrow")


class TestPeaks:
    def test_number_and_centres(self, run, csv, tmp_path):
        pytest.importorskip("matplotlib")
        options = ("--id", "id", "--exclude", "colour,kind")
        result = run("peaks", csv, *options, "--plot", "peaks.png")
        assert result.code == 0, result.err
        assert "2 clusters suggested" in result.out
        assert (tmp_path / "peaks.png").read_bytes()[:4] == b"\x89PNG"
        values = json.loads(run("peaks", csv, *options, "--json").out)
        assert values["n_clusters"] == 2
        kinds = {int(center["id"][1:]) % 2 for center in values["centers"]}
        assert kinds == {0, 1}

    def test_a_sample_is_told(self, run, csv):
        options = ("--columns", "height,width", "--sample", "40", "--json", "-c", "3")
        result = run("peaks", csv, *options)
        assert "using 40 rows, drawn at random" in result.err
        values = json.loads(result.out)
        assert (values["looked_at"], values["rows"]) == (40, 60)
        assert len(values["centers"]) == 3

    @pytest.mark.parametrize("sample", ["0", "40"])
    def test_graph_and_table_number_the_rows_alike(self, run, csv, sample, monkeypatch):
        pytest.importorskip("matplotlib")
        from credalis.plots import DeltaBelDisplay

        named = []

        def spy(display, **options):
            named.extend(display._object_name(int(row)) for row in display.centers)

        monkeypatch.setattr(DeltaBelDisplay, "plot", spy)
        options = ("--columns", "height,width", "--sample", sample, "-c", "3")
        result = run("peaks", csv, *options, "--plot", "p.png", "--json")
        centers = json.loads(result.out)["centers"]
        assert named == [f"row {center['row']}" for center in centers]

    def test_the_figure_is_checked_before_the_work(self, run, csv):
        assert "--plot must end in .png" in run("peaks", csv, "--plot", "p.gif").error


class TestCompare:
    def test_table_and_diagram(self, run, csv, tmp_path):
        pytest.importorskip("matplotlib")
        options = ("--truth", "kind", "--id", "id", "--exclude", "colour")
        methods = ("--methods", "ecm,CCM")
        result = run("compare", csv, "-c", "2", *options, *methods, "--plot", "c.svg")
        assert result.code == 0, result.err
        assert "ARI" in result.out
        assert "CCM" in result.out
        assert b"<svg" in (tmp_path / "c.svg").read_bytes()
        values = json.loads(
            run("compare", csv, "-c", "2", *options, *methods, "--json").out
        )
        assert [each["method"] for each in values["methods"]] == ["ECM", "CCM"]
        assert values["methods"][0]["ari"] == pytest.approx(1.0)
        assert values["recommended"] in ("ECM", "CCM")
        assert values["reason"] in result.out

    def test_without_classes(self, run, csv):
        options = ("--columns", "height,width", "--methods", "ECM")
        result = run("compare", csv, "-c", "2", *options)
        assert "CI" not in result.out
        assert "★ ECM is recommended: its fit raised no warning" in result.out
        usage = run("compare", csv, "-c", "2", *options, "--plot", "c.png")
        assert usage.code == 2
        assert "--truth COLUMN" in usage.error

    def test_unknown_methods_are_listed(self, run, csv):
        result = run("compare", csv, "-c", "2", "--methods", "cecm")
        assert result.code == 2
        assert "CECM needs pairs, which compare does not have" in result.error

    def test_a_large_table_gets_the_quick_methods(self, run, csv, monkeypatch):
        monkeypatch.setattr(_compare, "MAX_ROWS_FOR_ALL", 10)
        result = run("compare", csv, "-c", "2", "--columns", "height,width")
        names = "NNEVCLUS, ECM, CCM, BCM, EGMM, Consensus"
        expected = f"60 rows: only {names} are run; name others with --methods"
        assert expected in result.err


class TestCompletion:
    @pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
    def test_scripts(self, run, shell):
        result = run("completion", shell)
        assert result.code == 0
        assert f"_CREDALIS_COMPLETE={shell}_complete" in result.out

    def test_words_are_completed(self, run, monkeypatch, capfdbinary):
        monkeypatch.setenv("_CREDALIS_COMPLETE", "bash_complete")
        monkeypatch.setenv("COMP_WORDS", "credalis cluster --method EkN")
        monkeypatch.setenv("COMP_CWORD", "3")
        with pytest.raises(SystemExit):
            main([])
        assert capfdbinary.readouterr().out.lower() == b"plain,eknnclus\n"


class TestStart:
    @pytest.mark.parametrize(
        "arguments",
        [["--help"], ["--version"], [], ["completion", "bash"]]
        + [[name, "--help"] for name in ("cluster", "predict", "peaks", "compare")]
        + [[name, "--help"] for name in ("demo", "reproduce", "info", "completion")],
    )
    def test_help_needs_no_arithmetic(self, arguments):
        assert not imported_by_command(arguments, {})

    def test_completion_needs_no_arithmetic(self):
        words = {
            "_CREDALIS_COMPLETE": "bash_complete",
            "COMP_WORDS": "credalis cluster --method EkN",
            "COMP_CWORD": "3",
        }
        assert not imported_by_command([], words)


def imported_by_command(arguments, environment):
    """Packages of arithmetic and tables that a command imports."""
    code = (
        "import atexit, sys\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pyarrow'}\n"
        "told = lambda: sys.stderr.write(f'<{sorted(heavy & set(sys.modules))}>')\n"
        "atexit.register(told)\n"
        "from credalis.cli import main\n"
        f"sys.exit(main({arguments!r}))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert result.stdout or not arguments
    return ast.literal_eval(result.stderr[result.stderr.rindex("<") + 1 : -1])


class TestAccidents:
    def test_without_click_the_command_says_what_to_install(self, monkeypatch, capsys):
        monkeypatch.setitem(sys.modules, "click", None)
        assert main(["demo"]) == 1
        assert capsys.readouterr().err == (
            "credalis: error: the command line needs click: "
            'pip install "credalis[cli]"\n'
        )

    def test_without_pyarrow_tables_say_what_to_install(self, monkeypatch):
        from credalis.io import open_table

        monkeypatch.setitem(sys.modules, "pyarrow", None)
        with pytest.raises(ImportError, match=r'pip install "credalis\[parquet\]"'):
            open_table("t.csv")

    def test_a_surprise_is_one_line_and_debug_shows_where(self, run, csv, monkeypatch):
        def fail(self, X):
            raise ZeroDivisionError("oops")

        monkeypatch.setattr(ECM, "fit", fail)
        command = ("cluster", csv, "-c", "2", *GOOD, "-q")
        result = run(*command)
        assert result.code == 1
        assert result.error.startswith(
            "unexpected ZeroDivisionError: oops; please report it"
        )
        for debugging in ((*command, "--debug"), ("--debug", *command)):
            shown = run(*debugging).err
            assert "Traceback" in shown
            assert "in fit" not in shown
            assert "in fail" in shown
        assert "Traceback" not in run(*command).err

    def test_memory_that_is_not_there(self, run, csv, monkeypatch):
        def fail(self, X):
            raise MemoryError("Unable to allocate 80 TiB")

        monkeypatch.setattr(ECM, "fit", fail)
        error = run("cluster", csv, "-c", "2", *GOOD, "-q").error
        assert "not enough memory (Unable to allocate 80 TiB)" in error

    @pytest.mark.parametrize("step", ["fit", "write"])
    def test_an_interrupt_leaves_nothing(self, run, csv, files, monkeypatch, step):
        def stop(*args, **kwargs):
            signal.raise_signal(signal.SIGINT)

        if step == "fit":
            monkeypatch.setattr(ECM, "_solve", stop)
        else:
            where = "credalis.cli._shared._outputs.membership_batch"
            monkeypatch.setattr(where, stop)
        result = run("cluster", csv, "-c", "2", *GOOD, "-o", "m.csv", "--model", "m")
        assert result.code == 130
        assert result.err.endswith("credalis: interrupted\n")
        assert files() == ["flowers.csv"]

    def test_a_fit_that_answers_an_interrupt_does_not_hide_it(
        self, run, csv, files, monkeypatch
    ):
        fit = ECM.fit

        def interrupted_fit(self, X):
            fit(self, X)
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                return self  # as estimators do, with the best result so far

        monkeypatch.setattr(ECM, "fit", interrupted_fit)
        assert run("cluster", csv, "-c", "2", *GOOD, "-o", "m.csv").code == 130
        assert files() == ["flowers.csv"]

    @pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
    @pytest.mark.parametrize(
        ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
    )
    def test_signals_to_a_process_that_writes(self, csv, tmp_path, number, code):
        command = ("cluster", "-", "-c", "2", *GOOD, "-o", "m.csv")
        process = subprocess.Popen(
            [sys.executable, "-m", "credalis", *command],
            cwd=tmp_path,
            stdin=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        # It waits for the rest of the table.
        process.stdin.write(flowers().encode())
        process.stdin.flush()
        while not _catches(process.pid):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.05)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        assert process.returncode == code
        assert b"Traceback" not in err
        assert os.listdir(tmp_path) == ["flowers.csv"]

    @pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
    def test_a_full_disk(self, csv, tmp_path):
        command = ("cluster", csv, "-c", "2", *GOOD, "-o", "-", "-q")
        with open("/dev/full", "wb") as full:
            result = subprocess.run(
                [sys.executable, "-m", "credalis", *command],
                cwd=tmp_path,
                stdout=full,
                stderr=subprocess.PIPE,
            )
        assert result.returncode == 1
        assert b"standard output: no space left on device" in result.stderr
        assert b"Traceback" not in result.stderr

    @pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
    @pytest.mark.parametrize("option", ["-o", "--model"])
    def test_a_disk_that_becomes_full(self, run, csv, files, option):
        import resource

        largest, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
        try:
            result = run("cluster", csv, "-c", "2", *GOOD, option, "m.csv")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, hard))
        assert result.code == 1
        assert "credalis: error: m.csv: file too large\n" in result.err
        assert files() == ["flowers.csv"]

    def test_a_reader_that_goes_away(self, csv, tmp_path):
        (tmp_path / "long.csv").write_text(flowers(n_rows=20_000))
        command = ("cluster", "long.csv", "-c", "2", *GOOD, "-o", "-", "-q")
        process = subprocess.Popen(
            [sys.executable, "-m", "credalis", *command],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout.readline().startswith(b'"id"')
        process.stdout.close()
        err = process.stderr.read()
        process.stderr.close()
        assert process.wait(timeout=60) == 1
        assert err == b""

    def test_no_permission_to_read(self, run, csv, monkeypatch):
        def deny(path, *args, **kwargs):
            if str(path) == csv:
                raise PermissionError(13, "Permission denied", str(path))
            return allow(path, *args, **kwargs)

        allow = open
        monkeypatch.setattr("builtins.open", deny)
        error = run("cluster", csv, "-c", "2", *GOOD).error
        assert error == "flowers.csv: permission denied"

    def test_no_permission_to_write(self, run, csv, files, monkeypatch):
        monkeypatch.setattr(os, "access", lambda path, mode: False)
        error = run("cluster", csv, "-c", "2", *GOOD, "-o", "m.csv").error
        assert error.startswith("no permission to write in ")
        assert files() == ["flowers.csv"]

    @pytest.mark.skipif(
        os.name == "nt" or (hasattr(os, "geteuid") and os.geteuid() == 0),
        reason="permissions do not bind this user",
    )
    def test_real_permissions(self, run, csv, tmp_path):
        os.chmod(tmp_path / csv, 0)
        assert "permission denied" in run("cluster", csv, "-c", "2", *GOOD).error

    def test_nothing_asks_for_progress_without_a_terminal(self, run, csv):
        options = ("--id", "id", "--exclude", "colour,kind", "--param", "n_init=1")
        result = run("cluster", csv, "-c", "2", *options)
        assert "\r" not in result.err
        assert result.err.count("\n") == 1

    def test_a_terminal_shows_progress(self, run, csv, monkeypatch):
        monkeypatch.setattr(type(sys.stderr), "isatty", lambda self: True)
        result = run("cluster", csv, "-c", "2", *GOOD)
        assert "\rECM [" in result.err


def _catches(pid):
    """Whether a process has a handler of its own for SIGTERM: the command runs."""
    status = f"/proc/{pid}/status"
    if not os.path.exists(status):
        time.sleep(5)
        return True
    with open(status) as stream:
        fields = dict(line.split(":\t", 1) for line in stream if ":\t" in line)
    return bool(int(fields["SigCgt"], 16) >> (signal.SIGTERM - 1) & 1)


def test_version(run):
    assert run("--version").out == f"credalis {credalis.__version__}\n"
