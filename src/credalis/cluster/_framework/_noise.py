"""What methods with a distance to noise share: what it and the exponent mean."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

from credalis._checks import check_choice, check_number, check_squarable
from credalis.cluster._framework._estimator import BaseCredalClusterer

# The exponent of a method that has no parameter for it.
_PUBLISHED_BETA = 2.0

# Distance to noise in units of the ordinary one, where ∅ is told as novelty.
_NOVELTY_FACTOR = 2.0


class NoiseClusterer(BaseCredalClusterer):
    """Base of the methods in which a unit of mass on ∅ costs δ².

    δ keeps its part in the fit whatever ∅ stands for: objects farther than δ from all
    prototypes hardly move them. Given the prototypes, the masses on the other sets are
    in proportions that do not depend on δ, so that for novelty only these are told.
    Then δ need not flag anything, and an automatic one is twice as large: no small
    cluster and no edge of a large one is taken for noise.
    """

    _empty_sets = ("auto", "noise", "novelty")
    _outlier_advice = "increase delta"

    beta: float | str = _PUBLISHED_BETA
    delta: float | str
    empty_set: str
    outlier_rate: float

    beta_: float
    delta_: float

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """Inverse of `to_state`."""
        fitted = state["fitted"]
        if "focal_sets_" in fitted and "beta_" not in fitted:
            # Earlier versions had no other exponent than the parameter.
            beta = state["parameters"].get("beta", cls.beta)
            state = {**state, "fitted": {**fitted, "beta_": float(beta)}}
        return super().from_state(state)

    @classmethod
    def _brought_up(
        cls, parameters: Mapping[str, Any], form: Callable[[Any], Any]
    ) -> Mapping[str, Any]:
        if "empty_set" in parameters:
            return parameters
        return {**parameters, "empty_set": form("noise")}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._has_automatic_beta:
            check_choice("beta", self.beta, ("auto",))
        else:
            check_number("beta", self.beta, above=1)
        if isinstance(self.delta, str):
            check_choice("delta", self.delta, ("auto",))
        else:
            check_squarable("delta", self.delta)

    @property
    def _has_automatic_beta(self) -> bool:
        return isinstance(self.beta, str)

    @property
    def _is_about_novelty(self) -> bool:
        # Who says what is far away means this by an outlier.
        is_automatic = self.empty_set == "auto" and isinstance(self.delta, str)
        return is_automatic or self.empty_set == "novelty"

    @property
    def _reports_novelty(self) -> bool:
        return self._is_about_novelty and self.focal_sets_.empty_index is not None

    @property
    def _delta_factor(self) -> float:
        """An automatic δ in units of the distance that is ordinary."""
        return _NOVELTY_FACTOR if self._is_about_novelty else 1.0

    @property
    def _collapse_advice(self) -> str:
        """What to do about prototypes that coincide."""
        if "beta" not in self.get_params(deep=False):
            return (
                "Measure distances in few dimensions, for example with "
                "metric=sklearn.decomposition.PCA(3)"
            )
        if isinstance(self.beta, str):
            lower = 1 + (self.beta_ - 1) / 2
            return f"Set beta={lower:.4g}, 'auto' has taken {self.beta_:.4g}"
        return f"Lower beta, it is {self.beta:g}, or let beta='auto' choose it"
