"""One start of NNEVCLUS: from initial weights to a trained network."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis.network import (
    BlockTrainer,
    TrainingData,
    full_objective,
    torch_engine,
)
from credalis.optimize import (
    GradientTrace,
    cosine_schedule,
    minimize_adaptive,
    minimize_lbfgs,
)

Report = Callable[[int, float], None]

FULL_BATCH = ("lbfgs", "adaptive")
MINI_BATCH = ("adam", "rmsprop")
SOLVERS = (*FULL_BATCH, *MINI_BATCH)

# Epochs without improvement after which training with a constant rate, or on the
# validation objects, ends.
_PATIENCE = 100
_VALIDATION_PATIENCE = 20

# Iterations, or the share of the epochs, in which seeds count as labels.
_SEED_ITERATIONS = 40
_SEED_SHARE = 0.5


@dataclass(frozen=True)
class Settings:
    """How a network is trained."""

    solver: str
    max_iter: int
    tol: float
    dtype: type
    batch_size: int
    learning_rate: float
    engine: str = "numpy"
    device: Any = "cpu"

    def short(self) -> "Settings":
        """The same with few iterations, enough to show a network its seeds."""
        if self.solver in FULL_BATCH:
            return replace(self, max_iter=min(self.max_iter, _SEED_ITERATIONS))
        n_epochs = round(_SEED_SHARE * self.max_iter)
        return replace(self, max_iter=max(1, n_epochs))


def train(
    network: Any,
    start: NDArray[np.float64],
    data: TrainingData,
    validation: TrainingData | None,
    settings: Settings,
    rng: np.random.RandomState,
    report: Report,
) -> GradientTrace:
    """Parameters of a trained network and the losses on the way."""
    surroundings = (
        torch_engine().training(network, rng)
        if settings.engine == "torch"
        else nullcontext()
    )
    with surroundings:
        if settings.solver in FULL_BATCH:
            return _train_at_once(network, start, data, settings, report)
        return _train_blocks(network, start, data, validation, settings, rng, report)


def block_trainer(
    network: Any, data: TrainingData, batch_size: int, engine: str, device: Any
) -> BlockTrainer:
    """What trains a network block by block on an engine."""
    if engine == "torch":
        return torch_engine().TorchTrainer(network, data, batch_size, device=device)
    return BlockTrainer(network, data, batch_size)


def _train_at_once(
    network: Any,
    start: NDArray[np.float64],
    data: TrainingData,
    settings: Settings,
    report: Report,
) -> GradientTrace:
    """All pairs in every step."""
    objective = (
        torch_engine().torch_objective(network, data, settings.device)
        if settings.engine == "torch"
        else full_objective(network, data)
    )
    minimize = minimize_lbfgs if settings.solver == "lbfgs" else minimize_adaptive
    trace = minimize(
        objective,
        start,
        tol=settings.tol,
        max_iter=settings.max_iter,
        report=report,
    )
    # The value at the start belongs to no iteration.
    return replace(trace, losses=trace.losses[1:]) if trace.n_iter > 1 else trace


def _train_blocks(
    network: Any,
    start: NDArray[np.float64],
    data: TrainingData,
    validation: TrainingData | None,
    settings: Settings,
    rng: np.random.RandomState,
    report: Report,
) -> GradientTrace:
    """Random blocks of objects, one update each; the best epoch is kept."""
    trainer = judge = block_trainer(
        network, data, settings.batch_size, settings.engine, settings.device
    )
    if validation is not None:
        judge = _judge(network, validation, settings)
    parameters = trainer.vector(start)
    update = _updater(settings, trainer)
    patience = _PATIENCE if validation is None else _VALIDATION_PATIENCE
    has_patience = validation is not None or settings.solver == "rmsprop"
    losses: list[float] = []
    best, best_loss, best_epoch = trainer.vector(start), np.inf, 0
    converged = settings.solver == "adam"
    try:
        for epoch in range(1, settings.max_iter + 1):
            losses.append(trainer.epoch(parameters, rng, update))
            loss = losses[-1]
            if not np.isfinite(loss):
                raise ValueError(
                    f"the loss must stay finite, it is {loss} after epoch {epoch}: "
                    "lower learning_rate_init"
                )
            if validation is not None:
                loss = judge.evaluate(parameters)
            report(epoch, loss)
            if loss < best_loss * (1 - settings.tol):
                best[:], best_loss, best_epoch = parameters, loss, epoch
            elif has_patience and epoch - best_epoch >= patience:
                converged = True
                break
    except KeyboardInterrupt:
        if not losses:
            raise
        interrupted = True
    else:
        interrupted = False
    # The losses of an epoch are those before its updates: compare once more.
    last_loss, best_loss = judge.evaluate(parameters), judge.evaluate(best)
    if last_loss < best_loss:
        best, best_loss = parameters, last_loss
    losses[-1] = best_loss if judge is trainer else trainer.evaluate(best)
    return GradientTrace(trainer.array(best), np.array(losses), converged, interrupted)


def _judge(network: Any, validation: TrainingData, settings: Settings) -> BlockTrainer:
    plain = replace(network, weight_decay=0.0)
    return block_trainer(
        plain, validation, settings.batch_size, settings.engine, settings.device
    )


def _updater(settings: Settings, trainer: BlockTrainer) -> Callable[[Any, Any], None]:
    """A function that changes parameters in place, given their gradient."""
    optimizer = trainer.optimizer(settings.solver, settings.learning_rate)
    if settings.solver == "rmsprop":
        return optimizer.step
    n_steps = settings.max_iter * trainer.n_blocks
    step = 0

    def update(parameters, gradient):
        nonlocal step
        rate = settings.learning_rate * cosine_schedule(step, n_steps)
        optimizer.step(parameters, gradient, learning_rate=rate)
        step += 1

    return update
