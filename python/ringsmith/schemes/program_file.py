"""Programs and client kits as files: ``docs/reference/formats.md`` describes them.

The fields of the dataclasses define what is written (``ringsmith.files.records``). A field that
cannot be written raises an error. Source files appear by their base names, without folders.
"""

import math
import re
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from numpy.typing import NDArray

from ringsmith.errors import InteropError, ProgramError, RingsmithError, checked_path
from ringsmith.files import read_bounded, write_whole
from ringsmith.files.budget import Budget
from ringsmith.files.container import pack, padded, unpack
from ringsmith.files.records import Decoder, Encoder, Json, MalformedError, Variants
from ringsmith.params import RlweParameters, SecurityWarning
from ringsmith.program.graph import Program
from ringsmith.program.kit import ClientKit
from ringsmith.program.loops import flat_size
from ringsmith.program.packing import Port
from ringsmith.program.sharing import SEAL, SHARED
from ringsmith.program.source import SourceLine
from ringsmith.program.spans import live
from ringsmith.schemes.check import check_nodes
from ringsmith.schemes.registry import SCHEMES

PROGRAM, KIT = "ringsmith-program", "ringsmith-client-kit"
VERSIONS: Mapping[str, int] = {PROGRAM: 1, KIT: 1}
"""The newest version of each format; all earlier versions can be read, too."""
MAX_FILE, MAX_KIT = 1 << 30, 1 << 25
"""Bytes of a program's file, and of a kit's, which has no constants."""

Array = NDArray[Any]

VARIANTS: Variants = {
    Program: {scheme.name: scheme.program for scheme in SCHEMES},
    RlweParameters: {scheme.name: scheme.parameters for scheme in SCHEMES},
}

_RANGE, _AT_A_TIME = 16, 8
"""Bytes of the range of a slot, of real numbers, and the ranges that a product is computed with."""
_FLAT_NODE = 1024
"""Bytes of a node of a program with loops written out, with what is known of it."""
_FOR_BYTES = 'give a text such as "score.rsp", or a Path; bytes of a file: Program.from_bytes'
_FOLDERS = re.compile(r"(?:[A-Za-z]:)?[/\\](?:[^/\\:\n]+[/\\])*([^/\\:\n]+:\d+)")
"""A source line with the folders of its file."""


def to_bytes(found: Program | ClientKit) -> bytes:
    """Returns the bytes of a file.

    Raises:
        ProgramError: When it exceeds the size limits of readers.
    """
    arrays: list[Array] = []
    if isinstance(found, Program):
        name, content = PROGRAM, program_columns(found, arrays)
    else:
        name, content = KIT, Encoder(VARIANTS, arrays=arrays).encode(found, ClientKit, "kit")
    data, budget = pack(name, VERSIONS[name], content, arrays), Budget(MAX_FILE)
    try:
        with warnings.catch_warnings():  # making the parameters warned already
            warnings.simplefilter("ignore", SecurityWarning)
            _read(data, "the file", budget, kits_only=name == KIT)
    except InteropError as error:
        raise ProgramError(f"program {found.name} cannot be written: {error}") from None
    return padded(data, budget.spent)


def program_columns(program: Program, arrays: list[Array]) -> Json:
    """Returns a program as a file has it, and appends its arrays.

    Raises:
        TypeError: When it has a field that files cannot hold.
    """
    encoder = Encoder(VARIANTS, {SourceLine: _without_folders}, arrays)
    return encoder.encode(replace(program, choice=_choice(program)), Program, "program")


def from_bytes(
    data: bytes, what: str = "the bytes", *, kits_only: bool = False
) -> Program | ClientKit:
    """Reads the bytes of a file.

    Args:
        data: The bytes.
        what: Names them in errors.
        kits_only: Whether programs are refused.

    Raises:
        InteropError: When they are no such file, damaged or too large; names the field.
    """
    return _read(data, what, Budget.of(len(data)), kits_only=kits_only)


def _read(data: bytes, what: str, budget: Budget, *, kits_only: bool) -> Program | ClientKit:
    taken = {KIT: VERSIONS[KIT]} if kits_only else VERSIONS
    expected = "a client kit" if kits_only else "a program or client kit"
    found = unpack(data, what, taken, budget, expected)
    decoder = Decoder(found.arrays, VARIANTS, budget)
    try:
        if found.format == KIT:
            return _checked_kit(decoder.decode(found.content, ClientKit, "kit"))
        return checked_program(decoder.decode(found.content, Program, "program"), budget)
    except RingsmithError as error:
        raise InteropError(f"{what}: {error}") from None


def save(path: str | Path, found: Program | ClientKit, *, overwrite: bool) -> None:
    """Writes a file atomically.

    Raises:
        InteropError: When it exists and may not be overwritten, or cannot be written.
        ProgramError: When it exceeds the size limits of readers.
    """
    write_whole(checked_path(path), to_bytes(found), overwrite=overwrite)


def load(path: str | Path, *, kits_only: bool = False) -> Program | ClientKit:
    """Reads a file.

    Raises:
        InteropError: When it cannot be read, or as ``from_bytes``.
    """
    limit = MAX_KIT if kits_only else MAX_FILE
    data = read_bounded(checked_path(path, _FOR_BYTES), limit)
    return from_bytes(data, str(path), kits_only=kits_only)


def checked_program(found: Program, budget: Budget) -> Program:
    """Returns a program that was read, if it is one that tracing can make.

    Raises:
        RingsmithError: When it is not; names the field.
    """
    parameters = found.parameters
    parameters.require_batching()
    check_nodes(parameters, found.nodes, parameters.slots)
    if found.loops:
        budget.spend(flat_size(found.nodes, light=True) * _FLAT_NODE, "its loops written out")
    for field, lengths, ports in (
        ("lengths", found.lengths, found.inputs),
        ("output_lengths", found.output_lengths, found.outputs),
    ):
        if lengths.keys() != ports.keys():
            raise MalformedError(f"program.{field} names {sorted(lengths)!r:.80}: name all ports")
        if not all(1 <= length <= parameters.slots for length in lengths.values()):
            raise MalformedError(f"program.{field} is outside 1 … {parameters.slots}")
    _check_packings("program", found)
    _check_title("program", found.name)
    if found.rotations not in (SHARED, SEAL):
        raise MalformedError(f"program.rotations is neither {SHARED!r} nor {SEAL!r}")
    ranges = live(found.nodes) + _AT_A_TIME
    budget.spend(ranges * parameters.slots * (_RANGE << bool(found.complex_inputs)), "its ranges")
    found.check_ranges()
    return found


def _checked_kit(kit: ClientKit) -> ClientKit:
    parameters = kit.parameters
    parameters.require_batching()
    for field, ports in (("inputs", kit.inputs), ("outputs", kit.outputs)):
        if not ports:
            raise MalformedError(f"kit.{field} is empty")
        for name, port in ports.items():
            _check_port(f"kit.{field}[{name!r:.60}]", name, port, parameters)
    _check_packings("kit", kit)
    needs = kit.key_needs
    if not all(1 <= count <= parameters.limbs for count in needs.limbs):
        raise MalformedError(f"kit.key_needs is outside 1 … {parameters.limbs} limbs")
    for element in needs.galois:
        if not 1 < element < 2 * parameters.n or element % 2 == 0:
            raise MalformedError(f"kit.key_needs.galois: {element} is not odd in 3 … 2N - 1")
    _check_title("kit", kit.name)
    return kit


def _check_packings(where: str, found: Program | ClientKit) -> None:
    slots = found.parameters.slots
    for field, packings, ports in (
        ("packed_inputs", found.packed_inputs, found.inputs),
        ("packed_outputs", found.packed_outputs, found.outputs),
    ):
        for name, packing in packings.items():
            is_input = field == "packed_inputs"
            if error := packing.error(ports, slots, is_input=is_input):
                raise MalformedError(f"{where}.{field}[{name!r:.60}]: {error}")
        held = [port for packing in packings.values() for port in packing.ports]
        if packings and sorted(held) != sorted(ports):
            raise MalformedError(
                f"{where}.{field} does not hold each of {sorted(ports)!r:.80} once"
            )


def _check_port(where: str, name: str, port: Port, parameters: RlweParameters) -> None:
    least = parameters.lowest_limbs
    if not name.isidentifier() or len(name) > 100:
        raise MalformedError(f"{where}: the name is no identifier")
    if not least <= port.limbs <= parameters.limbs:
        raise MalformedError(f"{where}.limbs {port.limbs} is outside {least} … {parameters.limbs}")
    if not 1 <= port.length <= parameters.slots:
        raise MalformedError(f"{where}.length {port.length} is outside 1 … {parameters.slots}")
    low, high = port.low, port.high
    if (low is None) != (high is None) or (low is not None and high is not None and low > high):
        raise MalformedError(f"{where}: the range {low!r} … {high!r} is empty")
    if port.complex_numbers and parameters.exact:
        raise MalformedError(f"{where}: {parameters.scheme} has no complex numbers")
    if port.noise is not None and not 1 <= port.noise * port.scale < math.inf:
        raise MalformedError(f"{where}.noise {port.noise!r} is illegal at the scale {port.scale!r}")
    if port.budget is not None and port.budget < 0:
        raise MalformedError(f"{where}.budget {port.budget} is negative")
    if port.scale < 1 or (parameters.exact and port.scale != 1):
        raise MalformedError(f"{where}.scale {port.scale!r} is not one of {parameters.scheme}")


def _check_title(where: str, name: str) -> None:
    if not 0 < len(name) <= 1000 or not name.isprintable():
        raise MalformedError(f"{where}.name {name!r:.60} is no printable name")


def _without_folders(source: SourceLine) -> SourceLine:
    """The line of a file by its base name."""
    return SourceLine(_base_name(source.file), source.line)


def _base_name(file: str) -> str:
    return PureWindowsPath(PurePosixPath(file).name).name or "unknown"


def _choice(program: Program) -> str:
    """Why the parameters are what they are; lines of sources by the base names of their files."""
    text = program.choice
    for file in sorted({node.source.file for node in program.nodes}, key=len, reverse=True):
        text = text.replace(f"{file}:", f"{_base_name(file)}:")
    return _FOLDERS.sub(r"\1", text)
