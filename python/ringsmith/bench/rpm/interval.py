"""Cycles between products of different primes, counted by the RTL, every product compared."""

import numpy as np

from ringsmith import _core
from ringsmith.arch.stream.batch import CoreProducts
from ringsmith.arch.stream.design import StreamDesign
from ringsmith.bench.beside import Found
from ringsmith.bench.rpm.cases import PAPER
from ringsmith.devices.stream import ResidueProduct
from ringsmith.devices.stream_rtl import StreamRtl
from ringsmith.errors import DeviceError

_PRIMES = 20
_SEED = 7


def interval(params: str, design: StreamDesign, products: int) -> Found:
    """Runs random products of mixed primes through the RTL: the most cycles between two of them.

    Args:
        params: What the record calls the parameters.
        design: The design; its simulation is built first, or found in the cache.
        products: How many, at least two.

    Raises:
        DeviceError: If a product differs from core's.
        ToolError: If Verilator or a C++ compiler is missing or fails.
    """
    random = np.random.default_rng(_SEED)
    primes = _core.prime_search(design.word_bits, design.n, _PRIMES)
    batch = []
    for q in random.permutation(np.arange(products) % _PRIMES):
        a, b = random.integers(0, primes[q], (2, design.n), dtype=np.uint64)
        batch.append(ResidueProduct(primes[q], a, b))
    report = StreamRtl(design).multiply(batch)
    core = CoreProducts(design.n)
    for number, (each, found) in enumerate(zip(batch, report.products, strict=True)):
        if not np.array_equal(core.product(each.prime, each.a, each.b), found):
            raise DeviceError(f"product {number} on the rtl of {design.name} is not core's")
    count = min(products, _PRIMES)
    text = (
        f"the most between two of {products:,} products over {count} primes in random order, the "
        f"fewest is {min(report.intervals):,}; every product compared with core's"
    )
    return Found(PAPER, params, "interval", "cycles", max(report.intervals), "rtl", text)
