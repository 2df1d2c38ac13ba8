"""The convolutional network: in the clear, packed, and encrypted on every device."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from tests.apps.commands import run
from typer.testing import CliRunner

from ringsmith import runtime
from ringsmith.apps.cnn import (
    HELD_OUT,
    INPUT,
    LEVELS,
    OUTPUT,
    PARAMETERS,
    SHAPE,
    Cnn,
    images_per_batch,
    load_images,
    plan,
    trained,
)
from ringsmith.apps.convolution import Images, Network, Shape, gradient
from ringsmith.apps.session import begin
from ringsmith.apps.stages import Stages
from ringsmith.cli.main import app
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.params import CkksParameters, ckks_set
from ringsmith.program import Op

STAGES = Stages(Console(quiet=True))
KERNEL, MAP = SHAPE.kernel, SHAPE.map_width
SMALL = Shape(8, 3, maps=1, hidden=4)


@pytest.fixture(scope="module")
def images() -> tuple[Images, Images]:
    """Training images, and held-out ones."""
    return load_images()


@pytest.fixture(scope="module")
def network(images: tuple[Images, Images]) -> Network:
    """The trained network of full size."""
    return trained(images[0])


@pytest.fixture(scope="module")
def small() -> CkksParameters:
    """N = 2^10, as many levels as the network takes; of no security."""
    return CkksParameters.create(
        n=1024, prime_bits=(50, *(40,) * LEVELS), special_bits=55, scale_bits=40, security=None
    )


def random_network(rng: np.random.Generator, maps: int, hidden: int) -> Network:
    """A network of random weights, whose sums stay near 1."""
    return Network(
        replace(SHAPE, maps=maps, hidden=hidden),
        rng.uniform(-1, 1, (maps, KERNEL, KERNEL)) / KERNEL,
        rng.uniform(-1, 1, maps),
        rng.uniform(-1, 1, (hidden, maps, MAP, MAP)) / MAP**2,
        rng.uniform(-1, 1, hidden),
        rng.uniform(-1, 1, (10, hidden)) / hidden,
        rng.uniform(-1, 1, 10),
    )


def scores_by_definition(network: Network, image: np.ndarray) -> np.ndarray:
    """The scores of one image, sum by sum: zeros above and to the left, windows by the stride."""
    shape = network.shape
    padded = np.pad(image, (shape.padding, 0))
    maps = np.zeros((shape.maps, shape.map_width, shape.map_width))
    for m, y, x in np.ndindex(maps.shape):
        top, left = shape.stride * y, shape.stride * x
        window = padded[top : top + shape.kernel, left : left + shape.kernel]
        maps[m, y, x] = (network.kernels[m] * window).sum() + network.map_biases[m]
    hidden = np.array([(w * maps**2).sum() for w in network.hidden_weights])
    return network.score_weights @ (hidden + network.hidden_biases) ** 2 + network.score_biases


# ---- in the clear ------------------------------------------------------------------------------


def test_images_are_split_in_two_with_none_in_both(images: tuple[Images, Images]) -> None:
    assert [len(part) for part in images] == [1797 - HELD_OUT, HELD_OUT]
    for part in images:
        assert (part.pixels.min(), part.pixels.max()) == (0, 1)
        assert set(part.digits) == set(range(10))
    distinct = [{image.tobytes() for image in part.pixels} for part in images]
    assert not distinct[0] & distinct[1]
    assert len(distinct[1]) == HELD_OUT


@pytest.mark.parametrize(
    "shape", [Shape(8, 3, 3, 5), Shape(12, 5, 2, 4, stride=2, padding=1)], ids=str
)
def test_scores_are_those_of_the_definition_and_slopes_those_of_the_cross_entropy(
    shape: Shape, rng: np.random.Generator
) -> None:
    network = Network.initial(shape, rng)
    pixels, digits = rng.uniform(0, 1, (6, shape.width, shape.width)), rng.integers(0, 10, 6)
    scores = [scores_by_definition(network, image) for image in pixels]
    assert np.abs(network.scores(pixels) - scores).max() < 1e-12

    def loss(changed: Network) -> float:
        scores = changed.scores(pixels)
        by_image = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(6), digits]
        return float(by_image.mean())

    found, slopes = gradient(network, pixels, digits)
    assert found == pytest.approx(loss(network))
    for name, size in shape.arrays.items():
        weights, slope = getattr(network, name), getattr(slopes, name)
        assert slope.shape == weights.shape == size
        step = 1e-5 * rng.uniform(-1, 1, size)
        ends = [loss(replace(network, **{name: weights + sign * step})) for sign in (1, -1)]
        assert ends[0] - ends[1] == pytest.approx(
            2 * float(np.sum(slope * step)), rel=1e-5, abs=1e-13
        )


def test_the_trained_network_reads_held_out_digits(
    network: Network, images: tuple[Images, Images]
) -> None:
    held_out = images[1]
    right = network.scores(held_out.pixels).argmax(axis=1) == held_out.digits
    assert right.mean() > 0.97


def test_sums_of_the_scaled_network_stay_near_1_and_its_answers_are_the_same(
    network: Network, images: tuple[Images, Images]
) -> None:
    for layer, unseen in zip(*(network.sums(part.pixels) for part in images), strict=True):
        assert np.abs(layer).max() == pytest.approx(1)
        assert np.abs(unseen).max() < 1.25
    rng = np.random.default_rng(1)
    other, pixels = random_network(rng, 2, 3), rng.uniform(0, 1, (20, 8, 8))
    scores, scaled = other.scores(pixels), other.scaled(2.0, 3.0, 5.0)
    assert np.abs(scaled.scores(pixels) * 5 - scores).max() < 1e-12
    assert np.abs(scaled.sums(pixels).maps * 2 - other.sums(pixels).maps).max() < 1e-12


# ---- the program -------------------------------------------------------------------------------


@pytest.mark.parametrize(("maps", "hidden", "count"), [(1, 4, 8), (3, 32, 2), (4, 9, 2)])
def test_the_planned_program_computes_the_scores_of_every_image(
    maps: int, hidden: int, count: int, small: CkksParameters, rng: np.random.Generator
) -> None:
    pixels = rng.uniform(0, 1, (count, 8, 8))
    network = random_network(rng, maps, hidden)
    network = network.scaled(*(np.abs(layer).max() for layer in network.sums(pixels)))
    assert images_per_batch(small.slots, network.shape) == count
    program = plan(network, small)
    scores = network.scores(pixels)
    assert np.abs(program.evaluate({INPUT: pixels})[OUTPUT] - scores).max() < 1e-12
    slots = program.simulate({INPUT: pixels})[OUTPUT].real
    simulated = slots[program.packed_outputs[OUTPUT].table - 1].reshape(scores.shape)
    assert np.abs(simulated - scores).max() < 1e-12
    assert program.outputs[OUTPUT].limbs == 1


def test_the_program_takes_few_rotations_and_every_key_for_several(network: Network) -> None:
    program = plan(network, ckks_set(PARAMETERS))
    counts = Counter(node.op for node in program.nodes)
    assert counts[Op.MULTIPLY_PLAIN] == 9 + 32 + 16
    assert counts[Op.ROTATE] == (2 + 2) + (7 + 3 + 3) + (7 + 1 + 1)
    assert counts[Op.SQUARE] == counts[Op.RELINEARIZE] == 2
    assert len(program.key_needs.galois) == 13


def test_parameters_with_too_few_levels_are_refused(rng: np.random.Generator) -> None:
    with pytest.raises(ProgramError, match="limbs"):
        plan(random_network(rng, 1, 4), ckks_set("nano"))


def test_pixels_outside_their_range_are_refused(small: CkksParameters) -> None:
    current = begin(STAGES, Cnn(1, SMALL, small))
    for pixel in (-0.01, 1.5, np.nan):
        pixels = np.zeros((8, 8, 8))
        pixels[0, 0, 1] = pixel
        with pytest.raises((ParameterError, ProgramError), match=r"outside its range 0 … 1|finite"):
            current.client.encrypt([{INPUT: pixels}])


# ---- encrypted ---------------------------------------------------------------------------------


def test_decrypted_scores_are_the_clear_networks(small: CkksParameters) -> None:
    """A small network and ring: twelve images in two ciphertexts."""
    current = begin(STAGES, Cnn(12, SMALL, small))
    assert len(current.inputs) == 2
    answer = current.answer(STAGES, runtime.open_device("cpu"))
    quality = answer.outcome.quality()
    assert quality["images"] == quality["same_digit"] == 12
    assert quality["largest_error"] < 1e-4
    assert answer.equal_bits is None


def test_run_cnn_prints_its_figures_and_writes_them(tmp_path: Path) -> None:
    numbers, said = run(["run", "cnn", "--images", "33"], tmp_path)
    quality = numbers["quality"]
    assert quality["images"] == quality["same_digit"] == 33
    assert quality["largest_error"] < 1e-6 < quality["smallest_lead"] / 2
    assert (numbers["runs"], numbers["images_per_batch"]) == (2, 32)
    assert numbers["parameters"]["security_bits"] == 128
    assert "33 of 33" in said


@pytest.mark.full
def test_every_held_out_image_gets_the_clear_networks_digit_and_seal_agrees(tmp_path: Path) -> None:
    numbers, said = run(["run", "cnn", "--seal"], tmp_path)
    quality = numbers["quality"]
    assert quality["images"] == quality["same_digit"] == HELD_OUT
    assert quality["right_encrypted"] == quality["right_clear"] > 0.97 * HELD_OUT
    assert quality["largest_error"] < 1e-6
    assert numbers["program"]["seal_seconds"] > 0
    assert "Microsoft SEAL, same program" in said


@pytest.mark.full
def test_an_accelerator_classifies_two_batches_with_the_predicted_cycles(tmp_path: Path) -> None:
    arguments = ["--device", "model", "--images", "33"]
    numbers, said = run(["run", "cnn", *arguments], tmp_path)
    program, quality = numbers["program"], numbers["quality"]
    assert program["equal_bits_with_cpu"] is True
    assert program["cycles"] == program["predicted_cycles"]
    assert quality["images"] == quality["same_digit"] == 33
    assert f"{program['cycles']:,}" in said


@pytest.mark.parametrize("images", [0, HELD_OUT + 1])
def test_images_that_there_are_not_are_refused_at_once(images: int) -> None:
    done = CliRunner().invoke(app, ["run", "cnn", "--images", str(images)])
    assert done.exit_code == 2
    assert done.stdout == ""
    assert f"images = {images}: take 1 … {HELD_OUT}" in done.stderr
