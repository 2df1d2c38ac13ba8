"""What a design costs, as counted; the synthesized area is held against it in tests/rtl."""

import pytest

from ringsmith.backends.stream.design import area
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.stream.design.latency import BARRETT, MONTGOMERY
from ringsmith.errors import ParameterError
from ringsmith.hdl import dsps
from ringsmith.hdl.dsps import DspSlice

RPM = StreamDesign("rpm", 12, 2, 30)


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
