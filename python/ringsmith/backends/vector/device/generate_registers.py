"""Writes what is made from the map of an accelerator's registers.

``python -m ringsmith.backends.vector.device.generate_registers`` writes into the checkout; with
``--check`` it only compares and exits with 1 when something differs. It needs PeakRDL, which is
among the development packages.
"""

import argparse
import sys
from pathlib import Path

from ringsmith.hdl import register_block
from ringsmith.hdl.register_map import read_register_map
from ringsmith.hdl.register_pages import render_array_python, render_map_page

SOURCE = "rtl/vector/rs_vector_registers.rdl"
COMMAND = "python -m ringsmith.backends.vector.device.generate_registers"

_AFTER = (
    "After reading this page you can drive an accelerator of architecture `vector` over its "
    "AXI4-Lite bus. `rtl/vector/rs_vector_top.sv` has that bus: 32-bit data, byte addresses in a "
    "page of 4 KiB. A register of 64 bits is two words, the lower first. An address without a "
    "register, a write to one that is only read and a read of one that is only written are "
    "answered with SLVERR. A host writes the ring, the primes, the passes, and the lists of each "
    "cluster; then it writes `control.start`, and waits until `status.done` or `status.failed` is "
    "1. `rtl/vector/rs_vector_registers.h` is the same map in C."
)


def expected(root: Path) -> dict[str, str]:
    """What every generated file should hold: its path in the checkout, and its text.

    Raises:
        ToolError: If the map is wrong.
    """
    registers = read_register_map(root / SOURCE)
    made = register_block.block_files(registers, SOURCE, COMMAND)
    notice = register_block.notice(COMMAND, SOURCE)
    made["docs/vector-registers.md"] = render_map_page(
        registers, notice, "Registers of architecture vector", _AFTER
    )
    made["python/ringsmith/backends/vector/device/register_table.py"] = render_array_python(
        registers, notice, "Vector", "The registers of an accelerator of architecture vector."
    )
    return made


def stale_files(root: Path) -> list[str]:
    """The files under ``root`` that are missing or differ from what they should hold."""
    return [
        path
        for path, text in expected(root).items()
        if not (root / path).is_file() or (root / path).read_text(encoding="utf-8") != text
    ]


def main(arguments: list[str] | None = None) -> int:
    """Writes or checks the generated files; returns the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="compare only; exit 1 on a difference")
    parser.add_argument("--root", type=Path, default=Path.cwd(), help="the checkout")
    options = parser.parse_args(arguments)
    if not (options.root / SOURCE).is_file():
        parser.error(f"{options.root} is no checkout of Ringsmith: pass --root")
    made = expected(options.root)
    stale = stale_files(options.root)
    for path in stale:
        if options.check:
            print(f"{path} differs from its register map: run {COMMAND}")
        else:
            (options.root / path).write_text(made[path], encoding="utf-8")
            print(f"wrote {path}")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
