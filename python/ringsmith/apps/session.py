"""Runs any application: keys, encryption, a run on a device, decryption, comparison, numbers."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar, cast

import numpy as np
from rich.console import Console, RenderableType

from ringsmith import runtime
from ringsmith.apps.application import Application, Inputs, Numbers, Outcome, Server, for_runs
from ringsmith.apps.conditions import conditions
from ringsmith.apps.report import Took, layers, layers_table, refuse_different_bits
from ringsmith.apps.seal_baseline import SealBaseline, median_seconds
from ringsmith.apps.seal_program import PROGRAM_REPEATS, on_seal, seal_is_there
from ringsmith.apps.stages import Stages
from ringsmith.backends.base import Design
from ringsmith.backends.registry import REFERENCE, named_design, takes_design
from ringsmith.client import generate_keys, noise_budget
from ringsmith.files import Target
from ringsmith.objects import Ciphertext
from ringsmith.program import ClientKit

if TYPE_CHECKING:
    from ringsmith.program import CkksProgram

PLAN = "Plan and compile the programs"
"""The stage in which the server makes its programs ready."""

AnyOutcome = TypeVar("AnyOutcome")


class Client:
    """A client of a server, with keys of its own."""

    def __init__(self, kits: Sequence[ClientKit], *, seeded: bool = False) -> None:
        """Makes keys.

        Args:
            kits: What the server publishes: a kit for all runs, or one for each; all have the same
                ring and primes, and one pair of keys serves all.
            seeded: Whether half of each evaluation key is made from a seed.
        """
        self._kits = kits
        needs = reduce(or_, (kit.key_needs for kit in kits))
        several = {"any_plain_modulus": True} if len(kits) > 1 else {}
        self._secret_key, self.public_key, self.evaluation_keys = generate_keys(
            kits[0].parameters, needs, seeded=seeded, **several
        )

    def encrypt(self, runs: Sequence[Numbers]) -> list[Inputs]:
        """Returns the ciphertexts of each run.

        Raises ProgramError when there are too many numbers, or one outside its input's range.
        """
        kits = for_runs(self._kits, len(runs))
        return [self._encrypted(kit, run) for kit, run in zip(kits, runs, strict=True)]

    def decrypt(self, runs: Sequence[Inputs]) -> list[Numbers]:
        """Returns the numbers of each run's outputs."""
        kits = for_runs(self._kits, len(runs))
        return [self._decrypted(kit, run) for kit, run in zip(kits, runs, strict=True)]

    def noise_budgets(self, runs: Sequence[Inputs]) -> list[int]:
        """Returns the least noise budget that is left in each run's outputs; of BFV only."""
        kits = for_runs(self._kits, len(runs))
        return [
            min(noise_budget(kit.parameters, self._secret_key, each) for each in run.values())
            for kit, run in zip(kits, runs, strict=True)
            if kit.parameters.exact
        ]

    def _encrypted(self, kit: ClientKit, numbers: Numbers) -> Inputs:
        return kit.encrypt(self.public_key, numbers)

    def _decrypted(self, kit: ClientKit, outputs: Inputs) -> Numbers:
        return kit.decrypt(self._secret_key, outputs)


@dataclass(frozen=True, eq=False)
class Answer(Generic[Outcome]):
    """What came back, decrypted.

    Attributes:
        results: Ciphertexts, cycles, instructions of each run.
        outcome: What was decrypted, compared with the model in the clear.
        equal_bits: Whether every residue equals the cpu device's; None on the cpu itself.
        noise_budgets: What is left in each run's result, in bits; none in CKKS.
    """

    results: Sequence[runtime.RunResult]
    outcome: Outcome
    equal_bits: bool | None
    noise_budgets: Sequence[int]


@dataclass(frozen=True, eq=False)
class Session(Generic[Outcome]):
    """Client and server of an application, and the client's encrypted data."""

    application: Application[Outcome]
    server: Server
    client: Client
    vectors: Sequence[Numbers]
    inputs: Sequence[Inputs]

    def answer(self, stages: Stages, device: runtime.Device) -> Answer[Outcome]:
        """Runs the programs on a device, compares with the cpu device, and decrypts.

        Raises DeviceError when the device fails.
        """
        keys = self.client.evaluation_keys
        results, equal = run_and_compare(
            stages, device, lambda on: self.server.run(on, self.inputs, keys)
        )
        outputs = [result.outputs for result in results]
        with stages("Client: decrypt"):
            found = self.client.decrypt(outputs)
            budgets = self.client.noise_budgets(outputs)
        return Answer(results, self.application.outcome(self.server, found), equal, budgets)


def begin(
    stages: Stages,
    application: Application[AnyOutcome],
    design: str | Design | None = None,
    *,
    accelerated: bool | None = None,
    client: Callable[..., Client] = Client,
) -> Session[AnyOutcome]:
    """Trains, compiles, makes keys and encrypts.

    Raises ParameterError when the data do not fit a ciphertext; ProgramError when a program does
    not fit its parameters or the design; ToolError when the package that carries the data is
    missing.
    """
    with stages(application.preparation) as stage:
        stage.note = application.prepare()
    with stages(PLAN) as stage:
        server = application.server(design, accelerated=accelerated)
        stage.note = server.note
    with stages("Client: make keys") as stage:
        owner = client(server.kits, seeded=server.seeded)
        count = len(owner.evaluation_keys.galois) + (owner.evaluation_keys.relin is not None)
        stage.note = f"{count} evaluation key{'s' * (count != 1)} for the server"
    with stages(f"Client: encrypt {application.encrypted}") as stage:
        vectors = list(application.vectors(server))
        inputs = owner.encrypt(vectors)
        ciphertexts = [each for run in inputs for each in run.values()]
        stage.note = f"{len(ciphertexts)} of {_mebibytes(ciphertexts)} together"
    return Session(application, server, owner, vectors, inputs)


def open_device(stages: Stages, kind: str, design: str | Design) -> runtime.Device:
    """Opens the server's device; the RTL's simulator is built the first time.

    Raises ToolError when Verilator or a compiler is missing or fails.
    """
    if kind != "rtl":
        return runtime.open_device(kind, design)
    name = design if isinstance(design, str) else design.name
    with stages(f"Build the RTL of {name}", "minutes, but only the first time"):
        return runtime.open_device(kind, design)


def run_and_compare(
    stages: Stages,
    device: runtime.Device,
    run: Callable[[runtime.Device], Sequence[runtime.RunResult]],
) -> tuple[Sequence[runtime.RunResult], bool | None]:
    """Runs programs on a device, and again on the ``cpu`` device unless it is that.

    Raises DeviceError when the device fails.

    Returns:
        The results, and whether every residue of theirs equals the cpu device's; None: on it.
    """
    with stages(f"Server: run on the {device.name} device") as stage:
        results = run(device)
        cycles = [result.cycles for result in results if result.cycles is not None]
        stage.note = f"{sum(cycles):,} clock cycles" if cycles else ""
    if device.name == REFERENCE:
        return results, None
    with stages("Compare with the cpu device") as stage:
        equal = all(
            np.array_equal(found.data, reference.outputs[name].data)
            for result, reference in zip(results, run(runtime.open_device(REFERENCE)), strict=True)
            for name, found in result.outputs.items()
        )
        stage.note = "every residue equal" if equal else "DIFFERENT"
    return results, equal


def time_seal(
    stages: Stages, session: Session[AnyOutcome]
) -> tuple[SealBaseline, float, float] | None:
    """Times Microsoft SEAL and the ``cpu`` device on the first run of a CKKS program.

    SEAL has keys and a ciphertext of its own, and its result is checked like ours. Returns SEAL
    with the program's keys, its median CPU seconds on one thread, and the cpu device's on all its
    threads; None, and a line that says so, where ``seal-python`` is not installed.
    """
    if not seal_is_there(stages.console):
        return None
    server, program = session.server, cast("CkksProgram", session.server.program)
    with stages("Time Microsoft SEAL and the cpu device") as stage:
        baseline, seal = on_seal(program, session.vectors[0])
        cpu, first = runtime.open_device(REFERENCE), session.inputs[:1]
        keys = session.client.evaluation_keys
        ours = median_seconds(lambda: server.run(cpu, first, keys), PROGRAM_REPEATS)
        stage.note = f"{seal * 1e3:.1f} and {ours * 1e3:.1f} ms of CPU time"
    return baseline, seal, ours


def check(application: Application[AnyOutcome], output: Target | None, design: str | None) -> None:
    """Refuses a file or a design before minutes are spent on what goes into it.

    Raises InteropError when the file cannot be written, or is one that is read; ParameterError when
    there is no such design.
    """
    if design is not None:
        named_design(design)
    if output:
        output.check([*application.files(), Path(design) if design else None])


def write(output: Target, stages: Stages, numbers: Mapping[str, object]) -> None:
    """Writes numbers as JSON, with the seconds of each stage; raises InteropError."""
    written = {**numbers, "stage_seconds": stages.seconds()}
    output.write(json.dumps(written, indent=2) + "\n")


More: TypeAlias = Callable[
    [Stages, runtime.Device, Session[AnyOutcome], Answer[AnyOutcome], SealBaseline | None],
    tuple[Sequence[RenderableType], dict[str, object]],
]


def run(
    application: Application[AnyOutcome],
    device: str,
    design: str | None,
    output: Target | None = None,
    *,
    seal: bool = False,
    client: Callable[..., Client] = Client,
    typed: str = "",
    heading: str = "",
    more: More[AnyOutcome] | None = None,
) -> None:
    """Runs an application on a device, prints what it found and what it took.

    Raises DeviceError when the device's residues differ from the cpu device's; InteropError when a
    file cannot be read or written; ParameterError when there is no such design, or the data do not
    fit; ProgramError when a program does not fit the design; ToolError when the package that
    carries the data is missing.

    Args:
        application: The application.
        device: ``cpu``, ``model`` or ``rtl``.
        design: The accelerator that ``model`` and ``rtl`` are; None: the smallest that does.
        output: Where to write the numbers as JSON; None: nowhere.
        seal: Whether to time Microsoft SEAL, and the cpu device, on the first run.
        client: Makes the client.
        typed: The command line; empty: ``ringsmith run`` with the application's options.
        heading: Printed first.
        more: Measures more when all has been run; returns what is printed and written of it.
    """
    check(application, output, design)
    console = Console()
    stages = Stages(console)
    if heading:
        console.print(heading)
    current = begin(stages, application, design, accelerated=takes_design(device), client=client)
    server = current.server
    on = server.design or design or "nano"
    opened = open_device(stages, device, on)
    answer = current.answer(stages, opened)
    times = time_seal(stages, current) if seal else None
    shown, written = (
        more(stages, opened, current, answer, times[0] if times else None) if more else ([], {})
    )
    console.print()
    for each in application.show(answer.outcome):
        console.print(each)
    numbers = application.numbers(answer.outcome)
    if application.layers:
        found = layers(application.layers, server.program, server.executable)
        console.print(layers_table(found))
        numbers["layers"] = [asdict(layer) for layer in found]
    where = device_and_design(device, on)
    programs = []
    for took in took_by_programs(current, answer, times):
        programs.append(took.numbers())
        for table in took.tables(where):
            console.print(table)
    numbers |= {"program": programs[0]} if len(programs) == 1 else {"programs": programs}
    for each in shown:
        console.print(each)
    numbers |= written | {
        "runs": len(answer.results),
        "design": getattr(server.design, "name", None),
    }
    if answer.noise_budgets:
        numbers["noise_budgets"] = list(answer.noise_budgets)
    numbers["equal_bits_with_cpu"] = answer.equal_bits
    chosen = f" --design {design}" * (design is not None)
    typed = typed or f"ringsmith run {application.name} --device {device}{chosen}" + (
        application.typed() + " --seal" * seal
    )
    if output:
        of, seeded = server.kits[0].parameters, server.seeded
        around = conditions(typed, of, seeded_keys=seeded, hz=application.hz)
        write(output, stages, {**around, **numbers})
    refuse_different_bits(answer.equal_bits)
    application.check(answer.outcome)


def took_by_programs(
    session: Session[AnyOutcome],
    answer: Answer[AnyOutcome],
    times: tuple[SealBaseline, float, float] | None,
) -> list[Took]:
    """Returns what the first run of each program took."""
    _, seal, cpu = times or (None, None, None)
    pairs = zip(session.server.programs, session.server.compiled, answer.results, strict=False)
    return [
        Took(
            result,
            program,
            compiled.compiled_graph.executable,
            answer.equal_bits,
            session.application.hz,
            seal,
            cpu,
        )
        for program, compiled, result in pairs
    ]


def device_and_design(device: str, design: str | Design) -> str:
    """Where a program ran, for people."""
    if not takes_design(device):
        return device
    return f"the {device} of {design if isinstance(design, str) else design.name}"


def _mebibytes(ciphertexts: Sequence[Ciphertext]) -> str:
    """The memory that ciphertexts take together, with its unit."""
    return f"{sum(each.data.nbytes for each in ciphertexts) / 2**20:.1f} MiB"
