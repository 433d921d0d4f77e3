"""Evidential clustering: mass functions over sets of clusters."""

from credalis import belief
from credalis.belief import FocalSets
from credalis.partition import CredalPartition

__all__ = ["CredalPartition", "FocalSets", "belief"]

__version__ = "0.1.0"
