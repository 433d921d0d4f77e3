"""How many clusters there are, and where: the recommendation and the δ-Bel graph."""

from typing import Any

import numpy as np

from credalis.app._begin import Ear
from credalis.app._settings import Settings
from credalis.cli._cluster import Beginning
from credalis.cli._main import message_of
from credalis.cli._shared._n_clusters import choose_n_clusters
from credalis.cli._shared._values import AUTO
from credalis.peaks import delta_bel
from credalis.report._content.text import plain

# Objects of the graph; of more, a sample is drawn, as the report does.
MAX_OBJECTS = 5000
# Objects that can be suggested as centres.
_N_RANKED = 200


def peaks(beginning: Beginning, settings: Settings) -> dict[str, Any]:
    """The δ-Bel graph, with objects by how much they look like centres.

    Numbers of objects are those of the graph; ``rows`` are their rows in the table.
    """
    table, metric = beginning.table, _metric(beginning)
    n_rows = len(table.X)
    chosen = np.arange(n_rows)
    if n_rows > MAX_OBJECTS:
        rng = np.random.default_rng(settings.seed)
        chosen = np.sort(rng.choice(n_rows, MAX_OBJECTS, replace=False))
    is_square = isinstance(metric, str) and metric == "precomputed"
    graph = delta_bel(
        table.X[np.ix_(chosen, chosen)] if is_square else table.X[chosen],
        n_neighbors=settings.n_neighbors or "auto",
        quantile=settings.quantile,
        metric=metric,
    )
    places = np.flatnonzero(table.prepared.is_kept)[chosen]
    names = table.key_texts()
    n_distinct = int((graph.delta > 0).sum())
    n_ranked = max(2, min(_N_RANKED, n_distinct))
    ranked = graph.suggest(n_ranked) if n_distinct >= 2 else np.arange(1)
    return {
        "delta": _short(graph.delta),
        "belief": _short(graph.belief),
        "rows": places.tolist(),
        "names": [plain(names[i]) for i in places],
        "has_names": table.id_column is not None,
        "ranked": ranked.tolist(),
        "n_suggested": len(graph.suggest()) if n_distinct >= 2 else 1,
        "n_neighbors": graph.n_neighbors,
        "most_neighbors": max(1, min(300, len(chosen) - 1)),
        "quantile": settings.quantile,
        "n_rows": n_rows,
    }


def recommend(beginning: Beginning, settings: Settings) -> dict[str, Any]:
    """The number of clusters that ``-c auto`` would take, and the reasons."""
    ear = Ear()
    estimator = beginning.estimator
    try:
        selection = choose_n_clusters(
            estimator,
            beginning.table.X,
            AUTO,
            {},
            seed=settings.seed,
            n_jobs=1,
            console=ear,
        )
    except ValueError as error:
        return {"best": None, "reason": message_of(error), "votes": [], "notes": []}
    return {
        "best": int(selection.best),
        "reason": selection.reason,
        "p_value": selection.p_value,
        "numbers": [int(value) for value in selection.values],
        "curves": {
            name: _short(np.asarray(curve)) for name, curve in selection.curves.items()
        },
        "votes": [
            {
                "name": name,
                "value": None if vote.value is None else int(vote.value),
                "reason": vote.reason,
            }
            for name, vote in selection.votes.items()
        ],
        "notes": ear.notes,
    }


def _metric(beginning: Beginning) -> Any:
    """What rows are compared by."""
    if beginning.table.metric is not None:
        return beginning.table.metric
    own = getattr(beginning.estimator, "metric", "euclidean")
    return "precomputed" if own == "precomputed" else "euclidean"


def _short(values: np.ndarray) -> list[float | None]:
    """Numbers for a picture: six digits, None for what is not finite."""
    return [float(f"{v:.6g}") if np.isfinite(v) else None for v in values.tolist()]
