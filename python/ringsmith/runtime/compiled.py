"""Encrypted programs from trace to result: compile once, run on any machine."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ringsmith.backends.base import (
    CARD,
    DEFAULT_BAUD,
    PORTS,
    WAYS,
    CompiledGraph,
    GraphResult,
    InputsOnDemand,
    Machine,
    card_port,
)
from ringsmith.backends.jobs import ChangedJob, Job
from ringsmith.backends.keys import AnyKey, expandable, whole_keys
from ringsmith.backends.registry import backend_of, backend_without_designs, fitting_backend
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
from ringsmith.objects import Ciphertext, CompactKeys, EvaluationKeys, KeySwitchKey, Residues
from ringsmith.program import Program
from ringsmith.runtime import compiled_file
from ringsmith.runtime.check import check_belonging, check_inputs, check_keys
from ringsmith.runtime.designs import Design, check_runs, named_design
from ringsmith.runtime.host_link import HostLink
from ringsmith.runtime.prepared_keys import AnyKeys, PreparedKeys
from ringsmith.schemes.fits import at_line, check_operations


@dataclass(frozen=True)
class RunResult:
    """What an encrypted program computed, and what that took.

    Attributes:
        outputs: Output name -> ciphertext.
        cycles: Clock cycles from start to completion, data resident; None on the CPU.
        instructions: Instructions issued; None on the CPU.
        host_transfers: Limbs of N words, and seeds, that crossed to or from the host under way; 0
            where the program fits.
        spilled_words: Words of these transfers, those of keys apart.
        key_words: Words of keys that the host wrote for this run; 0 where all were there already.
        memory_read: Bytes that the device read from memory beside the chip.
        memory_written: Bytes that it wrote there.
        busy: Parts of the device -> the share of the cycles in which they worked, 0 to 1; empty:
            not told.
        bytes_to_card: Bytes that crossed from the host to a card, for this run.
        bytes_to_host: Bytes that crossed back.
        bytes_streamed: Bytes between the card's memory and the coprocessor, both ways.
        stages: Parts of the run -> seconds of the host's clock; empty: not told.
    """

    outputs: dict[str, Ciphertext]
    cycles: int | None
    instructions: int | None
    host_transfers: int
    spilled_words: int
    key_words: int
    memory_read: int = 0
    memory_written: int = 0
    busy: Mapping[str, float] = field(default_factory=dict)
    bytes_to_card: int = 0
    bytes_to_host: int = 0
    bytes_streamed: int = 0
    stages: Mapping[str, float] = field(default_factory=dict)

    def transfer_seconds(self, link: HostLink) -> float:
        """Time on a host link, which no cycle counts: results, keys, and what crossed under way.

        Operands are not counted: a program before this one may have left them on the device.
        """
        words = sum(output.data.size for output in self.outputs.values())
        return link.seconds(words + self.spilled_words + self.key_words)


@dataclass(frozen=True, eq=False)
class Compiled:
    """An encrypted program, lowered, and scheduled for a design if one was asked for."""

    lowered: Lowered
    compiled_graph: CompiledGraph

    def run(
        self,
        machine: Machine,
        inputs: Mapping[str, Ciphertext],
        keys: AnyKeys,
    ) -> RunResult:
        """Runs the program.

        Args:
            machine: From ``open_device``.
            inputs: Input name -> ciphertext, encrypted at the program's level and scale.
            keys: The evaluation keys that the program needs; more do no harm. Compact and
                prepared ones are for the CPU alone.

        Raises:
            ProgramError: If an input or key is missing, not what the program takes, of other
                parameters, or of another key pair than the rest.
            DeviceError: If the machine cannot run the program.
            TypeError: If an argument is of another kind.
        """
        polynomials, tag = self._operands(machine, inputs, keys)
        result = run_graph(self.compiled_graph, machine, polynomials, named_keys(keys))
        return self._run_result(result, tag)

    def submit(
        self,
        machine: Machine,
        inputs: Mapping[str, Ciphertext],
        keys: AnyKeys,
        *,
        client: str = "",
    ) -> ChangedJob[GraphResult, RunResult]:
        """Begins to run the program, and returns at once; arguments and errors as of ``run``.

        The job can be polled, waited for and cancelled. Jobs of one client run in the order in
        which they were submitted, and those of several clients, by their names, in turn.
        """
        polynomials, tag = self._operands(machine, inputs, keys)
        job = submit_graph(self.compiled_graph, machine, polynomials, named_keys(keys), client)
        return job.then(lambda result: self._run_result(result, tag))

    def _operands(
        self, machine: Machine, inputs: Mapping[str, Ciphertext], keys: AnyKeys
    ) -> tuple[Mapping[str, Residues], bytes | None]:
        """Checks what a run is given; returns the graph's inputs, and the tag of the key pair."""
        if not callable(getattr(machine, "execute", None)):
            raise TypeError(
                f"machine: {type(machine).__name__} was given where a machine belongs: "
                "give open_device(kind)"
            )
        check_type("inputs", inputs, Mapping, 'give ciphertexts by name: {"x": x}')
        if not isinstance(keys, CompactKeys | PreparedKeys):
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
        if isinstance(constants, ConstantsOnDemand):
            return InputsOnDemand(polynomials, constants), tag
        return {**constants, **polynomials}, tag

    def _run_result(self, result: GraphResult, tag: bytes | None) -> RunResult:
        outputs = {
            name: Ciphertext(
                stacked([result.outputs[p] for p in port.polynomials]),
                port.scale,
                parameters_id=self.lowered.parameters_id,
                key_tag=tag,
            )
            for name, port in self.lowered.outputs.items()
        }
        return RunResult(
            outputs,
            result.cycles,
            result.instructions,
            result.host_transfers,
            result.spilled_words,
            result.key_words,
            result.memory_read,
            result.memory_written,
            result.busy,
            result.bytes_to_card,
            result.bytes_to_host,
            result.bytes_streamed,
            result.stages,
        )

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Writes everything that a run needs to a file, whole or not at all; suffix ``.rsc``.

        The file holds the encoded constants of the program: keep it from clients.

        Raises:
            InteropError: When the file exists and may not be overwritten, or cannot be written.
            ProgramError: When the program exceeds what readers take.
        """
        compiled_file.save(path, self.lowered, self.compiled_graph, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path, design: str | Design | None = None) -> "Compiled":
        """Reads a compiled program from a file, and compiles nothing.

        Args:
            path: The file.
            design: The design that it must be compiled for; None: any.

        Raises:
            InteropError: When the file holds none, is damaged or too large, or is for another
                design, also for another one of the same name; says which.
            ParameterError: When there is no such design.
        """
        return cls(*compiled_file.load(path, design))


def compile_program(program: Program, design: str | Design | None = None) -> Compiled:
    """Lowers a traced program and, where a design is given, schedules it for that design.

    A design with a PRNG is taken to be given keys with seeds; a run with others schedules the
    program anew, once. What was scheduled before is found in the cache folder.

    Raises:
        ParameterError: If there is no such design.
        ProgramError: If the program does not fit the design; begins with the user's line, and says
            what it needs.
    """
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

    A named design, or else one made to fit; ``compiled_graph.executable.design`` says which.

    Raises:
        ProgramError: If not even a design made to fit could run it; says why.
    """
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
    """Schedules a bare subroutine graph for a design; without one it runs on the CPU only.

    Args:
        graph: The graph.
        design: The design.
        seeded: Names of the keys whose half 1 a design with a PRNG expands; None: all.

    Raises:
        ParameterError: If there is no such design.
        ProgramError: If the graph does not fit the design; says what it needs.
    """
    if design is None:
        return CompiledGraph(graph)
    point = named_design(design)
    return CompiledGraph(graph, backend_of(point).compile(graph, point, seeded))


def for_keys(compiled: CompiledGraph, keys: Mapping[str, KeySwitchKey]) -> CompiledGraph:
    """The graph, or where a key that is to be expanded has no direct seed, the graph compiled anew.

    That is done once for each choice of keys with seeds.

    Raises:
        ProgramError: If the graph with more whole keys does not fit the design.
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
    machine: Machine,
    inputs: Mapping[str, Residues],
    keys: Mapping[str, AnyKey],
) -> GraphResult:
    """Checks what is handed in, and executes a compiled graph.

    Where the device would expand half 1 of a key that has no seed, the graph is compiled once more
    for such keys.

    Args:
        compiled: The graph.
        machine: From ``open_device``.
        inputs: Input name -> residues (limbs, N).
        keys: Key name -> key-switching key; more than needed do no harm.

    Raises:
        ProgramError: If an input or key is missing, or not what the graph takes.
        DeviceError: If the machine cannot run the graph.
    """
    return machine.execute(*_checked(compiled, machine, inputs, keys))


def submit_graph(
    compiled: CompiledGraph,
    machine: Machine,
    inputs: Mapping[str, Residues],
    keys: Mapping[str, AnyKey],
    client: str = "",
) -> Job[GraphResult]:
    """Checks what is handed in, and submits a compiled graph; arguments as of ``run_graph``.

    Jobs of several clients take turns on the machine.

    Raises:
        ProgramError, DeviceError: As ``run_graph``, of what can be told before it runs.
    """
    given = _checked(compiled, machine, inputs, keys)
    return machine.submit(*given, client=client) if client else machine.submit(*given)


def _checked(
    compiled: CompiledGraph,
    machine: Machine,
    inputs: Mapping[str, Residues],
    keys: Mapping[str, AnyKey],
) -> tuple[CompiledGraph, Mapping[str, Residues], Mapping[str, AnyKey]]:
    """What a machine is given: the graph for the keys that there are, and those that it needs."""
    check_inputs(compiled.graph, inputs, residues=not machine.capabilities.checks_residues)
    check_keys(compiled.graph, keys)
    needed = {name: keys[name] for name in compiled.graph.keys}
    if machine.capabilities.any_keys:
        return compiled, inputs, needed
    whole = whole_keys(machine.name, needed)
    return for_keys(compiled, whole), inputs, whole


def open_device(
    kind: str,
    design: str | Design = "nano",
    *,
    via: str = PORTS,
    port: str | None = None,
    baud: int = DEFAULT_BAUD,
) -> Machine:
    """Opens a machine: ``cpu``, or an accelerator as ``model``, simulated ``rtl`` or ``card``.

    A streaming multiplier has the CPU for its host, which does what it does not. Backends of other
    packages add machines.

    The RTL of a design is built the first time it is opened and cached.

    Args:
        kind: ``cpu``, ``model``, ``rtl``, ``card``, or what another package's backend offers.
        design: What the accelerator is; a design's name or a design.
        via: How the host reaches simulated RTL: by the accelerator's own ``ports``, which is fast,
            or as the host of a card does, through its registers on an ``axi-lite`` bus, and the
            data path beside it.
        port: Of a ``card``: its serial port, such as ``/dev/ttyUSB0``; the socket of a simulated
            card (``ringsmith card``); what the names of its device files begin with, such as
            ``/dev/xdma0``; several cards' between commas (docs/guide/cards.md).
        baud: The port's rate in bits a second, the one that the card's bitstream was made with.

    Raises:
        DeviceError: If there is no machine of that kind, or no such way to it; if no card of the
            design answers at the port.
        ParameterError: If there is no such design.
        ToolError: If the RTL simulation cannot be built.
    """
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
        return backend.open_card(point, card_port(port, baud))
    return backend.open(kind, point, via)


def stacked(polynomials: Sequence[Residues]) -> Residues:
    """Polynomials as one array, (size, limbs, N): not copied where they are the rows of one."""
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
