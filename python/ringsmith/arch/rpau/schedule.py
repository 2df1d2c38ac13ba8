"""List scheduling and on-chip allocation: instructions get a cycle and a place.

All latencies are independent of data and the issue rule is exact (``docs/architecture.md``), so the
scheduler knows the cycle in which the controller will issue each instruction, and sets a wait bit
only where the order of issue alone would be too early. Instructions are taken in the order of their
start, the longest remaining path first among those that could start about as early; a few variants
of that choice are tried, and the shortest program wins.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.arch.rpau.isa import Instruction, instruction
from ringsmith.arch.rpau.memory import Homes, Memory, homes
from ringsmith.arch.rpau.timeline import HALT, Timeline, Timing
from ringsmith.arch.rpau.twins import MAIN, twin_of
from ringsmith.arch.rpau.virtual import VirtualInstruction, bits_of


@dataclass(frozen=True)
class Problem:
    """What is to be scheduled.

    Attributes:
        instructions: In a valid sequential order.
        placement: For each virtual polynomial, the mask of RPAUs that hold it.
        resident: Virtual polynomial -> mask, for those loaded before the program starts.
        kept: Virtual polynomial -> mask, for those read after it has ended.
        pinned: Virtual polynomial -> slot, for resident ones that lie there already.
        design: The accelerator.
        log_degree: log2 of the degree of the ring.
    """

    instructions: Sequence[VirtualInstruction]
    placement: Sequence[int]
    resident: Mapping[int, int]
    kept: Mapping[int, int]
    pinned: Mapping[int, int]
    design: RpauDesign
    log_degree: int

    @property
    def timing(self) -> Timing:
        """Cycles of the accelerator's instructions in the ring."""
        return Timing.of(self.design, self.log_degree)


@dataclass(frozen=True)
class Placed:
    """An instruction in time and space.

    Attributes:
        instruction: What is done, on work polynomials, with its wait bits.
        start: Cycle of issue, counted from the start command.
        origin: The HE operation that it serves.
    """

    instruction: Instruction
    start: int
    origin: str


@dataclass(frozen=True)
class Schedule:
    """A program in issue order.

    Attributes:
        placed: The instructions, ``halt`` last; key-store operands are still those of ``select``.
        slots: Work-polynomial index of every virtual polynomial.
        cycles: From the start command to completion.
        peak: The most work polynomials in use at once in one RPAU.
    """

    placed: tuple[Placed, ...]
    slots: Mapping[int, int]
    cycles: int
    peak: int


@dataclass(frozen=True)
class _Policy:
    """What comes next among the instructions that are ready.

    Attributes:
        priority: For each instruction, how much it wants to come first.
        slack: Instructions that start at most this many cycles after the first one compete.
        lookahead: Only so many of the instructions left, in sequential order, are looked at.
        twins: Whether main and dyadic unit may do what was meant for the other.
    """

    priority: Sequence[float]
    slack: int
    lookahead: int
    twins: bool


_ALL = 1 << 20
_NO_HOMES = Homes({}, frozenset())
_SLACKS = (0, 1024)
_LOOKAHEADS = (8, 11, 20)
_BUSY = (0.0, 0.125)
"""Parts of their lives up to which polynomials rather lie in UltraRAM: none of them, or few. Only
where there are banks is more than the first of these, and of the lookaheads, tried."""


def schedule(problem: Problem) -> Schedule:
    """The shortest schedule found of a problem that ``first_fit`` can solve."""
    graph = _Dependences(problem)
    banks = problem.design.uram_banks > 0
    lookaheads, parts = (_LOOKAHEADS, _BUSY) if banks else (_LOOKAHEADS[:1], _BUSY[:1])
    policies: list[_Policy] = []
    for priority in ([float(cycles) for cycles in graph.path], _sequential(problem)):
        policies += [
            _Policy(priority, slack, _ALL, twins) for slack in _SLACKS for twins in graph.choices
        ]
        policies += [_Policy(priority, 0, count, graph.choices[-1]) for count in lookaheads]
    plans = [first_fit(problem)]
    plans += [
        _run(problem, graph, policy, _memory(problem, busy))
        for policy in policies
        for busy in parts
    ]
    return min((plan for plan in plans if plan is not None), key=lambda plan: plan.cycles)


def first_fit(problem: Problem) -> Schedule | None:
    """The schedule in sequential order, thrifty with memory; None if it does not fit."""
    policy = _Policy(_sequential(problem), slack=0, lookahead=1, twins=False)
    return _run(problem, _Dependences(problem), policy, _memory(problem, busy=1.0))


def needed_polys(problem: Problem) -> int:
    """Work polynomials that the sequential order needs."""
    policy = _Policy(_sequential(problem), slack=0, lookahead=1, twins=False)
    memory = Memory(problem.design, _NO_HOMES, None)
    plan = _run(problem, _Dependences(problem), policy, memory)
    assert plan is not None
    return plan.peak


def _memory(problem: Problem, busy: float) -> Memory | None:
    """The work memory, empty; None where what lies there already cannot be read."""
    design, latencies = problem.design, problem.timing.latencies
    chosen = homes(problem.instructions, latencies, problem.pinned, design, busy)
    return None if chosen is None else Memory(design, chosen, design.work_polys)


def _run(
    problem: Problem, graph: "_Dependences", policy: _Policy, memory: Memory | None
) -> Schedule | None:
    """The schedule under one policy in one memory, if there is one and it does not run out."""
    return None if memory is None else _Run(problem, graph, policy, memory).run()


def _sequential(problem: Problem) -> list[float]:
    return [-float(index) for index in range(len(problem.instructions))]


class _Dependences:
    """Who must follow whom, and how long each instruction's longest path to the end is."""

    def __init__(self, problem: Problem) -> None:
        timing = problem.timing
        operations = [virtual.instruction.operation for virtual in problem.instructions]
        known = {each: twin_of(each, problem.design) for each in set(operations)}
        self.twins = [known[each] for each in operations]
        self.choices = (False, True) if any(self.twins) else (False,)
        self.latency = [timing.latencies[each.name] for each in operations]
        self.successors: list[set[int]] = [set() for _ in problem.instructions]
        self.predecessors = [0] * len(problem.instructions)
        self._order_conflicts(problem.instructions)
        self.path = list(self.latency)
        for index in reversed(range(len(self.path))):
            self.path[index] += max(
                (self.path[after] for after in self.successors[index]), default=0
            )

    def _order_conflicts(self, instructions: Sequence[VirtualInstruction]) -> None:
        """Keeps the order of instructions that touch one polynomial, unless both only read it."""
        readers: dict[tuple[int, int], list[int]] = {}
        writer: dict[tuple[int, int], int] = {}
        for index, virtual in enumerate(instructions):
            before = {writer[place] for place in _places(virtual.touched) if place in writer}
            for place in _places(virtual.writes):
                before.update(readers.pop(place, ()))
                writer[place] = index
            for place in _places(virtual.reads):
                if writer.get(place) != index:
                    readers.setdefault(place, []).append(index)
            for earlier in before:
                self.successors[earlier].add(index)
            self.predecessors[index] = len(before)


def _places(masks: Mapping[int, int]) -> Iterator[tuple[int, int]]:
    return ((poly, rpau) for poly, mask in masks.items() for rpau in bits_of(mask))


@dataclass(frozen=True)
class _Candidate:
    """An instruction that could come next.

    Attributes:
        index: Its position in the sequential order.
        instruction: It, placed.
        start: When it would issue.
        end: When its unit would be idle again.
        new: The slots that it would take.
        barrier: What must issue before it so that the ring is free, if anything.
    """

    index: int
    instruction: Instruction
    start: int
    end: int
    new: Mapping[int, int]
    barrier: Instruction | None


def _unit(candidate: _Candidate) -> str:
    return candidate.instruction.operation.unit


class _Run:
    """One pass over the instructions under one policy."""

    def __init__(
        self, problem: Problem, graph: _Dependences, policy: _Policy, memory: Memory
    ) -> None:
        self.problem = problem
        self.graph = graph
        self.policy = policy
        self.memory = memory
        self.timing = problem.timing
        self.timeline = Timeline(self.timing, problem.design)
        self.placed: list[Placed] = []
        self.left: dict[tuple[int, int], int] = {}
        for masks in (*(virtual.touched for virtual in problem.instructions), problem.kept):
            for place in _places(masks):
                self.left[place] = self.left.get(place, 0) + 1

    def run(self) -> Schedule | None:
        """The schedule, or None where this policy runs out of memory."""
        if not self._load():
            return None
        waiting = list(self.graph.predecessors)
        pending = list(range(len(self.problem.instructions)))
        while pending:
            chosen = self._choose([i for i in pending[: self.policy.lookahead] if waiting[i] == 0])
            if chosen is None:
                return None
            pending.remove(chosen.index)
            self._issue(chosen)
            for after in self.graph.successors[chosen.index]:
                waiting[after] -= 1
        halt = instruction(HALT)
        self.placed.append(Placed(halt, self.timeline.issue(halt), HALT))
        cycles = self.timeline.cycles
        assert cycles is not None
        return Schedule(tuple(self.placed), self.memory.slots, cycles, self.memory.peak)

    def _load(self) -> bool:
        """Places what is resident from the start; drops at once what nothing touches."""
        resident, pinned = self.problem.resident, self.problem.pinned
        for poly in sorted(resident, key=lambda poly: poly not in pinned):
            slot = pinned[poly] if poly in pinned else self.memory.find(poly, resident[poly])
            if slot is None:
                return False
            self.memory.take(poly, slot, resident[poly])
        for poly, rpau in _places(self.problem.resident):
            if (poly, rpau) not in self.left:
                self.memory.release(poly, rpau, 0)
        return True

    def _choose(self, ready: Sequence[int]) -> _Candidate | None:
        """Of those that could start about first, the one with the highest priority."""
        options = [options for index in ready if (options := self._options(index))]
        if not options:
            return None
        bound = [each for each, *twin in options if not twin and _unit(each) == MAIN]
        candidates = [self._faster(each, bound) for each in options]
        horizon = min(candidate.start for candidate in candidates) + self.policy.slack
        early = (candidate for candidate in candidates if candidate.start <= horizon)
        return max(early, key=lambda candidate: self.policy.priority[candidate.index])

    def _faster(self, options: Sequence[_Candidate], bound: Sequence[_Candidate]) -> _Candidate:
        """Of main unit and twin the one that is done first, if the main one is not needed else.

        ``bound`` are the others that only the main unit can do.
        """
        if len(options) == 1:
            return options[0]
        main, twin = sorted(options, key=lambda each: _unit(each) != MAIN)
        needed = any(
            other.start < main.end and other.instruction.mask & main.instruction.mask
            for other in bound
        )
        return twin if needed or twin.end < main.end else main

    def _options(self, index: int) -> list[_Candidate]:
        """The instruction as it would issue next, and what could stand for it.

        Nothing while there is no memory for its result.
        """
        virtual, slots = self.problem.instructions[index], self.memory.slots
        new: dict[int, int] = {}
        for poly in virtual.touched:
            if poly not in slots:
                slot = self.memory.find(poly, self.problem.placement[poly])
                if slot is None:
                    return []
                new[poly] = slot
        placed = virtual.place({**slots, **new})
        twin = self.graph.twins[index] if self.policy.twins else None
        forms = [placed] if twin is None else [placed, replace(placed, operation=twin)]
        return [self._candidate(index, form, new) for form in forms]

    def _candidate(self, index: int, placed: Instruction, new: Mapping[int, int]) -> _Candidate:
        placed = self.timeline.guarded(placed)
        start = self.timeline.start_of(placed)
        barrier = self._barrier() if self.timeline.ring_conflict(placed) else None
        if barrier is not None:
            start = max(start, self.timeline.start_of(barrier) + self.timing.fetch_cycles)
        end = start + self.timing.latencies[placed.operation.name]
        return _Candidate(index, placed, start, end, new, barrier)

    def _barrier(self) -> Instruction:
        """Issues when the last broadcast has ended, whose RPAUs the next one may not share."""
        last = next(p.instruction for p in reversed(self.placed) if p.instruction.operation.source)
        return instruction("nop", last.mask, waits=[last.operation.unit])

    def _issue(self, chosen: _Candidate) -> None:
        virtual = self.problem.instructions[chosen.index]
        for poly, slot in chosen.new.items():
            self.memory.take(poly, slot, self.problem.placement[poly])
        if chosen.barrier is not None:
            barrier_start = self.timeline.issue(chosen.barrier)
            self.placed.append(Placed(chosen.barrier, barrier_start, virtual.origin))
        start = self.timeline.issue(chosen.instruction)
        end = start + self.timing.latencies[chosen.instruction.operation.name]
        for poly, rpau in _places(virtual.touched):
            self.left[poly, rpau] -= 1
            if self.left[poly, rpau] == 0:
                self.memory.release(poly, rpau, end)
        self.placed.append(Placed(chosen.instruction, start, virtual.origin))
