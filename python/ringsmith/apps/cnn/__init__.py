"""A convolutional network on encrypted images of handwritten digits.

docs/guide/cnn.md has the program and the data.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar, Final

import numpy as np
from rich.table import Table

from ringsmith.apps.application import PIXELS, Application, Numbers, Server
from ringsmith.apps.convolution import (
    Adam,
    Images,
    Network,
    Predictions,
    Shape,
    gradient,
)
from ringsmith.apps.report import against, rows_table, some
from ringsmith.backends.base import Design
from ringsmith.errors import ParameterError, ToolError
from ringsmith.params import CkksParameters, ckks_set
from ringsmith.program import CkksProgram, EncryptedArray, InputSpec, bounded, conv2d, trace

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


def images_per_batch(slots: int, shape: Shape) -> int:
    """Returns how many images one ciphertext holds with all of their maps."""
    maps = 1 << (shape.maps - 1).bit_length()
    return max(1, slots // (maps * WIDTH * WIDTH))


def plan(network: Network, parameters: CkksParameters) -> CkksProgram:
    """Returns the encrypted program, planned: a batch of images in, scores (images, 10) out.

    Raises ProgramError when the parameters have fewer levels than ``LEVELS``.
    """
    batch = images_per_batch(parameters.slots, network.shape)

    def cnn(images: EncryptedArray) -> dict[str, EncryptedArray]:
        maps = conv2d(images[:, None], network.kernels[:, None]) + network.map_biases[:, None, None]
        hidden = conv2d(maps**2, network.hidden_weights)[:, :, 0, 0] + network.hidden_biases
        scores = bounded(hidden, MARGIN) ** 2 @ network.score_weights.T
        return {OUTPUT: scores + network.score_biases}

    return trace(
        cnn, parameters, {INPUT: InputSpec((batch, WIDTH, WIDTH), LEVELS + 1, bound=PIXELS)}
    )


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
        return training, held_out.first(self.images or self.batch)

    @cached_property
    def network(self) -> Network:
        """The trained network; the server's."""
        return trained(self.data[0], self.shape)

    @property
    def batch(self) -> int:
        """Images in a ciphertext."""
        return images_per_batch(self.parameters.slots, self.shape)

    def prepare(self) -> str:
        """Trains the network."""
        shape = self.network.shape
        return f"{len(self.data[0])} images, {shape.maps} maps, {shape.hidden} hidden neurons"

    def programs(self, design: str | Design | None, *, accelerated: bool) -> list[CkksProgram]:
        """Returns the program, the same for every design."""
        return [plan(self.network, self.parameters)]

    def vectors(self, server: Server) -> Iterator[Numbers]:
        """Returns the batches, as many images in each as fit; the last one ends with zeros."""
        pixels = self.data[1].pixels
        for start in range(0, len(pixels), self.batch):
            images = np.zeros((self.batch, WIDTH, WIDTH))
            images[: len(pixels) - start] = pixels[start : start + self.batch]
            yield {INPUT: images}

    def outcome(self, server: Server, decrypted: Sequence[Numbers]) -> Predictions:
        """Returns the scores of all images."""
        images = self.data[1]
        scores = np.concatenate([each[OUTPUT] for each in decrypted])[: len(images)]
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
        return {"quality": outcome.quality(), "images_per_batch": self.batch}

    def typed(self) -> str:
        """Returns the number of images."""
        return f" --images {self.images}" * (self.images is not None)
