"""The timing graph of a netlist of ECP5 cells, as Yosys maps it.

``tests/hdl/timing_calibration.py`` compares it with what nextpnr reports after place and route.
"""

import re
from collections.abc import Mapping

from ringsmith.hdl.netlist import Module
from ringsmith.hdl.timing.graph import WHOLE, Arc, Bit, Builder, Family, Graph, Node, Start

_KINDS = {
    "TRELLIS_FF": "flip_flop",
    "LUT4": "lut",
    "PFUMX": "mux",
    "L6MUX21": "mux",
    "CCU2C": "carry",
    "TRELLIS_DPR16X4": "lut_ram",
    "DP16KD": "block_ram",
    "PDPW16KD": "block_ram",
    "MULT18X18D": "dsp",
    "EHXPLLL": "ignored",
    "$scopeinfo": "ignored",
}

_OUTPUTS = {
    "flip_flop": re.compile(r"Q"),
    "lut": re.compile(r"Z"),
    "mux": re.compile(r"Z"),
    "carry": re.compile(r"S0|S1|COUT"),
    "lut_ram": re.compile(r"DO"),
    "block_ram": re.compile(r"DO[AB]?\d+"),
    "dsp": re.compile(r"P\d+|S?RO[AB]\d+|SIGNEDP|ROC\d+"),
}

_CLOCK = re.compile(r"CLK[ABWR0-3]?|WCK")
_SELECTS = frozenset({"C0", "SD"})
_ENABLES = re.compile(r"CE\w?|WRE|OCE\w?|WE\w?|CS\w*")


def ecp5_graph(module: Module) -> Graph:
    """Makes the timing graph of a flat netlist of ECP5 cells.

    Args:
        module: The netlist: its ports and cells.

    Raises:
        ToolError: If a cell has no stated delays.
    """
    return _Ecp5Builder(module, {}, Family.ECP5, WHOLE).built()


Connections = Mapping[str, list[object]]


def _bits(connections: Connections, pin: str) -> list[Bit]:
    return [bit for bit in connections.get(pin, ()) if isinstance(bit, int)]


class _Ecp5Builder(Builder):
    """Makes a graph; one use."""

    def _kind(self, name: str, cell: str) -> str:
        return _KINDS.get(cell) or super()._kind(name, cell)

    def _find_registers(self, name: str, kind: str, connections: Connections) -> None:
        """Finds none: a hard cell's registers are in its parameters."""

    def _is_output(self, kind: str, cell: str, pin: str) -> bool:
        return kind in _OUTPUTS and _OUTPUTS[kind].fullmatch(pin) is not None

    def _is_clock(self, pin: str) -> bool:
        return _CLOCK.fullmatch(pin) is not None

    def _is_in_slice(self, bit: Bit, sink: str, pin: str) -> bool:
        driver = self._driver.get(bit, "")
        if sink == "carry":
            return pin == "CIN" and driver == "carry"
        if sink == "mux":
            return pin not in _SELECTS and driver in {"lut", "mux"}
        return (
            sink == "flip_flop"
            and pin == "DI"
            and driver in {"lut", "carry", "mux"}
            and self._graph.fanout[bit] == 1
        )

    def _cell(self, name: str, kind: str, cell: str, connections: Connections) -> None:
        match kind:
            case "lut":
                arcs = [
                    self._arc(bit, "lut", pin, 0)
                    for pin in ("A", "B", "C", "D")
                    for bit in _bits(connections, pin)
                ]
                pins = tuple(self._d["lut"]["pins"][: len(arcs)])
                for output in _bits(connections, "Z"):
                    self._graph.nodes[output] = Node(cell, arcs, pins)
            case "mux":
                self._ecp5_mux(cell, connections)
            case "carry":
                self._ccu2c(connections)
            case "flip_flop" | "lut_ram" | "block_ram" | "dsp":
                self._clocked(name, kind, cell, connections)

    def _ecp5_mux(self, cell: str, connections: Connections) -> None:
        data, select = self._d["mux"][cell]
        arcs = [
            self._arc(bit, "mux", pin, select if pin in _SELECTS else data, int(pin in _SELECTS))
            for pin in connections
            if pin != "Z"
            for bit in _bits(connections, pin)
        ]
        for output in _bits(connections, "Z"):
            self._graph.nodes[output] = Node(cell, arcs)

    def _ccu2c(self, connections: Connections) -> None:
        """Two LUTs and the carries behind them."""
        d = self._d["carry"]
        low, high = (
            [(bit, f"{pin}{n}") for pin in "ABCD" for bit in _bits(connections, f"{pin}{n}")]
            for n in (0, 1)
        )
        carried = [
            (bit, int(self._driver.get(bit) != "carry")) for bit in _bits(connections, "CIN")
        ]

        def arcs(own: list[tuple[Bit, str]], delay: int) -> list[Arc]:
            return [self._arc(bit, "carry", pin, delay) for bit, pin in own]

        def entering(delay: int) -> list[Arc]:
            return [self._arc(bit, "carry", "CIN", delay, level) for bit, level in carried]

        outputs = {
            "S0": [*arcs(low, d["own_sum"]), *entering(d["sum_from_carry"])],
            "S1": [
                *arcs(high, d["own_sum"]),
                *arcs(low, d["higher_sum"]),
                *entering(d["sum_from_carry"]),
            ],
            "COUT": [*arcs([*low, *high], d["enter"]), *entering(d["through"])],
        }
        for pin, waits in outputs.items():
            for output in _bits(connections, pin):
                self._graph.nodes[output] = Node("CCU2C", waits)

    def _clocked(self, name: str, kind: str, cell: str, connections: Connections) -> None:
        d = self._d[kind]
        address = [(bit, "RAD") for bit in _bits(connections, "RAD")]
        for pin in connections:
            if self._is_clock(pin) or pin == "RAD":
                continue
            for bit in _bits(connections, pin):
                if not self._is_output(kind, cell, pin):
                    enable = _ENABLES.fullmatch(pin) is not None
                    setup = d["setup_enable" if enable else "setup_data"]
                    self._end(bit, kind, cell, name, pin, setup)
                elif kind == "lut_ram":
                    arcs = [self._arc(each, kind, "RAD", d["read"]) for each, _ in address]
                    self._small_output(bit, name, cell, d["clock_to_out"], arcs)
                else:
                    self._graph.starts[bit] = Start(cell, name, d["clock_to_out"], self._clock)
