"""Watching a stream for clusters that a model does not know."""

from credalis import _archive
from credalis.streaming._monitor import NewClusterMonitor
from credalis.streaming._proposals import ProposedCluster
from credalis.streaming._state import StreamState

__all__ = ["NewClusterMonitor", "ProposedCluster", "StreamState"]

_archive.register(NewClusterMonitor)
