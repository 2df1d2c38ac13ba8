"""Paths between clocks of a hierarchy, as Yosys elaborates it, and constraints that limit them."""

import json
import re
import shutil
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ringsmith.hdl.netlist import kind
from ringsmith.hdl.yosys import run_yosys

_WORD = re.compile(r"\$driver\$([\w.\[\]]+?)(\[[\d:]+\])?$")
_CLOCKED = {"$dff", "$dffe", "$sdff", "$sdffe", "$sdffce", "$adff", "$adffe"}
_LIMIT = re.compile(r"^set_(max_delay|bus_skew) (.*)$", re.M)
_END = re.compile(r"-(from|to) (?:\[get_cells (?:-quiet )?\{([^}]*)\}\]|(\$\w+))")


@dataclass(frozen=True)
class Crossing:
    """A path from a register, or a memory, of one clock to a register of another.

    Attributes:
        source: Its path in the hierarchy.
        target: That of the register that it ends in.
    """

    source: str
    target: str


@dataclass(frozen=True)
class Hierarchy:
    """A hierarchy.

    Attributes:
        instances: Path of an instance -> its module.
        registers: Paths of registers and memories.
        crossings: Paths between clocks.
    """

    instances: dict[str, str]
    registers: frozenset[str]
    crossings: frozenset[Crossing]


@dataclass(frozen=True)
class Limit:
    """A constraint of paths, in an instance: patterns of registers, or None for a clock's all."""

    skew: bool
    sources: tuple[str, ...] | None
    targets: tuple[str, ...] | None

    def covers(self, instance: str, path: Crossing) -> bool:
        """Whether it limits a path, in an instance."""
        return _named(self.sources, instance, path.source) and _named(
            self.targets, instance, path.target
        )


def elaborate(
    top: str,
    files: Sequence[Path],
    work: Path,
    passes: str,
    boxes: Sequence[str] = (),
    values: str = "",
) -> dict[str, Any]:
    """A hierarchy as a flat module of Yosys; modules that are boxes are left out."""
    for file in files:
        shutil.copy(file, work)
    chosen = " ".join(f"--blackboxed-module {box}" for box in boxes)
    names = " ".join(file.name for file in files)
    run_yosys(
        f"read_slang --threads 1 --no-implicit-memories --keep-hierarchy {chosen} {values} "
        f"--top {top} {names}; chformal -remove; proc; flatten; opt_clean; {passes}; "
        "write_json flat.json",
        work,
    )
    module: dict[str, Any] = json.loads((work / "flat.json").read_text())["modules"][top]
    return module


def hierarchy(
    top: str, files: Sequence[Path], work: Path, boxes: Sequence[str] = (), values: str = ""
) -> Hierarchy:
    """Elaborates a hierarchy with Yosys; boxes are modules that count as registers of ``clk_i``."""
    return _Reader(elaborate(top, files, work, "memory_collect", boxes, values), boxes).found()


def limits(file: Path) -> list[Limit]:
    """The constraints of a file of ``rtl/``."""
    found = []
    for what, words in _LIMIT.findall(file.read_text()):
        ends = {
            end: tuple(names.split()) if names else None for end, names, _ in _END.findall(words)
        }
        found.append(Limit(what == "bus_skew", ends["from"], ends["to"]))
    return found


def _named(patterns: tuple[str, ...] | None, instance: str, register: str) -> bool:
    """Whether patterns of Vivado's cells name a register of an instance."""
    if patterns is None:
        return True
    return any(is_register(f"{instance}{register_of(each)}", register) for each in patterns)


def is_register(name: str, register: str) -> bool:
    """Whether a name is that of a register, or of the struct that it is a field of."""
    return register == name or register.startswith(f"{name}.")


def register_of(pattern: str) -> str:
    """The register that a pattern of Vivado's cells means, by its path in the module."""
    return re.sub(r"_reg(\[\*\]|\*)*$", "", pattern).replace("/", ".")


class _Reader:
    """Reads a flat module of Yosys."""

    def __init__(self, module: dict[str, Any], boxes: Sequence[str]) -> None:
        self._cells: dict[str, Any] = module["cells"]
        self._boxes = boxes
        self._driver: dict[int, str] = {}
        self._clock_of: dict[str, int] = {}
        for name, cell in self._cells.items():
            for port, bits in cell["connections"].items():
                if cell["port_directions"].get(port) == "output":
                    self._driver |= {bit: name for bit in bits if isinstance(bit, int)}

    def found(self) -> Hierarchy:
        instances = {
            name: kind(cell["attributes"]["module"])
            for name, cell in self._cells.items()
            if cell["type"] == "$scopeinfo" and "module" in cell["attributes"]
        }
        registers = {self._path(name) for name in self._cells if self._clock(name) is not None}
        return Hierarchy(instances, frozenset(registers), frozenset(self._crossings()))

    def _crossings(self) -> Iterator[Crossing]:
        for name in self._cells:
            clock = self._clock(name)
            if clock is not None and not self._is_memory(name):
                for source in self._sources(name):
                    if self._clock(source) != clock:
                        yield Crossing(self._path(source), self._path(name))

    def _sources(self, name: str) -> set[str]:
        """The registers and memories that a register's inputs come from."""
        todo, seen, found = self._inputs(name), set[str](), set[str]()
        while todo:
            cell = todo.pop()
            if cell in seen:
                continue
            seen.add(cell)
            if self._clock(cell) is not None:
                found.add(cell)
            else:
                todo |= self._inputs(cell)
        return found

    def _inputs(self, name: str) -> set[str]:
        cell = self._cells[name]
        return {
            self._driver[bit]
            for port, bits in cell["connections"].items()
            if cell["port_directions"].get(port) == "input" and "CLK" not in port
            for bit in bits
            if bit in self._driver
        }

    def _clock(self, name: str) -> int | None:
        """The bit of a register's or memory's clock; None for what is combinational."""
        cell = self._cells[name]
        if cell["type"] in _CLOCKED:
            return int(cell["connections"]["CLK"][0])
        if self._is_memory(name):
            return int(cell["connections"]["WR_CLK"][0]) if cell["connections"]["WR_CLK"] else None
        if kind(cell["type"]) in self._boxes:
            return int(cell["connections"]["clk_i"][0])
        return None

    def _is_memory(self, name: str) -> bool:
        return str(self._cells[name]["type"]).startswith("$mem")

    @staticmethod
    def _path(name: str) -> str:
        path = name.removeprefix("$flatten").replace("\\", "")
        word = _WORD.search(path)
        return path[: word.start()] + word[1] if word else path


def by_module(found: Hierarchy) -> dict[str, list[str]]:
    """Instances of each module."""
    modules = defaultdict(list)
    for path, module in found.instances.items():
        modules[module].append(path)
    return dict(modules)
