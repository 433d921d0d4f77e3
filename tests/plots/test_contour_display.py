import warnings

import numpy as np
import pytest

from credalis import CredalPartition, FocalSets
from credalis.plots import ContourDisplay


def make(four_classes, **options):
    options = {"grid_resolution": 15, **options}
    return ContourDisplay.from_estimator(*four_classes, **options)


def grid_of(display):
    x, y = np.meshgrid(display.x, display.y)
    return np.column_stack([x.ravel(), y.ravel()])


@pytest.mark.parametrize("response", ["plausibility", "belief", "pignistic"])
def test_values_are_predictions_on_the_grid(four_classes, response):
    display = make(four_classes, response=response)
    partition = four_classes[0].predict_partition(grid_of(display))
    expected = getattr(partition, response).T.reshape(4, 15, 15)
    np.testing.assert_allclose(display.values, expected, atol=1e-12)
    assert display.panel_names == [f"cluster {k}" for k in range(4)]


@pytest.mark.parametrize("response", ["doubt", "nonspecificity"])
def test_single_numbers_have_one_panel(four_classes, response):
    display = make(four_classes, response=response)
    partition = four_classes[0].predict_partition(grid_of(display))
    expected = getattr(partition, response).reshape(1, 15, 15)
    np.testing.assert_allclose(display.values, expected, atol=1e-12)


def test_masses_of_all_or_of_chosen_sets(four_classes):
    whole = make(four_classes, response="mass")
    assert whole.panel_names[0] == "m(∅)"
    assert len(whole.panel_names) == 12
    np.testing.assert_allclose(whole.values.sum(axis=0), 1.0)
    sets = four_classes[0].focal_sets
    for chosen in ((1, 0), "{0,1}", "{0, 1}", [0, 1]):
        display = make(four_classes, response="mass", focal_set=chosen)
        assert display.panel_names == ["m({0,1})"]
        np.testing.assert_array_equal(
            display.values[0], whole.values[sets.index((0, 1))]
        )
    several = make(four_classes, response="mass", focal_set=[(), "Ω", (2,)])
    assert several.panel_names == ["m(∅)", "m(Ω)", "m({2})"]


def test_chosen_clusters(four_classes):
    whole = make(four_classes)
    display = make(four_classes, cluster=iter([2, 0]))
    assert display.panel_names == ["cluster 2", "cluster 0"]
    np.testing.assert_array_equal(display.values, whole.values[[2, 0]])
    assert make(four_classes, cluster=3).n_panels == 1


def test_a_fine_grid_is_predicted_in_blocks(four_classes):
    display = make(four_classes, grid_resolution=150, cluster=iter([1]))
    partition = four_classes[0].predict_partition(grid_of(display))
    np.testing.assert_allclose(
        display.values[0].ravel(), partition.plausibility[:, 1], atol=1e-12
    )


def test_the_grid_covers_the_objects(four_classes):
    display = make(four_classes)
    for grid, column in zip((display.x, display.y), display.points.T, strict=True):
        assert grid[0] < column.min()
        assert grid[-1] > column.max()


def test_panels_share_levels_names_and_one_colour_bar(four_classes, plt):
    display = make(four_classes).plot(title="Plausibility")
    assert [ax.get_title(loc="left") for ax in display.axes_] == display.panel_names
    assert display.figure_.get_suptitle() == "Plausibility"
    assert len(display.figure_.axes) == 4 + 1
    assert display.figure_.axes[-1].get_ylabel() == "plausibility"
    for ax in display.axes_:
        filled = ax.collections[0]
        np.testing.assert_allclose(filled.levels, np.linspace(0, 1, 11))
    assert [ax.get_xlabel() for ax in display.axes_] == ["", "", *["feature 0"] * 2]
    assert [ax.get_ylabel() for ax in display.axes_] == ["feature 1", ""] * 2
    display.figure_.canvas.draw()


def test_no_colour_bar_without_legend(four_classes, plt):
    display = make(four_classes, cluster=0).plot(legend=False)
    assert display.figure_.axes == list(display.axes_)


def test_given_axes_are_used(four_classes, plt):
    figure, axes = plt.subplots(2, 2)
    display = make(four_classes, ax=axes)
    assert list(display.axes_) == list(axes.ravel())
    assert display.figure_ is figure
    single = make(four_classes, response="doubt").plot(ax=axes[0, 0])
    assert list(single.axes_) == [axes[0, 0]]
    assert len(plt.get_fignums()) == 1
    with pytest.raises(ValueError, match=r"ax must hold 4 axes, .* got 1"):
        make(four_classes).plot(ax=axes[0, 0])


class Constant:
    """The same hard answer everywhere."""

    def predict_partition(self, X):
        return CredalPartition.from_labels(np.zeros(len(X), dtype=int), 2)


def test_constant_values_are_drawn_without_warning(plt):
    display = ContourDisplay.from_estimator(
        Constant(), np.ones((3, 2)), grid_resolution=5
    )
    display.plot().figure_.canvas.draw()


def test_rounding_leaves_no_holes():
    class Rounded:
        def predict_partition(self, X):
            masses = np.full((len(X), 2), 0.5 + 2e-8)
            return CredalPartition(masses, FocalSets.from_subsets(2, [(0,), (0, 1)]))

    display = ContourDisplay.from_estimator(Rounded(), np.eye(2), grid_resolution=5)
    assert display.values.max() == 1.0


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_estimators_see_the_frame_they_were_fitted_to(library):
    frames = pytest.importorskip(library)
    X = frames.DataFrame({"size": [0.0, 1.0], "mass": [2.0, 3.0]})

    class Picky(Constant):
        def predict_partition(self, rows):
            if not isinstance(rows, frames.DataFrame):
                warnings.warn("X does not have valid feature names", stacklevel=2)
            assert list(rows.columns) == ["size", "mass"]
            return super().predict_partition(rows)

    display = ContourDisplay.from_estimator(Picky(), X, grid_resolution=5)
    assert display.axis_labels == ("size", "mass")


@pytest.mark.parametrize("n_panels", [1, 3, 5, 7, 13])
def test_panels_fit_their_grid(n_panels, plt):
    display = ContourDisplay(
        x=np.arange(2.0),
        y=np.arange(2.0),
        values=np.zeros((n_panels, 2, 2)),
        panel_names=[f"cluster {k}" for k in range(n_panels)],
        points=np.zeros((1, 2)),
        axis_labels=("a", "b"),
        response="plausibility",
    )
    grid = display.plot(legend=False).axes_[0].get_subplotspec().get_gridspec()
    n_rows, n_columns = grid.nrows, grid.ncols
    assert n_rows <= n_columns <= 6
    assert n_rows * n_columns - n_panels < n_columns


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"response": "loss"}, "response must be one of .* got 'loss'"),
        ({"grid_resolution": 1}, "grid_resolution must be an integer >= 2, got 1"),
        ({"cluster": 4}, "cluster must be an integer >= 0 and <= 3, got 4"),
        ({"cluster": 0.5}, "cluster must be an integer .* got 0.5"),
        ({"cluster": []}, "cluster must name at least one"),
        ({"cluster": 0, "response": "mass"}, "cluster must be None for response="),
        ({"focal_set": (0,)}, "focal_set must be None unless response='mass'"),
        (
            {"response": "mass", "focal_set": (0, 1, 2)},
            r"focal_set must be among ∅, .*, Ω, got \(0, 1, 2\)",
        ),
        ({"response": "mass", "focal_set": "{7}"}, r"focal_set .* got '\{7\}'"),
        ({"response": "mass", "focal_set": 7}, "focal_set .* got 7"),
        ({"feature_names": ["x"]}, "feature_names must hold .* 2 features"),
    ],
)
def test_wrong_input_is_named(four_classes, options, message):
    with pytest.raises(ValueError, match=message):
        make(four_classes, **options)


def test_only_the_plane_has_contours(prototypes):
    X = np.ones((5, 3))
    estimator = prototypes(np.eye(3), FocalSets.singletons(3)).fit(X)
    with pytest.raises(ValueError, match=r"X must have 2 features .* got 3"):
        ContourDisplay.from_estimator(estimator, X)


def test_too_many_panels_are_refused(prototypes, rng):
    X = rng.normal(size=(50, 2))
    estimator = prototypes(X[:40], FocalSets.singletons(40)).fit(X)
    with pytest.raises(ValueError, match=r"cluster must choose at most 24 .* got 40"):
        ContourDisplay.from_estimator(estimator, X, grid_resolution=5)
    with pytest.raises(ValueError, match=r"focal_set must choose at most 24 .* got 42"):
        ContourDisplay.from_estimator(estimator, X, response="mass", grid_resolution=5)


def test_an_estimator_must_predict():
    with pytest.raises(ValueError, match="have predict_partition, got object"):
        ContourDisplay.from_estimator(object(), np.eye(2))
