"""A stream device against the model on random products: words and cycles, all equal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.random import Generator

from ringsmith import _core
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.stream.device.interface import ResidueProduct, StreamCoprocessor
from ringsmith.backends.stream.device.model import StreamModel
from ringsmith.backends.stream.device.rtl import StreamRtl
from ringsmith.errors import DeviceError, ParameterError

PRIMES = 20
"""Of which the products are, in random order."""

_CORES_MOST_BITS = 61
_SEED = 7


@dataclass(frozen=True)
class ComparedProducts:
    """What was found equal.

    Attributes:
        products: Random products, made by both devices.
        primes: Modulo this many primes.
        words: Compared, those of all products.
        cycles: From the first descriptor to the last word.
        shortest: The fewest cycles between two products that followed each other.
        longest: The most.
    """

    products: int
    primes: int
    words: int
    cycles: int
    shortest: int
    longest: int


def compare_products(
    coprocessor: StreamCoprocessor, design: StreamDesign, count: int
) -> ComparedProducts:
    """Makes random products of mixed primes, back to back, on a device and on the model.

    The model's products are core's. The primes are the largest that the design takes, and core.

    Args:
        coprocessor: The device to be compared, of the same design.
        design: The design.
        count: Products, at least two.

    Raises:
        ParameterError: With fewer products: there is no interval.
        DeviceError: At the first difference; names the product and what differs.
    """
    if count < 2:
        raise ParameterError(f"{count} products: take at least two, between which is an interval")
    random = np.random.default_rng(_SEED)
    return compare_batch(coprocessor, design, (random.permutation(count) % PRIMES).tolist(), random)


def compare_batch(
    coprocessor: StreamCoprocessor, design: StreamDesign, numbers: Sequence[int], random: Generator
) -> ComparedProducts:
    """Makes random products back to back, as ``compare_products``.

    Args:
        coprocessor: The device to be compared, of the same design.
        design: The design.
        numbers: The number of each product's prime, below ``PRIMES``.
        random: Draws the operands.

    Raises:
        DeviceError: At the first difference; names the product and what differs.
    """
    count = len(numbers)
    bits = min(design.word_bits, _CORES_MOST_BITS)
    primes = _core.prime_search(bits, design.n, PRIMES)
    batch = []
    for number in numbers:
        a, b = random.integers(0, primes[number], (2, design.n), dtype=np.uint64)
        batch.append(ResidueProduct(primes[number], a, b))
    found, expected = coprocessor.multiply(batch), StreamModel(design).multiply(batch)
    for number, (ours, cores) in enumerate(zip(found.products, expected.products, strict=True)):
        wrong = np.flatnonzero(ours != cores)
        if wrong.size:
            raise DeviceError(
                f"product {number} on {coprocessor.name} of {design.name}: word {wrong[0]} is "
                f"{ours[wrong[0]]} and core has {cores[wrong[0]]}"
            )
    if (found.starts, found.cycles) != (expected.starts, expected.cycles):
        raise DeviceError(
            f"{count} products on {coprocessor.name} of {design.name}: they took {found.cycles:,} "
            f"cycles, and the model {expected.cycles:,}, or began in others than the model's"
        )
    apart = [later - earlier for earlier, later in pairwise(found.starts)]
    return ComparedProducts(
        products=count,
        primes=len({*map(int, numbers)}),
        words=count * design.n,
        cycles=found.cycles,
        shortest=min(apart),
        longest=max(apart),
    )


DEVICES = ("rtl",)

_FEWEST, _MOST = 2, 8
"""Products of a batch."""


@dataclass(frozen=True)
class RandomBatches:
    """Products of mixed primes, back to back, on the simulated RTL and on the model.

    Attributes:
        design: The design.
    """

    design: StreamDesign
    programs: ClassVar[str] = "batches of random products"

    def run(self, seed: int) -> Mapping[str, int]:
        """See ``Verification.run``."""
        random = np.random.default_rng(seed)
        numbers = random.integers(0, PRIMES, random.integers(_FEWEST, _MOST + 1)).tolist()
        coprocessor = StreamRtl(self.design)
        try:
            found = compare_batch(coprocessor, self.design, numbers, random)
        finally:
            coprocessor.block.close()
        return {"products": found.products, "cycles": found.cycles, "words": found.words}
