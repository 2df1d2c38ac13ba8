"""The hospital: it holds the records and the secret key, encrypts and decrypts."""

from ringsmith.apps.logreg import packing
from ringsmith.apps.logreg.interface import Interface
from ringsmith.apps.logreg.records import Reals
from ringsmith.client import decrypt_vector, encrypt_vector, generate_keys
from ringsmith.objects import Ciphertext


class Client:
    """One hospital with its own keys.

    Attributes:
        public_key: To encrypt with.
        evaluation_keys: What the server needs to compute.
    """

    def __init__(self, interface: Interface) -> None:
        """Makes keys for a server's interface."""
        self._interface = interface
        self._secret_key, self.public_key, self.evaluation_keys = generate_keys(
            interface.parameters, interface.key_needs, seeded=interface.seeded_keys
        )

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
        interface = self._interface
        return encrypt_vector(
            interface.parameters,
            self.public_key,
            self.pack(features),
            scale=interface.input_scale,
            limbs=interface.input_limbs,
        )

    def decrypt(self, probabilities: Ciphertext, patients: int) -> Reals:
        """Returns the probability of malignancy of each patient, (patients,)."""
        slots = decrypt_vector(self._interface.parameters, self._secret_key, probabilities)
        return packing.unpack(slots.real, patients)
