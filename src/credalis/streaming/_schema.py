"""What the attributes of a fitted monitor may be."""

from typing import Any

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
            }
        ),
        "n_seen_": Integer(at_least=0),
        "n_rejected_": Integer(at_least=0),
        "log_evidence_": Number(or_infinite=True),
        "p_value_": Number(at_least=0, at_most=1),
        "alarm_": Flag(),
        "alarm_at_": OneOf(Nothing(), Integer(at_least=1)),
    }
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
    if (balls["known_hits"] > fitted["n_counted_"]).any():
        raise ValueError(
            f"each entry of {owner}.balls_.known_hits must be at most n_counted_ = "
            f"{fitted['n_counted_']}"
        )
    if (balls["hits"] > fitted["n_seen_"] - balls["births"]).any():
        raise ValueError(
            f"{owner}.balls_.hits must not exceed the objects seen since births"
        )


SCHEMA = Fitted(_FITTED, relations=(_check_monitor,))
