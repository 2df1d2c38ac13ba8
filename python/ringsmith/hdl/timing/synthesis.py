"""Synthesis for static timing, by Yosys for UltraScale+."""

import json
from collections.abc import Sequence
from pathlib import Path

from ringsmith import progress
from ringsmith.hdl import elaboration, netlist
from ringsmith.hdl.build_cache import built, fingerprint
from ringsmith.hdl.elaboration import DSP_BOXES, elaborated
from ringsmith.hdl.record import Values
from ringsmith.hdl.sources import rtl_sources
from ringsmith.hdl.synthesis import ULTRASCALE_PLUS
from ringsmith.hdl.timing.graph import (
    BLOCK_RAM,
    BLOCK_RAM_REGISTERED,
    DSP_PAIR,
    REGISTERED_BOX,
    ULTRA_RAM,
    ULTRA_RAM_REGISTERED,
    timing_graph,
)
from ringsmith.hdl.timing.report import Names, Timing, report
from ringsmith.hdl.yosys import run_yosys, yosys

_RESULT = "timing.json"

_RAMS = {
    "block": (BLOCK_RAM, BLOCK_RAM_REGISTERED),
    "ultra": (ULTRA_RAM, ULTRA_RAM_REGISTERED),
}
"""RAM style -> kind of the black box without and with an output register."""

_OUTPUT_REGISTER = "output_q"
"""The register behind the memory in ``rs_ram_1r1w``, which a RAM has inside."""


def timed(
    top: str, folders: Sequence[str], parameters: Values, boxes: Sequence[str] = ()
) -> Timing:
    """Synthesizes a hierarchy for UltraScale+ and times it, or finds the result in the cache.

    All of it is flattened into one netlist, but for block RAM, UltraRAM and pairs of DSP slices.

    Args:
        top: The top module.
        folders: Folders of ``rtl/`` that it is made of.
        parameters: Of the top module.
        boxes: Modules below it that are left out; their ports are registers.

    Raises:
        ToolError: If Yosys is not installed or fails; if a cell has no stated delays, or the
            netlist has a combinational loop.
    """
    files = rtl_sources(*folders)
    values = [f"{name}={value}" for name, value in parameters.items()]
    here = sorted(path for path in Path(__file__).parent.iterdir() if path.is_file())
    own = [*here, Path(elaboration.__file__), Path(netlist.__file__)]

    def build(work: Path) -> None:
        found = _time(top, files, values, boxes, work)
        for file in work.iterdir():
            file.unlink()
        (work / _RESULT).write_text(found.text())

    key = fingerprint([yosys().version, ULTRASCALE_PLUS, *values, *boxes], [*files, *own])
    return Timing.of((built(f"timing-{top}", key, build) / _RESULT).read_text())


def _time(
    top: str, files: Sequence[Path], values: Sequence[str], left_out: Sequence[str], work: Path
) -> Timing:
    shared = elaborated(top, files, values, work, boxes=left_out)
    boxes = _cut(shared, left_out)
    (work / "shared.json").write_text(json.dumps(shared))
    run_yosys(
        f"read_json shared.json; hierarchy -top {top}; synth_xilinx -family {ULTRASCALE_PLUS} "
        f"-flatten -noiopad -noclkbuf -top {top}; write_json mapped.json",
        work,
        f"synthesizing {top}",
    )
    with progress.task(f"timing {top}"):
        module = json.loads((work / "mapped.json").read_text())["modules"][top]
        return report(timing_graph(module, boxes), Names(module, top))


def _cut(shared: netlist.Netlist, left_out: Sequence[str]) -> dict[str, str]:
    """Makes large memories and DSP slices black boxes; returns the kinds of all that there are."""
    modules: dict[str, netlist.Module] = shared["modules"]
    boxes: dict[str, str] = {}
    for name, module in modules.items():
        match netlist.memory_of(module):
            case (_, _, ("block" | "ultra") as style):
                registered = any(net.endswith(_OUTPUT_REGISTER) for net in module["netnames"])
                boxes[name] = _RAMS[style][registered]
            case _ if netlist.kind(name) in DSP_BOXES:
                boxes[name] = DSP_PAIR
            case _ if netlist.kind(name) in left_out:
                boxes[name] = REGISTERED_BOX
            case _:
                continue
        modules[name] = netlist.empty(module)
    return boxes
