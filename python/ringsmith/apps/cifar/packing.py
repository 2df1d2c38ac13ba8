"""How an image, and the network's layers, lie in the slots of ciphertexts.

An image is sent as 2 x 192 ciphertexts: two for each element of a first kernel, which hold the
pixels that it meets for the first 8,134 and the other 8,134 of the 16,268 neurons. So the first
convolution takes no rotation, and its neurons lie in two ciphertexts.

The second convolution is a matrix of 4,075 rows, padded to 4,096, by diagonals: slot s of the
product with diagonal k weighs the neuron k slots on, for row s mod 4,096. Any 4,096 slots from s
on, over both slots s of a row, hold every neuron once.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ringsmith.apps.cifar.network import (
    CLASSES,
    COLOURS,
    FIRST,
    FIRST_MAPS,
    FIRST_SIDE,
    KERNEL,
    SECOND,
    SECOND_KERNEL,
    SECOND_MAPS,
    SECOND_SIDE,
    SIDE,
    STRIDE,
    Network,
    Reals,
    windows,
)
from ringsmith.errors import ParameterError

ELEMENTS: Final = KERNEL * KERNEL * COLOURS
"""Elements of a first kernel."""
HALVES: Final = 2
"""Ciphertexts of the first maps."""
HALF: Final = FIRST // HALVES
"""Neurons in each."""
ROWS: Final = 4096
"""``SECOND``, padded: diagonals of each half, and the period of the second maps in slots."""
SCORES: Final = 16
"""``CLASSES``, padded: diagonals of the last layer."""


@dataclass(frozen=True)
class Layout:
    """Where everything lies.

    Attributes:
        slots: Of a ciphertext: 8,192.

    Raises:
        ParameterError: When there are others.
    """

    slots: int

    def __post_init__(self) -> None:
        if self.slots != 2 * ROWS:
            raise ParameterError(
                f"{self.slots} slots: the network is laid out for {2 * ROWS}, N = {4 * ROWS}"
            )

    def pack(self, pixels: Reals) -> list[Reals]:
        """Returns the slot vectors of pixels (32, 32, 3): both halves of each kernel element.

        Raises:
            ParameterError: When the image has another size.
        """
        if pixels.shape != (SIDE, SIDE, COLOURS):
            raise ParameterError(
                f"pixels have the shape {pixels.shape}: an image has {SIDE} x {SIDE} pixels of "
                f"{COLOURS} colours"
            )
        under = windows(pixels).reshape(FIRST_SIDE**2, ELEMENTS)
        return [
            half
            for element in range(ELEMENTS)
            for half in self._halves(np.repeat(under[:, element], FIRST_MAPS))
        ]

    def kernels(self, network: Network, half: int) -> list[Reals]:
        """Returns the first convolution's weights of a half, a slot vector for each element."""
        by_element = network.kernels.reshape(FIRST_MAPS, ELEMENTS).T
        return [self._halves(np.tile(weights, FIRST_SIDE**2))[half] for weights in by_element]

    def first_biases(self, network: Network, half: int) -> Reals:
        """Returns the first convolution's biases of a half, (slots,)."""
        return self._halves(np.tile(network.first_biases, FIRST_SIDE**2))[half]

    def second_diagonal(self, network: Network, half: int, k: int) -> Reals:
        """Returns a diagonal of the second convolution for a half of the first maps, (slots,)."""
        slot = np.arange(self.slots)
        row, entry = slot % ROWS, (slot + k) % self.slots
        there = (row < SECOND) & (entry < HALF)
        place, channel = np.divmod(row, SECOND_MAPS)
        position, source = np.divmod(entry + half * HALF, FIRST_MAPS)
        dy = position // FIRST_SIDE - STRIDE * (place // SECOND_SIDE)
        dx = position % FIRST_SIDE - STRIDE * (place % SECOND_SIDE)
        for offset in (dy, dx):
            there &= (offset >= 0) & (offset < SECOND_KERNEL)
        at = np.flatnonzero(there)
        weights = np.zeros(self.slots)
        weights[at] = network.second_kernels[channel[at], dy[at], dx[at], source[at]]
        return weights

    def second_biases(self, network: Network) -> Reals:
        """Returns the second convolution's biases, (slots,)."""
        biases = np.pad(np.tile(network.second_biases, SECOND_SIDE**2), (0, ROWS - SECOND))
        return np.tile(biases, 2)

    def score_diagonal(self, network: Network, k: int) -> Reals:
        """Returns a diagonal of the last layer, (slots,); its second half is empty."""
        weights = np.zeros((SCORES, ROWS))
        weights[:CLASSES, :SECOND] = network.score_weights.reshape(CLASSES, SECOND)
        slot = np.arange(ROWS)
        return np.pad(weights[slot % SCORES, (slot + k) % ROWS], (0, self.slots - ROWS))

    def score_biases(self, network: Network) -> Reals:
        """Returns the biases of the scores, (slots,)."""
        return np.pad(network.score_biases, (SCORES, self.slots - SCORES - CLASSES))

    def unpack(self, values: Reals) -> Reals:
        """Returns the ten scores of a slot vector (slots,): the first slots are less precise."""
        return values[SCORES : SCORES + CLASSES]

    def _halves(self, neurons: Reals) -> tuple[Reals, Reals]:
        """Both halves of the first maps, with zeros behind them."""
        spare = (0, self.slots - HALF)
        return np.pad(neurons[:HALF], spare), np.pad(neurons[HALF:], spare)
