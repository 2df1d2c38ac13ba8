"""What a host does with an accelerator for a program, as files that a testbench reads."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from ringsmith.backends.exporter import hex_words
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.memory_map import places
from ringsmith.backends.vector.design.register_table import (
    CLUSTER_BYTES,
    CLUSTERS,
    ClusterRegister,
    VectorRegister,
)
from ringsmith.backends.vector.design.word_layout import placed
from ringsmith.backends.vector.device.host import Write, list_writes, settings, stored
from ringsmith.backends.vector.device.image import BEAT_WORDS, host_rows, limb_layout, lists
from ringsmith.backends.vector.device.residues import Words
from ringsmith.backends.vector.device.rtl import WATCHDOG
from ringsmith.backends.vector.isa.instructions import Limb
from ringsmith.objects import Residues


class Do(IntEnum):
    """What a step does; the testbench knows the numbers."""

    REGISTER = 1
    """Writes a register."""
    ROWS = 2
    """Puts rows into memory."""
    LIST = 3
    """Puts beats of lists into memory."""
    RUN = 4
    """Runs the program; the device must count as many cycles as said."""
    COMPARE = 5
    """Compares rows of memory with those said."""


_FILES = {Do.ROWS: "data.hex", Do.LIST: "lists.hex", Do.COMPARE: "expected.hex"}

_STEPS_HEAD = """\
// What the host does, in order: two words a step.
//   word 0: what (8 bits), cluster (8), nothing (24), number of rows or beats (24)
//   word 1: first row or beat in memory (32), first word of the file (32); of a register its
//           address and its value; of a run its clock cycles
// 1 write a register, 2 put rows of data.hex into memory, 3 beats of lists.hex, 4 run, 5 compare
// rows with those of expected.hex.
"""


@dataclass(frozen=True)
class Script:
    """The steps as files.

    Attributes:
        files: Name -> text.
        sizes: Parameters of the testbench: the sizes of files and of memory.
    """

    files: Mapping[str, str]
    sizes: Mapping[str, int]


class _Writer:
    """Steps so far, and the words of each file."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.words: dict[Do, list[int]] = {do: [] for do in _FILES}

    def step(self, what: int, second: int, comment: str) -> None:
        self.lines.append(f"{what:016x} {second:016x}  // {comment}\n")

    def registers(self, writes: list[Write]) -> None:
        for address, value in writes:
            self.step(Do.REGISTER << 56, address << 32 | value, f"{_register(address)} = {value}")

    def block(self, do: Do, cluster: int, first: int, rows: Words, comment: str) -> None:
        """Rows or beats, a line of words each."""
        held = self.words[do]
        second = first << 32 | len(held)
        self.step(do << 56 | cluster << 48 | len(rows), second, f"{comment} of cluster {cluster}")
        held += rows.reshape(-1).tolist()


def script(
    executable: VectorExecutable, fetch: Callable[[Limb], Words], outputs: Mapping[str, Residues]
) -> Script:
    """What a host does for a program.

    Args:
        executable: The program.
        fetch: Returns N words of an input or a key.
        outputs: What must come out, by name, shape (limbs, N).
    """
    design, found = executable.design, _Writer()
    where, rows = places(executable.programs, design)
    found.registers(settings(executable, WATCHDOG))
    own = [lists(executable, cluster, where) for cluster in range(design.clusters)]
    for cluster, each in enumerate(own):
        found.block(Do.LIST, cluster, 0, each.beats, "lists")
        found.registers(list_writes(cluster, each))
    for limb, words in host_rows(executable, fetch):
        place = where[limb]
        comment = f"{len(words)} rows of {_named(limb)}: memory"
        found.block(Do.ROWS, place.home, place.row, stored(design, words), comment)
    found.step(Do.RUN << 56, executable.cycles, f"run: {executable.cycles} clock cycles")
    for limb, words in _wanted(executable, outputs):
        place = where[limb]
        comment = f"{len(words)} rows of {_named(limb)}: memory"
        found.block(Do.COMPARE, place.home, place.row, stored(design, words), comment)
    files = {"steps.hex": _STEPS_HEAD + "".join(found.lines)}
    files |= {name: hex_words(found.words[do]) for do, name in _FILES.items()}
    return Script(
        files,
        {
            "steps": len(found.lines),
            "data_words": len(found.words[Do.ROWS]),
            "list_words": len(found.words[Do.LIST]),
            "expected_words": len(found.words[Do.COMPARE]),
            "memory_rows": rows,
            "list_beats": max(len(each.beats) for each in own),
            "list_bits": 64 * BEAT_WORDS,
        },
    )


def _wanted(
    executable: VectorExecutable, outputs: Mapping[str, Residues]
) -> Iterator[tuple[Limb, Words]]:
    for name, limbs in outputs.items():
        for number, words in enumerate(limbs):
            limb = Limb("output", name, (number,))
            layout = limb_layout(executable, limb)
            yield limb, placed(executable.shape, layout, np.asarray(words, dtype=np.uint64))


def _named(limb: Limb) -> str:
    """A limb, in words."""
    index = ", ".join(map(str, limb.index))
    return f"{limb.kind} {limb.name} {index}".replace("  ", " ")


def _register(address: int) -> str:
    """A register's name, by the address of one of its words."""
    cluster, offset = divmod(address - CLUSTERS, CLUSTER_BYTES)
    if cluster >= 0:
        return f"{_of(ClusterRegister, offset)} of cluster {cluster}"
    return _of(VectorRegister, address)


def _of(table: type[IntEnum], address: int) -> str:
    last = max(each for each in table if each <= address)
    half = ", upper half" if address > last else ""
    return f"{last.name.lower()}{half}"
