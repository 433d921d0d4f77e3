"""NNEVCLUS on Dask arrays and data frames, and lazy predictions of all estimators.

A fit is a sequence of rounds. In a round every partition trains, from the same
parameters, on a part of its own rows; the parameters and the sums of the optimiser are
then averaged in the order of the partitions. What a partition does depends on its
rows, the parameters and a seed of its own alone, so that neither the number of workers
nor their speed, nor a worker that is lost and whose work Dask does again, changes a bit
of the result.
"""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils.random import sample_without_replacement
from sklearn.utils.validation import check_is_fitted

from credalis._placement import leveled
from credalis.cluster import NNEVCLUS
from credalis.cluster._framework._blocks import SAMPLE_ROWS, State
from credalis.cluster._framework._solution import one_thread
from credalis.cluster.nnevclus._blocks import (
    BlockTraining,
    check_blocks,
    finish_blocks,
    start_blocks,
)
from credalis.optimize import cosine_schedule

__all__ = ["fit_distributed", "lazily"]

# Averages taken in a pass over the rows. More of them bring the result closer to that
# of one machine and leave workers waiting for each other more often.
_N_ROUNDS = 5


def fit_distributed(
    estimator: Any, X: Any, checkpoint: Any, side_information: dict[str, Any]
) -> None:
    """Fit NNEVCLUS to a Dask collection, without results for its objects.

    Parameters
    ----------
    estimator : NNEVCLUS
        Gets the fitted attributes.
    X : dask array of shape (n_rows, n_features) or dask data frame
        Its partitions are those of the training. Workers hold them while it lasts, all
        threads about as many rows.
    checkpoint : None
        There is none: work that is lost is done again by Dask.
    side_information : dict
        Labels and pairs, of which there must be none.
    """
    _check_fit(estimator, checkpoint, side_information)
    estimator._check_parameters()
    check_blocks(estimator)
    parts, names = _partitions(X)
    # Around everything: workers may be threads of this process, and one of them that
    # ends must not set the others free.
    with one_thread():
        dask = _dask()
        rng = check_random_state(estimator.random_state)
        seeds = rng.randint(np.iinfo(np.int32).max, size=4)
        parts = dask.persist(*(dask.delayed(_checked)(part) for part in parts))
        sizes = np.array(dask.compute(*(dask.delayed(len)(part) for part in parts)))
        sample = _sample(parts, sizes, np.random.RandomState(seeds[0]))
        if len(sample) < 2:
            raise ValueError(f"X must have at least 2 rows, got {len(sample)}")
        estimator._check_enough_objects(sample)
        # The start is work for a worker as well: the client may be a small machine.
        (state,) = dask.compute(dask.delayed(_start)(estimator, sample, seeds[1:]))
        state = _train(estimator, parts, sizes, state)
        finish_blocks(estimator, state)
    estimator.n_features_in_ = sample.shape[1]
    if hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def lazily(model: Any, X: Any, method: str) -> Any:
    """What a method of a fitted model says about a Dask collection, not yet computed.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : dask array or data frame
        Rows.
    method : {"predict", "predict_proba", "transform"}
        What is asked for.

    Returns
    -------
    dask array of shape (n_rows,) or (n_rows, n_columns)
    """
    import dask.array as da

    check_is_fitted(model)
    parts, names = _partitions(X)
    known = getattr(model, "feature_names_in_", None)
    if names is not None and known is not None and list(names) != list(known):
        raise ValueError(
            "X must have the columns that the model was fitted to, in their order: "
            f"{', '.join(known)}; got {', '.join(names)}"
        )
    n_columns = {
        "predict_proba": model.focal_sets_.n_clusters,
        "transform": len(model.focal_sets_),
    }
    tail = (n_columns[method],) if method in n_columns else ()
    dtype = np.float64 if tail else np.intp
    lengths = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * len(parts)
    predicted = _dask().delayed(_predicted)
    blocks = [
        da.from_delayed(predicted(part, model, method), (length, *tail), dtype=dtype)
        for part, length in zip(parts, lengths, strict=True)
    ]
    return da.concatenate(blocks)


def _train(
    estimator: Any, parts: tuple[Any, ...], sizes: NDArray[np.intp], state: State
) -> State:
    """Passes over all rows, several rounds each."""
    dask = _dask()
    training = BlockTraining.of(estimator, state["model"], int(sizes.sum()))
    n_turns = training.n_passes * _N_ROUNDS
    seed = int(state["seeds"][0])
    moving = {name: state[name] for name in ("parameters", "optimizer")}
    history: list[float] = []
    losses: list[tuple[float, int]] = []
    for turn in range(n_turns):
        number, round_number = divmod(turn, _N_ROUNDS)
        if round_number == 0:
            # In every pass again: workers may have come and gone.
            parts = leveled(parts, sizes.tolist())
        rate = training.learning_rate
        if training.solver == "adam":
            rate *= cosine_schedule(turn, n_turns)
        now = replace(training, learning_rate=rate, n_updates=None)
        # Dask looks for collections in all arguments of a call, but not in these.
        train = dask.delayed(partial(_trained, now, moving, round_number), pure=False)
        results = dask.compute(
            *(train(part, (seed, number, k)) for k, part in enumerate(parts))
        )
        moving = _averaged(moving, results)
        losses += [(loss, weight) for _, _, loss, weight in results]
        if round_number == _N_ROUNDS - 1:
            values, weights = np.array(losses).T
            history.append(float(np.average(values, weights=weights)))
            losses = []
    return {**state, **moving, "history": history}


def _trained(
    training: BlockTraining,
    moving: State,
    round_number: int,
    rows: NDArray[np.float64],
    seeds: tuple[int, int, int],
) -> tuple[NDArray[np.floating], State, float, int]:
    """Parameters, sums of the optimiser, mean loss and number of rows of one part.

    The order of the rows is that of the pass, of which a round takes its share.
    """
    order = np.random.RandomState(seeds).permutation(len(rows))
    chosen = np.array_split(order, _N_ROUNDS)[round_number]
    if len(chosen) < 2:
        return moving["parameters"], moving["optimizer"], 0.0, 0
    rng = np.random.RandomState([*seeds, round_number])
    n_steps = int(moving["optimizer"].get("n_steps", 0))
    with one_thread():
        state = {**moving, "n_steps": n_steps, "losses": [], "weights": []}
        state = training.on(rows[chosen], state, rng)
    return state["parameters"], state["optimizer"], state["losses"][0], len(chosen)


def _averaged(moving: State, results: tuple[Any, ...]) -> State:
    """Means of parameters and sums, weighted by rows, in the order of the parts."""
    results = tuple(result for result in results if result[3] > 0)
    if not results:
        return moving
    weights = np.array([weight for *_, weight in results], dtype=np.float64)
    weights /= weights.sum()
    dtype = moving["parameters"].dtype
    parameters = np.zeros(moving["parameters"].shape)
    sums = np.zeros(results[0][1]["sums"].shape)
    for (values, optimizer, _, _), weight in zip(results, weights, strict=True):
        parameters += weight * values
        sums += weight * optimizer["sums"]
    n_steps = max(int(optimizer["n_steps"]) for _, optimizer, _, _ in results)
    return {
        "parameters": parameters.astype(dtype),
        "optimizer": {"sums": sums.astype(dtype), "n_steps": np.array(n_steps)},
    }


def _sample(
    parts: tuple[Any, ...], sizes: NDArray[np.intp], rng: np.random.RandomState
) -> NDArray[np.float64]:
    """Rows drawn without replacement, all with the same chance."""
    dask = _dask()
    n_rows = int(sizes.sum())
    size = min(SAMPLE_ROWS, n_rows)
    chosen = np.sort(sample_without_replacement(n_rows, size, random_state=rng))
    edges = np.concatenate([[0], np.cumsum(sizes)])
    cuts = np.searchsorted(chosen, edges)
    take = dask.delayed(_taken)
    taken = dask.compute(
        *(
            take(part, chosen[cuts[k] : cuts[k + 1]] - edges[k])
            for k, part in enumerate(parts)
        )
    )
    return np.concatenate(taken)


def _start(
    estimator: Any, sample: NDArray[np.float64], seeds: NDArray[np.integer]
) -> State:
    with one_thread():
        return start_blocks(estimator, sample, seeds)


def _taken(rows: NDArray[np.float64], chosen: NDArray[np.intp]) -> NDArray[np.float64]:
    return rows[chosen]


def _checked(part: Any) -> NDArray[np.float64]:
    """A partition as an array of finite numbers."""
    try:
        rows = np.asarray(part, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X must hold numbers in all partitions: {error}") from error
    if not np.isfinite(rows).all():
        row, column = np.argwhere(~np.isfinite(rows))[0]
        raise ValueError(
            f"X must be finite, got {rows[row, column]} in row {row}, column {column} "
            "of a partition"
        )
    return rows


def _predicted(part: Any, model: Any, method: str) -> NDArray[Any]:
    if not hasattr(part, "columns") and hasattr(model, "feature_names_in_"):
        # An array has the columns by their place; nobody need be warned of that.
        model = _without_names(model)
    return np.asarray(getattr(model, method)(part))


def _without_names(model: Any) -> Any:
    nameless = type(model).from_state(model.to_state())
    del nameless.feature_names_in_
    return nameless


def _partitions(X: Any) -> tuple[list[Any], tuple[str, ...] | None]:
    """Delayed partitions, and the names of the columns if there are any."""
    columns = getattr(X, "columns", None)
    if columns is None and getattr(X, "ndim", None) != 2:
        raise ValueError(
            "X must be a Dask array of two dimensions or a Dask data frame, got "
            f"{type(X).__name__}"
        )
    if columns is not None:
        return list(X.to_delayed()), tuple(str(name) for name in columns)
    return list(X.rechunk({1: -1}).to_delayed().ravel()), None


def _check_fit(
    estimator: Any, checkpoint: Any, side_information: dict[str, Any]
) -> None:
    if not isinstance(estimator, NNEVCLUS):
        raise ValueError(
            f"X must not be a Dask collection for {type(estimator).__name__}, only "
            "NNEVCLUS is trained on partitions: call compute on it first"
        )
    given = {"checkpoint": checkpoint, **side_information}
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} must be None for a Dask collection")


def _dask() -> Any:
    try:
        import dask
    except ImportError as error:
        raise ImportError(
            'Dask collections need Dask: pip install "credalis[dask]"'
        ) from error
    return dask
