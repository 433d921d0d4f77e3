"""Solvers that know nothing of clustering."""

from credalis.optimize._loop import Trace, iterate

__all__ = ["Trace", "iterate"]
