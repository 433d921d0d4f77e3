"""The training of NN-EVCLUS: one loop, whatever the rows come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from credalis._control import poll, stoppable
from credalis.cluster._framework._solution import to_nobody
from credalis.cluster.nnevclus._settings import Settings
from credalis.network import BlockTrainer, TrainingData, full_objective, torch_engine
from credalis.optimize import (
    GradientTrace,
    cosine_schedule,
    minimize_adaptive,
    minimize_together,
)

Report = Callable[[int, float], None]

# Epochs without improvement after which training with a constant rate, or on the
# validation objects, ends.
_PATIENCE = 100
_VALIDATION_PATIENCE = 20

# How exact a full-batch solver takes δ*: far below what changes of the loss end it.
_ACCURACY, _SHARE_OF_TOLERANCE = 1e-7, 1e-3

# Steps that L-BFGS remembers: with fewer it takes more of them. But those of large
# networks would take more memory and time than the network, so that they are fewer.
_MEMORY, _LEAST_MEMORY = 40, 10
_MAX_REMEMBERED = 2_000_000


@dataclass(frozen=True, eq=False)
class TrainingState:
    """Where a training is.

    Attributes
    ----------
    parameters : array of shape (n_parameters,)
        What the next update changes.
    optimizer : mapping
        Sums of the optimiser; empty before the first update.
    n_steps : int
        Updates so far.
    n_passes, n_chunks : int
        Passes that have ended, and chunks of rows of the current one.
    losses, weights : tuple of float
        Mean costs of these chunks, and how much they count.
    history : tuple of float
        Mean costs of the passes.
    best : array of shape (n_parameters,) or None
        The best parameters at the end of a pass, where these are compared.
    best_loss, best_pass : float, int
        Their cost, and after which pass they were met.
    has_converged, is_interrupted : bool
        Whether the training had settled, and whether its user ended it.
    """

    parameters: NDArray[np.floating]
    optimizer: Mapping[str, Any] = field(default_factory=dict)
    n_steps: int = 0
    n_passes: int = 0
    n_chunks: int = 0
    losses: tuple[float, ...] = ()
    weights: tuple[float, ...] = ()
    history: tuple[float, ...] = ()
    best: NDArray[np.floating] | None = None
    best_loss: float = np.inf
    best_pass: int = 0
    has_converged: bool = True
    is_interrupted: bool = False

    def with_loss(self) -> TrainingState:
        """The state with the mean cost of its pass, if there is one, in the history."""
        if not self.losses:
            return self
        loss = float(np.average(self.losses, weights=self.weights))
        return replace(self, losses=(), weights=(), history=(*self.history, loss))

    def with_pass_ended(self) -> TrainingState:
        """The state at the beginning of the next pass."""
        return replace(self.with_loss(), n_passes=self.n_passes + 1, n_chunks=0)

    def trace(self) -> GradientTrace:
        """Parameters and losses for a solution."""
        return GradientTrace(
            self.parameters.astype(np.float64),
            np.array(self.history),
            self.has_converged,
            self.is_interrupted,
        )


@dataclass(frozen=True)
class Schedule:
    """Learning rates: constant, or falling along a cosine to 0.

    ``n_positions`` are updates, or whatever else a feed counts; None: constant.
    """

    first_rate: float
    n_positions: int | None

    def rate(self, position: int) -> float:
        """The learning rate at a position."""
        if self.n_positions is None:
            return self.first_rate
        return self.first_rate * cosine_schedule(position, self.n_positions)


class TrainingSettings(Protocol):
    """What a training in passes asks of its settings."""

    @property
    def solver(self) -> str:
        """Kind of update."""

    @property
    def learning_rate(self) -> float:
        """The first one."""

    @property
    def batch_size(self) -> int:
        """Objects in a block."""

    @property
    def max_iter(self) -> int:
        """Number of passes."""

    @property
    def tol(self) -> float:
        """Relative decrease of the cost that counts as one."""

    @property
    def dtype(self) -> type:
        """Of the numbers used in training."""


class Trainer(Protocol):
    """Cost and gradient over blocks of rows."""

    def vector(self, parameters: Any) -> Any:
        """A copy of parameters as the trainer takes them."""

    def array(self, vector: Any) -> NDArray[np.float64]:
        """Inverse of `vector`."""

    def optimizer(self, solver: str, learning_rate: float) -> Any:
        """What changes parameters, given their gradient."""

    def epoch(
        self,
        parameters: Any,
        rng: np.random.RandomState,
        update: Callable[[Any, Any], None],
    ) -> float:
        """One update for each block; the mean cost."""


class Chunk(Protocol):
    """Rows that are trained on before the next state is looked at."""

    def trained(self, state: TrainingState, schedule: Schedule) -> TrainingState:
        """The state after one update for each block of the rows."""


class Feed(Protocol):
    """Where the rows come from."""

    @property
    def n_positions(self) -> int | None:
        """Length of a schedule for all passes; None if there is no end."""

    def chunks(self, state: TrainingState) -> Iterable[Chunk]:
        """The chunks of the current pass that remain."""


@dataclass(frozen=True, eq=False)
class LocalChunk:
    """Rows in the memory of this process.

    Attributes
    ----------
    trainer : Trainer
        Cost and gradient over blocks of the rows.
    solver : str
        Kind of update.
    rng : RandomState
        Draws the blocks.
    number : int
        Which chunk of its pass this is.
    weight : float
        How much its loss counts in that of the pass.
    """

    trainer: Trainer
    solver: str
    rng: np.random.RandomState
    number: int = 0
    weight: float = 1.0

    def trained(self, state: TrainingState, schedule: Schedule) -> TrainingState:
        """The state after one update for each block of the rows."""
        parameters = self.trainer.vector(state.parameters)
        optimizer = self.trainer.optimizer(self.solver, schedule.first_rate)
        optimizer.restore(state.optimizer)
        n_steps = state.n_steps

        def update(parameters: Any, gradient: Any) -> None:
            nonlocal n_steps
            poll()
            rate = schedule.rate(n_steps)
            optimizer.step(parameters, gradient, learning_rate=rate)
            n_steps += 1

        loss = self.trainer.epoch(parameters, self.rng, update)
        check_finite_loss(loss, n_steps)
        return replace(
            state,
            parameters=self.trainer.array(parameters),
            optimizer=optimizer.state(),
            n_steps=n_steps,
            n_chunks=self.number + 1,
            losses=(*state.losses, loss),
            weights=(*state.weights, self.weight),
        )


@dataclass(frozen=True, eq=False)
class MemoryFeed:
    """All rows in every pass.

    ``n_positions`` is the number of updates in all passes, None if more may follow.
    """

    trainer: Trainer
    solver: str
    rng: np.random.RandomState
    n_positions: int | None

    def chunks(self, state: TrainingState) -> Iterable[Chunk]:
        """All rows."""
        yield LocalChunk(self.trainer, self.solver, self.rng)


def train(
    settings: TrainingSettings,
    feed: Feed,
    state: TrainingState,
    evaluate: Callable[[TrainingState], float] | None = None,
    *,
    patience: int | None = None,
) -> Iterator[TrainingState]:
    """The state after every chunk, and after every pass that remains.

    Parameters
    ----------
    settings : TrainingSettings
        Solver, learning rate and number of passes.
    feed : Feed
        Rows.
    state : TrainingState
        Where to begin.
    evaluate : callable, default=None
        Cost of a state at the end of a pass, by which the best is kept; None: none is.
    patience : int, default=None
        Passes without a better state after which the training has settled; None: the
        schedule ends it.
    """
    falls = settings.solver == "adam"
    schedule = Schedule(settings.learning_rate, feed.n_positions if falls else None)
    while state.n_passes < settings.max_iter:
        for chunk in feed.chunks(state):
            state = chunk.trained(state, schedule)
            yield state
        state = state.with_pass_ended()
        if evaluate is not None:
            loss = evaluate(state)
            if loss < state.best_loss * (1 - settings.tol):
                state = replace(
                    state,
                    best=state.parameters,
                    best_loss=loss,
                    best_pass=state.n_passes,
                )
            elif patience and state.n_passes - state.best_pass >= patience:
                yield replace(state, has_converged=True)
                return
        yield state


def run(
    states: Iterator[TrainingState],
    state: TrainingState,
    visit: Callable[[TrainingState], None] | None = None,
) -> TrainingState:
    """The last of the states, all of which are visited; a stop keeps what there is."""
    with stoppable(lambda: state.n_steps > 0) as ending:
        for state in states:
            if visit is not None:
                visit(state)
    if ending.is_early:
        return replace(state.with_loss(), is_interrupted=True)
    return state


def train_in_memory(
    network: Any,
    start: NDArray[np.float64],
    data: TrainingData,
    validation: TrainingData | None,
    settings: Settings,
    rng: np.random.RandomState,
    report: Report,
) -> GradientTrace:
    """Parameters of a trained network and the losses on the way."""
    with engine_context(network, settings, rng):
        if settings.is_full_batch:
            (trace,) = train_together(network, start[None], data, settings, report)
            return trace
        return _best_epoch(network, start, data, validation, settings, rng, report)


def train_together(
    network: Any,
    starts: NDArray[np.float64],
    data: TrainingData,
    settings: Settings,
    report: Report,
    *,
    halve_at: tuple[int, ...] = (),
) -> list[GradientTrace]:
    """How a full-batch solver goes from each of the starts, the rows of a matrix.

    The worse half of the starts is dropped after some iterations, if there are any.
    """
    objective = _objective(network, data, settings)
    if settings.runs_together:
        traces = minimize_together(
            objective,
            starts,
            tol=settings.tol,
            max_iter=settings.max_iter,
            memory=_memory(starts.size),
            halve_at=halve_at,
            report=None if report is to_nobody else report,
        )
    else:
        traces = [
            minimize_adaptive(
                objective,
                start,
                tol=settings.tol,
                max_iter=settings.max_iter,
                report=report,
            )
            for start in starts
        ]
    # The value at the start belongs to no iteration.
    return [
        replace(trace, losses=trace.losses[1:]) if trace.n_iter > 1 else trace
        for trace in traces
    ]


def _memory(n_numbers: int) -> int:
    """Steps to remember of starts that have so many parameters together."""
    return min(max(_MAX_REMEMBERED // n_numbers, _LEAST_MEMORY), _MEMORY)


def engine_context(
    network: Any, settings: Settings, rng: np.random.RandomState
) -> AbstractContextManager[None]:
    """What the engine wants around a training."""
    if settings.engine == "torch":
        return torch_engine().training(network, rng)
    return nullcontext()


def block_trainer(network: Any, data: TrainingData, settings: Settings) -> BlockTrainer:
    """What trains a network block by block on an engine."""
    if settings.engine == "torch":
        return torch_engine().TorchTrainer(
            network, data, settings.batch_size, device=settings.device
        )
    return BlockTrainer(network, data, settings.batch_size)


def check_finite_loss(loss: float, n_steps: int) -> None:
    """Refuse a training that has diverged."""
    if not np.isfinite(loss):
        raise ValueError(
            f"the loss must stay finite, it is {loss} after {n_steps} updates: "
            "lower learning_rate_init"
        )


def _objective(
    network: Any, data: TrainingData, settings: Settings
) -> Callable[[NDArray[np.float64]], tuple[Any, NDArray[np.float64]]]:
    """Cost of all pairs and its gradient, at one point or at several."""
    if settings.engine != "torch":
        accuracy = min(_ACCURACY, _SHARE_OF_TOLERANCE * settings.tol)
        return full_objective(network, data, accuracy)
    at_point = torch_engine().torch_objective(network, data, settings.device)

    def at_points(points: NDArray[np.float64]) -> tuple[Any, NDArray[np.float64]]:
        if points.ndim == 1:
            return at_point(points)
        values, gradients = zip(*map(at_point, points), strict=True)
        return np.array(values, dtype=np.float64), np.array(gradients, dtype=np.float64)

    return at_points


def _best_epoch(
    network: Any,
    start: NDArray[np.float64],
    data: TrainingData,
    validation: TrainingData | None,
    settings: Settings,
    rng: np.random.RandomState,
    report: Report,
) -> GradientTrace:
    """Random blocks of objects, one update each; the best epoch is kept."""
    trainer = validator = block_trainer(network, data, settings)
    patience = _PATIENCE if settings.solver == "rmsprop" else None
    if validation is not None:
        plain = replace(network, weight_decay=0.0)
        validator = block_trainer(plain, validation, settings)
        patience = _VALIDATION_PATIENCE

    def value(parameters: NDArray[np.floating]) -> float:
        return validator.evaluate(validator.vector(parameters))

    def evaluate(state: TrainingState) -> float:
        is_validated = validation is not None
        loss = value(state.parameters) if is_validated else state.history[-1]
        report(state.n_passes, loss)
        return loss

    feed = MemoryFeed(
        trainer, settings.solver, rng, settings.max_iter * trainer.n_blocks
    )
    begin = TrainingState(start, best=start, has_converged=settings.solver == "adam")
    state = run(train(settings, feed, begin, evaluate, patience=patience), begin)
    # The losses of an epoch are those before its updates: compare once more.
    assert state.best is not None
    best, best_loss = state.best, value(state.best)
    if best is not state.parameters:
        last_loss = value(state.parameters)
        if last_loss < best_loss:
            best, best_loss = state.parameters, last_loss
    loss = best_loss
    if validation is not None:
        loss = trainer.evaluate(trainer.vector(best))
    return replace(state, parameters=best, history=(*state.history[:-1], loss)).trace()
