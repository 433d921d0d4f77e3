"""Ten answers: agreement with the classes before and after ``credalis ask``.

The true classes answer, one question after the other; the model is fitted again with
what the answers imply.
"""

import warnings

import numpy as np
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from benchmarks.choose import choose_cases
from benchmarks.harness import Score, benchmark_data, benchmark_labels
from credalis import EVCLUS, NNEVCLUS, Consensus
from credalis.constraints import closure, suggest_pairs

SEEDS = range(10)
N_ANSWERS = 10
METHODS = (Consensus, NNEVCLUS, EVCLUS)


def run():
    scores = []
    for name, X, y in cases():
        for method in METHODS:
            values = np.array([before_and_after(method, X, y, seed) for seed in SEEDS])
            for when, each in zip(("before", "after"), values.T, strict=True):
                scores.append(
                    Score(
                        f"{name}, {method.__name__}",
                        f"{when} ten answers",
                        float(each.mean()),
                        float(each.std(ddof=1)),
                        len(SEEDS),
                        f"better in {(values[:, 1] > values[:, 0]).sum()}, worse in "
                        f"{(values[:, 1] < values[:, 0]).sum()}",
                    )
                )
            print(scores[-2].cells, scores[-1].cells, flush=True)
    return scores


def cases():
    (penguins,) = (case for case in choose_cases() if case.name == "penguins")
    table = penguins.draw(np.random.default_rng(0))
    for name in ("iris", "wine"):
        X = StandardScaler().fit_transform(benchmark_data(name))
        yield name, X, benchmark_labels(name)
    yield "penguins", table.X, table.y


def before_and_after(method, X, y, seed):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = method(len(np.unique(y)), random_state=seed).fit(X)
        must_link, cannot_link = answers(model.partition_, y, seed)
        again = clone(model).fit(X, must_link=must_link, cannot_link=cannot_link)
    return [adjusted_rand_score(y, each.labels_) for each in (model, again)]


def answers(partition, y, seed):
    """Pairs that ten true answers imply."""
    rng = np.random.RandomState(seed)
    asked = np.empty((0, 2), dtype=np.intp)
    for _ in range(N_ANSWERS):
        is_same = y[asked[:, 0]] == y[asked[:, 1]]
        new = suggest_pairs(
            partition,
            1,
            must_link=asked[is_same],
            cannot_link=asked[~is_same],
            random_state=rng,
        )
        asked = np.concatenate([asked, new])
    is_same = y[asked[:, 0]] == y[asked[:, 1]]
    return closure(asked[is_same], asked[~is_same], len(y))
