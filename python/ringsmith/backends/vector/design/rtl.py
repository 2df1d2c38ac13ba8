"""The RTL of a design: its top modules, their sources, and what they are elaborated with."""

from pathlib import Path

from ringsmith.backends.vector.design.design import REDUCTIONS, VectorDesign
from ringsmith.hdl.record import Field, Record, Values
from ringsmith.hdl.sources import rtl_root, rtl_sources
from ringsmith.platforms import Memory

TOP = "rs_vector_core"
"""A cluster."""

FOLDERS = ("mem", "arith", "vector")
"""Folders of ``rtl/`` that it is made of, each before those that use it."""


ADDRESS_BITS = 40
"""Bits of an address of memory."""

BANK_ULTRA = 1
"""Banks of UltraRAM: a value of the record's field ``BankRam``; block RAM is 0."""


def configuration(design: VectorDesign) -> Record:
    """A design's record, ``rs_vector_pkg::vector_cfg_t``; its banks are in block RAM."""
    values = {
        "Width": design.word_bits,
        "Reduction": REDUCTIONS.index(design.reduction),
        "StepBits": design.step_bits,
        "LogLanes": design.log_lanes,
        "LogRadix": design.log_radix,
        "Banks": design.banks,
        "BankRows": design.bank_rows,
        "TableRows": design.table_rows,
        "StreamRows": design.stream_rows,
        "BankRam": 0,
        "Clusters": design.clusters,
        "Ports": design.ports,
        "PortBits": design.memory.port_bits,
        "SpanBits": design.memory.port_bytes.bit_length() - 1,
        "BurstBeats": design.burst_beats,
        "Outstanding": design.outstanding,
        "AddrWidth": ADDRESS_BITS,
    }
    return Record(tuple(Field(name, 32, value) for name, value in values.items()))


def parameters(design: VectorDesign, bank_ram: int = 0) -> Values:
    """Values of the parameters of ``TOP``, ``ACCELERATOR``, ``SHELL``, and of what is inside.

    Args:
        design: The design.
        bank_ram: What the banks are kept in.
    """
    return {"Cfg": configuration(design).changed(BankRam=bank_ram)}


ACCELERATOR = "rs_vector_top"
"""An accelerator of all clusters, with memory's ports and registers."""

SHELL = "rs_vector_shell"
"""The same with whole AXI4 buses."""

CROSSED_SHELL = "rs_vector_crossed"
"""That with ports for rows in memory's own clock."""

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
