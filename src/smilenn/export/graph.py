"""An ONNX graph while it is built; the one import of onnx here.

Sums that a certificate rests on are emitted as chains of elementwise operations, ((b + w_1·y_1) + w_2·y_2) + …, one
column after the other, as the library computes them: a runtime that rounds every operation gives the same bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from smilenn._version import __version__
from smilenn.errors import SmileError

OPSET, ML_OPSET, IR = 21, 5, 10
TREES = "ai.onnx.ml"


class Graph:
    """Nodes and constants so far; a value is its name."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        """A graph whose own values are called otherwise than the columns `taken`."""
        try:
            import onnx
        except ImportError as error:
            raise SmileError("Exporting needs onnx; install it with: pip install 'smilenn[onnx]'.") from error
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}
        self.inputs: list[Any] = []
        self.count, self.taken = 0, frozenset(taken)

    def _name(self) -> str:
        """A new name: a constant with the name of an input would be replaced by it."""
        self.count += 1
        while f"_{self.count}" in self.taken:
            self.count += 1
        return f"_{self.count}"

    def constant(self, value: Any, dtype: Any = np.float64) -> str:
        """An array, or a list, as a value."""
        name = self._name()
        array = np.asarray(value, dtype=dtype)
        self.constants[name] = self.onnx.numpy_helper.from_array(array, name)
        return name

    def input(self, name: str, kind: str, size: int = 1) -> str:
        """A column [n, 1] of the table, or several [n, size]: ``double``, ``int64`` or ``string``."""
        types = {"double": 11, "int64": 7, "string": 8}
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, types[kind], ["n", size]))
        return name

    def op(self, kind: str, *values: str, outputs: int = 1, domain: str = "", **attributes: Any) -> Any:
        """A node; its output, or the list of its outputs if there are several."""
        names = [self._name() for _ in range(outputs)]
        self.nodes.append(self.onnx.helper.make_node(kind, list(values), names, domain=domain, **attributes))
        return names[0] if outputs == 1 else names

    def tensor(self, value: Any, dtype: Any = np.float64) -> Any:
        """An array as an attribute."""
        return self.onnx.numpy_helper.from_array(np.asarray(value, dtype=dtype), "")

    def columns(self, value: str, count: int) -> list[str]:
        """The columns [..., 1] of a value [..., count]."""
        if count == 1:
            return [value]
        found = self.op("Split", value, outputs=count, axis=-1, num_outputs=count)
        return list(found)

    def select(self, value: str, lower: str, upper: str) -> str:
        """The value inside [lower, upper], by comparisons; what is not above the lower end, and NaN, gives it."""
        top = self.op("Where", self.op("Greater", upper, lower), upper, lower)
        inner = self.op("Where", self.op("Less", value, top), value, top)
        return str(self.op("Where", self.op("Greater", value, lower), inner, lower))

    def in_order(self, start: str, terms: Sequence[tuple[str, np.ndarray]]) -> str:
        """start + Σ y·wᵀ over terms (y [n, 1 or G, i], w [G, j, i]), one column after the other; [n, G, j]."""
        total = start
        for y, weight in terms:
            for k, column in enumerate(self.columns(y, weight.shape[-1])):
                product = self.op("Mul", column, self.constant(weight[None, :, :, k]))
                total = self.op("Add", total, product)
        return total

    def model(self, outputs: Sequence[tuple[str, str, int]], facts: dict[str, str]) -> Any:
        """The finished model; outputs are (value, type, columns), in their order."""
        helper = self.onnx.helper
        types = {"double": 11, "int64": 7, "string": 8}
        results = [helper.make_tensor_value_info(name, types[kind], ["n", size]) for name, kind, size in outputs]
        graph = helper.make_graph(self.nodes, "smilenn", self.inputs, results, list(self.constants.values()))
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid(TREES, ML_OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR, producer_name="smilenn")
        model.producer_version = __version__
        helper.set_model_props(model, facts)
        self.onnx.checker.check_model(model)
        return model

    def named(self, value: str, name: str) -> str:
        """The value under a name of the interface."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [value], [name]))
        return name
