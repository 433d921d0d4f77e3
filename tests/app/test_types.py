"""The types of the page's modules, which are in JSDoc."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

# Not those of an installed wheel, which has no jsconfig.json.
STATIC = Path(__file__).parents[2] / "src" / "credalis" / "app" / "static"
MODULES = sorted(path.name for path in STATIC.glob("*.js"))

# The first that knows `@import` in JSDoc.
OLDEST = (5, 5)


@pytest.fixture(scope="module")
def check():
    """Check the modules of a folder; what the compiler has found, as lines."""
    named = os.environ.get("CREDALIS_TSC")
    found = shutil.which(named or "tsc")
    if named and found is None:
        pytest.fail(f"CREDALIS_TSC must name the compiler of TypeScript, got {named}")
    if found is None:
        pytest.skip("no tsc: neither CREDALIS_TSC nor the path names one")
    said = run(found, "--version").stdout
    version = re.search(r"(\d+)\.(\d+)", said)
    assert version, said
    if tuple(map(int, version.groups())) < OLDEST:
        pytest.skip(f"tsc is too old: 5.5 or newer is needed, this is {said.strip()}")

    def lines(folder):
        answer = run(found, "--project", str(folder / "jsconfig.json"))
        errors = (answer.stdout + answer.stderr).splitlines()
        assert bool(errors) == bool(answer.returncode), answer
        return errors

    return lines


def run(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=120)


def undocumented(text):
    """Names that a module exports without a JSDoc block right above."""
    exports = re.finditer(r"^export (?!\{\};$)(.*)$", text, re.MULTILINE)
    return [
        re.sub(r"^(?:async |default )*(?:function|class|const|let)\W+", "", found[1])
        for found in exports
        if not text[: found.start()].endswith("*/\n")
    ]


def test_the_types_agree(check):
    assert check(STATIC) == []


@pytest.mark.parametrize(
    ("module", "right", "wrong"),
    [
        ("takeaway.js", "run.command", "run.comand"),
        ("run.js", "state.settings.n_clusters", "state.n_clusters"),
        ("method.js", "event.target.value", "event.target.checked"),
        ("result.js", "found.residual.toPrecision", "found.residual.slice"),
        ("lines.js", "/** @param {number} value */\n", ""),
    ],
)
def test_a_wrong_name_or_type_is_found(check, tmp_path, module, right, wrong):
    for name in ("jsconfig.json", *MODULES):
        shutil.copy(STATIC / name, tmp_path)
    text = (STATIC / module).read_text("utf-8")
    assert right in text
    (tmp_path / module).write_text(text.replace(right, wrong), "utf-8")
    errors = check(tmp_path)
    assert errors
    assert all(module in line for line in errors if not line.startswith(" "))


@pytest.mark.parametrize("module", MODULES)
def test_what_a_module_exports_has_types(module):
    text = (STATIC / module).read_text("utf-8")
    assert undocumented(text) == []
    # Whoever writes any knows no type.
    comments = re.findall(r"/\*\*.*?\*/", text, re.DOTALL)
    types = " ".join(re.findall(r"\{.*\}", " ".join(comments)))
    assert not re.search(r"\bany\b", types)


def test_an_export_without_a_block_is_found():
    text = (
        "/** Fine. */\nexport function first() {}\n"
        "export async function second() {}\n"
        "// No block.\nexport const third = () => 1;\n"
        "/** Fine. */\n\nexport class Fourth {}\n"
        "export {};\n"
    )
    found = [re.match(r"\w+", each)[0] for each in undocumented(text)]
    assert found == ["second", "third", "Fourth"]
