"""Modules of PyTorch as networks."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from inspect import signature
from io import BytesIO
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from credalis.network._model import check_coupling
from credalis.network._novelty import INITIAL_COEFFICIENTS, couple, mass_weight

Array = NDArray[np.floating]


LARGEST_SEED = 2**31 - 1

# Random layers draw from generators that all threads share: one start at a time.
_LOCK = threading.RLock()


@dataclass
class _Threads:
    """Who computes with one thread, and how many there were before."""

    lock: Any
    n_users: int = 0
    n_before: int = 1


_THREADS = _Threads(threading.Lock())


def check_device(device: Any) -> None:
    """Refuse a device that cannot be used on this machine."""
    try:
        torch.empty(1, device=device).add_(1)
    except (RuntimeError, AssertionError, TypeError, NotImplementedError) as error:
        reason = str(error).strip().splitlines()[0]
        raise ValueError(
            "device must be one that PyTorch can use here, like 'cpu' or 'cuda', got "
            f"{device!r}: {reason}"
        ) from error


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Sums by one thread, so that the bits do not depend on the number of cores.

    The number of threads belongs to the process: of several starts at the same time
    the first one remembers it and the last one brings it back.
    """
    with _THREADS.lock:
        if _THREADS.n_users == 0:
            _THREADS.n_before = torch.get_num_threads()
        _THREADS.n_users += 1
        torch.set_num_threads(1)
    try:
        yield
    finally:
        with _THREADS.lock:
            _THREADS.n_users -= 1
            if _THREADS.n_users == 0:
                torch.set_num_threads(_THREADS.n_before)


@contextmanager
def seeded(seed: int, device: Any) -> Iterator[None]:
    """Random numbers of torch from a seed; those outside go on as they were."""
    where = torch.device(device)
    devices = [where] if where.type == "cuda" else []
    with _LOCK, torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


@dataclass(frozen=True, eq=False)
class ModuleNetwork:
    """A module of torch whose outputs, after a softmax, are masses.

    Parameters are one flat vector: those of the module and its floating-point buffers,
    then β0 and β1 if there is a coupling.

    Parameters
    ----------
    source : nn.Module, class or function
        An instance, which is copied and never changed, or what makes one when it is
        called with the number of outputs.
    input_shape : tuple of int
        Shape of the input of one object.
    n_outputs : int
        Number of focal sets.
    empty_index, link, weight_decay : int or None, str or None, float
        As in `CredalNetwork`; a layer is a part of the module that has parameters of
        its own.
    device : str, default="cpu"
        Where the module runs.
    order : array of int, shape (n_outputs,), default=None
        Which output of the module is which focal set; None: in their order.
    """

    source: Any
    input_shape: tuple[int, ...]
    n_outputs: int
    empty_index: int | None
    link: str | None = None
    weight_decay: float = 0.0
    device: Any = "cpu"
    order: NDArray[np.intp] | None = None

    def __post_init__(self) -> None:
        check_coupling(self.link, self.empty_index)

    @cached_property
    def module(self) -> torch.nn.Module:
        """A copy of its own, whose weights are not those of any vector."""
        return self._made(0)

    def _made(self, seed: int) -> torch.nn.Module:
        with seeded(seed, self.device):
            source = self.source
            if isinstance(source, torch.nn.Module):
                module = deepcopy(source)
            else:
                module = self._called()
            if not isinstance(module, torch.nn.Module):
                raise ValueError(
                    "module must be an nn.Module, or a class or function that makes "
                    f"one from the number of outputs, it made a {type(module).__name__}"
                )
            module = module.to(self.device).eval()
            self._try(module)
        return module

    def _called(self) -> Any:
        try:
            return self.source(self.n_outputs)
        except Exception as error:
            raise ValueError(
                "module must be an nn.Module, or a class or function that makes one "
                f"from the number of outputs, {self.source!r} says: {error}"
            ) from error

    def _try(self, module: torch.nn.Module) -> None:
        """One pass, which also makes the weights of lazy layers."""
        if not any(each.requires_grad for each in module.parameters()):
            raise ValueError("module must have parameters to train, it has none")
        if not all(each.is_floating_point() for each in module.parameters()):
            raise ValueError("module must have real parameters, some are complex")
        shape = (2, *self.input_shape)
        dtype = next(module.parameters()).dtype
        inputs = torch.zeros(shape, dtype=dtype, device=self.device)
        try:
            with torch.no_grad():
                outputs = module(inputs)
        except Exception as error:
            reason = str(error).strip().splitlines()[0]
            raise ValueError(
                f"module must take inputs of shape (n_samples, *{self.input_shape}), "
                f"it says: {reason}"
            ) from error
        got = tuple(getattr(outputs, "shape", ()))
        if got != (2, self.n_outputs):
            raise ValueError(
                f"module must return one value for each of the {self.n_outputs} focal "
                f"sets, shape (2, {self.n_outputs}) for 2 objects, got {got}"
            )

    def parts(self, module: torch.nn.Module | None = None) -> dict[str, Tensor]:
        """Parameters and floating-point buffers by name."""
        module = self.module if module is None else module
        buffers = {
            name: values
            for name, values in module.named_buffers()
            if values.is_floating_point()
        }
        return dict(module.named_parameters()) | buffers

    @property
    def n_parameters(self) -> int:
        """Length of the vector of parameters."""
        size = sum(values.numel() for values in self.parts().values())
        return size + (2 if self.link else 0)

    def initial_parameters(self, rng: np.random.RandomState) -> NDArray[np.float64]:
        """The weights of an instance, or those of a new module."""
        is_instance = isinstance(self.source, torch.nn.Module)
        module = self.module if is_instance else self._made(rng.randint(LARGEST_SEED))
        parts = [
            values.detach().cpu().double().numpy().ravel()
            for values in self.parts(module).values()
        ]
        if self.link is not None:
            parts.append(np.array(INITIAL_COEFFICIENTS[self.link]))
        return np.concatenate(parts)

    def weights(self, parameters: Array) -> dict[str, Array]:
        """Weights and buffers by name, as views of the vector of parameters."""
        views, start = {}, 0
        for name, values in self.parts().items():
            stop = start + values.numel()
            views[name] = parameters[start:stop].reshape(tuple(values.shape))
            start = stop
        return views

    def trained(self, parameters: Array) -> torch.nn.Module:
        """A module with these weights, in double precision, on the processor."""
        module = deepcopy(self.module).cpu().double()
        parts = self.parts(module)
        with torch.no_grad():
            for name, values in self.weights(parameters).items():
                parts[name].copy_(torch.tensor(values))
        return module.eval()

    def onnx_graph(self, parameters: Array, dtype: Any, opset: int) -> Any:
        """The module alone, from a block of objects to its outputs, as ONNX."""
        import onnx

        dtype = getattr(torch, np.dtype(dtype).name)
        module = self.trained(parameters).to(dtype)
        options: dict[str, Any] = {
            "input_names": ["inputs"],
            "output_names": ["outputs"],
            "dynamic_axes": {"inputs": {0: "n"}, "outputs": {0: "n"}},
            "opset_version": opset,
        }
        if "dynamo" in signature(torch.onnx.export).parameters:
            # The newer exporter needs a package of its own.
            options["dynamo"] = False
        stream = BytesIO()
        inputs = torch.zeros((2, *self.input_shape), dtype=dtype)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                torch.onnx.export(module, (inputs,), stream, **options)
        except Exception as error:
            reason = str(error).strip().splitlines()[0]
            raise ValueError(
                f"module must be one that torch.onnx can export, it says: {reason}"
            ) from error
        return onnx.load_from_string(stream.getvalue()).graph

    def masses(
        self, parameters: Array, inputs: Array, scores: Array | None = None
    ) -> Array:
        """Masses of the columns of inputs, shape (n_focal_sets, n_samples)."""
        dtype = torch.float64
        vector = torch.tensor(parameters, dtype=dtype, device=self.device)
        columns = torch.tensor(inputs, dtype=dtype, device=self.device)
        self.module.eval()
        body = ModuleBody(self)
        with torch.no_grad(), one_torch_thread():
            outputs = body.outputs(body.split(vector), columns)
            masses = torch.softmax(outputs, 0).cpu().numpy()
        if self.order is not None:
            masses = masses[self.order]
        if self.link is None:
            return masses
        assert scores is not None
        assert self.empty_index is not None
        weights, _ = mass_weight(scores, parameters[-2:], self.link)
        return couple(masses, weights, self.empty_index)


@dataclass(frozen=True, eq=False)
class ModuleBody:
    """A module as a function of tensors."""

    network: ModuleNetwork

    @cached_property
    def sizes(self) -> list[int]:
        return [values.numel() for values in self.network.parts().values()]

    @cached_property
    def is_trained(self) -> list[bool]:
        return [values.requires_grad for values in self.network.parts().values()]

    @cached_property
    def layers(self) -> list[list[int]]:
        """Trained parameters by the part of the module that they belong to."""
        owners: dict[str, list[int]] = {}
        for index, name in enumerate(self.network.parts()):
            if self.is_trained[index]:
                owners.setdefault(name.rpartition(".")[0], []).append(index)
        return list(owners.values())

    def split(self, vector: Tensor) -> list[Tensor]:
        # Buffers are changed in place by layers that keep statistics; such changes
        # of the data of the vector do not concern derivatives.
        parts = vector.data[: sum(self.sizes)].split(self.sizes)
        shapes = [values.shape for values in self.network.parts().values()]
        return [part.view(shape) for part, shape in zip(parts, shapes, strict=True)]

    def outputs(self, parts: list[Tensor], inputs: Tensor) -> Tensor:
        network = self.network
        objects = inputs[1:].T.reshape(-1, *network.input_shape)
        weights = dict(zip(network.parts(), parts, strict=True))
        outputs = torch.func.functional_call(network.module, weights, (objects,))
        if outputs.shape != (len(objects), network.n_outputs):
            # Two objects have been tried; a layer may still treat one or many apart.
            raise ValueError(
                f"module must return shape ({len(objects)}, {network.n_outputs}) for "
                f"{len(objects)} objects, got {tuple(outputs.shape)}"
            )
        return outputs.T

    def train(self, is_training: bool) -> None:
        self.network.module.train(is_training)
