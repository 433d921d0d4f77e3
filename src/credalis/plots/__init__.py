"""Pictures of credal partitions: Displays hold computed arrays and draw on demand.

The class methods ``from_...`` of a Display compute what is to be seen; its method
``plot`` draws it, on a new figure or on given axes, as often as wished. matplotlib is
imported when something is drawn, not before. `cluster_colors` are the colours that all
of them use, for drawings of your own.
"""

from credalis._drawing.palette import cluster_colors
from credalis.plots._consistency import ConsistencyDisplay
from credalis.plots._constraints import ConstraintDisplay
from credalis.plots._contour import ContourDisplay
from credalis.plots._delta_bel import DeltaBelDisplay
from credalis.plots._distances import DistanceMatrixDisplay
from credalis.plots._features import FeatureDisplay
from credalis.plots._history import HistoryDisplay
from credalis.plots._mass import MassDisplay
from credalis.plots._partition import CredalPartitionDisplay
from credalis.plots._selection import SelectionDisplay
from credalis.plots._shepard import ShepardDisplay

__all__ = [
    "ConsistencyDisplay",
    "ConstraintDisplay",
    "ContourDisplay",
    "CredalPartitionDisplay",
    "DeltaBelDisplay",
    "DistanceMatrixDisplay",
    "FeatureDisplay",
    "HistoryDisplay",
    "MassDisplay",
    "SelectionDisplay",
    "ShepardDisplay",
    "cluster_colors",
]
