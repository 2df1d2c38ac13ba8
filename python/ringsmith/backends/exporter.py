"""The interface for exporting a design with the command ``generate``.

An architecture provides three descriptions of a design: its hardware (:class:`Hardware`), its
expected resources (:class:`Estimate`), and a run for a testbench (:class:`Demonstration`).
:mod:`ringsmith.generate` makes the folder from these and depends on no architecture.
:meth:`ringsmith.backends.base.Backend.exporter` refuses an architecture without an exporter.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ringsmith.backends.types import CompiledGraph, Design
from ringsmith.hdl.interfaces import Interface
from ringsmith.hdl.record import Values
from ringsmith.objects import KeySwitchKey, Residues
from ringsmith.params import RlweParameters
from ringsmith.platforms import NO_PLATFORM, load_platform


@dataclass(frozen=True)
class Greeting:
    """The shortest access that shows that a device answers on its bus.

    Attributes:
        bus: The AXI4-Lite bus that is read, or the stream that words are sent on.
        reads: Address of a register -> its contents; empty: words are sent.
        words: The words to send, one per beat, the last one with tlast.
        answers: The stream of the answer.
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
        parameters: Values of the top module's parameters: numbers, strings and records.
        interfaces: All of its ports, clocks first; the first clock is that of the buses.
        greeting: A system's first access to it.
        macros: The macros of the sources.
        clocks: Clock -> its MHz in constraints and testbench: assumed, not measured.
        platform: The card that it is built for; ``none``: none is named.
        simulation: Options of Verilator that make its simulation smaller or faster.
        files: Path in the folder -> text: register maps, headers and pages about the interfaces.
        tied: Ports of the top module that no interface has -> the port that drives them, too.
    """

    top: str
    folders: tuple[str, ...]
    parameters: Values
    interfaces: tuple[Interface, ...]
    greeting: Greeting
    clocks: Mapping[str, float]
    platform: str
    macros: tuple[str, ...] = ()
    simulation: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    tied: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Estimate:
    """The estimated FPGA resources of a design, computed from its parameters.

    Attributes:
        family: Yosys' name of the family.
        resources: Resource -> how many; only those that are counted.
    """

    family: str
    resources: Mapping[str, float]


@dataclass(frozen=True)
class Demonstration:
    """An operation on the device, for a testbench.

    Attributes:
        files: Path below ``program/`` -> text: the loaded data and the expected results.
        testbench: The SystemVerilog of the testbench's module, ``$tb``; it instantiates ``$top``
            and may use ``$connections``, all ports by name, ``$declarations``, a variable for each
            port, and ``$axi_lite``, tasks that write and read registers of bus ``s_axil``: they
            take ``base``, ``AddressBits``, ``Patience``, ``fail`` and ``stop`` of the testbench.
            ``$clock`` is the clock of the buses.
        values: Other values for ``$name`` in ``testbench``.
        figures: Its properties, such as its clock cycles: name -> value.
        modules: Path below ``tb/`` -> SystemVerilog of modules that the testbench instantiates.
    """

    files: Mapping[str, str]
    testbench: str
    values: Mapping[str, object]
    figures: Mapping[str, int]
    modules: Mapping[str, str] = field(default_factory=dict)


def assumed_mhz(architecture_mhz: float, platform: str) -> float:
    """The clock that a design is assumed to have: its architecture's, or a slower card's."""
    if platform == NO_PLATFORM:
        return architecture_mhz
    return min(architecture_mhz, load_platform(platform).most_megahertz)


class Exporter(ABC):
    """Exports an architecture's designs."""

    @abstractmethod
    def hardware(self, design: Design) -> Hardware:
        """The RTL of a design, and its interfaces.

        Raises:
            ParameterError: If designs of this kind cannot be exported.
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
        """Records the host's accesses for an operation, from a run on the model.

        Returns:
            The demonstration, and the outputs by name, shape (limbs, N).
        """

    @abstractmethod
    def estimate(self, design: Design) -> Estimate:
        """Resources of a design, without synthesis."""


def hex_words(words: Sequence[int]) -> str:
    """Words of 64 bits as lines of a file that ``$readmemh`` reads."""
    return "".join(f"{word:016x}\n" for word in words)
