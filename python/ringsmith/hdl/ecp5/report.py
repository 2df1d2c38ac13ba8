"""What nextpnr reports of a placed and routed netlist."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from ringsmith.errors import ToolError


@dataclass(frozen=True)
class Clock:
    """A clock of the netlist.

    Attributes:
        name: The net.
        wanted_mhz: What the constraints ask for.
        reached_mhz: What the worst path between its registers allows.
    """

    name: str
    wanted_mhz: float
    reached_mhz: float

    @property
    def reached(self) -> bool:
        """Whether it runs as fast as is asked for."""
        return self.reached_mhz >= self.wanted_mhz


@dataclass(frozen=True)
class Used:
    """Cells of a kind: how many are used, of how many."""

    used: int
    available: int


@dataclass(frozen=True)
class Step:
    """A part of the worst path: from a cell's port to the next one's.

    Attributes:
        kind: ``clk-to-q``, ``logic``, ``routing`` or ``setup``, as nextpnr calls it.
        delay_ns: What it takes.
        cell: The cell where it ends.
        port: The port of that cell.
    """

    kind: str
    delay_ns: float
    cell: str
    port: str


@dataclass(frozen=True)
class Implemented:
    """A placed and routed netlist.

    Attributes:
        clocks: The slowest first.
        used: By kind of cell, of those that are used.
        worst_path: Of the first clock, between its registers.
    """

    clocks: tuple[Clock, ...]
    used: Mapping[str, Used]
    worst_path: tuple[Step, ...]

    @classmethod
    def of(cls, text: str) -> "Implemented":
        """Reads nextpnr's report.

        Raises:
            ToolError: If the text is not valid.
        """
        try:
            found = json.loads(text)
            clocks = sorted(
                (
                    Clock(name, float(values["constraint"]), float(values["achieved"]))
                    for name, values in found["fmax"].items()
                ),
                key=lambda clock: (clock.reached_mhz, clock.name),
            )
            used = {
                kind: Used(int(values["used"]), int(values["available"]))
                for kind, values in sorted(found["utilization"].items())
                if values["used"]
            }
            return cls(tuple(clocks), used, _worst_path(found, clocks))
        except (ValueError, KeyError, TypeError) as failure:
            raise ToolError(f"nextpnr's report cannot be read: {failure!r:.200}") from failure


def _worst_path(found: dict[str, list[dict[str, object]]], clocks: list[Clock]) -> tuple[Step, ...]:
    edge = f"posedge {clocks[0].name}" if clocks else ""
    for path in found.get("critical_paths", []):
        if path["from"] == path["to"] == edge:
            steps: list[dict[str, object]] = path["path"]  # type: ignore[assignment]
            return tuple(_step(step) for step in steps)
    return ()


def _step(step: dict[str, object]) -> Step:
    to: dict[str, object] = step["to"]  # type: ignore[assignment]
    delay = float(step["delay"])  # type: ignore[arg-type]
    return Step(str(step["type"]), delay, str(to["cell"]), str(to["port"]))
