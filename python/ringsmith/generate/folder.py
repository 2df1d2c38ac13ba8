"""Making a folder: refused before any work where it cannot be written, and whole or not at all."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ringsmith import design_files, progress
from ringsmith.backends.registry import backend_of, named_design
from ringsmith.errors import InteropError, ParameterError, ProgramError, ToolError
from ringsmith.files import new_folder
from ringsmith.generate.contents import contents, write
from ringsmith.generate.manifest import MANIFEST, Recipe, read_manifest
from ringsmith.hdl.yosys import yosys

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


def generate(
    design: str,
    folder: Path,
    *,
    operation: str = DEFAULT_OPERATION,
    verilog: bool = True,
    force: bool = False,
) -> Made:
    """Writes a design out as a folder.

    Args:
        design: The design's name, or the path of its TOML file.
        folder: The folder; it must not exist, or be empty.
        operation: The encrypted operation of its testbench.
        verilog: Whether to write plain Verilog, too, which takes Yosys.
        force: Whether a folder that was generated before is replaced.

    Raises:
        ParameterError: If design or operation are not known, or something is wrong with the design.
        ProgramError: If its architecture cannot be written out, or the operation does not fit it.
        InteropError: If the folder is not empty, or cannot be written.
        ToolError: If Yosys is needed and not installed, or fails.
    """
    check_folder(folder, force=force)
    recipe = Recipe(design_files.text(design), operation, verilog)
    return _make(recipe, design, folder)


def generate_again(manifest: Path, folder: Path, *, force: bool = False) -> Made:
    """Makes a folder again from its manifest, and compares every file with its digest.

    Raises:
        InteropError: If the manifest is none, or the folder cannot be written.
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
    """Refuses files that are not those of a manifest.

    Raises:
        ProgramError: If one differs.
    """
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
