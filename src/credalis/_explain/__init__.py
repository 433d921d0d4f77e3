"""Why objects are where they are, and a small tree of a whole partition."""

from credalis._explain._explain import explain
from credalis._explain._explanation import Explanation, Explanations, Reason
from credalis._explain._tree import PartitionTree

__all__ = ["Explanation", "Explanations", "PartitionTree", "Reason", "explain"]
