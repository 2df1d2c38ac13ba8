"""Random programs of the vector architecture are legal, and have every situation of its ISA."""

from collections import Counter

import pytest
from tests.backends.vector.test_isa import check_bits
from tests.backends.vector.test_programs import check_schedule

from ringsmith.backends.vector.compiler.timeline import Cycles, gaps
from ringsmith.backends.vector.debug.campaign import (
    CANDIDATES,
    LENGTH,
    campaign_design,
    choose_seeds,
    quick_design,
)
from ringsmith.backends.vector.debug.isa_coverage import Situation, every_situation, situations
from ringsmith.backends.vector.debug.random_program import RandomProgram, random_program
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.device.model import Memory, Model
from ringsmith.backends.vector.isa.instructions import (
    Automorph,
    Computing,
    Constant,
    Entry,
    Limb,
    Load,
    Operation,
    Point,
    Program,
    Result,
    Slot,
    Store,
    Stream,
    Transform,
)

DESIGNS = [campaign_design(), quick_design()]
SEEDS = range(12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_random_programs_keep_the_rules(design: VectorDesign, seed: int) -> None:
    """Rows are read after they were written; the model finds all that it reads."""
    made = random_program(design, seed, LENGTH)
    check_schedule(made.executable)
    check_bits(made.executable)
    memory = Memory(made.fetch)
    assert sum(Model(made.executable, memory).run()) == len(made.executable.programs[0].computing)
    outputs = [limb for limb in memory.written if limb.kind == "output"]
    assert outputs
    primes = made.executable.graph.primes
    assert all(memory.written[limb].max() < max(primes) for limb in outputs)
    check_operands(made)


def check_operands(made: RandomProgram) -> None:
    """What an instruction may not do, whatever the schedule is."""
    for each in made.executable.programs[0].computing:
        operation = each.operation
        if not isinstance(operation, Point):
            continue
        parts = [operation.x, *(part for r in operation.results for part in (r.y, r.z))]
        banks = [part.bank for part in parts if isinstance(part, Slot)]
        streams = [part.number for part in parts if isinstance(part, Stream)]
        targets = [r.target.bank for r in operation.results if r.target is not None]
        for used in (banks, streams, targets):
            assert len(set(used)) == len(used), operation


def test_a_program_is_that_of_its_seed() -> None:
    one, same, other = (random_program(DESIGNS[0], seed, LENGTH).executable for seed in (3, 3, 4))
    assert one.programs == same.programs != other.programs


def test_random_programs_have_every_situation_and_no_other() -> None:
    design = campaign_design()
    seeds = choose_seeds(design, CANDIDATES, 0)
    seen: set[Situation] = set()
    for seed in seeds:
        seen |= situations(random_program(design, seed, LENGTH).executable).keys()
    assert seen == every_situation(design)
    assert len(seeds) < 20
    assert len(choose_seeds(design, 9, 5)) >= 5


def test_situations_of_a_program_worked_out_by_hand() -> None:
    design = campaign_design()
    made = random_program(design, 0, 0).executable
    shape, cycles = made.shape, Cycles(design, made.shape)
    a, b, c = Slot(0, 0), Slot(1, 0), Slot(2, 1)
    one = Constant(1)
    operations: list[Operation] = [
        Point(Stream(2), (Result(0, one, None, False, a),)),
        Transform(False, (Entry(1, 0, a, a, True),)),
        Automorph(3, 1, a, b),
        Point(b, (Result(1, Stream(0), a, True, a, True), Result(1, one, None, False, c))),
    ]
    tables = (0, 1, 1, 1)
    computing = [
        Computing(operation, gap, table, -1)
        for operation, gap, table in zip(operations, gaps(operations, cycles), tables, strict=True)
    ]
    rows = shape.rows
    loads = (
        Load(Limb("input", "ntt", (0,)), rows, 2),
        Load(Limb("table", "", (1, 0)), rows + 1, None),
        Load(Limb("input", "ntt", (1,)), rows, 0, after_computing=3),
    )
    stores = (Store(Limb("output", "ntt", (0,)), rows, 0),)
    program = Program(loads, tuple(computing), stores)
    executable = type(made)(design, made.graph, (program,))
    n = f"N = {made.graph.n}"
    assert situations(executable) == Counter(
        Situation(*words)
        for words in (
            ("rings", "point", n),
            ("rings", "ntt", n),
            ("rings", "automorph", n),
            ("rings", "point", n),
            ("sources", "point", "x: stream x"),
            ("results", "point", "1"),
            ("sources", "point", "result 0, y: a constant"),
            ("sources", "point", "result 0, z: nothing"),
            ("targets", "point", "result 0: a bank"),
            ("targets", "point", "result 0: elsewhere"),
            ("limbs", "ntt", "1"),
            ("passes follow", "ntt", "when rows are written"),
            ("sources", "ntt", "a bank"),
            ("sources", "ntt", "below twice the prime"),
            ("targets", "ntt", "over the source"),
            ("targets", "automorph", "another bank"),
            ("sources", "point", "x: a bank"),
            ("results", "point", "2"),
            ("sources", "point", "result 0, y: y0"),
            ("sources", "point", "result 0, z: - a bank"),
            ("targets", "point", "result 0: a bank and memory"),
            ("targets", "point", "result 0: over z"),
            ("sources", "point", "result 1, y: a constant"),
            ("sources", "point", "result 1, z: nothing"),
            ("targets", "point", "result 1: a bank"),
            ("targets", "point", "result 1: elsewhere"),
            ("issues after", "point", "stream x"),
            ("issues after", "ntt", "its gap"),
            ("issues after", "automorph", "its gap"),
            ("issues after", "point", "stream y0"),
            ("follows", "ntt", "point later"),
            ("follows", "automorph", "ntt later"),
            ("follows", "point", "automorph later"),
            ("begins after", "load x", "memory"),
            ("begins after", "load table", "memory"),
            ("begins after", "load y0", "an instruction"),
            ("begins after", "store r0", "a result"),
        )
    )
