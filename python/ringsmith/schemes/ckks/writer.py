"""CKKS operations as subroutines."""

from ringsmith.graph.subroutines import SubroutineGraph
from ringsmith.graph.types import Form
from ringsmith.params import CkksParameters
from ringsmith.schemes.writer import RELIN_KEY, OperationWriter, Polynomials


class CkksWriter(OperationWriter):
    """Writes CKKS operations; ciphertexts and plaintexts are in NTT form."""

    form = Form.NTT

    def __init__(self, graph: SubroutineGraph, parameters: CkksParameters) -> None:
        super().__init__(graph, parameters)

    def multiply_plain(self, a: Polynomials, plain: int) -> Polynomials:
        """Returns a * w."""
        return tuple(self._graph.mul(p, plain) for p in a)

    def multiply(self, a: Polynomials, b: Polynomials) -> Polynomials:
        """Returns a * b: the tensor product, of three polynomials."""
        return self._tensor(a, b)

    def square(self, a: Polynomials) -> Polynomials:
        """Returns a * a, with one multiplication fewer."""
        return self._tensor_square(a)

    def relinearize_rescale(self, a: Polynomials) -> Polynomials:
        """Returns a relinearized and rescaled by one division, which has its own bits.

        The special primes and the last data prime are divided away together: a forward transform
        of every limb and half fewer than relinearize and rescale in turn. The division errs by at
        most (k + 1)/2 a coefficient and half, for k special primes.
        """
        *added, switched = a
        cut = self._cut(len(self._graph.type_of(switched).base))
        drop = (len(cut.base) - len(self._ring.special) - 1, *self._ring.special)
        return self._graph.halves(
            self._graph.key_switch(switched, RELIN_KEY, cut, drop, added=added)
        )

    def rescale(self, a: Polynomials) -> Polynomials:
        """Returns a divided by its last prime, rounded."""
        last = self._graph.type_of(a[0]).base[-1]
        return tuple(self._graph.mod_down(p, last) for p in a)

    def mod_switch(self, a: Polynomials, limbs: int) -> Polynomials:
        """Returns a over its first ``limbs`` primes: the others' residues are left out."""
        return tuple(self._graph.drop_limbs(p, range(limbs)) for p in a)
