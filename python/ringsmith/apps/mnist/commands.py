"""``ringsmith run mnist`` and ``ringsmith fetch mnist``."""

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
from rich.console import Console

from ringsmith.apps import session as runs
from ringsmith.apps.command import Command, device_and_design
from ringsmith.apps.layers import layers
from ringsmith.apps.machines import open_machine
from ringsmith.apps.mnist import report, session
from ringsmith.apps.mnist.client import Client
from ringsmith.apps.mnist.images import TEST, Images, fetch, load_images
from ringsmith.apps.mnist.network import LAYERS, SIDE, Network
from ringsmith.apps.mnist.packing import Order
from ringsmith.apps.mnist.server import Server
from ringsmith.apps.mnist.survey import survey
from ringsmith.apps.pictures import read_gray
from ringsmith.apps.results import program_numbers
from ringsmith.apps.tables import layers_table
from ringsmith.backends.registry import takes_design
from ringsmith.errors import ParameterError
from ringsmith.files import Target, check_targets
from ringsmith.params import ckks_set

PARAMETERS: Final = "lola-mnist"
"""N = 2^13, 210 bits, 128-bit security, and the five levels that the network takes."""
HZ: Final = 250e6
"""The Framework paper's clock, at which cycles become milliseconds. Assumed."""
BRIGHT: Final = 0.5
"""Mean brightness of an image's border from which it looks like dark ink on bright paper."""


@dataclass(frozen=True)
class Choice:
    """Which image is classified.

    Attributes:
        file: A PNG of 28 x 28 pixels; None: one of MNIST's.
        invert: Whether the PNG has dark ink on bright paper.
        index: Which of MNIST's test images; None: the first.
        data: Folder of MNIST's IDX files; None: what was fetched.

    Raises:
        ParameterError: When options do not go together.
    """

    file: Path | None = None
    invert: bool = False
    index: int | None = None
    data: Path | None = None

    def __post_init__(self) -> None:
        if self.file is not None and (self.index is not None or self.data is not None):
            raise ParameterError(
                "--index and --data choose one of MNIST's images, and --image one of yours: leave "
                "out one or the other"
            )
        if self.invert and self.file is None:
            raise ParameterError("--invert is of a picture of yours: give it with --image")

    def files(self) -> list[Path]:
        """Returns the files that may be read."""
        if self.file is not None:
            return [self.file]
        return list(self.data.glob(f"{TEST}-*")) if self.data is not None else []

    def load(self) -> Images:
        """Returns the image; its digit is -1 where it is not known.

        Raises:
            InteropError: When a file cannot be read.
            ParameterError: When the image has another size, or there is no such test image.
            ToolError: When MNIST was not fetched, or Pillow is missing.
        """
        if self.file is None:
            images, index = load_images(TEST, self.data), self.index or 0
            if not 0 <= index < len(images):
                raise ParameterError(f"test image {index}: take one of 0 … {len(images) - 1}")
            chosen = slice(index, index + 1)
            return Images(images.pixels[chosen], images.digits[chosen])
        gray = read_gray(self.file)
        if gray.shape != (SIDE, SIDE):
            rows, columns = gray.shape
            raise ParameterError(
                f"{self.file}: {columns} x {rows} pixels, and MNIST's images have {SIDE} x {SIDE}: "
                "scale the digit to 20 x 20 and set it into the middle"
            )
        pixels = np.rint(255 * (1 - gray if self.invert else gray)).astype(np.uint8)
        return Images(pixels[None], np.array([-1]))

    def typed(self) -> str:
        """Returns the options as typed."""
        data = f" --data {self.data}" if self.data else ""
        if self.file is None:
            return f" --index {self.index or 0}{data}"
        return f" --image {self.file}" + " --invert" * self.invert


def fetch_data() -> None:
    """Downloads MNIST and says where it lies.

    Raises:
        ToolError: When it cannot be downloaded or kept.
    """
    Console().print(f"MNIST lies in {fetch()}", highlight=False, soft_wrap=True)


def run(
    device: str,
    design: str,
    choice: Choice,
    order: str,
    output: Target | None = None,
    record: Path | None = None,
) -> None:
    """Classifies one encrypted image on a device; shows it, its scores and what it took.

    Args:
        device: ``cpu``, ``model`` or ``rtl``.
        design: The accelerator that ``model`` and ``rtl`` are.
        choice: Which image.
        order: A value of ``Order``.
        output: Where to write the numbers as JSON; None: nowhere.
        record: Refused: records are of many images.

    Raises:
        DeviceError: When the device's residues differ from the cpu device's.
        InteropError: When a file cannot be read or written.
        ParameterError: When there is no such design or image.
        ProgramError: When the program does not fit the design.
        ToolError: When MNIST was not fetched.
    """
    if record is not None:
        raise ParameterError("--record is written for many images: say how many with --images")
    command = Command(output, design, HZ, choice.files())
    stages, console = command.stages, command.console
    images = choice.load()
    on_design = design if takes_design(device) else None
    current = session.begin(
        stages, Network.load(), ckks_set(PARAMETERS), on_design, images, Order(order)
    )
    answer = current.answer(stages, open_machine(stages, device, design))
    console.print()
    for line in report.picture(images.pixels[0]):
        console.print(f"  {line}", markup=False, highlight=False)
    if _border(images.pixels[0]) > BRIGHT:
        console.print("The border is bright: for dark ink on bright paper, add --invert.")
    console.print(report.scores_table(answer.outcome))
    executable = current.server.compiled.compiled_graph.executable
    found = layers(LAYERS, current.server.program, executable)
    console.print(layers_table(found))
    command.show_program(
        device_and_design(device, design), answer.results[0], executable, answer.equal_bits
    )
    numbers = {
        "digit": int(answer.outcome.encrypted[0].argmax()),
        "scores": answer.outcome.encrypted[0].tolist(),
        "clear_scores": answer.outcome.clear[0].tolist(),
        "order": order,
        "layers": [asdict(layer) for layer in found],
        "program": {
            "operations": dict(Counter(node.op for node in current.server.program.nodes)),
            **program_numbers(
                answer.results[0],
                executable,
                equal_bits=answer.equal_bits,
                seal_seconds=None,
                hz=HZ,
            ),
        },
    }
    typed = f"ringsmith run mnist --device {device} --design {design} --order {order}"
    command.finish(typed + choice.typed(), current.server.interface, numbers, answer.equal_bits)


def run_many(
    device: str,
    count: int,
    choice: Choice,
    order: str,
    record: Path | None = None,
    output: Target | None = None,
) -> None:
    """Classifies encrypted test images on the cpu device and prints how well.

    Args:
        device: ``cpu``; no other.
        count: Test images, from the first one on.
        choice: Where MNIST lies; no image of its own.
        order: A value of ``Order``.
        record: File of JSON lines to append to, and to go on from; None: none.
        output: Where to write the numbers as JSON; None: nowhere.

    Raises:
        InteropError: When a file cannot be read or written, or the record is of something else.
        ParameterError: When there are not so many images, or other options ask for one.
        ToolError: When MNIST was not fetched.
    """
    command = Command(output, None, HZ, [*choice.files(), record])
    check_targets(output, Target(record, force=True) if record else None, inputs=choice.files())
    if choice.file is not None or choice.index is not None or takes_design(device):
        raise ParameterError(
            "--images classifies MNIST's test images on the cpu device, whose residues the others "
            "have, too: leave out --image, --index and --device"
        )
    test = load_images(TEST, choice.data)
    if not 1 <= count <= len(test):
        raise ParameterError(f"images = {count}: take 1 … {len(test)}, the test images")
    stages, network = command.stages, Network.load()
    with stages(runs.PLAN) as stage:
        server = Server(network, ckks_set(PARAMETERS), None, Order(order))
        stage.note = runs.program_note(server)
    client = runs.make_keys(stages, lambda: Client(server.interface))
    with stages(f"Classify {count} encrypted images"):
        predictions = survey(network, server, client, test.first(count), record)
    quality = predictions.summary()
    command.console.print(report.quality_table(quality))
    typed = f"ringsmith run mnist --images {count} --order {order}"
    command.finish(typed, server.interface, {"quality": asdict(quality)}, None)


def _border(pixels: np.ndarray) -> float:
    """The mean brightness of the outermost pixels, 0 to 1."""
    inside = pixels[1:-1, 1:-1]
    return float((pixels.sum() - inside.sum()) / (pixels.size - inside.size) / 255)
