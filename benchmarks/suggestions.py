"""Suggested against random pairs: agreement by number of pairs a person has judged.

Rounds of 20 pairs, what they imply added by `closure` in both cases, and a new fit
after each round. The paired test is about the mean difference over all rounds. The
scale of the distances is their median, as in ``constrained``.
"""

import warnings

import numpy as np
from scipy.stats import wilcoxon
from sklearn.metrics import adjusted_rand_score

from benchmarks.harness import Score, benchmark_data, benchmark_labels
from credalis import NNEVCLUS
from credalis.constraints import closure, random_pairs, suggest_pairs
from credalis.metric_learning import PCCA

# Data sets, and the number of features that PCCA extracts.
DATA = {"iris": 3, "wine": 5, "glass": 5}
# Other seeds than those with which `suggest_pairs` was designed.
SEEDS = range(100, 110)
ROUND = 20
N_PAIRS = tuple(range(ROUND, 101, ROUND))


def run():
    scores, all_gains = [], []
    for data, n_features in DATA.items():
        X, y = benchmark_data(data), benchmark_labels(data)
        curves = np.array([one_run(X, y, n_features, seed) for seed in SEEDS])
        gains = (curves[:, 1] - curves[:, 0]).mean(axis=1)
        all_gains.extend(gains)
        for way, name in enumerate(("random pairs", "suggested pairs")):
            for k, n_pairs in enumerate(N_PAIRS):
                values = curves[:, way, k]
                remark = ""
                if way == 1 and n_pairs == N_PAIRS[-1]:
                    share = share_needed(*curves.mean(axis=0))
                    remark = f"share of pairs for the ARI of 100 random: {share}"
                scores.append(
                    Score(
                        f"{data}, {n_pairs} pairs",
                        name,
                        float(values.mean()),
                        float(values.std(ddof=1)),
                        len(SEEDS),
                        remark,
                    )
                )
    p = wilcoxon(all_gains, alternative="greater").pvalue
    scores.append(
        Score(
            "all, mean over rounds",
            "suggested minus random",
            float(np.mean(all_gains)),
            float(np.std(all_gains, ddof=1)),
            len(all_gains),
            f"paired test: p = {p:.2g}",
        )
    )
    return scores


def one_run(X, y, n_features, seed):
    """ARI after each round, for random and for suggested pairs, (2, n_rounds)."""
    none = np.empty((0, 2), dtype=np.intp)
    random_curve, suggested_curve = [], []
    for n_pairs in N_PAIRS:
        links = random_pairs(y, n_pairs, random_state=seed)
        random_curve.append(agreement(y, fit(X, y, n_features, links, seed)))
    links = (none, none)
    model = fit(X, y, n_features, links, seed)
    for _ in N_PAIRS:
        asked = suggest_pairs(
            model.partition_,
            ROUND,
            must_link=links[0],
            cannot_link=links[1],
            random_state=seed,
        )
        is_same = y[asked[:, 0]] == y[asked[:, 1]]
        links = closure(
            np.concatenate([links[0], asked[is_same]]),
            np.concatenate([links[1], asked[~is_same]]),
            len(y),
        )
        model = fit(X, y, n_features, links, seed)
        suggested_curve.append(agreement(y, model))
    return random_curve, suggested_curve


def fit(X, y, n_features, links, seed):
    """NN-EVCLUS in the space of PCCA, once there are pairs of both kinds."""
    must_link, cannot_link = closure(*links, len(y))
    has_both = len(must_link) and len(cannot_link)
    metric = PCCA(n_features) if has_both else "euclidean"
    model = NNEVCLUS(
        len(np.unique(y)), metric=metric, dissimilarity_quantile=0.5, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, must_link=must_link, cannot_link=cannot_link)


def agreement(y, model):
    return adjusted_rand_score(y, model.labels_)


def share_needed(random_curve, suggested_curve):
    """Suggested pairs needed for the ARI of all random ones, as a share of these."""
    target = random_curve[-1]
    reached = np.maximum.accumulate(suggested_curve)
    if reached[-1] < target:
        return "more than 1"
    if reached[0] >= target:
        return f"at most {N_PAIRS[0] / N_PAIRS[-1]:.2f}"
    return f"{np.interp(target, reached, N_PAIRS) / N_PAIRS[-1]:.2f}"
