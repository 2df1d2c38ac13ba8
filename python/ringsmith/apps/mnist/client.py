"""The owner of the image: holds the secret key, encrypts and decrypts."""

from collections.abc import Sequence

import numpy as np

from ringsmith.apps.client import VectorClient
from ringsmith.apps.interface import Inputs
from ringsmith.apps.mnist.interface import INPUTS, Interface
from ringsmith.apps.mnist.network import Reals
from ringsmith.objects import Ciphertext


class Client(VectorClient[Interface]):
    """A client with its own keys."""

    def encrypt(self, pixels: Reals) -> Inputs:
        """Packs and encrypts the pixels (28, 28) of an image, from 0 to 1: 25 ciphertexts.

        Raises:
            ParameterError: When the image has another size.
        """
        packed = self._interface.layout.pack(pixels)
        return {
            name: self.encrypt_packed(vector) for name, vector in zip(INPUTS, packed, strict=True)
        }

    def decrypt(self, outputs: Sequence[Ciphertext], count: int) -> Reals:
        """Returns the scores (count, 10) of as many images."""
        layout = self._interface.layout
        return np.stack([layout.unpack(self.decrypt_packed(each)) for each in outputs[:count]])
