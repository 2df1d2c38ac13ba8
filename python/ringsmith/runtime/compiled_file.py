"""Compiled programs as files: a server starts with one and schedules nothing.

``docs/reference/formats.md`` describes the file. It contains the subroutine graph and the
executable in their own formats, each with its own version. A program for a stream device is divided
into rounds again when it is read.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ringsmith.backends.base import CompiledGraph, Design
from ringsmith.backends.registry import (
    backend_of,
    backends_with_designs,
    design_names,
    named_design,
)
from ringsmith.backends.types import InputsOnDemand
from ringsmith.errors import InteropError, ProgramError, RingsmithError, checked_path
from ringsmith.files import read_bounded, write_whole
from ringsmith.files.container import Limits, pack, unpack
from ringsmith.files.json_text import check_values
from ringsmith.files.records import Decoder, Encoder, MalformedError, fields_of
from ringsmith.graph import SubroutineGraph, from_json, to_json
from ringsmith.lower import Lowered
from ringsmith.lower.lowering import CiphertextPort
from ringsmith.params.identity import ID_BYTES
from ringsmith.runtime.check import check_inputs
from ringsmith.schemes import program_file

FORMAT, VERSION = "ringsmith-compiled", 1
LIMITS = Limits(file=1 << 30, body=1 << 31, text=1 << 26, arrays=1 << 18, values=1 << 22)
"""1 GiB in a file, 2 GiB in memory, 64 MiB of JSON of 2^22 values, 2^18 different constants."""

_FIRST = {"plaintexts", "inputs", "outputs", "keys"}
"""Ports of version 1 that every file has; those added later have defaults."""

Text = NDArray[np.uint8]
"""The UTF-8 bytes of a text."""


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
    data = read_bounded(checked_path(path), LIMITS.file)
    lowered, compiled = from_bytes(data, str(path))
    _check_design(str(path), compiled, design)
    return lowered, compiled


def is_compiled(data: bytes, what: str) -> bool:
    """Whether the bytes of a file of ours are a compiled program, rather than a program or a kit.

    Raises:
        InteropError: When they are none of these, damaged or too large.
    """
    known = {**program_file.VERSIONS, FORMAT: VERSION}
    limits = _limits_of(len(data))
    return unpack(data, what, known, limits, "a program or a compiled program").format == FORMAT


def _limits_of(size: int) -> Limits:
    """As those of a program's file of ``size`` bytes: graphs and executables compress as well."""
    return replace(
        LIMITS,
        body=min(LIMITS.body, max(1 << 28, size << 6)),
        values=min(LIMITS.values, program_file.limits_of(size).values),
    )


def to_bytes(lowered: Lowered, compiled: CompiledGraph) -> bytes:
    """Returns the bytes of a file.

    Raises:
        ProgramError: When it exceeds the size limits of readers.
    """
    inputs = lowered.graph.inputs
    words = lowered.graph.n * sum(len(inputs[name].base) for name in lowered.plaintexts)
    if 8 * words > LIMITS.body // 2:  # before they are encoded
        raise _too_large(8 * words)
    encoder = Encoder()
    schedule = {"graph": encoder.encode(_bytes(to_json(lowered.graph)), Text, "schedule.graph")}
    if compiled.executable is not None:
        backend = backend_of(compiled.executable.design)
        written = backend.write(compiled.executable)
        kind = backend.file_record
        written, kind = (_bytes(written), Text) if isinstance(written, str) else (written, kind)
        schedule[backend.field] = encoder.encode(written, kind, f"schedule.{backend.field}")
    ports = {
        field.name: encoder.encode(getattr(lowered, field.name), hint, field.name)
        for field, hint in fields_of(Lowered)
        if field.name != "graph" and (field.name in _FIRST or getattr(lowered, field.name))
    }
    content = {"schedule": schedule, "ports": ports}
    data = pack(FORMAT, VERSION, content, encoder.arrays)
    if len(data) > LIMITS.file or sum(array.nbytes for array in encoder.arrays) > LIMITS.body // 2:
        raise _too_large(len(data))
    return data


def _too_large(size: int) -> ProgramError:
    return ProgramError(
        f"the compiled program takes {size} bytes, and at most {LIMITS.file} are read: split the "
        "program"
    )


def from_bytes(data: bytes, what: str = "the bytes") -> tuple[Lowered, CompiledGraph]:
    """Reads the bytes of a file.

    Raises:
        InteropError: When they are no compiled program, damaged or too large; names the field.
    """
    limits = _limits_of(len(data))
    container = unpack(data, what, {FORMAT: VERSION}, limits, "a compiled program")
    decoder = Decoder(container.arrays)
    try:
        content = container.content
        if not isinstance(content, dict) or content.keys() != {"schedule", "ports"}:
            raise MalformedError("content is not an object of schedule and ports")
        schedule = content["schedule"]
        if not isinstance(schedule, dict) or "graph" not in schedule:
            raise MalformedError("schedule is not an object with a graph")
        text = _text(decoder.decode(schedule["graph"], Text, "schedule.graph"))
        lowered = _lowered(from_json(text, limits.values), content["ports"], decoder)
        rest = {name: value for name, value in schedule.items() if name != "graph"}
        return lowered, _compiled(lowered.graph, rest, decoder, limits.values)
    except RingsmithError as error:
        raise InteropError(f"{what}: {error}") from None


def _lowered(graph: SubroutineGraph, entries: object, decoder: Decoder) -> Lowered:
    hints = {field.name: hint for field, hint in fields_of(Lowered) if field.name != "graph"}
    if not isinstance(entries, dict) or not _FIRST <= entries.keys() <= hints.keys():
        raise MalformedError(f"ports is not an object of {sorted(hints)}")
    values = {name: decoder.decode(entry, hints[name], name) for name, entry in entries.items()}
    lowered = Lowered(graph, **values)
    if lowered.parameters_id is not None and len(lowered.parameters_id) != ID_BYTES:
        raise MalformedError(f"parameters_id is not {ID_BYTES} bytes")
    inputs = {p for port in lowered.inputs.values() for p in port.polynomials}
    if inputs & lowered.plaintexts.keys() or inputs | lowered.plaintexts.keys() != {*graph.inputs}:
        raise MalformedError("plaintexts and inputs are not exactly the graph's inputs")
    for what, ports, types in (
        ("inputs", lowered.inputs, graph.inputs),
        ("outputs", lowered.outputs, graph.outputs),
    ):
        for name, port in ports.items():
            _check_port(f"{what}[{name!r:.60}]", port, {p: len(k.base) for p, k in types.items()})
    if {p for port in lowered.outputs.values() for p in port.polynomials} != {*graph.outputs}:
        raise MalformedError("outputs are not exactly the graph's outputs")
    others = dict.fromkeys(inputs, np.zeros(0, np.uint64))  # a run gives them
    check_inputs(graph, InputsOnDemand({**lowered.plaintexts}, others))
    if lowered.keys.galois.keys() != _elements(graph) or (lowered.keys.relin is None) == (
        "relin" in graph.keys
    ):
        raise MalformedError("keys are not those of the graph")
    return lowered


def _check_port(where: str, port: CiphertextPort, limbs: Mapping[str, int]) -> None:
    if not 2 <= len(port.polynomials) <= 3 or any(
        limbs.get(name) != port.limbs for name in port.polynomials
    ):
        raise MalformedError(
            f"{where} is not 2 or 3 polynomials of the graph with {port.limbs} limbs"
        )
    if port.scale < 1:
        raise MalformedError(f"{where}.scale {port.scale!r} is below 1")


def _elements(graph: SubroutineGraph) -> set[int]:
    """Galois elements of the graph's keys."""
    texts = (name.partition(":")[2] for name in graph.keys if name.startswith("galois:"))
    return {int(text) for text in texts if text.isdecimal()}


def _compiled(
    graph: SubroutineGraph, entries: Mapping[str, object], decoder: Decoder, max_values: int
) -> CompiledGraph:
    given = {name: value for name, value in entries.items() if value is not None}
    if not given:
        return CompiledGraph(graph)
    backends = {backend.field: backend for backend in backends_with_designs()}
    unknown = sorted(map(str, given.keys() - backends.keys()))
    if unknown:
        raise MalformedError(
            f"schedule has {', '.join(unknown):.80}, and only {', '.join(backends)} are known: "
            "install the package that has this architecture"
        )
    if len(given) > 1:
        raise MalformedError(f"schedule has {' and '.join(sorted(given))}, and one at most belongs")
    ((name, value),) = given.items()
    backend = backends[name]
    if backend.file_record is str:
        text = _text(decoder.decode(value, Text, f"schedule.{name}"))
        check_values(text, max_values, lambda why: MalformedError(f"schedule.{name}: {why}"))
        found: object = text
    else:
        found = decoder.decode(value, backend.file_record, f"schedule.{name}")
    return CompiledGraph(graph, backend.read(found, graph))


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


def _bytes(text: str) -> Text:
    return np.frombuffer(text.encode(), np.uint8)


def _text(array: Text) -> str:
    if array.dtype != np.uint8 or array.ndim != 1:
        raise MalformedError("schedule: a text is not a list of bytes")
    try:
        return array.tobytes().decode()
    except UnicodeDecodeError:
        raise MalformedError("schedule: a text is not UTF-8") from None
