import numpy as np
import pytest

from credalis import CredalPartition, FocalSets
from credalis.plots import MassDisplay


@pytest.fixture(scope="module")
def partition(four_classes):
    return four_classes[0].partition_


def test_objects_are_sorted_by_cluster_and_doubt_with_outliers_last(partition):
    display = MassDisplay.from_partition(partition)
    assert (np.diff(display.groups) >= 0).all()
    doubt = partition.doubt[display.objects]
    same = np.diff(display.groups) == 0
    assert (np.diff(doubt)[same] >= 0).all()
    outliers = display.groups == 4
    np.testing.assert_array_equal(partition.is_outlier[display.objects], outliers)
    inside = display.objects[~outliers]
    np.testing.assert_array_equal(partition.labels[inside], display.groups[~outliers])
    np.testing.assert_array_equal(display.masses, partition.masses[display.objects])


def test_other_orders(partition):
    by_doubt = MassDisplay.from_partition(partition, order="doubt")
    assert (np.diff(partition.doubt[by_doubt.objects]) >= 0).all()
    as_given = MassDisplay.from_partition(partition, order=None, objects=[5, 2, 9])
    assert as_given.objects.tolist() == [5, 2, 9]
    assert as_given.object_names == ["5", "2", "9"]


def test_objects_by_mask_and_with_names(partition):
    mask = np.zeros(400, dtype=bool)
    mask[[3, 7]] = True
    names = [f"row {i}" for i in range(400)]
    display = MassDisplay.from_partition(
        partition, objects=mask, order=None, object_names=names
    )
    assert display.object_names == ["row 3", "row 7"]


def bar_of(partition, i):
    """Lower and upper end of each focal set in the bar of one object."""
    display = MassDisplay.from_partition(partition, kind="bars", objects=[i]).plot()
    areas = display.ax_.collections[: len(partition.focal_sets)]
    extents = [area.get_paths()[0].get_extents() for area in areas]
    return np.array([(extent.y0, extent.y1) for extent in extents])


def test_stacked_masses_fill_zero_to_one_without_overlap(rng, plt):
    masses = rng.dirichlet(np.ones(8), size=5)
    partition = CredalPartition(masses, FocalSets.full(3))
    for i in range(5):
        bottoms, tops = bar_of(partition, i).T
        np.testing.assert_allclose(tops - bottoms, masses[i], atol=1e-9)
        order = np.argsort(bottoms)
        np.testing.assert_allclose(
            bottoms[order], [0, *tops[order[:-1]]], rtol=0, atol=1e-9
        )


def test_the_most_plausible_cluster_is_at_the_bottom_and_the_empty_set_on_top(plt):
    partition = CredalPartition([[0.1, 0.2, 0.3, 0.4]], FocalSets.full(2))
    bottoms = bar_of(partition, 0)[:, 0]
    np.testing.assert_allclose(bottoms, [0.9, 0.3, 0.0, 0.5], atol=1e-9)


@pytest.mark.parametrize("n_samples", [3, 400, 401, 1000, 20_000])
def test_many_objects_are_averaged_and_keep_their_mean(n_samples, rng, plt):
    masses = rng.dirichlet(np.ones(4), size=n_samples)
    partition = CredalPartition(masses, FocalSets.full(2))
    image = MassDisplay.from_partition(partition).plot().ax_.images[0]
    rows = np.asarray(image.get_array())
    assert len(rows) == min(n_samples, 400)
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    np.testing.assert_allclose(rows.mean(axis=0), masses.mean(axis=0), atol=5e-3)


def test_names_of_groups_stand_at_their_middles(plt):
    partition = CredalPartition.from_labels(np.repeat([0, 2, 3], [20, 10, 30]))
    ax = MassDisplay.from_partition(partition).plot().ax_
    assert ax.get_yticks().tolist() == [9.5, 24.5, 44.5]
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == ["cluster 0", "cluster 2", "cluster 3"]


def test_heat_map_names_sets_and_groups(partition, plt):
    display = MassDisplay.from_partition(partition).plot(title="Masses")
    ax = display.ax_
    names = [label.get_text() for label in ax.get_xticklabels()]
    assert names == list(partition.focal_sets.names)
    groups = [label.get_text() for label in ax.get_yticklabels()]
    assert groups == [*[f"cluster {k}" for k in range(4)], "outliers"]
    assert ax.get_title(loc="left") == "Masses"
    assert ax.get_ylabel() == "400 objects"
    np.testing.assert_array_equal(ax.images[0].get_array(), display.masses)
    assert ax.images[0].get_clim() == (0.0, 1.0)
    # The second axes are the colour bar.
    assert [other.get_ylabel() for other in display.figure_.axes[1:]] == ["mass"]


def test_no_colour_bar_without_legend(partition, plt):
    display = MassDisplay.from_partition(partition).plot(legend=False)
    assert display.figure_.axes == [display.ax_]


def test_bars_have_one_area_for_each_set(partition, plt, legend_texts):
    display = MassDisplay.from_partition(partition, kind="bars").plot()
    assert len(display.ax_.collections) == len(partition.focal_sets)
    assert legend_texts(display.ax_) == list(partition.focal_sets.names)
    assert display.ax_.get_ylim() == (0, 1)
    display.figure_.canvas.draw()


def test_few_objects_are_named(partition, plt):
    for kind, labels in (("bars", "get_xticklabels"), ("heatmap", "get_yticklabels")):
        display = MassDisplay.from_partition(
            partition, kind=kind, objects=[4, 2], order=None
        ).plot()
        shown = [label.get_text() for label in getattr(display.ax_, labels)()]
        assert shown == ["4", "2"]


def test_many_groups_have_short_names_and_many_sets_a_short_legend(
    rng, plt, legend_texts
):
    partition = CredalPartition.from_labels(np.arange(200) % 40)
    display = MassDisplay.from_partition(partition, kind="bars").plot()
    assert display.ax_.get_xlabel() == "200 objects, by cluster"
    assert display.ax_.get_xticklabels()[0].get_text() == "0"
    assert legend_texts(display.ax_)[-1] == "and 24 sets with less mass"
    masses = rng.dirichlet(np.ones(256), size=5)
    heat = MassDisplay.from_partition(CredalPartition(masses, FocalSets.full(8))).plot()
    assert heat.ax_.get_xlabel() == "focal set (one name in 6)"


@pytest.mark.parametrize("kind", ["heatmap", "bars"])
@pytest.mark.parametrize("order", ["cluster", "doubt", None])
@pytest.mark.parametrize("n_samples", [1, 50])
def test_every_combination_is_drawn_on_given_axes(kind, order, n_samples, plt):
    labels = np.full(n_samples, -1)
    partition = CredalPartition.from_labels(labels, 2)
    figure, ax = plt.subplots()
    display = MassDisplay.from_partition(partition, kind=kind, order=order, ax=ax)
    assert display.ax_ is ax
    assert display.plot(ax=ax).figure_ is figure
    figure.canvas.draw()
    assert len(plt.get_fignums()) == 1


def test_from_estimator_shows_its_partition(four_classes, partition):
    display = MassDisplay.from_estimator(four_classes[0], order=None)
    np.testing.assert_array_equal(display.masses, partition.masses)


def test_too_many_bars_are_refused():
    partition = CredalPartition.from_labels(np.zeros(501, dtype=int), 2)
    with pytest.raises(ValueError, match=r"at most 500 .* got 501: choose some"):
        MassDisplay.from_partition(partition, kind="bars")
    chosen = MassDisplay.from_partition(partition, kind="bars", objects=range(500))
    assert len(chosen.masses) == 500


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "pie"}, "kind must be one of 'heatmap', 'bars', got 'pie'"),
        ({"order": "size"}, "order must be one of 'cluster', 'doubt', got 'size'"),
        ({"objects": [0, 400]}, "between 0 and n_samples - 1 = 399, got 400"),
        ({"objects": [-1]}, "objects must lie between .* got -1"),
        ({"objects": []}, "objects must be a vector .* at least one"),
        ({"objects": [0.5]}, "objects must be a vector of numbers"),
        ({"objects": [True, False]}, "a mask of length 400"),
        ({"object_names": ["a"]}, r"each of the 400 objects, got \['a'\]"),
    ],
)
def test_wrong_input_is_named(partition, options, message):
    with pytest.raises(ValueError, match=message):
        MassDisplay.from_partition(partition, **options)


def test_names_of_columns_are_no_names_of_objects(partition):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": range(400), "b": range(400)})
    with pytest.raises(ValueError, match="object_names must hold one name for each"):
        MassDisplay.from_partition(partition, object_names=frame)


@pytest.mark.parametrize("ax", [0, "x", [1, 2], np.zeros(3)])
def test_axes_are_those_of_matplotlib(partition, ax):
    pytest.importorskip("matplotlib")
    with pytest.raises(ValueError, match="ax must be Axes of matplotlib, got"):
        MassDisplay.from_partition(partition, ax=ax)
