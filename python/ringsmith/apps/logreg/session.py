"""One encrypted classification from training to decryption, stage by stage."""

from dataclasses import dataclass

from ringsmith import runtime
from ringsmith.apps import notes
from ringsmith.apps.logreg.client import Client
from ringsmith.apps.logreg.interface import INPUT, OUTPUT
from ringsmith.apps.logreg.model import Model, train
from ringsmith.apps.logreg.outcome import Predictions
from ringsmith.apps.logreg.records import Records, load_records
from ringsmith.apps.logreg.server import Server
from ringsmith.apps.logreg.sizes import Size
from ringsmith.apps.machines import run_and_compare
from ringsmith.apps.seal_baseline import SealBaseline
from ringsmith.apps.seal_program import program_seconds, rotation_steps, seal_is_there
from ringsmith.apps.stages import Stages
from ringsmith.backends.base import Design
from ringsmith.objects import Ciphertext


@dataclass(frozen=True, eq=False)
class Session:
    """Client and server, and the client's encrypted records.

    Attributes:
        model: The trained model; the server's.
        records: The held-out patients; the client's.
        server: Holds the compiled program.
        client: Holds the keys.
        ciphertext: The records, encrypted.
    """

    model: Model
    records: Records
    server: Server
    client: Client
    ciphertext: Ciphertext


@dataclass(frozen=True, eq=False)
class Answer:
    """What came back, decrypted.

    Attributes:
        result: Ciphertext, cycles, instructions.
        predictions: Decrypted probabilities beside the clear models'.
        equal_bits: Whether every residue equals the cpu device's; None on the cpu itself.
    """

    result: runtime.RunResult
    predictions: Predictions
    equal_bits: bool | None


@dataclass(frozen=True)
class SealTimes:
    """Microsoft SEAL on this CPU, one thread, median seconds.

    Attributes:
        program: The whole encrypted program.
        operations: Single operations with all limbs.
    """

    program: float
    operations: dict[str, float]


def begin(
    stages: Stages, size: Size, design: str | Design | None, *, fused_rescale: bool = False
) -> Session:
    """Trains, compiles, makes keys and encrypts; ``fused_rescale`` as of ``server.plan``.

    Raises:
        ProgramError: When the program does not fit the parameters or the design.
        ToolError: When scikit-learn is missing.
    """
    with stages("Train the model in the clear") as stage:
        training, held_out = load_records(size.held_out)
        model = train(training, size)
        stage.note = f"{len(training)} patients, {size.features} features"
    with stages("Plan and compile the program") as stage:
        server = Server(model, size, design, fused_rescale=fused_rescale)
        stage.note = notes.of_program(server.program, server.compiled)
    with stages("Client: make keys") as stage:
        client = Client(server.interface)
        stage.note = notes.of_keys(client.evaluation_keys)
    with stages("Client: encrypt the patients") as stage:
        ciphertext = client.encrypt(held_out.features)
        mebibytes = ciphertext.data.nbytes / 2**20
        stage.note = f"{len(held_out)} in one ciphertext of {mebibytes:.1f} MiB"
    return Session(model, held_out, server, client, ciphertext)


def answer(stages: Stages, session: Session, machine: runtime.Machine) -> Answer:
    """Runs the program on a machine, compares with the cpu device, and decrypts.

    Raises:
        DeviceError: When the machine fails.
    """
    keys = session.client.evaluation_keys
    [result], equal = run_and_compare(
        stages, machine, lambda on: [session.server.classify(on, session.ciphertext, keys)]
    )
    with stages("Client: decrypt"):
        probabilities = session.client.decrypt(result.outputs[OUTPUT], len(session.records))
    predictions = Predictions.compare(session.model, session.records, probabilities)
    return Answer(result, predictions, equal)


def time_seal(stages: Stages, session: Session) -> SealTimes | None:
    """Times Microsoft SEAL on the same program and on single operations, on this CPU.

    SEAL has keys and a ciphertext of its own, and its result is checked like ours.

    Returns:
        The times; None, and a line that says so, where ``seal-python`` is not installed.
    """
    if not seal_is_there(stages.console):
        return None
    with stages("Time Microsoft SEAL on this CPU") as stage:
        program = session.server.program
        steps = rotation_steps(program)
        baseline = SealBaseline(program.parameters, steps)
        packed = session.client.pack(session.records.features)
        seconds = program_seconds(baseline, program, {INPUT: packed})
        operations = baseline.operation_seconds(program.parameters.limbs, steps[0])
        stage.note = f"the same program takes {seconds * 1e3:.1f} ms"
    return SealTimes(seconds, dict(operations))
