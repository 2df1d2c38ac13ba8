"""How an image, and the network's layers, lie in the slots of ciphertexts.

An image is sent as 25 ciphertexts, one for each element of a kernel: LoLa's representation for
convolutions. Each holds the pixels that its element meets, 845 of them: one for each position of
the kernel in each of the five maps. So the convolution takes 25 products with plaintexts and no
rotation. 845 entries are padded to 1,024, and every entry lies in slots/1024 slots. Which ones they
are depends on the order in which the hidden layer needs them (``Order``).
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ringsmith.apps.mnist.network import (
    DIGITS,
    HIDDEN,
    KERNEL,
    MAP,
    MAPS,
    SIDE,
    Network,
    Reals,
    windows,
)
from ringsmith.errors import ParameterError

ELEMENTS: Final = KERNEL * KERNEL
"""Elements of a kernel: ciphertexts of an image."""
ENTRIES: Final = MAPS * MAP * MAP
"""Neurons of the convolution: 845."""
PADDED: Final = 1024
"""``ENTRIES``, padded to a power of two."""
BLOCK: Final = 128
"""``HIDDEN``, padded to a power of two: with ``Order.DIAGONALS``, slots of a block."""


class Order(StrEnum):
    """In which order the entries of the maps lie, and so how dense layers are computed.

    Attributes:
        DIAGONALS: Slot 128*f + 32*c + h holds entry 32*f + h, for each copy c. A dense layer is a
            sum over 32 diagonals, each a product with a plaintext that holds 4,096 weights.
        ROWS: Slot 4*e + c holds entry e, for each copy c: LoLa's stacked vectors, interleaved. A
            product with a plaintext holds the weights of four neurons, and ten rotations sum it up.
    """

    DIAGONALS = "diagonals"
    ROWS = "rows"


@dataclass(frozen=True)
class Layout:
    """Where everything lies.

    Attributes:
        slots: Of a ciphertext, a power of two from 2,048.
        order: Of the entries.

    Raises:
        ParameterError: When the slots do not hold two copies of the maps.
    """

    slots: int
    order: Order

    def __post_init__(self) -> None:
        if not 2 * PADDED <= self.slots <= BLOCK * PADDED:
            raise ParameterError(
                f"{self.slots} slots do not hold 2 … {BLOCK} copies of {PADDED} map entries: take "
                f"N = {4 * PADDED} or more"
            )

    @property
    def copies(self) -> int:
        """Slots that hold the same entry."""
        return self.slots // PADDED

    @property
    def window(self) -> int:
        """Of ``Order.DIAGONALS``: entries of a block, and diagonals of the hidden layer."""
        return BLOCK // self.copies

    @property
    def entries(self) -> NDArray[np.int64]:
        """The entry in each slot, (slots,): 0 … 1,023; those from 845 on are empty."""
        slot = np.arange(self.slots)
        if self.order is Order.ROWS:
            return slot // self.copies
        return slot // BLOCK * self.window + slot % self.window

    def pack(self, pixels: Reals) -> list[Reals]:
        """Returns the slot vectors, one for each kernel element, of pixels (28, 28).

        Raises:
            ParameterError: When the image has another size.
        """
        if pixels.shape != (SIDE, SIDE):
            raise ParameterError(
                f"pixels have the shape {pixels.shape}: an image has {SIDE} x {SIDE} pixels"
            )
        under = windows(pixels[None])[0].reshape(MAP * MAP, ELEMENTS)
        return [self._spread(np.repeat(under[:, element], MAPS)) for element in range(ELEMENTS)]

    def kernels(self, network: Network) -> list[Reals]:
        """Returns the convolution's weights, a slot vector for each kernel element."""
        by_element = network.kernels.reshape(MAPS, ELEMENTS).T
        return [self._spread(np.tile(weights, MAP * MAP)) for weights in by_element]

    def map_biases(self, network: Network) -> Reals:
        """Returns the convolution's biases, (slots,)."""
        return self._spread(np.tile(network.map_biases, MAP * MAP))

    def hidden_diagonals(self, network: Network) -> list[Reals]:
        """Returns the hidden layer's weights, ``window`` diagonals of (slots,) each.

        Slot s of diagonal k weighs what lies k slots on, for neuron s modulo 128. Any ``window``
        slots from s on, over all s of one neuron, hold every entry once.
        """
        weights = np.zeros((BLOCK, PADDED))
        weights[:HIDDEN, :ENTRIES] = network.hidden_weights.reshape(HIDDEN, ENTRIES)
        neuron, entries = np.arange(self.slots) % BLOCK, self.entries
        return [weights[neuron, np.roll(entries, -k)] for k in range(self.window)]

    def hidden_rows(self, network: Network) -> list[Reals]:
        """Returns the hidden layer's weights for ``copies`` neurons at a time, (slots,) each."""
        weights = np.zeros((-(-HIDDEN // self.copies) * self.copies, PADDED))
        weights[:HIDDEN, :ENTRIES] = network.hidden_weights.reshape(HIDDEN, ENTRIES)
        groups = weights.reshape(-1, self.copies, PADDED)
        return [group.T.ravel() for group in groups]

    def hidden_biases(self, network: Network) -> list[Reals]:
        """Returns the biases where neurons lie: of all neurons, or of each group of rows."""
        biases = network.hidden_biases
        if self.order is Order.DIAGONALS:
            return [np.tile(np.pad(biases, (0, BLOCK - HIDDEN)), self.slots // BLOCK)]
        padded = np.pad(biases, (0, -HIDDEN % self.copies)).reshape(-1, self.copies)
        return [np.tile(group, self.slots // self.copies) for group in padded]

    @property
    def score_slots(self) -> NDArray[np.int64]:
        """The slots of the ten scores; the first ones of a ciphertext are the least precise."""
        step = BLOCK if self.order is Order.DIAGONALS else self.copies
        return step * np.arange(1, DIGITS + 1)

    def score_weights(self, network: Network) -> list[Reals]:
        """Returns the last layer's weights for each ciphertext of hidden neurons, (slots,) each."""
        weights = network.score_weights
        if self.order is Order.ROWS:
            weights = np.pad(weights, ((0, 0), (0, -HIDDEN % self.copies)))
            groups = weights.reshape(DIGITS, -1, self.copies).transpose(1, 0, 2)
        else:
            groups = np.pad(weights, ((0, 0), (0, BLOCK - HIDDEN)))[None]
        vectors = np.zeros((len(groups), self.slots))
        size = groups.shape[2]
        vectors[:, size : size * (DIGITS + 1)] = groups.reshape(len(groups), -1)
        return list(vectors)

    def score_biases(self, network: Network) -> Reals:
        """Returns the biases of the scores, (slots,)."""
        vector = np.zeros(self.slots)
        vector[self.score_slots] = network.score_biases
        return vector

    def unpack(self, values: Reals) -> Reals:
        """Returns the ten scores of a slot vector (slots,)."""
        return values[self.score_slots]

    def _spread(self, entries: Reals) -> Reals:
        """Returns entries (845,) in all their slots, and zeros in the empty ones."""
        return np.pad(entries, (0, PADDED - ENTRIES))[self.entries]
