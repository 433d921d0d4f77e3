"""A network that learns the masses of the committee."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets
from credalis.cluster.consensus._student import Student
from credalis.cluster.nnevclus._training import (
    LocalChunk,
    MemoryFeed,
    TrainingState,
    run,
    train,
)
from credalis.network import (
    CredalNetwork,
    Perceptron,
    SideInformation,
    with_constant,
)
from credalis.objectives import Objective
from credalis.optimize import Adam, GradientTrace, minimize_lbfgs

if TYPE_CHECKING:
    from credalis.cluster.consensus._consensus import Consensus

Array = NDArray[np.float64]
Floats = NDArray[np.floating]
Indices = NDArray[np.intp]
Report = Callable[[int, float], None]

# Units of the hidden layer that "auto" stands for.
HIDDEN_UNITS = 64

# Iterations over all rows at once, and up to how many rows.
N_ITERATIONS = 150
MAX_FULL_BATCH = 4000

# Beyond, so many updates by blocks, in no fewer passes, follow a start on few rows.
BATCH_SIZE = 200
_N_UPDATES = 3000
_MIN_PASSES = 3

_LEARNING_RATE = 0.003

# In standard deviations of the sample: a row that is farther away in a column, as one
# with a wrong decimal point, would decide alone how the weights change.
_FARTHEST = 100.0

# Masses count as no smaller than this in logarithms.
_SMALLEST_MASS = 1e-9


@dataclass(frozen=True, eq=False)
class Distillation:
    """How the network is trained.

    Attributes
    ----------
    hidden : tuple of int
        Units of each hidden layer.
    weight_decay : float
        λ.
    max_iter : int
        Iterations over all rows at once, or passes.
    solver : {"lbfgs", "adam"}
        All rows at once, or blocks.
    tol : float
        Relative decrease below which training ends.
    has_fixed_length : bool
        Whether it is no fault if the last iteration is met.
    """

    hidden: tuple[int, ...]
    weight_decay: float
    max_iter: int
    solver: str
    tol: float
    has_fixed_length: bool
    learning_rate: float = _LEARNING_RATE
    batch_size: int = BATCH_SIZE
    dtype: type = np.float32

    @classmethod
    def of(
        cls, estimator: Consensus, n_rows: int, mode: str = "memory"
    ) -> Distillation:
        """As the parameters of an estimator say, for so many rows."""
        sizes, max_iter = estimator.hidden_layer_sizes, estimator.max_iter
        is_small = mode == "memory" and n_rows <= MAX_FULL_BATCH
        is_auto = isinstance(max_iter, str)
        if is_small:
            length = N_ITERATIONS
        elif mode == "memory":
            length = max(_MIN_PASSES, round(_N_UPDATES * BATCH_SIZE / n_rows))
        else:
            length = 1
        return cls(
            (HIDDEN_UNITS,)
            if isinstance(sizes, str)
            else tuple(int(size) for size in np.atleast_1d(sizes)),
            estimator.weight_decay,
            length if is_auto else int(max_iter),
            "lbfgs" if is_small else "adam",
            estimator.tol,
            is_auto or not is_small,
        )


@dataclass(frozen=True, eq=False)
class CrossEntropy(Objective):
    """H = -(1/n) Σ_i Σ_A t_i(A) log m_i(A) for target masses t.

    Parameters
    ----------
    targets : array of shape (n_focal_sets, n_samples)
        t, columns summing to 1.
    """

    targets: Floats

    def value_and_gradient(self, masses: Floats) -> tuple[float, Floats]:
        """H and ∂H/∂m = -t / (n m)."""
        bounded = np.maximum(masses, _SMALLEST_MASS)
        n_samples = masses.shape[1]
        value = -float(np.vdot(self.targets, np.log(bounded))) / n_samples
        return value, self.targets / (-n_samples * bounded)


@dataclass(frozen=True, eq=False)
class Lesson:
    """Rows in memory with the masses that the network shall give them.

    Attributes
    ----------
    inputs : array of shape (n_inputs + 1, n_samples)
        Standardised rows as columns below a row of ones.
    targets : array of shape (n_focal_sets, n_samples)
        Masses.
    focal_sets : FocalSets
        What the masses are on.
    information : SideInformation
        Labels and pairs.
    """

    inputs: Floats
    targets: Floats
    focal_sets: FocalSets
    information: SideInformation

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.inputs.shape[1]

    @property
    def is_informed(self) -> bool:
        """Whether anything is known about the rows."""
        return self.information.has_labels or self.information.has_constraints

    def astype(self, dtype: type) -> Lesson:
        """The same in numbers of another type."""
        return replace(
            self,
            inputs=self.inputs.astype(dtype),
            targets=self.targets.astype(dtype),
        )

    def some(self, rows: Indices) -> Lesson:
        """The same for some rows, with what is known about them."""
        return replace(
            self,
            inputs=self.inputs[:, rows],
            targets=self.targets[:, rows],
            information=self.information.restricted(rows, self.n_samples),
        )

    def objective(self) -> Objective:
        """(1 - ν) cross-entropy + ν label term + ξ pair term."""
        entropy: Objective = CrossEntropy(self.targets)
        extra = self.information.objective(self.n_samples, self.focal_sets)
        if extra is None:
            return entropy
        return self.information.stress_weight * entropy + extra


@dataclass(frozen=True, eq=False)
class LessonTrainer:
    """Cost and gradient over random blocks of rows.

    Parameters
    ----------
    network : CredalNetwork
        What is trained.
    lesson : Lesson
        On what.
    batch_size : int
        Rows in a block.
    """

    network: CredalNetwork
    lesson: Lesson
    batch_size: int

    @property
    def n_blocks(self) -> int:
        """Blocks in a pass."""
        return max(1, self.lesson.n_samples // self.batch_size)

    def vector(self, parameters: Floats) -> Floats:
        """A copy of parameters, of the type of the inputs."""
        return parameters.astype(self.lesson.inputs.dtype)

    def array(self, vector: Floats) -> Array:
        """Inverse of `vector`."""
        return vector.astype(np.float64)

    def optimizer(self, solver: str, learning_rate: float) -> Any:
        """What changes parameters, given their gradient."""
        return Adam(learning_rate)

    def epoch(
        self,
        parameters: Floats,
        rng: np.random.RandomState,
        update: Callable[[Floats, Floats], None],
    ) -> float:
        """One update, in place, for each block of the rows in random order.

        Returns the mean cost of the blocks, each before its update.
        """
        gradient, total = np.empty_like(parameters), 0.0
        order = rng.permutation(self.lesson.n_samples)
        for rows in np.array_split(order, self.n_blocks):
            total += self._cost(rows, rng, parameters, gradient)
            update(parameters, gradient)
        return total / self.n_blocks

    def _cost(
        self,
        rows: Indices,
        rng: np.random.RandomState,
        parameters: Floats,
        gradient: Floats,
    ) -> float:
        """Cost of a block and of some of what is known; its slopes into gradient."""
        lesson = self.lesson
        inputs = lesson.inputs[:, rows]
        entropy = CrossEntropy(lesson.targets[:, rows])
        objective = entropy.value_and_gradient
        if lesson.is_informed:
            known, information = lesson.information.sample(self.batch_size, rng)
            inputs = np.concatenate([inputs, lesson.inputs[:, known]], axis=1)
            extra = information.objective(len(known), lesson.focal_sets)
            assert extra is not None
            objective = partial(
                _with_known, entropy, extra, information.stress_weight, len(rows)
            )
        return self.network.value_and_gradient(
            parameters, inputs, None, objective, gradient
        )


def _with_known(
    entropy: CrossEntropy,
    extra: Objective,
    weight: float,
    n_block: int,
    masses: Floats,
) -> tuple[float, Floats]:
    """Cross-entropy of the first columns, side information on the others."""
    value, slopes = entropy.value_and_gradient(masses[:, :n_block])
    extra_value, extra_slopes = extra.value_and_gradient(
        np.ascontiguousarray(masses[:, n_block:])
    )
    gradient = np.concatenate([weight * slopes, extra_slopes], axis=1)
    return weight * value + extra_value, gradient.astype(masses.dtype, copy=False)


def taught(
    lesson: Lesson,
    settings: Distillation,
    first_rows: Indices,
    rng: np.random.RandomState,
    report: Report,
) -> tuple[CredalNetwork, GradientTrace]:
    """A network for rows in memory, from random weights.

    Parameters
    ----------
    lesson : Lesson
        Rows and their masses.
    settings : Distillation
        How to train.
    first_rows : array of int
        Rows that a training in blocks starts with, all at once.
    rng : RandomState
        Draws weights and blocks.
    report : callable
        Told of iterations and costs.
    """
    sizes = (len(lesson.inputs) - 1, *settings.hidden, len(lesson.targets))
    network = CredalNetwork(
        Perceptron(sizes), lesson.focal_sets.empty_index, None, settings.weight_decay
    )
    start = network.initial_parameters(rng)
    if settings.solver == "lbfgs":
        return network, _learned(network, lesson, start, settings, report)
    # Whoever has learned what a few rows say learns from blocks in fewer passes.
    short = replace(settings, max_iter=N_ITERATIONS)
    first = _learned(network, lesson.some(first_rows), start, short, None)
    if first.interrupted:
        return network, first
    trainer = LessonTrainer(network, lesson.astype(settings.dtype), settings.batch_size)
    n_positions = settings.max_iter * trainer.n_blocks
    feed = MemoryFeed(trainer, "adam", rng, n_positions)

    def visit(state: TrainingState) -> None:
        if state.history:
            report(state.n_passes, state.history[-1])

    begin = TrainingState(first.state)
    state = run(train(settings, feed, begin), begin, visit)
    return network, state.trace()


def lesson_cost(
    network: CredalNetwork, lesson: Lesson, objective: Objective, parameters: Array
) -> tuple[float, Array]:
    """L over all rows of a lesson, and its derivatives."""
    gradient = np.empty_like(parameters)
    value = network.value_and_gradient(
        parameters, lesson.inputs, None, objective.value_and_gradient, gradient
    )
    return value, gradient


def lesson_of(
    student: Student,
    targets_of: Callable[[Array], Array],
    rows: Array,
    dtype: type,
) -> Lesson:
    """Rows of a source, with the masses that they shall get."""
    inputs = np.clip(student.standardize(rows), -_FARTHEST, _FARTHEST)
    return Lesson(
        with_constant(inputs, dtype),
        np.ascontiguousarray(targets_of(rows).T, dtype=dtype),
        student.focal_sets,
        SideInformation.nothing(),
    )


def chunk_of(
    student: Student,
    targets_of: Callable[[Array], Array],
    rows: Array,
    settings: Distillation,
    rng: np.random.RandomState,
    number: int,
) -> LocalChunk:
    """Rows of a source, and how the network is trained on them."""
    lesson = lesson_of(student, targets_of, rows, settings.dtype)
    trainer = LessonTrainer(student.network, lesson, settings.batch_size)
    return LocalChunk(trainer, "adam", rng, number, weight=len(rows))


def _learned(
    network: CredalNetwork,
    lesson: Lesson,
    start: Array,
    settings: Distillation,
    report: Report | None,
) -> GradientTrace:
    """All rows in every step, and once more if clusters of few rows were not learned.

    Their rows then count as much as those of a cluster of mean size.
    """
    trace = _minimized(network, lesson, start, settings, report)
    wanted = _labels(lesson.targets, lesson.focal_sets)
    found = _labels(network.masses(trace.state, lesson.inputs), lesson.focal_sets)
    lost = np.setdiff1d(wanted, found)
    if trace.interrupted or len(lost) == 0:
        return trace
    sizes = np.bincount(wanted, minlength=lesson.focal_sets.n_clusters)
    shares = len(wanted) / (len(sizes) * np.maximum(sizes, 1))
    weights = np.where(np.isin(wanted, lost), np.maximum(shares[wanted], 1.0), 1.0)
    heavier = replace(lesson, targets=lesson.targets * weights)
    again = _minimized(network, heavier, trace.state, settings, report)
    return replace(again, losses=np.concatenate([trace.losses, again.losses]))


def _labels(masses: Floats, focal_sets: FocalSets) -> Indices:
    """Clusters of maximal plausibility of masses (n_focal_sets, n_samples)."""
    return (focal_sets.membership.T.astype(float) @ masses).argmax(axis=0)


def _minimized(
    network: CredalNetwork,
    lesson: Lesson,
    start: Array,
    settings: Distillation,
    report: Report | None,
) -> GradientTrace:
    """All rows in every step."""
    cost = partial(lesson_cost, network, lesson, lesson.objective())
    trace = minimize_lbfgs(
        cost,
        start,
        tol=settings.tol,
        max_iter=settings.max_iter,
        report=report,
    )
    if settings.has_fixed_length and not trace.interrupted:
        trace = replace(trace, converged=True)
    # The value at the start belongs to no iteration.
    return replace(trace, losses=trace.losses[1:]) if trace.n_iter > 1 else trace
