"""Partitions to draw, a stand-in that predicts, and figures that do not pile up."""

import sys

import numpy as np
import pytest

from credalis import CredalPartition, FocalSets
from credalis.datasets import make_four_class


class NearestPrototypes:
    """Masses by distance to fixed prototypes, as a fitted clusterer gives them."""

    def __init__(self, centers, focal_sets, delta=3.2):
        self.centers_ = np.asarray(centers, dtype=float)
        self.focal_sets = focal_sets
        self.delta = delta

    def fit(self, X):
        self.partition_ = self.predict_partition(X)
        self.history_ = [3.0, 2.0, 1.5, 1.4]
        return self

    def predict_partition(self, X):
        size = np.maximum(self.focal_sets.cardinality, 1)
        barycenters = self.focal_sets.membership @ self.centers_ / size[:, None]
        apart = np.asarray(X)[:, None, :] - barycenters
        costs = size**0.6 * (apart**2).sum(axis=2) + 1e-9
        costs[:, self.focal_sets.cardinality == 0] = self.delta**2
        weights = 1 / costs
        masses = weights / weights.sum(axis=1, keepdims=True)
        return CredalPartition(masses, self.focal_sets)


@pytest.fixture(scope="session")
def four_classes():
    """400 objects around four prototypes: certain, ambiguous and outlying ones."""
    X, _ = make_four_class(400, df=3, random_state=0)
    centers = [[0, 0], [0, 4], [4, 0], [4, 4]]
    return NearestPrototypes(centers, FocalSets.pairs(4)).fit(X), X


@pytest.fixture(scope="session")
def prototypes():
    return NearestPrototypes


@pytest.fixture
def plt():
    """pyplot that draws into memory."""
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


@pytest.fixture(autouse=True)
def _no_figure_stays_open():
    yield
    if "matplotlib.pyplot" in sys.modules:
        pyplot = sys.modules["matplotlib.pyplot"]
        pyplot.close("all")


def _legend_texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.fixture
def legend_texts():
    return _legend_texts
