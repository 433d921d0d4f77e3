"""Data sets for evidential clustering: generators, a toy set and benchmark sets.

``make_*`` draw a new set and return ``(X, y)``; ``load_*`` and ``fetch_*`` return
a :class:`sklearn.utils.Bunch` that says where its numbers come from.
"""

from credalis.datasets._benchmark import fetch_benchmark
from credalis.datasets._butterfly import load_butterfly
from credalis.datasets._generators import (
    make_bananas,
    make_circles_in_ring,
    make_four_class,
)

__all__ = [
    "fetch_benchmark",
    "load_butterfly",
    "make_bananas",
    "make_circles_in_ring",
    "make_four_class",
]
