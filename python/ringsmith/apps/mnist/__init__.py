"""LoLa's network for MNIST on one encrypted image of a handwritten digit.

docs/guide/mnist.md has the layers, which are LoLa's (Brutzkus, Elisha, Gilad-Bachrach 2019), and
the packing: a ciphertext for each of the 25 elements of a kernel, with the 845 pixels that it
meets, padded to 1,024, each in slots/1024 slots. ``Order`` says in which ones.
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
from ringsmith.program import CkksProgram, EncryptedVector, InputSpec, bounded, sum_rotations, trace

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
PADDED: Final = 1024
"""``ENTRIES``, padded to a power of two."""
BLOCK: Final = 128
"""Hidden neurons, padded to a power of two: with ``Order.DIAGONALS``, slots of a block."""
INPUTS: Final = tuple(f"element{index:02}" for index in range(ELEMENTS))
"""The encrypted program's inputs: the pixels that each element of a kernel meets."""
OUTPUT: Final = "scores"
"""The encrypted program's output."""
LEVELS: Final = 5
"""Three layers and two squares, one level each."""
HEADROOM_BITS: Final = 1
LARGEST: Final = 2.0**HEADROOM_BITS
"""Scores stay below 2 in magnitude, of images like those of training."""
BABY_STEPS: Final = 8
"""Rotations of the maps, the one by 0 included, that all groups of diagonals share."""
_SHADES: Final = " ░▒▓█"


def trained_network() -> Network:
    """Returns the network that ``mnist.training`` made."""
    return Network.load(SHAPE, Path(__file__).with_name("weights.npz"))


class Order(StrEnum):
    """In which order the entries of the maps lie, and so how dense layers are computed.

    Attributes:
        DIAGONALS: Slot 128*f + 32*c + h holds entry 32*f + h, for each copy c. A dense layer is a
            sum over 32 diagonals, each a product with a plaintext that holds 4,096 weights.
        ROWS: Slot 4*e + c holds entry e, for each copy c: LoLa's stacked vectors, interleaved. A
            product with a plaintext holds the weights of four neurons, and ten rotations sum it up.
    """

    DIAGONALS = "diagonals"
    ROWS = "rows"


@dataclass(frozen=True)
class Layout:
    """Where everything lies.

    Raises ParameterError when the slots do not hold two copies of the maps.
    """

    slots: int
    order: Order

    def __post_init__(self) -> None:
        if not 2 * PADDED <= self.slots <= BLOCK * PADDED:
            raise ParameterError(
                f"{self.slots} slots do not hold 2 … {BLOCK} copies of {PADDED} map entries: take "
                f"N = {4 * PADDED} or more"
            )

    @property
    def copies(self) -> int:
        """Slots that hold the same entry."""
        return self.slots // PADDED

    @property
    def window(self) -> int:
        """Of ``Order.DIAGONALS``: entries of a block, and diagonals of the hidden layer."""
        return BLOCK // self.copies

    @property
    def entries(self) -> NDArray[np.int64]:
        """The entry in each slot, (slots,): 0 … 1,023; those from 845 on are empty."""
        slot = np.arange(self.slots)
        if self.order is Order.ROWS:
            return slot // self.copies
        return slot // BLOCK * self.window + slot % self.window

    def pack(self, pixels: Reals) -> list[Reals]:
        """Returns the slot vectors, one for each kernel element, of pixels (28, 28).

        Raises ParameterError when the image has another size.
        """
        width = SHAPE.width
        if pixels.shape != (width, width):
            raise ParameterError(
                f"pixels have the shape {pixels.shape}: an image has {width} x {width} pixels"
            )
        under = SHAPE.windows(pixels[None])[0].reshape(MAP * MAP, ELEMENTS)
        return [self._spread(np.repeat(column, SHAPE.maps)) for column in under.T]

    def kernels(self, network: Network) -> list[Reals]:
        """Returns the convolution's weights, a slot vector for each kernel element."""
        by_element = network.kernels.reshape(SHAPE.maps, ELEMENTS).T
        return [self._spread(np.tile(weights, MAP * MAP)) for weights in by_element]

    def map_biases(self, network: Network) -> Reals:
        """Returns the convolution's biases, (slots,)."""
        return self._spread(np.tile(network.map_biases, MAP * MAP))

    def hidden_diagonals(self, network: Network) -> list[Reals]:
        """Returns the hidden layer's weights, ``window`` diagonals of (slots,) each.

        Slot s of diagonal k weighs what lies k slots further, for neuron s modulo 128. Any
        ``window`` slots from s on, over all s of one neuron, hold every entry once.
        """
        weights = _hidden_matrix(network, BLOCK)
        neuron, entries = np.arange(self.slots) % BLOCK, self.entries
        return [weights[neuron, np.roll(entries, -k)] for k in range(self.window)]

    def hidden_rows(self, network: Network) -> list[Reals]:
        """Returns the hidden layer's weights for ``copies`` neurons at a time, (slots,) each."""
        weights = _hidden_matrix(network, -(-SHAPE.hidden // self.copies) * self.copies)
        groups = weights.reshape(-1, self.copies, PADDED)
        return [group.T.ravel() for group in groups]

    def hidden_biases(self, network: Network) -> list[Reals]:
        """Returns the biases where neurons lie: of all neurons, or of each group of rows."""
        size = BLOCK if self.order is Order.DIAGONALS else self.copies
        groups = np.pad(network.hidden_biases, (0, -SHAPE.hidden % size)).reshape(-1, size)
        return [np.tile(group, self.slots // size) for group in groups]

    @property
    def score_slots(self) -> NDArray[np.int64]:
        """The slots of the ten scores; the first ones of a ciphertext are the least precise."""
        step = BLOCK if self.order is Order.DIAGONALS else self.copies
        return step * np.arange(1, DIGITS + 1)

    def score_weights(self, network: Network) -> list[Reals]:
        """Returns the last layer's weights for each ciphertext of hidden neurons, (slots,) each."""
        size = BLOCK if self.order is Order.DIAGONALS else self.copies
        weights = np.pad(network.score_weights, ((0, 0), (0, -SHAPE.hidden % size)))
        groups = weights.reshape(DIGITS, -1, size).transpose(1, 0, 2)
        vectors = np.zeros((len(groups), self.slots))
        vectors[:, size : size * (DIGITS + 1)] = groups.reshape(len(groups), -1)
        return list(vectors)

    def score_biases(self, network: Network) -> Reals:
        """Returns the biases of the scores, (slots,)."""
        vector = np.zeros(self.slots)
        vector[self.score_slots] = network.score_biases
        return vector

    def unpack(self, values: Reals) -> Reals:
        """Returns the ten scores of a slot vector (slots,)."""
        return values[self.score_slots]

    def _spread(self, entries: Reals) -> Reals:
        """Returns entries (845,) in all their slots, and zeros in the empty ones."""
        return np.pad(entries, (0, PADDED - ENTRIES))[self.entries]


def _hidden_matrix(network: Network, rows: int) -> Reals:
    """The hidden layer's weights as a matrix (rows, 1,024): entries by position, then by map."""
    weights = np.moveaxis(network.hidden_weights, 1, 3).reshape(SHAPE.hidden, ENTRIES)
    return np.pad(weights, ((0, rows - SHAPE.hidden), (0, PADDED - ENTRIES)))


def plan(network: Network, parameters: CkksParameters, order: Order) -> CkksProgram:
    """Returns the encrypted program, planned: 25 packed vectors in, scores out.

    Raises ParameterError when a ciphertext does not hold the maps twice; ProgramError when the
    parameters have fewer levels than ``LEVELS``.
    """
    layout = Layout(parameters.slots, order)
    diagonals = order is Order.DIAGONALS
    dense = _by_diagonals if diagonals else _by_rows

    def mnist(**elements: EncryptedVector) -> dict[str, EncryptedVector]:
        pixels = [elements[name] for name in INPUTS]
        maps = weighted_sum(pixels, layout.kernels(network)) + layout.map_biases(network)
        scores = dense(layout, network, maps**2) + layout.score_biases(network)
        return {OUTPUT: bounded(scores, LARGEST)}

    spec = InputSpec(parameters.slots, LEVELS + 1, bound=PIXELS)
    return trace(
        mnist,
        parameters,
        dict.fromkeys(INPUTS, spec),
        headroom_bits=HEADROOM_BITS,
        lazy_rescale=diagonals,
        rotate_products=diagonals,
    )


def weighted_sum(vectors: Sequence[EncryptedVector], weights: Sequence[Reals]) -> EncryptedVector:
    """Returns the sum of the vectors, each times its weights."""
    return reduce(add, (x * w for x, w in zip(vectors, weights, strict=True)))


def _by_diagonals(layout: Layout, network: Network, squares: EncryptedVector) -> EncryptedVector:
    """Both dense layers: 10 rotations by diagonals, 5 to sum blocks up, 7 for the scores."""
    diagonals = layout.hidden_diagonals(network)
    shifted = [squares.rotate(k) for k in range(min(BABY_STEPS, layout.window))]
    groups = []
    for start in range(0, layout.window, BABY_STEPS):
        group = [np.roll(weights, start) for weights in diagonals[start : start + BABY_STEPS]]
        groups.append(weighted_sum(shifted, group).rotate(start))
    sums = sum_rotations(reduce(add, groups), layout.slots // BLOCK, BLOCK)
    [biases], [weights] = layout.hidden_biases(network), layout.score_weights(network)
    return sum_rotations((sums + biases) ** 2 * weights, BLOCK)


def _by_rows(layout: Layout, network: Network, squares: EncryptedVector) -> EncryptedVector:
    """Both dense layers, as LoLa has them: four neurons of the first one at a time."""
    copies = layout.copies
    sums = [
        sum_rotations(squares * weights, PADDED, copies) + biases
        for weights, biases in zip(
            layout.hidden_rows(network), layout.hidden_biases(network), strict=True
        )
    ]
    products = weighted_sum([neurons**2 for neurons in sums], layout.score_weights(network))
    return sum_rotations(products, copies)


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

    @property
    def layout(self) -> Layout:
        """Where an image and its scores lie in ciphertexts."""
        return Layout(self.parameters.slots, self.order)

    def prepare(self) -> str:
        """Says how large the network is."""
        return f"{sum(each.size for each in self.network.arrays):,} weights"

    def programs(self, design: str | Design | None, *, accelerated: bool) -> list[CkksProgram]:
        """Returns the program, the same for every design."""
        return [plan(self.network, self.parameters, self.order)]

    def vectors(self, server: Server) -> Iterator[Numbers]:
        """Returns each image, packed: 25 vectors."""
        for pixels in self.images.pixels:
            yield dict(zip(INPUTS, self.layout.pack(pixels / BLACK), strict=True))

    def outcome(self, server: Server, decrypted: Sequence[Numbers]) -> Predictions:
        """Returns the scores."""
        return self.compared(np.stack([self.layout.unpack(each[OUTPUT]) for each in decrypted]))

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
