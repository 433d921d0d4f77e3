import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from credalis.metrics import non_dominated
from credalis.plots import ConsistencyDisplay

NAMES = ["ECM", "EVCLUS", "NN-EVCLUS", "CCM"]
CI = [0.90, 0.85, 0.95, 0.85]
NS = [0.3, 0.1, 0.2, 0.4]


@pytest.fixture
def display():
    return ConsistencyDisplay.from_scores(NAMES, CI, NS)


# Few values, so that ties are frequent.
scores = st.lists(
    st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 1.0])] * 2), min_size=1, max_size=12
)


@given(scores)
def test_dominance_agrees_with_the_metrics(pairs):
    ci, ns = np.transpose(pairs)
    display = ConsistencyDisplay.from_scores([str(i) for i in range(len(ci))], ci, ns)
    np.testing.assert_array_equal(~display.is_dominated, non_dominated(pairs))
    # More consistency has its price in precision, all along the front.
    assert (np.diff(display.front, axis=0) > 0).all()


def test_axes_and_legend_say_what_is_better(display, plt, legend_texts):
    ax = display.plot(title="Methods").ax_
    assert ax.get_xlabel() == "nonspecificity NS (lower is better)"
    assert ax.get_ylabel() == "consistency CI (higher is better)"
    assert ax.get_title(loc="left") == "Methods"
    assert legend_texts(ax) == ["not dominated", "dominated"]


def test_the_step_line_passes_through_what_is_not_dominated(display, plt):
    line = display.plot().ax_.lines[0].get_xydata()
    corners = {tuple(corner) for corner in line}
    assert {(0.1, 0.85), (0.2, 0.95)} <= corners
    assert (np.diff(line, axis=0) == 0).any(axis=1).all()
    assert (np.diff(line, axis=0) >= 0).all()


def boxes(display):
    display.figure_.canvas.draw()
    return [text.get_window_extent() for text in display.ax_.texts if text.get_text()]


def test_every_name_is_written_and_none_overlaps_another(plt, rng):
    names = [f"method {i}" for i in range(12)]
    display = ConsistencyDisplay.from_scores(
        names, rng.uniform(0.8, 1, 12), rng.uniform(0, 0.2, 12)
    ).plot()
    written = {text.get_text() for text in display.ax_.texts}
    assert set(names) <= written
    extents = boxes(display)
    for i, first in enumerate(extents):
        assert not any(first.overlaps(second) for second in extents[:i])


@pytest.mark.parametrize("n_names", [1, 2, 40])
def test_equal_scores_are_drawn(n_names, plt):
    display = ConsistencyDisplay.from_scores(
        [str(i) for i in range(n_names)], np.full(n_names, 0.9), np.full(n_names, 0.1)
    )
    assert not display.is_dominated.any()
    display.plot().figure_.canvas.draw()


def test_given_axes_are_used(plt):
    figure, ax = plt.subplots()
    display = ConsistencyDisplay.from_scores(NAMES, CI, NS, ax=ax)
    assert display.ax_ is ax
    display.plot(ax=ax, legend=False)
    assert display.figure_ is figure
    assert len(plt.get_fignums()) == 1


def test_axes_of_a_subfigure_are_used(display, plt):
    figure = plt.figure(layout="constrained")
    left, _ = figure.subfigures(1, 2)
    display.plot(ax=left.subplots())
    figure.canvas.draw()


@pytest.mark.parametrize(
    ("names", "ci", "ns", "message"),
    [
        ([], [], [], "names must hold at least one name"),
        ("ab", [0.1, 0.2], [0.1, 0.2], "names must hold at least one name, got 'ab'"),
        (["a"], [0.1, 0.2], [0.1], r"ci must hold .* 1 names, got shape \(2,\)"),
        (["a"], [0.1], 0.1, r"ns must hold .* got shape \(\)"),
        (["a"], [1.5], [0.1], r"ci must lie in \[0, 1\], got 1.5"),
        (["a"], [0.5], [-0.1], r"ns must lie in \[0, 1\], got -0.1"),
        (["a"], [np.nan], [0.1], r"ci must lie in \[0, 1\], got nan"),
    ],
)
def test_wrong_input_is_named(names, ci, ns, message):
    with pytest.raises(ValueError, match=message):
        ConsistencyDisplay.from_scores(names, ci, ns)
