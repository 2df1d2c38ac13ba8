"""Writes what is made from the map of an accelerator's registers.

``python -m ringsmith.backends.vector.device.generate_registers`` writes into the checkout; with
``--check`` it only compares and exits with 1 when something differs. It needs PeakRDL, which is
among the development packages.
"""

import sys
from pathlib import Path

from ringsmith.hdl.generated import GeneratedFiles, notice
from ringsmith.hdl.register_block import block_files
from ringsmith.hdl.register_map import read_register_map
from ringsmith.hdl.register_pages import render_array_python, render_map_page

SOURCE = "rtl/vector_axi/rs_vector_registers.rdl"
COMMAND = "python -m ringsmith.backends.vector.device.generate_registers"

_AFTER = (
    "After reading this page you can drive an accelerator of architecture `vector` over its "
    "AXI4-Lite bus. `rtl/vector_axi/rs_vector_top.sv` has it: 32-bit data, byte addresses in a "
    "page of 4 KiB. A register of 64 bits is two words, the lower first. An address without a "
    "register, a write to one that is only read and a read of one that is only written are "
    "answered with SLVERR. A host writes the ring, the primes, the passes, and the lists of each "
    "cluster; then it writes `control.start`, and waits until `status.done` or `status.failed` is "
    "1. `rtl/vector_axi/rs_vector_registers.h` is the same map in C."
)


def expected(root: Path) -> dict[str, str]:
    """What every generated file should hold: its path in the checkout, and its text.

    Raises:
        ToolError: If the map is wrong.
    """
    registers = read_register_map(root / SOURCE)
    made = block_files(registers, SOURCE, COMMAND, retime=True)
    reported = notice((SOURCE,), COMMAND)
    made["docs/reference/vector-registers.md"] = render_map_page(
        registers, reported, "Registers of architecture vector", _AFTER
    )
    made["python/ringsmith/backends/vector/design/register_table.py"] = render_array_python(
        registers, reported, "Vector", "The registers of an accelerator of architecture vector."
    )
    return made


GENERATED = GeneratedFiles((SOURCE,), COMMAND, expected)


def main(arguments: list[str] | None = None) -> int:
    """Writes or checks the generated files; returns the exit status."""
    return GENERATED.main(arguments, __doc__.splitlines()[0] if __doc__ else None)


if __name__ == "__main__":
    sys.exit(main())
