"""``ringsmith run cifar10``."""

from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np

from ringsmith.apps import session
from ringsmith.apps.cifar.client import Client
from ringsmith.apps.cifar.images import NAMES, read_cifar, read_picture
from ringsmith.apps.cifar.network import CLASSES, LAYERS, Network
from ringsmith.apps.cifar.server import LARGEST, Server
from ringsmith.apps.command import Command, device_and_design
from ringsmith.apps.layers import layers
from ringsmith.apps.machines import open_machine
from ringsmith.apps.results import program_numbers
from ringsmith.apps.tables import layers_table, rows_table
from ringsmith.backends.registry import takes_design
from ringsmith.errors import ParameterError
from ringsmith.files import Target
from ringsmith.params import ckks_set

PARAMETERS: Final = "lola-cifar10"
"""N = 2^14, 252 bits, 192-bit security."""
HZ: Final = 250e6
"""The Framework paper's clock, at which cycles become milliseconds. Assumed."""


@dataclass(frozen=True)
class Choice:
    """What is computed.

    Attributes:
        image: A PNG of 32 x 32 pixels; None: an image of ``data``.
        data: A file of CIFAR-10's binary version; None: none.
        index: Which image of ``data``; None: the first.
        weights: An NPZ file of weights; None: random ones.
    """

    image: Path | None = None
    data: Path | None = None
    index: int | None = None
    weights: Path | None = None

    def pixels(self) -> tuple[np.ndarray, int | None]:
        """Returns the pixels (32, 32, 3), 0 to 255, and the label where it is known.

        Raises:
            InteropError, ToolError: When a file cannot be read.
            ParameterError: When there is no image, or it has another size.
        """
        if (self.image is None) == (self.data is None):
            raise ParameterError(
                "no package with CIFAR-10 is known: give an image of your own with --image "
                "FILE.png, or a file of CIFAR-10's binary version with --data FILE.bin"
            )
        if self.index is not None and self.data is None:
            raise ParameterError("--index is of a file with many images: give it with --data")
        if self.image is not None:
            return read_picture(self.image), None
        assert self.data is not None
        return read_cifar(self.data, self.index or 0)


def run(device: str, design: str, choice: Choice, output: Target | None = None) -> None:
    """Evaluates the network on one encrypted image; shows the scores and what it took.

    Args:
        device: ``cpu`` or ``model``.
        design: The accelerator that ``model`` is.
        choice: Which image and which weights.
        output: Where to write the numbers as JSON; None: nowhere.

    Raises:
        DeviceError: When the device's residues differ from the cpu device's.
        InteropError: When a file cannot be read or written.
        ParameterError: When there is no such design or image.
        ProgramError: When the program does not fit the design.
    """
    command = Command(output, design, HZ, [choice.image, choice.data, choice.weights])
    stages, console = command.stages, command.console
    raw, label = choice.pixels()
    network = Network.load(choice.weights) if choice.weights else Network.random()
    clear = network.sums(raw / 255.0).scores
    if (largest := float(np.abs(clear).max())) >= LARGEST:
        raise ParameterError(
            f"a score of the image is {largest:.3g} in the clear, and an encrypted one must stay "
            f"below {LARGEST:g}: divide score_weights and score_biases"
        )
    with stages(session.PLAN, "about a minute") as stage:
        on_design = design if takes_design(device) else None
        server = Server(network, ckks_set(PARAMETERS), on_design)
        stage.note = session.program_note(server)
    client = session.make_keys(stages, lambda: Client(server.interface))
    with stages("Client: encrypt the image") as stage:
        inputs = client.encrypt(raw / 255.0)
        stage.note = f"{len(inputs)} ciphertexts, {session.mebibytes(*inputs.values())}"
    current = session.Session(network, [raw], server, client, [inputs], lambda scores: scores[0])
    answer = current.answer(stages, open_machine(stages, device, design))
    executable = server.compiled.compiled_graph.executable
    named = choice.weights is not None
    rows = [
        (NAMES[i] if named else str(i), f"{answer.outcome[i]:+.6f}", f"{clear[i]:+.6f}")
        for i in range(CLASSES)
    ]
    known = f"; the label says {NAMES[label]}" if named and label is not None else ""
    weights = "the user's weights" if named else "random weights"
    title = f"Scores by {weights}{known}"
    console.print(rows_table(title, ("class", "decrypted", "in the clear"), rows))
    found = layers(LAYERS, server.program, executable)
    console.print(layers_table(found))
    where = device_and_design(device, design)
    command.show_program(where, answer.results[0], executable, answer.equal_bits)
    numbers = {
        "scores": answer.outcome.tolist(),
        "clear_scores": clear.tolist(),
        "layers": [asdict(layer) for layer in found],
        "program": {
            "operations": dict(Counter(node.op for node in server.program.nodes)),
            **program_numbers(
                answer.results[0],
                executable,
                equal_bits=answer.equal_bits,
                seal_seconds=None,
                hz=HZ,
            ),
        },
    }
    typed = f"ringsmith run cifar10 --device {device} --design {design}"
    command.finish(typed, server.interface, numbers, answer.equal_bits)
