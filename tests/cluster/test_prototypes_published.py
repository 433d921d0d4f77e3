"""Agreement with the classes as published for NN-EVCLUS's rivals (Denœux 2021).

Attributes are standardised, delta is 5. ECM and BPEC have ∅, the singletons and the
pairs as focal sets, above three clusters the pairs of the two-step strategy. CCM is
said to have had Ω too, but the published values are those without it: on wine 0.45
against 0.48 without and 0.37 with it.
"""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from credalis import BPEC, CCM, ECM, FocalSets
from credalis.exceptions import CollapseWarning

N_CLUSTERS = {
    "wine": 3,
    "ecoli": 3,
    "heart": 2,
    "s2": 15,
    "s4": 15,
    "d31": 31,
    "drybean": 7,
}
PUBLISHED = {
    "ECM": {"wine": 0.85, "ecoli": 0.79, "heart": 0.38, "s2": 0.93, "s4": 0.63},
    "ECM-bp": {
        "wine": 0.85,
        "ecoli": 0.79,
        "heart": 0.38,
        "s2": 0.93,
        "s4": 0.63,
        "d31": 0.95,
        "drybean": 0.66,
    },
    "CCM": {"wine": 0.45, "ecoli": 0.70, "heart": 0.37, "drybean": 0.51},
    "CCM-bp": {
        "wine": 0.45,
        "ecoli": 0.70,
        "heart": 0.40,
        "s2": 0.94,
        "s4": 0.63,
        "d31": 0.95,
    },
    "BPEC": {"ecoli": 0.78, "heart": 0.22, "s2": 0.93, "s4": 0.65, "d31": 0.94},
}
CELLS = [
    (method, name, value)
    for method, values in PUBLISHED.items()
    for name, value in values.items()
]


def estimator(method, name, **parameters):
    n_clusters = N_CLUSTERS[name]
    pairs = FocalSets.pairs(n_clusters, frame=False)
    settings = {"beta": 2.0, "delta": 5, "random_state": 0, **parameters}
    has_peaks = method.endswith("-bp") or method == "BPEC"
    settings.setdefault("init", "peaks" if has_peaks else "k-means++")
    if method.startswith("CCM"):
        return CCM(n_clusters, focal_sets=pairs, **settings)
    cls = BPEC if method == "BPEC" else ECM
    focal_sets = pairs if n_clusters <= 3 else "two-step"
    return cls(n_clusters, focal_sets=focal_sets, **settings)


@pytest.fixture(scope="module")
def agreement(benchmark_data):
    def compute(method, name, **parameters):
        X, y = benchmark_data(name)
        X = StandardScaler().fit_transform(X)
        model = estimator(method, name, **parameters).fit(X)
        return adjusted_rand_score(y, model.labels_)

    return compute


@pytest.mark.filterwarnings("ignore::credalis.exceptions.CollapseWarning")
@pytest.mark.parametrize(("method", "name", "published"), CELLS)
def test_published_agreement(agreement, method, name, published):
    assert agreement(method, name) == pytest.approx(published, abs=0.03)


@pytest.mark.parametrize("init", ["k-means++", "peaks"])
def test_heart_is_published_with_collapsed_prototypes(agreement, init):
    with pytest.warns(CollapseWarning, match="Lower beta"):
        agreement("ECM", "heart", init=init)


@pytest.mark.filterwarnings("ignore::credalis.exceptions.MergedClustersWarning")
@pytest.mark.parametrize(
    ("name", "published"),
    [("s2", 0.72), ("s4", 0.52), pytest.param("d31", 0.48, marks=pytest.mark.slow)],
)
def test_ccm_is_better_than_published_because_its_starts_are(
    benchmark_data, agreement, name, published
):
    assert agreement("CCM", name, n_init=3) > published + 0.1
    # Fifty iterations from random objects, as many programs do, give such values: on
    # s2 0.66 to 0.73, on s4 0.54 to 0.64, on d31 0.59 to 0.63 for three seeds.
    X, _ = benchmark_data(name)
    X = StandardScaler().fit_transform(X)
    start = X[np.random.default_rng(0).choice(len(X), N_CLUSTERS[name], replace=False)]
    assert agreement("CCM", name, init=start, tol=1e-3) < published + 0.13


def test_bpec_on_wine_is_published_before_the_metric_has_converged(agreement):
    # With 13 features and 60 objects in a cluster the adaptive metric fits too much.
    assert agreement("BPEC", "wine") < 0.5
    with pytest.warns(ConvergenceWarning):
        after_one_update = agreement("BPEC", "wine", max_iter=2)
    assert after_one_update == pytest.approx(0.80, abs=0.02)
    assert agreement("BPEC", "wine", metric="euclidean") == pytest.approx(0.8, abs=0.04)


def test_drybean_has_one_minimum_for_ecm(agreement):
    # Published: 0.73 from random starts and 0.66 from peaks, on another draw of the
    # beans. Here both starts end in the same minimum, the best of twelve seeds, and
    # ten draws of 150 beans of each class stay between 0.61 and 0.67.
    assert agreement("ECM", "drybean") == pytest.approx(
        agreement("ECM-bp", "drybean"), abs=0.01
    )


def test_drybean_is_published_before_ccm_has_converged(agreement):
    # Published: 0.60 from peaks; the minimum is the same from everywhere.
    assert agreement("CCM-bp", "drybean") == pytest.approx(0.49, abs=0.01)
    with pytest.warns(ConvergenceWarning):
        early = agreement("CCM-bp", "drybean", max_iter=5)
    assert early == pytest.approx(0.60, abs=0.04)


def test_drybean_depends_on_the_peaks_for_bpec(agreement):
    # Published: 0.67. Peaks of 20 to 200 neighbours give 0.56 to 0.72, the automatic
    # choice 0.61; ten draws of 150 beans of each class 0.57 to 0.74.
    assert agreement("BPEC", "drybean", n_neighbors=90) == pytest.approx(0.67, abs=0.03)
