"""One self-contained HTML page about a result."""

from html import escape
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import squareform
from sklearn.metrics.pairwise import PAIRWISE_DISTANCE_FUNCTIONS

from credalis._files import atomic_write
from credalis.partition import CredalPartition
from credalis.peaks import delta_bel
from credalis.plots import (
    CredalPartitionDisplay,
    DeltaBelDisplay,
    HistoryDisplay,
    ShepardDisplay,
)
from credalis.plots._pairs import dissimilarity_space
from credalis.plots._palette import cluster_colors
from credalis.plots._projection import check_features
from credalis.report._page import figure, number, page, section, table

# Objects listed in the table of doubtful ones, and the doubt that puts them there.
_N_DOUBTFUL = 12
_MIN_DOUBT = 0.01
# Centres listed in a caption.
_N_CENTERS = 8
# So many clusters are listed beside a diagram, and so many in one column.
_MAX_CLUSTERS_IN_COLUMN = 7
_MAX_CLUSTER_ROWS = 12
# The δ-Bel graph of fewer objects says nothing, and that of more takes long, above all
# with a metric written in Python.
_MIN_PEAK_OBJECTS = 10
_MAX_PEAK_OBJECTS = 20_000
_MAX_PEAK_OBJECTS_CALLABLE = 500
# Longer values of parameters are cut.
_MAX_VALUE_LENGTH = 200

# Sizes of figures in inches: over the whole page, over a column, on a phone.
_FULL, _HALF, _NARROW = (8.6, 4.9), (4.8, 3.8), (4.6, 5.4)


def report(
    result: Any,
    X: ArrayLike,
    path: str | PathLike[str],
    *,
    dissimilarities: ArrayLike | None = None,
) -> None:
    """Write one HTML page about a clustering; it opens offline.

    The page shows the partition, the δ-Bel graph of the data (up to 20 000 objects),
    the Shepard diagram of a method that matches conflicts with dissimilarities, the
    learning curve, the clusters, the most doubtful objects and the settings.

    Parameters
    ----------
    result : fitted estimator or CredalPartition
        What to report on.
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        The objects the result is about, or the dissimilarities that an estimator with
        ``metric="precomputed"`` was fitted to.
    path : str or path-like
        File to write. It appears whole or not at all.
    dissimilarities : array-like, default=None
        What ``fit`` was given as ``dissimilarities``, if it was.

    Examples
    --------
    >>> from credalis import NNEVCLUS, report
    >>> from credalis.datasets import make_four_class
    >>> X, _ = make_four_class(random_state=0)
    >>> model = NNEVCLUS(4, random_state=0).fit(X)  # doctest: +SKIP
    >>> report(model, X, "report.html")  # doctest: +SKIP
    """
    partition = _partition_of(result)
    estimator = None if result is partition else result
    name = "Credal partition" if estimator is None else type(estimator).__name__
    title = f"{escape(name)} report"
    sections = [
        _headline(title, partition),
        _partition_picture(partition, estimator, X),
        _diagrams_and_clusters(partition, estimator, X, dissimilarities),
        _doubtful(partition),
        "" if estimator is None else _settings(estimator),
        _footer(),
    ]
    with atomic_write(path) as stream:
        stream.write(page(title, sections).encode())


def _partition_of(result: Any) -> CredalPartition:
    partition = getattr(result, "partition_", result)
    if not isinstance(partition, CredalPartition):
        raise ValueError(
            "result must be a CredalPartition or a fitted estimator with partition_, "
            f"got {type(result).__name__}"
        )
    return partition


def _headline(title: str, partition: CredalPartition) -> str:
    """The answer in a sentence, and the four numbers behind it."""
    counts = {
        "clear": int(partition.lower.sum()),
        "ambiguous": int(partition.is_ambiguous.sum()),
        "outliers": int(partition.is_outlier.sum()),
    }
    clear, ambiguous, outliers = map(number, counts.values())
    sentence = (
        f"{number(partition.n_samples)} objects in {partition.n_clusters} clusters: "
        f"{clear} clearly in one, {ambiguous} between several, {outliers} in none."
    )
    facts = {
        name: f"{number(count)} <small>{count / max(1, len(partition)):.1%}</small>"
        for name, count in counts.items()
    }
    precision = partition.average_nonspecificity
    facts["nonspecificity"] = f"{precision:.2f} <small>0 is precise</small>"
    cells = "".join(
        f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts.items()
    )
    return (
        f"<header><h1>{title}</h1>\n<p class='lead'>{sentence}</p>\n"
        f"<dl class='facts'>{cells}</dl></header>"
    )


def _partition_picture(partition: CredalPartition, estimator: Any, X: Any) -> str:
    space = ""
    if getattr(estimator, "embedding_", None) is not None:
        # Scores have unit variance: the first two are the principal plane.
        scores = estimator.embedding_.transform(X)[:, :2]
        names = [f"component {j + 1} of the dissimilarities" for j in range(2)]
        display = CredalPartitionDisplay.from_partition(
            partition, scores, feature_names=names[: scores.shape[1]]
        )
        space = " The axes are principal components of the dissimilarities."
    elif estimator is not None:
        display = CredalPartitionDisplay.from_estimator(estimator, X)
    else:
        display = CredalPartitionDisplay.from_partition(partition, X)
    return section(
        "Partition",
        figure(
            display,
            _FULL,
            alt="The objects in the plane, with the clusters they belong to",
            caption="Solid outlines hold the objects certainly in a cluster, dashed "
            f"ones those possibly in it; rings mark outliers.{space}",
            narrow=_NARROW,
        ),
    )


def _diagrams_and_clusters(
    partition: CredalPartition, estimator: Any, X: Any, dissimilarities: Any
) -> str:
    """Two columns of what can be drawn for this result, and the table of clusters."""
    diagrams = {
        "δ–Bel graph": _peaks(partition, estimator, X, dissimilarities),
        "Shepard diagram": _shepard(estimator, X, dissimilarities),
        "Learning curve": _learning_curve(estimator),
    }
    cells = [section(name, drawn) for name, drawn in diagrams.items() if drawn]
    clusters = _clusters(partition)
    is_odd = len(cells) % 2 == 1
    if is_odd and partition.n_clusters <= _MAX_CLUSTERS_IN_COLUMN:
        cells.append(clusters)
        clusters = ""
    return f"<div class='grid'>{''.join(cells)}</div>\n{clusters}"


def _peaks(
    partition: CredalPartition, estimator: Any, X: Any, dissimilarities: Any
) -> str:
    """The δ-Bel graph where it is not too slow and can suggest something."""
    if estimator is None:
        space, metric = check_features(X, partition.n_samples), "euclidean"
    else:
        space, metric = dissimilarity_space(estimator, X, dissimilarities)
        space = squareform(space) if space.ndim == 1 else space
    if not callable(metric) and metric not in PAIRWISE_DISTANCE_FUNCTIONS:
        metric = "euclidean"
    limit = _MAX_PEAK_OBJECTS_CALLABLE if callable(metric) else _MAX_PEAK_OBJECTS
    if not _MIN_PEAK_OBJECTS <= partition.n_samples <= limit:
        return ""
    graph = delta_bel(space, metric=metric)
    if np.count_nonzero(graph.delta) < 2:
        return ""
    centers, note = _matched(graph.suggest(), partition)
    return figure(
        DeltaBelDisplay.from_delta_bel(graph, centers=centers),
        _HALF,
        alt="Belief that an object is a cluster centre, against its distance δ to "
        "better candidates",
        caption="Likely centres stand apart in the upper right, beyond the dashed "
        "lines: many objects are near them (Bel), and no better candidate is (δ). The "
        f"graph suggests {len(centers)} centres, {_listed(centers)}; {note}",
        legend=False,
    )


def _listed(objects: NDArray[np.intp]) -> str:
    """Numbers of objects in words, the first few if they are many."""
    *first, last = map(str, objects)
    if len(objects) > _N_CENTERS:
        return f"among them objects {', '.join(first[:_N_CENTERS])}"
    return f"objects {', '.join(first)} and {last}"


def _matched(
    centers: NDArray[np.intp], partition: CredalPartition
) -> tuple[NDArray[np.intp], str]:
    """Centres in the order of the clusters they are in, if each has one."""
    labels = partition.labels[centers]
    if np.array_equal(np.sort(labels), np.arange(partition.n_clusters)):
        return centers[np.argsort(labels)], "one in each cluster of this result."
    return centers, (
        f"this result has {partition.n_clusters} clusters. Numbers and colours in the "
        "graph are its own."
    )


def _shepard(estimator: Any, X: Any, dissimilarities: Any) -> str:
    if getattr(estimator, "scale_", None) is None:
        return ""
    display = ShepardDisplay.from_estimator(
        estimator, X, dissimilarities=dissimilarities
    )
    is_sample = len(display.pairs) < display.n_all_pairs
    return figure(
        display,
        _HALF,
        alt="Degrees of conflict of pairs of objects, against their dissimilarities",
        caption="How much the masses of two objects contradict each other, against how "
        "unlike the objects are: the closer to the line, the better. "
        f"{'A random sample of ' if is_sample else 'All '}{display.shown}; a "
        f"dissimilarity of δ₀ = {display.scale:.4g} becomes δ* = 0.95.",
    )


def _learning_curve(estimator: Any) -> str:
    if getattr(estimator, "history_", None) is None:
        return ""
    return figure(
        HistoryDisplay.from_estimator(estimator),
        _HALF,
        alt="The loss after each iteration of the best start",
        caption=f"Loss {estimator.loss_:.4g} after {number(estimator.n_iter_)} "
        "iterations of the best start. A curve that still falls at its end asks for "
        "more iterations (max_iter).",
    )


def _clusters(partition: CredalPartition) -> str:
    """How many objects are in each cluster that has any."""
    counts = np.stack(
        [
            partition.lower.sum(axis=0),
            partition.upper.sum(axis=0),
            np.bincount(partition.labels, minlength=partition.n_clusters),
        ]
    )
    used = np.flatnonzero(counts.any(axis=0))
    colors = (255 * cluster_colors(partition.n_clusters)).round().astype(int)
    rows = [
        (
            "<span class='swatch' style='background: "
            f"rgb({', '.join(map(str, colors[k]))})'></span>{k}",
            *map(number, counts[:, k]),
        )
        for k in used
    ]
    header = ("cluster", "certainly in", "possibly in", "most plausible")
    n_empty = partition.n_clusters - len(used)
    note = f"<p class='note'>{n_empty} without objects.</p>" if n_empty else ""
    if len(rows) <= _MAX_CLUSTER_ROWS:
        return section("Clusters", table(header, rows) + note)
    half = -(-len(rows) // 2)
    tables = table(header, rows[:half]) + table(header, rows[half:])
    return section("Clusters", f"<div class='grid'>{tables}</div>{note}", "long")


def _doubtful(partition: CredalPartition) -> str:
    """The objects of highest doubt, outliers last since they have a reason."""
    order = np.lexsort([-partition.doubt, partition.is_outlier])
    order = order[partition.doubt[order] >= _MIN_DOUBT][:_N_DOUBTFUL]
    names = partition[order].set_names()
    rows = [
        (
            str(i),
            escape(_reason(name)),
            f"{partition.doubt[i]:.2f}",
            f"{partition.outlier_mass[i]:.2f}",
        )
        for i, name in zip(order, names, strict=True)
    ]
    header = ("object", "what the masses say", "doubt", "mass on ∅")
    return section(
        "Most doubtful objects",
        table(header, rows, text_columns={1})
        if rows
        else "<p class='note'>No object is in doubt.</p>",
    )


def _reason(set_name: str) -> str:
    if set_name == "∅":
        return "in no cluster"
    if set_name == "Ω":
        return "in any cluster"
    clusters = set_name.strip("{}").split(",")
    if len(clusters) == 1:
        return f"rather in cluster {clusters[0]}"
    return f"between clusters {', '.join(clusters[:-1])} and {clusters[-1]}"


def _settings(estimator: Any) -> str:
    """What was asked for, and on request all parameters."""
    rows = []
    for name, value in estimator.get_params(deep=False).items():
        text = repr(value)
        if len(text) > _MAX_VALUE_LENGTH:
            text = f"{text[:_MAX_VALUE_LENGTH]} …"
        rows.append((escape(name), escape(text)))
    return section(
        "Settings",
        f"<code class='model'>{escape(repr(estimator))}</code>"
        "<details><summary>All parameters</summary>"
        f"{table(('parameter', 'value'), rows, text_columns={1})}</details>",
    )


def _footer() -> str:
    from credalis import __version__

    return f"<footer>credalis {escape(__version__)}</footer>"
