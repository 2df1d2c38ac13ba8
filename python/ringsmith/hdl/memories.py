"""RAMs of an FPGA that a memory takes."""

_RAMB18_SHAPES = ((512, 36), (1024, 18), (2048, 9), (4096, 4), (8192, 2), (16384, 1))
"""One write and one read port of a block RAM of 18 Kbit: words and their bits."""


def block_rams(width: int, depth: int) -> float:
    """Block RAMs of 36 Kbit of a memory with one write and one read port."""
    return min(-(-depth // words) * -(-width // bits) for words, bits in _RAMB18_SHAPES) / 2
