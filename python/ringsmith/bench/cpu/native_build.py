"""Builds a baseline's program from the sources beside this file, once, into the cache."""

import hashlib
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from ringsmith.errors import ToolError
from ringsmith.hdl.build_cache import cache_root

SOURCES = Path(__file__).with_name("native")

_SECONDS = 600
"""After which a build is given up: a tool that waits for a network that is not there."""

_TOLD = 300
"""Characters of a tool's message that errors carry."""


def why_missing(peer: str, tool: str, prepare: Callable[[], object]) -> str | None:
    """Returns a line that says why a baseline is left out; None where it can be measured.

    Args:
        peer: What the line calls it.
        tool: What builds it.
        prepare: Builds it; raises ``ToolError`` where the tool does not work.
    """
    if shutil.which(tool) is None:
        return f"{peer} is left out: there is no {tool} on PATH"
    try:
        prepare()
    except ToolError as error:
        return f"{peer} is left out: {error}"
    return None


def build(name: str, command: Sequence[str], product: str) -> Path:
    """Copies the sources ``native/<name>`` into the cache and runs a build command there.

    Args:
        name: The folder of sources.
        command: Program and arguments.
        product: What the command makes, relative to the copy.

    Returns:
        The product's path; built before from the same sources, it is used again.

    Raises:
        ToolError: When the command fails, cannot be started, or takes too long.
    """
    files = sorted(path for path in (SOURCES / name).rglob("*") if path.is_file())
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    folder = cache_root() / f"peer-{name}-{digest}"
    if not (folder / product).exists():
        shutil.copytree(SOURCES / name, folder, dirs_exist_ok=True)
        words = " ".join(command)
        try:
            result = subprocess.run(
                [shutil.which(command[0]) or command[0], *command[1:]],  # the one that was found
                cwd=folder,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise ToolError(f"{words} was stopped after {_SECONDS} s") from None
        except OSError as error:
            raise ToolError(f"{words} cannot be started: {error.strerror}") from None
        if result.returncode != 0 or not (folder / product).exists():
            said = " ".join(result.stderr.split())[-_TOLD:] or f"made no {product}"
            raise ToolError(f"{words} failed: {said}")
    return folder / product
