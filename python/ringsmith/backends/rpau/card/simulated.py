"""A simulated card: coprocessors behind a DMA, their registers, and the time that all of it takes.

One thread moves time on: it serves the bursts of all channels in the order of the bus, and carries
out what they carry. Time is the card's, in picoseconds, and independent of how fast the simulation
is: a host that answers within ``Pace.grace`` seconds of real time answers after ``Pace.answer``.
"""

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from threading import Condition, Thread

from ringsmith.backends.cards.port import Claim
from ringsmith.backends.rpau.card.channel import Channel, Crossing, FailedError, Steps
from ringsmith.backends.rpau.card.coprocessor import CardCoprocessor
from ringsmith.backends.rpau.card.descriptor import Error
from ringsmith.backends.rpau.card.store import CardMemory
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.card_table import (
    CHANNEL_BYTES,
    CHANNELS,
    MAGIC,
    VERSION_MAJOR,
    VERSION_MINOR,
    CardRegister,
    ChannelControl,
    ChannelRegister,
    ChannelStatus,
)
from ringsmith.backends.rpau.device.interface import Coprocessor
from ringsmith.backends.rpau.device.link import Link, Wire
from ringsmith.errors import DeviceError, ParameterError

PAGE = 4096
"""Bytes of a page of registers: the card's, then those of each coprocessor."""

_WORD = 0xFFFF_FFFF
_MICROSECOND = 10**6  # picoseconds


@dataclass(frozen=True)
class Pace:
    """What a simulated card assumes of its host and of the bus between them.

    Attributes:
        bytes_per_second: Of the host's bus, each way.
        transfer: Fixed overhead of a transfer, in picoseconds.
        answer: Picoseconds from a list's end to the next one's begin on the same channel: the
            interrupt, the host's driver, and the writes of registers.
        grace: Seconds of real time for which the card's time waits for the host's next list.
    """

    bytes_per_second: int = 12_000_000_000
    transfer: int = 10 * _MICROSECOND
    answer: int = 10 * _MICROSECOND
    grace: float = 0.05

    def seconds_of(self, size: int) -> int:
        """Picoseconds of a transfer."""
        return self.transfer + -(-size * 10**12 // self.bytes_per_second)


class RpauCard:
    """Coprocessors of a design behind one DMA; see ``SimulatedCard`` in the package ``cards``.

    Args:
        design: The design, with a bus to the host.
        make: Makes the device of a coprocessor.
        size: Bytes of the card's memory, divided evenly among the channels.
        pace: What is assumed of the host.

    Raises:
        ParameterError: If the design has no bus, or the memory cannot have this size.
    """

    def __init__(
        self,
        design: RpauDesign,
        make: Callable[[RpauDesign], Coprocessor],
        size: int,
        pace: Pace = Pace(),
    ) -> None:
        if not design.host_bits:
            raise ParameterError(f"design {design.name} has host_bits = 0: it has no DMA")
        self.name, self.design, self._pace = design.name, design, pace
        self._memory = CardMemory(size)
        count = design.coprocessors
        part = size // count // PAGE * PAGE
        self.claims = [Claim(number, number * part, part) for number in range(count)]
        link = Link(design.host_bits)
        self._link = link
        self._change = Condition()
        self._wires = {to_host: Wire(link, count) for to_host in (False, True)}
        self._channels: list[Channel] = []
        for number in range(count):
            coprocessor = CardCoprocessor(design, make, data_path=False)
            channel = Channel(number, design, link, self._memory, coprocessor)
            coprocessor.reset = partial(self._stop, channel, Error.DEVICE)
            coprocessor.start = partial(self._start_alone, channel)
            self._channels.append(channel)
        self._steps: dict[int, Steps] = {}
        self._fresh: list[tuple[Channel, int]] = []
        self._single: list[Channel] = []
        self._held: dict[int, float] = {}
        """Channels whose host may answer before time goes on, until when, in real time."""
        self._now = self._host_free = self._card_free = 0
        self._bytes = [0, 0]
        self._call: Callable[[int], None] = lambda _: None
        self._closed = False
        self._thread = Thread(target=self._live, daemon=True)
        self._thread.start()

    def on_interrupt(self, call: Callable[[int], None]) -> None:
        """Has a function called at each interrupt."""
        self._call = call

    def close(self) -> None:
        """Ends the simulation."""
        with self._change:
            self._closed = True
            for channel in self._channels:
                channel.stopping = Error.NONE
            self._change.notify_all()
        self._thread.join()

    def report(self) -> dict[str, object]:
        """Card time, what coprocessors computed, and the times of the latest lists."""
        with self._change:
            return {
                "now": self._now,
                "bytes_to_card": self._bytes[0],
                "bytes_to_host": self._bytes[1],
                "host_free": self._host_free,
                "card_free": self._card_free,
                "pace": asdict(self._pace),
                "link": asdict(self._link),
                "channels": [
                    {"computed": each.computed, "lists": each.lists, "reason": each.reason}
                    for each in self._channels
                ],
                "times": [asdict(one) for each in self._channels for one in [*each.times][-512:]],
            }

    # ---- the host's memory accesses ------------------------------------------------------------

    def write_memory(self, address: int, data: bytes) -> None:
        """Copies bytes from the host, which are there when the host's bus has carried them."""
        with self._change:
            begin = max(self._host_free, self._now)
            self._host_free = begin + self._pace.seconds_of(len(data))
            self._bytes[0] += len(data)
            self._memory.write(address, data, self._host_free)

    def read_memory(self, address: int, size: int) -> bytes:
        """Copies bytes to the host."""
        with self._change:
            begin = max(self._card_free, self._now, self._memory.ready(address, size))
            self._card_free = begin + self._pace.seconds_of(size)
            self._bytes[1] += size
            return self._memory.read(address, size)

    # ---- claims --------------------------------------------------------------------------------

    def allow(self, channel: int, ranges: Sequence[tuple[int, int]]) -> None:
        """Says which memory a channel may reach."""
        with self._change:
            self._channels[channel].allowed = [*ranges]

    def vacate(self, channel: int) -> None:
        """Stops a channel, gives it a device that holds nothing, and empties its memory."""
        one, claim = self._channels[channel], self.claims[channel]
        with self._change:
            self._held.pop(channel, None)
            self._stop(one, Error.DEVICE)
            self._change.wait_for(lambda: self._closed or not self._lives(one))
            one.clear()
            one.coprocessor.vacate()
            self._memory.wipe(claim.first, claim.size)

    # ---- registers -----------------------------------------------------------------------------

    def channel_of(self, address: int) -> int | None:
        """The channel of a register; None: it is the card's own."""
        page, at = divmod(address, PAGE)
        if page:
            return page - 1
        return (at - CHANNELS) // CHANNEL_BYTES if at >= CHANNELS else None

    def read_registers(self, addresses: Sequence[int]) -> list[int]:
        """Reads registers."""
        return [self._read(address) for address in addresses]

    def write_registers(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Writes registers."""
        for address, value in pairs:
            self._write(address, value)

    def _read(self, address: int) -> int:
        page, at = divmod(address, PAGE)
        if page:
            return self._channel(page - 1).coprocessor.read_register(at)
        with self._change:
            if at >= CHANNELS:
                number, register = divmod(at - CHANNELS, CHANNEL_BYTES)
                return _channel_register(self._channel(number), register)
            reported = {
                CardRegister.MAGIC: MAGIC,
                CardRegister.VERSION: VERSION_MAJOR << 16 | VERSION_MINOR,
                CardRegister.COPROCESSORS: len(self._channels),
                CardRegister.HOST_BITS: self.design.host_bits,
                CardRegister.REPORTED: sum(each.reported << each.number for each in self._channels),
            }
            if at not in reported:
                raise DeviceError(f"the card has no register to read at {at:#05x}")
            return reported[CardRegister(at)]

    def _write(self, address: int, value: int) -> None:
        page, at = divmod(address, PAGE)
        with self._change:
            if page:
                self._channel(page - 1).coprocessor.write_register(at, value)
                self._change.notify_all()
                return
            number, register = divmod(at - CHANNELS, CHANNEL_BYTES)
            channel = self._channel(number)
            match register:
                case ChannelRegister.LIST:
                    channel.list = channel.list & ~_WORD | value
                case 4:
                    channel.list = channel.list & _WORD | value << 32
                case ChannelRegister.REPORTED:
                    channel.reported = channel.reported and not value & 1
                case ChannelRegister.CONTROL:
                    if value & ChannelControl.STOP and channel.running:
                        self._stop(channel, Error.NONE)
                    elif value & ChannelControl.GO and not channel.running:
                        self._go(channel)
                case _:
                    raise DeviceError(f"the card has no register to write at {at:#05x}")

    def _channel(self, number: int) -> Channel:
        if not 0 <= number < len(self._channels):
            raise DeviceError(f"the card has no channel {number}")
        return self._channels[number]

    # ---- time ----------------------------------------------------------------------------------

    def _go(self, channel: Channel) -> None:
        """Starts a channel's list: at once, or as soon as the host can have answered the last."""
        held = self._held.pop(channel.number, None) is not None
        begin = channel.since + self._pace.answer if held else self._now
        channel.running, channel.failed, channel.error = True, False, Error.NONE
        channel.coprocessor.moving = True
        self._fresh.append((channel, max(begin, channel.since)))
        self._change.notify_all()

    def _stop(self, channel: Channel, why: Error) -> None:
        channel.stopping = why
        self._change.notify_all()

    def _start_alone(self, channel: Channel) -> None:
        self._single.append(channel)

    def _lives(self, channel: Channel) -> bool:
        return channel.running or channel.stopping is not None or channel in self._single

    def _live(self) -> None:
        """Moves time on for as long as the card is there."""
        while True:
            with self._change:
                if self._closed:
                    return
                todo = self._next()
                if todo is None:
                    continue
            todo()

    def _next(self) -> Callable[[], None] | None:
        """What is to be done next; None: wait, which has been done."""
        for channel in self._channels:
            if channel.stopping is not None:
                return lambda: self._end_early(channel)
        if self._fresh:
            channel, begin = self._fresh.pop(0)
            return lambda: self._begin(channel, begin)
        if self._single:
            channel = self._single[0]
            return lambda: self._run_alone(channel)
        ready = [(wire.begins, to_host) for to_host, wire in self._wires.items()]
        begins = [(at, to_host) for at, to_host in ready if at is not None]
        if not begins:
            self._change.wait()
            return None
        at, to_host = min(begins)
        if (seconds := self._patience(at)) > 0:
            self._change.wait(seconds)
            return None
        number, crossed = self._wires[to_host].serve()
        self._now = max(self._now, crossed)
        return lambda: self._advance(self._channels[number], crossed)

    def _patience(self, at: int) -> float:
        """For how many seconds of real time hosts may still answer before a time of the card."""
        now = time.monotonic()
        self._held = {number: until for number, until in self._held.items() if until > now}
        waits = [
            until - now
            for number, until in self._held.items()
            if self._channels[number].since + self._pace.answer <= at
        ]
        return max(waits, default=0.0)

    def _begin(self, channel: Channel, begin: int) -> None:
        steps = channel.work(begin)
        self._steps[channel.number] = steps
        self._step(channel, lambda: next(steps))

    def _advance(self, channel: Channel, crossed: int) -> None:
        steps = self._steps[channel.number]
        self._step(channel, lambda: steps.send(crossed))

    def _step(self, channel: Channel, go_on: Callable[[], Crossing | None]) -> None:
        """Goes on with a list up to its next burst, or its end."""
        reported = channel.reported
        try:
            crossing = go_on()
        except StopIteration:
            self._ended(channel, None)
        except FailedError as failure:
            self._ended(channel, failure)
        except Exception as failure:  # a fault of the simulation: the card must answer all the same
            self._ended(channel, FailedError(Error.DEVICE, repr(failure)))
        else:
            if crossing is not None:
                self._wires[crossing.to_host].ask(channel.number, crossing.burst)
        if channel.reported and not reported:
            self._call(channel.number)

    def _ended(self, channel: Channel, failure: FailedError | None) -> None:
        with self._change:
            self._steps.pop(channel.number, None)
            channel.running, channel.failed = False, failure is not None
            channel.error = Error.NONE if failure is None else failure.error
            channel.reason = "" if failure is None else str(failure)
            channel.coprocessor.moving = False
            channel.reported = channel.reported or channel.failed
            channel.since = channel.times[-1].end = channel.now
            channel.lists += 1
            self._held[channel.number] = time.monotonic() + self._pace.grace
            self._change.notify_all()

    def _end_early(self, channel: Channel) -> None:
        """Ends a list by a stop or a reset, which also ends the program that runs."""
        with self._change:
            why, channel.stopping = channel.stopping, None
            self._fresh = [each for each in self._fresh if each[0] is not channel]
            for wire in self._wires.values():
                wire.withdraw(channel.number)
            steps = self._steps.pop(channel.number, None)
            if steps is not None:
                steps.close()
            failed = why is Error.DEVICE and channel.running
            if channel.running:
                channel.running, channel.failed = False, failed
                channel.error = Error.DEVICE if failed else Error.NONE
                channel.since = self._now
            channel.coprocessor.moving = False
            if why is Error.DEVICE:
                channel.forget_program()
                channel.coprocessor.cleared()
            channel.reported = reported = channel.reported or failed
            self._change.notify_all()
        if reported:
            self._call(channel.number)

    def _run_alone(self, channel: Channel) -> None:
        """Runs a program that registers have started."""
        with contextlib.suppress(Exception):
            channel.coprocessor.run(None, lambda: channel.stopping is not None)
        with self._change:
            channel.coprocessor.busy = False
            self._single.remove(channel)
            self._now += channel.coprocessor.cycles * self._link.period
            channel.computed += channel.coprocessor.cycles * self._link.period
            self._change.notify_all()


def _channel_register(channel: Channel, register: int) -> int:
    """A register of a channel."""
    status = (ChannelStatus.RUNNING if channel.running else 0) | (
        ChannelStatus.FAILED if channel.failed else 0
    )
    reported = {
        ChannelRegister.LIST: channel.list & _WORD,
        ChannelRegister.LIST + 4: channel.list >> 32,
        ChannelRegister.STATUS: int(status),
        ChannelRegister.ADDRESS: channel.address & _WORD,
        ChannelRegister.ADDRESS + 4: channel.address >> 32,
        ChannelRegister.COMPLETED: channel.completed,
        ChannelRegister.REPORTED: int(channel.reported),
        ChannelRegister.ERROR: int(channel.error),
    }
    if register not in reported:
        raise DeviceError(f"a channel has no register to read at {register:#04x}")
    return reported[register]
