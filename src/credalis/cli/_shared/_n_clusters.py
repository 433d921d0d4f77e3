"""The number of clusters: as given, or chosen."""

import re
from typing import Any

import click
import numpy as np

from credalis.cli._shared._console import Console
from credalis.cluster import BaseCredalClusterer
from credalis.constraints import renumber
from credalis.model_selection import Selection, select_n_clusters

AUTO = range(2, 9)
# The choice rests on so many rows, and on so many random parts of them.
MAX_ROWS = 500
_N_RESAMPLES = 3

_RANGE = re.compile(r"(\d+)-(\d+)")


class NumberOfClusters(click.ParamType):
    """A number, a range of numbers to try, or "auto"."""

    name = "number"

    def convert(
        self,
        value: Any,
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> int | range:
        """What the text says: a number, or a range to choose from."""
        if isinstance(value, (int, range)):
            return value
        if value == "auto":
            return AUTO
        numbers = _RANGE.fullmatch(value)
        if numbers:
            first, last = map(int, numbers.groups())
            if 2 <= first < last:
                return range(first, last + 1)
        elif value.isdecimal() and int(value) >= 2:
            return int(value)
        self.fail(
            f"must be a number of 2 or more, a range such as 2-10, or auto, got "
            f"{value!r}",
            param,
            ctx,
        )


def choose_n_clusters(
    estimator: BaseCredalClusterer,
    X: np.ndarray,
    numbers: range,
    given: dict[str, Any],
    *,
    seed: int,
    n_jobs: int,
    console: Console,
) -> Selection:
    """Try a range of numbers on all rows, or on a random sample of them.

    Rows with labels or pairs are always in the sample.
    """
    rows = _sample(len(X), given, seed)
    what = f"{len(rows)} of {len(X)} rows" if len(rows) < len(X) else "all rows"
    console.note(
        f"trying {numbers[0]} to {numbers[-1]} clusters on {what}, which takes a while"
    )
    is_square = getattr(estimator, "metric", None) == "precomputed"
    part = X[np.ix_(rows, rows)] if is_square else X[rows]
    information: dict[str, Any] = {}
    for name, values in given.items():
        is_labels = name == "partial_labels"
        information[name] = values[rows] if is_labels else renumber(values, rows)
    quiet = estimator.set_params(verbose=0)
    selection = select_n_clusters(
        quiet,
        part,
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
