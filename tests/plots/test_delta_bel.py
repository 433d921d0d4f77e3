"""DeltaBelDisplay: arrays, thresholds and marks."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from credalis.datasets import make_four_class
from credalis.peaks import DeltaBel, delta_bel
from credalis.plots import DeltaBelDisplay

COLORS = ["#0069A8", "#F0A30A", "#009E76", "#7A1040", "#8FD3F5"]


@pytest.fixture(scope="module")
def table():
    X, _ = make_blobs(300, centers=5, cluster_std=0.7, random_state=2)
    return X


@pytest.fixture(scope="module")
def graph(table):
    return delta_bel(table)


def names(ax):
    return [text.get_text() for text in ax.texts if text.get_text()]


def test_display_holds_the_graph_and_the_suggested_centers(graph):
    display = DeltaBelDisplay.from_delta_bel(graph)
    np.testing.assert_array_equal(display.delta, graph.delta)
    np.testing.assert_array_equal(display.belief, graph.belief)
    np.testing.assert_array_equal(display.centers, graph.suggest())
    assert display.n_clusters == 5
    assert np.flatnonzero(display.is_center).tolist() == sorted(graph.suggest())
    assert repr(display) == "DeltaBelDisplay(300 objects, 5 clusters)"
    assert not hasattr(display, "ax_")


def test_display_of_data_equals_that_of_its_graph(table):
    options = {"n_neighbors": 20, "quantile": 0.5, "metric": "manhattan"}
    display = DeltaBelDisplay.from_data(table, n_clusters=3, **options)
    expected = delta_bel(table, **options)
    np.testing.assert_array_equal(display.delta, expected.delta)
    np.testing.assert_array_equal(display.belief, expected.belief)
    np.testing.assert_array_equal(display.centers, expected.suggest(3))


def test_display_of_dissimilarities(table, graph):
    distances = cdist(table, table) + np.triu(np.full((300, 300), 1e-3), 1)
    display = DeltaBelDisplay.from_data(
        distances, metric="precomputed", symmetrize=True
    )
    np.testing.assert_allclose(display.delta, graph.delta, atol=2e-3)


@pytest.mark.parametrize("n_clusters", [2, 4, 5])
def test_thresholds_separate_the_centers(graph, n_clusters):
    display = DeltaBelDisplay.from_delta_bel(graph, n_clusters=n_clusters)
    chosen = graph.threshold(display.min_delta, display.min_belief)
    # Two of five centres may have less of one value than a third: all are inside.
    assert set(display.centers) <= set(chosen)
    if n_clusters == 5:
        assert set(display.centers) == set(chosen)


def test_thresholds_lie_halfway_to_the_nearest_rival():
    graph = DeltaBel([0.9, 0.8, 0.85, 0.3, 0.5], [9, 7, 1, 6, 0.5], 2)
    display = DeltaBelDisplay.from_delta_bel(graph, n_clusters=2)
    assert display.centers.tolist() == [0, 1]
    # Of the objects with Bel >= 0.8 the third is next in δ; of those with δ > 4 the
    # fourth is next in Bel.
    assert display.min_delta == (7 + 1) / 2
    assert display.min_belief == pytest.approx((0.8 + 0.3) / 2)


def test_marks_thresholds_and_names(graph, plt):
    from matplotlib import colors

    display = DeltaBelDisplay.from_delta_bel(graph).plot(title="Peaks")
    ax = display.ax_
    assert ax.get_title(loc="left") == "Peaks"
    assert ax.get_xlabel().startswith("δ")
    assert ax.get_ylabel().startswith("Bel")

    objects, *marks = ax.collections[:6]
    others = ~display.is_center
    np.testing.assert_array_equal(
        objects.get_offsets(),
        np.column_stack([graph.delta[others], graph.belief[others]]),
    )
    # The first colours of the palette, as in every other picture of clusters.
    for mark, row, color in zip(marks, display.centers, COLORS, strict=True):
        expected = [[graph.delta[row], graph.belief[row]]]
        np.testing.assert_array_equal(mark.get_offsets(), expected)
        assert colors.to_hex(mark.get_facecolor()[0]).upper() == color

    lines = {tuple(np.unique(line.get_xdata())) for line in ax.lines}
    assert (display.min_delta,) in lines
    assert any(
        np.unique(line.get_ydata()).tolist() == [display.min_belief]
        for line in ax.lines
    )
    expected = [f"{k} (row {row})" for k, row in enumerate(display.centers)]
    assert names(ax) == expected
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["object", "centre: cluster (row)", "threshold"]
    display.figure_.canvas.draw()


def test_mark_below_another_is_larger(plt):
    # The highest Bel has the δ of the next centre.
    graph = DeltaBel([0.9, 0.9, 0.7, 0.1, 0.2], [5, 5, 3, 0.2, 0.1], 2)
    ax = DeltaBelDisplay.from_delta_bel(graph, n_clusters=3).plot().ax_
    sizes = [mark.get_sizes()[0] for mark in ax.collections[1:4]]
    assert sizes[0] > 2 * sizes[1]
    assert sizes[0] > 1.5 * sizes[2]


@pytest.mark.parametrize(
    ("n_clusters", "first", "label"),
    [(10, "0 (row 0)", "centre: cluster (row)"), (11, "0", "centre: cluster")],
)
def test_many_centers_have_short_names(n_clusters, first, label, plt):
    belief = np.linspace(0.9, 0.1, 40)
    graph = DeltaBel(belief, np.linspace(3, 0.1, 40), 5)
    ax = DeltaBelDisplay.from_delta_bel(graph, n_clusters=n_clusters).plot().ax_
    assert len(names(ax)) == n_clusters
    assert names(ax)[0] == first
    assert ax.get_legend().get_texts()[1].get_text() == label


def test_very_many_centers_have_no_names(plt):
    graph = DeltaBel(np.linspace(0.9, 0.1, 60), np.linspace(3, 0.1, 60), 5)
    ax = DeltaBelDisplay.from_delta_bel(graph, n_clusters=21).plot().ax_
    assert names(ax) == []
    assert ax.get_legend().get_texts()[1].get_text() == "centre"


def test_many_objects_are_drawn_as_an_image(rng, plt):
    graph = DeltaBel(rng.random(2001), rng.random(2001), 5)
    ax = DeltaBelDisplay.from_delta_bel(graph, n_clusters=2).plot(legend=False).ax_
    assert ax.collections[0].get_rasterized()
    assert ax.get_legend() is None


def test_own_choice_of_centers(graph, plt):
    rows = graph.threshold(0.5, 0.5)
    display = DeltaBelDisplay.from_delta_bel(graph, centers=rows)
    np.testing.assert_array_equal(display.centers, rows)
    nothing = DeltaBelDisplay.from_delta_bel(graph, centers=[]).plot()
    assert nothing.n_clusters == 0
    assert nothing.ax_.lines[:] == []
    assert len(nothing.ax_.collections[0].get_offsets()) == 300
    assert np.isfinite([nothing.min_delta, nothing.min_belief]).all()


def test_given_axes_are_used_and_may_be_used_again(graph, plt):
    figure, ax = plt.subplots()
    display = DeltaBelDisplay.from_delta_bel(graph, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    assert display.plot().ax_ is not ax


def test_equal_objects_can_be_drawn(plt):
    display = DeltaBelDisplay.from_data([[0.0], [1.0]]).plot()
    display.figure_.canvas.draw()
    assert display.centers.tolist() == [0, 1]


def test_the_arrays_of_the_graph_are_not_shared(graph):
    display = DeltaBelDisplay.from_delta_bel(graph)
    display.delta[0] = display.belief[0] = -1.0
    assert graph.delta[0] >= 0
    assert graph.belief[0] >= 0


@pytest.mark.parametrize(
    "centers", [[0, 0], [0, 300], [-1], [0.5], [[0, 1]], ["a"], [True, False]]
)
def test_wrong_centers_are_refused(graph, centers):
    with pytest.raises(ValueError, match="distinct row numbers from 0 to 299, got"):
        DeltaBelDisplay.from_delta_bel(graph, centers=centers)


def test_number_and_choice_of_centers_exclude_each_other(graph):
    with pytest.raises(ValueError, match="n_clusters and centers must not both"):
        DeltaBelDisplay.from_delta_bel(graph, n_clusters=2, centers=[0, 1])


def test_objects_are_called_by_the_names_given(graph):
    titles = [f"item $x^{i}" for i in range(300)]
    display = DeltaBelDisplay.from_delta_bel(graph, object_names=titles).plot()
    written = names(display.ax_)
    assert [f"{k} (item $x^{row})" for k, row in enumerate(display.centers)] == written
    with pytest.raises(ValueError, match="object_names must hold one name for each"):
        DeltaBelDisplay.from_delta_bel(graph, object_names=["a"])


@pytest.mark.parametrize("seed", range(4))
def test_names_of_centers_in_a_corner_do_not_overlap(seed, plt):
    X, _ = make_four_class(random_state=seed)
    ax = DeltaBelDisplay.from_data(X, n_clusters=4).plot().ax_
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
    assert len(boxes) == 4
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])
