"""The files in CREDALIS_DATA, if there are any, against what is said of the sets."""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import kruskal
from sklearn.datasets import load_iris, load_wine

from credalis.datasets import fetch_benchmark, load_butterfly, make_four_class
from credalis.datasets._catalogue import CATALOGUE, MICE_PROTEINS


@pytest.fixture(scope="module")
def real_directory():
    value = os.environ.get("CREDALIS_DATA")
    if not value:
        pytest.skip("CREDALIS_DATA does not name a directory with the benchmark files")
    return Path(value)


@pytest.fixture
def fetch_real(real_directory):
    """`fetch_benchmark` for files that are in the user's directory."""

    def fetch(name):
        suffix = ".npz" if CATALOGUE[name].n_features is None else ".csv.gz"
        if not (real_directory / f"{name}{suffix}").exists():
            pytest.skip(f"CREDALIS_DATA has no file {name}{suffix}")
        return fetch_benchmark(name)

    return fetch


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("wine", [59, 71, 48]),
        ("iris", [50, 50, 50]),
        ("ecoli", [143, 112, 52]),
        ("heart", [150, 120]),
        ("glass", [70, 76, 17, 13, 9, 29]),
        ("glass10", [70, 76, 17, 13, 9, 29]),
        ("d31", [100] * 31),
        ("mice", [135, 132, 240]),
        ("mice71", [135, 132, 240]),
        ("drybean", [200] * 7),
        ("protein", [72, 72, 39, 30]),
        ("digits_idm", [200] * 10),
        ("fourclass", [100] * 4),
        ("circles", [200, 300]),
    ],
)
def test_classes_have_the_published_sizes(fetch_real, name, sizes):
    assert_array_equal(np.bincount(fetch_real(name).target), sizes)


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_set_describes_itself(fetch_real, name):
    bunch = fetch_real(name)
    values = bunch.dissimilarities if "dissimilarities" in bunch else bunch.data
    assert len(values) == len(bunch.target) == CATALOGUE[name].n_samples
    assert len(bunch.target_names) == bunch.target.max() + 1
    assert bunch.DESCR
    assert "Licence: " in bunch.provenance
    assert "NN-EVCLUS" in bunch.provenance


@pytest.mark.parametrize(("name", "load"), [("wine", load_wine), ("iris", load_iris)])
def test_the_files_equal_the_sets_of_scikit_learn(fetch_real, name, load):
    bunch = fetch_real(name)
    assert_array_equal(bunch.data, load().data)
    assert_array_equal(bunch.target, load().target)


def test_glass10_is_glass_with_a_row_number(fetch_real):
    with_id = fetch_real("glass10").data
    assert_array_equal(with_id[:, 0], np.arange(1, 215))
    assert_array_equal(with_id[:, 1:], fetch_real("glass").data)


def test_mice_has_the_proteins_that_differ_most_between_the_classes(fetch_real):
    everything = fetch_real("mice71")
    statistics = kruskal(
        *(everything.data[everything.target == label] for label in range(3))
    ).statistic
    largest = np.sort(np.argsort(statistics)[-22:])
    mice = fetch_real("mice")
    assert mice.feature_names == list(MICE_PROTEINS)
    assert [everything.feature_names[j] for j in largest] == mice.feature_names
    assert_array_equal(mice.data, everything.data[:, largest])


def test_generated_four_class_data_resemble_the_original(fetch_real):
    original = fetch_real("fourclass")
    X, y = make_four_class(20_000, random_state=0)
    for label in range(4):
        quartiles = np.percentile(X[y == label], [25, 50, 75], axis=0)
        published = original.data[original.target == label]
        expected = np.percentile(published, [25, 50, 75], axis=0)
        assert np.abs(quartiles - expected).max() < 0.5


def test_the_butterfly_file_holds_the_published_points(real_directory):
    path = real_directory / "butterfly.csv.gz"
    if not path.exists():
        pytest.skip("CREDALIS_DATA has no file butterfly.csv.gz")
    values = np.loadtxt(path, delimiter=",", skiprows=1)
    assert_allclose(values[:, :-1], load_butterfly().data)
    assert_array_equal(values[:, -1], load_butterfly().target)


def test_the_documentation_gives_the_sizes_of_the_sets():
    lines = [line.split() for line in fetch_benchmark.__doc__.splitlines()]
    table = {line[0]: line[1:4] for line in lines if len(line) > 4}
    for name, benchmark in CATALOGUE.items():
        features = benchmark.n_features or "(matrix)"
        sizes = [benchmark.n_samples, features, benchmark.n_classes]
        assert table[name] == [str(size) for size in sizes]


def test_every_class_of_a_download_has_a_name():
    for benchmark in CATALOGUE.values():
        if benchmark.openml is not None:
            assert len(benchmark.openml.classes) == benchmark.n_classes
