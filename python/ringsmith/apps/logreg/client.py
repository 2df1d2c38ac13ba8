"""The hospital: it holds the records and the secret key, encrypts and decrypts."""

from collections.abc import Sequence

from ringsmith.apps.client import VectorClient
from ringsmith.apps.logreg import packing
from ringsmith.apps.logreg.interface import Interface
from ringsmith.apps.logreg.records import Reals
from ringsmith.objects import Ciphertext


class Client(VectorClient[Interface]):
    """One hospital with its own keys."""

    def pack(self, features: Reals) -> Reals:
        """Returns the slot vector of raw features (patients, features), preprocessed.

        Raises:
            ParameterError: When the patients do not fit one ciphertext.
        """
        inputs = self._interface.preprocessing(features)
        return packing.pack(inputs, self._interface.parameters.slots, self._interface.block)

    def encrypt(self, features: Reals) -> Ciphertext:
        """Preprocesses, packs and encrypts raw features (patients, features).

        Raises:
            ParameterError: When the patients do not fit one ciphertext.
        """
        return self.encrypt_packed(self.pack(features))

    def decrypt(self, outputs: Sequence[Ciphertext], count: int) -> Reals:
        """Returns the probability of malignancy of each patient, (patients,)."""
        [probabilities] = outputs
        return packing.unpack(self.decrypt_packed(probabilities), count)
