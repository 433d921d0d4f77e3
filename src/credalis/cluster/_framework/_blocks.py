"""Fits to data that are read in blocks: what all estimators share."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state

from credalis.checkpoints import Checkpoint
from credalis.cluster._framework._solution import one_thread
from credalis.sources import Source, as_source

# Rows of the sample that gives scales and the start.
SAMPLE_ROWS = 10_000

# Arrays of more rows than this are trained on as if they came from a file.
MAX_WHOLE = 200_000

# Results for the objects of the sample, which the user has not asked for.
_PER_OBJECT = ("partition_", "labels_")

State = dict[str, Any]


def source_of(
    estimator: Any, X: Any, checkpoint: Any, side_information: State
) -> Source | None:
    """The source a fit reads in blocks; None if it looks at all objects at once."""
    source = as_source(X)
    if source is None and checkpoint is None:
        return None
    if not estimator._reads_blocks:
        raise ValueError(
            f"{type(estimator).__name__} needs all objects at once: X must be an array "
            "or data frame, and checkpoint None"
        )
    for name, value in side_information.items():
        if value is not None:
            raise ValueError(
                f"{name} must be None for data that are read in blocks, whose rows "
                "have no numbers"
            )
    if source is None:
        return None
    if not source.is_repeatable:
        raise ValueError(
            "X must be readable more than once, for a sample and for the training, got "
            "an iterator: give a list of batches, or "
            "credalis.sources.BatchSource(function that returns an iterator)"
        )
    return source


def fit_blocks(
    estimator: Any,
    source: Source,
    checkpoint: Any,
    start: Callable[[Any, NDArray[np.float64], NDArray[np.integer]], State],
    train: Callable[[Any, Source, State, Checkpoint | None], State],
    finish: Callable[[Any, State], None],
) -> None:
    """A start from a sample, training on blocks, fitted attributes; continued if begun.

    Parameters
    ----------
    estimator : object
        Gets the fitted attributes.
    source : Source
        The data.
    checkpoint : None, path or Checkpoint
        Where to continue from.
    start : callable
        Takes the estimator, the sample and seeds; returns a state.
    train : callable
        Takes estimator, source, state and checkpoint; returns the last state.
    finish : callable
        Sets fitted attributes from the last state.
    """
    file = Checkpoint.of(checkpoint)
    estimator._check_parameters()
    rng = check_random_state(estimator.random_state)
    seeds = rng.randint(np.iinfo(np.int32).max, size=4)
    state = None if file is None else file.begin(estimator, source.fingerprint())
    with one_thread():
        if state is None:
            sample = source.sample(np.random.RandomState(seeds[0]), SAMPLE_ROWS)
            if len(sample) < 2:
                raise ValueError(f"X must have at least 2 rows, got {len(sample)}")
            estimator._check_enough_objects(sample)
            state = start(estimator, sample, seeds[1:])
            # The pass for the sample has counted them.
            state["n_rows"] = source.n_rows
            if file is not None:
                file.write(state)
        elif source.n_rows is None:
            source.n_rows = state["n_rows"]
        state = train(estimator, source, state, file)
        finish(estimator, state)
    _set_names(estimator, source)


def started(estimator: Any, sample: NDArray[np.float64], **parameters: Any) -> Any:
    """A clone with other parameters, fitted to the sample, without its objects."""
    model = clone(estimator).set_params(verbose=0, **parameters)
    with warnings.catch_warnings():
        # Whatever there is to warn of is said of the result.
        warnings.simplefilter("ignore")
        model.fit(sample)
    if model._is_interrupted:
        # Half a start is none, least of all one to continue from.
        raise KeyboardInterrupt
    for name in _PER_OBJECT:
        delattr(model, name)
    return model


def adopt_fitted(estimator: Any, model: Any) -> None:
    """Take over all fitted attributes of a model of the same class."""
    for name in _PER_OBJECT:
        if hasattr(estimator, name):
            delattr(estimator, name)
    for name, value in vars(model).items():
        if name.endswith("_") and not name.startswith("_"):
            setattr(estimator, name, value)


def _set_names(estimator: Any, source: Source) -> None:
    estimator.n_features_in_ = source.n_features
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    if source.feature_names is not None:
        estimator.feature_names_in_ = np.array(source.feature_names, dtype=object)
