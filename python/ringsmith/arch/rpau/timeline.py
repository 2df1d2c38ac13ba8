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
from ringsmith.arch.rpau.virtual import bits_of
from ringsmith.errors import ProgramError

HALT = "halt"

_KEY_PORT = -1
"""Stands for the key store's read port among the work polynomials that instructions keep."""

_FIRST_PORT = -2
"""It and the numbers below stand for the ports of the UltraRAM banks among them."""


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


@dataclass
class _Flights:
    """The last instruction in each RPAU that kept a polynomial or a port.

    Attributes:
        until: The cycle from which on nobody keeps it.
        ends: By RPAU, the cycle in which its last instruction has ended.
        units: By RPAU, the unit that it runs on.
    """

    until: int
    ends: list[int]
    units: list[str]


_Held = tuple[tuple[int, tuple[int, ...]], ...]
"""What an instruction keeps for itself, polynomials and ports, each with the RPAUs."""


def _held(instruction: Instruction, design: RpauDesign) -> _Held:
    """What an instruction keeps for itself: what it touches, and the ports of its banks."""
    operation, everyone = instruction.operation, instruction.mask
    source = 1 << instruction[operation.source.name] if operation.source else 0
    masks: dict[int, int] = {}
    for operand, value in zip(operation.operands, instruction.values, strict=True):
        if not operand.access:
            continue
        here = {"all": everyone, "source": source, "others": everyone & ~source}[operand.where]
        bank = design.uram_bank(value) if operand.kind == POLY else None
        held = [value if operand.kind == POLY else _KEY_PORT]
        if bank is not None and (operand.reads or operand.reads_back):
            held.append(_FIRST_PORT - 2 * bank)
        if bank is not None and operand.writes:
            held.append(_FIRST_PORT - 2 * bank - 1)
        for each in held:
            masks[each] = masks.get(each, 0) | here
    return tuple((each, tuple(bits_of(mask))) for each, mask in masks.items())


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
        self._flights: dict[int, _Flights] = {}
        self._known: dict[tuple[int, int, tuple[int, ...]], _Held] = {}
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
        units: set[str] = set()
        for each, rpaus in self._held(instruction):
            flights = self._flights.get(each)
            if flights is not None and flights.until > start:
                units.update(flights.units[rpau] for rpau in rpaus if flights.ends[rpau] > start)
        return frozenset(units)

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
            for each, rpaus in self._held(instruction):
                self._keep(each, rpaus, end, operation.unit)
        return start

    def _held(self, instruction: Instruction) -> _Held:
        """What it keeps for itself; asked for one instruction again and again."""
        key = instruction.operation.opcode, instruction.mask, instruction.values
        if key not in self._known:
            self._known[key] = _held(instruction, self._design)
        return self._known[key]

    def _keep(self, each: int, rpaus: tuple[int, ...], end: int, unit: str) -> None:
        size = self._design.rpaus
        flights = self._flights.setdefault(each, _Flights(0, [0] * size, [""] * size))
        flights.until = max(flights.until, end)
        for rpau in rpaus:
            flights.ends[rpau], flights.units[rpau] = end, unit
