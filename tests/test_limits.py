"""Numbers beyond all measure: in parameters, in files and in data."""

import subprocess
import sys
import textwrap
import warnings
import zipfile

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from credalis import (
    BCM,
    ECM,
    EGMM,
    EVCLUS,
    MECM,
    NNEVCLUS,
    RECM,
    TECM,
    WMVEC,
    Bootclus,
    Consensus,
    CredalPartition,
    ECMdd,
    EkNNclus,
    FocalSets,
    MultiviewECMdd,
)
from credalis.cluster import estimator_classes
from helpers import contents, write

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ExperimentalWarning"),
]

X = make_blobs(60, centers=3, cluster_std=1.0, random_state=3)[0]
D = np.sqrt(((X[:, None] - X) ** 2).sum(axis=-1))

HUGE = [
    {"n_clusters": 10**9},
    {"n_clusters": 2**1000},
    {"n_init": 2**31},
    {"n_init": 2**63},
    {"n_jobs": 2**63},
    {"n_bootstrap": 2**31},
    {"hidden_layer_sizes": 2**31},
    {"hidden_layer_sizes": (2**20, 2**20)},
    {"weight_decay": 1e308},
    {"alpha": 2**31},
    {"alpha": 2**63},
    {"alpha": 1e308},
    {"gamma": 1e308},
    {"eta": 1e308},
    {"eta": 5e-324},
    {"exponent": 2**31},
    {"exponent": 1e308},
]


@pytest.mark.parametrize(
    ("estimator", "parameters"),
    [
        (cls(), each)
        for cls in estimator_classes()
        for each in HUGE
        if each.keys() <= cls().get_params().keys()
    ],
    ids=lambda each: str(each)[:60],
)
def test_huge_parameters_are_refused_by_name(estimator, parameters):
    (name,) = parameters
    with pytest.raises(ValueError, match=rf"{name}\b.* must |{name} must "):
        clone(estimator).set_params(**parameters).fit(X)


def test_an_exponent_of_the_sizes_of_sets_may_be_large():
    # 2^100 is no integer of 64 bits, but a number.
    large = ECM(2, alpha=100, random_state=0).fit(X)
    assert large.partition_.masses[:, -1].max() < 1e-20
    with pytest.raises(ValueError, match=r"alpha must be <= 83.05 with n_clusters=4"):
        ECM(4, alpha=100).fit(X)


@pytest.mark.parametrize("cls", [ECM, BCM, RECM, ECMdd, MECM])
@pytest.mark.filterwarnings("ignore:n_clusters=1:UserWarning")
@pytest.mark.filterwarnings("ignore::credalis.exceptions.ContrastWarning")
def test_equal_objects_are_in_one_cluster(cls):
    fitted = cls(1, random_state=0).fit(np.ones((10, 2)))
    # The rest is how little an object without any distance may be a stranger.
    assert fitted.partition_.plausibility.min() > 0.999


def test_an_exponent_whose_powers_are_no_numbers_is_refused():
    with pytest.raises(ValueError, match=r"exponent must be such that .* scale X"):
        EkNNclus(exponent=40).fit(X * 1e10)


class TestFocalSets:
    @pytest.mark.parametrize(
        "make",
        [
            FocalSets.singletons,
            FocalSets.pairs,
            FocalSets.full,
            lambda n: FocalSets(n, [(0,)]),
            lambda n: FocalSets.from_subsets(n, [(0,)], frame=True),
        ],
    )
    @pytest.mark.parametrize("n_clusters", [10**9, 2**1000])
    def test_so_many_clusters_are_a_mistake(self, make, n_clusters):
        with pytest.raises(ValueError, match=r"n_clusters.* must be .*<= "):
            make(n_clusters)

    def test_all_pairs_of_many_clusters_are_too_many(self):
        with pytest.raises(ValueError, match=r"all pairs.* no more than 134217 focal"):
            FocalSets.pairs(2000)
        assert len(FocalSets.singletons(2000)) == 2002

    def test_identifiers_are_no_labels(self):
        with pytest.raises(ValueError, match=r"labels must be .* got 1000000000"):
            CredalPartition.from_labels([0, 10**9])
        with pytest.raises(ValueError, match="n_clusters must be <= 16384"):
            CredalPartition.from_labels([0, 1], n_clusters=10**9)


PROGRAM = """
import re, resource, sys
from pathlib import Path
import numpy as np
import credalis, credalis.io, credalis.streaming
from credalis.cli import main

path, message = sys.argv[1:]
status = Path("/proc/self/status").read_text()
before = int(re.search(r"VmSize:\\s+(\\d+)", status)[1]) * 1024
limit = before + 200 * 10**6
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    np.ones(10**8)
except MemoryError:
    pass
else:
    raise AssertionError("there is no limit")
try:
    credalis.load(path)
except ValueError as error:
    assert re.search(message, str(error)), error
else:
    raise AssertionError("the file was read")
assert main(["info", path]) == 1
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
class TestLittleMemory:
    """Files that ask for far more than they hold, with 200 MB to spare."""

    def refused(self, path, message):
        pytest.importorskip("click")
        result = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(PROGRAM), str(path), message],
            capture_output=True,
            text=True,
        )
        assert result.returncode == 0, result.stderr

    @pytest.fixture
    def saved(self, tmp_path):
        path = tmp_path / "model.credalis"
        ECM(3, random_state=0).fit(X).save(path)
        return path

    def test_clusters_that_are_not_there(self, saved):
        header, arrays = contents(saved)
        fitted = header["object"]["state"]["fitted"]["items"]
        fitted["focal_sets_"]["state"]["n_clusters"] = 10**9
        write(saved, header, arrays)
        self.refused(saved, "n_clusters must be <= 16384, got 1000000000")

    def test_a_bomb(self, saved):
        header = np.frombuffer(b'{"format": 1}', np.uint8)
        zeros = np.zeros(10**7)
        with zipfile.ZipFile(saved, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as bomb:
            with bomb.open("credalis.npy", "w") as member:
                np.lib.format.write_array(member, header)
            for number in range(8):
                with bomb.open(f"array{number}.npy", "w") as member:
                    np.lib.format.write_array(member, zeros)
        assert 2e6 < saved.stat().st_size < 4e6
        self.refused(saved, "is compressed")

    def test_entries_of_no_size(self, saved, monkeypatch):
        header, arrays = contents(saved)
        hostile = next(iter(arrays.values()))
        write_array = np.lib.format.write_array

        def write_nothing(member, values, **options):
            if values is not hostile:
                return write_array(member, values, **options)
            described = {"descr": "<U0", "fortran_order": False, "shape": (10**9,)}
            return np.lib.format.write_array_header_1_0(member, described)

        monkeypatch.setattr(np.lib.format, "write_array", write_nothing)
        write(saved, header, arrays)
        self.refused(saved, "entries of no size")


VALUES = [0.0, 1e150, -1e150, 1e200, -1e200, 1e308, -1e308, 5e-324]
ROWS = np.array([[a, b] for a in VALUES for b in VALUES])
DISSIMILARITIES = np.abs(np.repeat(ROWS, 30, axis=1))

PREDICTING = [
    *((cls(), X, ROWS) for cls in estimator_classes()),
    (ECM(3, metric="adaptive"), X, ROWS),
    (ECM(3, metric=PCA(1)), X, ROWS),
    (ECM(3, metric=StandardScaler()), X, ROWS),
    (EVCLUS(3, metric=PCA(1), max_iter=5), X, ROWS),
    (EVCLUS(3, metric="manhattan", max_iter=5), X, ROWS),
    (EVCLUS(3, solver="gradient", max_iter=5), X, ROWS),
    (EVCLUS(3, metric="precomputed", max_iter=5), D, DISSIMILARITIES),
    (EkNNclus(metric="chebyshev", exponent=2), X, ROWS),
    (EkNNclus(metric="precomputed"), D, DISSIMILARITIES),
    (ECMdd(3, metric="precomputed"), D, DISSIMILARITIES),
    (RECM(3, metric="precomputed"), D, DISSIMILARITIES),
    (Consensus(3, metric="precomputed"), D, DISSIMILARITIES),
    (Consensus(3, metric="gower"), X, ROWS),
    (NNEVCLUS(3, novelty_detector="ocsvm", max_iter=20), X, ROWS),
    (NNEVCLUS(3, metric="precomputed", max_iter=20), D, DISSIMILARITIES),
    (NNEVCLUS(3, views=[[0], [1]], max_iter=20), X, ROWS),
    (EGMM(3, covariance_type="full"), X, ROWS),
    (MultiviewECMdd(3, views=[[0], [1]], weights="local"), X, ROWS),
    (TECM(3, source_centers=X[:2]), X, ROWS),
    (WMVEC(3, views=[[0], [1]], feature_entropy=1.0), X, ROWS),
    (EGMM(3, covariance_type="diag"), X, ROWS),
    *(
        (Bootclus(3, covariance_type=kind, n_bootstrap=4), X, ROWS)
        for kind in ("full", "tied", "diag", "spherical")
    ),
]


@pytest.mark.parametrize(
    ("estimator", "data", "rows"), PREDICTING, ids=lambda each: type(each).__name__
)
def test_every_finite_row_has_masses(estimator, data, rows):
    few = {"n_init": 1, "n_bootstrap": 5, "random_state": 0}
    few = {name: value for name, value in few.items() if hasattr(estimator, name)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(estimator).set_params(**few).fit(data)
    # Warnings are errors here.
    partition = fitted.predict_partition(rows)
    assert np.isfinite(partition.plausibility).all()
    assert set(fitted.predict(rows)) <= set(range(partition.n_clusters))
    if hasattr(fitted, "reference_"):
        p_values = fitted.outlier_p_values(rows)
        assert ((p_values >= 0) & (p_values <= 1)).all()
        # Who is near some objects of a matrix is no stranger.
        is_far = np.abs(rows[:, [0, -1]]).min(axis=1) > 1
        assert p_values[is_far].max() < 0.1


def test_far_rows_are_those_of_their_direction():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for estimator in (EkNNclus(), EVCLUS(3), NNEVCLUS(3), Bootclus(3), EGMM(3)):
            fitted = estimator.set_params(random_state=0).fit(X)
            far, farther = np.array([[3e20, -1e20]]), np.array([[3e300, -1e300]])
            np.testing.assert_allclose(
                fitted.predict_proba(far), fitted.predict_proba(farther), atol=1e-6
            )


def test_near_rows_are_not_touched():
    from credalis.cluster._inputs._geometry import within_reach

    rows = np.array([[1e150, 0.0], [-3.0, 4.0]])
    assert within_reach(rows, np.zeros(2)) is rows
    rows = np.array([[1e308, -5e307], [-3.0, 4.0]])
    near = within_reach(rows, np.array([1.0, 1.0]))
    np.testing.assert_array_equal(near[1], rows[1])
    np.testing.assert_allclose(near[0, 1] / near[0, 0], -0.5)
    assert np.isfinite(np.square(near).sum())
