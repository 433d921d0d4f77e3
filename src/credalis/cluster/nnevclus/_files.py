"""Files of NNEVCLUS: its own, and ONNX."""

import os
from os import PathLike
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.svm import OneClassSVM
from sklearn.utils.validation import check_is_fitted

from credalis._checks import check_choice
from credalis._files import atomic_write, naming_errors
from credalis.cluster.nnevclus._problem import fitted_network
from credalis.cluster.nnevclus._solve import flat_parameters
from credalis.network import onnx_model


class NetworkFiles:
    """What an estimator with a network writes."""

    def to_state(self) -> dict[str, Any]:
        """What `save` stores; of a module only the weights."""
        state = super().to_state()  # type: ignore[misc]
        parameters = state["parameters"] | {"module": None}
        if isinstance(parameters["novelty_detector"], OneClassSVM):
            # The estimator has fitted a clone: what this one knows was not used.
            parameters["novelty_detector"] = clone(parameters["novelty_detector"])
        return state | {"parameters": parameters}

    def to_onnx(
        self: Any, path: str | PathLike[str], *, dtype: str = "float32"
    ) -> None:
        """Write network and novelty model as ONNX, for runtimes without Python.

        The input "X" has the shape of the data; the outputs are "masses" of shape
        (n_samples, n_focal_sets), "plausibility" (n_samples, n_clusters) and "label"
        (n_samples,). The names of the focal sets are in the metadata. Needs the package
        onnx.

        Parameters
        ----------
        path : str or path-like
            The file; it appears whole or not at all.
        dtype : {"float32", "float64"}, default="float32"
            Type of input, outputs and all numbers between. "float64" gives the results
            of `predict_partition` to rounding, but a runtime may lack operators:
            onnxruntime has no convolutions in float64. "float32" gives them to about
            1e-4 if the attributes are not much larger than their spread: it has
            seven digits, also for years or coordinates that differ in the last one.

        Raises
        ------
        ValueError
            If the novelty detector is not a Gaussian one-class SVM, or the module
            uses what ONNX does not have.
        """
        check_is_fitted(self)
        check_choice("dtype", dtype, ("float32", "float64"))
        try:
            import onnx  # noqa: F401
        except ImportError as error:
            raise ImportError(
                "to_onnx needs the package onnx: pip install credalis[onnx]"
            ) from error
        standardization = self.standardization_
        steps = [("Sub", standardization.mean), ("Div", standardization.scale)]
        if self.embedding_ is not None:
            embedding = self.embedding_
            steps = [
                ("Sub", embedding.mean_),
                ("MatMul", embedding.components_.T),
                ("Div", embedding.scale_),
                *steps,
            ]
        model = onnx_model(
            fitted_network(self),
            flat_parameters(self),
            self.focal_sets_,
            input_shape=getattr(self, "input_shape_", (self.n_features_in_,)),
            steps=steps,
            novelty=self.novelty_,
            dtype=np.dtype(dtype),
        )
        with naming_errors(os.fspath(path)), atomic_write(path) as stream:
            stream.write(model.SerializeToString())
