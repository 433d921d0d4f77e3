"""FocalSets: the sets of clusters that may carry mass."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from credalis._checks import check_flag, check_integer, shown

Subset = tuple[int, ...]

# 2 ** 12 sets: beyond this a row of masses, and every f x f matrix, is out of hand.
MAX_CLUSTERS_FULL = 12

# More than this are no clusters but a mistake, such as an identifier taken for a label:
# refused before anything is made for each of them. The second bounds the matrix of
# which set contains which cluster, 256 MB.
MAX_CLUSTERS = 2**14
_MAX_ENTRIES = 2**28


@dataclass(frozen=True)
class FocalSets:
    """Ordered, distinct subsets of the clusters ``{0, ..., n_clusters - 1}``.

    A mass matrix has one column for each of them. The value is immutable, hashable
    and comparable; the matrices derived from it are computed once and read-only.

    Parameters
    ----------
    n_clusters : int
        Number of clusters c, the size of the frame Ω.
    subsets : tuple of tuples of int
        The focal sets in the order of the columns of a mass matrix. Each is a tuple
        of distinct clusters; they are stored in increasing order.

    See Also
    --------
    FocalSets.singletons : ∅, {0}, ..., {c-1}, Ω.
    FocalSets.pairs : the same with pairs of clusters.
    FocalSets.full : all subsets.
    FocalSets.from_subsets : any list, ∅ and Ω added on request.

    Examples
    --------
    >>> from credalis import FocalSets
    >>> focal_sets = FocalSets.pairs(3)
    >>> focal_sets.names
    ('∅', '{0}', '{1}', '{2}', '{0,1}', '{0,2}', '{1,2}', 'Ω')
    >>> focal_sets.cardinality
    array([0, 1, 1, 1, 2, 2, 2, 3])
    >>> focal_sets == FocalSets.from_json(focal_sets.to_json())
    True
    """

    n_clusters: int
    subsets: tuple[Subset, ...]

    def __post_init__(self) -> None:
        n_clusters = check_n_clusters(self.n_clusters)
        subsets = tuple(_checked_subsets("subsets", self.subsets, n_clusters))
        _check_entries("subsets", len(subsets), n_clusters)
        if not subsets:
            raise ValueError("subsets must hold at least one focal set, got none")
        seen: set[Subset] = set()
        for subset in subsets:
            if subset in seen:
                raise ValueError(f"subsets must be distinct, got {subset} twice")
            seen.add(subset)
        object.__setattr__(self, "n_clusters", n_clusters)
        object.__setattr__(self, "subsets", subsets)

    @classmethod
    def singletons(
        cls, n_clusters: int, *, empty: bool = True, frame: bool = True
    ) -> "FocalSets":
        """∅, the singletons and Ω, in this order; ∅ and Ω can be left out.

        Parameters
        ----------
        n_clusters : int
            Number of clusters.
        empty, frame : bool, default=True
            Whether ∅ and Ω are among the focal sets.

        Returns
        -------
        FocalSets
        """
        return cls.pairs(n_clusters, (), empty=empty, frame=frame)

    @classmethod
    def pairs(
        cls,
        n_clusters: int,
        pairs: Iterable[Iterable[int]] | Literal["all"] = "all",
        *,
        empty: bool = True,
        frame: bool = True,
    ) -> "FocalSets":
        """∅, the singletons, pairs of clusters and Ω, in this order.

        Parameters
        ----------
        n_clusters : int
            Number of clusters.
        pairs : "all" or iterable of pairs of int, default="all"
            Which pairs; they are put in lexicographic order.
        empty, frame : bool, default=True
            Whether ∅ and Ω belong to the list. With two clusters the pair {0,1}
            *is* Ω and stays when pairs contains it.
        """
        n_clusters = check_n_clusters(n_clusters)
        if isinstance(pairs, str):
            if pairs != "all":
                raise ValueError(
                    f"pairs must be 'all' or an iterable of pairs, got {pairs!r}"
                )
            n_pairs = n_clusters * (n_clusters - 1) // 2
            _check_entries("n_clusters (for all pairs)", n_pairs, n_clusters)
            chosen: list[Subset] = list(combinations(range(n_clusters), 2))
        else:
            chosen = sorted(_checked_subsets("pairs", pairs, n_clusters))
            for pair in chosen:
                if len(pair) != 2:
                    raise ValueError(f"pairs must hold two clusters each, got {pair}")
        singletons = [(cluster,) for cluster in range(n_clusters)]
        return cls.from_subsets(
            n_clusters, [*singletons, *chosen], empty=empty, frame=frame
        )

    @classmethod
    def full(
        cls, n_clusters: int, *, empty: bool = True, frame: bool = True
    ) -> "FocalSets":
        """All subsets in binary order: ∅, {0}, {1}, {0,1}, {2}, ...

        Cluster 0 is the least significant bit; the order is the one the fast Möbius
        transform works on. At most 12 clusters.

        Parameters
        ----------
        n_clusters : int
            Number of clusters.
        empty, frame : bool, default=True
            Whether ∅ and Ω are among the focal sets.

        Returns
        -------
        FocalSets
        """
        n_clusters = check_integer(
            "n_clusters (for all subsets)",
            n_clusters,
            at_least=1,
            at_most=MAX_CLUSTERS_FULL,
        )
        check_flag("empty", empty)
        check_flag("frame", frame)
        last = 2**n_clusters - 1
        codes = range(0 if empty else 1, last + 1 if frame else last)
        return cls(
            n_clusters,
            tuple(
                tuple(k for k in range(n_clusters) if code >> k & 1) for code in codes
            ),
        )

    @classmethod
    def from_subsets(
        cls,
        n_clusters: int,
        subsets: Iterable[Iterable[int]],
        *,
        empty: bool = False,
        frame: bool = False,
    ) -> "FocalSets":
        """Any subsets in the order given.

        Parameters
        ----------
        n_clusters : int
            Number of clusters.
        subsets : iterable of iterables of int
            The focal sets.
        empty : bool, default=False
            Put ∅ first if it is not in the list.
        frame : bool, default=False
            Put Ω last if it is not in the list.
        """
        n_clusters = check_n_clusters(n_clusters)
        check_flag("empty", empty)
        check_flag("frame", frame)
        listed = _checked_subsets("subsets", subsets, n_clusters)
        if empty and () not in listed:
            listed.insert(0, ())
        if frame and tuple(range(n_clusters)) not in listed:
            listed.append(tuple(range(n_clusters)))
        return cls(n_clusters, tuple(listed))

    def __len__(self) -> int:
        return len(self.subsets)

    def __iter__(self) -> Iterator[Subset]:
        return iter(self.subsets)

    def __contains__(self, subset: object) -> bool:
        return isinstance(subset, Iterable) and tuple(sorted(subset)) in self._positions

    def __reduce__(self) -> tuple[Any, ...]:
        # The derived arrays would come back from a pickle writeable.
        return FocalSets, (self.n_clusters, self.subsets)

    def __repr__(self) -> str:
        shown = self.names
        if len(shown) > 12:
            shown = (*shown[:9], "...", shown[-1])
        return f"FocalSets({self.n_clusters} clusters: {', '.join(shown)})"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Readable names: "∅", "{0}", "{0,1}", ..., "Ω"."""
        return tuple(subset_name(subset, self.n_clusters) for subset in self.subsets)

    @cached_property
    def membership(self) -> NDArray[np.bool_]:
        """Boolean (n_focal_sets, n_clusters): does focal set j contain cluster k?"""
        return _read_only(subsets_to_membership(self.subsets, self.n_clusters))

    @cached_property
    def cardinality(self) -> NDArray[np.intp]:
        """Number of clusters in each focal set, shape (n_focal_sets,)."""
        return _read_only(self.membership.sum(axis=1))

    @cached_property
    def disjoint(self) -> NDArray[np.bool_]:
        """The matrix C, (n_focal_sets, n_focal_sets): do sets i and j not meet?

        ∅ meets nothing, itself included.
        """
        members = self.membership.astype(float)
        return _read_only(members @ members.T == 0)

    @cached_property
    def either_empty(self) -> NDArray[np.bool_]:
        """The matrix E, (n_focal_sets, n_focal_sets): is set i or set j empty?"""
        empty = self.cardinality == 0
        return _read_only(empty[:, None] | empty[None, :])

    @cached_property
    def same_singleton(self) -> NDArray[np.bool_]:
        """The matrix S, (n_focal_sets, n_focal_sets): is i = j a singleton?"""
        return _read_only(np.diag(self.cardinality == 1))

    @cached_property
    def apartness(self) -> NDArray[np.float64]:
        """The matrix Q = 11ᵀ + C - E - S, (n_focal_sets, n_focal_sets).

        ``m_i @ Q @ m_j`` is Pl(different clusters) + 1 - Pl(same cluster), in [0, 2].
        """
        return _read_only(1.0 + self.disjoint - self.either_empty - self.same_singleton)

    @cached_property
    def empty_index(self) -> int | None:
        """Position of ∅, or None."""
        return self._positions.get(())

    @cached_property
    def frame_index(self) -> int | None:
        """Position of Ω, or None."""
        return self._positions.get(tuple(range(self.n_clusters)))

    @cached_property
    def is_full(self) -> bool:
        """Whether these are all subsets in the binary order of `full`."""
        return (
            self.n_clusters <= MAX_CLUSTERS_FULL
            and len(self) == 2**self.n_clusters
            and self == FocalSets.full(self.n_clusters)
        )

    def index(self, subset: Iterable[int]) -> int:
        """Position of a subset; ValueError if it is not a focal set.

        Parameters
        ----------
        subset : iterable of int
            Clusters in any order; nothing for ∅.

        Returns
        -------
        int
        """
        wanted = _checked_subset("subset", subset, self.n_clusters)
        if wanted not in self._positions:
            name = subset_name(wanted, self.n_clusters)
            raise ValueError(f"subset must be a focal set of {self!r}, got {name}")
        return self._positions[wanted]

    def relabel(self, new_labels: Iterable[int]) -> "FocalSets":
        """The same sets after cluster k has been renamed to ``new_labels[k]``.

        Parameters
        ----------
        new_labels : iterable of int
            The new number of each cluster, a permutation.

        Returns
        -------
        FocalSets
        """
        labels = check_permutation("new_labels", new_labels, self.n_clusters)
        return FocalSets(
            self.n_clusters,
            tuple(tuple(int(labels[k]) for k in subset) for subset in self.subsets),
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON.

        Returns
        -------
        dict
        """
        return {
            "n_clusters": self.n_clusters,
            "subsets": [list(subset) for subset in self.subsets],
        }

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> "FocalSets":
        """Inverse of `to_dict`.

        Parameters
        ----------
        state : dict
            What `to_dict` has returned.

        Returns
        -------
        FocalSets
        """
        if not isinstance(state, dict) or not {"n_clusters", "subsets"} <= set(state):
            raise ValueError(
                "state must be a dictionary with n_clusters and subsets, "
                f"got {state!r:.80}"
            )
        return cls(state["n_clusters"], state["subsets"])

    def to_json(self) -> str:
        """JSON text.

        Returns
        -------
        str
        """
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> "FocalSets":
        """Inverse of `to_json`.

        Parameters
        ----------
        text : str
            What `to_json` has returned.

        Returns
        -------
        FocalSets
        """
        try:
            state = json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise ValueError(
                f"text must be JSON from to_json, got {shown(text)}: {error}"
            ) from error
        return cls.from_dict(state)

    @cached_property
    def _positions(self) -> dict[Subset, int]:
        return {subset: j for j, subset in enumerate(self.subsets)}


def check_n_clusters(n_clusters: Any) -> int:
    """A number of clusters, or a ValueError that names it."""
    number = check_integer("n_clusters", n_clusters, at_least=1)
    if number > MAX_CLUSTERS:
        raise ValueError(f"n_clusters must be <= {MAX_CLUSTERS}, got {shown(number)}")
    return number


def check_focal_sets(name: str, value: Any) -> FocalSets:
    """Focal sets, or a ValueError that names what was given instead."""
    if not isinstance(value, FocalSets):
        raise ValueError(f"{name} must be a FocalSets, got {shown(value)}")
    return value


def _check_entries(name: str, n_sets: int, n_clusters: int) -> None:
    if n_sets * n_clusters > _MAX_ENTRIES:
        raise ValueError(
            f"{name} must give no more than {_MAX_ENTRIES // n_clusters} focal sets of "
            f"{n_clusters} clusters, got {n_sets}"
        )


def subset_name(subset: Subset, n_clusters: int) -> str:
    """Readable name of one subset: "∅", "{0,2}" or "Ω"."""
    if not subset:
        return "∅"
    if len(subset) == n_clusters and n_clusters > 1:
        return "Ω"
    return "{" + ",".join(map(str, subset)) + "}"


def subsets_to_membership(
    subsets: Iterable[Iterable[int]], n_clusters: int
) -> NDArray[np.bool_]:
    """Boolean (n_subsets, n_clusters) matrix of a list of subsets."""
    checked = _checked_subsets("subsets", subsets, n_clusters)
    membership = np.zeros((len(checked), n_clusters), dtype=bool)
    for row, subset in zip(membership, checked, strict=True):
        row[list(subset)] = True
    return membership


def check_permutation(
    name: str, order: Iterable[int], n_clusters: int
) -> NDArray[np.intp]:
    """A permutation of the clusters as an array, or a ValueError that names it."""
    try:
        array = np.asarray(list(order))
    except (TypeError, ValueError):
        array = np.asarray(order, dtype=object)
    if (
        array.dtype.kind not in "iu"
        or array.shape != (n_clusters,)
        or not np.array_equal(np.sort(array), np.arange(n_clusters))
    ):
        raise ValueError(
            f"{name} must be a permutation of 0, ..., {n_clusters - 1}, "
            f"got {array.tolist()}"
        )
    return array.astype(np.intp)


def _checked_subsets(
    name: str, subsets: Iterable[Iterable[int]], n_clusters: int
) -> list[Subset]:
    if not isinstance(subsets, Iterable):
        raise ValueError(f"{name} must be an iterable of subsets, got {shown(subsets)}")
    try:
        listed = list(subsets)
    except TypeError as error:  # an array of no dimension
        raise ValueError(
            f"{name} must be an iterable of subsets, got {shown(subsets)}"
        ) from error
    return [_checked_subset(f"{name}: a subset", each, n_clusters) for each in listed]


def _checked_subset(name: str, subset: Iterable[int], n_clusters: int) -> Subset:
    try:
        clusters = [check_integer("cluster", cluster) for cluster in subset]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be an iterable of cluster numbers, got {shown(subset)}"
        ) from error
    if len(set(clusters)) != len(clusters) or any(
        not 0 <= cluster < n_clusters for cluster in clusters
    ):
        raise ValueError(
            f"{name} must hold distinct clusters between 0 and {n_clusters - 1}, "
            f"got {shown(tuple(clusters))}"
        )
    return tuple(sorted(clusters))


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array
