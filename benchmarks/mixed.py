"""Tables with categories and missing cells: the default against what else people do.

Half of the columns of sets with known classes are cut at their quartiles into four
categories, and a tenth of all cells is deleted. The number of clusters is that of the
classes. Methods that need every cell get medians and the most frequent categories.
Runs that fail (k-prototypes does not always find a start) are left out.
"""

import warnings

import numpy as np
from scipy.stats import wilcoxon
from sklearn.metrics import adjusted_rand_score

from benchmarks.choose import choose_cases
from benchmarks.harness import Score, Skipped, benchmark_data, benchmark_labels
from credalis import EVCLUS, NNEVCLUS, Consensus
from credalis.cluster._inputs._medoids import k_medoids
from credalis.dissimilarity import Gower
from credalis.tabular import TablePreparation

NAMES = ("iris", "wine", "ecoli", "heart", "glass")
SEEDS = range(3)
MAX_ROWS, MAX_COLUMNS, MAX_CLASSES = 500, 25, 12
SHARE_MISSING = 0.1


def run():
    found = {}
    for name, X, y in cases():
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            rows = rng.permutation(len(X))[:MAX_ROWS]
            table = made_mixed(X[rows], rng)
            for method, labels in labels_of(table, len(np.unique(y)), seed).items():
                value = np.nan
                if labels is not None:
                    value = adjusted_rand_score(y[rows], labels)
                found.setdefault(method, {}).setdefault(name, []).append(value)
    means = {
        method: np.array([np.nanmean(values) for values in by_name.values()])
        for method, by_name in found.items()
    }
    ours = means["EVCLUS, Gower balanced (default)"]
    scores = []
    for method, values in means.items():
        remark = ""
        if values is not ours:
            p = wilcoxon(ours, values, alternative="greater").pvalue
            remark = f"default better on {(ours > values).sum()}, p = {p:.2g}"
        n_sets, deviation = len(values), float(values.std(ddof=1))
        work = f"mean ARI, {n_sets} mixed sets"
        scores.append(
            Score(work, method, float(values.mean()), deviation, n_sets, remark)
        )
    return scores


def cases():
    """Sets with few enough columns and classes."""
    known = []
    for case in choose_cases():
        drawn = case.draw(np.random.default_rng(0))
        known.append((case.name, drawn.X, drawn.y))
    known += [(name, benchmark_data(name), benchmark_labels(name)) for name in NAMES]
    for name, X, y in known:
        n_classes = len(np.unique(y))
        if X.shape[1] <= MAX_COLUMNS and 2 <= n_classes <= MAX_CLASSES:
            yield name, X, y


def made_mixed(X, rng):
    """Columns by name, half of them categories, some cells None or NaN."""
    columns = {}
    are_categories = set(rng.permutation(X.shape[1])[: max(1, X.shape[1] // 2)])
    for j, values in enumerate(X.T):
        column = values.astype(object)
        if j in are_categories:
            quartiles = np.quantile(values, [0.25, 0.5, 0.75])
            column = np.array(list("abcd"), object)[np.digitize(values, quartiles)]
        column[rng.random(len(column)) < SHARE_MISSING] = None
        columns[f"c{j}"] = column
    is_known = np.array([values != None for values in columns.values()])  # noqa: E711
    for j in np.flatnonzero(~is_known.any(axis=0)):
        # No row is without any cell.
        columns["c0"][j] = X[j, 0] if 0 not in are_categories else "a"
    return columns


def labels_of(table, n_clusters, seed):
    """Clusters by each method, None where it fails."""
    preparation = TablePreparation()
    X = preparation.fit_transform(table)
    balanced = preparation.metric_
    plain = TablePreparation(weights="equal").fit(table).metric_
    filled = TablePreparation(missing="impute")
    complete = filled.fit_transform(table)
    given = {"random_state": seed}
    methods = {
        "EVCLUS, Gower balanced (default)": lambda: (
            EVCLUS(n_clusters, metric=balanced, **given).fit(X).labels_
        ),
        "EVCLUS, Gower": lambda: (
            EVCLUS(n_clusters, metric=plain, **given).fit(X).labels_
        ),
        "EVCLUS, imputed, one-hot": lambda: (
            EVCLUS(n_clusters, **given).fit(complete).labels_
        ),
        "NNEVCLUS, Gower balanced": lambda: (
            NNEVCLUS(n_clusters, metric=balanced, **given).fit(X).labels_
        ),
        "Consensus, encoded": lambda: Consensus(n_clusters, **given).fit(X).labels_,
        "Consensus, imputed, one-hot": lambda: (
            Consensus(n_clusters, **given).fit(complete).labels_
        ),
        "k-medoids, Gower": lambda: medoids(plain, X, n_clusters, seed),
        "k-medoids, Gower balanced": lambda: medoids(balanced, X, n_clusters, seed),
        "k-prototypes, imputed": lambda: prototypes(filled, table, n_clusters, seed),
    }
    found = {}
    for name, labels in methods.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[name] = labels()
            except (ValueError, np.linalg.LinAlgError):
                found[name] = None
    return found


def medoids(metric: Gower, X, n_clusters, seed):
    """The best of ten runs."""
    rng = np.random.RandomState(seed)
    return k_medoids(metric.between(X), n_clusters, rng, n_starts=10)[1]


def prototypes(preparation, table, n_clusters, seed):
    """k-prototypes of the package kmodes, on standardised numbers and categories."""
    try:
        from kmodes.kprototypes import KPrototypes
    except ImportError as error:
        raise Skipped("k-prototypes needs the package kmodes") from error
    prepared = preparation.preparation_
    X = preparation.transform(table)
    columns = list(X[:, : len(prepared.numeric)].T.astype(object))
    places = len(prepared.numeric)
    for categories in prepared.categories.values():
        codes = X[:, places : places + len(categories)].argmax(axis=1)
        columns.append(np.array(categories, dtype=object)[codes])
        places += len(categories)
    matrix = np.column_stack(columns)
    categorical = list(range(len(prepared.numeric), matrix.shape[1]))
    model = KPrototypes(n_clusters, n_init=5, random_state=seed)
    return model.fit_predict(matrix, categorical=categorical)
