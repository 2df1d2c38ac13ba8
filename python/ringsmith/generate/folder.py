"""Making a folder: refused before any work where it cannot be written, and whole or not at all."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ringsmith import design_files, progress
from ringsmith.backends.base import Design
from ringsmith.backends.registry import backend_of, fitting_backend, named_design
from ringsmith.errors import InteropError, ParameterError, ProgramError, ToolError
from ringsmith.files import new_folder, read_bounded
from ringsmith.generate.contents import contents, write
from ringsmith.generate.manifest import MANIFEST, Recipe, read_manifest, read_properties
from ringsmith.generate.own_program import fitted, own_program, plain_name
from ringsmith.hdl.yosys import yosys
from ringsmith.program import Program
from ringsmith.schemes import program_file

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

DEFAULT_OPERATION = "multiply_relinearize"


@dataclass(frozen=True)
class Made:
    """A folder that was made.

    Attributes:
        folder: The folder.
        files: How many files it has.
    """

    folder: Path
    files: int

    def rows(self) -> list[dict[str, Any]]:
        """Returns a row for each resource that is estimated: ``pandas.DataFrame(rows)``.

        Keys: ``design``, ``architecture``, ``family`` (as Yosys calls it), ``resource`` (``dsps``,
        ``luts``, …) and ``estimate``. ``ringsmith.generate.synthesize`` counts them.
        """
        design, architecture, estimate = read_properties(
            self.folder / MANIFEST, "design", "architecture", "estimate"
        )
        head = {"design": design, "architecture": architecture, "family": estimate["family"]}
        return [
            {**head, "resource": name, "estimate": value}
            for name, value in estimate.items()
            if name != "family"
        ]

    def details(self) -> dict[str, Any]:
        """Returns what the testbench runs: parameters, first numbers, clock cycles."""
        (found,) = read_properties(self.folder / MANIFEST, "operation")
        return dict(found)


def generate_design(
    design: str | Path | Design | None,
    folder: str | Path,
    *,
    program: Program | str | Path | None = None,
    operation: str | None = None,
    verilog: bool = True,
    force: bool = False,
) -> Made:
    """Writes a design out as a folder: RTL, testbench, packaging, manifest.

    Args:
        design: The design: its name, the path of its TOML file, or a design. None: the smallest
            that runs the program.
        folder: The folder; it must not exist, or be empty.
        program: The program that the testbench runs, or the path of its file. The folder holds it,
            constants and all. None: one operation.
        operation: In place of a program: ``add``, ``multiply``, ``multiply_relinearize`` (None) or
            ``rotate``.
        verilog: Whether to write plain Verilog, too, which takes Yosys.
        force: Whether a folder that was generated before is replaced.

    Raises:
        ParameterError: If design or operation are not known, something is wrong with the design, or
            arguments exclude each other.
        ProgramError: If its architecture cannot be written out, or the program or operation does
            not fit it.
        InteropError: If the folder is not empty, cannot be written, or a file holds no program.
        ToolError: If Yosys is needed and not installed, or fails.
    """
    folder = Path(folder)
    check_folder(folder, force=force)
    if program is not None and operation is not None:
        raise ParameterError("the testbench runs a program or an operation: leave one of both out")
    if program is None:
        if design is None:
            raise ParameterError("name a design, or a program that one is made for")
        recipe = Recipe(_text_of(design), operation or DEFAULT_OPERATION, verilog)
        return _make(recipe, _name_of(design), folder)
    data = program.to_bytes() if isinstance(program, Program) else _read(Path(program))
    name = plain_name(own_program(data).name)
    text = _text_of(fitted(fitting_backend(), data) if design is None else design)
    source = str(program) if design is None else _name_of(design)
    return _make(Recipe(text, name, verilog, data), source, folder)


def _read(path: Path) -> bytes:
    """The bytes of a program's file."""
    return read_bounded(path, program_file.MAX_FILE)


def _name_of(design: str | Path | Design) -> str:
    """What errors call a design."""
    return str(design) if isinstance(design, str | Path) else design.name


def _text_of(design: str | Path | Design) -> str:
    """A design as the text of its file."""
    if isinstance(design, str | Path):
        return design_files.text(str(design))
    return design_files.to_toml(cast("DataclassInstance", design), backend_of(design).name)


def generate_again(manifest: Path, folder: Path, *, force: bool = False) -> Made:
    """Makes a folder again from its manifest, and compares every file with its digest.

    Raises:
        InteropError: If the manifest is not valid, or the folder cannot be written.
        ParameterError: If another version of Ringsmith made it.
        ToolError: If tools of another version made it.
        ProgramError: If a file differs; the folder is not written.
    """
    check_folder(folder, force=force)
    known = read_manifest(manifest)
    if known.recipe.verilog and known.tools.get("yosys") != yosys().version:
        raise ToolError(
            f"{manifest}: its plain Verilog was written by Yosys {known.tools.get('yosys')}, and "
            f"this is {yosys().version}: install that version to get the same bytes"
        )
    return _make(known.recipe, str(manifest), folder, dict(known.files))


def _make(recipe: Recipe, source: str, folder: Path, wanted: dict[str, str] | None = None) -> Made:
    """Makes a folder; ``source`` is what errors call the file that the design comes from."""
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / f"design{design_files.SUFFIX}"
        file.write_text(recipe.design, encoding="utf-8")
        try:
            point = named_design(str(file))
        except ParameterError as error:
            raise ParameterError(str(error).replace(str(file), source)) from None
    with progress.task(f"writing {point.name} out"):
        files = contents(backend_of(point), point, recipe)
    if wanted is not None:
        _check_same(files, wanted)
    with _replacing(folder) as work:
        write(work, files)
    return Made(folder, len(files))


def _check_same(files: dict[str, bytes], wanted: dict[str, str]) -> None:
    """Refuses files that are not those of a manifest."""
    found = {
        path: hashlib.sha256(data).hexdigest() for path, data in files.items() if path != MANIFEST
    }
    other = sorted(
        path for path in found.keys() | wanted.keys() if found.get(path) != wanted.get(path)
    )
    if other:
        raise ProgramError(
            f"{len(other)} of {len(wanted)} files differ from the manifest, {other[0]} for one: "
            "this Ringsmith has other sources than the one that made it; nothing was written"
        )


def check_folder(folder: Path, *, force: bool) -> None:
    """Refuses a folder that is not to be written to, before work is spent on what goes into it.

    Raises:
        InteropError: If it is no folder or not empty, and with ``force``, if it was not generated;
            or if what holds it does not exist or may not be written to.
    """
    parent = folder.absolute().parent
    if not parent.is_dir():
        raise InteropError(f"{folder}: cannot be made: {parent} is no folder: make it first")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise InteropError(f"{folder}: cannot be made: {parent} may not be written to")
    if not os.path.lexists(folder):
        return
    if folder.is_symlink() or not folder.is_dir():
        raise InteropError(f"{folder}: exists and is no folder: choose another name")
    if not any(folder.iterdir()):
        return
    if not force:
        raise InteropError(
            f"{folder}: is not empty: choose another folder, or replace a generated one with "
            "--force"
        )
    if not (folder / MANIFEST).is_file():
        raise InteropError(
            f"{folder}: holds no {MANIFEST}, so Ringsmith did not generate it, and it is not "
            "replaced: choose another folder"
        )


@contextmanager
def _replacing(folder: Path) -> Iterator[Path]:
    """A new folder that takes the place of one that was there, if it is made whole."""
    folder = folder.absolute()
    if not folder.exists():
        with new_folder(folder) as work:
            yield work
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    old = aside / "old"
    try:
        with new_folder(aside / "new") as work:
            yield work
        folder.rename(old)
        try:
            (aside / "new").rename(folder)
        except OSError:
            old.rename(folder)
            raise
    except OSError as error:
        raise InteropError(f"{folder}: cannot be replaced: {error.strerror}") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
