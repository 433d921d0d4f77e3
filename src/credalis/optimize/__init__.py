"""Solvers that know nothing of clustering."""

from credalis.optimize._gradient import (
    GradientTrace,
    minimize_adaptive,
    minimize_lbfgs,
)
from credalis.optimize._loop import Trace, iterate
from credalis.optimize._simplex_qp import (
    RowQuadratics,
    minimize_on_simplex,
    minimize_quartic,
    simplex_gap,
)
from credalis.optimize._updates import Adam, RMSprop, cosine_schedule

__all__ = [
    "Adam",
    "GradientTrace",
    "RMSprop",
    "RowQuadratics",
    "Trace",
    "cosine_schedule",
    "iterate",
    "minimize_adaptive",
    "minimize_lbfgs",
    "minimize_on_simplex",
    "minimize_quartic",
    "simplex_gap",
]
