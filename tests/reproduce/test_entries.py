"""The declared experiments cover what the paper prints."""

import json

import numpy as np
import pytest

from credalis import CredalPartition, FocalSets
from credalis.reproduce import EXPERIMENTS
from credalis.reproduce._experiments import _circles, _fourclass
from credalis.reproduce._experiments._dissimilarity import METHODS as RELATIONAL
from credalis.reproduce._experiments._dissimilarity import resolved
from credalis.reproduce._experiments._explanations import (
    COSTS,
    DISSIMILARITY_EXPLANATIONS,
    EXPLANATIONS,
)
from credalis.reproduce._experiments._methods import (
    EXCEPTIONS,
    METHODS,
    attribute_setting,
    build,
    outliers,
    paper_parameters,
)
from credalis.reproduce._framework._data import SETS
from credalis.reproduce._framework._published import published
from credalis.reproduce._framework._runner import Results

pytestmark = pytest.mark.filterwarnings("error")


def test_published_numbers_have_their_source():
    assert "Information Sciences 572" in published()["source"]
    assert "provenance" in published()
    table = published()["ari_attribute"]
    assert len(table) == 14
    assert all(tuple(row) == METHODS for row in table.values())
    # As printed, at the corners of the table.
    assert table["Wine"]["EVCLUS"] == 0.91
    assert table["Wine"]["Bootclus"] == 0.93
    assert table["Leaves5p1"]["EVCLUS"] == 0.60
    assert table["Leaves5p1"]["Bootclus"] == 0.62
    assert table["S2"]["Bootclus"] is None
    assert published()["ari_dissimilarity"]["Gestures"]["wECMdd"] == 0.095


def test_every_set_of_the_paper_is_declared():
    tables = ("ari_attribute", "ari_dissimilarity")
    assert set(SETS) == {title for table in tables for title in published()[table]}
    for each in SETS.values():
        assert each.is_comparable or each.deviation


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("is_quick", [True, False])
def test_cells_have_names_of_their_own_and_plain_settings(name, is_quick, tmp_path):
    cells = EXPERIMENTS[name].cells(is_quick)
    assert {cell.experiment for cell in cells} == {name}
    files = [cell.file(tmp_path) for cell in cells]
    assert len(set(files)) == len(files)
    for cell in cells:
        assert json.loads(json.dumps(cell.settings)) == cell.settings


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_quick_and_full_runs_never_replace_each_other(name, tmp_path):
    full = {c.file(tmp_path): c.fingerprint for c in EXPERIMENTS[name].cells(False)}
    for cell in EXPERIMENTS[name].cells(True):
        file = cell.file(tmp_path)
        assert full.get(file, cell.fingerprint) == cell.fingerprint


def test_each_published_cell_with_data_is_run():
    names = {cell.name for cell in EXPERIMENTS["attribute"].cells(False)}
    n_expected = 0
    for title, row in published()["ari_attribute"].items():
        for method, value in row.items():
            if value is None or SETS[title].name is None:
                assert f"{title}-{method}-0" not in names
                continue
            is_deterministic = attribute_setting(method, title).is_deterministic
            n_runs = 1 if is_deterministic else 3
            assert f"{title}-{method}-{n_runs - 1}" in names
            assert f"{title}-{method}-{n_runs}" not in names
            n_expected += n_runs
    assert len(names) == n_expected


def test_each_published_cell_is_in_the_report(tmp_path):
    attribute, dissimilarity = (
        EXPERIMENTS[name].show(Results(), False, tmp_path).findings
        for name in ("attribute", "dissimilarity")
    )
    n_printed = sum(
        value is not None
        for row in published()["ari_attribute"].values()
        for value in row.values()
    )
    assert len(attribute) == n_printed
    assert len([each for each in dissimilarity if each.column in RELATIONAL]) == 20
    assert not any(each.is_compared for each in attribute)


def test_settings_make_estimators():
    for title, method in [
        (t, m) for t in published()["ari_attribute"] for m in METHODS
    ]:
        setting = attribute_setting(method, title)
        each = SETS[title]
        model = build(setting.estimator, each.n_clusters, setting.parameters, 3)
        assert model.n_clusters == each.n_clusters
        assert model.random_state == 3
    network = build("NNEVCLUS", 2, {"hidden_layer_sizes": [7]}, 0)
    assert network.hidden_layer_sizes == (7,)


def test_exceptions_explanations_and_costs_are_about_published_cells():
    printed = published()["ari_attribute"]
    for title, method in (*EXCEPTIONS, *EXPLANATIONS, *COSTS):
        assert printed[title][method] is not None
    for title, method in DISSIMILARITY_EXPLANATIONS:
        assert method in RELATIONAL
        assert title in published()["ari_dissimilarity"]
    assert all(each.reason for each in EXCEPTIONS.values())


def test_noise_distance_is_taken_from_the_matrix():
    matrix = np.array([[0.0, 4.0, 9.0], [4.0, 0.0, 1.0], [9.0, 1.0, 0.0]])
    squared = {"delta_quantile": 1.0, "squared": True}
    assert resolved(squared, matrix)["delta"] == 3.0
    plain = resolved({"delta_quantile": 0.5}, matrix)
    assert plain == {"delta": 4.0, "metric": "precomputed"}


# Defaults of the library that an experiment must not rest on.
STATED = {
    "EVCLUS": {"init", "empty_set", "dissimilarity_quantile", "n_init"},
    "NNEVCLUS": {
        "init",
        "empty_set",
        "dissimilarity_quantile",
        "weight_decay",
        "n_init",
    },
}


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("is_quick", [True, False])
def test_cells_state_the_settings_of_the_paper(name, is_quick):
    for cell in EXPERIMENTS[name].cells(is_quick):
        parameters = cell.settings.get("parameters")
        estimator = cell.settings.get("estimator")
        if parameters is None or estimator not in STATED:
            continue
        assert parameters.keys() >= STATED[estimator], cell.name
        assert parameters["empty_set"] == "stress"
        assert isinstance(parameters["dissimilarity_quantile"], float)


def test_models_that_experiments_make_themselves_state_them_too():
    network = _circles._network("euclidean", 3, 0.01, 0).get_params()
    assert network["init"] == "random"
    assert network["empty_set"] == "stress"
    assert network["weight_decay"] == 0.01
    assert network["dissimilarity_quantile"] == 0.9
    for parameters in (_fourclass._EVCLUS, _fourclass._NETWORK):
        assert parameters["empty_set"] == "stress"
        assert parameters["dissimilarity_quantile"] == 0.9


@pytest.mark.parametrize(
    ("n_clusters", "quantile"), [(2, 0.9), (4, 0.9), (5, 0.4), (15, 2 / 15), (31, 0.1)]
)
def test_scale_is_that_of_the_paper(n_clusters, quantile):
    given = paper_parameters("NNEVCLUS", n_clusters)
    assert given["dissimilarity_quantile"] == quantile


def test_outliers_are_counted_by_the_largest_mass():
    masses = [[0.4, 0.3, 0.3], [0.45, 0.5, 0.05], [1.0, 0.0, 0.0]]
    partition = CredalPartition(masses, FocalSets.singletons(2, frame=False))
    assert outliers(partition).tolist() == [True, False, True]
