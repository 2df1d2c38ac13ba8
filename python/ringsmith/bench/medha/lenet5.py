"""What operations an encrypted network of LeNet-5's size takes, counted from its layers.

Layers and their sizes are LeNet-5's (LeCun, Bottou, Bengio, Haffner 1998, figure 2), with squares
for activations and means for pooling (CryptoNets, Gilad-Bachrach et al. 2016), and F6, which has no
activation here, in one matrix with the output layer: seven products follow each other. Slots are
used as GAZELLE does (Juvekar, Vaikuntanathan, Chandrakasan 2018): all maps of a layer lie in one
ciphertext, convolutions rotate their input, and a matrix with few rows is multiplied by its
diagonals, whose sums are folded.
"""

import math
from collections import Counter
from dataclasses import dataclass

SIDE = 32
"""A map's side: LeNet-5's input, and the grid on which all later maps lie."""


def _power(count: int) -> int:
    """The power of two that ``count`` places are filled up to."""
    return 1 << (count - 1).bit_length()


@dataclass(frozen=True)
class Convolution:
    """A layer of square kernels; maps are filled up to powers of two.

    Attributes:
        maps_in: Input maps.
        maps_out: Output maps.
        kernel: Side of a kernel.
    """

    maps_in: int
    maps_out: int
    kernel: int

    @property
    def slots(self) -> int:
        """Slots that its maps take."""
        return _power(max(self.maps_in, self.maps_out)) * SIDE * SIDE

    def counts(self) -> Counter[str]:
        """A product for each kernel element of each diagonal of maps, rotations of both.

        The client sends a single input map as often as there are output maps. Others are repeated
        by rotations until there are as many as output maps.
        """
        taps, diagonals = self.kernel**2, _power(self.maps_in)
        repeats = 0
        if self.maps_in > 1:
            repeats = int(math.log2(max(1, _power(self.maps_out) // diagonals)))
        products = taps * diagonals
        return Counter(
            multiply_plain=products,
            rotate=repeats + taps - 1 + diagonals - 1,
            add=repeats + products - 1,
            rescale=1,
            add_plain=1,
        )


@dataclass(frozen=True)
class Matrix:
    """A fully connected layer.

    Attributes:
        slots: Slots over which the inputs are spread.
        rows: Outputs.
    """

    slots: int
    rows: int

    def counts(self) -> Counter[str]:
        """A product for each diagonal, whose rotations are made in small and large steps."""
        diagonals = _power(self.rows)
        small = 1 << (diagonals.bit_length() - 1) // 2
        folds = int(math.log2(_power(self.slots) // diagonals))
        return Counter(
            multiply_plain=diagonals,
            rotate=small - 1 + diagonals // small - 1 + folds,
            add=diagonals - 1 + folds,
            rescale=1,
            add_plain=1,
        )


class Square:
    """An activation x^2."""

    def counts(self) -> Counter[str]:
        """A product of ciphertexts."""
        return Counter(multiply_relinearize=1, rescale=1)


class MeanPool:
    """Sums of 2 x 2 neighbours; the quarter is in the next layer's weights."""

    def counts(self) -> Counter[str]:
        """A neighbour beside, and the pair below."""
        return Counter(rotate=2, add=2)


C1, C3 = Convolution(1, 6, 5), Convolution(6, 16, 5)
C5 = Matrix(C3.slots, 120)
OUTPUT = Matrix(C5.rows, 10)
LAYERS = (C1, Square(), MeanPool(), C3, Square(), MeanPool(), C5, Square(), OUTPUT)


def operations() -> Counter[str]:
    """How many of which operations the whole network takes, for one image."""
    return sum((layer.counts() for layer in LAYERS), Counter())


def depth() -> int:
    """Rescalings one after another."""
    return sum(layer.counts()["rescale"] for layer in LAYERS)


def slots() -> int:
    """Slots of a ciphertext that the network needs."""
    return max(C1.slots, C3.slots)
