"""The paper's data sets, and how ours differ from them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.preprocessing import StandardScaler

from credalis.datasets import fetch_benchmark

Array = NDArray[np.float64]

DATA_VARIABLE = "CREDALIS_DATA"


@dataclass(frozen=True)
class DataSet:
    """A set of the paper, and what stands for it here.

    Parameters
    ----------
    title : str
        Its name in the paper.
    name : str or None
        Our name of it; None: there is none that we could confirm.
    n_clusters : int
        Number of clusters.
    deviation : str
        How ours differs from the paper's; empty: it does not.
    is_comparable : bool
        Whether numbers on it can be compared with the paper's.
    """

    title: str
    name: str | None
    n_clusters: int
    deviation: str = ""
    is_comparable: bool = True


_SETS = (
    DataSet("Wine", "wine", 3),
    DataSet("Iris", "iris", 3),
    DataSet("Ecoli", "ecoli", 3),
    DataSet("Heart", "heart", 2),
    DataSet("Seeds", None, 3, "no copy was available", False),
    DataSet(
        "Letters4p1",
        "letters4p1",
        6,
        "the paper does not say which six letters; ours are A, B, C, D, I and N",
        False,
    ),
    DataSet(
        "Glass",
        "glass10",
        6,
        "the paper has ten attributes; ours are the nine measurements and the running "
        "number of the sample, which is sorted by class and tells it: a guess",
        False,
    ),
    DataSet("Segment", None, 7, "no copy was available", False),
    DataSet("S2", "s2", 15),
    DataSet("S4", "s4", 15),
    DataSet("D31", "d31", 31),
    DataSet(
        "Mice",
        "mice",
        3,
        "the rows and classes are the paper's, its choice of 22 proteins is not known",
        False,
    ),
    DataSet(
        "DryBean",
        "drybean",
        7,
        "the same definition, but another random draw of 200 beans of each class",
    ),
    DataSet("Leaves5p1", None, 20, "no copy was available", False),
    DataSet("Protein", "protein", 4),
    DataSet("ChickenPieces", None, 5, "no copy was available", False),
    DataSet(
        "Zongker",
        "digits_idm",
        10,
        "digits_idm, other handwritten digits compared by another deformation, stands "
        "in for it",
        False,
    ),
    DataSet("Gestures", None, 20, "no copy was available", False),
)
SETS = {each.title: each for each in _SETS}


@contextmanager
def data_from(directory: str | None) -> Iterator[None]:
    """Benchmark sets are looked for in this directory, and back to before after."""
    before = os.environ.get(DATA_VARIABLE)
    if directory is not None:
        if not Path(directory).is_dir():
            raise ValueError(f"data must be an existing directory, got {directory!r}")
        os.environ[DATA_VARIABLE] = directory
    try:
        yield
    finally:
        if before is not None:
            os.environ[DATA_VARIABLE] = before
        elif directory is not None:
            del os.environ[DATA_VARIABLE]


def attributes(name: str, *, is_standardized: bool = True) -> tuple[Array, Any]:
    """Attribute vectors and classes of a benchmark set."""
    data = fetch_benchmark(name, download_if_missing=False)
    X = StandardScaler().fit_transform(data.data) if is_standardized else data.data
    return X, data.target


def dissimilarities(name: str) -> tuple[Array, Any]:
    """Symmetric dissimilarities and classes of a benchmark set."""
    data = fetch_benchmark(name, download_if_missing=False)
    return (data.dissimilarities + data.dissimilarities.T) / 2, data.target


def is_available(name: str | None) -> bool:
    """Whether a benchmark set is on this machine."""
    if name is None:
        return False
    try:
        fetch_benchmark(name, download_if_missing=False)
    except FileNotFoundError:
        return False
    return True
