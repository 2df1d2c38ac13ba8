"""The owner of the images: holds the secret key, encrypts and decrypts."""

from collections.abc import Iterator, Sequence

import numpy as np

from ringsmith.apps.client import VectorClient
from ringsmith.apps.cnn.images import Reals
from ringsmith.apps.cnn.interface import Interface
from ringsmith.objects import Ciphertext


class Client(VectorClient[Interface]):
    """Somebody with keys of their own."""

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
        return [self.encrypt_packed(packed) for packed in self.pack(pixels)]

    def decrypt(self, outputs: Sequence[Ciphertext], count: int) -> Reals:
        """Returns the scores (images, 10) of all images from the batches' scores."""
        layout = self._interface.layout
        found = [layout.unpack(self.decrypt_packed(batch), layout.images) for batch in outputs]
        return np.concatenate(found)[:count]
