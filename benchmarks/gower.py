"""Gower's dissimilarity in blocks against Euclidean distances of the same width."""

from functools import partial

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from benchmarks.harness import compare
from credalis.tabular import TablePreparation

N_ROWS = 3000
# Columns of numbers, columns of four categories; a tenth of the cells is missing.
TABLES = {
    "10 numbers": (10, 0),
    "5 numbers, 5 categories": (5, 5),
    "20 of each": (20, 20),
}


def run():
    measurements = []
    for name, (n_numbers, n_categories) in TABLES.items():
        preparation = TablePreparation()
        X = preparation.fit_transform(table(n_numbers, n_categories))
        metric = preparation.metric_
        Y = X.copy()
        for baseline, distances in (
            ("cdist", cdist),
            ("pairwise_distances", pairwise_distances),
        ):
            # All pairs of the same rows, and of rows with other rows.
            for what, others in (("", X), (", other rows", Y)):
                measurements.append(
                    compare(
                        f"Gower, {name} ({X.shape[1]} encoded), n={N_ROWS}{what}",
                        partial(metric.between, X, others),
                        f"Euclidean, {baseline}",
                        partial(distances, X, others),
                        baseline_repeats=5,
                    )
                )
    return measurements


def table(n_numbers, n_categories):
    rng = np.random.default_rng(0)
    columns = {f"n{j}": rng.normal(size=N_ROWS) for j in range(n_numbers)}
    for j in range(n_categories):
        columns[f"c{j}"] = np.array(list("abcd"), object)[rng.integers(0, 4, N_ROWS)]
    for values in columns.values():
        values[rng.random(N_ROWS) < 0.1] = None if values.dtype == object else np.nan
    return columns
