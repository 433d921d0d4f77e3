"""What all starts of NNEVCLUS share, worked out once from data and settings."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis.belief import FocalSets
from credalis.cluster._inputs._geometry import (
    Geometry,
    attribute_geometry,
    given_geometry,
    scale_of,
)
from credalis.cluster._inputs._side_information import side_information
from credalis.cluster._inputs._standardization import Standardization
from credalis.cluster.nnevclus._network import InputSpace
from credalis.cluster.nnevclus._seeds import fixed_seeds
from credalis.cluster.nnevclus._settings import Settings
from credalis.dissimilarity import (
    MAX_STORED,
    Similarities,
    check_dissimilarities,
    sample_pairs,
)
from credalis.metric_learning import DissimilarityPCA
from credalis.network import (
    DeferredInputs,
    SideInformation,
    TrainingData,
    fit_novelty,
    with_constant,
)


@dataclass(frozen=True, eq=False)
class NetworkProblem:
    """Objects in memory, what is known about them, and how to train on them.

    Attributes
    ----------
    settings : Settings
        How to train.
    space : InputSpace
        How objects become inputs and dissimilarities.
    attributes : array of shape (n_samples, n_inputs)
        Attributes, not standardised.
    scores : array of shape (n_samples,) or None
        Novelty scores.
    geometry : Geometry
        Where the dissimilarities of these objects come from.
    information : SideInformation
        Labels and pairs.
    seeds : array of int or None
        Row numbers of objects to start from, the clusters in turn.
    pairs : tuple of two arrays of int, or None
        Pairs that count; None stands for all.
    held_out : array of bool, shape (n_samples,), or None
        Objects that validate the training.
    """

    settings: Settings
    space: InputSpace
    attributes: NDArray[np.float64]
    scores: NDArray[np.float64] | None
    geometry: Geometry
    information: SideInformation
    seeds: NDArray[np.intp] | None
    pairs: tuple[NDArray[np.intp], NDArray[np.intp]] | None
    held_out: NDArray[np.bool_] | None

    @property
    def n_samples(self) -> int:
        """Number of objects."""
        return len(self.attributes)

    @property
    def inputs(self) -> NDArray[np.float64]:
        """Standardised attributes of all objects, (n_samples, n_inputs)."""
        return self.space.standardize(self.attributes)

    def similarities(self, dtype: type = np.float64) -> Similarities:
        """Similarities of all objects."""
        return self.geometry.similarities(self.space.scale, dtype)

    def training_data(
        self, focal_sets: FocalSets, information: SideInformation
    ) -> tuple[TrainingData, TrainingData | None]:
        """What the network is trained on, and what it is validated on."""
        dtype = self.settings.dtype
        inputs: NDArray[np.floating] | DeferredInputs
        if self.attributes.size <= MAX_STORED or self.settings.is_full_batch:
            inputs = with_constant(self.inputs, dtype)
        else:
            everything = np.arange(self.n_samples)
            inputs = DeferredInputs(
                self.attributes, self.space.standardize, everything, dtype
            )
        data = TrainingData(
            inputs,
            None if self.scores is None else self.scores.astype(dtype),
            self.similarities(dtype),
            focal_sets,
            information,
            self.pairs,
        )
        if self.held_out is None:
            return data, None
        return data.take(np.flatnonzero(~self.held_out)), data.take(
            np.flatnonzero(self.held_out)
        )


def prepare(
    settings: Settings,
    X: NDArray[np.float64],
    rng: np.random.RandomState,
    *,
    object_shape: tuple[int, ...] | None = None,
    dissimilarities: Any = None,
    partial_labels: Any = None,
    must_link: Any = None,
    cannot_link: Any = None,
) -> NetworkProblem:
    """Check side information, find scales, fit transformer and novelty detector."""
    information = side_information(
        partial_labels,
        must_link,
        cannot_link,
        n_samples=len(X),
        n_clusters=settings.n_clusters,
        label_weight=settings.label_weight,
        constraint_weight=settings.constraint_weight,
    )
    is_random = isinstance(settings.init, str) and settings.init == "random"
    if information.has_labels and not is_random:
        raise ValueError(
            "init must be 'random' with partial_labels, which say themselves where "
            f"the clusters are, got {settings.init!r}"
        )
    embedding, transformer = None, None
    attributes = X
    if isinstance(settings.metric, str) and settings.metric == "precomputed":
        matrix = check_dissimilarities(X, symmetrize=settings.symmetrize)
        embedding = DissimilarityPCA(settings.n_components).fit(matrix)
        # Rows as they are given, since prediction has no columns to average with.
        attributes, geometry = embedding.transform(X), Geometry(matrix, "precomputed")
    else:
        geometry, transformer = attribute_geometry(X, settings.metric, rng, information)
    if dissimilarities is not None:
        geometry = given_geometry(
            dissimilarities, len(X), symmetrize=settings.symmetrize
        )
    standardize = (Standardization.alike if object_shape else Standardization.of)(
        attributes
    )
    novelty, scores = None, None
    if settings.novelty_detector is not None:
        novelty, scores = fit_novelty(
            settings.novelty_detector, attributes, standardize, rng
        )
    space = InputSpace(
        standardize,
        embedding,
        transformer,
        geometry.metric,
        dissimilarities is not None,
        scale_of(settings, geometry, rng),
        novelty,
        object_shape,
    )
    seeds = fixed_seeds(
        settings.init, attributes, geometry, space.scale, settings.n_clusters, rng
    )
    pairs = None
    if settings.pairs_per_sample is not None:
        pairs = sample_pairs(len(X), settings.pairs_per_sample, rng)
    held_out = None
    if settings.early_stopping:
        held_out = _held_out(settings.validation_fraction, information, len(X), rng)
    return NetworkProblem(
        settings,
        space,
        attributes,
        scores,
        geometry,
        information,
        seeds,
        pairs,
        held_out,
    )


def _held_out(
    validation_fraction: float,
    information: SideInformation,
    n_samples: int,
    rng: np.random.RandomState,
) -> NDArray[np.bool_]:
    """Objects that validate the training: none that side information is about."""
    concerned = np.zeros(n_samples, dtype=bool)
    for objects in (
        information.objects,
        information.must_link,
        information.cannot_link,
    ):
        concerned[objects.ravel()] = True
    free = np.flatnonzero(~concerned)
    n_held_out = round(validation_fraction * n_samples)
    if n_held_out < 2 or len(free) < n_held_out or n_samples - n_held_out < 2:
        raise ValueError(
            f"validation_fraction must leave at least two objects without side "
            f"information to validate on and two to train on, got "
            f"{validation_fraction} of {n_samples} objects"
        )
    held_out = np.zeros(n_samples, dtype=bool)
    held_out[rng.choice(free, n_held_out, replace=False)] = True
    return held_out
