"""Microsoft SEAL on this CPU, timed at the operations and parameters that an accelerator runs.

Through the PyPI package ``seal-python``, an optional dependency: a portable x86-64 build of SEAL
without Intel HEXL, called on one thread. Each time includes the call through its Python binding.
"""

import statistics
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ringsmith.apps.conditions import package_version
from ringsmith.errors import ToolError
from ringsmith.params import CkksParameters, RlweParameters
from ringsmith.program import Plain

if TYPE_CHECKING:
    import seal

REPEATS = 15
"""Calls of each operation; the median counts."""


def seal_version() -> str | None:
    """Returns the installed version of ``seal-python``, or None."""
    return package_version("seal-python")


def seal_missing() -> str | None:
    """Returns a line that says why SEAL cannot be measured; None where it can be."""
    if seal_version() is None:
        return "Microsoft SEAL is left out: pip install 'ringsmith[seal]'"
    try:
        import seal  # noqa: F401 - whether it loads is the question
    except ImportError as error:
        return f"Microsoft SEAL is left out: seal-python does not load: {error}"
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


class SealContext(ABC):
    """SEAL with a parameter set and keys of its own: what its two schemes share."""

    def __init__(self, parameters: RlweParameters, steps: Sequence[int]) -> None:
        """Makes keys for the rotations in ``steps``; step 0 is conjugation, or a swap of the rows.

        Raises ToolError when ``seal-python`` is not installed.
        """
        try:
            import seal
        except ModuleNotFoundError as error:
            raise ToolError(
                "seal-python is missing, and with it Microsoft SEAL: pip install 'ringsmith[seal]'"
            ) from error
        self.parameters = parameters
        raw = seal.EncryptionParameters(getattr(seal.scheme_type, parameters.scheme))
        raw.set_poly_modulus_degree(parameters.n)
        raw.set_coeff_modulus([seal.Modulus(q) for q in parameters.primes])
        if parameters.exact:
            raw.set_plain_modulus(seal.Modulus(parameters.message_modulus))
        self.context = seal.SEALContext(raw, True, seal.sec_level_type.none)
        generator = seal.KeyGenerator(self.context)
        self.relin_keys = generator.create_relin_keys()
        self.galois_keys = seal.GaloisKeys()
        generator.create_galois_keys(list(steps), self.galois_keys)
        self.evaluator = seal.Evaluator(self.context)
        self._encryptor = seal.Encryptor(self.context, generator.create_public_key())
        self._decryptor = seal.Decryptor(self.context, generator.secret_key())

    @abstractmethod
    def encode_operand(self, plain: Plain, limbs: int) -> "seal.Plaintext":
        """Returns SEAL's encoding of a program's constant, for a ciphertext of ``limbs`` limbs."""

    @abstractmethod
    def rotate(self, a: "seal.Ciphertext", steps: int) -> "seal.Ciphertext":
        """Returns the slots, or those of both rows, turned to the left."""

    @abstractmethod
    def mirror(self, a: "seal.Ciphertext") -> "seal.Ciphertext":
        """Returns what the Galois element 2N - 1 makes: conjugated slots, or swapped rows."""


class SealBaseline(SealContext):
    """SEAL's CKKS."""

    parameters: CkksParameters

    def __init__(self, parameters: CkksParameters, steps: Sequence[int]) -> None:
        """Makes keys; arguments and errors are those of ``SealContext``."""
        super().__init__(parameters, steps)
        import seal

        self.encoder = seal.CKKSEncoder(self.context)

    def encode(
        self, values: NDArray[np.generic], scale: float, limbs: int | None = None
    ) -> "seal.Plaintext":
        """Returns SEAL's encoding of a real or complex vector of at most N/2 values."""
        # seal-python 4.4.0 ignores strides, and would read a reversed or broadcast array wrongly.
        contiguous = np.array(values, order="C")
        is_complex = contiguous.dtype.kind == "c"
        encode = self.encoder.encode_complex if is_complex else self.encoder.encode
        plain = encode(contiguous, scale)
        for _ in range(self.parameters.limbs - (limbs or self.parameters.limbs)):
            self.evaluator.mod_switch_to_next_inplace(plain)
        return plain

    def encode_operand(self, plain: Plain, limbs: int) -> "seal.Plaintext":
        """Returns SEAL's encoding of a program's constant, for a ciphertext of ``limbs`` limbs."""
        return self.encode(plain.vector(self.parameters.slots), plain.scale, limbs)

    def encrypt(
        self, values: NDArray[np.generic], scale: float | None = None, limbs: int | None = None
    ) -> "seal.Ciphertext":
        """Returns a fresh SEAL ciphertext of a vector; see ``encode``."""
        return self._encryptor.encrypt(self.encode(values, scale or self.parameters.scale, limbs))

    def decrypt(self, ciphertext: "seal.Ciphertext") -> NDArray[np.float64]:
        """Returns the real slots of a SEAL ciphertext."""
        return np.asarray(self.encoder.decode(self._decryptor.decrypt(ciphertext)))

    def rotate(self, a: "seal.Ciphertext", steps: int) -> "seal.Ciphertext":
        """Returns the slots turned to the left."""
        return self.evaluator.rotate_vector(a, steps, self.galois_keys)

    def mirror(self, a: "seal.Ciphertext") -> "seal.Ciphertext":
        """Returns conjugated slots."""
        return self.evaluator.complex_conjugate(a, self.galois_keys)

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
