"""Fits that are interrupted, cancelled and listened to, wherever they run."""

import _thread
import contextlib
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import joblib
import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import credalis
from credalis import (
    ECM,
    EVCLUS,
    NNEVCLUS,
    Bootclus,
    Consensus,
    FitControl,
    FitEvent,
    compare,
)
from credalis._control import Stop, fitting, poll, stoppable
from credalis._wire import FarEnd, Place, Wire
from credalis.cluster import estimator_classes
from credalis.exceptions import FitCancelledError
from credalis.metric_learning import PCCA
from credalis.model_selection import (
    search,
    select_n_clusters,
    suggest_n_clusters,
)
from credalis.sources import ArraySource
from helpers import assert_idle_soon, assert_valid_partition

pytestmark = [
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning"),
    pytest.mark.filterwarnings("ignore::credalis.exceptions.ExperimentalWarning"),
]

# These would take hours.
ENDLESS = {"tol": 0, "max_iter": 10**7, "random_state": 0}


@pytest.fixture(scope="module")
def X():
    return make_blobs(60, centers=3, random_state=1)[0]


@pytest.fixture(scope="module")
def noise():
    """Rows on which no method settles soon."""
    return np.random.default_rng(0).random((20000, 8))


@pytest.fixture
def ctrl_c():
    """A function that presses Ctrl-C, from any thread."""
    noted = threading.Event()

    def interrupt(number, frame):
        noted.set()
        raise KeyboardInterrupt

    def press():
        _thread.interrupt_main()
        assert noted.wait(30)

    before = signal.signal(signal.SIGINT, interrupt)
    yield press
    assert signal.signal(signal.SIGINT, before) is interrupt


def at(n_events, action, stage=""):
    """A callback that acts at the n-th event of a stage."""
    seen = []

    def callback(event):
        if event.stage == stage and not event.is_over:
            seen.append(event)
            if len(seen) == n_events:
                action()

    return callback


def once(action):
    """In a thread of its own, as a page with a button would do it."""

    def act():
        thread = threading.Thread(target=action)
        thread.start()
        thread.join()

    return act


def with_starts(cls, **parameters):
    """An estimator with a seed and, if it has any, some starts."""
    estimator = cls(random_state=0)
    known = estimator.get_params()
    wanted = {"n_clusters": 3, "n_init": 3, "n_bootstrap": 5, **parameters}
    return estimator.set_params(**{k: v for k, v in wanted.items() if k in known})


class TestEveryEstimator:
    @pytest.mark.parametrize("n_jobs", [1, 2])
    @pytest.mark.parametrize("cls", estimator_classes())
    def test_cancelled_after_an_iteration_it_keeps_the_best(self, cls, n_jobs, X):
        control = FitControl(at(1, lambda: once(control.cancel)()))
        with (
            control,
            pytest.warns(ConvergenceWarning, match=f"{cls.__name__} was cancelled"),
        ):
            model = with_starts(cls, n_jobs=n_jobs).fit(X)
        assert control.cancelled
        assert_valid_partition(model.partition_, len(X))

    @pytest.mark.parametrize("n_jobs", [1, 2])
    @pytest.mark.parametrize("cls", estimator_classes())
    def test_interrupted_after_an_iteration_it_keeps_the_best(
        self, cls, n_jobs, X, ctrl_c
    ):
        with (
            FitControl(at(1, ctrl_c)) as control,
            pytest.warns(ConvergenceWarning, match=f"{cls.__name__} was interrupted"),
        ):
            model = with_starts(cls, n_jobs=n_jobs).fit(X)
        assert not control.cancelled
        assert_valid_partition(model.partition_, len(X))

    @pytest.mark.parametrize("cls", estimator_classes())
    def test_cancelled_before_it_has_anything_it_raises(self, cls, X):
        control = FitControl()
        control.cancel()
        model = with_starts(cls)
        with control, pytest.raises(FitCancelledError, match=cls.__name__):
            model.fit(X)
        assert not hasattr(model, "focal_sets_")
        model.fit(X)  # no longer under control

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    @pytest.mark.parametrize("cls", estimator_classes())
    def test_cancelled_anywhere_it_ends_there(self, cls, X, monkeypatch):
        n_looks, last, control = 0, None, FitControl()
        has_come = Stop.has_come.fget

        def look(stop):
            nonlocal n_looks
            n_looks += 1
            if n_looks == last:
                control.cancel()
            return has_come(stop)

        monkeypatch.setattr(Stop, "has_come", property(look))
        model = with_starts(cls, n_init=2)
        with control:
            model.fit(X)
        n_all, n_kept = n_looks, 0
        for last in np.linspace(1, n_all - 1, 5).astype(int):
            n_looks, control = 0, FitControl()
            with control, contextlib.suppress(FitCancelledError):
                assert_valid_partition(model.fit(X).partition_)
                n_kept += 1
            # Calls of one batch that have not begun look once each.
            assert n_looks <= last + 25 < n_all + 25
        assert n_kept > 0

    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    @pytest.mark.parametrize("cls", estimator_classes())
    def test_listening_changes_no_bit(self, cls, X):
        events = []
        alone = with_starts(cls, max_iter=20).fit(X)
        with FitControl(events.append):
            heard = with_starts(cls, max_iter=20, n_jobs=2).fit(X)
        assert heard.partition_ == alone.partition_
        assert {event.method for event in events} == {cls.__name__}
        assert events[-1].share == 1.0
        assert heard.loss_ <= min(e.loss for e in events if not e.stage) * (1 + 1e-9)


class TestStarts:
    def test_a_start_that_has_ended_is_kept(self, X):
        whole = ECM(3, n_init=1, random_state=0).fit(X)

        with (
            FitControl(lambda event: event.is_over and control.cancel()) as control,
            pytest.warns(ConvergenceWarning, match="cancelled"),
        ):
            model = ECM(3, n_init=5, random_state=0).fit(X)
        assert model.n_iter_ == whole.n_iter_

    def test_the_first_of_two_steps_is_kept(self, X):
        with (
            FitControl(lambda event: event.is_over and control.cancel()) as control,
            pytest.warns(ConvergenceWarning, match="cancelled"),
        ):
            model = ECM(3, focal_sets="two-step", n_init=1, random_state=0).fit(X)
        assert model.focal_sets_ == credalis.FocalSets.singletons(3)
        assert_valid_partition(model.partition_)

    @pytest.mark.parametrize("n_jobs", [1, 2])
    def test_an_interrupt_before_anything_is_raised(self, X, n_jobs, ctrl_c):
        def in_the_first_step(self, *arguments, **keywords):
            ctrl_c()
            poll()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ECM, "_solve", in_the_first_step)
            with pytest.raises(KeyboardInterrupt):
                ECM(3, n_init=4, n_jobs=n_jobs).fit(X)


class TestNothingRunsOn:
    @pytest.mark.parametrize(
        "model",
        [ECM(5), NNEVCLUS(4), EVCLUS(4)],
        ids=lambda model: type(model).__name__,
    )
    def test_threads(self, noise, model):
        rows = noise if isinstance(model, ECM) else noise[:1000]
        model.set_params(n_init=4, n_jobs=2, **ENDLESS)
        with (
            FitControl(at(6, lambda: once(control.cancel)())) as control,
            pytest.warns(ConvergenceWarning, match="cancelled"),
        ):
            model.fit(rows)
        assert_idle_soon()

    @pytest.mark.parametrize("how", ["cancel", "Ctrl-C"])
    def test_processes(self, noise, how, ctrl_c):
        act = ctrl_c if how == "Ctrl-C" else lambda: control.cancel()
        last = {}

        def listen(event):
            is_later = event.iteration > last.get(event.run, event.iteration)
            last[event.run] = event.iteration
            if is_later and len(last) > 1 and not acted:
                acted.append(act())

        acted, control = [], FitControl(listen)
        word = "interrupted" if how == "Ctrl-C" else "cancelled"
        with (
            joblib.parallel_config(backend="loky"),
            control,
            pytest.warns(ConvergenceWarning, match=word),
        ):
            model = ECM(5, n_init=20, n_jobs=2, **ENDLESS).fit(noise)
        assert_idle_soon()
        assert_valid_partition(model.partition_)
        assert last.keys() >= {0, 1}

    def test_an_error_in_one_start_stops_the_others(self, noise, monkeypatch):
        solve = ECM._solve

        def fail_once(self, *arguments, **keywords):
            with first:
                if not failed:
                    failed.append(True)
                    time.sleep(0.2)
                    raise ValueError("a bad start")
            return solve(self, *arguments, **keywords)

        first, failed = threading.Lock(), []
        monkeypatch.setattr(ECM, "_solve", fail_once)
        with pytest.raises(ValueError, match="a bad start"):
            ECM(5, n_init=3, n_jobs=2, **ENDLESS).fit(noise)
        assert_idle_soon()

    @pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
    def test_ctrl_c_in_a_terminal_reaches_all_processes(self, tmp_path):
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(IN_A_TERMINAL))
        process = subprocess.Popen(
            [sys.executable, str(script)],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdout.readline() == "ready\n"
        os.killpg(process.pid, signal.SIGINT)
        shown, _ = process.communicate(timeout=60)
        assert "was interrupted" in shown


IN_A_TERMINAL = """
import warnings
import joblib
import numpy as np
from credalis import ECM, FitControl

def show(event):
    running.add(event.run)
    if len(running) == 2 and not said:
        said.append(print("ready", flush=True))

running, said = set(), []
if __name__ == "__main__":
    X = np.random.default_rng(0).random((20000, 8))
    with joblib.parallel_config(backend="loky"), FitControl(show):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            # More processes than starts: none must wait, Ctrl-C would kill it.
            ECM(5, n_init=2, n_jobs=3, tol=0, max_iter=10**7, random_state=0).fit(X)
    print(*(each.message for each in caught))
"""


class TestListening:
    def test_events_say_how_far_a_fit_is(self, X):
        events = []
        with FitControl(events.append):
            model = ECM(3, n_init=2, max_iter=50, random_state=0).fit(X)
        assert all(isinstance(event, FitEvent) for event in events)
        assert {(e.method, e.stage, e.n_runs, e.max_iter) for e in events} == {
            ("ECM", "", 2, 50)
        }
        for run in (0, 1):
            own = [event for event in events if event.run == run]
            assert [e.iteration for e in own[:-1]] == [*range(1, len(own))]
            assert [e.is_over for e in own] == [False] * (len(own) - 1) + [True]
        best = [e.loss for e in events if e.loss is not None and not e.is_over]
        assert model.loss_ == min(best)
        shares = [event.share for event in events]
        assert shares == sorted(shares)
        assert shares[-1] == 1.0

    def test_stages_have_names(self, X):
        events = []
        with FitControl(events.append):
            Bootclus(3, n_bootstrap=5, n_init=1, random_state=0).fit(X)
            Consensus("auto", random_state=0).fit(X)
        stages = list(dict.fromkeys((event.method, event.stage) for event in events))
        assert stages == [
            ("Bootclus", "mixtures"),
            ("Bootclus", ""),
            ("Consensus", "number of clusters"),
            ("Consensus", "members"),
            ("Consensus", ""),
        ]

    @pytest.mark.parametrize("backend", ["threading", "loky"])
    def test_what_a_listener_raises_comes_out(self, noise, backend):
        def complain():
            raise ZeroDivisionError("no more")

        with (
            FitControl(at(3, complain)),
            joblib.parallel_config(backend=backend),
            pytest.raises(ZeroDivisionError, match="no more"),
        ):
            ECM(5, n_init=2, n_jobs=2, **ENDLESS).fit(noise)
        assert_idle_soon()

    def test_verbose_shows_the_same_events(self, X, capsys):
        events = []
        with FitControl(events.append):
            ECM(3, n_init=2, random_state=0, verbose=1).fit(X)
        assert f"loss {min(e.loss for e in events):.6g}" in capsys.readouterr().err

    def test_fits_inside_of_fits_are_not_told(self, X):
        events = []
        with FitControl(events.append):
            compare(X, 3, ["ECM", "Consensus"], random_state=0)
        assert {event.method for event in events} == {"compare"}
        assert events[-1].share == 1.0

    def test_callback_must_be_callable(self):
        with pytest.raises(ValueError, match="callback must be callable or None"):
            FitControl("print")


class TestControl:
    def test_an_outer_control_reaches_and_hears_inner_fits(self, X):
        outer, inner = [], []
        with FitControl(outer.append) as first, FitControl(inner.append):
            ECM(3, n_init=1, random_state=0).fit(X)
            assert outer == inner != []
            first.cancel()
            with pytest.raises(FitCancelledError):
                ECM(3, random_state=0).fit(X)
        ECM(3, random_state=0).fit(X)  # no longer under control

    def test_threads_share_a_control(self, noise):
        control, messages = FitControl(), []

        def fit():
            with control, warnings.catch_warnings():
                try:
                    ECM(5, n_init=1, **ENDLESS).fit(noise)
                except FitCancelledError as error:
                    messages.append(str(error))
                else:
                    messages.append("the best so far")

        threads = [threading.Thread(target=fit) for _ in range(2)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for thread in threads:
                thread.start()
            time.sleep(0.2)
            assert all(thread.is_alive() for thread in threads)
            control.cancel()
            for thread in threads:
                thread.join(timeout=30)
        assert len(messages) == 2
        ECM(3, random_state=0).fit(noise[:50])  # this thread never was under control

    def test_a_pipeline_is_under_control(self, X):
        with (
            FitControl(at(1, lambda: control.cancel())) as control,
            pytest.warns(ConvergenceWarning, match="cancelled"),
        ):
            make_pipeline(StandardScaler(), ECM(3, random_state=0)).fit(X)

    @pytest.mark.slow
    def test_fits_in_blocks_keep_what_was_learned(self, noise):
        noise = noise[:4000]
        for model in (ECM(4, **ENDLESS), NNEVCLUS(3, max_iter=10**6, random_state=0)):
            with (
                FitControl(at(3, lambda: control.cancel())) as control,
                pytest.warns(ConvergenceWarning, match="cancelled"),
            ):
                model.fit(ArraySource(noise))
            assert_valid_partition(model.predict_partition(noise))

    def test_half_a_start_in_blocks_is_none(self, noise, tmp_path, monkeypatch):
        noise = noise[:4000]
        control = FitControl()

        def cancelled(estimator, *arguments, **keywords):
            control.cancel()
            return start(estimator, *arguments, **keywords)

        start = ECM._start_blocks
        monkeypatch.setattr(ECM, "_start_blocks", cancelled)
        with control, pytest.raises(FitCancelledError, match="ECM"):
            ECM(4, random_state=0).fit(ArraySource(noise), checkpoint=tmp_path / "file")
        assert list(tmp_path.iterdir()) == []


class TestLargerTasks:
    def test_a_consensus_ends_between_its_members(self, X):
        with (
            FitControl(at(2, lambda: control.cancel(), "members")) as control,
            pytest.raises(FitCancelledError, match="Consensus"),
        ):
            Consensus(3, random_state=0).fit(X)

    def test_an_interrupt_in_a_member_is_one_of_the_consensus(self, X, monkeypatch):
        class Interrupted(ECM):
            def _solve(self, *arguments, **keywords):
                solution = super()._solve(*arguments, **keywords)
                with stoppable(lambda: True):
                    raise KeyboardInterrupt
                return solution

        members = [Interrupted(3, n_init=1), "ward"]
        with pytest.raises(KeyboardInterrupt):
            Consensus(3, members=members, random_state=0).fit(X)

    @pytest.mark.parametrize("n_jobs", [1, 2])
    @pytest.mark.parametrize(
        "task",
        [
            lambda X, n_jobs: compare(X, 3, ["ECM", "BCM", "CCM"], n_jobs=n_jobs),
            lambda X, n_jobs: select_n_clusters(ECM(), X, range(2, 5), n_jobs=n_jobs),
        ],
        ids=["compare", "select_n_clusters"],
    )
    # Threads that record warnings at the same time get each other's.
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_several_fits(self, task, n_jobs, X):
        with (
            FitControl(at(1, lambda: control.cancel())) as control,
            joblib.parallel_config(backend="threading"),
            pytest.raises(FitCancelledError),
        ):
            task(X, n_jobs)

    def test_a_suggestion(self, X):
        cancel = at(2, lambda: control.cancel(), "number of clusters")
        with (
            FitControl(cancel) as control,
            pytest.raises(FitCancelledError, match="suggest_n_clusters"),
        ):
            suggest_n_clusters(X, [2, 3], random_state=0)

    def test_a_search_is_not_taken_in_by_half_a_fit(self, X, monkeypatch):
        solve = NNEVCLUS._solve

        def cancelled(self, *arguments, **keywords):
            n_calls.append(1)
            if len(n_calls) == 3:
                control.cancel()
            return solve(self, *arguments, **keywords)

        n_calls, control = [], FitControl()
        monkeypatch.setattr(NNEVCLUS, "_solve", cancelled)
        model = NNEVCLUS(3, n_init=1, tol=1e-3, n_jobs=1)
        grid = {"weight_decay": [0.0, 0.01]}
        with control, pytest.raises(FitCancelledError, match="CredalSearchCV"):
            search(model, grid, X, cv=2, random_state=0)
        assert len(n_calls) == 3

    def test_a_learner_of_metrics(self, X):
        control = FitControl()
        control.cancel()
        y = np.arange(len(X)) % 3
        with control, pytest.raises(FitCancelledError, match="PCCA"):
            PCCA(random_state=0).fit(X, y)


class TestMechanism:
    def test_a_function_that_can_be_cancelled_warns_its_caller(self, X):
        with pytest.warns(ConvergenceWarning, match="did not converge") as told:
            compare(X, 3, {"short": ECM(tol=0, max_iter=2)}, random_state=0)
        assert told[0].filename == __file__

    def test_a_look_without_a_fit_does_nothing(self):
        control = FitControl()
        control.cancel()
        with control:
            poll()

    def test_an_inner_loop_that_keeps_something_does_not_hide_the_stop(self):
        outer, inner = [], []
        with fitting("test"), stoppable(lambda: True) as ending:
            for k in range(5):
                poll()
                outer.append(k)
                with stoppable(lambda: True):
                    inner.append(k)
                    raise KeyboardInterrupt
        assert ending.is_early
        assert outer == inner == [0]

    def test_a_stop_in_another_process_follows(self):
        stop = Stop()
        far = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(stop))))
        assert not far.has_come
        stop.set("cancelled")
        time.sleep(0.06)  # it looks no more often
        assert far.has_come
        assert pickle.loads(pickle.dumps(stop)).has_come

    def test_a_wire_does_not_reach_other_machines(self):
        wire = Wire()
        _, (place,) = wire.__reduce__()
        elsewhere = FarEnd(Place(place.path, place.device, place.number + 1))
        here = FarEnd(place)
        wire.cut(is_idle=True)
        assert here.is_cut
        assert not elsewhere.is_cut

    def test_no_folder_is_left(self, noise, tmp_path, monkeypatch):
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        laid = []
        lay = Wire.__init__

        def counted(wire, client=None):
            lay(wire, client)
            laid.append(list(tmp_path.glob("credalis-fit-*")))

        monkeypatch.setattr(Wire, "__init__", counted)
        with joblib.parallel_config(backend="loky"):
            ECM(3, n_init=2, n_jobs=2, random_state=0).fit(noise[:100])
        assert [len(folders) for folders in laid] == [1]
        assert list(tmp_path.glob("credalis-fit-*")) == []
