"""What a vendor's tool packs and Yosys does not: LUTs that share a site, RAMs' and DSPs' registers.

Of a module of a netlist that is mapped to Xilinx's cells. A LUT site of UltraScale+ has six inputs
and two outputs (UG574): it holds two functions of five inputs together, or two shift registers of
16 bits with one length. Pairs are chosen greedily and share at least one input, so that they would
lie near each other anyway. LUTs that drive a carry chain or a wide multiplexer are left alone. No
tool has placed these pairs: it is a count of what is possible.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import Any

Module = Mapping[str, Any]
Bit = int | str

LUT_PAIR = "LUT_PAIR"
"""The name that ``packed`` counts pairs by: each is a LUT site less."""

ABSORBED = "FF_ABSORBED"
"""The name that ``packed`` counts flip-flops by that are a RAM's or a DSP's."""

_SITE_INPUTS = 5
"""Inputs that two functions of a site have together."""

_SMALL_LUTS = tuple(f"LUT{inputs}" for inputs in range(1, _SITE_INPUTS + 1))
_SHIFT_REGISTER = "SRL16E"
_NEED_ALL_OF_A_LUT = ("CARRY", "MUXF")
_FLIP_FLOPS = ("FDRE", "FDCE")
_DSPS = ("DSP48E1", "DSP48E2")
_MOST_LOADS = 256
"""Nets of more loads are no reason to put two LUTs together."""


def packed(module: Module, memories: Collection[str]) -> Counter[str]:
    """Counts ``LUT_PAIR`` and ``ABSORBED`` of a module's own cells.

    Args:
        module: The module, mapped.
        memories: Types of its cells that are black boxes of RAMs.
    """
    cells = list(module["cells"].values())
    return Counter(
        {
            LUT_PAIR: _lut_pairs(cells) + _shift_register_pairs(cells),
            ABSORBED: _absorbed(module, cells, memories),
        }
    )


def with_wrappers(modules: Mapping[str, Module], memories: Collection[str]) -> set[str]:
    """Names of RAMs and of the modules whose outputs are those of RAMs, with no logic between."""
    found = set(memories)
    while True:
        more = {
            name
            for name, module in modules.items()
            if name not in found and module["cells"] and _outputs(module) <= _driven(module, found)
        }
        if not more:
            return found
        found |= more


def _outputs(module: Module) -> set[Bit]:
    """What a module's outputs are, constants left out."""
    return {
        bit
        for port in module["ports"].values()
        if port["direction"] == "output"
        for bit in port["bits"]
        if not isinstance(bit, str)
    }


def _driven(module: Module, kinds: Collection[str]) -> set[Bit]:
    """What those cells of a module drive that are of some kinds."""
    return {
        bit
        for cell in module["cells"].values()
        if cell["type"] in kinds
        for port, bit in _nets(cell)
        if cell["port_directions"].get(port) == "output"
    }


def _nets(cell: Mapping[str, Any]) -> Iterator[tuple[str, Bit]]:
    """Ports of a cell and their bits, without constants."""
    for port, bits in cell["connections"].items():
        for bit in bits:
            if not isinstance(bit, str):
                yield port, bit


def _lut_pairs(cells: list[Mapping[str, Any]]) -> int:
    bound = {
        bit
        for cell in cells
        if cell["type"].startswith(_NEED_ALL_OF_A_LUT)
        for _, bit in _nets(cell)
    }
    inputs: list[frozenset[Bit]] = []
    for cell in cells:
        if cell["type"] in _SMALL_LUTS and cell["connections"]["O"][0] not in bound:
            inputs.append(frozenset(bit for port, bit in _nets(cell) if port != "O"))
    inputs.sort(key=len, reverse=True)  # those that fewest fit come first
    users: dict[Bit, list[int]] = defaultdict(list)
    for number, bits in enumerate(inputs):
        for bit in bits:
            users[bit].append(number)
    alone = [True] * len(inputs)
    pairs = 0
    for number, bits in enumerate(inputs):
        if not alone[number]:
            continue
        alone[number] = False
        best = min(
            (
                (len(bits | inputs[other]), other)
                for bit in bits
                if len(users[bit]) <= _MOST_LOADS
                for other in users[bit]
                if alone[other]
            ),
            default=(_SITE_INPUTS + 1, 0),
        )
        if best[0] <= _SITE_INPUTS:
            alone[best[1]] = False
            pairs += 1
    return pairs


def _shift_register_pairs(cells: list[Mapping[str, Any]]) -> int:
    """Shift registers of one length, clock and enable, two a site."""
    alike = Counter(
        tuple(str(cell["connections"][port]) for port in ("A0", "A1", "A2", "A3", "CLK", "CE"))
        for cell in cells
        if cell["type"] == _SHIFT_REGISTER
    )
    return sum(number // 2 for number in alike.values())


def _absorbed(module: Module, cells: list[Mapping[str, Any]], memories: Collection[str]) -> int:
    """Flip-flops that are all that a RAM or a DSP drives: its output register."""
    loads = Counter(
        bit
        for cell in cells
        for port, bit in _nets(cell)
        if cell["port_directions"].get(port) == "input"
    )
    loads.update(_outputs(module))
    registered = {cell["connections"]["D"][0] for cell in cells if cell["type"] in _FLIP_FLOPS}
    total = 0
    for cell in cells:
        if cell["type"] in memories or cell["type"] in _DSPS:
            driven = {
                bit
                for port, bit in _nets(cell)
                if cell["port_directions"].get(port) == "output" and loads[bit] > 0
            }
            if all(loads[bit] == 1 and bit in registered for bit in driven):
                total += len(driven)
    return total
