"""A client's keys, and vectors that it encrypts and decrypts."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ringsmith.apps.interface import Interface, VectorInterface
from ringsmith.client import decrypt_vector, encrypt_vector, generate_keys
from ringsmith.errors import ParameterError
from ringsmith.objects import Ciphertext

_Interface = TypeVar("_Interface", bound=Interface)
_VectorInterface = TypeVar("_VectorInterface", bound=VectorInterface)


class Client(ABC, Generic[_Interface]):
    """A client with its own keys.

    Attributes:
        public_key: To encrypt with.
        evaluation_keys: What the server needs to compute.
    """

    def __init__(self, interface: _Interface, *, any_plain_modulus: bool = False) -> None:
        """Makes keys for a server's interface; ``any_plain_modulus`` as of ``generate_keys``."""
        self._interface = interface
        self._secret_key, self.public_key, self.evaluation_keys = generate_keys(
            interface.parameters,
            interface.key_needs,
            seeded=interface.seeded_keys,
            any_plain_modulus=any_plain_modulus,
        )

    @abstractmethod
    def decrypt(self, outputs: Sequence[Ciphertext], count: int) -> Any:  # noqa: ANN401
        """Returns what the outputs of all runs say.

        Args:
            outputs: One of each run.
            count: How many there are of what was encrypted: patients, images, meters.
        """


class VectorClient(Client[_VectorInterface]):
    """A client of a server of one CKKS program."""

    def encrypt_packed(self, vector: NDArray[np.float64]) -> Ciphertext:
        """Encrypts a slot vector as the interface says.

        Raises:
            ParameterError: When a number is outside the range that the server plans for.
        """
        interface = self._interface
        low, high = interface.input_range
        outside = ~((vector >= low) & (vector <= high))  # NaN is outside
        if outside.any():
            slot = int(np.argmax(outside))
            raise ParameterError(
                f"slot {slot} holds {vector[slot]:.6g}, and the server's program takes numbers "
                f"from {low:g} to {high:g}: scale or clip them"
            )
        scale, limbs = interface.input_scale, interface.input_limbs
        return encrypt_vector(
            interface.parameters, self.public_key, vector, scale=scale, limbs=limbs
        )

    def decrypt_packed(self, ciphertext: Ciphertext) -> NDArray[np.float64]:
        """Decrypts a slot vector; its imaginary parts are dropped."""
        return decrypt_vector(self._interface.parameters, self._secret_key, ciphertext).real
