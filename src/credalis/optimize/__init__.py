"""Solvers that know nothing of clustering."""

from credalis.optimize._lbfgs import minimize_together
from credalis.optimize._loop import (
    GradientTrace,
    Trace,
    iterate,
    iterate_to_best,
    iterate_together,
    minimize_adaptive,
    minimize_lbfgs,
)
from credalis.optimize._simplex_qp import (
    FactoredQuadratics,
    Quadratics,
    RowQuadratics,
    TurnedProducts,
    minimize_on_simplex,
    minimize_quartic,
    quadratics,
    simplex_gap,
)
from credalis.optimize._spectraplex import (
    SpectraplexSolution,
    maximize_on_spectraplex,
)
from credalis.optimize._updates import Adam, RMSprop, cosine_schedule

__all__ = [
    "Adam",
    "FactoredQuadratics",
    "GradientTrace",
    "Quadratics",
    "RMSprop",
    "RowQuadratics",
    "SpectraplexSolution",
    "Trace",
    "TurnedProducts",
    "cosine_schedule",
    "iterate",
    "iterate_to_best",
    "iterate_together",
    "maximize_on_spectraplex",
    "minimize_adaptive",
    "minimize_lbfgs",
    "minimize_on_simplex",
    "minimize_quartic",
    "minimize_together",
    "quadratics",
    "simplex_gap",
]
