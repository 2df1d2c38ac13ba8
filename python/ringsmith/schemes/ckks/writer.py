"""CKKS operations as subroutines."""

from ringsmith.graph.subroutines import Cut, SubroutineGraph
from ringsmith.graph.types import Form
from ringsmith.params import CkksParameters
from ringsmith.params.keys import FROM_SPARSE_KEY, RELIN_KEY, TO_SPARSE_KEY
from ringsmith.schemes.writer import OperationWriter, Polynomials


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
        limbs = len(cut.base) - len(self._ring.special)
        drop = (*self._ring.dropped(limbs), *self._ring.special)
        return self._graph.halves(
            self._graph.key_switch(switched, RELIN_KEY, cut, drop, added=added)
        )

    def mod_raise(self, a: Polynomials, limbs: int) -> Polynomials:
        """Returns a modulo the first ``limbs`` primes: the same integers, centred, of both parts.

        In between it is under the sparse secret, which bounds the multiples of the lowest modulus
        that c_0 + c_1 * s then has.
        """
        graph, ring = self._graph, self._ring
        low, small = graph.type_of(a[0]).base, ring.sparse_key_shape.base
        cut = Cut((len(low),), "fast_base_conv", small)
        drop = [i for i in small if i not in low]
        sparse = graph.halves(graph.key_switch(a[1], TO_SPARSE_KEY, cut, drop, added=[a[0]]))
        base = range(limbs)
        first, second = (graph.ntt(graph.centred_digit(graph.intt(p), low, base)) for p in sparse)
        return self._switched(second, FROM_SPARSE_KEY, added=[first])

    def bootstrap(self, result: Polynomials, a: Polynomials) -> Polynomials:
        """Returns the result of a bootstrapping's last stage; ``a`` is what was bootstrapped."""
        del a
        return result

    def rescale(self, a: Polynomials) -> Polynomials:
        """Returns a divided by the primes that the next lower level lacks, rounded."""
        drop = self._ring.dropped(len(self._graph.type_of(a[0]).base))
        return tuple(self._graph.mod_down(p, drop[0] if len(drop) == 1 else drop) for p in a)

    def mod_switch(self, a: Polynomials, limbs: int) -> Polynomials:
        """Returns a over its first ``limbs`` primes: the others' residues are left out."""
        return tuple(self._graph.drop_limbs(p, range(limbs)) for p in a)
