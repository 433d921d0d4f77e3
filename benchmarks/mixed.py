"""Tables with categories and missing cells: the default against what else people do.

What is the default was chosen on the made tables; the native ones were not looked at
before. The number of clusters is that of the classes. Methods that need every cell get
medians and the most frequent categories. Methods whose package is not there are left
out, as are runs that fail (k-prototypes does not always find a start).
"""

import warnings

import numpy as np
from scipy.stats import wilcoxon
from sklearn.metrics import adjusted_rand_score

from benchmarks.harness import Score, Skipped
from benchmarks.mixed_tables import made_tables, native_tables
from credalis import EVCLUS, NNEVCLUS, Consensus
from credalis.tabular import TablePreparation

SEEDS = range(3)
DEFAULT = "EVCLUS, Gower balanced (default)"
HALVES = {"made": made_tables, "native": native_tables}


def run(halves=tuple(HALVES)):
    scores, reasons = [], []
    for half in halves:
        try:
            found = measured(HALVES[half])
        except Skipped as error:
            reasons.append(str(error))
            continue
        scores += summarized(half, found)
    if not scores:
        raise Skipped("; ".join(reasons))
    return scores


def measured(tables):
    """Adjusted Rand indices by method and table, one for each seed."""
    found = {}
    for seed in SEEDS:
        for name, columns, classes in tables(seed):
            n_classes = len(np.unique(classes))
            for method, labels in labels_of(columns, n_classes, seed).items():
                value = np.nan
                if labels is not None:
                    value = adjusted_rand_score(classes, labels)
                found.setdefault(method, {}).setdefault(name, []).append(value)
    return found


def summarized(half, found):
    """Means over the tables, and how often and how surely the default is better."""
    means = {
        method: np.array([np.nanmean(values) for values in by_name.values()])
        for method, by_name in found.items()
    }
    ours = means[DEFAULT]
    scores = []
    for method, values in means.items():
        remark = ""
        if values is not ours:
            p = wilcoxon(ours, values, alternative="greater").pvalue
            remark = f"default better on {(ours > values).sum()}, p = {p:.2g}"
        n_tables, deviation = len(values), float(values.std(ddof=1))
        work = f"mean ARI, {n_tables} {half} tables"
        scores.append(
            Score(work, method, float(values.mean()), deviation, n_tables, remark)
        )
    return scores


def labels_of(table, n_clusters, seed):
    """Clusters by each method, None where it fails."""
    preparation = TablePreparation()
    X = preparation.fit_transform(table)
    balanced = preparation.metric_
    plain = TablePreparation(weights="equal").fit(table).metric_
    filled = TablePreparation(missing="impute")
    complete = filled.fit_transform(table)
    given = {"n_clusters": n_clusters, "random_state": seed}
    methods = {
        DEFAULT: lambda: EVCLUS(metric=balanced, **given).fit(X).labels_,
        "Consensus, Gower balanced": lambda: (
            Consensus(metric=balanced, **given).fit(X).labels_
        ),
        "NNEVCLUS, Gower balanced": lambda: (
            NNEVCLUS(metric=balanced, **given).fit(X).labels_
        ),
        "EVCLUS, Gower": lambda: EVCLUS(metric=plain, **given).fit(X).labels_,
        "EVCLUS, imputed, one-hot": lambda: EVCLUS(**given).fit(complete).labels_,
        "Consensus, imputed, one-hot": lambda: Consensus(**given).fit(complete).labels_,
        "PAM, Gower": lambda: around_medoids(plain.between(X), n_clusters),
        "PAM, Gower balanced": lambda: around_medoids(balanced.between(X), n_clusters),
        "k-prototypes, imputed": lambda: prototypes(filled, table, n_clusters, seed),
    }
    found = {}
    for name, labels in methods.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                found[name] = labels()
            except ImportError:
                continue
            except (ValueError, np.linalg.LinAlgError):
                found[name] = None
    return found


def around_medoids(matrix, n_clusters):
    """PAM of the package kmedoids, from its BUILD."""
    import kmedoids

    return kmedoids.pam(matrix, n_clusters, init="build").labels


def prototypes(preparation, table, n_clusters, seed):
    """k-prototypes of the package kmodes, on standardised numbers and categories."""
    from kmodes.kprototypes import KPrototypes

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
