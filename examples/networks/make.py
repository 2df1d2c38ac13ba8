"""Networks as other frameworks export them, with samples: ``python make.py NAME FOLDER``.

NAME is ``mlp`` or ``transformer`` (digits of scikit-learn), ``lola`` or ``lenet5`` (MNIST:
``ringsmith fetch mnist``), or ``resnet20`` (crops of pictures: ``pip install scikit-image``). In
FOLDER it writes NAME.onnx, and of images that were not trained on NAME.npy, NAME-labels.npy and the
first alone, NAME-one.npy.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

Samples = tuple[NDArray[np.float64], NDArray[np.int64]]
OPSET = 20


def network(
    nodes: Sequence[onnx.NodeProto], shape: Sequence[int], constants: Mapping[str, object]
) -> onnx.ModelProto:
    """Returns a network from ``image``, with a batch that is left open, to ``scores``."""
    graph = helper.make_graph(
        list(nodes),
        "network",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", *shape])],
        [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["batch", 10])],
        [
            numpy_helper.from_array(np.asarray(each, np.float32), name)
            for name, each in constants.items()
        ],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)])


def node(name: str, operator: str, inputs: str, output: str, **options: object) -> onnx.NodeProto:
    """Returns a node; names of inputs are separated by spaces."""
    return helper.make_node(operator, inputs.split(), [output], name=name, **options)


def mlp() -> tuple[onnx.ModelProto, Samples]:
    """Digits of 8 x 8 pixels, 32 neurons with ReLU, trained by scikit-learn."""
    from sklearn.datasets import load_digits
    from sklearn.neural_network import MLPClassifier

    data = load_digits()
    pixels, count = data.data / 16, 1297
    model = MLPClassifier((32,), alpha=0.1, max_iter=1000, random_state=1)
    model.fit(pixels[:count], data.target[:count])
    (w1, w2), (b1, b2) = model.coefs_, model.intercepts_
    nodes = [
        node("dense1", "Gemm", "image w1 b1", "hidden"),
        node("relu", "Relu", "hidden", "active"),
        node("dense2", "Gemm", "active w2 b2", "scores"),
    ]
    made = network(nodes, [64], {"w1": w1, "b1": b1, "w2": w2, "b2": b2})
    return made, (pixels[count:], data.target[count:])


def lola() -> tuple[onnx.ModelProto, Samples]:
    """The network of LoLa (Brutzkus, Elisha, Gilad-Bachrach 2019), with squares."""
    from ringsmith.apps.mnist import SHAPE, trained_network

    weights = trained_network()
    nodes = [
        node("conv", "Conv", "image k kb", "maps", strides=[2, 2], pads=[1, 1, 0, 0]),
        node("square1", "Mul", "maps maps", "squares"),
        node("flatten", "Flatten", "squares", "flat"),
        node("dense1", "Gemm", "flat h hb", "hidden", transB=1),
        node("square2", "Mul", "hidden hidden", "active"),
        node("dense2", "Gemm", "active s sb", "scores", transB=1),
    ]
    constants = {
        "k": weights.kernels[:, None],
        "kb": weights.map_biases,
        "h": weights.hidden_weights.reshape(SHAPE.hidden, -1),
        "hb": weights.hidden_biases,
        "s": weights.score_weights,
        "sb": weights.score_biases,
    }
    return network(nodes, [1, 28, 28], constants), mnist()


def lenet5() -> tuple[onnx.ModelProto, Samples]:
    """LeNet-5 (LeCun et al. 1998) with the weights of ``lenet5_training.py``."""
    weights = dict(np.load(Path(__file__).with_name("lenet5.npz")))
    nodes = [
        node("c1", "Conv", "image c1 c1.bias", "maps1", pads=[2, 2, 2, 2]),
        node("tanh1", "Tanh", "maps1", "active1"),
        node("s2", "AveragePool", "active1", "pooled1", kernel_shape=[2, 2], strides=[2, 2]),
        node("c3", "Conv", "pooled1 c3 c3.bias", "maps3"),
        node("tanh3", "Tanh", "maps3", "active3"),
        node("s4", "AveragePool", "active3", "pooled3", kernel_shape=[2, 2], strides=[2, 2]),
        node("flatten", "Flatten", "pooled3", "flat"),
        node("f5", "Gemm", "flat f5 f5.bias", "sums5"),
        node("tanh5", "Tanh", "sums5", "active5"),
        node("f6", "Gemm", "active5 f6 f6.bias", "sums6"),
        node("tanh6", "Tanh", "sums6", "active6"),
        node("f7", "Gemm", "active6 f7 f7.bias", "scores"),
    ]
    return network(nodes, [1, 28, 28], weights), mnist()


def mnist() -> Samples:
    """MNIST's test images, from 0 to 1."""
    from ringsmith.apps.mnist.data import TEST, load_images

    images = load_images(TEST)
    return images.pixels.reshape(-1, 1, 28, 28) / 255, images.digits


def resnet20() -> tuple[onnx.ModelProto, Samples]:
    """ResNet-20 (He et al. 2015) with the weights of ``resnet20_training.py``."""
    from crops import crops

    weights = dict(np.load(Path(__file__).with_name("resnet20.npz")))
    nodes = []

    def convolved(x: str, name: str, stride: int = 1) -> str:
        pads = [weights[name].shape[-1] // 2] * 4
        inputs = f"{x} {name} {name}.bias"
        nodes.append(node(name, "Conv", inputs, f"{name}.y", pads=pads, strides=[stride] * 2))
        return f"{name}.y"

    def active(x: str, name: str) -> str:
        nodes.append(node(name, "Relu", x, f"{name}.y"))
        return f"{name}.y"

    x = active(convolved("image", "conv0"), "relu0")
    for stage in (1, 2, 3):
        for block in (1, 2, 3):
            name, stride = f"block{stage}.{block}", 2 if stage > 1 and block == 1 else 1
            first = active(convolved(x, f"{name}.a", stride), f"{name}.relu1")
            y = convolved(first, f"{name}.b")
            shortcut = convolved(x, f"{name}.s", stride) if f"{name}.s" in weights else x
            nodes.append(node(f"{name}.add", "Add", f"{y} {shortcut}", f"{name}.y"))
            x = active(f"{name}.y", f"{name}.relu2")
    nodes += [
        node("pool", "GlobalAveragePool", x, "means"),
        node("flatten", "Flatten", "means", "flat"),
        node("dense", "Gemm", "flat dense dense.bias", "scores"),
    ]
    return network(nodes, [3, 32, 32], weights), crops(1000, test=True, seed=2)


def transformer() -> tuple[onnx.ModelProto, Samples]:
    """A transformer block with the weights of ``transformer_training.py``; tokens are rows."""
    from sklearn.datasets import load_digits

    data, count = load_digits(), 1297
    weights = dict(np.load(Path(__file__).with_name("transformer.npz")))
    width = weights["query"].shape[0]
    weights["query"] = weights["query"].astype(np.float32) / np.sqrt(width)
    nodes = [
        node("embed", "MatMul", "image embed", "embedded"),
        node("place", "Add", "embedded position", "tokens"),
        node("layernorm1", "LayerNormalization", "tokens norm1 norm1.bias", "normed1"),
        node("queries", "MatMul", "normed1 query", "queries"),
        node("keys", "MatMul", "normed1 key", "keys"),
        node("values", "MatMul", "normed1 value", "values"),
        node("turn", "Transpose", "keys", "turned", perm=[0, 2, 1]),
        node("logits", "MatMul", "queries turned", "logits"),
        node("softmax", "Softmax", "logits", "shares", axis=-1),
        node("attention", "MatMul", "shares values", "attended"),
        node("mix", "MatMul", "attended mixed", "mixture"),
        node("add1", "Add", "tokens mixture", "tokens1"),
        node("layernorm2", "LayerNormalization", "tokens1 norm2 norm2.bias", "normed2"),
        node("widen", "MatMul", "normed2 wide", "widened"),
        node("shift1", "Add", "widened wide.bias", "hidden"),
        node("gelu", "Gelu", "hidden", "active"),
        node("narrow", "MatMul", "active narrow", "narrowed"),
        node("shift2", "Add", "narrowed narrow.bias", "block"),
        node("add2", "Add", "tokens1 block", "tokens2"),
        node("mean", "ReduceMean", "tokens2 one", "pooled", keepdims=0),
        node("dense", "Gemm", "pooled dense dense.bias", "scores"),
    ]
    made = network(nodes, [8, 8], weights)
    made.graph.initializer.append(numpy_helper.from_array(np.array([1]), "one"))
    return made, (data.images[count:] / 16, data.target[count:])


NETWORKS: Mapping[str, Callable[[], tuple[onnx.ModelProto, Samples]]] = {
    "mlp": mlp,
    "lola": lola,
    "lenet5": lenet5,
    "resnet20": resnet20,
    "transformer": transformer,
}


def main(name: str, folder: Path) -> None:
    """Writes a network and its samples."""
    model, (samples, labels) = NETWORKS[name]()
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(model, folder / f"{name}.onnx")
    np.save(folder / f"{name}.npy", samples.astype(np.float32))
    np.save(folder / f"{name}-one.npy", samples[:1].astype(np.float32))
    np.save(folder / f"{name}-labels.npy", np.asarray(labels, np.int64))
    print(f"{folder / name}.onnx, and {len(labels):,} samples")


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in NETWORKS:
        sys.exit(f"usage: make.py {'|'.join(NETWORKS)} FOLDER")
    main(sys.argv[1], Path(sys.argv[2]))
