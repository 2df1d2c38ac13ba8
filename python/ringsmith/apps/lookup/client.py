"""Who asks for a record: holds the secret key, encrypts the question and decrypts the answer."""

from collections.abc import Sequence

import numpy as np

from ringsmith.apps import client
from ringsmith.apps.interface import Inputs
from ringsmith.apps.lookup.interface import COLUMN, ROW, Interface
from ringsmith.apps.lookup.records import Integers
from ringsmith.client import decrypt_vector, encrypt_vector
from ringsmith.errors import ParameterError
from ringsmith.objects import Ciphertext


class Client(client.Client[Interface]):
    """Somebody with keys of their own."""

    def encrypt(self, record: int) -> Inputs:
        """Encrypts which record is wanted.

        Raises:
            ParameterError: When there is no such record.
        """
        interface = self._interface
        if not 0 <= record < interface.records:
            raise ParameterError(f"record {record}: take one of 0 … {interface.records - 1}")
        numbers = np.arange(interface.parameters.slots) % interface.records
        row, column = divmod(record, interface.columns)
        selectors = {
            ROW: numbers // interface.columns == row,
            COLUMN: numbers % interface.columns == column,
        }
        return {
            name: encrypt_vector(interface.parameters, self.public_key, slots.astype(np.int64))
            for name, slots in selectors.items()
        }

    def decrypt(self, outputs: Sequence[Ciphertext], count: int) -> Integers:
        """Returns the records (count, fields) of the answers to as many queries."""
        interface = self._interface
        slots = [
            decrypt_vector(interface.parameters, self._secret_key, each)[:: interface.records]
            for each in outputs
        ]
        numbers: Integers = np.concatenate(slots) % interface.parameters.plain_modulus
        return numbers.reshape(count, -1)[:, : interface.fields]
