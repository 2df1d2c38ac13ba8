"""Encrypted programs from trace to result: compile once, run on any device."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ringsmith.backends.base import PORTS, WAYS, CompiledGraph, Device, GraphResult, InputsOnDemand
from ringsmith.backends.cards.interface import CARD, DEFAULT_BAUD, card_port
from ringsmith.backends.jobs import ChangedJob, Job
from ringsmith.backends.keys import AnyKey, expandable, whole_keys
from ringsmith.backends.registry import backend_of, backend_without_designs, fitting_backend
from ringsmith.backends.types import RunRecord
from ringsmith.errors import CompileError, DeviceError, ProgramError, check_type
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import (
    RELIN_KEY,
    CiphertextPort,
    ConstantsOnDemand,
    Lowered,
    galois_key_name,
    lower,
)
from ringsmith.objects import (
    Ciphertext,
    EvaluationKeys,
    History,
    KeySwitchKey,
    OnTheFlyKeys,
    Residues,
)
from ringsmith.program import Program
from ringsmith.program.arguments import check_program
from ringsmith.runtime import compiled_file
from ringsmith.runtime.check import check_belonging, check_inputs, check_keys, check_opaque
from ringsmith.runtime.designs import Design, check_runs, named_design
from ringsmith.runtime.host_link import HostLink
from ringsmith.runtime.noise import output_history
from ringsmith.runtime.precomputed_keys import AnyKeys, PrecomputedKeys
from ringsmith.schemes.fits import at_line, check_operations
from ringsmith.short_repr import represented


class RunResult(RunRecord[Ciphertext]):
    """The ciphertexts and the report of an encrypted program's run."""

    def transfer_seconds(self, link: HostLink) -> float:
        """Returns the time on a host link for results, keys and transfers during the run.

        ``cycles`` does not include it. Operands are not counted, because a previous program may
        have left them on the device.
        """
        words = sum(output.data.size for output in self.outputs.values())
        return link.seconds(words + self.report.spilled_words + self.report.key_words)


@dataclass(frozen=True, eq=False)
class Compiled:
    """An encrypted program, lowered to a graph and, if requested, scheduled for a design."""

    lowered: Lowered
    compiled_graph: CompiledGraph

    def run(self, device: Device, inputs: Mapping[str, Ciphertext], keys: AnyKeys) -> RunResult:
        """Runs the program.

        A BFV program's forecast counts from fresh encryptions. An input that is the result of
        another run, or of ``Evaluator``, in this process causes a ``NoiseWarning``.

        Args:
            device: From ``open_device``.
            inputs: Input name -> ciphertext, encrypted at the program's level and scale.
            keys: The evaluation keys that the program needs; additional ones are ignored. Keys
                expanded on the fly and precomputed keys are for the CPU only.

        Raises:
            ProgramError: If an input or key is missing, has the wrong form, is of other
                parameters, or of another key pair than the rest; or if an output is transparent.
            DeviceError: If the device cannot run the program.
            TypeError: If an argument is of another kind.
        """
        polynomials, tag = self._operands(device, inputs, keys)
        history = output_history(inputs)
        result = run_graph(self.compiled_graph, device, polynomials, named_keys(keys))
        return self._run_result(result, tag, history)

    def submit(
        self, device: Device, inputs: Mapping[str, Ciphertext], keys: AnyKeys, *, client: str = ""
    ) -> ChangedJob[GraphResult, RunResult]:
        """Submits a run and returns at once; arguments and errors are those of ``run``.

        The job can be polled, waited for and cancelled. Jobs of one client run in the order of
        submission. Clients, which have different names, take turns.
        """
        polynomials, tag = self._operands(device, inputs, keys)
        history = output_history(inputs)
        job = submit_graph(self.compiled_graph, device, polynomials, named_keys(keys), client)
        return job.then(lambda result: self._run_result(result, tag, history))

    def __repr__(self) -> str:
        """Names inputs, outputs and design; the graph has thousands of nodes."""
        design = self.compiled_graph.design
        ports = {"inputs": [*self.lowered.inputs], "outputs": [*self.lowered.outputs]}
        return represented(type(self), {**ports, "design": design and design.name})

    def _operands(
        self, device: Device, inputs: Mapping[str, Ciphertext], keys: AnyKeys
    ) -> tuple[Mapping[str, Residues], bytes | None]:
        """Checks a run's arguments; returns the graph's inputs and the tag of the key pair."""
        if not callable(getattr(device, "execute", None)):
            raise TypeError(
                f"device: {type(device).__name__} was given where a device belongs: "
                "give open_device(kind)"
            )
        check_type("inputs", inputs, Mapping, 'give ciphertexts by name: {"x": x}')
        if not isinstance(keys, OnTheFlyKeys | PrecomputedKeys):
            check_type("keys", keys, EvaluationKeys, "give the third of generate_keys")
        if inputs.keys() != self.lowered.inputs.keys():
            raise ProgramError(
                f"the program takes the inputs {sorted(self.lowered.inputs)}, not "
                f"{sorted(map(str, inputs))}"
            )
        for name, cipher in inputs.items():
            hint = "encrypt it: encrypt_vector(parameters, public_key, numbers)"
            check_type(f"input {name!r}", cipher, Ciphertext, hint)
        identity = self.lowered.parameters_id
        named = {f"input {name!r}": cipher for name, cipher in inputs.items()}
        tag = check_belonging("the program", identity, keys, named)
        polynomials: dict[str, Residues] = {}
        for name, port in self.lowered.inputs.items():
            polynomials |= _polynomials(name, port, inputs[name])
        constants = self.lowered.plaintexts
        if isinstance(constants, ConstantsOnDemand) and not constants.are_kept:
            return InputsOnDemand(polynomials, constants), tag
        return {**constants, **polynomials}, tag

    def _run_result(
        self, result: GraphResult, tag: bytes | None, history: History | None
    ) -> RunResult:
        outputs = {
            name: Ciphertext(
                stacked([result.outputs[p] for p in port.polynomials]),
                port.scale,
                parameters_id=self.lowered.parameters_id,
                key_tag=tag,
                history=history,
            )
            for name, port in self.lowered.outputs.items()
        }
        for name, ciphertext in outputs.items():
            check_opaque(ciphertext.data, f"output {name!r}")
        return RunResult(outputs, result.report)

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Writes the compiled program to a file atomically; suffix ``.rsc``.

        The file holds the program with its constants: do not give it to clients.

        Raises:
            InteropError: When the file exists and may not be overwritten, or cannot be written.
            ProgramError: When the program exceeds the size limits of readers, or was not traced.
        """
        compiled_file.save(path, self.lowered, self.compiled_graph, overwrite=overwrite)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles and copies by the bytes of a file, which are checked."""
        return _unpickled, (compiled_file.to_bytes(self.lowered, self.compiled_graph),)

    @classmethod
    def load(cls, path: str | Path, design: str | Design | None = None) -> "Compiled":
        """Reads a compiled program from a file; nothing is compiled again.

        Args:
            path: The file.
            design: The design that it must be compiled for; None: any.

        Raises:
            InteropError: When the file holds no compiled program, is damaged or too large, or is
                for another design, even one of the same name; says which.
            ParameterError: When there is no such design.
        """
        return cls(*compiled_file.load(path, design))


def _unpickled(data: bytes) -> Compiled:
    return Compiled(*compiled_file.from_bytes(data))


def compile_program(program: Program, design: str | Path | Design | None = None) -> Compiled:
    """Lowers a traced program and, where a design is given, schedules it for that design.

    For a design with a PRNG the compiler assumes keys with seeds. A run with other keys schedules
    the program once more. Schedules are kept in the cache folder.

    Raises:
        ParameterError: If there is no such design.
        ProgramError: If the program does not fit the design; the message begins with the user's
            line and says what it needs.
    """
    check_program(program, "compile_program")
    point = None if design is None else named_design(design)
    if point is not None:
        check_runs(program, point)
    lowered = lower(program)
    try:
        return Compiled(lowered, compile_graph(lowered.graph, point))
    except ProgramError as error:
        if point is None:
            raise
        node = error.node if isinstance(error, CompileError) else None
        raise at_line(program, node, error, f"design {point.name}") from error


def compile_for_smallest_design(program: Program) -> Compiled:
    """Lowers a traced program and schedules it for the smallest design that runs it.

    That is a named design or, if none fits, one made for the program.
    ``compiled_graph.executable.design`` says which.

    Raises:
        ProgramError: If even a design made for it could not run it; says why.
    """
    check_program(program, "compile_for_smallest_design")
    backend = fitting_backend()
    every = f"every design of architecture {backend.name}"
    check_operations(program, backend.limits(backend.load_design(backend.designs()[0])), every)
    lowered = lower(program)
    try:
        return Compiled(lowered, CompiledGraph(lowered.graph, backend.fit(lowered.graph)))
    except CompileError as error:
        raise at_line(program, error.node, error, every) from error


def compile_graph(
    graph: SubroutineGraph,
    design: str | Design | None = None,
    seeded: Collection[str] | None = None,
) -> CompiledGraph:
    """Schedules a subroutine graph for a design; without one it runs on the CPU only.

    Args:
        graph: The graph.
        design: The design.
        seeded: Names of the keys whose a part a design with a PRNG expands; None: all.

    Raises:
        ParameterError: If there is no such design.
        ProgramError: If the graph does not fit the design; says what it needs.
    """
    if design is None:
        return CompiledGraph(graph)
    point = named_design(design)
    return CompiledGraph(graph, backend_of(point).compile(graph, point, seeded))


def for_keys(compiled: CompiledGraph, keys: Mapping[str, KeySwitchKey]) -> CompiledGraph:
    """Returns the graph, compiled again if a key that the device would expand has no direct seed.

    Each set of keys with seeds is compiled for once.

    Raises:
        ProgramError: If the graph with more full keys does not fit the design.
    """
    executable = compiled.executable
    graph = compiled.graph
    primes = graph.primes[: graph.key_primes]
    seeded = frozenset(name for name in graph.keys if expandable(keys[name], primes))
    if executable is None or executable.seeded <= seeded:
        return compiled
    if seeded not in compiled.for_seeds:
        compiled.for_seeds[seeded] = compile_graph(graph, executable.design, seeded)
    return compiled.for_seeds[seeded]


def run_graph(
    compiled: CompiledGraph,
    device: Device,
    inputs: Mapping[str, Residues],
    keys: Mapping[str, AnyKey],
) -> GraphResult:
    """Checks the arguments and executes a compiled graph.

    If the device would expand the a part of a key that has no seed, the graph is compiled again
    for such keys.

    Args:
        compiled: The graph.
        device: From ``open_device``.
        inputs: Input name -> residues (limbs, N).
        keys: Key name -> key-switching key; additional ones are ignored.

    Raises:
        ProgramError: If an input or key is missing, or not what the graph takes.
        DeviceError: If the device cannot run the graph.
    """
    return device.execute(*_checked(compiled, device, inputs, keys))


def submit_graph(
    compiled: CompiledGraph,
    device: Device,
    inputs: Mapping[str, Residues],
    keys: Mapping[str, AnyKey],
    client: str = "",
) -> Job[GraphResult]:
    """Checks the arguments and submits a compiled graph; arguments are those of ``run_graph``.

    Jobs of several clients take turns on the device.

    Raises:
        ProgramError, DeviceError: As ``run_graph``, if the error is known before the run.
    """
    given = _checked(compiled, device, inputs, keys)
    return device.submit(*given, client=client) if client else device.submit(*given)


def _checked(
    compiled: CompiledGraph,
    device: Device,
    inputs: Mapping[str, Residues],
    keys: Mapping[str, AnyKey],
) -> tuple[CompiledGraph, Mapping[str, Residues], Mapping[str, AnyKey]]:
    """Returns the graph compiled for the given keys, and the keys that it needs."""
    check_inputs(compiled.graph, inputs, residues=not device.capabilities.checks_residues)
    check_keys(compiled.graph, keys)
    needed = {name: keys[name] for name in compiled.graph.keys}
    if device.capabilities.any_keys:
        return compiled, inputs, needed
    whole = whole_keys(device.name, needed)
    return for_keys(compiled, whole), inputs, whole


def open_device(
    kind: str,
    design: str | Path | Design = "nano",
    *,
    via: str = PORTS,
    port: str | None = None,
    baud: int = DEFAULT_BAUD,
) -> Device:
    """Opens a device: ``cpu``, or an accelerator as ``model``, simulated ``rtl`` or ``card``.

    With a streaming multiplier the CPU is the host and does all other operations. Backends of other
    packages add devices.

    The RTL of a design is built the first time it is opened, and cached.

    Args:
        kind: ``cpu``, ``model``, ``rtl``, ``card``, or a kind that another package's backend adds.
        design: The accelerator: a design's name or a design.
        via: How the host reaches simulated RTL. ``ports``, the accelerator's own ports, are fast.
            ``axi-lite`` uses the registers on a bus and the data path, as the host of a card does.
        port: Of a ``card``: its serial port, such as ``/dev/ttyUSB0``; the socket of a simulated
            card (``ringsmith card``); or the prefix of its device files, such as ``/dev/xdma0``.
            Several cards are separated by commas (docs/guide/cards.md).
        baud: The port's rate in bits per second, as in the card's bitstream.

    Raises:
        DeviceError: If there is no device of that kind or no such ``via``; if no card of the
            design answers at the port.
        ParameterError: If there is no such design.
        ToolError: If the RTL simulation cannot be built.
    """
    check_type("kind", kind, str, 'name a device, such as "cpu", "model" or "rtl"')
    if via not in WAYS:
        raise DeviceError(f"there is no way {via!r} to a device: choose one of {', '.join(WAYS)}")
    if (kind == CARD) != (port is not None):
        raise DeviceError(
            f"device {kind} has no port {port}: leave out the port, or open {CARD}"
            if port is not None
            else f"device {CARD} needs the port that it is connected to: give "
            "port='/dev/ttyUSB0', a card's socket or device files, or whatever it is called here"
        )
    backend = backend_without_designs(kind)
    if backend is not None:
        return backend.open(kind, None, via)
    point = named_design(design)
    backend = backend_of(point)
    if kind not in backend.kinds:
        raise DeviceError(
            f"design {point.name} of architecture {backend.name} has no device {kind!r}: choose "
            f"one of {', '.join(backend.kinds)}"
        )
    if port is not None:
        return backend.cards().open(point, card_port(port, baud))
    return backend.open(kind, point, via)


def stacked(polynomials: Sequence[Residues]) -> Residues:
    """Returns polynomials as one array, (size, limbs, N); no copy if they are rows of one array."""
    whole = polynomials[0].base
    if (
        isinstance(whole, np.ndarray)
        and whole.shape == (len(polynomials), *polynomials[0].shape)
        and all(
            polynomial.base is whole and polynomial.ctypes.data == row.ctypes.data
            for polynomial, row in zip(polynomials, whole, strict=True)
        )
    ):
        return whole
    return np.stack(polynomials)


def named_keys(keys: AnyKeys) -> dict[str, AnyKey]:
    """Evaluation keys by the names that subroutine graphs use."""
    named: dict[str, AnyKey] = {
        galois_key_name(element): key for element, key in keys.galois.items()
    }
    return named if keys.relin is None else named | {RELIN_KEY: keys.relin}


def _polynomials(name: str, port: CiphertextPort, ciphertext: Ciphertext) -> dict[str, Residues]:
    """The polynomials of an encrypted input, by their names in the graph."""
    size, limbs = len(port.polynomials), port.limbs
    if ciphertext.data.ndim != 3 or (ciphertext.size, ciphertext.limbs) != (size, limbs):
        raise ProgramError(
            f"input {name!r} has shape {ciphertext.data.shape}; the program takes {size} "
            f"polynomials of {limbs} limbs: encrypt it at that level"
        )
    if ciphertext.scale != port.scale:
        raise ProgramError(
            f"input {name!r} has scale {ciphertext.scale!r} and the program was planned for "
            f"{port.scale!r}: encrypt it at that scale"
        )
    return dict(zip(port.polynomials, ciphertext.data, strict=True))
