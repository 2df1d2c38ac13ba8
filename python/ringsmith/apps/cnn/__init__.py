"""A convolutional network on encrypted images of handwritten digits.

The program, the packing (entry j of image p in slot j*P + p, P images in a ciphertext) and the data
are those of docs/guide/cnn.md.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Final

import numpy as np
from rich.table import Table

from ringsmith.apps.application import PIXELS, Application, Numbers, Server
from ringsmith.apps.convolution import (
    DIGITS,
    Adam,
    Images,
    Network,
    Predictions,
    Reals,
    Shape,
    gradient,
)
from ringsmith.apps.report import against, rows_table, some
from ringsmith.backends.base import Design
from ringsmith.errors import ParameterError, ToolError
from ringsmith.params import CkksParameters, ckks_set
from ringsmith.program import CkksProgram, EncryptedVector, InputSpec, bounded, matvec, trace

WIDTH: Final = 8
"""Pixels of a row or column of an image."""
BLACK: Final = 16
"""The largest pixel in the data."""
HELD_OUT: Final = 352
"""Images kept from training: eleven ciphertexts of 32."""
SPLIT_SEED: Final = 2026
SHAPE: Final = Shape(WIDTH, kernel=3, maps=4, hidden=32)
EPOCHS, BATCH, SEED = 40, 32, 2
RATE: Final = 3e-3
"""Adam's initial step; it decreases to 0 linearly."""

INPUT, OUTPUT = "images", "scores"
"""The encrypted program's input and output."""
PARAMETERS: Final = "medha21-set1"
"""N = 2^14, 128-bit security, and the five levels that the network takes."""
LEVELS: Final = 5
"""Three layers and two squares, one level each."""
MARGIN: Final = 2.0
"""Hidden neurons' sums stay, by promise, within this multiple of the largest in training, which is
1: for any pixels they could reach more, and scores then exceed the modulus."""


def load_images() -> tuple[Images, Images]:
    """Loads the images and splits them, stratified by digit, always the same way.

    Returns 1,445 images to train on, and ``HELD_OUT`` that are kept from training. Raises ToolError
    when scikit-learn, which carries the data, is not installed.
    """
    try:
        from sklearn.datasets import load_digits
        from sklearn.model_selection import train_test_split
    except ModuleNotFoundError as error:
        raise ToolError(
            "scikit-learn is missing; it carries the images: pip install 'ringsmith[apps]'"
        ) from error
    raw, digits = load_digits(return_X_y=True)
    pixels = raw.reshape(-1, WIDTH, WIDTH) / BLACK
    train, kept, train_digits, kept_digits = train_test_split(
        pixels, digits, test_size=HELD_OUT, random_state=SPLIT_SEED, stratify=digits
    )
    return Images(train, train_digits), Images(kept, kept_digits)


def trained(images: Images, shape: Shape = SHAPE) -> Network:
    """Trains a network whose sums stay within [-1, 1] on the training images, always the same."""
    rng = np.random.default_rng(SEED)
    network = Network.initial(shape, rng)
    adam = Adam(network)
    batches = -(-len(images) // BATCH)
    for epoch in range(EPOCHS):
        order = rng.permutation(len(images))
        for chosen in np.array_split(order, batches):
            _, slopes = gradient(network, images.pixels[chosen], images.digits[chosen])
            network = adam.step(network, slopes, RATE * (1 - epoch / EPOCHS))
    return network.scaled(*(float(np.abs(layer).max()) for layer in network.sums(images.pixels)))


@dataclass(frozen=True)
class Layout:
    """Where everything lies.

    Raises ParameterError when the slots do not hold the maps of one image.
    """

    slots: int
    shape: Shape = SHAPE

    def __post_init__(self) -> None:
        if self.slots < self.entries:
            raise ParameterError(
                f"{self.slots} slots do not hold the {self.entries} entries of an image with "
                f"{self.shape.maps} maps: raise N to {2 * self.entries}, or take fewer maps"
            )

    @property
    def entries(self) -> int:
        """Entries of an image: a grid for each map, and empty ones up to a power of two."""
        return (1 << (self.shape.maps - 1).bit_length()) * WIDTH * WIDTH

    @property
    def images(self) -> int:
        """Images in a ciphertext: the distance of one image's entries in slots."""
        return self.slots // self.entries

    def pack(self, pixels: Reals) -> Reals:
        """Returns the slot vector (slots,) of pixels (images, 8, 8); other slots are zero.

        Raises ParameterError when there are more images than fit, or they have another size.
        """
        if pixels.shape[1:] != (WIDTH, WIDTH) or not 1 <= len(pixels) <= self.images:
            raise ParameterError(
                f"pixels have the shape {pixels.shape}: one ciphertext takes (images, {WIDTH}, "
                f"{WIDTH}) with 1 … {self.images} images: make batches"
            )
        packed = np.zeros((self.entries // WIDTH**2, WIDTH * WIDTH, self.images))
        packed[: self.shape.maps, :, : len(pixels)] = pixels.reshape(len(pixels), -1).T
        return packed.ravel()

    def unpack(self, values: Reals, images: int) -> Reals:
        """Returns the scores (images, 10) of a slot vector (slots,)."""
        return values.reshape(-1, self.images)[:DIGITS, :images].T

    def convolution(self, network: Network) -> Reals:
        """Returns the convolution as a matrix (entries, entries).

        It has one diagonal for each of the kernel's nine elements: element (i, j) weighs the entry
        8*i + j further.
        """
        matrix = np.zeros((self.entries, self.entries))
        at = np.flatnonzero(self.corners(np.ones(self.shape.arrays["hidden_weights"][1:])))
        for i, j in np.ndindex(self.shape.kernel, self.shape.kernel):
            matrix[at, at + WIDTH * i + j] = network.kernels[at // (WIDTH * WIDTH), i, j]
        return matrix

    def spread(self, entries: Reals) -> Reals:
        """Returns the slot vector with every image's first entries, the same for all images."""
        return np.repeat(entries, self.images)

    def corners(self, maps: Reals) -> Reals:
        """Returns (…, maps, 6, 6) as (…, entries): top left in grids, zeros elsewhere."""
        grids, empty = self.entries // WIDTH**2, WIDTH - self.shape.map_width
        spare = (grids - self.shape.maps, empty, empty)
        padding = [(0, 0)] * (maps.ndim - 3) + [(0, after) for after in spare]
        return np.pad(maps, padding).reshape(*maps.shape[:-3], self.entries)


def plan(network: Network, parameters: CkksParameters) -> CkksProgram:
    """Returns the encrypted program, planned: packed images in, scores out.

    Raises ParameterError when a ciphertext does not hold an image; ProgramError when the parameters
    have fewer levels than ``LEVELS``.
    """
    layout = Layout(parameters.slots, network.shape)
    stride = layout.images
    ones = np.ones(network.shape.arrays["hidden_weights"][1:])
    map_biases = layout.spread(layout.corners(network.map_biases[:, None, None] * ones))

    def cnn(images: EncryptedVector) -> dict[str, EncryptedVector]:
        maps = matvec(layout.convolution(network), images, stride=stride) + map_biases
        hidden = matvec(layout.corners(network.hidden_weights), maps**2, stride=stride)
        hidden = bounded(hidden + layout.spread(network.hidden_biases), MARGIN)
        scores = matvec(network.score_weights, hidden**2, stride=stride)
        return {OUTPUT: scores + layout.spread(network.score_biases)}

    return trace(cnn, parameters, {INPUT: InputSpec(parameters.slots, LEVELS + 1, bound=PIXELS)})


@dataclass(frozen=True)
class Cnn(Application[Predictions]):
    """Held-out images, a batch in each ciphertext."""

    name: ClassVar[str] = "cnn"
    encrypted: ClassVar[str] = "the images"

    images: int | None = None
    shape: Shape = SHAPE
    parameters: CkksParameters = field(default_factory=lambda: ckks_set(PARAMETERS))

    def __post_init__(self) -> None:
        if self.images is not None and not 1 <= self.images <= HELD_OUT:
            raise ParameterError(
                f"images = {self.images}: take 1 … {HELD_OUT}, those kept from training"
            )

    @cached_property
    def data(self) -> tuple[Images, Images]:
        """The training images, and those to classify."""
        training, held_out = load_images()
        return training, held_out.first(self.images or self.layout.images)

    @cached_property
    def network(self) -> Network:
        """The trained network; the server's."""
        return trained(self.data[0], self.shape)

    @property
    def layout(self) -> Layout:
        """Where images lie in a ciphertext."""
        return Layout(self.parameters.slots, self.shape)

    def prepare(self) -> str:
        """Trains the network."""
        shape = self.network.shape
        return f"{len(self.data[0])} images, {shape.maps} maps, {shape.hidden} hidden neurons"

    def programs(self, design: str | Design | None, *, accelerated: bool) -> list[CkksProgram]:
        """Returns the program, the same for every design."""
        return [plan(self.network, self.parameters)]

    def vectors(self, server: Server) -> Iterator[Numbers]:
        """Returns the batches, as many images in each as fit."""
        layout, pixels = self.layout, self.data[1].pixels
        for start in range(0, len(pixels), layout.images):
            yield {INPUT: layout.pack(pixels[start : start + layout.images])}

    def outcome(self, server: Server, decrypted: Sequence[Numbers]) -> Predictions:
        """Returns the scores of all images."""
        layout, images = self.layout, self.data[1]
        found = [layout.unpack(each[OUTPUT], layout.images) for each in decrypted]
        scores = np.concatenate(found)[: len(images)]
        return Predictions(images.digits, scores, self.network.scores(images.pixels))

    def show(self, outcome: Predictions) -> Iterator[Table]:
        """Shows some images, and how well all were classified."""
        headings = ("image", "best score, encrypted", "the same in the clear", "digit", "truth")
        rows = []
        for image in some(len(outcome.digits)):
            guess = int(outcome.encrypted[image].argmax())
            scores = (outcome.encrypted[image, guess], outcome.clear[image, guess])
            truth = against(str(outcome.digits[image]), str(guess))
            rows.append((str(image), *(f"{score:.9f}" for score in scores), str(guess), truth))
        yield rows_table("Some held-out images", headings, rows)
        yield outcome.table("held-out images")

    def numbers(self, outcome: Predictions) -> dict[str, object]:
        """Returns accuracies and errors."""
        return {"quality": outcome.quality(), "images_per_batch": self.layout.images}

    def typed(self) -> str:
        """Returns the number of images."""
        return f" --images {self.images}" * (self.images is not None)
