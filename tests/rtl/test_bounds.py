"""The bounds of docs/arithmetic.md, proved over all integers by z3."""

import pytest
import z3

WIDTHS = [30, 43, 48, 54, 60]


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
    for k in {width // 2, width // 2 + 1, 3 * width // 4, width - 1, width}:
        hypotheses = [
            q > 2 ** (k - 1),
            q < 2**k,
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


def test_a_wrong_barrett_bound_is_not_proved() -> None:
    x, q, e = z3.Ints("x q e")
    hypotheses = [q > 2, x >= 0, e * q <= x, x < (e + 4) * q]
    assert proves(hypotheses, x - e * q < 4 * q)
    assert not proves(hypotheses, x - e * q < 3 * q)


# (width, k, s) of primes 2^k + s: Medha's, the 54-bit ones with the shortest and longest tail in
# both widths, and the ones of tests/rtl/blocks/rs_sparse_bench.sv.
SPARSE = [
    (60, 59, 2**25 + 2**22 - 2**20 + 1),
    (60, 53, 2**21 - 2**20 - 2**17 + 1),
    (60, 53, 2**25 - 2**22 - 2**21 + 1),
    (54, 53, 2**21 - 2**20 - 2**17 + 1),
    (54, 53, 2**25 - 2**22 - 2**21 + 1),
    (8, 6, -3),
    (8, 6, 3),
    (8, 7, -1),
    (8, 7, 3),
    (8, 8, -15),
    (8, 8, -5),
]


@pytest.mark.parametrize(("width", "k", "s"), SPARSE)
def test_sparse_folds_keep_the_residue_and_stay_in_their_widths(width: int, k: int, s: int) -> None:
    q, cut, tail = 2**k + s, (width + 2) // 2, abs(s).bit_length()
    most = max(k, cut + tail, width + 1 + 2 * tail - k)
    x, xh, xl, x1, x0, high, low, yh, yl = z3.Ints("x xh xl x1 x0 high low yh yl")
    y = xl - x0 * s - low * 2**cut + high * s
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

    product_bits = cut + tail + 1
    assert proves(hypotheses, z == x - (xh - high + yh) * q)
    assert proves(hypotheses, z3.And(z > -q, z < 2 * q))
    assert proves(hypotheses, z3.And(x1 >= 0, xh < 2 ** (width + 1)))
    assert proves(hypotheses, z3.And(fits(x0 * s, product_bits), fits(x1 * s, product_bits)))
    assert proves(hypotheses, fits(high, product_bits - (k - cut)))
    assert proves(hypotheses, z3.And(fits(y, most + 3), fits(yh, most + 3 - k)))
