"""Encrypted programs from trace to result: compile once, run on any device."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from ringsmith.backends.base import PORTS, WAYS, CompiledGraph, Device, GraphResult, InputsOnDemand
from ringsmith.backends.cards.interface import CARD, DEFAULT_BAUD, card_port
from ringsmith.backends.handles import Handle, KeysHandle, Resident, kept_names
from ringsmith.backends.jobs import ChangedJob, Job
from ringsmith.backends.keys import AnyKey, check_seeds, whole_keys
from ringsmith.backends.registry import backend_of, backend_without_designs, fitting_backend
from ringsmith.backends.types import NOTHING_ON_DEVICE, OnDevice, RunRecord, RunReport
from ringsmith.errors import CompileError, DeviceError, ProgramError, check_type
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import (
    CiphertextPort,
    ConstantsOnDemand,
    Lowered,
    lower,
)
from ringsmith.objects import (
    Ciphertext,
    EvaluationKeys,
    History,
    OnTheFlyKeys,
    Residues,
    check_opaque,
    keys_by_name,
)
from ringsmith.program import Program
from ringsmith.program.graph import check_program
from ringsmith.runtime import compiled_file
from ringsmith.runtime.check import check_belonging, check_inputs, check_key_shapes, check_keys
from ringsmith.runtime.designs import Design, check_runs, named_design
from ringsmith.runtime.host_link import HostLink
from ringsmith.runtime.noise import output_history
from ringsmith.runtime.precomputed_keys import AnyKeys, PrecomputedKeys
from ringsmith.runtime.segments import Segment, run_all, segments
from ringsmith.schemes.fits import at_line, check_operations
from ringsmith.short_repr import represented, short_repr


@short_repr
@dataclass(frozen=True)
class RunResult(RunRecord[Ciphertext]):
    """The ciphertexts and the report of an encrypted program's run.

    Attributes:
        kept: Outputs that stay on the device, by name; they are not among ``outputs``.
    """

    kept: dict[str, Handle] = field(default_factory=dict)

    def output(self, name: str) -> Handle:
        """Returns the handle of an output that stays on the device.

        Raises:
            ProgramError: If there is no such output, or the run did not keep it.
        """
        if name in self.kept:
            return self.kept[name]
        if name in self.outputs:
            raise ProgramError(
                f"output {name!r} was brought to the host, and is in outputs: run with keep=True, "
                f"or keep=[{name!r}], to leave it on the device"
            )
        every = sorted([*self.kept, *self.outputs])
        raise ProgramError(f"the program has the outputs {every}, and no {name!r:.60}")

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

    @property
    def cycles(self) -> int | None:
        """Clock cycles of a run, as model and RTL count them; None: compiled for no design."""
        executable = self.compiled_graph.executable
        return None if executable is None else executable.cycles

    def explain(self, bounds: Mapping[str, ArrayLike] | float = 1.0, *, lines: bool = False) -> str:
        """Explains the program and what it costs, without a run; see ``ringsmith.explain``.

        Raises:
            ProgramError: If a graph was lowered, and no program; or if a bound is wrong.
        """
        program, executable = self.lowered.program, self.compiled_graph.executable
        if program is None:
            raise ProgramError("a graph alone is not explained: compile a traced program")
        if executable is None:
            return program.explain(bounds, lines=lines)
        found = backend_of(executable.design).explain(executable)
        return f"{found.heading}\n{program.explain(bounds, cycles=found.by_node, lines=lines)}"

    def run(
        self,
        device: Device,
        inputs: Mapping[str, Ciphertext | Handle],
        keys: AnyKeys | KeysHandle,
        *,
        keep: bool | Collection[str] = False,
    ) -> RunResult:
        """Runs the program.

        A BFV program's forecast counts from fresh encryptions. An input that is the result of
        another run, or of ``Evaluator``, in this process causes a ``NoiseWarning``.

        Args:
            device: From ``open_device``.
            inputs: Input name -> ciphertext, encrypted at the program's level and scale, or a
                handle on this device.
            keys: The evaluation keys that the program needs, or their handle; additional ones are
                ignored. Keys expanded on the fly and precomputed keys are for the CPU only.
            keep: Outputs that stay on the device, where the next run takes them: all, or those of
                these names. ``RunResult.output`` has their handles.

        Raises:
            ProgramError: If an input or key is missing, has the wrong form, is of other
                parameters, or of another key pair than the rest; or if an output is transparent
                (of one that stays on the device, its handle's ``read`` says so). If a key has no
                seed and the program was compiled for keys with seeds.
            DeviceError: If the device cannot run the program, or a handle is of another device, or
                was freed.
            TypeError: If an argument is of another kind.
        """
        whole = self._written_out
        if whole is not None:
            if keep or any(isinstance(each, Handle) for each in inputs.values()):
                return whole.run(device, inputs, keys, keep=keep)
            self._operands(device, inputs, keys, keep)
            return self._run_parts(device, inputs, keys)
        given = self._operands(device, inputs, keys, keep)
        history = output_history(inputs)
        result = run_graph(
            self.compiled_graph, device, given.inputs, named_keys(given.keys), given.on_device
        )
        return self._run_result(device, result, given.tag, history)

    def submit(
        self,
        device: Device,
        inputs: Mapping[str, Ciphertext | Handle],
        keys: AnyKeys | KeysHandle,
        *,
        keep: bool | Collection[str] = False,
        client: str = "",
    ) -> ChangedJob[GraphResult, RunResult]:
        """Submits a run and returns at once; arguments and errors are those of ``run``.

        The job can be polled, waited for and cancelled. Jobs of one client run in the order of
        submission. Clients, which have different names, take turns.
        """
        whole = self._written_out
        if whole is not None:
            return whole.submit(device, inputs, keys, keep=keep, client=client)
        given = self._operands(device, inputs, keys, keep)
        history = output_history(inputs)
        job = submit_graph(
            self.compiled_graph,
            device,
            given.inputs,
            named_keys(given.keys),
            client,
            given.on_device,
        )
        return job.then(lambda result: self._run_result(device, result, given.tag, history))

    @cached_property
    def _written_out(self) -> "Compiled | None":
        """The program with its loops written out; None: it has none, or is written out already."""
        program = self.lowered.program
        if program is None or not program.loops or self.compiled_graph.executable is not None:
            return None
        return compile_program(program.unrolled)

    @cached_property
    def _parts(self) -> "list[tuple[Segment, Compiled]]":
        """The parts of a program with loops: each body is compiled once."""
        assert self.lowered.program is not None, "it has loops"
        return [(part, compile_program(part.program)) for part in segments(self.lowered.program)]

    def _run_parts(
        self,
        device: Device,
        inputs: Mapping[str, Ciphertext | Handle],
        keys: AnyKeys | KeysHandle,
    ) -> RunResult:
        """Runs a program with loops, of operands that were checked."""
        stages: Counter[str] = Counter()
        compiled = [each for _, each in self._parts]

        def run(position: int, given: Mapping[str, Ciphertext]) -> Mapping[str, Ciphertext]:
            result = compiled[position].run(device, given, keys)
            stages.update(result.report.stages)
            return result.outputs

        given = {name: each for name, each in inputs.items() if isinstance(each, Ciphertext)}
        parts = [part for part, _ in self._parts]
        found = run_all(parts, given, [*self.lowered.outputs], run)
        return RunResult(found, RunReport(stages=dict(stages)))

    def __repr__(self) -> str:
        """Names inputs, outputs and design; the graph has thousands of nodes."""
        design = self.compiled_graph.design
        ports = {"inputs": [*self.lowered.inputs], "outputs": [*self.lowered.outputs]}
        return represented(type(self), {**ports, "design": design and design.name})

    def _operands(
        self,
        device: Device,
        inputs: Mapping[str, Ciphertext | Handle],
        keys: AnyKeys | KeysHandle,
        keep: bool | Collection[str],
    ) -> "_Given":
        """Checks a run's arguments."""
        if not callable(getattr(device, "execute", None)):
            raise TypeError(
                f"device: {type(device).__name__} was given where a device belongs: "
                "give open_device(kind)"
            )
        check_type("inputs", inputs, Mapping, 'give ciphertexts by name: {"x": x}')
        if isinstance(keys, KeysHandle):
            keys = cast("AnyKeys", keys.of(device))
        if not isinstance(keys, OnTheFlyKeys | PrecomputedKeys):
            check_type("keys", keys, EvaluationKeys, "give the third of generate_keys")
        if inputs.keys() != self.lowered.inputs.keys():
            raise ProgramError(
                f"the program takes the inputs {sorted(self.lowered.inputs)}, not "
                f"{sorted(map(str, inputs))}"
            )
        for name, cipher in inputs.items():
            hint = "encrypt it: encrypt_vector(parameters, public_key, numbers)"
            if not isinstance(cipher, Handle):
                check_type(f"input {name!r}", cipher, Ciphertext, hint)
        identity = self.lowered.parameters_id
        named = {f"input {name!r}": cipher for name, cipher in inputs.items()}
        tag = check_belonging("the program", identity, keys, named)
        if self.lowered.program is not None:
            check_key_shapes(self.lowered.program.parameters, keys)
        polynomials: dict[str, Residues] = {}
        residents: dict[str, Resident] = {}
        for name, port in self.lowered.inputs.items():
            given = inputs[name]
            _check_port(name, port, given)
            if isinstance(given, Handle):
                there = given.residents(device, f"input {name!r}")
                residents |= zip(port.polynomials, there, strict=True)
            else:
                polynomials |= zip(port.polynomials, given.data, strict=True)
        on_device = OnDevice(residents, self._kept_polynomials(keep))
        constants = self.lowered.plaintexts
        if isinstance(constants, ConstantsOnDemand) and not constants.are_in_memory:
            made = InputsOnDemand(polynomials, constants, constants.shortened)
            return _Given(made, on_device, keys, tag)
        return _Given({**constants, **polynomials}, on_device, keys, tag)

    def _kept_polynomials(self, keep: bool | Collection[str]) -> frozenset[str]:
        """The graph's outputs that stay on the device."""
        outputs = self.lowered.outputs
        names = kept_names(keep, outputs)
        return frozenset(each for name in names for each in outputs[name].polynomials)

    def _run_result(
        self, device: Device, result: GraphResult, tag: bytes | None, history: History | None
    ) -> RunResult:
        kept = {
            name: Handle(
                device,
                len(port.polynomials),
                port.limbs,
                port.scale,
                history,
                name,
                port.contents,
                [result.kept[p] for p in port.polynomials],
                parameters_id=self.lowered.parameters_id,
                key_tag=tag,
            )
            for name, port in self.lowered.outputs.items()
            if port.polynomials[0] in result.kept
        }
        outputs = {
            name: Ciphertext(
                stacked([result.outputs[p] for p in port.polynomials]),
                port.scale,
                parameters_id=self.lowered.parameters_id,
                key_tag=tag,
                history=history,
                contents=port.contents,
            )
            for name, port in self.lowered.outputs.items()
            if name not in kept
        }
        for name, ciphertext in outputs.items():
            check_opaque(ciphertext.data, f"output {name!r}")
        return RunResult(outputs, result.report, kept)

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


@dataclass(frozen=True, eq=False)
class _Given:
    """What a run is given, checked.

    Attributes:
        inputs: The graph's inputs that lie on the host.
        on_device: Its other inputs, and outputs that stay on the device.
        keys: The evaluation keys.
        tag: The tag of the key pair; None: unknown.
    """

    inputs: Mapping[str, Residues]
    on_device: OnDevice
    keys: AnyKeys
    tag: bytes | None


def _unpickled(data: bytes) -> Compiled:
    return Compiled(*compiled_file.from_bytes(data))


def compile_program(
    program: Program,
    design: str | Path | Design | None = None,
    *,
    seeded: Collection[str] | None = None,
) -> Compiled:
    """Lowers a traced program and, where a design is given, schedules it for that design.

    Schedules are kept in the cache folder.

    Args:
        program: From ``trace``.
        design: The design; None: the program runs on the CPU only.
        seeded: Names of the keys (``relin``, ``galois:3``) whose a part a design with a PRNG
            expands from their seeds: runs need keys with seeds, as ``generate_keys(seeded=True)``
            makes them. None: all keys. ``()``: none, for full keys, such as Microsoft SEAL's. Other
            designs take every key.

    Raises:
        ParameterError: If there is no such design.
        ProgramError: If the program does not fit the design; the message begins with the user's
            line and says what it needs.
    """
    check_program(program, "compile_program")
    point = None if design is None else named_design(design)
    if point is not None:
        check_runs(program, point)
    if point is None:
        lowered = lower(program, encode=not program.loops, unroll=False)
        return Compiled(lowered, compile_graph(lowered.graph))
    program = program.unrolled
    lowered = lower(program, scalars=backend_of(point).capabilities.scalars)
    try:
        return Compiled(lowered, compile_graph(lowered.graph, point, seeded))
    except ProgramError as error:
        node = error.node if isinstance(error, CompileError) else None
        raise at_line(program, node, error, f"design {point.name}") from error


def compile_for_smallest_design(
    program: Program, *, seeded: Collection[str] | None = None
) -> Compiled:
    """Lowers a traced program and schedules it for the smallest design that runs it.

    That is a named design or, if none fits, one made for the program.
    ``compiled_graph.executable.design`` says which.

    Args:
        program: From ``trace``.
        seeded: As for ``compile_program``.

    Raises:
        ProgramError: If even a design made for it could not run it; says why.
    """
    check_program(program, "compile_for_smallest_design")
    backend = fitting_backend()
    every = f"every design of architecture {backend.name}"
    check_operations(program, backend.limits(backend.load_design(backend.designs()[0])), every)
    lowered = lower(program, scalars=backend.capabilities.scalars)
    try:
        return Compiled(lowered, CompiledGraph(lowered.graph, backend.fit(lowered.graph, seeded)))
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


def run_graph(
    compiled: CompiledGraph,
    device: Device,
    inputs: Mapping[str, Residues],
    keys: Mapping[str, AnyKey],
    on_device: OnDevice = NOTHING_ON_DEVICE,
) -> GraphResult:
    """Checks the arguments and executes a compiled graph.

    Args:
        compiled: The graph.
        device: From ``open_device``.
        inputs: Input name -> residues (limbs, N).
        keys: Key name -> key-switching key; additional ones are ignored.
        on_device: The other inputs, which lie on the device, and the outputs that stay there.

    Raises:
        ProgramError: If an input or key is missing, or not what the graph takes; if a key has no
            seed, and the device was to expand it.
        DeviceError: If the device cannot run the graph.
    """
    return device.execute(*_checked(compiled, device, inputs, keys, on_device))


def submit_graph(
    compiled: CompiledGraph,
    device: Device,
    inputs: Mapping[str, Residues],
    keys: Mapping[str, AnyKey],
    client: str = "",
    on_device: OnDevice = NOTHING_ON_DEVICE,
) -> Job[GraphResult]:
    """Checks the arguments and submits a compiled graph; arguments are those of ``run_graph``.

    Jobs of several clients take turns on the device.

    Raises:
        ProgramError, DeviceError: As ``run_graph``, if the error is known before the run.
    """
    graph, given, needed, there = _checked(compiled, device, inputs, keys, on_device)
    return device.submit(graph, given, needed, client, there)


def _checked(
    compiled: CompiledGraph,
    device: Device,
    inputs: Mapping[str, Residues],
    keys: Mapping[str, AnyKey],
    on_device: OnDevice,
) -> tuple[CompiledGraph, Mapping[str, Residues], Mapping[str, AnyKey], OnDevice]:
    """Returns the arguments of a run, with the keys that the graph needs."""
    residues = not device.capabilities.checks_residues
    check_inputs(compiled.graph, inputs, on_device.inputs, residues=residues)
    check_keys(compiled.graph, keys, residues=residues)
    needed = {name: keys[name] for name in compiled.graph.keys}
    if device.capabilities.any_keys:
        return compiled, inputs, needed, on_device
    whole = whole_keys(device.name, needed)
    check_seeds(compiled, whole)
    return compiled, inputs, whole, on_device


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
    named: dict[str, AnyKey] = {**keys_by_name(keys)}
    return named


def _check_port(name: str, port: CiphertextPort, given: Ciphertext | Handle) -> None:
    """Refuses an encrypted input of another size, level or scale than the program takes."""
    size, limbs = len(port.polynomials), port.limbs
    flat = isinstance(given, Ciphertext) and given.data.ndim != 3
    if flat or (given.size, given.limbs) != (size, limbs):
        found = (
            f"{given.size} polynomials of {given.limbs} limbs"
            if isinstance(given, Handle)
            else f"shape {given.data.shape}"
        )
        raise ProgramError(
            f"input {name!r} has {found}; the program takes {size} "
            f"polynomials of {limbs} limbs: encrypt it at that level"
        )
    if given.scale != port.scale:
        raise ProgramError(
            f"input {name!r} has scale {given.scale!r} and the program was planned for "
            f"{port.scale!r}: encrypt it at that scale"
        )
    wanted, held = port.contents, given.contents
    if wanted is not None and held is not None and not held.serves(wanted):
        raise ProgramError(
            f"input {name!r} takes {wanted}, and the result of another run that was given holds "
            f"{held}: declare the input as all slots (None), return x * np.ones(n) for zeros after "
            "n numbers, or join the programs"
        )
