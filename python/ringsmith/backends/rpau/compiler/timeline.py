"""When each instruction issues, by the rules of ``docs/reference/rpau.md``.

Every latency is independent of data, so the rule needs no clock. It is stated in C++, in
``backends/rpau/compiler/scheduler``, where the scheduler asks it; a :class:`Timeline` asks it for
single instructions.
The C++ model states the rule a second time, and the tests compare the two and the RTL.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from ringsmith.backends.rpau.compiler import _scheduler
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.latency import FETCH_CYCLES, arrival_cycles
from ringsmith.backends.rpau.isa.instruction_set import ISA, Instruction, equivalent_of, latencies
from ringsmith.caching import cached
from ringsmith.errors import ProgramError

HALT = "halt"

UNIT_BITS: Mapping[str, int] = MappingProxyType({unit: 1 << i for i, unit in enumerate(ISA.units)})
"""The bit of each unit in the scheduler's sets of units."""


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
        return cls(FETCH_CYCLES, MappingProxyType(latencies(design, log_degree)))

    def by_opcode(self) -> list[int]:
        """Latencies by opcode; 0 where there is no operation."""
        latencies = [0] * (1 << ISA.fields["opcode"].width)
        for operation in ISA.operations:
            latencies[operation.opcode] = self.latencies.get(operation.name, 0)
        return latencies


def machine(timing: Timing, design: RpauDesign) -> _scheduler.Machine:
    """The numbers that the scheduler takes of a design."""
    return _scheduler.Machine(
        rpaus=design.rpaus,
        banks=design.bank_of_poly,
        key_polys=design.key_polys,
        seeds=design.seeds,
        program_words=design.program_words - _reserved_words(design),
        fetch_cycles=timing.fetch_cycles,
        latencies=timing.by_opcode(),
        equivalents=_equivalents(design),
    )


def _reserved_words(design: RpauDesign) -> int:
    """Words of the program store that are left for ``await``, and for waits of what is sent."""
    if not design.key_stream:
        return 0
    return min(design.key_polys + design.program_words // 16, design.program_words // 2)


@cached
def _equivalents(design: RpauDesign) -> tuple[int, ...]:
    """By opcode, the operation that does the same on the other of two units; -1 without one."""
    opcodes = [-1] * (1 << ISA.fields["opcode"].width)
    for operation in ISA.operations:
        other = equivalent_of(operation, design)
        opcodes[operation.opcode] = -1 if other is None else other.opcode
    return tuple(opcodes)


class Timeline:
    """Issues instructions one after another and says in which cycle each starts.

    Cycles count from the start command. An instruction that starts at ``t`` with latency ``l``
    keeps its unit, and the work polynomials that it touches, from ``t`` to ``t + l - 1``.
    """

    def __init__(
        self, timing: Timing, design: RpauDesign, arrivals: Sequence[int] | None = None
    ) -> None:
        """Begins a program.

        Args:
            timing: Latencies.
            design: The accelerator.
            arrivals: The cycle in which each key polynomial arrives that comes while the program
                runs, as ``interface.KeyStream`` has them; None: all are there before.
        """
        latency = arrival_cycles(design)
        self._timeline = _scheduler.Timeline(
            machine(timing, design), [cycle + latency for cycle in arrivals or ()]
        )

    @property
    def cycles(self) -> int | None:
        """Cycles of the whole program, once ``halt`` has issued; None before."""
        return self._timeline.cycles()

    def conflicts(self, instruction: Instruction) -> frozenset[str]:
        """Units that still work on a polynomial of the instruction when it would issue.

        One of them is never the instruction's own unit, which is idle by the issue rule; setting
        the wait bit of each, as :meth:`guarded` does, takes every such conflict away.
        """
        bits = self._timeline.conflicts(*_asked(instruction))
        return frozenset(unit for unit, bit in UNIT_BITS.items() if bits & bit)

    def ring_conflict(self, instruction: Instruction) -> bool:
        """Whether the instruction would send round the ring while another still does.

        No wait bit takes this away where the two have no RPAU in common: issue it later.
        """
        return self._timeline.ring_conflict(*_asked(instruction))

    def guarded(self, instruction: Instruction) -> Instruction:
        """The instruction with the wait bits that the hazard rule needs, and no more."""
        for unit in self.conflicts(instruction):
            instruction = instruction.waiting_for(unit)
        return instruction

    def start_of(self, instruction: Instruction) -> int:
        """The cycle in which the instruction would issue next."""
        return self._timeline.start_of(*_asked(instruction))

    def exposed(self, instruction: Instruction) -> dict[str, int]:
        """What may still work on what the instruction needs if ``await`` waits longer.

        Returns:
            Unit -> mask of the RPAUs where it may: what :meth:`conflicts` tells, and what nothing
            has waited for since.
        """
        masks = self._timeline.exposed(*_asked(instruction))
        return {unit: mask for unit, mask in zip(ISA.units, masks, strict=True) if mask}

    def exposed_sender(self, instruction: Instruction) -> tuple[int, str] | None:
        """Likewise for what is sent to other RPAUs: who sent last, where that may still go on.

        Returns:
            Mask and unit of the sender, which is to be waited for; None where there is no need.
        """
        found = self._timeline.exposed_sender(*_asked(instruction))
        if found is None:
            return None
        mask, bits = found
        (unit,) = (unit for unit, bit in UNIT_BITS.items() if bits & bit)
        return mask, unit

    def issue(self, instruction: Instruction) -> int:
        """Issues the instruction and returns the cycle in which it starts.

        Raises:
            ProgramError: If it breaks the hazard rule, or follows ``halt``.
        """
        operation = instruction.operation
        if self.cycles is not None:
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
        return self._timeline.issue(*_asked(instruction))


def _asked(instruction: Instruction) -> tuple[int, int, tuple[int, ...], int]:
    """An instruction as the scheduler takes it."""
    waits = sum(UNIT_BITS[unit] for unit in instruction.waits)
    return instruction.operation.opcode, instruction.mask, instruction.values, waits
