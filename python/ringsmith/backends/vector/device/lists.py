"""A cluster's three lists as they lie in memory, in slots of 256 bytes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.memory_map import Place
from ringsmith.backends.vector.device.residues import Words
from ringsmith.backends.vector.isa.encoding import instruction, load, store
from ringsmith.backends.vector.isa.instructions import Limb

BEAT_WORDS = 8
"""Words of 64 bits of a beat."""

SLOT_WORDS = 4 * BEAT_WORDS
SLOT_BYTES = 8 * SLOT_WORDS


@dataclass(frozen=True)
class Lists:
    """Lists of a cluster, one behind the other.

    Attributes:
        beats: What lies in memory, a row of 8 words of 64 bits for each beat.
        addresses: The byte at which each list begins: loads, computing, stores.
        counts: Items of each.
    """

    beats: Words
    addresses: tuple[int, ...]
    counts: tuple[int, ...]


def lists(executable: VectorExecutable, cluster: int, places: Mapping[Limb, Place]) -> Lists:
    """The lists of a cluster's program."""
    own, design = executable.programs[cluster], executable.design
    factors = [design.factor(q) for q in executable.moduli]
    parts = [
        _slots([load(each, places[each.limb].address) for each in own.loads], 2),
        _slots([instruction(each, factors) for each in own.computing], SLOT_WORDS),
        _slots([store(each, places[each.limb].address) for each in own.stores], 1),
    ]
    ends = np.cumsum([len(part) for part in parts])
    return Lists(
        np.concatenate(parts).reshape(-1, BEAT_WORDS),
        tuple(int(end - len(part)) * 8 for end, part in zip(ends, parts, strict=True)),
        (len(own.loads), len(own.computing), len(own.stores)),
    )


def _slots(items: Sequence[int], words: int) -> Words:
    """Items of this many words each, in whole slots."""
    content = b"".join(item.to_bytes(8 * words, "little") for item in items)
    flat = np.frombuffer(content, dtype="<u8").astype(np.uint64)
    return np.pad(flat, (0, -len(flat) % SLOT_WORDS))
