"""One encrypted classification from training to decryption, stage by stage."""

from collections.abc import Sequence
from dataclasses import dataclass

from ringsmith import runtime
from ringsmith.apps import notes
from ringsmith.apps.cnn.client import Client
from ringsmith.apps.cnn.images import Images, load_images
from ringsmith.apps.cnn.interface import INPUT, OUTPUT
from ringsmith.apps.cnn.network import Network
from ringsmith.apps.cnn.outcome import Predictions
from ringsmith.apps.cnn.server import Server
from ringsmith.apps.cnn.training import HIDDEN, MAPS, train
from ringsmith.apps.machines import run_and_compare
from ringsmith.apps.seal_baseline import SealBaseline, median_seconds
from ringsmith.apps.seal_program import (
    PROGRAM_REPEATS,
    program_seconds,
    rotation_steps,
    seal_is_there,
)
from ringsmith.apps.stages import Stages
from ringsmith.backends.base import Design
from ringsmith.objects import Ciphertext
from ringsmith.params import CkksParameters


@dataclass(frozen=True, eq=False)
class Session:
    """Client and server, and the client's encrypted images.

    Attributes:
        network: The trained network; the server's.
        images: The held-out images that are classified; the client's.
        server: Holds the compiled program.
        client: Holds the keys.
        batches: The images, encrypted.
    """

    network: Network
    images: Images
    server: Server
    client: Client
    batches: Sequence[Ciphertext]


@dataclass(frozen=True, eq=False)
class Answer:
    """What came back, decrypted.

    Attributes:
        results: Ciphertext, cycles, instructions of each batch.
        predictions: Decrypted scores beside the clear network's.
        equal_bits: Whether every residue equals the cpu device's; None on the cpu itself.
    """

    results: Sequence[runtime.RunResult]
    predictions: Predictions
    equal_bits: bool | None


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
    with stages("Plan and compile the program") as stage:
        server = Server(network, parameters, design)
        stage.note = notes.of_program(server.program, server.compiled)
    with stages("Client: make keys") as stage:
        client = Client(server.interface)
        stage.note = notes.of_keys(client.evaluation_keys)
    with stages("Client: encrypt the images") as stage:
        chosen = held_out.first(images)
        batches = client.encrypt(chosen.pixels)
        mebibytes = batches[0].data.nbytes / 2**20
        room = server.interface.layout.images
        stage.note = f"{len(chosen)}, {room} in each ciphertext of {mebibytes:.1f} MiB"
    return Session(network, chosen, server, client, batches)


def answer(stages: Stages, session: Session, machine: runtime.Machine) -> Answer:
    """Runs the program for every batch, compares with the cpu device, and decrypts.

    Raises:
        DeviceError: When the machine fails.
    """
    keys = session.client.evaluation_keys
    results, equal = run_and_compare(
        stages, machine, lambda on: session.server.classify(on, session.batches, keys)
    )
    with stages("Client: decrypt"):
        outputs = [result.outputs[OUTPUT] for result in results]
        scores = session.client.decrypt(outputs, len(session.images))
    return Answer(results, Predictions.compare(session.network, session.images, scores), equal)


def time_on_cpu(stages: Stages, session: Session) -> CpuTimes | None:
    """Times Microsoft SEAL and the ``cpu`` device on the program for one batch.

    SEAL has keys and a ciphertext of its own, and its result is checked like ours.

    Returns:
        The times; None, and a line that says so, where ``seal-python`` is not installed.
    """
    if not seal_is_there(stages.console):
        return None
    with stages("Time Microsoft SEAL and the cpu device") as stage:
        server, keys = session.server, session.client.evaluation_keys
        baseline = SealBaseline(server.program.parameters, rotation_steps(server.program))
        packed = next(session.client.pack(session.images.pixels))
        seal = program_seconds(baseline, server.program, {INPUT: packed})
        cpu, batch = runtime.open_device("cpu"), session.batches[:1]
        ours = median_seconds(lambda: server.classify(cpu, batch, keys), PROGRAM_REPEATS)
        stage.note = f"{seal * 1e3:.1f} and {ours * 1e3:.1f} ms of CPU time"
    return CpuTimes(seal, ours)
