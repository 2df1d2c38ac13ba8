"""Two networks for MNIST as modules of MLIR, in the form in which PyTorch exporters write them.

    python networks.py lola FOLDER [IMAGE.png]   lola.mlir and image.npy
    python networks.py perceptron FOLDER         perceptron.mlir, its weights, and image.npy

``lola`` has the weights of ``ringsmith run mnist``: convolution, square, 100 neurons, square, 10
scores. Of a picture it takes the left 28 x 28 pixels. ``perceptron`` has random weights, which are
arguments in the clear: 784 pixels, 512 neurons with ReLU, 10 scores.
"""

import sys
from pathlib import Path

import numpy as np

from ringsmith.apps.mnist.network import MAP, Network
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


def lola():
    """LoLa's network."""
    network = Network.load()
    # Three maps of zeros: heir_py 2026.10.1 and 2026.11.1 pack the maps of a convolution of stride
    # 2 in fours, and give wrong weights to the next layer where their number is no multiple of
    # four.
    kernels = np.zeros((8, 1, 5, 5))
    kernels[:5, 0] = network.kernels
    biases = np.zeros((1, 8, MAP, MAP))
    biases[0, :5] = network.map_biases[:, None, None]
    hidden = np.zeros((100, 8, MAP, MAP))
    hidden[:, :5] = network.hidden_weights.transpose(0, 3, 1, 2)
    hidden = hidden.reshape(100, -1)
    return f"""func.func @lola(%image: tensor<1x1x29x29xf32> {{secret.secret}}) -> tensor<10xf32> {{
  %kernels = arith.constant {constant(kernels)} : tensor<8x1x5x5xf32>
  %map_biases = arith.constant {constant(biases)} : tensor<1x8x13x13xf32>
  %hidden_weights = arith.constant {constant(hidden)} : tensor<100x1352xf32>
  %hidden_biases = arith.constant {constant(network.hidden_biases)} : tensor<100xf32>
  %score_weights = arith.constant {constant(network.score_weights)} : tensor<10x100xf32>
  %score_biases = arith.constant {constant(network.score_biases)} : tensor<10xf32>
  %maps = linalg.conv_2d_nchw_fchw
      {{dilations = dense<1> : vector<2xi64>, strides = dense<2> : vector<2xi64>}}
      ins(%image, %kernels : tensor<1x1x29x29xf32>, tensor<8x1x5x5xf32>)
      outs(%map_biases : tensor<1x8x13x13xf32>) -> tensor<1x8x13x13xf32>
{square("%maps", "%squares", "1x8x13x13xf32")}  %flat = tensor.collapse_shape %squares
      [[0, 1, 2, 3]] : tensor<1x8x13x13xf32> into tensor<1352xf32>
  %hidden = linalg.matvec ins(%hidden_weights, %flat : tensor<100x1352xf32>, tensor<1352xf32>)
      outs(%hidden_biases : tensor<100xf32>) -> tensor<100xf32>
{square("%hidden", "%active", "100xf32")}
  %scores = linalg.matvec ins(%score_weights, %active : tensor<10x100xf32>, tensor<100xf32>)
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
    if kind == "lola":
        (folder / "lola.mlir").write_text(lola())
        image = np.zeros((1, 1, 29, 29))
        pixels = rng.uniform(0, 1, (28, 28)) if picture is None else read_gray(picture)
        image[0, 0, 1:, 1:] = pixels[:28, :28]  # padded by the client
    else:
        (folder / "perceptron.mlir").write_text(PERCEPTRON)
        for name, shape, spread in (
            ("w1", (512, 784), 0.1),
            ("b1", (512,), 0.5),
            ("w2", (10, 512), 0.05),
            ("b2", (10,), 0.5),
        ):
            np.save(folder / f"{name}.npy", rng.normal(0, spread, shape).astype(np.float32))
        image = rng.uniform(0, 1, 784)
    np.save(folder / "image.npy", image.astype(np.float32))


if __name__ == "__main__":
    write(sys.argv[1], Path(sys.argv[2]), *map(Path, sys.argv[3:]))
