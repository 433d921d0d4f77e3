"""Training under PyTorch, on all objects at once or block by block."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from credalis.dissimilarity import Similarities
from credalis.network._model import CredalNetwork, DeferredInputs
from credalis.network._torch._cost import Term, TorchCost
from credalis.network._torch._module import (
    LARGEST_SEED,
    ModuleNetwork,
    one_torch_thread,
    seeded,
)
from credalis.network._training import Block, BlockTrainer, TrainingData
from credalis.objectives import sampled_stress, stress_sum

Array = NDArray[np.floating]

# Up to so many objects the similarities of all pairs are kept on the device; beyond,
# those of a strip of objects with all others are formed again and again.
_MAX_DENSE = 4000
_STRIP = 1024

# What optimisers of torch call their sums.
_SUMS = {"adam": ("exp_avg", "exp_avg_sq"), "rmsprop": ("square_avg",)}


@contextmanager
def training(
    network: CredalNetwork | ModuleNetwork, rng: np.random.RandomState
) -> Iterator[None]:
    """What surrounds the training of a start."""
    with one_torch_thread():
        if isinstance(network, ModuleNetwork):
            with seeded(rng.randint(LARGEST_SEED), network.device):
                yield
        else:
            yield


@dataclass(frozen=True, eq=False)
class TorchTrainer(BlockTrainer):
    """Blocks as in `BlockTrainer`, with their cost and updates on a device."""

    device: Any = field(default="cpu", kw_only=True)

    @cached_property
    def cost(self) -> TorchCost:
        """The cost as a function of tensors."""
        dtype = self.data.inputs.dtype
        return TorchCost(self.network, self.data.focal_sets, dtype, self.device)

    def vector(self, parameters: Array) -> Any:
        """A copy of parameters on the device."""
        return self.cost.tensor(parameters).clone()

    def array(self, vector: Any) -> NDArray[np.float64]:
        """Inverse of `vector`."""
        return vector.cpu().double().numpy()

    def optimizer(self, solver: str, learning_rate: float) -> Any:
        """What changes parameters, given their gradient."""
        return TorchUpdate(solver, learning_rate)

    def epoch(self, parameters, rng, update):
        """One pass; layers that behave otherwise in training do so."""
        self.cost.body.train(True)
        return super().epoch(parameters, rng, update)

    def evaluate(self, parameters):
        """Mean cost of fixed blocks, all layers behaving as they do in prediction."""
        self.cost.body.train(False)
        with torch.no_grad():
            return super().evaluate(parameters)

    def _gradient_like(self, parameters: Any) -> Any:
        return torch.empty_like(parameters)

    def _evaluate(self, block: Block, parameters: Any, gradient: Any) -> float:
        cost, n_samples = self.cost, block.n_samples
        similarities = cost.similarities(block.similarities)
        information = block.information
        weight = 1.0 if information is None else information.stress_weight
        weight /= n_samples * (n_samples - 1)

        def term(masses: Tensor) -> Tensor:
            stress = stress_sum(masses[:, :n_samples], similarities, cost.disjoint)
            if information is None:
                return weight * stress
            return weight * stress + cost.known(information, masses[:, n_samples:])

        return cost.value_and_gradient(
            parameters, block.inputs, block.scores, [term], gradient
        )


class TorchUpdate:
    """Adam and RMSprop of torch with the settings of ours, which do the same."""

    def __init__(self, solver: str, learning_rate: float) -> None:
        self.solver, self.learning_rate = solver, learning_rate
        self._optimizer: Any = None
        self._restored: dict[str, Any] = {}

    def step(
        self, parameters: Tensor, gradient: Tensor, learning_rate: float | None = None
    ) -> None:
        """Change the parameters in place, at the learning rate given here if any."""
        if self._optimizer is None:
            self._slot = torch.nn.Parameter(parameters)
            if self.solver == "adam":
                self._optimizer = torch.optim.Adam([self._slot], self.learning_rate)
            else:
                self._optimizer = torch.optim.RMSprop(
                    [self._slot], self.learning_rate, alpha=0.9
                )
            if self._restored:
                self._optimizer.state[self._slot] = self._put_back(parameters)
        # Another vector of the same parameters takes the place of the first.
        self._slot.data, self._slot.grad = parameters, gradient
        rate = self.learning_rate if learning_rate is None else learning_rate
        self._optimizer.param_groups[0]["lr"] = rate
        self._optimizer.step()

    def _put_back(self, parameters: Tensor) -> dict[str, Tensor]:
        """The restored state beside the parameters."""
        names = _SUMS[self.solver]
        sums = torch.as_tensor(self._restored["sums"]).to(parameters)
        step = torch.tensor(float(self._restored["n_steps"]))
        return {"step": step} | {
            name: each.clone() for name, each in zip(names, sums, strict=True)
        }

    def state(self) -> dict[str, Array]:
        """Copies of all that the next step depends on; empty before the first.

        As arrays, which files and other machines can hold.
        """
        if self._optimizer is None:
            return {}
        state = self._optimizer.state[self._slot]
        sums = [state[name].cpu().numpy() for name in _SUMS[self.solver]]
        return {"sums": np.stack(sums), "n_steps": np.array(int(state["step"]))}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Continue from what `state` returned."""
        self._optimizer, self._restored = None, dict(state)


def torch_objective(
    network: CredalNetwork | ModuleNetwork,
    data: TrainingData,
    device: Any = "cpu",
) -> Callable[[NDArray[np.float64]], tuple[float, NDArray[np.float64]]]:
    """Cost and gradient as a function of the parameters, over all objects.

    Layers behave as they do in prediction: a solver that searches along lines needs
    the same value for the same parameters.
    """
    assert not isinstance(data.inputs, DeferredInputs)
    cost = TorchCost(network, data.focal_sets, data.inputs.dtype, device)
    terms = _full_terms(cost, data)
    inputs = cost.tensor(data.inputs)

    def value_and_gradient(parameters):
        cost.body.train(False)
        vector = cost.tensor(parameters)
        gradient = torch.empty_like(vector)
        value = cost.value_and_gradient(vector, inputs, data.scores, terms, gradient)
        return value, gradient.cpu().double().numpy()

    return value_and_gradient


def _full_terms(cost: TorchCost, data: TrainingData) -> list[Term]:
    """The stress over the pairs that count, in strips if they are many, and others."""
    information, n_samples = data.information, data.n_samples
    weight = information.stress_weight
    terms: list[Term] = []
    if data.pairs is not None:
        rows, columns = map(cost.tensor, data.pairs)
        values = cost.tensor(data.similarities.pairs(*data.pairs))
        terms.append(
            lambda masses: (
                weight * sampled_stress(masses, rows, columns, values, cost.disjoint)
            )
        )
    else:
        weight /= n_samples * (n_samples - 1)
        terms += [
            _strip_term(cost, data.similarities, strip, weight)
            for strip in _strips(n_samples)
        ]
    if information.has_labels or information.has_constraints:
        terms.append(lambda masses: cost.known(information, masses))
    return terms


def _strips(n_samples: int) -> list[slice]:
    width = n_samples if n_samples <= _MAX_DENSE else _STRIP
    return [
        slice(start, min(start + width, n_samples))
        for start in range(0, n_samples, width)
    ]


def _strip_term(
    cost: TorchCost, similarities: Similarities, rows: slice, weight: float
) -> Term:
    """Stress between the objects of a strip and all objects."""
    is_whole = rows == slice(0, similarities.n_samples)
    stored = cost.similarities(similarities) if is_whole else None

    def term(masses: Tensor) -> Tensor:
        values = stored
        if values is None:
            values = cost.tensor(similarities.block(rows, slice(None)))
        return weight * stress_sum(masses, values, cost.disjoint, rows)

    return term
