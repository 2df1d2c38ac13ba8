"""Areas of the vector architecture's blocks, from which its designs are estimated.

``python tests/rtl/vector_areas.py`` synthesizes them and writes ``area.toml`` anew: a quarter of an
hour.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from ringsmith.backends.vector.design import area, rtl
from ringsmith.backends.vector.design.design import BARRETT, MONTGOMERY, VectorDesign
from ringsmith.hdl.synthesis import ULTRASCALE_PLUS, Area, area_less, synthesized, synthesized_files

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

_PORTS = ((4, 2), (4, 1), (6, 8))
"""log2 of the lanes and ports of clusters whose ports to memory are synthesized."""

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
    values = rtl.parameters(design)
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


def ports(log_lanes: int, count: int) -> Area:
    """What joins a cluster to memory."""
    own = rtl.configuration(_joined(log_lanes, count))
    return _of_accelerator("rs_vector_cluster", (f"Cfg={own}",), (rtl.TOP,))


def crossing() -> Area:
    """A port's way to memory's clock, with the bus of ``rs_vector_pkg::DefaultCfg``."""
    return _of_accelerator("rs_vector_crossing", (), ())


def registers() -> Area:
    """An accelerator's registers."""
    own = rtl.configuration(_joined(log_lanes=4, count=2))
    return _of_accelerator("rs_vector_control", (f"Cfg={own}",), ())


def _joined(log_lanes: int, count: int) -> VectorDesign:
    """A design of few rows with some ports to memory."""
    return VectorDesign(
        "ports", 12, log_lanes, 2, area.MEASURED_BITS, bank_rows=1024, table_rows=1024, ports=count
    )


def _of_accelerator(top: str, values: tuple[str, ...], boxes: tuple[str, ...]) -> Area:
    files = rtl.accelerator_sources()
    return synthesized_files(top, files, values, (), ULTRASCALE_PLUS, boxes=boxes)[top]


Row = dict[str, str | int]


def measured() -> Iterator[Row]:
    """The file's entries."""
    for (kind, log_radix), widths in _UNITS.items():
        for word_bits in widths:
            design = sample(kind, log_radix, word_bits)
            assert area.arithmetic(design) == kind
            yield entry(area.UNIT, unit(design), word_bits, log_radix, arithmetic=kind)
    for (kind, log_radix), widths in _CONTROLS.items():
        for word_bits in widths:
            found = control(sample(kind, log_radix, word_bits))
            lanes = area.CONTROL_LANES
            yield entry(area.CONTROL, found, word_bits, log_radix, log_lanes=lanes)
    for (log_lanes, log_radix), word_bits in _NETWORKS.items():
        found = network(log_lanes, log_radix, word_bits)
        yield entry(area.NETWORK, found, word_bits, log_radix, log_lanes=log_lanes)
    bits, radix = area.MEASURED_BITS, area.CONTROL_RADIX
    for log_lanes, count in _PORTS:
        found = ports(log_lanes, count)
        yield entry(area.PORTS, found, bits, radix, log_lanes=log_lanes, ports=count)
    yield entry(area.CROSSING, crossing(), area.PORT_BITS, radix, ports=1)
    lanes = area.CONTROL_LANES
    yield entry(area.REGISTERS, registers(), bits, radix, log_lanes=lanes)


def entry(block: str, found: Area, word_bits: int, log_radix: int, **others: int | str) -> Row:
    """An entry of the file."""
    numbers = {name: getattr(found, name) for name in _NUMBERS}
    return {"block": block, "log_radix": log_radix, **others, "word_bits": word_bits, **numbers}


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
