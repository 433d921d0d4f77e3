"""How good labels, doubt, sets and outlier scores are, given the classes.

Clusters have no names: they are matched to the classes one to one, so that as many rows
as possible are right. Rows of no class (class -1) have to be left out before.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import average_precision_score


def class_of_cluster(y, labels, n_clusters):
    """Class that each cluster is matched to, (n_clusters,); -1 for a cluster too many.

    Rows with the label -1, noise, are in no cluster.
    """
    counts = np.zeros((n_clusters, y.max() + 1), dtype=int)
    inside = labels >= 0
    np.add.at(counts, (labels[inside], y[inside]), 1)
    clusters, classes = linear_sum_assignment(counts, maximize=True)
    matched = np.full(n_clusters, -1)
    matched[clusters] = classes
    return matched


def is_right(y, labels, matched):
    """Whether the cluster of each row is matched to its class; noise never is."""
    # The last one is for the label -1.
    return np.append(matched, -1)[labels] == y


def accuracy_by_coverage(right, confidence):
    """Accuracy among the surest 1, 2, ..., n rows.

    Rows of equal confidence come in random order: what is given is the mean over these
    orders.
    """
    values, ties, sizes = np.unique(
        -confidence, return_inverse=True, return_counts=True
    )
    mean_right = np.bincount(ties, weights=right, minlength=len(values)) / sizes
    return np.cumsum(np.repeat(mean_right, sizes)) / np.arange(1, len(right) + 1)


def oracle_area(accuracy, n_rows):
    """Mean accuracy over the coverages if all right rows come before all wrong ones."""
    n_right = round(accuracy * n_rows)
    return np.minimum(1.0, n_right / np.arange(1, n_rows + 1)).mean()


def error_over_coverages(right, confidence):
    """Mean error over all coverages (AURC): smaller is better."""
    return 1.0 - accuracy_by_coverage(right, confidence).mean()


def gain_of_doubt(right, confidence):
    """Area under accuracy against coverage: 0 as random order has, 1 as the oracle.

    NaN if all rows are right or all wrong: then no order is better than another.
    """
    accuracy = np.mean(right)
    if accuracy in (0.0, 1.0):
        return np.nan
    area = accuracy_by_coverage(right, confidence).mean()
    return (area - accuracy) / (oracle_area(accuracy, len(right)) - accuracy)


def surer_half(right, confidence):
    """Accuracy among the half of the rows with the least doubt."""
    return accuracy_by_coverage(right, confidence)[(len(right) + 1) // 2 - 1]


def calibration_error(right, confidence, n_bins=10):
    """Mean gap of confidence and accuracy in bins of equal width, by rows (ECE)."""
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    gaps = np.bincount(bins, weights=confidence - right, minlength=n_bins)
    return np.abs(gaps).sum() / len(right)


def is_covered(y, sets, matched):
    """Whether the set of each row, (n, n_clusters), has the cluster of its class."""
    return (sets & (matched == y[:, None])).any(axis=1)


def smallest_sets(probabilities, level=0.9):
    """The fewest clusters whose probabilities add up to the level, (n, n_clusters).

    With the true posteriors these are the Bayes sets.
    """
    order = np.argsort(-probabilities, axis=1, kind="stable")
    sums = np.cumsum(np.take_along_axis(probabilities, order, axis=1), axis=1)
    # A cluster is needed as long as those before it fall short; sums are rounded.
    before = np.pad(sums[:, :-1], [(0, 0), (1, 0)])
    sets = np.zeros(probabilities.shape, dtype=bool)
    np.put_along_axis(sets, order, before < level - 1e-12, axis=1)
    return sets


def average_precision(is_planted, outlier_score):
    """Area under precision against recall of planted rows, NaN if there are none."""
    if not is_planted.any():
        return np.nan
    return float(average_precision_score(is_planted, outlier_score))


def mean(values):
    """Mean of the numbers among the values, NaN without any."""
    numbers = np.asarray([np.nan if v is None else v for v in values], dtype=float)
    numbers = numbers[~np.isnan(numbers)]
    return float(numbers.mean()) if len(numbers) else float("nan")
