"""Choosing the number of clusters, δ0, and the parameters of the network.

`suggest_n_clusters` says whether there are clusters, and how many, before any method is
fitted. `select_n_clusters` and `select_dissimilarity_quantile` try a range of values
and suggest one with the reason; `search` is a cross-validated grid search that
restricts side information to each fold.
"""

from credalis.model_selection._n_clusters import select_n_clusters
from credalis.model_selection._quantile import select_dissimilarity_quantile
from credalis.model_selection._search import CredalSearchCV, search
from credalis.model_selection._selection import Selection
from credalis.model_selection._suggestion import suggest_n_clusters

__all__ = [
    "CredalSearchCV",
    "Selection",
    "search",
    "select_dissimilarity_quantile",
    "select_n_clusters",
    "suggest_n_clusters",
]
