"""Leaf blocks on an ECP5, placed and routed: a floor for their clock, and their cells."""

import pytest

from ringsmith.hdl.ecp5.flow import Hierarchy, timed_block

FLOOR_MHZ = 150


@pytest.mark.full
def test_a_modular_multiplier_of_30_bits_reaches_its_clock_in_eleven_slices() -> None:
    found = timed_block(Hierarchy("rs_mod_mul", ("arith", "mem"), {"Width": 30}), FLOOR_MHZ)
    assert found.used["MULT18X18D"].used == 11
    assert "DP16KD" not in found.used
    (clock,) = found.clocks
    assert clock.reached
    assert clock.wanted_mhz == FLOOR_MHZ
    assert found.worst_path
