"""Small models that many cases ask for predictions, or change the file of."""

import warnings
from functools import cache
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from credalis import (
    BCM,
    BPEC,
    CCM,
    CECM,
    ECM,
    EGMM,
    EVCLUS,
    MECM,
    NNEVCLUS,
    RECM,
    TECM,
    WMVEC,
    Bootclus,
    CatECM,
    Consensus,
    CredalPartition,
    ECMdd,
    EkNNclus,
    FocalSets,
    MultiviewECMdd,
)
from credalis.metric_learning import (
    FDA,
    KFDA,
    KPCCA,
    LFDA,
    LSI,
    PCCA,
    DMLeig,
)
from credalis.streaming import NewClusterMonitor

_rng = np.random.default_rng(0)
ROWS = np.concatenate(
    [_rng.normal(m, 1, size=(10, 2)) for m in ((0, 0), (7, 0), (3, 6))]
)
CLASSES = np.repeat([0, 1, 2], 10)
ONE_COLUMN = ROWS[:, :1].copy()
MATRIX = cdist(ROWS, ROWS)

_FEW: dict[str, Any] = {"n_init": 1, "random_state": 0}

# Name, estimator, what it is fitted to and what fit is told besides.
_SPECIFIED: dict[str, tuple[Any, np.ndarray, dict[str, Any]]] = {
    "NNEVCLUS": (NNEVCLUS(3, max_iter=15, **_FEW), ROWS, {}),
    "NNEVCLUS ocsvm": (
        NNEVCLUS(3, novelty_detector="ocsvm", max_iter=15, **_FEW),
        ROWS,
        {},
    ),
    "NNEVCLUS paper": (
        NNEVCLUS(
            3,
            novelty_detector="ocsvm",
            novelty_link="paper",
            empty_set="stress",
            max_iter=15,
            **_FEW,
        ),
        ROWS,
        {},
    ),
    "NNEVCLUS matrix": (
        NNEVCLUS(3, metric="precomputed", max_iter=15, **_FEW),
        MATRIX,
        {},
    ),
    "NNEVCLUS labels": (
        NNEVCLUS(3, max_iter=15, **_FEW),
        ROWS,
        {"partial_labels": np.where(np.arange(30) % 3, -1, CLASSES)},
    ),
    "EVCLUS": (EVCLUS(3, max_iter=5, **_FEW), ROWS, {}),
    "EVCLUS manhattan": (EVCLUS(3, metric="manhattan", max_iter=5, **_FEW), ROWS, {}),
    "EVCLUS matrix": (EVCLUS(3, metric="precomputed", max_iter=5, **_FEW), MATRIX, {}),
    "EVCLUS gradient": (EVCLUS(3, solver="gradient", max_iter=5, **_FEW), ROWS, {}),
    "ECM": (ECM(3, **_FEW), ROWS, {}),
    "ECM adaptive": (ECM(3, metric="adaptive", **_FEW), ROWS, {}),
    "ECM scaled": (ECM(3, metric=StandardScaler(), **_FEW), ROWS, {}),
    "ECM noise": (ECM(3, empty_set="noise", delta=3.0, **_FEW), ROWS, {}),
    "ECM one": (ECM(1, **_FEW), ONE_COLUMN, {}),
    "RECM": (RECM(3, **_FEW), ROWS, {}),
    "RECM matrix": (RECM(3, metric="precomputed", **_FEW), MATRIX, {}),
    "CCM": (CCM(3, **_FEW), ROWS, {}),
    "BCM": (BCM(3, **_FEW), ROWS, {}),
    "ECMdd": (ECMdd(3, **_FEW), ROWS, {}),
    "ECMdd weighted": (ECMdd(3, prototypes="weighted", **_FEW), ROWS, {}),
    "MECM": (MECM(3, max_iter=10, **_FEW), ROWS, {}),
    "BPEC": (BPEC(3, **_FEW), ROWS, {}),
    "CatECM": (CatECM(3, **_FEW), np.round(ROWS), {}),
    "EkNNclus": (EkNNclus(**_FEW), ROWS, {}),
    "EkNNclus matrix": (EkNNclus(metric="precomputed", **_FEW), MATRIX, {}),
    "Bootclus": (Bootclus(3, n_bootstrap=5, **_FEW), ROWS, {}),
    "Bootclus diag": (
        Bootclus(3, n_bootstrap=5, covariance_type="diag", **_FEW),
        ROWS,
        {},
    ),
    "Consensus": (Consensus(3, committee_size=30, max_iter=5, **_FEW), ROWS, {}),
    "CECM": (
        CECM(3, **_FEW),
        ROWS,
        {"must_link": [[0, 1], [10, 11]], "cannot_link": [[0, 10]]},
    ),
    "EGMM": (EGMM(3, **_FEW), ROWS, {}),
    "EGMM diag": (EGMM(3, covariance_type="diag", **_FEW), ROWS, {}),
    "WMVEC": (WMVEC(3, views=[[0], [1]], **_FEW), ROWS, {}),
    "WMVEC features": (WMVEC(3, feature_entropy=1.0, **_FEW), ROWS, {}),
    "MultiviewECMdd": (MultiviewECMdd(3, views=[[0], [1]], **_FEW), ROWS, {}),
    "TECM": (TECM(3, **_FEW), ROWS, {"source": ROWS + 1}),
    "ECM pca": (ECM(2, metric=PCA(1), **_FEW), ROWS, {}),
}

_LEARNERS: dict[str, Any] = {
    "FDA": FDA(),
    "LFDA": LFDA(n_neighbors=3),
    "KFDA": KFDA(),
    "PCCA": PCCA(1, n_init=1, max_iter=20, random_state=0),
    "KPCCA": KPCCA(1, n_init=1, max_iter=20, random_state=0),
    "LSI": LSI(max_iter=30, random_state=0),
    "DMLeig": DMLeig(max_iter=30, random_state=0),
}

ESTIMATORS = tuple(_SPECIFIED)
LEARNERS = tuple(_LEARNERS)
_OTHERS = ("DissimilarityPCA", "monitor", "partition", "calibrated", "table")
SAVED = (*ESTIMATORS, *(f"{name} metric" for name in LEARNERS), *_OTHERS)


@cache
def estimator(name: str) -> Any:
    """A fitted estimator; nobody may change it."""
    made, data, given = _SPECIFIED[name]
    with quiet():
        return made.fit(data, **given)


def training_data(name: str) -> np.ndarray:
    """What an estimator was fitted to."""
    return _SPECIFIED[name][1]


@cache
def learner(name: str) -> Any:
    """A fitted metric learner."""
    with quiet():
        return _LEARNERS[name].fit(ROWS, CLASSES)


@cache
def saved_object(name: str) -> Any:
    """One object of each kind that files may hold."""
    if name in _SPECIFIED:
        return estimator(name)
    with quiet():
        if name.endswith(" metric"):
            metric = _LEARNERS[name.removesuffix(" metric")]
            made = NNEVCLUS(3, metric=metric, max_iter=5, **_FEW)
            return made.fit(ROWS, partial_labels=CLASSES)
        if name == "DissimilarityPCA":
            return NNEVCLUS(
                2, metric="precomputed", n_components=2, max_iter=5, **_FEW
            ).fit(MATRIX)
        if name == "partition":
            return CredalPartition(
                [[0, 1, 0, 0], [0, 0.6, 0.2, 0.2], [0.1, 0, 0.7, 0.2]],
                FocalSets.full(2),
            )
        if name == "monitor":
            model = ECM(2, **_FEW).fit(ROWS)
            monitor = NewClusterMonitor(model, rejection_rate=0.2, random_state=0)
            monitor.fit(ROWS + 0.1).update(ROWS[:5] + 40)
            return monitor
        if name == "calibrated":
            model = ECM(3, **_FEW).fit(ROWS)
            many = np.concatenate([ROWS + 0.01 * k for k in range(1, 4)])
            return model.calibrate(many, "labels", np.tile(model.predict(ROWS), 3))
        return _table_model()


def _table_model() -> Any:
    import pyarrow as pa

    from credalis.tabular import Columns, TabularModel, prepare

    colours = pa.chunked_array([pa.array(["red", "blue", "red"] * 10)])
    columns = Columns(("a", "b"), ROWS, {"colour": colours}, {})
    prepared = prepare(columns)
    fitted = ECM(2, **_FEW).fit(prepared.X)
    return TabularModel(prepared.preparation, fitted, {"seed": 0})


def predictions(made: Any) -> list[np.ndarray]:
    """What an object says, to be compared bit by bit."""
    if isinstance(made, CredalPartition):
        return [made.masses]
    if isinstance(made, NewClusterMonitor):
        state = made.update(ROWS[:3])
        return [np.array([state.n_seen, state.p_value, made.threshold_])]
    inner = getattr(made, "estimator", made)
    rows = ROWS if inner.n_features_in_ == 2 else None
    if rows is None:
        rows = MATRIX if inner.n_features_in_ == 30 else ROWS[:, :1]
        if inner.n_features_in_ not in (1, 30):
            rows = np.linspace(-1, 1, 5 * inner.n_features_in_).reshape(5, -1)
    with quiet():
        return [inner.transform(rows)]


def quiet() -> Any:
    """Warnings of fits that nobody looks at."""
    return warnings.catch_warnings(action="ignore")


def warm_up() -> None:
    """Fit all of them, so that processes that are forked find them."""
    for name in SAVED:
        saved_object(name)
    for name in LEARNERS:
        learner(name)
