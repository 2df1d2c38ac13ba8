"""Planning BFV: where to relinearize and where to drop primes, so that noise stays in bounds.

There are no scales and no levels. A value is an exact vector modulo t over any number of primes.
The limited resource is the noise budget (``ringsmith.schemes.bfv.noise``).

**Relinearization** is delayed until a value is multiplied, rotated or output. Products are added
first, so that one relinearization is enough for a sum, unless a term has other users.

**Primes** are divided away where the noise is so large that dropping them costs almost no budget
(``BfvEmitter.lightened``): before a product is relinearized. Later operations are then cheaper.
Operands with different limbs meet at the smaller number.
"""

from collections.abc import Sequence

from ringsmith.graph.operations import Op
from ringsmith.params import BfvParameters
from ringsmith.program.planner import Cipher, InputSpec, Planner
from ringsmith.program.recorder import TraceNode
from ringsmith.schemes.bfv.emitter import BfvEmitter


class BfvPlanner(Planner[Cipher]):
    """Plans the nodes of one trace.

    Args:
        parameters: The parameter set.
        trace: The traced nodes, operands before users.
        modular: Whether constants are meant modulo t.
    """

    def __init__(
        self, parameters: BfvParameters, trace: Sequence[TraceNode], *, modular: bool
    ) -> None:
        self._emitter = BfvEmitter(parameters, modular=modular)
        super().__init__(self._emitter, trace)
        self._parameters = parameters

    def _input(self, name: str, spec: InputSpec) -> Cipher:
        if spec.scale is not None:
            raise self._emitter.source.error(
                f"input {name!r}: scale = {spec.scale!r}, and BFV has no scales: leave it out"
            )
        if spec.limbs not in (None, self._parameters.limbs):
            raise self._emitter.source.error(
                f"input {name!r}: limbs = {spec.limbs}, and a fresh BFV encryption has all "
                f"{self._parameters.limbs}; how much noise another ciphertext has is not known: "
                "leave limbs out"
            )
        return Cipher(self._emitter.input(name, self._parameters.limbs, 1.0))

    def _operation(self, node: TraceNode, operands: list[Cipher]) -> Cipher:
        emitter, first = self._emitter, operands[0]
        match node.op:
            case Op.ADD | Op.SUB:
                pending = any(operand.pending for operand in operands)
                left, right = self._meet(*(operand.node for operand in operands))
                return Cipher(emitter.add_or_sub(node.op, left, right), pending)
            case Op.NEGATE:
                return Cipher(emitter.negate(first.node), first.pending)
            case Op.MULTIPLY:
                left, right = self._meet(*(self._ready(operand) for operand in operands))
                return Cipher(emitter.multiply(left, right), pending=True)
            case Op.ROTATE if node.steps is not None:
                return Cipher(emitter.rotate(self._ready(first), node.steps))
            case Op.SWAP_COLUMNS:
                return Cipher(emitter.conjugate(node.op, self._ready(first)))
            case Op.MULTIPLY_PLAIN if node.values is not None:
                return Cipher(emitter.multiply_plain(first.node, node.values), first.pending)
            case Op.ADD_PLAIN | Op.SUB_PLAIN if node.values is not None:
                plain = emitter.add_or_sub_plain(node.op, first.node, node.values)
                return Cipher(plain, first.pending)
        raise AssertionError(f"{node.op} is never traced in BFV")

    def _settled(self, value: Cipher) -> Cipher:
        return Cipher(self._ready(value))

    def _ready(self, value: Cipher) -> int:
        """Returns the value's node, with two polynomials and no more limbs than useful."""
        if not value.pending:
            return value.node
        return self._emitter.relinearize(self._emitter.lightened(value.node))

    def _meet(self, a: int, b: int) -> tuple[int, int]:
        """Returns both nodes over the fewer limbs of the two."""
        limbs = min(self._emitter.nodes[node].limbs for node in (a, b))
        return self._emitter.mod_switch(a, limbs), self._emitter.mod_switch(b, limbs)
