"""Writes planned CKKS nodes, and refuses scales and messages that exceed the modulus."""

import math

from ringsmith.graph.operations import Op
from ringsmith.params import CkksParameters
from ringsmith.program.emitter import Emitter
from ringsmith.program.nodes import Node, Plain
from ringsmith.program.overflow import RangeError
from ringsmith.program.plain import PlainValues, largest, root_mean_square
from ringsmith.schemes.ckks import noise

MIN_PLAIN_SCALE_BITS = 10
"""A plaintext encoded below 2^10 would keep fewer than three decimal digits."""
SCALE_SLACK = 2.0**-50
"""Relative distance within which a declared scale may differ from the computed one."""


class CkksEmitter(Emitter):
    """Appends nodes whose messages, of the promised headroom, stay below the modulus.

    Attributes:
        parameters: The parameter set.
    """

    def __init__(self, parameters: CkksParameters, headroom_bits: int) -> None:
        super().__init__(parameters)
        self.parameters = parameters
        self._headroom_bits = headroom_bits
        self._log_q = [0.0]
        for q in parameters.data_primes:
            self._log_q.append(self._log_q[-1] + math.log2(q))

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

    def multiply_exactly(self, a: int, values: PlainValues, scale: float) -> int:
        """Returns a * w, where w at this scale is a polynomial of whole numbers, such as X^(N/2).

        The scale of the result is a's times the other, and nothing needs to be rescaled.
        """
        node = self.nodes[a]
        plain = Plain(values, scale)
        return self._emit(
            Op.MULTIPLY_PLAIN, (a,), node.limbs, node.scale * scale, node.size, plain=plain
        )

    def mod_raise(self, a: int, limbs: int) -> int:
        """Reads a, of the lowest level, modulo more primes: multiples of q_0 are added to it."""
        return self._emit(Op.MOD_RAISE, (a,), limbs, self.nodes[a].scale, 2)

    def bootstrap(self, result: int, a: int) -> int:
        """Ends the bootstrapping of a: the result of its last stage, with the numbers of a."""
        node = self.nodes[result]
        return self._emit(Op.BOOTSTRAP, (result, a), node.limbs, node.scale, 2)

    def rescale(self, a: int, scale: float | None = None) -> int:
        """Divides a by the primes that the next lower level lacks.

        Args:
            a: A node above the lowest level.
            scale: The scale to declare, where it must equal another; must be the quotient up to
                rounding. None: the quotient, as SEAL computes it.
        """
        node, quotient = self.nodes[a], self._quotient(a)
        declared = quotient if scale is None else scale
        assert abs(declared / quotient - 1) < SCALE_SLACK, "a declared scale is the true one"
        limbs = self.parameters.below(node.limbs)
        return self._emit(Op.RESCALE, (a,), limbs, declared, node.size)

    def relinearize_rescale(self, a: int) -> int:
        """Returns a, of three polynomials, as two and rescaled: by one division."""
        limbs = self.parameters.below(self.nodes[a].limbs)
        return self._emit(Op.RELINEARIZE_RESCALE, (a,), limbs, self._quotient(a), 2)

    def _quotient(self, a: int) -> float:
        """The scale of a, rescaled, as SEAL computes it."""
        node = self.nodes[a]
        return node.scale / self.parameters.divisor(node.limbs)

    def _plain(self, values: PlainValues, scale: float, limbs: int) -> Plain:
        """Returns a plain operand whose encoding stays below half the modulus and is not lost."""
        most = largest(values)
        bits = math.log2(most) + math.log2(scale) + 1 if most > 0 else 0.0
        if bits > self._log_q[limbs]:
            raise RangeError(
                f"{self.source}: the plain operand's largest number {most:.3g} at scale "
                f"2^{math.log2(scale):.1f} needs {bits:.1f} bits, and the modulus of {limbs} limbs "
                f"has {self._log_q[limbs]:.1f}: scale the numbers down, or add a data prime",
                bits - self._log_q[limbs],
            )
        plain = Plain(values, scale)
        if most > 0 and self._vanishes(plain):
            raise self.source.error(
                f"the plain operand's largest number {most:.3g} at scale "
                f"2^{math.log2(scale):.1f} is encoded as zero, since every coefficient is below "
                "1/2: scale the numbers up, raise the scale, or leave the operation out"
            )
        return plain

    def _vanishes(self, plain: Plain) -> bool:
        """Tells whether every coefficient of the encoding rounds to zero.

        By Parseval, the squares of the N coefficients sum up to the mean square of the slots; only
        between the bounds that follow from it is anything computed.
        """
        norm = root_mean_square(plain.values)
        if norm * plain.scale >= math.sqrt(self.parameters.n):
            return False  # the largest coefficient is at least norm / sqrt(N)
        if norm * plain.scale < 0.5:
            return True  # no coefficient exceeds the norm
        return noise.largest_coefficient(plain.vector(self.parameters.slots)) * plain.scale < 0.5

    def _admit(self, node: Node) -> None:
        """Refuses a scale that leaves no space for the promised headroom."""
        available, needed = self._log_q[node.limbs], math.log2(node.scale) + 1
        if needed + self._headroom_bits > available:
            raise self.source.error(
                f"{node.op} yields the scale 2^{math.log2(node.scale):.1f}, which with "
                f"{self._headroom_bits} bits of message and a sign needs "
                f"{needed + self._headroom_bits:.1f} bits; the modulus of {node.limbs} limbs has "
                f"{available:.1f}: lower the scale, widen q_0, or lower headroom_bits if messages "
                "are smaller"
            )
