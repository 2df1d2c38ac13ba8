"""What a server hands to workers, and what they answer: texts and numbers, and paths of files."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Device:
    """What a worker opens.

    Attributes:
        kind: ``cpu``, ``model``, ``rtl`` or ``card``.
        design: The accelerator's design; empty: the smallest that does, of each program.
        card: The socket of a simulated card, or a card's device files.
        threads: Threads that the cpu computes with; 0: all processors.
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
        design: For which design a worker compiles; empty: for the smallest that does.
    """

    name: str
    revision: str
    program: str
    kit: str
    compiled: str
    design: str


@dataclass(frozen=True)
class KeyFile:
    """Uploaded keys: where they are, and what they are, one of ``protocol.KEY_MEDIA``."""

    path: str
    media: str


@dataclass(frozen=True)
class Setup:
    """What a worker is told first.

    Attributes:
        device: What it opens.
        programs: What it runs.
        key_memory: Bytes of evaluation keys that it keeps in memory.
    """

    device: Device
    programs: tuple[ProgramFiles, ...]
    key_memory: int


@dataclass(frozen=True)
class Task:
    """A job for a worker: to run a program, or to check keys.

    Attributes:
        job: Its name.
        program: The program's name.
        group: Names the keys: a worker that has them in memory is the best one.
        keys: The keys.
        inputs: Paths of encrypted inputs by name; of a check empty.
        folder: Where outputs go, numbered in their order; of a check empty.
        client: Whose it is, for devices with a queue of their own.
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
    """What a task came to.

    Attributes:
        job: The task's name.
        code: Empty: it was done; else why not, as a word.
        message: Why not.
        seconds: That the device was busy with it.
        load_seconds: That reading keys and inputs took.
        outputs: Bytes of each output by name, in their order.
        figures: What the device counted: ``cycles`` and the like.
        held: Groups whose keys the worker has in memory now.
        key_bytes: Memory that they take.
        lost: Whether the device is gone: the worker must be made anew.
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
"""Jobs that a worker reads while its device is busy, beside those that run."""
CANCELLED = "cancelled"
"""The code of a task that was cancelled."""
