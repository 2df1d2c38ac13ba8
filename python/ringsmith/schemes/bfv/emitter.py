"""Writes planned BFV nodes, and refuses those whose noise would leave no budget."""

import math

import numpy as np

from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op
from ringsmith.params import BfvParameters
from ringsmith.program.emitter import Emitter
from ringsmith.program.nodes import Node, Plain
from ringsmith.program.overflow import RangeError
from ringsmith.program.plain import PlainValues
from ringsmith.schemes.bfv import noise
from ringsmith.schemes.bfv.forecast import NoiseWalk, fewest_limbs
from ringsmith.schemes.bfv.norms import Norms, add

SLACK_BITS = 0.25
"""Maximum noise budget, in bits, that dropping primes may cost at once."""


class NoiseError(ProgramError):
    """A program whose noise may exceed its parameters' budget."""


class BfvEmitter(Emitter):
    """Appends nodes that decrypt correctly by the noise forecast.

    Attributes:
        parameters: The parameter set.
    """

    def __init__(self, parameters: BfvParameters, *, modular: bool = True) -> None:
        super().__init__(parameters)
        self.parameters = parameters
        self._modular = modular
        self._noise = NoiseWalk(parameters)

    def multiply_plain(self, a: int, values: PlainValues) -> int:
        """Returns a * w.

        A product with -c, for one number in every slot, is the negative of that with c: SEAL, and
        so we, lifts a constant -c to t - c where t is below every prime, and noise would grow by
        all of t.
        """
        node = self.nodes[a]
        plain = self._plain(values, 1.0, node.limbs)
        if plain.values.ndim == 0 and plain.values < 0:
            return self.negate(self.multiply_plain(a, -plain.values))
        if plain.values.ndim == 0 and plain.values == 1:
            return a
        if not plain.values.any():
            raise self.source.error(
                "a product with 0 is 0, whatever was encrypted, and its ciphertext hides nothing: "
                "leave the operation out"
            )
        return self._emit(Op.MULTIPLY_PLAIN, (a,), node.limbs, 1.0, node.size, plain=plain)

    def lightened(self, a: int) -> int:
        """Returns a with the fewest limbs that cost almost no noise budget.

        After a product its noise dominates the noise of division by primes and of key switching.
        Fewer limbs need less work. A node of three polynomials counts as relinearized.
        """
        node, error = self.nodes[a], self._noise.errors[a]

        def at(limbs: int) -> Norms:
            switched = noise.mod_switch(self.parameters, error, node.size, node.limbs, limbs)
            if node.size == 2:
                return switched
            return add(switched, noise.key_switching(self.parameters, limbs))

        limbs = fewest_limbs(self.parameters, node.limbs, SLACK_BITS, at)
        return self.mod_switch(a, limbs)

    def _plain(self, values: PlainValues, scale: float, limbs: int) -> Plain:
        """Returns the numbers centred modulo t; refuses numbers out of range."""
        t = self.parameters.plain_modulus
        least, greatest = int(values.min()), int(values.max())
        if not self._modular and max(-least, greatest) > t // 2:
            raise RangeError(
                f"{self.source}: the plain operand's number {max(least, greatest, key=abs)} leaves "
                f"the integers of t = {t}, -{t // 2} … {t // 2}: take a greater t "
                "(AutoBfvParameters finds one), or allow_overflow=True if results are meant "
                "modulo t",
                math.log2(max(-least, greatest) / (t // 2)),
            )
        if least <= -t or greatest >= t:
            worst = max(least, greatest, key=abs)
            raise self.source.error(
                f"the plain operand's number {worst} is outside -(t - 1) … t - 1 with t = {t}: "
                "reduce it modulo t if that is meant, or take a greater t"
            )
        residues = np.mod(values, t)
        return Plain(np.where(residues > t // 2, residues - t, residues), scale)

    def _admit(self, node: Node) -> None:
        """Refuses a node whose result may not decrypt correctly by the forecast."""
        left = self._noise.append(node)
        if left >= 1:
            return
        parameters = self.parameters
        q = math.prod(parameters.data_primes)
        raise NoiseError(
            f"{self.source}: out of noise budget: after this {node.op} the forecast lacks "
            f"{1 - left} bits; parameters {parameters.name!r} have a q of {q.bit_length()} bits in "
            f"{parameters.limbs} primes and a t of {parameters.plain_modulus.bit_length()} bits: "
            "add data primes, lower t, or multiply less deeply (a product of n factors needs only "
            "log2(n) products in a row when it is multiplied as a tree)"
        )
