"""Training by PyTorch on data that are read in blocks or held by workers."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from credalis import NNEVCLUS
from credalis.checkpoints import Checkpoint
from credalis.sources import ArraySource

torch = pytest.importorskip("torch")

N_CLUSTERS = 4
TORCH = NNEVCLUS(
    N_CLUSTERS, focal_sets="singletons", engine="torch", random_state=0, max_iter=2
)


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(
        6000, n_features=3, centers=N_CLUSTERS, cluster_std=1.0, random_state=3
    )


@pytest.fixture(autouse=True)
def short_starts(monkeypatch):
    monkeypatch.setattr("credalis.cluster.nnevclus._blocks._START_UPDATES", 100)
    monkeypatch.setattr("credalis.cluster._framework._fit.SAMPLE_ROWS", 1500)


def masses(model, X):
    return model.predict_partition(X).masses


@pytest.mark.parametrize("solver", ["adam", "rmsprop"])
def test_both_engines_learn_the_same_from_blocks(blobs, solver):
    X, y = blobs
    labels = {int(np.flatnonzero(y == k)[0]): k for k in range(N_CLUSTERS)}
    pair = np.flatnonzero(y == 0)[-2:]
    model = clone(TORCH).set_params(dtype="float64", solver=solver)
    ours = clone(model).set_params(engine="numpy")
    for each in (model, ours):
        each.fit(ArraySource(X), partial_labels=labels, must_link=[pair])
    # RMSprop is slow, and these are few updates.
    assert (model.predict(X) == y).mean() > (0.97 if solver == "adam" else 0.7)
    np.testing.assert_allclose(masses(model, X), masses(ours, X), atol=1e-6)
    assert model.loss_ == pytest.approx(ours.loss_, rel=1e-6)


@pytest.mark.parametrize("early_stopping", [False, True])
def test_a_killed_fit_continues_with_the_same_bits(
    early_stopping, blobs, tmp_path, monkeypatch
):
    X, _ = blobs
    model = clone(TORCH).set_params(early_stopping=early_stopping)
    undisturbed = clone(model).fit(ArraySource(X))
    write, states = Checkpoint.write, []

    def write_and_die(self, state):
        write(self, state)
        states.append(state)
        if len(states) == 2:
            raise InterruptedError

    checkpoint = Checkpoint(tmp_path / "fit.checkpoint", seconds=0)
    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "write", write_and_die)
        with pytest.raises(InterruptedError):
            clone(model).fit(ArraySource(X), checkpoint=checkpoint)
    assert states[-1]["optimizer"]["sums"].shape[0] == 2
    continued = clone(model).fit(ArraySource(X), checkpoint=checkpoint)
    np.testing.assert_array_equal(masses(continued, X), masses(undisturbed, X))


def test_partitions_are_trained_by_torch(blobs):
    dask = pytest.importorskip("dask")
    da = pytest.importorskip("dask.array")
    X, y = blobs
    lazy = da.from_array(X, chunks=(1500, 3))
    with dask.config.set(scheduler="synchronous"):
        model = clone(TORCH).fit(lazy)
        ours = clone(TORCH).set_params(engine="numpy").fit(lazy)
    assert adjusted_rand_score(y, model.predict(X)) > 0.97
    np.testing.assert_allclose(masses(model, X), masses(ours, X), atol=0.02)
    with dask.config.set(scheduler="threads", num_workers=3):
        again = clone(TORCH).fit(lazy)
    np.testing.assert_array_equal(masses(again, X), masses(model, X))


class Noisy(torch.nn.Module):
    """Draws random numbers in training."""

    def __init__(self, n_outputs):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(3, 8),
            torch.nn.ReLU(),
            torch.nn.Dropout(0.2),
            torch.nn.Linear(8, n_outputs),
        )

    def forward(self, x):
        return self.layers(x)


def test_modules_are_trained_on_blocks(blobs):
    X, y = blobs
    model = clone(TORCH).set_params(module=Noisy)
    first, again = (clone(model).fit(ArraySource(X)) for _ in range(2))
    assert adjusted_rand_score(y, first.predict(X)) > 0.9
    np.testing.assert_array_equal(masses(first, X), masses(again, X))
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="module must be None for a Dask collection"):
        clone(model).fit(da.from_array(X, chunks=(1500, 3)))
    with pytest.raises(ValueError, match="checkpoint must be None: module"):
        clone(model).fit(ArraySource(X), checkpoint="fit.checkpoint")


def test_an_optimiser_continues_from_its_arrays():
    from credalis.network import torch_engine

    rng = np.random.default_rng(0)
    gradients = [torch.tensor(rng.normal(size=5)) for _ in range(6)]
    for solver in ("adam", "rmsprop"):
        results = []
        for cut in (0, 3):
            vector = torch.ones(5, dtype=torch.float64)
            update = torch_engine().TorchUpdate(solver, 0.1)
            assert update.state() == {}
            for k, gradient in enumerate(gradients):
                if cut and k == cut:
                    saved = update.state()
                    update = torch_engine().TorchUpdate(solver, 0.1)
                    update.restore(saved)
                update.step(vector, gradient)
            results.append(vector.numpy())
            assert update.state()["n_steps"] == 6
        np.testing.assert_array_equal(*results)
