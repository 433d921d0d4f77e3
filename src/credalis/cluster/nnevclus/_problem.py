"""What all starts of NNEVCLUS share, worked out once from data and parameters."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis._checks import check_choice, check_integer, check_number
from credalis.belief import FocalSets
from credalis.cluster._inputs._geometry import (
    Geometry,
    attribute_geometry,
    check_scale_parameters,
    given_geometry,
    scale_of,
)
from credalis.cluster._inputs._side_information import side_information
from credalis.cluster._inputs._standardization import Standardization
from credalis.cluster.nnevclus._engine import (
    check_engine,
    fitted_module,
    module_network,
)
from credalis.cluster.nnevclus._seeds import INITS, fixed_seeds
from credalis.cluster.nnevclus._training import FULL_BATCH, SOLVERS, Settings
from credalis.dissimilarity import (
    MAX_STORED,
    Similarities,
    check_dissimilarities,
    sample_pairs,
)
from credalis.metric_learning import DissimilarityPCA
from credalis.network import (
    CredalNetwork,
    DeferredInputs,
    NoveltyScorer,
    Perceptron,
    SideInformation,
    TrainingData,
    fit_novelty,
    with_constant,
)

# Full-batch training up to here: its cost grows with the square of n.
_MAX_FULL_BATCH = 1000

BATCH_SIZE = 200
_LEARNING_RATES = {"adam": 0.01, "rmsprop": 0.001}

# Iterations of a full-batch solver; updates and epochs of a mini-batch one.
_MAX_ITERATIONS = 1000
_N_UPDATES = {"adam": 4000, "rmsprop": 40_000}
_MIN_EPOCHS = 5


@dataclass(frozen=True, eq=False)
class Problem:
    """Data, side information and settings of a fit."""

    standardize: Standardization
    embedding: DissimilarityPCA | None
    transformer: Any
    has_given_dissimilarities: bool
    scorer: NoveltyScorer | None
    attributes: NDArray[np.float64]
    scores: NDArray[np.float64] | None
    geometry: Geometry
    scale: float
    information: SideInformation
    seeds: NDArray[np.intp] | None
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]] | None
    held_out: NDArray[np.bool_] | None
    settings: Settings

    @property
    def n_samples(self) -> int:
        """Number of objects."""
        return len(self.attributes)

    @property
    def inputs(self) -> NDArray[np.float64]:
        """Standardised attributes of all objects, (n_samples, n_inputs)."""
        return self.standardize(self.attributes)

    def similarities(self, dtype: type = np.float64) -> Similarities:
        """Similarities of all objects."""
        return self.geometry.similarities(self.scale, dtype)

    def training_data(
        self, focal_sets: FocalSets, information: SideInformation
    ) -> tuple[TrainingData, TrainingData | None]:
        """What the network is trained on, and what it is validated on."""
        dtype = self.settings.dtype
        inputs: NDArray[np.floating] | DeferredInputs
        if self.attributes.size <= MAX_STORED or self.settings.solver in FULL_BATCH:
            inputs = with_constant(self.inputs, dtype)
        else:
            everything = np.arange(self.n_samples)
            inputs = DeferredInputs(
                self.attributes, self.standardize, everything, dtype
            )
        data = TrainingData(
            inputs,
            None if self.scores is None else self.scores.astype(dtype),
            self.similarities(dtype),
            focal_sets,
            information,
            self.pairs,
        )
        if self.held_out is None:
            return data, None
        return data.take(np.flatnonzero(~self.held_out)), data.take(
            np.flatnonzero(self.held_out)
        )


def prepare(
    estimator: Any,
    X: NDArray[np.float64],
    rng: np.random.RandomState,
    *,
    dissimilarities: Any,
    **given: Any,
) -> Problem:
    """Check side information, find scales, fit transformer and novelty detector."""
    information = _information(estimator, len(X), **given)
    embedding, transformer = None, None
    attributes = X
    if isinstance(estimator.metric, str) and estimator.metric == "precomputed":
        matrix = check_dissimilarities(X, symmetrize=estimator.symmetrize)
        embedding = DissimilarityPCA(estimator.n_components).fit(matrix)
        # Rows as they are given, since prediction has no columns to average with.
        attributes, geometry = embedding.transform(X), Geometry(matrix, "precomputed")
    else:
        geometry, transformer = attribute_geometry(
            X, estimator.metric, rng, information
        )
    if dissimilarities is not None:
        geometry = given_geometry(
            dissimilarities, len(X), symmetrize=estimator.symmetrize
        )
    has_shape = hasattr(estimator, "input_shape_")
    standardize = (Standardization.alike if has_shape else Standardization.of)(
        attributes
    )
    scorer, scores = None, None
    if estimator.novelty_detector is not None:
        scorer, scores = fit_novelty(
            estimator.novelty_detector, attributes, standardize, rng
        )
    settings = _settings(estimator, len(X))
    scale = scale_of(estimator, geometry, rng)
    seeds = fixed_seeds(
        estimator.init, attributes, geometry, scale, estimator.n_clusters, rng
    )
    return Problem(
        standardize,
        embedding,
        transformer,
        dissimilarities is not None,
        scorer,
        attributes,
        scores,
        geometry,
        scale,
        information,
        seeds,
        _pairs(estimator, len(X), rng),
        _held_out(estimator, information, len(X), rng),
        settings,
    )


def _information(estimator: Any, n_samples: int, **given: Any) -> SideInformation:
    """Checked labels and pairs, which the start must not contradict."""
    information = side_information(
        **given,
        n_samples=n_samples,
        n_clusters=estimator.n_clusters,
        label_weight=estimator.label_weight,
        constraint_weight=estimator.constraint_weight,
    )
    if information.has_labels and not _is_random(estimator.init):
        raise ValueError(
            "init must be 'random' with partial_labels, which say themselves where "
            f"the clusters are, got {estimator.init!r}"
        )
    return information


def hidden_sizes(estimator: Any, focal_sets: FocalSets) -> tuple[int, ...]:
    """Units of each hidden layer that an estimator asks for."""
    sizes = estimator.hidden_layer_sizes
    if isinstance(sizes, str):
        return (round(1.5 * len(focal_sets)),)
    return tuple(int(size) for size in np.atleast_1d(sizes))


def network_of(
    estimator: Any, n_inputs: int, hidden: tuple[int, ...], focal_sets: FocalSets
) -> Any:
    """A network with these hidden layers, as the parameters of an estimator say."""
    has_novelty = estimator.novelty_detector is not None
    link = estimator.novelty_link if has_novelty else None
    if estimator.module is not None:
        return module_network(estimator, n_inputs, focal_sets, link)
    return CredalNetwork(
        Perceptron((n_inputs, *hidden, len(focal_sets))),
        focal_sets.empty_index,
        link,
        estimator.weight_decay,
    )


def fitted_network(estimator: Any) -> Any:
    """The network an estimator was fitted with, whatever its parameters are now."""
    weights = estimator.weights_
    if isinstance(weights, dict):
        return fitted_module(estimator)
    sizes = (weights[0].shape[1] - 1, *(len(layer) for layer in weights))
    return CredalNetwork(
        Perceptron(sizes),
        estimator.focal_sets_.empty_index,
        estimator.novelty_link_,
        estimator.weight_decay,
    )


def check_parameters(estimator: Any) -> None:
    """Parameters of NNEVCLUS that do not depend on the data."""
    sizes = estimator.hidden_layer_sizes
    if isinstance(sizes, str):
        check_choice("hidden_layer_sizes", sizes, ("auto",))
    else:
        for size in np.atleast_1d(np.asarray(sizes, dtype=object)):
            check_integer("hidden_layer_sizes", size, at_least=1)
    if isinstance(estimator.n_components, str):
        check_choice("n_components", estimator.n_components, ("auto",))
    else:
        check_integer("n_components", estimator.n_components, at_least=1)
    check_scale_parameters(estimator)
    if isinstance(estimator.learning_rate_init, str):
        check_choice("learning_rate_init", estimator.learning_rate_init, ("auto",))
    else:
        check_number("learning_rate_init", estimator.learning_rate_init, above=0)
    if isinstance(estimator.max_iter, str):
        check_choice("max_iter", estimator.max_iter, ("auto",))
    check_choice("novelty_link", estimator.novelty_link, ("reference", "paper"))
    check_choice("solver", estimator.solver, ("auto", *SOLVERS))
    check_choice("dtype", estimator.dtype, ("auto", "float32", "float64"))
    check_number("weight_decay", estimator.weight_decay, at_least=0)
    check_number("label_weight", estimator.label_weight, at_least=0, at_most=1)
    check_number("constraint_weight", estimator.constraint_weight, at_least=0)
    check_number(
        "validation_fraction", estimator.validation_fraction, above=0, at_most=0.9
    )
    if isinstance(estimator.batch_size, str):
        check_choice("batch_size", estimator.batch_size, ("auto",))
    else:
        check_integer("batch_size", estimator.batch_size, at_least=2)
    if estimator.pairs_per_sample is not None:
        check_integer("pairs_per_sample", estimator.pairs_per_sample, at_least=1)
    if isinstance(estimator.init, str):
        check_choice("init", estimator.init, INITS)
    check_engine(estimator)
    two_steps = isinstance(estimator.focal_sets, str) and (
        estimator.focal_sets == "two-step"
    )
    if estimator.warm_start and two_steps:
        raise ValueError(
            "warm_start must be False with focal_sets='two-step', whose first step "
            "has other focal sets than the network of the previous fit"
        )
    detector = estimator.novelty_detector
    if isinstance(detector, str):
        check_choice("novelty_detector", detector, ("ocsvm",))
    elif detector is not None and (
        isinstance(detector, type) or not hasattr(detector, "decision_function")
    ):
        raise ValueError(
            "novelty_detector must be None, 'ocsvm' or an object with "
            f"decision_function, got {detector!r}"
        )


def _settings(estimator: Any, n_samples: int) -> Settings:
    solver = estimator.solver
    if solver == "auto":
        is_small = n_samples <= _MAX_FULL_BATCH and not estimator.early_stopping
        solver = "lbfgs" if is_small and estimator.module is None else "adam"
    is_full = solver in FULL_BATCH
    if is_full and estimator.early_stopping:
        raise ValueError(
            "early_stopping must be False for the full-batch solvers "
            f"{' and '.join(FULL_BATCH)}, got solver={solver!r}"
        )
    if not is_full and estimator.pairs_per_sample is not None:
        raise ValueError(
            "pairs_per_sample must be None for solvers that look at all pairs of a "
            f"block, got {estimator.pairs_per_sample} with solver={solver!r}"
        )
    batch_size = BATCH_SIZE if estimator.batch_size == "auto" else estimator.batch_size
    batch_size = min(batch_size, n_samples)
    max_iter = estimator.max_iter
    if isinstance(max_iter, str):
        max_iter = _MAX_ITERATIONS
        if not is_full:
            epochs = round(_N_UPDATES[solver] * batch_size / n_samples)
            max_iter = min(max(_MIN_EPOCHS, epochs), _MAX_ITERATIONS)
    dtype = estimator.dtype
    if dtype == "auto":
        dtype = "float64" if is_full else "float32"
    rate = estimator.learning_rate_init
    if isinstance(rate, str):
        rate = _LEARNING_RATES.get(solver, 0.0)
    return Settings(
        solver,
        max_iter,
        estimator.tol,
        np.dtype(dtype).type,
        batch_size,
        rate,
        estimator.engine,
        estimator.device,
    )


def _is_random(init: Any) -> bool:
    return isinstance(init, str) and init == "random"


def _pairs(
    estimator: Any, n_samples: int, rng: np.random.RandomState
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    if estimator.pairs_per_sample is None:
        return None
    return sample_pairs(n_samples, estimator.pairs_per_sample, rng)


def _held_out(
    estimator: Any,
    information: SideInformation,
    n_samples: int,
    rng: np.random.RandomState,
) -> NDArray[np.bool_] | None:
    """Objects that validate the training: none that side information is about."""
    if not estimator.early_stopping:
        return None
    concerned = np.zeros(n_samples, dtype=bool)
    for objects in (
        information.objects,
        information.must_link,
        information.cannot_link,
    ):
        concerned[objects.ravel()] = True
    free = np.flatnonzero(~concerned)
    n_held_out = round(estimator.validation_fraction * n_samples)
    if n_held_out < 2 or len(free) < n_held_out or n_samples - n_held_out < 2:
        raise ValueError(
            f"validation_fraction must leave at least two objects without side "
            f"information to validate on and two to train on, got "
            f"{estimator.validation_fraction} of {n_samples} objects"
        )
    held_out = np.zeros(n_samples, dtype=bool)
    held_out[rng.choice(free, n_held_out, replace=False)] = True
    return held_out
