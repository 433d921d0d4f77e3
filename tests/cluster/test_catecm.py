"""CatECM: its costs and updates, limiting cases, and what it recovers."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import credalis
from credalis import ECM, CatECM, FocalSets
from credalis.cluster.prototypes._catecm_prototypes import (
    category_costs,
    project_on_simplices,
    updated_shares,
)
from credalis.cluster.prototypes._categories import (
    Column,
    Indicators,
    attribute_of,
    codes_of,
)
from credalis.exceptions import ExperimentalWarning
from credalis.objectives import ecm_model, mass_weights, masses_from_costs
from helpers import assert_decreasing, assert_valid_partition

pytestmark = [
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ExperimentalWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]


def categories(n_samples=120, n_attributes=12, n_clusters=4, noise=0.2, seed=0):
    """Rows with the category of their cluster, or any of five with this probability."""
    rng = np.random.RandomState(seed)
    modes = np.array([rng.permutation(5)[:n_clusters] for _ in range(n_attributes)]).T
    y = rng.randint(n_clusters, size=n_samples)
    drawn = rng.randint(5, size=(n_samples, n_attributes))
    is_noise = rng.uniform(size=drawn.shape) < noise
    return np.array(list("abcde"))[np.where(is_noise, drawn, modes[y])], y


def problem(seed=0, n_samples=25, n_clusters=3, missing=0.1):
    rng = np.random.RandomState(seed)
    sizes = np.array([2, 3, 4])
    codes = (rng.uniform(size=(n_samples, 3)) * sizes).astype(int).astype(float)
    codes[rng.uniform(size=codes.shape) < missing] = np.nan
    objects = Indicators.of(codes, sizes)
    shares = np.concatenate(
        [rng.dirichlet(np.ones(size), n_clusters) for size in sizes], axis=1
    )
    model = ecm_model(FocalSets.pairs(n_clusters), 1.0, 1.8, 1.5)
    return objects, shares, model


class TestCosts:
    def test_of_single_categories_are_numbers_of_differences(self):
        sizes = np.array([2, 3])
        codes = np.array([[0.0, 0.0], [0.0, 2.0], [1.0, 1.0], [2.0, 0.0]])
        shares = np.array([[1.0, 0, 1, 0, 0], [0, 1, 0, 0, 1]])
        model = ecm_model(FocalSets.singletons(2, empty=False), 1.0, 2.0, 1.0)
        costs = category_costs(Indicators.of(codes, sizes), shares, model)
        # The last row has a category that is none of the attribute.
        np.testing.assert_allclose(costs[0], [0, 1, 2, 1], atol=1e-300)
        np.testing.assert_allclose(costs[1], [2, 1, 1, 2], atol=1e-300)
        # Halfway, 1/4 in attributes in which one of the two is met and 3/4 elsewhere.
        np.testing.assert_allclose(costs[2] / 2, [0.5, 0.5, 1.0, 1.0])

    def test_are_those_of_the_sum_over_known_cells(self):
        objects, shares, model = problem()
        costs = category_costs(objects, shares, model)
        attributes = attribute_of(objects.sizes)
        members = model.focal_sets.membership
        for j, inside in enumerate(members):
            if not inside.any():
                np.testing.assert_allclose(costs[j], model.delta**2)
                continue
            mean = shares[inside].mean(axis=0)
            for i, row in enumerate(objects.values):
                known = np.flatnonzero(objects.is_known[i])
                parts = [
                    0.5 * np.square(row - mean)[attributes == which].sum()
                    for which in known
                ]
                expected = inside.sum() * 3 * np.mean(parts) if parts else 0.0
                assert costs[j, i] == pytest.approx(expected, abs=1e-12)


@given(st.integers(0, 1000))
@settings(max_examples=15)
def test_shares_are_the_constrained_minimum(seed):
    objects, shares, model = problem(seed)
    masses = masses_from_costs(category_costs(objects, shares, model), model.beta)
    weights = mass_weights(masses, model.beta)

    def cost(values):
        return np.vdot(weights, category_costs(objects, values, model))

    found = updated_shares(weights, objects, shares, model)
    assert cost(found) <= cost(shares) + 1e-12
    assert found.min() >= 0
    attributes = attribute_of(objects.sizes)
    for which in range(3):
        np.testing.assert_allclose(found[:, attributes == which].sum(axis=1), 1.0)
    # No feasible direction leads down: towards each corner of each simplex.
    for k in range(len(found)):
        for which in range(3):
            for corner in np.flatnonzero(attributes == which):
                moved = found.copy()
                moved[k, attributes == which] *= 1 - 1e-4
                moved[k, corner] += 1e-4
                assert cost(moved) >= cost(found) - 1e-10


def test_projection_is_the_nearest_point_of_the_simplex():
    rng = np.random.RandomState(0)
    points = 3 * rng.standard_normal((5, 4))
    found = project_on_simplices(points, np.ones((5, 4), dtype=bool))
    for point, near in zip(points, found, strict=True):
        best = minimize(
            lambda p, point=point: np.square(p - point).sum(),
            np.full(4, 0.25),
            bounds=[(0, 1)] * 4,
            constraints={"type": "eq", "fun": lambda p: p.sum() - 1},
            tol=1e-12,
        ).x
        np.testing.assert_allclose(near, best, atol=1e-5)


@pytest.mark.parametrize("init", ["k-means", "k-means++"])
@pytest.mark.parametrize("focal_sets", ["singletons", "pairs", "two-step"])
def test_cost_never_increases(init, focal_sets):
    table, _ = categories(noise=0.5)
    model = CatECM(4, focal_sets=focal_sets, init=init, n_init=1, tol=0, max_iter=30)
    model.set_params(random_state=0).fit(table)
    assert_decreasing(model.history_)
    assert_valid_partition(model.partition_)


def test_two_categories_are_ecm_of_indicators():
    # Shares stay inside of the simplex, so that they are the centres of ECM.
    rng = np.random.RandomState(0)
    y = rng.randint(2, size=80)
    X = (rng.uniform(size=(80, 6)) < np.where(y, 0.8, 0.2)[:, None]).astype(float)
    ours = CatECM(
        2, focal_sets="singletons", alpha=1.0, beta=1.5, delta=2.0, tol=1e-12
    ).fit(X)
    theirs = ECM(
        2,
        focal_sets="singletons",
        beta=1.5,
        delta=2.0,
        init=ours.shares_[:, 1::2],
        tol=1e-12,
    ).fit(X)
    np.testing.assert_allclose(ours.shares_[:, 1::2], theirs.centers_, atol=1e-5)
    np.testing.assert_allclose(
        ours.partition_.masses, theirs.partition_.masses, atol=1e-5
    )
    assert ours.loss_ == pytest.approx(theirs.loss_, rel=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_clusters_of_categories_are_found(seed):
    table, y = categories(seed=seed)
    model = CatECM(4, random_state=0).fit(table)
    assert adjusted_rand_score(y, model.labels_) > 0.9
    # The most frequent categories are those the clusters were made of.
    rng = np.random.RandomState(seed)
    modes = np.array([rng.permutation(5)[:4] for _ in range(12)]).T
    first = np.arange(12) * 5
    found = [
        np.array([own[f : f + 5].argmax() for f in first]) for own in model.shares_
    ]
    for mode in modes:
        assert max((mode == each).mean() for each in found) > 0.9


def test_an_object_of_two_clusters_is_between_them():
    table = np.repeat([list("aaaaaaaa"), list("bbbbbbbb")], 20, axis=0)
    rng = np.random.RandomState(0)
    noise = rng.uniform(size=table.shape) < 0.1
    table[noise] = "c"
    table = np.vstack([table, list("aaaabbbb")])
    model = CatECM(2, random_state=0).fit(table)
    assert model.partition_.set_names()[-1] == "Ω"
    assert model.predict_partition([list("zzzzzzzz")]).set_names() == ["∅"]


class TestTables:
    def test_forms_of_the_same_table_have_the_same_result(self):
        table, _ = categories(60)
        expected = CatECM(3, random_state=0).fit(table).partition_
        frame = pd.DataFrame(table, columns=[f"q{k}" for k in range(12)])
        for form in (frame, frame.astype("category"), table.tolist()):
            assert CatECM(3, random_state=0).fit(form).partition_ == expected

    def test_missing_cells_are_left_out(self):
        table, y = categories(noise=0.1)
        gaps = table.astype(object)
        gaps[np.random.RandomState(0).uniform(size=table.shape) < 0.2] = None
        model = CatECM(4, random_state=0).fit(gaps)
        assert adjusted_rand_score(y, model.labels_) > 0.9
        assert_valid_partition(model.partition_)
        assert_valid_partition(model.predict_partition(np.full((1, 12), None)))

    def test_numbers_and_text_in_one_table(self):
        frame = pd.DataFrame(
            {"colour": ["red", "red", "blue", None], "doors": [2, 2, 4, 4]}
        )
        model = CatECM(2, random_state=0).fit(frame)
        assert model.categories_ == [["blue", "red"], ["2.0", "4.0"]]
        assert list(model.feature_names_in_) == ["colour", "doors"]

    def test_many_numbers_are_cut(self):
        values = np.arange(100.0)
        column = Column.of(values, 4)
        np.testing.assert_allclose(column.edges, [24.75, 49.5, 74.25])
        np.testing.assert_array_equal(np.bincount(column.codes(values).astype(int)), 25)
        np.testing.assert_array_equal(
            column.codes(np.array([-1e9, 24.75, 1e9, np.nan])), [0, 0, 3, np.nan]
        )

    def test_what_was_not_seen_is_none_of_the_categories(self):
        column = Column.of(np.array(["a", "b", None], dtype=object), 5)
        cells = np.array([["b"], ["z"], [None], [3]], dtype=object)
        np.testing.assert_array_equal(
            codes_of(cells, [column])[:, 0], [1, 2, np.nan, 2]
        )

    def test_integers_beyond_all_numbers_are_categories(self):
        cells = np.array([10**400, 1, 10**400], dtype=object)
        np.testing.assert_array_equal(Column.of(cells, 5).codes(cells), [1, 0, 1])

    def test_a_table_of_missing_cells_is_refused(self):
        with pytest.raises(ValueError, match="X must hold categories, all cells"):
            CatECM(2).fit(np.full((4, 2), np.nan))


def test_weights_are_repeated_rows():
    table, _ = categories(50, noise=0.4)
    weights = np.random.RandomState(0).randint(4, size=50)
    for init in ("k-means", "k-means++"):
        model = CatECM(3, init=init, n_init=2, max_iter=20, random_state=0)
        ours = clone(model).fit(table, sample_weight=weights)
        theirs = clone(model).fit(np.repeat(table, weights, axis=0))
        np.testing.assert_allclose(
            ours.partition_.masses, theirs.transform(table), atol=1e-8
        )
        assert ours.loss_ == pytest.approx(theirs.loss_, rel=1e-9)


def test_saved_and_loaded(tmp_path):
    table, _ = categories(60)
    numbers = np.random.RandomState(0).standard_normal((60, 1))
    mixed = np.concatenate([table.astype(object), numbers.astype(object)], axis=1)
    model = CatECM(3, random_state=0).fit(mixed)
    model.save(tmp_path / "model.credalis")
    loaded = credalis.load(tmp_path / "model.credalis")
    np.testing.assert_array_equal(loaded.transform(mixed), model.transform(mixed))
    assert loaded.categories_ == model.categories_


@pytest.mark.usefixtures("nobody_was_told")
def test_warns_once_that_it_is_experimental():
    table, _ = categories(40)
    with pytest.warns(ExperimentalWarning, match="CatECM is experimental"):
        CatECM(2, random_state=0).fit(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ExperimentalWarning)
        CatECM(2, random_state=0).fit(table)
