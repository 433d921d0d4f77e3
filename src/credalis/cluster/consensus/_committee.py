"""The committee: what several clusterings of a sample say about any row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from credalis import _archive
from credalis._control import poll
from credalis._neighbors import NeighborSearch, batches
from credalis.cluster._framework._estimator import BaseCredalClusterer
from credalis.cluster.consensus._choice import Choice
from credalis.cluster.consensus._combination import (
    aligned,
    alignment,
    believed,
    dempster,
    mean_agreement,
    pairwise_agreement,
    reliabilities,
    trusted_agreement,
)
from credalis.cluster.consensus._gate import NEIGHBORHOODS, Gate
from credalis.cluster.consensus._mixtures import Mixture, one_hot
from credalis.cluster.consensus._relation import Relation

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Neighbours over which memberships are smoothed, and their share in them.
_N_SMOOTHED = 15
_SMOOTHING = 0.5

# What a file may say about the test for groups.
P_VALUE = _archive.OneOf(_archive.Nothing(), _archive.Number(at_least=0, at_most=1))

# With more features, the committee looks at so many principal components.
_MAX_FEATURES = 100


@dataclass(frozen=True, eq=False)
class Frame(_archive.SavedFields):
    """From rows to what the members see: centred, in one common unit, maybe projected.

    Attributes
    ----------
    mean : array of shape (n_features,)
        What is subtracted.
    unit : float
        Root of the mean variance: distances keep their proportions.
    axes : array of shape (n_features, n_components) or None
        Principal components, if there are many features.
    """

    mean: Array
    unit: float
    axes: Array | None

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "mean": _archive.Array("f", ("n_features",)),
            "unit": _archive.Number(above=0),
            "axes": _archive.OneOf(
                _archive.Nothing(), _archive.Array("f", ("n_features", None))
            ),
        }
    )

    @classmethod
    def of(cls, rows: Array) -> Frame:
        """The frame in which these rows have a mean variance of 1."""
        mean = rows.mean(axis=0)
        widest = np.abs(rows - mean).max() or 1.0
        # In units of the widest entry, so that no square under- or overflows.
        unit = widest * np.sqrt(np.square((rows - mean) / widest).mean()) or 1.0
        if rows.shape[1] <= _MAX_FEATURES:
            return cls(mean, float(unit), None)
        centered = (rows - mean) / unit
        axes = np.linalg.svd(centered, full_matrices=False)[2][:_MAX_FEATURES].T
        spread = np.sqrt(np.square(centered @ axes).mean())
        return cls(mean, float(unit * spread), np.ascontiguousarray(axes))

    def __call__(self, rows: Array) -> Array:
        """Rows as the members see them."""
        values = (rows - self.mean) / self.unit
        return values if self.axes is None else values @ self.axes

    def search(self, rows: Array) -> NeighborSearch:
        """Who finds the nearest of these rows."""
        return NeighborSearch(self(rows), "euclidean")


@dataclass(frozen=True, eq=False)
class Member(_archive.SavedFields):
    """One clustering of the rows of the committee.

    Attributes
    ----------
    name : str
        What it is called.
    memberships : array of shape (n, n_own)
        Of the rows, in clusters of its own numbers.
    model : object or None
        What gives the memberships of other rows: a `Mixture`, an estimator with
        ``predict_proba`` or ``predict``; None: they are borrowed from neighbours.
    n_borrowed : int
        From how many.
    sees_rows : bool
        Whether the model sees rows as they were given, not those of the frame.
    """

    name: str
    memberships: Array
    model: Any = None
    n_borrowed: int = 1
    sees_rows: bool = False

    # A model of another library has no file form.
    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "name": _archive.Text(),
            "memberships": _archive.Array(
                "f", (None, None), at_least=-1e-8, at_most=1 + 1e-6
            ),
            "model": _archive.OneOf(
                _archive.Nothing(), _archive.Instance(Mixture, BaseCredalClusterer)
            ),
            "n_borrowed": _archive.Integer(at_least=1),
            "sees_rows": _archive.Flag(),
        }
    )

    @property
    def labels(self) -> Indices:
        """The cluster of largest membership, (n,)."""
        return self.memberships.argmax(axis=1)

    def extended(self, rows: Array, inside: Array, found: Indices) -> Array:
        """Memberships of other rows.

        Parameters
        ----------
        rows, inside : array of shape (n_rows, ...)
            As given, and in the frame.
        found : array of int, shape (n_rows, n_neighbors)
            The nearest rows of the committee, nearest first.
        """
        n_own = self.memberships.shape[1]
        if self.model is None:
            return self.memberships[found[:, : self.n_borrowed]].mean(axis=1)
        values = rows if self.sees_rows else inside
        if isinstance(self.model, Mixture):
            return self.model.memberships(values)
        if hasattr(self.model, "predict_proba"):
            return np.asarray(self.model.predict_proba(values), dtype=np.float64)
        return one_hot(np.asarray(self.model.predict(values)), n_own)


def _check_committee(owner: str, entries: _archive.Entries) -> None:
    rows, members = entries["rows"], entries["members"]
    n_members = len(members)
    if not len(entries["names"]) == len(entries["weights"]) == n_members:
        raise ValueError(f"{owner}.names and weights must be as many as its members")
    if entries["reference"] >= n_members:
        raise ValueError(
            f"{owner}.reference must be less than {n_members}, the number of members, "
            f"got {entries['reference']}"
        )
    frame = entries["frame"]
    if isinstance(frame, Frame) and len(frame.mean) != rows.shape[1]:
        raise ValueError(f"{owner}.frame must be about {rows.shape[1]} features")
    for member, names in zip(members, entries["names"], strict=True):
        if member.memberships.shape != (len(rows), len(names)):
            raise ValueError(
                f"{owner}.members must have memberships of shape "
                f"{(len(rows), len(names))}, got {member.memberships.shape}"
            )


@dataclass(frozen=True, eq=False)
class Committee(_archive.SavedFields):
    """Members, how far each is believed, and the rows that they have clustered.

    Attributes
    ----------
    rows : array of shape (n, n_features)
        As given.
    frame : Frame or Relation
        Where the members see them, or how they compare them.
    members : tuple of Member
        Those that did not fail.
    names : tuple of arrays of int
        Which common cluster each cluster of a member is.
    weights, rates : array of shape (n_members,)
        a_b and r_b.
    smoothing : float
        Share of the neighbours in the memberships.
    n_smoothed : int
        Number of these neighbours.
    n_clusters : int
        Number of common clusters.
    reference : int
        Which member gave the common clusters.
    lost : array of int
        Clusters of the reference in which the votes would leave no row of the
        committee. About its rows there, the reference alone is heard.
    trust : float
        g, if the last member is the mixture that the gate has let in, else 0: the share
        of the evidence that is this mixture alone.
    """

    rows: Array
    frame: Frame | Relation
    members: tuple[Member, ...]
    names: tuple[Indices, ...]
    weights: Array
    rates: Array
    smoothing: float
    n_smoothed: int
    n_clusters: int
    reference: int
    lost: Indices
    trust: float = 0.0

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "rows": _archive.Array("f", ("n_rows", "n_features")),
            "frame": _archive.Instance(Frame, Relation),
            "members": _archive.Each(_archive.Instance(Member), at_least=1),
            "n_clusters": _archive.Integer(at_least=1, size="n_clusters"),
            "names": _archive.Each(
                _archive.Array("i", (None,), at_least=0, below="n_clusters")
            ),
            "weights": _archive.Array("f", ("n_members",)),
            "rates": _archive.Array("f", ("n_members",), at_least=0, at_most=1),
            "smoothing": _archive.Number(at_least=0, at_most=1),
            "n_smoothed": _archive.Integer(at_least=1),
            "reference": _archive.Integer(at_least=0),
            "lost": _archive.Array("i", (None,), at_least=0, below="n_clusters"),
            "trust": _archive.Number(at_least=0, at_most=1),
        },
        relations=(_check_committee,),
    )

    def evidence(self, X: Array) -> tuple[Array, Array]:
        """Masses on single clusters (n, c) and on Ω (n,) of any rows."""
        singletons, frame = np.empty((len(X), self.n_clusters)), np.empty(len(X))
        search = self.frame.search(self.rows)
        n_asked = self._n_neighbors
        widest = max(n_asked * self.n_clusters, X.shape[1])
        for part in batches(len(X), widest):
            poll()
            inside = self.frame(X[part])
            found = search.query(inside, n_asked)[0]
            own = [each.extended(X[part], inside, found) for each in self.members]
            # The memberships of the neighbours are those that the members gave them.
            singletons[part], frame[part] = self._combined(own, found)
        return singletons, frame

    def own_evidence(self) -> tuple[Array, Array]:
        """The same of the rows of the committee."""
        search = self.frame.search(self.rows)
        found = search.query(self.frame(self.rows), self._n_neighbors)[0]
        return self._combined([each.memberships for each in self.members], found)

    def renamed(self, new_names: Indices) -> Committee:
        """The same with common cluster k called ``new_names[k]``."""
        names = tuple(new_names[each] for each in self.names)
        return replace(self, names=names, lost=new_names[self.lost])

    def with_all_clusters(self) -> Committee:
        """The same with the clusters noted that would be lost."""
        singletons, _ = self.own_evidence()
        sizes = np.bincount(singletons.argmax(axis=1), minlength=self.n_clusters)
        return replace(self, lost=np.flatnonzero(sizes == 0))

    @property
    def _n_neighbors(self) -> int:
        n_borrowed = max(member.n_borrowed for member in self.members)
        return min(max(self.n_smoothed, n_borrowed), len(self.rows))

    def _combined(self, own: list[Array], found: Indices) -> tuple[Array, Array]:
        """Smoothed, aligned, discounted and combined."""
        memberships = []
        for member, each, names in zip(self.members, own, self.names, strict=True):
            if self.smoothing > 0:
                nearest = found[:, : self.n_smoothed]
                around = member.memberships[nearest].mean(axis=1)
                each = (1 - self.smoothing) * each + self.smoothing * around
            memberships.append(aligned(each, names, self.n_clusters))
        singletons, frame = dempster(memberships, self.rates)
        if self.trust > 0:
            singletons, frame = believed(singletons, frame, memberships[-1], self.trust)
        if len(self.lost):
            k = self.reference
            alone = aligned(own[k], self.names[k], self.n_clusters)
            is_lost = np.isin(alone.argmax(axis=1), self.lost)
            singletons[is_lost], frame[is_lost] = dempster(
                [alone[is_lost]], self.rates[[k]]
            )
        return singletons, frame


for _class in (Frame, Member, Committee):
    _archive.register(_class)


@dataclass(frozen=True, eq=False)
class Session(_archive.SavedFields):
    """What has come of asking all members.

    Attributes
    ----------
    committee : Committee
        Those that did not fail.
    gate : Gate
        Which model was trusted.
    agreement : float
        Mean adjusted Rand index of two members.
    failures : dict of str
        Why members are missing, by their names.
    choice : Choice or None
        Why there are so many clusters, if that was left open.
    p_value : float or None
        Of the hypothesis that there are no groups with gaps between them; None: it was
        not tested.
    n_stray : int
        Rows so far away from all others that no member was asked about them.
    """

    committee: Committee
    gate: Gate
    agreement: float
    failures: dict[str, str]
    choice: Choice | None = None
    p_value: float | None = None
    n_stray: int = 0

    _schema: ClassVar[_archive.Rule] = _archive.Fields(
        {
            "committee": _archive.Instance(Committee),
            "gate": _archive.Instance(Gate),
            "agreement": _archive.Number(),
            "failures": _archive.Named(_archive.Text()),
            "choice": _archive.OneOf(_archive.Nothing(), _archive.Instance(Choice)),
        },
        # Checkpoints of earlier versions have none.
        {"p_value": P_VALUE, "n_stray": _archive.Integer(at_least=0)},
    )

    def fitted_attributes(self) -> dict[str, Any]:
        """What an estimator tells of its committee."""
        committee = self.committee
        return {
            "members_": [
                {"name": member.name, "weight": float(weight), "reliability": float(r)}
                for member, weight, r in zip(
                    committee.members, committee.weights, committee.rates, strict=True
                )
            ],
            "failed_members_": dict(self.failures),
            "agreement_": self.agreement,
            "gate_": self.gate.summary(),
            "n_clusters_": committee.n_clusters,
            "metric_": getattr(committee.frame, "metric", "euclidean"),
            "selection_": {} if self.choice is None else self.choice.summary(),
            "structure_p_value_": self.p_value,
            "n_stray_": self.n_stray,
        }


_archive.register(Session)


def unanimous(rows: Array, frame: Frame | Relation) -> Session:
    """The session about a single cluster, in which all rows are."""
    whole = Member("one cluster", np.ones((len(rows), 1)))
    committee = Committee(
        rows,
        frame,
        (whole,),
        (np.zeros(1, dtype=np.intp),),
        weights=np.ones(1),
        rates=np.ones(1),
        smoothing=0.0,
        n_smoothed=1,
        n_clusters=1,
        reference=0,
        lost=np.empty(0, dtype=np.intp),
    )
    return Session(committee, Gate(), 1.0, {})


def weighed(
    rows: Array,
    frame: Frame | Relation,
    members: list[Member],
    gate: Gate,
    n_clusters: int,
    failures: dict[str, str],
) -> Session:
    """Weights, reference, common clusters."""
    table = pairwise_agreement([member.labels for member in members])
    others = table[~np.eye(len(table), dtype=bool)]
    agreement = float(others.mean()) if len(others) else 1.0
    weights = mean_agreement(table)
    trusted = None
    if gate.mixture is not None:
        name = free_name(f"adequate {gate.trusted}", [each.name for each in members])
        joined = Member(name, gate.mixture.memberships(frame(rows)), gate.mixture)
        members = [*members, joined]
        table = pairwise_agreement([member.labels for member in members])
        weights = np.append(weights, max(0.0, table[-1, :-1].mean()))
        trusted = len(members) - 1
    elif gate.trusted == NEIGHBORHOODS:
        trusted = [each.name for each in members].index("spectral")
    if trusted is not None:
        weights = trusted_agreement(weights, table[trusted], gate.weight)
    chosen = _reference(members, weights, n_clusters)
    reference = members[chosen].memberships[:, :n_clusters]
    sizes = np.bincount(reference.argmax(axis=1), minlength=n_clusters)
    committee = Committee(
        rows,
        frame,
        tuple(members),
        tuple(alignment(reference, each.memberships) for each in members),
        weights,
        reliabilities(weights),
        _SMOOTHING * (1.0 - gate.weight),
        # More neighbours than a cluster has rows would take it away.
        int(np.clip(sizes.min(), 1, _N_SMOOTHED)),
        n_clusters,
        chosen,
        lost=np.empty(0, dtype=np.intp),
        trust=0.0 if gate.mixture is None else gate.weight,
    )
    return Session(committee.with_all_clusters(), gate, agreement, failures)


def _reference(members: list[Member], weights: Array, n_clusters: int) -> int:
    """The member that the others agree with, if possible of the right number."""
    order = np.argsort(-weights, kind="stable")
    fitting = [k for k in order if members[k].memberships.shape[1] == n_clusters]
    return int((fitting or list(order))[0])


def free_name(member: Any, taken: Sequence[str]) -> str:
    """The name of a member, with a number if another one has it."""
    name = member if isinstance(member, str) else type(member).__name__
    number = 1 + sum(each.split("#")[0] == name for each in taken)
    return name if number == 1 else f"{name}#{number}"
