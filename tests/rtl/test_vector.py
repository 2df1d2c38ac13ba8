"""The vector architecture's datapath, block by block, against Python's integers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.backends.vector.reference import butterflies, powers, transform

from ringsmith._core import is_prime, ntt_forward, ntt_inverse, smallest_root
from ringsmith.backends.vector.design.word_layout import (
    Layout,
    Pass,
    Shape,
    coefficient_layout,
    forward_passes,
    inverse_passes,
    ntt_layout,
    placed,
    table,
    table_rows,
    taken,
    time_order,
)
from ringsmith.errors import DeviceError
from ringsmith.hdl.block import Block, Words

MakeBlock = Callable[..., Block]

BARRETT, MONTGOMERY = 0, 1


@dataclass(frozen=True)
class Arithmetic:
    """Words and moduli of an array."""

    width: int
    reduction: int
    step_bits: int = 17

    @property
    def factor(self) -> int:
        """What the multiplier divides by: f."""
        return 1 << self.width if self.reduction == MONTGOMERY else 1

    @property
    def parameters(self) -> dict[str, int]:
        """Of the blocks."""
        return {"Width": self.width, "Reduction": self.reduction, "StepBits": self.step_bits}

    def primes(self, count: int = 3, log_order: int = 0) -> list[int]:
        """Primes of the widest size, and of a bit less, that are 1 modulo a power of two."""
        bits = max(self.step_bits, log_order)
        found: list[int] = []
        for top in (self.width, self.width - 1):
            candidates = range((1 << top) - (1 << bits) + 1, 1 << (top - 1), -(1 << bits))
            found += [q for q, _ in zip(filter(is_prime, candidates), range(count), strict=False)]
        return found

    def modulus(self, q: int) -> dict[str, int]:
        """What enters with operands."""
        bits = q.bit_length()
        return {
            "q_i": q,
            "mu_i": (1 << (self.width + bits)) // q - (1 << self.width),
            "shift_i": bits,
        }

    def product(self, a: int, b: int, q: int) -> int:
        """What the multiplier computes."""
        return a * b * pow(self.factor, -1, q) % q


ARITHMETICS = [
    Arithmetic(32, MONTGOMERY),
    Arithmetic(30, MONTGOMERY, 13),
    Arithmetic(30, BARRETT),
    Arithmetic(60, BARRETT),
]


UNITS = [
    *((own, 2) for own in ARITHMETICS),
    *((own, 4) for own in ARITHMETICS[:1]),
    *(pytest.param(own, 4, marks=pytest.mark.full) for own in ARITHMETICS[1:]),
]
"""Arithmetic and log_radix: every arithmetic, and every radix."""


def words(values: list[int]) -> Words:
    return np.array(values, dtype=np.uint64)


def columns(rows: list[dict[str, int]]) -> dict[str, Words]:
    return {name: words([row[name] for row in rows]) for name in rows[0]}


def some(rng: np.random.Generator, below: int) -> int:
    """A random number, or one of the edges."""
    if rng.integers(4) == 0:
        return int(rng.choice([0, 1, below // 2, below - 1]))
    return int(rng.integers(0, below, dtype=np.uint64))


def alu_case(
    rng: np.random.Generator, own: Arithmetic, q: int, reduce: bool
) -> tuple[dict[str, int], tuple[int, int | None]]:
    """One operation: what enters, and both results."""
    mode = rng.choice(["forward", "inverse", "pass", "point", "minus"])
    inverse, combine = mode == "inverse", mode in ("forward", "point", "minus")
    u, t, w = some(rng, q), some(rng, q), some(rng, q)
    if mode != "inverse" and rng.integers(2):
        t = some(rng, 1 << own.width)
    elif mode in ("point", "minus") and rng.integers(2):
        w = some(rng, 1 << own.width)
    if reduce and mode in ("forward", "pass") and rng.integers(2):
        u = some(rng, min(2 * q, 1 << own.width))
    product = own.product(u - t if inverse else t, w, q)
    results: tuple[int, int | None]
    match mode:
        case "inverse":
            results = u + t, product
        case "pass":
            results = u, -product
        case "minus":
            results = product - u, None
        case _:
            results = u + product, u - product
    entered = ~u & ((1 << own.width) - 1) if mode == "minus" else u
    inputs = {"inverse_i": inverse, "combine_i": combine, "negative_i": mode == "minus"}
    inputs |= {"u_i": entered, "t_i": t, "w_i": w, **own.modulus(q)}
    return inputs, results


@pytest.mark.parametrize("reduce", [0, 1])
@pytest.mark.parametrize("own", ARITHMETICS, ids=str)
def test_an_alu_equals_python_with_another_mode_and_modulus_in_each_cycle(
    make_block: MakeBlock, rng: np.random.Generator, own: Arithmetic, reduce: int
) -> None:
    block = make_block("rs_vector_alu_bench", **own.parameters, Reduce=reduce)
    [latency] = block.peek("latency_o").tolist()
    primes = own.primes()
    cases = [alu_case(rng, own, int(rng.choice(primes)), bool(reduce)) for _ in range(4000)]
    inputs = columns([entered for entered, _ in cases])
    out = block.run(inputs, ["low_o", "high_o"], cycles=len(cases) + latency)
    for (entered, (low, high)), got_low, got_high in zip(
        cases, out["low_o"][latency:].tolist(), out["high_o"][latency:].tolist(), strict=True
    ):
        q = entered["q_i"]
        assert got_low == low % q, entered
        assert high is None or got_high == high % q, entered


# ---- units --------------------------------------------------------------------------------------


def reversed_bits(bits: int, value: int) -> int:
    return int(format(value, f"0{bits}b")[::-1], 2)


class Driven:
    """Inputs of a block by cycle; what is not set is random."""

    def __init__(self, block: Block, rng: np.random.Generator, cycles: int) -> None:
        self.cycles = cycles
        self.inputs = {
            name: rng.integers(
                0, 1 << block.ports[name].width, (cycles, block.ports[name].lanes), dtype=np.uint64
            )
            for name in block.inputs
        }

    def set(self, cycle: int, values: dict[str, int | list[int]]) -> None:
        """Sets a cycle's values of some inputs."""
        for name, value in values.items():
            self.inputs[name][cycle] = value


@dataclass(frozen=True)
class Unit:
    """One unit's rows in Python."""

    own: Arithmetic
    log_radix: int

    @property
    def radix(self) -> int:
        """Lanes."""
        return 1 << self.log_radix

    def point_stages(self) -> Iterator[tuple[int, slice]]:
        """Stages, with the words of point results that each computes: the upper lanes first."""
        for stage in range(self.log_radix):
            first = stage // 2 * self.radix + (0 if stage % 2 else self.radix // 2)
            yield stage, slice(first, first + self.radix // 2)

    def factors(self, rng: np.random.Generator, q: int, stages: int) -> list[int]:
        """A row of factors, those of stages that are left out -1."""
        row = [some(rng, q) for _ in range(self.radix)]
        for position in range(self.log_radix):
            if not stages >> position & 1:
                nodes = 1 << (self.log_radix - 1 - position)
                row[nodes : 2 * nodes] = [-self.own.factor % q] * nodes
        return row

    def transformed(
        self, x: list[int], factors: list[int], q: int, stages: int, inverse: bool
    ) -> list[int]:
        """A row after the stages of a pass."""
        x = list(x)
        for position in range(self.log_radix) if inverse else reversed(range(self.log_radix)):
            for low in range(self.radix):
                if low >> position & 1 or not stages >> position & 1:
                    continue
                high = low | 1 << position
                w = factors[(1 << (self.log_radix - 1 - position)) + (low >> (position + 1))]
                u, t = x[low], x[high]
                if inverse:
                    x[low], x[high] = (u + t) % q, self.own.product(u - t, w, q)
                else:
                    product = self.own.product(t, w, q)
                    x[low], x[high] = (u + product) % q, (u - product) % q
        return [value % q for value in x]


@pytest.mark.parametrize(("own", "log_radix"), UNITS, ids=str)
def test_a_unit_equals_python_with_changing_modes_and_moduli(
    make_block: MakeBlock, rng: np.random.Generator, own: Arithmetic, log_radix: int
) -> None:
    block = make_block("rs_vector_unit_bench", **own.parameters, LogRadix=log_radix)
    unit, primes = Unit(own, log_radix), own.primes()
    radix, results = unit.radix, log_radix // 2
    factor_time, stage, *latencies = (
        int(block.peek(f"{name}_o")[0])
        for name in ("factor_time", "stage_latency", "transform_latency", "point_latency")
    )
    turn = (log_radix - 1) * stage + 1
    driven = Driven(block, rng, 4000)
    driven.inputs["point_i"][:] = 0
    expected: list[tuple[str, int, slice, list[int]]] = []
    cycle, last = 0, {"forward": -turn, "inverse": -turn}
    while cycle < driven.cycles - 3 * latencies[0]:
        mode = str(rng.choice(["forward", "inverse", "point"]))
        if mode != "point":
            cycle = max(cycle, last["inverse" if mode == "forward" else "forward"] + turn)
        for _ in range(int(rng.integers(1, 30))):
            q = int(rng.choice(primes))
            if mode == "point":
                entered, late, result = point_case(rng, unit, primes)
                driven.set(cycle, entered)
                for number, words_of in unit.point_stages():
                    at = cycle + number * stage
                    driven.inputs["z_i"][at, words_of] = late["z_i"][words_of]
                    driven.inputs["y_i"][at + factor_time, words_of] = late["y_i"][words_of]
                    expected.append(("point_o", at + latencies[1], words_of, result[words_of]))
            else:
                entered, factors, result = transform_case(rng, unit, q, mode == "inverse")
                driven.set(cycle, entered)
                expected.append(("transform_o", cycle + latencies[0], slice(radix), result))
                for group in range(log_radix):
                    before = log_radix - 1 - group if mode == "inverse" else group
                    nodes = slice(1 << group, 2 << group)
                    at = cycle + factor_time + before * stage
                    driven.inputs["factor_i"][at, nodes] = factors[nodes]
                last[mode] = cycle
            cycle += 1
    out = block.run(driven.inputs, ["transform_o", "point_o"])
    assert out["point_o"].shape[1] == radix * results
    for port, at, words_of, row in expected:
        assert out[port][at, words_of].tolist() == row, (port, at)


Case = tuple[dict[str, int | list[int]], list[int], list[int]]
PointCase = tuple[dict[str, int | list[int]], dict[str, list[int]], list[int]]


def transform_case(rng: np.random.Generator, unit: Unit, q: int, inverse: bool) -> Case:
    own, r, radix = unit.own, unit.log_radix, unit.radix
    stages = int(rng.choice([(1 << r) - 1, int(rng.integers(1 << r))]))
    factors = unit.factors(rng, q, stages)
    limit = q if inverse else min(2 * q, 1 << own.width)
    x = [some(rng, limit) for _ in range(radix)]
    entered = [x[reversed_bits(r, lane)] if inverse else x[lane] for lane in range(radix)]
    inputs: dict[str, int | list[int]] = {"x_i": entered, **own.modulus(q)}
    inputs |= {"inverse_i": inverse, "stages_i": stages}
    return inputs, factors, unit.transformed(x, factors, q, stages, inverse)


def point_case(rng: np.random.Generator, unit: Unit, primes: list[int]) -> PointCase:
    own, radix, results = unit.own, unit.radix, unit.log_radix // 2
    q = [int(rng.choice(primes)) for _ in range(results)]
    subtract = int(rng.integers(1 << results))
    y_is_x, z_is_x = (int(rng.choice([0, 0, int(rng.integers(1 << results))])) for _ in range(2))
    limit = min(q) if y_is_x or z_is_x else 1 << own.width
    x = [some(rng, limit) for _ in range(radix)]
    y = [some(rng, m) for m in q for _ in range(radix)]
    z = [some(rng, m) for m in q for _ in range(radix)]
    result = []
    for i, (b, c) in enumerate(zip(y, z, strict=True)):
        b = x[i % radix] if y_is_x >> i // radix & 1 else b
        c = x[i % radix] if z_is_x >> i // radix & 1 else c
        m, sign = q[i // radix], -1 if subtract >> i // radix & 1 else 1
        result.append((own.product(x[i % radix], b, m) + sign * c) % m)
    moduli = [own.modulus(m) for m in q]
    inputs: dict[str, int | list[int]] = {"point_i": 1, "subtract_i": subtract, "x_i": x}
    inputs |= {"y_is_x_i": y_is_x, "z_is_x_i": z_is_x}
    inputs |= {name: [each[name] for each in moduli] for name in moduli[0]}
    return inputs, {"y_i": y, "z_i": z}, result


# ---- permutation network ------------------------------------------------------------------------


STRAIGHT, REVERSE, BACK = range(3)


def arranged(rows: Words, log_radix: int, arrange: int) -> Words:
    """Lanes rotated back, and the bits of L0 reversed, for an inverse transform's units."""
    lanes = np.arange(rows.shape[1])
    log_lanes = rows.shape[1].bit_length() - 1
    low = lanes & ((1 << log_radix) - 1)
    reverse = np.array([reversed_bits(log_radix, int(each)) for each in low])
    if arrange == BACK:
        rows = rows[:, (lanes >> log_radix) | low << (log_lanes - log_radix)]
    return rows if arrange == STRAIGHT else rows[:, lanes - low + reverse]


def affine(rows: Words, shape: Shape, element: int, constants: list[int]) -> Words:
    """Index h from index element * h + constant; in NTT form index bits are reversed in h."""
    bits = ntt_layout(shape).lanes
    h = [
        sum((lane >> b & 1) << (shape.log_lanes - 1 - bit) for b, bit in enumerate(bits))
        for lane in range(1 << shape.log_lanes)
    ]
    lane_of = {index: lane for lane, index in enumerate(h)}
    mapped = [
        [row[lane_of[(element * index + constant) % len(h)]] for index in h]
        for row, constant in zip(rows.tolist(), constants, strict=True)
    ]
    return np.array(mapped, dtype=np.uint64)


def exchanged(rows: Words, mask: int) -> Words:
    """Lane bit i with bit i of the row's number."""
    row_bits = len(rows).bit_length() - 1
    start = Layout(tuple(range(rows.shape[1].bit_length() - 1)), tuple(range(32, 32 + row_bits)))
    end = start.exchanged(mask, 0)
    found = rows
    for i in range(mask.bit_length()):
        if end.lanes[i] != start.lanes[i]:
            before = found.copy()
            row, lane = np.meshgrid(*map(np.arange, rows.shape), indexing="ij")
            swap = (row ^ lane) >> i & 1
            found = before[row ^ swap << i, lane ^ swap << i]
    return found


@pytest.mark.parametrize(
    ("log_lanes", "log_radix"),
    [(4, 2), (4, 4), (6, 2), *(pytest.param(8, r, marks=pytest.mark.full) for r in (2, 4))],
)
def test_the_network_equals_python_with_another_permutation_in_each_row(
    make_block: MakeBlock, rng: np.random.Generator, log_lanes: int, log_radix: int
) -> None:
    block = make_block("rs_vector_permute_bench", Width=16, LogLanes=log_lanes, LogRadix=log_radix)
    [latency] = block.peek("latency_o").tolist()
    shape = Shape(log_lanes + log_radix, log_lanes, log_radix)
    driven = Driven(block, rng, 1500)
    driven.inputs["exchange_i"][:] = 0
    expected: list[tuple[int, Words]] = []
    cycle = 0
    while cycle < driven.cycles - 100:
        cycle += int(rng.choice([0, 0, 0, 1, int(rng.integers(1, 30))]))
        count = int(rng.choice([1, 2])) << log_radix
        span = slice(cycle, cycle + count)
        mask = int(rng.choice([0, (1 << log_radix) - 1, int(rng.integers(1 << log_radix))]))
        rotate, element = int(rng.integers(2)), 2 * int(rng.integers(1 << log_lanes >> 1)) + 1
        element, constants = (element, driven.inputs["constant_i"][span, 0].tolist())
        if rng.integers(2):
            element, constants = 1, [0] * count
        for name, values in {"rotate_i": rotate, "exchange_i": mask, "element_i": element}.items():
            driven.inputs[name][span] = values
        driven.inputs["time_i"][span, 0] = np.arange(count) % (1 << log_radix)
        driven.inputs["constant_i"][span, 0] = constants
        driven.inputs["arrange_i"][span, 0] = rng.integers(3, size=count)
        rows = driven.inputs["x_i"][span]
        if rotate:
            lanes = np.arange(1 << log_lanes)
            rows = rows[:, (lanes << log_radix | lanes >> (log_lanes - log_radix)) % len(lanes)]
        rows = affine(exchanged(rows, mask), shape, element, constants)
        for i, arrange in enumerate(driven.inputs["arrange_i"][span, 0].tolist()):
            row = arranged(rows[i : i + 1], log_radix, arrange)
            expected.append((cycle + i + latency, row))
        cycle += count
    out = block.run(driven.inputs, ["x_o"])["x_o"]
    for at, row in expected:
        assert np.array_equal(out[at], row[0])


# ---- array --------------------------------------------------------------------------------------


Entry = dict[str, "int | list[int] | Words"]


def factor_rows(shape: Shape, own: Arithmetic, q: int, inverse: bool) -> Words:
    """A prime's table for the twiddle memory; where a pass leaves a stage out, -1."""
    root = smallest_root(q, 1 << shape.log_n)
    plain = table(shape, powers(shape.log_n, q, pow(root, -1, q) if inverse else root))
    rows = plain.astype(object) * own.factor % q
    node = np.arange(rows.shape[1]) % (1 << shape.log_radix)
    for each in forward_passes(shape):
        for position in range(shape.log_radix):
            if not each.stages >> position & 1:
                nodes = 1 << (shape.log_radix - 1 - position)
                last = each.table + (1 << (shape.row_bits - each.shift))
                rows[each.table : last, (nodes <= node) & (node < 2 * nodes)] = -own.factor % q
    return rows.astype(np.uint64)


class Array:
    """The array under test, its rows in and out by cycle."""

    def __init__(self, block: Block, shape: Shape, own: Arithmetic) -> None:
        self.block, self.shape, self.own = block, shape, own
        self.points = shape.log_radix // 2
        self.transform_latency, self.turn = (
            int(block.peek(f"{name}_o")[0]) for name in ("transform_latency", "turn")
        )
        self.late = {name: block.peek(f"{name[0]}_time_o").tolist() for name in ("y_i", "z_i")}
        self.point_latency: list[int] = block.peek("point_latency_o").tolist()
        for name in ("rst_ni", "valid_i", "table_we_i"):
            block.poke(name, 0)
        block.step(2)
        block.poke("rst_ni", 1)

    def write_table(self, first: int, rows: Words) -> None:
        """Writes rows of the twiddle memory."""
        addresses = np.arange(first, first + len(rows))
        enable = np.ones(len(rows), dtype=np.uint64)
        inputs = {"table_we_i": enable, "table_waddr_i": addresses, "table_wdata_i": rows}
        self.block.run(inputs, ["transform_o"])
        self.block.poke("table_we_i", 0)

    def run(self, rng: np.random.Generator, rows: Sequence[Entry | None]) -> list[Words]:
        """Results of rows that enter one a cycle; None is a cycle without one."""
        driven = Driven(self.block, rng, len(rows) + self.transform_latency + 1)
        fixed = {"rst_ni": 1, "valid_i": 0, "table_we_i": 0}
        for name, level in fixed.items():
            driven.inputs[name][:] = level
        for cycle, row in enumerate(rows):
            for name, value in ({**row, "valid_i": 1} if row is not None else {}).items():
                if name not in self.late:
                    driven.inputs[name][cycle] = value
                    continue
                for stage, words_of in self.point_stages():
                    at = cycle + self.late[name][stage]
                    driven.inputs[name][at, words_of] = np.asarray(value)[words_of]
        out = self.block.run(driven.inputs, ["transform_o", "point_o"])
        found = []
        for cycle, row in enumerate(rows):
            if row is not None and row["point_i"]:
                found.append(np.empty(out["point_o"].shape[1], dtype=np.uint64))
                for stage, words_of in self.point_stages():
                    at = cycle + self.point_latency[stage]
                    found[-1][words_of] = out["point_o"][at, words_of]
            elif row is not None:
                found.append(out["transform_o"][cycle + self.transform_latency])
        return found

    def point_stages(self) -> Iterator[tuple[int, Words]]:
        """Stages, with the words of point results that each computes."""
        lane = np.arange(1 << self.shape.log_lanes)
        upper = (lane >> (self.shape.log_radix - 1) & 1).astype(bool)
        for stage in range(self.shape.log_radix):
            yield stage, stage // 2 * lane.size + lane[~upper if stage % 2 else upper]

    def pass_rows(self, rows: Words, each: Pass, inverse: bool, first: int, q: int) -> list[Entry]:
        """What enters for a pass over a limb, in the order of its time."""
        arrange = (BACK if each.rotate else REVERSE) if inverse else STRAIGHT
        fixed: Entry = {"point_i": 0, "inverse_i": inverse, "stages_i": each.stages}
        fixed |= {"rotate_i": each.rotate and not inverse, "exchange_i": each.exchange}
        fixed |= {"arrange_i": arrange, "element_i": 1, "constant_i": 0, **self.own.modulus(q)}
        return [
            {
                **fixed,
                "time_i": time % (1 << self.shape.log_radix),
                "table_row_i": first + each.table + (row >> each.shift),
                "x_i": rows[row],
            }
            for time, row in enumerate(time_order(self.shape, each.turn).tolist())
        ]

    def point_row(self, x: Words, y: Words, z: Words, subtract: int, moduli: list[int]) -> Entry:
        """What enters for point operations on a row that the network leaves as it is."""
        each = [self.own.modulus(q) for q in moduli]
        row: Entry = {"point_i": 1, "subtract_i": subtract, "x_i": x, "y_i": y, "z_i": z}
        row |= {"rotate_i": 0, "exchange_i": 0, "arrange_i": 0, "element_i": 1, "constant_i": 0}
        row |= {"y_is_x_i": 0, "z_is_x_i": 0}
        return row | {name: [one[name] for one in each] for name in each[0]}

    def transform(
        self, rng: np.random.Generator, limbs: Sequence[Words], moduli: list[int], inverse: bool
    ) -> list[Words]:
        """Limbs through all passes, at once; tables of their primes lie one after the other."""
        shape, size = self.shape, table_rows(self.shape)
        for i, q in enumerate(moduli):
            self.write_table(size * i, factor_rows(shape, self.own, q, inverse))
        start, end = coefficient_layout(shape), ntt_layout(shape)
        start, end = (end, start) if inverse else (start, end)
        states = [placed(shape, start, limb) for limb in limbs]
        for each in (inverse_passes if inverse else forward_passes)(shape):
            entries: list[Entry | None] = []
            for i, (state, q) in enumerate(zip(states, moduli, strict=True)):
                entries += self.pass_rows(state, each, inverse, size * i, q)
            results = np.array(self.run(rng, entries))
            order = time_order(shape, each.turn)
            states = [np.empty_like(state) for state in states]
            for i, state in enumerate(states):
                state[order] = results[shape.rows * i : shape.rows * (i + 1)]
        return [taken(shape, end, state) for state in states]


def make_array(make_block: MakeBlock, own: Arithmetic, shape: Shape) -> Array:
    """An array whose tables hold two primes, also of N = 2^10, so that rings share a build."""
    largest = Shape(max(shape.log_n, 10), shape.log_lanes, shape.log_radix)
    size = 1 << (2 * table_rows(largest) - 1).bit_length()
    sizes = {"LogLanes": shape.log_lanes, "LogRadix": shape.log_radix, "TableRows": size}
    block = make_block("rs_vector_array_bench", assertions=True, **own.parameters, **sizes)
    return Array(block, shape, own)


def random_limb(rng: np.random.Generator, shape: Shape, q: int) -> Words:
    return words([some(rng, q) for _ in range(1 << shape.log_n)])


ARRAYS = [
    *((own, (8, 4, 2)) for own in ARITHMETICS),
    *((own, (8, 4, 4)) for own in ARITHMETICS[:1]),
    *((ARITHMETICS[0], sizes) for sizes in [(9, 4, 2), (10, 4, 2), (9, 4, 4), (10, 4, 4)]),
    *(
        pytest.param(own, sizes, marks=pytest.mark.full)
        for own, sizes in [(own, (10, 4, 4)) for own in ARITHMETICS[1:]]
        + [(ARITHMETICS[0], (12, 8, 4))]
    ),
]


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize(("own", "sizes"), ARRAYS, ids=str)
def test_transforms_of_two_limbs_at_once_equal_the_reference(
    make_block: MakeBlock,
    rng: np.random.Generator,
    own: Arithmetic,
    sizes: tuple[int, int, int],
    inverse: bool,
) -> None:
    shape = Shape(*sizes)
    array = make_array(make_block, own, shape)
    moduli = own.primes(1, shape.log_n + 1)
    assert len(moduli) == 2
    limbs = [random_limb(rng, shape, q) for q in moduli]
    for limb, q, found in zip(
        limbs, moduli, array.transform(rng, limbs, moduli, inverse), strict=True
    ):
        root = smallest_root(q, 1 << shape.log_n)
        assert np.array_equal(found, transform(shape, limb, q, root, inverse))


def bit_reversed(bits: int, value: int) -> int:
    return reversed_bits(bits, value) if bits else 0


@pytest.mark.parametrize(
    ("own", "sizes"),
    [
        *((own, (9, 4, 2)) for own in ARITHMETICS),
        (ARITHMETICS[0], (8, 4, 4)),
        pytest.param(ARITHMETICS[0], (12, 8, 4), marks=pytest.mark.full),
    ],
    ids=str,
)
def test_automorphisms_in_ntt_form_equal_those_of_the_polynomial(
    make_block: MakeBlock, rng: np.random.Generator, own: Arithmetic, sizes: tuple[int, int, int]
) -> None:
    shape = Shape(*sizes)
    n, row_bits, t = 1 << shape.log_n, shape.row_bits, 1 << shape.log_lanes
    array = make_array(make_block, own, shape)
    [q, _] = own.primes(1, shape.log_n + 1)
    root = smallest_root(q, n)
    polynomial = random_limb(rng, shape, q)
    rows = placed(shape, ntt_layout(shape), ntt_forward(polynomial, q, root))
    one, zero = (np.full(array.points * t, each, np.uint64) for each in (own.factor % q, 0))
    elements = [1, 3, 5, 2 * n - 1, pow(5, 7, 2 * n), 2 * int(rng.integers(n)) + 1]
    entries: list[Entry | None] = []
    for element in elements:
        for row in range(shape.rows):
            low = bit_reversed(row_bits, row) * element + (element - 1) // 2
            source = rows[bit_reversed(row_bits, low % shape.rows)]
            entry = array.point_row(source, one, zero, 0, [q] * array.points)
            affine_map = {"element_i": element % t, "constant_i": (low >> row_bits) % t}
            entries.append(entry | affine_map)
    results = np.array(array.run(rng, entries)).reshape(len(elements), shape.rows, array.points, t)
    for element, result in zip(elements, results, strict=True):
        expected = np.zeros(n, dtype=np.uint64)
        for i, value in enumerate(polynomial.tolist()):
            to = i * element % (2 * n)
            expected[to % n] = value if to < n else -value % q
        for point in range(array.points):
            limb = taken(shape, ntt_layout(shape), np.ascontiguousarray(result[:, point]))
            assert np.array_equal(ntt_inverse(limb, q, root), expected)


@pytest.mark.parametrize(("own", "log_radix"), UNITS, ids=str)
def test_point_rows_follow_transforms_and_one_another(
    make_block: MakeBlock, rng: np.random.Generator, own: Arithmetic, log_radix: int
) -> None:
    """Point rows without a pause between passes, which keep ``turn`` where directions change."""
    shape = Shape(8, 4, log_radix)
    array, primes = make_array(make_block, own, shape), own.primes(3, 9)
    [q, other, *_] = primes
    for i, inverse in enumerate([False, True]):
        rows = factor_rows(shape, own, q, inverse)
        array.write_table(len(rows) * i, rows)
    entries: list[Entry | None] = []
    expected: list[Words] = []
    last = {False: -array.turn, True: -array.turn}  # rows of transforms by direction
    for inverse in (False, True, True, False, False, True):
        each = (inverse_passes if inverse else forward_passes)(shape)[0]
        layout = (ntt_layout if inverse else coefficient_layout)(shape)
        before = placed(shape, layout, random_limb(rng, shape, q))
        entries += [None] * (last[not inverse] + array.turn - len(entries))
        entries += array.pass_rows(before, each, inverse, table_rows(shape) * inverse, q)
        last[inverse] = len(entries) - 1
        after = butterflies(shape, each, before, plain_factors(shape, q, inverse), q, inverse)
        expected += list(after[time_order(shape, each.turn)])
        for _ in range(int(rng.integers(2 * array.turn))):
            row, results = point_row(rng, array, [q, other] if rng.integers(2) else [other, q])
            entries.append(row)
            expected.append(results)
    found = array.run(rng, entries)
    for result, wanted in zip(found, expected, strict=True):
        assert np.array_equal(result, wanted)


def plain_factors(shape: Shape, q: int, inverse: bool) -> Words:
    root = smallest_root(q, 1 << shape.log_n)
    return table(shape, powers(shape.log_n, q, pow(root, -1, q) if inverse else root))


def point_row(rng: np.random.Generator, array: Array, moduli: list[int]) -> tuple[Entry, Words]:
    own, t, moduli = array.own, 1 << array.shape.log_lanes, moduli[: array.points]
    subtract = int(rng.integers(1 << len(moduli)))
    x = words([some(rng, 1 << own.width) for _ in range(t)])
    y = words([some(rng, q) for q in moduli for _ in range(t)])
    z = words([some(rng, q) for q in moduli for _ in range(t)])
    results = []
    for i, (b, c) in enumerate(zip(y.tolist(), z.tolist(), strict=True)):
        q, sign = moduli[i // t], -1 if subtract >> i // t & 1 else 1
        results.append((own.product(int(x[i % t]), b, q) + sign * c) % q)
    return array.point_row(x, y, z, subtract, moduli), words(results)


@pytest.mark.parametrize("inverse", [False, True])
def test_a_transform_that_comes_before_the_array_has_turned_is_an_error(
    make_block: MakeBlock, rng: np.random.Generator, inverse: bool
) -> None:
    own, shape = ARITHMETICS[0], Shape(8, 4, 2)
    array = make_array(make_block, own, shape)
    q = own.primes(1, 9)[0]
    rows = placed(shape, coefficient_layout(shape), random_limb(rng, shape, q))
    first = array.pass_rows(rows, forward_passes(shape)[0], inverse, 0, q)
    second = array.pass_rows(rows, forward_passes(shape)[0], not inverse, 0, q)
    array.run(rng, [*first, *[None] * (array.turn - 1), *second])
    with pytest.raises(DeviceError, match="rs_vector_array"):
        array.run(rng, [*first, *[None] * (array.turn - 2), *second])


# ---- memories -----------------------------------------------------------------------------------


def half_lanes(log_lanes: int, log_radix: int, half: int) -> NDArray[np.int64]:
    """Lanes of a half of the rows: half 0 is the upper lanes of each unit."""
    lane = np.arange(1 << log_lanes, dtype=np.int64)
    found: NDArray[np.int64] = lane[(lane >> (log_radix - 1) & 1) == 1 - half]
    return found


@pytest.mark.parametrize("log_radix", [2, 4])
def test_a_bank_returns_halves_of_rows_as_they_were_written(
    make_block: MakeBlock, rng: np.random.Generator, log_radix: int
) -> None:
    rows, latency = 64, 2
    block = make_block("rs_vector_bank", assertions=True, LogRadix=log_radix, Rows=rows)
    driven = Driven(block, rng, 2000)
    stored: dict[tuple[int, int], Words] = {}
    expected: dict[tuple[int, int], Words] = {}
    lanes = [half_lanes(4, log_radix, half) for half in range(2)]
    for cycle in range(driven.cycles):
        read, write = (rng.integers(rows, size=2) for _ in range(2))
        reads = writes = 0
        for half in range(2):
            at = (half, int(read[half]))
            if at in stored and rng.integers(2) and cycle < driven.cycles - latency:
                reads |= 1 << half
                expected[half, cycle + latency] = stored[at]
            if not (reads >> half & 1 and read[half] == write[half]):
                writes |= 1 << half
                stored[half, int(write[half])] = driven.inputs["wdata_i"][cycle, lanes[half]]
        driven.set(cycle, {"re_i": reads, "raddr_i": read.tolist()})
        driven.set(cycle, {"we_i": writes, "waddr_i": write.tolist()})
    out = block.run(driven.inputs, ["rdata_o"])["rdata_o"]
    assert len(expected) > 1000
    for (half, cycle), row in expected.items():
        assert np.array_equal(out[cycle, lanes[half]], row)


def test_a_streams_halves_come_each_in_order(
    make_block: MakeBlock, rng: np.random.Generator
) -> None:
    rows, latency = 12, 2
    block = make_block("rs_vector_stream", assertions=True, Rows=rows)
    driven = Driven(block, rng, 2000)
    waiting: list[list[Words]] = [[], []]
    expected: dict[tuple[int, int], Words] = {}
    lanes = [half_lanes(4, 2, half) for half in range(2)]
    lengths = set()
    driven.inputs["rst_ni"][:] = 1
    for cycle in range(2):
        driven.set(cycle, {"rst_ni": 0, "push_i": 0, "pop_i": 0})
    for cycle in range(2, driven.cycles):
        pushes = pops = 0
        mostly_pushes = cycle // 50 % 2
        for half, queue in enumerate(waiting):
            push = len(queue) < rows and int(rng.integers(4)) < 1 + 2 * mostly_pushes
            if queue and int(rng.integers(4)) < 3 - 2 * mostly_pushes:
                pops |= 1 << half
                expected[half, cycle + latency] = queue.pop(0)
            if push:
                pushes |= 1 << half
                queue.append(driven.inputs["row_i"][cycle, lanes[half]])
            lengths.add(len(queue))
        driven.set(cycle, {"push_i": pushes, "pop_i": pops})
    assert {0, rows} <= lengths
    out = block.run(driven.inputs, ["row_o"])["row_o"]
    for (half, cycle), row in expected.items():
        if cycle < driven.cycles:
            assert np.array_equal(out[cycle, lanes[half]], row)


@pytest.mark.parametrize("name", ["push_i", "pop_i"])
def test_a_stream_stops_at_a_row_too_many(make_block: MakeBlock, name: str) -> None:
    block = make_block("rs_vector_stream", assertions=True, Rows=12)
    for port, value in {"rst_ni": 0, "push_i": 0, "pop_i": 0}.items():
        block.poke(port, value)
    block.step(2)
    block.poke("rst_ni", 1)
    block.poke(name, 2)
    block.step(12 if name == "push_i" else 0)
    with pytest.raises(DeviceError, match="rs_vector_stream"):
        block.step(1)
