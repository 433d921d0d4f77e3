"""The experiments of the NN-EVCLUS paper, with its values beside ours.

Each experiment is a list of cells that are computed one by one and kept when finished,
so that a run that was interrupted goes on where it was. The report is written from all
finished cells of a directory.
"""

from credalis.reproduce._framework._experiment import Experiment
from credalis.reproduce._framework._findings import Finding
from credalis.reproduce._registry import EXPERIMENTS, Reproduction, reproduce

__all__ = ["EXPERIMENTS", "Experiment", "Finding", "Reproduction", "reproduce"]
