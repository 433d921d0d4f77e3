from types import SimpleNamespace

import numpy as np
import pytest

from credalis.plots import SelectionDisplay


@pytest.fixture
def selection():
    vote = SimpleNamespace
    return SimpleNamespace(
        parameter="n_clusters",
        values=np.array([2, 3, 4, 5]),
        best=3,
        reason="3 clusters by stability and stress; undecided: nonspecificity.",
        curves={
            "stability": np.array([0.8, 0.95, 0.7, 0.6]),
            "peaks": np.array([0.1, np.inf, 0.3, np.nan]),
            "stress": np.array([0.1, 0.01, 0.008, 0.007]),
            "nonspecificity": np.array([0.4, 0.3, 0.2, 0.1]),
        },
        errors={"stability": np.array([0.01, 0.02, 0.03, 0.04])},
        votes={
            "stability": vote(value=3, reason="partitions come back"),
            "peaks": vote(value=3, reason="3 objects stand out"),
            "stress": vote(value=3, reason="the stress falls more slowly beyond"),
            "nonspecificity": vote(value=None, reason="N* still falls, for $x^"),
        },
    )


def test_a_panel_for_each_criterion(selection, plt):
    display = SelectionDisplay.from_selection(selection).plot()
    assert display.n_panels == len(display.axes_) == 4
    titles = [ax.get_title(loc="left") for ax in display.axes_]
    assert titles == [
        "stability: 3",
        "peaks: 3",
        "stress: 3",
        "nonspecificity: undecided",
    ]
    assert [ax.get_yscale() for ax in display.axes_] == ["linear"] * 2 + [
        "log",
        "linear",
    ]
    small = " ".join(display.axes_[3].texts[0].get_text().split())
    assert small == "N* still falls, for $x^"
    assert display.figure_.get_suptitle().replace("\n", " ") == selection.reason
    assert display.axes_[0].get_xlabel() == "number of clusters"
    display.figure_.canvas.draw()


def test_curves_are_drawn_where_they_are_finite_and_the_choice_is_marked(
    selection, plt
):
    axes = SelectionDisplay.from_selection(selection).plot().axes_
    curve, mark = axes[0].lines
    np.testing.assert_array_equal(curve.get_xdata(), selection.values)
    np.testing.assert_array_equal(curve.get_ydata(), selection.curves["stability"])
    assert (*mark.get_xdata(), *mark.get_ydata()) == (3, 0.95)
    assert axes[1].lines[0].get_xdata().tolist() == [2, 4]
    assert len(axes[1].lines) == 1  # an infinite drop has no place for a mark
    assert len(axes[3].lines) == 1


def test_quantiles_have_panels_without_a_vote(plt):
    display = SelectionDisplay(
        parameter="dissimilarity_quantile",
        values=[0.1, 0.5, 0.9],
        curves={"stability": [0.3, 0.9, 0.8], "nonspecificity": [0.8, 0.3, 0.2]},
        errors={},
        preferred={"stability": None},
        reasons={"stability": "nothing comes back"},
        best=None,
        reason="No quantile.",
    ).plot(title="Which δ0?")
    assert [ax.get_title(loc="left") for ax in display.axes_] == [
        "stability: undecided",
        "nonspecificity",
    ]
    assert display.figure_.get_suptitle() == "Which δ0?"
    assert display.axes_[0].get_xlabel() == "quantile of the dissimilarities"
    assert repr(display) == (
        "SelectionDisplay(dissimilarity_quantile: undecided by stability, "
        "nonspecificity)"
    )


def test_given_axes_are_used(selection, plt):
    figure, axes = plt.subplots(2, 2)
    display = SelectionDisplay.from_selection(selection, ax=axes)
    assert display.figure_ is figure
    assert list(display.axes_) == list(axes.ravel())
    assert figure.get_suptitle() == ""
    with pytest.raises(ValueError, match="ax must hold 4 axes, one for each criterion"):
        display.plot(ax=axes[0])


def test_the_curves_of_the_selection_are_not_shared(selection):
    display = SelectionDisplay.from_selection(selection)
    display.curves["stress"][0] = 7
    assert selection.curves["stress"][0] == 0.1


def test_what_is_no_selection_is_refused(selection):
    with pytest.raises(ValueError, match="selection must be a Selection with"):
        SelectionDisplay.from_selection({})
    selection.curves["stress"] = np.ones(3)
    with pytest.raises(ValueError, match=r"curves must hold one number .*\(3,\)"):
        SelectionDisplay.from_selection(selection)
    selection.curves = {}
    with pytest.raises(ValueError, match="curves must hold at least one criterion"):
        SelectionDisplay.from_selection(selection)
