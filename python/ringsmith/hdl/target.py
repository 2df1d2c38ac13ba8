"""FPGA families that ``rtl/`` is made for: the values of ``rs_arith_pkg::Target``."""

XILINX = "xilinx"
"""7 series, UltraScale and UltraScale+: DSP48, block and UltraRAM, shift registers in LUTs."""

ECP5 = "ecp5"
"""Lattice's ECP5: MULT18X18D, EBR, memories in LUTs."""

TARGETS = (XILINX, ECP5)

ECP5_MACRO = "RS_TARGET_ECP5"
"""Chooses ``ECP5`` where sources are read; without it they are read for ``XILINX``."""


def macros(target: str) -> tuple[str, ...]:
    """The macros that sources are read with for a target."""
    return (ECP5_MACRO,) if target == ECP5 else ()
