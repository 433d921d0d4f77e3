import csv
import gzip
from urllib.error import URLError

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import load_iris, load_wine
from sklearn.utils import Bunch

from credalis.datasets import _benchmark, fetch_benchmark
from credalis.datasets._catalogue import MICE_PROTEINS


@pytest.fixture
def directory(tmp_path, monkeypatch):
    """An empty directory that CREDALIS_DATA points to."""
    monkeypatch.setenv("CREDALIS_DATA", str(tmp_path))
    return tmp_path


@pytest.fixture
def no_directory(monkeypatch):
    monkeypatch.delenv("CREDALIS_DATA", raising=False)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def openml(monkeypatch, no_directory):
    """Stand-in for scikit-learn's fetch_openml; `answer` is what it returns."""

    class OpenML:
        def __init__(self):
            self.answer = None
            self.requests = []

        def __call__(self, **request):
            self.requests.append(request)
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

    stand_in = OpenML()
    monkeypatch.setattr(_benchmark, "fetch_openml", stand_in)
    return stand_in


def write_table(path, header, rows):
    with gzip.open(path, "wt", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def iris_like(rng, n_samples=150, n_features=4, n_classes=3):
    """Header and rows of a table with the size of iris, unless said otherwise."""
    header = [f"feature {j}" for j in range(n_features)] + ["label"]
    rows = [
        [*rng.normal(size=n_features).tolist(), i % n_classes] for i in range(n_samples)
    ]
    return header, rows


def protein_like(rng):
    matrix = rng.uniform(size=(213, 213))
    np.fill_diagonal(matrix, 0)
    return matrix, np.arange(213) % 4


def raw_openml(rng, sizes, feature_names):
    """What fetch_openml returns: `sizes` maps the classes to numbers of objects."""
    target = np.repeat(np.array(list(sizes), dtype=object), list(sizes.values()))
    target = rng.permutation(target)
    data = rng.normal(size=(len(target), len(feature_names)))
    return Bunch(data=data, target=target, feature_names=list(feature_names))


def ecoli_from_openml(rng):
    sizes = {"cp": 143, "im": 77, "pp": 52, "imU": 35, "om": 20, "omL": 5, "imS": 2}
    names = ["mcg", "gvh", "lip", "chg", "aac", "alm1", "alm2"]
    return raw_openml(rng, sizes, names)


def mice_from_openml(rng):
    """Two control classes and the trisomic mice; missing values as in the original."""
    sizes = {"c-CS-m": 150, "c-SC-s": 135, "t-CS-m": 135}
    sizes |= {"t-CS-s": 105, "t-SC-m": 135, "t-SC-s": 135}
    others = [f"protein {j}" for j in range(77 - len(MICE_PROTEINS))]
    raw = raw_openml(rng, sizes, [*others, *MICE_PROTEINS])
    damaged = np.flatnonzero(raw.target == "t-SC-s")[:3]
    raw.data[damaged, -43:] = np.nan
    some = np.flatnonzero(raw.target == "t-CS-m")[:40]
    raw.data[some, :6] = np.nan
    return raw


class TestFiles:
    def test_a_table_is_read_from_the_directory(self, directory, rng):
        header, rows = iris_like(rng)
        write_table(directory / "iris.csv.gz", header, rows)
        iris = fetch_benchmark("iris")
        assert_array_equal(iris.data, [row[:-1] for row in rows])
        assert_array_equal(iris.target, [row[-1] for row in rows])
        assert iris.data.dtype == np.float64
        assert iris.data.flags.c_contiguous
        assert iris.target.dtype == np.int64
        assert iris.feature_names == header[:-1]
        assert iris.target_names == ["setosa", "versicolor", "virginica"]
        assert "iris.csv.gz" in iris.provenance

    def test_a_dissimilarity_matrix_is_read_from_the_directory(self, directory, rng):
        matrix, labels = protein_like(rng)
        np.savez(
            directory / "protein.npz",
            D=matrix.astype(np.float32),
            y=labels.astype(np.int16),
        )
        protein = fetch_benchmark("protein")
        assert_array_equal(protein.dissimilarities, matrix.astype(np.float32))
        assert_array_equal(protein.target, labels)
        assert protein.dissimilarities.dtype == np.float64
        assert protein.target.dtype == np.int64
        assert protein.target_names == ["HA", "HB", "M", "G"]
        assert "data" not in protein

    def test_a_trailing_blank_line_is_harmless(self, directory, rng):
        header, rows = iris_like(rng)
        write_table(directory / "iris.csv.gz", header, [*rows, []])
        assert fetch_benchmark("iris").data.shape == (150, 4)

    @pytest.mark.parametrize(
        ("change", "found"),
        [
            (lambda header, rows: (header, rows[:-1]), r"shape \(149, 5\)"),
            (lambda header, rows: (header, []), "shape"),
            (lambda header, rows: (header[:-1], rows), "header"),
            (lambda header, rows: (header[1:], [r[1:] for r in rows]), "shape"),
            (lambda header, rows: (header, [*rows[:-1], rows[-1][1:]]), "inhomogen"),
            (lambda header, rows: (header, [*rows[:-1], [*"abcd", 0]]), "could not"),
            (
                lambda header, rows: (header, [*rows[:-1], ["nan", 1, 2, 3, 0]]),
                "not finite",
            ),
            (
                lambda header, rows: (header, [[*r[:-1], r[-1] + 1] for r in rows]),
                r"labels are \[1., 2., 3.\]",
            ),
            (
                lambda header, rows: (header, [[*r[:-1], r[-1] / 2] for r in rows]),
                r"labels are \[0. , 0.5, 1. \]",
            ),
        ],
    )
    def test_a_malformed_table_is_named_with_what_was_expected(
        self, directory, rng, change, found
    ):
        write_table(directory / "iris.csv.gz", *change(*iris_like(rng)))
        with pytest.raises(ValueError, match=f"(?s)iris.csv.gz must be .*{found}"):
            fetch_benchmark("iris")

    @pytest.mark.parametrize(
        "damage",
        [
            lambda content: b"",
            lambda content: b"not a gzip file",
            lambda content: content[: len(content) // 2],
            lambda content: content[:40] + b"\xff" * 40 + content[80:],
            lambda content: gzip.compress(b"\xff\xfe\xfd"),
        ],
    )
    def test_a_corrupt_table_is_named_with_what_was_expected(
        self, directory, rng, damage
    ):
        path = directory / "iris.csv.gz"
        write_table(path, *iris_like(rng))
        path.write_bytes(damage(path.read_bytes()))
        with pytest.raises(
            ValueError, match=r"iris\.csv\.gz must be a gzip CSV of 150"
        ):
            fetch_benchmark("iris")

    @pytest.mark.parametrize(
        "change",
        [
            lambda matrix, labels: {"D": matrix[:-1], "y": labels},
            lambda matrix, labels: {"D": matrix, "y": labels[:-1]},
            lambda matrix, labels: {"D": matrix, "y": labels + 1},
            lambda matrix, labels: {"D": -matrix, "y": labels},
            lambda matrix, labels: {"D": matrix + np.eye(213), "y": labels},
            lambda matrix, labels: {"D": np.where(matrix, np.nan, 0), "y": labels},
            lambda matrix, labels: {"D": matrix},
            lambda matrix, labels: {"D": matrix, "y": labels.astype(object)},
        ],
    )
    def test_a_malformed_matrix_is_named_with_what_was_expected(
        self, directory, rng, change
    ):
        np.savez(directory / "protein.npz", **change(*protein_like(rng)))
        with pytest.raises(ValueError, match=r"protein\.npz must be an NPZ with"):
            fetch_benchmark("protein")

    @pytest.mark.parametrize(
        "damage",
        [
            lambda content: b"",
            lambda content: b"not a zip file",
            lambda content: content[: len(content) // 2],
        ],
    )
    def test_a_corrupt_matrix_is_named_with_what_was_expected(
        self, directory, rng, damage
    ):
        matrix, labels = protein_like(rng)
        path = directory / "protein.npz"
        np.savez(path, D=matrix, y=labels)
        path.write_bytes(damage(path.read_bytes()))
        with pytest.raises(ValueError, match=r"protein\.npz must be an NPZ with"):
            fetch_benchmark("protein")

    def test_a_single_array_in_place_of_an_archive_is_refused(self, directory, rng):
        with (directory / "protein.npz").open("wb") as file:
            np.save(file, protein_like(rng)[0])
        with pytest.raises(ValueError, match=r"protein\.npz must be an NPZ with"):
            fetch_benchmark("protein")


class TestPlaces:
    @pytest.mark.parametrize(
        ("name", "load"), [("wine", load_wine), ("iris", load_iris)]
    )
    def test_sets_of_scikit_learn_need_no_file(self, no_directory, name, load):
        bunch = fetch_benchmark(name, download_if_missing=False)
        assert_array_equal(bunch.data, load().data)
        assert_array_equal(bunch.target, load().target)
        assert bunch.target.dtype == np.int64
        assert bunch.target_names == list(load().target_names)
        assert "scikit-learn" in bunch.provenance

    def test_bundled_iris_is_the_version_without_wrong_rows(self, no_directory):
        iris = fetch_benchmark("iris")
        assert_array_equal(iris.data[34], [4.9, 3.1, 1.5, 0.2])
        assert_array_equal(iris.data[37], [4.9, 3.6, 1.4, 0.1])

    def test_a_set_missing_from_the_directory_is_taken_elsewhere(self, directory):
        assert fetch_benchmark("wine").data.shape == (178, 13)

    def test_an_unknown_name_is_an_error_that_lists_the_known_ones(self):
        with pytest.raises(ValueError, match=r"name must be .*'wine'.*, got 'zongker'"):
            fetch_benchmark("zongker")

    def test_a_set_without_download_can_only_come_from_the_directory(
        self, no_directory, tmp_path
    ):
        with pytest.raises(
            FileNotFoundError, match=r"CREDALIS_DATA .*s2\.csv\.gz; .*no other way"
        ):
            fetch_benchmark("s2", data_home=tmp_path)

    def test_a_missing_set_with_download_says_both_ways(self, openml, tmp_path):
        with pytest.raises(
            FileNotFoundError, match=r"CREDALIS_DATA .*ecoli\.csv\.gz, or .*download_if"
        ):
            fetch_benchmark("ecoli", data_home=tmp_path, download_if_missing=False)
        assert openml.requests == []

    def test_the_message_says_where_credalis_data_points_to(self, directory):
        with pytest.raises(FileNotFoundError, match=directory.name):
            fetch_benchmark("digits_idm")

    def test_a_directory_that_does_not_exist_is_an_error(self, monkeypatch, tmp_path):
        monkeypatch.setenv("CREDALIS_DATA", str(tmp_path / "nowhere"))
        with pytest.raises(FileNotFoundError, match="CREDALIS_DATA must name an exist"):
            fetch_benchmark("wine")

    def test_an_empty_variable_counts_as_none(self, monkeypatch):
        monkeypatch.setenv("CREDALIS_DATA", "")
        assert fetch_benchmark("wine").data.shape == (178, 13)


class TestDownload:
    def test_ecoli_keeps_five_columns_and_three_classes(self, openml, tmp_path, rng):
        openml.answer = raw = ecoli_from_openml(rng)
        ecoli = fetch_benchmark("ecoli", data_home=tmp_path)
        kept = np.isin(raw.target, ["cp", "im", "imU", "pp"])
        assert openml.requests[0]["data_id"] == 39
        assert_array_equal(ecoli.data, raw.data[kept][:, [0, 1, 4, 5, 6]])
        assert ecoli.feature_names == ["mcg", "gvh", "aac", "alm1", "alm2"]
        assert_array_equal(np.bincount(ecoli.target), [143, 112, 52])
        assert_array_equal(ecoli.target == 1, np.isin(raw.target[kept], ["im", "imU"]))
        assert "OpenML data set 39" in ecoli.provenance

    def test_heart_keeps_everything(self, openml, tmp_path, rng):
        names = [f"attribute {j}" for j in range(13)]
        openml.answer = raw = raw_openml(rng, {"present": 120, "absent": 150}, names)
        heart = fetch_benchmark("heart", data_home=tmp_path)
        assert openml.requests[0]["data_id"] == 53
        assert_array_equal(heart.data, raw.data)
        assert_array_equal(heart.target, raw.target == "present")

    def test_glass_numbers_its_classes_in_the_order_of_uci(self, openml, tmp_path, rng):
        sizes = {"build wind float": 70, "build wind non-float": 76}
        sizes |= {"vehic wind float": 17, "containers": 13}
        sizes |= {"tableware": 9, "headlamps": 29}
        names = ["RI", "Na", "Mg", "Al", "Si", "K", "Ca", "Ba", "Fe"]
        openml.answer = raw_openml(rng, sizes, names)
        glass = fetch_benchmark("glass", data_home=tmp_path)
        assert openml.requests[0]["data_id"] == 41
        assert_array_equal(np.bincount(glass.target), list(sizes.values()))
        assert glass.target_names == list(sizes)

    def test_letters_keep_six_letters(self, openml, tmp_path, rng):
        sizes = {"A": 789, "B": 766, "C": 736, "D": 805, "E": 5, "I": 755, "N": 783}
        names = [f"attribute {j}" for j in range(16)]
        openml.answer = raw = raw_openml(rng, sizes, names)
        letters = fetch_benchmark("letters4p1", data_home=tmp_path)
        assert openml.requests[0]["data_id"] == 6
        assert_array_equal(
            np.array(letters.target_names)[letters.target],
            raw.target[raw.target != "E"],
        )

    def test_mice_drops_damaged_rows_and_keeps_the_chosen_proteins(
        self, openml, tmp_path, rng
    ):
        openml.answer = mice_from_openml(rng)
        mice = fetch_benchmark("mice", data_home=tmp_path)
        assert openml.requests[0]["data_id"] == 40966
        assert mice.data.shape == (507, 22)
        assert mice.feature_names == list(MICE_PROTEINS)
        assert_array_equal(np.bincount(mice.target), [135, 132, 240])

    def test_mice71_keeps_the_proteins_without_missing_values(
        self, openml, tmp_path, rng
    ):
        openml.answer = raw = mice_from_openml(rng)
        mice = fetch_benchmark("mice71", data_home=tmp_path)
        assert mice.data.shape == (507, 71)
        assert mice.feature_names == raw.feature_names[6:]

    def test_a_set_is_downloaded_once(self, openml, tmp_path, rng):
        openml.answer = ecoli_from_openml(rng)
        first = fetch_benchmark("ecoli", data_home=tmp_path)
        second = fetch_benchmark("ecoli", data_home=tmp_path, download_if_missing=False)
        assert len(openml.requests) == 1
        assert_array_equal(first.data, second.data)
        assert_array_equal(first.target, second.target)
        assert [path.name for path in (tmp_path / "credalis").iterdir()] == [
            "ecoli.csv.gz"
        ]

    def test_a_file_of_the_directory_comes_before_the_download(
        self, openml, tmp_path, monkeypatch, rng
    ):
        header, rows = iris_like(rng, n_samples=307, n_features=5)
        write_table(tmp_path / "ecoli.csv.gz", header, rows)
        monkeypatch.setenv("CREDALIS_DATA", str(tmp_path))
        assert fetch_benchmark("ecoli").feature_names == header[:-1]
        assert openml.requests == []

    @pytest.mark.parametrize("failure", [URLError("no route"), ValueError("no route")])
    def test_a_failed_download_says_why_and_what_else_to_do(
        self, openml, tmp_path, failure
    ):
        openml.answer = failure
        with pytest.raises(FileNotFoundError, match=r"no route.*CREDALIS_DATA.*ecoli"):
            fetch_benchmark("ecoli", data_home=tmp_path)

    def test_a_set_of_another_size_is_refused_and_not_kept(self, openml, tmp_path, rng):
        raw = ecoli_from_openml(rng)
        openml.answer = Bunch(
            data=raw.data[:300],
            target=raw.target[:300],
            feature_names=raw.feature_names,
        )
        with pytest.raises(ValueError, match=r"data set 39 must give .*\(307, 5\)"):
            fetch_benchmark("ecoli", data_home=tmp_path)
        assert not list(tmp_path.rglob("*.csv.gz"))

    def test_a_set_without_the_columns_is_refused(self, openml, tmp_path, rng):
        openml.answer = ecoli_from_openml(rng)
        openml.answer.feature_names[0] = "signal"
        with pytest.raises(ValueError, match="must have the columns mcg, got signal"):
            fetch_benchmark("ecoli", data_home=tmp_path)
