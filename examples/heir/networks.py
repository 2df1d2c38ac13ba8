"""Networks for MNIST as modules of MLIR, in the form in which PyTorch exporters write them.

    python networks.py KIND FOLDER [IMAGE.png]   KIND.mlir, clear arguments, and image.npy
    python networks.py all FOLDER [IMAGE.png]    a folder for each kind, and networks.toml

``lola`` has the weights of ``ringsmith run mnist``: convolution, square, 100 neurons, square, 10
scores. Of a picture it takes the left 28 x 28 pixels. ``lola-2x2`` is the same network in the
shapes of HEIR's own example, with random weights. ``perceptron`` has random weights, which are
arguments in the clear: 784 pixels, 512 neurons with ReLU, 10 scores. ``networks.toml`` is a list
for ``ringsmith bench heir``.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ringsmith.apps.mnist import trained_network
from ringsmith.apps.pictures import read_gray


def constant(values):
    """A constant's elements as raw bytes."""
    return f'dense<"0x{values.astype("<f4").tobytes().hex().upper()}">'


def square(name, result, shape):
    """The square of every element."""
    rank = shape.count("x")
    dims = ", ".join(f"d{i}" for i in range(rank))
    same = f"affine_map<({dims}) -> ({dims})>"
    kinds = ", ".join(['"parallel"'] * rank)
    return f"""  {result}_empty = tensor.empty() : tensor<{shape}>
  {result} = linalg.generic {{indexing_maps = [{same}, {same}], iterator_types = [{kinds}]}}
      ins({name} : tensor<{shape}>) outs({result}_empty : tensor<{shape}>) {{
  ^bb0(%in: f32, %out: f32):
    %product = arith.mulf %in, %in : f32
    linalg.yield %product : f32
  }} -> tensor<{shape}>
"""


@dataclass(frozen=True)
class Weights:
    """LoLa's layers: convolution of stride 2, square, dense layer, square, dense layer.

    Attributes:
        kernels: (maps, width, width).
        map_biases: (maps,).
        hidden_weights: Of squared map entries, (hidden, maps, rows, columns).
        hidden_biases: (hidden,).
        score_weights: (10, hidden).
        score_biases: (10,).
    """

    kernels: np.ndarray
    map_biases: np.ndarray
    hidden_weights: np.ndarray
    hidden_biases: np.ndarray
    score_weights: np.ndarray
    score_biases: np.ndarray

    def scores(self, image):
        """The ten scores of an image of (rows, columns)."""
        width = self.kernels.shape[1]
        windows = np.lib.stride_tricks.sliding_window_view(image, (width, width))[::2, ::2]
        maps = np.einsum("xyij,mij->mxy", windows, self.kernels) + self.map_biases[:, None, None]
        hidden = np.einsum("nmxy,mxy->n", self.hidden_weights, maps**2) + self.hidden_biases
        return self.score_weights @ hidden**2 + self.score_biases


def trained():
    """The weights of ``ringsmith run mnist``: kernels of 5 x 5, images with a border of zeros."""
    network = trained_network()
    return Weights(
        network.kernels,
        network.map_biases,
        network.hidden_weights,
        network.hidden_biases,
        network.score_weights,
        network.score_biases,
    )


def drawn():
    """Random weights in the shapes of HEIR's own example: kernels of 2 x 2, an image of 28 x 28."""
    rng = np.random.default_rng(29)
    return Weights(
        rng.normal(0, 0.5, (5, 2, 2)),
        rng.normal(0, 0.2, 5),
        rng.normal(0, 0.03, (100, 5, 14, 14)),
        rng.normal(0, 0.2, 100),
        rng.normal(0, 0.03, (10, 100)),
        rng.normal(0, 0.1, 10),
    )


def lola(name, weights):
    """LoLa's network as a module."""
    # Three maps of zeros: heir_py 2026.10.1 and 2026.11.1 pack the maps of a convolution of stride
    # 2 in fours, and give wrong weights to the next layer where their number is no multiple of
    # four. HEIR's own example has such maps, too.
    maps = len(weights.kernels)
    hidden, _, width, _ = weights.hidden_weights.shape
    kernel = weights.kernels.shape[1]
    pixels = 2 * (width - 1) + kernel
    kernels = np.zeros((8, 1, kernel, kernel))
    kernels[:maps, 0] = weights.kernels
    biases = np.zeros((1, 8, width, width))
    biases[0, :maps] = weights.map_biases[:, None, None]
    dense = np.zeros((hidden, 8, width, width))
    dense[:, :maps] = weights.hidden_weights
    dense = dense.reshape(hidden, -1)
    image, map_shape = f"1x1x{pixels}x{pixels}xf32", f"1x8x{width}x{width}xf32"
    kernel_shape, flat = f"8x1x{kernel}x{kernel}xf32", dense.shape[1]
    return f"""func.func @{name}(%image: tensor<{image}> {{secret.secret}}) -> tensor<10xf32> {{
  %kernels = arith.constant {constant(kernels)} : tensor<{kernel_shape}>
  %map_biases = arith.constant {constant(biases)} : tensor<{map_shape}>
  %hidden_weights = arith.constant {constant(dense)} : tensor<{hidden}x{flat}xf32>
  %hidden_biases = arith.constant {constant(weights.hidden_biases)} : tensor<{hidden}xf32>
  %score_weights = arith.constant {constant(weights.score_weights)} : tensor<10x{hidden}xf32>
  %score_biases = arith.constant {constant(weights.score_biases)} : tensor<10xf32>
  %maps = linalg.conv_2d_nchw_fchw
      {{dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}}
      ins(%image, %kernels : tensor<{image}>, tensor<{kernel_shape}>)
      outs(%map_biases : tensor<{map_shape}>) -> tensor<{map_shape}>
{square("%maps", "%squares", map_shape)}  %flat = tensor.collapse_shape %squares
      [[0, 1, 2, 3]] : tensor<{map_shape}> into tensor<{flat}xf32>
  %hidden = linalg.matvec ins(%hidden_weights, %flat :
      tensor<{hidden}x{flat}xf32>, tensor<{flat}xf32>)
      outs(%hidden_biases : tensor<{hidden}xf32>) -> tensor<{hidden}xf32>
{square("%hidden", "%active", f"{hidden}xf32")}
  %scores = linalg.matvec ins(%score_weights, %active :
      tensor<10x{hidden}xf32>, tensor<{hidden}xf32>)
      outs(%score_biases : tensor<10xf32>) -> tensor<10xf32>
  return %scores : tensor<10xf32>
}}
"""


PERCEPTRON = """func.func @perceptron(%w1: tensor<512x784xf32>, %b1: tensor<512xf32>,
    %w2: tensor<10x512xf32>, %b2: tensor<10xf32>, %image: tensor<784xf32> {secret.secret})
    -> tensor<10xf32> {
  %zero = arith.constant dense<0.0> : tensor<512xf32>
  %sums = linalg.matvec ins(%w1, %image : tensor<512x784xf32>, tensor<784xf32>)
      outs(%b1 : tensor<512xf32>) -> tensor<512xf32>
  %active = arith.maximumf %sums, %zero {domain_lower = -15.0 : f64, domain_upper = 12.0 : f64}
      : tensor<512xf32>
  %scores = linalg.matvec ins(%w2, %active : tensor<10x512xf32>, tensor<512xf32>)
      outs(%b2 : tensor<10xf32>) -> tensor<10xf32>
  return %scores : tensor<10xf32>
}
"""


def write(kind, folder, picture=None):
    """Writes one network's files."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(29)
    if kind == "perceptron":
        (folder / "perceptron.mlir").write_text(PERCEPTRON)
        for name, shape, spread in (
            ("w1", (512, 784), 0.1),
            ("b1", (512,), 0.5),
            ("w2", (10, 512), 0.05),
            ("b2", (10,), 0.5),
        ):
            np.save(folder / f"{name}.npy", rng.normal(0, spread, shape).astype(np.float32))
        image = rng.uniform(0, 1, 784)
    else:
        name, weights, border = KINDS[kind]
        (folder / f"{kind}.mlir").write_text(lola(name, weights()))
        pixels = rng.uniform(0, 1, (28, 28)) if picture is None else read_gray(picture)
        image = np.pad(pixels[:28, :28], ((border, 0), (border, 0)))[None, None]
    np.save(folder / "image.npy", image.astype(np.float32))


KINDS = {"lola": ("lola", trained, 1), "lola-2x2": ("lola_2x2", drawn, 0)}
"""LoLa's networks: name of the function, weights, and rows of zeros above an image."""

LIST = """\
[perceptron]
file = "perceptron/perceptron.mlir"

[perceptron.clear]
arg0 = "perceptron/w1.npy"
arg1 = "perceptron/b1.npy"
arg2 = "perceptron/w2.npy"
arg3 = "perceptron/b2.npy"

[perceptron.inputs]
arg4 = "perceptron/image.npy"

[lola]
file = "lola/lola.mlir"
slots = 2048
headroom_bits = 1
inputs = { arg0 = "lola/image.npy" }

[lola-2x2]
file = "lola-2x2/lola-2x2.mlir"
slots = 2048
headroom_bits = 1
inputs = { arg0 = "lola-2x2/image.npy" }
"""


def write_all(folder, picture=None):
    """Writes all networks, and their list."""
    for kind in ("perceptron", *KINDS):
        write(kind, folder / kind, picture)
    (folder / "networks.toml").write_text(LIST)


if __name__ == "__main__":
    kind, *paths = sys.argv[1], *map(Path, sys.argv[2:])
    if kind == "all":
        write_all(*paths)
    else:
        write(kind, *paths)
