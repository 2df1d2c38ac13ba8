"""Programs whose keys come while they run: what they wait for, and that no wait does harm.

A scheduled program leaves out the wait bits of what will long have ended when it issues. That holds
no more once ``await`` may hold instructions up: two that never met may then overlap. So each waits
for all that nothing has waited for since (``Timeline.exposed``), by its wait bits, or by ``nop`` in
front of it where that is sooner.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ringsmith.backends.rpau.compiler.executable import KeyLoad
from ringsmith.backends.rpau.compiler.segment import Placed
from ringsmith.backends.rpau.compiler.timeline import Timeline, Timing
from ringsmith.backends.rpau.compiler.virtual import bits_of
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.latency import FETCH_CYCLES
from ringsmith.backends.rpau.isa.instruction_set import Instruction, instruction
from ringsmith.backends.rpau.isa.kinds import KEY_POLY

AWAIT = "await"


def in_order_of_use(loads: Iterable[KeyLoad], program: Sequence[Placed]) -> tuple[KeyLoad, ...]:
    """The keys of a run in the order in which its program first reads them: they come in it."""
    first: dict[tuple[int, int], int] = {}
    for number, step in enumerate(program):
        for place in _key_reads(step.instruction):
            first.setdefault(place, number)

    def use(load: KeyLoad) -> int:
        return min(first.get((rpau, load.index), len(program)) for rpau in bits_of(load.mask))

    return tuple(sorted(loads, key=use))


def awaiting(
    program: Sequence[Placed], loads: Sequence[KeyLoad], design: RpauDesign, log_degree: int
) -> Iterator[Placed]:
    """The program with an ``await`` before what reads a key, and its cycles if no key is late.

    Args:
        program: A scheduled program, ``halt`` last.
        loads: Its keys, in the order in which they come.
        design: An accelerator with a key stream.
        log_degree: log2 of the degree of the ring.
    """
    places = [(rpau, load.index) for load in loads for rpau in bits_of(load.mask)]
    position = {place: count for count, place in enumerate(places, 1)}
    timeline = Timeline(Timing.of(design, log_degree), design)
    awaited = 0
    for step in program:
        needed = max((position[place] for place in _key_reads(step.instruction)), default=0)
        if needed > awaited:
            wait = instruction(AWAIT, arrived=needed)
            yield Placed(wait, timeline.issue(wait), step.origin)
            awaited = needed
        waiting = step.instruction
        masks = timeline.exposed(waiting)
        for unit in masks:
            waiting = waiting.waiting_for(unit)
        sender = timeline.exposed_sender(waiting)
        if sender is not None:
            masks[sender[1]] = masks.get(sender[1], 0) | sender[0]
        # A wait bit waits in all RPAUs of the instruction; one of its own only where there is need.
        separate = [instruction("nop", mask, waits=[unit]) for unit, mask in masks.items()]
        sooner = max((timeline.start_of(each) for each in separate), default=0)
        if sender is None and timeline.start_of(waiting) <= sooner + FETCH_CYCLES * len(separate):
            separate = []
        for wait in separate:
            yield Placed(wait, timeline.issue(wait), step.origin)
        waiting = waiting if not separate else timeline.guarded(step.instruction)
        yield replace(step, instruction=waiting, start=timeline.issue(waiting))


def _key_reads(read: Instruction) -> set[tuple[int, int]]:
    """RPAU and index of the key polynomials that an instruction reads."""
    return {
        (rpau, index)
        for rpau in read.rpaus()
        for operand, index in read.accesses(rpau)
        if operand.kind == KEY_POLY
    }
