"""Yosys netlists: which modules are the same, and how many cells a hierarchy has.

A netlist is what Yosys writes with ``write_json``. Its SystemVerilog reader keeps the hierarchy and
makes a module of its own for every instance: 36 equal multipliers are synthesized 36 times.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ringsmith.caching import cached

Netlist = dict[str, Any]
Module = dict[str, Any]


def kind(module: str) -> str:
    """The SystemVerilog module that a module of the netlist was made from."""
    return module.lstrip("\\").partition("$")[0].partition(".")[0]


YOSYS_ATTRIBUTES = frozenset({"src", "hdlname", "full_case", "parallel_case", "top"})
"""Attributes that Yosys gives modules, cells and nets by itself; all others are of the sources."""


def source_attributes(entry: Mapping[str, Any]) -> dict[str, str]:
    """The attributes that the sources give a module, a cell, a net or a memory."""
    given = entry["attributes"].items()
    return {name: value for name, value in given if name not in YOSYS_ATTRIBUTES}


def without_yosys_attributes(found: Netlist) -> Netlist:
    """A netlist whose attributes are those of the sources alone."""

    def stripped(entry: Mapping[str, Any]) -> dict[str, Any]:
        return {**entry, "attributes": source_attributes(entry)}

    modules = {}
    for name, module in found["modules"].items():
        parts = {
            part: {key: stripped(entry) for key, entry in module.get(part, {}).items()}
            for part in ("cells", "memories", "netnames")
        }
        modules[name] = {**stripped(module), **parts}
    return {**found, "modules": modules}


def share_modules(netlist: Netlist, top: str) -> Netlist:
    """Merges equal modules, so that each is synthesized once.

    Modules are equal if they come from the same SystemVerilog module and have the same ports,
    memories and cells in the same order, parameters, connections and the sources' attributes
    included; names of cells and source positions do not count. The merged module is named
    ``<kind>.<number>``, and the top keeps its name.

    Args:
        netlist: A whole hierarchy, as elaborated.
        top: Its top module.

    Returns:
        The hierarchy below ``top``.
    """
    modules: Mapping[str, Module] = netlist["modules"]
    shared: dict[str, Module] = {}
    names: dict[str, str] = {}  # content -> name of the shared module
    numbers: Counter[str] = Counter()

    @cached
    def shared_name(name: str) -> str:
        module = modules[name]
        for cell in module["cells"].values():
            if cell["type"] in modules:
                cell["type"] = shared_name(cell["type"])
        content = json.dumps([kind(name), _content(module)], sort_keys=True)
        if content not in names:
            base = kind(name)
            names[content] = top if name == top else f"{base}.{numbers[base]}"
            numbers[base] += 1
            shared[names[content]] = module
        return names[content]

    shared_name(top)
    return {**netlist, "modules": shared}


def _content(module: Module) -> list[object]:
    cells = [
        [cell["type"], cell["parameters"], cell["connections"]] for cell in module["cells"].values()
    ]
    memories = [
        [name, memory["width"], memory["size"], source_attributes(memory)]
        for name, memory in module.get("memories", {}).items()
    ]
    nets = [
        [net["bits"], given]
        for net in module["netnames"].values()
        if (given := source_attributes(net))
    ]
    return [module["ports"], memories, cells, nets]


def memory_of(module: Module) -> tuple[int, int, str] | None:
    """Width, depth and RAM style of a module's only memory; None where it has none, or several."""
    memories = list(module.get("memories", {}).values())
    if len(memories) != 1:
        return None
    memory = memories[0]
    return memory["width"], memory["size"], memory["attributes"].get("ram_style", "")


def empty(module: Module) -> Module:
    """The module as a black box: ports, and nothing that synthesis would work on."""
    attributes = {**module["attributes"], "blackbox": "1"}
    return {"attributes": attributes, "ports": module["ports"], "cells": {}, "netnames": {}}


def fit_boxes(found: Netlist, boxes: Sequence[str]) -> None:
    """Gives the ports of black boxes the widths of what is connected to them.

    Yosys' reader gives them those of the parameters' defaults. Where instances differ in widths,
    each width is a module of its own.
    """
    modules: dict[str, Module] = found["modules"]
    cells = [cell for module in modules.values() for cell in module["cells"].values()]
    for box in boxes:
        ports = modules[box]["ports"]
        shapes: dict[tuple[int, ...], str] = {}
        for cell in (each for each in cells if each["type"] == box):
            widths = tuple(len(cell["connections"].get(name, ())) for name in ports)
            cell["type"] = shapes.setdefault(widths, f"{box}${len(shapes)}")
            cell["parameters"] = {}
        for widths, name in shapes.items():
            bits = {
                port: list(range(2 + sum(widths[:i]), 2 + sum(widths[: i + 1])))
                for i, port in enumerate(ports)
            }
            own = {port: {**ports[port], "bits": bits[port]} for port in ports}
            modules[name] = {**empty(modules[box]), "ports": own}
        del modules[box]


def count_cells(
    statistics: Mapping[str, Any], top: str, black_boxes: Mapping[str, Counter[str]]
) -> Counter[str]:
    """Counts the cells below a module, all its instances included.

    Args:
        statistics: What Yosys prints with ``stat -json``.
        top: The module.
        black_boxes: Name of a black box -> the cells that stand for it.

    Returns:
        Cell type -> how many.
    """
    modules = {name.lstrip("\\"): entry for name, entry in statistics["modules"].items()}

    @cached
    def count(name: str) -> Counter[str]:
        if name in black_boxes:
            return black_boxes[name]
        if name not in modules:
            return Counter({name: 1})
        total: Counter[str] = Counter()
        for cell, number in modules[name]["num_cells_by_type"].items():
            for below, cells in count(cell.lstrip("\\")).items():
                total[below] += number * cells
        return total

    return count(top)
