"""One encrypted forecast from training to decryption, stage by stage."""

from functools import partial
from typing import TypeAlias

from ringsmith.apps import session
from ringsmith.apps.gmdh.client import Client
from ringsmith.apps.gmdh.curves import Curves, load_curves
from ringsmith.apps.gmdh.network import Network
from ringsmith.apps.gmdh.outcome import Outcome
from ringsmith.apps.gmdh.server import Server
from ringsmith.apps.gmdh.steps import Server as StepServer
from ringsmith.apps.gmdh.training import train
from ringsmith.apps.interface import Inputs
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
    network, fit, days = _trained(stages)
    with stages("Plan and compile the programs") as stage:
        on_design = takes_design(device)
        server = Server(network, scheme, design if on_design else None, smallest=on_design)
        nodes, parts = len(server.programs[0].nodes), len(server.programs)
        parameters = server.programs[0].parameters
        stage.note = f"{parts} of {nodes} operations, N = {parameters.n}, {parameters.log_qp} bits"
        stage.note += f", for design {server.design.name}" if server.design else ""
    client = session.make_keys(stages, lambda: Client(server.interface))
    inputs = _encrypted(stages, client, days)
    compare = partial(Outcome.compare, network, fit, days)
    return session.Session(network, days, server, client, inputs, compare)


Steps: TypeAlias = session.Session[Network, Curves, StepServer, Client, Outcome]
"""The same where an accelerator gets one operation at a time; a run for each plain modulus."""


def begin_steps(stages: Stages, design: str | Design) -> Steps:
    """As ``begin``, in BFV, for an accelerator that does not hold the whole program.

    Args:
        stages: Shows progress.
        design: The accelerator; ``steps.takes_steps`` says whether it does.

    Raises:
        ProgramError: When the design cannot run an operation.
        ToolError: When sktime, which carries the data, is missing.
    """
    network, fit, days = _trained(stages)
    with stages("Compile product and relinearization") as stage:
        server = StepServer(network, design)
        parameters = server.interface.parameters
        stage.note = (
            f"for {len(server.parameters)} plain moduli, N = {parameters.n}, "
            f"{parameters.log_qp} bits, for design {server.design.name}"
        )
    client = session.make_keys(stages, lambda: Client(server.interface))
    inputs = _encrypted(stages, client, days)
    compare = partial(Outcome.compare, network, fit, days)
    return session.Session(network, days, server, client, inputs, compare)


def _trained(stages: Stages) -> tuple[Network, Curves, Curves]:
    """The network, the days that it was fitted to, and the held-out ones."""
    with stages("Train the network in the clear") as stage:
        fit, select, days = load_curves()
        network = train(fit, select)
        stage.note = (
            f"{len(fit) + len(select)} days, {len(network.layers) - 1} hidden layers, readings of "
            f"{len(network.hours)} hours used"
        )
    return network, fit, days


def _encrypted(stages: Stages, client: Client, days: Curves) -> list[Inputs]:
    """The held-out days' readings."""
    with stages("Client: encrypt the meters' readings") as stage:
        inputs = client.encrypt(days.observed)
        ciphertexts = [each for part in inputs for each in part.values()]
        size = session.mebibytes(*ciphertexts)
        stage.note = f"{len(days)} meters in {len(ciphertexts)} ciphertexts of {size}"
    return inputs
