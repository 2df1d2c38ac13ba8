"""The serial line's receiver and sender, bit by bit."""

from collections.abc import Iterator

import numpy as np
import pytest
from tests.rtl.serial_waves import RATIO, Receiver, bits_of, samples, uart_sources

from ringsmith.errors import ToolError
from ringsmith.hdl.block import Block, Words
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
