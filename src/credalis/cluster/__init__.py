"""The estimators."""

from credalis import _archive
from credalis.cluster._base import BaseCredalClusterer
from credalis.cluster._ecm import ECM

__all__ = ["ECM", "BaseCredalClusterer"]

_archive.register(ECM)
