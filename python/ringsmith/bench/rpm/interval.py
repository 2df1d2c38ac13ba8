"""Cycles between products of different primes, counted by the RTL, every product compared."""

from ringsmith.backends.stream.debug.compare import compare_products
from ringsmith.backends.stream.design.design import StreamDesign
from ringsmith.backends.stream.device.rtl import StreamRtl
from ringsmith.bench.records import Found
from ringsmith.bench.rpm.cases import PAPER


def interval(params: str, design: StreamDesign, products: int) -> Found:
    """Runs random products of mixed primes through the RTL: the most cycles between two of them.

    Args:
        params: What the record calls the parameters.
        design: The design; its simulation is built first, or found in the cache.
        products: How many, at least two.

    Raises:
        DeviceError: If a product differs from core's, or its cycle from the model's.
        ToolError: If Verilator or a C++ compiler is missing or fails.
    """
    same = compare_products(StreamRtl(design), design, products)
    text = (
        f"the most between two of {same.products:,} products over {same.primes} primes in random "
        f"order, the fewest is {same.shortest:,}; every product compared with core's, and its "
        "cycle with the model's"
    )
    return Found(PAPER, params, "interval", "cycles", same.longest, "rtl", text)
