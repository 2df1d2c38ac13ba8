"""How images, and the network's layers, lie in the slots of a ciphertext.

A ciphertext of N/2 slots holds P = slots / entries images side by side, interleaved: slot j*P + p
holds entry j of image p. An image's entries are grids of 8 x 8, one for each map, row by row:
entry 64*m + 8*y + x. The client repeats its image in every grid, so each map's kernel finds the
image in its own. A map's 6 x 6 sums lie in the top left corner of its grid; a dense layer's sums in
the first entries. No slot mixes two images.
"""

from dataclasses import dataclass

import numpy as np

from ringsmith.apps.cnn.images import DIGITS, SIDE, Reals
from ringsmith.apps.cnn.network import KERNEL, MAP, Network
from ringsmith.errors import ParameterError


@dataclass(frozen=True)
class Layout:
    """Where everything lies.

    Attributes:
        slots: Of a ciphertext, a power of two.
        maps: Of the convolution.

    Raises:
        ParameterError: When the slots do not hold the maps of one image.
    """

    slots: int
    maps: int

    def __post_init__(self) -> None:
        if self.slots < self.entries:
            raise ParameterError(
                f"{self.slots} slots do not hold the {self.entries} entries of an image with "
                f"{self.maps} maps: raise N to {2 * self.entries}, or take fewer maps"
            )

    @property
    def grids(self) -> int:
        """Grids of an image: one a map, and empty ones up to a power of two."""
        return 1 << (self.maps - 1).bit_length()

    @property
    def entries(self) -> int:
        """Entries of an image."""
        return self.grids * SIDE * SIDE

    @property
    def images(self) -> int:
        """Images in a ciphertext: the distance of one image's entries in slots."""
        return self.slots // self.entries

    def pack(self, pixels: Reals) -> Reals:
        """Returns the slot vector (slots,) of pixels (images, 8, 8); empty places are zero.

        Raises:
            ParameterError: When there are more images than fit, or they have another size.
        """
        if pixels.shape[1:] != (SIDE, SIDE) or not 1 <= len(pixels) <= self.images:
            raise ParameterError(
                f"pixels have the shape {pixels.shape}: one ciphertext takes (images, {SIDE}, "
                f"{SIDE}) with 1 … {self.images} images: make batches"
            )
        packed = np.zeros((self.grids, SIDE * SIDE, self.images))
        packed[: self.maps, :, : len(pixels)] = pixels.reshape(len(pixels), -1).T
        return packed.ravel()

    def unpack(self, values: Reals, images: int) -> Reals:
        """Returns the scores (images, 10) of a slot vector (slots,)."""
        return values.reshape(self.entries, self.images)[:DIGITS, :images].T

    def convolution(self, network: Network) -> Reals:
        """Returns the convolution as a matrix (entries, entries).

        It has one diagonal for each of the kernel's nine elements: element (i, j) weighs the entry
        8*i + j places on.
        """
        matrix = np.zeros((self.entries, self.entries))
        at = np.flatnonzero(self._in_corners(np.ones((self.maps, MAP, MAP))))
        for i in range(KERNEL):
            for j in range(KERNEL):
                matrix[at, at + SIDE * i + j] = network.kernels[at // (SIDE * SIDE), i, j]
        return matrix

    def map_biases(self, network: Network) -> Reals:
        """Returns the slot vector (slots,) of the convolution's biases."""
        biases = np.broadcast_to(network.map_biases[:, None, None], (self.maps, MAP, MAP))
        return self.spread(self._in_corners(biases))

    def hidden_weights(self, network: Network) -> Reals:
        """Returns the hidden layer's weights as a matrix (hidden, entries)."""
        return self._in_corners(network.hidden_weights)

    def spread(self, entries: Reals) -> Reals:
        """Returns the slot vector with every image's first entries, the same for all images."""
        return np.repeat(entries, self.images)

    def _in_corners(self, maps: Reals) -> Reals:
        """Returns (…, maps, 6, 6) as (…, entries): top left in grids, zeros elsewhere."""
        spare = (self.grids - self.maps, SIDE - MAP, SIDE - MAP)
        padding = [(0, 0)] * (maps.ndim - 3) + [(0, after) for after in spare]
        return np.pad(maps, padding).reshape(*maps.shape[:-3], self.entries)
