"""RTL as plain Verilog (IEEE 1364-2005), for tools that read no SystemVerilog.

Yosys elaborates a hierarchy for one choice of its parameters and writes it again: packages,
structs, functions and unpacked arrays are gone, processes, memories and the hierarchy stay.
Assertions are left out, equal modules are written once, and attributes of the sources stay: those
of synchronizers, memories and interfaces.
"""

import json
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ringsmith.hdl import elaboration, netlist
from ringsmith.hdl.build_cache import built, fingerprint
from ringsmith.hdl.elaboration import elaborated
from ringsmith.hdl.record import Values
from ringsmith.hdl.sources import rtl_sources
from ringsmith.hdl.yosys import run_yosys, yosys

_RESULT = "plain.v"


def plain_verilog(
    top: str, folders: Sequence[str], parameters: Values, macros: Sequence[str] = ()
) -> str:
    """Elaborates a hierarchy and writes it as Verilog, or finds the result in the cache.

    Args:
        top: The top module, whose name and ports stay.
        folders: Folders of ``rtl/`` that it is made of.
        parameters: Of the top module; the text has no parameters.
        macros: What the sources are read with.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    values = [f"{name}={value}" for name, value in parameters.items()]
    return _plain(top, rtl_sources(*folders), values, macros)


def plain_verilog_of(top: str, sources: Mapping[str, str], macros: Sequence[str] = ()) -> str:
    """The same of a hierarchy whose top module has no parameters, and whose sources are texts.

    Args:
        top: The top module, whose name and ports stay.
        sources: Path -> text, in the order in which they are read; no two files have one name.
        macros: What the sources are read with.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for path, text in sources.items():
            files.append(Path(folder) / Path(path).name)
            files[-1].write_text(text, encoding="utf-8")
        return _plain(top, files, [], macros)


def _plain(top: str, files: Sequence[Path], values: Sequence[str], macros: Sequence[str]) -> str:
    own = [Path(__file__), Path(elaboration.__file__), Path(netlist.__file__)]

    def build(work: Path) -> None:
        shared = elaborated(top, files, values, work, macros)
        text = _written(top, shared, work)
        for file in work.iterdir():
            file.unlink()
        (work / _RESULT).write_text(text)

    key = fingerprint([yosys().version, *macros, *values], [*files, *own])
    return (built(f"verilog-{top}", key, build) / _RESULT).read_text()


def _written(top: str, shared: netlist.Netlist, work: Path) -> str:
    (work / "shared.json").write_text(json.dumps(netlist.without_yosys_attributes(shared)))
    # bwmuxmap: Verilog has no operator that selects bit by bit. Without -purge opt_clean keeps all
    # names of a register, and so its attributes.
    run_yosys(
        f"read_json shared.json; hierarchy -top {top}; bwmuxmap; opt_clean; "
        f"write_verilog {_RESULT}",
        work,
        f"writing {top}",
    )
    return (work / _RESULT).read_text()
