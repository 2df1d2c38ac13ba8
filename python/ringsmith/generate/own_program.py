"""One's own program for a testbench: encrypted, run on the model, decrypted.

Keys, messages and errors follow from a fixed seed: they show that a device computes, and protect
nothing.
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith import client
from ringsmith.backends.base import Backend, CompiledGraph, Design
from ringsmith.backends.exporter import Exporter
from ringsmith.client.schemes import messages_of
from ringsmith.errors import CompileError, ParameterError, ProgramError
from ringsmith.generate.operation import SEED, Shown, run_on_model
from ringsmith.lower import ConstantsOnDemand, Lowered, lower
from ringsmith.objects import Ciphertext, PublicKey, Residues
from ringsmith.program import Program
from ringsmith.program.packing import vectors
from ringsmith.schemes.expected import expected_errors
from ringsmith.schemes.fits import at_line, check_fits

_MAGNITUDES = (1.0, 2.0**-3, 2.0**-6, 0.0)
"""Of messages without a declared range: the first that keeps all promises of the program."""
_WHOLE = 7
"""The largest magnitude of whole numbers, where no range is declared."""
_NAME = 64
"""Characters of a program's name that are shown."""
_SHOWN, _DIGITS = 4, 4
"""Numbers of a message that a page shows, and their digits after the point."""

Message = NDArray[Any]


def own_program(data: bytes) -> Program:
    """Reads a program from the bytes of its file.

    Raises:
        InteropError: If they are not valid.
        ParameterError: If they are a client's kit.
    """
    found = Program.from_bytes(data)
    if not isinstance(found, Program):
        raise ParameterError("a client's kit has no operations: give the program's own file")
    return found


def fitted(backend: Backend, data: bytes) -> Design:
    """The smallest design of an architecture that runs a program.

    Raises:
        ProgramError: If even a design made for it could not run it; says why.
    """
    program = own_program(data)
    try:
        graph = lower(program, scalars=backend.capabilities.scalars).graph
        return backend.fit(graph).design
    except CompileError as error:
        words = f"every design of architecture {backend.name}"
        raise at_line(program, error.node, error, words) from error


def shown_program(backend: Backend, exporter: Exporter, design: Design, data: bytes) -> Shown:
    """Encrypts messages, runs a program on the model of a design, and decrypts its results.

    Raises:
        InteropError: If the bytes are no program.
        ProgramError: If the design does not run it, at the user's line; or if random messages
            break what it promises of its inputs.
        DeviceError: If a result is not the interpreter's.
    """
    program = own_program(data)
    compiled, lowered = _compiled(backend, design, program)
    messages, wanted = _messages(program)
    parameters = program.parameters
    secret, public, keys = client.generate_keys_for_test(
        parameters, program.key_needs, SEED, seeded=compiled.expands_keys
    )
    inputs = {**lowered.plaintexts, **_encrypted(program, lowered, public, messages)}
    demonstration, outputs = run_on_model(exporter, compiled, inputs, keys)
    scheme = messages_of(parameters)
    for name, result in _results(lowered, outputs, public.key_tag).items():
        found = scheme.decode(parameters, scheme.decrypt(parameters, secret, result))
        _check(program, name, found, wanted[name])
    heard = {plain_name(name): _few(values) for name, values in messages.items()}
    results = {plain_name(name): _few(values) for name, values in wanted.items()}
    title = parameters.scheme.upper()
    return Shown(
        demonstration,
        f"{plain_name(program.name)}, a {title} program of {len(program.nodes)} operations, "
        f"N = {parameters.n}, {parameters.limbs} primes of data",
        f"the first slots of the inputs are {heard}, and of the outputs {results}",
        {
            "name": program.name,
            "scheme": title,
            "n": parameters.n,
            "primes": [int(prime) for prime in parameters.primes],
            "data_primes": parameters.limbs,
            "first_messages": heard,
            "first_result": results,
            **demonstration.figures,
        },
    )


def plain_name(name: str) -> str:
    """Returns a program's name as it may stand in a testbench's string and on a page."""
    return re.sub(r"[^A-Za-z0-9_ .-]", "_", name)[:_NAME] or "program"


def _compiled(backend: Backend, design: Design, program: Program) -> tuple[CompiledGraph, Lowered]:
    """The program scheduled for a design."""
    check_fits(program, backend.limits(design))
    lowered = lower(program, scalars=backend.capabilities.scalars)
    constants = lowered.plaintexts
    if isinstance(constants, ConstantsOnDemand) and not constants.are_kept:
        raise ProgramError(
            f"program {program.name} has more constants than a folder holds: split it, or take a "
            "part of it"
        )
    try:
        return CompiledGraph(lowered.graph, backend.compile(lowered.graph, design)), lowered
    except CompileError as error:
        raise at_line(program, error.node, error, f"design {design.name}") from error


def _encrypted(
    program: Program, lowered: Lowered, public: PublicKey, messages: Mapping[str, Message]
) -> dict[str, Residues]:
    """The graph's inputs that are encrypted."""
    parameters = program.parameters
    found: dict[str, Residues] = {}
    for number, (name, port) in enumerate(lowered.inputs.items()):
        scale, limbs = (None, None) if parameters.exact else (port.scale, port.limbs)
        plain = messages_of(parameters).encode(parameters, messages[name], scale, limbs)
        made = client.encrypt_for_test(parameters, public, plain, SEED + 100 + number)
        halves = map(np.ascontiguousarray, made.data)
        found |= dict(zip(port.polynomials, halves, strict=True))
    return found


def _messages(program: Program) -> tuple[dict[str, Message], dict[str, Message]]:
    """Messages within the inputs' ranges, slot by slot, and the program's results in the clear."""
    shapes = {name: packing.shape for name, packing in program.packed_inputs.items()}
    if not shapes:
        shapes = {name: (length,) for name, length in program.lengths.items()}
    broken: ProgramError | None = None
    for magnitude in _MAGNITUDES:
        given = {
            name: _message(program, name, shape, number, magnitude)
            for number, (name, shape) in enumerate(shapes.items())
        }
        try:
            if program.packed_inputs:
                wanted = program.simulate(given)
                given = vectors(program.packed_inputs, given, program.lengths)
            else:
                wanted = program.evaluate(given)
        except ProgramError as error:
            broken = broken or error
            continue
        return given, {name: np.asarray(each) for name, each in wanted.items()}
    raise ProgramError(
        f"no messages for a demonstration were found: declare the inputs' ranges: {broken}"
    )


def _message(
    program: Program, name: str, shape: tuple[int, ...], number: int, magnitude: float
) -> Message:
    """Random numbers in an input's range; the same for equal programs."""
    packing = program.packed_inputs.get(name)
    node = program.inputs[name if packing is None else packing.ports[0]]
    random = np.random.default_rng([SEED, number])
    exact = program.parameters.exact
    if node.bound is not None:
        low, high = node.bound.low, node.bound.high
    else:
        low, high = -magnitude * (_WHOLE if exact else 1), magnitude * (_WHOLE if exact else 1)
    if exact:
        return random.integers(int(np.ceil(low)), int(np.floor(high)), shape, endpoint=True)
    return random.uniform(low, high, shape)


def _results(
    lowered: Lowered, outputs: Mapping[str, Residues], key_tag: bytes | None
) -> dict[str, Ciphertext]:
    return {
        name: Ciphertext(
            np.stack([outputs[each] for each in port.polynomials]),
            port.scale,
            parameters_id=lowered.parameters_id,
            key_tag=key_tag,
        )
        for name, port in lowered.outputs.items()
    }


def _check(program: Program, name: str, found: Message, wanted: Message) -> None:
    """Refuses a decrypted output that is further from the clear one than forecast."""
    length = min(program.output_lengths[name], wanted.size)
    apart = float(np.max(np.abs(found[:length] - wanted[:length]), initial=0.0))
    if not apart <= (most := expected_errors(program)[name]):
        raise ProgramError(
            f"output {name!r} decrypts to numbers that are {apart:.3g} from those in the clear, "
            f"and {most:.3g} was forecast: report this as a bug"
        )


def _few(values: Message) -> list[int] | list[float]:
    """The first numbers; of complex ones the real parts."""
    few = np.atleast_1d(values)[:_SHOWN].real
    if few.dtype.kind in "iu":
        return [int(value) for value in few]
    return [round(float(value), _DIGITS) + 0.0 for value in few]
