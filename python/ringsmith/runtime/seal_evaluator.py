"""``seal-python`` objects on a Ringsmith device: SEAL's evaluator with another engine.

>>> evaluator = SealEvaluator(context, device="model", relin_keys=relin_keys)  # doctest: +SKIP
>>> product = evaluator.relinearize(evaluator.multiply(a, b))  # doctest: +SKIP
"""

from typing import TYPE_CHECKING, Any

from ringsmith.backends.registry import backend_without_designs
from ringsmith.interop import (
    read_ciphertext,
    read_galois_keys,
    read_parameters,
    read_plaintext,
    read_relin_keys,
    write_ciphertext,
)
from ringsmith.objects import EvaluationKeys
from ringsmith.runtime.designs import Design
from ringsmith.runtime.evaluator import Evaluator
from ringsmith.runtime.precomputed_keys import AnyKeys, precompute_keys
from ringsmith.schemes.base import Operand

if TYPE_CHECKING:
    import seal


class SealEvaluator:
    """Computes on ``seal.Ciphertext`` objects; results equal SEAL's residue for residue.

    A design of architecture ``stream`` computes BFV products by another method (HPS). Its residues
    differ from SEAL's, but decrypt to the same.

    Args:
        context: CKKS or BFV with key switching.
        relin_keys: For ``relinearize``.
        galois_keys: For ``rotate`` and ``conjugate``.
        device: ``cpu``, ``model`` or ``rtl``.
        design: Which accelerator; None: the smallest that runs each operation.

    Raises:
        InteropError: When the context is of neither scheme, or the keys are of another context.
    """

    def __init__(
        self,
        context: "seal.SEALContext",
        *,
        relin_keys: "seal.RelinKeys | None" = None,
        galois_keys: "seal.GaloisKeys | None" = None,
        device: str = "cpu",
        design: str | Design | None = None,
    ) -> None:
        self._context = context
        parms = context.key_context_data().parms()
        self._parameters = read_parameters(parms.to_bytes())
        relin = None
        if relin_keys is not None:
            relin = read_relin_keys(relin_keys.to_string(), self._parameters)
        galois = {}
        if galois_keys is not None:
            galois = read_galois_keys(galois_keys.to_string(), self._parameters)
        parameters, keys = self._parameters.to_parameters(), EvaluationKeys(relin, galois)
        own = backend_without_designs(device)
        precomputed = own is not None and own.capabilities.any_keys
        forms: AnyKeys = precompute_keys(keys, parameters) if precomputed else keys
        self._evaluator = Evaluator(parameters, forms, device, design)

    def add(self, a: "seal.Ciphertext", b: "seal.Ciphertext") -> "seal.Ciphertext":
        """Returns a + b; operands of one level and scale."""
        return self._run("add", a, b)

    def sub(self, a: "seal.Ciphertext", b: "seal.Ciphertext") -> "seal.Ciphertext":
        """Returns a - b; operands of one level and scale."""
        return self._run("sub", a, b)

    def negate(self, a: "seal.Ciphertext") -> "seal.Ciphertext":
        """Returns -a."""
        return self._run("negate", a)

    def add_plain(self, a: "seal.Ciphertext", b: "seal.Plaintext") -> "seal.Ciphertext":
        """Returns a + b for a plaintext b."""
        return self._run("add_plain", a, b)

    def sub_plain(self, a: "seal.Ciphertext", b: "seal.Plaintext") -> "seal.Ciphertext":
        """Returns a - b for a plaintext b."""
        return self._run("sub_plain", a, b)

    def multiply(self, a: "seal.Ciphertext", b: "seal.Ciphertext") -> "seal.Ciphertext":
        """Returns a * b, of three polynomials."""
        return self._run("multiply", a, b)

    def square(self, a: "seal.Ciphertext") -> "seal.Ciphertext":
        """Returns a * a, of three polynomials."""
        return self._run("square", a)

    def multiply_plain(self, a: "seal.Ciphertext", b: "seal.Plaintext") -> "seal.Ciphertext":
        """Returns a * b for a plaintext b."""
        return self._run("multiply_plain", a, b)

    def relinearize(self, a: "seal.Ciphertext") -> "seal.Ciphertext":
        """Returns a with two polynomials."""
        return self._run("relinearize", a)

    def rescale(self, a: "seal.Ciphertext") -> "seal.Ciphertext":
        """Returns a divided by its last prime: SEAL's ``rescale_to_next``. CKKS only."""
        return self._run("rescale", a)

    def mod_switch(self, a: "seal.Ciphertext") -> "seal.Ciphertext":
        """Returns a one level down: SEAL's ``mod_switch_to_next``."""
        return self._run("mod_switch", a)

    def rotate(self, a: "seal.Ciphertext", steps: int) -> "seal.Ciphertext":
        """Returns a rotated left: SEAL's ``rotate_vector``, or of BFV ``rotate_rows``."""
        return self._run("rotate", a, steps=steps)

    def conjugate(self, a: "seal.Ciphertext") -> "seal.Ciphertext":
        """Returns the complex conjugate of a; of BFV, SEAL's ``rotate_columns``."""
        return self._run("conjugate", a)

    def _run(self, operation: str, a: Any, b: Any = None, *, steps: int = 0) -> "seal.Ciphertext":  # noqa: ANN401
        import seal

        second: Operand = None
        if isinstance(b, seal.Plaintext):
            second = read_plaintext(b.to_bytes(), self._parameters)
        elif b is not None:
            second = read_ciphertext(b.to_string(), self._parameters)
        first = read_ciphertext(a.to_string(), self._parameters)
        result = self._evaluator.run(operation, first, second, steps=steps)
        answer = seal.Ciphertext()
        answer.load_bytes(self._context, write_ciphertext(result, self._parameters))
        return answer
