"""BFV: whole numbers modulo t, exactly."""

import numpy as np

from ringsmith import _core
from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Key, Op
from ringsmith.graph.subroutines import SubroutineGraph
from ringsmith.objects import Ciphertext, PlainPolynomial, Plaintext, PublicKey, Residues
from ringsmith.params import (
    AutoBfvParameters,
    BfvParameters,
    ParameterLimits,
    RlweParameters,
    bfv_context,
)
from ringsmith.params.automatic import AutoRlweParameters
from ringsmith.params.sampling import Draw
from ringsmith.program.graph import Program
from ringsmith.program.nodes import Node, Plain
from ringsmith.program.plain import Space
from ringsmith.program.recording import Recording
from ringsmith.program.source import SourceLine
from ringsmith.schemes.base import Constant, Operand, Options, Scheme
from ringsmith.schemes.bfv import hiding
from ringsmith.schemes.bfv.automatic import BfvSearch
from ringsmith.schemes.bfv.planned import planned
from ringsmith.schemes.bfv.program import BfvProgram, space
from ringsmith.schemes.bfv.writer import BfvWriter


class Bfv(Scheme):
    """BFV, as ``Scheme`` asks."""

    name = "bfv"
    parameters = BfvParameters
    automatic = AutoBfvParameters
    program = BfvProgram
    plaintext = PlainPolynomial
    kind = "BFV"

    def space(self, n: int) -> Space:
        """Two rows of N/2 whole numbers."""
        return space(n)

    def check_options(self, options: Options, source: SourceLine) -> None:
        """Takes ``allow_overflow`` only."""
        if options.headroom_bits is not None:
            raise source.error(
                f"headroom_bits = {options.headroom_bits}: BFV computes modulo t and has no "
                "headroom: leave it out"
            )
        if options.fused_rescale:
            raise source.error("fused_rescale: BFV has no rescaling to fuse: leave it out")
        if not options.lazy_rescale or options.rotate_products:
            name = "rotate_products" if options.lazy_rescale else "lazy_rescale"
            raise source.error(f"{name}: BFV has no rescaling to delay: leave it out")

    def plan(
        self, recording: Recording, parameters: RlweParameters, options: Options
    ) -> BfvProgram:
        """See ``Scheme``."""
        assert isinstance(parameters, BfvParameters)
        return planned(recording, parameters, options)

    def search(
        self,
        recording: Recording,
        wish: AutoRlweParameters,
        n: int,
        carried: int,
        options: Options,
    ) -> BfvSearch:
        """See ``Scheme``."""
        assert isinstance(wish, AutoBfvParameters)
        return BfvSearch(recording, wish, n, carried, options)

    def obstacle(
        self, parameters: RlweParameters, op: Op, limits: ParameterLimits, design: str
    ) -> tuple[str, str]:
        """A design may have no unit for products of ciphertexts, or for rotations."""
        assert isinstance(parameters, BfvParameters)
        done, record = limits.bfv_multiplications, op.record
        if record.key is Key.GALOIS and not limits.bfv_rotations:
            return f"and {design} rotates CKKS vectors only", ""
        if not record.multiplies or parameters.multiplication in done:
            return "", ""
        if not done:
            return f"and {design} has no unit for BFV products", ""
        return (
            f"which {design} does by multiplication {' or '.join(done)}, and parameters "
            f"{parameters.name!r} have {parameters.multiplication!r}",
            f"take parameters with multiplication={done[0]!r}",
        )

    def plain_error(self, parameters: RlweParameters, node: Node, plain: Plain) -> str:
        """Numbers are residues modulo t, of either sign."""
        t = parameters.message_modulus
        if int(plain.values.min()) <= -t or int(plain.values.max()) >= t:
            return f"has a plain number outside -(t - 1) … t - 1 with t = {t}"
        return ""

    def noise_lengths(self, program: Program, bits: int) -> dict[str, float]:
        """See ``Scheme``."""
        assert isinstance(program, BfvProgram)
        return hiding.noise_lengths(program)

    def left_after(self, program: Program, name: str, deviation: float) -> tuple[int, str]:
        """See ``Scheme``."""
        assert isinstance(program, BfvProgram)
        return hiding.left_after(program, name, deviation)

    def encryption_of_zero(
        self, parameters: RlweParameters, key: PublicKey, limbs: int, length: int, draw: Draw
    ) -> Residues:
        """See ``Scheme``."""
        assert isinstance(parameters, BfvParameters)
        return hiding.encryption_of_zero(parameters, key, limbs, length, draw)

    def writer(self, graph: SubroutineGraph, parameters: RlweParameters) -> BfvWriter:
        """See ``Scheme``."""
        assert isinstance(parameters, BfvParameters)
        return BfvWriter(graph, parameters)

    def constant(self, parameters: RlweParameters, operand: Constant) -> Residues:
        """Batched, then made for the operation as ``residues`` does: SEAL's bits, all of them."""
        assert isinstance(parameters, BfvParameters)
        assert not operand.extended, "BFV divides key switches at once"
        slots = np.array(operand.plain.vector(parameters.slots), np.int64)
        encoded = _core.bfv.encode(bfv_context(parameters), slots)
        return _prepared(parameters, operand.op, encoded, operand.limbs)

    def scalar(self, parameters: RlweParameters, operand: Constant) -> tuple[int, ...] | None:
        """See ``Scheme``: one number in all slots is the constant polynomial."""
        if operand.plain.values.ndim:
            return None
        words = self.constant(parameters, operand)
        return tuple(int(word) for word in words[:, 0])

    def residues(
        self,
        parameters: RlweParameters,
        op: Op,
        plaintext: Plaintext | PlainPolynomial,
        limbs: int,
    ) -> Residues:
        """Scaled by q/t to be added or subtracted, lifted from modulo t to be multiplied by."""
        assert isinstance(parameters, BfvParameters)
        return _prepared(parameters, op, plaintext.data, limbs)

    def result_scale(self, parameters: RlweParameters, op: Op, a: Ciphertext, b: Operand) -> float:
        """Always 1, as of the operands."""
        for operand in (a, b):
            if isinstance(operand, Ciphertext) and operand.scale != 1:
                raise ProgramError(
                    f"{op}: an operand has the scale {operand.scale:.6g}, and BFV's have 1: it "
                    "is one of CKKS"
                )
        return 1.0


BFV = Bfv()


def _prepared(parameters: BfvParameters, op: Op, polynomial: Residues, limbs: int) -> Residues:
    """A polynomial modulo t as the operation takes it."""
    make = _core.bfv.lift_plain if op is Op.MULTIPLY_PLAIN else _core.bfv.scale_plain
    return make(bfv_context(parameters), polynomial, limbs)
