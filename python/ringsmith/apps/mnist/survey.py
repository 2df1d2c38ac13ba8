"""Many test images, one after the other, on the ``cpu`` device, with a record that can be resumed.

The record is a file of JSON lines. The first line says what was run; each line after it is one
image. A run that finds a record of the same network, parameters and order goes on after its last
whole line.
"""

import fcntl
import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np

from ringsmith import progress, runtime
from ringsmith.apps.mnist.client import Client
from ringsmith.apps.mnist.images import Images
from ringsmith.apps.mnist.network import DIGITS, Network
from ringsmith.apps.mnist.outcome import Predictions
from ringsmith.apps.mnist.server import Server
from ringsmith.apps.mnist.session import BLACK, compared
from ringsmith.errors import InteropError
from ringsmith.files import read_bounded

_LARGEST: Final = 64 << 20
"""Bytes of a record."""


@dataclass(frozen=True)
class Head:
    """What a record is of: records of equal heads belong together.

    Attributes:
        weights: Digest of the network's weights.
        primes: Of the parameters.
        scale: The default scale.
        order: Of the entries in slots.
    """

    weights: str
    primes: tuple[int, ...]
    scale: float
    order: str

    @classmethod
    def of(cls, network: Network, server: Server) -> "Head":
        """Returns the head of what a server runs."""
        digest = hashlib.sha256()
        for field in fields(network):
            digest.update(np.ascontiguousarray(getattr(network, field.name)).tobytes())
        parameters = server.interface.parameters
        return cls(
            digest.hexdigest()[:16],
            parameters.primes,
            parameters.scale,
            server.interface.layout.order.value,
        )

    def line(self) -> str:
        """The record's first line."""
        return json.dumps({"bench": "mnist", **{**vars(self), "primes": list(self.primes)}})


def survey(
    network: Network, server: Server, client: Client, images: Images, record: Path | None
) -> Predictions:
    """Classifies images from the first one on; those that the record has are not run again.

    Args:
        network: The trained network.
        server: Holds the program.
        client: Holds the keys.
        images: What to classify.
        record: File to append to; None: none.

    Raises:
        InteropError: When the record is of something else, malformed, or cannot be written.
    """
    head = Head.of(network, server)
    with (
        _alone(record) if record else nullcontext(),
        progress.task("classifying encrypted images", len(images), "images") as task,
    ):
        scores = _read(record, head, len(images)) if record else []
        task.reach(len(scores))
        for found in _run(server, client, images, len(scores)):
            if record:
                _append(record, head, len(scores), int(images.digits[len(scores)]), found)
            scores.append(found)
            task.advance()
    return compared(network, images, np.array(scores))


@contextmanager
def _alone(record: Path) -> Iterator[None]:
    """Keeps other runs from the record: the lines of two would mix.

    Raises:
        InteropError: When it cannot be opened, or another run has it.
    """
    try:
        file = record.open("a")
    except OSError as error:
        raise InteropError(f"{record}: cannot be written: {error.strerror}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InteropError(
                f"{record}: another run writes to it: wait for its end, or name another file"
            ) from None
        yield


def _run(server: Server, client: Client, images: Images, start: int) -> Iterator[list[float]]:
    machine = runtime.open_device("cpu")
    keys = client.evaluation_keys
    for pixels in images.pixels[start:]:
        [result] = server.run(machine, [client.encrypt(pixels / BLACK)], keys)
        yield client.decrypt(list(result.outputs.values()), 1)[0].tolist()


def _append(record: Path, head: Head, index: int, digit: int, scores: Sequence[float]) -> None:
    line = {"image": index, "truth": digit, "scores": [round(score, 7) for score in scores]}
    try:
        with record.open("a") as file:
            if file.tell() == 0:
                file.write(head.line() + "\n")
            file.write(json.dumps(line) + "\n")
    except OSError as error:
        raise InteropError(f"{record}: cannot be written: {error.strerror}") from error


def _read(record: Path, head: Head, images: int) -> list[list[float]]:
    """Returns the scores that a record has; removes a last line that was cut short."""
    text = read_bounded(record, _LARGEST).decode(errors="replace")
    whole = text[: text.rfind("\n") + 1]
    first, *lines = whole.splitlines() or [""]
    if text and first != head.line():
        raise InteropError(
            f"{record}: is a record of something else: it begins with {first:.80}, and this run's "
            f"begins with {head.line():.80}: name another file"
        )
    scores = [_scores(record, index, line) for index, line in enumerate(lines[:images])]
    if whole != text:
        record.write_text(whole)
    return scores


def _scores(record: Path, index: int, line: str) -> list[float]:
    try:
        found: Any = json.loads(line)
        if found["image"] == index and len(found["scores"]) == DIGITS:
            return [float(score) for score in found["scores"]]
    except (ValueError, KeyError, TypeError):
        pass
    raise InteropError(f"{record}: line {index + 2} is not that of image {index}: {line:.60}")
