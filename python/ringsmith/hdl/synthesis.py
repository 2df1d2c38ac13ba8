"""Area of a hierarchy of RTL by Yosys, for Xilinx's families.

A distinct module that is instantiated more than once is synthesized once and counted as often as it
is there; any other, but for multiplexers of four, is flattened into the one that uses it. Block and
UltraRAM are not mapped but computed from their shapes, the rest is inferred. Known to differ from a
vendor's tool: Yosys packs no registers into DSPs and memories, and no two LUTs into one, so it
counts flip-flops and LUTs too high (:mod:`ringsmith.hdl.packing` counts how many of them would go);
nothing is optimized across separately counted modules; and without place and route there is no
clock rate.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from ringsmith.hdl import netlist, packing
from ringsmith.hdl.build_cache import built, fingerprint
from ringsmith.hdl.elaboration import DSP_BOXES, elaborated
from ringsmith.hdl.record import Values
from ringsmith.hdl.sources import rtl_sources
from ringsmith.hdl.yosys import run_yosys, yosys

ULTRASCALE_PLUS = "xcup"
SERIES_7 = "xc7"
"""Families, by Yosys' name."""

_ARITHMETIC_UNITS = ("rs_mod_mul", "rs_mod_addsub", "rs_mod_halve")
"""Of ``rtl/arith``; what they are made of is flattened into them, or into what uses it."""

_SHIFT_REGISTERS = ("rs_delay", "rs_stream_marker")
"""Flattened into what uses them, however often."""

_MULTIPLEXERS = ("rs_mux_four",)
"""Always synthesized separately: otherwise Yosys uses more LUTs for several instances."""

# LUTs of cells that are made of them (UG953, UG974); a LUT of any inputs is one.
_LUTS_OF_CELL = {
    "SRL16E": 1,
    "SRLC32E": 1,
    "RAM32X1D": 2,
    "RAM64X1D": 2,
    "RAM128X1D": 4,
    "RAM256X1D": 8,
    "RAM32M": 4,
    "RAM64M": 4,
    "RAM32M16": 8,
    "RAM64M8": 8,
    "RAM32X16DR8": 8,
    "RAM64X8SW": 8,
}
_DSPS = ("DSP48E1", "DSP48E2")
_FLIP_FLOPS = ("FDRE", "FDSE", "FDCE", "FDPE")

_URAM_WORDS, _URAM_BITS = 4096, 72


@dataclass(frozen=True)
class Area:
    """Resources of an FPGA.

    Attributes:
        dsps: DSP slices.
        brams: Block RAMs of 36 Kbit; half of one is 18 Kbit.
        urams: UltraRAMs of 288 Kbit.
        luts: LUTs, those that are shift registers or memory included.
        flip_flops: Flip-flops.
        lut_pairs: Pairs of those LUTs that share a LUT site of six inputs and two outputs.
        absorbed_flip_flops: Those flip-flops that are output registers of RAMs and DSPs.
    """

    dsps: int
    brams: float
    urams: int
    luts: int
    flip_flops: int
    lut_pairs: int = 0
    absorbed_flip_flops: int = 0

    @property
    def lut_sites(self) -> int:
        """LUT sites: two LUTs that share one count once."""
        return self.luts - self.lut_pairs

    @property
    def fabric_flip_flops(self) -> int:
        """Flip-flops outside RAMs and DSPs."""
        return self.flip_flops - self.absorbed_flip_flops


def ultra_rams(width: int, depth: int) -> int:
    """UltraRAMs of a memory with one write and one read port."""
    return -(-depth // _URAM_WORDS) * -(-width // _URAM_BITS)


def synthesized(
    top: str,
    folders: Sequence[str],
    parameters: Values,
    parts: Sequence[str],
    family: str,
    boxes: Sequence[str] = (),
    *,
    counted: bool = True,
) -> dict[str, Area]:
    """Synthesizes a hierarchy, or finds the result in the cache.

    Args:
        top: The top module.
        folders: Folders of ``rtl/`` that it is made of.
        parameters: Of the top module.
        parts: Modules below it whose area is reported too, including everything below them.
        family: ``ULTRASCALE_PLUS`` or ``SERIES_7``.
        boxes: Modules that are left out, with all below them.
        counted: Whether modules of ``DSP_BOXES`` count as their slices; otherwise Yosys maps them,
            and their registers and adders are flip-flops and LUTs.

    Returns:
        Area by module: the top and those of ``parts`` that there are, one instance of each, the
        first where instances differ.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    values = [f"{name}={value}" for name, value in parameters.items()]
    sources = rtl_sources(*folders)
    return synthesized_files(top, sources, values, parts, family, boxes, counted=counted)


def synthesized_files(
    top: str,
    files: Sequence[Path],
    values: Sequence[str],
    parts: Sequence[str],
    family: str,
    boxes: Sequence[str] = (),
    *,
    counted: bool = True,
) -> dict[str, Area]:
    """The same of files, each before those that use it, and ``Name=value`` of parameters."""
    properties = [yosys().version, family, *parts, *values, *(f"without {box}" for box in boxes)]
    properties += [] if counted else ["mapped DSPs"]
    own = [Path(__file__).with_name(f"{name}.py") for name in ("elaboration", "netlist", "packing")]
    own.append(Path(__file__))

    def build(work: Path) -> None:
        areas = _synthesize(top, files, values, parts, family, boxes, work, counted=counted)
        text = json.dumps({name: asdict(area) for name, area in areas.items()})
        (work / "area.json").write_text(text)
        for file in work.iterdir():
            if file.name != "area.json":
                file.unlink()

    folder = built(f"area-{top}", fingerprint(properties, [*files, *own]), build)
    areas = json.loads((folder / "area.json").read_text())
    return {name: Area(**area) for name, area in areas.items()}


def _synthesize(
    top: str,
    files: Sequence[Path],
    values: Sequence[str],
    parts: Sequence[str],
    family: str,
    boxes: Sequence[str],
    work: Path,
    *,
    counted: bool,
) -> dict[str, Area]:
    shared = elaborated(top, files, values, work, boxes=boxes)
    memories = _cut(shared, parts, DSP_BOXES if counted else {})
    (work / "shared.json").write_text(json.dumps(shared))
    run_yosys(
        f"read_json shared.json; hierarchy -top {top}; "
        f"synth_xilinx -family {family} -flatten -noiopad -top {top}; "
        "tee -q -o statistics.json stat -json; write_json mapped.json",
        work,
        f"synthesizing {top}",
    )
    statistics = json.loads((work / "statistics.json").read_text())
    mapped = json.loads((work / "mapped.json").read_text())["modules"]
    rams = packing.with_wrappers(mapped, memories)
    for name, entry in statistics["modules"].items():
        module = mapped[name.lstrip("\\")]
        entry["num_cells_by_type"].update(packing.packed(module, rams))
    modules = {name: f"{name}.0" for name in parts if f"{name}.0" in shared["modules"]}
    return {
        name: _sum(netlist.count_cells(statistics, module, memories))
        for name, module in {top: top, **modules}.items()
    }


def _cut(
    shared: netlist.Netlist, parts: Sequence[str], slices: Mapping[str, int]
) -> dict[str, Counter[str]]:
    """Marks separately synthesized modules; makes large memories and ``slices`` black boxes.

    Separate are ``parts``, multiplexers of four, and modules instantiated more than once. Yosys'
    technology mapping takes most of a second for each such module, however small it is: most of
    the time of a hierarchy that keeps all of its modules.

    Returns:
        Name of the black box -> its RAMs or slices.
    """
    memories: dict[str, Counter[str]] = {}
    modules: dict[str, netlist.Module] = shared["modules"]
    repeated = repeated_modules(modules)
    for name, module in modules.items():
        match netlist.memory_of(module):
            case (width, depth, "block"):
                memories[name] = Counter({"RAMB18": round(2 * block_rams(width, depth))})
                modules[name] = netlist.empty(module)
            case (width, depth, "ultra"):
                memories[name] = Counter({"URAM288": ultra_rams(width, depth)})
                modules[name] = netlist.empty(module)
            case _ if netlist.kind(name) in slices:
                memories[name] = Counter({"DSP48E2": slices[netlist.kind(name)]})
                modules[name] = netlist.empty(module)
            case _ if netlist.kind(name) in (*parts, *_MULTIPLEXERS) or name in repeated:
                module["attributes"]["keep_hierarchy"] = "1"
    return memories


def repeated_modules(modules: Mapping[str, netlist.Module]) -> set[str]:
    """The modules that are synthesized once for all their instances: arithmetic as whole units."""
    flattened = {file.stem for file in rtl_sources("arith")} - set(_ARITHMETIC_UNITS)
    flattened |= set(_SHIFT_REGISTERS)
    uses = Counter(cell["type"] for module in modules.values() for cell in module["cells"].values())
    return {name for name in modules if uses[name] > 1 and netlist.kind(name) not in flattened}


def _sum(cells: Counter[str]) -> Area:
    luts = sum(cells[f"LUT{inputs}"] for inputs in range(1, 7))
    small = sum(cells[cell] for cell in ("RAMB18", "RAMB18E1", "RAMB18E2"))
    return Area(
        dsps=sum(cells[cell] for cell in _DSPS),
        brams=small / 2 + cells["RAMB36E1"] + cells["RAMB36E2"],
        urams=cells["URAM288"],
        luts=luts + sum(number * cells[cell] for cell, number in _LUTS_OF_CELL.items()),
        flip_flops=sum(cells[cell] for cell in _FLIP_FLOPS),
        lut_pairs=cells[packing.LUT_PAIR],
        absorbed_flip_flops=cells[packing.ABSORBED],
    )


_RAMB18_SHAPES = ((512, 36), (1024, 18), (2048, 9), (4096, 4), (8192, 2), (16384, 1))
"""One write and one read port of a block RAM of 18 Kbit: words and their bits."""


def block_rams(width: int, depth: int) -> float:
    """Block RAMs of 36 Kbit of a memory with one write and one read port."""
    return min(-(-depth // words) * -(-width // bits) for words, bits in _RAMB18_SHAPES) / 2


# ---- Arithmetic of areas: sums, differences, multiples -------------------------------------------


_NUMBERS = tuple(each.name for each in fields(Area))


def total_area(areas: Iterable[Area]) -> Area:
    """The sum of areas."""
    numbers = [asdict(area) for area in areas]
    return Area(**{name: sum(each[name] for each in numbers) for name in _NUMBERS})


def area_less(area: Area, *parts: Area) -> Area:
    """An area without those of its parts."""
    whole, less = asdict(area), asdict(total_area(parts))
    return Area(**{name: whole[name] - less[name] for name in _NUMBERS})


def area_times(area: Area, factor: float) -> Area:
    """An area a number of times, rounded: BRAMs to halves."""
    rounded = {name: round(value * factor) for name, value in asdict(area).items()}
    return Area(**{**rounded, "brams": round(2 * area.brams * factor) / 2})
