"""Shared libraries of verilated designs, loaded into this process."""

import ctypes
from pathlib import Path

from ringsmith.errors import ToolError


def load_library(path: Path) -> ctypes.CDLL:
    """Loads a built design.

    Raises:
        ToolError: If it cannot be loaded.
    """
    try:
        return ctypes.CDLL(str(path))
    except OSError as failure:
        raise ToolError(
            f"the built design {path} cannot be loaded ({failure}): delete it to build it again"
        ) from failure
