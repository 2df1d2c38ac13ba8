"""The server: it holds the network and computes on ciphertexts; it has no secret key.

Nothing here imports ``client``, and a test follows the imports to see that nothing it uses does.
"""

from collections.abc import Sequence
from functools import reduce
from operator import add
from typing import Final

import numpy as np

from ringsmith.apps.interface import PIXELS
from ringsmith.apps.mnist.interface import INPUTS, OUTPUT, Interface
from ringsmith.apps.mnist.network import Network, Reals
from ringsmith.apps.mnist.packing import BLOCK, PADDED, Layout, Order
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

LEVELS: Final = 5
"""Three layers and two squares, one level each."""
HEADROOM_BITS: Final = 1
LARGEST: Final = 2.0**HEADROOM_BITS
"""Scores stay below 2 in magnitude, of images like those of training."""
BABY_STEPS: Final = 8
"""Rotations of the maps, the one by 0 included, that all groups of diagonals share."""


def plan(network: Network, parameters: CkksParameters, order: Order) -> CkksProgram:
    """Returns the encrypted program, planned: 25 packed vectors in, scores out.

    Raises:
        ParameterError: When a ciphertext does not hold the maps twice.
        ProgramError: When the parameters have fewer levels than ``LEVELS``.
    """
    layout = Layout(parameters.slots, order)
    dense = _by_diagonals if order is Order.DIAGONALS else _by_rows

    def mnist(**elements: EncryptedVector) -> dict[str, EncryptedVector]:
        pixels = [elements[name] for name in INPUTS]
        maps = weighted_sum(pixels, layout.kernels(network)) + layout.map_biases(network)
        scores = dense(layout, network, maps**2) + layout.score_biases(network)
        return {OUTPUT: bounded(scores, LARGEST)}

    spec = InputSpec(parameters.slots, LEVELS + 1, bound=PIXELS)
    return trace(
        mnist,
        parameters,
        dict.fromkeys(INPUTS, spec),
        headroom_bits=HEADROOM_BITS,
        lazy_rescale=order is Order.DIAGONALS,
        rotate_products=order is Order.DIAGONALS,
    )


def weighted_sum(vectors: Sequence[EncryptedVector], weights: Sequence[Reals]) -> EncryptedVector:
    """Returns the sum of the vectors, each times its weights."""
    return reduce(add, (x * w for x, w in zip(vectors, weights, strict=True)))


def _by_diagonals(layout: Layout, network: Network, squares: EncryptedVector) -> EncryptedVector:
    """Both dense layers: 10 rotations by diagonals, 5 to sum blocks up, 7 for the scores."""
    diagonals = layout.hidden_diagonals(network)
    shifted = [squares.rotate(k) for k in range(min(BABY_STEPS, layout.window))]
    groups = []
    for start in range(0, layout.window, BABY_STEPS):
        group = [np.roll(weights, start) for weights in diagonals[start : start + BABY_STEPS]]
        groups.append(weighted_sum(shifted, group).rotate(start))
    sums = sum_rotations(reduce(add, groups), layout.slots // BLOCK, BLOCK)
    [biases], [weights] = layout.hidden_biases(network), layout.score_weights(network)
    return sum_rotations((sums + biases) ** 2 * weights, BLOCK)


def _by_rows(layout: Layout, network: Network, squares: EncryptedVector) -> EncryptedVector:
    """Both dense layers, as LoLa has them: four neurons of the first one at a time."""
    copies = layout.copies
    sums = [
        sum_rotations(squares * weights, PADDED, copies) + biases
        for weights, biases in zip(
            layout.hidden_rows(network), layout.hidden_biases(network), strict=True
        )
    ]
    products = weighted_sum([neurons**2 for neurons in sums], layout.score_weights(network))
    return sum_rotations(products, copies)


class Server(ProgramServer):
    """A network made ready to classify an encrypted image.

    Attributes:
        interface: What clients need to know.
    """

    def __init__(
        self,
        network: Network,
        parameters: CkksParameters,
        design: str | Design | None,
        order: Order,
    ) -> None:
        """Plans and compiles.

        Args:
            network: The trained network.
            parameters: HE parameters, of five levels or more.
            design: Accelerator to schedule for; None: the ``cpu`` device only.
            order: Of the entries in slots.

        Raises:
            ParameterError: When a ciphertext does not hold the network's maps twice.
            ProgramError: When the parameters or the design are too small for the program.
        """
        super().__init__(plan(network, parameters, order), design)
        self.interface = Interface(*self.terms, Layout(parameters.slots, order))
