"""A network of the size of LoLa's for CIFAR-10, on one encrypted colour image.

docs/guide/mnist.md has its layers and says why its weights are random, or a user's.

**Packing.** An image is sent as 2 x 192 ciphertexts: two for each element of a first kernel, which
hold the pixels that it meets for the first 8,134 and the other 8,134 of the 16,268 neurons. So the
first convolution takes no rotation, and its neurons lie in two ciphertexts. The second convolution
is a matrix of 4,075 rows, padded to 4,096, by diagonals: slot s of the product with diagonal k
weighs the neuron k slots further, for row s mod 4,096. Any 4,096 slots from s on, over both slots s
of a row, hold every neuron once.
"""

import io
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from operator import add
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from ringsmith import progress
from ringsmith.apps.application import PIXELS, Application, Numbers, Server
from ringsmith.apps.mnist import HEADROOM_BITS, HZ, LARGEST, LEVELS
from ringsmith.apps.pictures import read_colours
from ringsmith.apps.report import rows_table
from ringsmith.backends.base import Design
from ringsmith.errors import InteropError, ParameterError
from ringsmith.files import read_bounded
from ringsmith.params import CkksParameters, ckks_set
from ringsmith.program import CkksProgram, EncryptedVector, InputSpec, bounded, sum_rotations, trace

Reals = NDArray[np.float64]

WIDTH: Final = 32
"""Pixels of a row or column of an image."""
COLOURS: Final = 3
STRIDE: Final = 2
"""Of both convolutions."""
PADDING: Final = 1
"""Zeros around an image."""
KERNEL: Final = 8
"""Width of the first convolution's kernels."""
FIRST_MAPS: Final = 83
FIRST_WIDTH: Final = (WIDTH + 2 * PADDING - KERNEL) // STRIDE + 1
"""Width of a first map: 14."""
SECOND_KERNEL: Final = 6
SECOND_MAPS: Final = 163
SECOND_WIDTH: Final = (FIRST_WIDTH - SECOND_KERNEL) // STRIDE + 1
"""Width of a second map: 5."""
FIRST: Final = FIRST_WIDTH**2 * FIRST_MAPS
"""Neurons of the first convolution: 16,268."""
SECOND: Final = SECOND_WIDTH**2 * SECOND_MAPS
"""Neurons of the second one: 4,075."""
CLASSES: Final = 10
LAYERS: Final = ("Cnv1", "Act1", "Cnv2", "Act2", "Fc2")
"""The layers by the Framework paper's names."""
SEED: Final = 10
"""Of the random weights."""
ELEMENTS: Final = KERNEL * KERNEL * COLOURS
"""Elements of a first kernel."""
HALVES: Final = 2
"""Ciphertexts of the first maps."""
HALF: Final = FIRST // HALVES
"""Neurons in each."""
ROWS: Final = 4096
"""``SECOND``, padded: diagonals of each half, and the period of the second maps in slots."""
SCORES: Final = 16
"""``CLASSES``, padded: diagonals of the last layer."""
NAMES: Final = (
    *("airplane", "automobile", "bird", "cat", "deer"),
    *("dog", "frog", "horse", "ship", "truck"),
)
"""CIFAR-10's classes in the order of their labels."""
PARAMETERS: Final = "lola-cifar10"
"""N = 2^14, 252 bits, 192-bit security."""
INPUTS: Final = tuple(f"element{i:03}_{half}" for i in range(ELEMENTS) for half in range(HALVES))
"""The encrypted program's inputs, in the order in which an image is packed."""
OUTPUT: Final = "scores"
"""The encrypted program's output."""
BABY_STEPS: Final = 64
"""Rotations of each half that all groups of diagonals share."""
_RECORD: Final = 1 + COLOURS * WIDTH * WIDTH
"""Bytes of an image in CIFAR-10's binary files: a label, and a plane for each colour."""
_LARGEST: Final = 64 << 20
"""Bytes of a file of images or weights, and of what weights unpack to: they take 5 MB."""


class Sums(NamedTuple):
    """What every layer's neurons add up, before any square, for one image.

    Attributes:
        first: (14, 14, 83).
        second: (5, 5, 163).
        scores: (10,).
    """

    first: Reals
    second: Reals
    scores: Reals


@dataclass(frozen=True, eq=False)
class Network:
    """Convolution, square, convolution, square, dense layer.

    Attributes:
        kernels: (83, 8, 8, 3): map, row, column, colour.
        first_biases: (83,).
        second_kernels: (163, 6, 6, 83).
        second_biases: (163,).
        score_weights: (10, 5, 5, 163).
        score_biases: (10,).
    """

    kernels: Reals
    first_biases: Reals
    second_kernels: Reals
    second_biases: Reals
    score_weights: Reals
    score_biases: Reals

    def __post_init__(self) -> None:
        for name, shape in SHAPES.items():
            found = getattr(self, name).shape
            if found != shape:
                raise ParameterError(f"{name} has the shape {found}, and {shape} is needed")
            if not np.isfinite(getattr(self, name)).all():
                raise ParameterError(f"{name} has values that are not finite")

    def sums(self, pixels: Reals) -> Sums:
        """Returns the sums of all layers for the pixels (32, 32, 3) of an image, from 0 to 1."""
        first = np.tensordot(windows(pixels), self.kernels, axes=([2, 3, 4], [1, 2, 3]))
        first = first + self.first_biases
        under = _strided(first**2, SECOND_KERNEL)
        second = np.tensordot(under, self.second_kernels, axes=([2, 3, 4], [1, 2, 3]))
        second = second + self.second_biases
        scores = np.tensordot(self.score_weights, second**2, axes=3) + self.score_biases
        return Sums(first, second, scores)

    @classmethod
    def random(cls) -> "Network":
        """Returns a network of random weights whose sums stay near 1; the same each time."""
        rng = np.random.default_rng(SEED)
        spread = {"kernels": 0.02, "second_kernels": 0.06, "score_weights": 0.08}
        arrays = [rng.normal(0, spread.get(name, 0.04), shape) for name, shape in SHAPES.items()]
        return cls(*arrays)

    @classmethod
    def load(cls, path: Path) -> "Network":
        """Reads a user's weights: an NPZ file with the arrays of this class.

        Raises InteropError when the file cannot be read; ParameterError when the file does not hold
        them.
        """
        data = read_bounded(path, _LARGEST)
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                size = sum(member.file_size for member in archive.infolist())
            if size > _LARGEST:
                raise ParameterError(f"unpacks to {size} bytes, and at most {_LARGEST} are read")
            with np.load(io.BytesIO(data)) as file:
                return cls(*(file[name].astype(np.float64) for name in SHAPES))
        except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error) as error:
            wanted = ", ".join(f"{name} {shape}" for name, shape in SHAPES.items())
            raise ParameterError(f"{path}: {error}: an NPZ file with {wanted} is needed") from error


SHAPES: Final = {
    "kernels": (FIRST_MAPS, KERNEL, KERNEL, COLOURS),
    "first_biases": (FIRST_MAPS,),
    "second_kernels": (SECOND_MAPS, SECOND_KERNEL, SECOND_KERNEL, FIRST_MAPS),
    "second_biases": (SECOND_MAPS,),
    "score_weights": (CLASSES, SECOND_WIDTH, SECOND_WIDTH, SECOND_MAPS),
    "score_biases": (CLASSES,),
}
"""Of a network's arrays, by name."""


def windows(pixels: Reals) -> Reals:
    """Returns the pixels under a kernel at each of its positions, (14, 14, 8, 8, 3)."""
    return _strided(np.pad(pixels, ((PADDING,) * 2, (PADDING,) * 2, (0, 0))), KERNEL)


def _strided(values: Reals, width: int) -> Reals:
    """Windows of (rows, columns, depth): (…, …, width, width, depth)."""
    every = np.lib.stride_tricks.sliding_window_view(values, (width, width), axis=(0, 1))
    return np.moveaxis(every[::STRIDE, ::STRIDE], 2, 4)


# ---- files ---------------------------------------------------------------------------------------


def read_picture(path: Path) -> NDArray[np.uint8]:
    """Returns the pixels (32, 32, 3) of a PNG; a gray one has three equal colours.

    Raises InteropError, ToolError when it cannot be read; ParameterError when it has another size.
    """
    pixels = read_colours(path)
    rows, columns, _ = pixels.shape
    if (rows, columns) != (WIDTH, WIDTH):
        raise ParameterError(
            f"{path}: {columns} x {rows} pixels, and the network takes {WIDTH} x {WIDTH}: crop or "
            "scale the picture"
        )
    return pixels


def read_cifar(path: Path, index: int) -> tuple[NDArray[np.uint8], int]:
    """Returns the pixels (32, 32, 3) and the label of an image in a binary file of CIFAR-10.

    Raises InteropError when the file cannot be read or is no file of CIFAR-10; ParameterError when
    there is no such image.
    """
    data = np.frombuffer(read_bounded(path, _LARGEST), np.uint8)
    if not data.size or data.size % _RECORD:
        raise InteropError(
            f"{path}: {data.size} bytes are no whole number of images of {_RECORD}: give a file "
            "of CIFAR-10's binary version, such as test_batch.bin"
        )
    records = data.reshape(-1, _RECORD)
    if not 0 <= index < len(records):
        raise ParameterError(f"image {index}: take one of 0 … {len(records) - 1}")
    label = int(records[index, 0])
    if label >= CLASSES:
        raise InteropError(f"{path}: image {index} has the label {label}: labels are 0 … 9")
    return np.moveaxis(records[index, 1:].reshape(COLOURS, WIDTH, WIDTH), 0, 2), label


# ---- packing -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Layout:
    """Where everything lies.

    Raises ParameterError when there are others.
    """

    slots: int

    def __post_init__(self) -> None:
        if self.slots != 2 * ROWS:
            raise ParameterError(
                f"{self.slots} slots: the network is laid out for {2 * ROWS}, N = {4 * ROWS}"
            )

    def pack(self, pixels: Reals) -> list[Reals]:
        """Returns the slot vectors of pixels (32, 32, 3): both halves of each kernel element.

        Raises ParameterError when the image has another size.
        """
        if pixels.shape != (WIDTH, WIDTH, COLOURS):
            raise ParameterError(
                f"pixels have the shape {pixels.shape}: an image has {WIDTH} x {WIDTH} pixels of "
                f"{COLOURS} colours"
            )
        under = windows(pixels).reshape(FIRST_WIDTH**2, ELEMENTS)
        return [
            half
            for element in range(ELEMENTS)
            for half in self._halves(np.repeat(under[:, element], FIRST_MAPS))
        ]

    def kernels(self, network: Network, half: int) -> list[Reals]:
        """Returns the first convolution's weights of a half, a slot vector for each element."""
        by_element = network.kernels.reshape(FIRST_MAPS, ELEMENTS).T
        return [self._halves(np.tile(weights, FIRST_WIDTH**2))[half] for weights in by_element]

    def first_biases(self, network: Network, half: int) -> Reals:
        """Returns the first convolution's biases of a half, (slots,)."""
        return self._halves(np.tile(network.first_biases, FIRST_WIDTH**2))[half]

    def second_diagonal(self, network: Network, half: int, k: int) -> Reals:
        """Returns a diagonal of the second convolution for a half of the first maps, (slots,)."""
        slot = np.arange(self.slots)
        row, entry = slot % ROWS, (slot + k) % self.slots
        there = (row < SECOND) & (entry < HALF)
        place, channel = np.divmod(row, SECOND_MAPS)
        position, source = np.divmod(entry + half * HALF, FIRST_MAPS)
        dy = position // FIRST_WIDTH - STRIDE * (place // SECOND_WIDTH)
        dx = position % FIRST_WIDTH - STRIDE * (place % SECOND_WIDTH)
        for offset in (dy, dx):
            there &= (offset >= 0) & (offset < SECOND_KERNEL)
        at = np.flatnonzero(there)
        weights = np.zeros(self.slots)
        weights[at] = network.second_kernels[channel[at], dy[at], dx[at], source[at]]
        return weights

    def second_biases(self, network: Network) -> Reals:
        """Returns the second convolution's biases, (slots,)."""
        biases = np.pad(np.tile(network.second_biases, SECOND_WIDTH**2), (0, ROWS - SECOND))
        return np.tile(biases, 2)

    def score_diagonal(self, network: Network, k: int) -> Reals:
        """Returns a diagonal of the last layer, (slots,); its second half is empty."""
        weights = np.zeros((SCORES, ROWS))
        weights[:CLASSES, :SECOND] = network.score_weights.reshape(CLASSES, SECOND)
        slot = np.arange(ROWS)
        return np.pad(weights[slot % SCORES, (slot + k) % ROWS], (0, self.slots - ROWS))

    def score_biases(self, network: Network) -> Reals:
        """Returns the biases of the scores, (slots,)."""
        return np.pad(network.score_biases, (SCORES, self.slots - SCORES - CLASSES))

    def unpack(self, values: Reals) -> Reals:
        """Returns the ten scores of a slot vector (slots,): the first slots are less precise."""
        return values[SCORES : SCORES + CLASSES]

    def _halves(self, neurons: Reals) -> tuple[Reals, Reals]:
        """Both halves of the first maps, with zeros behind them."""
        spare = (0, self.slots - HALF)
        return np.pad(neurons[:HALF], spare), np.pad(neurons[HALF:], spare)


# ---- encrypted -----------------------------------------------------------------------------------


def plan(network: Network, parameters: CkksParameters) -> CkksProgram:
    """Returns the encrypted program, planned: 384 packed vectors in, scores out.

    Raises ParameterError when a ciphertext has other slots than 8,192; ProgramError when the
    parameters have fewer levels than ``LEVELS``.
    """
    layout = Layout(parameters.slots)

    def cifar(**elements: EncryptedVector) -> dict[str, EncryptedVector]:
        pixels = [elements[name] for name in INPUTS]
        squares = []
        for half in range(HALVES):
            weights = layout.kernels(network, half)
            sums = weighted_sum(pixels[half::HALVES], weights)
            squares.append((sums + layout.first_biases(network, half)) ** 2)
        second = _second(layout, network, squares) + layout.second_biases(network)
        scores = _scores(layout, network, second**2) + layout.score_biases(network)
        return {OUTPUT: bounded(scores, LARGEST)}

    spec = InputSpec(parameters.slots, LEVELS + 1, bound=PIXELS)
    return trace(
        cifar,
        parameters,
        dict.fromkeys(INPUTS, spec),
        headroom_bits=HEADROOM_BITS,
        rotate_products=True,
    )


def _second(layout: Layout, network: Network, squares: list[EncryptedVector]) -> EncryptedVector:
    """The second convolution: 2 x 4,096 diagonals in 64 baby and 64 giant steps.

    Giant steps are rotations of what was summed up before by 64, so that one key does for all.
    """
    shifted = [[half.rotate(k) for k in range(BABY_STEPS)] for half in squares]

    def group(start: int) -> Iterator[EncryptedVector]:
        for half in range(HALVES):
            for k in range(BABY_STEPS):
                weights = layout.second_diagonal(network, half, start + k)
                yield shifted[half][k] * np.roll(weights, start)

    with progress.task("recording the diagonals", ROWS, "diagonals") as task:
        total = reduce(add, group(ROWS - BABY_STEPS))
        for start in range(ROWS - 2 * BABY_STEPS, -1, -BABY_STEPS):
            task.advance(BABY_STEPS)
            total = reduce(add, group(start)) + total.rotate(BABY_STEPS)
    return sum_rotations(total, HALVES, ROWS)


def _scores(layout: Layout, network: Network, squares: EncryptedVector) -> EncryptedVector:
    """The last layer: 16 diagonals in 4 baby and 4 giant steps, and 9 rotations to sum them up."""
    steps = int(SCORES**0.5)
    shifted = [squares.rotate(k) for k in range(steps)]
    groups = []
    for start in range(0, SCORES, steps):
        weights = [np.roll(layout.score_diagonal(network, start + k), start) for k in range(steps)]
        groups.append(weighted_sum(shifted, weights).rotate(start))
    return sum_rotations(reduce(add, groups), layout.slots // SCORES, SCORES)


def weighted_sum(vectors: Sequence[EncryptedVector], weights: Sequence[Reals]) -> EncryptedVector:
    """Returns the sum of the vectors, each times its weights."""
    return reduce(add, (x * w for x, w in zip(vectors, weights, strict=True)))


@dataclass(frozen=True, eq=False)
class Cifar(Application[Reals]):
    """An image; the outcome is its ten scores.

    Raises InteropError, ToolError when a file cannot be read; ParameterError when there is no
    image, it has another size, or its scores are too large.

    Attributes:
        image: A PNG of 32 x 32 pixels; None: an image of ``data``.
        data: A file of CIFAR-10's binary version; None: none.
        index: Which image of ``data``; None: the first.
        weights: An NPZ file of weights; None: random ones.
        parameters: HE parameters of N = 2^14, of five levels or more.
    """

    name: ClassVar[str] = "cifar10"
    encrypted: ClassVar[str] = "the image"
    hz: ClassVar[float] = HZ
    layers: ClassVar[Sequence[str]] = LAYERS
    preparation: ClassVar[str] = "Read image and weights"

    image: Path | None = None
    data: Path | None = None
    index: int | None = None
    weights: Path | None = None
    parameters: CkksParameters = field(default_factory=lambda: ckks_set(PARAMETERS))

    def __post_init__(self) -> None:
        if (self.image is None) == (self.data is None):
            raise ParameterError(
                "no package with CIFAR-10 is known: give an image of your own with --image "
                "FILE.png, or a file of CIFAR-10's binary version with --data FILE.bin"
            )
        if self.index is not None and self.data is None:
            raise ParameterError("--index is of a file with many images: give it with --data")

    @cached_property
    def pixels(self) -> tuple[NDArray[np.uint8], int | None]:
        """The pixels (32, 32, 3), 0 to 255, and the label where it is known."""
        if self.image is not None:
            return read_picture(self.image), None
        assert self.data is not None, "one of both is given"
        return read_cifar(self.data, self.index or 0)

    @cached_property
    def network(self) -> Network:
        """The network; the server's."""
        return Network.load(self.weights) if self.weights else Network.random()

    @cached_property
    def clear(self) -> Reals:
        """The scores in the clear."""
        return self.network.sums(self.pixels[0] / 255.0).scores

    def prepare(self) -> str:
        """Refuses an image whose scores one limb does not hold."""
        if (largest := float(np.abs(self.clear).max())) >= LARGEST:
            raise ParameterError(
                f"a score of the image is {largest:.3g} in the clear, and an encrypted one must "
                f"stay below {LARGEST:g}: divide score_weights and score_biases"
            )
        return f"{self._named} weights"

    def programs(self, design: str | Design | None, *, accelerated: bool) -> list[CkksProgram]:
        """Returns the program, the same for every design."""
        return [plan(self.network, self.parameters)]

    def vectors(self, server: Server) -> list[Numbers]:
        """Returns the image, packed: 384 vectors."""
        packed = Layout(self.parameters.slots).pack(self.pixels[0] / 255.0)
        return [dict(zip(INPUTS, packed, strict=True))]

    def outcome(self, server: Server, decrypted: Sequence[Numbers]) -> Reals:
        """Returns the scores."""
        return Layout(self.parameters.slots).unpack(decrypted[0][OUTPUT])

    def show(self, outcome: Reals) -> Iterator[Table]:
        """Shows the scores."""
        label = self.pixels[1]
        known = f"; the label says {NAMES[label]}" if self.weights and label is not None else ""
        names = NAMES if self.weights else map(str, range(CLASSES))
        rows = [
            (name, f"{found:+.6f}", f"{clear:+.6f}")
            for name, found, clear in zip(names, outcome, self.clear, strict=True)
        ]
        title = f"Scores by {self._named} weights{known}"
        yield rows_table(title, ("class", "decrypted", "in the clear"), rows)

    def numbers(self, outcome: Reals) -> dict[str, object]:
        """Returns the scores."""
        return {"scores": outcome.tolist(), "clear_scores": self.clear.tolist()}

    def files(self) -> Sequence[Path | None]:
        """Returns image and weights."""
        return [self.image, self.data, self.weights]

    @property
    def _named(self) -> str:
        return "the user's" if self.weights else "random"
