"""Areas of the vector architecture's blocks, from which its designs are estimated.

``python tests/rtl/vector_areas.py`` synthesizes them and writes ``area.toml`` anew: a quarter of an
hour.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from ringsmith.backends.vector import area, rtl
from ringsmith.backends.vector.design import BARRETT, MONTGOMERY, VectorDesign
from ringsmith.hdl.areas import area_less
from ringsmith.hdl.synthesis import ULTRASCALE_PLUS, Area, synthesized, synthesized_files

KEPT = Path(area.__file__).with_name(area.MEASURED)
COMMAND = ".venv/bin/python tests/rtl/vector_areas.py"

_BOXES = ("rs_vector_unit", "rs_vector_permute")

_UNITS = {
    ("barrett", 2): (28, 32, 60),
    ("two_steps", 2): (32,),
    ("montgomery", 2): (60,),
    ("barrett", 4): (28,),
    ("two_steps", 4): (32,),
}
"""Bits of words, by the multiplier and the stages of a pass."""

_CONTROLS = {("barrett", 2): (28, 60), ("two_steps", 4): (32,)}
"""The same; the multiplier matters little."""

_NETWORKS = {(4, 2): 32, (8, 2): 32, (4, 4): 32, (8, 4): 32}
"""Bits of words, by log2 of the lanes and the stages of a pass."""

CROSSING_BITS = 256
"""Of a port."""

_NUMBERS = ("luts", "lut_pairs", "flip_flops", "absorbed_flip_flops")

_HEAD = f"""# Blocks of a cluster, synthesized by Yosys for UltraScale+; area.py says which.
# Written by `{COMMAND}`; do not edit.
"""


def sample(kind: str, log_radix: int, word_bits: int) -> VectorDesign:
    """A design of the fewest lanes with a multiplier of a kind."""
    return VectorDesign(
        f"{kind}-{log_radix}-{word_bits}",
        14 if kind == "montgomery" else 16,
        area.CONTROL_LANES,
        log_radix,
        word_bits,
        BARRETT if kind == "barrett" else MONTGOMERY,
        bank_rows=1 << 14,
        table_rows=1 << 14,
        stream_rows=1 << 13,
    )


def unit(design: VectorDesign) -> Area:
    """A unit."""
    values = rtl.unit_parameters(design)
    return synthesized("rs_vector_unit", rtl.FOLDERS, values, (), ULTRASCALE_PLUS)["rs_vector_unit"]


def network(log_lanes: int, log_radix: int, word_bits: int) -> Area:
    """A permutation network."""
    top = "rs_vector_permute"
    values = {"LogLanes": log_lanes, "LogRadix": log_radix, "Width": word_bits}
    return synthesized(top, rtl.FOLDERS, values, (), ULTRASCALE_PLUS)[top]


def control(design: VectorDesign) -> Area:
    """What a cluster has but for units, network, memories and their selectors."""
    values = rtl.parameters(design)
    found = synthesized(rtl.TOP, rtl.FOLDERS, values, (), ULTRASCALE_PLUS, boxes=_BOXES)[rtl.TOP]
    return replace(area_less(found, area.selectors(design)), brams=0)


def memory_side(log_lanes: int, ports: int) -> Area:
    """What joins a cluster to memory and host."""
    values = {"Width": area.MEMORY_BITS, "LogLanes": log_lanes, "Ports": ports, "PortBits": 256}
    return _accelerator(rtl.ACCELERATOR, values, boxes=[rtl.TOP])


def crossing() -> Area:
    """A port's way to memory's clock."""
    return _accelerator("rs_vector_crossing", {"PortBits": CROSSING_BITS})


def _accelerator(top: str, values: Mapping[str, int], boxes: Sequence[str] = ()) -> Area:
    texts = [f"{name}={value}" for name, value in values.items()]
    files = rtl.accelerator_sources()
    return synthesized_files(top, files, texts, (), ULTRASCALE_PLUS, boxes)[top]


Row = dict[str, str | int]


def measured() -> Iterator[Row]:
    """The file's entries."""
    for (kind, log_radix), widths in _UNITS.items():
        for word_bits in widths:
            design = sample(kind, log_radix, word_bits)
            assert area.arithmetic(design) == kind
            yield entry(area.UNIT, unit(design), word_bits, log_radix=log_radix, arithmetic=kind)
    for (kind, log_radix), widths in _CONTROLS.items():
        for word_bits in widths:
            found = control(sample(kind, log_radix, word_bits))
            lanes = area.CONTROL_LANES
            yield entry(area.CONTROL, found, word_bits, log_radix=log_radix, log_lanes=lanes)
    for (log_lanes, log_radix), word_bits in _NETWORKS.items():
        found = network(log_lanes, log_radix, word_bits)
        yield entry(area.NETWORK, found, word_bits, log_radix=log_radix, log_lanes=log_lanes)
    for log_lanes, ports in area.MEMORY_SAMPLES:
        found = memory_side(log_lanes, ports)
        yield entry(area.MEMORY_SIDE, found, area.MEMORY_BITS, log_lanes=log_lanes, ports=ports)
    yield entry(area.CROSSING, crossing(), CROSSING_BITS)


def entry(block: str, found: Area, word_bits: int, **others: int | str) -> Row:
    """An entry of the file."""
    numbers = {name: getattr(found, name) for name in _NUMBERS}
    return {"block": block, **others, "word_bits": word_bits, **numbers}


def text(rows: Iterable[Row]) -> str:
    """The file of such entries."""
    return _HEAD + "".join(
        "\n[[measured]]\n" + "".join(f"{name} = {_toml(value)}\n" for name, value in row.items())
        for row in rows
    )


def _toml(value: str | int) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


if __name__ == "__main__":
    KEPT.write_text(text(measured()))
    print(f"wrote {KEPT}")
