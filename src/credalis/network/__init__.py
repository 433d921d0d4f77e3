"""Networks that map attributes to masses."""

from credalis.network._detector import (
    KernelScores,
    NearestScores,
    NoveltyScorer,
    fit_novelty,
)
from credalis.network._engine import torch_engine
from credalis.network._growth import (
    output_weights,
    renamed_subset,
    separating_weights,
    weights_for_other_inputs,
)
from credalis.network._model import (
    CredalNetwork,
    DeferredInputs,
    Perceptron,
    Standardization,
    masses_in_blocks,
    with_constant,
)
from credalis.network._novelty import INITIAL_COEFFICIENTS, couple, mass_weight
from credalis.network._onnx import onnx_model
from credalis.network._projection import MANY_FEATURES, Projection
from credalis.network._training import (
    BlockTrainer,
    SideInformation,
    TrainingData,
    full_objective,
    mean_stress,
    stress_objective,
)

__all__ = [
    "INITIAL_COEFFICIENTS",
    "MANY_FEATURES",
    "BlockTrainer",
    "CredalNetwork",
    "DeferredInputs",
    "KernelScores",
    "NearestScores",
    "NoveltyScorer",
    "Perceptron",
    "Projection",
    "SideInformation",
    "Standardization",
    "TrainingData",
    "couple",
    "fit_novelty",
    "full_objective",
    "mass_weight",
    "masses_in_blocks",
    "mean_stress",
    "onnx_model",
    "output_weights",
    "renamed_subset",
    "separating_weights",
    "stress_objective",
    "torch_engine",
    "weights_for_other_inputs",
    "with_constant",
]
