"""Writes planned nodes: tracks limbs, scale and size, and refuses what the modulus cannot hold."""

import math

import numpy as np

from ringsmith.params import CkksParameters
from ringsmith.program import noise
from ringsmith.program.nodes import Node, Op, Plain
from ringsmith.program.plain import PlainValues
from ringsmith.program.source import SourceLine

MIN_PLAIN_SCALE_BITS = 10
"""A plaintext encoded below 2^10 would keep fewer than three decimal digits."""
SCALE_SLACK = 2.0**-50
"""Relative distance within which a declared scale may differ from the computed one."""


class Emitter:
    """Appends nodes; an equal node is written once.

    Set ``source`` to the user's line before emitting what it asks for.

    Attributes:
        parameters: The parameter set.
        nodes: What was emitted, operands before users.
        source: The user's line that is being planned.
    """

    def __init__(self, parameters: CkksParameters, headroom_bits: int) -> None:
        self.parameters = parameters
        self.nodes: list[Node] = []
        self.source = SourceLine("", 0)
        self._headroom_bits = headroom_bits
        self._known: dict[tuple[object, ...], int] = {}
        self._message_bits: list[float] = []
        self._log_q = [0.0]
        for q in parameters.data_primes:
            self._log_q.append(self._log_q[-1] + math.log2(q))

    def input(self, name: str, limbs: int, scale: float) -> int:
        """A fresh ciphertext."""
        return self._emit(Op.INPUT, (), limbs, scale, 2, name=name)

    def output(self, a: int, name: str) -> int:
        """A result."""
        node = self.nodes[a]
        return self._emit(Op.OUTPUT, (a,), node.limbs, node.scale, node.size, name=name)

    def add_or_sub(self, op: Op, a: int, b: int) -> int:
        """Returns a + b or a - b; limbs and scales must be equal."""
        left, right = self.nodes[a], self.nodes[b]
        assert (left.limbs, left.scale) == (right.limbs, right.scale), "the planner meets operands"
        return self._emit(op, (a, b), left.limbs, left.scale, max(left.size, right.size))

    def add_or_sub_plain(self, op: Op, a: int, values: PlainValues) -> int:
        """Returns a + w or a - w, the plaintext encoded at a's scale."""
        node = self.nodes[a]
        plain = self._plain(values, node.scale, node.limbs)
        return self._emit(op, (a,), node.limbs, node.scale, node.size, plain=plain)

    def negate(self, a: int) -> int:
        """Returns -a."""
        node = self.nodes[a]
        return self._emit(Op.NEGATE, (a,), node.limbs, node.scale, node.size)

    def multiply(self, a: int, b: int) -> int:
        """Returns a * b, of three polynomials and not yet rescaled; limbs must be equal."""
        left, right = self.nodes[a], self.nodes[b]
        assert left.limbs == right.limbs, "the planner meets operands"
        scale = left.scale * right.scale
        if a == b:
            return self._emit(Op.SQUARE, (a,), left.limbs, scale, 3)
        return self._emit(Op.MULTIPLY, (a, b), left.limbs, scale, 3)

    def multiply_plain(self, a: int, values: PlainValues, scale: float) -> int:
        """Returns a * w, not yet rescaled, the plaintext encoded so that the result has ``scale``.

        The product's true scale, a's times the rounded plaintext's, differs from the declared one
        by a relative 2^-53 at most.
        """
        node = self.nodes[a]
        plain = self._plain(values, scale / node.scale, node.limbs)
        if math.log2(plain.scale) < MIN_PLAIN_SCALE_BITS:
            raise self.source.error(
                f"the plain operand would be encoded at 2^{math.log2(plain.scale):.1f}, below "
                f"2^{MIN_PLAIN_SCALE_BITS}, and lose its digits, since the encrypted operand has "
                f"the scale 2^{math.log2(node.scale):.1f}: lower that input's scale"
            )
        return self._emit(Op.MULTIPLY_PLAIN, (a,), node.limbs, scale, node.size, plain=plain)

    def relinearize(self, a: int) -> int:
        """Returns a as two polynomials."""
        node = self.nodes[a]
        if node.size == 2:
            return a
        return self._emit(Op.RELINEARIZE, (a,), node.limbs, node.scale, 2)

    def rescale(self, a: int, scale: float | None = None) -> int:
        """Divides a by its last prime.

        Args:
            a: A node of at least 2 limbs.
            scale: The scale to declare, where it must equal another; must be the quotient up to
                rounding. None: the quotient, as SEAL computes it.
        """
        node = self.nodes[a]
        quotient = node.scale / self.parameters.data_primes[node.limbs - 1]
        declared = quotient if scale is None else scale
        assert abs(declared / quotient - 1) < SCALE_SLACK, "a declared scale is the true one"
        return self._emit(Op.RESCALE, (a,), node.limbs - 1, declared, node.size)

    def mod_switch(self, a: int, limbs: int) -> int:
        """Drops primes until ``limbs`` are left; the scale stays."""
        node = self.nodes[a]
        if node.limbs == limbs:
            return a
        return self._emit(Op.MOD_SWITCH, (a,), limbs, node.scale, node.size)

    def rotate(self, a: int, steps: int) -> int:
        """Rotates the slots to the left."""
        node, element = self.nodes[a], self.parameters.galois_element(steps)
        return self._emit(Op.ROTATE, (a,), node.limbs, node.scale, 2, steps=steps, element=element)

    def conjugate(self, a: int) -> int:
        """Conjugates every slot."""
        node, element = self.nodes[a], self.parameters.conjugation_element
        return self._emit(Op.CONJUGATE, (a,), node.limbs, node.scale, 2, element=element)

    def _plain(self, values: PlainValues, scale: float, limbs: int) -> Plain:
        """Returns a plain operand whose encoding stays below half the modulus and is not lost."""
        largest = float(np.abs(values).max())
        bits = math.log2(largest) + math.log2(scale) + 1 if largest > 0 else 0.0
        if bits > self._log_q[limbs]:
            raise self.source.error(
                f"the plain operand's largest number {largest:.3g} at scale "
                f"2^{math.log2(scale):.1f} needs {bits:.1f} bits, and the modulus of {limbs} limbs "
                f"has {self._log_q[limbs]:.1f}: scale the numbers down, or add a data prime"
            )
        plain = Plain(values, scale)
        if largest > 0 and self._vanishes(plain):
            raise self.source.error(
                f"the plain operand's largest number {largest:.3g} at scale "
                f"2^{math.log2(scale):.1f} is encoded as zero, since every coefficient is below "
                "1/2: scale the numbers up, raise the scale, or leave the operation out"
            )
        return plain

    def _vanishes(self, plain: Plain) -> bool:
        """Tells whether every coefficient of the encoding rounds to zero.

        By Parseval, the squares of the N coefficients sum up to the mean square of the slots; only
        between the bounds that follow from it is anything computed.
        """
        largest = float(np.abs(plain.values).max())
        norm = largest * float(np.sqrt(np.mean(np.abs(plain.values / largest) ** 2)))
        if norm * plain.scale >= math.sqrt(self.parameters.n):
            return False  # the largest coefficient is at least norm / sqrt(N)
        if norm * plain.scale < 0.5:
            return True  # no coefficient exceeds the norm
        return noise.largest_coefficient(plain.vector(self.parameters.slots)) * plain.scale < 0.5

    def _emit(
        self,
        op: Op,
        operands: tuple[int, ...],
        limbs: int,
        scale: float,
        size: int,
        *,
        name: str | None = None,
        steps: int | None = None,
        element: int | None = None,
        plain: Plain | None = None,
    ) -> int:
        content = None
        if plain is not None:
            content = (plain.values.shape, plain.values.tobytes(), plain.scale)
        key = (op, operands, limbs, scale, name, steps, content)
        if key in self._known:
            return self._known[key]
        message_bits = self._message(op, operands, plain)
        self._check_scale(op, limbs, scale, message_bits, plain)
        self._message_bits.append(message_bits)
        identity = self._known[key] = len(self.nodes)
        self.nodes.append(
            Node(
                identity, op, operands, limbs, scale, size, self.source, name, steps, element, plain
            )
        )
        return identity

    def _message(self, op: Op, operands: tuple[int, ...], plain: Plain | None) -> float:
        """Returns log2 of what constants make of inputs of magnitude 1, leaving out that sums grow.

        Messages are promised to stay within the headroom; constants can tell that they do not.
        """
        before = [self._message_bits[i] for i in operands]
        largest = 0.0 if plain is None else float(np.abs(plain.values).max())
        constant = math.log2(largest) if largest > 0 else -math.inf
        match op:
            case Op.MULTIPLY:
                return before[0] + before[1]
            case Op.SQUARE:
                return 2 * before[0]
            case Op.MULTIPLY_PLAIN:
                return before[0] + constant
            case Op.ADD_PLAIN | Op.SUB_PLAIN:
                return max(before[0], constant)
            case _:
                return max(before, default=0.0)

    def _check_scale(
        self, op: Op, limbs: int, scale: float, message_bits: float, plain: Plain | None
    ) -> None:
        """Refuses a scale that leaves the message no room below the modulus."""
        room, needed = self._log_q[limbs], math.log2(scale) + 1
        if needed + self._headroom_bits > room:
            raise self.source.error(
                f"{op} yields the scale 2^{math.log2(scale):.1f}, which with {self._headroom_bits} "
                f"bits of message and a sign needs {needed + self._headroom_bits:.1f} bits; the "
                f"modulus of {limbs} limbs has {room:.1f}: lower the scale, widen q_0, or lower "
                "headroom_bits if messages are smaller"
            )
        if needed + message_bits > room:
            what = "the constants before it"
            if plain is not None:
                what = f"the plain operand's largest number {np.abs(plain.values).max():.3g}"
            raise self.source.error(
                f"{op}: {what} can make a message of magnitude 1 one of 2^{message_bits:.1f}, "
                f"which at scale 2^{math.log2(scale):.1f} with a sign needs "
                f"{needed + message_bits:.1f} bits; the modulus of {limbs} limbs has {room:.1f}, "
                f"room for magnitudes up to 2^{room - needed:.1f}: scale the numbers down, and "
                "multiply what was decrypted instead; or widen q_0 (automatic parameters: raise "
                "headroom_bits)"
            )
