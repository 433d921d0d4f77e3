"""The cost of a network and its training under PyTorch, on any device.

The only folder that imports torch; others import it inside functions, through
`torch_engine`. Data, vectors of parameters and full-batch solvers are those of the
NumPy engine: what happens on the device is the way from inputs to the cost and back,
and the updates of mini-batches.
"""

from credalis.network._torch._cost import TorchCost
from credalis.network._torch._module import ModuleNetwork, check_device
from credalis.network._torch._training import (
    TorchTrainer,
    TorchUpdate,
    torch_objective,
    training,
)

__all__ = [
    "ModuleNetwork",
    "TorchCost",
    "TorchTrainer",
    "TorchUpdate",
    "check_device",
    "torch_objective",
    "training",
]
