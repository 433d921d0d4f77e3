"""A trained network and its novelty model as one ONNX graph."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from credalis._novelty import Calibration, NeighborNovelty
from credalis.belief import FocalSets
from credalis.network._detector import KernelScores, NoveltyScorer
from credalis.network._model import CredalNetwork
from credalis.network._onnx_graph import OnnxGraph
from credalis.network._onnx_novelty import neighbor_scores, softplus, with_novelty
from credalis.network._projection import Projection

Array = NDArray[np.floating]

# Old enough for runtimes in use, new enough for all operators below. The version of the
# file format is the one that came with it.
OPSET = 17
_FORMAT = 8

# Plausibilities that differ by this share, or by so many units in the last place, count
# as equal; the share is that of a partition.
_TIE_SHARE, _TIE_UNITS = 1e-12, 16


def onnx_model(
    network: Any,
    parameters: Array,
    focal_sets: FocalSets,
    *,
    input_shape: tuple[int, ...],
    projection: Projection | None,
    steps: list[tuple[str, Array]],
    novelty: NoveltyScorer | None,
    reference: NeighborNovelty | Calibration | None,
    compares_inputs: bool,
    outlier_rate: float,
    dtype: Any,
) -> Any:
    """A model from attributes to masses, plausibilities and labels.

    Parameters
    ----------
    network : CredalNetwork or ModuleNetwork
        The network.
    parameters : array of shape (n_parameters,)
        Its parameters.
    focal_sets : FocalSets
        Its outputs.
    input_shape : tuple of int
        Shape of one object.
    projection : Projection or None
        From rows to places, of which attributes are a part; None: rows are both.
    steps : list of (str, array)
        Operators with their second operand that turn attributes into inputs.
    novelty : NoveltyScorer or None
        The detector.
    reference : NeighborNovelty, Calibration or None
        What the reported mass on ∅ comes from: distances to training objects, or the
        scores of the detector; None if it is that of the network.
    compares_inputs : bool
        Whether distances to training objects are those of inputs, not of places.
    outlier_rate : float
        The p-value at which half of the mass is on ∅, with a reference.
    dtype : type
        Of all numbers.

    Returns
    -------
    onnx.ModelProto
    """
    from onnx import checker, helper

    graph = OnnxGraph(dtype)
    kind = helper.np_dtype_to_tensor_dtype(graph.dtype)
    rows = "X"
    if len(input_shape) > 1:
        rows = graph.add("Flatten", rows)
    places = rows
    if projection is not None:
        places, rows = _projected(graph, projection, rows)
    for operator, values in steps:
        rows = graph.add(operator, rows, graph.constant(values))
    outputs = _outputs(graph, network, parameters, rows)
    order = getattr(network, "order", None)
    if order is not None:
        outputs = graph.add(
            "Gather", outputs, graph.constant(np.asarray(order, np.int64)), axis=1
        )
    masses = graph.add("Softmax", outputs, axis=1)
    signals = None
    if novelty is not None:
        scores = _scores(graph, novelty, rows)
        signals = _signals(graph, parameters[-2:], scores)
        masses = _coupled(graph, network, masses, signals)
    if isinstance(reference, NeighborNovelty):
        compared = rows if compares_inputs else places
        strangeness = neighbor_scores(
            graph, reference, compared, is_computed=projection is not None
        )
        calibration = reference.calibration
        masses = with_novelty(
            graph, masses, strangeness, calibration, outlier_rate, focal_sets
        )
    elif reference is not None:
        strangeness = graph.add("Neg", scores)
        masses = with_novelty(
            graph, masses, strangeness, reference, outlier_rate, focal_sets
        )
    _results(graph, masses, focal_sets)
    fading = signals if network.link == "paper" else None
    least = np.finfo(np.float64).tiny if reference is not None else 5e-324
    _labels(graph, outputs, fading, focal_sets, np.log(least))
    n_sets, n_clusters = focal_sets.membership.shape
    made = helper.make_graph(
        graph.nodes,
        "credalis",
        [helper.make_tensor_value_info("X", kind, ["n", *input_shape])],
        [
            helper.make_tensor_value_info("masses", kind, ["n", n_sets]),
            helper.make_tensor_value_info("plausibility", kind, ["n", n_clusters]),
            helper.make_tensor_value_info(
                "label", helper.np_dtype_to_tensor_dtype(np.dtype(np.int64)), ["n"]
            ),
        ],
        graph.initializers,
    )
    model = helper.make_model(
        made,
        opset_imports=[helper.make_opsetid("", OPSET)],
        ir_version=_FORMAT,
        producer_name="credalis",
    )
    helper.set_model_props(model, {"focal_sets": ", ".join(focal_sets.names)})
    checker.check_model(model, full_check=True)
    return model


def _projected(graph: OnnxGraph, projection: Projection, rows: str) -> tuple[str, str]:
    """Places of rows, and those coordinates of them that are attributes."""
    if projection.normalizes:
        rows = _unit_rows(graph, rows)
    if projection.components is None:
        places = graph.add("Mul", rows, graph.constant(np.sqrt(0.5)))
        return places, places
    deviations = graph.add("Sub", rows, graph.constant(projection.mean))
    components = projection.components
    scores = graph.add("MatMul", deviations, graph.constant(components.T))
    spanned = graph.add("MatMul", scores, graph.constant(components))
    left = graph.add("Sub", deviations, spanned)
    lengths = graph.add("ReduceL2", left, axes=[1], keepdims=1)
    if projection.normalizes:
        half = graph.constant(np.sqrt(0.5))
        scores, lengths = (graph.add("Mul", each, half) for each in (scores, lengths))
    return graph.add("Concat", scores, lengths, axis=1), scores


def _unit_rows(graph: OnnxGraph, rows: str) -> str:
    """Rows divided by their lengths, in units of their largest entries."""
    least = graph.constant(np.finfo(graph.dtype).tiny)
    sizes = graph.add("Abs", rows)
    largest = graph.add("ReduceMax", sizes, axes=[1], keepdims=1)
    rows = graph.add("Div", rows, graph.add("Max", largest, least))
    lengths = graph.add("ReduceL2", rows, axes=[1], keepdims=1)
    return graph.add("Div", rows, graph.add("Max", lengths, least))


def _outputs(graph: OnnxGraph, network: Any, parameters: Array, rows: str) -> str:
    """Outputs before the softmax, (n, n_focal_sets)."""
    if not isinstance(network, CredalNetwork):
        shape = graph.constant(np.array([-1, *network.input_shape], dtype=np.int64))
        objects = graph.add("Reshape", rows, shape)
        return graph.insert(network.onnx_graph(parameters, graph.dtype, OPSET), objects)
    *hidden, last = network.weights(parameters)
    units = rows
    for weights in hidden:
        units = graph.add("Relu", _layer(graph, weights, units))
    return _layer(graph, last, units)


def _layer(graph: OnnxGraph, weights: Array, units: str) -> str:
    product = graph.add("MatMul", units, graph.constant(weights[:, 1:].T))
    return graph.add("Add", product, graph.constant(weights[:, 0]))


def _scores(graph: OnnxGraph, novelty: NoveltyScorer, rows: str) -> str:
    """Novelty scores, (n, 1)."""
    kernel = novelty.detector
    if not isinstance(kernel, KernelScores):
        raise ValueError(
            "novelty_detector must be 'ocsvm' or a Gaussian OneClassSVM to be written "
            f"as ONNX, got a {type(kernel).__name__}"
        )
    vectors = kernel.support_vectors
    ones = graph.constant(np.ones((vectors.shape[1], 1)))
    # ‖x - s‖² = ‖x‖² + ‖s‖² - 2 x·s, which rounding must not make negative.
    squares = graph.add("MatMul", graph.add("Mul", rows, rows), ones)
    products = graph.add("MatMul", rows, graph.constant(-2.0 * vectors.T))
    lengths = graph.constant(np.square(vectors).sum(axis=1))
    distances = graph.add("Add", graph.add("Add", products, squares), lengths)
    distances = graph.add("Relu", distances)
    exponents = graph.add("Mul", distances, graph.constant(-kernel.gamma))
    coefficients = graph.constant(novelty.factor * kernel.coefficients[:, None])
    sums = graph.add("MatMul", graph.add("Exp", exponents), coefficients)
    return graph.add("Sub", sums, graph.constant(novelty.factor * kernel.offset))


def _signals(graph: OnnxGraph, coefficients: Array, scores: str) -> str:
    """β0 + β1 f, (n, 1)."""
    signals = graph.add("Mul", scores, graph.constant(coefficients[1]))
    return graph.add("Add", signals, graph.constant(coefficients[0]))


def _coupled(graph: OnnxGraph, network: Any, masses: str, signals: str) -> str:
    """m* = ω m + (1 - ω) e_∅."""
    one = graph.constant(1.0)
    eta = softplus(graph, signals)
    divisor = graph.add("Add", eta, one)
    numerator = one if network.link == "reference" else eta
    weights = graph.add("Div", numerator, divisor)
    empty = np.arange(network.n_outputs) == network.empty_index
    rest = graph.add("Sub", one, weights)
    moved = graph.add("Mul", rest, graph.constant(empty[None].astype(float)))
    return graph.add("Add", graph.add("Mul", masses, weights), moved)


def _results(graph: OnnxGraph, masses: str, focal_sets: FocalSets) -> None:
    """Masses and plausibilities."""
    graph.add("Identity", masses, name="masses")
    members = graph.constant(focal_sets.membership.astype(float))
    graph.add("MatMul", masses, members, name="plausibility")


def _labels(
    graph: OnnxGraph,
    outputs: str,
    fading: str | None,
    focal_sets: FocalSets,
    log_least: float,
) -> None:
    """The most plausible clusters, from outputs and not from masses.

    What the masses of sets of clusters are to each other does not depend on ∅; next to
    it they may be too small for the type of the numbers.

    Parameters
    ----------
    graph : OnnxGraph
        Gets the nodes.
    outputs : str
        Outputs of the network before the softmax, (n, n_focal_sets).
    fading : str or None
        Signals of the novelty coupling if the weight of the masses tends to 0, as their
        exponential does.
    focal_sets : FocalSets
        What the outputs stand for.
    log_least : float
        Log of the mass on sets of clusters below which a partition knows of none: its
        label is then 0.
    """
    inside = np.flatnonzero(focal_sets.cardinality)
    inner = graph.add("Gather", outputs, graph.constant(inside), axis=1)
    shares = graph.add("Softmax", inner, axis=1)
    members = graph.constant(focal_sets.membership[inside].astype(float))
    plausibility = graph.add("MatMul", shares, members)
    largest = graph.add("ReduceMax", plausibility, axes=[1], keepdims=1)
    # Ties up to rounding go to the lowest number, as in a partition.
    share = max(_TIE_SHARE, _TIE_UNITS * np.finfo(graph.dtype).eps)
    # Not a product with 1 - share, which onnxruntime takes for 1 and leaves out.
    margin = graph.add("Mul", largest, graph.constant(share))
    largest = graph.add("Sub", largest, margin)
    is_largest = graph.add("GreaterOrEqual", plausibility, largest)
    if focal_sets.empty_index is not None:
        tops = (
            graph.add("ReduceMax", each, axes=[1], keepdims=1)
            for each in (inner, outputs)
        )
        log_rest = graph.add("Sub", *tops)
        if fading is not None:
            zero = graph.constant(0.0)
            log_rest = graph.add("Add", log_rest, graph.add("Min", fading, zero))
        is_lost = graph.add("Less", log_rest, graph.constant(log_least))
        is_largest = graph.add("Or", is_largest, is_lost)
    chosen = graph.add("Cast", is_largest, to=1)
    graph.add("ArgMax", chosen, axis=1, keepdims=0, name="label")
