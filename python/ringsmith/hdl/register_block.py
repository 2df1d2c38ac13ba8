"""What PeakRDL makes of a register map: its block in SystemVerilog, and a C header."""

import tempfile
from pathlib import Path

from peakrdl_cheader.exporter import CHeaderExporter
from peakrdl_regblock import RegblockExporter
from peakrdl_regblock.cpuif.axi4lite import AXI4Lite_Cpuif_flattened

from ringsmith.hdl.generated import notice
from ringsmith.hdl.register_map import RegisterMap

ADDRESS_WIDTH = 12
"""Bits of the bus's byte addresses: a device takes a page of 4 KiB."""


def block_files(
    registers: RegisterMap, source: str, command: str, *, retime: bool = False
) -> dict[str, str]:
    """A map's register block and its C header, in the folder of the map: path -> text.

    Args:
        registers: The map.
        source: Its path in the checkout.
        command: The command that generates the files.
        retime: Whether there is a register in the multiplexer of what is read: a cycle more.
    """
    stem = Path(source).stem
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        RegblockExporter().export(
            registers.node,
            str(folder),
            cpuif_cls=AXI4Lite_Cpuif_flattened,
            default_reset_activelow=True,
            err_if_bad_addr=True,
            err_if_bad_rw=True,
            address_width=ADDRESS_WIDTH,
            retime_read_fanin=retime,
        )
        CHeaderExporter().export(registers.node, str(folder / f"{stem}.h"))
        texts = {
            file: _tidy((folder / file).read_text("utf-8"))
            for file in (f"{stem}.sv", f"{stem}_pkg.sv", f"{stem}.h")
        }
    head = f"// {notice((source,), command)}\n"
    return {str(Path(source).with_name(file)): head + text for file, text in texts.items()}


def _tidy(text: str) -> str:
    """A text without blanks at the ends of its lines, and with one newline at its own."""
    return "\n".join(line.rstrip() for line in text.splitlines()).rstrip() + "\n"
