"""The RTL of a design: its top modules, their sources, and what they are elaborated with."""

from pathlib import Path

from ringsmith.backends.vector.design import package
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.hdl.record import Record, Values
from ringsmith.hdl.sources import rtl_root, rtl_sources
from ringsmith.platforms import Memory

TOP = "rs_vector_core"
"""A cluster."""

FOLDERS = ("mem", "arith", "vector")
"""Folders of ``rtl/`` that it is made of, each before those that use it."""


ADDRESS_BITS = 40
"""Bits of an address of memory."""


def configuration(design: VectorDesign, bank_ram: int = package.BANK_BLOCK) -> Record:
    """A design's record, ``rs_vector_pkg::vector_cfg_t``.

    Args:
        design: The design.
        bank_ram: What the banks are kept in: ``package.BANK_BLOCK`` or ``package.BANK_ULTRA``.
    """
    return package.vector_cfg(
        **design.cfg._asdict(),
        banks=design.banks,
        bank_rows=design.bank_rows,
        table_rows=design.table_rows,
        stream_rows=design.stream_rows,
        bank_ram=bank_ram,
        clusters=design.clusters,
        span_bits=design.memory.port_bytes.bit_length() - 1,
        burst_beats=design.burst_beats,
        outstanding=design.outstanding,
        addr_width=ADDRESS_BITS,
    )


def parameters(design: VectorDesign, bank_ram: int = package.BANK_BLOCK) -> Values:
    """Values of the parameters of ``TOP``, ``SHELL``, and of what is inside.

    Args:
        design: The design.
        bank_ram: As of ``configuration``.
    """
    return {"Cfg": configuration(design, bank_ram)}


SHELL = "rs_vector_shell"
"""An accelerator of all clusters, with memory's ports and registers as AXI buses."""

MEMORY_CLOCK, MEMORY_RESET = "mem_clk_i", "mem_rst_ni"
"""Its ports for memory's own clock, which ports for rows have if ``Crossed`` is 1."""

SHELL_FOLDERS = ("mem", "arith", "dma", "shell", "vector", "vector_axi")
"""Folders of ``rtl/`` that it takes modules of, each before those that use it."""


def accelerator_sources() -> list[Path]:
    """The files of an accelerator, packages before those that use them.

    Raises:
        ToolError: If they are missing.
    """
    shared = [rtl_root() / "shell" / "rs_shell_pkg.sv"]
    shared += [rtl_root() / "dma" / f"rs_{name}.sv" for name in ("dma_fifo", "sync", "async_fifo")]
    return [*shared, *rtl_sources(*FOLDERS, "vector_axi")]


def memory_parameters(memory: Memory) -> dict[str, int]:
    """Values of the parameters of a simulated port: ``sim/vector/rs_vector_memory.sv``."""
    return {
        "Latency": memory.latency,
        "Interval": memory.interval,
        "ReadPause": memory.read_pause,
        "WritePause": memory.write_pause,
    }
