"""What the stream tests share: frames of random products, and the core's RTL."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.backends.stream.design import generator, package
from ringsmith.backends.stream.design.design import BARRETT, StreamDesign
from ringsmith.backends.stream.device.rtl import Frame, core_block, stimulus
from ringsmith.backends.stream.isa.descriptor import descriptor
from ringsmith.backends.stream.model import flow
from ringsmith.hdl.block import Block, Words

CORES_MOST_BITS = 61
"""Of a modulus in core."""


@dataclass(frozen=True)
class Product(Frame):
    """A frame and core's product of its operands, in natural order."""

    product: Words


def ntt_primes(design: StreamDesign, count: int) -> list[int]:
    """NTT primes of the sizes that the design takes, the largest ones."""
    sizes = 1 if design.multiplier == BARRETT else 4
    widths = [design.word_bits - less for less in range(sizes)]
    each = -(-count // sizes)
    found = [q for bits in widths for q in search_primes(bits, design.n, each)]
    return found[:count]


def search_primes(bits: int, n: int, count: int) -> list[int]:
    """The largest NTT primes of this many bits, of 62 bits too, which core does not take."""
    if bits <= CORES_MOST_BITS:
        return list(_core.prime_search(bits, n, count))
    candidates = range((1 << bits) - 2 * n + 1, 1 << (bits - 1), -2 * n)
    return list(itertools.islice(filter(_core.is_prime, candidates), count))


def root_of(q: int, n: int) -> int:
    """A primitive 2N-th root of unity modulo q."""
    powers = (pow(base, (q - 1) // (2 * n), q) for base in itertools.count(2))
    return next(power for power in powers if pow(power, n, q) == q - 1)


def integer_product(a: Words, b: Words, q: int) -> Words:
    """The product modulo x^N + 1 and q by one product of large integers."""
    place = 18  # bytes of a coefficient of a * b
    large = [
        int.from_bytes(b"".join(x.to_bytes(place, "little") for x in p.tolist()), "little")
        for p in (a, b)
    ]
    both = (large[0] * large[1]).to_bytes(2 * place * len(a), "little")
    found = [int.from_bytes(both[i : i + place], "little") for i in range(0, len(both), place)]
    low, high = found[: len(a)], found[len(a) :]
    return np.array([(x - y) % q for x, y in zip(low, high, strict=True)], dtype=np.uint64)


def cores_product(a: Words, b: Words, q: int, root: int) -> Words:
    """The product modulo x^N + 1 and q by core's transforms."""
    pointwise = [
        x * y % q
        for x, y in zip(
            _core.ntt_forward(a, q, root).tolist(),
            _core.ntt_forward(b, q, root).tolist(),
            strict=True,
        )
    ]
    return _core.ntt_inverse(np.array(pointwise, dtype=np.uint64), q, root)


def random_frame(design: StreamDesign, q: int, rng: np.random.Generator) -> Product:
    """Random operands modulo q, some words at the edges, and core's product of them."""
    root = root_of(q, design.n)
    a, b = rng.integers(0, q, (2, design.n), dtype=np.uint64)
    a[rng.integers(design.n, size=4)] = [0, 1, q - 1, q - 1]
    b[rng.integers(design.n, size=4)] = [0, 1, q - 1, q - 1]
    within = q.bit_length() <= CORES_MOST_BITS
    product = cores_product(a, b, q, root) if within else integer_product(a, b, q)
    return Product(descriptor(q, root, design), a, b, product)


def check_products(
    block: Block, design: StreamDesign, frames: Sequence[Product], wanted: Sequence[int]
) -> list[int]:
    """Runs frames and asserts results, cycles and readiness; returns when products began."""
    schedule = generator.schedule(design.cfg, design.slots, wanted)
    delay = package.core_cycles(design.cfg)
    total = schedule.started[-1] + design.period + delay
    inputs = stimulus(design, frames, schedule)
    names = ["descriptor_ready_o", "ready_o", "first_o", "y_o"]
    out = block.run(inputs, names, cycles=total)
    assert out["descriptor_ready_o"][schedule.accepted].all()
    assert out["ready_o"][schedule.started].all()
    if not any(wanted):  # what did not follow at once began as soon as the core was ready
        late = np.flatnonzero(np.diff(schedule.started, prepend=-1) != design.period)
        assert not out["ready_o"][np.array(schedule.started)[late] - 1].any()
    starts = np.flatnonzero(out["first_o"]).tolist()
    assert starts == [started + delay for started in schedule.started]
    for frame, start in zip(frames, starts, strict=True):
        words = flow.from_frame(out["y_o"][start : start + design.period])
        assert np.array_equal(words, frame.product)
    return starts


@pytest.fixture
def frames_of(rng: np.random.Generator) -> Callable[[StreamDesign, int, int], list[Product]]:
    """Makes this many random products modulo this many primes, in random order."""

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
