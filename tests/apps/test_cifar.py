"""The network of CIFAR-10's size: images, in the clear, packed, and encrypted."""

from pathlib import Path

import numpy as np
import pytest
from tests.apps.commands import run
from tests.apps.test_pictures import write
from typer.testing import CliRunner

from ringsmith.apps.cifar import (
    ELEMENTS,
    FIRST,
    FIRST_MAPS,
    FIRST_WIDTH,
    HALF,
    HALVES,
    ROWS,
    SECOND,
    SECOND_MAPS,
    SECOND_WIDTH,
    SHAPES,
    Layout,
    Network,
    read_cifar,
    read_picture,
)
from ringsmith.apps.pictures import read_colours
from ringsmith.cli.main import app
from ringsmith.errors import InteropError, ParameterError

FLOWER = Path(__file__).parents[1] / "images" / "flower-32.png"


@pytest.fixture(scope="module")
def network() -> Network:
    """The random network."""
    return Network.random()


def first_by_definition(network: Network, image: np.ndarray, y: int, x: int, m: int) -> float:
    """A neuron of the first convolution: a ring of zeros around the image."""
    padded = np.zeros((34, 34, 3))
    padded[1:33, 1:33] = image
    window = padded[2 * y : 2 * y + 8, 2 * x : 2 * x + 8]
    return float((window * network.kernels[m]).sum() + network.first_biases[m])


def test_a_cifar_file_and_a_picture_are_read(tmp_path: Path, rng: np.random.Generator) -> None:
    pixels = rng.integers(0, 256, (32, 32, 3), dtype=np.uint8)
    record = bytes([9]) + np.moveaxis(pixels, 2, 0).tobytes()
    file = tmp_path / "test_batch.bin"
    file.write_bytes(bytes(3073) + record)
    found, label = read_cifar(file, 1)
    assert (np.array_equal(found, pixels), label) == (True, 9)
    with pytest.raises(ParameterError, match="image 2: take one of 0 … 1"):
        read_cifar(file, 2)
    file.write_bytes(record[:-1])
    with pytest.raises(InteropError, match="3072 bytes are no whole number of images of 3073"):
        read_cifar(file, 0)
    file.write_bytes(bytes([10]) + record[1:])
    with pytest.raises(InteropError, match="image 0 has the label 10"):
        read_cifar(file, 0)
    picture = tmp_path / "picture.png"
    gray = pixels[..., 0]
    assert np.array_equal(read_picture(write(picture, gray)), np.dstack([gray] * 3))
    assert np.array_equal(read_picture(write(picture, pixels)), pixels)
    with pytest.raises(ParameterError, match="28 x 30 pixels, and the network takes 32 x 32"):
        read_picture(write(picture, pixels[:30, :28]))


def test_sums_are_those_of_the_definition(network: Network, rng: np.random.Generator) -> None:
    image = rng.uniform(0, 1, (32, 32, 3))
    sums = network.sums(image)
    for _ in range(20):
        y, x, m = [*rng.integers(FIRST_WIDTH, size=2).tolist(), int(rng.integers(FIRST_MAPS))]
        assert sums.first[y, x, m] == pytest.approx(first_by_definition(network, image, y, x, m))
        y, x, m = [*rng.integers(SECOND_WIDTH, size=2).tolist(), int(rng.integers(SECOND_MAPS))]
        window = sums.first[2 * y : 2 * y + 6, 2 * x : 2 * x + 6] ** 2
        found = (window * network.second_kernels[m]).sum() + network.second_biases[m]
        assert sums.second[y, x, m] == pytest.approx(found)
    scores = [(w * sums.second**2).sum() for w in network.score_weights] + network.score_biases
    assert np.allclose(sums.scores, scores)


def test_packed_images_times_packed_kernels_are_the_first_neurons(
    network: Network, rng: np.random.Generator
) -> None:
    layout, image = Layout(2 * ROWS), rng.uniform(0, 1, (32, 32, 3))
    packed = layout.pack(image)
    assert len(packed) == HALVES * ELEMENTS
    found = []
    for half in range(HALVES):
        weights = layout.kernels(network, half)
        sums = sum(x * w for x, w in zip(packed[half::HALVES], weights, strict=True))
        sums = sums + layout.first_biases(network, half)
        assert (sums[HALF:] == 0).all()
        found.append(sums[:HALF])
    assert np.allclose(np.concatenate(found), network.sums(image).first.reshape(FIRST))


def test_diagonals_hold_every_weight_of_a_neuron_once(
    network: Network, rng: np.random.Generator
) -> None:
    """Rows with all their slots and diagonals: the second convolution of random squares."""
    layout = Layout(2 * ROWS)
    squares = rng.uniform(0, 1, FIRST)
    maps = squares.reshape(FIRST_WIDTH, FIRST_WIDTH, FIRST_MAPS)
    halves = [np.pad(squares[i * HALF :][:HALF], (0, 2 * ROWS - HALF)) for i in range(HALVES)]
    rows = rng.choice(SECOND, 3, replace=False)
    slots = np.concatenate([rows, rows + ROWS])
    sums = np.zeros(len(slots))
    for half in range(HALVES):
        for k in range(ROWS):
            weights = layout.second_diagonal(network, half, k)
            sums += weights[slots] * np.roll(halves[half], -k)[slots]
    for index, row in enumerate(rows):
        place, channel = divmod(int(row), SECOND_MAPS)
        y, x = divmod(place, SECOND_WIDTH)
        window = maps[2 * y : 2 * y + 6, 2 * x : 2 * x + 6]
        expected = (window * network.second_kernels[channel]).sum()
        assert sums[index] + sums[index + len(rows)] == pytest.approx(expected)


def test_what_does_not_fit_is_refused(tmp_path: Path, network: Network) -> None:
    with pytest.raises(ParameterError, match="4096 slots: the network is laid out for 8192"):
        Layout(4096)
    with pytest.raises(ParameterError, match=r"shape \(28, 28\): an image has 32 x 32 pixels"):
        Layout(8192).pack(np.zeros((28, 28)))
    file = tmp_path / "weights.npz"
    np.savez(file, **{name: np.zeros(shape) for name, shape in SHAPES.items()})
    assert Network.load(file).score_biases.shape == (10,)
    np.savez(file, **{name: np.zeros(7) for name in SHAPES})
    with pytest.raises(ParameterError, match=r"kernels has the shape \(7,\), and \(83, 8, 8, 3\)"):
        Network.load(file)
    file.write_bytes(b"none")
    with pytest.raises(ParameterError, match=r"an NPZ file with kernels \(83, 8, 8, 3\)"):
        Network.load(file)
    np.savez_compressed(file, kernels=np.zeros(10 << 20))
    with pytest.raises(ParameterError, match=r"unpacks to \d+ bytes, and at most 67108864"):
        Network.load(file)


@pytest.mark.parametrize("arguments", [[], ["--image", "a.png", "--data", "b.bin"]])
def test_one_image_is_asked_for(arguments: list[str]) -> None:
    done = CliRunner().invoke(app, ["run", "cifar10", *arguments])
    assert done.exit_code == 2
    assert "no package with CIFAR-10 is known: give an image" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--image", str(FLOWER), "--index", "1"], "--index is of a file with many images"),
        (
            ["--data", "{folder}/short.bin", "--output", "{folder}/short.bin", "--force"],
            "short.bin: is read for this and not overwritten",
        ),
        (["--data", "{folder}/none.bin"], "none.bin: cannot be read: No such file or directory"),
        (["--data", "{folder}/short.bin"], "10 bytes are no whole number of images of 3073"),
        (["--image", str(FLOWER), "--weights", "{folder}/short.bin"], "an NPZ file with kernels"),
        (["--image", str(FLOWER), "--weights", "{folder}/nan.npz"], "kernels has values that are"),
        (["--image", str(FLOWER), "--weights", "{folder}/large.npz"], "a score of the image is"),
    ],
)
def test_what_cannot_be_run_is_refused(arguments: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "short.bin").write_bytes(bytes(10))
    arrays = {name: np.zeros(shape) for name, shape in SHAPES.items()}
    np.savez(tmp_path / "nan.npz", **(arrays | {"kernels": np.full(SHAPES["kernels"], np.nan)}))
    np.savez(tmp_path / "large.npz", **(arrays | {"score_biases": np.full(10, -2.5)}))
    words = [word.replace("{folder}", str(tmp_path)) for word in arguments]
    done = CliRunner().invoke(app, ["run", "cifar10", *words])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
    assert said in done.stderr


@pytest.mark.full
def test_one_encrypted_image_gets_the_clear_networks_scores(
    tmp_path: Path, network: Network
) -> None:
    """The whole network on the cpu device: about a minute, and 3 GB of memory."""
    numbers, _ = run(["run", "cifar10", "--image", str(FLOWER)], tmp_path)
    clear = network.sums(read_colours(FLOWER) / 255.0).scores
    assert np.allclose(numbers["clear_scores"], clear)
    assert np.abs(np.subtract(numbers["scores"], clear)).max() < 1e-3
    assert sum(layer["operations"] for layer in numbers["layers"]) < 82_730
