"""What ECMdd and MECM share: masses and medoids in turn, the best kept."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from credalis._warnings import warn_experimental
from credalis.belief import FocalSets
from credalis.cluster._framework._solution import Solution
from credalis.cluster._framework._warnings import warn_of_collapse
from credalis.cluster._inputs._medoids import Core, ordinary_value
from credalis.cluster.relational._clusterer import BaseRelationalClusterer
from credalis.objectives._mass_costs import mass_weights, masses_from_costs, set_costs
from credalis.optimize import iterate_to_best

# Iterations without a lower J after which a start ends.
_PATIENCE = 10


class Prototypes(Protocol):
    """What stands for the clusters, and how it moves; see `SingleMedoids`."""

    def start(self, matrix: NDArray[np.float64], seeds: NDArray[np.intp]) -> Any: ...

    def nearest(
        self, matrix: NDArray[np.float64], core: Core, beta: float
    ) -> NDArray[np.float64]: ...

    def distances(
        self, matrix: NDArray[np.float64], prototypes: Any, focal_sets: FocalSets
    ) -> NDArray[np.float64]: ...

    def updated(
        self,
        matrix: NDArray[np.float64],
        prototypes: Any,
        weights: NDArray[np.float64],
        focal_sets: FocalSets,
        alpha: float,
    ) -> Any: ...

    def separation(
        self, matrix: NDArray[np.float64], prototypes: Any
    ) -> tuple[float, float]: ...

    def fitted(
        self, matrix: NDArray[np.float64], prototypes: Any, focal_sets: FocalSets
    ) -> tuple[dict[str, Any], dict[str, Any], NDArray[np.intp]]: ...

    def new_distances(
        self, estimator: Any, values: NDArray[np.float64]
    ) -> NDArray[np.float64]: ...


class BaseMedoidClusterer(BaseRelationalClusterer):
    """Base of the methods whose prototypes are objects."""

    _inits = ("k-medoids", "k-means++", "random")

    @property
    def _delta_exponent(self) -> float:
        """δ to this power is what a unit of mass on ∅ costs."""
        return 2.0

    @abstractmethod
    def _model(self) -> Prototypes:
        """What the parameters say about prototypes."""

    @abstractmethod
    def _fitted_prototypes(self, solution: Solution) -> Any:
        """The prototypes of a solution."""

    def _open_point(self) -> tuple[str, str] | None:
        """Name of the method and what could not be confirmed about it, if anything."""
        return None

    def _automatic_delta(self, matrix, core):
        nearest = self._model().nearest(matrix, core, self.beta)
        return ordinary_value(nearest, matrix.mean()) ** (1 / self._delta_exponent)

    def _noise_distance(self, delta):
        """What `set_costs` squares to get the cost of ∅."""
        return delta ** (self._delta_exponent / 2)

    def _solve(self, problem, focal_sets, rng, *, previous, report):
        matrix, model = problem.matrix, self._model()
        settings = (focal_sets, self.alpha, self._noise_distance(problem.delta))

        def step(state):
            prototypes = state.next_prototypes
            distances = model.distances(matrix, prototypes, focal_sets)
            costs = set_costs(distances, *settings)
            masses = masses_from_costs(costs, self.beta)
            weights = mass_weights(masses, self.beta)
            moved = model.updated(matrix, prototypes, weights, focal_sets, self.alpha)
            return _State(prototypes, masses, moved), float(np.vdot(weights, costs))

        if previous is not None:
            start = self._fitted_prototypes(previous)
        else:
            start = model.start(matrix, self._seeds(problem, rng))
        trace = iterate_to_best(
            step,
            _State(start, None, start),
            tol=self.tol,
            max_iter=self.max_iter,
            patience=_PATIENCE,
            report=report,
        )
        per_cluster, per_set, references = model.fitted(
            matrix, trace.state.prototypes, focal_sets
        )
        return Solution(
            masses=trace.state.masses.T,
            trace=trace,
            per_cluster=per_cluster,
            per_set=per_set,
            other=problem.fitted(references),
            is_interrupted=trace.interrupted,
        )

    def _check_solution(self, problem, solution):
        prototypes = self._fitted_prototypes(solution)
        separation, spread = self._model().separation(problem.matrix, prototypes)
        warn_of_collapse(self, separation, spread)
        open_point = self._open_point()
        if open_point is not None:
            warn_experimental(*open_point)

    def _costs(self, values):
        distances = self._model().new_distances(self, values)
        delta = self._noise_distance(self.delta_)
        return set_costs(distances, self.focal_sets_, self.alpha, delta)


@dataclass(frozen=True, eq=False)
class _State:
    """The prototypes at which the loss is known, and those of the next step."""

    prototypes: Any
    masses: Any
    next_prototypes: Any
