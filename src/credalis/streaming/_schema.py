"""What the attributes of a fitted monitor may be."""

from typing import Any

import numpy as np

from credalis._archive import (
    Array,
    Entries,
    Fields,
    Fitted,
    Flag,
    Integer,
    Nothing,
    Number,
    OneOf,
)

_COUNTS = Array("i", ("n_balls",), at_least=0)
_ORDINALS = Array("i", ("n_balls",), at_least=1, is_ascending=True)

# Counts of balls that version 0.1 has not written.
_LATER_COUNTS = ("places", "wide_known_hits", "wide_hits")

_FITTED = Fields(
    {
        "n_features_in_": Integer(at_least=1, size="n_features"),
        "threshold_": Number(),
        "radius_": Number(above=0),
        "reference_points_": Array("f", (None, "n_dimensions")),
        "n_counted_": Integer(at_least=1),
        "replay_": Array("f", ("n_replay", "n_features")),
        "replay_labels_": Array("i", ("n_replay",), at_least=0),
        "balls_": Fields(
            {
                "objects": Array("f", ("n_balls", "n_features")),
                "points": Array("f", ("n_balls", "n_dimensions")),
                "numbers": _ORDINALS,
                "births": _ORDINALS,
                "known_hits": _COUNTS,
                "hits": _COUNTS,
            },
            dict.fromkeys(_LATER_COUNTS, _COUNTS),
        ),
        "n_seen_": Integer(at_least=0),
        "n_rejected_": Integer(at_least=0),
        "log_evidence_": Number(or_infinite=True),
        "p_value_": Number(at_least=0, at_most=1),
        "alarm_": Flag(),
        "alarm_at_": OneOf(Nothing(), Integer(at_least=1)),
    },
    # Version 0.1 has written none of these: its evidence is version 1.
    {
        "evidence_version_": Integer(at_least=1, at_most=2),
        "n_places_": Integer(at_least=0),
    },
)


def _check_monitor(owner: str, parameters: Entries, fitted: Entries) -> None:
    model: Any = parameters.get("model")
    n_features = getattr(model, "n_features_in_", None)
    if n_features != fitted["n_features_in_"]:
        raise ValueError(
            f"{owner}.n_features_in_ must be {n_features}, as in its model, got "
            f"{fitted['n_features_in_']}"
        )
    n_clusters, labels = model.focal_sets_.n_clusters, fitted["replay_labels_"]
    if len(labels) and labels.max() >= n_clusters:
        raise ValueError(
            f"each entry of {owner}.replay_labels_ must be less than n_clusters = "
            f"{n_clusters}, got {labels.max()}"
        )
    balls = fitted["balls_"]
    for name, most in (
        ("numbers", fitted["n_rejected_"]),
        ("births", fitted["n_seen_"]),
    ):
        if len(balls[name]) and balls[name][-1] > most:
            raise ValueError(
                f"each entry of {owner}.balls_.{name} must be at most {most}, got "
                f"{balls[name][-1]}"
            )
    for name in ("known_hits", "wide_known_hits"):
        if name in balls and (balls[name] > fitted["n_counted_"]).any():
            raise ValueError(
                f"each entry of {owner}.balls_.{name} must be at most n_counted_ = "
                f"{fitted['n_counted_']}"
            )
    for name in ("hits", "wide_hits"):
        if name in balls and (balls[name] > fitted["n_seen_"] - balls["births"]).any():
            raise ValueError(
                f"{owner}.balls_.{name} must not exceed the objects seen since births"
            )
    if "evidence_version_" in fitted:
        _check_places(owner, fitted)


def _check_places(owner: str, fitted: Entries) -> None:
    balls = fitted["balls_"]
    missing = [f"balls_.{name}" for name in _LATER_COUNTS if name not in balls]
    if "n_places_" not in fitted:
        missing.append("n_places_")
    if missing:
        raise ValueError(f"{owner}.{missing[0]} is missing")
    if fitted["n_places_"] > fitted["n_rejected_"]:
        raise ValueError(
            f"{owner}.n_places_ must be at most n_rejected_ = "
            f"{fitted['n_rejected_']}, got {fitted['n_places_']}"
        )
    places = balls["places"][balls["places"] > 0]
    if (np.diff(places) <= 0).any() or (places > fitted["n_places_"]).any():
        raise ValueError(
            f"{owner}.balls_.places must be 0 or ascending to at most n_places_ = "
            f"{fitted['n_places_']}"
        )


SCHEMA = Fitted(_FITTED, relations=(_check_monitor,))
