"""DSP slices of the multipliers of ``rtl/arith``, block for block: ``rs_mul`` and what reduces."""

from ringsmith.arch.stream import latency

_LONG, _SHORT = 26, 17
"""Operands of a DSP48E2 without sign."""

_LONG_SMALL = 24
"""Of a DSP48E1, at which products of 27 to 33 bits are cut."""

_ROWS = 2
"""Bits of an operand that is added as rows, without a DSP slice."""

_LEAST = 9
"""Bits of a product from which on synthesis takes a DSP slice for it."""


def _block(a: int, b: int, out: int) -> int:
    """DSP slices of ``rs_mul_block``: low ``out`` bits of a product of a and b bits."""
    long, short = max(a, b), min(a, b)
    if short <= _ROWS:
        return 0
    if long <= _LONG and short <= _SHORT:
        return int(out >= _LEAST)
    return int(out >= _LEAST) + int(out - _SHORT >= _LEAST)


def _cuts(width: int) -> tuple[int, int]:
    """Where ``rs_mul`` cuts its operands: ``rs_arith_pkg::mul_split_a`` and ``mul_split_b``."""
    if width <= _LONG:
        return (width + 1) // 2, width // 2
    if width < 2 * _SHORT:
        return _LONG_SMALL, _SHORT
    if width <= _LONG + _SHORT:
        return width - _SHORT, _SHORT
    return (2 * _SHORT if width < 2 * _LONG else width - _LONG), _LONG


def _blocks(width: int) -> list[tuple[int, int, int]]:
    """Bits of both operands of each of ``rs_mul``'s blocks, and its place; the lowest one first."""
    a, b = _cuts(width)
    pinwheel = a + b == width
    east, north = (a, b) if pinwheel else (b, a)
    blocks = [(a, b, 0), (width - a, east, a), (north, width - b, b)]
    blocks.append((width - north, width - east, a + b))
    if pinwheel and a > b:
        blocks.append((a - b, a - b, 2 * b))
    return blocks


def product_dsps(width: int) -> int:
    """The product of two words."""
    return sum(_block(a, b, a + b) for a, b, _ in _blocks(width))


def _upper_dsps(width: int) -> int:
    """The upper word of a product, without bits of the lowest block (``HighOnly``)."""
    (a, b, _), *others = _blocks(width)
    pinwheel = a + b == width
    a -= _SHORT if width > _LONG + _SHORT else 0
    b -= b - _ROWS if pinwheel and width >= 2 * _SHORT else 0
    return _block(a, b, a + b) + sum(_block(x, y, x + y) for x, y, _ in others)


def _lower_dsps(width: int) -> int:
    """The low word of a product and two bits more (``rs_mul_low``)."""
    total = 0
    for a, b, place in _blocks(width):
        room = width + 2 - place
        if room > 0:
            a, b = min(a, room), min(b, room)
            total += _block(a, b, min(a + b, room))
    return total


def barrett_dsps(width: int) -> int:
    """A modular multiplication with a reciprocal: ``rs_mod_mul_barrett``."""
    return product_dsps(width) + _upper_dsps(width) + _lower_dsps(width)


def montgomery_dsps(log_n: int, width: int) -> int:
    """A modular multiplication modulo primes that are 1 modulo 2N: ``rs_mod_mul_montgomery``."""
    step_bits = latency.step_bits(log_n)
    steps = latency.mul_steps(log_n, width)
    if width - (steps - 1) * step_bits <= _ROWS:
        steps -= 1
    return product_dsps(width) + steps * -(-(width - step_bits) // _LONG)
