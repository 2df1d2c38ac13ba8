"""Cutting a program that does not fit into runs, while the host holds what waits between them.

A program that fits is one run. Otherwise each run takes as many of the remaining instructions, in
sequential order, as the work memory, the stores of keys and seeds and the program store allow. A
polynomial that the next run needs stays where it lies; any other that is needed later is spilled to
the host, and filled in again before the run that needs it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.arch.rpau.kinds import KEY_POLY, SEED
from ringsmith.arch.rpau.schedule import Problem, Schedule, first_fit, needed_polys, schedule
from ringsmith.arch.rpau.selection import Location, Selection
from ringsmith.arch.rpau.virtual import VirtualInstruction, bits_of
from ringsmith.errors import CompileError

Masks = dict[int, int]
"""Virtual polynomial -> mask of RPAUs."""


@dataclass
class Segment:
    """One run of the device.

    Attributes:
        plan: The scheduled instructions.
        keys: Place in the key store of each key polynomial, by its index in the selection.
        seeds: Place in the seed store of each seed, by its index in the selection.
        loads: What the host writes before the run.
        stores: What the host reads after it.
    """

    plan: Schedule
    keys: Mapping[int, int]
    seeds: Mapping[int, int]
    loads: Masks
    stores: Masks = field(default_factory=dict)


def cut(selection: Selection, design: RpauDesign) -> list[Segment]:
    """Cuts a program into runs and schedules them.

    Raises:
        CompileError: If a few instructions that belong together do not fit.
    """
    cutter = _Cutter(selection, design)
    found = [cutter.next()]
    while not cutter.done:
        found.append(cutter.next())
    return found


def fits_at_once(selection: Selection, design: RpauDesign) -> bool:
    """Whether a program, in the order in which it was selected, is one run."""
    return _Cutter(selection, design).whole


class _Cutter:
    """Walks through the instructions and remembers what lies where."""

    def __init__(self, selection: Selection, design: RpauDesign) -> None:
        self.design = design
        self.log_degree = selection.log_degree
        self.instructions = selection.instructions
        self.placement = selection.placement
        self.outputs = _masks(selection, selection.outputs, design.rpaus)
        self.inputs = _masks(selection, selection.inputs, design.rpaus)
        self.ends = _clean_ends(self.instructions, self.inputs)
        self.position = 0
        self.on_host = dict(self.inputs)  # of these the host has the contents of now
        self.on_device: Masks = {}
        self.last: Segment | None = None

    @property
    def done(self) -> bool:
        """Whether every instruction has found its run."""
        return self.position == len(self.instructions)

    @property
    def whole(self) -> bool:
        """Whether all that is left is one run."""
        return self._fitting(len(self.instructions), pinning=True) is not None

    def next(self) -> Segment:
        """The next run, as long as it can be."""
        found = self._longest(pinning=True) or self._longest(pinning=False)
        if found is None:
            raise self._too_small()
        end, problem = found
        keys, seeds = self._keys(end), self._seeds(end)
        assert keys is not None
        assert seeds is not None
        stay = {poly: problem.resident[poly] for poly in problem.pinned}
        if self.last is not None:
            self.last.stores = _without(_without(self.on_device, stay), self.on_host)
            self.on_host = _union(self.on_host, self.last.stores)
        segment = Segment(schedule(problem), keys, seeds, loads=_without(problem.resident, stay))
        for virtual in self.instructions[self.position : end]:
            self.on_host = _without(self.on_host, virtual.writes)
        self.on_device = dict(problem.kept)
        self.position, self.last = end, segment
        if self.done:
            segment.stores = _without(_common(self.on_device, self.outputs), self.on_host)
        return segment

    def _longest(self, pinning: bool) -> tuple[int, Problem] | None:
        """The furthest end of a run from here on that fits, and that run."""
        ends = [end for end in self.ends if end > self.position] or [self.position]
        low, high = 0, len(ends)  # the first `low` of them fit
        if self._fitting(ends[-1], pinning) is not None:
            low = high
        while high - low > 1:
            middle = (low + high) // 2
            fits = self._fitting(ends[middle - 1], pinning) is not None
            low, high = (middle, high) if fits else (low, middle)
        problem = self._fitting(ends[low - 1], pinning) if low else None
        return None if problem is None else (ends[low - 1], problem)

    def _fitting(self, end: int, pinning: bool) -> Problem | None:
        """The run up to ``end``; None if it does not fit."""
        if self._keys(end) is None or self._seeds(end) is None:
            return None
        problem = self._problem(end, pinning)
        plan = first_fit(problem)
        fits = plan is not None and len(plan.placed) <= self.design.program_words
        return problem if fits else None

    def _problem(self, end: int, pinning: bool) -> Problem:
        here = self.instructions[self.position : end]
        touched, later = _touched(here), _touched(self.instructions[end:])
        before = _union(self.inputs, _touched(self.instructions[: self.position]))
        resident = _common(touched, before)
        stays = [p for p, mask in resident.items() if not mask & ~self.on_device.get(p, 0)]
        slots = self.last.plan.slots if self.last is not None else {}
        return Problem(
            instructions=here,
            placement=self.placement,
            resident=resident,
            kept=_common(touched, _union(later, self.outputs)),
            pinned={poly: slots[poly] for poly in stays} if pinning else {},
            design=self.design,
            log_degree=self.log_degree,
        )

    def _keys(self, end: int) -> dict[int, int] | None:
        """Places in the key store; None if too few."""
        held = self.last.keys if self.last is not None else {}
        return _stored(self._wanted(end, KEY_POLY), held, self.design.key_polys)

    def _seeds(self, end: int) -> dict[int, int] | None:
        """Places in the seed store; None if too few."""
        held = self.last.seeds if self.last is not None else {}
        return _stored(self._wanted(end, SEED), held, self.design.seeds)

    def _wanted(self, end: int, kind: str) -> set[int]:
        """What the instructions up to ``end`` have as operands of a kind."""
        return {
            value
            for virtual in self.instructions[self.position : end]
            for operand, value in virtual.operands()
            if operand.kind == kind
        }

    def _too_small(self) -> CompileError:
        end = min(end for end in self.ends if end > self.position)
        node = _operation_of(self.instructions[self.position])
        for kind, what, available in (
            (KEY_POLY, "polynomials of the key store", self.design.key_polys),
            (SEED, "seeds", self.design.seeds),
        ):
            needed = len(self._wanted(end, kind))
            if needed > available:
                return CompileError(
                    f"instructions that belong together need {needed} {what} at once and design "
                    f"{self.design.name} has {available}: use a larger design",
                    node,
                )
        problem = self._problem(end, pinning=False)
        needed, design = needed_polys(problem), self.design
        if needed <= design.work_polys:
            return CompileError(
                f"instructions that belong together need {needed} work polynomials at once, and of "
                f"the {design.work_polys} of design {design.name} {design.work_uram_polys} share "
                "the ports of UltraRAM banks: use a design with more of them in block RAM",
                node,
            )
        return CompileError(
            f"instructions that belong together need {needed} work polynomials at once and design "
            f"{design.name} has {design.work_polys}: use a larger design",
            node,
        )


def _operation_of(virtual: VirtualInstruction) -> int | None:
    """Id of the HE operation that an instruction serves, where known."""
    _, _, identity = virtual.origin.partition(":")
    return int(identity) if identity else None


def _stored(wanted: set[int], held: Mapping[int, int], places: int) -> dict[int, int] | None:
    """A place for each, that of the last run where it still holds it; None if there are too few."""
    if len(wanted) > places:
        return None
    found = {each: held[each] for each in sorted(wanted) if each in held}
    taken = set(found.values())
    free = (place for place in range(places) if place not in taken)
    for each in sorted(wanted - found.keys()):
        found[each] = next(free)
    return found


def _clean_ends(instructions: Sequence[VirtualInstruction], inputs: Masks) -> list[int]:
    """The positions, ascending, before which every polynomial exists in all its RPAUs or in none.

    Cut elsewhere, a polynomial's slot could be taken in an RPAU where it comes to be only later.
    """
    first: dict[int, dict[int, int]] = {}
    for index, virtual in enumerate(instructions):
        for poly, mask in virtual.touched.items():
            if poly not in inputs:
                for rpau in bits_of(mask):
                    first.setdefault(poly, {}).setdefault(rpau, index)
    partial = {
        end
        for births in first.values()
        for end in range(min(births.values()) + 1, max(births.values()) + 1)
    }
    return [end for end in range(1, len(instructions) + 1) if end not in partial]


def _touched(instructions: Iterable[VirtualInstruction]) -> Masks:
    masks: Masks = {}
    for virtual in instructions:
        for poly, mask in virtual.touched.items():
            masks[poly] = masks.get(poly, 0) | mask
    return masks


def _masks(selection: Selection, locations: Mapping[str, Location], rpaus: int) -> Masks:
    """The virtual polynomials of some locations, all their pieces."""
    masks: Masks = {}
    for location in locations.values():
        for limb, first in location.items():
            for poly in range(first, first + selection.pieces):
                masks[poly] = masks.get(poly, 0) | 1 << limb % rpaus
    return masks


def _union(a: Mapping[int, int], b: Mapping[int, int]) -> Masks:
    return {poly: a.get(poly, 0) | b.get(poly, 0) for poly in {**a, **b}}


def _common(a: Mapping[int, int], b: Mapping[int, int]) -> Masks:
    return {poly: mask for poly in a if (mask := a[poly] & b.get(poly, 0))}


def _without(a: Mapping[int, int], b: Mapping[int, int]) -> Masks:
    return {poly: rest for poly in a if (rest := a[poly] & ~b.get(poly, 0))}
