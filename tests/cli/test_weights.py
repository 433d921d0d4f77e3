"""Rows that count several times, by a column of the table."""

import json

import numpy as np
import pytest

import credalis
from credalis import ECM
from credalis.tables import open_table
from credalis.tabular import TabularModel

pytest.importorskip("click")
pytest.importorskip("pyarrow")


def table(seed=0):
    rng = np.random.RandomState(seed)
    X = np.concatenate([rng.normal(0, 1, (20, 2)), rng.normal(6, 1, (20, 2))])
    return X.round(3) * [1, 10], rng.randint(0, 4, 40)


def write(path, X, counts=None):
    names = ["length", "width"] + ([] if counts is None else ["n"])
    columns = X if counts is None else np.column_stack([X, counts])
    lines = [",".join(map(str, row)) for row in columns.tolist()]
    path.write_text("\n".join([",".join(names), *lines]) + "\n")
    return path.name


# Scales that differ by rounding let EVCLUS end elsewhere within its tolerance.
@pytest.mark.parametrize(("method", "atol"), [("ECM", 1e-6), ("EVCLUS", 1e-3)])
def test_a_column_of_weights_stands_for_repeated_rows(run, tmp_path, method, atol):
    X, counts = table()
    weighted = write(tmp_path / "weighted.csv", X, counts)
    repeated = write(tmp_path / "repeated.csv", np.repeat(X, counts, axis=0))
    common = ("-c", "2", "-m", method, "--strict", "--seed", "0")
    ours = run("cluster", weighted, *common, "--weights", "n", "--model", "w.credalis")
    theirs = run("cluster", repeated, *common, "--model", "r.credalis")
    assert (ours.code, theirs.code) == (0, 0), ours.error
    assert "'n' says how often each row counts" in ours.err
    assert "2 columns ('length', 'width')" in ours.err
    one, two = credalis.load("w.credalis"), credalis.load("r.credalis")
    np.testing.assert_allclose(one.preparation.center, two.preparation.center)
    np.testing.assert_allclose(one.preparation.scale, two.preparation.scale)
    rows = open_table(repeated)
    np.testing.assert_allclose(
        one.predict_partition(rows).masses,
        two.predict_partition(rows).masses,
        atol=atol,
    )


def test_without_a_method_one_with_weights_is_taken(run, tmp_path):
    X, counts = table()
    name = write(tmp_path / "t.csv", X, counts)
    result = run("cluster", name, "-c", "2", "--weights", "n", "--json")
    assert result.code == 0
    assert "--weights: EVCLUS, because Consensus takes no weights" in result.err
    assert json.loads(result.out)["rows"] == 40
    assert f"{(counts == 0).sum()} of 40 not at all" in result.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-m", "RECM"), "RECM cannot use --weights; "),
        (("-m", "ECM", "--coverage", "0.9"), "--coverage cannot be combined with --we"),
        (("-m", "ECM", "--weights", "kind"), "must name a column of numbers, 'kind'"),
        (("-m", "ECM", "--weights", "bad"), "weights in 'bad' must be numbers from 0"),
        (("-m", "ECM", "--weights", "nowhere"), "nowhere"),
    ],
)
def test_what_cannot_be_weighted_is_said(run, tmp_path, options, message):
    X, counts = table()
    lines = ["length,width,n,bad,kind"]
    for (a, b), n in zip(X, counts, strict=True):
        lines.append(f"{a},{b},{n},{-n},{'ab'[n % 2]}")
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    common = () if "--weights" in options else ("--weights", "n")
    result = run("cluster", "t.csv", "-c", "2", *common, *options)
    assert result.code != 0
    assert message in result.error


def test_tabular_model_counts_rows_for_its_scales(tmp_path):
    X, counts = table()
    frame = {"length": X[:, 0].tolist(), "width": X[:, 1].tolist()}
    repeated = {
        name: np.repeat(values, counts).tolist() for name, values in frame.items()
    }
    ecm = ECM(2, random_state=0)
    ours = TabularModel.of(ecm, frame, sample_weight=counts)
    theirs = TabularModel.of(ecm, repeated)
    np.testing.assert_allclose(ours.preparation.scale, theirs.preparation.scale)
    np.testing.assert_allclose(
        ours.predict_partition(frame).masses,
        theirs.predict_partition(frame).masses,
        atol=1e-8,
    )
