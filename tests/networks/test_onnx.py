"""Networks of ONNX against ONNX's own evaluation, in NumPy, on slots and encrypted."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from tests.networks.models import mlp, model, node, reference, tensor

import ringsmith as rs
from ringsmith import CkksParameters, trace
from ringsmith.errors import InteropError, ParameterError, ProgramError
from ringsmith.networks import Network, accuracy, from_onnx

Case = tuple[list[onnx.NodeProto], tuple[int, ...], dict[str, object]]
RNG = np.random.default_rng(20261129)


def normal(*shape: int) -> NDArray[np.float64]:
    return RNG.normal(size=shape) / 4


MOVES: dict[str, Case] = {
    "flatten": ([node("Flatten", "x", "y")], (2, 3, 2, 2), {}),
    "flatten-at-2": ([node("Flatten", "x", "y", axis=2)], (2, 3, 2, 2), {}),
    "reshape": ([node("Reshape", "x s", "y")], (2, 3, 4), {"s": np.array([0, -1])}),
    "transpose": ([node("Transpose", "x", "y", perm=[0, 2, 1])], (2, 3, 4), {}),
    "transposed": ([node("Transpose", "x", "y")], (2, 3), {}),
    "squeeze": ([node("Squeeze", "x a", "y")], (2, 1, 3), {"a": np.array([1])}),
    "unsqueeze": ([node("Unsqueeze", "x a", "y")], (2, 3), {"a": np.array([1])}),
    "slice": (
        [node("Slice", "x s e a t", "y")],
        (2, 6, 4),
        {
            "s": np.array([1, -1]),
            "e": np.array([6, -100]),
            "a": np.array([1, 2]),
            "t": np.array([2, -1]),
        },
    ),
    "gather": ([node("Gather", "x i", "y", axis=1)], (2, 4), {"i": np.array([3, 0, 3])}),
    "concat": ([node("Concat", "x c x", "y", axis=1)], (2, 3), {"c": normal(2, 2)}),
    "split": (
        [node("Split", "x n", "a b", axis=1), node("Sub", "a b", "y")],
        (2, 6),
        {"n": np.array([3, 3])},
    ),
    "expand": ([node("Expand", "x s", "y")], (2, 1), {"s": np.array([2, 3])}),
    "pad": (
        [node("Pad", "x p v", "y")],
        (2, 3),
        {"p": np.array([0, 1, 0, 2]), "v": np.array(0.5)},
    ),
    "shape": (
        [
            node("Shape", "x", "n"),
            node("Gather", "n i", "k"),
            node("Concat", "k m", "s", axis=0),
            node("Reshape", "x s", "y"),
        ],
        (2, 3, 4),
        {"i": np.array([0]), "m": np.array([-1])},
    ),
}
LINEAR: dict[str, Case] = {
    "add": ([node("Add", "x c", "y")], (2, 3), {"c": normal(3)}),
    "sub": ([node("Sub", "c x", "y")], (2, 3), {"c": normal(2, 1)}),
    "mul": ([node("Mul", "x c", "y")], (2, 3), {"c": normal(3)}),
    "div": ([node("Div", "x c", "y")], (2, 3), {"c": np.array([2.0, -1, 4])}),
    "sum": ([node("Sum", "x c x", "y")], (2, 3), {"c": normal(3)}),
    "mean": ([node("Mean", "x c", "y")], (2, 3), {"c": normal(3)}),
    "neg": ([node("Neg", "x", "y")], (2, 3), {}),
    "identity": ([node("Dropout", "x", "d"), node("Identity", "d", "y")], (2, 3), {}),
    "matmul": ([node("MatMul", "x w", "y")], (2, 3), {"w": normal(3, 4)}),
    "matmul-left": ([node("MatMul", "w x", "y")], (3, 2), {"w": normal(4, 3)}),
    "gemm": (
        [node("Gemm", "x w c", "y", alpha=0.5, beta=2.0, transB=1)],
        (2, 3),
        {"w": normal(4, 3), "c": normal(4)},
    ),
    "gemm-transposed": (
        [node("Gemm", "x w", "y", transA=1)],
        (3, 2),
        {"w": normal(3, 4)},
    ),
    "conv": (
        [node("Conv", "x w b", "y", pads=[1, 1, 1, 1], strides=[2, 2])],
        (1, 2, 6, 6),
        {"w": normal(3, 2, 3, 3), "b": normal(3)},
    ),
    "conv-uneven": (
        [node("Conv", "x w", "y", pads=[0, 1, 2, 0], strides=[1, 2])],
        (1, 2, 5, 6),
        {"w": normal(3, 2, 2, 3)},
    ),
    "conv-groups": (
        [node("Conv", "x w", "y", group=2)],
        (1, 4, 4, 4),
        {"w": normal(6, 2, 2, 2)},
    ),
    "conv-dilated": (
        [node("Conv", "x w", "y", dilations=[2, 1])],
        (1, 1, 6, 4),
        {"w": normal(2, 1, 2, 2)},
    ),
    "conv-same": (
        [node("Conv", "x w", "y", auto_pad="SAME_UPPER", strides=[2, 2])],
        (1, 1, 5, 5),
        {"w": normal(2, 1, 2, 2)},
    ),
    "conv1d": ([node("Conv", "x w", "y")], (1, 2, 8), {"w": normal(3, 2, 3)}),
    "batch-normalization": (
        [node("BatchNormalization", "x s b m v", "y")],
        (1, 3, 2, 2),
        {"s": normal(3) + 1, "b": normal(3), "m": normal(3), "v": normal(3) ** 2 + 0.5},
    ),
    "average-pool": (
        [node("AveragePool", "x", "y", kernel_shape=[2, 2], strides=[2, 2])],
        (1, 2, 4, 4),
        {},
    ),
    "average-pool-padded": (
        [node("AveragePool", "x", "y", kernel_shape=[2, 2], pads=[1, 1, 0, 0])],
        (1, 1, 3, 3),
        {},
    ),
    "average-pool-with-pads": (
        [
            node(
                "AveragePool",
                "x",
                "y",
                kernel_shape=[2, 2],
                pads=[1, 1, 0, 0],
                count_include_pad=1,
            )
        ],
        (1, 1, 3, 3),
        {},
    ),
    "global-average": ([node("GlobalAveragePool", "x", "y")], (1, 3, 4, 4), {}),
    "reduce-sum": ([node("ReduceSum", "x a", "y")], (2, 3, 4), {"a": np.array([1])}),
    "reduce-mean": ([node("ReduceMean", "x a", "y", keepdims=0)], (2, 3), {"a": np.array([1])}),
    "constants": (
        [
            node("Constant", "", "c", value=tensor("c", np.array([1.0, 2, 4]))),
            node("ConstantOfShape", "n", "o", value=tensor("o", np.array([3.0]))),
            node("Mul", "c o", "w"),
            node("Cast", "w", "v", to=1),
            node("Mul", "x v", "y"),
        ],
        (2, 3),
        {"n": np.array([3])},
    ),
    "product": ([node("Mul", "x x", "s"), node("Sub", "s x", "y")], (2, 3), {}),
    "power": ([node("Pow", "x e", "y")], (2, 3), {"e": np.array(3.0)}),
    "attention": (
        [node("Transpose", "x", "t", perm=[0, 2, 1]), node("MatMul", "x t", "y")],
        (1, 3, 4),
        {},
    ),
    "quantized": (
        [
            node("DequantizeLinear", "q s z", "w"),
            node("QuantizeLinear", "x s z", "i"),
            node("DequantizeLinear", "i s z", "d"),
            node("MatMul", "d w", "y"),
        ],
        (2, 3),
        {
            "q": np.array([[3, -4], [90, 2], [7, -128]], np.int8),
            "s": np.array(0.01),
            "z": np.array(0, np.int8),
        },
    ),
}
EXACT = {**MOVES, **LINEAR}


@pytest.fixture(scope="module")
def parameters() -> CkksParameters:
    """Five levels of a small, insecure ring."""
    return CkksParameters.create(
        n=1024, prime_bits=(50, *[40] * 5), special_bits=50, scale_bits=40, security=None
    )


def on_slots(program: rs.Program, x: NDArray[Any]) -> NDArray[Any]:
    """What the program's operations do to all slots: it does not know what arrays mean."""
    return replace(program, arrays={}).evaluate({"x": x})["result"]


@pytest.mark.parametrize("name", EXACT)
def test_an_operator_is_that_of_onnx(name: str, parameters: CkksParameters) -> None:
    nodes, shape, constants = EXACT[name]
    given = model(nodes, {"x": shape}, ["y"], constants, opset=21)
    x = np.random.default_rng(1).uniform(-1, 1, shape)
    wanted = reference(given, {"x": x})
    network = from_onnx(given)
    rounding = 0.006 if name == "quantized" else 1e-5  # numbers keep their fractions
    np.testing.assert_allclose(network(x), wanted, atol=rounding)
    program = trace(network, parameters, network.inputs)
    np.testing.assert_allclose(program.evaluate({"x": x})["result"], network(x), atol=1e-9)
    np.testing.assert_allclose(on_slots(program, x), network(x), atol=1e-9)


FUNCTIONS: dict[str, tuple[str, dict[str, Any], tuple[float, float]]] = {
    "Relu": ("x", {}, (-2, 3)),
    "LeakyRelu": ("x", {"alpha": 0.2}, (-2, 3)),
    "PRelu": ("x slope", {}, (-2, 3)),
    "Clip": ("x low high", {}, (-3, 4)),
    "Sigmoid": ("x", {}, (-4, 4)),
    "Tanh": ("x", {}, (-2, 2)),
    "Gelu": ("x", {}, (-3, 3)),
    "Exp": ("x", {}, (-2, 1)),
    "Log": ("x", {}, (0.5, 3)),
    "Sqrt": ("x", {}, (0.5, 3)),
    "Reciprocal": ("x", {}, (0.5, 3)),
    "Abs": ("x", {}, (-1, 1)),
    "Erf": ("x", {}, (-2, 2)),
    "Elu": ("x", {"alpha": 0.5}, (-2, 2)),
    "Celu": ("x", {"alpha": 0.5}, (-2, 2)),
    "Selu": ("x", {}, (-2, 2)),
    "Softplus": ("x", {}, (-3, 3)),
    "Softsign": ("x", {}, (-1, 1)),
    "HardSigmoid": ("x", {}, (-4, 4)),
    "HardSwish": ("x", {}, (-4, 4)),
    "Mish": ("x", {}, (-3, 3)),
    "Swish": ("x", {"alpha": 1.0}, (-3, 3)),
    "Max": ("x zero", {}, (-1, 1)),
    "Min": ("x zero", {}, (-1, 1)),
    "MaxPool": ("x", {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [1, 0, 0, 0]}, (-1, 1)),
    "GlobalMaxPool": ("x", {}, (-1, 1)),
    "ReduceMax": ("x", {"keepdims": 0}, (-1, 1)),
    "Softmax": ("x", {"axis": -1}, (-1, 1)),
    "LayerNormalization": ("x scale shift", {}, (-1, 1)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_that_of_onnx_within_its_error(name: str) -> None:
    inputs, attributes, ends = FUNCTIONS[name]
    shape = (1, 1, 3, 4) if "Pool" in name else (2, 4)
    constants = {
        "slope": np.array(0.25),
        "low": np.array(-1.0),
        "high": np.array(2.0),
        "zero": np.array(0.1),
        "scale": np.array([1.0, 0.5, -1, 2]),
        "shift": np.array([0.0, 1, 2, 3]),
    }
    taken = {each: constants[each] for each in inputs.split()[1:]}
    opset = 24 if name == "Swish" else 22
    given = model([node(name, inputs, "y", **attributes)], {"x": shape}, ["y"], taken, opset=opset)
    samples = np.random.default_rng(2).uniform(*ends, (50, *shape[1:]))
    x = samples[: shape[0]]
    wanted = reference(given, {"x": x})
    network = from_onnx(given, calibrate=samples, error=0.02, margin=0.05)
    np.testing.assert_allclose(network(x), wanted, atol=1e-5)
    program = trace(network, "auto", network.inputs)
    width = np.ptp(reference(given, {"x": samples[:50]}) if shape[0] == 1 else wanted)
    found = program.evaluate({"x": x})["result"]
    assert np.abs(found - wanted).max() < 0.06 * max(float(width), 1)
    assert np.abs(on_slots(program, x) - found).max() < 1e-6


def test_normalization_goes_into_the_convolution_before_it() -> None:
    constants = {
        "w": normal(2, 1, 3, 3), "s": normal(2) + 1, "b": normal(2), "m": normal(2),
        "v": np.array([0.5, 2]),
    }  # fmt: skip
    nodes = [node("Conv", "x w", "c"), node("BatchNormalization", "c s b m v", "y", epsilon=0.1)]
    given = model(nodes, {"x": (1, 1, 6, 6)}, ["y"], constants)
    network = from_onnx(given)
    x = np.random.default_rng(3).uniform(-1, 1, (1, 1, 6, 6))
    np.testing.assert_allclose(network(x), reference(given, {"x": x}), atol=1e-5)
    assert [each.operator for each in network.graph.nodes] == ["Conv"]
    nodes = [*nodes, node("Add", "c y", "z")]  # now the convolution is needed without it, too
    network = from_onnx(model(nodes, {"x": (1, 1, 6, 6)}, ["z"], constants))
    assert len(network.graph.nodes) == 3


def test_several_inputs_and_outputs_have_names_that_python_takes() -> None:
    given = model(
        [node("Add", "input.1 2", "sum"), node("Sub", "input.1 2", "class")],
        {"input.1": (2,), "2": (2,)},
        ["sum", "class"],
    )
    network = from_onnx(given, bounds={"input.1": (0, 2), "x2": (0, 1)})
    assert [*network.inputs] == ["input_1", "x2"]
    assert network.inputs["x2"].bound == (0, 1)
    program = trace(network, "auto", network.inputs)
    found = program.evaluate({"input_1": [1.5, 2.0], "x2": [1.0, 0.5]})
    np.testing.assert_allclose(found["sum"], [2.5, 2.5])
    np.testing.assert_allclose(found["class_"], [0.5, 1.5])


def test_results_and_operands_that_are_left_out_do_not_meet() -> None:
    nodes = [node("Split", "x n", "a -", axis=0), node("Clip", "a - high", "y")]
    nodes[0].output[1] = ""
    constants = {"n": np.array([2, 2]), "high": np.array(0.5)}
    given = model(nodes, {"x": (4,)}, ["y"], constants)
    x = np.array([-1.0, 1, 0.75, 0.75])  # the second half is no lower end of Clip
    np.testing.assert_allclose(from_onnx(given)(x), [-1, 0.5])


def test_inputs_of_one_name_in_python_are_numbered() -> None:
    names = ["a.b", "a/b", "a_b_2", "a-b"]
    given = model([node("Sum", " ".join(names), "y")], dict.fromkeys(names, (2,)), ["y"])
    assert from_onnx(given).input_names == ("a_b", "a_b_2", "a_b_2_2", "a_b_3")


def test_a_network_is_part_of_a_function(rng: np.random.Generator) -> None:
    network = from_onnx(mlp(rng, (4, 3)))
    program = trace(lambda x: network(x) ** 2, "auto", {"x": (1, 4)})
    x = rng.uniform(-1, 1, (1, 4))
    np.testing.assert_allclose(program.run(x=x)["result"], network(x) ** 2, atol=1e-4)


def test_classes_of_an_encrypted_network_are_those_in_the_clear(rng: np.random.Generator) -> None:
    given, samples = mlp(rng), rng.uniform(-1, 1, (40, 16))
    network = from_onnx(given, calibrate=samples, degree=6, batch=4)
    wanted = reference(given, {"x": samples})
    program = trace(network, "auto", network.inputs)
    rows = accuracy(network, program, samples, wanted.argmax(axis=1), simulated=6, encrypted=4)
    assert [row.samples for row in rows] == [40, 40, 6, 4]
    assert rows[0].right == rows[0].same == 40
    assert rows[1].same >= 36
    assert rows[3].same == sum(
        a == b
        for a, b in zip(
            program.run(x=samples[:4])["result"].argmax(axis=1),
            wanted[:4].argmax(axis=1),
            strict=True,
        )
    )
    assert all(row.error < 0.3 for row in rows)
    assert "encrypted: 4 samples" in str(rows[3])


def test_a_sample_outside_the_calibrated_ranges_is_counted(rng: np.random.Generator) -> None:
    given = mlp(rng)
    network = from_onnx(
        given, calibrate=rng.uniform(-0.1, 0.1, (20, 16)), bounds={"x": (-1, 1)}, degree=4
    )
    program = trace(network, "auto", network.inputs)
    rows = accuracy(network, program, np.full((3, 16), 1.0))
    assert rows[1].outside == 3
    assert "leave the ranges" in str(rows[1])


def test_a_listing_by_lines_names_each_node(rng: np.random.Generator) -> None:
    network = from_onnx(mlp(rng), degree=2)
    program = trace(network, "auto", network.inputs)
    text = rs.explain(program, lines=True)
    assert "the network, Gemm_dense0 (Gemm):1" in text
    assert "relu by 1 polynomial of degree 2" in text
    rows = [each for each in text.splitlines() if "):" in each and each[:5].strip().isdigit()]
    assert [each.rsplit(":", 1)[1] for each in rows] == ["1", "2", "3"]


def test_sums_of_a_softmax_have_the_range_of_samples(rng: np.random.Generator) -> None:
    given = model([node("Softmax", "x", "y")], {"x": (1, 8)}, ["y"])
    samples = rng.permuted(np.tile(np.linspace(-2, 2, 8), (20, 1)), axis=1)  # all sums are alike
    samples[0] *= 0.99

    def intervals(network: Network) -> str:
        program = trace(network, "auto", network.inputs)
        found = program.run(x=samples[:1])["result"]
        assert np.abs(found - reference(given, {"x": samples[:1]})[0]).max() < 0.02
        return next(str(note) for note in program.notes if "inverse by" in str(note))

    narrow = from_onnx(given, calibrate=samples, error=0.02)
    wide = from_onnx(given, bounds={"x": (-3, 3)}, error=0.02)
    degrees = [int(intervals(each).split("degree ")[1].split()[0]) for each in (narrow, wide)]
    assert degrees[0] < degrees[1] / 2


def test_an_output_is_compared_by_its_name(rng: np.random.Generator) -> None:
    nodes = [node("MatMul", "x w", "a"), node("Neg", "a", "b")]
    given = model(nodes, {"x": (1, 3)}, ["a", "b"], {"w": normal(3, 2)})
    samples = rng.uniform(-1, 1, (6, 3))
    network = from_onnx(given, calibrate=samples)
    program = trace(network, "auto", network.inputs)
    labels = network(samples[:1])["b"].argmax(axis=1)
    assert accuracy(network, program, samples[:1], labels, output="b")[1].right == 1
    assert accuracy(network, program, samples[:1], labels)[1].right == 0
    with pytest.raises(ParameterError, match="output = 'c': the network has a, b"):
        accuracy(network, program, samples, output="c")


def test_a_network_ends_where_it_is_told_to(rng: np.random.Generator) -> None:
    given = model(
        [node("MatMul", "x w", "scores"), node("Softmax", "scores", "y")],
        {"x": (1, 3)},
        ["y"],
        {"w": normal(3, 2)},
    )
    network = from_onnx(given, until="scores")
    assert [each.operator for each in network.graph.nodes] == ["MatMul"]
    with pytest.raises(ParameterError, match="those near the end are"):
        from_onnx(given, until="logits")


def test_a_message_names_the_node(rng: np.random.Generator) -> None:
    given = model([node("Log", "x", "y")], {"x": (2,)}, ["y"])
    network = from_onnx(given)
    with pytest.raises(
        ProgramError, match=r"the network, Log_y \(Log\):1: log takes numbers above"
    ):
        trace(network, "auto", network.inputs)
    given = model([node("Conv", "x w", "y")], {"x": (1, 3, 4, 4)}, ["y"], {"w": normal(2, 2, 3, 3)})
    with pytest.raises(ProgramError, match=r"node 1, 'Conv_y' \(Conv\): 1 groups of weights"):
        from_onnx(given)(np.zeros((1, 3, 4, 4)))


REFUSED: dict[str, tuple[Callable[[], onnx.ModelProto], str]] = {
    "operator": (
        lambda: model([node("NonZero", "x", "y")], {"x": (2,)}, ["y"]),
        r"node 1, 'NonZero_y' \(NonZero\): this operator is not known",
    ),
    "domain": (
        lambda: model([node("Relu", "x", "y", domain="com.example")], {"x": (2,)}, ["y"]),
        "com.example::Relu",
    ),
    "order": (
        lambda: model([node("Relu", "z", "y"), node("Neg", "x", "z")], {"x": (2,)}, ["y"]),
        "out of order or in a circle",
    ),
    "circle": (
        lambda: model([node("Add", "x y", "y")], {"x": (2,)}, ["y"]),
        "takes 'y', which no node before it computes",
    ),
    "twice": (
        lambda: model([node("Neg", "x", "y"), node("Relu", "x", "y")], {"x": (2,)}, ["y"]),
        "computes 'y', which is there already",
    ),
    "output": (
        lambda: model([node("Neg", "x", "y")], {"x": (2,)}, ["z"]),
        "output 'z' is computed by no node",
    ),
    "tokens": (
        lambda: model([node("Neg", "x", "y")], {"x": (2,)}, ["y"], kind=onnx.TensorProto.INT64),
        "holds INT64: encrypted inputs are floating-point",
    ),
    "no-input": (
        lambda: model([node("Neg", "c", "y")], {}, ["y"], {"c": normal(2)}),
        "no input that could be encrypted",
    ),
    "version": (
        lambda: model([node("Neg", "x", "y")], {"x": (2,)}, ["y"], opset=5),
        "operators of version 5: versions 7",
    ),
    "infinite": (
        lambda: model([node("Add", "x c", "y")], {"x": (2,)}, ["y"], {"c": np.array([np.inf, 0])}),
        "tensor 'c' holds infinities",
    ),
    "huge": (
        lambda: model([node("Neg", "x", "y")], {"x": (1 << 20, 1 << 20)}, ["y"]),
        "are the most",
    ),
    "unused": (
        lambda: model([node("Neg", "c", "y")], {"x": (2,)}, ["y"], {"c": normal(2)}),
        "do not depend on an input",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_network_that_cannot_be_read_is_refused_in_one_line(name: str) -> None:
    make, message = REFUSED[name]
    with pytest.raises(InteropError, match=message) as found:
        from_onnx(make().SerializeToString())
    assert "\n" not in str(found.value)


def damaged(change: Callable[[onnx.ModelProto], None]) -> onnx.ModelProto:
    given = model([node("Add", "x c", "y")], {"x": (2,)}, ["y"], {"c": normal(2)})
    change(given)
    return given


def outside(given: onnx.ModelProto) -> None:
    found = given.graph.initializer[0]
    found.data_location = onnx.TensorProto.EXTERNAL
    found.external_data.add(key="location", value="/etc/passwd")


def long(given: onnx.ModelProto) -> None:
    given.graph.initializer[0].dims[:] = [1 << 40]


def negative(given: onnx.ModelProto) -> None:
    given.graph.initializer[0].dims[:] = [-2]


def short(given: onnx.ModelProto) -> None:
    given.graph.initializer[0].dims[:] = [3]


def looped(given: onnx.ModelProto) -> None:
    inner = given.graph.node[0].attribute.add(name="body", type=onnx.AttributeProto.GRAPH)
    inner.g.name = "body"


def texts(given: onnx.ModelProto) -> None:
    given.graph.initializer[0].CopyFrom(
        onnx.helper.make_tensor("c", onnx.TensorProto.STRING, [2], [b"a", b"b"])
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (outside, "lies in another file"),
        (long, "numbers are the most"),
        (negative, "numbers are the most"),
        (short, "is damaged"),
        (looped, "attribute 'body' is a graph"),
        (texts, "not numbers"),
    ],
)
def test_a_hostile_tensor_is_refused(
    change: Callable[[onnx.ModelProto], None], message: str
) -> None:
    with pytest.raises(InteropError, match=message):
        from_onnx(damaged(change))


@pytest.mark.parametrize("text", [b"Operator", b"first", b"result"])
def test_a_name_that_is_no_text_is_refused(text: bytes) -> None:
    given = model([node("Operator", "first", "result")], {"first": (2,)}, ["result"])
    content = given.SerializeToString().replace(text, b"\xff" * len(text))
    with pytest.raises(InteropError, match=r"is no text in UTF-8|no file of ONNX"):
        from_onnx(content)


def test_what_is_no_file_of_onnx_is_refused(tmp_path: Any) -> None:  # noqa: ANN401
    for content in (b"\xff" * 40, b"", b"PK\x03\x04 a zip"):
        file = tmp_path / "network.onnx"
        file.write_bytes(content)
        with pytest.raises(InteropError, match=r"network\.onnx"):
            from_onnx(file)
    with pytest.raises(InteropError, match="cannot be read"):
        from_onnx(tmp_path / "missing.onnx")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"error": 2.0}, "give a part from 0 to 1"),
        ({"error": 0.1, "degree": 4}, "or a degree"),
        ({"batch": 0}, "a batch of 1"),
        ({"calibrate": np.zeros((3, 5))}, r"finite numbers of shape \(count, 16\)"),
        ({"calibrate": np.full((3, 16), np.nan)}, "finite numbers"),
        ({"calibrate": {"z": np.zeros((3, 16))}}, "no input has this name"),
        ({"calibrate": np.zeros((0, 16))}, "give one or more"),
        ({"bounds": {"z": (0, 1)}}, "no input has this name"),
    ],
)
def test_arguments_that_do_not_fit_are_refused(
    options: dict[str, Any], message: str, rng: np.random.Generator
) -> None:
    with pytest.raises(ParameterError, match=message):
        from_onnx(mlp(rng), **options)


GROWING: dict[str, tuple[list[onnx.NodeProto], dict[str, object]]] = {
    "constant": (
        [node("ConstantOfShape", "n", "o"), node("Add", "x o", "y")],
        {"n": np.array([1 << 20, 1 << 20])},
    ),
    "concat": (
        [
            *(node("Concat", f"c{i} c{i}", f"c{i + 1}", axis=0) for i in range(60)),
            node("ReduceSum", "c60", "s"),
            node("Add", "x s", "y"),
        ],
        {"c0": normal(8)},
    ),
    "broadcast": (
        [
            node("Expand", "x n", "a"),
            node("Reshape", "a r", "b"),
            node("Add", "a b", "c"),
            node("ReduceMax", "c", "y"),
        ],
        {"n": np.array([1 << 20]), "r": np.array([-1, 1])},
    ),
    "live": (
        [
            *(node("Expand", "x n", f"a{i}") for i in range(20)),
            node("Sum", " ".join(f"a{i}" for i in range(20)), "y"),
        ],
        {"n": np.array([1 << 23])},
    ),
}


@pytest.mark.parametrize("name", GROWING)
def test_a_network_that_outgrows_memory_is_refused(name: str) -> None:
    nodes, constants = GROWING[name]
    given = model(nodes, {"x": (1,)}, ["y"], constants)
    with pytest.raises((InteropError, ProgramError), match=r"numbers at most|needed at once"):
        from_onnx(given, calibrate=np.ones(1))
