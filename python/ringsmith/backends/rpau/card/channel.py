"""A channel of a simulated card: works through a list of descriptors, in the time of its link.

A list is a generator. It yields each burst that has to cross the bus, and is sent the time at which
it has crossed. Times are those of :mod:`ringsmith.backends.rpau.device.link`, for any list.
"""

from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

import numpy as np

from ringsmith.backends.cards.port import within
from ringsmith.backends.rpau.card.coprocessor import CardCoprocessor, Stopped
from ringsmith.backends.rpau.card.descriptor import (
    DESCRIPTOR_BYTES,
    RECORD_BYTES,
    WHOLE_ROWS,
    Descriptor,
    Error,
    Opcode,
    Record,
    row_words,
    word_bytes,
)
from ringsmith.backends.rpau.card.store import CardMemory
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.latency import host_read_cycles
from ringsmith.backends.rpau.device.interface import AddressSpace, KeyPoly, KeyStream, Words
from ringsmith.backends.rpau.device.link import BURSTS, Burst, Link, Port, bursts
from ringsmith.errors import DeviceError

_LISTS = 2048  # whose times are kept
_NAMING = (Error.READ, Error.WRITE, Error.VALUE, Error.UNOPENED, Error.PLACE)
"""Errors that the descriptor's own completion record names."""


@dataclass(frozen=True)
class Crossing:
    """A burst that has to cross the bus; ``to_host``: away from the coprocessor."""

    to_host: bool
    burst: Burst


Steps = Generator[Crossing | None, int, None]
"""What a list asks for; None: it waits for ever, until its host stops it."""


@dataclass
class ListTimes:
    """When what happened of a list, in picoseconds of the card.

    Attributes:
        channel: The channel.
        began: When the channel was started.
        start: When its first program started; 0: it had none.
        computed: Picoseconds of its programs.
        programs: How many it had.
        bytes_in: Bytes from the card's memory to the coprocessor.
        bytes_out: Bytes back.
        end: When it had ended.
    """

    channel: int
    began: int
    start: int = 0
    computed: int = 0
    programs: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    end: int = 0


@dataclass
class _Program:
    """A program that was started, and the keys that it is to get."""

    start: int
    keys: int
    polys: list[KeyPoly] = field(default_factory=list)
    arrivals: list[int] = field(default_factory=list)


class FailedError(Exception):
    """Ends a list; ``error`` says why."""

    def __init__(self, error: Error, reason: str = "") -> None:
        super().__init__(reason)
        self.error = error


class Channel:
    """A channel's registers, and the list that it works through.

    Attributes:
        list: Register ``list``.
        reported, running, failed, error, address, completed: Its other registers.
        allowed: Memory that it may reach: pairs of first and last + 1.
        stopping: Why its list is to be aborted: NONE by a stop, DEVICE by a reset; else None.
        reason: What the device said of the last failure, for people.
        since: When the last list had ended.
        times: Of the latest lists.
    """

    def __init__(
        self,
        number: int,
        design: RpauDesign,
        link: Link,
        memory: CardMemory,
        coprocessor: CardCoprocessor,
    ) -> None:
        self.number, self.coprocessor = number, coprocessor
        self._design, self._link, self._memory = design, link, memory
        self._port = Port(link, design)
        self._drain = host_read_cycles(design)
        self._row_words, self._word_bytes = row_words(design), word_bytes(design)
        self._row_bytes = self._row_words * self._word_bytes
        self.allowed: Sequence[tuple[int, int]] = []
        self.times: deque[ListTimes] = deque(maxlen=_LISTS)
        self.computed = self.lists = self.since = 0
        self.clear()

    def clear(self) -> None:
        """Is as after a reset of the bus."""
        self.list = self.address = self.completed = 0
        self.reported = self.running = self.failed = False
        self.error = Error.NONE
        self.stopping: Error | None = None
        self.reason = ""
        self.forget_program()

    def forget_program(self) -> None:
        """Nothing runs any more."""
        self._program: _Program | None = None

    def work(self, begin: int) -> Steps:
        """Works through the list from a time on.

        Raises:
            FailedError: Where it ends with an error.
        """
        cycle = -(-begin // self._link.period)
        self._port.wait(cycle)
        self._taken = [cycle] * BURSTS
        self.now = begin
        self.times.append(ListTimes(self.number, begin))
        at, self.completed = self.list, 0
        while at:
            self.address = at
            descriptor = self._fetch(at)
            try:
                yield from self._carry_out(descriptor)
            except FailedError as failure:
                if descriptor.record and failure.error in _NAMING:
                    self._keep(descriptor, failure.error)
                raise
            self.completed += 1
            if descriptor.record:
                self._keep(descriptor, Error.NONE)
            self.reported = self.reported or descriptor.tell
            at = descriptor.next

    # ---- descriptors ---------------------------------------------------------------------------

    def _fetch(self, at: int) -> Descriptor:
        if at % DESCRIPTOR_BYTES:
            raise FailedError(Error.ALIGN)
        if not within(self.allowed, at, DESCRIPTOR_BYTES):
            raise FailedError(Error.FETCH)
        found = Descriptor.from_bytes(self._memory.read(at, DESCRIPTOR_BYTES))
        error = found.format_error(self._row_words)
        if error:
            raise FailedError(error)
        return found

    def _following(self, descriptor: Descriptor) -> int:
        """The opcode of the next descriptor; 0 if there is no other."""
        if not descriptor.next or not within(self.allowed, descriptor.next, DESCRIPTOR_BYTES):
            return 0
        raw = self._memory.read(descriptor.next, DESCRIPTOR_BYTES)
        return Descriptor.from_bytes(raw).opcode

    def _carry_out(self, descriptor: Descriptor) -> Steps:
        match descriptor.opcode:
            case Opcode.WRITE:
                yield from self._program_ends()
                yield from self._take(descriptor)
            case Opcode.STREAM:
                yield from self._stream(descriptor)
            case Opcode.START:
                yield from self._program_ends()
                self._start(descriptor)
            case _:
                yield from self._program_ends()
                yield from self._give(descriptor)

    def _take(self, descriptor: Descriptor) -> Steps:
        """Writes words to an address of the coprocessor."""
        space, words = self._place(descriptor)
        yield from self._cross_in(descriptor)
        self._check_width(descriptor, words)
        self._store(space, descriptor, words)

    def _stream(self, descriptor: Descriptor) -> Steps:
        """A key of the program that runs; with the last one the program can be computed."""
        program = self._program
        if descriptor.space != AddressSpace.KEY:
            raise FailedError(Error.PLACE)
        if program is None or len(program.polys) >= program.keys:
            raise FailedError(Error.UNOPENED)
        _, words = self._place(descriptor)
        yield from self._cross_in(descriptor)
        self._check_width(descriptor, words)
        name = f"key {len(program.polys)} of the list"
        program.polys.append(KeyPoly(descriptor.unit, descriptor.index, words, name))
        program.arrivals.append(self._taken[-1] - program.start)
        if len(program.polys) == program.keys:
            self._compute()

    def _start(self, descriptor: Descriptor) -> None:
        try:
            self.coprocessor.choose_ring(descriptor.count)
        except DeviceError as failure:
            raise FailedError(Error.PLACE, str(failure)) from None
        start = self._taken[-1] + self._drain
        self._port.wait(start)
        self._program = _Program(start, descriptor.index)
        self.coprocessor.busy = True
        times = self.times[-1]
        times.start = times.start or start * self._link.period
        if descriptor.index == 0:
            self._compute()

    def _give(self, descriptor: Descriptor) -> Steps:
        """Reads words of an address into the card's memory."""
        if descriptor.space != AddressSpace.POLY:
            raise FailedError(Error.PLACE)
        held = self.coprocessor.place_words(AddressSpace.POLY, descriptor.unit, descriptor.index)
        if held is None or descriptor.count > held:
            raise FailedError(Error.PLACE)
        size = descriptor.count * self._word_bytes
        if not within(self.allowed, descriptor.data, size):
            raise FailedError(Error.WRITE)
        words = self.coprocessor.read(descriptor.unit, descriptor.index)[: descriptor.count]
        last = self._following(descriptor) != Opcode.READ
        parts = [*bursts(self._link, size)]
        for number, part in enumerate(parts):
            cycle = self._port.read(self._taken[-BURSTS], part) + self._link.crossing_cycles
            end = last and number + 1 == len(parts)
            time = yield Crossing(True, Burst(cycle * self._link.period, part, end))
            self._passed(-(-time // self._link.period), time)
        raw = words.astype("<u4" if self._word_bytes == 4 else "<u8").tobytes()
        self._memory.write(descriptor.data, raw, self.now)
        self.times[-1].bytes_out += size

    # ---- their parts ---------------------------------------------------------------------------

    def _place(self, descriptor: Descriptor) -> tuple[AddressSpace, Words]:
        """The address space that a descriptor writes, and its words from memory."""
        try:
            space = AddressSpace(descriptor.space)
        except ValueError:
            raise FailedError(Error.PLACE) from None
        held = self.coprocessor.place_words(space, descriptor.unit, descriptor.index)
        row = 1 if space in WHOLE_ROWS else self._row_words
        if space is AddressSpace.CONVERSION or held is None or held * row != descriptor.count:
            raise FailedError(Error.PLACE)
        size = descriptor.count * self._word_bytes
        if not within(self.allowed, descriptor.data, size):
            raise FailedError(Error.READ)
        kind = "<u4" if self._word_bytes == 4 else "<u8"
        words = np.frombuffer(self._memory.read(descriptor.data, size), dtype=kind)
        return space, np.ascontiguousarray(words[::row], dtype=np.uint64)

    def _check_width(self, descriptor: Descriptor, words: Words) -> None:
        bits = self._design.bits_of(descriptor.unit)
        if (words >> np.uint64(bits)).any():
            raise FailedError(Error.VALUE)

    def _store(self, space: AddressSpace, descriptor: Descriptor, words: Words) -> None:
        try:
            self.coprocessor.write(space, descriptor.unit, descriptor.index, words)
        except DeviceError as failure:
            raise FailedError(Error.VALUE, str(failure)) from None

    def _cross_in(self, descriptor: Descriptor) -> Steps:
        """Bursts from the card's memory to the coprocessor, from when their words are there."""
        size = descriptor.count * self._word_bytes
        last = self._following(descriptor) not in (Opcode.WRITE, Opcode.STREAM, Opcode.START)
        ready = max(
            self._memory.ready(descriptor.data, size),
            self._memory.ready(self.address, DESCRIPTOR_BYTES),
        )
        parts = [*bursts(self._link, size)]
        for number, part in enumerate(parts):
            from_time = max(ready, self._taken[-BURSTS] * self._link.period)
            end = last and number + 1 == len(parts)
            time = yield Crossing(False, Burst(from_time, part, end))
            self._passed(self._port.taken(time, part), time)
        self.times[-1].bytes_in += size

    def _passed(self, cycle: int, time: int) -> None:
        self._taken = [*self._taken[1:], cycle]
        self.now = max(time, cycle * self._link.period)

    def _program_ends(self) -> Steps:
        """Waits for the end of the program; for ever, where a key of it is not in the list."""
        while self._program is not None:
            arrived = len(self._program.polys)
            self.coprocessor.arrivals = (arrived + 1) << 16 | arrived
            yield None

    def _compute(self) -> None:
        """Runs the program, whose keys have all come."""
        program = self._program
        assert program is not None
        stream = KeyStream(tuple(program.polys), tuple(program.arrivals))
        try:
            cycles = self.coprocessor.run(
                stream if program.keys else None, lambda: self.stopping is not None
            )
        except Stopped:
            return  # the list is ended by who asked for it
        except DeviceError as failure:
            self.coprocessor.busy = False
            raise FailedError(Error.DEVICE, str(failure)) from None
        self._program, self.coprocessor.busy = None, False
        self.coprocessor.arrivals = program.keys
        self._taken = [program.start + cycles] * BURSTS
        self._port.wait(self._taken[-1])
        self.now = self._taken[-1] * self._link.period
        self.computed += cycles * self._link.period
        self.times[-1].computed += cycles * self._link.period
        self.times[-1].programs += 1

    def _keep(self, descriptor: Descriptor, error: Error) -> None:
        """Writes a completion record."""
        if not within(self.allowed, descriptor.record, RECORD_BYTES):
            if error:
                return
            raise FailedError(Error.RECORD)
        number = self.completed + bool(error)
        record = Record(number, error, self.coprocessor.cycles, self.address)
        self._memory.write(descriptor.record, record.to_bytes(), self.now)
