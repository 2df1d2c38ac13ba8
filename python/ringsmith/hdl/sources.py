"""Where the hardware's sources lie: in the installed package, or in the checkout around it."""

import re
from collections.abc import Sequence
from pathlib import Path

from ringsmith.errors import ToolError

_PACKAGE = Path(__file__).resolve().parents[1]


def _find(folder: str, known_file: str) -> Path:
    candidates = [_PACKAGE / folder, _PACKAGE.parents[1] / folder]
    for candidate in candidates:
        if (candidate / known_file).is_file():
            return candidate
    looked = " and ".join(str(candidate) for candidate in candidates)
    raise ToolError(
        f"the folder {folder}/ of Ringsmith's hardware sources is missing: looked in {looked}; "
        "install the wheel again, or run from a complete checkout"
    )


def rtl_root() -> Path:
    """The folder of the SystemVerilog sources.

    Raises:
        ToolError: If neither the installed package nor the checkout holds it.
    """
    return _find("rtl", "verilator.vlt")


def sim_root() -> Path:
    """The folder of the simulation's C++ sources.

    Raises:
        ToolError: If neither the installed package nor the checkout holds it.
    """
    return _find("sim", "hdl/block.h")


COMMON = "common"
"""The folder below ``rtl/`` of the headers that others include: macros, no module."""


def include_folders(sources: Sequence[Path]) -> list[Path]:
    """Folders of those sources that others include, each once."""
    return sorted({file.parent for file in sources if file.suffix == ".svh"})


def rtl_sources(*folders: str) -> list[Path]:
    """The SystemVerilog files of some folders of `rtl/`, packages first, ready for the compiler.

    The headers of `COMMON` come first: readers take them as files of their own too, or only where
    they are included (`include_folders`).

    Args:
        folders: Folder names below `rtl/`, in order of dependence: `"arith"`, `"mem"`, `"ntt"`, ...

    Raises:
        ToolError: If a folder holds no SystemVerilog.
    """
    packages: list[Path] = []
    modules: list[Path] = []
    for folder in folders:
        files = sorted((rtl_root() / folder).glob("*.sv"))
        if not files:
            raise ToolError(
                f"rtl/{folder} holds no SystemVerilog files: check the name of the folder"
            )
        for file in files:
            (packages if file.stem.endswith("_pkg") else modules).append(file)
    return [*sorted((rtl_root() / COMMON).glob("*.svh")), *packages, *modules]


_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
_NAME = re.compile(r"\brs_\w+")


def sources_below(top: str, folders: Sequence[str]) -> list[Path]:
    """The files of a top module and of all modules and packages that it uses, packages first.

    A file holds the module or package of its name, and uses those that its text names outside of
    comments.

    Args:
        top: The top module.
        folders: Folders of ``rtl/``, each before those that use it.

    Raises:
        ToolError: If no file has the top module.
    """
    files = {file.stem: file for file in rtl_sources(*folders)}
    if top not in files:
        raise ToolError(
            f"rtl/ has no module {top} in {', '.join(folders)}: install Ringsmith again"
        )
    used, open_names = {top}, [top]
    while open_names:
        text = _COMMENT.sub("", files[open_names.pop()].read_text(encoding="utf-8"))
        found = (set(_NAME.findall(text)) & files.keys()) - used
        used |= found
        open_names += sorted(found)
    return [file for stem, file in files.items() if stem in used]


# ---- FPGA families that ``rtl/`` is made for: the values of ``rs_mem_pkg::Target`` -------------


XILINX = "xilinx"
"""7 series, UltraScale and UltraScale+: DSP48, block and UltraRAM, shift registers in LUTs."""

ECP5 = "ecp5"
"""Lattice's ECP5: MULT18X18D, EBR, memories in LUTs."""

TARGETS = (XILINX, ECP5)

ECP5_MACRO = "RS_TARGET_ECP5"
"""Chooses ``ECP5`` where sources are read; without it they are read for ``XILINX``."""


def macros(target: str) -> tuple[str, ...]:
    """The macros that sources are read with for a target."""
    return (ECP5_MACRO,) if target == ECP5 else ()
