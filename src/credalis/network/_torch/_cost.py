"""Cost of a network and its gradient by automatic differentiation."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from credalis.belief import FocalSets
from credalis.dissimilarity import EuclideanSimilarities, Similarities
from credalis.network._model import CredalNetwork
from credalis.network._torch._module import ModuleBody, ModuleNetwork
from credalis.network._training import SideInformation
from credalis.objectives import label_penalty, pair_penalty

Array = NDArray[np.floating]

Term = Callable[[Tensor], Tensor]


@dataclass(frozen=True, eq=False)
class _PerceptronBody:
    """The perceptron of a network as a function of tensors."""

    network: CredalNetwork

    @property
    def sizes(self) -> list[int]:
        return [rows * columns for rows, columns in self.network.perceptron.shapes]

    @property
    def is_trained(self) -> list[bool]:
        return [True] * len(self.sizes)

    @property
    def layers(self) -> list[list[int]]:
        return [[each] for each in range(len(self.sizes))]

    def split(self, vector: Tensor) -> list[Tensor]:
        parts = vector[: sum(self.sizes)].split(self.sizes)
        shapes = self.network.perceptron.shapes
        return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]

    def outputs(self, parts: list[Tensor], inputs: Tensor) -> Tensor:
        units = parts[0] @ inputs
        for weights in parts[1:]:
            units = weights[:, 1:] @ torch.relu(units) + weights[:, :1]
        return units

    def train(self, is_training: bool) -> None:
        """Nothing in a perceptron depends on it."""


@dataclass(frozen=True, eq=False)
class TorchCost:
    """Cost of a network and its gradient, computed on a device.

    Parameters
    ----------
    network : CredalNetwork or ModuleNetwork
        The network.
    focal_sets : FocalSets
        Its outputs.
    dtype : NumPy type
        NumPy's float32 or float64.
    device : str, default="cpu"
        Where.
    """

    network: CredalNetwork | ModuleNetwork
    focal_sets: FocalSets
    dtype: Any
    device: Any = "cpu"

    @cached_property
    def body(self) -> _PerceptronBody | ModuleBody:
        """The network as a function of tensors."""
        if isinstance(self.network, ModuleNetwork):
            return ModuleBody(self.network)
        return _PerceptronBody(self.network)

    def tensor(self, values: Any) -> Tensor:
        """Floating-point numbers of the chosen type; integers stay integers."""
        if isinstance(values, Tensor):
            return values
        values = np.asarray(values)
        if values.dtype.kind != "i":
            values = values.astype(self.dtype, copy=False)
        if not values.flags.writeable:
            values = values.copy()
        return torch.as_tensor(values, device=self.device)

    @cached_property
    def disjoint(self) -> Tensor:
        """The matrix C."""
        return self.tensor(self.focal_sets.disjoint)

    def similarities(self, similarities: Similarities) -> Tensor:
        """Similarities of all pairs, those of points computed on the device."""
        if not isinstance(similarities, EuclideanSimilarities):
            return self.tensor(similarities.matrix())
        left, right = self.tensor(similarities.left), self.tensor(similarities.right)
        lowest, highest = similarities.exponent_bounds
        exponents = left.T @ right
        if similarities.is_squared:
            exponents = -torch.square(torch.clamp(exponents, max=highest))
        return torch.exp(torch.clamp(exponents, lowest, highest))

    def known(self, information: SideInformation, masses: Tensor) -> Tensor:
        """The weighted terms of side information."""
        value = torch.zeros((), dtype=masses.dtype, device=masses.device)
        if information.has_labels:
            targets = np.zeros((self.focal_sets.n_clusters, len(information.labels)))
            targets[information.labels, np.arange(len(information.labels))] = 1.0
            fit = label_penalty(
                masses,
                self.tensor(information.objects),
                self.tensor(targets),
                self.tensor(self.focal_sets.membership),
            )
            value = value + information.label_weight * fit
        if information.has_constraints:
            links = pair_penalty(
                masses,
                self.tensor(information.must_link),
                self.tensor(information.cannot_link),
                self.tensor(self.focal_sets.apartness),
            )
            value = value + information.constraint_weight * links
        return value

    def masses(
        self, parts: list[Tensor], coefficients: Tensor, inputs: Tensor, scores: Any
    ) -> Tensor:
        """Masses of the columns of inputs."""
        network = self.network
        masses = torch.softmax(self.body.outputs(parts, inputs), 0)
        order = getattr(network, "order", None)
        if order is not None:
            masses = masses[self.tensor(order)]
        if network.link is None:
            return masses
        signals = coefficients[0] + coefficients[1] * scores
        eta = torch.logaddexp(torch.zeros_like(signals), signals)
        share = 1 / (1 + eta)
        weights = share if network.link == "reference" else eta * share
        empty = self.tensor(np.arange(len(masses)) == network.empty_index)
        return masses * weights + empty[:, None] * (1 - weights)

    def value_and_gradient(
        self,
        vector: Tensor,
        inputs: Array,
        scores: Array | None,
        terms: list[Callable[[Tensor], Tensor]],
        gradient: Tensor,
    ) -> float:
        """Sum of the terms at the masses plus weight decay, and its gradient.

        Under ``torch.no_grad`` the gradient is left alone. The terms are
        differentiated one after the other, so that only one needs memory at a time.
        """
        has_gradient = torch.is_grad_enabled()
        parts = [
            part.detach().requires_grad_(has_gradient and is_trained)
            for part, is_trained in zip(
                self.body.split(vector), self.body.is_trained, strict=True
            )
        ]
        coefficients = vector[-2:].detach().requires_grad_(has_gradient)
        masses = self.masses(
            parts,
            coefficients,
            self.tensor(inputs),
            None if scores is None else self.tensor(scores),
        )
        free = masses.detach().requires_grad_(has_gradient)
        total = torch.zeros((), dtype=free.dtype, device=free.device)
        for term in terms:
            value = term(free)
            total += value.detach()
            if has_gradient:
                value.backward()
        decay = self._decay(parts)
        total += decay.detach()
        if not has_gradient:
            return float(total)
        leaves = [part for part in parts if part.requires_grad]
        if self.network.link is not None:
            leaves.append(coefficients)
        slopes = torch.autograd.grad(
            [masses, decay] if decay.requires_grad else [masses],
            leaves,
            [free.grad, torch.ones_like(decay)] if decay.requires_grad else [free.grad],
            allow_unused=True,
        )
        self._write(gradient, parts, slopes)
        return float(total)

    def _decay(self, parts: list[Tensor]) -> Tensor:
        """(λ/2) Σ over the layers of the mean squared weight."""
        total = torch.zeros((), dtype=parts[0].dtype, device=parts[0].device)
        if not self.network.weight_decay:
            return total
        for layer in self.body.layers:
            size = sum(parts[index].numel() for index in layer)
            for index in layer:
                total = total + (parts[index] * parts[index]).sum() / size
        return 0.5 * self.network.weight_decay * total

    def _write(
        self, gradient: Tensor, parts: list[Tensor], slopes: tuple[Tensor | None, ...]
    ) -> None:
        """Slopes of what is trained, 0 for the rest of the vector."""
        gradient.zero_()
        start, remaining = 0, iter(slopes)
        for part in parts:
            stop = start + part.numel()
            slope = next(remaining) if part.requires_grad else None
            if slope is not None:
                gradient[start:stop] = slope.reshape(-1)
            start = stop
        if self.network.link is not None:
            gradient[start:] = next(remaining)
