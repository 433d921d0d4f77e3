"""Gower's dissimilarity: the definition, another program, and as a metric."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import credalis
from credalis import EVCLUS, NNEVCLUS, RECM, ECMdd, EkNNclus
from credalis.dissimilarity import (
    Gower,
    MetricSimilarities,
    RoundedMatrix,
    decay_rate,
    dissimilarities_between,
    gower_distances,
)
from credalis.peaks import delta_bel

REFERENCE = Path(__file__).parent / "reference" / "gower.json"


def by_definition(X, *, categorical=(), cyclic=None, weights=None):
    """Pair by pair, column by column."""
    cyclic = cyclic or {}
    n_rows, n_columns = X.shape
    weights = np.ones(n_columns) if weights is None else weights
    extent = np.nanmax(X, axis=0) - np.nanmin(X, axis=0)
    found = np.zeros((n_rows, n_rows))
    for i in range(n_rows):
        for j in range(n_rows):
            total = known = 0.0
            for k in range(n_columns):
                a, b = X[i, k], X[j, k]
                if np.isnan(a) or np.isnan(b):
                    continue
                if k in categorical:
                    d = float(a != b)
                elif k in cyclic:
                    way = abs(a - b) % cyclic[k]
                    d = min(way, cyclic[k] - way) / (cyclic[k] / 2)
                else:
                    d = abs(a - b) / extent[k]
                total += weights[k] * d
                known += weights[k]
            found[i, j] = total / known if known else float(i != j)
    return found


@pytest.fixture
def mixed():
    """Numbers, categories, an hour; one cell in four is unknown."""
    rng = np.random.default_rng(3)
    X = np.column_stack(
        [
            rng.normal(20, 4, 60),
            rng.exponential(1e4, 60),
            rng.integers(0, 4, 60),
            rng.integers(0, 2, 60),
            rng.integers(0, 24, 60),
        ]
    ).astype(float)
    X[rng.random(X.shape) < 0.25] = np.nan
    return X


KINDS = {"categorical": [2, 3], "cyclic": {4: 24.0}}


def test_equals_another_program():
    known = json.loads(REFERENCE.read_text())
    numbers = np.array([row[:3] for row in known["rows"]])
    codes = [
        np.unique([row[k] for row in known["rows"]], return_inverse=True)[1]
        for k in (3, 4)
    ]
    X = np.column_stack([numbers, *codes])
    plain = gower_distances(X, categorical=[3, 4])
    np.testing.assert_allclose(plain, known["plain"], atol=1e-6)
    weighted = gower_distances(X, categorical=[3, 4], weights=known["weights"])
    np.testing.assert_allclose(weighted, known["weighted"], atol=1e-6)


def test_equals_the_definition_with_unknown_cells(mixed):
    np.testing.assert_allclose(
        gower_distances(mixed, **KINDS), by_definition(mixed, **KINDS), atol=1e-12
    )


def test_equals_the_definition_with_weights(mixed):
    weights = np.array([1.0, 2.0, 0.3, 1.7, 0.9])
    np.testing.assert_allclose(
        gower_distances(mixed, weights=weights, **KINDS),
        by_definition(mixed, weights=weights, **KINDS),
        atol=1e-12,
    )


def test_other_rows_share_the_range():
    X, Y = [[0.0], [1.0]], [[4.0]]
    assert gower_distances(X, Y).tolist() == [[1.0], [0.75]]


def test_a_block_at_a_time_gives_the_same(mixed, monkeypatch):
    whole = gower_distances(mixed, **KINDS)
    with_others = gower_distances(mixed, mixed.copy(), **KINDS)
    monkeypatch.setattr("credalis.dissimilarity._gower._BLOCK_ENTRIES", 130)
    parts = gower_distances(mixed, **KINDS)
    # Products of matrices of another shape are rounded in another order.
    np.testing.assert_allclose(parts, whole, rtol=1e-14, atol=1e-15)
    np.testing.assert_array_equal(parts, parts.T)
    again = gower_distances(mixed, mixed.copy(), **KINDS)
    np.testing.assert_allclose(again, with_others, rtol=1e-14, atol=1e-15)
    # A row without any cell is at 1 from its copy, and at 0 from itself.
    is_known = ~np.isnan(mixed).all(axis=1)
    np.testing.assert_allclose(
        with_others[np.ix_(is_known, is_known)],
        whole[np.ix_(is_known, is_known)],
        atol=1e-15,
    )


def test_robust_range_is_not_moved_by_an_outlier():
    X = np.append(np.arange(100.0), 1e6)[:, None]
    plain, robust = gower_distances(X), gower_distances(X, scaling="robust")
    assert plain[0, 99] < 1e-3
    assert robust[0, 99] == 1.0
    assert robust[99, 100] == 0.0  # both are beyond the end
    assert robust.max() == 1.0


def test_copies_are_at_zero(mixed):
    twice = np.concatenate([mixed, mixed])
    found = gower_distances(twice, weights=[0.1, 0.7, 0.3, 1 / 3, 0.9], **KINDS)
    is_all_unknown = np.isnan(mixed).all(axis=1)
    np.testing.assert_array_equal(np.diagonal(found, 60)[~is_all_unknown], 0.0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"categorical": [7]}, "categorical and cyclic must name different columns"),
        ({"cyclic": {1: 0}}, r"cyclic\[1\]"),
        ({"scaling": "none"}, "scaling"),
        ({"weights": [1.0, -1.0]}, "weights must hold a positive number"),
    ],
)
def test_bad_arguments_are_named(settings, message):
    with pytest.raises(ValueError, match=message):
        gower_distances([[0.0, 1.0], [1.0, 2.0]], **settings)


def encoded():
    """Three groups told apart by a number, a category and a rank; gaps; a metric."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    number = rng.normal(y, 0.3)
    category = np.where(rng.random(120) < 0.9, y, rng.integers(0, 3, 120))
    rank = np.clip(y + rng.integers(-1, 2, 120) * (rng.random(120) < 0.2), 0, 2) / 2
    gaps = rng.random((120, 3)) < 0.1
    X = np.column_stack(
        [
            np.where(gaps[:, 0], 0.0, number),
            np.where(gaps[:, 1], 0.5, rank),
            np.eye(3)[category] * ~gaps[:, [2]],
            gaps,
        ]
    )
    metric = Gower(
        n_features=8,
        numbers=np.array([0, 1]),
        low=np.array([number[~gaps[:, 0]].min(), 0.0]),
        high=np.array([number[~gaps[:, 0]].max(), 1.0]),
        cyclic=np.empty(0, dtype=np.intp),
        categories=((2, 3, 4),),
        gaps=np.array([5, 6, 7]),
        weights=np.ones(3),
    )
    raw = np.column_stack([number, rank, category.astype(float)])
    raw[gaps] = np.nan
    return X, y, metric, raw


def test_encoded_rows_have_the_same_dissimilarities():
    X, _, metric, raw = encoded()
    expected = by_definition(raw, categorical=[2])
    np.testing.assert_allclose(metric.between(X), expected, atol=1e-12)
    np.testing.assert_allclose(
        metric.pairs(X[:50], X[50:100]),
        metric.between(X)[:50, 50:100].diagonal(),
        atol=1e-12,
    )
    assert metric(X[0], X[60]) == pytest.approx(metric.between(X)[0, 60])


def test_cyclic_columns_go_round():
    hours = np.array([0.0, 1.0, 12.0, 23.0])
    angle = 2 * np.pi * hours / 24
    metric = Gower(
        n_features=2,
        numbers=np.empty(0, dtype=np.intp),
        low=np.empty(0),
        high=np.empty(0),
        cyclic=np.array([0]),
        categories=(),
        gaps=np.array([-1]),
        weights=np.ones(1),
    )
    found = metric.between(np.column_stack([np.cos(angle), np.sin(angle)]))
    np.testing.assert_allclose(found[0], [0, 1 / 12, 1, 1 / 12], atol=1e-12)


def test_similarities_of_pairs_and_blocks_agree():
    X, _, metric, _ = encoded()
    similarities = MetricSimilarities(X, metric, decay_rate(0.5))
    rows, columns = np.array([0, 3, 70, 3]), np.array([9, 50, 2, 119])
    np.testing.assert_allclose(
        similarities.pairs(rows, columns),
        similarities.matrix()[rows, columns],
        atol=1e-12,
    )


def test_a_name_is_a_metric_of_numbers():
    X = np.random.default_rng(0).normal(size=(20, 3))
    found = dissimilarities_between(X, None, Gower.of_numbers(X))
    np.testing.assert_allclose(found, gower_distances(X), atol=1e-12)


@pytest.mark.parametrize(
    "estimator",
    [
        NNEVCLUS(3, random_state=0),
        EVCLUS(3, random_state=0),
        RECM(3, random_state=0),
        ECMdd(3, random_state=0),
        EkNNclus(n_neighbors=20, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators_take_it_as_a_metric(estimator, tmp_path):
    X, y, metric, _ = encoded()
    model = clone(estimator).set_params(metric=metric).fit(X)
    assert adjusted_rand_score(y, model.labels_) > 0.6
    model.save(tmp_path / "model.credalis")
    loaded = credalis.load(tmp_path / "model.credalis")
    np.testing.assert_allclose(
        loaded.predict_proba(X[::7]), model.predict_proba(X[::7])
    )
    assert loaded.metric_.categories == ((2, 3, 4),)


def test_estimators_take_the_name():
    X, y, _, _ = encoded()
    named = EVCLUS(3, metric="gower", random_state=0).fit(X[:, :2])
    given = EVCLUS(3, metric=Gower.of_numbers(X[:, :2]), random_state=0).fit(X[:, :2])
    np.testing.assert_array_equal(named.labels_, given.labels_)
    assert adjusted_rand_score(y, named.labels_) > 0.3


def test_peaks_take_it():
    X, y, metric, _ = encoded()
    assert sorted(y[delta_bel(X, metric=metric).suggest(3)]) == [0, 1, 2]
    assert len(delta_bel(X[:, :2], metric="gower")) == len(X)


def test_no_matrix_of_all_pairs_beyond_a_limit(monkeypatch):
    X, _, metric, _ = encoded()
    monkeypatch.setattr("credalis.cluster.relational._clusterer.MAX_GOWER_ROWS", 100)
    with pytest.raises(ValueError, match=r"RECM keeps .* at most 100 rows .* got 120"):
        RECM(3, metric=metric).fit(X)


def test_rows_of_another_width_are_refused():
    X, _, metric, _ = encoded()
    with pytest.raises(ValueError, match="must have the 8 columns"):
        EVCLUS(3, metric=metric).fit(X[:, :5])


def test_a_damaged_layout_is_refused():
    metric = Gower.of_numbers(np.eye(3))
    state = metric.to_state() | {"gaps": np.array([-1, -1]), "weights": np.ones(2)}
    with pytest.raises(ValueError, match="gaps must have an entry"):
        Gower._schema.check("Gower", state, {})


def filled_columns(table):
    """Numbers and words without gaps, and which columns are words."""
    columns, are_words = [], []
    for values in table.values():
        known = [cell for cell in values if cell is not None]
        is_word = isinstance(known[0], str)
        usual = max(set(known), key=known.count) if is_word else np.median(known)
        column = [usual if cell is None else cell for cell in values]
        columns.append(column if is_word else np.array(column, dtype=float))
        are_words.append(is_word)
    return columns, are_words


@pytest.mark.parametrize("half", ["made", "native"])
def test_equals_the_package_gower_on_all_mixed_tables(half):
    """That package has no word for gaps, and single precision."""
    gower = pytest.importorskip("gower", reason="the package gower is not installed")
    pytest.importorskip("benchmarks", reason="benchmarks are not part of the sources")
    from benchmarks import mixed_tables
    from benchmarks.harness import Skipped

    tables = mixed_tables.made_tables if half == "made" else mixed_tables.native_tables
    n_tables = 0
    try:
        for name, table, _ in tables(0):
            columns, are_words = filled_columns({k: v[:80] for k, v in table.items()})
            cells = [np.array(column, dtype=object) for column in columns]
            known = gower.gower_matrix(
                np.column_stack(cells), cat_features=np.array(are_words)
            )
            codes = [
                np.unique(column, return_inverse=True)[1] if is_word else column
                for column, is_word in zip(columns, are_words, strict=True)
            ]
            X = np.column_stack(codes).astype(float)
            categorical = np.flatnonzero(are_words).tolist()
            found = gower_distances(X, categorical=categorical)
            np.testing.assert_allclose(found, known, atol=1e-6, err_msg=name)
            n_tables += 1
    except Skipped as error:
        pytest.skip(str(error))
    assert n_tables == {"made": 23, "native": 12}[half]


def test_many_similarities_are_kept_to_five_digits(monkeypatch, mixed):
    X = np.nan_to_num(np.tile(mixed, (5, 1))) + np.arange(300)[:, None] / 300
    model = EVCLUS(2, metric="gower", pairs="landmarks", pairs_per_sample=40)
    model.set_params(n_init=1, random_state=0)
    exact = clone(model).fit(X)
    monkeypatch.setattr("credalis.cluster.evclus._problem._MAX_EXACT", 100)
    rounded = clone(model).fit(X)
    assert rounded.loss_ == pytest.approx(exact.loss_, abs=1e-5)
    assert rounded.loss_ != exact.loss_
    np.testing.assert_allclose(
        rounded.partition_.masses, exact.partition_.masses, atol=0.02
    )
    matrix = RoundedMatrix.empty(2, 3)
    matrix[:, :] = [[0.0, 1.0, 0.5], [0.1, 0.25, 1 / 3]]
    np.testing.assert_allclose(matrix[1, 1:], [0.25, 1 / 3], rtol=0, atol=0.5 / 65535)
    assert matrix[0, :2].tolist() == [0.0, 1.0]
