"""Random mass functions."""

import numpy as np
import pytest

from credalis.belief import (
    FocalSets,
    conjunctive_weights,
    is_bayesian,
    is_consonant,
    is_logical,
    is_normalized,
    random_masses,
)

FULL = FocalSets.full(4)
PAIRS = FocalSets.pairs(4)
KINDS = [
    "any",
    "normal",
    "nondogmatic",
    "bayesian",
    "consonant",
    "simple",
    "logical",
    "separable",
]


@pytest.mark.parametrize("kind", KINDS)
def test_masses_of_every_kind(kind):
    lists = [FULL] if kind == "separable" else [FULL, PAIRS]
    for focal_sets in lists:
        masses = random_masses(1000, focal_sets, kind, random_state=0)
        assert masses.shape == (1000, len(focal_sets))
        assert masses.min() >= 0
        np.testing.assert_allclose(masses.sum(axis=1), 1.0, atol=1e-12)
        again = random_masses(1000, focal_sets, kind, random_state=0)
        np.testing.assert_array_equal(masses, again)
        other = random_masses(1000, focal_sets, kind, random_state=1)
        assert not np.array_equal(masses, other)


@pytest.mark.parametrize("focal_sets", [FULL, PAIRS], ids=["full", "pairs"])
def test_kinds_are_what_they_say(focal_sets):
    def draw(kind):
        return random_masses(500, focal_sets, kind, random_state=3)

    assert is_normalized(draw("normal"), focal_sets).all()
    assert (draw("nondogmatic")[:, focal_sets.frame_index] > 0).all()
    assert is_bayesian(draw("bayesian"), focal_sets).all()
    assert is_logical(draw("logical"), focal_sets).all()
    assert is_normalized(draw("logical"), focal_sets).all()
    chains = draw("consonant")
    assert is_consonant(chains, focal_sets).all()
    simple = draw("simple")
    assert ((simple > 0).sum(axis=1) == 2).all()
    assert (simple[:, focal_sets.frame_index] > 0).all()
    # Each set that may be chosen is chosen now and then.
    assert ((simple > 0).any(axis=0) == (focal_sets.cardinality > 0)).all()
    assert (chains > 0).any(axis=0).all()


def test_chains_cannot_be_made_longer():
    masses = random_masses(300, FULL, "consonant", random_state=0)
    # From ∅ to Ω, one cluster more at a time.
    assert ((masses > 0).sum(axis=1) == 5).all()


def test_separable_masses_have_weights_up_to_one():
    masses = random_masses(200, FULL, "separable", max_carried=3, random_state=0)
    weights = conjunctive_weights(masses, FULL)
    assert weights.max() < 1 + 1e-6
    assert ((weights < 1 - 1e-6).sum(axis=1) <= 3).all()


@pytest.mark.parametrize("kind", ["any", "normal", "nondogmatic", "consonant"])
def test_number_of_sets_that_carry_mass(kind):
    masses = random_masses(400, FULL, kind, max_carried=3, random_state=0)
    assert ((masses > 0).sum(axis=1) == 3).all()
    assert (masses > 0).any(axis=0).sum() >= 15
    one = random_masses(50, FULL, kind, max_carried=1, random_state=0)
    assert is_logical(one, FULL).all()
    if kind == "nondogmatic":
        np.testing.assert_array_equal(one, np.tile(np.eye(16)[15], (50, 1)))


def test_concentration():
    wide = random_masses(200, FULL, concentration=0.05, random_state=0)
    even = random_masses(200, FULL, concentration=1000, random_state=0)
    assert wide.max(axis=1).mean() > 0.6
    assert even.max() < 0.1


def test_a_generator_goes_on():
    rng = np.random.RandomState(0)
    first, second = (random_masses(3, FULL, random_state=rng) for _ in range(2))
    assert not np.array_equal(first, second)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: random_masses(-1, FULL), "n_samples must be an integer"),
        (lambda: random_masses(3, FULL, "odd"), "kind must be one of"),
        (lambda: random_masses(3, FULL, max_carried=0), "max_carried must be an int"),
        (
            lambda: random_masses(3, FULL, "simple", max_carried=2),
            "max_carried must be None",
        ),
        (lambda: random_masses(3, FULL, concentration=0), "concentration must be a"),
        (lambda: random_masses(3, FULL, random_state="a"), "random_state must be"),
        (lambda: random_masses(3, PAIRS, "separable"), "focal_sets must be FocalSets"),
        (
            lambda: random_masses(3, FocalSets.full(3, frame=False), "nondogmatic"),
            "focal_sets must hold Ω",
        ),
        (
            lambda: random_masses(3, FocalSets.full(3, frame=False), "simple"),
            "focal_sets must hold Ω",
        ),
        (
            lambda: random_masses(3, FocalSets.from_subsets(2, [(0, 1)]), "bayesian"),
            "focal_sets must hold a singleton",
        ),
        (
            lambda: random_masses(3, FocalSets.from_subsets(2, [()]), "normal"),
            "focal_sets must hold a set other than ∅",
        ),
        (
            lambda: random_masses(3, FocalSets.singletons(1), "simple"),
            "focal_sets must hold a set other than ∅ and Ω",
        ),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
