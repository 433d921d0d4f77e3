from types import SimpleNamespace

import numpy as np
import pytest

from credalis.plots import HistoryDisplay


def test_history_against_iteration(four_classes, plt):
    display = HistoryDisplay.from_estimator(four_classes[0])
    assert display.history.tolist() == [3.0, 2.0, 1.5, 1.4]
    ax = display.plot(title="Objective").ax_
    line = ax.lines[0]
    np.testing.assert_array_equal(line.get_xdata(), [1, 2, 3, 4])
    np.testing.assert_array_equal(line.get_ydata(), display.history)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("iteration", "objective")
    assert ax.get_title(loc="left") == "Objective"
    assert ax.get_yscale() == "linear"
    assert [text.get_text() for text in ax.texts] == ["1.4"]


@pytest.mark.parametrize(
    ("history", "is_log"),
    [([100.0, 1.0], True), ([40.0, 1.0], False), ([100.0, 0.0], False), ([2.0], False)],
)
def test_a_large_range_has_a_logarithmic_scale(history, is_log, plt):
    display = HistoryDisplay(history=history)
    assert display.is_log is is_log
    display.plot()
    assert (display.ax_.get_yscale() == "log") is is_log
    display.figure_.canvas.draw()


def test_given_axes_are_used(plt):
    figure, ax = plt.subplots()
    display = HistoryDisplay.from_estimator(SimpleNamespace(history_=(2, 1)), ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure


def test_the_history_of_the_estimator_is_not_shared():
    history = np.array([2.0, 1.0])
    display = HistoryDisplay.from_estimator(SimpleNamespace(history_=history))
    display.history[0] = 0.0
    assert history[0] == 2.0


@pytest.mark.parametrize(
    "history", [[], [np.nan], [[1.0, 2.0]], ["a"], 3.0, [1.0, np.inf]]
)
def test_wrong_histories_are_refused(history):
    with pytest.raises(ValueError, match="history must be a sequence of"):
        HistoryDisplay(history=history)


def test_an_estimator_must_have_a_history():
    with pytest.raises(ValueError, match="have history_, got object without it"):
        HistoryDisplay.from_estimator(object())
