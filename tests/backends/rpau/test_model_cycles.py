"""The issue rule: cases by hand, and the model's clock against the scheduler's timeline."""

from dataclasses import replace

import numpy as np
import pytest
from tests.timings import BY_HAND

from ringsmith import _core
from ringsmith.backends.rpau.compiler.timeline import Timeline, Timing
from ringsmith.backends.rpau.debug.random_program import random_program
from ringsmith.backends.rpau.design import latency
from ringsmith.backends.rpau.design.constants import prime_tables
from ringsmith.backends.rpau.design.design import TWIDDLES, RpauDesign, load_design
from ringsmith.backends.rpau.design.latency import FETCH_CYCLES
from ringsmith.backends.rpau.device.interface import AddressSpace
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.backends.rpau.isa.assembler import assemble, encode, parse_instruction
from ringsmith.backends.rpau.isa.instruction_set import instruction
from ringsmith.errors import DeviceError, ProgramError
from ringsmith.hdl.instrument import Instrument


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        # The first issues a fetch after the start; halt waits for every unit.
        ("halt", [4]),
        ("nop\nhalt", [4, 8]),
        ("ntt p0, p0 @0\nhalt", [4, 104]),
        ("dmul p0, p0, p0 @0\nhalt", [4, 254]),
        # Another unit, or another RPAU: one fetch later. The same unit: when it is idle.
        ("ntt p0, p0 @0\ndmul p1, p1, p1 @0\nhalt", [4, 8, 258]),
        ("ntt p0, p0 @0\nntt p0, p0 @1\nhalt", [4, 8, 108]),
        ("ntt p0, p0 @0\nntt p1, p1 @0\nhalt", [4, 104, 204]),
        ("ntt p0, p0 @0\nntt p1, p1 @1\nntt p2, p2 @0-1\nhalt", [4, 8, 108, 208]),
        # Issue is in order: what could run waits behind what cannot.
        ("ntt p0, p0 @0\nntt p1, p1 @0\nntt p1, p1 @1\nhalt", [4, 104, 108, 208]),
        # A wait bit: the other unit of the mask's RPAUs, and of no other RPAU.
        ("ntt p0, p0 @0\ndmul p0, p1, p1 @0 wait(main)\nhalt", [4, 104, 354]),
        ("ntt p0, p0 @0\ndmul p1, p1, p1 @1 wait(main)\nhalt", [4, 8, 258]),
        ("dmul p0, p1, p1 @0-1\nntt p0, p0 @1-2 wait(dyadic)\nhalt", [4, 254, 354]),
        # A wait bit for the own unit adds nothing.
        ("ntt p0, p0 @0\nntt p0, p0 @0 wait(main)\nhalt", [4, 104, 204]),
        # nop is a barrier where its wait bits say so, and takes no time else.
        ("ntt p0, p0 @0\nnop @0 wait(main)\nnop\nhalt", [4, 104, 108, 112]),
        ("ntt p0, p0 @0\nnop @1 wait(main)\nhalt", [4, 8, 104]),
        ("ntt p0, p0 @0\nnop wait(main)\nhalt", [4, 8, 104]),
        ("ntt p0, p0 @0\ndmul p1, p1, p1 @1\nnop @0-1 wait(main, dyadic)\nhalt", [4, 8, 258, 262]),
        # A broadcast keeps the main unit of every RPAU of its mask.
        (
            "broadcast p1, p0, r2, q0, c0, c0 @0,2\nntt p3, p3 @1\nntt p3, p3 @2\nhalt",
            [4, 8, 104, 204],
        ),
        # A send keeps the link units alone.
        ("send p1, p0, r2 @0,2\nntt p3, p3 @0\ndmul p4, p5, p5 @2\nhalt", [4, 8, 12, 262]),
        ("send p1, p0, r2 @0,2\nsend p1, p0, r0 @0-1\nhalt", [4, 34, 64]),
        ("send p1, p0, r2 @0,2\nntt p1, p1 @0 wait(link)\nhalt", [4, 34, 134]),
        (
            "send p1, p0, r2 @0,2\nbroadcast p1, p0, r1, q0, c0, c0 @0-1 wait(link)\nhalt",
            [4, 34, 134],
        ),
    ],
)
def test_issue_cycles_are_those_of_the_rule(
    small_design: RpauDesign, text: str, starts: list[int]
) -> None:
    coprocessor = ModelCoprocessor(small_design, timing_only=True, timing=BY_HAND)
    coprocessor.load_program(np.array(assemble(text, small_design), dtype=np.uint64))
    report = coprocessor.run(1000)
    assert coprocessor.trace().tolist() == starts
    assert (report.cycles, report.instructions) == (starts[-1], len(starts))
    timeline = Timeline(BY_HAND, small_design)
    assert [
        timeline.issue(parse_instruction(line, small_design)) for line in text.splitlines()
    ] == (starts)
    assert timeline.cycles == starts[-1]


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        *(("small", seed) for seed in range(50)),
        *(("nano", seed) for seed in range(6)),
        *(("banks", seed) for seed in range(20)),
    ],
)
def test_the_model_issues_when_the_timeline_says(
    small_design: RpauDesign, name: str, seed: int
) -> None:
    design = {"small": small_design, "banks": _in_banks(small_design)}.get(name)
    design = design or load_design(name)
    timing = BY_HAND if seed % 2 else Timing.of(design)
    program = random_program(design, seed, 60, timing)
    coprocessor = ModelCoprocessor(design, timing_only=True, timing=timing)
    coprocessor.load_program(program.words)
    report = coprocessor.run(10**9)
    assert coprocessor.trace().tolist() == list(program.starts)
    assert report.cycles == program.cycles


def _in_banks(design: RpauDesign) -> RpauDesign:
    """Banks of four polynomials, p0 … p3 and p4 … p7; the rest have ports of their own."""
    return replace(design, log_n=11, cores=1, dyadic_cores=1, work_polys=12, work_uram_polys=8)


@pytest.mark.parametrize(
    ("first", "second", "clash"),
    [
        ("dmul p8, p0, p9 @0", "ntt p10, p1 @0", True),  # both read bank 0
        ("dmul p8, p0, p9 @0", "ntt p10, p4 @0", False),
        ("dmul p8, p0, p9 @0", "ntt p10, p1 @1", False),
        ("dmul p0, p8, p9 @0", "mul p1, p10, p11 @0", True),  # both write it
        ("dmul p0, p8, p9 @0", "mul p4, p10, p11 @0", False),
        ("dmul p0, p8, p9 @0", "mul p10, p1, p11 @0", False),  # one writes, one reads
        ("dmul p8, p0, p9 @0", "ntt p1, p10 @0", True),  # a transform reads its result back
        ("dmul p8, p0, p9 @0", "mul p1, p10, p11 @0", False),
        ("dmul p8, p0, p9 @0", "send p1, p10, r1 @0-1", False),
        ("dmul p0, p8, p9 @0", "send p1, p10, r1 @0-1", True),
    ],
)
def test_what_reads_or_writes_a_bank_keeps_its_port(
    small_design: RpauDesign, first: str, second: str, clash: bool
) -> None:
    design = _in_banks(small_design)
    timeline = Timeline(BY_HAND, design)
    timeline.issue(parse_instruction(first, design))
    assert bool(timeline.conflicts(parse_instruction(second, design))) is clash
    coprocessor = ModelCoprocessor(design, timing_only=True, timing=BY_HAND)
    coprocessor.load_program(
        np.array(assemble(f"{first}\n{second}\nhalt", design), dtype=np.uint64)
    )
    if clash:
        with pytest.raises(DeviceError, match=r"(reads|writes) bank 0 of RPAU 0"):
            coprocessor.run(1000)
    else:
        coprocessor.run(1000)


def test_random_programs_overlap_the_units_and_wait_and_send(small_design: RpauDesign) -> None:
    """What they are for does occur in them: units in parallel, needed and needless waits."""
    timing = Timing.of(small_design)
    both, waits, sources = 0, 0, set()
    for seed in range(20):
        program = random_program(small_design, seed, 60)
        for each, after, start, then in zip(
            program.instructions,
            program.instructions[1:],
            program.starts,
            program.starts[1:],
            strict=False,
        ):
            end = start + timing.latencies[each.operation.name]
            units = {each.operation.unit, after.operation.unit}
            both += units == {"main", "dyadic"} and then < end and bool(each.mask & after.mask)
            waits += bool(each.waits)
            if each.operation.source:
                sources.add(each["src"])
    assert both > 50
    assert waits > 50
    assert sources == set(range(small_design.rpaus))


def test_timing_only_gives_the_same_cycles_as_contents(small_design: RpauDesign) -> None:
    program = random_program(small_design, 3, 60)
    full = ModelCoprocessor(small_design)
    for space, unit, index, words in program.loads():
        full.write(AddressSpace[space], unit, index, words)
    quick = ModelCoprocessor(small_design, timing_only=True)
    for coprocessor in (full, quick):
        coprocessor.load_program(program.words)
    assert full.run(10**9) == quick.run(10**9)
    assert full.trace().tolist() == quick.trace().tolist()


def test_the_first_instruction_issues_a_fetch_after_the_start(small_design: RpauDesign) -> None:
    coprocessor = ModelCoprocessor(small_design, timing_only=True)
    coprocessor.load_program(np.array(assemble("halt", small_design), dtype=np.uint64))
    assert coprocessor.run(100).cycles == FETCH_CYCLES


def test_the_timeline_refuses_hazards_and_guards_against_them(small_design: RpauDesign) -> None:
    timeline = Timeline(BY_HAND, small_design)
    timeline.issue(parse_instruction("ntt p0, p0 @0-1", small_design))
    reader = parse_instruction("dmul p1, p0, p2 @1", small_design)
    with pytest.raises(ProgramError, match="that unit main still works on"):
        timeline.issue(reader)
    assert timeline.guarded(reader) == reader.waiting_for("main")
    elsewhere = parse_instruction("dmul p1, p0, p2 @2", small_design)
    assert timeline.guarded(elsewhere) == elsewhere
    assert timeline.issue(timeline.guarded(reader)) == 104
    with pytest.raises(ProgramError, match="that unit dyadic still works on"):
        timeline.issue(parse_instruction("ntt p2, p2 @1", small_design))
    timeline.issue(parse_instruction("halt", small_design))
    with pytest.raises(ProgramError, match="nop follows halt"):
        timeline.issue(parse_instruction("nop", small_design))


def test_the_timeline_refuses_a_second_sender_on_the_ring(small_design: RpauDesign) -> None:
    timeline = Timeline(BY_HAND, small_design)
    timeline.issue(parse_instruction("broadcast p1, p0, r0, q0, c0, c0 @0-1", small_design))
    second = parse_instruction("broadcast p1, p0, r2, q0, c0, c0 @2", small_design)
    assert timeline.ring_conflict(second)
    with pytest.raises(ProgramError, match="sends to other RPAUs while another still does"):
        timeline.issue(second)
    timeline.issue(parse_instruction("nop @0 wait(main)", small_design))
    assert timeline.issue(second) == 108
    third = parse_instruction("send p3, p4, r2 @1-2", small_design)
    assert timeline.ring_conflict(third)  # what computes on the way and what does not alike
    timeline.issue(parse_instruction("nop @2 wait(main)", small_design))
    timeline.issue(third)
    assert timeline.ring_conflict(
        parse_instruction("broadcast p1, p0, r0, q0, c0, c0 @0", small_design)
    )
    assert timeline.ring_conflict(parse_instruction("send p1, p0, r0 @0", small_design))


# The NTT of every number of cores on the RTL: its cycles, and how near they come to the ideal

# log2 N stages of N/(2*cores) rows, a row a cycle, would be ideal. To them come the pipeline's
# depth, once, a gap between stages where half a stage is shorter than the pipeline, and the lead of
# generated factors:
#
#     cycles = log2 N * rows + (log2 N - 1) * max(0, PIPELINE - rows / 2) + DEPTH + LEAD
#
# The numbers below are written out, so that a pipeline that grows is seen here.


PIPELINE = 30
"""From a row's address at the work memory to its results at the write port."""

DEPTH = 36
"""What a transform takes beyond its stages, where factors are stored."""

LEAD = {"generated": 18, "stored": 0}
"""Cycles by which factors start before the data."""

LOG_N = range(10, 16)
CORES = (1, 2, 4, 8, 16, 32)
EVERY = [(log_n, cores, "generated") for log_n in LOG_N for cores in CORES]
EVERY += [(log_n, cores, "stored") for log_n, cores in ((10, 4), (12, 8), (14, 16), (10, 32))]
QUICK = [(10, 4, "stored"), (10, 4, "generated"), (10, 32, "generated")]
"""The shortest without gaps, both ways; and a first stage of fewer steps than the lead has."""


def design_of(log_n: int, cores: int, twiddles: str) -> RpauDesign:
    """Two RPAUs, and no more of anything than an NTT needs."""
    return RpauDesign(
        name=f"ntt-{log_n}-{cores}-{twiddles}",
        log_n=log_n,
        word_bits=30,
        rpaus=2,
        cores=cores,
        dyadic_cores=0,
        work_polys=4,
        key_polys=1,
        constants=4,
        program_words=16,
        reduction="barrett",
        twiddles=twiddles,
    )


@pytest.mark.parametrize("twiddles", TWIDDLES)
@pytest.mark.parametrize("cores", CORES)
@pytest.mark.parametrize("log_n", LOG_N)
def test_cycles_follow_the_formula(log_n: int, cores: int, twiddles: str) -> None:
    design = design_of(log_n, cores, twiddles)
    ideal = log_n * design.rows
    gaps = (log_n - 1) * max(0, PIPELINE - design.rows // 2)
    cycles = latency.ntt_cycles(design)
    assert cycles == ideal + gaps + DEPTH + LEAD[twiddles]
    if design.rows >= (256 if twiddles == "generated" else 128):
        assert cycles <= 1.03 * ideal


def check_on_the_rtl(design: RpauDesign, rng: np.random.Generator) -> None:
    """Transforms there and back: residues are the core's, cycles the formula's."""
    coprocessor = RtlCoprocessor(design, instrument=Instrument.BRIEF)
    everyone = (1 << design.rpaus) - 1
    primes = _core.prime_search(30, design.n, 2)
    roots = [_core.smallest_root(q, design.n) for q in primes]
    words = [rng.integers(0, q, design.n, dtype=np.uint64) for q in primes]
    for rpau, (prime, root) in enumerate(zip(primes, roots, strict=True)):
        for space, table in prime_tables(prime, root, design).loads():
            coprocessor.write(AddressSpace[space], rpau, 0, table)
        coprocessor.write(AddressSpace.POLY, rpau, 3, words[rpau])
    expected = [_core.ntt_forward(w, q, r) for w, q, r in zip(words, primes, roots, strict=True)]
    for name, results in (("ntt", expected), ("intt", words)):
        program = [instruction(name, everyone, dst=3, a=3), instruction("halt", everyone)]
        coprocessor.load_program(np.array([encode(i) for i in program], dtype=np.uint64))
        cycles = coprocessor.run(10_000_000).cycles - latency.FETCH_CYCLES
        assert cycles == latency.ntt_cycles(design)
        for rpau, result in enumerate(results):
            np.testing.assert_array_equal(coprocessor.read(AddressSpace.POLY, rpau, 3), result)


@pytest.mark.parametrize(("log_n", "cores", "twiddles"), QUICK)
def test_ntt_on_the_rtl_takes_the_cycles_of_the_formula(
    log_n: int, cores: int, twiddles: str, rng: np.random.Generator
) -> None:
    check_on_the_rtl(design_of(log_n, cores, twiddles), rng)


@pytest.mark.full
@pytest.mark.parametrize(("log_n", "cores", "twiddles"), sorted({*EVERY} - {*QUICK}))
def test_every_ntt_on_the_rtl_takes_the_cycles_of_the_formula(
    log_n: int, cores: int, twiddles: str, rng: np.random.Generator
) -> None:
    check_on_the_rtl(design_of(log_n, cores, twiddles), rng)
