"""Files that earlier versions have written are read, and say what they said then.

`fixtures/write_format1.py` has written them. Expected masses were computed by the
version that wrote the file.
"""

import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone

from credalis import load
from credalis.cluster.nnevclus import _training as training
from credalis.optimize import minimize_lbfgs
from fixtures.write_format1 import (
    CHECKPOINTS,
    MODELS,
    RELATIONAL,
    FewRows,
    blobs,
    linear,
)

FOLDER = Path(__file__).parent / "fixtures" / "format1"

# Predictions are a few sums of float64: other machines add in another order, no more.
ROUNDING = {"rtol": 0, "atol": 1e-12}

# What remains of a fit repeats rounding errors a few dozen times: those of float32 in
# the network, 1e-7 each, those of float64 in the prototypes.
AFTER_TRAINING = {
    "NNEVCLUS": {"rtol": 0, "atol": 1e-4},
    "ECM": {"rtol": 0, "atol": 1e-8},
    "CCM": {"rtol": 0, "atol": 1e-8},
}

MODEL_NAMES = [*MODELS, *RELATIONAL, "nnevclus_stream", "nnevclus_dissimilarities"]


@pytest.fixture(scope="module")
def expected():
    with np.load(FOLDER / "expected.npz") as archive:
        return {name: archive[name] for name in archive.files}


def test_every_file_is_tested():
    names = {f"{name}.checkpoint" for name in CHECKPOINTS} | {
        f"{name}.credalis" for name in [*MODEL_NAMES, "partition", "tabular", "monitor"]
    }
    assert {path.name for path in FOLDER.iterdir()} == names | {"expected.npz"}


@pytest.mark.parametrize("name", MODEL_NAMES)
def test_model_predicts_what_it_predicted(name, expected):
    model = load(FOLDER / f"{name}.credalis")
    if name == "nnevclus_module":
        pytest.importorskip("torch")
        # Files hold weights, not code.
        model.set_params(module=linear)
    masses = model.predict_partition(expected[f"{name}.rows"]).masses
    np.testing.assert_allclose(masses, expected[f"{name}.masses"], **ROUNDING)


@pytest.mark.parametrize("name", [*MODELS, *RELATIONAL])
def test_model_has_its_parameters_and_objects(name):
    model = load(FOLDER / f"{name}.credalis")
    fitted = MODELS[name][0] if name in MODELS else RELATIONAL[name]
    parameters = {**fitted.get_params(deep=False), "module": None}
    for key, value in model.get_params(deep=False).items():
        assert repr(value) == repr(parameters[key])
    assert len(model.partition_) == len(model.labels_) == 30
    assert model.partition_.focal_sets == model.focal_sets_
    assert model.n_features_in_ == (30 if name in RELATIONAL else 2)
    assert model.loss_ == model.history_[-1]


def test_network_goes_on_with_a_stream(expected):
    model = load(FOLDER / "nnevclus_stream.credalis")
    before = model.predict_partition(expected["nnevclus_stream.rows"])
    model.partial_fit(expected["checkpoint.rows"])
    assert model.predict_partition(expected["nnevclus_stream.rows"]) != before


def test_partition_has_its_masses(expected):
    partition = load(FOLDER / "partition.credalis")
    np.testing.assert_array_equal(partition.masses, expected["partition.masses"])
    assert partition.focal_sets.n_clusters == 3


def test_model_of_a_table_predicts_what_it_predicted(expected):
    pytest.importorskip("pyarrow")
    model = load(FOLDER / "tabular.credalis")
    columns = {
        name: expected[f"tabular.{name}"] for name in ("height", "width", "colour")
    }
    masses = model.predict_partition(columns).masses
    np.testing.assert_allclose(masses, expected["tabular.masses"], **ROUNDING)
    assert model.facts["id"] == "id"
    assert model.facts["n_clusters"] == 2


def test_monitor_goes_on_where_it_was(expected):
    monitor = load(FOLDER / "monitor.credalis")
    rest = expected["monitor.rows"]
    masses = monitor.model.predict_partition(rest).masses
    np.testing.assert_allclose(masses, expected["monitor.masses"], **ROUNDING)
    assert monitor.n_seen_ == 40
    assert monitor.update(rest).n_seen == 80
    np.testing.assert_array_equal(monitor.rejected_, expected["monitor.rejected"])
    assert monitor.log_evidence_ == pytest.approx(
        float(expected["monitor.log_evidence"])
    )


def test_monitor_keeps_its_evidence_until_it_is_fitted(expected, tmp_path):
    monitor = load(FOLDER / "monitor.credalis")
    monitor.update(expected["monitor.rows"][:20])
    monitor.save(tmp_path / "monitor.credalis")
    again = load(tmp_path / "monitor.credalis")
    assert again.evidence_version_ == 1
    again.update(expected["monitor.rows"][20:])
    assert again.log_evidence_ == pytest.approx(float(expected["monitor.log_evidence"]))
    assert again.detectable_share_ > 0.3
    assert again.fit(blobs(600, 3, 1)).evidence_version_ == 2


class NoStart(FewRows):
    """Rows for a fit that must continue: a new one would draw a sample."""

    def sample(self, rng, size):
        raise AssertionError("the fit has started again")


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", CHECKPOINTS)
def test_fit_continues_from_a_checkpoint(name, expected, tmp_path):
    # The fit goes on writing.
    path = tmp_path / "fit.checkpoint"
    shutil.copy(FOLDER / f"{name}.checkpoint", path)
    X, model = expected["checkpoint.rows"], clone(CHECKPOINTS[name])
    model.fit(NoStart(X), checkpoint=path)
    tolerance = AFTER_TRAINING[type(model).__name__]
    np.testing.assert_allclose(
        model.predict_partition(X[:20]).masses,
        expected[f"{name}.checkpoint.masses"],
        **tolerance,
    )
    history = expected[f"{name}.checkpoint.history"]
    np.testing.assert_allclose(model.history_, history, rtol=1e-3)


def one_by_one(objective, starts, *, tol, max_iter, report, **_):
    """The descent of earlier versions: that of SciPy, from one start at a time."""
    return [
        minimize_lbfgs(objective, start, tol=tol, max_iter=max_iter, report=report)
        for start in starts
    ]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", ["nnevclus", "evclus"])
def test_settings_of_the_articles_still_give_what_they_gave(
    name, expected, monkeypatch
):
    monkeypatch.setattr(training, "minimize_together", one_by_one)
    model = clone(MODELS[name][0]).fit(blobs(30, 3, 0))
    masses = model.predict_partition(expected[f"{name}.rows"]).masses
    # Other machines round otherwise, and descents repeat that.
    np.testing.assert_allclose(masses, expected[f"{name}.masses"], atol=1e-4)


def test_another_descent_ends_lower_than_that_of_a_file():
    # That was stopped after 40 iterations.
    saved = load(FOLDER / "nnevclus.credalis")
    model = clone(MODELS["nnevclus"][0]).set_params(max_iter="auto")
    model.fit(blobs(30, 3, 0))
    assert model.scale_ == pytest.approx(saved.scale_, rel=1e-12)
    assert model.loss_ < saved.loss_


@pytest.mark.parametrize("name", ["nnevclus", "evclus"])
def test_earlier_files_have_the_settings_of_the_articles(name):
    model = load(FOLDER / f"{name}.credalis")
    assert model.dissimilarity_quantile == "paper"
    assert model.empty_set == "stress"
    with pytest.raises(ValueError, match="empty_set='novelty'"):
        model.outlier_p_values(blobs(6, 3, 1))


def test_a_checkpoint_of_an_earlier_version_is_not_one_of_the_defaults(tmp_path):
    path = tmp_path / "fit.checkpoint"
    shutil.copy(FOLDER / "nnevclus.checkpoint", path)
    model = clone(CHECKPOINTS["nnevclus"]).set_params(empty_set="novelty")
    with pytest.raises(ValueError, match="empty_set='stress' instead of 'novelty'"):
        model.fit(blobs(120, 3, 0), checkpoint=path)
