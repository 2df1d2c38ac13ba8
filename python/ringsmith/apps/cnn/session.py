"""One encrypted classification from training to decryption, stage by stage."""

from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from ringsmith import runtime
from ringsmith.apps import session
from ringsmith.apps.cnn.client import Client
from ringsmith.apps.cnn.images import Images, load_images
from ringsmith.apps.cnn.interface import INPUT
from ringsmith.apps.cnn.network import Network
from ringsmith.apps.cnn.outcome import Predictions
from ringsmith.apps.cnn.server import Server
from ringsmith.apps.cnn.training import HIDDEN, MAPS, train
from ringsmith.apps.seal_baseline import median_seconds
from ringsmith.apps.seal_program import PROGRAM_REPEATS, on_seal, seal_is_there
from ringsmith.apps.stages import Stages
from ringsmith.backends.base import Design
from ringsmith.params import CkksParameters

Session: TypeAlias = session.Session[Network, Images, Server, Client, Predictions]
"""The data are the held-out images that are classified, some in each ciphertext."""

Answer: TypeAlias = session.Answer[Predictions]


@dataclass(frozen=True)
class CpuTimes:
    """The program for one batch on this CPU, median seconds of CPU time.

    Attributes:
        seal: Microsoft SEAL, on one thread.
        ours: The ``cpu`` device, on all its threads together.
    """

    seal: float
    ours: float


def begin(
    stages: Stages,
    parameters: CkksParameters,
    design: str | Design | None,
    images: int,
    *,
    maps: int = MAPS,
    hidden: int = HIDDEN,
) -> Session:
    """Trains, compiles, makes keys and encrypts.

    Args:
        stages: Shows progress.
        parameters: HE parameters, of five levels or more.
        design: Accelerator to schedule for; None: the ``cpu`` device only.
        images: Held-out images to classify, at most; 1 or more.
        maps: Maps of the convolution.
        hidden: Neurons of the hidden layer.

    Raises:
        ParameterError: When a ciphertext does not hold an image.
        ProgramError: When the program does not fit the parameters or the design.
        ToolError: When scikit-learn is missing.
    """
    with stages("Train the network in the clear") as stage:
        training, held_out = load_images()
        network = train(training, maps, hidden)
        stage.note = f"{len(training)} images, {maps} maps, {hidden} hidden neurons"
    with stages(session.PLAN) as stage:
        server = Server(network, parameters, design)
        stage.note = session.program_note(server)
    client = session.make_keys(stages, lambda: Client(server.interface))
    with stages("Client: encrypt the images") as stage:
        chosen = held_out.first(images)
        batches = client.encrypt(chosen.pixels)
        most, size = server.interface.layout.images, session.mebibytes(batches[0])
        stage.note = f"{len(chosen)}, up to {most} in each ciphertext of {size}"
    inputs = [{INPUT: batch} for batch in batches]
    compare = partial(Predictions.compare, network, chosen)
    return session.Session(network, chosen, server, client, inputs, compare)


def time_on_cpu(stages: Stages, current: Session) -> CpuTimes | None:
    """Times Microsoft SEAL and the ``cpu`` device on the program for one batch.

    SEAL has keys and a ciphertext of its own, and its result is checked like ours.

    Returns:
        The times; None, and a line that says so, where ``seal-python`` is not installed.
    """
    if not seal_is_there(stages.console):
        return None
    with stages("Time Microsoft SEAL and the cpu device") as stage:
        server, keys = current.server, current.client.evaluation_keys
        packed = next(current.client.pack(current.data.pixels))
        _, seal = on_seal(server.program, {INPUT: packed})
        cpu, batch = runtime.open_device("cpu"), current.inputs[:1]
        ours = median_seconds(lambda: server.run(cpu, batch, keys), PROGRAM_REPEATS)
        stage.note = f"{seal * 1e3:.1f} and {ours * 1e3:.1f} ms of CPU time"
    return CpuTimes(seal, ours)
