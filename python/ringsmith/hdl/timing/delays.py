"""The delays of cells, in picoseconds: what ``delays.toml`` beside this file states."""

import tomllib
from importlib import resources
from pathlib import Path
from typing import Any

from ringsmith.caching import cached

DELAYS_FILE = Path(__file__).with_name("delays.toml")

Delays = dict[str, Any]
"""Kind of cell -> its delays."""


@cached
def delays() -> Delays:
    """The table of delays."""
    resource = resources.files("ringsmith.hdl.timing") / DELAYS_FILE.name
    return tomllib.loads(resource.read_text(encoding="utf-8"))
