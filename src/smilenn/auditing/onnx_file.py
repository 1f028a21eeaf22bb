"""ONNX files as networks, and their runtime for replays. The only file that imports onnx and onnxruntime.

A chain of nodes is read, each from the one before it:

    [Sub | Add | Mul | Div by constants]*  (Gemm | MatMul [Add])  (Relu  (Gemm | MatMul [Add]))*

with Flatten, Identity, Dropout and Reshape to [batch, m] in between. Anything else is named. Shapes are followed, so
that a constant is read as the node spreads it and a row stays one row.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from smilenn.auditing.network import DeepNet, Dtype, Step
from smilenn.errors import SmileError, printable

INSTALL = "install it with: pip install 'smilenn[onnx]'"
LARGEST = 1 << 28  # bytes of a file that is read
STEPS: dict[str, Step] = {"Sub": "sub", "Add": "add", "Mul": "mul", "Div": "div"}
READ = {  # nodes and their attributes; others, such as the `axis` of an old Add, would change what a node computes
    "Gemm": {"alpha", "beta", "transA", "transB"},
    "MatMul": set(),
    "Relu": set(),
    "Reshape": {"allowzero"},
    "Flatten": {"axis"},
    "Identity": set(),
    "Dropout": {"ratio", "seed"},
} | {name: set() for name in STEPS}
STANDARD = ("", "ai.onnx")  # domains of ONNX's own nodes; elsewhere a Relu may be anything


def read_onnx(path: str | Path) -> DeepNet:
    """The network of an ONNX file; an error names the node that has no place in it."""
    try:
        import onnx
    except ImportError as error:
        raise SmileError(f"Reading {str(path)!r} needs onnx; {INSTALL}.") from error
    if Path(path).stat().st_size > LARGEST:
        raise SmileError(f"{str(path)!r} is larger than {LARGEST >> 20} MiB; such networks are not audited.")
    try:
        model = onnx.load(str(path), load_external_data=False)
        redefined = [f.name for f in model.functions if f.domain in STANDARD]
        if redefined:
            raise SmileError(
                f"{str(path)!r} redefines {printable(str(redefined[0]))}; nodes are read as ONNX defines them."
            )
        if not model.graph.node:
            raise SmileError(f"{str(path)!r} holds no ONNX network; give a file that an export wrote.")
        reader = Reader(model.graph, onnx.numpy_helper.to_array)
    except SmileError:
        raise
    except Exception as error:  # protobuf raises errors of its own for files that are not ONNX
        what = " ".join(str(error).split())[:100]
        raise SmileError(f"{str(path)!r} is not a readable ONNX file ({printable(what)}).") from None
    return reader.network(Path(path).name)


def run_onnx(path: str | Path, x: np.ndarray) -> np.ndarray | None:
    """The outputs [n, o] at x [n, m] as onnxruntime computes them; None without it, or where it refuses the file."""
    try:
        import onnxruntime
    except ImportError:
        return None
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        first = session.get_inputs()[0]
        kind = np.float64 if "double" in first.type else np.float32
        batch, *shape = [size if isinstance(size, int) else 1 for size in first.shape]
        blocks = [np.repeat(row.reshape(1, *shape), batch, axis=0).astype(kind) for row in x]  # a batch may be fixed
        out = [session.run(None, {first.name: block})[0] for block in blocks]
    except Exception:  # errors of its own, for versions and shapes that it does not compute: there is nothing to replay
        return None
    return np.stack([np.asarray(o, dtype=np.float64).reshape(batch, -1)[0] for o in out])


class Reader:
    """Walks the chain of nodes of one graph."""

    def __init__(self, graph: Any, to_array: Callable[[Any], np.ndarray]) -> None:
        self.to_array = to_array
        self.constants: dict[str, np.ndarray] = {}
        for tensor in graph.initializer:
            self._keep(tensor.name, self._array(tensor))
        self.nodes = []
        for node in graph.node:
            if node.domain not in STANDARD:
                raise _unknown(node, f"is defined by {printable(str(node.domain))!r}")
            if node.op_type == "Constant":
                self._keep(node.output[0], self._constant(node))
            else:
                self.nodes.append(node)
        inputs = [i for i in graph.input if i.name not in self.constants]
        if len(inputs) != 1 or len(graph.output) != 1:
            raise SmileError(
                f"The network has {len(inputs)} inputs and {len(graph.output)} outputs; one of each is read."
            )
        self.at, self.last = inputs[0].name, graph.output[0].name
        self.shape = _shape(inputs[0])  # of one row where the chain has come to
        self.size = int(np.prod(self.shape))
        self.scaling: list[tuple[Step, np.ndarray]] = []
        self.weights: list[np.ndarray] = []
        self.biases: list[np.ndarray | None] = []
        self.linear = False  # whether the last node was a linear layer

    def _keep(self, name: str, value: np.ndarray) -> None:
        if name in self.constants:
            raise SmileError(f"The file stores the tensor {printable(str(name))!r} twice.")
        self.constants[name] = value

    def _array(self, tensor: Any) -> np.ndarray:
        if tensor.data_location == 1:
            raise SmileError(f"The tensor {tensor.name!r} is stored in another file; save the network as one file.")
        return np.asarray(self.to_array(tensor))

    def _constant(self, node: Any) -> np.ndarray:
        values = [a.t for a in node.attribute if a.name == "value"]
        if not values:
            raise _unknown(node, "is a constant that is not a tensor")
        return self._array(values[0])

    def network(self, source: str) -> DeepNet:
        """Read all nodes."""
        for node in self.nodes:
            self._take(node)
        if self.at != self.last:
            raise SmileError("The nodes of the network are not a chain that ends in its output.")
        if not self.weights or not self.linear:
            raise SmileError("The network does not end in a linear layer; export it without its last activation.")
        biases = tuple(np.zeros(len(w)) if b is None else b for w, b in zip(self.weights, self.biases, strict=True))
        return DeepNet(tuple(self.weights), biases, self._dtype(), tuple(self.scaling), source)

    def _dtype(self) -> Dtype:
        arrays = [*self.weights, *(b for b in self.biases if b is not None), *(k for _, k in self.scaling)]
        kinds = {a.dtype.name for a in arrays}
        if kinds == {"float32"}:
            return "float32"
        if kinds == {"float64"}:
            return "float64"
        raise SmileError(f"The network holds numbers of the types {sorted(kinds)}; float32 or float64 alone are read.")

    def _take(self, node: Any) -> None:
        self._check(node)
        match node.op_type:
            case "Gemm":
                self._gemm(node)
            case "MatMul":
                self._matmul(node)
            case "Relu":
                self.linear = False
            case "Reshape":
                self._reshape(node)
            case "Flatten":
                self._flatten(node)
            case kind if kind in STEPS:
                self._step(node, STEPS[kind])
        self.at = node.output[0]
        if self.at in self.constants:
            raise _unknown(node, "gives what the file stores as a tensor")

    def _check(self, node: Any) -> None:
        """Refuse a node that is none of a chain, or that means something else than its type says."""
        name = node.op_type
        if name not in READ:
            raise _unknown(node, "is not supported")
        if self.at not in node.input:
            raise _unknown(node, "does not read the node before it")
        other = sorted({str(a.name) for a in node.attribute} - READ[name])  # a broken text is read as bytes
        if other:
            raise _unknown(node, f"has the attribute {printable(other[0])!r}")
        if name == "Relu" and not self.linear:
            raise _unknown(node, "does not follow a linear layer")
        if name == "Dropout" and (len(node.input) > 2 or node.input[0] != self.at):
            raise _unknown(node, "may be told to drop units at random, or reads another tensor")

    def _gemm(self, node: Any) -> None:
        given = {a.name: a.f if a.name in ("alpha", "beta") else a.i for a in node.attribute}
        if given.get("alpha", 1.0) != 1.0 or given.get("beta", 1.0) != 1.0 or given.get("transA", 0):
            raise _unknown(node, "has factors or transposes its input")
        weight = self._value(node, 1, 2)
        self._layer(node, weight if given.get("transB", 0) else weight.T)
        if len(node.input) > 2 and node.input[2]:
            self._bias(node, self._value(node, 2, None))

    def _matmul(self, node: Any) -> None:
        if node.input[0] != self.at:
            raise _unknown(node, "multiplies its input from the left")
        self._layer(node, self._value(node, 1, 2).T)

    def _layer(self, node: Any, weight: np.ndarray) -> None:
        if self.linear:
            raise _unknown(node, "follows another linear layer without a Relu in between")
        if self.shape != weight.shape[1:]:  # of more dimensions a product would be one network for each row of a row
            raise _unknown(node, f"reads {weight.shape[1]} numbers of inputs with the shape {list(self.shape)}")
        self.shape = weight.shape[:1]
        self.weights.append(weight)
        self.biases.append(None)
        self.linear = True

    def _bias(self, node: Any, value: np.ndarray) -> None:
        self.biases[-1] = self._spread(node, value)

    def _spread(self, node: Any, value: np.ndarray) -> np.ndarray:
        """Constants as the node spreads them over a row, one for each number; [n, 1] would be one for each row."""
        try:
            return np.broadcast_to(value, (1, *self.shape)).ravel()
        except ValueError:
            why = f"has constants of the shape {list(value.shape)} for inputs of the shape {list(self.shape)}"
            raise _unknown(node, why) from None

    def _step(self, node: Any, step: Step) -> None:
        """A bias after MatMul, or a step of the scaling."""
        place = 1 if node.input[0] == self.at else 0
        if place == 0 and step in ("sub", "div"):
            raise _unknown(node, "has its constant on the left")
        value = self._value(node, place, None)
        if self.linear and step == "add" and self.biases[-1] is None:
            self._bias(node, value)
        elif self.weights:
            raise _unknown(node, "stands behind a layer")
        else:
            self.scaling.append((step, self._spread(node, value)))

    def _reshape(self, node: Any) -> None:
        """To [batch, m], so that no row is cut in two."""
        shape = self._value(node, 1, None).ravel().tolist()
        rows = shape in ([1, -1], [0, -1], [-1, self.size], [0, self.size], [1, self.size])
        if self.weights or not rows or any(a.i for a in node.attribute):
            raise _unknown(node, "changes the shape of more than the input")
        self.shape = (self.size,)

    def _flatten(self, node: Any) -> None:
        """To [batch, m]; from another axis on a row would be cut in two."""
        axis = next((a.i for a in node.attribute), 1)
        if axis % (len(self.shape) + 1) != 1:
            raise _unknown(node, f"flattens from axis {axis} on; 1 is read")
        self.shape = (int(np.prod(self.shape)),)

    def _value(self, node: Any, place: int, dimensions: int | None) -> np.ndarray:
        name = node.input[place] if place < len(node.input) else ""
        if name not in self.constants:
            raise _unknown(node, "reads weights that are not stored in the file")
        value = self.constants[name]
        if dimensions is not None and value.ndim != dimensions:
            raise _unknown(node, f"has weights with {value.ndim} dimensions")
        return value


def _shape(entry: Any) -> tuple[int, ...]:
    """The shape of one row, from [batch, m] or [batch, …, m]."""
    dims = entry.type.tensor_type.shape.dim
    sizes = [d.dim_value for d in dims[1:]]
    if len(dims) < 2 or any(size < 1 for size in sizes):
        raise SmileError(f"The input {entry.name!r} has no fixed number of columns; export it with a fixed shape.")
    return tuple(sizes)


def _unknown(node: Any, why: str) -> SmileError:
    name = printable(str(node.name or (node.output[0] if node.output else "")))
    return SmileError(f"The node {name!r} ({node.op_type}) {why}; chains of linear layers with Relu between are read.")
