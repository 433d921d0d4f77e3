"""Fits and predictions on Dask collections."""

import os
import signal
import threading
import time
from contextlib import contextmanager, suppress

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from credalis import BCM, CCM, ECM, NNEVCLUS, Bootclus, FitControl, compare
from credalis._wire import Place
from credalis.exceptions import FitCancelledError
from credalis.model_selection import search
from credalis.sources import BatchSource
from helpers import assert_idle_soon

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")

SMALL = {
    "n_clusters": 4,
    "focal_sets": "singletons",
    "batch_size": 50,
    "random_state": 0,
}
# Dask and Tornado have warnings of their own at the end of a worker.
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(9000, n_features=3, centers=4, cluster_std=1.0, random_state=3)


@pytest.fixture(autouse=True, scope="module")
def small_samples():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("credalis.cluster._framework._fit.SAMPLE_ROWS", 2000)
        yield


@pytest.fixture(scope="module")
def alone(blobs):
    """Masses of a fit without any cluster of machines, in this process."""
    X, _ = blobs
    with dask.config.set(scheduler="synchronous"):
        model = NNEVCLUS(**SMALL, max_iter=2).fit(da.from_array(X, chunks=(1500, 3)))
    return model


def masses(model, X):
    return model.predict_partition(X).masses


@pytest.fixture(scope="module")
def client():
    """A cluster of one worker, which tests can make larger."""
    cluster = distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=True,
        dashboard_address=":0",  # any port that is free
        silence_logs=50,
    )
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client
    # A cluster that closes may look up a worker that has just left it.
    with suppress(KeyError):
        cluster.close()


@contextmanager
def with_workers(client, n_workers):
    """Collections are computed by this many workers; killed ones have come back."""
    client.cluster.scale(n_workers)
    client.wait_for_workers(n_workers, timeout=60)
    with client.as_current():
        yield


def test_finds_the_clusters_and_keeps_no_objects(alone, blobs):
    X, y = blobs
    assert adjusted_rand_score(y, alone.predict(X)) > 0.97
    assert not hasattr(alone, "partition_")
    assert alone.n_iter_ == 2
    assert alone.n_features_in_ == 3


@pytest.mark.slow
def test_partitioning_matters_and_threads_do_not(alone, blobs):
    X, _ = blobs
    with dask.config.set(scheduler="threads", num_workers=3):
        same = NNEVCLUS(**SMALL, max_iter=2).fit(da.from_array(X, chunks=(1500, 3)))
        other = NNEVCLUS(**SMALL, max_iter=2).fit(da.from_array(X, chunks=(3000, 2)))
    np.testing.assert_array_equal(masses(alone, X), masses(same, X))
    assert not np.array_equal(masses(alone, X), masses(other, X))


def test_one_and_two_workers_and_a_killed_one_give_the_same_bits(alone, blobs, client):
    X, _ = blobs
    lazy = da.from_array(X, chunks=(1500, 3))
    results = {}
    for n_workers in (1, 2):
        with with_workers(client, n_workers):
            results[n_workers] = NNEVCLUS(**SMALL, max_iter=2).fit(lazy)
            assert len(client.run(os.getpid)) == n_workers
            if n_workers == 2:
                victim = next(iter(client.cluster.workers.values())).pid
                results["killed"] = fit_and_kill(victim, lazy)
    for model in results.values():
        np.testing.assert_array_equal(masses(model, X), masses(alone, X))


@pytest.mark.slow
def test_partitions_on_one_worker_move_and_survive_the_other(alone, blobs, client):
    X, _ = blobs
    with with_workers(client, 2):
        pids = client.run(os.getpid)
        first, second = sorted(pids)
        lazy = client.persist(da.from_array(X, chunks=(1500, 3)), workers=[first])
        distributed.wait(lazy)
        held = []
        model = fit_and_kill(
            pids[second], lazy, lambda: held.extend(client.has_what()[second])
        )
    # Dask itself may have moved some of them, they are small.
    assert sum("_same" in str(key) or "_checked" in str(key) for key in held) >= 3
    np.testing.assert_array_equal(masses(model, X), masses(alone, X))


def fit_and_kill(victim, lazy, look=None):
    """A fit during whose rounds a worker is killed by its process id.

    What the other argument sees is the moment before.
    """
    import credalis.cluster.nnevclus._blocks as module

    averaged, is_killed = module._averaged, threading.Event()

    def averaged_and_killed(*arguments):
        if not is_killed.is_set():
            if look is not None:
                look()
            os.kill(victim, signal.SIGKILL)
            is_killed.set()
            time.sleep(0.5)
        return averaged(*arguments)

    module._averaged = averaged_and_killed
    try:
        return NNEVCLUS(**SMALL, max_iter=2).fit(lazy)
    finally:
        module._averaged = averaged
        assert is_killed.is_set()


def test_data_frames_and_names(blobs):
    X, y = blobs
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    lazy = dd.from_pandas(frame, npartitions=5)
    with dask.config.set(scheduler="synchronous"):
        model = NNEVCLUS(**SMALL).fit(lazy)
        assert list(model.feature_names_in_) == ["a", "b", "c"]
        labels = model.predict(lazy)
        assert isinstance(labels, da.Array)
        np.testing.assert_array_equal(labels.compute(), model.predict(frame))
        with pytest.raises(ValueError, match="in their order: a, b, c"):
            model.predict(lazy[["c", "b", "a"]])
        array = da.from_array(X, chunks=(2000, 3))
        np.testing.assert_array_equal(
            model.predict(array).compute(), model.predict(frame)
        )
    assert adjusted_rand_score(y, model.predict(frame)) > 0.97


PROTOTYPES = {
    "ECM": ECM(4, random_state=0),
    "adaptive": ECM(4, metric="adaptive", random_state=0),
    "transformed": ECM(4, metric=PCA(2), focal_sets="singletons", random_state=0),
    "CCM": CCM(4, random_state=0),
}


@pytest.mark.parametrize("name", PROTOTYPES)
def test_prototypes_are_those_of_the_same_rows_in_batches(name, blobs, monkeypatch):
    # All rows are in the sample, whoever draws it.
    monkeypatch.setattr("credalis.cluster._framework._fit.SAMPLE_ROWS", 10**4)
    X, y = blobs
    parts = np.array_split(X, [1500, 1500, 4000, 7000])
    lazy = da.concatenate([da.from_array(part, chunks=-1) for part in parts])
    expected = clone(PROTOTYPES[name]).fit(BatchSource(parts))
    with dask.config.set(scheduler="threads", num_workers=3):
        model = clone(PROTOTYPES[name]).fit(lazy)
    assert not hasattr(model, "partition_")
    np.testing.assert_array_equal(model.history_, expected.history_)
    np.testing.assert_array_equal(masses(model, X), masses(expected, X))
    assert adjusted_rand_score(y, model.predict(X)) > 0.97


@pytest.mark.slow
def test_prototypes_on_one_and_two_workers_are_the_same_bits(blobs, client):
    X, _ = blobs
    frame = dd.from_pandas(pd.DataFrame(X, columns=["a", "b", "c"]), npartitions=5)
    with dask.config.set(scheduler="synchronous"):
        here = ECM(4, metric="adaptive", max_iter=3, tol=1, random_state=0).fit(frame)
    assert list(here.feature_names_in_) == ["a", "b", "c"]
    for n_workers in (1, 2):
        with with_workers(client, n_workers):
            model = clone(here).fit(frame)
        np.testing.assert_array_equal(model.centers_, here.centers_)
        np.testing.assert_array_equal(model.metrics_, here.metrics_)
        assert model.loss_ == here.loss_


def test_predictions_are_lazy(alone, blobs):
    X, _ = blobs
    calls = []

    def block(rows):
        calls.append(len(rows))
        return rows

    lazy = da.from_array(X, chunks=(2500, 2)).rechunk({1: -1})
    lazy = lazy.map_blocks(block, dtype=float, meta=np.empty((0, 3)))
    labels, probabilities = alone.predict(lazy), alone.predict_proba(lazy)
    transformed = alone.transform(lazy)
    assert calls == []
    assert labels.shape == (9000,)
    assert transformed.shape == (9000, len(alone.focal_sets_))
    with dask.config.set(scheduler="synchronous"):
        np.testing.assert_array_equal(labels.compute(), alone.predict(X))
        # Sums over a block of other size are rounded otherwise.
        np.testing.assert_allclose(probabilities.compute(), alone.predict_proba(X))
        np.testing.assert_allclose(transformed.compute(), alone.transform(X))
    assert sum(calls) >= 3 * 9000


@pytest.mark.filterwarnings("ignore::credalis.exceptions.ResultWarning")
@pytest.mark.slow
def test_restarts_bootstraps_comparison_and_search_run_on_the_cluster(blobs, client):
    from joblib import parallel_config

    X = blobs[0][:200]
    works = {
        "restarts": lambda: ECM(4, n_init=2, n_jobs=2, random_state=0).fit(X).labels_,
        "bootstraps": lambda: (
            Bootclus(n_bootstrap=4, n_jobs=2, random_state=0).fit(X).labels_
        ),
        "compare": lambda: [
            model.loss_
            for model in compare(X, 4, ["ECM"], random_state=0).estimators.values()
        ],
        "search": lambda: search(
            NNEVCLUS(**SMALL, max_iter=5, tol=1),
            {"weight_decay": [0, 1]},
            X,
            n_jobs=2,
            random_state=0,
        ).cv_results_["mean_test_score"],
    }
    here = {name: work() for name, work in works.items()}
    # joblib does the work of a single worker where it is.
    scheduler = client.cluster.scheduler
    with with_workers(client, 2), parallel_config(backend="dask"):
        for name, work in works.items():
            n_before = scheduler.transition_counter
            np.testing.assert_array_equal(work(), here[name], err_msg=name)
            assert scheduler.transition_counter > n_before, name


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        (BCM(4), {}, "only NNEVCLUS, ECM, CCM, Consensus are fitted to partitions"),
        (ECM(4), {"checkpoint": "x"}, "checkpoint must be None"),
        (ECM(4), {"must_link": [(0, 1)]}, "must_link must be None"),
        (NNEVCLUS(4), {"checkpoint": "x"}, "checkpoint must be None"),
        (NNEVCLUS(4), {"must_link": [(0, 300)]}, "row numbers from 0 to 299"),
        (NNEVCLUS(4, solver="lbfgs"), {}, "solver must be"),
        (NNEVCLUS(10**4), {}, "n_clusters must not exceed"),
    ],
)
def test_what_cannot_be_done_is_refused(model, arguments, message, blobs):
    lazy = da.from_array(blobs[0][:300], chunks=(100, 3))
    with (
        dask.config.set(scheduler="synchronous"),
        pytest.raises(ValueError, match=message),
    ):
        model.fit(lazy, **arguments)


def test_bad_partitions_are_named(blobs):
    X = blobs[0][:300].copy()
    X[250, 1] = np.nan
    with dask.config.set(scheduler="synchronous"):
        with pytest.raises(ValueError, match="got nan in row 50, column 1"):
            NNEVCLUS(4).fit(da.from_array(X, chunks=(100, 3)))
        with pytest.raises(ValueError, match="two dimensions"):
            NNEVCLUS(4).fit(da.ones(10, chunks=5))
        text = dd.from_pandas(pd.DataFrame({"a": ["x", "y", "z"]}), npartitions=1)
        with pytest.raises(ValueError, match="must hold numbers"):
            NNEVCLUS(2).fit(text)


def press_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


class TestStopping:
    """Dask cannot stop a task that runs; the tasks of a fit look themselves."""

    @pytest.fixture
    def endless(self, blobs):
        X, _ = blobs
        lazy = da.from_array(np.concatenate([X] * 4), chunks=(9000, 3))
        return NNEVCLUS(**SMALL, max_iter=10**6), lazy

    def fit_until(self, action, model, lazy, word):
        events = []
        self.control = FitControl(lambda event: listen(event))

        def listen(event):
            events.append(event)
            if len(events) == 3:
                # Not here and now, between rounds, but in the middle of one.
                threading.Timer(0.1, action).start()

        with self.control, pytest.warns(ConvergenceWarning, match=word):
            model.fit(lazy)
        assert_idle_soon()
        assert {event.method for event in events} == {"NNEVCLUS"}

    @pytest.mark.parametrize("scheduler", ["threads", "processes of a cluster"])
    @pytest.mark.parametrize("word", ["cancelled", "interrupted"])
    def test_keeps_what_was_learned(self, endless, blobs, client, scheduler, word):
        X, y = blobs
        model, lazy = endless

        def action():
            self.control.cancel() if word == "cancelled" else press_ctrl_c()

        with (
            dask.config.set(scheduler="threads")
            if scheduler == "threads"
            else with_workers(client, 2)
        ):
            self.fit_until(action, model, lazy, word)
        assert adjusted_rand_score(y, model.predict(X)) > 0.9

    @pytest.mark.parametrize("error", [FitCancelledError, KeyboardInterrupt])
    @pytest.mark.parametrize("is_seen", [True, False])
    def test_a_long_task_ends(self, endless, client, error, is_seen):
        def see(is_here):
            Place.is_here = is_here

        model, lazy = endless
        before = Place.is_here
        with with_workers(client, 2), FitControl() as control:
            if not is_seen:  # as on another machine
                client.run(see, property(lambda place: False))
            is_cancel = error is FitCancelledError
            action = control.cancel if is_cancel else press_ctrl_c
            threading.Timer(1.0, action).start()
            try:
                with pytest.raises(error):
                    # The start from a sample is one task, of minutes.
                    model.set_params(n_init=1000).fit(lazy)
                assert_idle_soon()
            finally:
                client.run(see, before)
