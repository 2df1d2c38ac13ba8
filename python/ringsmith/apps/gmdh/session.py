"""One encrypted forecast from training to decryption, stage by stage."""

from functools import partial
from typing import TypeAlias

from ringsmith.apps import session
from ringsmith.apps.gmdh.client import Client
from ringsmith.apps.gmdh.curves import Curves, load_curves
from ringsmith.apps.gmdh.network import Network
from ringsmith.apps.gmdh.outcome import Outcome
from ringsmith.apps.gmdh.server import Server
from ringsmith.apps.gmdh.training import train
from ringsmith.apps.stages import Stages
from ringsmith.backends.base import Design
from ringsmith.backends.registry import takes_design

Session: TypeAlias = session.Session[Network, Curves, Server, Client, Outcome]
"""The data are the held-out days, one a meter; there is a run for each part of the interface."""

Answer: TypeAlias = session.Answer[Outcome]


def begin(
    stages: Stages, scheme: str, device: str = "cpu", design: str | Design | None = None
) -> Session:
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
    client = session.make_keys(stages, lambda: Client(server.interface))
    with stages("Client: encrypt the meters' readings") as stage:
        inputs = client.encrypt(days.observed)
        ciphertexts = [each for part in inputs for each in part.values()]
        size = session.mebibytes(*ciphertexts)
        stage.note = f"{len(days)} meters in {len(ciphertexts)} ciphertexts of {size}"
    compare = partial(Outcome.compare, network, fit, days)
    return session.Session(network, days, server, client, inputs, compare)
