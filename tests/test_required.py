"""CREDALIS_REQUIRE: tests that need what it names fail where they would be skipped."""

import subprocess
import sys
from pathlib import Path

import pytest

import required

BROWSER = "no Chromium: neither the system's nor playwright's own"


@pytest.mark.parametrize(
    ("wanted", "reason", "name"),
    [
        ("", BROWSER, None),
        ("browser", BROWSER, "browser"),
        ("data,browser", BROWSER, "browser"),
        ("data", BROWSER, None),
        ("data", "CREDALIS_DATA does not name a directory of benchmark data", "data"),
        ("browser", "needs make", None),
    ],
)
def test_reasons_are_recognised(monkeypatch, wanted, reason, name):
    monkeypatch.setenv("CREDALIS_REQUIRE", wanted)
    assert required.missing(reason) == name


def test_a_name_that_nobody_knows_is_refused(monkeypatch):
    monkeypatch.setenv("CREDALIS_REQUIRE", "brwoser")
    with pytest.raises(ValueError, match="must name some of browser, data, reference"):
        required.missing(BROWSER)


def test_a_skipped_test_and_a_skipped_file_fail(tmp_path):
    hooks = Path(__file__).parent / "conftest.py"
    text = hooks.read_text("utf-8")
    start = text.index("@pytest.hookimpl")
    end = text.index("@pytest.fixture(autouse=True)")
    (tmp_path / "conftest.py").write_text(
        f"import pytest\nimport required\n\n{text[start:end]}"
    )
    (tmp_path / "test_one.py").write_text(
        "import pytest\ndef test_it():\n    pytest.skip('no Chromium')\n"
    )
    (tmp_path / "test_two.py").write_text(
        "import pytest\npytest.skip('playwright is away', allow_module_level=True)\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."]
    results = {
        wanted: subprocess.run(
            command,
            cwd=tmp_path,
            env={
                "PYTHONPATH": str(hooks.parent),
                "PATH": "",
                "CREDALIS_REQUIRE": wanted,
            },
            capture_output=True,
            text=True,
        )
        for wanted in ("", "browser")
    }
    assert results[""].returncode in (0, 5)
    assert "2 skipped" in results[""].stdout
    assert results["browser"].returncode != 0
    assert "CREDALIS_REQUIRE names browser" in results["browser"].stdout
    assert "skipped" not in results["browser"].stdout.splitlines()[-1]
