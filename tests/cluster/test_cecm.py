import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.datasets import make_blobs
from sklearn.preprocessing import StandardScaler

from credalis import CECM, ECM, FocalSets
from credalis.belief import pairwise_masses
from credalis.cluster.prototypes._cecm_masses import (
    PENALTIES,
    ConstrainedObjects,
    penalty,
)
from credalis.constraints import check_constraints, random_pairs
from credalis.datasets import load_butterfly
from credalis.objectives import ecm_model, prototype_costs, set_prototypes

START = [[-3, 0], [3, 0]]


@pytest.fixture(scope="module")
def blobs():
    X, y = make_blobs(90, centers=3, cluster_std=2.5, random_state=5)
    return StandardScaler().fit_transform(X), y


@st.composite
def constrained(draw):
    """Constraints between ten objects, focal sets and masses."""
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    y = rng.integers(3, size=10)
    must_link, cannot_link = random_pairs(
        y, draw(st.integers(1, 15)), random_state=draw(st.integers(0, 1000))
    )
    focal_sets = draw(
        st.sampled_from(
            [
                FocalSets.full(3),
                FocalSets.singletons(3),
                FocalSets.pairs(3, empty=False),
            ]
        )
    )
    masses = rng.dirichlet(np.ones(len(focal_sets)), size=10)
    return must_link, cannot_link, focal_sets, masses, rng


def direct_penalty(kind, weight, must_link, cannot_link, focal_sets, masses):
    """The definition of the class, one pair at a time."""
    totals = {"must": 0.0, "cannot": 0.0}
    empties = 0.0
    n_must, n_cannot = len(must_link), len(cannot_link)
    for name, pairs in (("must", must_link), ("cannot", cannot_link)):
        for i, j in pairs:
            _, same, different, either = pairwise_masses(
                masses[[i]], focal_sets, masses[[j]]
            )[0, 0]
            pl_same, pl_different = same + either, different + either
            if kind == "symmetric":
                cost = 0.5 * (1 + pl_different - pl_same)
                totals[name] += cost if name == "must" else 1 - cost
            elif name == "cannot":
                totals[name] += pl_same
            elif kind == "paper":
                totals[name] += pl_different
            else:
                totals[name] += 1 - same
                empty = focal_sets.cardinality == 0
                empties += masses[i, empty].sum() + masses[j, empty].sum()
    if kind != "reference":
        return weight * (totals["must"] + totals["cannot"]) / (n_must + n_cannot)
    must = totals["must"] / max(n_must, 1)
    return weight * (must + totals["cannot"] / max(n_cannot, 1)) + empties


@settings(max_examples=40)
@given(constrained(), st.sampled_from(PENALTIES))
def test_penalty_is_the_definition(problem, kind):
    must_link, cannot_link, focal_sets, masses, _ = problem
    objects = ConstrainedObjects.of(must_link, cannot_link)
    cost = penalty(kind, focal_sets, 0.4, len(must_link), len(cannot_link))
    expected = direct_penalty(kind, 0.4, must_link, cannot_link, focal_sets, masses)
    assert objects.value(masses[objects.rows], cost) == pytest.approx(expected)


@settings(max_examples=40)
@given(constrained(), st.sampled_from(PENALTIES))
def test_updates_never_raise_the_cost(problem, kind):
    must_link, cannot_link, focal_sets, masses, rng = problem
    objects = ConstrainedObjects.of(must_link, cannot_link)
    cost = penalty(kind, focal_sets, 0.4, len(must_link), len(cannot_link))
    masses = masses[objects.rows]
    quadratic = rng.uniform(0.001, 0.1, size=masses.shape)

    def value(masses):
        return (quadratic * masses**2).sum() + objects.value(masses, cost)

    values = [value(masses)]
    for _ in range(10):
        masses = objects.improved(masses, quadratic, cost)
        assert_allclose(masses.sum(axis=1), 1)
        values.append(value(masses))
    assert (np.diff(values) <= 1e-12).all()


@given(constrained())
def test_groups_hold_every_object_once_and_no_constraint(problem):
    must_link, cannot_link, *_ = problem
    objects = ConstrainedObjects.of(must_link, cannot_link)
    members = np.concatenate([group.members for group in objects.groups])
    assert sorted(members) == list(range(len(objects.rows)))
    for group in objects.groups:
        inside = set(objects.rows[group.members])
        for i, j in np.concatenate([must_link, cannot_link]):
            assert not {i, j} <= inside


@pytest.mark.parametrize("metric", ["euclidean", "adaptive"])
@pytest.mark.parametrize("weight", [0.0, 0.5, 0.99])
def test_without_constraints_it_is_ecm(blobs, metric, weight):
    X, _ = blobs
    settings = {"focal_sets": "full", "metric": metric, "delta": 5, "random_state": 0}
    cecm = CECM(3, constraint_weight=weight, **settings).fit(X)
    ecm = ECM(3, **settings).fit(X)
    assert cecm.partition_ == ecm.partition_
    assert_allclose(cecm.loss_, (1 - weight) * ecm.loss_ / (len(X) * 8))


def test_pairs_of_weight_zero_are_ecm(blobs):
    X, y = blobs
    must_link, cannot_link = random_pairs(y, 30, random_state=0)
    settings = {"delta": 5, "random_state": 0, "n_init": 1}
    cecm = CECM(3, constraint_weight=0.0, **settings)
    cecm.fit(X, must_link=must_link, cannot_link=cannot_link)
    ecm = ECM(3, **settings).fit(X)
    assert cecm.partition_.allclose(ecm.partition_, atol=1e-9)


@pytest.mark.parametrize("kind", PENALTIES)
@pytest.mark.parametrize("metric", ["euclidean", "adaptive"])
def test_loss_is_the_objective_of_the_partition(blobs, kind, metric):
    X, y = blobs
    must_link, cannot_link = random_pairs(y, 30, random_state=0)
    cecm = CECM(3, penalty=kind, metric=metric, constraint_weight=0.3, random_state=0)
    cecm.set_params(empty_set="noise")
    cecm.fit(X, must_link=must_link, cannot_link=cannot_link)
    focal_sets, masses = cecm.focal_sets_, cecm.partition_.masses
    model = ecm_model(focal_sets, 1.0, 2.0, cecm.delta_)
    cost = prototype_costs(
        X, set_prototypes(cecm.centers_, cecm.metrics_, model), model
    )
    expected = 0.7 / (len(X) * len(focal_sets)) * (masses.T**2 * cost).sum()
    expected += direct_penalty(kind, 0.3, must_link, cannot_link, focal_sets, masses)
    assert cecm.loss_ == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("metric", ["euclidean", "adaptive"])
def test_constraints_are_kept(blobs, metric, seed):
    X, y = blobs
    must_link, cannot_link = random_pairs(y, 40, random_state=seed)
    cecm = CECM(3, metric=metric, random_state=0)
    labels = cecm.fit(X, must_link=must_link, cannot_link=cannot_link).labels_
    assert (labels[must_link[:, 0]] == labels[must_link[:, 1]]).mean() > 0.95
    assert (labels[cannot_link[:, 0]] != labels[cannot_link[:, 1]]).mean() > 0.95


def test_published_must_links_make_outliers_and_the_symmetric_ones_do_not():
    X = load_butterfly().data
    # Objects of different clusters, so that the link can only be paid for.
    pairs = {"must_link": [(0, 10), (1, 9)]}
    settings = {"delta": 5, "init": START, "constraint_weight": 0.9}
    empty = {
        kind: CECM(2, penalty=kind, **settings)
        .fit(X, **pairs)
        .partition_.outlier_mass[[0, 1, 9, 10]]
        .mean()
        for kind in PENALTIES
    }
    assert empty["paper"] > 2 * empty["symmetric"]
    assert empty["reference"] == pytest.approx(0, abs=1e-12)


def test_prediction_differs_only_for_constrained_objects(blobs):
    X, y = blobs
    must_link, cannot_link = random_pairs(y, 30, random_state=0)
    cecm = CECM(3, random_state=0).fit(X, must_link=must_link, cannot_link=cannot_link)
    predicted = cecm.predict_partition(X)
    is_bound = np.isin(np.arange(len(X)), np.concatenate([must_link, cannot_link]))
    assert cecm.constrained_rows_.tolist() == np.flatnonzero(is_bound).tolist()
    differs = (predicted.masses != cecm.partition_.masses).any(axis=1)
    assert not differs[~is_bound].any()
    assert differs[is_bound].any()


def test_order_of_the_pairs_changes_nothing(blobs):
    X, y = blobs
    must_link, cannot_link = random_pairs(y, 30, random_state=0)
    one = CECM(3, random_state=0).fit(X, must_link=must_link, cannot_link=cannot_link)
    other = CECM(3, random_state=0).fit(
        X, must_link=must_link[::-1, ::-1], cannot_link=cannot_link[::-1]
    )
    assert one.partition_ == other.partition_


def reference_problem(reference):
    values = reference("cecm_butterfly_fixed_g0.json")
    must_link, cannot_link = check_constraints(
        np.array(values["ML"]) - 1, np.array(values["CL"]) - 1, 12
    )
    return values, must_link, cannot_link


def test_objective_of_the_reference_program(reference):
    values, must_link, cannot_link = reference_problem(reference)
    X, masses = load_butterfly().data, np.array(values["mass"])
    focal_sets = FocalSets.full(2)
    model = ecm_model(focal_sets, 1.0, 2.0, 10.0)
    cost = prototype_costs(X, set_prototypes(np.array(values["g"]), None, model), model)
    ecm = 0.5 * (masses.T**2 * cost).sum() / masses.size
    pairs = direct_penalty("reference", 0.5, must_link, cannot_link, focal_sets, masses)
    # What the program reports leaves out the cost of the empty set.
    empty = masses[must_link.ravel(), 0].sum()
    assert ecm + pairs - empty == pytest.approx(values["crit"][0], rel=1e-12)


def test_reference_program_from_the_same_start(reference):
    values, must_link, cannot_link = reference_problem(reference)
    X = load_butterfly().data
    cecm = CECM(2, focal_sets="full", delta=10, init=values["g0"], penalty="reference")
    cecm.fit(X, must_link=must_link, cannot_link=cannot_link)
    # The program solves for the masses by an inexact method and stops when the
    # prototypes move by less than 1e-3; two runs of it differ by 1e-5 in the objective.
    expected = values["crit"][0]
    assert expected * (1 - 2e-4) < cecm.loss_ < expected
    assert_allclose(cecm.centers_, values["g"], atol=0.01)
    assert_allclose(cecm.partition_.masses, values["mass"], atol=0.02)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha": -1}, r"alpha must be a finite number >= 0, got -1"),
        ({"constraint_weight": 1}, r"constraint_weight must be below 1, got 1"),
        ({"constraint_weight": -0.1}, r"constraint_weight must be a finite number >="),
        ({"penalty": "hard"}, r"penalty must be one of 'symmetric', .* got 'hard'"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        CECM(2, **parameters).fit(load_butterfly().data)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ({"must_link": [(0, 12)]}, r"must_link must hold row numbers from 0 to 11"),
        ({"cannot_link": [(3, 3)]}, r"cannot_link must join different objects"),
        (
            {"must_link": [(0, 1)], "cannot_link": [(0, 1)]},
            r"cannot_link holds \(0, 1\), but must_link joins them",
        ),
    ],
)
def test_bad_pairs(pairs, message):
    with pytest.raises(ValueError, match=message):
        CECM(2).fit(load_butterfly().data, **pairs)
