"""Messages between a server and its workers: texts, numbers, and paths of files."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class DeviceChoice:
    """The device that a worker opens.

    Attributes:
        kind: ``cpu``, ``model``, ``rtl`` or ``card``.
        design: The accelerator's design; empty: for each program the smallest that fits.
        card: The socket of a simulated card, or a card's device files.
        threads: Threads of the cpu device; 0: all processors.
    """

    kind: str = "cpu"
    design: str = ""
    card: str = ""
    threads: int = 1


@dataclass(frozen=True)
class ProgramFiles:
    """A program as a worker loads it.

    Attributes:
        name: Its name.
        revision: Its revision.
        program: Path of the program's file.
        kit: Path of the client kit's file.
        compiled: Path of the compiled program's file; empty: a worker compiles.
        design: The design for which a worker compiles; empty: the smallest that fits.
    """

    name: str
    revision: str
    program: str
    kit: str
    compiled: str
    design: str


@dataclass(frozen=True)
class KeyFile:
    """Uploaded keys: their path and their type, one of ``protocol.KEY_MEDIA``."""

    path: str
    media: str


@dataclass(frozen=True)
class Setup:
    """The first message to a worker."""

    device: DeviceChoice
    programs: tuple[ProgramFiles, ...]
    key_memory: int


@dataclass(frozen=True)
class Task:
    """A job for a worker: to run a program, or to check keys.

    Attributes:
        job: Its name.
        program: The program's name.
        group: Names the keys: a worker that has them in memory is preferred.
        keys: The keys.
        inputs: Paths of encrypted inputs by name; empty for a check.
        folder: The folder for outputs, numbered in their order; empty for a check.
        client: The owner, for devices that have their own queue.
    """

    job: str
    program: str
    group: str
    keys: tuple[KeyFile, ...]
    inputs: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""
    client: str = ""

    @property
    def is_check(self) -> bool:
        """Whether it only checks keys."""
        return not self.folder


@dataclass(frozen=True)
class Outcome:
    """The outcome of a task.

    Attributes:
        job: The task's name.
        code: The error code; empty: the task was done.
        message: The error message.
        seconds: Seconds in which the device was busy with it.
        load_seconds: Seconds to read keys and inputs.
        outputs: Bytes of each output by name, in their order.
        figures: The device's counters, such as ``cycles``.
        held: Groups whose keys the worker has in memory now.
        key_bytes: Memory that they take.
        lost: Whether the device is gone, so that the worker must be restarted.
    """

    job: str
    code: str = ""
    message: str = ""
    seconds: float = 0.0
    load_seconds: float = 0.0
    outputs: Mapping[str, int] = field(default_factory=dict)
    figures: Mapping[str, int] = field(default_factory=dict)
    held: tuple[str, ...] = ()
    key_bytes: int = 0
    lost: bool = False


AHEAD = 1
"""Number of jobs that a worker reads ahead while its device is busy."""
CANCELLED = "cancelled"
"""The code of a task that was cancelled."""
