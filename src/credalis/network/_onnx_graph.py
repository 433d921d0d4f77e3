"""An ONNX graph in the making."""

from typing import Any

import numpy as np


class OnnxGraph:
    """Nodes and constants of a graph in the making, all of one floating-point type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self._n_names = 0

    def add(
        self, operator: str, *inputs: str, name: str = "", **attributes: Any
    ) -> str:
        """Append a node with one output, and return the name of that."""
        from onnx import helper

        name = name or self._name(operator)
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def add_pair(
        self, operator: str, *inputs: str, **attributes: Any
    ) -> tuple[str, str]:
        """Append a node with two outputs, and return their names."""
        from onnx import helper

        names = self._name(operator), self._name(operator)
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names

    def add_cast(self, source: str) -> str:
        """Append the conversion of truth values to numbers."""
        from onnx import helper

        kind = helper.np_dtype_to_tensor_dtype(self.dtype)
        return self.add("Cast", source, to=kind)

    def constant(self, values: Any) -> str:
        """The name of an array; integers stay integers."""
        from onnx import numpy_helper

        values = np.asarray(values)
        if values.dtype.kind != "i":
            values = values.astype(self.dtype)
        name = self._name("constant")
        self.initializers.append(numpy_helper.from_array(values, name))
        return name

    def insert(self, graph: Any, source: str) -> str:
        """All of another graph with one input and one output, fed from ``source``."""
        from onnx import compose

        prefix = self._name("module") + "/"
        graph = compose.add_prefix_graph(graph, prefix)
        given, made = graph.input[0].name, graph.output[0].name
        for node in graph.node:
            for position, name in enumerate(node.input):
                if name == given:
                    node.input[position] = source
        self.nodes += graph.node
        self.initializers += graph.initializer
        return made

    def _name(self, kind: str) -> str:
        self._n_names += 1
        return f"{kind}{self._n_names}"
