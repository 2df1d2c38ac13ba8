"""RTL as a hierarchy of modules, elaborated by Yosys: the first step of area and of timing."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from ringsmith.hdl import netlist
from ringsmith.hdl.yosys import run_yosys

DSP_BOXES: Mapping[str, int] = MappingProxyType(
    {"rs_mul_add_pair": 2, "rs_mul_add": 1, "rs_mul_accumulate": 1, "rs_mul_cascade_slice": 1}
)
"""Black boxes of this many DSP slices, whose registers and adders they are: Yosys packs none for
UltraScale+. ``tests/rtl/test_area.py`` sees it on 7 series, where it does."""


def elaborated(
    top: str,
    files: Sequence[Path],
    values: Sequence[str],
    work: Path,
    macros: Sequence[str] = (),
    boxes: Sequence[str] = (),
) -> netlist.Netlist:
    """Elaborates a hierarchy, and makes one module of equal ones.

    Args:
        top: The top module.
        files: The sources, each before those that use it.
        values: ``Name=value`` of the top's parameters.
        work: A folder to work in; the sources are copied to it.
        macros: What the sources are read with.
        boxes: Modules whose ports alone are read.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    for file in files:
        shutil.copy(file, work)
    names = " ".join(file.name for file in files)
    chosen = " ".join(
        [
            *(f"-D {macro}=1" for macro in macros),
            *(f"-G {each}" for each in values),
            *(f"--blackboxed-module {box}" for box in boxes),
        ]
    )
    # Arrays are registers unless they name a RAM style: Yosys would make each a memory of a port a
    # word, and take hours to map that.
    run_yosys(
        f"read_slang --threads 1 --keep-hierarchy --no-implicit-memories --top {top} {chosen} "
        f"{names}; chformal -remove; write_json elaborated.json",
        work,
        f"reading {top}",
    )
    found = json.loads((work / "elaborated.json").read_text())
    netlist.fit_boxes(found, boxes)
    return netlist.share_modules(found, top)
