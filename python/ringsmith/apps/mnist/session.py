"""One encrypted classification, stage by stage."""

from functools import partial
from typing import TypeAlias

import numpy as np

from ringsmith.apps import session
from ringsmith.apps.mnist.client import Client
from ringsmith.apps.mnist.images import Images
from ringsmith.apps.mnist.network import Network, Reals
from ringsmith.apps.mnist.outcome import Predictions
from ringsmith.apps.mnist.packing import Order
from ringsmith.apps.mnist.server import Server
from ringsmith.apps.stages import Stages
from ringsmith.backends.base import Design
from ringsmith.params import CkksParameters

Session: TypeAlias = session.Session[Network, Images, Server, Client, Predictions]
"""The data are the images that are classified, 25 ciphertexts each."""

Answer: TypeAlias = session.Answer[Predictions]

BLACK = 255
"""The largest pixel in the data."""


def begin(
    stages: Stages,
    network: Network,
    parameters: CkksParameters,
    design: str | Design | None,
    images: Images,
    order: Order,
) -> Session:
    """Compiles, makes keys and encrypts.

    Args:
        stages: Shows progress.
        network: The trained network.
        parameters: HE parameters, of five levels or more.
        design: Accelerator to schedule for; None: the ``cpu`` device only.
        images: What to classify; each takes 20 MB of memory.
        order: Of the entries in slots.

    Raises:
        ParameterError: When a ciphertext does not hold the network's maps.
        ProgramError: When the program does not fit the parameters or the design.
    """
    with stages(session.PLAN) as stage:
        server = Server(network, parameters, design, order)
        stage.note = session.program_note(server)
    client = session.make_keys(stages, lambda: Client(server.interface))
    with stages("Client: encrypt the image") as stage:
        inputs = [client.encrypt(pixels / BLACK) for pixels in images.pixels]
        stage.note = f"{len(inputs[0])} ciphertexts, {session.mebibytes(*inputs[0].values())}"
    compare = partial(compared, network, images)
    return session.Session(network, images, server, client, inputs, compare)


def compared(network: Network, images: Images, encrypted: Reals) -> Predictions:
    """Returns the decrypted scores with what the network says in the clear."""
    return Predictions(images.digits, encrypted, network.scores(np.asarray(images.pixels / BLACK)))
