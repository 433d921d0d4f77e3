"""Sheets of Excel and OpenDocument workbooks as tables."""

import datetime as dt
import io
import zipfile

import pytest

from credalis.tables import open_table
from workbooks import percent, write_ods, write_xlsx

pytest.importorskip("python_calamine")
pytest.importorskip("pyarrow")

ROWS = [
    [None, "when", "share", "name", "ok", "n"],
    [0, dt.date(2024, 1, 2), percent(0.125), "ann", True, 1.5],
    [1, dt.date(2024, 3, 4), percent(0.5), None, False, None],
    [2, dt.date(2024, 5, 6), percent(0.25), "cy", True, 3.0],
]


@pytest.fixture
def workbook(tmp_path):
    path = tmp_path / "book.xlsx"
    write_xlsx(path, Empty=[["a remark"]], Data=ROWS, Other=[["a", "b"], [1, 2]])
    return path


def test_cells_keep_their_types(workbook):
    table = open_table(workbook)
    assert table.columns == ("x0", "when", "share", "name", "ok", "n")
    assert table.unnamed == ("x0",)
    content = table.read().to_pydict()
    assert content["when"][0] == dt.datetime(2024, 1, 2)
    assert content["share"] == [0.125, 0.5, 0.25]
    assert content["name"] == ["ann", None, "cy"]
    assert content["ok"] == [True, False, True]
    assert content["n"] == [1.5, None, 3.0]
    assert table.n_rows == 3


def test_the_first_sheet_with_rows_is_read_and_told(workbook):
    assert open_table(workbook).notes == [
        "sheet 'Data' of 'Empty', 'Data', 'Other' is read (--sheet names another)"
    ]


@pytest.mark.parametrize("sheet", ["Other", 3, "3"])
def test_a_sheet_by_name_or_number(workbook, sheet):
    table = open_table(workbook, sheet=sheet)
    assert table.columns == ("a", "b")
    assert not table.notes


def test_a_sheet_that_is_not_there_is_named(workbook):
    with pytest.raises(ValueError, match=r"no sheet 'Dta'; its sheets are 'Empty'"):
        open_table(workbook, sheet="Dta")


def test_other_files_have_no_sheets(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="no workbook: leave out --sheet"):
        open_table(tmp_path / "t.csv", sheet="a")


def test_numbers_and_words_in_one_column_are_text(tmp_path):
    write_xlsx(tmp_path / "t.xlsx", S=[["a"], [1], ["?"], [2.5]])
    table = open_table(tmp_path / "t.xlsx")
    assert table.read().to_pydict() == {"a": ["1", "?", "2.5"]}
    gappy = open_table(tmp_path / "t.xlsx", missing_values=["?"])
    assert gappy.read().to_pydict() == {"a": [1.0, None, 2.5]}


def test_identifiers_are_text(tmp_path):
    write_xlsx(tmp_path / "t.xlsx", S=[["a", "b"], [7, 1], [8, 2]])
    table = open_table(tmp_path / "t.xlsx", text_columns=["a"])
    assert table.read().to_pydict() == {"a": ["7", "8"], "b": [1.0, 2.0]}


def test_without_a_header_columns_are_numbered(tmp_path):
    write_xlsx(tmp_path / "t.xlsx", S=[[1, 2], [3, 4]])
    table = open_table(tmp_path / "t.xlsx")
    assert table.columns == ("x0", "x1")
    assert table.unnamed == ()
    assert table.n_rows == 2


def test_open_document(tmp_path):
    write_ods(tmp_path / "t.ods", [["a", "b"], [1.5, "x"], [2.5, None]])
    table = open_table(tmp_path / "t.ods")
    assert table.read().to_pydict() == {"a": [1.5, 2.5], "b": ["x", None]}


@pytest.mark.parametrize("limit", ["ratio", "size"])
def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch, limit):
    path = tmp_path / "t.xlsx"
    write_xlsx(path, S=[["a"], [1]])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/media/zeros", bytes(2**25))
    if limit == "size":
        monkeypatch.setattr("credalis.tables._excel._MAX_RATIO", 10**9)
        monkeypatch.setattr("credalis.tables._excel.MAX_UNPACKED_BYTES", 2**24)
    with pytest.raises(ValueError, match=r"would unpack from 0\.0 MB to 34 MB"):
        open_table(path)


def test_a_damaged_workbook_is_told(tmp_path):
    path = tmp_path / "t.xlsx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook")
    with pytest.raises(ValueError, match=r"t\.xlsx cannot be read"):
        open_table(path)
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match="not a xlsx file, or it is damaged"):
        open_table(path)


def test_through_a_pipe(workbook, monkeypatch):
    class Pipe:
        buffer = io.BytesIO(workbook.read_bytes())

    monkeypatch.setattr("sys.stdin", Pipe())
    assert open_table("-", sheet="Other").read().to_pydict() == {"a": [1.0], "b": [2.0]}
