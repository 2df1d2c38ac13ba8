"""Writes HE operations on ciphertexts as subroutines; bit-exact with SEAL if SEAL has them.

A ciphertext is a tuple of node ids, one per polynomial over q_0 … q_{limbs-1}: in NTT form for
CKKS, in coefficient form for BFV. ``OperationWriter`` has the operations that the schemes share. A
scheme's writer has products, plain products and the division by a prime.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar

from ringsmith.graph.operations import Drops, Key, Op
from ringsmith.graph.subroutines import SubroutineGraph
from ringsmith.graph.types import Form
from ringsmith.params import RlweParameters

Polynomials = tuple[int, ...]

RELIN_KEY = "relin"


def galois_key_name(element: int) -> str:
    """Returns the name of the Galois key of an element, as graphs and runs use it."""
    return f"galois:{element}"


class OperationWriter(ABC):
    """Appends the subroutines of HE operations to a graph: those that CKKS and BFV share.

    Args:
        graph: The graph; its ``keys`` must name every key that is used.
        parameters: The parameter set whose ring and primes the graph has.
    """

    form: ClassVar[Form]
    """The form of ciphertexts, and of the plaintexts that are added to them."""

    def __init__(self, graph: SubroutineGraph, parameters: RlweParameters) -> None:
        self._graph = graph
        self._ring = parameters

    def write(
        self,
        op: Op,
        operands: Sequence[Polynomials],
        *,
        plain: int | None = None,
        limbs: int = 0,
        element: int | None = None,
    ) -> Polynomials:
        """Writes one HE operation by the method of its name.

        Args:
            op: Any operation of the scheme but input and output.
            operands: Its encrypted operands.
            plain: The plain operand, where it takes one.
            limbs: Limbs of the result, of an operation that drops as many as asked.
            element: Galois element, where its key has one.
        """
        record = op.record
        if record.key is Key.GALOIS:
            assert element is not None, f"{op} lacks its Galois element"
            return self.apply_galois(operands[0], element)
        method = getattr(self, op)
        if record.plain:
            assert plain is not None, f"{op} lacks its plain operand"
            written: Polynomials = method(*operands, plain)
        elif record.drops is Drops.ANY:
            written = method(*operands, limbs)
        else:
            written = method(*operands)
        return written

    def input(self, name: str, size: int, limbs: int) -> Polynomials:
        """Inputs ``name.0`` … of a ciphertext (or, of size 1, a plaintext)."""
        return tuple(self.input_polynomial(f"{name}.{k}", limbs) for k in range(size))

    def input_polynomial(self, name: str, limbs: int) -> int:
        """One input of the scheme's form, such as a plaintext."""
        return self._graph.input(name, range(limbs), self.form)

    def output(self, a: Polynomials, name: str) -> None:
        """Outputs ``name.0`` … of a ciphertext."""
        for k, polynomial in enumerate(a):
            self._graph.output(polynomial, f"{name}.{k}")

    def add(self, a: Polynomials, b: Polynomials) -> Polynomials:
        """Returns a + b; with different sizes, the longer one's last polynomials are copied."""
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

    @abstractmethod
    def multiply_plain(self, a: Polynomials, plain: int) -> Polynomials:
        """Returns a * w."""

    @abstractmethod
    def multiply(self, a: Polynomials, b: Polynomials) -> Polynomials:
        """Returns a * b, of three polynomials."""

    @abstractmethod
    def square(self, a: Polynomials) -> Polynomials:
        """Returns a * a, with one multiplication fewer."""

    @abstractmethod
    def mod_switch(self, a: Polynomials, limbs: int) -> Polynomials:
        """Returns a over its first ``limbs`` primes."""

    def relinearize(self, a: Polynomials) -> Polynomials:
        """Returns a ciphertext of three polynomials as one of two."""
        a0, a1, a2 = a
        s0, s1 = self.switch_key(a2, RELIN_KEY)
        return self._graph.add(a0, s0), self._graph.add(a1, s1)

    def apply_galois(self, a: Polynomials, element: int) -> Polynomials:
        """Returns a(X^element) under the original key: a rotation, conjugation or row swap."""
        a0, a1 = (self._graph.automorph(p, element) for p in a)
        s0, s1 = self.switch_key(a1, galois_key_name(element))
        return self._graph.add(a0, s0), s1

    def switch_key(self, target: int, key: str) -> tuple[int, int]:
        """Applies hybrid key switching to ``target`` and returns the two resulting polynomials.

        With one prime per digit and one special prime the result equals SEAL's bit for bit. Both
        polynomials share the digits.
        """
        special = self._ring.special
        drop = special[0] if len(special) == 1 else special
        half0, half1 = (
            self._graph.mod_down(self._from_ntt(total), drop)
            for total in self._key_products(self._coefficients(target), key)
        )
        return half0, half1

    def _key_products(self, coefficients: int, key: str) -> tuple[int, int]:
        """Returns sums of digits times a key's b and a parts, in NTT form with special primes."""
        graph, limbs = self._graph, self._graph.type_of(coefficients).base
        extended = (*limbs, *self._ring.special)
        single = self._ring.digit_size == 1
        groups = self._ring.digits(len(limbs))
        return self._inner_products(
            (graph.mod_up(coefficients, g[0] if single else g, extended) for g in groups), key
        )

    def _inner_products(self, digits: Iterable[int], key: str) -> tuple[int, int]:
        """Returns sums of digits, in coefficient form, times a key's b and a parts, in NTT form."""
        raised = [self._graph.ntt(digit) for digit in digits]
        numbers = range(len(raised))
        first, second = (self._graph.ksk_inner_product(raised, key, h, numbers) for h in (0, 1))
        return first, second

    def _tensor(self, a: Polynomials, b: Polynomials) -> Polynomials:
        """Returns the tensor product of two pairs in NTT form: three polynomials.

        The last one is written first, because a relinearization waits for it only.
        """
        graph, (a0, a1), (b0, b1) = self._graph, a, b
        last = graph.mul(a1, b1)
        middle = graph.add(graph.mul(a0, b1), graph.mul(a1, b0))
        return graph.mul(a0, b0), middle, last

    def _tensor_square(self, a: Polynomials) -> Polynomials:
        """Returns the tensor product of a pair in NTT form with itself."""
        graph, (a0, a1) = self._graph, a
        last = graph.mul(a1, a1)
        cross = graph.mul(a0, a1)
        return graph.mul(a0, a0), graph.add(cross, cross), last

    @abstractmethod
    def _coefficients(self, a: int) -> int:
        """A polynomial of the scheme's form in coefficient form."""

    @abstractmethod
    def _from_ntt(self, a: int) -> int:
        """A polynomial in NTT form in the scheme's form."""
