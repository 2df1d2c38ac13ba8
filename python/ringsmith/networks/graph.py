"""A file of ONNX, read and checked: nodes in the order of their work, and known numbers.

A file comes from outside. Its size, its tensors and its nodes are bounded before anything is
computed, data in other files are refused, and so is what names nothing that was computed before.
"""

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import InteropError, ToolError
from ringsmith.files import read_bounded

if TYPE_CHECKING:
    import onnx

MAX_FILE = 1 << 30
"""Bytes of a file."""
MAX_NODES = 20_000
MAX_ENTRIES = 1 << 26
"""Numbers of a tensor that is known."""
MAX_COMPUTED = 1 << 24
"""Numbers of an input or a result."""
_FRACTIONS = ("FLOAT", "FLOAT16", "DOUBLE", "BFLOAT16")
_SUBGRAPHS = ("GRAPH", "GRAPHS", "TYPE_PROTO", "TYPE_PROTOS", "SPARSE_TENSOR", "SPARSE_TENSORS")


@dataclass(frozen=True, eq=False)
class NetworkNode:
    """One operation of a network.

    Attributes:
        number: Its place in the file, from 1.
        name: Its name; without one the name of its first result.
        operator: Such as ``Conv``; with its domain where that is not ONNX's own.
        inputs: Names of tensors; "" stands for one that is left out.
        outputs: Names of its results.
        attributes: Numbers, strings, lists of them, and tensors as arrays.
    """

    number: int
    name: str
    operator: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"node {self.number}, {self.name!r:.60} ({self.operator:.40})"


@dataclass(frozen=True, eq=False)
class NetworkGraph:
    """A network.

    Attributes:
        title: Names the file in messages.
        opset: The version of ONNX's operators.
        nodes: Every node after those whose results it takes.
        inputs: Shapes; None stands for a length that the file leaves open.
        constants: Tensors that are known.
        outputs: Names of results.
    """

    title: str
    opset: int
    nodes: tuple[NetworkNode, ...]
    inputs: Mapping[str, tuple[int | None, ...]]
    constants: Mapping[str, NDArray[Any]]
    outputs: tuple[str, ...]


def read_graph(model: "Path | str | bytes | onnx.ModelProto") -> NetworkGraph:
    """Reads a network.

    Args:
        model: A file, its bytes, or what ``onnx.load`` returns.

    Raises:
        InteropError: When it is no network that can be read; the message names what is wrong.
        ToolError: When the package onnx is not installed.
    """
    try:
        import onnx
    except ModuleNotFoundError as error:
        raise ToolError(
            f"a file of ONNX needs the package {error.name}: pip install 'ringsmith[onnx]'"
        ) from None
    title = "the network"
    if isinstance(model, Path | str):
        title, model = Path(model).name, read_bounded(Path(model), MAX_FILE)
    if isinstance(model, bytes):
        try:
            model = onnx.ModelProto.FromString(model)
        except Exception:  # protobuf's DecodeError and what lies beneath
            raise InteropError(f"{title}: no file of ONNX, or damaged") from None
    if not isinstance(model, onnx.ModelProto):
        raise InteropError(f"{model!r:.40} is no network: give a file of ONNX, or its model")
    return _Reader(title, onnx).graph(model)


class _Reader:
    """Reads one model.

    Args:
        title: Names the file in messages.
        package: The package ``onnx``.
    """

    def __init__(self, title: str, package: Any) -> None:  # noqa: ANN401 - a module
        self._title = title
        self._onnx = package

    def _error(self, message: str) -> InteropError:
        return InteropError(f"{self._title}: {message}")

    def graph(self, model: "onnx.ModelProto") -> NetworkGraph:
        """Returns the network of a model."""
        graph = model.graph
        opset = max((each.version for each in model.opset_import if not each.domain), default=0)
        newest = self._onnx.defs.onnx_opset_version()
        if not 7 <= opset <= newest:
            raise self._error(f"operators of version {opset}: versions 7 … {newest} are read")
        if len(graph.node) > MAX_NODES:
            raise self._error(f"{len(graph.node)} nodes: {MAX_NODES} are the most")
        if graph.sparse_initializer:
            raise self._error("sparse tensors are not read: save them dense")
        constants = {
            self._text(each.name): self._tensor(each, each.name) for each in graph.initializer
        }
        inputs = {
            self._text(each.name): self._shape(each)
            for each in graph.input
            if each.name not in constants
        }
        nodes = tuple(self._node(each, i + 1) for i, each in enumerate(graph.node))
        outputs = tuple(self._text(each.name) for each in graph.output)
        self._check_names(nodes, inputs, constants, outputs)
        return NetworkGraph(self._title, opset, nodes, inputs, constants, outputs)

    def _tensor(self, tensor: "onnx.TensorProto", name: str) -> NDArray[Any]:
        """Returns the numbers of a tensor."""
        types = self._onnx.TensorProto
        if tensor.data_location == types.EXTERNAL or tensor.external_data:
            raise self._error(
                f"tensor {name!r:.60} lies in another file: save the network as one file "
                "(onnx.save with save_as_external_data=False)"
            )
        if min(tensor.dims, default=1) < 0 or math.prod(tensor.dims) > MAX_ENTRIES:
            raise self._error(
                f"tensor {name!r:.60} of shape {(*tensor.dims,)!r:.80}: {MAX_ENTRIES} numbers are "
                "the most"
            )
        try:
            found = self._onnx.numpy_helper.to_array(tensor)
        except Exception as error:  # it raises what NumPy and protobuf raise
            raise self._error(f"tensor {name!r:.60} is damaged: {error!s:.120}") from None
        if found.dtype.kind not in "biuf":
            if found.dtype.name != "bfloat16":
                raise self._error(
                    f"tensor {name!r:.60} holds {found.dtype.name:.20}, not numbers: leave it out"
                )
            found = found.astype(np.float32)
        if found.dtype.kind == "f":
            found = found.astype(np.float64)
            if not np.isfinite(found).all():
                raise self._error(f"tensor {name!r:.60} holds infinities or NaN")
        return np.asarray(found)

    def _shape(self, value: "onnx.ValueInfoProto") -> tuple[int | None, ...]:
        """Returns the shape of an input."""
        kind = value.type.tensor_type
        names = self._onnx.TensorProto.DataType
        if not value.type.HasField("tensor_type") or not kind.HasField("shape"):
            raise self._error(f"input {value.name!r:.60} has no shape, or is no tensor")
        try:
            held = names.Name(kind.elem_type)
        except ValueError:
            held = f"type {kind.elem_type}"
        if held not in _FRACTIONS:
            raise self._error(
                f"input {value.name!r:.60} holds {held}: encrypted inputs are floating-point "
                "numbers; make indices or tokens numbers before (such as by their embedding)"
            )
        dims = [each.dim_value if each.HasField("dim_value") else None for each in kind.shape.dim]
        known = [each for each in dims if each is not None]
        if min(known, default=1) < 1 or math.prod(known) > MAX_COMPUTED:
            raise self._error(
                f"input {value.name!r:.60} of shape {(*dims,)!r:.80}: lengths are from 1, and "
                f"{MAX_COMPUTED} numbers in all are the most"
            )
        return (*dims,)

    def _node(self, node: "onnx.NodeProto", number: int) -> NetworkNode:
        """Returns a node."""
        inputs, outputs = (tuple(map(self._text, names)) for names in (node.input, node.output))
        name = self._text(node.name) or next((each for each in outputs if each), "")
        ours = node.domain in ("", "ai.onnx")
        own = self._text(node.op_type)
        operator = own if ours else f"{self._text(node.domain)}::{own}"
        plain = NetworkNode(number, name, operator, inputs, outputs)
        attributes = {
            self._text(each.name): self._attribute(each, plain) for each in node.attribute
        }
        return replace(plain, attributes=attributes)

    def _attribute(self, attribute: "onnx.AttributeProto", node: NetworkNode) -> Any:  # noqa: ANN401
        """Returns an attribute as Python's or NumPy's value."""
        kinds = self._onnx.AttributeProto.AttributeType
        if attribute.type not in kinds.values() or kinds.Name(attribute.type) in (
            "UNDEFINED",
            *_SUBGRAPHS,
        ):
            raise self._error(
                f"{node}: attribute {attribute.name!r:.40} is a graph, or no number, string or "
                "tensor: conditions, loops and functions are not read"
            )
        if attribute.ref_attr_name:
            raise self._error(f"{node}: attribute {attribute.name!r:.40} belongs to a function")
        value = self._onnx.helper.get_attribute_value(attribute)
        if isinstance(value, self._onnx.TensorProto):
            return self._tensor(value, f"{node.name}.{attribute.name}")
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        if isinstance(value, list | tuple) or (
            hasattr(value, "__len__") and not isinstance(value, str)
        ):
            return [self._entry(each) for each in value]
        return value

    def _text(self, name: str | bytes) -> str:
        """Returns a name; protobuf gives bytes in place of one that is no UTF-8."""
        if isinstance(name, bytes):
            raise self._error(f"the name {name!r:.60} is no text in UTF-8")
        return name

    def _entry(self, value: Any) -> Any:  # noqa: ANN401
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else value

    def _check_names(
        self,
        nodes: tuple[NetworkNode, ...],
        inputs: Mapping[str, object],
        constants: Mapping[str, object],
        outputs: tuple[str, ...],
    ) -> None:
        """Refuses names that stand for nothing, or for two things."""
        if not inputs:
            raise self._error("it has no input that could be encrypted")
        if not outputs:
            raise self._error("it has no output")
        known = {*inputs, *constants}
        for node in nodes:
            for name in node.inputs:
                if name and name not in known:
                    raise self._error(
                        f"{node} takes {name!r:.60}, which no node before it computes: the file is "
                        "damaged, its nodes are out of order or in a circle"
                    )
            twice = [name for name, count in Counter(node.outputs).items() if name and count > 1]
            twice += [name for name in node.outputs if name and name in known]
            if twice:
                raise self._error(f"{node} computes {twice[0]!r:.60}, which is there already")
            known.update(node.outputs)
        for name in outputs:
            if name not in known:
                raise self._error(f"output {name!r:.60} is computed by no node")


def simplified(graph: NetworkGraph) -> NetworkGraph:
    """Returns a network of the same results, up to rounding, that costs less encrypted.

    A BatchNormalization goes into the weights of the Conv before it, which spares a level. A
    QuantizeLinear and the DequantizeLinear that undoes it go: numbers keep their fractions.
    """
    constants = dict(graph.constants)
    made = {name: node for node in graph.nodes for name in node.outputs}
    uses = Counter(name for node in graph.nodes for name in node.inputs)
    uses.update(graph.outputs)
    replaced: dict[int, NetworkNode | None] = {}
    for node in graph.nodes:
        before = made.get(node.inputs[0]) if node.inputs else None
        if before is None:
            continue
        if _undoes(node, before, constants):
            kept = NetworkNode(node.number, node.name, "Identity", before.inputs[:1], node.outputs)
            replaced[node.number] = made[node.outputs[0]] = kept
        elif uses[node.inputs[0]] == 1 and before.operator == "Conv":
            conv = _with_normalization(before, node, constants)
            if conv is not None:
                replaced[before.number], replaced[node.number] = conv, None
                made[node.outputs[0]] = conv
    nodes = (replaced.get(node.number, node) for node in graph.nodes)
    return replace(graph, nodes=tuple(each for each in nodes if each), constants=constants)


def _undoes(node: NetworkNode, before: NetworkNode, constants: Mapping[str, NDArray[Any]]) -> bool:
    """Whether a node is a DequantizeLinear that undoes a QuantizeLinear before it."""
    if (before.operator, node.operator) != ("QuantizeLinear", "DequantizeLinear"):
        return False
    if len(node.inputs) != len(before.inputs) or node.attributes.get(
        "axis"
    ) != before.attributes.get("axis"):
        return False
    pairs = zip(node.inputs[1:], before.inputs[1:], strict=True)
    return all(
        a in constants and b in constants and np.array_equal(constants[a], constants[b])
        for a, b in pairs
    )


def _with_normalization(
    conv: NetworkNode, node: NetworkNode, constants: dict[str, NDArray[Any]]
) -> NetworkNode | None:
    """Returns a Conv that does what a BatchNormalization after it did; None if it cannot."""
    if node.operator != "BatchNormalization" or len(node.inputs) != 5:
        return None
    known = [*node.inputs[1:], *(name for name in conv.inputs[1:] if name)]
    if len(conv.inputs) < 2 or any(name not in constants for name in known):
        return None
    weights = constants[conv.inputs[1]]
    scale, shift, mean, variance = (constants[name] for name in node.inputs[1:])
    bias = constants[conv.inputs[2]] if len(conv.inputs) > 2 and conv.inputs[2] else 0.0
    if any(each.shape != weights.shape[:1] for each in (scale, shift, mean, variance)):
        return None
    factor = scale / np.sqrt(variance + node.attributes.get("epsilon", 1e-5))
    names = (f"{node.name}.weights", f"{node.name}.bias")
    if any(name in constants for name in names):
        return None
    constants[names[0]] = weights * factor.reshape(-1, *[1] * (weights.ndim - 1))
    constants[names[1]] = (bias - mean) * factor + shift
    return replace(conv, inputs=(conv.inputs[0], *names), outputs=node.outputs)
