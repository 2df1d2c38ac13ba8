"""Bootstrappings on designs of architecture vector: cycles by the model, what bounds each stage."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from bench.bootstrapping.measure import BenchSet
from bench.framework import ARRAY, HERTZ, design_of, design_text
from bench.record import Record
from bench.run import Run
from ringsmith import trace
from ringsmith.backends.vector.compiler.allocation import allocate
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.lowering import lower as lower_tasks
from ringsmith.backends.vector.compiler.memory_map import places
from ringsmith.backends.vector.compiler.quotients import moduli_of
from ringsmith.backends.vector.compiler.timeline import Cycles
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.isa.instructions import Automorph
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import lower
from ringsmith.program import CkksProgram, InputSpec
from ringsmith.program.bootstrapping import bootstrap as bootstrapped
from ringsmith.program.bootstrapping.expansion import STAGES

BOOTSTRAP, WHOLE = "bootstrap", "all"
READING, WRITING = "memory, reading", "memory, writing"


def bootstrap(run: Run) -> Iterator[Record]:
    """Cycles, times, bytes, use and precision of bootstrappings on designs.

    Values of the part: ``design_sets``, as ``BenchSet.of`` reads them, and ``designs``. Raises
    ParameterError when there is no such set or design; ProgramError if a set does not fit a design,
    but for the size of its card's memory, which ``gigabytes`` says.
    """
    for text in run["design_sets"]:
        item = BenchSet.of(text)
        given = {"x": InputSpec(complex_numbers=True)}
        program = trace(bootstrapped, item.parameters, given)
        lowered = lower(program, encode=False)
        for name in run["designs"]:
            executable = _compiled(lowered.graph, design_of(name))
            run.say(f"{name}, {item.text}: {executable.cycles:,} cycles")
            yield from _whole(item, program, executable)
            stages = {i: node.stage or STAGES[0] for i, node in enumerate(program.nodes)}
            all_cycles = _Window(WHOLE, 0, executable.scheduled)
            for window in (all_cycles, *_windows(executable, stages)):
                yield from _stage(item, executable, window)


def _compiled(graph: SubroutineGraph, design: VectorDesign) -> VectorExecutable:
    """A graph, compiled for a design, even where its card's memory is too small for it."""
    shape = design.shape(graph.n.bit_length() - 1)
    tasks = lower_tasks(graph, design, Cycles(design, shape).together)
    programs = allocate(tasks, moduli_of(graph, design), design, shape)
    return VectorExecutable(design, graph, tuple(programs))


def _base(item: BenchSet, executable: VectorExecutable, operation: str, cycles: int) -> Record:
    """The record of cycles; others are made from it."""
    design = executable.design
    text = f"{design_text(design)}; {HERTZ / 1e6:.0f} MHz, assumed"
    return Record(design.name, item.text, operation, "cycles", cycles, "model", text)


def _whole(item: BenchSet, program: CkksProgram, executable: VectorExecutable) -> Iterator[Record]:
    """Records of a whole bootstrapping, but for those that stages have, too."""
    design = executable.design
    base = _base(item, executable, f"{BOOTSTRAP}: {WHOLE}", executable.cycles)
    rows = places(executable.programs, design)[1] * design.clusters
    there = design.clusters * design.ports * design.memory.port_bytes
    memory = f"{base.conditions}; the card has {there / 1e9:.1f} GB at these ports"
    yield replace(base, metric="gigabytes", value=rows * design.row_bytes / 1e9, conditions=memory)
    bits = -math.log2(program.forecast(each_node=False).outputs["result"].rms)
    told = replace(base, source="program", conditions="forecast")
    yield replace(told, metric="bits_rms", value=bits)
    yield replace(told, metric="levels", value=item.levels, conditions="")


@dataclass(frozen=True)
class _Window:
    """A stage's cycles: from the last instruction of the stage before to its own last one.

    Attributes:
        stage: Its name.
        begin: The first cycle.
        end: The cycle after the last.
    """

    stage: str
    begin: int
    end: int

    def __contains__(self, cycle: int) -> bool:
        return self.begin <= cycle < self.end


def _windows(executable: VectorExecutable, stages: Mapping[int, str]) -> Sequence[_Window]:
    last = dict.fromkeys(STAGES, 0)
    for own, times in zip(executable.programs, executable.schedules, strict=True):
        for each, span in zip(own.computing, times.computing, strict=True):
            if (stage := stages.get(each.origin)) is not None:
                last[stage] = max(last[stage], span.begin + 1)
    ends = [0, *last.values()]
    ends[-1] = executable.scheduled
    return [_Window(stage, *ends) for stage, ends in zip(STAGES, pairwise(ends), strict=True)]


def _stage(item: BenchSet, executable: VectorExecutable, window: _Window) -> Iterator[Record]:
    """Records of a stage: its cycles, and the shares of them in which parts of the device work."""
    design, length = executable.design, window.end - window.begin
    cycles = Cycles(design, executable.shape)
    found = dict.fromkeys((ARRAY, READING, WRITING), 0)
    for own, times in zip(executable.programs, executable.schedules, strict=True):
        found[ARRAY] += sum(
            cycles.busy(each.operation)
            for each, span in zip(own.computing, times.computing, strict=True)
            if span.begin in window and not isinstance(each.operation, Automorph)
        )
        read = [
            each.rows
            for each, span in zip(own.loads, times.loads, strict=True)
            if span.first in window
        ]
        written = [
            each.rows
            for each, span in zip(own.stores, times.stores, strict=True)
            if span.first in window
        ]
        found[READING] += sum(read) * design.row_cycles
        found[WRITING] += sum(written) * design.row_cycles
    base = _base(item, executable, f"{BOOTSTRAP}: {window.stage}", length)
    yield base
    yield replace(base, metric="milliseconds", value=length / HERTZ * 1e3)
    for name, busy in found.items():
        share = 100 * busy / (design.clusters * length)
        yield replace(base, operation=f"{base.operation}: {name}", metric="percent", value=share)
