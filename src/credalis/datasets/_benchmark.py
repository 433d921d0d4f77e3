"""Finding, reading and checking the benchmark sets."""

import csv
import gzip
import os
import zipfile
import zlib
from http.client import HTTPException
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml, get_data_home
from sklearn.utils import Bunch

from credalis._checks import check_choice
from credalis._files import atomic_write
from credalis.datasets._catalogue import CATALOGUE, Benchmark, OpenMLSource

DATA_VARIABLE = "CREDALIS_DATA"

# What reading a damaged file, or a file of another kind, may raise.
BAD_CSV = (EOFError, ValueError, gzip.BadGzipFile, zlib.error, csv.Error)
BAD_NPZ = (EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile, zlib.error)

# Data, target and feature names of a set.
Table = tuple[NDArray[np.float64], NDArray[np.int64], list[str]]


def fetch_benchmark(
    name: str,
    *,
    data_home: str | os.PathLike | None = None,
    download_if_missing: bool = True,
) -> Bunch:
    """A benchmark set of the evidential clustering literature, by name.

    The set is taken from the first place that has it:

    1. the directory named by the environment variable ``CREDALIS_DATA``;
    2. scikit-learn itself (iris, wine);
    3. openml.org (ecoli, glass, heart, letters4p1, mice, mice71). What is
       downloaded is kept under `data_home` and not downloaded again.

    The other sets have no download that we could confirm and need the first way.

    A file of ``CREDALIS_DATA`` is ``<name>.csv.gz``, a gzip CSV with a header row,
    feature columns first and ``label`` (integers from 0) as last column; or, for a
    dissimilarity set, ``<name>.npz`` with the arrays ``D`` and ``y``.

    ==========  =========  ========  =======  ==========================
    name        objects    features  classes  what
    ==========  =========  ========  =======  ==========================
    wine        178        13        3        UCI Wine
    iris        150        4         3        Fisher's iris
    ecoli       307        5         3        UCI Ecoli, part
    heart       270        13        2        UCI Statlog (Heart)
    glass       214        9         6        UCI Glass Identification
    glass10     214        10        6        glass with the leaking Id
    letters4p1  4634       16        6        UCI Letter, six letters
    s2          5000       2         15       SIPU S2
    s4          5000       2         15       SIPU S4
    d31         3100       2         31       SIPU D31
    mice        507        22        3        UCI Mice Protein, part
    mice71      507        71        3        UCI Mice Protein, part
    drybean     1400       16        7        UCI Dry Bean, part
    protein     213        (matrix)  4        globins
    digits_idm  2000       (matrix)  10       handwritten digits
    fourclass   400        2         4        bivariate t clusters
    circles     500        2         2        cluster inside a ring
    ==========  =========  ========  =======  ==========================

    Parameters
    ----------
    name : str
        A name of the table above.
    data_home : str or path, default=None
        Directory for downloaded sets; None stands for scikit-learn's own
        (:func:`sklearn.datasets.get_data_home`).
    download_if_missing : bool, default=True
        If False, a set that is not on this machine is an error.

    Returns
    -------
    Bunch
        With the attributes

        data : ndarray of shape (n_samples, n_features)
            The raw features, not scaled. Absent from a dissimilarity set.
        dissimilarities : ndarray of shape (n_samples, n_samples)
            The dissimilarity matrix, possibly asymmetric. Only in a dissimilarity
            set.
        target : ndarray of shape (n_samples,)
            The ground truth, 0 to n_classes - 1: for evaluation only.
        feature_names : list of str
            The names of the columns of `data`, as the source spells them.
        target_names : list of str
            The names of the classes; numbers where they have no names.
        DESCR : str
            What the set is.
        provenance : str
            Where it came from, its licence, and whether it equals the set of the
            same name in [1]_.

    Raises
    ------
    ValueError
        If the name is unknown, or a file is not what it should be.
    FileNotFoundError
        If the set is in none of the places.

    See Also
    --------
    load_butterfly : The twelve points that need no file.

    References
    ----------
    .. [1] T. Denœux, "NN-EVCLUS: Neural network-based evidential clustering",
       Information Sciences, 572, 297-330, 2021.

    Examples
    --------
    >>> from credalis.datasets import fetch_benchmark
    >>> wine = fetch_benchmark("wine")
    >>> wine.data.shape, wine.target_names
    ((178, 13), ['class_0', 'class_1', 'class_2'])
    """
    benchmark = CATALOGUE[check_choice("name", name, CATALOGUE)]
    file_name = f"{name}.csv.gz" if benchmark.n_features is not None else f"{name}.npz"

    directory = _data_directory()
    if directory is not None and (directory / file_name).exists():
        return _read(directory / file_name, benchmark, f"Read from {file_name}.")
    if benchmark.bundled is not None:
        bunch = benchmark.bundled()
        table = (bunch.data, bunch.target.astype(np.int64), list(bunch.feature_names))
        return _bunch(table, benchmark, "Part of scikit-learn.")
    if benchmark.openml is not None:
        cached = Path(get_data_home(data_home)) / "credalis" / file_name
        if download_if_missing and not cached.exists():
            _write_table(cached, _download(name, benchmark, benchmark.openml))
        if cached.exists():
            origin = f"Derived from OpenML data set {benchmark.openml.data_id}."
            return _read(cached, benchmark, origin)
        other_way = ", or allow the download from openml.org (download_if_missing=True)"
    else:
        other_way = "; this set has no download, so there is no other way"
    raise FileNotFoundError(
        f"the benchmark set {name!r} is not on this machine: set the environment "
        f"variable {DATA_VARIABLE} (now {os.environ.get(DATA_VARIABLE)!r}) to a "
        f"directory that holds {file_name}{other_way}"
    )


def _data_directory() -> Path | None:
    """The user's directory of data files, if there is one."""
    value = os.environ.get(DATA_VARIABLE)
    if not value:
        return None
    if not Path(value).is_dir():
        raise FileNotFoundError(
            f"{DATA_VARIABLE} must name an existing directory, got {value!r}"
        )
    return Path(value)


def _read(path: Path, benchmark: Benchmark, origin: str) -> Bunch:
    if benchmark.n_features is None:
        matrix, target = _read_matrix(path, benchmark)
        return Bunch(dissimilarities=matrix, target=target, **_notes(benchmark, origin))
    return _bunch(_read_table(path, benchmark), benchmark, origin)


def _read_table(path: Path, benchmark: Benchmark) -> Table:
    """Data, target and feature names of a gzip CSV file."""
    expected = (
        f"a gzip CSV of {benchmark.n_samples} rows after a header, "
        f"{benchmark.n_features} feature columns and a last column 'label' of "
        f"integers 0..{benchmark.n_classes - 1}"
    )
    try:
        with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
            header, *rows = [row for row in csv.reader(file) if row] or [[]]
        values = np.array(rows, dtype=np.float64)
    except BAD_CSV as error:
        raise _malformed(path, expected, str(error)) from error

    if header[-1:] != ["label"]:
        raise _malformed(path, expected, f"the header is {','.join(header)!r}")
    shape = (benchmark.n_samples, len(header))
    if values.shape != shape or len(header) - 1 != benchmark.n_features:
        raise _malformed(path, expected, f"the table has shape {values.shape}")
    if not np.isfinite(values).all():
        raise _malformed(path, expected, "some values are not finite")
    target = _check_target(path, expected, values[:, -1], benchmark)
    return np.ascontiguousarray(values[:, :-1]), target, header[:-1]


def _read_matrix(
    path: Path, benchmark: Benchmark
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Dissimilarities and target of an NPZ file."""
    n_samples = benchmark.n_samples
    expected = (
        f"an NPZ with an array D of shape ({n_samples}, {n_samples}), finite, >= 0 "
        f"and with zero diagonal, and an array y of {n_samples} integers "
        f"0..{benchmark.n_classes - 1}"
    )
    try:
        # NumPy would leave a file that it opened itself open if it is not an archive.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            matrix = archive["D"].astype(np.float64)
            labels = archive["y"].astype(np.float64)
    except BAD_NPZ as error:
        raise _malformed(path, expected, str(error)) from error

    if matrix.shape != (n_samples, n_samples) or labels.shape != (n_samples,):
        found = f"D has shape {matrix.shape} and y has shape {labels.shape}"
        raise _malformed(path, expected, found)
    if not np.isfinite(matrix).all() or (matrix < 0).any() or matrix.diagonal().any():
        raise _malformed(path, expected, "D is not a dissimilarity matrix")
    return matrix, _check_target(path, expected, labels, benchmark)


def _check_target(
    path: Path, expected: str, labels: NDArray[np.float64], benchmark: Benchmark
) -> NDArray[np.int64]:
    """Labels as integers, if they are exactly the numbers of the classes."""
    found = np.unique(labels)
    if not np.array_equal(found, np.arange(benchmark.n_classes)):
        listed = np.array2string(found, threshold=10, separator=", ")
        raise _malformed(path, expected, f"the labels are {listed}")
    return labels.astype(np.int64)


def _malformed(path: Path, expected: str, found: str) -> ValueError:
    return ValueError(f"{path} must be {expected}; {found}")


def _download(name: str, benchmark: Benchmark, source: OpenMLSource) -> Table:
    """The set from openml.org, derived and checked."""
    try:
        raw = fetch_openml(
            data_id=source.data_id, as_frame=False, parser="liac-arff", cache=False
        )
    except (OSError, ValueError, HTTPException) as error:
        raise FileNotFoundError(
            f"the benchmark set {name!r} could not be downloaded from openml.org (data "
            f"set {source.data_id}: {error}); try again, or set the environment "
            f"variable {DATA_VARIABLE} to a directory that holds {name}.csv.gz"
        ) from error
    table = _derive(raw, source)
    expected = (benchmark.n_samples, benchmark.n_features)
    if table[0].shape != expected:
        raise ValueError(
            f"OpenML data set {source.data_id} must give a table of shape {expected} "
            f"for {name!r}, got {table[0].shape}: it is not the set that it was"
        )
    return table


def _derive(raw: Bunch, source: OpenMLSource) -> Table:
    """The part of an OpenML set that makes the benchmark set."""
    label_of = {
        original: label
        for label, merged in enumerate(source.classes)
        for original in merged
    }
    values = np.asarray(raw.data, dtype=np.float64)
    labels = np.array([label_of.get(original, -1) for original in raw.target])
    kept = (labels >= 0) & (np.isnan(values).mean(axis=1) <= 0.5)
    values, labels = values[kept], labels[kept]

    names = list(raw.feature_names)
    if source.columns is None:
        columns = np.flatnonzero(~np.isnan(values).any(axis=0))
    else:
        absent = [column for column in source.columns if column not in names]
        if absent:
            raise ValueError(
                f"OpenML data set {source.data_id} must have the columns "
                f"{', '.join(absent)}, got {', '.join(names)}"
            )
        columns = np.array([names.index(column) for column in source.columns])
    chosen = [names[column] for column in columns]
    return values[:, columns], labels.astype(np.int64), chosen


def _write_table(path: Path, table: Table) -> None:
    """Store a table in the format of `_read_table`; all of it or nothing appears."""
    data, target, feature_names = table
    path.parent.mkdir(parents=True, exist_ok=True)
    with (
        atomic_write(path) as stream,
        gzip.open(stream, "wt", encoding="utf-8", newline="") as file,
    ):
        writer = csv.writer(file)
        writer.writerow([*feature_names, "label"])
        rows = zip(data.tolist(), target.tolist(), strict=True)
        writer.writerows([*row, label] for row, label in rows)


def _bunch(table: Table, benchmark: Benchmark, origin: str) -> Bunch:
    data, target, feature_names = table
    return Bunch(
        data=data,
        target=target,
        feature_names=feature_names,
        **_notes(benchmark, origin),
    )


def _notes(benchmark: Benchmark, origin: str) -> dict[str, object]:
    """What every set says about itself."""
    return {
        "target_names": list(benchmark.target_names),
        "DESCR": benchmark.description,
        "provenance": (
            f"{origin}\nLicence: {benchmark.licence}\n"
            f"Compared with the NN-EVCLUS paper: {benchmark.agreement}."
        ),
    }
