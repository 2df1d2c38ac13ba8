"""BFV operations as subroutines."""

from ringsmith.errors import ProgramError
from ringsmith.graph.subroutines import Cut, SubroutineGraph
from ringsmith.graph.types import Form
from ringsmith.params import BfvParameters
from ringsmith.schemes.writer import OperationWriter, Polynomials


class BfvWriter(OperationWriter):
    """Writes BFV operations; ciphertexts and plaintexts are in coefficient form.

    The caller converts a plaintext to the ciphertext's primes: multiplied by q/t for ``add_plain``
    and ``sub_plain``, lifted from modulo t for ``multiply_plain``.
    """

    form = Form.COEFF

    def __init__(self, graph: SubroutineGraph, parameters: BfvParameters) -> None:
        super().__init__(graph, parameters)
        self._parameters = parameters

    def multiply_plain(self, a: Polynomials, plain: int) -> Polynomials:
        """Returns a * w."""
        graph, factor = self._graph, self._graph.ntt(plain)
        return tuple(graph.intt(graph.mul(graph.ntt(p), factor)) for p in a)

    def multiply(self, a: Polynomials, b: Polynomials) -> Polynomials:
        """Returns a * b: lifted to a larger modulus, multiplied, scaled by t/q and rounded."""
        return self._scaled(a, self._tensor(self._lifted(a), self._lifted(b)))

    def square(self, a: Polynomials) -> Polynomials:
        """Returns a * a, with half the lifting and one multiplication fewer."""
        return self._scaled(a, self._tensor_square(self._lifted(a)))

    def mod_switch(self, a: Polynomials, limbs: int) -> Polynomials:
        """Returns a over its first ``limbs`` primes: divided by the others, each rounded."""
        for last in range(len(self._graph.type_of(a[0]).base) - 1, limbs - 1, -1):
            a = tuple(self._graph.mod_down(p, last) for p in a)
        return a

    def _cut(self, limbs: int) -> Cut:
        """As of ``OperationWriter``; or in words or residue digits, which need no special prime."""
        parameters, base = self._parameters, tuple(range(limbs))
        if parameters.relinearization == "special_prime":
            return super()._cut(limbs)
        if parameters.residue_digits:
            sizes = tuple(len(digit) for digit in parameters.digits(limbs))
            return Cut(sizes, "centred_digit", base)
        return Cut((parameters.word_bits,) * parameters.words(limbs), "words", base)

    def _lifted(self, a: Polynomials) -> Polynomials:
        """The polynomials in the larger modulus, in NTT form."""
        graph, limbs = self._graph, self._graph.type_of(a[0]).base
        if not graph.extension:
            raise ProgramError(
                "the graph has no extension primes and BFV multiplies in them: make it with "
                "SubroutineGraph.for_parameters(..., products=True)"
            )
        base = (*limbs, *self._parameters.extension(len(limbs)))
        variant = self._parameters.multiplication
        return tuple(graph.ntt(graph.lift(p, base, variant)) for p in a)

    def _scaled(self, a: Polynomials, products: Polynomials) -> Polynomials:
        """Products in the larger modulus back over the primes of ``a``."""
        graph, parameters = self._graph, self._parameters
        base = graph.type_of(a[0]).base
        return tuple(
            graph.scale(graph.intt(p), base, parameters.plain_modulus, parameters.multiplication)
            for p in products
        )
