"""The labelled tables by which defaults are chosen, from ``CREDALIS_DATA/choose``."""

import os
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.preprocessing import StandardScaler

from benchmarks.generated import Case, Table
from benchmarks.harness import Skipped


def choose_cases(max_rows=None):
    """A case for each file; beyond ``max_rows`` each seed takes other rows."""
    directory = os.environ.get("CREDALIS_DATA")
    files = sorted(Path(directory, "choose").glob("*.csv.gz")) if directory else []
    if not files:
        raise Skipped("CREDALIS_DATA does not name a directory with choose/*.csv.gz")
    return tuple(_case(file, max_rows) for file in files)


def _case(file, max_rows):
    def draw(rng):
        table = read(file)
        return table if max_rows is None else table.sample(max_rows, rng)

    name = file.name.removesuffix(".csv.gz")
    return Case(name, "choose", draw)


@cache
def read(file):
    """Standardised features and classes of a file; the label is its last column."""
    values = np.loadtxt(file, delimiter=",", skiprows=1)
    y = values[:, -1].astype(int)
    return Table(StandardScaler().fit_transform(values[:, :-1]), y, len({*y} - {-1}))
