"""One encrypted classification from training to decryption, stage by stage."""

from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from ringsmith.apps import session
from ringsmith.apps.logreg.client import Client
from ringsmith.apps.logreg.interface import INPUT
from ringsmith.apps.logreg.model import Model, train
from ringsmith.apps.logreg.outcome import Predictions
from ringsmith.apps.logreg.records import Records, load_records
from ringsmith.apps.logreg.server import Server
from ringsmith.apps.logreg.sizes import Size
from ringsmith.apps.seal_program import on_seal, rotation_steps, seal_is_there
from ringsmith.apps.stages import Stages
from ringsmith.backends.base import Design

Session: TypeAlias = session.Session[Model, Records, Server, Client, Predictions]
"""The data are the held-out patients' records, in one ciphertext."""

Answer: TypeAlias = session.Answer[Predictions]


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
    with stages(session.PLAN) as stage:
        server = Server(model, size, design, fused_rescale=fused_rescale)
        stage.note = session.program_note(server)
    client = session.make_keys(stages, lambda: Client(server.interface))
    with stages("Client: encrypt the patients") as stage:
        ciphertext = client.encrypt(held_out.features)
        stage.note = f"{len(held_out)} in one ciphertext of {session.mebibytes(ciphertext)}"
    compare = partial(Predictions.compare, model, held_out)
    return session.Session(model, held_out, server, client, [{INPUT: ciphertext}], compare)


def time_seal(stages: Stages, current: Session) -> SealTimes | None:
    """Times Microsoft SEAL on the same program and on single operations, on this CPU.

    SEAL has keys and a ciphertext of its own, and its result is checked like ours.

    Returns:
        The times; None, and a line that says so, where ``seal-python`` is not installed.
    """
    if not seal_is_there(stages.console):
        return None
    with stages("Time Microsoft SEAL on this CPU") as stage:
        program, packed = current.server.program, current.client.pack(current.data.features)
        baseline, seconds = on_seal(program, {INPUT: packed})
        steps = rotation_steps(program)[0]
        operations = baseline.operation_seconds(program.parameters.limbs, steps)
        stage.note = f"the same program takes {seconds * 1e3:.1f} ms"
    return SealTimes(seconds, dict(operations))
