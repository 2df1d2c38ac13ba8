"""The serial line's receiver and sender, bit by bit."""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.rtl.serial_waves import RATIO, Receiver, bits_of, samples, uart_sources

from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.design import load_design
from ringsmith.backends.rpau.design.register_table import Register
from ringsmith.backends.rpau.device.card import (
    ANSWER_BYTES,
    Answer,
    CardBus,
    Command,
    Request,
    Status,
    decode,
)
from ringsmith.errors import DeviceError, ToolError
from ringsmith.generate.contents import sources_below
from ringsmith.hdl.block import Block, Words
from ringsmith.hdl.elaboration import elaborated
from ringsmith.hdl.netlist import kind
from ringsmith.hdl.verilate import build_block

SLOWEST, FASTEST = 0.98, 1.02  # of the sender's rate


def parameters(ratio: float) -> dict[str, int]:
    """A clock and a rate of this ratio."""
    return {"ClockHz": round(1000 * ratio), "Baud": 1000}


@pytest.fixture(params=[8, 8.68, 16, 104.17], ids=str)
def ratio(request: pytest.FixtureRequest) -> float:
    return float(request.param)


@pytest.fixture
def receiver(ratio: float) -> Iterator[Block]:
    with Block(build_block("rs_uart_rx", uart_sources(), parameters(ratio))) as block:
        yield reset(block)


def reset(block: Block) -> Block:
    block.poke("rx_i", 1)
    block.step(3)
    block.poke("rst_ni", 1)
    return block


def received(block: Block, levels: Words) -> tuple[bytes, int]:
    """The bytes of some samples, and how many stop bits were wrong."""
    out = block.run({"rx_i": levels}, ["valid_o", "data_o", "error_o"])
    return bytes(out["data_o"][out["valid_o"] == 1].tolist()), int(out["error_o"].sum())


@pytest.mark.parametrize("rate", [SLOWEST, 1.0, FASTEST])
@pytest.mark.parametrize("gap", [0, 0.3])
def test_bytes_arrive_from_a_sender_whose_clock_differs(
    receiver: Block, ratio: float, rate: float, gap: float, rng: np.random.Generator
) -> None:
    data = bytes([0, 255, 0x55, 0xAA]) + rng.bytes(100)
    for phase in rng.uniform(0, 1, 5):
        levels = samples(bits_of(data, gap), ratio / rate, round(3 * ratio), phase)
        assert received(receiver, levels) == (data, 0)


def test_short_pulses_start_no_byte_and_change_none(
    receiver: Block, ratio: float, rng: np.random.Generator
) -> None:
    width = max(1, int(ratio / 8))  # shorter than the distance of two samples
    quiet = np.ones(round(20 * ratio), dtype=np.uint64)
    for first in rng.integers(round(ratio), quiet.size - round(2 * ratio), 20):
        pulsed = quiet.copy()
        pulsed[first : first + width] = 0
        assert received(receiver, pulsed) == (b"", 0)
    for _ in range(20):
        data = rng.bytes(1)
        levels = samples(bits_of(data), ratio, round(3 * ratio))
        first = rng.integers(round(ratio), round(9 * ratio))
        levels[first : first + width] ^= np.uint64(1)
        assert received(receiver, levels) == (data, 0)


def test_a_wrong_stop_bit_is_an_error_and_the_next_byte_is_right(
    receiver: Block, ratio: float, rng: np.random.Generator
) -> None:
    for held in (1.0, 40.0):  # bits that the line stays 0: a broken byte, or a broken line
        wrong = [*bits_of(rng.bytes(1))[:-1], (0, held), (1, 2.0)]
        data = rng.bytes(3)
        levels = samples([*wrong, *bits_of(data)], ratio, round(3 * ratio))
        assert received(receiver, levels) == (data, 1)


def test_the_line_is_quiet_only_where_no_byte_is_under_way(receiver: Block, ratio: float) -> None:
    levels = samples([(1, 2.0), *bits_of(b"\xff")], ratio, round(3 * ratio))
    quiet = receiver.run({"rx_i": levels}, ["quiet_o"])["quiet_o"]
    begin, end = round(2 * ratio), round(12 * ratio)
    assert quiet[:begin].all()
    assert not quiet[begin + 3 : end - round(ratio / 2)].any()
    assert quiet[end + 3 :].all()


def test_a_sender_keeps_its_rate_and_sends_every_byte(
    ratio: float, rng: np.random.Generator
) -> None:
    data = bytes([0, 255]) + rng.bytes(50)
    with Block(build_block("rs_uart_tx", uart_sources(), parameters(ratio))) as block:
        block.step(3)
        block.poke("rst_ni", 1)
        block.poke("valid_i", 1)
        levels, line = [], Receiver(ratio)
        for byte in data:
            block.poke("data_i", byte)
            block.eval()
            while not block.peek("ready_o")[0]:
                levels.append(block.peek("tx_o")[0])
                block.step()
            levels.append(block.peek("tx_o")[0])
            block.step()
        block.poke("valid_i", 0)
        tail = block.run({}, ["tx_o", "ready_o"], cycles=round(12 * ratio))
    whole = np.concatenate([levels, tail["tx_o"]]).astype(np.uint64)
    assert line.take(whole) == data
    assert line.errors == 0
    starts = (len(levels) - 1) / (len(data) - 1) / 10  # cycles of a bit
    assert ratio <= starts <= ratio + 0.2  # ten bits, rounded up, and a cycle that takes the byte
    assert tail["ready_o"][-1]


def test_a_clock_too_slow_for_the_rate_is_refused() -> None:
    with pytest.raises(ToolError, match="needs a clock of at least eight times that, not 7999 Hz"):
        build_block("rs_uart_rx", uart_sources(), {"ClockHz": 1000 * RATIO - 1, "Baud": 1000})


# Frames over a serial line: what is done, what is not, and that a broken frame writes nothing


SILENCE = 400  # cycles after which the bridge awaits a frame
BYTE = 10 * RATIO  # cycles
BAUD = 1_000_000
CYCLES_OF_SECOND = 20_000  # what a host's second is here
WIDE, ABSENT = 0x400, 0x800  # registers whose words are wide, and that do not exist
WRITES = ["write_o", "read_o", "address_o", "data_o", "tx_o"]


class SimulatedLine:
    """A line to the bridge, in simulated time, on which bytes can be lost or changed.

    Attributes:
        accesses: The bus's accesses that were answered: kind, address and data.
        spoil: Changes what the host sends, and ``spoil_answer`` what the board does.
    """

    name, baud = "the simulated line", BAUD

    def __init__(self, block: Block) -> None:
        self._block, self._receiver = block, Receiver()
        self._came = bytearray()
        self.accesses: list[tuple[str, int, int]] = []
        self.spoil: Callable[[bytes], bytes] = lambda data: data
        self.spoil_answer: Callable[[bytes], bytes] = lambda data: data
        self.frames = 0
        block.poke("rx_i", 1)
        block.poke("rst_ni", 0)
        block.step(3)
        block.poke("rst_ni", 1)

    def send(self, data: bytes) -> None:
        """Sends bytes, one after another."""
        self.frames += 1
        data = self.spoil(data)
        if data:
            self.drive(samples(bits_of(data)))

    def receive(self, seconds: float) -> bytes:
        """Waits until bytes came and the line is quiet again."""
        for _ in range(max(1, int(seconds * CYCLES_OF_SECOND) // 1000)):
            self.drive(np.ones(1000, dtype=np.uint64))
            if self._came:
                break
        before = 0
        while len(self._came) > before:  # the host's time does not pass meanwhile
            before = len(self._came)
            self.drive(np.ones(1000, dtype=np.uint64))
        found, self._came = bytes(self._came), bytearray()
        return self.spoil_answer(found) if found else b""

    def close(self) -> None:
        """Nothing is to be closed."""

    def drive(self, levels: Words) -> None:
        """Drives the line, a sample a cycle."""
        out = self._block.run({"rx_i": levels}, WRITES)
        for cycle in np.flatnonzero(out["write_o"] | out["read_o"]):
            kind = "write" if out["write_o"][cycle] else "read"
            self.accesses.append((kind, int(out["address_o"][cycle]), int(out["data_o"][cycle])))
        self._came += self._receiver.take(out["tx_o"])


@pytest.fixture
def line() -> Iterator[SimulatedLine]:
    library = build_block(
        "rs_uart_bench", uart_sources(), {"SilenceCycles": SILENCE}, assertions=True
    )
    with Block(library) as block:
        yield SimulatedLine(block)


def ask(line: SimulatedLine, frame: bytes) -> Answer | None:
    """Sends bytes as they are, and returns the answer."""
    line.send(frame)
    return decode(line.receive(1.0))


def writes(line: SimulatedLine) -> list[tuple[int, int]]:
    return [(address, data) for kind, address, data in line.accesses if kind == "write"]


def word(value: int) -> Request:
    return Request(Command.WRITE, 0x40, 4, payload=value.to_bytes(4, "little"))


def halves(address: int, words: Words) -> list[tuple[int, int]]:
    """The accesses that write words to a register of 64 bits."""
    return [
        (address + 4 * half, int(w) >> 32 * half & 0xFFFFFFFF) for w in words for half in (0, 1)
    ]


def test_words_of_every_size_are_written_and_read(
    line: SimulatedLine, rng: np.random.Generator
) -> None:
    bus = CardBus(line, word_bytes=5)
    bus.write(0x13C, 0xFFFFFFFF)
    assert writes(line) == [(0x13C, 0xFFFFFFFF)]
    for bits in (1, 8, 9, 30, 48, 64):
        line.accesses.clear()
        words = rng.integers(0, (1 << bits) - 1, 300, dtype=np.uint64, endpoint=True)
        before = line.frames
        bus.write_words(0x58, words)
        assert line.frames - before == 2  # of 256 words and 44
        assert writes(line) == halves(0x58, words)
    line.accesses.clear()
    found = bus.read_words(0x20, 300)
    read = [data for _, _, data in line.accesses]
    assert found.tolist() == [
        low | high << 32 for low, high in zip(read[::2], read[1::2], strict=True)
    ]
    assert [address for _, address, _ in line.accesses] == [0x20, 0x24] * 300
    assert bus.read(WIDE) == line.accesses[-1][2] > 1 << 20


def test_what_the_bus_refuses_and_what_is_too_wide_is_an_error_and_the_session_goes_on(
    line: SimulatedLine,
) -> None:
    bus = CardBus(line)
    with pytest.raises(DeviceError, match="answers a write of register 0x800 with an error: docs"):
        bus.write(ABSENT, 1)
    with pytest.raises(DeviceError, match="answers a read of register 0x804 with an error"):
        bus.read(ABSENT + 4)
    narrow = ask(line, Request(Command.READ, WIDE, 2).encode(3))
    assert narrow is not None
    assert (narrow.status, narrow.payload) == (Status.WIDE, b"")
    assert ask(line, word(5).encode(4)) == Answer(1, 4, Status.DONE, b"")
    assert writes(line)[-1] == (0x40, 5)
    with pytest.raises(DeviceError, match="the board was reset, or another program has used it"):
        bus.read(0)


def test_a_burst_ends_at_the_access_that_the_bus_refuses(line: SimulatedLine) -> None:
    bus = CardBus(line)
    with pytest.raises(DeviceError, match="register 0x808 with an error"):
        bus.write_words(ABSENT + 8, np.arange(1, 10, dtype=np.uint64))
    assert len(writes(line)) == 1


def test_a_frame_is_done_once_however_often_it_is_sent(line: SimulatedLine) -> None:
    CardBus(line)
    for _ in range(3):
        assert ask(line, word(9).encode(1)) == Answer(1, 1, Status.DONE, b"")
    assert writes(line) == [(0x40, 9)]
    read = [ask(line, Request(Command.READ, 0, 4, count=7).encode(2)) for _ in range(2)]
    assert read[0] == read[1]
    assert sum(kind == "read" for kind, _, _ in line.accesses) == 7
    # Another frame with the number of the last one is no repetition, and is not done.
    for number in (2, 0, 4, 1):
        assert ask(line, word(8).encode(number)) == Answer(1, number, Status.SEQUENCE, b"")
    assert writes(line) == [(0x40, 9)]
    assert ask(line, word(8).encode(3)) == Answer(1, 3, Status.DONE, b"")


def test_before_a_session_is_opened_nothing_is_done(line: SimulatedLine) -> None:
    for number in (0, 1, 255):
        assert ask(line, word(9).encode(number)) == Answer(1, number, Status.SEQUENCE, b"")
    assert not line.accesses


@pytest.mark.parametrize("place", range(3 + 5 + 4))
def test_a_frame_with_a_wrong_bit_writes_nothing_and_is_repeated(
    line: SimulatedLine, place: int, rng: np.random.Generator
) -> None:
    bus = CardBus(line)
    spoiled = []

    def spoil(data: bytes) -> bytes:
        line.spoil = lambda sent: sent
        spoiled.append(data)
        at = place if place < 7 else place - 12
        changed = bytearray(data)
        changed[at] ^= 1 << int(rng.integers(8))
        return bytes(changed)

    line.spoil = spoil
    before = line.frames
    bus.write(0x40, int(rng.integers(1 << 32)))
    assert spoiled
    assert line.frames - before == 2
    assert len(writes(line)) == 1


def test_lost_and_doubled_bytes_are_repaired_on_both_ways(
    line: SimulatedLine, rng: np.random.Generator
) -> None:
    bus = CardBus(line)

    def damage(data: bytes) -> bytes:
        if rng.integers(3):
            return data
        at = int(rng.integers(len(data)))
        kind = int(rng.integers(4))
        if kind == 0:
            return data[:at] + data[at + 1 :]
        if kind == 1:
            return data[:at] + data[at : at + 1] + data[at:]
        if kind == 2:
            return data[:at]
        return data[:at] + bytes([data[at] ^ 1 << int(rng.integers(8))]) + data[at + 1 :]

    def attempt(words: Words) -> str:
        try:
            bus.write_words(0x58, words)
        except DeviceError as failure:  # four attempts failed
            return str(failure)
        return ""

    expected: list[tuple[int, int]] = []
    line.spoil = line.spoil_answer = damage
    frames, done = line.frames, 0
    for count in rng.integers(1, 30, 25):
        words = rng.integers(0, 1 << 40, int(count), dtype=np.uint64)
        failure = attempt(words)
        found = writes(line)[len(expected) :]
        if failure:
            assert "has ended" in failure
            assert found in ([], halves(0x58, words))
            line.spoil = line.spoil_answer = lambda data: data
            bus = CardBus(line)
            line.spoil = line.spoil_answer = damage
        else:
            assert found == halves(0x58, words)
            done += 1
        expected += found
    assert done
    assert line.frames - frames > 25


def test_a_frame_cut_short_is_forgotten_after_the_silence(line: SimulatedLine) -> None:
    CardBus(line)
    whole = word(9).encode(1)
    for length in range(1, len(whole)):
        answer = ask(line, whole[:length])
        assert answer == Answer(1, 1, Status.BROKEN, b"")
    # A pause shorter than the silence is no end.
    line.send(whole[:6])
    line.drive(np.ones(SILENCE - 2 * RATIO, dtype=np.uint64))
    assert not line.accesses
    assert ask(line, whole[6:]) == Answer(1, 1, Status.DONE, b"")


def test_a_frame_within_bytes_that_are_none_is_not_done(line: SimulatedLine) -> None:
    CardBus(line)
    whole = word(9).encode(1)
    assert ask(line, b"\0" + whole) == Answer(1, 1, Status.BROKEN, b"")
    # Inside the words of a frame whose check sum is wrong, and after it without a pause.
    outer = bytearray(Request(Command.WRITE, 0x40, 1, count=20, payload=whole + bytes(5)).encode(1))
    outer[-1] ^= 1
    assert ask(line, bytes(outer) + whole) == Answer(1, 1, Status.BROKEN, b"")
    assert not line.accesses
    assert ask(line, whole) == Answer(1, 1, Status.DONE, b"")


def test_bytes_during_an_answer_are_ignored_until_the_line_is_quiet(line: SimulatedLine) -> None:
    CardBus(line)
    read = Request(Command.READ, 0, 4, count=10).encode(1)
    line.send(read + word(9).encode(2))
    came = line.receive(1.0)
    split = ANSWER_BYTES + 40
    first, second = decode(came[:split]), decode(came[split:])
    assert first is not None
    assert first.status == Status.DONE
    assert second == Answer(1, 2, Status.BROKEN, b"")
    assert not writes(line)


@pytest.mark.parametrize(
    "request_",
    [
        Request(Command.WRITE, 0x40, 5, payload=bytes(5)),
        Request(Command.WRITE, 0x40, 9, pair=True, payload=bytes(9)),
        Request(Command.WRITE, 0x40, 0),
        Request(Command.WRITE, 0x41, 4, payload=bytes(4)),
        Request(Command.WRITE, 0x44, 4, pair=True, payload=bytes(4)),
        Request(Command.WRITE, 0x1040, 4, payload=bytes(4)),
        Request(Command.WRITE, 0x40, 0x24, payload=bytes(4)),
        Request(3, 0x40, 4),  # type: ignore[arg-type]
        Request(6, 0x40, 4),  # type: ignore[arg-type]
    ],
    ids=str,
)
def test_a_head_that_asks_for_what_there_is_not_is_no_frame(
    line: SimulatedLine, request_: Request
) -> None:
    CardBus(line)
    assert ask(line, request_.encode(1)) == Answer(1, 1, Status.BROKEN, b"")
    assert not line.accesses


def frames_in(data: bytes) -> bool:
    """Whether some part of the data is a whole frame."""
    return any(
        data[begin] == 0xA5
        and zlib.crc32(data[begin : end - 4]).to_bytes(4, "little") == data[end - 4 : end]
        for begin in range(len(data))
        for end in range(begin + 11, len(data) + 1)
    )


def test_random_bytes_never_reach_the_bus(line: SimulatedLine, rng: np.random.Generator) -> None:
    CardBus(line)
    good = word(1).encode(1)
    for _ in range(150):
        kind = int(rng.integers(4))
        data = rng.bytes(int(rng.integers(1, 60)))
        if kind == 1:  # a head that is right, and then anything
            data = good[:7] + data
        elif kind == 2:  # parts of a frame in another order
            cut = int(rng.integers(1, len(good)))
            data = good[cut:] + good[:cut]
        elif kind == 3:  # bits of a frame turned over
            changed = bytearray(good)
            for at in rng.integers(0, 8 * len(good), int(rng.integers(1, 12))):
                changed[at // 8] ^= 1 << int(at % 8)
            data = bytes(changed)
        if frames_in(data):
            continue
        ratio = float(rng.choice([RATIO, RATIO, RATIO * 0.7, RATIO * 2.3]))  # another rate, too
        line.drive(samples(bits_of(data, float(rng.choice([0, 0.5]))), ratio))
        line.receive(0.1)
        assert not line.accesses
    assert ask(line, good) == Answer(1, 1, Status.DONE, b"")


def test_random_levels_never_reach_the_bus(line: SimulatedLine, rng: np.random.Generator) -> None:
    CardBus(line)
    for _ in range(20):
        times = rng.uniform(0.02, 3, 400)
        line.drive(samples([(i % 2, float(t)) for i, t in enumerate(times)]))
        assert not line.accesses
    line.receive(1.0)
    assert ask(line, word(1).encode(1)) == Answer(1, 1, Status.DONE, b"")


def test_silence_noise_and_another_version_are_reported_apart(line: SimulatedLine) -> None:
    line.spoil = lambda data: b""
    with pytest.raises(DeviceError, match="nothing answers at the simulated line: give the board"):
        CardBus(line)
    line.spoil, line.spoil_answer = lambda data: data, lambda data: b"\x12" * len(data)
    with pytest.raises(DeviceError, match="36 bytes came and no answer among them: give the rate"):
        CardBus(line)
    line.spoil_answer = lambda data: Answer(2, data[1], Status.DONE, b"").encode()
    with pytest.raises(DeviceError, match="version 2 of the frames and this Ringsmith version 1"):
        CardBus(line)


def test_a_board_that_falls_silent_ends_the_session_with_what_was_done(
    line: SimulatedLine,
) -> None:
    bus = CardBus(line)
    first = line.frames
    line.spoil = lambda data: data if line.frames - first <= 1 else b""
    with pytest.raises(DeviceError, match=r"4 attempts at the write of register 0x050, 256 of 300"):
        bus.write_words(Register.HOST_DATA, np.zeros(300, dtype=np.uint64))
    line.spoil = lambda data: data
    sent = line.frames
    with pytest.raises(DeviceError, match=r"has ended: .*open the device again"):
        bus.read(0)
    assert line.frames == sent
    assert len(writes(line)) == 512
    CardBus(line).write(0, 1)


def test_after_an_interruption_the_next_access_opens_the_session_again(
    line: SimulatedLine,
) -> None:
    bus = CardBus(line)
    spoil = line.spoil

    def interrupt(data: bytes) -> bytes:
        raise KeyboardInterrupt

    line.spoil_answer = interrupt  # the frame arrived, its answer did not
    with pytest.raises(KeyboardInterrupt):
        bus.write(0x40, 1)
    line.spoil, line.spoil_answer = spoil, lambda data: data
    bus.write(0x40, 2)
    assert writes(line) == [(0x40, 1), (0x40, 2)]


@pytest.mark.full
def test_a_device_on_a_serial_line_has_no_data_path(tmp_path: Path) -> None:
    """Nothing of it is built, where nothing is connected to it."""
    design = replace(load_design("nano"), log_n=8, rpaus=2, cores=1, dyadic_cores=1, work_polys=4)
    found = elaborated(
        *("rs_rpau_uart", sources_below("rs_rpau_uart", rtl.BUS_FOLDERS)),
        [f"{name}={value}" for name, value in rtl.parameters(design).items()],
        tmp_path,
    )
    kinds = {kind(name) for name in found["modules"]}
    assert {"rs_rpau_shell", "rs_host_window"} <= kinds
    assert "rs_data_path" not in kinds
