"""What the benchmarks behind figures of pages measure, on cases done by hand."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

pytest.importorskip("benchmarks", reason="benchmarks are not part of the sources")

from benchmarks import contenders, generated, images, levels, numbers, words

from credalis import ECM


@pytest.fixture(scope="module")
def table():
    """Three groups far apart."""
    mixture = generated.make_mixture(3, 2, 8, np.random.default_rng(0))
    return generated.Table(*mixture.draw(150, np.random.default_rng(1)), 3)


class TestWords:
    def test_clear_rows_of_groups_far_apart_are_right(self, table):
        record = words.about_words(contenders.contenders()["ECM"], table, 0)
        assert record["wrong of the clear at 0.7"] == 0
        assert record["clear at 0.7"] >= record["clear at 0.8"] > 0.5

    def test_seeds_become_one_score(self):
        found = words.score("work", "ECM", [0.2, 0.4])
        assert found.cells[2:] == ("0.300", "0.141", "2", "from 0.200 to 0.400")


class TestNumbers:
    def test_criteria_are_compared_with_the_number_of_classes(self, table):
        found = numbers.outcome(table, 0)
        assert found == {
            "suggested": True,
            "agreement": True,
            "bic": True,
            "no clusters seen": False,
        }


class TestLevels:
    def test_sets_of_the_posterior_cover_as_often_as_asked(self):
        rng = np.random.default_rng(0)
        posterior = rng.dirichlet(np.ones(3), size=4000)
        y = np.array([rng.choice(3, p=row) for row in posterior])
        sets = levels.sets_of_posterior(posterior, y, 0.8)
        assert 0.8 <= levels.covered(sets, y) < 0.82
        assert sets.any(axis=1).all()

    def test_all_that_is_covered_has_a_name(self, monkeypatch):
        for name in ("N_FITTED", "N_NEW", "N_TESTED"):
            monkeypatch.setattr(levels, name, 150)
        setting = levels.Setting(2, 2, 4)
        found = levels.coverages(ECM, setting, np.random.default_rng(0))
        shares = {name: found[name] for name in found if "level" in name}
        assert len(shares) == 2 + 2 * len(levels.LEVELS)
        assert all(0.7 < share <= 1 for share in shares.values())
        assert found["best accuracy"] > 0.9

    def test_planted_rows_are_flagged(self, table):
        found = levels.flags(ECM, table, np.random.default_rng(0))
        assert found["clean rows flagged at 0.01"] < 0.1
        assert found["planted rows found, fdr 0.1"] > 0.5


class TestImages:
    def test_moved_by_a_pixel_to_four_sides(self):
        image = np.zeros((1, 1, 8, 8))
        image[0, 0, 3, 4] = 1
        moved = images.moved_images(image)
        places = [tuple(np.argwhere(each[0, 0])[0]) for each in moved]
        assert sorted(places) == [(2, 4), (3, 3), (3, 5), (4, 4)]

    def test_answers_are_what_the_digits_say(self):
        y = np.repeat([0, 1], 50)
        must_link, cannot_link = images.answers(None, y, "random", 0)
        assert (y[must_link[:, 0]] == y[must_link[:, 1]]).all()
        assert (y[cannot_link[:, 0]] != y[cannot_link[:, 1]]).all()

    def test_pieces_of_the_example_are_there(self):
        pytest.importorskip("torch")
        example = images.pieces_of_the_example()
        assert "model" not in example
        lengths = example["path_lengths"](np.eye(64)[:12].reshape(-1, 1, 8, 8))
        assert_array_equal(lengths, lengths.T)
