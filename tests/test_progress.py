import io
import pickle

from credalis._progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_terminal_shows_runs_and_best_loss_in_one_line():
    stream = Terminal()
    progress = Progress("ECM", n_runs=2, max_iter=10, enabled=True, stream=stream)
    progress.report(0, 5, 3.5)
    progress.finish(0)
    progress.report(1, 1, 2.5)
    progress.finish(1)
    progress.close()
    shown = stream.getvalue().split("\r")[-1]
    assert "runs 2/2" in shown
    assert "loss 2.5" in shown
    assert stream.getvalue().count("\n") == 1


def test_file_gets_the_last_state_only():
    stream = io.StringIO()
    progress = Progress("ECM", n_runs=1, max_iter=10, enabled=True, stream=stream)
    for iteration in range(1, 4):
        progress.report(0, iteration, 1.0)
    progress.finish(0)
    progress.close()
    assert stream.getvalue().count("\n") == 1
    assert "\r" not in stream.getvalue()


def test_disabled_progress_writes_nothing():
    stream = Terminal()
    progress = Progress("ECM", n_runs=1, max_iter=10, enabled=False, stream=stream)
    progress.report(0, 1, 1.0)
    progress.finish(0)
    progress.close()
    assert stream.getvalue() == ""


def test_progress_sent_to_another_process_is_silent():
    progress = Progress("ECM", n_runs=1, max_iter=10, enabled=True, stream=Terminal())
    copy = pickle.loads(pickle.dumps(progress))
    copy.report(0, 1, 1.0)
    copy.finish(0)
    assert progress._line._stream.getvalue() == ""
