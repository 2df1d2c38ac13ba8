"""One encrypted forecast from training to decryption, stage by stage."""

from collections.abc import Sequence
from dataclasses import dataclass

from ringsmith import runtime
from ringsmith.apps.gmdh.client import Client, Forecasts, Inputs
from ringsmith.apps.gmdh.curves import Curves, load_curves
from ringsmith.apps.gmdh.interface import OUTPUT
from ringsmith.apps.gmdh.network import Network
from ringsmith.apps.gmdh.outcome import Quality, quality
from ringsmith.apps.gmdh.server import Server
from ringsmith.apps.gmdh.training import train
from ringsmith.apps.machines import run_and_compare
from ringsmith.apps.stages import Stages
from ringsmith.backends.registry import takes_design


@dataclass(frozen=True, eq=False)
class Session:
    """Client and server, and the client's encrypted readings.

    Attributes:
        network: The trained network; the server's.
        fitted: The days that it was fitted to.
        days: The held-out days, one a meter; the client's.
        server: Holds the compiled programs.
        client: Holds the keys.
        inputs: The readings, encrypted for each part.
    """

    network: Network
    fitted: Curves
    days: Curves
    server: Server
    client: Client
    inputs: list[Inputs]


@dataclass(frozen=True, eq=False)
class Answer:
    """What came back, decrypted.

    Attributes:
        results: Ciphertexts, cycles, instructions of each part.
        forecasts: The decrypted forecasts.
        quality: What they were worth.
        equal_bits: Whether every residue equals the cpu device's; None on the cpu itself.
    """

    results: Sequence[runtime.RunResult]
    forecasts: Forecasts
    quality: Quality
    equal_bits: bool | None


def begin(stages: Stages, scheme: str, device: str = "cpu", design: str | None = None) -> Session:
    """Trains, plans, compiles, makes keys and encrypts.

    Args:
        stages: Shows progress.
        scheme: One of ``server.SCHEMES``.
        device: Where the programs are to run: ``cpu``, ``model`` or ``rtl``.
        design: The accelerator that ``model`` and ``rtl`` are; None: the smallest that does.

    Raises:
        ProgramError: When the design cannot run the programs.
        ToolError: When sktime, which carries the data, is missing.
    """
    with stages("Train the network in the clear") as stage:
        fit, select, days = load_curves()
        network = train(fit, select)
        stage.note = (
            f"{len(fit) + len(select)} days, {len(network.layers) - 1} hidden layers, readings of "
            f"{len(network.hours)} hours used"
        )
    with stages("Plan and compile the programs") as stage:
        on_design = takes_design(device)
        server = Server(network, scheme, design if on_design else None, smallest=on_design)
        nodes, parts = len(server.programs[0].nodes), len(server.programs)
        parameters = server.programs[0].parameters
        stage.note = f"{parts} of {nodes} operations, N = {parameters.n}, {parameters.log_qp} bits"
        stage.note += f", for design {server.design.name}" if server.design else ""
    with stages("Client: make keys"):
        client = Client(server.interface)
    with stages("Client: encrypt the meters' readings") as stage:
        inputs = client.encrypt(days.observed)
        ciphertexts = [c for part in inputs for c in part.values()]
        size = sum(c.data.nbytes for c in ciphertexts) / 2**20
        stage.note = f"{len(days)} meters in {len(ciphertexts)} ciphertexts of {size:.1f} MiB"
    return Session(network, fit, days, server, client, inputs)


def answer(stages: Stages, session: Session, machine: runtime.Machine) -> Answer:
    """Runs the programs on a machine, compares with the cpu device, and decrypts.

    Raises:
        DeviceError: When the machine fails.
    """
    keys = session.client.evaluation_keys
    results, equal = run_and_compare(
        stages, machine, lambda on: session.server.forecast(on, session.inputs, keys)
    )
    with stages("Client: decrypt"):
        outputs = [result.outputs[OUTPUT] for result in results]
        found = session.client.decrypt(outputs, len(session.days))
    worth = quality(session.network, session.fitted, session.days, found)
    return Answer(results, found, worth, equal)
