"""The server: it holds the network and computes on ciphertexts; it has no secret key.

Nothing here imports ``client``, and a test follows the imports to see that nothing it uses does.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Final

import numpy as np

from ringsmith import progress
from ringsmith.apps.cifar.network import Network
from ringsmith.apps.cifar.packing import ELEMENTS, HALVES, ROWS, SCORES, Layout
from ringsmith.apps.interface import PIXELS, VectorInterface
from ringsmith.apps.server import ProgramServer
from ringsmith.backends.base import Design
from ringsmith.params import CkksParameters
from ringsmith.program import (
    CkksProgram,
    EncryptedVector,
    InputSpec,
    bounded,
    sum_rotations,
    trace,
)

INPUTS: Final = tuple(f"element{i:03}_{half}" for i in range(ELEMENTS) for half in range(HALVES))
"""The encrypted program's inputs, in the order in which an image is packed."""
OUTPUT: Final = "scores"
"""The encrypted program's output."""
LEVELS: Final = 5
"""Three layers and two squares, one level each."""
HEADROOM_BITS: Final = 1
LARGEST: Final = 2.0**HEADROOM_BITS
"""What the one limb that is left holds of a score."""
BABY_STEPS: Final = 64
"""Rotations of each half that all groups of diagonals share."""


@dataclass(frozen=True, eq=False)
class Interface(VectorInterface):
    """What the owner of an image must know to be served.

    Attributes:
        layout: Where an image and its scores lie in ciphertexts.
    """

    layout: Layout


def plan(network: Network, parameters: CkksParameters) -> CkksProgram:
    """Returns the encrypted program, planned: 384 packed vectors in, scores out.

    Raises:
        ParameterError: When a ciphertext has other slots than 8,192.
        ProgramError: When the parameters have fewer levels than ``LEVELS``.
    """
    layout = Layout(parameters.slots)

    def cifar(**elements: EncryptedVector) -> dict[str, EncryptedVector]:
        pixels = [elements[name] for name in INPUTS]
        squares = []
        for half in range(HALVES):
            weights = layout.kernels(network, half)
            sums = reduce(add, (x * w for x, w in zip(pixels[half::HALVES], weights, strict=True)))
            squares.append((sums + layout.first_biases(network, half)) ** 2)
        second = _second(layout, network, squares) + layout.second_biases(network)
        scores = _scores(layout, network, second**2) + layout.score_biases(network)
        return {OUTPUT: bounded(scores, LARGEST)}

    spec = InputSpec(parameters.slots, LEVELS + 1, bound=PIXELS)
    return trace(
        cifar,
        parameters,
        dict.fromkeys(INPUTS, spec),
        headroom_bits=HEADROOM_BITS,
        rotate_products=True,
    )


def _second(layout: Layout, network: Network, squares: list[EncryptedVector]) -> EncryptedVector:
    """The second convolution: 2 x 4,096 diagonals in 64 baby and 64 giant steps.

    Giant steps are rotations of what was summed up before by 64, so that one key does for all.
    """
    shifted = [[half.rotate(k) for k in range(BABY_STEPS)] for half in squares]

    def group(start: int) -> Iterator[EncryptedVector]:
        for half in range(HALVES):
            for k in range(BABY_STEPS):
                weights = layout.second_diagonal(network, half, start + k)
                yield shifted[half][k] * np.roll(weights, start)

    with progress.task("recording the diagonals", ROWS, "diagonals") as task:
        total = reduce(add, group(ROWS - BABY_STEPS))
        for start in range(ROWS - 2 * BABY_STEPS, -1, -BABY_STEPS):
            task.advance(BABY_STEPS)
            total = reduce(add, group(start)) + total.rotate(BABY_STEPS)
    return sum_rotations(total, HALVES, ROWS)


def _scores(layout: Layout, network: Network, squares: EncryptedVector) -> EncryptedVector:
    """The last layer: 16 diagonals in 4 baby and 4 giant steps, and 9 rotations to sum them up."""
    steps = int(SCORES**0.5)
    shifted = [squares.rotate(k) for k in range(steps)]
    groups = []
    for start in range(0, SCORES, steps):
        weights = (np.roll(layout.score_diagonal(network, start + k), start) for k in range(steps))
        groups.append(reduce(add, (x * w for x, w in zip(shifted, weights, strict=True))))
        groups[-1] = groups[-1].rotate(start)
    return sum_rotations(reduce(add, groups), layout.slots // SCORES, SCORES)


class Server(ProgramServer):
    """A network made ready to classify an encrypted image.

    Attributes:
        interface: What clients need to know.
    """

    def __init__(
        self, network: Network, parameters: CkksParameters, design: str | Design | None
    ) -> None:
        """Plans and compiles.

        Args:
            network: The network.
            parameters: HE parameters of N = 2^14, of five levels or more.
            design: Accelerator to schedule for; None: the ``cpu`` device only.

        Raises:
            ParameterError: When a ciphertext has other slots than 8,192.
            ProgramError: When the parameters or the design are too small for the program.
        """
        super().__init__(plan(network, parameters), design)
        self.interface = Interface(*self.terms, Layout(parameters.slots))
