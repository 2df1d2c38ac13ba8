"""The NTT of every number of cores on the RTL: its cycles, and how near they come to the ideal.

log2 N stages of N/(2*cores) rows, a row a cycle, would be ideal. To them come the pipeline's depth,
once, a gap between stages where half a stage is shorter than the pipeline, and the lead of
generated factors:

    cycles = log2 N * rows + (log2 N - 1) * max(0, PIPELINE - rows / 2) + DEPTH + LEAD

The numbers below are written out, so that a pipeline that grows is seen here.
"""

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.backends.rpau.design import latency
from ringsmith.backends.rpau.design.constants import prime_tables
from ringsmith.backends.rpau.design.design import TWIDDLES, RpauDesign
from ringsmith.backends.rpau.device.interface import AddressSpace
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.backends.rpau.isa.assembler import encode
from ringsmith.backends.rpau.isa.instruction_set import instruction
from ringsmith.hdl.instrument import Instrument

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
