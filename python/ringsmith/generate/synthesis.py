"""What a generated folder takes of an FPGA, by Yosys, compared with the architecture's estimate."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ringsmith.errors import InteropError
from ringsmith.generate.manifest import MANIFEST, read_properties
from ringsmith.hdl.ecp5 import flow
from ringsmith.hdl.sources import ECP5_MACRO
from ringsmith.hdl.synthesis import SERIES_7, ULTRASCALE_PLUS, synthesized_files

ECP5_FAMILY = "ecp5"
FAMILIES = (ULTRASCALE_PLUS, SERIES_7, ECP5_FAMILY)

TITLES: Mapping[str, str] = {
    "dsps": "DSP slices",
    "brams": "block RAMs of 36 Kbit",
    "urams": "UltraRAMs",
    "luts": "LUTs",
    "flip_flops": "flip-flops",
    "MULT18X18D": "multipliers of 18 x 18 bits",
    "DP16KD": "EBR of 18 Kbit",
    "LUT4": "LUTs of 4 inputs",
    "TRELLIS_FF": "flip-flops",
}
"""Resource -> what tables call it, in their order."""


@dataclass(frozen=True)
class Synthesized:
    """Resources of a folder's design.

    Attributes:
        design: The design's name.
        family: The family that it was synthesized for, as Yosys calls it.
        counts: Resource -> what Yosys counts.
        estimate: Resource -> what the architecture counts, for the same family.
    """

    design: str
    family: str
    counts: Mapping[str, float]
    estimate: Mapping[str, float]

    def rows(self) -> list[dict[str, Any]]:
        """Returns a row for each resource: ``pandas.DataFrame(rows)``.

        Keys: ``design``, ``family``, ``resource``, ``yosys`` (its count) and ``estimate`` (None
        where the architecture has none).
        """
        return [
            {
                "design": self.design,
                "family": self.family,
                "resource": name,
                "yosys": count,
                "estimate": self.estimate.get(name),
            }
            for name, count in self.counts.items()
        ]

    def text_rows(self) -> list[tuple[str, str, str, str]]:
        """Resource, estimate, count, difference; a dash where there is no estimate."""
        found = []
        for name, title in TITLES.items():
            if name not in self.counts:
                continue
            count, guess = self.counts[name], self.estimate.get(name)
            if guess is None:
                found.append((title, "–", f"{count:,g}", "–"))
                continue
            apart = "equal" if guess == count else f"{(guess - count) / max(count, 1):+.1%}"
            found.append((title, f"{guess:,g}", f"{count:,g}", apart))
        return found

    def to_json(self) -> str:
        """The same as JSON."""
        record = {
            "format": "ringsmith-synthesis",
            "version": 1,
            "design": self.design,
            "family": self.family,
            "yosys": dict(self.counts),
            "estimate": dict(self.estimate),
        }
        return json.dumps(record, indent=1) + "\n"


def synthesize(folder: str | Path) -> Synthesized:
    """Synthesizes the RTL of a generated folder; nothing is placed or routed.

    Args:
        folder: The folder, with its manifest. Its RTL may have been changed.

    Raises:
        InteropError: If it is no generated folder, or a source is missing.
        ToolError: If Yosys is not installed or fails.
    """
    folder = Path(folder)
    file = folder / MANIFEST
    design, top, defines, sources, estimate = read_properties(
        file, "design", "top", "defines", "sources", "estimate"
    )
    if not isinstance(sources, list) or not isinstance(estimate, dict):
        raise InteropError(f"{file}: no manifest of a folder: its sources are no list")
    files = [_source(folder, path) for path in sources]
    if ECP5_MACRO in defines:
        cells = flow.cells(flow.netlist_of(str(top), files, []))
        counts = {name: float(cells[name]) for name in TITLES if name in cells}
        return Synthesized(str(design), ECP5_FAMILY, counts, {})
    family = str(estimate.get("family"))
    if family not in FAMILIES:
        raise InteropError(
            f"{file}: family {family!r:.40} is not one of {', '.join(FAMILIES)}: generate it again"
        )
    area = synthesized_files(str(top), files, [], (), family)[str(top)]
    counts = {
        "dsps": float(area.dsps),
        "brams": area.brams,
        "urams": float(area.urams),
        "luts": float(area.lut_sites),
        "flip_flops": float(area.fabric_flip_flops),
    }
    known = {name: float(value) for name, value in estimate.items() if name in TITLES}
    return Synthesized(str(design), family, counts, known)


def _source(folder: Path, path: object) -> Path:
    """A source of a folder, which lies in it."""
    parts = PurePosixPath(str(path))
    if parts.is_absolute() or ".." in parts.parts:
        raise InteropError(f"{folder / MANIFEST}: source {str(path)!r:.80} lies outside the folder")
    file = folder / parts
    if not file.is_file():
        raise InteropError(f"{file}: is missing: generate the folder again")
    return file
