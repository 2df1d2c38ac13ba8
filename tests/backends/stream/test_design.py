"""Design points, descriptors and the generator's schedule, without RTL."""

from typing import Any

import pytest

from ringsmith import _core
from ringsmith.backends.stream.design import area, generator
from ringsmith.backends.stream.design.design import BARRETT, LANES, MONTGOMERY, StreamDesign
from ringsmith.backends.stream.isa.descriptor import descriptor, prime_error
from ringsmith.errors import ParameterError
from ringsmith.hdl import dsps
from ringsmith.hdl.dsps import DspSlice

RPM = StreamDesign("rpm", 12, 2, 30)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ((7, 2, 30), "log_n = 7 is outside 8 … 15"),
        ((16, 2, 30), "log_n = 16 is outside 8 … 15"),
        ((12, 3, 30), r"lanes = 3 is not one of \(2, 4, 8, 16\)"),
        ((12, 2, 63), "word_bits = 63 is outside 16 … 62"),
        ((15, 2, 17), "word_bits = 17 is outside 18 … 62"),
        ((12, 2, 61, "barrett"), "word_bits = 61 is outside 16 … 60"),
        ((12, 2, 30, "sparse"), "multiplier = 'sparse' is not one of"),
        ((8, 8, 30), "N / lanes = 32 is below 64"),
        ((8, 4, 60), "N / lanes = 64 is below 128"),
    ],
)
def test_an_illegal_design_is_refused_with_the_limit(values: tuple[Any, ...], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        StreamDesign("bad", *values)


def test_every_design_has_slots_that_leave_no_pause() -> None:
    for log_n in (8, 9, 10):
        for lanes in LANES:
            for word_bits in (30, 62):
                try:
                    design = StreamDesign("any", log_n, lanes, word_bits)
                except ParameterError:
                    assert (1 << log_n) // lanes < 128  # twice the generator's ring
                    continue
                started = generator.schedule(design.cfg, design.slots, [0] * 60).started
                assert started[-1] - started[29] == 30 * design.period


def test_one_slot_less_than_the_fewest_leaves_pauses() -> None:
    cfg = StreamDesign("some", 8, 4, 30).cfg
    fewest = generator.slots(cfg)
    assert fewest > 2
    started = generator.schedule(cfg, fewest - 1, [0] * 60).started
    assert started[-1] - started[29] > 30 * 64


def test_a_frame_waits_for_its_data() -> None:
    wanted = [5000, 5000, 20_000]
    assert generator.schedule(RPM.cfg, 2, wanted).started == [5000, 7048, 20_000]


@pytest.mark.parametrize(
    ("prime", "text"),
    [
        (1 << 30, "has 31 bits and design rpm takes primes of up to 30"),
        (12289, "is 4097 modulo 2N = 8192, and design rpm needs 1"),
        (3 * 8192 * 3 + 1, "is no prime"),
        (0, "has 0 bits"),
    ],
)
def test_a_prime_is_refused_with_a_reason(prime: int, text: str) -> None:
    assert text in prime_error(prime, RPM)
    with pytest.raises(ParameterError, match="choose"):
        descriptor(prime, 1, RPM)


def test_barretts_multiplier_takes_primes_of_one_size_and_their_reciprocal() -> None:
    design = StreamDesign("nfl", 12, 2, 30, "barrett")
    [small], [q] = (_core.prime_search(bits, design.n, 1) for bits in (29, 30))
    assert "has 29 bits and design nfl takes primes of 30" in prime_error(small, design)
    words = descriptor(q, _core.smallest_root(q, design.n), design)
    assert words.unit == (1 << 60) // q - (1 << 30)
    assert words.scale * design.n % q == 1


def test_a_root_of_a_smaller_ring_is_refused() -> None:
    [q] = _core.prime_search(30, RPM.n, 1)
    root = _core.smallest_root(q, RPM.n)
    with pytest.raises(ParameterError, match="no primitive 2N-th root"):
        descriptor(q, root * root % q, RPM)
    words = descriptor(q, root, RPM)
    assert words.words == (q, words.unit, words.scale, root, root * root % q)
    assert words.unit == pow(4, 30, q)
    assert words.scale * RPM.n % q == words.unit


# ---- What a design costs, as counted; the synthesized area is held against it in tests/rtl -------


def test_the_papers_proof_of_concept_takes_fewer_dsps_and_memories() -> None:
    assert area.dsps(RPM) == area.multipliers(RPM) * area.multiplier_dsps(RPM) == 42 * 7
    assert area.memories(RPM).total <= 110
    assert RPM.period == 2048


def test_weighing_takes_more_multipliers() -> None:
    for log_n in range(8, 16):
        design = StreamDesign("any", log_n, 2, 30)
        assert area.weighing_multipliers(design) == area.multipliers(design) + 3


@pytest.mark.parametrize(
    ("word_bits", "slices"),
    [(16, 4), (30, 4), (36, 4), (43, 5), (48, 6), (54, 8), (60, 9), (62, 9)],
)
def test_a_product_takes_the_dsps_of_the_tables(word_bits: int, slices: int) -> None:
    assert dsps.product_dsps(word_bits, DspSlice.DSP48E2) == slices


def test_a_reduction_with_a_reciprocal_takes_two_more_products() -> None:
    assert [dsps.barrett_dsps(bits, DspSlice.DSP48E2) for bits in (30, 60)] == [6, 23]
    assert area.dsps(StreamDesign("nfl", 12, 2, 30, "barrett")) == 42 * 11


@pytest.mark.parametrize(
    ("log_n", "word_bits", "multiplier", "series7", "ultrascale"),
    [
        (14, 30, MONTGOMERY, 6, 6),
        (14, 41, MONTGOMERY, 11, 8),
        (14, 45, MONTGOMERY, 18, 12),
        (14, 51, MONTGOMERY, 24, 14),
        (14, 58, MONTGOMERY, 29, 17),
        (14, 62, MONTGOMERY, 29, 17),
        (12, 36, MONTGOMERY, 7, 7),
        (12, 54, MONTGOMERY, 28, 16),
        (12, 41, BARRETT, 13, 13),
        (12, 45, BARRETT, 22, 15),
        (12, 54, BARRETT, 38, 20),
        (12, 60, BARRETT, 41, 23),
    ],
)
def test_the_smaller_slices_of_the_7_series_cost_more_from_34_bits_on(
    log_n: int, word_bits: int, multiplier: str, series7: int, ultrascale: int
) -> None:
    """What Yosys 0.70 takes for rs_stream_mul, -family xc7 and xcup."""
    design = StreamDesign("any", log_n, 2, word_bits, multiplier)
    assert area.multiplier_dsps(design, DspSlice.DSP48E1) == series7
    assert area.multiplier_dsps(design, DspSlice.DSP48E2) == ultrascale


def test_a_last_step_of_two_bits_takes_no_dsp() -> None:
    assert area.multiplier_dsps(StreamDesign("any", 13, 2, 30)) == 4 + 2


def test_bandwidth_grows_with_lanes_and_descriptors_with_primes() -> None:
    wide = StreamDesign("wide", 12, 8, 30)
    assert area.products_per_millisecond(RPM, 200) == pytest.approx(97.65625)
    assert area.products_per_millisecond(wide, 200) == pytest.approx(4 * 97.65625)
    entering, leaving = area.gigabytes_per_second(RPM, 200)
    assert leaving == pytest.approx(1.5)
    assert 2 * leaving < entering < 2.01 * leaving
    assert area.descriptor_bytes(RPM, 9) == 9 * 5 * 30 / 8
    with pytest.raises(ParameterError, match="0 primes"):
        area.descriptor_bytes(RPM, 0)
