import numpy as np
import pytest

from credalis import CredalPartition, FocalSets
from credalis.plots import CredalPartitionDisplay


@pytest.fixture
def display(four_classes):
    return CredalPartitionDisplay.from_estimator(*four_classes)


def rows(points):
    return {tuple(point) for point in points}


def test_arrays_are_those_of_the_partition(display, four_classes):
    estimator, X = four_classes
    partition = estimator.partition_
    np.testing.assert_array_equal(display.points, X)
    np.testing.assert_array_equal(display.labels, partition.labels)
    np.testing.assert_array_equal(display.sets, partition.verdict_sets)
    np.testing.assert_array_equal(display.is_outlier, partition.is_outlier)
    np.testing.assert_array_equal(display.is_ambiguous, partition.is_ambiguous)
    np.testing.assert_array_equal(display.centers, estimator.centers_)
    kinds = display.is_certain, display.is_ambiguous, display.is_outlier
    np.testing.assert_array_equal(np.sum(kinds, axis=0), 1)


def test_corners_of_hulls_are_members(display, four_classes):
    estimator, X = four_classes
    partition = estimator.partition_
    for k in range(4):
        possible = partition.verdict_sets[:, k]
        assert rows(display.lower_hulls[k]) <= rows(X[possible & partition.is_clear])
        assert rows(display.upper_hulls[k]) <= rows(X[possible])


def test_nothing_is_drawn_before_plot(display, plt):
    assert not plt.get_fignums()
    assert not hasattr(display, "ax_")


def test_interval_dominance_leaves_more_doubt(four_classes):
    estimator, X = four_classes
    display = CredalPartitionDisplay.from_estimator(
        estimator, X, rule="interval_dominance"
    )
    expected = estimator.partition_.upper_approximation("interval_dominance")
    np.testing.assert_array_equal(display.sets, expected)


def test_the_published_rule_shows_lower_and_upper_approximations(
    four_classes, plt, legend_texts
):
    estimator, X = four_classes
    partition = estimator.partition_
    display = CredalPartitionDisplay.from_estimator(estimator, X, rule="maximum_mass")
    np.testing.assert_array_equal(display.sets, partition.upper)
    np.testing.assert_array_equal(display.is_outlier, ~partition.upper.any(axis=1))
    np.testing.assert_array_equal(display.is_certain, partition.lower.any(axis=1))
    assert "certainly in (lower approximation)" in legend_texts(display.plot().ax_)


def test_another_level_leaves_fewer_objects_clear(four_classes):
    estimator, X = four_classes
    display = CredalPartitionDisplay.from_estimator(estimator, X, clear_level=0.95)
    expected = estimator.partition_.verdicts(0.95).is_clear
    np.testing.assert_array_equal(display.is_certain, expected)
    assert expected.sum() < estimator.partition_.is_clear.sum()


def test_legend_lists_clusters_and_explains_marks(display, plt, legend_texts):
    assert display.plot() is display
    assert legend_texts(display.ax_) == [
        *[f"cluster {k}" for k in range(4)],
        "clearly in",
        "clearly in or between",
        "between two clusters",
        "between three or more",
        "outlier",
        "prototype",
    ]
    assert display.figure_ is display.ax_.figure
    display.figure_.canvas.draw()


def test_every_object_is_drawn(display, plt):
    collections = display.plot(hulls=False).ax_.collections
    # 4 clusters; two halves and an outline; hollow ones; dots and rings; prototypes.
    assert len(collections) == 4 + 3 + 1 + 2 + 1
    drawn = [len(collection.get_offsets()) for collection in collections]
    n_two = (display.sets.sum(axis=1) == 2).sum()
    n_more, n_outliers = display.is_ambiguous.sum() - n_two, display.is_outlier.sum()
    assert sum(drawn[:4]) == display.is_certain.sum()
    assert drawn[4:] == [*[n_two] * 3, n_more, *[n_outliers] * 2, 4]


def test_halves_have_the_colours_of_the_two_clusters(plt):
    lower = [[1, 0, 0], [0, 0, 1], [0, 0, 0]]
    upper = [[1, 0, 0], [0, 0, 1], [1, 0, 1]]
    partition = CredalPartition.from_rough(lower, upper)
    ax = CredalPartitionDisplay.from_partition(partition, np.eye(3)[:, :2]).plot().ax_
    first, third, left, right, _ = (
        each.get_facecolor()[:1, :3] for each in ax.collections
    )
    assert not np.allclose(first, third)
    np.testing.assert_array_equal(left, first)
    np.testing.assert_array_equal(right, third)


def test_hulls_are_drawn_on_demand(display, plt):
    with_hulls = display.plot().ax_
    assert len(with_hulls.patches) == 4
    assert len(with_hulls.lines) == 4
    without = display.plot(hulls=False).ax_
    assert len(without.patches) == len(without.lines) == 0


def test_redrawing_on_given_axes(display, plt):
    _, axes = plt.subplots(1, 2)
    display.plot(ax=axes[0], title="first", legend=False)
    assert display.ax_ is axes[0]
    assert axes[0].get_title(loc="left") == "first"
    assert axes[0].get_legend() is None
    display.plot(ax=axes[1])
    assert display.ax_ is axes[1]
    assert len(plt.get_fignums()) == 1


def test_axes_given_to_the_class_method_are_drawn_on(four_classes, plt):
    _, ax = plt.subplots()
    display = CredalPartitionDisplay.from_estimator(*four_classes, ax=ax)
    assert display.ax_ is ax
    other = CredalPartitionDisplay.from_partition(
        four_classes[0].partition_, four_classes[1], ax=ax
    )
    assert other.ax_ is ax


def test_a_legend_takes_room_from_axes_without_layout_only_once(display, plt):
    _, ax = plt.subplots()
    whole = ax.get_position().width
    display.plot(ax=ax)
    first = ax.get_position().width
    ax.clear()
    display.plot(ax=ax)
    assert whole > first == pytest.approx(ax.get_position().width)


def test_global_settings_stay(display, plt):
    import matplotlib

    before = matplotlib.rcParams.copy()
    display.plot()
    assert before == matplotlib.rcParams


def test_principal_components_are_named(rng, plt):
    X = rng.normal(size=(30, 13))
    partition = CredalPartition.from_labels(np.arange(30) % 3)
    ax = CredalPartitionDisplay.from_partition(partition, X, centers=X[:2]).plot().ax_
    assert ax.get_xlabel().startswith("principal component 1 (")
    assert ax.get_ylabel().endswith(" % of variance)")


def test_columns_of_a_frame_name_the_axes(rng, plt):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    X = rng.normal(size=(10, 2))
    partition = CredalPartition.from_labels(np.arange(10) % 2)
    for frame in (
        pandas.DataFrame(X, columns=["size", "mass"]),
        polars.DataFrame(X, schema=["size", "mass"]),
    ):
        ax = CredalPartitionDisplay.from_partition(partition, frame).plot().ax_
        assert (ax.get_xlabel(), ax.get_ylabel()) == ("size", "mass")


def test_one_feature_is_a_strip_of_doubt_over_intervals(rng, prototypes, plt):
    X = np.concatenate([rng.normal(0, 1, 40), rng.normal(4, 1, 40)])[:, None]
    estimator = prototypes([[0], [4]], FocalSets.full(2)).fit(X)
    display = CredalPartitionDisplay.from_estimator(estimator, X).plot()
    np.testing.assert_array_equal(display.points[:, 1], estimator.partition_.doubt)
    assert display.ax_.get_ylabel() == "doubt"
    for k, (lower, upper) in enumerate(
        zip(display.lower_hulls, display.upper_hulls, strict=True)
    ):
        clear = estimator.partition_.lower_approximation("verdict")
        members = X[clear[:, k], 0]
        assert lower[:, 0].tolist() == [members.min(), members.max()]
        assert upper[0, 0] <= lower[0, 0]
        assert (lower[:, 1] < 0).all()


def test_many_clusters_are_numbered_in_the_picture(rng, plt, legend_texts):
    labels = np.arange(400) % 40
    X = labels[:, None] // [1, 6] + 0.1 * rng.normal(size=(400, 2))
    partition = CredalPartition.from_labels(labels)
    ax = CredalPartitionDisplay.from_partition(partition, X).plot().ax_
    assert [text.get_text() for text in ax.texts] == [str(k) for k in range(40)]
    assert legend_texts(ax) == [
        "clearly in",
        "clearly in or between",
    ]


def test_many_objects_are_small_and_rasterized(rng, plt):
    sizes = []
    for n_samples in (400, 3000, 10_000):
        X = rng.normal(size=(n_samples, 2))
        partition = CredalPartition.from_labels(np.arange(n_samples) % 2)
        ax = CredalPartitionDisplay.from_partition(partition, X).plot().ax_
        assert all(
            collection.get_rasterized() == (n_samples > 2000)
            for collection in ax.collections
        )
        sizes.append(ax.collections[0].get_sizes()[0])
    assert sizes[0] > sizes[1] > sizes[2] > 0


def test_an_empty_cluster_has_no_hull_and_is_named_so(rng, plt, legend_texts):
    partition = CredalPartition.from_labels(np.zeros(10, dtype=int), 2)
    display = CredalPartitionDisplay.from_partition(partition, rng.normal(size=(10, 2)))
    assert display.lower_hulls[1].shape == (0, 2)
    assert legend_texts(display.plot().ax_)[:2] == ["cluster 0", "cluster 1 (empty)"]


def test_outliers_only(rng, plt, legend_texts):
    partition = CredalPartition.from_labels(np.full(10, -1), 2)
    display = CredalPartitionDisplay.from_partition(partition, rng.normal(size=(10, 2)))
    assert legend_texts(display.plot().ax_)[2:] == ["outlier"]


def test_sets_of_three_are_explained(plt, legend_texts):
    partition = CredalPartition.from_rough([[0, 0, 0]], [[1, 1, 1]])
    display = CredalPartitionDisplay.from_partition(partition, [[0, 0]])
    assert legend_texts(display.plot().ax_)[3:] == ["between three or more"]


@pytest.mark.parametrize(
    "X",
    [
        np.arange(12.0).reshape(6, 2),
        np.ones((6, 2)),
        np.ones((6, 4)),
        np.ones((6, 1)),
        np.eye(6, 2),
    ],
    ids=["collinear", "equal", "equal in 4-D", "equal in 1-D", "two points"],
)
def test_degenerate_data_are_drawn(X, plt):
    partition = CredalPartition.from_labels([0, 0, 0, 1, 1, -1])
    CredalPartitionDisplay.from_partition(partition, X).plot().figure_.canvas.draw()


def test_centers_in_another_space_are_left_out(four_classes, rng):
    estimator, _ = four_classes
    display = CredalPartitionDisplay.from_estimator(
        estimator, rng.normal(size=(400, 3))
    )
    assert display.centers is None


def test_wrong_number_of_rows(four_classes):
    estimator, X = four_classes
    with pytest.raises(ValueError, match=r"each of the 400 objects .* got 10 rows"):
        CredalPartitionDisplay.from_partition(estimator.partition_, X[:10])
    with pytest.raises(ValueError, match=r"each of the 400 objects .* got 10 rows"):
        CredalPartitionDisplay.from_estimator(estimator, X[:10])


def test_missing_values_are_refused(four_classes):
    estimator, X = four_classes
    with pytest.raises(ValueError, match="X contains NaN"):
        CredalPartitionDisplay.from_estimator(estimator, np.full_like(X, np.nan))


def test_wrong_centers_rule_and_names(four_classes):
    partition, X = four_classes[0].partition_, four_classes[1]
    make = CredalPartitionDisplay.from_partition
    with pytest.raises(ValueError, match=r"centers must have shape .* got \(2, 3\)"):
        make(partition, X, centers=np.ones((2, 3)))
    with pytest.raises(ValueError, match=r"rule must be one of .* got 'best'"):
        make(partition, X, rule="best")
    with pytest.raises(ValueError, match="feature_names must hold"):
        make(partition, X, feature_names=["x"])


def test_an_estimator_must_be_fitted(prototypes):
    unfitted = prototypes([[0, 0], [1, 1]], FocalSets.full(2))
    with pytest.raises(ValueError, match=r"have partition_, got NearestPrototypes"):
        CredalPartitionDisplay.from_estimator(unfitted, np.ones((3, 2)))
