"""Which panels a ContourDisplay has: clusters, focal sets, or a single number."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any

from credalis._checks import check_choice, check_integer
from credalis.belief import FocalSets

CLUSTER_RESPONSES = ("plausibility", "belief", "pignistic")
RESPONSES = (*CLUSTER_RESPONSES, "mass", "doubt", "nonspecificity")
# More panels than this are too small to be read.
MAX_PANELS = 24


def check_selection(response: str, cluster: Any, focal_set: Any) -> None:
    """An unknown response, or a selection that it does not use, is a ValueError."""
    check_choice("response", response, RESPONSES)
    if cluster is not None and response not in CLUSTER_RESPONSES:
        raise ValueError(
            f"cluster must be None for response={response!r}, got {cluster!r}"
        )
    if focal_set is not None and response != "mass":
        raise ValueError(
            f"focal_set must be None unless response='mass', got {focal_set!r} for "
            f"response={response!r}"
        )


def choose_panels(
    focal_sets: FocalSets, response: str, cluster: Any, focal_set: Any
) -> dict[int, str]:
    """Columns of the responses to show, with their names."""
    if response == "mass":
        columns = _chosen_sets(focal_sets, focal_set)
        panels = {j: f"m({focal_sets.names[j]})" for j in columns}
    elif response in CLUSTER_RESPONSES:
        columns = _chosen_clusters(focal_sets.n_clusters, cluster)
        panels = {k: f"cluster {k}" for k in columns}
    else:
        panels = {0: response}
    if len(panels) > MAX_PANELS:
        choice = "focal_set" if response == "mass" else "cluster"
        raise ValueError(
            f"{choice} must choose at most {MAX_PANELS} panels, got {len(panels)}"
        )
    return panels


def _chosen_clusters(n_clusters: int, cluster: Any) -> list[int]:
    if cluster is None:
        return list(range(n_clusters))
    chosen = list(cluster) if isinstance(cluster, Iterable) else [cluster]
    if not chosen:
        raise ValueError("cluster must name at least one cluster, got none")
    return [
        check_integer("cluster", k, at_least=0, at_most=n_clusters - 1) for k in chosen
    ]


def _chosen_sets(focal_sets: FocalSets, focal_set: Any) -> list[int]:
    """Columns of one or several focal sets, given by clusters or by name."""
    if focal_set is None:
        return list(range(len(focal_sets)))
    single = isinstance(focal_set, str) or not isinstance(focal_set, Iterable)
    wanted = [focal_set] if single else list(focal_set)
    if not single and all(isinstance(item, Integral) for item in wanted):
        wanted = [tuple(wanted)]
    columns = []
    key: Any
    for item in wanted:
        known: Any = focal_sets.subsets
        key = tuple(sorted(item)) if isinstance(item, Iterable) else None
        if isinstance(item, str):
            known, key = focal_sets.names, item.replace(" ", "")
        if key not in known:
            raise ValueError(
                f"focal_set must be among {', '.join(focal_sets.names)}, got {item!r}"
            )
        columns.append(known.index(key))
    return columns
