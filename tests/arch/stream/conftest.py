"""What the stream tests share: frames of random products, and the core's RTL."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.arch.stream import flow, generator, latency, rtl
from ringsmith.arch.stream.descriptor import Descriptor, descriptor
from ringsmith.arch.stream.design import StreamDesign
from ringsmith.devices.block import Block, Words
from ringsmith.devices.sources import rtl_sources
from ringsmith.devices.verilate import build_block


@dataclass(frozen=True)
class Frame:
    """A product: its descriptor, operands and result, in natural order."""

    descriptor: Descriptor
    a: Words
    b: Words
    product: Words


def ntt_primes(design: StreamDesign, count: int) -> list[int]:
    """NTT primes of several sizes up to the design's words."""
    widths = [design.word_bits - less for less in range(4)]
    found = [q for bits in widths for q in _core.prime_search(bits, design.n, -(-count // 4))]
    return found[:count]


def random_frame(design: StreamDesign, q: int, rng: np.random.Generator) -> Frame:
    """Random operands modulo q, some words at the edges, and core's product of them."""
    root = _core.smallest_root(q, design.n)
    a, b = rng.integers(0, q, (2, design.n), dtype=np.uint64)
    a[rng.integers(design.n, size=4)] = [0, 1, q - 1, q - 1]
    b[rng.integers(design.n, size=4)] = [0, 1, q - 1, q - 1]
    pointwise = [
        x * y % q
        for x, y in zip(
            _core.ntt_forward(a, q, root).tolist(),
            _core.ntt_forward(b, q, root).tolist(),
            strict=True,
        )
    ]
    product = _core.ntt_inverse(np.array(pointwise, dtype=np.uint64), q, root)
    return Frame(descriptor(q, root, design), a, b, product)


def core_block(design: StreamDesign, *, assertions: bool) -> Block:
    """The core's RTL, out of reset."""
    sources = rtl_sources(*rtl.ROOMS)
    library = build_block(
        rtl.CORE,
        sources,
        rtl.parameters(design),
        assertions=assertions,
        flags=rtl.SIMULATION,
    )
    block = Block(library)
    block.step(rtl.RESET_CYCLES)
    block.poke("rst_ni", 1)
    return block


def stimulus(
    design: StreamDesign, frames: Sequence[Frame], schedule: generator.Schedule
) -> dict[str, Words]:
    """What to drive in each cycle so that frames flow as the schedule says."""
    last = schedule.begun[-1] + design.period
    inputs = {
        name: np.zeros((last, design.lanes), dtype=np.uint64) for name in ("a_i", "b_i", "powers_i")
    }
    for name in ("q_i", "unit_i", "scale_i", "descriptor_valid_i", "first_i"):
        inputs[name] = np.zeros(last, dtype=np.uint64)
    for frame, begun, accepted in zip(frames, schedule.begun, schedule.accepted, strict=True):
        inputs["a_i"][begun : begun + design.period] = flow.to_frame(design, frame.a)
        inputs["b_i"][begun : begun + design.period] = flow.to_frame(design, frame.b)
        inputs["first_i"][begun] = 1
        inputs["descriptor_valid_i"][accepted] = 1
        words = frame.descriptor
        for name, value in (("q_i", words.q), ("unit_i", words.unit), ("scale_i", words.scale)):
            inputs[name][accepted] = value
        inputs["powers_i"][accepted] = words.powers
    return inputs


def check_products(
    block: Block, design: StreamDesign, frames: Sequence[Frame], wanted: Sequence[int]
) -> list[int]:
    """Runs frames and asserts results, cycles and readiness; returns when products began."""
    shape = (design.log_n, design.log_lanes, design.word_bits)
    schedule = generator.schedule(*shape, design.slots, wanted)
    delay = latency.core_cycles(*shape)
    total = schedule.begun[-1] + design.period + delay
    inputs = stimulus(design, frames, schedule)
    for name in ("first_i", "descriptor_valid_i"):
        inputs[name] = np.concatenate([inputs[name], np.zeros(1, dtype=np.uint64)])
    for name in set(inputs) - {"first_i", "descriptor_valid_i"}:
        inputs[name] = np.concatenate([inputs[name], inputs[name][-1:]])
    names = ["descriptor_ready_o", "ready_o", "first_o", "y_o"]
    out = block.run(inputs, names, cycles=total)
    assert out["descriptor_ready_o"][schedule.accepted].all()
    assert out["ready_o"][schedule.begun].all()
    if not any(wanted):  # what did not follow at once began as soon as the core was ready
        late = np.flatnonzero(np.diff(schedule.begun, prepend=-1) != design.period)
        assert not out["ready_o"][np.array(schedule.begun)[late] - 1].any()
    starts = np.flatnonzero(out["first_o"]).tolist()
    assert starts == [begun + delay for begun in schedule.begun]
    for frame, start in zip(frames, starts, strict=True):
        words = flow.from_frame(out["y_o"][start : start + design.period])
        assert np.array_equal(words, frame.product)
    return starts


@pytest.fixture
def frames_of(rng: np.random.Generator) -> Callable[[StreamDesign, int, int], list[Frame]]:
    """Makes so many random products modulo so many primes, in random order."""

    def make(design: StreamDesign, count: int, primes: int) -> list[Frame]:
        moduli = ntt_primes(design, primes)
        assert len(set(moduli)) == primes
        order = rng.permutation(np.arange(count) % primes)
        return [random_frame(design, moduli[i], rng) for i in order]

    return make


@pytest.fixture
def starts_of() -> Callable[[StreamDesign, Sequence[Frame], Sequence[int], bool], list[int]]:
    """Runs products on the core's RTL, checks all of them, and returns when each began."""

    def run(
        design: StreamDesign, frames: Sequence[Frame], wanted: Sequence[int], assertions: bool
    ) -> list[int]:
        with core_block(design, assertions=assertions) as block:
            return check_products(block, design, frames, wanted)

    return run
