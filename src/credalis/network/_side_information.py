"""Labels and pairwise constraints as terms of the cost of a network."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets
from credalis.objectives import LabelFit, Objective, PairConstraints

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class SideInformation:
    """What is known about some objects, and how much it counts.

    The cost of a network is (1 - ν) stress + ν label term + ξ constraint term.

    Parameters
    ----------
    objects, labels : array of int, shape (n_labelled,)
        Objects whose cluster is known, and their clusters.
    must_link, cannot_link : array of int, shape (n_pairs, 2)
        Objects known to be in the same cluster, and in different ones.
    label_weight : float
        ν, used if there are labels.
    constraint_weight : float
        ξ, used if there are constraints.
    """

    objects: Indices
    labels: Indices
    must_link: Indices
    cannot_link: Indices
    label_weight: float
    constraint_weight: float

    @classmethod
    def nothing(cls) -> "SideInformation":
        """No labels and no pairs."""
        no_objects = np.empty(0, dtype=np.intp)
        no_pairs = np.empty((0, 2), dtype=np.intp)
        return cls(no_objects, no_objects, no_pairs, no_pairs, 0.0, 0.0)

    def without_pairs(self) -> "SideInformation":
        """The same without must-links and cannot-links."""
        no_pairs = np.empty((0, 2), dtype=np.intp)
        return replace(self, must_link=no_pairs, cannot_link=no_pairs)

    @property
    def has_labels(self) -> bool:
        """Whether any label is known."""
        return len(self.objects) > 0

    @property
    def has_constraints(self) -> bool:
        """Whether there is any constraint."""
        return len(self.must_link) + len(self.cannot_link) > 0

    @property
    def stress_weight(self) -> float:
        """1 - ν, or 1 without labels."""
        return 1.0 - self.label_weight if self.has_labels else 1.0

    def objective(self, n_samples: int, focal_sets: FocalSets) -> Objective | None:
        """The weighted terms on the masses of all objects, None if nothing is known."""
        terms = []
        if self.has_labels:
            fit = LabelFit(self.objects, self.labels, focal_sets)
            terms.append(self.label_weight * fit)
        if self.has_constraints:
            links = PairConstraints(
                self.must_link, self.cannot_link, n_samples, focal_sets
            )
            terms.append(self.constraint_weight * links)
        if not terms:
            return None
        return terms[0] if len(terms) == 1 else terms[0] + terms[1]

    def restricted(self, objects: Indices, n_samples: int) -> "SideInformation":
        """What is known about some objects, by their position among them."""
        position = np.full(n_samples, -1, dtype=np.intp)
        position[objects] = np.arange(len(objects))
        is_kept = position[self.objects] >= 0
        must, cannot = position[self.must_link], position[self.cannot_link]
        return SideInformation(
            position[self.objects[is_kept]],
            self.labels[is_kept],
            must[(must >= 0).all(axis=1)],
            cannot[(cannot >= 0).all(axis=1)],
            self.label_weight,
            self.constraint_weight,
        )

    def sample(
        self, n_items: int, rng: np.random.RandomState
    ) -> tuple[Indices, "SideInformation"]:
        """At most n_items labels and n_items constraints, drawn at random.

        Returns
        -------
        objects : array of int
            The objects concerned.
        information : SideInformation
            What is known about them, by their position in ``objects``.
        """
        objects, labels = self.objects, self.labels
        if len(objects) > n_items:
            chosen = rng.choice(len(objects), n_items, replace=False)
            objects, labels = objects[chosen], labels[chosen]
        must_link, cannot_link = self.must_link, self.cannot_link
        n_must, n_pairs = len(must_link), len(must_link) + len(cannot_link)
        if n_pairs > n_items:
            chosen = rng.choice(n_pairs, n_items, replace=False)
            cannot_link = cannot_link[chosen[chosen >= n_must] - n_must]
            must_link = must_link[chosen[chosen < n_must]]
        concerned, positions = np.unique(
            np.concatenate([objects, must_link.ravel(), cannot_link.ravel()]),
            return_inverse=True,
        )
        ends = np.cumsum([len(objects), must_link.size])
        first, second, third = np.split(positions, ends)
        return concerned, SideInformation(
            first,
            labels,
            second.reshape(-1, 2),
            third.reshape(-1, 2),
            self.label_weight,
            self.constraint_weight,
        )
