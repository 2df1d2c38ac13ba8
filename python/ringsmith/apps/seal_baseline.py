"""Microsoft SEAL on this CPU, timed at the operations and parameters that an accelerator runs.

Through the PyPI package ``seal-python``, an optional dependency: a portable x86-64 build of SEAL
without Intel HEXL, called on one thread. Each time includes the call through its Python binding.
"""

import importlib.metadata
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ringsmith.errors import ToolError
from ringsmith.params import CkksParameters

if TYPE_CHECKING:
    import seal

REPEATS = 15
"""Calls of each operation; the median counts."""


def seal_version() -> str | None:
    """Returns the installed version of ``seal-python``, or None."""
    try:
        return importlib.metadata.version("seal-python")
    except importlib.metadata.PackageNotFoundError:
        return None


def median_seconds(call: Callable[[], object], repeats: int = REPEATS) -> float:
    """Returns the median time of a call in seconds, after one call to warm up.

    CPU time of this process, so that other processes' load does not count against SEAL; on an idle
    machine that is the wall-clock time of a call on one thread.
    """
    call()
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        call()
        times.append(time.process_time() - begin)
    return statistics.median(times)


class SealBaseline:
    """SEAL with a parameter set and keys of its own.

    Attributes:
        parameters: The parameter set; SEAL takes the same primes in the same order.
        context: SEAL's context.
        encoder: Its CKKS encoder.
        evaluator: Its evaluator.
        relin_keys: Relinearization keys.
        galois_keys: Galois keys for ``steps``.
    """

    def __init__(self, parameters: CkksParameters, steps: Sequence[int]) -> None:
        """Makes keys for the rotations in ``steps``.

        Raises:
            ToolError: When ``seal-python`` is not installed.
        """
        try:
            import seal
        except ImportError as error:
            raise ToolError(
                "seal-python is missing, and with it Microsoft SEAL: pip install 'ringsmith[seal]'"
            ) from error
        self.parameters = parameters
        raw = seal.EncryptionParameters(seal.scheme_type.ckks)
        raw.set_poly_modulus_degree(parameters.n)
        raw.set_coeff_modulus([seal.Modulus(q) for q in parameters.primes])
        self.context = seal.SEALContext(raw, True, seal.sec_level_type.none)
        generator = seal.KeyGenerator(self.context)
        self.relin_keys = generator.create_relin_keys()
        self.galois_keys = seal.GaloisKeys()
        generator.create_galois_keys(list(steps), self.galois_keys)
        self.encoder = seal.CKKSEncoder(self.context)
        self.evaluator = seal.Evaluator(self.context)
        self._encryptor = seal.Encryptor(self.context, generator.create_public_key())
        self._decryptor = seal.Decryptor(self.context, generator.secret_key())

    def encode(
        self, values: NDArray[np.generic], scale: float, limbs: int | None = None
    ) -> "seal.Plaintext":
        """Returns SEAL's encoding of a real or complex vector of at most N/2 values.

        Args:
            values: The vector, in any memory layout.
            scale: Encoding scale.
            limbs: Data limbs; None: all.
        """
        # seal-python 4.4.0 ignores strides, and would read a reversed or broadcast array wrongly.
        contiguous = np.array(values, order="C")
        is_complex = contiguous.dtype.kind == "c"
        encode = self.encoder.encode_complex if is_complex else self.encoder.encode
        plain = encode(contiguous, scale)
        for _ in range(self.parameters.limbs - (limbs or self.parameters.limbs)):
            self.evaluator.mod_switch_to_next_inplace(plain)
        return plain

    def encrypt(self, values: NDArray[np.generic], scale: float | None = None) -> "seal.Ciphertext":
        """Returns a fresh SEAL ciphertext of a vector; see ``encode``."""
        return self._encryptor.encrypt(self.encode(values, scale or self.parameters.scale))

    def decrypt(self, ciphertext: "seal.Ciphertext") -> NDArray[np.float64]:
        """Returns the real slots of a SEAL ciphertext."""
        return np.asarray(self.encoder.decode(self._decryptor.decrypt(ciphertext)))

    def operation_seconds(
        self, limbs: int, steps: int, repeats: int = REPEATS
    ) -> Mapping[str, float]:
        """Times single operations.

        Args:
            limbs: Data limbs of the operands, from 2.
            steps: The rotation to time; its Galois key must be one of this baseline's.
            repeats: Calls of each.

        Returns:
            Median seconds by operation: ``ntt`` (one polynomial, all limbs), ``add``,
            ``multiply_plain``, ``multiply``, ``relinearize``, ``rescale``, ``rotate``.
        """
        rng = np.random.default_rng(1)
        values = rng.uniform(-1, 1, self.parameters.slots)
        a, b = self.encrypt(values), self.encrypt(values[::-1])
        plain = self.encode(values, self.parameters.scale, limbs)
        evaluator = self.evaluator
        for _ in range(self.parameters.limbs - limbs):
            for operand in (a, b):
                evaluator.mod_switch_to_next_inplace(operand)
        product = evaluator.multiply(a, b)
        scaled = evaluator.multiply_plain(a, plain)
        coefficients = evaluator.transform_from_ntt(a)
        calls: dict[str, Callable[[], object]] = {
            "ntt": lambda: evaluator.transform_to_ntt(coefficients),
            "add": lambda: evaluator.add(a, b),
            "multiply_plain": lambda: evaluator.multiply_plain(a, plain),
            "multiply": lambda: evaluator.multiply(a, b),
            "relinearize": lambda: evaluator.relinearize(product, self.relin_keys),
            "rescale": lambda: evaluator.rescale_to_next(scaled),
            "rotate": lambda: evaluator.rotate_vector(a, steps, self.galois_keys),
        }
        seconds = {name: median_seconds(call, repeats) for name, call in calls.items()}
        seconds["ntt"] /= a.size()  # SEAL transforms every polynomial of the ciphertext
        return seconds
