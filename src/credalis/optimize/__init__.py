"""Solvers that know nothing of clustering."""

from credalis.optimize._gradient import (
    Adam,
    GradientTrace,
    RMSprop,
    cosine_schedule,
    minimize_adaptive,
    minimize_lbfgs,
)
from credalis.optimize._loop import Trace, iterate

__all__ = [
    "Adam",
    "GradientTrace",
    "RMSprop",
    "Trace",
    "cosine_schedule",
    "iterate",
    "minimize_adaptive",
    "minimize_lbfgs",
]
