"""Synthesis for static timing, by Yosys for UltraScale+."""

import gzip
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from ringsmith import progress
from ringsmith.hdl import elaboration, netlist
from ringsmith.hdl.build_cache import built, fingerprint
from ringsmith.hdl.elaboration import DSP_BOXES, elaborated
from ringsmith.hdl.record import Values
from ringsmith.hdl.sources import sources_below
from ringsmith.hdl.synthesis import ULTRASCALE_PLUS, repeated_modules
from ringsmith.hdl.timing.graph import (
    BLOCK_RAM,
    BLOCK_RAM_REGISTERED,
    DSP_PAIR,
    REGISTERED_BOX,
    ULTRA_RAM,
    ULTRA_RAM_REGISTERED,
    WHOLE,
    Family,
    Wider,
    timing_graph,
)
from ringsmith.hdl.timing.report import Names, Timing, report
from ringsmith.hdl.yosys import run_yosys, yosys

_RESULT, _MAPPED = "timing.json", "mapped.json.gz"

_RAMS = {
    "block": (BLOCK_RAM, BLOCK_RAM_REGISTERED),
    "ultra": (ULTRA_RAM, ULTRA_RAM_REGISTERED),
}
"""RAM style -> kind of the black box without and with an output register."""

_OUTPUT_REGISTER = "output_q"
"""The register behind the memory in ``rs_ram_1r1w``, which a RAM has inside."""


def timed(
    top: str,
    folders: Sequence[str],
    parameters: Values,
    boxes: Sequence[str] = (),
    family: Family = Family.ULTRASCALE_PLUS,
    wider: Wider = WHOLE,
) -> Timing:
    """Synthesizes a hierarchy for UltraScale+ and times it, or finds the result in the cache.

    All of it is flattened into one netlist, but for block RAM, UltraRAM and pairs of DSP slices. A
    module that is instantiated more than once is mapped once before that, so that nothing is
    optimized across its ports.

    Args:
        top: The top module.
        folders: Folders of ``rtl/`` that it takes modules of, each before those that use it.
        parameters: Of the top module.
        boxes: Modules below it that are left out; their ports are registers.
        family: Whose delays count; the netlist is one for UltraScale+.
        wider: How much wider the device is.

    Raises:
        ToolError: If Yosys is not installed or fails; if a cell has no stated delays, or the
            netlist has a combinational loop.
    """
    files = sources_below(top, folders)
    values = [f"{name}={value}" for name, value in parameters.items()]
    here = sorted(path for path in Path(__file__).parent.iterdir() if path.is_file())
    own = [*here, Path(elaboration.__file__), Path(netlist.__file__)]

    def build(work: Path) -> None:
        netlist, kinds = _netlist(top, files, values, boxes, work)
        with progress.task(f"timing {top}"):
            module = json.loads(gzip.decompress(netlist.read_bytes()))["modules"][top]
            found = report(timing_graph(module, kinds, family, wider), Names(module, top))
        for file in work.iterdir():
            file.unlink()
        (work / _RESULT).write_text(found.text())

    chosen = [family, f"{wider.lanes} lanes, {wider.times} times", *values, *boxes]
    key = fingerprint([yosys().version, ULTRASCALE_PLUS, *chosen], [*files, *own])
    return Timing.of((built(f"timing-{top}", key, build) / _RESULT).read_text())


def _netlist(
    top: str, files: Sequence[Path], values: Sequence[str], left_out: Sequence[str], work: Path
) -> tuple[Path, dict[str, str]]:
    """The file of a hierarchy's mapped netlist, and the kinds of its black boxes."""
    shared = elaborated(top, files, values, work, boxes=left_out)
    boxes = _cut(shared, left_out)
    return _mapped(top, json.dumps(shared)), boxes


def _mapped(top: str, source: str) -> Path:
    """The file of a hierarchy's netlist of UltraScale+ cells, from the cache where it is there.

    Its key is the elaborated hierarchy alone, so that it outlives changes of delays, and of other
    modules of the same folders.

    Args:
        top: The top module.
        source: The elaborated hierarchy, as Yosys reads it.
    """

    def build(work: Path) -> None:
        (work / "shared.json").write_text(source)
        run_yosys(
            f"read_json shared.json; hierarchy -top {top}; synth_xilinx -family {ULTRASCALE_PLUS} "
            f"-flatten -noiopad -noclkbuf -top {top}; "
            "setattr -mod -unset keep_hierarchy; flatten; opt_clean -purge; write_json mapped.json",
            work,
            f"synthesizing {top}",
        )
        found = gzip.compress((work / "mapped.json").read_bytes(), compresslevel=3)
        for file in work.iterdir():
            file.unlink()
        (work / _MAPPED).write_bytes(found)

    digest = hashlib.sha256(source.encode()).hexdigest()
    key = fingerprint([yosys().version, ULTRASCALE_PLUS, digest])
    return built(f"mapped-{top}", key, build) / _MAPPED


def _cut(shared: netlist.Netlist, left_out: Sequence[str]) -> dict[str, str]:
    """Makes large memories and DSP slices black boxes, and marks modules that are mapped once.

    Returns:
        Name of the black box -> its kind.
    """
    modules: dict[str, netlist.Module] = shared["modules"]
    repeated = repeated_modules(modules)
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
            case _ if name in repeated:
                module["attributes"]["keep_hierarchy"] = "1"
                continue
            case _:
                continue
        modules[name] = netlist.empty(module)
    return boxes
