"""When each instruction issues: the issue rule and the hazard rule of ``docs/architecture.md``.

Every latency is independent of data, so the rule needs no clock. The scheduler and the
random-program generator ask a :class:`Timeline`; the C++ model states the same rule over again for
speed, and the tests hold the two and the RTL against each other.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ringsmith.arch.rpau import cost
from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.arch.rpau.isa import CONTROL, ISA, Instruction
from ringsmith.arch.rpau.kinds import POLY
from ringsmith.errors import ProgramError

HALT = "halt"

_FIRST_PORT = -2
"""It and the numbers below stand for the UltraRAM banks' ports among what instructions keep."""


@dataclass(frozen=True)
class Timing:
    """The numbers that the issue rule needs, in clock cycles.

    Attributes:
        fetch_cycles: From one issue to the next instruction's readiness, and from the start
            command to the first one's.
        latencies: For the name of each operation that the design has, how long it keeps its unit
            busy.
    """

    fetch_cycles: int
    latencies: Mapping[str, int]

    @classmethod
    def of(cls, design: RpauDesign, log_degree: int | None = None) -> "Timing":
        """The timing of a design, in the ring of degree 2^log_degree or in that of degree N."""
        return cls(cost.FETCH_CYCLES, MappingProxyType(cost.latencies(design, log_degree)))


@dataclass(frozen=True)
class _Flight:
    """The last instruction that touched a polynomial: when it ends, and on which unit it runs."""

    end: int
    unit: str


def _held(instruction: Instruction, rpau: int, design: RpauDesign) -> frozenset[int]:
    """What an instruction keeps for itself in an RPAU: what it touches, and its banks' ports."""
    ports = set()
    for operand, poly in instruction.accesses(rpau):
        bank = design.uram_bank(poly) if operand.kind == POLY else None
        if bank is not None and (operand.reads or operand.reads_back):
            ports.add(_FIRST_PORT - 2 * bank)
        if bank is not None and operand.writes:
            ports.add(_FIRST_PORT - 2 * bank - 1)
    return instruction.touched(rpau) | ports


class Timeline:
    """Issues instructions one after another and says in which cycle each starts.

    Cycles count from the start command. An instruction that starts at ``t`` with latency ``l``
    keeps its unit, and the work polynomials that it touches, from ``t`` to ``t + l - 1``.
    """

    def __init__(self, timing: Timing, design: RpauDesign) -> None:
        self._timing = timing
        self._design = design
        self._ready = timing.fetch_cycles
        self._idle = {unit: [0] * design.rpaus for unit in ISA.execution_units}
        self._flights: dict[tuple[int, int], _Flight] = {}
        self._ring_idle = 0
        self._cycles: int | None = None

    @property
    def cycles(self) -> int | None:
        """Cycles of the whole program, once ``halt`` has issued; None before."""
        return self._cycles

    def start_of(self, instruction: Instruction) -> int:
        """The cycle in which the instruction would issue next."""
        operation = instruction.operation
        if operation.name == HALT:
            return max([self._ready, *(max(idle) for idle in self._idle.values())])
        units = instruction.waits | ({operation.unit} - {CONTROL})
        rpaus = instruction.rpaus()
        return max([self._ready, *(self._idle[unit][rpau] for unit in units for rpau in rpaus)])

    def conflicts(self, instruction: Instruction) -> frozenset[str]:
        """Units that still work on a polynomial of the instruction when it would issue.

        One of them is never the instruction's own unit, which is idle by the issue rule; setting
        the wait bit of each, as :meth:`guarded` does, takes every such conflict away.
        """
        start = self.start_of(instruction)
        flights = (
            self._flights.get((rpau, poly))
            for rpau in instruction.rpaus()
            for poly in _held(instruction, rpau, self._design)
        )
        return frozenset(flight.unit for flight in flights if flight and flight.end > start)

    def ring_conflict(self, instruction: Instruction) -> bool:
        """Whether the instruction would send round the ring while another still does.

        No wait bit takes this away where the two have no RPAU in common: issue it later.
        """
        return instruction.operation.source is not None and self._ring_idle > self.start_of(
            instruction
        )

    def guarded(self, instruction: Instruction) -> Instruction:
        """The instruction with the wait bits that the hazard rule needs, and no more."""
        for unit in self.conflicts(instruction):
            instruction = instruction.waiting_for(unit)
        return instruction

    def issue(self, instruction: Instruction) -> int:
        """Issues the instruction and returns the cycle in which it starts.

        Raises:
            ProgramError: If it breaks the hazard rule, or follows ``halt``.
        """
        operation = instruction.operation
        if self._cycles is not None:
            raise ProgramError(f"{operation.name} follows halt and can never issue: remove it")
        conflicts = self.conflicts(instruction)
        if conflicts:
            raise ProgramError(
                f"{operation.name} touches a polynomial, or the key store, that unit "
                f"{', '.join(sorted(conflicts))} still works on: set the wait bit of that unit, or "
                "issue it later"
            )
        if self.ring_conflict(instruction):
            raise ProgramError(
                f"{operation.name} sends to other RPAUs while another still does: issue it later"
            )
        start = self.start_of(instruction)
        self._ready = start + self._timing.fetch_cycles
        if operation.name == HALT:
            self._cycles = start
        if operation.unit != CONTROL:
            end = start + self._timing.latencies[operation.name]
            if operation.source is not None:
                self._ring_idle = end
            for rpau in instruction.rpaus():
                self._idle[operation.unit][rpau] = end
                for poly in _held(instruction, rpau, self._design):
                    self._flights[rpau, poly] = _Flight(end, operation.unit)
        return start
