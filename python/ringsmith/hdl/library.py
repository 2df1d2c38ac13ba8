"""Shared libraries of verilated designs, loaded into this process."""

import ctypes
from pathlib import Path

from ringsmith.errors import ToolError


def load_library(path: Path) -> ctypes.CDLL:
    """Loads a built design, whose digest `build_cache.built` has checked.

    Raises:
        ToolError: If it cannot be loaded.
    """
    try:
        return ctypes.CDLL(str(path))
    except OSError as failure:
        raise ToolError(
            f"the built simulation cannot be loaded ({failure}): set RINGSMITH_CACHE to a folder "
            "whose programs may run (its file system is not mounted noexec)"
        ) from failure
