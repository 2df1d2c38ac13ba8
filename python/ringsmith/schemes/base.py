"""What a scheme answers: everything that asks which scheme it is asks its ``Scheme``.

``ringsmith.schemes.registry`` lists the schemes. What their parameters alone can tell (whether
messages are exact, slots, the modulus of messages) is asked of the parameters.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from ringsmith.graph.operations import Op
from ringsmith.graph.subroutines import SubroutineGraph
from ringsmith.objects import Ciphertext, PlainPolynomial, Plaintext, Residues
from ringsmith.params import ParameterLimits, RlweParameters
from ringsmith.params.automatic import AutoRlweParameters
from ringsmith.program.graph import Program
from ringsmith.program.nodes import Node, Plain
from ringsmith.program.plain import Space
from ringsmith.program.recording import Recording
from ringsmith.program.source import SourceLine
from ringsmith.schemes.writer import OperationWriter

Operand = Ciphertext | Plaintext | PlainPolynomial | None
"""The second operand of a single operation."""


@dataclass(frozen=True)
class Options:
    """What ``trace`` is told beside parameters; a scheme refuses what it has no use for.

    Attributes:
        headroom_bits: log2 of the largest message magnitude; None: not said.
        fused_rescale: Whether products are relinearized and rescaled by one division.
        lazy_rescale: Whether products that are added are rescaled after the addition.
        rotate_products: Whether products with plaintexts are rotated before they are rescaled.
    """

    headroom_bits: int | None = None
    fused_rescale: bool = False
    lazy_rescale: bool = True
    rotate_products: bool = False


class Search(ABC):
    """The search for parameters at one ring degree.

    Attributes:
        obstacle: Why nothing was found, as far as the search went.
    """

    obstacle: str = ""

    @abstractmethod
    def run(self) -> Program | None:
        """Returns the program, planned for the best parameters of the degree; None: there are none.

        Raises:
            ProgramError: When no parameters could do.
        """

    @abstractmethod
    def words(self, program: Program) -> list[str]:
        """Says how the parameters of a program came about."""


class Scheme(ABC):
    """A scheme of homomorphic encryption: its types, and how its programs are made."""

    name: ClassVar[str]
    """As ``RlweParameters.scheme`` has it."""
    parameters: ClassVar[type[RlweParameters]]
    """Its parameter sets; the other methods are given such ones alone."""
    automatic: ClassVar[type[AutoRlweParameters]]
    """What a parameter set to be found must hold."""
    program: ClassVar[type[Program]]
    """Its planned programs."""
    plaintext: ClassVar[type[Plaintext] | type[PlainPolynomial]]
    """Its encoded messages."""
    kind: ClassVar[str] = ""
    """What errors say of its vectors, where they must name the scheme."""

    def words(self, op: Op) -> str:
        """Returns what a node does, such as ``multiplies two encrypted BFV vectors``."""
        return op.record.words.replace("encrypted", f"encrypted {self.kind}".rstrip())

    # ---- programs --------------------------------------------------------------------------

    @abstractmethod
    def space(self, n: int) -> Space:
        """Returns what a ciphertext of ring degree n holds."""

    @abstractmethod
    def check_options(self, options: Options, source: SourceLine) -> None:
        """Refuses options that mean nothing here.

        Raises:
            ProgramError: At the user's line.
        """

    @abstractmethod
    def plan(self, recording: Recording, parameters: RlweParameters, options: Options) -> Program:
        """Plans a recording for a parameter set.

        Raises:
            ProgramError: When it cannot be planned.
        """

    @abstractmethod
    def search(
        self,
        recording: Recording,
        wish: AutoRlweParameters,
        n: int,
        carried: int,
        options: Options,
    ) -> Search:
        """Returns the search for parameters at a ring degree that carries so many bits."""

    @abstractmethod
    def obstacle(
        self, parameters: RlweParameters, op: Op, limits: ParameterLimits, design: str
    ) -> tuple[str, str]:
        """Returns why a design does not do an operation, whatever the primes, and what to do.

        Args:
            parameters: The parameter set.
            op: The operation.
            limits: What the design does.
            design: What the sentence calls it.

        Returns:
            The end of a sentence that begins with ``words``, such as ``and design octo has no unit
            for BFV products``; and one more thing to do beside another device, or nothing. Two
            empty texts where the design does it.
        """

    @abstractmethod
    def plain_refusal(self, parameters: RlweParameters, node: Node, plain: Plain) -> str:
        """Returns what is wrong with the numbers of a plain operand from a file, or nothing."""

    # ---- subroutines -----------------------------------------------------------------------

    @abstractmethod
    def writer(self, graph: SubroutineGraph, parameters: RlweParameters) -> OperationWriter:
        """Returns what writes operations into a graph."""

    @abstractmethod
    def constant(self, parameters: RlweParameters, plain: Plain, limbs: int, op: Op) -> Residues:
        """Returns a plain operand as (limbs, N), in the form of ciphertexts.

        Args:
            parameters: The parameter set.
            plain: The operand.
            limbs: Limbs of the ciphertext.
            op: What it is an operand of.
        """

    # ---- single operations -----------------------------------------------------------------

    @abstractmethod
    def residues(
        self,
        parameters: RlweParameters,
        op: Op,
        plaintext: Plaintext | PlainPolynomial,
        limbs: int,
    ) -> Residues:
        """Returns the residues (limbs, N) that an operation's graph takes for a plaintext.

        Raises:
            ParameterError: When the plaintext is of other parameters.
        """

    @abstractmethod
    def result_scale(self, parameters: RlweParameters, op: Op, a: Ciphertext, b: Operand) -> float:
        """Returns the scale of a result, after the operands' scales were checked as SEAL does.

        Raises:
            ProgramError: When scales do not fit, or the result's exceeds the modulus.
        """
