"""The timing graph of a mapped netlist: which bit waits for which, and how long.

A netlist is one flat module of ``write_json``: bits are numbers, constants are text. Delays come
from ``delays.toml``. What a level is, and what the graph assumes:

- A level is a LUT with the MUXFs behind it, a chain of carries, a DSP, a RAM made of LUTs that is
  read, or the select input of a MUXF.
- Pins of a LUT can be exchanged, so its latest input gets its fastest pin.
- A net takes the longer, the more inputs it drives, but for connections inside a slice, which take
  none: from a carry to the next, from a LUT to the MUXF behind it, and where there is no other
  load, from a LUT to a carry's S input, or from a LUT, carry or MUXF to a flip-flop's D.
- Where all used bits of a DSP's product go to D inputs of flip-flops and shift registers and
  nowhere else, the first of these is its register M. Otherwise the product has no register, and
  logic waits for it. A RAM's output register is found in the same way.
- A module whose memory is a block RAM or UltraRAM is one clocked cell; so is a pair of DSP slices,
  and a module that is left out, whose ports are flip-flops inside.
- Ports of the module are driven and read by flip-flops outside.
"""

import math
import re
import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from ringsmith.caching import cached
from ringsmith.errors import ToolError
from ringsmith.hdl import netlist
from ringsmith.hdl.netlist import Module

BLOCK_RAM, BLOCK_RAM_REGISTERED = "block_ram", "block_ram_registered"
ULTRA_RAM, ULTRA_RAM_REGISTERED = "ultra_ram", "ultra_ram_registered"
DSP_PAIR = "dsp_pair"
REGISTERED_BOX = "registered_box"
"""Kinds of black boxes: RAMs without and with an output register, two DSP slices in cascade, and
modules that begin and end with registers."""


class Family(StrEnum):
    """Families of FPGAs with a table in ``delays.toml``."""

    ULTRASCALE_PLUS = "ultrascale_plus"
    SERIES_7 = "series_7"
    ECP5 = "ecp5"


@dataclass(frozen=True)
class Wider:
    """How much wider a device is than the part of it that was synthesized.

    Attributes:
        lanes: Lanes of the part: a net with as many inputs or more is taken for one to all lanes.
        times: Such a net counts as one with this many times its inputs.
    """

    lanes: int
    times: int


WHOLE = Wider(1, 1)
"""All lanes are there."""

_FLIP_FLOPS = frozenset({"FDRE", "FDSE", "FDCE", "FDPE"})
_MUXES = frozenset({"MUXF7", "MUXF8", "MUXF9"})
_SHIFT_REGISTERS = frozenset({"SRL16E", "SRLC32E"})
_LUT = re.compile(r"LUT([1-6])")
_LUT_RAM = re.compile(r"RAM(32|64|128|256|512)(M|X)\w*")
_IN_SLICE = frozenset({"lut", "carry", "mux"})
_REGISTERS = frozenset({("flip_flop", "D"), ("shift_register", "D")})
_IGNORED = frozenset({"$scopeinfo"})

Bit = int

ANY_CLOCK: Bit = -1
"""The clock of a port, whose register is outside."""


class Arc(NamedTuple):
    """A bit that another waits for.

    Attributes:
        source: The bit.
        delay: From it on, the net included, in ps.
        levels: Levels passed.
    """

    source: Bit
    delay: int
    levels: int


@dataclass(slots=True)
class Node:
    """A bit that is computed from others in the same cycle.

    Attributes:
        cell: Type of the cell that computes it, as a path's description names it.
        arcs: What it waits for.
        pins: Delays of exchangeable pins, fastest first, which the arcs are without; else empty.
    """

    cell: str
    arcs: list[Arc]
    pins: tuple[int, ...] = ()


class Start(NamedTuple):
    """Where a path starts: a clocked cell's output or an input port.

    Attributes:
        cell: Type of the cell, or ``port``.
        name: The cell's name in the netlist, or the port's.
        clock_to_out: From the clock to the output, in ps.
        clock: The cell's clock; ``ANY_CLOCK`` of a port.
    """

    cell: str
    name: str
    clock_to_out: int
    clock: Bit


class End(NamedTuple):
    """Where a path ends: a clocked cell's input or an output port.

    Attributes:
        bit: The bit at the input.
        cell: Type of the cell, or ``port``.
        name: The cell's name in the netlist, or the port's.
        pin: The cell's port.
        setup: What it takes from the bit on, the net included, in ps.
        clock: The cell's clock; ``ANY_CLOCK`` of a port.
    """

    bit: Bit
    cell: str
    name: str
    pin: str
    setup: int
    clock: Bit


@dataclass
class Graph:
    """The timing graph of a netlist.

    Attributes:
        nodes: Bit -> how it is computed.
        starts: Bit -> the clocked cell that drives it.
        ends: Every clocked input that is not constant.
        fanout: Bit -> inputs that it drives.
    """

    nodes: dict[Bit, Node] = field(default_factory=dict)
    starts: dict[Bit, Start] = field(default_factory=dict)
    ends: list[End] = field(default_factory=list)
    fanout: Counter[Bit] = field(default_factory=Counter)

    @property
    def clocks(self) -> list[Bit]:
        """The clocks of its cells; ``ANY_CLOCK`` alone where it has none."""
        found = {each.clock for each in self.starts.values()} | {each.clock for each in self.ends}
        return sorted(found - {ANY_CLOCK}) or [ANY_CLOCK]

    def of_clock(self, clock: Bit) -> "Graph":
        """The paths that begin and end with one clock; those between clocks are not timed."""
        own = {clock, ANY_CLOCK}
        return Graph(
            dict(self.nodes),
            {bit: each for bit, each in self.starts.items() if each.clock in own},
            [each for each in self.ends if each.clock in own],
            self.fanout,
        )


def timing_graph(
    module: Module,
    black_boxes: Mapping[str, str] | None = None,
    family: Family = Family.ULTRASCALE_PLUS,
    wider: Wider = WHOLE,
) -> Graph:
    """Makes the timing graph of a flat netlist of Xilinx's cells.

    Args:
        module: The netlist: its ports and cells.
        black_boxes: Type of a cell -> its kind, such as ``BLOCK_RAM``.
        family: Whose delays count.
        wider: How much wider the device is.

    Raises:
        ToolError: If a cell has no stated delays.
    """
    return Builder(module, black_boxes or {}, family, wider).built()


def _bits(connections: Mapping[str, list[object]], port: str) -> list[Bit]:
    return [bit for bit in connections.get(port, ()) if isinstance(bit, int)]


class Builder:
    """Makes a graph; one use."""

    def __init__(
        self, module: Module, black_boxes: Mapping[str, str], family: Family, wider: Wider
    ) -> None:
        self._cells = module["cells"]
        self._ports = module["ports"]
        self._boxes = black_boxes
        self._d: Delays = delays()[family]
        self._wider = wider
        self._graph = Graph()
        self._driver: dict[Bit, str] = {}  # kind of the cell that drives a bit
        self._sinks: defaultdict[Bit, list[tuple[str, str]]] = defaultdict(list)  # kind and pin
        self._clock = ANY_CLOCK  # of the cell that is taken
        self._absorbed: dict[Bit, int] = {}  # such an input of a flip-flop -> its clock to out

    def built(self) -> Graph:
        """The graph."""
        kinds = {name: self._kind(name, cell["type"]) for name, cell in self._cells.items()}
        for name, cell in self._cells.items():
            self._connect(kinds[name], cell["type"], cell["connections"])
        self._count()
        for name, cell in self._cells.items():
            self._clock = self._clock_of(cell["connections"])
            self._find_registers(name, kinds[name], cell["connections"])
        for name, cell in self._cells.items():
            self._clock = self._clock_of(cell["connections"])
            self._cell(name, kinds[name], cell["type"], cell["connections"])
        self._clock = ANY_CLOCK
        for name, port in self._ports.items():
            self._port(name, port["direction"], [b for b in port["bits"] if isinstance(b, int)])
        return self._graph

    def _clock_of(self, connections: Mapping[str, list[object]]) -> Bit:
        """A cell's clock: its first, where it has several; of a DSP without registers none."""
        pins = filter(self._is_clock, connections)
        return next((bit for pin in pins for bit in _bits(connections, pin)), ANY_CLOCK)

    def _find_registers(
        self, name: str, kind: str, connections: Mapping[str, list[object]]
    ) -> None:
        """Finds flip-flops that are registers of a DSP or RAM, before flip-flops are taken."""
        match kind:
            case "dsp":
                self._dsp(name, connections)
            case "block_ram" | "ultra_ram":
                out = self._d[kind]["clock_to_registered_out"]
                self._absorb(_bits(connections, "rdata_o"), out)

    def _cell(
        self, name: str, kind: str, cell: str, connections: Mapping[str, list[object]]
    ) -> None:
        """Takes a cell's arcs, starts and ends."""
        match kind:
            case "flip_flop":
                self._flip_flop(name, cell, connections)
            case "lut":
                self._lut(cell, connections)
            case "mux":
                self._mux(cell, connections)
            case "carry":
                self._carry(connections)
            case "shift_register" | "lut_ram":
                self._small_memory(name, cell, kind, connections)
            case "dsp" | "ignored":
                pass
            case "registered_box":
                self._registered_box(name, cell, connections)
            case _:
                self._black_box(name, kind, connections)

    def _count(self) -> None:
        """Counts the inputs of nets to all lanes as of all lanes that there are."""
        lanes, times = self._wider.lanes, self._wider.times
        for bit, inputs in self._graph.fanout.items():
            if inputs >= lanes:
                self._graph.fanout[bit] = inputs * times

    def _kind(self, name: str, cell: str) -> str:
        for kind, has in (
            (self._boxes.get(cell, ""), cell in self._boxes),
            ("flip_flop", cell in _FLIP_FLOPS),
            ("lut", cell == "INV" or _LUT.fullmatch(cell) is not None),
            ("mux", cell in _MUXES),
            ("carry", cell == "CARRY4"),
            ("dsp", cell == "DSP48E2"),
            ("shift_register", cell in _SHIFT_REGISTERS),
            ("lut_ram", _LUT_RAM.fullmatch(cell) is not None),
            ("ignored", cell in _IGNORED),
        ):
            if has:
                return kind
        raise ToolError(
            f"cell {name} of the netlist is a {cell}, whose delays are not stated: add them to "
            "hdl/timing/delays.toml and what they mean to hdl/timing/graph.py"
        )

    def _connect(self, kind: str, cell: str, connections: Mapping[str, list[object]]) -> None:
        for pin in connections:
            for bit in _bits(connections, pin):
                if self._is_output(kind, cell, pin):
                    self._driver[bit] = kind
                elif not self._is_clock(pin):
                    self._graph.fanout[bit] += 1
                    self._sinks[bit].append((kind, pin))

    def _is_output(self, kind: str, cell: str, pin: str) -> bool:
        outputs = self._outputs(kind, cell)
        if isinstance(outputs, str):
            return pin.endswith(outputs) if outputs == "_o" else pin.startswith(outputs)
        return pin in outputs

    def _is_clock(self, pin: str) -> bool:
        return pin in {"C", "CLK", "WCLK", "clk_i", "rclk_i", "wclk_i"}

    @staticmethod
    def _outputs(kind: str, cell: str) -> Collection[str] | str:
        """Names of a cell's outputs, or what they end or begin with."""
        match kind:
            case "carry":
                return ("O", "CO")
            case "lut" | "mux":
                return ("O",)
            case "dsp":
                return ("P",)
            case "flip_flop" | "shift_register":
                return ("Q", "Q31")
            case "lut_ram":
                return "DO" if cell.endswith(("M", "M8", "M16")) else ("O", "SPO", "DPO")
            case _:
                return "_o"

    def _wire(self, bit: Bit, sink: str, pin: str) -> int:
        """The net from a bit's driver to an input."""
        if self._is_in_slice(bit, sink, pin):
            return 0
        return net_delay(self._d, self._graph.fanout[bit])

    def _is_in_slice(self, bit: Bit, sink: str, pin: str) -> bool:
        driver = self._driver.get(bit, "")
        return (
            (sink == "carry" and pin == "CI" and driver == "carry")
            or (sink == "mux" and pin != "S" and driver in {"lut", "mux"})
            or (
                self._graph.fanout[bit] == 1
                and (
                    (sink == "carry" and pin == "S" and driver == "lut")
                    or (sink == "flip_flop" and pin == "D" and driver in _IN_SLICE)
                )
            )
        )

    def _arc(self, bit: Bit, sink: str, pin: str, delay: int, levels: int = 1) -> Arc:
        return Arc(bit, delay + self._wire(bit, sink, pin), levels)

    def _end(self, bit: Bit, kind: str, cell: str, name: str, pin: str, setup: int) -> None:
        delay = setup + self._wire(bit, kind, pin)
        self._graph.ends.append(End(bit, cell, name, pin, delay, self._clock))

    # ---- what computes in the cycle --------------------------------------------------------------

    def _lut(self, cell: str, connections: Mapping[str, list[object]]) -> None:
        arcs = [
            self._arc(bit, "lut", pin, 0)
            for pin in connections
            if pin.startswith("I")
            for bit in _bits(connections, pin)
        ]
        pins = tuple(self._d["lut"]["pins"][: len(arcs)])
        for output in _bits(connections, "O"):
            self._graph.nodes[output] = Node("LUT1" if cell == "INV" else cell, arcs, pins)

    def _mux(self, cell: str, connections: Mapping[str, list[object]]) -> None:
        data, select = self._d["mux"][cell]
        arcs = [
            self._arc(bit, "mux", pin, select if pin == "S" else data, int(pin == "S"))
            for pin in ("I0", "I1", "S")
            for bit in _bits(connections, pin)
        ]
        for output in _bits(connections, "O"):
            self._graph.nodes[output] = Node(cell, arcs)

    def _carry(self, connections: Mapping[str, list[object]]) -> None:
        d = self._d["carry"]
        low: list[tuple[Bit, str]] = []  # S and DI inputs up to here
        for number, (sum_bit, carry) in enumerate(
            zip(connections["O"], connections["CO"], strict=True)
        ):
            own = [
                (bit, pin)
                for pin in ("S", "DI")
                if isinstance(bit := connections[pin][number], int)
            ]
            arcs = [self._arc(bit, "carry", pin, d["higher_sum"]) for bit, pin in low]
            arcs += [self._arc(bit, "carry", pin, d["own_sum"]) for bit, pin in own if pin == "S"]
            if isinstance(sum_bit, int):
                arcs += self._carry_in(connections, d["sum_from_carry"], d["start_sum"])
                self._graph.nodes[sum_bit] = Node("CARRY4", arcs)
            low += own
            if isinstance(carry, int):
                arcs = [self._arc(bit, "carry", pin, d["enter"]) for bit, pin in low]
                through = d["through" if number == len(connections["O"]) - 1 else "through_part"]
                arcs += self._carry_in(connections, through, d["start_carry"])
                self._graph.nodes[carry] = Node("CARRY4", arcs)

    def _carry_in(
        self, connections: Mapping[str, list[object]], through: int, start: int
    ) -> Iterator[Arc]:
        """The arcs from a carry's CI, which is no new level behind another carry, and CYINIT."""
        for bit in _bits(connections, "CI"):
            if self._driver.get(bit) == "carry":
                yield self._arc(bit, "carry", "CI", through, 0)
            else:
                yield self._arc(bit, "carry", "CI", start)
        for bit in _bits(connections, "CYINIT"):
            yield self._arc(bit, "carry", "CYINIT", start)

    def _dsp(self, name: str, connections: Mapping[str, list[object]]) -> None:
        d = self._d["dsp"]
        inputs = [(b, pin) for pin in connections if pin != "P" for b in _bits(connections, pin)]
        outputs = _bits(connections, "P")
        if self._absorb(outputs, self._d["flip_flop"]["clock_to_out"]):
            for bit, pin in inputs:
                self._end(bit, "dsp", "DSP48E2", name, pin, d["setup_product"])
            return
        arcs = [self._arc(bit, "dsp", pin, d["product"]) for bit, pin in inputs]
        for bit in outputs:
            self._graph.nodes[bit] = Node("DSP48E2", arcs)

    def _absorb(self, outputs: list[Bit], clock_to_out: int) -> bool:
        """Whether outputs drive nothing but registers; these are the cell's then."""
        used = [bit for bit in outputs if self._graph.fanout[bit]]
        absorbed = all(sink in _REGISTERS for bit in used for sink in self._sinks[bit])
        if absorbed:
            self._absorbed |= dict.fromkeys(used, clock_to_out)
        return absorbed

    # ---- what is clocked -------------------------------------------------------------------------

    def _flip_flop(self, name: str, cell: str, connections: Mapping[str, list[object]]) -> None:
        d = self._d["flip_flop"]
        (data,) = connections["D"]
        out = d["clock_to_out"]
        if isinstance(data, int):
            out = self._absorbed.get(data, out)
        for bit in _bits(connections, "Q"):
            self._graph.starts[bit] = Start(cell, name, out, self._clock)
        setups = {"D": d["setup_data"], "CE": d["setup_enable"]}
        setups |= dict.fromkeys(("R", "S", "CLR", "PRE"), d["setup_reset"])
        for pin, setup in setups.items():
            for bit in _bits(connections, pin):
                if bit not in self._absorbed:
                    self._end(bit, "flip_flop", cell, name, pin, setup)

    def _small_memory(
        self, name: str, cell: str, kind: str, connections: Mapping[str, list[object]]
    ) -> None:
        """A shift register or RAM of LUTs: written at the clock, read at once."""
        d = self._d[kind]
        for pin in connections:
            bits = _bits(connections, pin)
            if self._is_clock(pin):
                continue
            if self._is_output(kind, cell, pin):
                address = [
                    (bit, other)
                    for other in connections
                    if _reads(cell, other, pin)
                    for bit in _bits(connections, other)
                ]
                arcs = [self._arc(bit, kind, other, d["read"]) for bit, other in address]
                for output in bits:
                    self._small_output(output, name, cell, d["clock_to_out"], arcs)
                continue
            setup = d.get(_setup_of_small(cell, kind, pin))
            if setup is not None:
                for bit in (each for each in bits if each not in self._absorbed):
                    self._end(bit, kind, cell, name, pin, setup)

    def _small_output(
        self, output: Bit, name: str, cell: str, clock_to_out: int, arcs: list[Arc]
    ) -> None:
        """An output that the clock and the address move: a hidden bit stands for what is stored."""
        if not arcs:
            self._graph.starts[output] = Start(cell, name, clock_to_out, self._clock)
            return
        stored = -output
        self._graph.starts[stored] = Start(cell, name, clock_to_out, self._clock)
        self._graph.nodes[output] = Node(cell, [*arcs, Arc(stored, 0, 0)])

    def _black_box(self, name: str, kind: str, connections: Mapping[str, list[object]]) -> None:
        registered = kind.endswith("_registered")
        family = kind.removesuffix("_registered")
        cell = {"block_ram": "block RAM", "ultra_ram": "UltraRAM", DSP_PAIR: "DSP pair"}[family]
        d = self._d["dsp" if kind == DSP_PAIR else family]
        out = d["clock_to_registered_out" if registered else "clock_to_out"]
        for pin in connections:
            if self._is_clock(pin):
                continue
            side = f"{pin[0]}clk_i"  # of a RAM with a clock for each port
            (self._clock,) = _bits(connections, side if side in connections else "clk_i")
            for bit in _bits(connections, pin):
                if pin.endswith("_o"):
                    self._graph.starts[bit] = Start(cell, name, out, self._clock)
                else:
                    setup = "setup_operand" if kind == DSP_PAIR else _setup_of_ram(pin)
                    self._end(bit, family, cell, name, pin, d[setup])

    def _registered_box(
        self, name: str, cell: str, connections: Mapping[str, list[object]]
    ) -> None:
        """A module whose ports are flip-flops inside."""
        d, module = self._d["flip_flop"], netlist.kind(cell)
        for pin in connections:
            for bit in _bits(connections, pin):
                if pin.endswith("_o"):
                    self._graph.starts[bit] = Start(
                        module, f"{name}.{pin}", d["clock_to_out"], self._clock
                    )
                elif not self._is_clock(pin):
                    self._end(bit, "registered_box", module, name, pin, d["setup_data"])

    def _port(self, name: str, direction: str, bits: list[Bit]) -> None:
        for bit in bits:
            if direction == "input":
                out = self._d["flip_flop"]["clock_to_out"]
                self._graph.starts[bit] = Start("port", name, out, self._clock)
            else:
                self._end(bit, "port", "port", name, "", self._d["flip_flop"]["setup_data"])


def _reads(cell: str, pin: str, output: str) -> bool:
    """Whether an input is an address of an output: ADDRB of DOB, DPRA of DPO, A of the others."""
    if output.startswith("DO"):
        return pin == f"ADDR{output[2:]}"
    if output == "DPO":
        return pin.startswith("DPRA")
    if output == "Q31":
        return False
    return re.fullmatch(r"A\d*", pin) is not None


def _setup_of_small(cell: str, kind: str, pin: str) -> str:
    """Which setup an input of a shift register or RAM of LUTs has; empty: it is read alone."""
    if pin.startswith("D") and not pin.startswith("DPRA"):
        return "setup_data"
    if pin in {"CE", "WE"}:
        return "setup_enable"
    written = re.fullmatch(r"A\d*", pin) or pin == ("ADDRH" if cell[-1] != "M" else "ADDRD")
    return "setup_address" if kind == "lut_ram" and written else ""


def _setup_of_ram(pin: str) -> str:
    if pin.endswith("addr_i"):
        return "setup_address"
    return "setup_data" if pin.endswith("data_i") else "setup_enable"


def net_delay(table: Mapping[str, Any], inputs: int) -> int:
    """What a net takes, in ps, by a family's table and its inputs; a port is one."""
    net = table["net"]
    base, root = float(net["base"]), float(net["root"])
    return round(base + root * math.sqrt(max(inputs, 1)))


DELAYS_FILE = Path(__file__).with_name("delays.toml")

Delays = dict[str, Any]
"""Family, or kind of cell -> its delays."""


@cached
def delays() -> Delays:
    """The table of delays, by family."""
    resource = resources.files("ringsmith.hdl.timing") / DELAYS_FILE.name
    return tomllib.loads(resource.read_text(encoding="utf-8"))
