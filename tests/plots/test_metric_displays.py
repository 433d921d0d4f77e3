"""Displays of constraints, learned features and distances."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from credalis.metric_learning import PCCA
from credalis.plots import ConstraintDisplay, DistanceMatrixDisplay, FeatureDisplay


@pytest.fixture(scope="module")
def learned():
    rng = np.random.default_rng(0)
    y = np.tile([0, 1, 2], 20)
    X = rng.normal(size=(60, 4)) + 4 * rng.normal(size=(3, 4))[y]
    pairs = {"must_link": [(0, 3), (1, 4)], "cannot_link": [(0, 1), (4, 2)]}
    return PCCA(2, random_state=0).fit(X, **pairs), X, y, pairs


class TestConstraints:
    def test_lines_join_the_objects_of_pairs(self, learned, plt, legend_texts):
        _, X, y, pairs = learned
        display = ConstraintDisplay.from_pairs(X[:, :2], **pairs, labels=y)
        np.testing.assert_array_equal(display.points, X[:, :2])
        ax = display.plot(title="Pairs").ax_
        cannot, must = ax.collections[-2:]
        np.testing.assert_array_equal(must.get_segments(), X[[[0, 3], [1, 4]], :2])
        np.testing.assert_array_equal(cannot.get_segments(), X[[[0, 1], [2, 4]], :2])
        assert ax.get_title(loc="left") == "Pairs"
        assert legend_texts(ax) == [
            "class 0",
            "class 1",
            "class 2",
            "cannot-link (2)",
            "must-link (2)",
        ]
        assert np.flatnonzero(display.is_constrained).tolist() == [0, 1, 2, 3, 4]
        display.figure_.canvas.draw()

    def test_more_features_are_projected_and_one_is_spread_by_rows(self, learned, plt):
        _, X, _, pairs = learned
        many = ConstraintDisplay.from_pairs(X, **pairs)
        assert many.axis_labels[0].startswith("principal component 1")
        one = ConstraintDisplay.from_pairs(X[:, :1], **pairs, feature_names=["height"])
        assert one.axis_labels == ("height", "row")
        np.testing.assert_array_equal(one.points[:, 1], np.arange(60))
        one.plot().figure_.canvas.draw()

    def test_no_pairs_give_a_picture_without_lines(self, plt):
        display = ConstraintDisplay.from_pairs([[0, 0], [1, 1]])
        ax = display.plot().ax_
        assert ax.get_legend() is None
        display.figure_.canvas.draw()

    def test_without_pairs_labelled_objects_stand_out(self, plt, legend_texts):
        X = [[0, 0], [1, 1], [2, 2], [3, 3]]
        display = ConstraintDisplay.from_pairs(X, labels=[0, -1, 1, -1])
        assert display.is_constrained.tolist() == [True, False, True, False]
        assert legend_texts(display.plot().ax_) == ["class 0", "class 1"]
        paired = ConstraintDisplay.from_pairs(X, [(0, 1)], labels=[0, -1, 1, -1])
        assert paired.is_constrained.tolist() == [True, True, False, False]

    def test_wrong_input_is_refused(self, learned):
        _, X, _, _ = learned
        with pytest.raises(ValueError, match="must_link must hold row numbers"):
            ConstraintDisplay.from_pairs(X, must_link=[(0, 99)])
        for labels in ([0], ["a"] * 60, [-2] * 60):
            with pytest.raises(ValueError, match="labels must be 60 integers"):
                ConstraintDisplay.from_pairs(X, labels=labels)


class TestFeatures:
    def test_boxes_of_each_class(self, learned, plt):
        pcca, X, y, _ = learned
        display = FeatureDisplay.from_transformer(pcca, X, y)
        assert display.feature_names == ["pcca0", "pcca1"]
        display.plot(title="Features")
        assert len(display.axes_) == 2
        Z = pcca.transform(X)
        for j, ax in enumerate(display.axes_):
            medians = [
                line.get_ydata()[0]
                for line in ax.lines
                if len(set(line.get_ydata())) == 1 and line.get_linewidth() == 1.6
            ]
            np.testing.assert_allclose(
                medians, [np.median(Z[y == k, j]) for k in range(3)]
            )
        display.figure_.canvas.draw()

    def test_objects_without_a_class_are_left_out(self):
        display = FeatureDisplay.from_features([[1.0], [2.0], [9.0]], [0, 1, -1])
        assert [values.tolist() for values in display.groups(0)] == [[1.0], [2.0]]
        with pytest.raises(ValueError, match="labels must hold a class of some object"):
            FeatureDisplay.from_features([[1.0]], [-1])

    def test_given_axes_are_used(self, learned, plt):
        pcca, X, y, _ = learned
        figure, axes = plt.subplots(1, 2)
        display = FeatureDisplay.from_transformer(pcca, X, y, ax=axes)
        assert list(display.axes_) == list(axes)
        assert display.figure_ is figure
        with pytest.raises(ValueError, match=r"ax must hold 2 axes.*, got 1"):
            display.plot(ax=axes[0])

    def test_a_transformer_is_required(self, learned):
        with pytest.raises(ValueError, match="transformer must have transform, got"):
            FeatureDisplay.from_transformer(object(), learned[1], learned[2])


class TestDistances:
    def test_distances_ordered_by_class_relative_to_the_largest(self, learned, plt):
        pcca, X, y, _ = learned
        display = DistanceMatrixDisplay.from_transformer(pcca, X, y)
        order = np.argsort(y, kind="stable")
        assert display.labels.tolist() == np.sort(y).tolist()
        for matrix, points in zip(
            display.distances, (X, pcca.transform(X)), strict=True
        ):
            expected = cdist(points[order], points[order])
            np.testing.assert_allclose(matrix, expected / expected.max())
        display.plot(title="Distances")
        before, after = display.axes_
        assert [ax.get_title(loc="left") for ax in (before, after)] == [
            "before",
            "after",
        ]
        assert [text.get_text() for text in after.get_xticklabels()] == ["0", "1", "2"]
        np.testing.assert_allclose(after.get_xticks(), [9.5, 29.5, 49.5])
        display.figure_.canvas.draw()

    def test_objects_without_a_class_come_last(self, learned, plt):
        pcca, X, y, _ = learned
        some = np.where(np.arange(60) < 6, -1, y)
        display = DistanceMatrixDisplay.from_transformer(pcca, X, some)
        assert display.labels[-6:].tolist() == [-1] * 6
        ticks = display.plot().axes_[0].get_yticklabels()
        assert ticks[-1].get_text() == "none"

    def test_many_objects_are_thinned(self, learned):
        pcca, X, y, _ = learned
        display = DistanceMatrixDisplay.from_transformer(pcca, X, y, max_objects=12)
        assert display.distances.shape == (2, 12, 12)
        assert np.bincount(display.labels).tolist() == [4, 4, 4]
        with pytest.raises(ValueError, match="max_objects must be an integer >= 2"):
            DistanceMatrixDisplay.from_transformer(pcca, X, y, max_objects=1)

    def test_equal_objects_are_no_division_by_zero(self, learned):
        pcca, X, _, _ = learned
        display = DistanceMatrixDisplay.from_transformer(pcca, X[[0, 0]], [0, 1])
        assert not display.distances.any()


def test_reprs_are_short(learned):
    pcca, X, y, pairs = learned
    assert [
        repr(ConstraintDisplay.from_pairs(X, **pairs)),
        repr(FeatureDisplay.from_transformer(pcca, X, y)),
        repr(DistanceMatrixDisplay.from_transformer(pcca, X, y)),
    ] == [
        "ConstraintDisplay(60 objects, 2 must-links, 2 cannot-links)",
        "FeatureDisplay(2 features, 3 classes)",
        "DistanceMatrixDisplay(60 objects, before and after)",
    ]
