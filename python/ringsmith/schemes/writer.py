"""Writes HE operations on ciphertexts as subroutines; bit-exact with SEAL if SEAL has them.

A ciphertext is a tuple of node ids, one per polynomial over q_0 … q_{limbs-1}: in NTT form for
CKKS, in coefficient form for BFV. ``OperationWriter`` has the operations that the schemes share. A
scheme's writer has products, plain products and the division by a prime.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ringsmith.graph.operations import Drops, Key, Op
from ringsmith.graph.subroutines import Cut, SubroutineGraph
from ringsmith.graph.types import Form
from ringsmith.params import RlweParameters
from ringsmith.params.keys import RELIN_KEY, galois_key_name

Polynomials = tuple[int, ...]


@dataclass(frozen=True)
class Undivided:
    """A ciphertext of two polynomials whose division by the special primes is still to come.

    Attributes:
        pair: The node of P times the polynomials, over the extended base in NTT form; None: zeros.
        rest: What is added after the division; none: zeros.
    """

    pair: int | None
    rest: Polynomials = ()


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
        self._digits: dict[int, int] = {}  # of rotations that share them, by what is cut

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
        elif record.drops in (Drops.ANY, Drops.RAISED):
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

    def write_scalar(self, op: Op, a: Polynomials, values: Sequence[int]) -> Polynomials:
        """Returns a plus, minus or times a number that is given by its residues."""
        graph = self._graph
        if op is Op.MULTIPLY_PLAIN:
            return tuple(graph.mul_scalar(p, values) for p in a)
        if op is Op.SUB_PLAIN:
            primes = (graph.primes[i] for i in graph.type_of(a[0]).base)
            values = [-value % q for value, q in zip(values, primes, strict=True)]
        return (graph.add_scalar(a[0], values), *a[1:])

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
        *added, switched = a
        return self._switched(switched, RELIN_KEY, added=added)

    def apply_galois(self, a: Polynomials, element: int) -> Polynomials:
        """Returns a(X^element) under the original key: a rotation, conjugation or row swap.

        The bits are SEAL's.
        """
        added, switched = a
        return self._switched(switched, galois_key_name(element), element, [added])

    # ---- rotations that share digits and divisions ------------------------------------------

    def rotate_shared(self, a: Polynomials, element: int) -> Polynomials:
        """Returns a(X^element), as ``apply_galois``; all rotations of one value share its digits.

        The automorphism moves the digits, which are cut before it. So the bits are not SEAL's.
        """
        return self.divided(self.rotate_undivided(a, element))

    def rotate_undivided(self, a: Polynomials, element: int) -> Undivided:
        """The same, not divided yet."""
        added, switched = a
        if switched not in self._digits:
            limbs = len(self._graph.type_of(switched).base)
            self._digits[switched] = self._graph.digits(switched, self._cut(limbs))
        digits, key = self._digits[switched], galois_key_name(element)
        if self.form is Form.NTT:
            return Undivided(self._graph.key_product(digits, key, element, [added]))
        pair = self._graph.key_product(digits, key, element)
        return Undivided(pair, (self._graph.automorph(added, element),))

    def rotate_sum(self, a: Undivided, element: int) -> Undivided:
        """Returns a(X^element), not divided, of what is not divided either, in NTT form.

        Only the half that is cut into digits is divided; the other stays over the extended base.
        """
        graph = self._graph
        assert a.pair is not None, "something was rotated"
        added, switched = graph.halves(a.pair)
        base, special = graph.type_of(added).base, self._ring.special
        switched = graph.mod_down(switched, special[0] if len(special) == 1 else special)
        if a.rest:
            added = graph.add(added, graph.mod_up_scaled(a.rest[0], base))
            switched = graph.add(a.rest[1], switched)
        digits = graph.digits(switched, self._cut(len(base) - len(special)))
        key = galois_key_name(element)
        return Undivided(graph.key_product(digits, key, element, [added]))

    def multiply_undivided_scalar(
        self, a: Undivided, values: Sequence[int], rest: Sequence[int]
    ) -> Undivided:
        """Returns a * v, for a number v by its residues, and those for a's rest."""
        pair = None if a.pair is None else self._graph.mul_scalar(a.pair, values)
        return Undivided(pair, self.write_scalar(Op.MULTIPLY_PLAIN, a.rest, rest))

    def multiply_undivided(self, a: Undivided, plain: int, rest: int | None) -> Undivided:
        """Returns a * w, for w over the extended base and, where a has a rest, over a's."""
        pair = None if a.pair is None else self._graph.mul(a.pair, plain)
        if rest is None:
            return Undivided(pair)
        return Undivided(pair, self.multiply_plain(a.rest, rest))

    def write_undivided(self, op: Op, operands: Sequence[Undivided]) -> Undivided:
        """Writes a sum, difference or negation."""
        if op is Op.NEGATE:
            [a] = operands
            pair = None if a.pair is None else self._graph.neg(a.pair)
            return Undivided(pair, self.negate(a.rest))
        a, b = operands
        rest = self.add(a.rest, b.rest) if op is Op.ADD else self.sub(a.rest, b.rest)
        if a.pair is None and b.pair is not None:
            return Undivided(b.pair if op is Op.ADD else self._graph.neg(b.pair), rest)
        if a.pair is None or b.pair is None:
            return Undivided(a.pair, rest)
        both = self._graph.add if op is Op.ADD else self._graph.sub
        return Undivided(both(a.pair, b.pair), rest)

    def divided(self, a: Undivided) -> Polynomials:
        """Divides by the special primes."""
        graph, special = self._graph, self._ring.special
        assert a.pair is not None, "something was rotated"
        pair = a.pair if self.form is Form.NTT else graph.intt(a.pair)
        if special:
            pair = graph.mod_down(pair, special[0] if len(special) == 1 else special)
        return self.add(a.rest, graph.halves(pair))

    def divided_and_rescaled(self, a: Undivided) -> Polynomials:
        """Divides by the special primes and the last data prime at once, in NTT form."""
        graph, special = self._graph, self._ring.special
        assert a.pair is not None, "something was rotated"
        base = graph.type_of(a.pair).base
        drop = (*self._ring.dropped(len(base) - len(special)), *special)
        if not a.rest:
            return graph.halves(graph.mod_down(a.pair, drop))
        first, second = (
            graph.mod_down(graph.add(total, graph.mod_up_scaled(rest, base)), drop)
            for total, rest in zip(graph.halves(a.pair), a.rest, strict=True)
        )
        return first, second

    def _switched(
        self, target: int, key: str, element: int = 1, added: Sequence[int] = ()
    ) -> tuple[int, int]:
        """Key switching of a polynomial moved by an automorphism, plus others moved likewise.

        With one prime per digit and one special prime the result equals SEAL's bit for bit.
        """
        base = self._graph.type_of(target).base
        cut = self._cut(len(base))
        drop = [i for i in cut.base if i not in base]
        return self._graph.halves(self._graph.key_switch(target, key, cut, drop, element, added))

    def _cut(self, limbs: int) -> Cut:
        """How a polynomial of so many limbs is cut into digits: for keys with special primes."""
        sizes = tuple(len(digit) for digit in self._ring.digits(limbs))
        return Cut(sizes, "fast_base_conv", (*range(limbs), *self._ring.special))

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
