"""The reported mass on ∅ in an ONNX graph: what `credalis._novelty` computes."""

import numpy as np
from numpy.typing import NDArray

from credalis._checks import shown
from credalis._neighbors import EUCLIDEAN
from credalis._novelty import LEAST_REST, SAME, Calibration, NeighborNovelty
from credalis.belief import FocalSets
from credalis.network._onnx_graph import OnnxGraph

Array = NDArray[np.float64]

# Candidates beyond the neighbours that are asked for: squared distances by products
# lose digits, and only the lengths of the candidates are computed again.
_MORE_CANDIDATES = 8

# Units in the last place, of the usual distance, by which a sum of many numbers may
# depend on who adds them.
_SAME_UNITS = 1e3


def softplus(graph: OnnxGraph, values: str) -> str:
    """log(1 + exp(s)) as max(s, 0) + log(1 + exp(-|s|)): no overflow on either side."""
    tail = graph.add("Exp", graph.add("Neg", graph.add("Abs", values)))
    return graph.add("Add", graph.add("Relu", values), _log1p(graph, tail))


def _log1p(graph: OnnxGraph, values: str) -> str:
    """log(1 + t) for t in [0, 1], precise for small t, where 1 + t has lost it."""
    one = graph.constant(1.0)
    above = graph.add("Add", values, one)
    lost = graph.add("Sub", above, one)
    # The logarithm is that of 1 + r with r the part of t that is left.
    ratio = graph.add("Div", graph.add("Log", above), _not_zero(graph, lost))
    is_small = graph.add("LessOrEqual", lost, graph.constant(0.0))
    return graph.add("Where", is_small, values, graph.add("Mul", values, ratio))


def _not_zero(graph: OnnxGraph, values: str) -> str:
    return graph.add("Max", values, graph.constant(np.finfo(graph.dtype).tiny))


def neighbor_scores(
    graph: OnnxGraph, reference: NeighborNovelty, rows: str, *, is_computed: bool
) -> str:
    """Log of the mean distance to the nearest reference objects, (n, 1).

    Parameters
    ----------
    graph : OnnxGraph
        Gets the nodes, and the reference objects as a constant.
    reference : NeighborNovelty
        Reference objects and their calibration.
    rows : str
        Where the objects are: attributes, inputs, or dissimilarities.
    is_computed : bool
        Whether that is up to rounding, so that a copy of a reference object is near it
        but not in the same place.
    """
    metric = reference.metric
    if reference.columns is not None:
        columns = graph.constant(reference.columns.astype(np.int64))
        lengths = graph.add("Gather", rows, columns, axis=1)
    elif isinstance(metric, str) and metric in EUCLIDEAN:
        lengths = _candidate_lengths(graph, reference, rows)
    else:
        raise ValueError(
            "metric must be 'euclidean' or 'cosine' or 'precomputed' for ∅ as novelty "
            f"to be written as ONNX, got {shown(metric)}: fit with empty_set='stress', "
            "or with novelty_detector='ocsvm', whose scores need no distances"
        )
    n_asked = reference.n_neighbors + 1
    lengths = _smallest(graph, lengths, n_asked)[0]
    # Coordinates that are sums have a few units of rounding.
    same = max(SAME, _SAME_UNITS * float(np.finfo(graph.dtype).eps)) * reference.floor
    others = _without_copy(graph, lengths, n_asked, same if is_computed else 0.0)
    return _log_mean(graph, others, reference.floor)


def with_novelty(
    graph: OnnxGraph,
    masses: str,
    scores: str,
    calibration: Calibration,
    outlier_rate: float,
    focal_sets: FocalSets,
) -> str:
    """Masses with the mass on ∅ that the scores say, (n, n_focal_sets)."""
    p_values = _p_values(graph, calibration, scores)
    empty = _empty_masses(graph, p_values, outlier_rate)
    return _reported(graph, masses, focal_sets, empty)


def _candidate_lengths(graph: OnnxGraph, reference: NeighborNovelty, rows: str) -> str:
    """Distances to somewhat more reference objects than are asked for, (n, q)."""
    assert reference.points is not None
    points = reference.points.astype(graph.dtype)
    n_points, n_features = points.shape
    n_candidates = min(n_points, reference.n_neighbors + 1 + _MORE_CANDIDATES)
    known = graph.constant(points)
    numbers = _nearest(graph, points, known, rows, n_candidates)
    found = graph.add("Gather", known, numbers, axis=0)
    one = graph.constant(np.array([1], dtype=np.int64))
    differences = graph.add("Sub", graph.add("Unsqueeze", rows, one), found)
    # In units of the largest difference, so that no square overflows.
    sizes = graph.add("Abs", differences)
    unit = graph.add("ReduceMax", sizes, axes=[2], keepdims=1)
    unit = graph.add("Max", unit, graph.constant(np.finfo(graph.dtype).tiny))
    shares = graph.add("Div", differences, unit)
    ones = graph.constant(np.ones((n_features, 1)))
    squares = graph.add("MatMul", graph.add("Mul", shares, shares), ones)
    lengths = graph.add("Mul", graph.add("Sqrt", squares), unit)
    two = graph.constant(np.array([2], dtype=np.int64))
    return graph.add("Squeeze", lengths, two)


def _nearest(
    graph: OnnxGraph, points: Array, known: str, rows: str, n_nearest: int
) -> str:
    """Row numbers of the nearest reference objects up to rounding, (n, n_nearest)."""
    # ‖x - y‖² = ‖x‖² + ‖y‖² - 2 x·y, near the origin where it loses fewest digits, and
    # in units of the reference objects or, if it is farther away, of the object itself.
    origin = points.mean(axis=0)
    size = np.abs(points - origin).max() or 1.0
    origin_name, size_name = graph.constant(origin), graph.constant(size)

    def centered(places: str) -> str:
        return graph.add("Div", graph.add("Sub", places, origin_name), size_name)

    references, objects = centered(known), centered(rows)
    far = graph.add("ReduceMax", graph.add("Abs", objects), axes=[1], keepdims=1)
    unit = graph.add("Max", far, graph.constant(1.0))
    ones = graph.constant(np.ones((points.shape[1], 1)))
    squares = graph.add("MatMul", graph.add("Mul", references, references), ones)
    squares = graph.add("Transpose", squares, perm=[1, 0])
    transposed = graph.add("Transpose", references, perm=[1, 0])
    products = graph.add("MatMul", graph.add("Div", objects, unit), transposed)
    # Without ‖x‖², which is the same for all reference objects.
    rough = graph.add("Sub", graph.add("Div", squares, unit), products)
    rough = graph.add("Sub", rough, products)
    return _smallest(graph, rough, n_nearest)[1]


def _smallest(graph: OnnxGraph, values: str, n_smallest: int) -> tuple[str, str]:
    """Values and columns of the smallest entries of each row, smallest first."""
    count = graph.constant(np.array([n_smallest], dtype=np.int64))
    return graph.add_pair("TopK", values, count, axis=1, largest=0, sorted=1)


def _without_copy(graph: OnnxGraph, lengths: str, n_lengths: int, same: float) -> str:
    """Lengths (n, n_lengths) less a first one that is 0, else less the last.

    Lengths up to ``same`` are 0.
    """

    def part(start: int, stop: int) -> str:
        bounds = (np.array([each], dtype=np.int64) for each in (start, stop, 1))
        return graph.add("Slice", lengths, *map(graph.constant, bounds))

    is_copy = graph.add("LessOrEqual", part(0, 1), graph.constant(same))
    return graph.add("Where", is_copy, part(1, n_lengths), part(0, n_lengths - 1))


def _log_mean(graph: OnnxGraph, lengths: str, floor: float) -> str:
    """Log of the means of rows, at least that of the floor, (n, 1)."""
    tiny = graph.constant(np.finfo(graph.dtype).tiny)
    longest = graph.add("ReduceMax", lengths, axes=[1], keepdims=1)
    unit = graph.add("Max", longest, tiny)
    shares = graph.add("Div", lengths, unit)
    means = graph.add("ReduceMean", shares, axes=[1], keepdims=1)
    logs = graph.add("Add", graph.add("Log", means), graph.add("Log", unit))
    return graph.add("Max", logs, graph.constant(np.log(floor)))


def _p_values(graph: OnnxGraph, calibration: Calibration, scores: str) -> str:
    """Ranks among the reference objects; beyond all of them also the tail, (n, 1)."""
    known, tiny = calibration.scores, np.finfo(graph.dtype).tiny
    # A reference object ties with itself, which rounding must not undo.
    slack = np.finfo(graph.dtype).eps ** 0.75 * max(1.0, np.abs(known).max())
    limits = graph.constant(known[None] + slack)
    is_larger = graph.add("GreaterOrEqual", limits, scores)
    counts = graph.add_cast(is_larger)
    axis = graph.constant(np.array([1], dtype=np.int64))
    count = graph.add("ReduceSum", counts, axis, keepdims=1)
    one = graph.constant(1.0)
    total = graph.constant(float(len(known) + 1))
    ranks = graph.add("Div", graph.add("Add", count, one), total)
    z = graph.add("Sub", scores, graph.constant(calibration.center))
    z = graph.add("Div", z, graph.constant(max(calibration.spread, tiny)))
    z = graph.add("Mul", z, graph.constant(np.log(3.0)))
    tail = graph.add("Exp", graph.add("Neg", softplus(graph, z)))
    is_beyond = graph.add("Equal", count, graph.constant(0.0))
    return graph.add("Where", is_beyond, graph.add("Min", ranks, tail), ranks)


def _empty_masses(graph: OnnxGraph, p_values: str, outlier_rate: float) -> str:
    """Masses on ∅ with the odds (r / p)², ½ or more just where p ≤ r, (n, 1)."""
    rate, half = graph.constant(outlier_rate), graph.constant(0.5)
    ratio = graph.add("Div", p_values, rate)
    one = graph.constant(1.0)
    masses = graph.add(
        "Div", one, graph.add("Add", graph.add("Mul", ratio, ratio), one)
    )
    below = graph.constant(np.nextafter(graph.dtype.type(0.5), graph.dtype.type(0.0)))
    is_flagged = graph.add("LessOrEqual", p_values, rate)
    return graph.add(
        "Where",
        is_flagged,
        graph.add("Max", masses, half),
        graph.add("Min", masses, below),
    )


def _reported(graph: OnnxGraph, masses: str, focal_sets: FocalSets, empty: str) -> str:
    """Masses with m(∅) = ``empty`` and the others as they were to each other."""
    is_empty = np.arange(len(focal_sets)) == focal_sets.empty_index
    is_frame = focal_sets.cardinality == focal_sets.n_clusters
    vacuous = is_frame if is_frame.any() else ~is_empty
    inside = graph.add("Mul", masses, graph.constant((~is_empty)[None].astype(float)))
    axis = graph.constant(np.array([1], dtype=np.int64))
    total = graph.add("ReduceSum", inside, axis, keepdims=1)
    tiny = graph.constant(np.finfo(graph.dtype).tiny)
    is_lost = graph.add("LessOrEqual", total, tiny)
    shares = graph.add("Div", inside, graph.add("Max", total, tiny))
    ignorance = graph.constant((vacuous / vacuous.sum())[None])
    shares = graph.add("Where", is_lost, ignorance, shares)
    rest = graph.add("Sub", graph.constant(1.0), empty)
    rest = graph.add("Max", rest, graph.constant(LEAST_REST))
    moved = graph.add("Mul", empty, graph.constant(is_empty[None].astype(float)))
    return graph.add("Add", graph.add("Mul", shares, rest), moved)
