"""DSP slices of the multipliers of ``rtl/arith``, block for block: ``rs_mul`` and what reduces."""

from enum import IntEnum

from ringsmith.hdl.packages.arith import DSP_SHORT, scale_step_bits


class DspSlice(IntEnum):
    """Kinds of DSP slices, by the bits of their longer operand without sign; the other has 17."""

    DSP48E1 = 24
    """Of the 7 series."""

    DSP48E2 = 26
    """Of UltraScale and UltraScale+, at which the blocks of ``rtl/arith`` are cut."""


_LONG, _SHORT = int(DspSlice.DSP48E2), DSP_SHORT
"""Operands at which blocks are cut."""

_LONG_SMALL = int(DspSlice.DSP48E1)
"""At which products of 27 to 33 bits are cut."""

_ROWS = 2
"""Bits of an operand that is added as rows, without a DSP slice: ``rs_arith_pkg::MulRows``."""

_ROWS_MOST = 4
"""The same where Barrett's products of 27 to 30 bits save slices: ``MulRowsMost``."""

_LEAST = 9
"""Bits of a product from which on synthesis takes a DSP slice for it."""


def _block(a: int, b: int, out: int, slices: DspSlice, rows: int = _ROWS) -> int:
    """DSP slices of ``rs_mul_block``: low ``out`` bits of a product of a and b bits."""
    long, short = max(a, b), min(a, b)
    if short <= rows:
        return 0
    if long <= _LONG and short <= _SHORT:
        return _rectangle(long, short, out, slices)
    low, high = min(long, _SHORT), min(long, 2 * _SHORT) - _SHORT
    return _rectangle(low, short, out, slices) + _rectangle(high, short, out - _SHORT, slices)


def _rectangle(a: int, b: int, out: int, slices: DspSlice) -> int:
    """DSP slices of one product, which synthesis cuts at 17 bits if it does not fit a slice."""
    long, short = max(a, b), min(a, b)
    if long <= slices:
        return int(out >= _LEAST)
    return int(out >= _LEAST) + int(min(out - _SHORT, long - _SHORT + short) >= _LEAST)


def _cuts(width: int, rows: int) -> tuple[int, int]:
    """Where ``rs_mul`` cuts its operands: ``rs_arith_pkg::mul_split_a`` and ``mul_split_b``."""
    if width <= _LONG:
        return (width + 1) // 2, width // 2
    if rows > _ROWS and width <= _LONG + rows:
        return _LONG, _SHORT
    if width < 2 * _SHORT:
        return _LONG_SMALL, _SHORT
    if width <= _LONG + _SHORT:
        return width - _SHORT, _SHORT
    return (2 * _SHORT if width < 2 * _LONG else width - _LONG), _LONG


def _blocks(width: int, rows: int) -> list[tuple[int, int, int]]:
    """Bits of both operands of each of ``rs_mul``'s blocks, and its place; the lowest one first."""
    a, b = _cuts(width, rows)
    pinwheel = a + b == width
    east, north = (a, b) if pinwheel else (b, a)
    blocks = [(a, b, 0), (width - a, east, a), (north, width - b, b)]
    blocks.append((width - north, width - east, a + b))
    if pinwheel and a > b:
        blocks.append((a - b, a - b, 2 * b))
    return blocks


def product_dsps(width: int, slices: DspSlice, rows: int = _ROWS) -> int:
    """The product of two words; operands of this many bits are added as rows."""
    return sum(_block(a, b, a + b, slices, rows) for a, b, _ in _blocks(width, rows))


def _upper_dsps(width: int, slices: DspSlice, rows: int) -> int:
    """The upper word of a product, without bits of the lowest block (``HighOnly``)."""
    (a, b, _), *others = _blocks(width, rows)
    pinwheel = a + b == width
    a -= _SHORT if width > _LONG + _SHORT else 0
    b -= b - _ROWS if pinwheel and width >= 2 * _SHORT else 0
    above = sum(_block(x, y, x + y, slices, rows) for x, y, _ in others)
    return _block(a, b, a + b, slices, rows) + above


def _lower_dsps(width: int, slices: DspSlice, rows: int) -> int:
    """The low word of a product and two bits more (``rs_mul_low``)."""
    total = 0
    for a, b, place in _blocks(width, rows):
        left = width + 2 - place
        if left > 0:
            a, b = min(a, left), min(b, left)
            total += _block(a, b, min(a + b, left), slices, rows)
    return total


def barrett_dsps(width: int, slices: DspSlice) -> int:
    """A modular multiplication with a reciprocal: ``rs_mod_mul_barrett``."""
    rows = _ROWS_MOST if _LONG < width <= _LONG + _ROWS_MOST else _ROWS
    upper, lower = _upper_dsps(width, slices, rows), _lower_dsps(width, slices, rows)
    return product_dsps(width, slices, rows) + upper + lower


def folded_dsps(width: int, slices: DspSlice) -> int:
    """A modular multiplication near a power of two: pairs of slices of ``rs_mod_mul_folded``.

    Four make the product, without its centre, and three fold; a pair is two DSP48E2, whatever its
    operands.
    """
    outer = width - 2 * min(width // 2, _LONG)
    return 2 * 7 + (_block(outer, outer, 2 * outer, slices) if outer else 0)


def division_dsps(bits: int, width: int, step_bits: int, slices: DspSlice) -> int:
    """So many bits divided away as Montgomery does, modulo a prime: ``rs_scale_steps``."""
    total = 0
    for done in range(0, bits, step_bits):
        digit = min(step_bits, bits - done)
        for taken in range(step_bits, width, _LONG):
            part = min(_LONG, width - taken)
            total += _block(digit, part, digit + part, slices)
    return total


def montgomery_dsps(log_n: int, width: int, slices: DspSlice) -> int:
    """A modular multiplication modulo primes that are 1 modulo 2N: ``rs_mod_mul_montgomery``."""
    divided = division_dsps(width, width, scale_step_bits(log_n), slices)
    return product_dsps(width, slices) + divided
