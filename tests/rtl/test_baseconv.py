"""The base-conversion unit: its blocks for every operand, and Lift and Scale against the core."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod
from random import Random

import numpy as np
import numpy.typing as npt
import pytest

from ringsmith import _core
from ringsmith.errors import DeviceError
from ringsmith.hdl import base_conversion
from ringsmith.hdl.base_conversion import BaseConverter, Conversion
from ringsmith.hdl.block import Block
from ringsmith.hdl.sources import ECP5, XILINX
from ringsmith.params import parameter_set

MakeBlock = Callable[..., Block]
Rows = npt.NDArray[np.uint64]

HEAWS = parameter_set("heaws").extended_primes
Q, P = HEAWS[:6], HEAWS[6:]
DEGREE = 512
PLAIN = 65537
CENTRED_DIGIT = {"digit": [3, 4, 5], "base": list(range(6)), "variant": "centred_digit"}
FAST_DIGIT = {"digit": [0, 1, 2], "base": list(range(9)), "variant": "fast_base_conv"}


@dataclass(frozen=True)
class Coefficient:
    """One coefficient to convert: which table, its inputs, and its outputs' own ones."""

    table: int
    x: Sequence[int]
    own: Sequence[int] = ()


class Unit:
    """A simulated unit with the conversions of its tables."""

    def __init__(
        self, block: Block, unit: BaseConverter, conversions: Sequence[Conversion]
    ) -> None:
        self.block, self.unit, self.conversions = block, unit, conversions
        block.poke("rst_ni", 0)
        block.step(max(map(self.cycles, conversions)))
        block.poke("rst_ni", 1)
        for table, conversion in enumerate(conversions):
            self.load(table, conversion)

    def cycles(self, conversion: Conversion) -> int:
        """From a start to its last output."""
        return self.unit.latency(conversion.terms) + len(conversion.outputs) - 1

    def load(self, table: int, conversion: Conversion) -> None:
        """Writes a table, what is used first last: the next cycle may start the conversion."""
        words = self.unit.words(table, conversion)[::-1]
        names = ("kind", "table", "row", "column", "word")
        inputs = {
            f"load_{name}_i": np.array([getattr(w, name) for w in words], np.uint64)
            for name in names
        }
        self.block.run({"load_i": np.ones(len(words), np.uint64), **inputs}, [])
        self.block.poke("load_i", 0)

    def gap(self, before: Conversion, after: Conversion) -> int:
        """The fewest cycles between the starts of two coefficients."""
        return max(before.terms, len(before.outputs) + before.terms - after.terms)

    def convert(
        self, coefficients: Sequence[Coefficient], pauses: Iterable[int] = ()
    ) -> list[list[int]]:
        """Outputs of coefficients that follow as closely as they may, or after some pauses.

        Checks that outputs come when they are due, and only then.
        """
        used = [self.conversions[c.table] for c in coefficients]
        gaps = [self.gap(a, b) for a, b in pairwise(used)]
        for i, pause in enumerate(pauses):
            gaps[i] += pause
        starts = [0, *np.cumsum(gaps).tolist()]
        total = starts[-1] + self.cycles(used[-1]) + 1
        drive = {
            name: np.zeros(total, np.uint64) for name in ("start_i", "table_i", "x_i", "own_i")
        }
        due = np.zeros((2, total), np.uint64)
        at = []
        for start, coefficient, kind in zip(starts, coefficients, used, strict=True):
            drive["start_i"][start], drive["table_i"][start] = 1, coefficient.table
            drive["x_i"][start : start + len(coefficient.x)] = coefficient.x
            owned = start + kind.terms - 1
            drive["own_i"][owned : owned + len(coefficient.own)] = coefficient.own
            first = start + self.unit.latency(kind.terms)
            at.append(slice(first, first + len(kind.outputs)))
            due[0][at[-1]], due[1][at[-1].stop - 1] = 1, 1
        out = self.block.run(drive, ["valid_o", "last_o", "word_o"])
        assert np.array_equal(out["valid_o"], due[0])
        assert np.array_equal(out["last_o"], due[1])
        return [out["word_o"][rows].tolist() for rows in at]

    def agrees(self, coefficients: Sequence[Coefficient], pauses: Iterable[int] = ()) -> bool:
        """Whether its outputs are the reference's."""
        expected = [self.conversions[c.table].apply(c.x, c.own) for c in coefficients]
        return self.convert(coefficients, pauses) == expected


def make_unit(
    make_block: MakeBlock,
    unit: BaseConverter,
    conversions: Sequence[Conversion],
    assertions: bool = False,
    target: str = XILINX,
) -> Unit:
    """Builds a unit and loads its tables."""
    chosen = {"assertions": assertions, "target": target}
    block = make_block("rs_base_convert", **chosen, **unit.parameters)
    return Unit(block, unit, conversions)


def residues(values: Sequence[int], primes: Sequence[int]) -> Rows:
    """Limbs of integers."""
    return np.array([[value % q for value in values] for q in primes], np.uint64)


def run_core(op: str, base: Sequence[int], given: Rows, /, **attrs: object) -> Rows:
    """What the core makes of an operand over HEAWS's primes."""
    graph = _core.Graph(DEGREE, list(HEAWS), [_core.smallest_root(q, DEGREE) for q in HEAWS])
    node = graph.add_node("input", [], {"name": "a", "base": list(base), "form": "coeff"})
    graph.add_node("output", [graph.add_node(op, [node], attrs)], {"name": "b"})
    return graph.run({"a": given}, {})["b"]


def edges(random: Random, total: int) -> list[int]:
    """Integers in [0, total): ends, the ties of centring and their neighbours, random ones."""
    half = total // 2
    near = [half + d for d in range(-8, 9)] + [total // 3, total // 4, 3 * total // 4]
    fixed = [0, 1, 2, total - 2, total - 1, *near]
    return fixed + [random.randrange(total) for _ in range(DEGREE - len(fixed))]


def columns(limbs: Rows, table: int, own: Rows | None = None) -> list[Coefficient]:
    """The coefficients of a polynomial's limbs."""
    owned = own.T.tolist() if own is not None else [()] * limbs.shape[1]
    return [Coefficient(table, x, o) for x, o in zip(limbs.T.tolist(), owned, strict=True)]


def seeded(rng: np.random.Generator) -> Random:
    """Random integers of any size."""
    return Random(int(rng.integers(1 << 62)))


def heaws_conversions() -> list[Conversion]:
    """Lift, both steps of Scale, a digit's two conversions to other primes."""
    return [
        base_conversion.lift(Q, P),
        base_conversion.divide(Q, P, PLAIN),
        base_conversion.lift(P, Q),
        base_conversion.lift(Q[3:], Q[:3]),
        base_conversion.fast_base_conversion(Q[:3], (*Q[3:], *P[:3])),
    ]


HEAWS_UNIT = BaseConverter(tables=5)
"""Takes all of these."""


def test_the_engine_is_the_cores_lift_scale_and_fast_base_conversion(
    rng: np.random.Generator,
) -> None:
    """In Python's integers, coefficient by coefficient."""
    lift, divide, back, digit, fast = heaws_conversions()
    random = seeded(rng)
    given = residues(edges(random, prod(Q)), Q)
    lifted = run_core("lift", range(6), given, base=list(range(13)), variant="hps")[6:]
    assert [lift.apply(x) for x in given.T.tolist()] == lifted.T.tolist()

    values = edges(random, prod(HEAWS))
    whole = residues(values, HEAWS)
    attrs = {"base": list(range(6)), "plain_modulus": PLAIN, "variant": "hps"}
    scaled = run_core("scale", range(13), whole, **attrs)
    steps = [back.apply(divide.apply(x[:6], x[6:])) for x in whole.T.tolist()]
    assert steps == scaled.T.tolist()

    raised = run_core("mod_up", range(6), given, **CENTRED_DIGIT)[:3]
    assert [digit.apply(x[3:]) for x in given.T.tolist()] == raised.T.tolist()
    raised = run_core("mod_up", range(6), given, **FAST_DIGIT)[3:]
    assert [fast.apply(x[:3]) for x in given.T.tolist()] == raised.T.tolist()


@pytest.mark.parametrize("target", [XILINX, pytest.param(ECP5, marks=pytest.mark.full)])
def test_lift_and_scale_of_heaws_equal_the_core_bit_for_bit(
    make_block: MakeBlock, rng: np.random.Generator, target: str
) -> None:
    random = seeded(rng)
    unit = make_unit(make_block, HEAWS_UNIT, heaws_conversions(), target=target)
    given = residues(edges(random, prod(Q)), Q)
    lifted = run_core("lift", range(6), given, base=list(range(13)), variant="hps")[6:]
    assert unit.convert(columns(given, 0)) == lifted.T.tolist()

    # Some of these integers, by their size, do not fit the extension when scaled; the graph
    # defines the residues of those as well.
    bound = prod(HEAWS) // (2 * PLAIN + 2)
    values = edges(random, prod(HEAWS))[: DEGREE // 2]
    values += [v - bound for v in edges(random, 2 * bound)[: DEGREE // 2]]
    whole = residues(values, HEAWS)
    divided = unit.convert(columns(whole[:6], 1, whole[6:]))
    scaled = unit.convert(columns(np.array(divided, np.uint64).T, 2))
    attrs = {"base": list(range(6)), "plain_modulus": PLAIN, "variant": "hps"}
    assert scaled == run_core("scale", range(13), whole, **attrs).T.tolist()

    raised = run_core("mod_up", range(6), given, **CENTRED_DIGIT)[:3]
    assert unit.convert(columns(given[3:], 3)) == raised.T.tolist()
    raised = run_core("mod_up", range(6), given, **FAST_DIGIT)[3:]
    assert unit.convert(columns(given[:3], 4)) == raised.T.tolist()


def test_a_lift_and_a_scale_take_seven_cycles_a_coefficient() -> None:
    lift, divide, back, digit, _ = heaws_conversions()
    assert [each.interval for each in (lift, divide, back, digit)] == [7, 7, 7, 3]
    assert BaseConverter().latency(lift.terms) == 63


def random_conversion(random: Random, unit: BaseConverter, primes: Sequence[int]) -> Conversion:
    """Any constants, for any number of inputs and outputs."""
    owned = random.random() < 0.5 and unit.terms > 1
    inputs = random.sample(primes, random.randint(1, unit.terms - owned))
    outputs = random.sample(primes, random.randint(1, unit.outputs))

    def below(moduli: Sequence[int]) -> tuple[int, ...]:
        return tuple(random.choice([random.randrange(q), 0, 1, q - 1]) for q in moduli)

    fraction = 1 << unit.fraction_bits
    return Conversion(
        tuple(inputs),
        below(inputs),
        below([fraction] * len(inputs)),
        tuple(outputs),
        tuple(below(outputs) for _ in inputs),
        below(outputs),
        below(outputs) if owned else (),
        unit.fraction_bits,
    )


def random_coefficients(
    random: Random, unit: BaseConverter, conversions: Sequence[Conversion], count: int
) -> list[Coefficient]:
    """Of random conversions, in random order: any words, not residues alone."""
    top = (1 << unit.width) - 1

    def words(many: int) -> list[int]:
        return [random.choice([random.randint(0, top), 0, top]) for _ in range(many)]

    chosen = [random.randrange(len(conversions)) for _ in range(count)]
    return [
        Coefficient(
            t,
            words(len(conversions[t].inputs)),
            words(len(conversions[t].outputs)) if conversions[t].own_weights else (),
        )
        for t in chosen
    ]


UNITS = [
    BaseConverter(30, 13, 7, 7, 4),
    BaseConverter(30, 9, 3, 9, 2),
    BaseConverter(54, 15, 4, 5, 3),
    BaseConverter(60, 13, 8, 3, 2),
    BaseConverter(43, 12, 5, 5, 1),
    BaseConverter(20, 9, 15, 2, 2, 34),
]


@pytest.mark.parametrize(
    "unit",
    [
        pytest.param(unit, id=f"{unit.width} bits, {unit.terms} terms, {unit.outputs} outputs")
        for unit in UNITS
    ],
)
@pytest.mark.full
def test_random_conversions_in_turn_equal_the_reference(
    make_block: MakeBlock, rng: np.random.Generator, unit: BaseConverter
) -> None:
    """Any constants and words, coefficients of several conversions back to back and with pauses."""
    random = seeded(rng)
    sizes = [b for b in (unit.width, unit.width - 1) for _ in range(unit.terms + unit.outputs)]
    degree = 1 << unit.step_bits - 1
    primes = sorted({q for b in set(sizes) for q in _core.prime_search(b, degree, 8)})
    conversions = [random_conversion(random, unit, primes) for _ in range(unit.tables)]
    simulated = make_unit(make_block, unit, conversions, assertions=unit.width == 30)
    coefficients = random_coefficients(random, unit, conversions, 300)
    assert simulated.agrees(coefficients)
    pauses = [random.choice([0, 0, 1, 2, 30]) for _ in range(299)]
    assert simulated.agrees(coefficients, pauses)
    for _ in range(3):  # another table, while the unit is idle
        table = random.randrange(unit.tables)
        conversions[table] = random_conversion(random, unit, primes)
        simulated.load(table, conversions[table])
        assert simulated.agrees(random_coefficients(random, unit, conversions, 60))


@pytest.mark.full
def test_the_largest_sums_are_reduced(make_block: MakeBlock) -> None:
    """All constants and words as large as they can be, and the smallest and largest primes."""
    unit = BaseConverter(30, 9, 7, 7, 2)
    large = _core.prime_search(30, 256, 7)
    small = [q for q in range(513, 200_000, 512) if _core.is_prime(q)][:7]
    back = pow(2, -unit.reduced_bits, prod({*large, *small}))
    conversions = [
        Conversion(
            tuple(large[:terms]),
            tuple((1 << unit.width) - 1 for _ in large[:terms]),
            ((1 << 89) - 1,) * terms,
            tuple(outputs),
            tuple(tuple((p - 1) * back % p for p in outputs) for _ in range(terms)),
            tuple((p - 1) * back % p for p in outputs),
            tuple((p - 1) * back % p for p in outputs) if terms == 6 else (),
        )
        for terms, outputs in ((6, large), (7, small))
    ]
    top = (1 << unit.width) - 1
    for conversion, own in zip(conversions, ([top] * 7, []), strict=True):
        # Inputs that become q - 1 when scaled.
        x = [-pow(f, -1, q) % q for f, q in zip(conversion.factors, conversion.inputs, strict=True)]
        given = [Coefficient(0, x, own)] * 5
        assert make_unit(make_block, unit, [conversion]).agrees(given)


@pytest.mark.full
@pytest.mark.parametrize("fraction_bits", [6, 11])
def test_lift_and_scale_are_right_for_every_coefficient_of_a_small_base(
    make_block: MakeBlock, fraction_bits: int
) -> None:
    """Words of six bits, where a few fraction bits put many coefficients near a tie."""
    unit = BaseConverter(7, 2, 3, 3, 3, fraction_bits)
    q, p = (13, 17), (29, 37, 53)
    lift = base_conversion.lift(q, p, fraction_bits)
    divide = base_conversion.divide(q, p, 3, fraction_bits)
    back = base_conversion.lift(p, q, fraction_bits)
    simulated = make_unit(make_block, unit, [lift, divide, back])
    assert simulated.agrees([Coefficient(0, x) for x in product(range(13), range(17))])
    assert simulated.agrees([Coefficient(2, x) for x in product(*map(range, p))])
    own = [tuple(v % m for m in p) for v in range(0, prod(p), 23)]
    given = product(range(13), range(17))
    assert simulated.agrees(
        [Coefficient(1, x, o) for x in given for o in own[:: 1 + x[0] % 7 * 40]]
    )


def test_a_product_added_up_is_right_for_every_operand_of_a_small_width(
    make_block: MakeBlock,
) -> None:
    block = make_block("rs_mul_accumulate", XWidth=4, YWidth=3, RoundBit=2)
    x, y = (grid.ravel() for grid in np.meshgrid(np.arange(16), np.arange(8)))
    for length in (1, 2, 3, 5):
        first = np.arange(len(x)) % length == 0
        inputs = {"x_i": [*x, 0], "y_i": [*y, 0], "first_i": [0, *first]}  # a cycle later
        out = block.run(inputs, cycles=len(x) + 3)["p_o"][3:]
        sums: list[int] = []
        for a, b, begins in zip(x.tolist(), y.tolist(), first.tolist(), strict=True):
            sums.append(a * b + (4 if begins else sums[-1]))
        assert out.tolist() == sums


TILES = [
    # Small words, cut so that tiles meet at one bit, and that the last parts are shorter.
    {"XWidth": 5, "YWidth": 5, "XCut": 2, "YCut": 3, "Terms": 2},
    {"XWidth": 5, "YWidth": 4, "XCut": 2, "YCut": 2, "Terms": 3, "RoundBit": 3, "First": 2},
    {"XWidth": 4, "YWidth": 6, "XCut": 4, "YCut": 2, "Terms": 2, "RoundBit": 5, "First": 6},
    {"XWidth": 5, "YWidth": 5, "XCut": 5, "YCut": 5, "Terms": 2, "RoundBit": 0},
    # As units cut them: weights and fractions of 30, 54 and 60 bits.
    {"XWidth": 30, "YWidth": 30, "Terms": 7},
    {"XWidth": 30, "YWidth": 89, "Terms": 7, "RoundBit": 88, "First": 89},
    {"XWidth": 54, "YWidth": 54, "Terms": 15},
    {"XWidth": 60, "YWidth": 89, "Terms": 8, "RoundBit": 88},
    {"XWidth": 34, "YWidth": 34, "Terms": 4},
]


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(shape, marks=pytest.mark.full if i else (), id=str(shape))
        for i, shape in enumerate(TILES)
    ],
)
def test_tiles_add_up_to_the_sum_of_products(
    make_block: MakeBlock, rng: np.random.Generator, shape: dict[str, int]
) -> None:
    """Every operand of a small width, in sums of every length; edges and random ones of others."""
    block = make_block("rs_tile_bench", **shape)
    latency = int(block.peek("latency_o")[0])
    x_width, y_width, terms = shape["XWidth"], shape["YWidth"], shape["Terms"]
    random = seeded(rng)
    if x_width + y_width <= 10:
        pairs = list(product(range(1 << x_width), range(1 << y_width)))
        random.shuffle(pairs)
    else:
        tops = [(1 << x_width) - 1, (1 << y_width) - 1]
        pairs = [(tops[0], tops[1])] * 2 * terms
        pairs += [
            (random.choice([random.randint(0, tops[0]), 0, 1, tops[0]]), random.randint(0, tops[1]))
            for _ in range(2000)
        ]
    rounding = 1 << shape["RoundBit"] if "RoundBit" in shape else 0
    for length in range(1, terms + 1):
        first = [i % length == 0 for i in range(len(pairs))]
        inputs = {
            name: [[p[k] & (1 << 64) - 1, p[k] >> 64] for p in pairs]
            for k, name in enumerate(("x_i", "y_i"))
        }
        out = block.run({**inputs, "first_i": first}, cycles=len(pairs) + latency)["total_o"]
        got = [sum(w << 64 * k for k, w in enumerate(row)) for row in out[latency:].tolist()]
        total = 0
        for (a, b), begins, result in zip(pairs, first, got, strict=True):
            total = (rounding if begins else total) + a * b
            assert result == total >> shape.get("First", 0)


@pytest.mark.full
@pytest.mark.parametrize(
    ("table", "gap", "text"),
    [
        (0, 5, "a coefficient whose last term is 5 was cut at term 4"),
        (0, 6, "outputs began while output 5 of another coefficient left"),
        (1, 6, "a coefficient whose last term is 6 was cut at term 5"),
    ],
)
def test_a_coefficient_that_comes_too_soon_stops_a_simulation(
    make_block: MakeBlock, capfd: pytest.CaptureFixture[str], table: int, gap: int, text: str
) -> None:
    unit = make_unit(make_block, HEAWS_UNIT, heaws_conversions(), assertions=True)
    starts = np.isin(np.arange(80), [0, gap])
    with pytest.raises(DeviceError, match="rs_base_convert_sequence"):
        unit.block.run({"start_i": starts, "table_i": np.full(80, table)})
    assert text in capfd.readouterr().out


def test_what_does_not_fit_a_unit_is_refused() -> None:
    unit = BaseConverter()
    lift = base_conversion.lift(Q, P)
    assert unit.words(3, lift)
    for small, text in (
        (BaseConverter(terms=5), "number of terms 6 of a conversion is above 5"),
        (BaseConverter(outputs=6), "number of outputs 7 of a conversion is above 6"),
        (BaseConverter(tables=3), "table 3 of a conversion is above 2"),
        (BaseConverter(width=29), "does not suit a base converter of 29 bits"),
        (BaseConverter(step_bits=16), "that is 1 modulo 2\\^16"),
        (BaseConverter(fraction_bits=90), "fractions of 89 bits"),
    ):
        with pytest.raises(DeviceError, match=text):
            small.words(3, lift)
