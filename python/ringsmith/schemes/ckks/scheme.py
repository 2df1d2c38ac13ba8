"""CKKS: approximate real and complex numbers, with scales."""

import math
import sys
from dataclasses import replace

import numpy as np

from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Drops, Op, Scale
from ringsmith.graph.subroutines import SubroutineGraph
from ringsmith.objects import Ciphertext, PlainPolynomial, Plaintext, PublicKey, Residues
from ringsmith.params import (
    AutoParameters,
    CkksParameters,
    ParameterLimits,
    RlweParameters,
    ckks_encoder,
)
from ringsmith.params.automatic import AutoRlweParameters
from ringsmith.params.sampling import Draw
from ringsmith.program.graph import Program
from ringsmith.program.nodes import Node, Plain
from ringsmith.program.plain import Space
from ringsmith.program.recording import Recording
from ringsmith.program.source import SourceLine
from ringsmith.schemes.base import Constant, Operand, Options, Scheme, Search
from ringsmith.schemes.ckks import hiding
from ringsmith.schemes.ckks.automatic import CkksSearch
from ringsmith.schemes.ckks.automatic_bootstrapping import BootstrappingSearch
from ringsmith.schemes.ckks.planned import planned
from ringsmith.schemes.ckks.program import CkksProgram, space
from ringsmith.schemes.ckks.writer import CkksWriter

_WHOLE = 2.0**52
"""Doubles from here on are integers."""
DEFAULT_HEADROOM_BITS = 3
"""Default headroom: all messages of magnitude up to 2^3 fit below the modulus."""


class Ckks(Scheme):
    """CKKS, as ``Scheme`` asks."""

    name = "ckks"
    parameters = CkksParameters
    automatic = AutoParameters
    program = CkksProgram
    plaintext = Plaintext

    def space(self, n: int) -> Space:
        """N/2 real or complex numbers."""
        return space(n)

    def check_options(self, options: Options, source: SourceLine) -> None:
        """Takes all of them."""

    def plan(
        self, recording: Recording, parameters: RlweParameters, options: Options
    ) -> CkksProgram:
        """See ``Scheme``."""
        assert isinstance(parameters, CkksParameters)
        given = options.headroom_bits
        headroom = DEFAULT_HEADROOM_BITS if given is None else given
        return planned(recording, parameters, headroom, options)

    def search(
        self,
        recording: Recording,
        wish: AutoRlweParameters,
        n: int,
        carried: int,
        options: Options,
    ) -> Search:
        """See ``Scheme``."""
        assert isinstance(wish, AutoParameters)
        if options.headroom_bits is not None:
            wish = replace(wish, headroom_bits=options.headroom_bits)
        search = CkksSearch(recording.unrolled(), wish, n, carried, options)
        if wish.bootstrapping:
            return BootstrappingSearch(search, recording)
        for node in recording.trace.nodes:
            if node.op is Op.BOOTSTRAP:
                raise node.source.error(
                    "bootstrap: no parameters that bootstrap are chosen without being asked for: "
                    "take AutoParameters(bootstrapping=True), a named set that bootstraps, such as "
                    "'boot-64', or CkksParameters(..., bootstrapping=...)"
                )
        return search

    def obstacle(
        self, parameters: RlweParameters, op: Op, limits: ParameterLimits, design: str
    ) -> tuple[str, str]:
        """Every design does every operation of CKKS, but some do no bootstrapping."""
        if op is Op.MOD_RAISE and not limits.bootstraps:
            return f"which begins a bootstrapping, and {design} does none", ""
        return "", ""

    def plain_error(self, parameters: RlweParameters, node: Node, plain: Plain) -> str:
        """Numbers are finite and fit the modulus of the node's limbs."""
        largest = float(abs(plain.values).max())
        log_q = sum(math.log2(q) for q in parameters.data_primes[: node.limbs])
        if not math.isfinite(largest):
            return "has plain numbers that are not finite"
        if largest > 0 and math.log2(largest) + math.log2(plain.scale) + 1 > log_q:
            return f"has the plain number {largest:.3g}, beyond {node.limbs} limbs"
        return ""

    def noise_lengths(self, program: Program, bits: int) -> dict[str, float]:
        """See ``Scheme``."""
        assert isinstance(program, CkksProgram)
        return hiding.noise_lengths(program, bits)

    def left_after(self, program: Program, name: str, deviation: float) -> tuple[int, str]:
        """See ``Scheme``."""
        assert isinstance(program, CkksProgram)
        return hiding.left_after(program, name, deviation)

    def encryption_of_zero(
        self, parameters: RlweParameters, key: PublicKey, limbs: int, length: int, draw: Draw
    ) -> Residues:
        """See ``Scheme``."""
        assert isinstance(parameters, CkksParameters)
        return hiding.encryption_of_zero(parameters, key, limbs)

    def writer(self, graph: SubroutineGraph, parameters: RlweParameters) -> CkksWriter:
        """See ``Scheme``."""
        assert isinstance(parameters, CkksParameters)
        return CkksWriter(graph, parameters)

    def constant(self, parameters: RlweParameters, operand: Constant) -> Residues:
        """Encoded at its scale, the same for all operations."""
        assert isinstance(parameters, CkksParameters)
        residues = self.scalar(parameters, operand)
        if residues is not None:
            return np.repeat(np.array(residues, np.uint64)[:, np.newaxis], parameters.n, axis=1)
        plain = operand.plain
        vector = plain.vector(parameters.slots)
        return ckks_encoder(parameters).encode(vector, plain.scale, operand.limbs, operand.extended)

    def equal_words(self, parameters: RlweParameters, operand: Constant) -> int:
        """N / 2p for numbers of a period p, at least 2: they are a polynomial in X^(N / 2p).

        Slot i is the value at the power 3^i of a root, and 3 has the order p modulo 4p.
        """
        if self.scalar(parameters, operand) is not None:
            return parameters.n
        vector = operand.plain.vector(parameters.slots)
        period = vector.size
        while period > 2 and np.array_equal(*vector[:period].reshape(2, -1)):
            period //= 2
        return parameters.slots // period

    def scalar(self, parameters: RlweParameters, operand: Constant) -> tuple[int, ...] | None:
        """A real number times its scale, rounded half away from zero, as SEAL encodes one."""
        plain = operand.plain
        if plain.values.ndim or np.imag(plain.values):
            return None
        product = float(np.real(plain.values)) * plain.scale
        size = math.floor(abs(product) + 0.5) if abs(product) < _WHOLE else int(abs(product))
        number = -size if product < 0 else size
        base = (*range(operand.limbs), *(parameters.special if operand.extended else ()))
        return tuple(number % parameters.primes[i] for i in base)

    def residues(
        self,
        parameters: RlweParameters,
        op: Op,
        plaintext: Plaintext | PlainPolynomial,
        limbs: int,
    ) -> Residues:
        """The plaintext's own."""
        return plaintext.data

    def result_scale(self, parameters: RlweParameters, op: Op, a: Ciphertext, b: Operand) -> float:
        """See ``Scheme``."""
        record = op.record
        limbs = a.limbs if record.drops is Drops.NONE else parameters.below(a.limbs)
        other = b.scale if isinstance(b, Ciphertext | Plaintext) else a.scale
        match record.scale:
            case Scale.PRODUCT:
                scale = a.scale * other
            case Scale.QUOTIENT:
                return a.scale / parameters.divisor(a.limbs)
            case _ if record.drops is Drops.NONE:
                if not _close(a.scale, other):
                    raise ProgramError(
                        f"{op}: the operands' scales {a.scale:.17g} and {other:.17g} differ: "
                        "rescale or encode one to the other's scale"
                    )
                return a.scale
            case _:
                scale = a.scale
        bits = math.prod(parameters.primes[:limbs]).bit_length()
        if not math.isfinite(scale) or int(math.log2(scale)) >= bits:
            raise ProgramError(
                f"{op}: the scale would be {scale:.6g}, beyond the modulus of {bits} bits of "
                f"{limbs} limbs: rescale before, or use smaller scales"
            )
        return scale


CKKS = Ckks()


def _close(a: float, b: float) -> bool:
    """Whether SEAL takes two scales for equal."""
    return abs(a - b) < sys.float_info.epsilon * max(abs(a), abs(b), 1.0)
