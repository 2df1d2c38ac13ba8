"""LoLa's network for MNIST on one encrypted image of a handwritten digit.

docs/guide/mnist.md has the layers, which are LoLa's (Brutzkus, Elisha, Gilad-Bachrach 2019), and
the input: for each of the 25 elements of a kernel the pixel that it meets at each of 169 positions,
again for each of the five maps. ``Order`` says how dense layers are computed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import reduce
from operator import add
from pathlib import Path
from typing import ClassVar, Final

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType
from rich.text import Text

from ringsmith.apps.application import PIXELS, Application, Numbers, Server
from ringsmith.apps.convolution import DIGITS, Images, Network, Predictions, Reals, Shape
from ringsmith.apps.report import rows_table
from ringsmith.backends.base import Design
from ringsmith.errors import ParameterError
from ringsmith.params import CkksParameters, ckks_set
from ringsmith.program import CkksProgram, EncryptedArray, InputSpec, trace

SHAPE: Final = Shape(width=28, kernel=5, maps=5, hidden=100, stride=2, padding=1)
MAP: Final = SHAPE.map_width
LAYERS: Final = ("Cnv1", "Act1", "Fc1", "Act2", "Fc2")
"""The layers by the Framework paper's names: convolution, square, dense, square, dense."""
PARAMETERS: Final = "lola-mnist"
"""N = 2^13, 210 bits, 128-bit security, and the five levels that the network takes."""
HZ: Final = 250e6
"""The Framework paper's clock, at which cycles become milliseconds. Assumed."""
BLACK: Final = 255
"""The largest pixel in the data."""
BRIGHT: Final = 0.5
"""Mean brightness of an image's border from which it looks like dark ink on bright paper."""

ELEMENTS: Final = SHAPE.kernel**2
"""Elements of a kernel: ciphertexts of an image."""
ENTRIES: Final = SHAPE.maps * MAP * MAP
"""Neurons of the convolution: 845."""
COPIES: Final = 4
"""With ``Order.ROWS``, copies of an entry: 4,096 slots hold as many of 1,024."""
INPUT: Final = "elements"
"""The encrypted program's input: the pixels that each element of a kernel meets."""
OUTPUT: Final = "scores"
"""The encrypted program's output."""
LEVELS: Final = 5
"""Three layers and two squares, one level each."""
HEADROOM_BITS: Final = 1
LARGEST: Final = 2.0**HEADROOM_BITS
"""Scores stay below 2 in magnitude, of images like those of training."""
_SHADES: Final = " ░▒▓█"


def trained_network() -> Network:
    """Returns the network that ``mnist.training`` made."""
    return Network.load(SHAPE, Path(__file__).with_name("weights.npz"))


class Order(StrEnum):
    """How dense layers are computed.

    Attributes:
        DIAGONALS: As a matrix product, in the way that planning finds cheapest.
        ROWS: LoLa's stacked vectors: the image has a last axis of ``COPIES``, and each copy is
            multiplied by the weights of another neuron and added up.
    """

    DIAGONALS = "diagonals"
    ROWS = "rows"


def plan(network: Network, parameters: CkksParameters, order: Order) -> CkksProgram:
    """Returns the encrypted program, planned: what ``elements`` makes of an image in, scores out.

    Scores stay below ``LARGEST`` for images like those of training, by promise.

    Raises ProgramError when the parameters have fewer levels than ``LEVELS``.
    """
    kernels = np.tile(network.kernels.reshape(SHAPE.maps, ELEMENTS).T, MAP * MAP)
    map_biases = np.tile(network.map_biases, MAP * MAP)
    weights = np.moveaxis(network.hidden_weights, 1, 3).reshape(SHAPE.hidden, ENTRIES)

    if order is Order.ROWS:
        kernels, map_biases = kernels[..., None], map_biases[..., None]

    def mnist(elements: EncryptedArray) -> dict[str, EncryptedArray]:
        squares = ((elements * kernels).sum(axis=0) + map_biases) ** 2
        if order is Order.ROWS:
            scores = _row_by_row(network, squares, weights)
        else:
            hidden = squares @ weights.T + network.hidden_biases
            scores = hidden**2 @ network.score_weights.T
        return {OUTPUT: scores + network.score_biases}

    diagonals = order is Order.DIAGONALS
    return trace(
        mnist,
        parameters,
        {INPUT: InputSpec(input_shape(order), LEVELS + 1, bound=PIXELS)},
        headroom_bits=HEADROOM_BITS,
        lazy_rescale=diagonals,
        rotate_products=diagonals,
        allow_overflow=True,
    )


def _row_by_row(network: Network, squares: EncryptedArray, weights: Reals) -> EncryptedArray:
    """Both dense layers, as LoLa has them: a hidden neuron of the first one for each copy."""
    groups = [slice(first, first + COPIES) for first in range(0, SHAPE.hidden, COPIES)]
    hidden = [(squares * weights[g].T).sum(axis=0) + network.hidden_biases[g] for g in groups]
    products = [h**2 * network.score_weights[:, g] for h, g in zip(hidden, groups, strict=True)]
    return reduce(add, products).sum(axis=1)


def input_shape(order: Order) -> tuple[int, ...]:
    """Returns the shape of the encrypted program's input."""
    return (ELEMENTS, ENTRIES) if order is Order.DIAGONALS else (ELEMENTS, ENTRIES, COPIES)


def elements(pixels: Reals, order: Order) -> Reals:
    """Returns the pixels under each kernel element, for each position and map, of pixels (28, 28).

    Raises ParameterError when the image has another size.
    """
    width = SHAPE.width
    if pixels.shape != (width, width):
        raise ParameterError(
            f"pixels have the shape {pixels.shape}: an image has {width} x {width} pixels"
        )
    under = SHAPE.windows(pixels[None])[0].reshape(MAP * MAP, ELEMENTS)
    entries = np.repeat(under.T, SHAPE.maps, axis=1)
    return entries if order is Order.DIAGONALS else np.repeat(entries[..., None], COPIES, axis=2)


def picture(pixels: NDArray[np.uint8]) -> list[str]:
    """Returns an image (28, 28), 0 to 255, as 14 lines of text: two rows of pixels a line."""
    pairs = pixels.reshape(pixels.shape[0] // 2, 2, -1).mean(axis=1)
    levels = np.rint(pairs / 255 * (len(_SHADES) - 1)).astype(int)
    return ["".join(_SHADES[level] for level in row for _ in range(2)) for row in levels]


@dataclass(frozen=True, eq=False)
class Mnist(Application[Predictions]):
    """Images, a run each.

    Attributes:
        images: What to classify, pixels from 0 to 255; each takes 20 MB of memory.
        order: Of the entries in slots.
        network: The trained network.
        parameters: HE parameters, of five levels or more.
        read: The files that the images are from.
        chosen: The options by which they were chosen.
    """

    name: ClassVar[str] = "mnist"
    encrypted: ClassVar[str] = "the image"
    hz: ClassVar[float] = HZ
    layers: ClassVar[Sequence[str]] = LAYERS
    preparation: ClassVar[str] = "Read the network"

    images: Images
    order: Order = Order.DIAGONALS
    network: Network = field(default_factory=trained_network)
    parameters: CkksParameters = field(default_factory=lambda: ckks_set(PARAMETERS))
    read: Sequence[Path | None] = ()
    chosen: str = ""

    def prepare(self) -> str:
        """Says how large the network is."""
        return f"{sum(each.size for each in self.network.arrays):,} weights"

    def programs(self, design: str | Design | None, *, accelerated: bool) -> list[CkksProgram]:
        """Returns the program, the same for every design."""
        return [plan(self.network, self.parameters, self.order)]

    def vectors(self, server: Server) -> Iterator[Numbers]:
        """Returns each image, as ``elements``."""
        for pixels in self.images.pixels:
            yield {INPUT: elements(pixels / BLACK, self.order)}

    def outcome(self, server: Server, decrypted: Sequence[Numbers]) -> Predictions:
        """Returns the scores."""
        return self.compared(np.stack([each[OUTPUT] for each in decrypted]))

    def compared(self, scores: Reals) -> Predictions:
        """Returns decrypted scores (images, 10) with what the network says in the clear."""
        clear = self.network.scores(self.images.pixels / BLACK)
        return Predictions(self.images.digits, scores, clear)

    def show(self, outcome: Predictions) -> Iterator[RenderableType]:
        """Shows the first image and its ten scores."""
        pixels = self.images.pixels[0]
        yield Text("\n".join(f"  {line}" for line in picture(pixels)))
        inside = pixels[1:-1, 1:-1]
        if (pixels.sum() - inside.sum()) / (pixels.size - inside.size) > BRIGHT * BLACK:
            yield "The border is bright: for dark ink on bright paper, add --invert."
        encrypted, clear = outcome.encrypted[0], outcome.clear[0]
        best, truth = int(encrypted.argmax()), int(outcome.digits[0])
        rows = [
            (
                f"[bold]{digit}[/bold]" if digit == best else str(digit),
                f"{encrypted[digit]:+.6f}",
                f"{clear[digit]:+.6f}",
            )
            for digit in range(DIGITS)
        ]
        known = f", and it is a {truth}" if truth >= 0 else ""
        title = f"The encrypted network reads a {best}{known}"
        yield rows_table(title, ("digit", "score, decrypted", "the same in the clear"), rows)

    def numbers(self, outcome: Predictions) -> dict[str, object]:
        """Returns the first image's scores."""
        return {
            "digit": int(outcome.encrypted[0].argmax()),
            "order": self.order,
            "scores": outcome.encrypted[0].tolist(),
            "clear_scores": outcome.clear[0].tolist(),
            "quality": outcome.quality(),
        }

    def files(self) -> Sequence[Path | None]:
        """Returns the files that the images are from."""
        return self.read

    def typed(self) -> str:
        """Returns order and image."""
        return f" --order {self.order}{self.chosen}"
