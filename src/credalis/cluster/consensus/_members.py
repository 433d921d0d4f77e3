"""The members of the committee: who they are, and how they are asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering

from credalis._checks import check_choice, shown
from credalis._control import poll
from credalis._warnings import unheard
from credalis.cluster.consensus._committee import (
    Frame,
    Member,
    Session,
    free_name,
    unanimous,
    weighed,
)
from credalis.cluster.consensus._gate import (
    HEAVY_TAILS,
    NEIGHBORHOODS,
    Gate,
    adequacy,
    refined,
)
from credalis.cluster.consensus._mixtures import best_fit, one_hot, rounding_ridge
from credalis.cluster.consensus._relation import (
    NO_MIXTURES,
    RELATIONAL_MEMBERS,
    Relation,
    relational_memberships,
    takes_matrix,
)
from credalis.cluster.prototypes._bpec import BPEC

Array = NDArray[np.float64]

MEMBERS = ("full", "tied", "t", "ward", "spectral", "bpec")

# Families of the mixtures and their degrees of freedom.
_MIXTURES = {"full": ("full", None), "tied": ("tied", None), "t": ("full", HEAVY_TAILS)}

# Starts of a mixture.
_N_STARTS = 3

# Neighbours: of the graph of spectral clustering, and of a row whose memberships a
# member without prediction borrows.
_N_GRAPH = 10
_N_BORROWED = {"spectral": 5, "kernel": 5, "evclus": 5}

# Rows that the adequacy of a model is judged by.
_MAX_GATE_ROWS = 1000


def default_members(*, by_dissimilarities: bool) -> tuple[str, ...]:
    """Who votes about rows with coordinates, and who about dissimilarities."""
    return RELATIONAL_MEMBERS if by_dissimilarities else MEMBERS


def check_members(members: Any, *, by_dissimilarities: bool = False) -> None:
    """Refuse what is neither "auto" nor a list of names and clusterers."""
    if isinstance(members, str):
        check_choice("members", members, ("auto",))
        return
    if not isinstance(members, (list, tuple)) or not members:
        raise ValueError(
            "members must be 'auto' or a list of names and clusterers, got "
            f"{shown(members)}"
        )
    names = default_members(by_dissimilarities=by_dissimilarities)
    for each in members:
        if by_dissimilarities and each in MEMBERS and each not in names:
            raise ValueError(
                f"members must not hold {each!r} unless metric='euclidean', because "
                f"{NO_MIXTURES}; there are {', '.join(map(repr, names))}"
            )
        if isinstance(each, str):
            check_choice("members", each, names)
        elif isinstance(each, type) or not hasattr(each, "fit"):
            raise ValueError(
                f"members must hold names or clusterers with fit, got {shown(each)}"
            )


def convene(
    rows: Array,
    n_clusters: int,
    members: Sequence[Any],
    rng: np.random.RandomState,
    *,
    has_gate: bool,
    report: Callable[[int, float], None],
    relation: Relation | None = None,
) -> Session:
    """Ask all members about rows, and weigh what they say.

    With a relation they compare the rows by it, and there is no gate.
    """
    frame = Frame.of(rows) if relation is None else relation
    if n_clusters == 1:
        return unanimous(rows, frame)
    seeds = rng.randint(np.iinfo(np.int32).max, size=len(members) + 1)
    inside = frame(rows)
    if relation is None:
        ridge = rounding_ridge(inside)
        ask = partial(_asked, rows=rows, inside=inside, ridge=ridge)
    else:
        matrix = relation.matrix(rows)
        ask = partial(_asked_by, relation=relation, rows=rows, matrix=matrix)
    found: list[Member] = []
    failures: dict[str, str] = {}
    for number, (each, seed) in enumerate(zip(members, seeds, strict=False)):
        poll()
        name = free_name(each, [*(one.name for one in found), *failures])
        try:
            # What a member has to complain of shows in how it agrees.
            with unheard():
                found.append(ask(each, name, n_clusters=n_clusters, seed=int(seed)))
        except Exception as error:  # whatever a clusterer of the user's raises
            failures[name] = f"{type(error).__name__}: {error}"
        report(number + 1, float(len(failures)))
    if not found:
        raise ValueError(
            "members must be able to cluster X, but all have failed: "
            + "; ".join(f"{name}: {reason}" for name, reason in failures.items())
        )
    poll()
    gate = Gate()
    if has_gate and relation is None:
        gate = _gate(inside, found, ridge, n_clusters, np.random.RandomState(seeds[-1]))
    report(len(members) + 1, float(len(failures)))
    return weighed(rows, frame, found, gate, n_clusters, failures)


def _gate(
    inside: Array,
    members: list[Member],
    ridge: Array,
    n_clusters: int,
    rng: np.random.RandomState,
) -> Gate:
    """Adequacy, judged by some of the rows."""
    chosen = np.arange(len(inside))
    if len(inside) > _MAX_GATE_ROWS:
        chosen = np.sort(rng.choice(len(inside), _MAX_GATE_ROWS, replace=False))
    starts = [
        member.memberships[chosen]
        for member in members
        if member.memberships.shape[1] == n_clusters
    ]
    if not starts:
        return Gate()
    try:
        with unheard():
            gate = adequacy(inside[chosen], starts, n_clusters, rng, ridge=ridge)
            if len(chosen) < len(inside):
                gate = refined(gate, inside, ridge)
    except (np.linalg.LinAlgError, ValueError):
        # Rows that no mixture can describe earn none any trust.
        return Gate()
    if gate.trusted == NEIGHBORHOODS and "spectral" not in {m.name for m in members}:
        return Gate(None, 0.0, gate.rival, gate.z)
    return gate


def starting_memberships(inside: Array, n_clusters: int, seed: int) -> list[Array]:
    """Memberships of k-means clusters that the mixtures start from."""
    rng = np.random.RandomState(seed)
    with unheard():
        return [
            one_hot(
                KMeans(n_clusters, n_init=1, random_state=rng).fit_predict(inside),
                n_clusters,
            )
            for _ in range(_N_STARTS)
        ]


def _asked(
    member: Any,
    name: str,
    *,
    rows: Array,
    inside: Array,
    ridge: Array,
    n_clusters: int,
    seed: int,
) -> Member:
    """What one member says."""
    if not isinstance(member, str):
        return _given(member, name, rows, n_clusters, seed)
    if member in _MIXTURES:
        family, dof = _MIXTURES[member]
        # Members that share starts would agree on what comes of them alone.
        starts = starting_memberships(inside, n_clusters, seed)
        fit = best_fit(inside, starts, family, dof=dof, ridge=ridge)
        return Member(name, fit.memberships, fit.mixture)
    if member == "bpec":
        # As published: its masses on ∅ are not wanted here, nor a search for novelty.
        model = BPEC(n_clusters, beta=2.0, empty_set="noise", random_state=seed)
        model.fit(inside)
        return Member(name, model.partition_.pignistic.copy(), model)
    if member == "ward":
        ward = AgglomerativeClustering(n_clusters, linkage="ward")
        labels = ward.fit_predict(inside)
    else:
        labels = SpectralClustering(
            n_clusters,
            affinity="nearest_neighbors",
            n_neighbors=min(_N_GRAPH, len(inside) - 1),
            random_state=seed,
        ).fit_predict(inside)
    n_borrowed = _N_BORROWED.get(member, 1)
    return Member(name, one_hot(labels, n_clusters), n_borrowed=n_borrowed)


def _asked_by(
    member: Any,
    name: str,
    *,
    relation: Relation,
    rows: Array,
    matrix: Array,
    n_clusters: int,
    seed: int,
) -> Member:
    """What one member says that compares rows; other rows ask their neighbours."""
    if isinstance(member, str):
        memberships = relational_memberships(member, relation, matrix, n_clusters, seed)
        return Member(name, memberships, n_borrowed=_N_BORROWED.get(member, 1))
    if takes_matrix(member.get_params()):
        found = _given(member, name, matrix, n_clusters, seed)
        return Member(name, found.memberships)
    if isinstance(relation.metric, str) and relation.metric == "precomputed":
        raise ValueError(
            "it must say that it takes dissimilarities, by metric='precomputed'"
        )
    return _given(member, name, rows, n_clusters, seed)


def _given(member: Any, name: str, rows: Array, n_clusters: int, seed: int) -> Member:
    """What a clusterer of the user's says."""
    model = clone(member)
    parameters = model.get_params()
    numbers = [key for key in ("n_clusters", "n_components") if key in parameters]
    changed: dict[str, Any] = dict.fromkeys(numbers[:1], n_clusters)
    if parameters.get("random_state", 0) is None:
        changed["random_state"] = seed
    model.set_params(**changed).fit(rows)
    if hasattr(model, "predict_proba"):
        memberships = np.asarray(model.predict_proba(rows), dtype=np.float64)
        return Member(name, memberships, model, sees_rows=True)
    has_labels = hasattr(model, "labels_")
    labels = np.asarray(model.labels_ if has_labels else model.predict(rows))
    if labels.max() < 0:
        raise ValueError("it has found no clusters")
    n_own = int(labels.max()) + 1
    can_predict = hasattr(model, "predict")
    return Member(
        name,
        one_hot(labels, max(n_own, n_clusters)),
        model if can_predict else None,
        sees_rows=True,
    )
