"""Ports of a top module by interface: clocks, resets, AXI4-Lite, AXI4, AXI4-Stream, interrupts.

The lists are stated here and not read from the RTL: :mod:`ringsmith.generate` connects each of them
by name, so that a simulator or synthesizer refuses a port that differs.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

AXI_LITE = "axi4-lite"
AXI = "axi4"
AXI_STREAM = "axi4-stream"
CLOCK = "clock"
RESET = "reset"
INTERRUPT = "interrupt"
PLAIN = "plain"
"""Kinds of interfaces; a ``PLAIN`` one is a wire that no protocol names."""

INPUT, OUTPUT = "input", "output"


@dataclass(frozen=True)
class Port:
    """A port of the top module.

    Attributes:
        name: Its name.
        direction: ``INPUT`` or ``OUTPUT``.
        bits: Its width.
        signal: What the interface's standard calls it, such as ``AWADDR``; empty: nothing.
        part_of: The port of the design that it is a part of, where that has the wires of several
            interfaces: those of the first interface are the lowest bits.
    """

    name: str
    direction: str
    bits: int
    signal: str = ""
    part_of: str = ""


@dataclass(frozen=True)
class Interface:
    """Ports that belong together.

    Attributes:
        name: The interface's name; of a bus also what its ports' names begin with.
        kind: One of ``AXI_LITE``, ``AXI``, ``AXI_STREAM``, ``CLOCK``, ``RESET``, ``INTERRUPT`` and
            ``PLAIN``.
        ports: The ports.
        master: Whether the design begins transfers.
        clock: The clock that it is synchronous to; of a clock itself: empty.
        about: What it is for, in a few words.
    """

    name: str
    kind: str
    ports: tuple[Port, ...]
    master: bool = False
    clock: str = ""
    about: str = ""


def clock(name: str, about: str = "") -> Interface:
    """A clock."""
    return Interface(name, CLOCK, (Port(name, INPUT, 1, "CLK"),), about=about)


def reset(name: str, of: str, about: str = "") -> Interface:
    """A synchronous reset, active low."""
    return Interface(name, RESET, (Port(name, INPUT, 1, "RST"),), clock=of, about=about)


def interrupt(name: str, bits: int, of: str, about: str = "") -> Interface:
    """Interrupts, active high: one a bit."""
    ports = (Port(name, OUTPUT, bits, "INTERRUPT" if bits == 1 else ""),)
    return Interface(name, INTERRUPT if bits == 1 else PLAIN, ports, clock=of, about=about)


def plain(name: str, direction: str, bits: int, of: str, about: str = "") -> Interface:
    """A wire without a protocol."""
    return Interface(name, PLAIN, (Port(name, direction, bits),), clock=of, about=about)


def _ports(name: str, signals: Sequence[tuple[str, int, bool]], master: bool) -> Iterator[Port]:
    """Ports of a bus, from (signal, bits, whether the master drives it)."""
    for signal, bits, by_master in signals:
        direction = OUTPUT if by_master == master else INPUT
        yield Port(f"{name}_{signal.lower()}", direction, bits, signal)


def axi_lite_slave(name: str, address_bits: int, of: str, about: str = "") -> Interface:
    """An AXI4-Lite slave with 32-bit data."""
    signals = [
        *(("AWADDR", address_bits, True), ("AWPROT", 3, True), ("AWVALID", 1, True)),
        *(("AWREADY", 1, False), ("WDATA", 32, True), ("WSTRB", 4, True), ("WVALID", 1, True)),
        *(("WREADY", 1, False), ("BRESP", 2, False), ("BVALID", 1, False), ("BREADY", 1, True)),
        *(("ARADDR", address_bits, True), ("ARPROT", 3, True), ("ARVALID", 1, True)),
        *(("ARREADY", 1, False), ("RDATA", 32, False), ("RRESP", 2, False)),
        *(("RVALID", 1, False), ("RREADY", 1, True)),
    ]
    return Interface(name, AXI_LITE, tuple(_ports(name, signals, False)), False, of, about)


def axi_bus(
    name: str,
    *,
    master: bool,
    id_bits: int,
    address_bits: int,
    data_bits: int,
    of: str,
    about: str = "",
    writes: bool = True,
) -> Interface:
    """An AXI4 bus; a master's has ``AWCACHE``, ``AWPROT`` and those of reads, too.

    Args:
        name: Its name.
        master: Whether the design begins transfers.
        id_bits: Bits of ids; 0: it has none.
        address_bits: Bits of addresses.
        data_bits: Bits of a beat.
        of: Its clock.
        about: What it is for, in a few words.
        writes: Whether it has channels for writes.
    """
    ids = [("ID", id_bits)] if id_bits else []

    def address(way: str) -> list[tuple[str, int, bool]]:
        more = [("CACHE", 4), ("PROT", 3)] if master else []
        fields = [*ids, ("ADDR", address_bits), ("LEN", 8), ("SIZE", 3), ("BURST", 2)]
        found = [(f"A{way}{signal}", bits, True) for signal, bits in [*fields, *more]]
        return [*found, (f"A{way}VALID", 1, True), (f"A{way}READY", 1, False)]

    def answered(way: str) -> list[tuple[str, int, bool]]:
        return [(f"{way}{signal}", bits, False) for signal, bits in ids]

    written = [
        *address("W"),
        *(("WDATA", data_bits, True), ("WSTRB", data_bits // 8, True), ("WLAST", 1, True)),
        *(("WVALID", 1, True), ("WREADY", 1, False)),
        *answered("B"),
        *(("BRESP", 2, False), ("BVALID", 1, False), ("BREADY", 1, True)),
    ]
    signals = [
        *(written if writes else ()),
        *address("R"),
        *answered("R"),
        *(("RDATA", data_bits, False), ("RRESP", 2, False)),
        *(("RLAST", 1, False), ("RVALID", 1, False), ("RREADY", 1, True)),
    ]
    return Interface(name, AXI, tuple(_ports(name, signals, master)), master, of, about)


def merged_ports(name: str, interfaces: Sequence[Interface]) -> tuple[Interface, ...]:
    """Equal buses whose wires are concatenated in the design's ports.

    Args:
        name: What the names of these ports begin with.
        interfaces: The buses, that of the lowest bits first.
    """
    return tuple(
        replace(
            each,
            ports=tuple(
                replace(port, part_of=f"{name}_{port.signal.lower()}") for port in each.ports
            ),
        )
        for each in interfaces
    )


def axi_stream(
    name: str, *, master: bool, data_bits: int, last: bool, of: str, about: str = ""
) -> Interface:
    """An AXI4-Stream."""
    signals = [("TVALID", 1, True), ("TREADY", 1, False)]
    signals += [("TLAST", 1, True)] if last else []
    signals += [("TDATA", data_bits, True)]
    return Interface(name, AXI_STREAM, tuple(_ports(name, signals, master)), master, of, about)
