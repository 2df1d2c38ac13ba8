"""The cocotb part of test_stream_bus.py: descriptors and polynomials in, products out.

Runs inside the simulator, on an rs_stream_axis of the design in RINGSMITH_BENCH. Channels pause at
random; the seed comes from RINGSMITH_TEST_SEED, and the turn in RINGSMITH_BENCH varies it.
"""

import itertools
import json
import os
import random
from collections.abc import Iterator, Sequence

import cocotb
import numpy as np
from cocotb.clock import Clock
from cocotb.handle import HierarchyObject
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiStreamBus, AxiStreamFrame, AxiStreamSink, AxiStreamSource

from ringsmith import _core
from ringsmith.backends.stream.design.design import BARRETT, StreamDesign
from ringsmith.backends.stream.isa.descriptor import Descriptor, descriptor

SHAPE, TURN = json.loads(os.environ["RINGSMITH_BENCH"])
DESIGN = StreamDesign("bus", *SHAPE)
LANES, WORD_BITS = DESIGN.lanes, DESIGN.word_bits
ONE_SIZE = DESIGN.multiplier == BARRETT
SEED = int(os.environ["RINGSMITH_TEST_SEED"])
WORD_BYTES = 4 if WORD_BITS <= 32 else 8
SMALL = _core.prime_search(24, DESIGN.n, 9)
PRIMES = _core.prime_search(WORD_BITS, DESIGN.n, 21)
if not ONE_SIZE:
    PRIMES[-len(SMALL) :] = SMALL
PULL_RESET = 100


def to_bytes(words: Sequence[int]) -> bytes:
    """Words as they lie on a stream."""
    return b"".join(int(word).to_bytes(WORD_BYTES, "little") for word in words)


class Host:
    """The device's partner on all five streams."""

    def __init__(self, dut: HierarchyObject, name: str) -> None:
        self.dut = dut
        self.random = random.Random(f"{SEED} {TURN} {name}")
        self.rng = np.random.default_rng([SEED, TURN, len(name)])

        def attach(kind: type, prefix: str) -> AxiStreamSource | AxiStreamSink:
            bus = AxiStreamBus.from_prefix(dut, prefix)
            stream = kind(bus, dut.clk_i, dut.rst_ni, reset_active_level=False)
            stream.log.setLevel("WARNING")
            return stream

        self.descriptors = attach(AxiStreamSource, "s_axis_d")
        self.a = attach(AxiStreamSource, "s_axis_a")
        self.b = attach(AxiStreamSource, "s_axis_b")
        self.answers = attach(AxiStreamSink, "m_axis_s")
        self.products = attach(AxiStreamSink, "m_axis_p")

    async def begin(self) -> None:
        """Clock and a short reset."""
        Clock(self.dut.clk_i, 10, "ns").start()
        self.dut.rst_ni.value = 0
        await ClockCycles(self.dut.clk_i, 2)
        self.dut.rst_ni.value = 1

    def pause(self, shares: Sequence[float], bursts: int) -> None:
        """From now on each channel pauses a share of its time, for up to a number of cycles."""
        for stream in (self.descriptors, self.a, self.b, self.answers, self.products):
            stream.set_pause_generator(self._pauses(self.random.choice(shares), bursts))

    def _pauses(self, share: float, bursts: int) -> Iterator[bool]:
        while True:
            paused = self.random.random() < share
            yield from itertools.repeat(paused, self.random.randint(1, bursts))

    def words_of(self, q: int) -> Descriptor:
        """The descriptor of a prime."""
        return descriptor(q, _core.smallest_root(q, DESIGN.n), DESIGN)

    async def send(self, q: int) -> bytes:
        """Sends one random product, descriptor and operands; returns what must come."""
        root = _core.smallest_root(q, DESIGN.n)
        a, b = self.rng.integers(0, q, (2, DESIGN.n), dtype=np.uint64)
        transformed = zip(
            _core.ntt_forward(a, q, root).tolist(),
            _core.ntt_forward(b, q, root).tolist(),
            strict=True,
        )
        pointwise = np.array([x * y % q for x, y in transformed], dtype=np.uint64)
        await self.descriptors.send(to_bytes(self.words_of(q).words))
        await self.a.send(to_bytes(a))
        await self.b.send(to_bytes(b))
        return to_bytes(_core.ntt_inverse(pointwise, q, root))

    async def answer(self) -> int:
        """The next descriptor's answer."""
        return int((await self.answers.read(1))[0])

    async def expect(self, products: Sequence[bytes]) -> list[AxiStreamFrame]:
        """The next products, which must be these, each a frame."""
        frames = []
        for number, product in enumerate(products):
            frame = await self.products.recv(False)
            assert bytes(frame.tdata) == product, f"product {number} differs"
            frames.append(frame)
        return frames


@cocotb.test()
async def products_of_21_primes_survive_any_stalls(dut: HierarchyObject) -> None:
    host = Host(dut, "stalls")
    await host.begin()
    for bursts in (1, 7, 3 * DESIGN.period):
        host.pause((0.0, 0.3, 0.7), bursts)
        expected = [await host.send(q) for q in host.random.sample(PRIMES, len(PRIMES))]
        await host.expect(expected)
        assert [await host.answer() for _ in expected] == [0] * len(PRIMES)
    assert dut.fault_o.value == 0


@cocotb.test()
async def products_follow_each_other_every_period_where_nobody_pauses(
    dut: HierarchyObject,
) -> None:
    host = Host(dut, "speed")
    await host.begin()
    frames = await host.expect([await host.send(q) for q in PRIMES])
    ends = [frame.sim_time_end for frame in frames]
    apart = [(y - x) / 10_000 for x, y in itertools.pairwise(ends)]  # picoseconds
    assert set(apart[5:]) == {DESIGN.period}, apart


@cocotb.test()
async def nothing_is_lost_while_nobody_takes_products(dut: HierarchyObject) -> None:
    host = Host(dut, "blocked")
    await host.begin()
    host.products.pause = True
    expected = [await host.send(q) for q in PRIMES]
    await ClockCycles(dut.clk_i, 30 * DESIGN.period)
    assert len([await host.answer() for _ in range(3)]) == 3
    assert host.products.empty()
    host.products.pause = False
    await host.expect(expected)


@cocotb.test()
async def a_descriptor_is_refused_with_its_reason_and_takes_no_frame(dut: HierarchyObject) -> None:
    host = Host(dut, "refused")
    await host.begin()
    q = PRIMES[0]
    good = list(host.words_of(q).words)
    not_one = q - DESIGN.n  # modulo 2N it is N + 1
    wide = (1 << WORD_BITS) + 1
    refused = [
        ([not_one, *good[1:]], 1),
        ([0, *good[1:]], 2 if ONE_SIZE else 1),
        ([1, *good[1:]], 2),
        ([wide, *good[1:]], 2),
        *([([SMALL[0], *good[1:]], 2)] if ONE_SIZE else []),
        ([q, 1 << WORD_BITS, *good[2:]], 3),
        ([q, good[1], q, *good[3:]], 3),
        ([*good[:-1], q], 3),
        (good[:-1], 4),
        (good[:1], 4),
        ([*good, 1], 4),
        ([*good, *good, *good], 4),
    ]
    expected = []
    for words, reason in refused:
        await host.descriptors.send(to_bytes(words))
        assert await host.answer() == reason, (words, reason)
        expected.append(await host.send(host.random.choice(PRIMES)))
        assert await host.answer() == 0
    await host.expect(expected)


@cocotb.test()
async def a_polynomial_of_the_wrong_length_raises_the_fault(dut: HierarchyObject) -> None:
    host = Host(dut, "fault")
    await host.begin()
    await host.a.send(to_bytes([0] * (DESIGN.n - LANES)))
    await host.a.wait()
    await ClockCycles(dut.clk_i, 4)
    assert dut.fault_o.value == 1
    dut.rst_ni.value = 0
    await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await ClockCycles(dut.clk_i, PULL_RESET)
    assert dut.fault_o.value == 0
    await host.expect([await host.send(q) for q in PRIMES[:3]])
