"""Compiled programs as files: a server starts with one and schedules nothing.

``docs/reference/formats.md`` describes the file. It holds the program, as its own file does, and
the executable. A program is lowered again when it is read, and one for a stream or vector device is
then divided into its parts again.
"""

from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ringsmith.backends.base import Backend, CompiledGraph, Design
from ringsmith.backends.registry import (
    backend_of,
    backends_with_designs,
    design_names,
    named_design,
)
from ringsmith.errors import InteropError, ProgramError, RingsmithError, checked_path
from ringsmith.files import read_bounded, write_whole
from ringsmith.files.budget import Budget
from ringsmith.files.container import Container, pack, padded, unpack
from ringsmith.files.records import Decoder, Encoder, MalformedError, fields_of
from ringsmith.graph.file import digest
from ringsmith.lower import Lowered, lower
from ringsmith.program import Program
from ringsmith.schemes import program_file

FORMAT, VERSION = "ringsmith-compiled", 1
MAX_FILE = program_file.MAX_FILE
_NODE_BYTES, _LIMB_BYTES = 512, 24
"""Memory of a node of the subroutine graph, at most, and of each limb of its base."""
_CHECKS = 5
"""Memory of an executable's checks, by that of the executable."""
_ENTRIES = {"program", "graph", "schedule"}


def save(path: str | Path, lowered: Lowered, compiled: CompiledGraph, *, overwrite: bool) -> None:
    """Writes a compiled program atomically.

    Raises:
        InteropError: When the file exists and may not be overwritten, or cannot be written.
        ProgramError: When it exceeds the size limits of readers.
    """
    write_whole(checked_path(path), to_bytes(lowered, compiled), overwrite=overwrite)


def load(path: str | Path, design: str | Design | None) -> tuple[Lowered, CompiledGraph]:
    """Reads a compiled program.

    Args:
        path: The file.
        design: The design that it must be compiled for; None: any. A design with the name of a
            built-in design must equal it.

    Raises:
        InteropError: When the file holds no compiled program, is damaged or too large, or is for
            another design; names the field.
        ParameterError: When there is no such design.
    """
    data = read_bounded(checked_path(path), MAX_FILE)
    lowered, compiled = from_bytes(data, str(path))
    _check_design(str(path), compiled, design)
    return lowered, compiled


def is_compiled(data: bytes, what: str) -> bool:
    """Whether the bytes of a file of ours are a compiled program, rather than a program or a kit.

    Raises:
        InteropError: When they are none of these, damaged or too large.
    """
    known, budget = {**program_file.VERSIONS, FORMAT: VERSION}, Budget.of(len(data))
    return unpack(data, what, known, budget, "a program or a compiled program").format == FORMAT


def to_bytes(lowered: Lowered, compiled: CompiledGraph) -> bytes:
    """Returns the bytes of a file.

    Raises:
        ProgramError: When it is no program's, or exceeds the size limits of readers.
    """
    if lowered.program is None:
        raise ProgramError("a graph alone is not written to a file: compile a traced program")
    arrays: list[NDArray[Any]] = []
    schedule = {}
    if compiled.executable is not None:
        backend = backend_of(compiled.executable.design)
        written = backend.write(compiled.executable)
        schedule[backend.field] = Encoder(arrays=arrays).encode(
            written, backend.file_record, f"schedule.{backend.field}"
        )
    content = {
        "program": program_file.program_columns(lowered.program, arrays),
        "graph": digest(lowered.graph),
        "schedule": schedule,
    }
    data, budget = pack(FORMAT, VERSION, content, arrays), Budget(MAX_FILE)
    try:
        _read(data, "the file", budget)
    except InteropError as error:
        raise ProgramError(f"the compiled program cannot be written: {error}") from None
    return padded(data, budget.spent)


def from_bytes(data: bytes, what: str = "the bytes") -> tuple[Lowered, CompiledGraph]:
    """Reads the bytes of a file.

    Raises:
        InteropError: When they are no compiled program, damaged or too large; names the field.
    """
    return _read(data, what, Budget.of(len(data)))


def _read(data: bytes, what: str, budget: Budget) -> tuple[Lowered, CompiledGraph]:
    container = unpack(data, what, {FORMAT: VERSION}, budget, "a compiled program")
    try:
        return _compiled(container, budget)
    except RingsmithError as error:
        raise InteropError(f"{what}: {error}") from None


def _compiled(container: Container, budget: Budget) -> tuple[Lowered, CompiledGraph]:
    content = container.content
    if not isinstance(content, dict) or content.keys() != _ENTRIES:
        raise MalformedError(f"content is not an object of {sorted(_ENTRIES)}")
    decoder = Decoder(container.arrays, program_file.VARIANTS, budget)
    program = decoder.decode(content["program"], Program, "program")
    program_file.checked_program(program, budget)
    node = _NODE_BYTES + _LIMB_BYTES * len(program.parameters.primes)
    schedule = content["schedule"]
    if not isinstance(schedule, dict) or len(schedule) > 1:
        raise MalformedError("schedule is not an object of one executable at most")
    backend = _backend(*schedule) if schedule else None
    scalars = backend is None or backend.capabilities.scalars
    most = budget.left // node
    found = lower(
        program, encode=False, max_nodes=most, scalars=scalars, unroll=backend is not None
    )
    budget.spend(node * len(found.graph.nodes), "its subroutine graph")
    if content["graph"] != digest(found.graph):
        raise MalformedError("lowered by another Ringsmith: compile the program again")
    if backend is None:
        return found, CompiledGraph(found.graph)
    spent, where = budget.spent, f"schedule.{backend.field}"
    written = decoder.decode(schedule[backend.field], backend.file_record, where)
    budget.spend(_CHECKS * (budget.spent - spent), where)
    return found, CompiledGraph(found.graph, backend.read(written, found.graph))


def _backend(name: str) -> Backend:
    """The backend that a schedule is of."""
    backends = {backend.field: backend for backend in backends_with_designs()}
    if name not in backends:
        raise MalformedError(
            f"schedule has {name:.80}, and only {', '.join(backends)} are known: install the "
            "package that has this architecture"
        )
    return backends[name]


def _check_design(what: str, compiled: CompiledGraph, design: str | Design | None) -> None:
    """Refuses a file for another design than the requested or the built-in one of its name."""
    found = compiled.design
    wanted = None if design is None else named_design(design)
    if wanted is None and found is not None and found.name in design_names():
        wanted = named_design(found.name)
    if wanted is None or found == wanted:
        return
    if found is None or found.name != wanted.name:
        name = "no design, for the cpu" if found is None else f"design {found.name}"
        raise InteropError(
            f"{what}: compiled for {name}, not for design {wanted.name}: compile it for that one"
        )
    differing = [
        f"{field.name} = {getattr(found, field.name)!r}, here {getattr(wanted, field.name, None)!r}"
        for field, _ in fields_of(type(found))
        if getattr(found, field.name) != getattr(wanted, field.name, None)
    ]
    raise InteropError(
        f"{what}: compiled for another design {found.name} ({'; '.join(differing):.200}): compile "
        "the program again"
    )
