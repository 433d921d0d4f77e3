"""CatECM: its costs and updates, limiting cases, and what it recovers."""

from pathlib import Path

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
from credalis.cluster.prototypes._catecm_modes import (
    as_modes,
    matching_costs,
    updated_modes,
)
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
from credalis.objectives import ecm_model, mass_weights, masses_from_costs
from helpers import assert_decreasing, assert_valid_partition

pytestmark = [
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


def soybeans():
    """The plants, and their diseases."""
    path = Path(__file__).parents[1] / "reference" / "soybean_small.csv"
    table = np.array([line.split(",") for line in path.read_text().split()])
    return table[:, :-1], table[:, -1]


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


def published_costs(codes, modes, focal_sets, alpha, delta):
    """|A|^α D², D the differences to a set: their mean over its clusters over |A|."""
    costs = np.full((len(focal_sets), len(codes)), delta**2)
    for j, inside in enumerate(focal_sets.membership):
        size = inside.sum()
        if not size:
            continue
        for i, row in enumerate(codes):
            differing = [(row != mode).sum() for mode in modes[inside]]
            costs[j, i] = size**alpha * (np.mean(differing) / size) ** 2
    return costs


class TestModes:
    def test_costs_are_the_published_ones(self):
        rng = np.random.RandomState(0)
        sizes = np.array([2, 3, 4])
        codes = (rng.uniform(size=(20, 3)) * sizes).astype(int)
        modes = (rng.uniform(size=(3, 3)) * sizes).astype(int)
        shares = Indicators.of(modes.astype(float), sizes).values
        model = ecm_model(FocalSets.full(3), 1.1, 1.2, 10.0)
        found = matching_costs(Indicators.of(codes.astype(float), sizes), shares, model)
        expected = published_costs(codes, modes, model.focal_sets, 1.1, 10.0)
        np.testing.assert_allclose(found, expected, atol=1e-300)

    def test_missing_cells_are_left_out_and_others_count_more(self):
        sizes = np.array([2, 2, 2, 2])
        shares = np.array([[1.0, 0, 1, 0, 1, 0, 1, 0]])
        model = ecm_model(FocalSets.singletons(1, empty=False), 1.0, 2.0, 1.0)
        codes = np.array([[0.0, 1, np.nan, np.nan], [0, 1, 5, 0], [np.nan] * 4])
        costs = matching_costs(Indicators.of(codes, sizes), shares, model)
        np.testing.assert_allclose(costs[0], [2**2, 2**2, 0], atol=1e-300)

    @given(st.integers(0, 1000))
    @settings(max_examples=15)
    def test_no_other_category_costs_less(self, seed):
        objects, shares, model = problem(seed)
        modes = as_modes(shares, objects.sizes)
        masses = masses_from_costs(matching_costs(objects, modes, model), model.beta)
        weights = mass_weights(masses, model.beta)

        def cost(values):
            return np.vdot(weights, matching_costs(objects, values, model))

        found = updated_modes(weights, objects, modes, model)
        assert cost(found) <= cost(modes) + 1e-12
        attributes = attribute_of(objects.sizes)
        for k in range(len(found)):
            for which in range(3):
                assert found[k, attributes == which].sum() == 1
                for place in np.flatnonzero(attributes == which):
                    moved = found.copy()
                    moved[k, attributes == which] = 0.0
                    moved[k, place] = 1.0
                    assert cost(moved) >= cost(found) - 1e-10

    def test_the_published_update_alone_can_cost_more(self):
        # What the docstring says of it; with the masses that follow, not only for now.
        table, _ = soybeans()
        codes = np.array(
            [np.unique(cells, return_inverse=True)[1] for cells in table.T]
        )
        codes, sizes = codes.T.astype(float), codes.max(axis=1) + 1
        objects = Indicators.of(codes, sizes)
        model = ecm_model(FocalSets.pairs(4), 1.1, 1.2, 10.0)
        is_single = model.focal_sets.cardinality == 1
        losses = []
        rng = np.random.RandomState(1)
        modes = Indicators.of((rng.uniform(size=(4, 35)) * sizes).astype(int), sizes)
        modes = modes.values
        for _ in range(6):
            costs = matching_costs(objects, modes, model)
            weights = mass_weights(masses_from_costs(costs, 1.2), 1.2)
            losses.append(np.vdot(weights, costs))
            ours = updated_modes(weights, objects, modes, model)
            following = matching_costs(objects, ours, model)
            assert np.vdot(weights, following) <= losses[-1] * (1 + 1e-12)
            modes = as_modes(weights[is_single] @ objects.values, sizes)
        assert (np.diff(losses) > 0).any()

    def test_soybeans_with_the_parameters_of_the_authors(self):
        table, diseases = soybeans()
        model = CatECM(4, focal_sets="pairs", alpha=1.1, beta=1.2, delta=10.0)
        model.set_params(tol=0, random_state=0).fit(table)
        assert_decreasing(model.history_)
        assert adjusted_rand_score(diseases, model.labels_) == 1.0
        assert set(np.unique(model.shares_)) == {0.0, 1.0}
        labels = CatECM(4, random_state=0).fit_predict(table)
        assert adjusted_rand_score(diseases, labels) > 0.93

    def test_masses_are_the_published_ones_at_the_prototypes(self):
        table, _ = soybeans()
        model = CatECM(4, focal_sets="pairs", alpha=1.1, delta=10.0).fit(table)
        codes = np.array(
            [np.unique(cells, return_inverse=True)[1] for cells in table.T]
        )
        places = np.cumsum([0, *(len(names) for names in model.categories_[:-1])])
        modes = np.array([np.flatnonzero(own) - places for own in model.shares_])
        focal_sets = model.focal_sets_
        costs = published_costs(codes.T, modes, focal_sets, 1.1, 10.0)
        powers = costs ** (-1 / 0.2)
        np.testing.assert_allclose(
            model.partition_.masses, (powers / powers.sum(axis=0)).T, atol=1e-10
        )

    def test_automatic_parameters(self):
        model = CatECM(4).fit(soybeans()[0])
        assert model.alpha_ == pytest.approx(1.75)
        assert model.beta_ == 1.2
        # An object as far from all: Ω costs √½ of a cluster.
        assert 4**model.alpha_ * (1 / 4) ** 2 == pytest.approx(np.sqrt(0.5))
        same = np.repeat([list("ab"), list("cd")], 5, axis=0)
        assert CatECM(2).fit(same).delta_ == 2.0


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


@pytest.mark.parametrize("prototypes", ["modes", "shares"])
@pytest.mark.parametrize("init", ["k-means", "k-means++"])
@pytest.mark.parametrize("focal_sets", ["singletons", "pairs", "two-step"])
def test_cost_never_increases(init, focal_sets, prototypes):
    table, _ = categories(noise=0.5)
    model = CatECM(4, focal_sets=focal_sets, init=init, n_init=1, tol=0, max_iter=30)
    model.set_params(prototypes=prototypes, random_state=0).fit(table)
    assert_decreasing(model.history_)
    assert_valid_partition(model.partition_)


def test_two_categories_are_ecm_of_indicators():
    # Shares stay inside of the simplex, so that they are the centres of ECM.
    rng = np.random.RandomState(0)
    y = rng.randint(2, size=80)
    X = (rng.uniform(size=(80, 6)) < np.where(y, 0.8, 0.2)[:, None]).astype(float)
    ours = CatECM(
        2,
        focal_sets="singletons",
        prototypes="shares",
        alpha=1.0,
        beta=1.5,
        delta=2.0,
        tol=1e-12,
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


@pytest.mark.parametrize("prototypes", ["modes", "shares"])
@pytest.mark.parametrize("seed", range(3))
def test_clusters_of_categories_are_found(seed, prototypes):
    table, y = categories(seed=seed)
    model = CatECM(4, prototypes=prototypes, random_state=0).fit(table)
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


@pytest.mark.parametrize("prototypes", ["modes", "shares"])
def test_an_object_of_two_clusters_is_between_them(prototypes):
    table = np.repeat([list("aaaaaaaa"), list("bbbbbbbb")], 20, axis=0)
    rng = np.random.RandomState(0)
    noise = rng.uniform(size=table.shape) < 0.1
    table[noise] = "c"
    table = np.vstack([table, list("aaaabbbb")])
    model = CatECM(2, prototypes=prototypes, random_state=0).fit(table)
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


@pytest.mark.parametrize("prototypes", ["modes", "shares"])
def test_weights_are_repeated_rows(prototypes):
    table, _ = categories(50, noise=0.4)
    weights = np.random.RandomState(0).randint(4, size=50)
    for init in ("k-means", "k-means++"):
        model = CatECM(3, init=init, n_init=2, max_iter=20, random_state=0)
        model.set_params(prototypes=prototypes)
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


def test_files_without_a_kind_of_prototypes_are_about_shares(tmp_path, monkeypatch):
    table, _ = categories(40)
    model = CatECM(3, prototypes="shares", alpha=0.5, random_state=0).fit(table)
    state = model.to_state()
    del state["parameters"]["prototypes"], state["fitted"]["alpha_"]
    monkeypatch.setattr(model, "to_state", lambda: state)
    model.save(tmp_path / "model.credalis")
    loaded = credalis.load(tmp_path / "model.credalis")
    assert (loaded.prototypes, loaded.alpha_) == ("shares", 0.5)
    np.testing.assert_array_equal(loaded.transform(table), model.transform(table))


@pytest.mark.parametrize(
    ("name", "value"), [("prototypes", "medoids"), ("alpha", "none"), ("alpha", -1)]
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        CatECM(2, **{name: value}).fit([["a"], ["b"]])
