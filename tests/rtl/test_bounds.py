"""The reductions of docs/reference/arithmetic.md, proved over all integers.

Each step of a block is an equation between integers, and what the block's registers can hold; the
claims are that the result is the product modulo q, in [0, q), and that nothing overflows.
"""

import pytest
import z3

from ringsmith.backends.rpau.design import folded
from ringsmith.backends.rpau.design.design import MAX_NARROW_BITS, MAX_SHORTENED_BITS, MIN_WORD_BITS
from ringsmith.backends.rpau.design.sparse import FAMILIES, fits
from ringsmith.hdl.base_conversion import BaseConverter

MOST_WIDTHS = [30, 43, 48, 54, 60]
WIDTHS = [
    pytest.param(width, marks=() if width in MOST_WIDTHS else pytest.mark.full)
    for width in range(30, 61)
]


def proves(hypotheses: list[z3.BoolRef], claim: z3.BoolRef) -> bool:
    """Whether the claim follows; hypotheses that contradict each other prove nothing."""
    solver = z3.Solver()
    solver.set("timeout", 60_000)
    solver.add(*hypotheses)
    assert solver.check() != z3.unsat
    solver.add(z3.Not(claim))
    return bool(solver.check() == z3.unsat)


@pytest.mark.parametrize("width", WIDTHS)
def test_barrett_remainder_is_below_four_moduli_for_every_modulus_of_a_size(width: int) -> None:
    word = 2**width
    x, q, m, t, e = z3.Ints("x q m t e")
    for k in sorted({width // 2, width // 2 + 1, 3 * width // 4, width - 1, width}):
        hypotheses = [
            q > 2 ** (k - 1),
            q <= 2**k,  # equal: a power of two
            m * q <= word * 2**k,  # m = 2^width + mu = floor(2^(width + k) / q)
            (m + 1) * q > word * 2**k,
            x >= 0,
            x < word * q,  # one operand any word, the other below q
            t * 2**k <= x,  # t = floor(x / 2^k)
            x < (t + 1) * 2**k,
            e >= t,
            e * word <= t * m,  # e = t + floor(t * mu / 2^width - d), 0 <= d < 1/2
            2 * e * word > 2 * t * m - 3 * word,
        ]
        remainder = x - e * q
        assert proves(hypotheses, remainder >= 0), f"k = {k}"
        assert proves(hypotheses, remainder < 4 * q), f"k = {k}"
        assert proves(hypotheses, z3.And(t >= 0, t < word)), f"k = {k}"
        below = [q > 0, x < word * q, e * q <= x]  # the last was just proved
        assert proves(below, e < word), f"k = {k}"


def test_barrett_needs_at_most_three_corrections() -> None:
    a, b, q, e = z3.Ints("a b q e")
    r = a * b - e * q
    hypotheses = [q > 0, r >= 0, r < 4 * q]  # the last two were just proved
    p = z3.If(r >= 3 * q, r - 3 * q, z3.If(r >= 2 * q, r - 2 * q, z3.If(r >= q, r - q, r)))
    assert proves(hypotheses, z3.And(p >= 0, p < q))
    assert proves(hypotheses, z3.Or(*(p == a * b - (e + c) * q for c in range(4))))
    fewer = z3.If(r >= 2 * q, r - 2 * q, z3.If(r >= q, r - q, r))
    assert not proves(hypotheses, fewer < q)


@pytest.mark.parametrize("width", range(4, 63))
def test_a_high_only_product_loses_less_than_half_a_unit_at_every_width(width: int) -> None:
    a, b = south_block(width)
    pinwheel = a + b == width
    drop_a = 17 if width > 43 else 0
    drop_b = b - 2 if pinwheel and width >= 34 else 0
    # Both factors are largest where all bits are ones, and so is what the dropped ones add.
    whole = (2**a - 1) * (2**b - 1)
    kept = (2**a - 2**drop_a) * (2**b - 2**drop_b)
    assert 0 <= whole - kept < 2 ** (width - 1)


def south_block(width: int) -> tuple[int, int]:
    """Bits of a and of b in the lowest block of a product (docs/reference/arithmetic.md)."""
    for most, cut in (
        (26, ((width + 1) // 2, width // 2)),
        (33, (24, 17)),
        (43, (width - 17, 17)),
        (51, (34, 26)),
    ):
        if width <= most:
            return cut
    return width - 26, 26


def test_a_wrong_barrett_bound_is_not_proved() -> None:
    x, q, e = z3.Ints("x q e")
    hypotheses = [q > 2, x >= 0, e * q <= x, x < (e + 4) * q]
    assert proves(hypotheses, x - e * q < 4 * q)
    assert not proves(hypotheses, x - e * q < 3 * q)


def least_cut(width: int, q: int) -> int:
    """Where a prime of a list needs the upper part cut at least: ``rs_arith_pkg::sparse_cut``."""
    k = q.bit_length() - 1
    return width + 1 + (q - 2**k).bit_length() - k


# (width, cut, primes): all elaborated ones in every width that takes them, and the ones of
# tests/rtl/blocks/rs_sparse_bench.sv. The primes of a list are cut at one place.
SPARSE_LISTS = [
    (width, max(least_cut(width, q) for q in primes), primes)
    for width, listed in [
        *((width, family) for family in FAMILIES.values() for width in range(30, 61)),
        (9, (131, 257, 263, 269, 271)),
    ]
    if (primes := tuple(q for q in listed if fits(q, width)))
]
SPARSE = [
    pytest.param(
        *(width, cut, q),
        marks=() if width in (9, q.bit_length()) else pytest.mark.full,
    )
    for width, cut, primes in SPARSE_LISTS
    for q in primes
]


@pytest.mark.parametrize(("width", "cut", "q"), SPARSE)
def test_sparse_folds_keep_the_residue_and_stay_in_their_widths(
    width: int, cut: int, q: int
) -> None:
    k = q.bit_length() - 1
    s = q - 2**k
    tail = s.bit_length()
    total = max(k, cut + tail) + 2
    assert cut < k
    assert total <= 63
    x, xh, xl, x1, x0, high, low, yh, yl = z3.Ints("x xh xl x1 x0 high low yh yl")
    first = xl - x0 * s + 2**cut
    # Ones above k, the complement of low from cut to k, and high below: a number in complement.
    second = (2 ** (k - cut) - 1 - low) * 2**cut + high - 2**k
    y = first + second + high * (s - 1)
    z = yl - yh * s
    hypotheses = [
        x == xh * 2**k + xl,
        xh == x1 * 2**cut + x0,
        x1 * s == high * 2 ** (k - cut) + low,
        y == yh * 2**k + yl,
        *(z3.And(part >= 0, part < 2**bits) for part, bits in ((xl, k), (yl, k))),
        *(z3.And(part >= 0, part < 2**bits) for part, bits in ((x0, cut), (low, k - cut))),
        x >= 0,
        x < 2**width * q,
    ]

    def fits(value: z3.ArithRef, bits: int) -> z3.BoolRef:
        return z3.And(value >= -(2 ** (bits - 1)), value < 2 ** (bits - 1))

    assert proves(hypotheses, z == x - (xh - high + yh) * q)
    assert proves(hypotheses, z3.And(z > -q, z < 2 * q, fits(z, width + 1)))
    assert proves(hypotheses, z3.And(x1 >= 0, xh < 2 ** (width + 1)))
    assert proves(hypotheses, x1 * s < 2 ** (width + 1 - cut + tail))
    assert proves(hypotheses, z3.And(high >= 0, high < 2**cut))
    assert proves(hypotheses, z3.And(fits(y, total), fits(yh, total - k)))
    assert proves(hypotheses, fits(yh * s, total - k + tail))
    # One of z + q, z, z - q is the result.
    p = z3.If(z < 0, z + q, z3.If(z >= q, z - q, z))
    assert proves([z > -q, z < 2 * q], z3.And(p >= 0, p < q))


SLICE_SUM = 2**47
"""What a DSP slice's sum, 48 bits with a sign, must stay below."""


@pytest.mark.parametrize("width", WIDTHS)
def test_the_sums_of_the_folded_multiplier_fit_their_slices(width: int) -> None:
    b = min(width // 2, 26)
    a = width - b
    low, part = min(17, -(-a // 2)), min(46, width - 2)
    scaled, tail = folded.scaled_bits(width), folded.tail_bits(width)
    times = a - b + 4 + folded.shifts(width)
    for x_bits, y_bits in ((b, a), (b, scaled), (tail, times)):
        assert x_bits <= 26
        assert y_bits <= 34
        assert 2**x_bits * (2**low - 1) + 2**part < SLICE_SUM
        assert 2 ** (x_bits + max(0, y_bits - low)) + SLICE_SUM // 2**low < SLICE_SUM
    # The centre and the bias stand below and above each other in north's summand.
    assert 2 * a - b < width + (a - b + 2) - b < 46
    # mu holds both words.
    assert scaled + tail + 2 <= width


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("width", WIDTHS)
def test_folds_of_a_near_power_keep_the_residue_and_stay_in_their_widths(
    width: int, positive: bool
) -> None:
    b = min(width // 2, 26)
    a = width - b
    f = a - b + 2
    g = width + f
    most = 2 ** folded.scaled_bits(width) - 1
    top, top_low, south, east, north, centre = z3.Ints("top top_low south east north centre")
    y, yh, yl, first, second = z3.Ints("y yh yl first second")
    rest = top_low * 2**width + south + east * 2**a + north * 2**b + centre * 2 ** (2 * b)
    ranges = [
        *(z3.And(word >= 0, word < 2**width) for word in (south, east, north)),
        z3.And(top >= 0, top < 2**b, top_low >= 0, top_low < 2**a),
        z3.And(centre >= 0, centre < 2 ** (2 * (a - b))),
        z3.And(first >= -top * most, first <= top * most),  # top times scaled
        y == rest - 2**g + first * 2**a,
        z3.And(y == yh * 2**g + yl, yl >= 0, yl < 2**g),
    ]
    assert proves(ranges, z3.And(y >= -(2 ** (width + a + 2)), y < 2 ** (width + a + 2)))
    assert proves(ranges, z3.And(yh >= -(2**b), yh < 2**b))
    z = yl + 2**g + second * 2**f
    ranges = [
        z3.And(yl >= 0, yl < 2**g),
        z3.And(second >= -(2**b) * most, second <= 2**b * most),  # yh times scaled
    ]
    assert proves(ranges, z3.And(4 * z >= 3 * 2**g, 4 * z < 9 * 2**g))
    sizes = range(width - folded.shifts(width), width + (1 if positive else 0))
    taken = [bits for bits in sizes if folded.most_tail(width, bits)]
    assert taken
    for bits in taken:
        check_last_fold(width, bits, positive)


def check_last_fold(width: int, bits: int, positive: bool) -> None:
    """From z in [3/4, 9/4) * 2^G, to d in [-q, q)."""
    b = min(width // 2, 26)
    f = width - 2 * b + 2
    g = width + f
    most = folded.most_tail(width, bits)
    z, zh, zl, s, product = z3.Ints("z zh zl s product")
    times = zh + (1 if positive else 0)
    ranges = [
        z3.And(4 * z >= 3 * 2**g, 4 * z < 9 * 2**g),
        z3.And(z == zh * 2**bits + zl, zl >= 0, zl < 2**bits),
        z3.And(s >= 1, s <= most) if positive else z3.And(s <= -1, s >= -most),
    ]
    assert proves(ranges, z3.And(times >= 1, times < 2 ** (f + 2 + folded.shifts(width))))
    signed = product if positive else -product
    ranges += [signed >= (s if positive else -s), signed <= times * most]  # times * s, times >= 1
    d = zl - (2**bits if positive else 0) + product
    q = 2**bits - s
    assert proves(ranges, z3.And(d >= -q, d < q))


@pytest.mark.parametrize("positive", [True, False])
@pytest.mark.parametrize("width", range(MIN_WORD_BITS, MAX_NARROW_BITS + 1))
def test_a_shortened_word_needs_one_correction_at_most(width: int, positive: bool) -> None:
    """From words that are longer by as many bits as a design may have, and by one."""
    word, scaled_bits = 2**width, folded.scaled_bits(width)
    low, high, scaled, product = z3.Ints("low high scaled product")
    for more in {1, min(MAX_SHORTENED_BITS, 60 - width)}:
        most = 2**scaled_bits - 1
        sign = 1 if positive else -1
        ranges = [
            z3.And(low >= 0, low < word, high >= 0, high < 2**more),
            z3.And(sign * scaled >= 1, sign * scaled <= most),
            sign * product >= 0,  # high times scaled
            sign * product <= (2**more - 1) * sign * scaled,
        ]
        y = low + product
        slice_part = min(46, width - 2)
        assert 2 ** (more + scaled_bits) + 2**slice_part < SLICE_SUM
        assert more + 1 <= 18
        assert scaled_bits + 1 <= 27
        assert proves(ranges, z3.And(y >= -word, y < 2 * word))
        if positive:  # q * 2^(width - b) = word - scaled is taken away
            assert proves(ranges, y >= 0)
            outside = [*ranges, y >= word]
            corrected = y - (word - scaled)
        else:  # half of it is added, since b < width
            assert proves(ranges, y < word)
            outside = [*ranges, y < 0]
            corrected = y + (word - scaled) / 2
        assert proves(outside, z3.And(corrected >= 0, corrected < word)), f"{more} bits more"


def test_what_corrects_a_shortened_word_is_a_multiple_of_the_modulus() -> None:
    for width in range(MIN_WORD_BITS, MAX_NARROW_BITS + 1):
        for bits in range(width - folded.shifts(width), width + 1):
            most = folded.most_tail(width, bits)
            for tail in (1, most, -1, -most) if bits < width else (1, most):
                q, scaled = 2**bits - tail, tail << width - bits
                assert (2**width - scaled) % q == 0
                if tail < 0:
                    assert scaled % 2 == 0
                    assert (2 ** (width - 1) - scaled // 2) % q == 0


def test_a_fold_takes_a_multiple_of_the_modulus_away() -> None:
    rest, top, yh, yl, zh, zl, s = z3.Ints("rest top yh yl zh zl s")
    for width, bits in ((60, 60), (60, 59), (60, 48), (54, 53), (48, 40)):
        b = min(width // 2, 26)
        a = width - b
        f = a - b + 2
        g = width + f
        scaled, q = s * 2 ** (width - bits), 2**bits - s
        x = rest + top * 2 ** (width + a)
        y = yh * 2**g + yl
        z = zh * 2**bits + zl
        equations = [
            y == rest - 2**g + top * scaled * 2**a,
            z == yl + 2**g + yh * scaled * 2**f,
        ]
        multiple = (top * 2**a + yh * 2**f) * 2 ** (width - bits)
        assert proves(equations, z == x - multiple * q)
        for d, times in ((zl - 2**bits + (zh + 1) * s, zh + 1), (zl + zh * s, zh)):
            assert proves([], d == z - times * q)


@pytest.mark.parametrize("bits", range(1, 18))
def test_a_montgomery_step_divides_and_stays_below_the_modulus(bits: int) -> None:
    n, digit, h, r, upper = z3.Ints("n digit h r upper")
    q = 1 + 2**bits * h
    hypotheses = [
        h >= 0,
        z3.And(n >= 0, n < q),
        z3.And(digit >= 0, digit < 2**bits),
        digit - n == upper * 2**bits + r,  # r the low bits, upper what is left of them
        z3.And(r >= 0, r < 2**bits),
    ]
    result = r * h - upper
    assert proves(hypotheses, 2**bits * result == n - digit + r * q)
    assert proves(hypotheses, z3.And(result >= 0, result < q))
    assert not proves(hypotheses, result < q - 1)


# (bits of a word, bits of a step)
CHAINS = [
    *[(30, 13), (30, 9), (48, 16), (54, 15), (60, 17), (61, 13), (62, 9), (62, 16)],
    *[(34, 13), (33, 9), (58, 14), (64, 14), (64, 13)],  # of base conversions' sums
]


@pytest.mark.parametrize(("bits", "step"), CHAINS)
def test_montgomery_steps_make_the_product_modulo_the_prime(bits: int, step: int) -> None:
    sizes = [step] * (bits // step) + ([bits % step] if bits % step else [])
    high, q, p, borrow = z3.Ints("high q p borrow")
    numbers = [z3.IntVal(0), *z3.Ints([f"n{i}" for i in range(len(sizes))])]
    digits = z3.Ints([f"digit{i}" for i in range(len(sizes))])
    multiples = z3.Ints([f"r{i}" for i in range(len(sizes))])  # r times q, of each step
    low, quotient, weight = z3.IntVal(0), z3.IntVal(0), 1
    hypotheses = [q > 0, z3.And(high >= 0, high < q), z3.Or(borrow == 0, borrow == q)]
    for i, size in enumerate(sizes):
        hypotheses += [
            2**size * numbers[i + 1] == numbers[i] - digits[i] + multiples[i],  # just proved
            z3.And(numbers[i + 1] >= 0, numbers[i + 1] < q),
        ]
        low, quotient = low + weight * digits[i], quotient + weight * multiples[i]
        weight *= 2**size
    assert weight == 2**bits
    hypotheses += [p == high - numbers[-1] + borrow, (borrow == q) == (high < numbers[-1])]
    product = high * 2**bits + low
    assert proves(hypotheses, z3.And(p >= 0, p < q))
    # quotient is a multiple of q: p times 2^bits is the product modulo q.
    assert proves(hypotheses, p * 2**bits == product - quotient + borrow * 2**bits)


# (bits of a word, terms, fraction bits) of base-conversion units
CONVERTERS = [(30, 7, 89), (30, 3, 89), (43, 5, 89), (54, 7, 89), (60, 8, 89), (20, 15, 34)]


@pytest.mark.parametrize(("width", "terms", "fraction_bits"), CONVERTERS)
def test_a_base_conversions_sum_is_reduced_by_its_lowest_bits(
    width: int, terms: int, fraction_bits: int
) -> None:
    """The quotient v fits its bits, and what lies above the E lowest bits of a sum is below p."""
    word, one = 2**width, 2**fraction_bits
    v, fraction, products, p, high, low = z3.Ints("v fraction products p high low")
    quotient = [
        z3.And(fraction >= 0, fraction <= terms * (word - 1) * (one - 1)),
        v * one <= fraction + one // 2,
        v >= 0,
    ]
    assert proves(quotient, v < terms * word)
    assert terms * word <= 2 ** (width + (terms - 1).bit_length())
    divided = 2 ** BaseConverter(width=width, terms=terms).reduced_bits

    def hypotheses(divisor: int) -> list[z3.BoolRef]:
        return [
            z3.And(p >= 2, p < word),
            z3.And(products >= 0, products <= terms * (word - 1) * (p - 1)),
            v >= 0,  # here v times its factor, of at most p - 1
            v <= (terms * word - 1) * (p - 1),
            high * divisor + low == products + v,
            z3.And(low >= 0, low < divisor),
        ]

    assert proves(hypotheses(divided), z3.And(high >= 0, high < p))
    assert not proves(hypotheses(divided // 2), high < p)


@pytest.mark.parametrize("width", range(17, 61))
def test_sums_of_tiles_fit_their_slices(width: int) -> None:
    """With the rounding bit, and with v's product added to a sum."""
    for y_width in (width, 89):
        part = -(-y_width // -(-y_width // 26))
        terms = 15 if part < 26 else 7  # the most that rs_tile_accumulate takes
        bits = 17 + part + (terms).bit_length()
        largest = (2**17 - 1) * (2**part - 1)
        assert terms * largest + 2 ** (17 + part) <= 2**bits - 1
        assert (terms + 1) * largest < 2 ** (bits + 1) <= SLICE_SUM


def test_a_sum_of_tiles_stays_below_its_limit() -> None:
    """The step of ``run_limit`` in rs_tile_sum: a limit of the sum before makes one of the next."""
    run, rest, left, tile, most = z3.Ints("run rest left tile most")
    for limit in range(1, 5):
        for step in range(18):
            hypotheses = [
                most > 0,
                z3.And(run >= 0, run < limit * most),
                z3.And(run == left * 2**step + rest, rest >= 0, rest < 2**step),
                z3.And(tile >= 0, tile < most),
            ]
            following = -(-limit // 2**step) + 1
            assert proves(hypotheses, left + tile < following * most)
