"""Register map, C headers, and the page about registers and memory, of a design written out."""

from collections.abc import Iterable, Sequence

from ringsmith.backends.vector.design import package
from ringsmith.backends.vector.design.design import MONTGOMERY, PAGE_BYTES, VectorDesign
from ringsmith.backends.vector.design.register_table import (
    CLUSTER_BYTES,
    CLUSTERS,
    MAGIC,
    VERSION_MAJOR,
    VERSION_MINOR,
    ClusterRegister,
    Status,
    VectorRegister,
)
from ringsmith.hdl.sources import rtl_root
from ringsmith.markdown import table_lines

_MAPS = ("rs_vector_registers.rdl", "rs_vector_registers.h")


def files(design: VectorDesign) -> dict[str, str]:
    """The files of ``registers/`` by their path in the folder."""
    folder = rtl_root() / "vector_axi"
    found = {f"registers/{name}": (folder / name).read_text(encoding="utf-8") for name in _MAPS}
    found["registers/rs_design.h"] = _header(design)
    found["registers/registers.md"] = _page(design)
    return found


def greeting(design: VectorDesign) -> tuple[tuple[int, int], ...]:
    """Registers that say what a device is: address -> value."""
    shape = design.clusters | design.log_lanes << 4 | design.log_radix << 8
    shape |= design.word_bits << 12 | design.ports << 20
    return (
        (VectorRegister.MAGIC, MAGIC),
        (VectorRegister.VERSION, VERSION_MINOR | VERSION_MAJOR << 16),
        (VectorRegister.SHAPE, shape),
    )


def _header(design: VectorDesign) -> str:
    """The design as C constants."""
    capabilities = {
        "LOG_N": design.log_n,
        "LEAST_LOG_N": design.min_log_n,
        "CLUSTERS": design.clusters,
        "LOG_LANES": design.log_lanes,
        "LOG_RADIX": design.log_radix,
        "WORD_BITS": design.word_bits,
        "WORD_BYTES": design.word_bytes,
        "MONTGOMERY": int(design.reduction == MONTGOMERY),
        "BANKS": design.banks,
        "BANK_ROWS": design.bank_rows,
        "TABLE_ROWS": design.table_rows,
        "STREAM_ROWS": design.stream_rows,
        "PORTS": design.ports,
        "PORT_BITS": design.memory.port_bits,
        "ROW_BEATS": design.row_cycles,
        "BURST_BEATS": design.burst_beats,
        "LIST_SLOT_BYTES": package.SLOT_BYTES,
    }
    registers = [(register.name, value) for register, value in _greeted(design)]
    return "\n".join(
        [
            f"// What design {design.name} is, and what its registers say of it.",
            "#ifndef RS_DESIGN_H",
            "#define RS_DESIGN_H",
            "",
            *(f"#define RS_DESIGN_{name} {value}u" for name, value in capabilities.items()),
            f"#define RS_DESIGN_PORT_BYTES {design.memory.port_bytes}ull",
            "",
            *(f"#define RS_DESIGN_REGISTER_{name} 0x{value:08x}u" for name, value in registers),
            "",
            "#endif",
            "",
        ]
    )


def _greeted(design: VectorDesign) -> list[tuple[VectorRegister, int]]:
    return [(VectorRegister(address), value) for address, value in greeting(design)]


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(table_lines(headings, rows, headings))


def _page(design: VectorDesign) -> str:
    own = [(f"`{each:#05x}`", f"`{each.name.lower()}`") for each in VectorRegister]
    of_cluster = [(f"`{each:#04x}`", f"`{each.name.lower()}`") for each in ClusterRegister]
    bits = [
        (f"`{int(bit).bit_length() - 1}`", f"`{str(bit.name).lower()}`", bit.__doc__ or "")
        for bit in Status
    ]
    parts = [
        f"# Registers and memory of {design.name}",
        "The bus `s_axil` has 32-bit data and byte addresses in a page of 4 KiB. A register of 64 "
        "bits is two words, the lower one first. rs_vector_registers.rdl describes every field; "
        "rs_vector_registers.h and rs_design.h are for C.",
        "## A host's work",
        _WORK,
        "## Memory",
        _memory(design),
        "## Registers",
        _table(["address", "register"], own),
        f"## Registers of a cluster, from {CLUSTERS:#x} + {CLUSTER_BYTES:#x} times its number on",
        _table(["offset", "register"], of_cluster),
        "## Bits of `status`",
        _table(["bit", "name"], [row[:2] for row in bits]),
        "## What this design says of itself",
        _table(
            ["register", "value"],
            [(f"`{each.name.lower()}`", f"`{value:#010x}`") for each, value in _greeted(design)],
        ),
    ]
    return "\n\n".join(parts) + "\n"


_WORK = """\
1. Read `magic`, `version` and `shape`: is it the device that you expect? Write 2 to `control`, a
   reset, and wait until `status.resetting` is 0: what a host before you left is gone.
2. Put the lists of each cluster into the memory of its bus `m_list`, and operands, keys and tables
   of factors into that of its buses `m_axi`.
3. Write `ring`, each prime (`prime_q`, `prime_mu`, then `prime`), and each pass (`pass_bits`, then
   `pass`).
4. Write the address and the length of each list of each cluster.
5. Write `control.start`; wait until `status.done` or `status.failed` is 1. Read `cycles`.
6. After `status.failed` read `fault` of each cluster, and reset the device as in step 1. It waits
   for the answers that memory owes. Primes, passes and registers keep what they hold.
7. Read `refused`: 0 says that everything was done.

The testbench in `tb/` does so, with the steps in `program/steps.hex`."""


_CROSSED = (
    " Buses `m_axi` are in `mem_clk_i`, memory's own clock: they cross to it inside "
    "(`rs_vector_crossing`), and the cycles of a program count on it."
)


def _memory(design: VectorDesign) -> str:
    memory, buses = design.memory, design.clusters * design.ports
    crossed = _CROSSED if design.crossed_ports else ""
    return (
        f"A row is {design.lanes} words of {design.word_bytes} bytes, {design.row_bytes} bytes. It "
        f"is striped over the {design.ports} buses `m_axi` of its cluster; beats of "
        f"{memory.port_bits // 8} bytes at each: {design.row_cycles}. Bus i of {buses} has "
        f"{memory.port_bytes:,} bytes from address {memory.port_bytes:,} · i on. Cluster c has the "
        f"{design.ports} buses from bus {design.ports} · c on, and also reads at the addresses of "
        f"other clusters' buses. Bursts have at most {design.burst_beats} beats, ascending "
        f"addresses and no ids, and do not cross {PAGE_BYTES:,} bytes. Lists lie in slots of "
        f"{package.SLOT_BYTES} bytes behind bus `m_list`.{crossed}"
    )
