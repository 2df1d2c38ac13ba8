"""Builds a peer's program from the sources beside this file, once, into the cache."""

import hashlib
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from ringsmith.devices.build_cache import cache_root
from ringsmith.errors import ToolError

SOURCES = Path(__file__).with_name("native")


def build(name: str, command: Sequence[str], product: str) -> Path:
    """Copies the sources ``native/<name>`` into the cache and runs a build command there.

    Args:
        name: The folder of sources.
        command: Program and arguments.
        product: What the command makes, relative to the copy.

    Returns:
        The product's path; built before from the same sources, it is used again.

    Raises:
        ToolError: When the command fails.
    """
    files = sorted(path for path in (SOURCES / name).rglob("*") if path.is_file())
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    folder = cache_root() / f"peer-{name}-{digest}"
    if not (folder / product).exists():
        shutil.copytree(SOURCES / name, folder, dirs_exist_ok=True)
        result = subprocess.run(
            list(command), cwd=folder, capture_output=True, text=True, check=False
        )
        if result.returncode != 0:
            raise ToolError(f"{' '.join(command)} failed for peer {name}: {result.stderr[-600:]}")
    return folder / product
