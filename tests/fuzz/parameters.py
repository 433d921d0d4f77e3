"""Parameters of estimators: what they may be, and what they may not."""

from typing import Any

import numpy as np
from scipy.spatial import distance
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import OneClassSVM
from tests.fuzz.values import FEW_OR_NONSENSE, HOSTILE, mostly, pick

from credalis import CredalPartition, FocalSets
from credalis.metric_learning import FDA, KFDA, LSI, PCCA

Rng = np.random.Generator

# What keeps a fit short.
CHEAP: dict[str, tuple] = {
    "n_init": (1, 1, 1, 2),
    "max_iter": (1, 2, 5, 10, 30),
    "n_bootstrap": (2, 3, 5),
    "committee_size": (10, 20, 40),
    "random_state": (0, 1, 12345, 2**32 - 1),
}

_NAMES = ("euclidean", "manhattan", "cosine", "chebyshev", "l2", "sqeuclidean")
_METRICS = (
    *_NAMES,
    *(
        "gower",
        "gower",
        "correlation",
        "canberra",
        "nan_euclidean",
        "hamming",
        "mahalanobis",
    ),
    *("seuclidean", "jaccard", "braycurtis", "adaptive", "precomputed"),
)
_TRANSFORMERS = (
    lambda: StandardScaler(),
    lambda: MinMaxScaler(),
    lambda: PCA(1),
    lambda: FDA(),
    lambda: PCCA(1, n_init=1, max_iter=10),
    lambda: LSI(max_iter=10),
    lambda: KFDA(),
    lambda: make_pipeline(StandardScaler(), PCA(1)),
    lambda: make_pipeline(StandardScaler(), FDA()),
    lambda: distance.cityblock,
    lambda: lambda a, b: float("nan"),
    lambda: lambda a, b: -1.0,
    lambda: lambda a, b: float(np.abs(a - b).max()),
    lambda: KMeans,
)

_NETWORK_SOLVERS = ("lbfgs", "adaptive", "adam", "rmsprop")
_SHARES = (0.0, 1e-9, 0.01, 0.05, 0.3, 0.5, 0.9, 0.99, 1.0)
_POSITIVE = (1e-40, 1e-8, 0.01, 0.5, 1.0, 2.0, 5.0, 30.0, 1e8, 1e40, 1e60, 1e150)

GOOD: dict[str, tuple] = {
    "n_clusters": (1, 2, 2, 2, 3, 3, 4, 5, 7, np.int64(3), 12, 20),
    "focal_sets": ("auto", "singletons", "pairs", "full", "two-step"),
    "hidden_layer_sizes": ("auto", (), (1,), (3,), 4, (4, 3), (2, 2, 2), [5]),
    "n_components": ("auto", 1, 2, 3, None),
    "symmetrize": (False, True),
    "dissimilarity_quantile": ("auto", "paper", *_SHARES),
    "dissimilarity_scale": (None, *_POSITIVE),
    "novelty_link": ("reference", "paper"),
    "weight_decay": ("auto", 0.0, 1e-9, 0.01, 1.0, 1e10, 1e40),
    "empty_set": ("auto", "novelty", "stress", "nothing", "noise"),
    "outlier_rate": (1e-12, 1e-6, 0.01, 0.05, 0.3, 0.5),
    "solver": ("auto", *_NETWORK_SOLVERS, "two-sided", "reference", "gradient"),
    "learning_rate_init": ("auto", 1e-9, 0.01, 1.0, 1e3, 1e40),
    "batch_size": ("auto", 1, 2, 3, 5, 10, 1000),
    "pairs_per_sample": (None, 1, 2, 3, 10, 100),
    "early_stopping": (False, True),
    "validation_fraction": (0.01, 0.1, 0.5, 0.9, 0.999),
    "label_weight": _SHARES,
    "constraint_weight": (*_SHARES, 10.0, 1e10),
    "constraint_neighbors": (0, 1, 2, 5),
    "warm_start": (False, True),
    "dtype": ("auto", "float32", "float64"),
    "pairs": ("auto", "all", "sampled", "landmarks"),
    "entropy_weight": (0.0, 1e-6, 0.1, 1.0, 1e6),
    "alpha": (0.0, 0.1, 1.0, 2.0, 5.0, 30.0),
    "beta": ("auto", 1 + 1e-9, 1.01, 1.2, 1.5, 2.0, 3.0, 10.0, 100.0, 1e6),
    "delta": ("auto", *_POSITIVE),
    "squared": (False, True),
    "stopping": ("loss", "reference"),
    "max_cardinality": (1, 2, 3, 5),
    "gamma": (0.0, 0.1, 0.5, 1.0, 2.0, 10.0, 1e10),
    "prototypes": ("single", "weighted"),
    "delta_exponent": (1, 2),
    "eta": (1e-10, 0.1, 1.0, 2.0, 1e10),
    "psi": (1.0 + 1e-6, 1.2, 2.0, 10.0),
    "xi": (0.0, 1.0, 5.0, 1e6),
    "zeta": (0.0, 0.5, 1.0, 1e6),
    "power": (1, 2, 3),
    "meta_dissimilarity": ("mean", "prototype"),
    "update_terms": ("all", "single"),
    "n_neighbors": ("auto", 1, 2, 3, 5, 8, 100),
    "quantile": (None, *_SHARES),
    "exponent": (0.5, 1.0, 2.0, 5.0, 40.0),
    "covariance_type": ("auto", "full", "tied", "diag", "spherical"),
    "confidence": (0.01, 0.5, 0.8, 0.9, 0.99, 0.999999),
    "n_bins": (2, 3, 5, 20),
    "reg_covar": (0.0, 1e-12, 1e-6, 1.0, 1e6),
    "scale_views": ("noise", "variance", "none"),
    "weights": ("global", "local"),
    "source_centers": (None, [[0.0, 0.0]], [[0.0], [1e200]], [[0, 0], [1, 1], [2, 9]]),
    "n_source_clusters": (None, 1, 2, 5),
    "transfer": (0.0, 1e-9, 1.0, 10.0, 1e6, 1e100),
    "view_entropy": (1e-300, 1e-6, 0.1, 0.3, 1.0, 1e6, 1e100),
    "feature_entropy": (None, 1e-6, 0.3, 1.0, 1e6),
    "views": (
        None,
        [[0], [1]],
        {"a": [0], "b": [0, 1]},
        {"a": [0]},
        [[0, 0]],
        [[99]],
        {"a": "height"},
        [],
    ),
    "adequacy_gate": (True, False),
    "penalty": ("symmetric", "paper", "reference"),
    "tol": (0.0, 1e-12, 1e-6, 0.1, 1.0, 1e300),
    "n_jobs": (None, 1, 1, 1, 2),
    "verbose": (0, 0, 0, 1, True),
    "kernel": ("rbf", "linear", "poly", "sigmoid", "cosine"),
    "degree": (1, 2, 3, 10),
    "coef0": (-1.0, 0.0, 1.0, 1e6),
    "regularization": (0.0, 1e-12, 1e-3, 1.0, 1e6),
    "scaling": ("weighted", "orthonormal", "plain"),
    "smoothing": (1e-9, 1e-4, 0.1, 1.0),
}

# Many runs or steps, or units of a layer, are honest work that takes its time.
_MANY_TAKE_LONG = {
    *("max_iter", "n_init", "n_bootstrap", "committee_size", "tol", "module"),
    *("hidden_layer_sizes", "pairs_per_sample", "n_clusters", "batch_size"),
}


def drawn(
    rng: Rng, cls: type, X: np.ndarray, n_clusters: int, share: float
) -> dict[str, Any]:
    """Values for some of the parameters of a class, a share of them hostile."""
    defaults = cls().get_params(deep=False)
    given = {name: pick(rng, CHEAP[name]) for name in CHEAP if name in defaults}
    names = sorted(defaults)
    n_changed = int(pick(rng, (0, 1, 1, 2, 2, 3, 4, 6)))
    for name in rng.choice(names, size=min(n_changed, len(names)), replace=False):
        value = _value(rng, cls, str(name), X, n_clusters, share)
        if value is not _KEEP:
            given[str(name)] = value
    return given


_KEEP = object()


# What only some classes know by these names, so that most fits begin.
_OF_CLASS: dict[str, dict[str, tuple]] = {
    "NNEVCLUS": {"solver": ("auto", *_NETWORK_SOLVERS)},
    "EVCLUS": {"solver": ("two-sided", "reference", "gradient")},
    "BPEC": {"init": ("peaks",)},
    "EkNNclus": {"init": ("objects",)},
    "CCM": {"gamma": (0.0, 0.5, 1.0, 2.0)},
}


def _value(
    rng: Rng, cls: type, name: str, X: np.ndarray, n_clusters: int, share: float
) -> Any:
    if rng.random() < share:
        return pick(rng, FEW_OR_NONSENSE if name in _MANY_TAKE_LONG else HOSTILE)
    if name == "metric":
        if rng.random() < 0.35:
            return pick(rng, _TRANSFORMERS)()
        return mostly(rng, ("euclidean", "adaptive"), _METRICS, 0.5)
    if rng.random() < 0.9:
        own = _OF_CLASS.get(cls.__name__, {}).get(name)
        if name == "empty_set":
            own = cls._empty_sets
        elif name == "init" and hasattr(cls, "_inits") and rng.random() < 0.6:
            own = cls._inits
        if own is not None:
            return pick(rng, own)
    if name == "init":
        return _init(rng, X, n_clusters)
    if name == "focal_sets" and rng.random() < 0.3:
        return focal_sets(rng, n_clusters)
    if name == "members":
        return _members(rng)
    if name == "novelty_detector":
        return pick(
            rng,
            (
                *(None, "ocsvm", "ocsvm", OneClassSVM(gamma=2.0, nu=0.3)),
                *(
                    IsolationForest(n_estimators=3, random_state=0),
                    StandardScaler(),
                    OneClassSVM,
                ),
            ),
        )
    if name == "kernel" and rng.random() < 0.1:
        return lambda a, b: float(a @ b)
    if name in ("engine", "device", "module", "random_state"):
        # PyTorch starts threads, and takes seconds to import.
        return pick(rng, ("x", "", 3.5, "numpy", -1)) if name != "module" else _KEEP
    return pick(rng, GOOD[name]) if name in GOOD else _KEEP


def _init(rng: Rng, X: np.ndarray, n_clusters: int) -> Any:
    names = ("auto", "random", "peaks", "evclus", "k-means++", "k-means", "k-medoids")
    if rng.random() < 0.6:
        return pick(rng, names)
    rows = rng.integers(len(X), size=n_clusters)
    sets = FocalSets.singletons(n_clusters)
    masses = rng.dirichlet(np.ones(len(sets)), size=len(X))
    choices = (
        X[rows],
        rows,
        rows.tolist(),
        rows + len(X),
        X[rows].astype(str),
        np.full((n_clusters, X.shape[1]), np.nan),
        X[rows] * 1e200 if np.abs(X).max() < 1e50 else X[rows],
        np.zeros((n_clusters, X.shape[1])),
        X[rows][:, :0],
        masses,
        CredalPartition(masses, sets),
        CredalPartition(masses[:1], sets),
    )
    return pick(rng, choices)


def _members(rng: Rng) -> Any:
    names = ("full", "tied", "t", "ward", "spectral", "bpec")
    if rng.random() < 0.3:
        return "auto"
    chosen: list[Any] = [str(name) for name in rng.choice(names, size=2)]
    if rng.random() < 0.2:
        chosen.append(KMeans(2, n_init=1))
    return chosen


def focal_sets(rng: Rng, n_clusters: int) -> FocalSets:
    """Any focal sets of about so many clusters."""
    n_clusters = max(1, min(n_clusters + int(pick(rng, (0, 0, 0, 1, -1))), 5))
    kind = rng.integers(4)
    flags = {"empty": bool(rng.integers(2)), "frame": bool(rng.integers(2))}
    if kind == 0:
        return FocalSets.singletons(n_clusters, **flags)
    if kind == 1 and n_clusters > 1:
        return FocalSets.pairs(n_clusters, **flags)
    full = FocalSets.full(n_clusters)
    if kind == 2:
        return full
    chosen = rng.permutation(len(full))[: int(rng.integers(1, len(full) + 1))]
    return FocalSets.from_subsets(n_clusters, [full.subsets[i] for i in chosen])
