"""Many test images, one after the other, on the ``cpu`` device, with a record that can be resumed.

The record is a file of JSON lines. The first line says what was run; each line after it is one
image. A run that finds a record of the same network, parameters and order goes on after its last
whole line.
"""

import fcntl
import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import numpy as np
from rich.console import Console

from ringsmith import progress, runtime
from ringsmith.apps import session
from ringsmith.apps.conditions import conditions
from ringsmith.apps.convolution import DIGITS, Predictions
from ringsmith.apps.mnist import OUTPUT, Mnist, Order
from ringsmith.apps.mnist.data import TEST, Choice, load_images
from ringsmith.apps.session import Client
from ringsmith.apps.stages import Stages
from ringsmith.backends.registry import REFERENCE, named_design, takes_design
from ringsmith.errors import InteropError, ParameterError
from ringsmith.files import Target, check_targets, read_bounded

_LARGEST: Final = 64 << 20
"""Bytes of a record."""


def run_one(
    device: str,
    design: str,
    choice: Choice,
    order: str,
    output: Target | None = None,
    record: Path | None = None,
) -> None:
    """Classifies one encrypted image on a device; arguments and errors as of ``session.run``."""
    if record is not None:
        raise ParameterError("--record is written for many images: say how many with --images")
    named_design(design)
    if output:
        output.check([*choice.files(), Path(design)])
    images = choice.load()
    application = Mnist(images, Order(order), read=choice.files(), chosen=choice.typed())
    session.run(application, device, design, output)


def run_many(
    device: str,
    count: int,
    choice: Choice,
    order: str,
    record: Path | None = None,
    output: Target | None = None,
) -> None:
    """Classifies encrypted test images on the cpu device and prints how well.

    Raises InteropError when a file cannot be read or written, or the record is of something else;
    ParameterError when there are fewer images, or other options ask for one; ToolError when
    MNIST was not fetched.

    Args:
        device: ``cpu``; no other.
        count: Test images, from the first one on.
        choice: Where MNIST lies; no image of its own.
        order: A value of ``Order``.
        record: File of JSON lines to append to, and to go on from; None: none.
        output: Where to write the numbers as JSON; None: nowhere.
    """
    if output:
        output.check([*choice.files(), record])
    check_targets(output, Target(record, force=True) if record else None, inputs=choice.files())
    if choice.file is not None or choice.index is not None or takes_design(device):
        raise ParameterError(
            "--images classifies MNIST's test images on the cpu device, whose residues the others "
            "have, too: leave out --image, --index and --device"
        )
    test = load_images(TEST, choice.data)
    if not 1 <= count <= len(test):
        raise ParameterError(f"images = {count}: take 1 … {len(test)}, the test images")
    application = Mnist(test.first(count), Order(order), read=[*choice.files(), record])
    console = Console()
    stages = Stages(console)
    with stages(f"Classify {count} encrypted images"):
        predictions = survey(application, record)
    console.print(predictions.table("test images"))
    typed = f"ringsmith run mnist --images {count} --order {order}"
    if output:
        around = conditions(typed, application.parameters, hz=application.hz)
        session.write(output, stages, {**around, **{"quality": predictions.quality()}})


def survey(application: Mnist, record: Path | None) -> Predictions:
    """Classifies images from the first one on; those that the record has are not run again.

    Raises InteropError when the record is of something else, malformed, or cannot be written.
    """
    images = application.images
    with (
        _locked(_Record(record, _head(application))) if record else nullcontext() as kept,
        progress.task("classifying encrypted images", len(images), "images") as task,
    ):
        scores = kept.scores(len(images)) if kept else []
        task.reach(len(scores))
        for found in _run(application, len(scores)):
            if kept:
                kept.append(len(scores), int(images.digits[len(scores)]), found)
            scores.append(found)
            task.advance()
    return application.compared(np.array(scores))


def _head(application: Mnist) -> str:
    """A record's first line: records of equal ones belong together."""
    digest, of = hashlib.sha256(), application.parameters
    for array in application.network.arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    known = {"weights": digest.hexdigest()[:16], "primes": list(of.primes), "scale": of.scale}
    return json.dumps({"bench": "mnist", **known, "order": application.order})


def _run(application: Mnist, start: int) -> Iterator[list[float]]:
    server = application.server()
    client = Client(server.kits)
    device = runtime.open_device(REFERENCE)
    for numbers in islice(application.vectors(server), start, None):
        results = server.run(device, client.encrypt([numbers]), client.evaluation_keys)
        [found] = client.decrypt([result.outputs for result in results])
        yield found[OUTPUT].tolist()


@dataclass(frozen=True)
class _Record:
    """A record that this process alone writes to."""

    path: Path
    head: str

    def append(self, index: int, digit: int, scores: list[float]) -> None:
        """Adds an image's line."""
        line = {"image": index, "truth": digit, "scores": [round(score, 7) for score in scores]}
        try:
            with self.path.open("a") as file:
                if file.tell() == 0:
                    file.write(self.head + "\n")
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            raise InteropError(f"{self.path}: cannot be written: {error.strerror}") from error

    def scores(self, images: int) -> list[list[float]]:
        """Returns the scores that it has; removes a last line that was cut short."""
        text = read_bounded(self.path, _LARGEST).decode(errors="replace")
        whole = text[: text.rfind("\n") + 1]
        first, *lines = whole.splitlines() or [""]
        if text and first != self.head:
            raise InteropError(
                f"{self.path}: is a record of something else: it begins with {first:.80}, and this "
                f"run's begins with {self.head:.80}: name another file"
            )
        scores = [self._scores(index, line) for index, line in enumerate(lines[:images])]
        if whole != text:
            self.path.write_text(whole)
        return scores

    def _scores(self, index: int, line: str) -> list[float]:
        try:
            found: Any = json.loads(line)
            if found["image"] == index and len(found["scores"]) == DIGITS:
                return [float(score) for score in found["scores"]]
        except (ValueError, KeyError, TypeError):
            pass
        raise InteropError(
            f"{self.path}: line {index + 2} is not that of image {index}: {line:.60}"
        )


@contextmanager
def _locked(record: _Record) -> Iterator[_Record]:
    """Keeps other runs from the record: the lines of two would mix.

    Raises InteropError when it cannot be opened, or another run has it.
    """
    try:
        file = record.path.open("a")
    except OSError as error:
        raise InteropError(f"{record.path}: cannot be written: {error.strerror}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InteropError(
                f"{record.path}: another run writes to it: wait for its end, or name another file"
            ) from None
        yield record
