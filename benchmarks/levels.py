"""Are levels and rates kept? Sets with a level on mixtures, flags on real tables.

Five draws of each of 20 mixtures: 500 rows are fitted, others calibrate, 2000 more are
given sets. These should hold the component of the row (targets "labels" and "model") or
the cluster in which a clustering of 500 other rows puts it ("replicate"). Flags: half
of the rows of each labelled table are fitted, the others are new, and as many rows as
5 % of them, uniform in a box around the table twice as wide as it, are planted.
"""

import warnings
from dataclasses import dataclass

import numpy as np

from benchmarks.choose import choose_cases
from benchmarks.generated import make_mixture
from benchmarks.harness import Score, Skipped
from credalis import ECM, NNEVCLUS
from credalis._coverage import matched_clusters, shared_mass

METHODS = (ECM, NNEVCLUS)
# The target "model" fits a network twenty times: of the others alone.
FOR_MODEL = (ECM,)
N_DRAWS = 5
N_FITTED, N_NEW, N_TESTED = 500, 400, 2000
LEVELS = (0.8, 0.9, 0.95)
RATES = (0.01, 0.05)
SHARE_PLANTED, FDR = 0.05, 0.1
MAX_ROWS = 2000


@dataclass(frozen=True)
class Setting:
    """What a mixture is made of, as in `generated.make_mixture`."""

    n_clusters: int
    n_features: int
    separation: float
    ratio: float = 1
    axes: float = 1
    df: float | None = None


SETTINGS = (
    *(Setting(c, 2, 2) for c in (2, 3, 5, 8)),
    *(Setting(c, 5, 2.5) for c in (2, 4, 6, 8)),
    *(Setting(c, 5, 2.5, ratio=5) for c in (3, 5)),
    *(Setting(c, 5, 2.5, axes=20) for c in (2, 3, 5, 7)),
    *(Setting(c, 2, 2.5, df=4) for c in (2, 4, 6)),
    *(Setting(c, 5, 3, df=4) for c in (3, 5, 8)),
)


def run():
    return [*about_sets(), *about_flags()]


def about_sets():
    found = {}
    for place, setting in enumerate(SETTINGS):
        for draw in range(N_DRAWS):
            for method in METHODS:
                one = coverages(method, setting, np.random.default_rng([place, draw]))
                for name, value in one.items():
                    key = (method.__name__, name)
                    found.setdefault(key, {}).setdefault(place, []).append(value)
        print(setting, flush=True)
    scores = []
    for (method, name), by_setting in found.items():
        table = np.array(list(by_setting.values()))
        fifth, worst = np.quantile(table, 0.05), table.mean(axis=1).min()
        remark = f"5 % below {fifth:.3f}, least {table.min():.3f}; of means {worst:.3f}"
        scores.append(
            Score(name, method, table.mean(), table.std(ddof=1), table.size, remark)
        )
    return scores


def coverages(method, setting, rng):
    """What the sets of one model cover and how large they are, by name."""
    c = setting.n_clusters
    mixture = make_mixture(
        c,
        setting.n_features,
        setting.separation,
        rng,
        ratio=setting.ratio,
        axes=setting.axes,
        df=setting.df,
    )
    X, _ = mixture.draw(N_FITTED, rng)
    X_new, y_new = mixture.draw(N_NEW, rng)
    tested, y = mixture.draw(N_TESTED, rng)
    other, _ = mixture.draw(N_FITTED, rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = method(c, random_state=0).fit(X)
        others = method(c, random_state=1).fit(other).predict(tested)
        masses = model.predict_partition(tested).pignistic
        component = matched_clusters(shared_mass(y, c, masses))[y]
        replicate = matched_clusters(shared_mass(others, c, masses))[others]
        ours = {}
        for n_labels in (60, 120):
            rows = rng.choice(N_NEW, n_labels, replace=False)
            model.calibrate(X_new[rows], "labels", y_new[rows])
            sets = model.predict_sets(tested, level=0.9)
            ours[f"labels, {n_labels}, level 0.9"] = covered(sets, component)
        posterior = mixture.posterior(tested)
        size = sets.sum() / sets_of_posterior(posterior, y).sum()
        ours["size by that of the true posterior"] = size
        best = (posterior.argmax(axis=1) == y).mean()
        right = (masses.argmax(axis=1) == component).mean()
        ours["accuracy below the best"] = best - right
        ours["best accuracy"] = best
        targets = [("replicate", X_new, replicate)]
        if method in FOR_MODEL:
            targets.append(("model", X, component))
        for target, rows, clusters in targets:
            model.calibrate(rows, target)
            for level in LEVELS:
                sets = model.predict_sets(tested, level=level)
                ours[f"{target}, level {level}"] = covered(sets, clusters)
    return ours


def sets_of_posterior(posterior, y, level=0.9):
    """Sets by a threshold of the true posterior that cover as often as asked."""
    threshold = np.quantile(posterior[np.arange(len(y)), y], 1 - level)
    return (posterior >= threshold) | (posterior == posterior.max(axis=1)[:, None])


def covered(sets, clusters):
    return sets[np.arange(len(sets)), clusters].mean()


def about_flags(method=NNEVCLUS):
    try:
        cases = choose_cases(MAX_ROWS)
    except Skipped as reason:
        print(f"flags left out: {reason}")
        return []
    found = {}
    for case in cases:
        for split in range(N_DRAWS):
            one = flags(method, case.table(split), np.random.default_rng(split))
            for name, value in one.items():
                found.setdefault(name, {}).setdefault(case.name, []).append(value)
        print(case.name, flush=True)
    scores = []
    for name, by_case in found.items():
        table = np.array(list(by_case.values()))
        means = dict(zip(by_case, table.mean(axis=1), strict=True))
        most = max(means, key=means.get)
        remark = f"most: {means[most]:.3f}, {most}"
        scores.append(
            Score(
                name,
                method.__name__,
                table.mean(),
                table.std(ddof=1),
                table.size,
                remark,
            )
        )
    return scores


def flags(method, table, rng):
    """Shares of rows flagged, of planted rows found, and of flags that are false."""
    order = rng.permutation(len(table.X))
    fitted, new = np.array_split(table.X[order], 2)
    middle, width = (table.X.max(axis=0) + table.X.min(axis=0)) / 2, np.ptp(table.X, 0)
    n_planted = max(round(SHARE_PLANTED * len(new)), 1)
    planted = middle + rng.uniform(-1, 1, (n_planted, table.X.shape[1])) * width
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = method(table.n_clusters, random_state=0).fit(fitted)
    shares = {
        f"clean rows flagged at {rate}": model.flag_outliers(new, rate=rate).mean()
        for rate in RATES
    }
    flagged = model.flag_outliers(np.concatenate([new, planted]), fdr=FDR)
    shares[f"planted rows found, fdr {FDR}"] = flagged[len(new) :].mean()
    n_false = flagged[: len(new)].sum()
    shares[f"false flags, fdr {FDR}"] = n_false / max(flagged.sum(), 1)
    return shares
