"""The service: it holds the network and computes on ciphertexts; it has no secret key.

Nothing here imports ``client``, and a test follows the imports to see that nothing it uses does.
"""

from typing import Final

from ringsmith.apps.cnn.interface import INPUT, OUTPUT, Interface
from ringsmith.apps.cnn.network import Network
from ringsmith.apps.cnn.packing import Layout
from ringsmith.apps.interface import PIXELS
from ringsmith.apps.server import ProgramServer
from ringsmith.backends.base import Design
from ringsmith.params import CkksParameters
from ringsmith.program import CkksProgram, EncryptedVector, InputSpec, bounded, matvec, trace

LEVELS: Final = 5
"""Three layers and two squares, one level each."""
MARGIN: Final = 2.0
"""Hidden neurons' sums are promised to stay within so many times the largest in training, which is
1 (``Network.scaled``): for any pixels they could reach more, and scores then exceed the modulus."""


def plan(network: Network, parameters: CkksParameters) -> CkksProgram:
    """Returns the encrypted program, planned: packed images in, scores out.

    Raises:
        ParameterError: When a ciphertext does not hold an image.
        ProgramError: When the parameters have fewer levels than ``LEVELS``.
    """
    layout = Layout(parameters.slots, network.kernels.shape[0])
    stride = layout.images

    def cnn(images: EncryptedVector) -> dict[str, EncryptedVector]:
        maps = matvec(layout.convolution(network), images, stride=stride)
        maps = maps + layout.map_biases(network)
        hidden = matvec(layout.hidden_weights(network), maps**2, stride=stride)
        hidden = bounded(hidden + layout.spread(network.hidden_biases), MARGIN)
        scores = matvec(network.score_weights, hidden**2, stride=stride)
        return {OUTPUT: scores + layout.spread(network.score_biases)}

    return trace(cnn, parameters, {INPUT: InputSpec(parameters.slots, LEVELS + 1, bound=PIXELS)})


class Server(ProgramServer):
    """A network made ready to classify encrypted images.

    Attributes:
        interface: What clients need to know.
    """

    def __init__(
        self, network: Network, parameters: CkksParameters, design: str | Design | None
    ) -> None:
        """Plans and compiles.

        Args:
            network: The trained network.
            parameters: HE parameters, of five levels or more.
            design: Accelerator to schedule for; None: the ``cpu`` device only.

        Raises:
            ParameterError: When a ciphertext does not hold an image.
            ProgramError: When the parameters or the design are too small for the program.
        """
        super().__init__(plan(network, parameters), design)
        layout = Layout(parameters.slots, network.kernels.shape[0])
        self.interface = Interface(*self.terms, layout)
