"""The number of clusters: as given, or chosen."""

from typing import Any

import numpy as np

from credalis.cli._shared._console import Console
from credalis.cli._shared._values import AUTO
from credalis.cluster import BaseCredalClusterer
from credalis.constraints import renumber
from credalis.dissimilarity import Gower
from credalis.model_selection import (
    Selection,
    select_n_clusters,
    suggest_n_clusters,
)

# What "auto" tries where there are only dissimilarities.
_NUMBERS = range(2, 9)
# With these, the choice rests on so many rows, and on so many random parts of them.
MAX_ROWS = 500
_N_RESAMPLES = 3


def check_n_clusters(wanted: Any, name: str, n_rows: int) -> None:
    """Refuse more clusters than the table has rows, before any work."""
    if isinstance(wanted, int) and wanted > n_rows:
        raise ValueError(
            f"-c {wanted} asks for more clusters than {name} has rows ({n_rows})"
        )


def choose_n_clusters(
    estimator: BaseCredalClusterer,
    X: np.ndarray,
    wanted: range | str,
    given: dict[str, Any],
    *,
    seed: int,
    n_jobs: int,
    console: Console,
) -> Selection:
    """What a committee suggests; for dissimilarities, what the method itself does."""
    if getattr(estimator, "metric", None) == "precomputed":
        numbers = _NUMBERS if isinstance(wanted, str) else wanted
        return _choose_by_method(
            estimator, X, numbers, given, seed=seed, n_jobs=n_jobs, console=console
        )
    metric = getattr(estimator, "metric", None)
    is_mixed = False
    if isinstance(metric, Gower):
        # Which cells are missing says nothing about groups of rows.
        X = metric.without_gaps(X)
        is_mixed = bool(metric.categories)
    return _choose_by_committee(
        X, wanted, given, seed=seed, console=console, is_mixed=is_mixed
    )


def _choose_by_committee(
    X: np.ndarray,
    wanted: range | str,
    given: dict[str, Any],
    *,
    seed: int,
    console: Console,
    is_mixed: bool,
) -> Selection:
    """Ask whether there are clusters, and how many.

    Whoever gives a range or labels knows that there are some. In rows with categories
    there are gaps anyhow, so that the test for gaps says nothing.
    """
    labels = given.get("partial_labels")
    n_known = 0 if labels is None else int(labels.max(initial=-1)) + 1
    numbers: str | list[int] = AUTO
    if isinstance(wanted, range):
        numbers = [number for number in wanted if number >= n_known]
        if len(numbers) < 2:
            raise ValueError(
                f"-c must reach beyond the {n_known} clusters that the labels name, "
                f"got {wanted[0]}-{wanted[-1]}"
            )
        console.note(f"trying {wanted[0]} to {wanted[-1]} clusters")
    else:
        console.note("looking for clusters")
        if is_mixed:
            console.note(
                "categories leave gaps between rows in any case: how many clusters "
                "there are is judged, not whether there are any"
            )
        if n_known > 2:
            numbers = list(range(n_known, max(n_known + 1, 10) + 1))
    may_be_one = numbers == AUTO and n_known < 2 and not is_mixed
    selection = suggest_n_clusters(
        X,
        numbers,
        may_be_one=may_be_one,
        random_state=seed,
        verbose=int(console.shows_progress),
    )
    if selection.best == 1:
        raise ValueError(
            "there seem to be no clusters in these rows: no groups with gaps between "
            f"them that chance would not leave (p = {selection.p_value:.2g}, 0.02 is "
            "asked for). To divide the rows anyway, say into how many parts, as in "
            "-c 3, or give a range, as in -c 2-6"
        )
    return selection


def _choose_by_method(
    estimator: BaseCredalClusterer,
    X: np.ndarray,
    numbers: range,
    given: dict[str, Any],
    *,
    seed: int,
    n_jobs: int,
    console: Console,
) -> Selection:
    """Try a range of numbers on all objects, or on a random sample of them.

    Objects with labels or pairs are always in the sample.
    """
    rows = _sample(len(X), given, seed)
    what = f"{len(rows)} of {len(X)} rows" if len(rows) < len(X) else "all rows"
    console.note(
        f"trying {numbers[0]} to {numbers[-1]} clusters on {what}, which takes a while"
    )
    information: dict[str, Any] = {}
    for name, values in given.items():
        is_labels = name == "partial_labels"
        information[name] = values[rows] if is_labels else renumber(values, rows)
    quiet = estimator.set_params(verbose=0)
    selection = select_n_clusters(
        quiet,
        X[np.ix_(rows, rows)],
        numbers,
        n_resamples=_N_RESAMPLES,
        n_jobs=n_jobs,
        random_state=seed,
        **information,
    )
    if selection.best is None:
        raise ValueError(
            f"no number of clusters stands out ({selection.reason}): say how many "
            "with -c, or look at credalis peaks"
        )
    return selection


def _sample(n_rows: int, given: dict[str, Any], seed: int) -> np.ndarray:
    """Row numbers, increasing."""
    if n_rows <= MAX_ROWS:
        return np.arange(n_rows)
    is_known = np.zeros(n_rows, dtype=bool)
    for name, values in given.items():
        is_known[
            np.flatnonzero(values >= 0) if name == "partial_labels" else values
        ] = True
    n_more = max(0, MAX_ROWS - int(is_known.sum()))
    rng = np.random.default_rng(seed)
    more = rng.choice(np.flatnonzero(~is_known), n_more, replace=False)
    return np.sort(np.concatenate([np.flatnonzero(is_known), more]))
