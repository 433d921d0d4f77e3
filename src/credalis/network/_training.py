"""Training of a credal network, on all objects at once or block by block."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets
from credalis.dissimilarity import MAX_STORED, Similarities
from credalis.network._model import CredalNetwork, DeferredInputs, MassObjective
from credalis.objectives import (
    BlockStress,
    DenseStress,
    LabelFit,
    Objective,
    PairConstraints,
    PartStress,
    SampledStress,
    WeightedStress,
    block_stress,
    residual_store,
)
from credalis.optimize import Adam, RMSprop

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SideInformation:
    """What is known about some objects, and how much it counts.

    The cost of a network is (1 - ν) stress + ν label term + ξ constraint term.

    Parameters
    ----------
    objects, labels : array of int, shape (n_labelled,)
        Objects whose cluster is known, and their clusters.
    must_link, cannot_link : array of int, shape (n_pairs, 2)
        Objects known to be in the same cluster, and in different ones.
    label_weight : float
        ν, used if there are labels.
    constraint_weight : float
        ξ, used if there are constraints.
    """

    objects: Indices
    labels: Indices
    must_link: Indices
    cannot_link: Indices
    label_weight: float
    constraint_weight: float

    @classmethod
    def nothing(cls) -> "SideInformation":
        """No labels and no pairs."""
        no_objects = np.empty(0, dtype=np.intp)
        no_pairs = np.empty((0, 2), dtype=np.intp)
        return cls(no_objects, no_objects, no_pairs, no_pairs, 0.0, 0.0)

    def without_pairs(self) -> "SideInformation":
        """The same without must-links and cannot-links."""
        no_pairs = np.empty((0, 2), dtype=np.intp)
        return replace(self, must_link=no_pairs, cannot_link=no_pairs)

    @property
    def has_labels(self) -> bool:
        """Whether any label is known."""
        return len(self.objects) > 0

    @property
    def has_constraints(self) -> bool:
        """Whether there is any constraint."""
        return len(self.must_link) + len(self.cannot_link) > 0

    @property
    def stress_weight(self) -> float:
        """1 - ν, or 1 without labels."""
        return 1.0 - self.label_weight if self.has_labels else 1.0

    def objective(self, n_samples: int, focal_sets: FocalSets) -> Objective | None:
        """The weighted terms on the masses of all objects, None if nothing is known."""
        terms = []
        if self.has_labels:
            fit = LabelFit(self.objects, self.labels, focal_sets)
            terms.append(self.label_weight * fit)
        if self.has_constraints:
            links = PairConstraints(
                self.must_link, self.cannot_link, n_samples, focal_sets
            )
            terms.append(self.constraint_weight * links)
        if not terms:
            return None
        return terms[0] if len(terms) == 1 else terms[0] + terms[1]

    def restricted(self, objects: Indices, n_samples: int) -> "SideInformation":
        """What is known about some objects, by their position among them."""
        position = np.full(n_samples, -1, dtype=np.intp)
        position[objects] = np.arange(len(objects))
        is_kept = position[self.objects] >= 0
        must, cannot = position[self.must_link], position[self.cannot_link]
        return SideInformation(
            position[self.objects[is_kept]],
            self.labels[is_kept],
            must[(must >= 0).all(axis=1)],
            cannot[(cannot >= 0).all(axis=1)],
            self.label_weight,
            self.constraint_weight,
        )

    def sample(
        self, n_items: int, rng: np.random.RandomState
    ) -> tuple[Indices, "SideInformation"]:
        """At most n_items labels and n_items constraints, drawn at random.

        Returns
        -------
        objects : array of int
            The objects concerned.
        information : SideInformation
            What is known about them, by their position in ``objects``.
        """
        objects, labels = self.objects, self.labels
        if len(objects) > n_items:
            chosen = rng.choice(len(objects), n_items, replace=False)
            objects, labels = objects[chosen], labels[chosen]
        must_link, cannot_link = self.must_link, self.cannot_link
        n_must, n_pairs = len(must_link), len(must_link) + len(cannot_link)
        if n_pairs > n_items:
            chosen = rng.choice(n_pairs, n_items, replace=False)
            cannot_link = cannot_link[chosen[chosen >= n_must] - n_must]
            must_link = must_link[chosen[chosen < n_must]]
        concerned, positions = np.unique(
            np.concatenate([objects, must_link.ravel(), cannot_link.ravel()]),
            return_inverse=True,
        )
        ends = np.cumsum([len(objects), must_link.size])
        first, second, third = np.split(positions, ends)
        return concerned, SideInformation(
            first,
            labels,
            second.reshape(-1, 2),
            third.reshape(-1, 2),
            self.label_weight,
            self.constraint_weight,
        )


Array = NDArray[np.floating]

# Above this density of sampled pairs a full matrix of weights is faster than a sparse
# one, as long as it fits in memory comfortably. Measured.
_DENSE_SHARE = 0.03
_MAX_DENSE = 4000
# Of δ*, where all pairs count and nobody asks for another one.
_ACCURACY = 1e-7
# Objects of the blocks, and how many of them, whose pairs give the stress of more
# objects: it then is known to about one percent.
_STRESS_BLOCK, _N_STRESS_BLOCKS = 250, 32
# Blocks by which states of a training are compared.
_MAX_EVALUATED = 20


@dataclass(frozen=True, eq=False)
class TrainingData:
    """What a network is trained on.

    Attributes
    ----------
    inputs : array of shape (n_inputs + 1, n_samples), or DeferredInputs
        Standardised inputs below a row of ones.
    scores : array of shape (n_samples,) or None
        Novelty scores.
    similarities : Similarities
        Of the same objects.
    focal_sets : FocalSets
        Outputs of the network.
    information : SideInformation
        Labels and constraints.
    pairs : tuple of two arrays of int, or None
        Pairs that count; None stands for all.
    known : TrainingData or None
        Objects that side information is about, and that information, if they are not
        among these objects; blocks are then trained with both.
    n_parts : int
        All pairs inside so many parts of the objects count, if not all of all objects.
    weights : array of shape (n_samples,) or None
        Weights of the objects, if all pairs count at once; None: all are 1.
    """

    inputs: Array | DeferredInputs
    scores: Array | None
    similarities: Similarities
    focal_sets: FocalSets
    information: SideInformation
    pairs: tuple[Indices, Indices] | None = None
    known: "TrainingData | None" = None
    n_parts: int = 1
    weights: NDArray[np.float64] | None = None

    @property
    def n_samples(self) -> int:
        """Number of objects."""
        return self.inputs.shape[1]

    def take(self, objects: Indices) -> "TrainingData":
        """The same for some objects, with the side information about them."""
        inputs = self.inputs
        return TrainingData(
            inputs.part(objects)
            if isinstance(inputs, DeferredInputs)
            else inputs[:, objects],
            self.scores_of(objects),
            self.similarities.take(objects),
            self.focal_sets,
            self.information.restricted(objects, self.n_samples),
            known=self.known,
        )

    def inputs_of(self, objects: Indices) -> Array:
        """Columns of the inputs."""
        if isinstance(self.inputs, DeferredInputs):
            return self.inputs.of(objects)
        return np.take(self.inputs, objects, axis=1)

    def scores_of(self, objects: Indices) -> Array | None:
        """Novelty scores of some objects, if there are any."""
        return None if self.scores is None else self.scores[objects]


def stress_objective(data: TrainingData, accuracy: float = _ACCURACY) -> Objective:
    """The stress over the pairs that count, in the form that is fastest for them.

    Where all pairs count, any δ* may be off by the accuracy.
    """
    n_samples = data.n_samples
    if data.weights is not None:
        return WeightedStress(data.similarities.matrix(), data.focal_sets, data.weights)
    if data.n_parts > 1:
        size = n_samples // data.n_parts
        starts = range(0, size * data.n_parts, size)
        parts = [data.similarities.between(slice(k, k + size)) for k in starts]
        matrices = np.array([part.matrix() for part in parts])
        return PartStress(matrices, data.focal_sets, accuracy)
    if data.pairs is None:
        if n_samples > _MAX_DENSE:
            return BlockStress(data.similarities, data.focal_sets)
        return DenseStress(
            data.similarities.matrix(), data.focal_sets, accuracy=accuracy
        )
    rows, columns = data.pairs
    if n_samples > _MAX_DENSE or len(rows) < _DENSE_SHARE * n_samples**2:
        values = data.similarities.pairs(rows, columns)
        return SampledStress(rows, columns, values, n_samples, data.focal_sets)
    weights = np.zeros((n_samples, n_samples))
    np.add.at(weights, (rows, columns), 0.5 / len(rows))
    return DenseStress(data.similarities.matrix(), data.focal_sets, weights + weights.T)


def mean_stress(
    masses: Array,
    similarities: Similarities,
    focal_sets: FocalSets,
    pairs: tuple[Indices, Indices] | None = None,
) -> float:
    """Stress over the pairs that count.

    All pairs up to 4000 objects; beyond, all pairs within 32 blocks of about 250
    objects, dealt out in turn so that the order of the rows plays no part.
    """
    n_samples = masses.shape[1]
    if pairs is not None:
        rows, columns = pairs
        known = similarities.pairs(rows, columns)
        return SampledStress(rows, columns, known, n_samples, focal_sets).value(masses)
    n_blocks = 1 if n_samples <= _MAX_DENSE else -(-n_samples // _STRESS_BLOCK)
    values = []
    for start in range(min(n_blocks, _N_STRESS_BLOCKS)):
        dealt = np.arange(start, n_samples, n_blocks)
        stress = BlockStress(similarities.take(dealt), focal_sets)
        values.append(stress.value(np.ascontiguousarray(masses[:, dealt])))
    return float(np.mean(values))


def full_objective(
    network: CredalNetwork, data: TrainingData, accuracy: float = _ACCURACY
) -> Callable[[NDArray[np.float64]], tuple[Any, NDArray[np.float64]]]:
    """Cost and gradient as a function of the parameters, over all objects.

    Parameters of several networks, as the rows of a matrix, give a cost for each. The
    accuracy is that of `stress_objective`.
    """
    information, inputs = data.information, data.inputs
    assert not isinstance(inputs, DeferredInputs)
    objective = stress_objective(data, accuracy)
    if information.has_labels:
        objective = information.stress_weight * objective
    extra = information.objective(data.n_samples, data.focal_sets)
    if extra is not None:
        objective = objective + extra

    def value_and_gradient(parameters):
        gradient = np.empty_like(parameters)
        is_stack = parameters.ndim > 1
        value = network.value_and_gradient(
            parameters,
            inputs,
            data.scores,
            objective.values_and_gradients
            if is_stack
            else objective.value_and_gradient,
            gradient,
        )
        return value, gradient

    return value_and_gradient


@dataclass(frozen=True, eq=False)
class Block:
    """Objects of a block, then those that side information is about.

    Attributes
    ----------
    inputs : array of shape (n_inputs + 1, n_samples + n_known)
        Inputs of both.
    scores : array of shape (n_samples + n_known,) or None
        Novelty scores of both.
    similarities : Similarities
        Of the objects of the block.
    information : SideInformation or None
        About the others, by their position among them.
    """

    inputs: Array
    scores: Array | None
    similarities: Similarities
    information: SideInformation | None

    @property
    def n_samples(self) -> int:
        """Objects of the block proper."""
        return self.similarities.n_samples

    @property
    def n_known(self) -> int:
        """Objects that side information is about."""
        return self.inputs.shape[1] - self.n_samples


@dataclass(frozen=True, eq=False)
class BlockTrainer:
    """Cost and gradient over random blocks of objects, with all pairs inside a block.

    Parameters
    ----------
    network : CredalNetwork
        What is trained.
    data : TrainingData
        On what.
    batch_size : int
        Objects in a block.
    """

    network: CredalNetwork
    data: TrainingData
    batch_size: int

    @property
    def n_blocks(self) -> int:
        """Blocks in an epoch; each has at least two objects."""
        return max(1, self.data.n_samples // self.batch_size)

    def vector(self, parameters: Array) -> Any:
        """A copy of parameters, of the type of the inputs."""
        return parameters.astype(self.data.inputs.dtype)

    def array(self, vector: Any) -> NDArray[np.float64]:
        """Inverse of `vector`."""
        return vector.astype(np.float64)

    def optimizer(self, solver: str, learning_rate: float) -> Any:
        """What changes parameters, given their gradient."""
        return (Adam if solver == "adam" else RMSprop)(learning_rate)

    def epoch(
        self,
        parameters: Array,
        rng: np.random.RandomState,
        update: Callable[[Array, Array], None],
    ) -> float:
        """One pass over the objects in random order, one update for each block.

        Parameters
        ----------
        parameters : array of shape (n_parameters,)
            Updated in place.
        rng : RandomState
            Draws the blocks.
        update : callable
            Takes the parameters and the gradient, changes the parameters in place.

        Returns
        -------
        float
            Mean cost of the blocks, each before its update.
        """
        gradient = self._gradient_like(parameters)
        total = 0.0
        order = rng.permutation(self.data.n_samples)
        # The loss tells of a gradient that is no number.
        with np.errstate(over="ignore", invalid="ignore"):
            for block in self._blocks(order, rng):
                total += block(parameters, gradient)
                update(parameters, gradient)
        return total / self.n_blocks

    def evaluate(self, parameters: Array) -> float:
        """Mean cost of some fixed blocks: the objects dealt out in turn to all."""
        gradient = self._gradient_like(parameters)
        order = np.concatenate(
            [
                np.arange(start, self.data.n_samples, self.n_blocks)
                for start in range(self.n_blocks)
            ]
        )
        n_evaluated = min(self.n_blocks, _MAX_EVALUATED)
        blocks = islice(self._blocks(order, np.random.RandomState(0)), n_evaluated)
        with np.errstate(over="ignore", invalid="ignore"):
            return sum(block(parameters, gradient) for block in blocks) / n_evaluated

    def _blocks(
        self, order: Indices, rng: np.random.RandomState
    ) -> Iterator[Callable[[Array, Array], float]]:
        """Functions of parameters and gradient, one for each block of the order."""
        data = self.data
        informed = data if data.known is None else data.known
        information = informed.information
        is_informed = information.has_labels or information.has_constraints
        edges = np.linspace(0, data.n_samples, self.n_blocks + 1).astype(int)
        # One gather for many blocks makes each of them a slice.
        n_together = max(1, MAX_STORED // (data.inputs.shape[0] * self.batch_size))
        for first in range(0, self.n_blocks, n_together):
            within = edges[first : first + n_together + 1]
            objects = order[within[0] : within[-1]]
            inputs, scores = data.inputs_of(objects), data.scores_of(objects)
            similarities = data.similarities.take(objects)
            for start, stop in pairwise(within - within[0]):
                rows = slice(start, stop)
                block_inputs = inputs[:, rows]
                block_scores = None if scores is None else scores[rows]
                extra = None
                if is_informed:
                    known, extra = information.sample(self.batch_size, rng)
                    block_inputs = np.concatenate(
                        [block_inputs, informed.inputs_of(known)], axis=1
                    )
                    if block_scores is not None:
                        block_scores = np.concatenate(
                            [block_scores, informed.scores_of(known)]
                        )
                block = Block(
                    block_inputs, block_scores, similarities.between(rows), extra
                )
                yield partial(self._evaluate, block)

    @cached_property
    def _store(self) -> Array:
        """Where the residuals of one block after the other are."""
        n_largest = -(-self.data.n_samples // self.n_blocks)
        return residual_store(n_largest, self.data.inputs.dtype)

    def _gradient_like(self, parameters: Array) -> Array:
        return np.empty_like(parameters)

    def _evaluate(self, block: Block, parameters: Array, gradient: Array) -> float:
        """Cost of a block; its derivatives are written into ``gradient``."""
        focal_sets = self.data.focal_sets
        objective: MassObjective = partial(
            block_stress,
            similarities=block.similarities,
            disjoint=focal_sets.disjoint.astype(block.inputs.dtype),
            store=self._store,
        )
        if block.information is not None:
            objective = _with_information(
                objective, block.n_samples, block.information, block.n_known, focal_sets
            )
        return self.network.value_and_gradient(
            parameters, block.inputs, block.scores, objective, gradient
        )


def _with_information(
    stress: MassObjective,
    n_block: int,
    information: SideInformation,
    n_known: int,
    focal_sets: FocalSets,
) -> MassObjective:
    """Stress on the first columns, side information on the others."""
    weight = information.stress_weight
    extra = information.objective(n_known, focal_sets)
    assert extra is not None

    def value_and_gradient(masses):
        value, slopes = stress(np.ascontiguousarray(masses[:, :n_block]))
        extra_value, extra_slopes = extra.value_and_gradient(masses[:, n_block:])
        gradient = np.concatenate([weight * slopes, extra_slopes], axis=1)
        return weight * value + extra_value, gradient.astype(masses.dtype, copy=False)

    return value_and_gradient
