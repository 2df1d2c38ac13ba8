"""Small networks of ONNX, and ONNX's own evaluation of them, which shares no code with ours."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

Shape = Sequence[int | str]


def tensor(name: str, values: object) -> onnx.TensorProto:
    """Numbers as an initializer: fractions in single precision."""
    array = np.asarray(values)
    return numpy_helper.from_array(
        array.astype(np.float32) if array.dtype.kind == "f" else array, name
    )


def node(operator: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:  # noqa: ANN401
    """A node; names are separated by spaces, ``-`` leaves one out."""
    names = ["" if each == "-" else each for each in inputs.split()]
    return helper.make_node(
        operator, names, outputs.split(), name=f"{operator}_{outputs}", **attributes
    )


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Mapping[str, Shape],
    outputs: Sequence[str],
    constants: Mapping[str, object] | None = None,
    *,
    opset: int = 18,
    kind: int = TensorProto.FLOAT,
) -> onnx.ModelProto:
    """A network."""
    graph = helper.make_graph(
        list(nodes),
        "network",
        [helper.make_tensor_value_info(name, kind, shape) for name, shape in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
        [tensor(name, values) for name, values in (constants or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def reference(network: onnx.ModelProto, inputs: Mapping[str, NDArray[Any]]) -> NDArray[Any]:
    """The first output, by ONNX's own evaluation."""
    given = {name: np.asarray(each, np.float32) for name, each in inputs.items()}
    (first, *_) = ReferenceEvaluator(network).run(None, given)
    return np.asarray(first, np.float64)


def mlp(rng: np.random.Generator, sizes: Sequence[int] = (16, 8, 4)) -> onnx.ModelProto:
    """Dense layers with ReLU between them, with a batch that is left open."""
    nodes, constants, last = [], {}, "x"
    for i, (rows, columns) in enumerate(pairwise(sizes)):
        constants[f"w{i}"] = rng.normal(size=(rows, columns)) / np.sqrt(rows)
        constants[f"b{i}"] = rng.normal(size=columns) / 4
        nodes.append(node("Gemm", f"{last} w{i} b{i}", f"dense{i}"))
        last = f"dense{i}"
        if i + 2 < len(sizes):
            nodes.append(node("Relu", last, f"relu{i}"))
            last = f"relu{i}"
    return model(nodes, {"x": ("batch", sizes[0])}, [last], constants)
