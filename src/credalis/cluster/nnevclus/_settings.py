"""What the parameters of NNEVCLUS mean in each mode of fitting."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from credalis._checks import (
    check_choice,
    check_factor,
    check_integer,
    check_number,
    check_numbers,
    naming,
    shown,
)
from credalis.belief import FocalSets
from credalis.cluster._inputs._geometry import check_scale_parameters
from credalis.cluster.nnevclus._network import TrainedWeights, decay_of
from credalis.cluster.nnevclus._seeds import INITS
from credalis.network import torch_engine

if TYPE_CHECKING:
    from credalis.cluster.nnevclus._nnevclus import NNEVCLUS

FULL_BATCH = ("lbfgs", "adaptive")
MINI_BATCH = ("adam", "rmsprop")
SOLVERS = (*FULL_BATCH, *MINI_BATCH)
ENGINES = ("numpy", "torch")

# All objects at once; a source or a checkpoint; `partial_fit`; a Dask collection.
MODES = ("memory", "blocks", "stream", "partitions")

# How each parameter counts in these modes: "used", "refused" unless it has its default,
# or "meaningless". `n_jobs` and `verbose` change no result anywhere.
PARAMETER_USE: dict[str, tuple[str, str, str, str]] = {
    "n_clusters": ("used", "used", "used", "used"),
    "views": ("used", "refused", "refused", "refused"),
    "view_entropy": ("used", "refused", "refused", "refused"),
    "focal_sets": ("used", "used", "used", "used"),
    "hidden_layer_sizes": ("used", "used", "used", "used"),
    "metric": ("used", "used", "used", "used"),
    "symmetrize": ("used", "meaningless", "meaningless", "meaningless"),
    "n_components": ("used", "used", "used", "used"),
    "dissimilarity_quantile": ("used", "used", "used", "used"),
    "dissimilarity_scale": ("used", "used", "used", "used"),
    "novelty_detector": ("used", "used", "used", "used"),
    "novelty_link": ("used", "used", "used", "used"),
    "weight_decay": ("used", "used", "used", "used"),
    "init": ("used", "used", "meaningless", "used"),
    "empty_set": ("used", "used", "used", "used"),
    "outlier_rate": ("used", "used", "used", "used"),
    "solver": ("used", "used", "meaningless", "used"),
    "learning_rate_init": ("used", "used", "used", "used"),
    "batch_size": ("used", "used", "used", "used"),
    "pairs_per_sample": ("used", "refused", "refused", "refused"),
    "early_stopping": ("used", "used", "refused", "used"),
    "validation_fraction": ("used", "used", "meaningless", "used"),
    "label_weight": ("used", "used", "meaningless", "used"),
    "constraint_weight": ("used", "used", "meaningless", "used"),
    "warm_start": ("used", "refused", "meaningless", "refused"),
    "engine": ("used", "used", "used", "used"),
    "device": ("used", "used", "used", "used"),
    # Threads of a worker would share the random numbers of its layers.
    "module": ("used", "used", "used", "refused"),
    "dtype": ("used", "used", "used", "used"),
    "n_init": ("used", "used", "meaningless", "used"),
    "max_iter": ("used", "used", "meaningless", "used"),
    "tol": ("used", "used", "meaningless", "used"),
    "random_state": ("used", "used", "used", "used"),
}

_WHEN = {
    "blocks": "for data that are read in blocks",
    "stream": "for partial_fit",
    "partitions": "for a Dask collection",
}

# All pairs of all objects up to here: their number grows with the square of n.
_MAX_FULL_BATCH = 1000

# Beyond so many, a full-batch solver that starts from hard clusters looks at objects
# that stand for all: all of up to so many, or as many as have a hard cluster. What more
# objects would add is lost in the differences between starts. They are dealt out to
# parts of about so many, whose pairs count: how well the loss is known depends on the
# number of objects, not of pairs.
_FEW_TRAINED, _MAX_TRAINED = 500, 2000
_PART = 250
# As it is known to about one percent, training may end where iterations gain so many
# times as much as otherwise.
_SAMPLED_TOLERANCE = 2.0

# Starts of a full-batch solver. Those from hard clusters differ so little that one is
# enough. Those from random weights differ much, and soon enough to drop the worse half
# twice: eight then end lower than five, in less time.
_N_INIT_RANDOM = 5
_N_INIT_HALVED = 8
_HALVED_AT = (40, 80)
# A mini-batch solver has one, the best of so many that are trained this share of it.
_N_TRIES = 3
_TRY_SHARE = 0.1
_BATCH_SIZE = 200

# First learning rates. Blocks of a file only refine what a sample has found, and so
# does a training that begins with many clusters. A stream has no end for a schedule to
# fall towards, so that its rate is small and constant.
_LEARNING_RATES = {
    "memory": {"adam": 0.01, "rmsprop": 0.001},
    "blocks": {"adam": 0.003, "rmsprop": 0.001},
    "stream": {"adam": 0.003},
    "partitions": {"adam": 0.003, "rmsprop": 0.001},
}

# With so many clusters of equal size, 0.97 of the pairs are apart, and dissimilarities
# have hardly any contrast left to find clusters by. Networks begin with the clusters
# then and keep to them, learn in fewer updates what the masses are, and have hidden
# units for corrections alone, of which more clusters need no more.
MANY_CLUSTERS = 33
_MANY_CLUSTERS_SHARE = 0.03125
_ENOUGH_SETS = 100

# Focal sets up to which hidden units are one and a half for each. Beyond, sets of three
# and more clusters need none: units tell clusters apart.
_FEW_SETS = 64

# Iterations of a full-batch solver; updates and epochs of a mini-batch one.
_MAX_ITERATIONS = 1000
_N_UPDATES = {"adam": 4000, "rmsprop": 40_000}
_MIN_EPOCHS = 5
# A start that has found the clusters needs this share of the updates.
_SEEDED_SHARE = 0.5
_N_PASSES = 1

# Iterations, or the share of the epochs, in which seeds count as labels.
_SEED_ITERATIONS = 40
_SEED_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class Settings:
    """The parameters of NNEVCLUS for one fit, every "auto" resolved.

    Attributes
    ----------
    hidden_layer_sizes : tuple of int or "auto"
        "auto" depends on the focal sets, see `hidden_sizes`.
    novelty_link : str or None
        None without a novelty detector.
    learning_rate : float
        The first one.
    max_iter : int
        Iterations, epochs or passes.
    n_init : int or None
        Number of starts; None: as many as suit them, see `n_starts`.
    n_tries : int
        Short trainings of a start, of which the best goes on.
    previous : TrainedWeights or None
        What to start from, with warm_start.
    may_shorten : bool
        Whether a training that begins with its clusters may be shorter.
    may_slow : bool
        Whether one that begins with its clusters may have a lower learning rate.
    may_sample : bool
        Whether some of the objects stand for all in the training, where it starts from
        hard clusters.
    """

    n_clusters: int
    view_entropy: float
    hidden_layer_sizes: Any
    metric: Any
    symmetrize: bool
    n_components: Any
    dissimilarity_quantile: Any
    dissimilarity_scale: float | None
    novelty_detector: Any
    novelty_link: str | None
    weight_decay: float
    init: Any
    pairs_per_sample: int | None
    early_stopping: bool
    validation_fraction: float
    label_weight: float
    constraint_weight: float
    engine: str
    device: Any
    module: Any
    tol: float
    solver: str
    learning_rate: float
    batch_size: int
    max_iter: int
    dtype: type
    n_init: int | None
    n_tries: int
    previous: TrainedWeights | None
    may_shorten: bool
    may_slow: bool
    may_sample: bool

    @classmethod
    def of(cls, estimator: NNEVCLUS, n_samples: int, mode: str = "memory") -> Settings:
        """As the parameters of an estimator say, for so many objects."""
        parameters = estimator.get_params(deep=False)
        parameters["metric"] = estimator._own_metric
        solver = _solver(parameters, n_samples, mode)
        init = "random" if mode == "stream" else parameters["init"]
        is_auto = isinstance(init, str) and init == "auto"
        is_full = solver in FULL_BATCH
        batch_size, max_iter = parameters["batch_size"], parameters["max_iter"]
        if isinstance(batch_size, str):
            batch_size = _BATCH_SIZE
        batch_size = min(batch_size, n_samples)
        if mode == "stream":
            max_iter = 1
        elif mode != "memory":
            max_iter = _N_PASSES if isinstance(max_iter, str) else max_iter
        elif isinstance(max_iter, str):
            max_iter = _MAX_ITERATIONS
            if not is_full:
                portion = _SEEDED_SHARE if is_auto else 1.0
                epochs = round(portion * _N_UPDATES[solver] * batch_size / n_samples)
                max_iter = min(max(_MIN_EPOCHS, epochs), _MAX_ITERATIONS)
        rate = parameters["learning_rate_init"]
        if isinstance(rate, str):
            rate = _LEARNING_RATES[mode].get(solver, 0.0)
        dtype = parameters["dtype"]
        if dtype == "auto":
            dtype = "float64" if is_full else "float32"
        previous = None
        if parameters["warm_start"] and hasattr(estimator, "weights_"):
            previous = TrainedWeights.of(estimator)
        n_init, n_tries = parameters["n_init"], 1
        if isinstance(n_init, str):
            is_new = previous is None and parameters["module"] is None
            if is_auto and is_new and not is_full:
                n_tries = _N_TRIES
            n_init = None if is_full and previous is None else 1
        has_novelty = parameters["novelty_detector"] is not None
        resolved = {
            "novelty_link": parameters["novelty_link"] if has_novelty else None,
            "solver": solver,
            "learning_rate": float(rate),
            "batch_size": int(batch_size),
            "max_iter": int(max_iter),
            "dtype": np.dtype(dtype).type,
            "n_init": n_init,
            "n_tries": n_tries,
            "previous": previous,
            "weight_decay": decay_of(parameters["weight_decay"], parameters["module"]),
            "init": init,
            "may_shorten": mode == "memory"
            and not is_full
            and isinstance(parameters["max_iter"], str),
            "may_slow": mode == "memory"
            and isinstance(parameters["learning_rate_init"], str),
            "may_sample": mode == "memory"
            and n_samples > _FEW_TRAINED
            and previous is None
            and parameters["pairs_per_sample"] is None
            and _leaves_training_open(parameters)
            and parameters["n_clusters"] < MANY_CLUSTERS,
        }
        names = [field.name for field in fields(cls) if field.name not in resolved]
        return cls(**{name: parameters[name] for name in names}, **resolved)

    @property
    def is_full_batch(self) -> bool:
        """Whether a solver looks at all pairs at once."""
        return self.solver in FULL_BATCH

    @property
    def runs_together(self) -> bool:
        """Whether starts share every evaluation."""
        return self.solver == "lbfgs"

    def n_starts(self, are_seeded: bool) -> int:
        """Number of starts, from hard clusters or not."""
        if self.n_init is not None:
            return self.n_init
        if are_seeded:
            return 1
        return _N_INIT_HALVED if self.runs_together else _N_INIT_RANDOM

    def halvings(self, are_seeded: bool) -> tuple[int, ...]:
        """Iterations after which the worse half of the starts is dropped."""
        is_halved = self.n_init is None and self.runs_together and not are_seeded
        return _HALVED_AT if is_halved else ()

    @property
    def has_fixed_order(self) -> bool:
        """Whether the start fixes the numbers of the clusters."""
        return not isinstance(self.init, str)

    @property
    def begins_with_clusters(self) -> bool:
        """Whether a start is given many clusters instead of finding them."""
        is_auto = isinstance(self.init, str) and self.init == "auto"
        return is_auto and self.n_clusters >= MANY_CLUSTERS

    def hidden_sizes(self, focal_sets: FocalSets) -> tuple[int, ...]:
        """Units of each hidden layer of a network with these outputs."""
        if isinstance(self.hidden_layer_sizes, str):
            c = focal_sets.n_clusters
            n_sets = min(len(focal_sets), max(_FEW_SETS, 2 + c * (c + 1) // 2))
            if c >= MANY_CLUSTERS:
                n_sets = min(n_sets, _ENOUGH_SETS)
            return (round(1.5 * n_sets),)
        return tuple(int(size) for size in np.atleast_1d(self.hidden_layer_sizes))

    def sampled(self) -> Settings:
        """The same for a full-batch solver on some of the objects."""
        return replace(
            self,
            solver="lbfgs",
            max_iter=_MAX_ITERATIONS,
            tol=_SAMPLED_TOLERANCE * self.tol,
            dtype=np.float64,
            n_init=None if self.n_tries > 1 else self.n_init,
            n_tries=1,
        )

    def plain(self) -> Settings:
        """The same for few rows of noise, about which nothing is known."""
        return replace(
            self.sampled(),
            tol=self.tol,
            metric="euclidean",
            n_components=None,
            dissimilarity_scale=None,
            novelty_detector=None,
            novelty_link=None,
            init="auto",
            previous=None,
            pairs_per_sample=None,
            early_stopping=False,
            engine="numpy",
            device="cpu",
            module=None,
            may_sample=False,
        )

    def n_trained(self, n_samples: int) -> int:
        """How many of the objects stand for all in the training."""
        return min(n_samples, _MAX_TRAINED)

    def short(self) -> Settings:
        """The same with few iterations, enough to show a network its seeds."""
        if self.is_full_batch:
            return replace(self, max_iter=min(self.max_iter, _SEED_ITERATIONS))
        n_epochs = round(_SEED_SHARE * self.max_iter)
        return replace(self, max_iter=max(1, n_epochs))

    def beginning_with_clusters(self) -> Settings:
        """The same for one start that need not find the clusters.

        Steps of the usual length would leave the clusters before the rate has fallen:
        in a block there are but a few objects of each.
        """
        max_iter, rate = self.max_iter, self.learning_rate
        if self.may_slow:
            rate = _LEARNING_RATES["blocks"].get(self.solver, rate)
        if self.may_shorten:
            n_epochs = round(_MANY_CLUSTERS_SHARE / _SEEDED_SHARE * max_iter)
            max_iter = max(1, n_epochs)
        return replace(
            self, max_iter=max_iter, learning_rate=rate, n_tries=1, may_sample=False
        )

    def tried(self) -> Settings:
        """The same with as few epochs as it takes to compare starts."""
        return replace(self, max_iter=max(1, round(_TRY_SHARE * self.max_iter)))


def n_parts(n_samples: int) -> int:
    """Parts of the objects that stand for all."""
    return max(1, n_samples // _PART)


def check_mode(estimator: NNEVCLUS, mode: str) -> None:
    """Refuse parameters that make no sense in a mode."""
    when = _WHEN[mode]
    if estimator._is_precomputed:
        what = "the objects of a stream" if mode == "stream" else "their rows"
        raise ValueError(
            f"metric must not be 'precomputed' {when}: {what} have no common "
            "dissimilarity matrix"
        )
    defaults = type(estimator)().get_params(deep=False)
    for name, use in PARAMETER_USE.items():
        value = getattr(estimator, name)
        is_refused = use[MODES.index(mode)] == "refused"
        if is_refused and value is not defaults[name] and value != defaults[name]:
            raise ValueError(f"{name} must be {defaults[name]!r} {when}, got {value!r}")
    if mode == "stream":
        return
    if estimator.solver in FULL_BATCH:
        raise ValueError(
            f"solver must be 'auto', 'adam' or 'rmsprop' {when}, got "
            f"{estimator.solver!r}"
        )
    if is_of_rows(estimator.init):
        raise ValueError(
            f"init must be a name or an array of centres {when}, got a vector of row "
            "numbers"
        )


def is_of_rows(init: Any) -> bool:
    """Whether a start consists of row numbers."""
    with naming("init"):
        return not isinstance(init, str) and np.ndim(init) == 1


def check_parameters(estimator: NNEVCLUS) -> None:
    """Parameters of NNEVCLUS that do not depend on the data."""
    sizes = estimator.hidden_layer_sizes
    if isinstance(sizes, str):
        check_choice("hidden_layer_sizes", sizes, ("auto",))
    else:
        for size in np.atleast_1d(np.asarray(sizes, dtype=object)):
            check_integer("hidden_layer_sizes", size, at_least=1)
    _check_components(estimator)
    _check_views(estimator)
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
    if isinstance(estimator.weight_decay, str):
        check_choice("weight_decay", estimator.weight_decay, ("auto",))
    else:
        check_factor("weight_decay", estimator.weight_decay, at_least=0)
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
    _check_engine(estimator)
    if estimator.warm_start and estimator._has_two_steps:
        raise ValueError(
            "warm_start must be False with focal_sets='two-step', whose first step "
            "has other focal sets than the network of the previous fit"
        )
    detector = estimator.novelty_detector
    if isinstance(detector, str):
        check_choice("novelty_detector", detector, ("ocsvm",))
    elif isinstance(detector, (list, tuple, np.ndarray)):
        scores = check_numbers("novelty_detector", detector)
        if scores.ndim != 1 or not np.isfinite(scores).all():
            raise ValueError(
                "novelty_detector must hold a finite score for each object where it is "
                f"an array, got {shown(detector)}"
            )
    elif detector is not None and (
        isinstance(detector, type) or not hasattr(detector, "decision_function")
    ):
        raise ValueError(
            "novelty_detector must be None, 'ocsvm', scores of the objects or an "
            f"object with decision_function, got {detector!r}"
        )


def projects(settings: Any) -> bool:
    """Whether rows may be projected: with these metrics, distances can be kept."""
    metric = settings.metric
    is_known = isinstance(metric, str) and metric in ("euclidean", "cosine")
    return is_known and settings.module is None


def _check_components(estimator: NNEVCLUS) -> None:
    """Check n_components, which precomputed input needs and others need not have."""
    n_components = estimator.n_components
    if isinstance(n_components, str):
        check_choice("n_components", n_components, ("auto",))
        return
    if n_components is None:
        if estimator._is_precomputed:
            raise ValueError(
                "n_components must be an integer or 'auto' with metric='precomputed', "
                "of whose rows the inputs are made, got None"
            )
        return
    check_integer("n_components", n_components, at_least=1)
    if not (estimator._is_precomputed or projects(estimator)):
        raise ValueError(
            "n_components must be 'auto' or None with a module, and with metrics other "
            "than 'euclidean', 'cosine' and 'precomputed', got "
            f"{n_components} with metric={shown(estimator.metric)}"
        )


def _check_views(estimator: NNEVCLUS) -> None:
    """Check view_entropy, and that views have distances that can be added."""
    check_factor("view_entropy", estimator.view_entropy, above=0)
    if estimator.views is not None:
        check_can_have_views(estimator)


def check_can_have_views(estimator: NNEVCLUS) -> None:
    """Refuse views of columns whose distances cannot be added."""
    metric = estimator.metric
    if not (isinstance(metric, str) and metric == "euclidean"):
        raise ValueError(
            f"metric must be 'euclidean' with views, got {shown(metric)}: give fit "
            "other dissimilarities of each view as a mapping of matrices"
        )
    if estimator.module is not None:
        raise ValueError(
            "module must be None with views, got one: give fit the dissimilarities of "
            "each view as a mapping of matrices"
        )


def _check_engine(estimator: NNEVCLUS) -> None:
    """Check the parameters engine, device and module."""
    check_choice("engine", estimator.engine, ENGINES)
    module = estimator.module
    if estimator.engine == "numpy":
        if module is not None:
            raise ValueError("engine must be 'torch' with a module, got 'numpy'")
        if not isinstance(estimator.device, str) or estimator.device != "cpu":
            raise ValueError(
                "device must be 'cpu' with engine='numpy', got "
                f"{shown(estimator.device)}"
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
    if estimator._has_two_steps:
        raise ValueError(
            "focal_sets must not be 'two-step' with a module, whose number of outputs "
            "cannot grow"
        )


def _leaves_training_open(parameters: dict[str, Any]) -> bool:
    """Whether nothing is said about how to train."""
    names = ("solver", "max_iter", "batch_size", "learning_rate_init", "dtype", "init")
    are_auto = all(
        isinstance(parameters[name], str) and parameters[name] == "auto"
        for name in names
    )
    return (
        are_auto
        and parameters["engine"] == "numpy"
        and not parameters["early_stopping"]
    )


def _solver(parameters: dict[str, Any], n_samples: int, mode: str) -> str:
    """The solver, which must suit early_stopping and pairs_per_sample."""
    solver = "adam" if mode == "stream" else parameters["solver"]
    if solver == "auto" and mode != "memory":
        solver = "adam"
    if solver == "auto":
        is_small = n_samples <= _MAX_FULL_BATCH and not parameters["early_stopping"]
        solver = "lbfgs" if is_small and parameters["module"] is None else "adam"
    is_full, n_pairs = solver in FULL_BATCH, parameters["pairs_per_sample"]
    if is_full and parameters["early_stopping"]:
        raise ValueError(
            "early_stopping must be False for the full-batch solvers "
            f"{' and '.join(FULL_BATCH)}, got solver={solver!r}"
        )
    if not is_full and n_pairs is not None:
        raise ValueError(
            "pairs_per_sample must be None for solvers that look at all pairs of a "
            f"block, got {n_pairs} with solver={solver!r}"
        )
    return solver
