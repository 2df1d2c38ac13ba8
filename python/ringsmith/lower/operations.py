"""HE operations on ciphertexts written as subroutines. Where SEAL has the operation, its bits.

A ciphertext is a tuple of node ids, one a polynomial, in NTT form over q_0 … q_{limbs-1}.
"""

from ringsmith.lower.graph import SubroutineGraph
from ringsmith.params import CkksParameters

Polynomials = tuple[int, ...]

RELIN_KEY = "relin"


def galois_key_name(element: int) -> str:
    """Returns the name of the Galois key of an element, as graphs and runs use it."""
    return f"galois:{element}"


class OperationWriter:
    """Appends the subroutines of HE operations to a graph.

    Args:
        graph: The graph; its ``keys`` must name every key that is used.
        parameters: The parameter set whose ring and primes the graph has.
    """

    def __init__(self, graph: SubroutineGraph, parameters: CkksParameters) -> None:
        self._graph = graph
        self._parameters = parameters
        self._special = parameters.special

    def input(self, name: str, size: int, limbs: int) -> Polynomials:
        """Inputs ``name.0`` … of a ciphertext (or, of size 1, a plaintext)."""
        return tuple(self._graph.input(f"{name}.{k}", range(limbs)) for k in range(size))

    def output(self, a: Polynomials, name: str) -> None:
        """Outputs ``name.0`` … of a ciphertext."""
        for k, polynomial in enumerate(a):
            self._graph.output(polynomial, f"{name}.{k}")

    def add(self, a: Polynomials, b: Polynomials) -> Polynomials:
        """Returns a + b; of different sizes, the longer one's last polynomials stay."""
        sums = [self._graph.add(p, q) for p, q in zip(a, b, strict=False)]
        return (*sums, *a[len(b) :], *b[len(a) :])

    def sub(self, a: Polynomials, b: Polynomials) -> Polynomials:
        """Returns a - b."""
        differences = [self._graph.sub(p, q) for p, q in zip(a, b, strict=False)]
        return (*differences, *a[len(b) :], *(self._graph.neg(q) for q in b[len(a) :]))

    def negate(self, a: Polynomials) -> Polynomials:
        """Returns -a."""
        return tuple(self._graph.neg(p) for p in a)

    def add_plain(self, a: Polynomials, plain: int) -> Polynomials:
        """Returns a + w."""
        return (self._graph.add(a[0], plain), *a[1:])

    def sub_plain(self, a: Polynomials, plain: int) -> Polynomials:
        """Returns a - w."""
        return (self._graph.sub(a[0], plain), *a[1:])

    def multiply_plain(self, a: Polynomials, plain: int) -> Polynomials:
        """Returns a * w."""
        return tuple(self._graph.mul(p, plain) for p in a)

    def multiply(self, a: Polynomials, b: Polynomials) -> Polynomials:
        """Returns a * b: the tensor product, of three polynomials."""
        graph, (a0, a1), (b0, b1) = self._graph, a, b
        middle = graph.add(graph.mul(a0, b1), graph.mul(a1, b0))
        return graph.mul(a0, b0), middle, graph.mul(a1, b1)

    def square(self, a: Polynomials) -> Polynomials:
        """Returns a * a, with one multiplication fewer."""
        graph, (a0, a1) = self._graph, a
        cross = graph.mul(a0, a1)
        return graph.mul(a0, a0), graph.add(cross, cross), graph.mul(a1, a1)

    def relinearize(self, a: Polynomials) -> Polynomials:
        """Returns a ciphertext of three polynomials as one of two."""
        a0, a1, a2 = a
        s0, s1 = self.switch_key(a2, RELIN_KEY)
        return self._graph.add(a0, s0), self._graph.add(a1, s1)

    def relinearize_rescale(self, a: Polynomials) -> Polynomials:
        """Returns a relinearized and rescaled by one division, which has its own bits.

        The special primes and the last data prime are divided away together: a forward transform
        of every limb and half fewer than relinearize and rescale in turn. The division errs by at
        most (k + 1)/2 a coefficient and half, for k special primes.
        """
        a0, a1, a2 = a
        extended, products = self._key_products(a2, RELIN_KEY)
        drop = (self._graph.type_of(a2).base[-1], *self._special)
        half0, half1 = (
            self._graph.mod_down(
                self._graph.add(total, self._graph.mod_up_scaled(p, extended)), drop
            )
            for p, total in zip((a0, a1), products, strict=True)
        )
        return half0, half1

    def apply_galois(self, a: Polynomials, element: int) -> Polynomials:
        """Returns a(X^element) under the original key: a rotation or conjugation."""
        a0, a1 = (self._graph.automorph(p, element) for p in a)
        s0, s1 = self.switch_key(a1, galois_key_name(element))
        return self._graph.add(a0, s0), s1

    def rescale(self, a: Polynomials) -> Polynomials:
        """Returns a divided by its last prime, rounded."""
        last = self._graph.type_of(a[0]).base[-1]
        return tuple(self._graph.mod_down(p, last) for p in a)

    def mod_switch(self, a: Polynomials, limbs: int) -> Polynomials:
        """Returns a over its first ``limbs`` primes."""
        return tuple(self._graph.drop_limbs(p, range(limbs)) for p in a)

    def switch_key(self, target: int, key: str) -> tuple[int, int]:
        """Returns the two polynomials that the key makes of ``target``: hybrid key switching.

        With one prime a digit and one special prime, SEAL's bits. Both halves share the digits.
        """
        special = self._special
        _, products = self._key_products(target, key)
        drop = special[0] if len(special) == 1 else special
        half0, half1 = (self._graph.mod_down(total, drop) for total in products)
        return half0, half1

    def _key_products(self, target: int, key: str) -> tuple[tuple[int, ...], tuple[int, int]]:
        """The base with special primes, and over it the sums of digits times key, both halves."""
        graph, limbs = self._graph, self._graph.type_of(target).base
        coefficients = graph.intt(target)
        extended = (*limbs, *self._special)
        groups = self._parameters.digits(len(limbs))
        single = self._parameters.digit_size == 1
        raised = [
            graph.ntt(graph.mod_up(coefficients, group[0] if single else group, extended))
            for group in groups
        ]
        numbers = range(len(groups))
        first, second = (graph.ksk_inner_product(raised, key, h, numbers) for h in (0, 1))
        return extended, (first, second)
