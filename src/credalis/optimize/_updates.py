"""Updates of parameters from the gradient of a mini-batch, and learning rates."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis._checks import check_number

Floats = NDArray[Any]

_LARGEST_DECAY = 0.999999


class _Update:
    """Steps along (mean of g) / (epsilon + root mean of g^2), from discounted sums."""

    def __init__(
        self, learning_rate: float, decay: float, epsilon: float, n_sums: int
    ) -> None:
        self.learning_rate = check_number("learning_rate", learning_rate, above=0)
        self.epsilon = check_number("epsilon", epsilon, at_least=0)
        self._square_decay, self._n_sums = decay, n_sums
        self._sums: tuple[Floats, ...] = ()
        self._n_steps = 0

    def step(
        self, parameters: Floats, gradient: Floats, learning_rate: float | None = None
    ) -> None:
        """Change the parameters in place, at the learning rate given here if any."""
        if not self._sums:
            self._start(np.zeros((self._n_sums, *parameters.shape), parameters.dtype))
        self._n_steps += 1
        squares, buffer = self._sums[0], self._buffer
        decay, offset, rate, _ = self._scalars
        numerator, scale, root_scale = self._mean(gradient)
        decay[()] = self._square_decay
        offset[()] = self.epsilon / root_scale
        size = self.learning_rate if learning_rate is None else learning_rate
        rate[()] = size * scale / root_scale
        np.multiply(squares, decay, squares)
        np.multiply(gradient, gradient, buffer)
        np.add(squares, buffer, squares)
        np.sqrt(squares, buffer)
        np.add(buffer, offset, buffer)
        np.divide(numerator, buffer, buffer)
        np.multiply(buffer, rate, buffer)
        np.subtract(parameters, buffer, parameters)

    def _mean(self, gradient: Floats) -> tuple[Floats, float, float]:
        """Sum of gradients; factors that make it and the root of squares means."""
        return gradient, 1.0, math.sqrt(1 - self._square_decay)

    def _start(self, sums: Floats) -> None:
        self._sums = tuple(sums)
        self._buffer = np.empty_like(sums[0])
        # NumPy multiplies by an array without dimensions faster than by a float.
        self._scalars = tuple(np.empty((), sums.dtype) for _ in range(4))

    def state(self) -> dict[str, Floats]:
        """Copies of all that the next step depends on; empty before the first."""
        if not self._sums:
            return {}
        return {"sums": np.stack(self._sums), "n_steps": np.array(self._n_steps)}

    def restore(self, state: Mapping[str, Floats]) -> None:
        """Continue, to the bit, from what `state` returned."""
        self._sums, self._n_steps = (), int(state.get("n_steps", 0))
        if state:
            self._start(np.array(state["sums"]))


class RMSprop(_Update):
    """Steps divided by the root of a running mean of squared gradients.

    From r = 0, a step of parameters θ with gradient g is
    ``r ← decay r + (1 - decay) g²``, ``θ ← θ - learning_rate g / (epsilon + √r)``.

    Parameters
    ----------
    learning_rate : float, default=1e-3
        Size of a step, unless `step` is given another.
    decay : float, default=0.9
        How slowly squared gradients are forgotten.
    epsilon : float, default=1e-8
        Keeps steps finite where gradients vanish.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.optimize import RMSprop
    >>> parameters = np.array([1.0])
    >>> RMSprop().step(parameters, np.array([2.0]))
    >>> parameters
    array([0.99683772])
    """

    def __init__(
        self, learning_rate: float = 1e-3, decay: float = 0.9, epsilon: float = 1e-8
    ) -> None:
        self.decay = check_number("decay", decay, at_least=0, at_most=_LARGEST_DECAY)
        super().__init__(learning_rate, self.decay, epsilon, n_sums=1)


class Adam(_Update):
    """Steps along a running mean of gradients, divided by their root mean square.

    From m = v = 0, step t of parameters θ with gradient g is
    ``m ← beta1 m + (1 - beta1) g``, ``v ← beta2 v + (1 - beta2) g²``,
    ``θ ← θ - learning_rate m̂ / (√v̂ + epsilon)``, where ``m̂ = m / (1 - beta1ᵗ)`` and
    ``v̂ = v / (1 - beta2ᵗ)`` (Kingma and Ba, ICLR 2015, algorithm 1).

    Parameters
    ----------
    learning_rate : float, default=1e-3
        Size of a step, unless `step` is given another.
    beta1, beta2 : float, default=0.9 and 0.999
        How slowly gradients and squared gradients are forgotten.
    epsilon : float, default=1e-8
        Keeps steps finite where gradients vanish.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.optimize import Adam
    >>> parameters = np.array([1.0])
    >>> Adam().step(parameters, np.array([2.0]))
    >>> parameters
    array([0.999])
    """

    def __init__(
        self,
        learning_rate: float = 1e-3,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-8,
    ) -> None:
        self.beta1 = check_number("beta1", beta1, at_least=0, at_most=_LARGEST_DECAY)
        self.beta2 = check_number("beta2", beta2, at_least=0, at_most=_LARGEST_DECAY)
        super().__init__(learning_rate, self.beta2, epsilon, n_sums=2)

    def _mean(self, gradient: Floats) -> tuple[Floats, float, float]:
        total, decay = self._sums[1], self._scalars[3]
        decay[()] = self.beta1
        np.multiply(total, decay, total)
        np.add(total, gradient, total)
        scale = (1 - self.beta1) / (1 - self.beta1**self._n_steps)
        square_scale = (1 - self.beta2) / (1 - self.beta2**self._n_steps)
        return total, scale, math.sqrt(square_scale)


def cosine_schedule(
    step: int, n_steps: int, *, warmup: int = 0, final: float = 0.0
) -> float:
    """Factor of a learning rate: `warmup` steps up to 1, then half a cosine to `final`.

    ``(step + 1) / (warmup + 1)`` before step `warmup`, counted from 0; from there
    ``final + (1 - final) * (1 + cos(π t)) / 2``, where t goes from 0 to 1 at `n_steps`.

    Examples
    --------
    >>> from credalis.optimize import cosine_schedule
    >>> [round(cosine_schedule(step, 8, warmup=3), 3) for step in range(9)]
    [0.25, 0.5, 0.75, 1.0, 0.905, 0.655, 0.345, 0.095, 0.0]
    """
    if step < warmup:
        return (step + 1) / (warmup + 1)
    elapsed = min((step - warmup) / max(n_steps - warmup, 1), 1.0)
    return final + (1 - final) * (1 + math.cos(math.pi * elapsed)) / 2
