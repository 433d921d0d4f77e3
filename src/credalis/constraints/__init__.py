"""Must-link and cannot-link pairs: checks, closure, random pairs, expansion, advice.

Pairs are integer arrays of shape (n_pairs, 2) that hold row numbers of the data. The
functions that return both kinds return them *in order*: the smaller number of a pair
first, the pairs sorted, none twice.
"""

from credalis.constraints._expansion import expand
from credalis.constraints._labels import spread_labels
from credalis.constraints._pairs import (
    check_constraints,
    check_labels,
    check_pairs,
    closure,
    random_pairs,
    renumber,
)
from credalis.constraints._suggestion import suggest_pairs

__all__ = [
    "check_constraints",
    "check_labels",
    "check_pairs",
    "closure",
    "expand",
    "random_pairs",
    "renumber",
    "spread_labels",
    "suggest_pairs",
]
