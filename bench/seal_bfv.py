"""Microsoft SEAL's BFV on this CPU."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ringsmith.apps.seal_baseline import REPEATS, SealContext, median_seconds
from ringsmith.params import BfvParameters
from ringsmith.program import Plain

if TYPE_CHECKING:
    import seal


class SealExact(SealContext):
    """SEAL's BFV, with batching."""

    parameters: BfvParameters

    def __init__(self, parameters: BfvParameters, steps: Sequence[int]) -> None:
        """Makes keys; arguments and errors are those of ``SealContext``."""
        super().__init__(parameters, steps)
        import seal

        self.encoder = seal.BatchEncoder(self.context)

    def encode(self, values: NDArray[np.generic]) -> "seal.Plaintext":
        """Returns SEAL's encoding of at most N whole numbers, taken modulo t."""
        residues = np.mod(values, self.parameters.plain_modulus)
        return self.encoder.encode(np.array(residues, dtype=np.uint64, order="C"))

    def encode_operand(self, plain: Plain, limbs: int) -> "seal.Plaintext":
        """Returns SEAL's encoding of a program's constant: the same at every level."""
        return self.encode(plain.vector(self.parameters.slots))

    def encrypt(self, values: NDArray[np.generic]) -> "seal.Ciphertext":
        """Returns a fresh SEAL ciphertext of a vector; see ``encode``."""
        return self._encryptor.encrypt(self.encode(values))

    def decrypt(self, ciphertext: "seal.Ciphertext") -> NDArray[np.int64]:
        """Returns the N slots of a SEAL ciphertext, centred modulo t."""
        return np.asarray(self.encoder.decode(self._decryptor.decrypt(ciphertext)), np.int64)

    def noise_budget(self, ciphertext: "seal.Ciphertext") -> int:
        """Returns SEAL's invariant noise budget, in bits."""
        return int(self._decryptor.invariant_noise_budget(ciphertext))

    def rotate(self, a: "seal.Ciphertext", steps: int) -> "seal.Ciphertext":
        """Returns both rows turned to the left."""
        return self.evaluator.rotate_rows(a, steps, self.galois_keys)

    def mirror(self, a: "seal.Ciphertext") -> "seal.Ciphertext":
        """Returns the rows swapped."""
        return self.evaluator.rotate_columns(a, self.galois_keys)

    def operation_seconds(self, steps: int, repeats: int = REPEATS) -> Mapping[str, float]:
        """Times single operations, with all data limbs.

        Returns:
            Median seconds by operation: ``add``, ``multiply``, ``relinearize``, ``rotate``.
        """
        rng = np.random.default_rng(1)
        t = self.parameters.plain_modulus
        a, b = (self.encrypt(rng.integers(0, t, self.parameters.n)) for _ in range(2))
        evaluator = self.evaluator
        product = evaluator.multiply(a, b)
        calls: dict[str, Callable[[], object]] = {
            "add": lambda: evaluator.add(a, b),
            "multiply": lambda: evaluator.multiply(a, b),
            "relinearize": lambda: evaluator.relinearize(product, self.relin_keys),
            "rotate": lambda: evaluator.rotate_rows(a, steps, self.galois_keys),
        }
        return {name: median_seconds(call, repeats) for name, call in calls.items()}
