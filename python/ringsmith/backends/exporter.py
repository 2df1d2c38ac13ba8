"""Writing a design out: what an architecture says of it, for the command ``generate``.

An architecture answers three questions about a design: what hardware it is (:class:`Hardware`),
what resources it should take (:class:`Estimate`), and how a testbench can see it work
(:class:`Demonstration`). :mod:`ringsmith.generate` makes the folder from the answers and names no
architecture. :meth:`ringsmith.backends.base.Backend.exporter` refuses one that has none.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ringsmith.backends.types import CompiledGraph, Design
from ringsmith.hdl.interfaces import Interface
from ringsmith.objects import KeySwitchKey, Residues
from ringsmith.params import RlweParameters


@dataclass(frozen=True)
class Greeting:
    """The shortest thing to ask a device, after which it is known to answer on its bus.

    Attributes:
        bus: The AXI4-Lite bus that is read, or the stream that words are sent on.
        reads: Address of a register -> what it holds; empty: words are sent.
        words: What is sent, a word a beat, the last one with tlast.
        answers: The stream that the answer comes on.
        answer: The answer.
    """

    bus: str
    reads: tuple[tuple[int, int], ...] = ()
    words: tuple[int, ...] = ()
    answers: str = ""
    answer: int = 0


@dataclass(frozen=True)
class Hardware:
    """The RTL of a design.

    Attributes:
        top: The top module, with parameters.
        folders: Folders of ``rtl/`` that it is made of, each before those that use it.
        parameters: Values of the top module's parameters: numbers and strings.
        interfaces: All of its ports, clocks first; the first clock is that of the buses.
        greeting: What a system asks it first.
        macros: What the sources are read with.
        clock_mhz: The clock rate that the constraints ask for: assumed, not measured.
        simulation: Options of Verilator that make its simulation smaller or faster.
        files: Path in the folder -> text: register maps, headers and pages about the interfaces.
    """

    top: str
    folders: tuple[str, ...]
    parameters: Mapping[str, int | str]
    interfaces: tuple[Interface, ...]
    greeting: Greeting
    macros: tuple[str, ...] = ()
    clock_mhz: float = 200.0
    simulation: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Estimate:
    """What a design should take of an FPGA, counted from its parameters.

    Attributes:
        family: The family, as Yosys calls it.
        resources: Resource -> how many; only those that are counted.
    """

    family: str
    resources: Mapping[str, float]


@dataclass(frozen=True)
class Demonstration:
    """An operation on the device, for a testbench.

    Attributes:
        files: Path below ``program/`` -> text: what is loaded, and what must come out.
        testbench: The SystemVerilog of the testbench's module, ``$tb``; it instantiates ``$top``
            and may use ``$connections``, all ports by name, ``$declarations``, a variable for each
            port, and ``$axi_lite``, tasks that write and read registers of bus ``s_axil``: they
            take ``base``, ``AddressBits``, ``Patience``, ``fail`` and ``stop`` of the testbench.
            ``$clock`` is the clock of the buses.
        values: What else is put in place of ``$name`` in ``testbench``.
        facts: What is worth saying about it, such as its clock cycles: name -> value.
        modules: Path below ``tb/`` -> SystemVerilog of modules that the testbench instantiates.
    """

    files: Mapping[str, str]
    testbench: str
    values: Mapping[str, object]
    facts: Mapping[str, int]
    modules: Mapping[str, str] = field(default_factory=dict)


class Exporter(ABC):
    """How an architecture's designs are written out."""

    @abstractmethod
    def hardware(self, design: Design) -> Hardware:
        """The RTL of a design, and its interfaces.

        Raises:
            ParameterError: If designs of this kind cannot be written out.
        """

    @abstractmethod
    def parameters(self, design: Design) -> RlweParameters:
        """The smallest HE parameters for a demonstration: the design's smallest ring, few primes.

        Raises:
            ParameterError: If the design takes none; says why.
        """

    @abstractmethod
    def demonstrate(
        self,
        compiled: CompiledGraph,
        inputs: Mapping[str, Residues],
        keys: Mapping[str, KeySwitchKey],
    ) -> tuple[Demonstration, Mapping[str, Residues]]:
        """What a host does for an operation on the device, recorded from a run on the model.

        Returns:
            The demonstration, and the outputs by name, shape (limbs, N).
        """

    @abstractmethod
    def estimate(self, design: Design) -> Estimate:
        """Resources of a design, without synthesis."""


def hex_words(words: Sequence[int], digits: int = 16) -> str:
    """Words as lines of a file that ``$readmemh`` reads."""
    return "".join(f"{word:0{digits}x}\n" for word in words)
