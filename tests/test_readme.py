"""The README tells the truth: its code runs."""

import os
import re
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


def test_code_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    blocks = re.findall(
        r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.S
    )
    assert len(blocks) >= 3
    exec(compile("\n".join(blocks), "README.md", "exec"), {})
    plt.close("all")
    assert "Credal partition of 400 objects" in capsys.readouterr().out
    assert sorted(os.listdir(tmp_path)) == ["model.credalis", "report.html"]


def test_pictures_of_the_readme_exist():
    pictures = re.findall(r"!\[.*?\]\((.*?)\)", README.read_text(encoding="utf-8"))
    assert pictures
    for picture in pictures:
        assert (README.parent / picture).is_file()
