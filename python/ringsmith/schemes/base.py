"""The interface ``Scheme``: all scheme-dependent operations.

``ringsmith.schemes.registry`` lists the schemes. Properties that depend on the parameters only
(whether messages are exact, slots, the modulus of messages) belong to the parameters.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from ringsmith.graph.operations import Op
from ringsmith.graph.subroutines import SubroutineGraph
from ringsmith.objects import Ciphertext, PlainPolynomial, Plaintext, PublicKey, Residues
from ringsmith.params import ParameterLimits, RlweParameters
from ringsmith.params.automatic import AutoRlweParameters
from ringsmith.params.sampling import Draw
from ringsmith.program.graph import Program
from ringsmith.program.nodes import Node, Plain
from ringsmith.program.plain import Space
from ringsmith.program.recording import Recording
from ringsmith.program.sharing import SHARED
from ringsmith.program.source import SourceLine
from ringsmith.schemes.writer import OperationWriter

Operand = Ciphertext | Plaintext | PlainPolynomial | None
"""The second operand of a single operation."""


@dataclass(frozen=True)
class Options:
    """The options of ``trace`` other than parameters; a scheme refuses options it does not support.

    Attributes:
        headroom_bits: log2 of the largest message magnitude; None: not given.
        fused_rescale: Whether products are relinearized and rescaled by one division.
        lazy_rescale: Whether products that are added are rescaled after the addition.
        rotate_products: Whether products with plaintexts are rotated before they are rescaled.
        unchecked: As of ``Program``: the option ``allow_overflow`` of ``trace``.
        rotations: As of ``Program``.
        enough: Whether noise only has to stay well below the approximation of a result (CKKS).
    """

    headroom_bits: int | None = None
    fused_rescale: bool = False
    lazy_rescale: bool = True
    rotate_products: bool = False
    unchecked: bool = False
    rotations: str = SHARED
    enough: bool = False


@dataclass(frozen=True)
class Constant:
    """A plain operand of an operation on ciphertexts.

    Attributes:
        plain: Its numbers.
        limbs: Limbs of the ciphertext.
        op: The operation.
        extended: Whether it is encoded for the special primes, too; in CKKS only.
    """

    plain: Plain
    limbs: int
    op: Op
    extended: bool = False


class Search(ABC):
    """The search for parameters at one ring degree.

    Attributes:
        obstacle: Why no parameters were found, as far as known.
        hint: What to ask for instead; None: what the requirements say.
    """

    obstacle: str = ""
    hint: str | None = None

    def follow(self, before: "Search") -> None:  # noqa: B027 - most have nothing to learn
        """Learns from the search at a smaller degree, which found nothing."""

    def may_fit(self, fewer: int) -> bool:
        """Tells whether parameters may fit if the program needs fewer levels.

        By default they may: a scheme without levels knows it when it has planned.
        """
        return True

    @abstractmethod
    def run(self) -> Program | None:
        """Returns the program, planned for the best parameters of the degree; None: none fit.

        Raises:
            ProgramError: When no parameters can work.
        """

    @abstractmethod
    def words(self, program: Program) -> list[str]:
        """Explains the parameters of a program."""


class Scheme(ABC):
    """A scheme of homomorphic encryption: its types, and how its programs are made."""

    name: ClassVar[str]
    """As ``RlweParameters.scheme`` has it."""
    parameters: ClassVar[type[RlweParameters]]
    """The class of its parameter sets; the other methods accept only these."""
    automatic: ClassVar[type[AutoRlweParameters]]
    """The class of requirements for automatic parameters."""
    program: ClassVar[type[Program]]
    """Its planned programs."""
    plaintext: ClassVar[type[Plaintext] | type[PlainPolynomial]]
    """Its encoded messages."""
    kind: ClassVar[str] = ""
    """The name of its vectors in error messages."""

    def words(self, op: Op) -> str:
        """Returns what a node does, such as ``multiplies two encrypted BFV vectors``."""
        return op.record.words.replace("encrypted", f"encrypted {self.kind}".rstrip())

    # ---- programs --------------------------------------------------------------------------

    @abstractmethod
    def space(self, n: int) -> Space:
        """Returns the slots of a ciphertext of ring degree n."""

    @abstractmethod
    def check_options(self, options: Options, source: SourceLine) -> None:
        """Refuses options that the scheme does not support.

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
        """Returns the search for parameters at a ring degree that carries this many bits."""

    @abstractmethod
    def obstacle(
        self, parameters: RlweParameters, op: Op, limits: ParameterLimits, design: str
    ) -> tuple[str, str]:
        """Returns why a design does not support an operation with any primes, and a hint.

        Args:
            parameters: The parameter set.
            op: The operation.
            limits: The design's limits.
            design: The design's name in the sentence.

        Returns:
            The end of a sentence that begins with ``words``, such as ``and design octo has no unit
            for BFV products``; and a hint in addition to using another device, or nothing. Two
            empty texts if the design supports the operation.
        """

    @abstractmethod
    def plain_error(self, parameters: RlweParameters, node: Node, plain: Plain) -> str:
        """Returns what is wrong with the numbers of a plain operand from a file, or nothing."""

    # ---- results that hide their circuit ------------------------------------------------------

    @abstractmethod
    def noise_lengths(self, program: Program, bits: int) -> dict[str, float]:
        """Returns bounds of the Euclidean length of each output's noise, in integer coefficients.

        Args:
            program: A program of the scheme.
            bits: What exceeds a bound has a probability of about 2^-bits.

        Raises:
            ProgramError: When there is no bound, or something else than noise cannot be hidden.
        """

    @abstractmethod
    def left_after(self, program: Program, name: str, deviation: float) -> tuple[int, str]:
        """Returns the bits that an output has left after an encryption of zero and noise.

        Args:
            program: A program of the scheme.
            name: The output.
            deviation: Of the Gaussian integer that is added to each coefficient.

        Returns:
            The bits, and the end of a sentence that says that these are too few: ``… leaves``.
        """

    @abstractmethod
    def encryption_of_zero(
        self, parameters: RlweParameters, key: PublicKey, limbs: int, length: int, draw: Draw
    ) -> Residues:
        """Returns a fresh encryption (2, limbs, N) of zeros in the first ``length`` slots."""

    # ---- subroutines -----------------------------------------------------------------------

    @abstractmethod
    def writer(self, graph: SubroutineGraph, parameters: RlweParameters) -> OperationWriter:
        """Returns what writes operations into a graph."""

    @abstractmethod
    def constant(self, parameters: RlweParameters, operand: Constant) -> Residues:
        """Returns a plain operand as (limbs, N), in the form of ciphertexts.

        Args:
            parameters: The parameter set.
            operand: The operand.
        """

    def equal_words(self, parameters: RlweParameters, operand: Constant) -> int:
        """Returns how many equal words in a row ``constant`` has everywhere: a power of two."""
        return 1

    @abstractmethod
    def scalar(self, parameters: RlweParameters, operand: Constant) -> tuple[int, ...] | None:
        """Returns a plain operand that is one number in all slots, by its residues.

        It is a constant polynomial, and ``constant`` returns the same.

        Args:
            parameters: The parameter set.
            operand: The operand.

        Returns:
            A residue for each prime; None: it is another polynomial.
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
