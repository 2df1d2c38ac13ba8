"""Area of one RPAU of a design on UltraScale+, by Yosys.

Every distinct module is synthesized once and counted as often as it is instantiated. Block and
UltraRAM are not mapped but computed from their shapes, the rest is inferred. Known to differ from a
vendor's tool: Yosys packs no registers into DSPs and memories, and no two LUTs into one, so
it counts flip-flops and LUTs too high; nothing is optimized across the modules that are counted
apart; and without place and route there is no clock rate.
"""

import json
import shutil
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from ringsmith.arch.rpau import rtl
from ringsmith.arch.rpau.cost import interconnect_hops
from ringsmith.arch.rpau.design import RpauDesign
from ringsmith.debug import netlist
from ringsmith.devices.build_cache import built, fingerprint
from ringsmith.devices.sources import rtl_sources
from ringsmith.devices.yosys import run_yosys, yosys

UNIT = "rs_rpau"

PARTS = (
    "rs_rpau_main",
    "rs_butterfly_lanes",
    "rs_rpau_dyadic",
    "rs_rpau_seeded",
    "rs_rpau_work_memory",
    "rs_rpau_key_store",
    "rs_mod_mul",
)
"""Modules of an RPAU whose own area is told, everything below them included."""

_OF_THE_DEVICE = ("Rpaus", "ProgramWords", "Interconnect")
"""Parameters of the accelerator that an RPAU does not have."""

_ARITHMETIC_UNITS = ("rs_mod_mul", "rs_mod_addsub", "rs_mod_halve")
"""Of ``rtl/arith``; what they are made of is flattened into them."""

# LUTs of UltraScale+ cells that are made of them (UG974); a LUT of any inputs is one.
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
_FLIP_FLOPS = ("FDRE", "FDSE", "FDCE", "FDPE")

# One write and one read port of a RAMB18E2: words and their bits (UG573). A RAMB36E2 is two.
_RAMB18_SHAPES = ((512, 36), (1024, 18), (2048, 9), (4096, 4), (8192, 2), (16384, 1))
_URAM_WORDS, _URAM_BITS = 4096, 72


@dataclass(frozen=True)
class Area:
    """Resources of UltraScale+.

    Attributes:
        dsps: DSP48E2 slices.
        brams: Block RAMs of 36 Kbit; half of one is 18 Kbit.
        urams: UltraRAMs of 288 Kbit.
        luts: Six-input LUTs, those that are shift registers or memory included.
        flip_flops: Flip-flops.
    """

    dsps: int
    brams: float
    urams: int
    luts: int
    flip_flops: int


def block_rams(width: int, depth: int) -> float:
    """Block RAMs of 36 Kbit of a memory with one write and one read port."""
    return min(-(-depth // words) * -(-width // bits) for words, bits in _RAMB18_SHAPES) / 2


def ultra_rams(width: int, depth: int) -> int:
    """UltraRAMs of a memory with one write and one read port."""
    return -(-depth // _URAM_WORDS) * -(-width // _URAM_BITS)


def rpau_area(design: RpauDesign) -> Area:
    """Area of one RPAU; see ``rpau_areas``."""
    return rpau_areas(design)[UNIT]


def rpau_areas(design: RpauDesign) -> dict[str, Area]:
    """Synthesizes one RPAU of a design, or finds the result in the cache.

    Takes minutes of processor time, nearly four for ``nano``.

    Returns:
        Area by module: ``UNIT`` and those of ``PARTS`` that the design has, one instance of each.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    files = rtl_sources(*rtl.ROOMS)
    values = _parameters(design)
    facts = [yosys().version, *(f"{name}={value}" for name, value in values.items())]
    own = [Path(__file__), Path(netlist.__file__)]

    def build(work: Path) -> None:
        areas = _synthesize(files, values, work)
        text = json.dumps({name: asdict(area) for name, area in areas.items()})
        (work / "area.json").write_text(text)
        for file in work.iterdir():
            if file.name != "area.json":
                file.unlink()

    folder = built(f"area-{UNIT}", fingerprint(facts, [*files, *own]), build)
    areas = json.loads((folder / "area.json").read_text())
    return {name: Area(**area) for name, area in areas.items()}


def _parameters(design: RpauDesign) -> dict[str, int]:
    device = rtl.parameters(design)
    unit = {name: value for name, value in device.items() if name not in _OF_THE_DEVICE}
    return {**unit, "Hops": interconnect_hops(design)}


def _synthesize(files: list[Path], parameters: Mapping[str, int], work: Path) -> dict[str, Area]:
    for file in files:
        shutil.copy(file, work)
    names = " ".join(file.name for file in files)
    values = " ".join(f"-G {name}={value}" for name, value in parameters.items())
    # Arrays are registers unless they name a RAM style: Yosys would make each a memory of a port a
    # word, and take hours to map that.
    run_yosys(
        f"read_slang --threads 1 --keep-hierarchy --no-implicit-memories --top {UNIT} {values} "
        f"{names}; chformal -remove; write_json elaborated.json",
        work,
    )
    shared = netlist.share_modules(json.loads((work / "elaborated.json").read_text()), UNIT)
    memories = _cut(shared)
    (work / "shared.json").write_text(json.dumps(shared))
    run_yosys(
        f"read_json shared.json; hierarchy -top {UNIT}; "
        f"synth_xilinx -family xcup -flatten -noiopad -top {UNIT}; "
        "tee -q -o statistics.json stat -json",
        work,
    )
    statistics = json.loads((work / "statistics.json").read_text())
    modules = {name: f"{name}.0" for name in PARTS if f"{name}.0" in shared["modules"]}
    return {
        name: _sum(netlist.count_cells(statistics, module, memories))
        for name, module in {UNIT: UNIT, **modules}.items()
    }


def _cut(shared: netlist.Netlist) -> dict[str, Counter[str]]:
    """Marks what is synthesized apart, and makes large memories black boxes.

    Returns:
        Name of the black box -> its RAMs.
    """
    flattened = {file.stem for file in rtl_sources("arith")} - set(_ARITHMETIC_UNITS)
    memories: dict[str, Counter[str]] = {}
    modules: dict[str, netlist.Module] = shared["modules"]
    for name, module in modules.items():
        match netlist.memory_of(module):
            case (width, depth, "block"):
                memories[name] = Counter({"RAMB18E2": round(2 * block_rams(width, depth))})
                modules[name] = netlist.empty(module)
            case (width, depth, "ultra"):
                memories[name] = Counter({"URAM288": ultra_rams(width, depth)})
                modules[name] = netlist.empty(module)
            case _ if netlist.kind(name) not in flattened:
                module["attributes"]["keep_hierarchy"] = "1"
    return memories


def _sum(cells: Counter[str]) -> Area:
    luts = sum(cells[f"LUT{inputs}"] for inputs in range(1, 7))
    return Area(
        dsps=cells["DSP48E2"],
        brams=cells["RAMB18E2"] / 2 + cells["RAMB36E2"],
        urams=cells["URAM288"],
        luts=luts + sum(number * cells[cell] for cell, number in _LUTS_OF_CELL.items()),
        flip_flops=sum(cells[cell] for cell in _FLIP_FLOPS),
    )
