"""Ceilings of logic levels and delays, block by block, and the command that renews them.

``python tests/rtl/timing_ceilings.py`` synthesizes the designs and writes ``timing_ceilings.toml``
anew: minutes.
"""

import math
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from ringsmith.backends.registry import backend_of, named_design

KEPT = Path(__file__).with_name("timing_ceilings.toml")
COMMAND = ".venv/bin/python tests/rtl/timing_ceilings.py"

DESIGNS = ("nano", "heaws", "rpm", "vector-small")
"""The designs that are timed whole; ``medha`` takes too long for a test."""

_STEP_PS = 100
"""A delay's ceiling is what was found, rounded up to a multiple of this."""

_HEAD = f"""# The most logic levels and the longest delay of any path into a module's registers,
# by design. Written by `{COMMAND}`; do not edit.
# docs/guide/timing.md says what the numbers are.
"""


class Ceiling(NamedTuple):
    """The most that a block may have."""

    levels: int
    delay_ps: int


Ceilings = Mapping[str, Mapping[str, Ceiling]]
"""Design -> module -> its ceiling."""


def found(design: str) -> dict[str, Ceiling]:
    """What a design has today, as ceilings."""
    point = named_design(design)
    inspector = backend_of(point).inspector()
    assert inspector is not None, "an architecture of ours"
    blocks = inspector.timing(point, in_part=False).timing.blocks
    return {
        block.name: Ceiling(block.levels, math.ceil(block.delay_ps / _STEP_PS) * _STEP_PS)
        for block in sorted(blocks, key=lambda block: block.name)
    }


def kept() -> dict[str, dict[str, Ceiling]]:
    """The ceilings of the file."""
    return {
        design: {name: Ceiling(**each) for name, each in blocks.items()}
        for design, blocks in tomllib.loads(KEPT.read_text()).items()
    }


def differences(ceilings: Mapping[str, Ceiling], now: Mapping[str, Ceiling]) -> list[str]:
    """What is above its ceiling or has none, a sentence each."""
    reported = []
    for name, block in now.items():
        ceiling = ceilings.get(name)
        if ceiling is None:
            reported.append(f"{name}: has no ceiling")
        elif block.levels > ceiling.levels or block.delay_ps > ceiling.delay_ps:
            reported.append(
                f"{name}: {block.levels} levels and {block.delay_ps} ps, above its ceiling of "
                f"{ceiling.levels} levels and {ceiling.delay_ps} ps"
            )
    return reported


def text(ceilings: Ceilings) -> str:
    """The file of ceilings."""
    tables = [
        f"\n[{design}]\n"
        + "".join(
            f"{name} = {{levels = {each.levels}, delay_ps = {each.delay_ps}}}\n"
            for name, each in blocks.items()
        )
        for design, blocks in ceilings.items()
    ]
    return _HEAD + "".join(tables)


if __name__ == "__main__":
    KEPT.write_text(text({design: found(design) for design in DESIGNS}))
    print(f"wrote {KEPT}")
