"""Lists of descriptors for an executable: its operands, programs, keys and results."""

import weakref
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from types import MappingProxyType

import numpy as np

from ringsmith.backends.rpau.card.descriptor import (
    DESCRIPTOR_BYTES,
    RECORD_BYTES,
    WHOLE_ROWS,
    Descriptor,
    Opcode,
    Record,
    row_words,
    word_bytes,
)
from ringsmith.backends.rpau.compiler.executable import Executable, KeyLoad, Run
from ringsmith.backends.rpau.compiler.virtual import bits_of
from ringsmith.backends.rpau.design.constants import prime_tables
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.interface import AddressSpace, Words
from ringsmith.objects import KeySwitchKey, Residues

Place = tuple[int, int]
"""A value and the RPAU that holds it."""

_NOWHERE: Mapping[Place, int] = MappingProxyType({})

Table = tuple[AddressSpace, int, int, Words]
"""Address space, RPAU, index and words."""


@dataclass(frozen=True)
class Primes:
    """The primes of an executable in each slot, and its ring: tables that it needs.

    Attributes:
        log_degree: log2 of the ring's degree.
        slots: RPAU, prime and root of each slot.
    """

    log_degree: int
    slots: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, executable: Executable) -> "Primes":
        """Those of an executable."""
        return cls(
            executable.log_degree,
            tuple(
                (executable.order.rpau(slot), executable.primes[limb], executable.roots[limb])
                for slot, limb in enumerate(executable.limbs)
            ),
        )


def prime_loads(executable: Executable) -> list[Table]:
    """Modulus words and twiddle factors of all slots."""
    design, order = executable.design, executable.order
    return [
        (AddressSpace[space], rpau, order.bank(slot), words)
        for slot, (rpau, prime, root) in enumerate(Primes.of(executable).slots)
        for space, words in prime_tables(prime, root, design, executable.log_degree, rpau).loads()
    ]


def constant_loads(executable: Executable) -> list[Table]:
    """The constant files of all slots."""
    found = []
    for slot, values in enumerate(executable.constants):
        padded = np.zeros(executable.design.constants, dtype=np.uint64)
        padded[: len(values)] = values
        order = executable.order
        found.append((AddressSpace.CONSTANT, order.rpau(slot), order.bank(slot), padded))
    return found


def word_type(design: RpauDesign) -> str:
    """The type of a word in the card's memory."""
    return "<u4" if word_bytes(design) == 4 else "<u8"


def image(design: RpauDesign, space: AddressSpace, words: Words) -> Words:
    """Words in the layout of the card's memory: one word per row for most address spaces."""
    if space in WHOLE_ROWS:
        return words.astype(word_type(design))
    rows = np.zeros((words.size, row_words(design)), dtype=word_type(design))
    rows[:, 0] = words
    return rows.reshape(-1)


def padded(size: int) -> int:
    """A size rounded up to where the next words may begin."""
    return -(-size // 64) * 64


def chain(descriptors: Sequence[Descriptor], at: int) -> bytes:
    """Descriptors that follow each other, as they lie in memory from an address on."""
    last = len(descriptors) - 1
    return b"".join(
        replace(each, next=0 if number == last else at + (number + 1) * DESCRIPTOR_BYTES).to_bytes()
        for number, each in enumerate(descriptors)
    )


def table_list(design: RpauDesign, tables: Sequence[Table], at: int) -> bytes:
    """The words of tables and then the list that writes them, as they lie from an address on.

    The list's first descriptor is at ``at + table_bytes(...)``.
    """
    parts, descriptors, place = [], [], at
    for space, unit, index, words in tables:
        rows = image(design, space, words)
        raw = rows.tobytes()
        descriptors.append(Descriptor(Opcode.WRITE, place, space, unit, index, rows.size))
        parts.append(raw + bytes(padded(len(raw)) - len(raw)))
        place += len(parts[-1])
    descriptors[-1] = replace(descriptors[-1], tell=True)
    return b"".join(parts) + chain(descriptors, place)


def table_bytes(design: RpauDesign, tables: Sequence[Table]) -> int:
    """Bytes of tables' words, before their list."""
    return sum(
        padded(words.size * word_bytes(design) * (1 if space in WHOLE_ROWS else row_words(design)))
        for space, _, _, words in tables
    )


class KeyDigests:
    """Digests of keys, cached for read-only arrays."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[weakref.ref[Residues], bytes]] = {}
        self._pins: weakref.WeakSet[_Pins] = weakref.WeakSet()

    def pin(self, keys: Iterable[Residues]) -> object:
        """Lets cards keep keys as long as the returned object is there."""
        found = _Pins(frozenset(map(self.of, keys)))
        self._pins.add(found)
        return found

    def is_pinned(self, name: Hashable) -> bool:
        """Whether what a card keeps by a name is of such a key."""
        digest = name[0] if isinstance(name, tuple) else None
        return any(digest in each.digests for each in [*self._pins])

    def of(self, key: Residues) -> bytes:
        """The digest of a key's residues: equal keys have the same."""
        known = self._known.get(id(key))
        if known is not None and known[0]() is key and not key.flags.writeable:
            return known[1]
        found = blake2b(np.ascontiguousarray(key).data, digest_size=16).digest()
        if not key.flags.writeable:
            self._known[id(key)] = (weakref.ref(key, self._gone(id(key))), found)
        return found

    def _gone(self, number: int) -> Callable[[object], None]:
        def forget(_: object) -> None:
            self._known.pop(number, None)

        return forget


@dataclass(frozen=True, eq=False)
class _Pins:
    """Digests of keys that stay."""

    digests: frozenset[bytes]


@dataclass(frozen=True)
class KeyImage:
    """The b and a parts of a key in the card's memory.

    Attributes:
        name: Its name in the graph.
        halves: Which parts (0: b, 1: a); those that the device does not expand itself.
        limbs: Limbs of the key.
        digits: Its digits.
        poly_bytes: Bytes of a sub-polynomial of a limb.
        sub-polynomials: Sub-polynomials of a limb.
    """

    name: str
    halves: tuple[int, ...]
    digits: int
    base: tuple[int, ...]
    sub_polys: int
    poly_bytes: int

    @classmethod
    def of(
        cls, executable: Executable, name: str, key: KeySwitchKey, loads: Sequence[KeyLoad]
    ) -> "KeyImage":
        """What an executable takes of a key."""
        halves = tuple(sorted({load.half for load in loads if load.key == name}))
        size = min(executable.n, executable.design.n) * word_bytes(executable.design)
        return cls(name, halves, key.digits, key.base, executable.sub_polys, size)

    @property
    def size(self) -> int:
        """Its bytes."""
        count = self.digits * len(self.halves) * len(self.base) * self.sub_polys
        return count * self.poly_bytes

    def content(self, key: Residues, design: RpauDesign) -> bytes:
        """Its words."""
        return key[:, list(self.halves)].astype(word_type(design)).tobytes()

    def offset(self, load: KeyLoad, prime: int) -> int:
        """Where a polynomial of a key's limb lies in it."""
        half = self.halves.index(load.half)
        first = (load.digit * len(self.halves) + half) * len(self.base)
        row = first + self.base.index(prime)
        return (row * self.sub_polys + load.sub_poly) * self.poly_bytes


@dataclass(frozen=True)
class RunLists:
    """The lists of one program segment, once with its keys and once without.

    Attributes:
        run: The segment.
        streamed: The list with the run's keys: its address, and how many descriptors it has.
        resident: The list for keys that lie in the coprocessor already.
        operand_bytes: Bytes that go to the coprocessor without keys.
        key_bytes: Bytes of its keys.
        result_bytes: Bytes that come back.
    """

    run: Run
    streamed: tuple[int, int]
    resident: tuple[int, int]
    operand_bytes: int
    key_bytes: int
    result_bytes: int


class JobLayout:
    """Where a job's words, lists and records lie in a block of the card's memory.

    Inputs come first, then lists, then values that are inputs and outputs: the host writes them at
    once. From these on follow the other outputs, and records: the host reads them at once. What
    crosses between two segments stays on the card, and so does the last part, the row that a
    segment without results reads: a list that ends with START would end before its program does.

    Args:
        executable: What the job runs.
        residents: Addresses of inputs that lie in other blocks of the card's memory, and stay.
        kept: Addresses of outputs in other blocks, where they are to stay.

    Attributes:
        size: Bytes of all.
        sent: Bytes that the host writes.
        received: Where what it reads begins, and ends.
    """

    def __init__(
        self,
        executable: Executable,
        residents: Mapping[Place, int] = _NOWHERE,
        kept: Mapping[Place, int] = _NOWHERE,
    ) -> None:
        self._executable, design = executable, executable.design
        self._residents, self._kept = residents, kept
        self._poly = min(executable.n, design.n) * word_bytes(design)
        inputs, outputs = (
            [place for values in each.values() for place in places_of(executable, values)]
            for each in (executable.inputs, executable.outputs)
        )
        inputs = [place for place in dict.fromkeys(inputs) if place not in residents]
        outputs = [place for place in dict.fromkeys(outputs) if place not in kept]
        both = [place for place in inputs if place in {*outputs}]
        inputs = [place for place in inputs if place not in {*both}]
        outputs = [place for place in outputs if place not in {*both}]
        moved = {
            (value, rpau)
            for run in executable.runs
            for value, taken in (*run.stores.items(), *run.loads.items())
            for rpau in taken
        }
        only_read = residents.keys() - stored_places(executable)
        between = sorted(moved - {*inputs, *outputs, *both, *kept, *only_read})
        self._lists = len(inputs) * self._poly
        lists = sum(_descriptors(run) for run in executable.runs) * DESCRIPTOR_BYTES
        begin = padded(self._lists + lists)
        self._records = begin + (len(both) + len(outputs)) * self._poly
        end = self._records + padded(len(executable.runs) * RECORD_BYTES)
        self._at = {
            place: first + number * self._poly
            for first, places in ((0, inputs), (begin, [*both, *outputs]), (end, between))
            for number, place in enumerate(places)
        }
        self.sent = begin + len(both) * self._poly
        self.received = (begin, end)
        self._row = end + padded(len(between) * self._poly)
        self.size = self._row + design.lanes * word_bytes(design)

    def upload(self, inputs: Mapping[str, Residues], lists: bytes) -> bytes:
        """Inputs and lists as they lie from the block's address on."""
        executable = self._executable
        kind, order = word_type(executable.design), executable.order.rpau
        sent = np.zeros(self.sent, dtype=np.uint8)
        for name, values in executable.inputs.items():
            if name not in inputs:
                continue  # it lies elsewhere
            for residues, (limb, first) in zip(inputs[name], sorted(values.items()), strict=True):
                for sub_poly, words in enumerate(np.split(residues, executable.sub_polys)):
                    begin = self._at[first + sub_poly, order(limb)]
                    sent[begin : begin + self._poly] = words.astype(kind).view(np.uint8)
        sent[self._lists : self._lists + len(lists)] = np.frombuffer(lists, dtype=np.uint8)
        return sent.tobytes()

    def outputs(self, raw: bytes) -> dict[str, Residues]:
        """Outputs from the bytes that were received."""
        executable = self._executable
        words = np.frombuffer(raw, dtype=np.uint8)
        kind, order = word_type(executable.design), executable.order.rpau

        def found(value: int, rpau: int) -> Residues:
            begin = self._at[value, rpau] - self.received[0]
            return words[begin : begin + self._poly].view(kind).astype(np.uint64)

        return {
            name: np.stack(
                [
                    np.concatenate(
                        [
                            found(first + sub_poly, order(limb))
                            for sub_poly in range(executable.sub_polys)
                        ]
                    )
                    for limb, first in sorted(values.items())
                ]
            )
            for name, values in executable.outputs.items()
            if not self._kept.keys() & places_of(executable, values)
        }

    def record(self, raw: bytes, number: int) -> Record:
        """The completion record of a run, from the bytes that were received."""
        at = self._records - self.received[0] + number * RECORD_BYTES
        return Record.from_bytes(raw[at : at + RECORD_BYTES])

    def lists(
        self, at: int, keys: Mapping[str, tuple[KeyImage, int]]
    ) -> tuple[bytes, list[RunLists]]:
        """The lists of all runs as they lie behind the inputs, and where each begins.

        Args:
            at: Address of the block.
            keys: Of each key its image, and the address where that lies.
        """
        executable, raw, made = self._executable, b"", []
        now = dict(self._residents)
        for number, run in enumerate(executable.runs):
            streams = [*self._streams(run, keys)]
            record = at + self._records + number * RECORD_BYTES
            operands, results = (
                [*self._operands(run, at, now)],
                [*self._results(run, at, record, now)],
            )
            begins = []
            for taken in (streams, []):
                opened = len(taken) if executable.design.key_stream else 0
                start = Descriptor(Opcode.START, index=opened, count=executable.log_degree)
                if executable.design.key_stream:
                    made_of = [*operands, start, *taken, *results]
                else:
                    made_of = [*operands, *taken, start, *results]
                begins.append((at + self._lists + len(raw), len(made_of)))
                raw += chain(made_of, begins[-1][0])
            made.append(
                RunLists(
                    run,
                    begins[0],
                    begins[1],
                    len(operands) * self._poly,
                    len(streams) * self._poly,
                    len(results) * self._poly,
                )
            )
        return raw, made

    def _operands(self, run: Run, at: int, now: Mapping[Place, int]) -> Iterator[Descriptor]:
        """What a run takes; ``now``: where values lie that are not in the block at ``at``."""
        for value, taken in run.loads.items():
            for rpau, index in taken.items():
                there = now.get((value, rpau))
                place = at + self._at[value, rpau] if there is None else there
                yield self._polynomial(Opcode.WRITE, place, rpau, index)

    def _results(
        self, run: Run, at: int, record: int, now: dict[Place, int]
    ) -> Iterator[Descriptor]:
        """What a run leaves; changes ``now``, since a result may take an operand's name."""
        places = [
            (value, rpau, index)
            for value, taken in run.stores.items()
            for rpau, index in taken.items()
        ]
        if not places:
            lanes = self._executable.design.lanes
            place = at + self._row
            yield Descriptor(
                Opcode.READ, place, AddressSpace.POLY, 0, 0, lanes, tell=True, record=record
            )
        for number, (value, rpau, index) in enumerate(places):
            there = self._kept.get((value, rpau))
            place = at + self._at[value, rpau] if there is None else there
            now[value, rpau] = place
            one = self._polynomial(Opcode.READ, place, rpau, index)
            last = number + 1 == len(places)
            yield replace(one, tell=True, record=record) if last else one

    def _streams(self, run: Run, keys: Mapping[str, tuple[KeyImage, int]]) -> Iterator[Descriptor]:
        """The run's keys in its order."""
        executable = self._executable
        stream = executable.design.key_stream
        for load in run.keys:
            picture, at = keys[load.key]
            for rpau in bits_of(load.mask):
                limb = executable.limbs[executable.order.slot(load.modulus_bank, rpau)]
                place = at + picture.offset(load, limb)
                opcode = Opcode.STREAM if stream else Opcode.WRITE
                yield self._polynomial(opcode, place, rpau, load.index, AddressSpace.KEY)

    def _polynomial(
        self,
        opcode: Opcode,
        data: int,
        rpau: int,
        index: int,
        space: AddressSpace = AddressSpace.POLY,
    ) -> Descriptor:
        words = self._poly // word_bytes(self._executable.design)
        return Descriptor(opcode, data, space, rpau, index, words)


def places_of(executable: Executable, values: Mapping[int, int]) -> list[Place]:
    """Slots of an input or output, sub-polynomial by sub-polynomial: as its residues lie."""
    return [
        (first + sub_poly, executable.order.rpau(limb))
        for limb, first in sorted(values.items())
        for sub_poly in range(executable.sub_polys)
    ]


def stored_places(executable: Executable) -> set[Place]:
    """Slots that some run stores."""
    return {
        (value, rpau)
        for run in executable.runs
        for value, taken in run.stores.items()
        for rpau in taken
    }


def _descriptors(run: Run) -> int:
    """Descriptors of both lists of a run."""
    operands = sum(map(len, run.loads.values()))
    results = max(1, sum(map(len, run.stores.values())))
    keys = sum(load.mask.bit_count() for load in run.keys)
    return 2 * (operands + 1 + results) + keys
