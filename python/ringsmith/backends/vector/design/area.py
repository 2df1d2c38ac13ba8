"""What a design takes of an UltraScale+ FPGA, part by part, without synthesis.

DSPs and RAMs are counted from shapes, LUTs and flip-flops of the scratchpad's selectors from their
structure. Units, network and control are those that Yosys synthesized with words of a few widths
(``area.toml``, which ``tests/rtl/vector_areas.py`` writes), and interpolated between them.
``tests/rtl/test_area.py`` compares with the synthesis of whole clusters.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from importlib import resources
from types import MappingProxyType

import numpy as np

from ringsmith.backends.vector.design import package
from ringsmith.backends.vector.design.design import BARRETT, VectorDesign
from ringsmith.backends.vector.isa.instructions import FACTOR_STREAMS, STREAMS
from ringsmith.caching import cached
from ringsmith.hdl.dsps import DspSlice, barrett_dsps, montgomery_dsps
from ringsmith.hdl.synthesis import Area, area_less, area_times, block_rams, total_area, ultra_rams

PARTS: Mapping[str, str] = MappingProxyType(
    {
        "alus": "units: ALUs, what selects their operands and results, delays of x",
        "permute_network": "no RAM: rows are exchanged 2^r at a time, in LUTs",
        "scratchpad": "banks of UltraRAM, 72 bits by 4,096 rows each; the lanes of a bank have two "
        "addresses, one for each half; and what selects operands and what is written",
        "streams": "FIFOs of load and store streams, each half as a bank's",
        "twiddle_memory": "words of all lanes, but for one of each unit, in as many memories as a "
        "pass has stages",
        "control": "sequencer, ports of memories, moduli, and what travels with a row",
    }
)
"""Parts of a cluster, and what they are."""

UNIT, NETWORK, CONTROL = "unit", "network", "control"
PORTS, CROSSING, REGISTERS = "ports", "crossing", "registers"
"""Blocks of ``area.toml``: of a cluster; then what joins one to memory, a port's way to memory's
clock, and the accelerator's registers."""

MEASURED_BITS = 32
"""Of words of the ports that were synthesized."""

MEASURED = "area.toml"
"""The file of synthesized blocks."""

NOTHING = Area(0, 0, 0, 0, 0)

CONTROL_LANES, CONTROL_RADIX = 4, 2
"""log2 of the lanes of the cluster whose control is synthesized: what is left of it; stages of a
pass of the accelerator whose registers are."""

PORT_BITS = 256
"""Of the ports that were synthesized."""


def arithmetic(design: VectorDesign) -> str:
    """Which multiplier a design has, as ``area.toml`` calls it."""
    if design.reduction == BARRETT:
        return BARRETT
    return "two_steps" if package.product_two_steps(design.cfg) else "montgomery"


def alu_dsps(design: VectorDesign) -> int:
    """DSPs of an ALU."""
    if design.reduction == BARRETT:
        return barrett_dsps(design.word_bits, DspSlice.DSP48E2)
    return montgomery_dsps(design.log_n, design.word_bits, DspSlice.DSP48E2)


def cluster_parts(design: VectorDesign) -> dict[str, Area]:
    """Area of each of ``PARTS`` of one cluster."""
    radix = design.log_radix
    units = design.lanes >> radix
    dsps = alu_dsps(design) * design.alus // design.clusters
    row = design.lanes * design.word_bits
    first = units * design.word_bits  # the factors of one stage
    factors = sum(block_rams(first << g, design.table_rows) for g in range(radix))
    streams = (STREAMS + design.results) * 2 * block_rams(row // 2, design.stream_rows)
    banks = design.banks * 2 * ultra_rams(row // 2, design.bank_rows)
    return {
        "alus": replace(area_times(_unit(design), units), dsps=dsps),
        "permute_network": _network(design),
        "scratchpad": replace(selectors(design), urams=banks),
        "streams": replace(NOTHING, brams=streams),
        "twiddle_memory": replace(NOTHING, brams=factors),
        "control": _at_width((CONTROL, radix, CONTROL_LANES), design.word_bits),
    }


def cluster_area(design: VectorDesign) -> Area:
    """Area of one cluster."""
    return total_area(cluster_parts(design).values())


def device_area(design: VectorDesign) -> Area:
    """Area of the whole accelerator."""
    clusters = area_times(cluster_area(design), design.clusters)
    return total_area([clusters, memory_ports(design)])


def memory_ports(design: VectorDesign) -> Area:
    """Area of what joins all clusters to memory and host: ports, their crossings, registers."""
    known = synthesized_blocks()
    found = [area_times(_ports(design), design.clusters)]
    found += known[REGISTERS, CONTROL_RADIX, CONTROL_LANES].values()
    if design.crossed_ports:
        [(bits, crossing)] = known[CROSSING, CONTROL_RADIX, 1].items()
        ports = design.clusters * design.ports
        found.append(area_times(crossing, ports * design.memory.port_bits / bits))
    return total_area(found)


# ---- selectors ---------------------------------------------------------------------------------


def _multiplexer(words: int) -> tuple[int, int]:
    """LUTs a bit of ``rs_mux``, and how many have two words: two of these share a site."""
    luts = halves = 0
    while words > 1:
        whole, rest = divmod(words, 4)
        luts += whole + (rest > 1)
        halves += rest == 2
        words = whole + (rest > 0)
    return luts, halves


def selectors(design: VectorDesign) -> Area:
    """What selects x, y and z of each result, and what each bank is written, of one cluster."""
    banks, results, half = design.banks, design.results, design.lanes // 2
    choices = banks + FACTOR_STREAMS + 1  # of y: four, then what was chosen and the others
    multiplexers = [
        (banks + 1, (1 + results) * 2 * half),  # x, z
        (4, results * 2 * half),
        (choices - 3, results * 2 * half),
        (results + 1, banks * half),  # what is written
        (results, banks * half),
    ]
    luts = pairs = 0
    for words, count in multiplexers:
        each, halves = _multiplexer(words)
        luts += count * each * design.word_bits
        pairs += count * halves * (design.word_bits // 2)
    registers = (1 + 2 * results + banks) * design.lanes * design.word_bits
    return replace(NOTHING, luts=luts, flip_flops=registers, lut_pairs=pairs)


# ---- synthesized blocks ------------------------------------------------------------------------


def _unit(design: VectorDesign) -> Area:
    """A unit; one of four stages has the ALUs of eight of two, and about as much around them.

    Units with Montgomery's multiplier that were not synthesized count as Barrett's, which has more
    LUTs and flip-flops: an upper bound.
    """
    radix, known = design.log_radix, synthesized_blocks()
    for kind in (arithmetic(design), BARRETT):
        for measured, times in ((radix, 1.0), (2, 8.0), (4, 1 / 8)):
            if (UNIT, kind, measured) in known:
                return area_times(_at_width((UNIT, kind, measured), design.word_bits), times)
    raise AssertionError("area.toml has no unit")


def _network(design: VectorDesign) -> Area:
    """The network: between those of the two nearest lengths of rows, lane by lane."""
    known = sorted(
        key[2] for key in synthesized_blocks() if key[0] == NETWORK and key[1] == design.log_radix
    )
    low, high = _nearest(known, design.log_lanes)
    a_lane = [
        area_times(_at_width((NETWORK, design.log_radix, each), design.word_bits), 2.0**-each * 1e6)
        for each in (low, high)
    ]
    mixed = _between(low, a_lane[0], high, a_lane[1], design.log_lanes)
    return area_times(mixed, design.lanes * 1e-6)


def _ports(design: VectorDesign) -> Area:
    """What joins a cluster to memory: a constant, a part by bits of ports, and one by a row's bits.

    Three that were synthesized say how much each is.
    """

    def sizes(ports: int, row: int) -> list[int]:
        return [1, ports, row]

    known = {
        key[1:]: area
        for key, by_width in synthesized_blocks().items()
        if key[0] == PORTS
        for bits, area in by_width.items()
        if bits == MEASURED_BITS
    }
    samples = [sizes(int(ports) * PORT_BITS, MEASURED_BITS << int(m)) for m, ports in known]
    wanted = sizes(design.ports * design.memory.port_bits, design.lanes * design.word_bits)
    weights = np.linalg.solve(np.array(samples, dtype=float).T, np.array(wanted, dtype=float))
    return total_area(
        area_times(area, float(weight))
        for area, weight in zip(known.values(), weights, strict=True)
    )


Key = tuple[str, str | int, int]
"""A block, and what it is made for but the width of its words."""


@cached
def synthesized_blocks() -> dict[Key, dict[int, Area]]:
    """Area by width of words, of each block of ``area.toml``; without DSPs."""
    text = resources.files("ringsmith.backends.vector.design").joinpath(MEASURED).read_text("utf-8")
    found: dict[Key, dict[int, Area]] = {}
    numbers = {each.name for each in fields(Area)}
    for row in tomllib.loads(text)["measured"]:
        others = ("log_radix", "log_lanes") if "log_lanes" in row else ("arithmetic", "log_radix")
        others = ("log_radix", "ports") if row["block"] == CROSSING else others
        others = ("log_lanes", "ports") if row["block"] == PORTS else others
        key = (row["block"], row[others[0]], row[others[1]])
        area = Area(**(asdict(NOTHING) | {k: v for k, v in row.items() if k in numbers}))
        found.setdefault(key, {})[row["word_bits"]] = area
    return found


def _at_width(key: Key, word_bits: int) -> Area:
    """Area of a block for words of a width; in proportion, where one width is known."""
    by_width = synthesized_blocks()[key]
    if len(by_width) == 1:
        [(known, one)] = by_width.items()
        return area_times(one, word_bits / known)
    low, high = _nearest(sorted(by_width), word_bits)
    return _between(low, by_width[low], high, by_width[high], word_bits)


def _nearest(known: list[int], wanted: int) -> tuple[int, int]:
    """The two known sizes that a wanted one lies between, or else is nearest to."""
    above = next((i for i, size in enumerate(known) if size >= wanted), len(known) - 1)
    above = max(above, 1)
    return known[above - 1], known[above]


def _between(low: int, first: Area, high: int, second: Area, wanted: int) -> Area:
    """An area of a size, on the line through those of two others."""
    share = (wanted - low) / (high - low)
    return total_area([first, area_times(area_less(second, first), share)])
