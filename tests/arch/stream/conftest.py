"""What the stream tests share: frames of random products, and the core's RTL."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.arch.stream import flow, generator, latency
from ringsmith.arch.stream.descriptor import descriptor
from ringsmith.arch.stream.design import StreamDesign
from ringsmith.devices.block import Block, Words
from ringsmith.devices.stream_rtl import Frame, core_block, stimulus


@dataclass(frozen=True)
class Product(Frame):
    """A frame and core's product of its operands, in natural order."""

    product: Words


def ntt_primes(design: StreamDesign, count: int) -> list[int]:
    """NTT primes of several sizes up to the design's words."""
    widths = [design.word_bits - less for less in range(4)]
    found = [q for bits in widths for q in _core.prime_search(bits, design.n, -(-count // 4))]
    return found[:count]


def random_frame(design: StreamDesign, q: int, rng: np.random.Generator) -> Product:
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
    return Product(descriptor(q, root, design), a, b, product)


def check_products(
    block: Block, design: StreamDesign, frames: Sequence[Product], wanted: Sequence[int]
) -> list[int]:
    """Runs frames and asserts results, cycles and readiness; returns when products began."""
    shape = (design.log_n, design.log_lanes, design.word_bits)
    schedule = generator.schedule(*shape, design.slots, wanted)
    delay = latency.core_cycles(*shape)
    total = schedule.begun[-1] + design.period + delay
    inputs = stimulus(design, frames, schedule)
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
def frames_of(rng: np.random.Generator) -> Callable[[StreamDesign, int, int], list[Product]]:
    """Makes so many random products modulo so many primes, in random order."""

    def make(design: StreamDesign, count: int, primes: int) -> list[Product]:
        moduli = ntt_primes(design, primes)
        assert len(set(moduli)) == primes
        order = rng.permutation(np.arange(count) % primes)
        return [random_frame(design, moduli[i], rng) for i in order]

    return make


@pytest.fixture
def starts_of() -> Callable[[StreamDesign, Sequence[Product], Sequence[int], bool], list[int]]:
    """Runs products on the core's RTL, checks all of them, and returns when each began."""

    def run(
        design: StreamDesign, frames: Sequence[Product], wanted: Sequence[int], assertions: bool
    ) -> list[int]:
        with core_block(design, assertions=assertions) as block:
            return check_products(block, design, frames, wanted)

    return run
