"""One training epoch of NN-EVCLUS against its bare matrix products and PyTorch."""

import warnings
from functools import partial

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning

from benchmarks.harness import Skipped, benchmark_data, compare
from credalis import NNEVCLUS, FocalSets
from credalis.cluster.nnevclus._network import network_for
from credalis.cluster.nnevclus._settings import Settings
from credalis.cluster.nnevclus._start import prepare
from credalis.cluster.nnevclus._training import train_together
from credalis.dissimilarity import StoredSimilarities, decay_rate
from credalis.network import BlockTrainer
from credalis.objectives import BlockStress
from credalis.optimize import Adam, minimize_lbfgs

# δ0 as a quantile of the distances, the default for this number of clusters.
QUANTILE = 2 / 15
N_HIDDEN = 30
N_CLUSTERS = 15
DTYPE = np.float32


def run():
    rng = np.random.default_rng(0)
    cases = []
    try:
        cases.append(("s2, 30 blocks", benchmark_data("s2"), 166))
    except Skipped as reason:
        print(f"s2 left out: {reason}")
    for batch_size in (500, 1000):
        X = rng.normal(size=(5000, 10))
        cases.append((f"d=10, blocks of {batch_size}", X, batch_size))
    measurements = []
    for name, X, batch_size in cases:
        measurements += epochs(name, X, batch_size)
    measurements += starts()
    measurements += linearity()
    measurements.append(prediction())
    return measurements


def epochs(name, X, batch_size):
    """Ours, the products alone, and the same epoch in eager PyTorch."""
    trainer, parameters = block_trainer(X, batch_size)
    optimizer = Adam(1e-3)
    rng = np.random.RandomState(0)

    def ours():
        trainer.epoch(parameters, rng, optimizer.step)

    measurements = [
        compare(
            f"epoch, {name}",
            ours,
            "bare products and exponentials",
            bare_epoch(X, batch_size),
            repeats=100,
            baseline_repeats=100,
        )
    ]
    try:
        in_torch = torch_epoch(X, batch_size)
    except ImportError:
        print("PyTorch is not installed: its epoch is left out")
        return measurements
    measurements.append(
        compare(
            f"epoch, {name}",
            ours,
            "eager PyTorch",
            in_torch,
            repeats=30,
            baseline_repeats=30,
        )
    )
    return measurements


def block_trainer(X, batch_size):
    """What the estimator trains with, from data of any size."""
    estimator = NNEVCLUS(
        N_CLUSTERS,
        solver="adam",
        batch_size=batch_size,
        dissimilarity_scale=scale_of(X),
    )
    settings = Settings.of(estimator, len(X))
    problem = prepare(settings, X, np.random.RandomState(0))
    focal_sets = FocalSets.singletons(N_CLUSTERS)
    data, _ = problem.training_data(focal_sets, problem.information)
    network = network_for(settings, problem.space, focal_sets, (N_HIDDEN,))
    parameters = network.initial_parameters(np.random.RandomState(0)).astype(DTYPE)
    return BlockTrainer(network, data, batch_size), parameters


def scale_of(X):
    return float(np.quantile(pdist(X[:1000]), QUANTILE))


def bare_epoch(X, batch_size):
    """The products of the passes and of the stress, and their exponentials."""
    n_sets = N_CLUSTERS + 2
    d = X.shape[1]
    n_blocks = len(X) // batch_size
    rng = np.random.default_rng(0)

    def matrix(*shape):
        return rng.normal(size=shape).astype(DTYPE) * 0.1

    n = batch_size
    first, second = matrix(N_HIDDEN, d + 1), matrix(n_sets, N_HIDDEN + 1)
    inputs, points = matrix(d + 1, n), matrix(d, n)
    hidden, masses = matrix(N_HIDDEN + 1, n), matrix(n_sets, n)
    disjoint = matrix(n_sets, n_sets)
    square = np.empty((n, n), dtype=DTYPE)

    def epoch():
        for _ in range(n_blocks):
            np.matmul(first, inputs)
            outputs = second @ hidden
            np.exp(outputs, out=outputs)
            against = disjoint @ masses
            np.matmul(points.T, points, out=square)
            np.exp(square, out=square)
            np.matmul(masses.T, against, out=square)
            deltas = against @ square
            np.matmul(deltas, hidden.T)
            back = second[:, 1:].T @ deltas
            np.matmul(back, inputs.T)

    return epoch


def torch_epoch(X, batch_size):
    """The same loss in PyTorch, gradients by autograd, one thread."""
    import torch

    torch.set_num_threads(1)
    focal_sets = FocalSets.singletons(N_CLUSTERS)
    inputs = torch.tensor(X, dtype=torch.float32)
    disjoint = torch.tensor(focal_sets.disjoint.astype(np.float32))
    model = torch.nn.Sequential(
        torch.nn.Linear(X.shape[1], N_HIDDEN),
        torch.nn.ReLU(),
        torch.nn.Linear(N_HIDDEN, len(focal_sets)),
        torch.nn.Softmax(dim=1),
    )
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    rate = decay_rate(scale_of(X))
    n_blocks = len(X) // batch_size

    def epoch():
        order = torch.randperm(len(inputs))
        for rows in torch.tensor_split(order, n_blocks):
            block = inputs[rows]
            n = len(block)
            masses = model(block)
            conflicts = masses @ disjoint @ masses.T
            targets = 1 - torch.exp(-rate * torch.cdist(block, block) ** 2)
            residuals = conflicts - targets
            residuals = residuals - torch.diag(torch.diagonal(residuals))
            loss = (residuals**2).sum() / (n * (n - 1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return epoch


def starts():
    """Five full-batch starts together, against one after the other by SciPy."""
    cases = [("iris", load_iris().data, 3)]
    try:
        cases.append(("fourclass", benchmark_data("fourclass"), 4))
    except Skipped as reason:
        print(f"fourclass left out: {reason}")
    measurements = []
    for name, X, n_clusters in cases:
        estimator = NNEVCLUS(n_clusters, init="random", solver="lbfgs")
        settings = Settings.of(estimator, len(X))
        problem = prepare(settings, X, np.random.RandomState(0))
        focal_sets = FocalSets.pairs(n_clusters)
        network = network_for(settings, problem.space, focal_sets)
        data, _ = problem.training_data(focal_sets, problem.information)
        first = np.array(
            [
                network.initial_parameters(np.random.RandomState(seed))
                for seed in range(5)
            ]
        )
        measurements.append(
            compare(
                f"five starts, {name}",
                partial(train_together, network, first, data, settings, None),
                "one by one, SciPy and matrices of residuals",
                partial(in_turn, network, first, data, settings),
            )
        )
    return measurements


def in_turn(network, first, data, settings):
    """The same starts without anything in common."""
    stress = BlockStress(
        StoredSimilarities(data.similarities.matrix()), data.focal_sets
    )

    def cost(parameters):
        gradient = np.empty_like(parameters)
        value = network.value_and_gradient(
            parameters, data.inputs, None, stress.value_and_gradient, gradient
        )
        return value, gradient

    for parameters in first:
        minimize_lbfgs(cost, parameters, tol=settings.tol)


def linearity():
    """Seconds of an epoch per object at 10^4 and 10^6 objects."""
    rng = np.random.default_rng(0)
    trainers = {}
    for n_samples in (10_000, 1_000_000):
        trainers[n_samples] = block_trainer(rng.normal(size=(n_samples, 10)), 200)

    def epoch(n_samples, n_epochs):
        trainer, parameters = trainers[n_samples]
        generator, optimizer = np.random.RandomState(0), Adam(1e-3)
        return lambda: [
            trainer.epoch(parameters, generator, optimizer.step)
            for _ in range(n_epochs)
        ]

    return [
        compare(
            "1 epoch of 10^6 objects, d=10",
            epoch(1_000_000, 1),
            "100 epochs of 10^4 objects",
            epoch(10_000, 100),
            repeats=2,
            baseline_repeats=2,
        )
    ]


def prediction():
    """A million objects, d = 10, 30 hidden units, 17 focal sets."""
    X, _ = make_blobs(2000, n_features=10, centers=N_CLUSTERS, random_state=0)
    model = NNEVCLUS(
        N_CLUSTERS,
        hidden_layer_sizes=(N_HIDDEN,),
        empty_set="stress",
        max_iter=5,
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    many = np.tile(X, (500, 1))

    def bare():
        first, second = (np.asarray(weights) for weights in model.weights_)
        for start in range(0, len(many), 2048):
            rows = many[start : start + 2048]
            hidden = first[:, 1:] @ rows.T
            outputs = second[:, 1:] @ hidden
            np.exp(outputs - outputs.max(axis=0))

    return compare(
        "masses of 10^6 objects",
        lambda: model.transform(many),
        "bare products and exponentials",
        bare,
        repeats=3,
    )
