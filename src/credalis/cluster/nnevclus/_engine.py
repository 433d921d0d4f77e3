"""The engine of NNEVCLUS, modules of its user, and data of any shape."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, validate_data

from credalis._checks import check_choice
from credalis.belief import FocalSets
from credalis.network import torch_engine

ENGINES = ("numpy", "torch")


def check_engine(estimator: Any) -> None:
    """Check the parameters engine, device and module."""
    check_choice("engine", estimator.engine, ENGINES)
    module = estimator.module
    if estimator.engine == "numpy":
        if module is not None:
            raise ValueError("engine must be 'torch' with a module, got 'numpy'")
        if estimator.device != "cpu":
            raise ValueError(
                f"device must be 'cpu' with engine='numpy', got {estimator.device!r}"
            )
        return
    torch_engine().check_device(estimator.device)
    if module is None:
        return
    if not callable(module):
        raise ValueError(
            "module must be an nn.Module, or a class or function that makes one from "
            f"the number of outputs, got {module!r}"
        )
    sizes = estimator.hidden_layer_sizes
    if not isinstance(sizes, str):
        raise ValueError(
            "hidden_layer_sizes must be 'auto' with a module, which has layers of its "
            f"own, got {sizes!r}"
        )
    if isinstance(estimator.focal_sets, str) and estimator.focal_sets == "two-step":
        raise ValueError(
            "focal_sets must not be 'two-step' with a module, whose number of outputs "
            "cannot grow"
        )


def module_network(
    estimator: Any, n_inputs: int, focal_sets: FocalSets, link: str | None
) -> Any:
    """The network around the module of an estimator."""
    return torch_engine().ModuleNetwork(
        estimator.module,
        getattr(estimator, "input_shape_", (n_inputs,)),
        len(focal_sets),
        focal_sets.empty_index,
        link,
        estimator.weight_decay,
        estimator.device,
        getattr(estimator, "output_order_", None) if estimator.warm_start else None,
    )


def fitted_module(estimator: Any) -> Any:
    """The network around the module an estimator was fitted with."""
    if estimator.module is None:
        raise ValueError(
            "module must be what this model was fitted with, got None: a file holds "
            "the weights of a module but not the module; "
            "call set_params(module=...) after load"
        )
    network = torch_engine().ModuleNetwork(
        estimator.module,
        getattr(estimator, "input_shape_", (len(estimator.standardization_.mean),)),
        len(estimator.focal_sets_),
        estimator.focal_sets_.empty_index,
        estimator.novelty_link_,
        estimator.weight_decay,
        estimator.device,
        estimator.output_order_,
    )
    expected = {name: values.shape for name, values in estimator.weights_.items()}
    got = {name: tuple(values.shape) for name, values in network.parts().items()}
    if got != expected:
        raise ValueError(
            "module must be what this model was fitted with: its weights have the "
            f"shapes {expected}, got {got}"
        )
    return network


def validate(
    estimator: Any, X: Any, *, reset: bool, ensure_min_samples: int
) -> NDArray[np.float64]:
    """Data as rows; with a module each object may be an array of any shape."""
    options = {"dtype": np.float64, "ensure_min_samples": ensure_min_samples}
    fitted_shape = getattr(estimator, "input_shape_", None)
    if reset and fitted_shape is not None:
        del estimator.input_shape_
    takes_arrays = estimator.module is not None and not estimator._is_precomputed
    if takes_arrays or (fitted_shape is not None and not reset):
        # An image is not a table: its shape is looked at first, then it is one row.
        if np.ndim(X) > 2:
            X = check_array(X, allow_nd=True, input_name="X", **options)
            shape = X.shape[1:]
            if reset:
                estimator.input_shape_ = shape
            elif shape != fitted_shape:
                raise _other_shape(fitted_shape, estimator, shape)
            X = X.reshape(len(X), -1)
        elif fitted_shape is not None and not reset:
            raise _other_shape(fitted_shape, estimator, np.shape(X)[1:])
    return validate_data(estimator, X, reset=reset, **options)


def _other_shape(
    fitted: tuple[int, ...] | None, estimator: Any, got: tuple[int, ...]
) -> ValueError:
    expected = fitted or (estimator.n_features_in_,)
    return ValueError(
        f"X must hold objects of shape {expected} as in fit, got objects of shape {got}"
    )
