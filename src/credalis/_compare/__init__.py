"""Several estimators side by side, and which of them to take."""

from credalis._compare._comparison import Comparison, Scores, compare

__all__ = ["Comparison", "Scores", "compare"]
