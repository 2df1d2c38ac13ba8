"""The manifest of a folder: what it was made of, from which it is made again byte for byte."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ringsmith import __version__
from ringsmith.errors import InteropError, ParameterError
from ringsmith.files import read_bounded
from ringsmith.schemes import program_file

MANIFEST = "manifest.json"
PROGRAM = "program.rsp"
"""The file of a folder with the program that its testbench runs."""
FORMAT = "ringsmith-folder"
VERSION = 1
_MAX_BYTES = 1 << 22


@dataclass(frozen=True)
class Recipe:
    """Everything that determines the bytes of a folder, except Ringsmith's version and tools.

    Attributes:
        design: The text of the design's file.
        operation: The encrypted operation of the testbench; of a program its name.
        verilog: Whether there is plain Verilog, which Yosys writes.
        program: The program in place of an operation, as the bytes of its file; empty: none.
    """

    design: str
    operation: str
    verilog: bool
    program: bytes = field(default=b"", repr=False)

    @property
    def recorded(self) -> dict[str, object]:
        """The recipe as the manifest has it: a program is a file in its folder."""
        found = {**asdict(self), "program": PROGRAM}
        if not self.program:
            del found["program"]
        return found


@dataclass(frozen=True)
class Manifest:
    """A manifest that was read.

    Attributes:
        recipe: What the folder was made of.
        tools: Tools whose version decides bytes, by name.
        files: Path -> SHA-256 of every other file.
    """

    recipe: Recipe
    tools: Mapping[str, str]
    files: Mapping[str, str]


def manifest_text(
    recipe: Recipe,
    tools: Mapping[str, str],
    properties: Mapping[str, object],
    files: Mapping[str, bytes],
) -> str:
    """The text of a manifest.

    Args:
        recipe: What the folder is made of.
        tools: Tools whose version decides bytes.
        properties: Properties for readers and other tools; here only ``synth`` reads them.
        files: All other files.
    """
    record = {
        "format": FORMAT,
        "version": VERSION,
        "ringsmith": __version__,
        "tools": dict(tools),
        "recipe": recipe.recorded,
        **properties,
        "files": {path: hashlib.sha256(data).hexdigest() for path, data in sorted(files.items())},
    }
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def read_manifest(path: Path) -> Manifest:
    """Reads a manifest, to make its folder again.

    Raises:
        InteropError: If it cannot be read, or is not valid.
        ParameterError: If another version of Ringsmith made it.
    """
    record = _record(path)
    if record.get("ringsmith") != __version__:
        raise ParameterError(
            f"{path}: made by Ringsmith {record.get('ringsmith')!r:.40}, and this is "
            f"{__version__}: install that version to get the same bytes, or generate anew from "
            "design.toml"
        )
    try:
        tools, files = dict(record["tools"]), dict(record["files"])
        recipe = Recipe(**{**record["recipe"], **_own_program(path, record["recipe"], files)})
    except (KeyError, TypeError, ValueError) as error:
        raise InteropError(f"{path}: no manifest of a folder: {error}") from None
    kinds = (str, str, bool)
    fields = (recipe.design, recipe.operation, recipe.verilog)
    if not all(type(value) is kind for value, kind in zip(fields, kinds, strict=True)):
        raise InteropError(f"{path}: no manifest of a folder: a value of its recipe is of no use")
    return Manifest(recipe, tools, files)


def _own_program(
    path: Path, recipe: Mapping[str, object], files: Mapping[str, str]
) -> dict[str, bytes]:
    """The program that a manifest names, from its folder."""
    if "program" not in recipe:
        return {}
    if recipe["program"] != PROGRAM:
        raise InteropError(f"{path}: no manifest of a folder: its program is not {PROGRAM}")
    file = path.parent / PROGRAM
    data = read_bounded(file, program_file.MAX_FILE)
    if hashlib.sha256(data).hexdigest() != files.get(PROGRAM):
        raise InteropError(f"{file}: was changed since the folder was generated: generate it anew")
    return {"program": data}


def read_properties(path: Path, *keys: str) -> list[Any]:
    """Properties of a manifest.

    Raises:
        InteropError: If it cannot be read, is not valid, or lacks one.
    """
    record = _record(path)
    missing = [key for key in keys if key not in record]
    if missing:
        raise InteropError(f"{path}: no manifest of a folder: it lacks {', '.join(missing)}")
    return [record[key] for key in keys]


def _record(path: Path) -> dict[str, Any]:
    data = read_bounded(path, _MAX_BYTES)
    try:
        record = json.loads(data)
    except (ValueError, RecursionError):
        raise InteropError(f"{path}: not a JSON file") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise InteropError(f"{path}: no manifest of a folder that Ringsmith generated")
    if record.get("version") != VERSION:
        raise InteropError(
            f"{path}: version {record.get('version')!r:.20} of the manifest, and this Ringsmith "
            f"knows version {VERSION}: generate the folder again"
        )
    return record
