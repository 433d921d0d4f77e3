"""Fits to data that are read in blocks."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
import time
from functools import partial

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from credalis import CCM, ECM, EVCLUS, NNEVCLUS, FocalSets, load
from credalis.checkpoints import Checkpoint
from credalis.cluster.nnevclus import _blocks as network_blocks
from credalis.exceptions import OutlierWarning
from credalis.network import CredalNetwork
from credalis.sources import ArraySource, BatchSource

N_CLUSTERS = 4
SMALL = {"n_clusters": N_CLUSTERS, "focal_sets": "singletons", "random_state": 0}


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(
        12_000, n_features=3, centers=N_CLUSTERS, cluster_std=1.0, random_state=3
    )


@pytest.fixture(autouse=True)
def short_starts(monkeypatch):
    """Clusters that are this easy to tell apart are found in fewer updates."""
    monkeypatch.setattr("credalis.cluster.nnevclus._blocks._START_UPDATES", 200)
    monkeypatch.setattr("credalis.cluster._framework._fit.SAMPLE_ROWS", 3000)


def in_buffers(source, max_rows=4096):
    """The source, which mixes its rows in buffers of so many."""
    source.buffers = partial(source.buffers, max_rows=max_rows)
    return source


def masses(model, X):
    return model.predict_partition(X).masses


def test_network_from_a_source_finds_the_clusters(blobs):
    X, y = blobs
    model = NNEVCLUS(**SMALL).fit(ArraySource(X))
    assert adjusted_rand_score(y, model.predict(X)) > 0.97
    assert not hasattr(model, "partition_")
    assert not hasattr(model, "labels_")
    assert model.n_features_in_ == 3
    assert model.n_iter_ == 1
    assert len(model.history_) == 1
    assert 0 < model.stress_ < 0.05
    assert model.score(X) == pytest.approx(-model.stress_, rel=0.2)


@pytest.mark.parametrize("estimator", [NNEVCLUS, ECM, CCM])
def test_all_forms_of_the_same_rows_agree(estimator, blobs, tmp_path):
    X, y = blobs
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    model = estimator(**SMALL).fit(ArraySource(X))
    again = estimator(**SMALL).fit(ArraySource(mapped))
    np.testing.assert_array_equal(masses(model, X), masses(again, X))
    batches = estimator(**SMALL).fit(np.array_split(X, 7))
    assert adjusted_rand_score(y, batches.predict(X)) > 0.97


@pytest.mark.parametrize("estimator", [ECM, CCM])
def test_prototypes_from_blocks_are_those_of_all_objects(estimator, blobs):
    X, _ = blobs
    whole = estimator(**SMALL, tol=1e-10).fit(X)
    found = {"beta": whole.beta_, "delta": whole.delta_}
    blocks = estimator(**SMALL, tol=1e-10, **found).fit(ArraySource(X))
    order = [
        np.square(whole.centers_ - center).sum(axis=1).argmin()
        for center in blocks.centers_
    ]
    assert sorted(order) == list(range(N_CLUSTERS))
    np.testing.assert_allclose(blocks.centers_, whole.centers_[order], atol=1e-4)
    assert blocks.loss_ == pytest.approx(whole.loss_, rel=1e-8)


def test_adaptive_metric_and_transformer_from_blocks(blobs):
    X, y = blobs
    for metric in ("adaptive", StandardScaler()):
        model = ECM(**SMALL, metric=metric).fit(ArraySource(X))
        assert adjusted_rand_score(y, model.predict(X)) > 0.95
    model = NNEVCLUS(**SMALL, metric=StandardScaler()).fit(ArraySource(X))
    assert adjusted_rand_score(y, model.predict(X)) > 0.95


@pytest.mark.slow
def test_novelty_and_two_steps_from_blocks(blobs):
    X, y = blobs
    model = NNEVCLUS(N_CLUSTERS, novelty_detector="ocsvm", random_state=0)
    model.fit(ArraySource(X))
    assert model.predict_partition([[500.0, 500.0, 500.0]]).outlier_mass[0] > 0.5
    two = NNEVCLUS(N_CLUSTERS, focal_sets="two-step", random_state=0)
    two.fit(ArraySource(X))
    assert len(two.focal_sets_) > N_CLUSTERS + 2
    assert adjusted_rand_score(y, two.predict(X)) > 0.95


def test_given_centres_fix_the_numbers(blobs):
    X, y = blobs
    centers = np.array([X[y == k].mean(axis=0) for k in range(N_CLUSTERS)])
    model = NNEVCLUS(**SMALL, init=centers).fit(ArraySource(X))
    assert (model.predict(X) == y).mean() > 0.95


@pytest.mark.filterwarnings("ignore::credalis.exceptions.EmptyClusterWarning")
def test_large_arrays_are_read_in_blocks_and_keep_their_objects(monkeypatch, blobs):
    X, y = blobs
    monkeypatch.setattr("credalis.cluster.nnevclus._nnevclus.MAX_WHOLE", 5000)
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = NNEVCLUS(**SMALL, batch_size=200).fit(frame)
    np.testing.assert_array_equal(model.predict(frame), model.labels_)
    assert adjusted_rand_score(y, model.labels_) > 0.97
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    source = NNEVCLUS(**SMALL, batch_size=200).fit(ArraySource(X))
    np.testing.assert_array_equal(masses(source, X), model.partition_.masses)
    labels = np.full(len(X), -1)
    labels[:3] = y[:3]
    assert hasattr(NNEVCLUS(**SMALL, max_iter=1).fit(X, partial_labels=labels), "loss_")


def test_some_rows_of_a_large_array_stand_for_all(monkeypatch, blobs):
    X, y = blobs
    before = NNEVCLUS(**SMALL).fit(X)
    monkeypatch.setattr("credalis.cluster.nnevclus._nnevclus.MAX_WHOLE", 5000)
    model = NNEVCLUS(**SMALL).fit(X)
    # Nothing happens at this number of rows.
    np.testing.assert_array_equal(model.partition_.masses, before.partition_.masses)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    assert adjusted_rand_score(y, model.labels_) > 0.97


@pytest.mark.slow
def test_training_sees_mixed_rows_of_sorted_data(monkeypatch):
    X, y = make_blobs(24_000, n_features=3, centers=8, cluster_std=1.5, random_state=3)
    in_order = X[np.argsort(y, kind="stable")]
    monkeypatch.setattr("credalis.sources._arrays._PIECE_ROWS", 100)
    model = NNEVCLUS(8, random_state=0)
    # Blocks of one cluster cost more: there, all dissimilarities should be small.
    random, mixed, unmixed = (
        clone(model).fit(in_buffers(source, 2666)).history_[0]
        for source in (
            ArraySource(X),
            ArraySource(in_order),
            BatchSource(np.array_split(in_order, 50)),
        )
    )
    assert mixed < 1.5 * random
    assert unmixed > 3 * random


def test_model_from_a_source_can_be_saved(blobs, tmp_path):
    X, _ = blobs
    model = NNEVCLUS(**SMALL).fit(BatchSource(np.array_split(X, 5)))
    model.save(tmp_path / "model.credalis")
    np.testing.assert_array_equal(
        masses(load(tmp_path / "model.credalis"), X), masses(model, X)
    )


def test_a_second_fit_leaves_nothing_of_the_first(blobs):
    X, _ = blobs
    model = ECM(**SMALL).fit(X[:500])
    model.fit(ArraySource(X))
    assert not hasattr(model, "labels_")


def test_warns_of_outliers(blobs):
    X, _ = blobs
    with pytest.warns(OutlierWarning, match="increase delta"):
        ECM(**SMALL, delta=1e-3).fit(ArraySource(X))


@pytest.mark.parametrize(
    ("model", "data", "arguments", "message"),
    [
        (NNEVCLUS(4), iter, {}, "readable more than once"),
        (EVCLUS(4), ArraySource, {}, "needs all objects at once"),
        (NNEVCLUS(4, metric="precomputed"), ArraySource, {}, "precomputed"),
        (NNEVCLUS(4, solver="lbfgs"), ArraySource, {}, "solver must be"),
        (NNEVCLUS(4, warm_start=True), ArraySource, {}, "warm_start must be False"),
        (
            NNEVCLUS(4, early_stopping=True, validation_fraction=0.001),
            ArraySource,
            {},
            "validation_fraction must leave at least two",
        ),
        (NNEVCLUS(4, init=[0, 1, 2, 3]), ArraySource, {}, "init must be a name"),
        (ECM(4), ArraySource, {"must_link": [(0, 1)]}, "must_link must be None"),
        (ECM(4), ArraySource, {"partial_labels": [0]}, "partial_labels must be None"),
        (NNEVCLUS(4), ArraySource, {"checkpoint": 3}, "checkpoint must be a path"),
        (NNEVCLUS(4), ArraySource, {"checkpoint": "x"}, "random_state must be an int"),
        (
            NNEVCLUS(4, metric=abs, random_state=0),
            ArraySource,
            {"checkpoint": "x"},
            "checkpoint must be None: metric cannot be saved",
        ),
        (
            NNEVCLUS(4, focal_sets=FocalSets.singletons(3)),
            ArraySource,
            {},
            "focal_sets must be about",
        ),
    ],
)
def test_what_cannot_be_done_in_blocks_is_refused(
    model, data, arguments, message, blobs
):
    X = blobs[0][:300]
    with pytest.raises(ValueError, match=message):
        model.fit(data([X, X]) if data is iter else data(X), **arguments)


# Early stopping


EARLY = SMALL | {"early_stopping": True, "max_iter": 3}


def test_held_out_rows_are_never_trained_on(blobs, monkeypatch):
    X, y = blobs
    # Rows that are there twice must not be in both parts.
    X = np.concatenate([X[:9000], X[:3000]])
    y = np.concatenate([y[:9000], y[:3000]])
    trained, validation, make = [], [], network_blocks._chunk
    of = network_blocks.Validation.of
    monkeypatch.setattr(
        network_blocks,
        "_chunk",
        lambda *arguments: [trained.append(arguments[2]), make(*arguments)][1],
    )
    monkeypatch.setattr(
        network_blocks.Validation,
        "of",
        lambda *arguments: [validation.append(arguments[1]), of(*arguments)][1],
    )
    model = NNEVCLUS(**EARLY).fit(in_buffers(ArraySource(X)))
    assert adjusted_rand_score(y, model.predict(X)) > 0.97
    (held_out,) = validation
    assert len(held_out) == 300
    rows = np.concatenate(trained)
    is_held_out = (X[:, None, 0] == held_out[:, 0]).any(axis=1)
    assert is_held_out.sum() > 300
    assert len(rows) == 3 * (len(X) - is_held_out.sum())
    assert not (rows[:, None, 0] == held_out[:, 0]).any()


def told_losses(losses, monkeypatch):
    """Lets validation find these; parameters that it was asked about."""
    asked, left = [], list(losses)

    def loss(self, state):
        asked.append(np.array(state.parameters, dtype=np.float64))
        return left.pop(0)

    monkeypatch.setattr(network_blocks.Validation, "loss", loss)
    return asked


def parameters_of(model):
    return np.concatenate([layer.ravel() for layer in model.weights_])


def test_the_best_pass_is_kept_and_three_worse_ones_end_the_fit(blobs, monkeypatch):
    model = NNEVCLUS(**EARLY | {"max_iter": 10})
    # The start, five passes, and the last one once more.
    asked = told_losses([1.0, 0.8, 0.5, 0.6, 0.5, 0.9, 0.9], monkeypatch)
    model.fit(ArraySource(blobs[0]))
    assert model.n_iter_ == 5
    assert len(asked) == 7
    np.testing.assert_array_equal(parameters_of(model), asked[2])
    asked = told_losses([0.4, 0.5, 0.6, 0.7, 0.7], monkeypatch)
    model.fit(ArraySource(blobs[0]))
    assert model.n_iter_ == 3
    # The start is of float32, as the training is.
    np.testing.assert_allclose(parameters_of(model), asked[0])


@pytest.mark.parametrize("n_writes", [1, 5])
def test_a_validated_fit_continues_with_the_same_bits(
    n_writes, blobs, tmp_path, monkeypatch
):
    X, _ = blobs
    undisturbed = NNEVCLUS(**EARLY).fit(in_buffers(ArraySource(X)))
    checkpoint = Checkpoint(tmp_path / "fit.checkpoint", seconds=0)
    with monkeypatch.context() as patch:
        dying_after(n_writes, patch)
        with pytest.raises(KilledError):
            NNEVCLUS(**EARLY).fit(in_buffers(ArraySource(X)), checkpoint=checkpoint)
    monkeypatch.setattr(ArraySource, "sample", None)
    continued = NNEVCLUS(**EARLY).fit(in_buffers(ArraySource(X)), checkpoint=checkpoint)
    np.testing.assert_array_equal(masses(continued, X), masses(undisturbed, X))
    assert continued.loss_ == undisturbed.loss_


def test_a_validated_fit_that_has_ended_early_is_not_continued(
    blobs, tmp_path, monkeypatch
):
    path = tmp_path / "fit.checkpoint"
    model = NNEVCLUS(**EARLY | {"max_iter": 10})
    told_losses([0.4, 0.5, 0.6, 0.7, 0.7], monkeypatch)
    first = model.fit(ArraySource(blobs[0]), checkpoint=path).weights_
    told_losses([0.7], monkeypatch)
    monkeypatch.setattr(ArraySource, "_mixed_parts", None)
    again = clone(model).fit(ArraySource(blobs[0]), checkpoint=path)
    assert again.n_iter_ == 3
    for ours, theirs in zip(again.weights_, first, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_validated_partitions(blobs):
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    X, y = blobs
    lazy = da.from_array(X, chunks=(2500, 3))
    labels = {int(np.flatnonzero(y == k)[0]): k for k in range(N_CLUSTERS)}
    with dask.config.set(scheduler="synchronous"):
        model = NNEVCLUS(**EARLY).fit(lazy, partial_labels=labels)
    assert (model.predict(X) == y).mean() > 0.97
    with dask.config.set(scheduler="threads", num_workers=3):
        again = NNEVCLUS(**EARLY).fit(lazy, partial_labels=labels)
    np.testing.assert_array_equal(masses(again, X), masses(model, X))


# Checkpoints


class KilledError(Exception):
    """Stands for the end of the process."""


def dying_after(n_writes, monkeypatch):
    """Let a fit end right after its n-th checkpoint."""
    write, n_written = Checkpoint.write, 0

    def write_and_die(self, state):
        nonlocal n_written
        write(self, state)
        n_written += 1
        if n_written == n_writes:
            raise KilledError

    monkeypatch.setattr(Checkpoint, "write", write_and_die)


def counted_calls(owner, name, monkeypatch):
    """A list that grows with every call of a method."""
    original, calls = getattr(owner, name), []

    def call(*arguments):
        calls.append(None)
        return original(*arguments)

    monkeypatch.setattr(owner, name, call)
    return calls


@pytest.mark.parametrize("estimator", [NNEVCLUS, ECM, CCM])
@pytest.mark.parametrize("n_writes", [1, 2, 4])
def test_continues_with_the_same_bits(
    estimator, n_writes, blobs, tmp_path, monkeypatch
):
    X, _ = blobs
    parameters = dict(SMALL, max_iter=3) if estimator is NNEVCLUS else dict(SMALL)
    if estimator is not NNEVCLUS:
        # So that passes over the data have something left to do.
        parameters["tol"] = 1e-12
    undisturbed = estimator(**parameters).fit(in_buffers(ArraySource(X)))
    path = tmp_path / "fit.checkpoint"
    with monkeypatch.context() as patch:
        dying_after(n_writes, patch)
        with pytest.raises(KilledError):
            estimator(**parameters).fit(
                in_buffers(ArraySource(X)), checkpoint=Checkpoint(path, seconds=0)
            )
    assert path.exists()
    # A fit from the beginning would end with the same bits, too.
    monkeypatch.setattr(ArraySource, "sample", None)
    owner, name = (
        (network_blocks, "_chunk")
        if estimator is NNEVCLUS
        else (ArraySource, "batches")
    )
    with monkeypatch.context() as patch:
        calls = counted_calls(owner, name, patch)
        continued = estimator(**parameters).fit(
            in_buffers(ArraySource(X)), checkpoint=Checkpoint(path, seconds=0)
        )
    if estimator is NNEVCLUS:
        # Three passes over three buffers of 4096 rows; the first file is the start.
        assert len(calls) == 3 * 3 - (n_writes - 1)
    else:
        assert len(calls) == undisturbed.n_iter_ - max(0, n_writes - 2)
    np.testing.assert_array_equal(masses(continued, X), masses(undisturbed, X))
    np.testing.assert_array_equal(continued.history_, undisturbed.history_)
    assert continued.n_iter_ == undisturbed.n_iter_


@pytest.mark.parametrize("estimator", [NNEVCLUS, ECM])
@pytest.mark.parametrize("n_writes", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_continues_where_the_number_of_rows_is_not_known(
    estimator, n_writes, blobs, tmp_path, monkeypatch
):
    X, _ = blobs

    def source():
        return BatchSource(lambda: iter(np.array_split(X, 7)))

    undisturbed = estimator(**SMALL).fit(source())
    checkpoint = Checkpoint(tmp_path / "fit.checkpoint", seconds=0)
    with monkeypatch.context() as patch:
        dying_after(n_writes, patch)
        with pytest.raises(KilledError):
            estimator(**SMALL).fit(source(), checkpoint=checkpoint)
    continued = estimator(**SMALL).fit(source(), checkpoint=checkpoint)
    np.testing.assert_array_equal(masses(continued, X), masses(undisturbed, X))


@pytest.mark.parametrize("estimator", [ECM, CCM])
def test_prototypes_that_have_been_found_are_looked_at_twice(
    estimator, blobs, tmp_path, monkeypatch
):
    X, _ = blobs
    path = tmp_path / "fit.checkpoint"
    first = estimator(**SMALL, tol=1e-12).fit(ArraySource(X), checkpoint=path)
    assert first.n_iter_ > 3
    passes = counted_calls(ArraySource, "batches", monkeypatch)
    again = estimator(**SMALL, tol=1e-12).fit(ArraySource(X), checkpoint=path)
    assert len(passes) == 2
    np.testing.assert_array_equal(masses(first, X), masses(again, X))
    np.testing.assert_array_equal(first.history_, again.history_)


def test_a_full_disk_is_named_and_the_file_stays(blobs, tmp_path, monkeypatch):
    X, _ = blobs
    undisturbed = NNEVCLUS(**SMALL).fit(in_buffers(ArraySource(X)))
    path = tmp_path / "fit.checkpoint"
    fsync, n_written = os.fsync, 0

    def full_at_last(descriptor):
        nonlocal n_written
        n_written += 1
        if n_written == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full_at_last)
        with pytest.raises(OSError, match=r"fit\.checkpoint"):
            NNEVCLUS(**SMALL).fit(
                in_buffers(ArraySource(X)), checkpoint=Checkpoint(path, 0)
            )
    assert [file.name for file in tmp_path.iterdir()] == ["fit.checkpoint"]
    continued = NNEVCLUS(**SMALL).fit(in_buffers(ArraySource(X)), checkpoint=path)
    np.testing.assert_array_equal(masses(continued, X), masses(undisturbed, X))


def interrupted_at(n_calls, owner, name, monkeypatch):
    """Let Ctrl-C come with the n-th call of a method."""
    original, n_called = getattr(owner, name), 0

    def call(*arguments):
        nonlocal n_called
        n_called += 1
        if n_called == n_calls:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(owner, name, call)


def test_an_interrupt_in_the_start_ends_the_fit(blobs, tmp_path, monkeypatch):
    X, _ = blobs
    with monkeypatch.context() as patch:
        interrupted_at(4, CredalNetwork, "value_and_gradient", patch)
        with pytest.raises(KeyboardInterrupt):
            NNEVCLUS(**SMALL).fit(ArraySource(X), checkpoint=tmp_path / "file")
    # Half a start would be continued from.
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_in_a_pass_keeps_what_was_learned(blobs, tmp_path, monkeypatch):
    X, y = blobs
    undisturbed = NNEVCLUS(**SMALL).fit(in_buffers(ArraySource(X)))
    checkpoint = Checkpoint(tmp_path / "fit.checkpoint", 0)
    with monkeypatch.context() as patch:
        interrupted_at(3, network_blocks, "_chunk", patch)
        with pytest.warns(ConvergenceWarning, match="was interrupted"):
            stopped = NNEVCLUS(**SMALL).fit(
                in_buffers(ArraySource(X)), checkpoint=checkpoint
            )
    assert adjusted_rand_score(y, stopped.predict(X)) > 0.9
    assert len(stopped.history_) == 1
    assert not np.array_equal(masses(stopped, X), masses(undisturbed, X))
    continued = NNEVCLUS(**SMALL).fit(in_buffers(ArraySource(X)), checkpoint=checkpoint)
    np.testing.assert_array_equal(masses(continued, X), masses(undisturbed, X))


def test_a_fit_that_has_ended_is_not_made_again(blobs, tmp_path, monkeypatch):
    X, _ = blobs
    path = tmp_path / "fit.checkpoint"
    first = NNEVCLUS(**SMALL).fit(ArraySource(X), checkpoint=path)
    monkeypatch.setattr(network_blocks, "_chunk", pytest.fail)
    monkeypatch.setattr(ArraySource, "_mixed_parts", None)
    again = NNEVCLUS(**SMALL | {"random_state": np.int64(0)})
    again.fit(ArraySource(X), checkpoint=path)
    np.testing.assert_array_equal(masses(first, X), masses(again, X))


def test_checkpoint_of_an_array_keeps_its_objects(blobs, tmp_path):
    X, _ = blobs
    model = NNEVCLUS(**SMALL).fit(X, checkpoint=tmp_path / "fit.checkpoint")
    np.testing.assert_array_equal(model.labels_, model.predict(X))


def test_a_place_that_cannot_be_written_is_refused_at_once(blobs, tmp_path):
    X, _ = blobs
    with pytest.raises(FileNotFoundError, match="no folder"):
        NNEVCLUS(**SMALL).fit(ArraySource(X), checkpoint=tmp_path / "no" / "file")
    with pytest.raises(ValueError, match="seconds must be"):
        Checkpoint(tmp_path / "file", seconds=-1)


def test_checkpoint_of_another_fit_is_refused(blobs, tmp_path):
    X, _ = blobs
    path = tmp_path / "fit.checkpoint"
    NNEVCLUS(**SMALL).fit(ArraySource(X), checkpoint=path)
    with pytest.raises(ValueError, match="other data: remove the file"):
        NNEVCLUS(**SMALL).fit(ArraySource(X + 1), checkpoint=path)
    with pytest.raises(ValueError, match="other parameters, batch_size='auto' instead"):
        NNEVCLUS(**SMALL, batch_size=50).fit(ArraySource(X), checkpoint=path)
    with pytest.raises(ValueError, match="fit of NNEVCLUS, not of ECM"):
        ECM(**SMALL).fit(ArraySource(X), checkpoint=path)
    ECM(**SMALL).fit(X).save(path)
    with pytest.raises(ValueError, match="is not a checkpoint"):
        ECM(**SMALL).fit(ArraySource(X), checkpoint=path)
    path.write_bytes(b"rubbish")
    with pytest.raises(ValueError, match="not a file saved by credalis"):
        ECM(**SMALL).fit(ArraySource(X), checkpoint=path)


SCRIPT = """
import sys, numpy as np
from functools import partial
import credalis.cluster._framework._fit as route
import credalis.cluster.nnevclus._blocks as blocks
from credalis import NNEVCLUS
from credalis.checkpoints import Checkpoint
from credalis.sources import ArraySource
blocks._START_UPDATES = 200
route.SAMPLE_ROWS = 3000
data, out, path = sys.argv[1:4]
print("begin", flush=True)
X = np.load(data, mmap_mode="r")
model = NNEVCLUS(4, focal_sets="singletons", max_iter=int(sys.argv[4]), random_state=0)
source = ArraySource(X)
source.buffers = partial(source.buffers, max_rows=4096)
model.fit(source, checkpoint=Checkpoint(path, seconds=0))
np.save(out, model.predict_partition(X).masses)
"""


def killed_at_random_moments(n_kills, n_passes, blobs, tmp_path):
    """Masses of a fit that was killed n times, and of one that was not."""
    X, _ = blobs
    data, path = tmp_path / "rows.npy", tmp_path / "fit.checkpoint"
    np.save(data, X)
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))

    def fitted_here(checkpoint=None):
        model = NNEVCLUS(**SMALL, max_iter=n_passes)
        rows = in_buffers(ArraySource(np.load(data, mmap_mode="r")))
        return masses(model.fit(rows, checkpoint=checkpoint), X)

    start = time.monotonic()
    whole = fitted_here()
    lasted = time.monotonic() - start
    rng = np.random.default_rng()
    n_killed = 0
    while n_killed < n_kills:
        arguments = [script, data, tmp_path / "killed.npy", path, n_passes]
        process = subprocess.Popen(
            [sys.executable, *map(str, arguments)], stdout=subprocess.PIPE
        )
        process.stdout.readline()
        try:
            process.wait(timeout=rng.uniform(0, lasted / 3))
        except subprocess.TimeoutExpired:
            os.kill(process.pid, signal.SIGKILL)
            n_killed += 1
        finally:
            process.wait()
            process.stdout.close()
        if (tmp_path / "killed.npy").exists():
            # It had come to its end: begin again, so that all kills hit a fit.
            path.unlink()
            (tmp_path / "killed.npy").unlink()
    return fitted_here(Checkpoint(path, seconds=0)), whole


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
@pytest.mark.parametrize(
    ("n_kills", "n_passes"), [(2, 5), pytest.param(10, 30, marks=pytest.mark.slow)]
)
@pytest.mark.slow
def test_killed_fit_ends_with_the_same_masses(n_kills, n_passes, blobs, tmp_path):
    killed, whole = killed_at_random_moments(n_kills, n_passes, blobs, tmp_path)
    np.testing.assert_array_equal(killed, whole)
