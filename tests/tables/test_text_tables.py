"""Text files as people have them: what is found out, and what is said if it is not."""

import gzip

import pytest

from credalis.tables import as_matrix, open_table

pytest.importorskip("pyarrow")


@pytest.fixture
def read(tmp_path):
    """Writes bytes to a file and reads them as a table of plain lists."""

    def read_bytes(content, name="table.csv", **options):
        path = tmp_path / name
        path.write_bytes(content)
        return open_table(path, **options).read().to_pydict()

    return read_bytes


NUMBERS = {"a": [1.0, 2.5], "b": [3.0, -4.0]}


@pytest.mark.parametrize(
    "content",
    [
        b"a,b\n1,3\n2.5,-4\n",
        b"a;b\n1;3\n2.5;-4\n",
        b"a;b\n1,0;3,0\n2,5;-4,0\n",
        b"a\tb\r\n1\t3\r\n2.5\t-4\r\n",
        b"a|b\n1|3\n2.5|-4",
        b'"a","b"\n"1","3"\n2.5,-4\n',
        b"\n\na,b\n\n1,3\n2.5,-4\n\n",
        "a,b\n1,3\n2.5,-4\n".encode("utf-16"),
        "a,b\n1,3\n2.5,-4\n".encode("utf-8-sig"),
        gzip.compress(b"a,b\n1,3\n2.5,-4\n"),
    ],
    ids=[
        *("comma", "semicolon", "decimal comma", "tab", "bar", "quotes", "gaps"),
        *("utf-16", "byte order mark", "gzip"),
    ],
)
def test_dialect_is_found(read, content):
    assert read(content) == NUMBERS


def test_what_is_said_is_not_guessed(read):
    content = b"1:2\n3:4\n"
    assert read(content, delimiter=":") == {"x0": [1.0, 3.0], "x1": [2.0, 4.0]}
    assert read(b"2019,2020\n1,2\n", header=True) == {"2019": [1.0], "2020": [2.0]}
    assert read(b"x;y\n1,5;2\n", decimal=".")["x"] == ["1,5"]
    assert read("ä\n1\n".encode("latin-1"), encoding="latin-1") == {"ä": [1.0]}


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (b"1,2\n3,4\n", ["x0", "x1"]),
        (b"1 2\n3 4\n", ["x0", "x1"]),
        (b"red,1\nblue,2\n", ["x0", "x1"]),
        (b"colour,size\nred,small\n", ["colour", "size"]),
        (b",a\n0,1\n", ["x0", "a"]),
    ],
    ids=["numbers", "blanks", "one number", "only text", "name missing"],
)
def test_header_is_a_line_without_numbers(read, content, names):
    assert list(read(content)) == names


def test_missing_cells_are_missing_numbers(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("a,b\n1,NA\n,?\n3,4\n")
    batch = open_table(path, missing_values=["?"]).read()
    assert str(as_matrix(batch).tolist()) == "[[1.0, nan], [nan, nan], [3.0, 4.0]]"


def test_identifiers_are_not_parsed(read):
    table = read(b"id,a\n007,1\n1e3,2\n", text_columns=["id"])
    assert table["id"] == ["007", "1e3"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "table.csv is empty"),
        (b"\n  \n", "table.csv is empty"),
        (b"a,b\n1,2\n3\n", r"line 3: 2 cells expected.* got 1; .*separated by ','"),
        (b"a,a\n1,2\n", "two columns called 'a'"),
        (b"\x81\xe9,b\n1,2\n", r"byte 0x81 in line 1\).*--encoding latin-1"),
        (b"\x89HDF\r\n\x1a\n" + bytes(99), "is an HDF5 file; CSV, TSV, Excel"),
        (bytes(100), "not a table of text"),
        (gzip.compress(b"a,b\n" + b"1,2\n" * 999)[:-9], "damaged or cut short"),
    ],
    ids=[
        *("empty", "blank", "ragged", "names twice", "latin-1", "hdf5", "zeros"),
        "cut gzip",
    ],
)
def test_what_cannot_be_read_is_told(read, content, message):
    with pytest.raises(ValueError, match=message):
        read(content)


def test_unknown_encoding_is_told(read):
    with pytest.raises(
        ValueError, match=r"encoding must be the name of one.*'klingon'"
    ):
        read(b"a\n1\n", encoding="klingon")


class TestLongFiles:
    """More than the beginning, on which the types of the columns rest."""

    ROWS = b"".join(b"%d,%d\n" % (i, 2 * i) for i in range(200_000))

    def test_whole_numbers_may_be_followed_by_fractions(self, read):
        table = read(b"a,b\n" + self.ROWS + b"0.5,1e3\n")
        assert len(table["a"]) == 200_001
        assert table["a"][-1] == 0.5

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            (b"3,x\n", r"line 200002, column 'b': 'x' is not a number.*--na x$"),
            (b"3\n", r"line 200002: 2 cells expected"),
            (b"3,\xe9\n", r"line 200002, column 'b': not utf-8 text.*--encoding"),
        ],
        ids=["text", "ragged", "latin-1"],
    )
    def test_a_column_does_not_change_its_type_half_way(self, read, line, message):
        with pytest.raises(ValueError, match=message):
            read(b"a,b\n" + self.ROWS + line)

    def test_batches_are_bounded_and_in_order(self, tmp_path):
        path = tmp_path / "long.csv"
        path.write_bytes(b"a,b\n" + self.ROWS)
        sizes, last = [], -1.0
        for batch in open_table(path).batches(["b"], max_rows=30_000):
            values = as_matrix(batch)[:, 0]
            assert values[0] == last + (2 if sizes else 1)
            sizes.append(batch.num_rows)
            last = values[-1]
        assert sum(sizes) == 200_000
        assert max(sizes) <= 30_000


def test_text_of_windows_is_read_and_told(tmp_path):
    (tmp_path / "t.csv").write_bytes("café,b\n1,2\n".encode("cp1252"))
    table = open_table(tmp_path / "t.csv")
    assert table.columns == ("café", "b")
    assert table.notes == [
        "not UTF-8, read as cp1252: line 1 then says 'café,b' (--encoding names "
        "another)"
    ]
    assert not open_table(tmp_path / "t.csv", encoding="cp1252").notes


def test_columns_without_a_name_are_known(tmp_path):
    (tmp_path / "t.csv").write_text(",a\n0,5\n1,7\n")
    table = open_table(tmp_path / "t.csv")
    assert table.columns == ("x0", "a")
    assert table.unnamed == ("x0",)
    (tmp_path / "t.csv").write_text("1,2\n3,4\n")
    assert open_table(tmp_path / "t.csv").unnamed == ()
