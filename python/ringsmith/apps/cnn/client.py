"""Whoever has the images: holds the secret key, encrypts and decrypts."""

from collections.abc import Iterator, Sequence

import numpy as np

from ringsmith.apps.cnn.images import Reals
from ringsmith.apps.cnn.interface import Interface
from ringsmith.client import decrypt_vector, encrypt_vector, generate_keys
from ringsmith.objects import Ciphertext


class Client:
    """Somebody with keys of their own.

    Attributes:
        evaluation_keys: What the server needs to compute.
    """

    def __init__(self, interface: Interface) -> None:
        """Makes keys for a server's interface."""
        self._interface = interface
        self._secret_key, self._public_key, self.evaluation_keys = generate_keys(
            interface.parameters, interface.key_needs, seeded=interface.seeded_keys
        )

    def pack(self, pixels: Reals) -> Iterator[Reals]:
        """Yields slot vectors of pixels (images, 8, 8), as many images in each as fit.

        Raises:
            ParameterError: When the images have another size.
        """
        layout = self._interface.layout
        for start in range(0, len(pixels), layout.images):
            yield layout.pack(pixels[start : start + layout.images])

    def encrypt(self, pixels: Reals) -> list[Ciphertext]:
        """Packs and encrypts pixels (images, 8, 8) from 0 to 1.

        Raises:
            ParameterError: When the images have another size.
        """
        interface = self._interface
        return [
            encrypt_vector(
                interface.parameters,
                self._public_key,
                packed,
                scale=interface.input_scale,
                limbs=interface.input_limbs,
            )
            for packed in self.pack(pixels)
        ]

    def decrypt(self, batches: Sequence[Ciphertext], images: int) -> Reals:
        """Returns the scores (images, 10) of all images from the batches' scores."""
        interface = self._interface
        found = [
            interface.layout.unpack(
                decrypt_vector(interface.parameters, self._secret_key, batch).real,
                interface.layout.images,
            )
            for batch in batches
        ]
        return np.concatenate(found)[:images]
