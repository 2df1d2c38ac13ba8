"""What the model computes, against definitions in plain Python integers."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ringsmith import _core
from ringsmith.backends.rpau.debug.random_program import RandomProgram, random_program
from ringsmith.backends.rpau.design.constants import Words, prime_tables
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.device.interface import AddressSpace, Coprocessor
from ringsmith.backends.rpau.device.model import ModelCoprocessor
from ringsmith.backends.rpau.isa.assembler import assemble, encode
from ringsmith.backends.rpau.isa.instruction_set import ISA, Instruction, instruction
from ringsmith.backends.rpau.isa.kinds import POLY

Integers = NDArray[np.object_]  # Python integers: no overflow, no library under test


def brev(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)


class Ring:
    """Z_q[x] / (x^N + 1) by definition: evaluation at every odd power of the root."""

    def __init__(self, q: int, root: int, log_n: int) -> None:
        self.q, self.n, self.log_n = q, 1 << log_n, log_n
        powers = [1]
        for _ in range(2 * self.n - 1):
            powers.append(powers[-1] * root % q)
        points = [2 * brev(i, log_n) + 1 for i in range(self.n)]
        self.points = points
        at = [[powers[p * j % (2 * self.n)] for j in range(self.n)] for p in points]
        back = [[powers[-p * j % (2 * self.n)] for p in points] for j in range(self.n)]
        self.forward = np.array(at, dtype=object)
        self.backward = np.array(back, dtype=object)

    def ntt(self, a: Integers) -> Integers:
        """a(root^(2*brev(i) + 1)) for every i."""
        return self.forward.dot(a) % self.q

    def intt(self, a: Integers) -> Integers:
        """Coefficients of the polynomial with these values."""
        return self.backward.dot(a) * pow(self.n, -1, self.q) % self.q

    def automorph(self, a: Integers, element: int) -> Integers:
        """On coefficients: X^j becomes X^(j*element), and X^N is -1."""
        coefficients = self.intt(a)
        moved = np.zeros(self.n, dtype=object)
        for j, value in enumerate(coefficients):
            exponent = j * element % (2 * self.n)
            moved[exponent % self.n] = value if exponent < self.n else -value
        return self.ntt(moved)

    def permuted(self, a: Integers, element: int) -> Integers:
        """Coefficient i is the one number i * element of a, and number N + j is minus number j."""
        numbers = [i * element % (2 * self.n) for i in range(self.n)]
        return np.array([a[j] if j < self.n else -a[j - self.n] for j in numbers], dtype=object)


# dst = meaning(ring, old dst, a, b or key or half key, k1, k2, element) for what stays inside one
# RPAU.
MEANING: dict[str, Callable[..., Integers]] = {
    "ntt": lambda r, d, a, b, k1, k2, e: r.ntt(a),
    "intt": lambda r, d, a, b, k1, k2, e: r.intt(a),
    "automorph": lambda r, d, a, b, k1, k2, e: r.automorph(a, e),
    "permute": lambda r, d, a, b, k1, k2, e: r.permuted(a, e),
    "mul": lambda r, d, a, b, k1, k2, e: a * b,
    "mac": lambda r, d, a, b, k1, k2, e: d + a * b,
    "add": lambda r, d, a, b, k1, k2, e: a + b,
    "sub": lambda r, d, a, b, k1, k2, e: a - b,
    "affine": lambda r, d, a, b, k1, k2, e: a * k1 + k2,
    "scale_add": lambda r, d, a, b, k1, k2, e: a * k1 + b,
    "scale_sub": lambda r, d, a, b, k1, k2, e: a * k1 - b,
    "reduce": lambda r, d, a, b, k1, k2, e: a * k1 + k2,
    "mul_key": lambda r, d, a, b, k1, k2, e: a * b,
    "mac_key": lambda r, d, a, b, k1, k2, e: d + a * b,
    "dmul": lambda r, d, a, b, k1, k2, e: a * b,
    "dmac": lambda r, d, a, b, k1, k2, e: d + a * b,
    "dmul_key": lambda r, d, a, b, k1, k2, e: a * b,
    "dmac_key": lambda r, d, a, b, k1, k2, e: d + a * b,
    "daffine": lambda r, d, a, b, k1, k2, e: a * k1 + k2,
    "dscale_add": lambda r, d, a, b, k1, k2, e: a * k1 + b,
    "dscale_sub": lambda r, d, a, b, k1, k2, e: a * k1 - b,
    "dadd": lambda r, d, a, b, k1, k2, e: a + b,
    "dsub": lambda r, d, a, b, k1, k2, e: a - b,
    "dmul_seed": lambda r, d, a, b, k1, k2, e: a * b,
    "dmac_seed": lambda r, d, a, b, k1, k2, e: d + a * b,
}


class Oracle:
    """Interprets programs on Python integers."""

    def __init__(self, program: RandomProgram, design: RpauDesign) -> None:
        self.constants = [[[int(k) for k in words] for words in sets] for sets in program.constants]
        self.keys = {place: words.astype(object) for place, words in program.keys.items()}
        self.seeds = program.seeds
        self.conversions = program.conversions
        self.polys = {place: words.astype(object) for place, words in program.polys.items()}
        self.rings = [
            [Ring(q, root, design.log_n) for q, root in zip(*both, strict=True)]
            for both in zip(program.primes, program.roots, strict=True)
        ]

    def execute(self, each: Instruction) -> None:
        """Carries out one instruction in every RPAU of its mask."""
        if each.operation.name == "broadcast":
            self._broadcast(each)
        elif each.operation.name == "send":
            for rpau in set(each.rpaus()) - {each["src"]}:
                self.polys[rpau, each["dst"]] = self.polys[each["src"], each["a"]]
        elif each.operation.converts:
            self._convert(each)
        elif each.operation.unit != "control":
            for rpau in each.rpaus():
                self._inside(each, rpau)

    def _convert(self, each: Instruction) -> None:
        conversion, rpaus = self.conversions[each["conversion"]], each.rpaus()
        n = self.rings[0][0].n
        zeros = np.zeros(n, dtype=object)
        inputs = [
            self.polys[rpau, each["a"]] if each["first"] <= rpau <= each["last"] else zeros
            for rpau in rpaus[: len(conversion.inputs)]
        ]
        has_own = each.operation.operand("b") is not None
        own = [self.polys[rpau, each["b"]] for rpau in rpaus] if has_own else []
        outputs = [
            conversion.apply([int(words[k]) for words in inputs], [int(words[k]) for words in own])
            for k in range(n)
        ]
        for rpau in rpaus:
            column = [words[rpau] for words in outputs]
            self.polys[rpau, each["dst"]] = np.array(column, dtype=object)

    def _inside(self, each: Instruction, rpau: int) -> None:
        values = dict(zip((o.name for o in each.operation.operands), each.values, strict=True))
        constants = self.constants[rpau][each.prime]
        ring = self.rings[rpau][each.prime]
        result = MEANING[each.operation.name](
            ring,
            self.polys.get((rpau, values["dst"])),
            self.polys.get((rpau, values["a"])) if "a" in values else None,
            self._second(values, rpau, ring),
            constants[values["k1"]] if "k1" in values else None,
            constants[values["k2"]] if "k2" in values else None,
            values.get("element"),
        )
        self.polys[rpau, values["dst"]] = result % ring.q

    def _second(self, values: dict[str, int], rpau: int, ring: Ring) -> Integers | None:
        """The second factor, where the instruction has one."""
        if "b" in values:
            return self.polys[rpau, values["b"]]
        if "seed" in values:
            *parts, limb = (int(word) for word in self.seeds[rpau, values["seed"]])
            seed = sum(part << 20 * i for i, part in enumerate(parts)).to_bytes(10, "little")
            half = _core.expand_seed_words(seed, values["digit"], limb, ring.q, ring.n)
            return half.astype(object)
        return self.keys.get((rpau, values.get("b_key", -1)))

    def _broadcast(self, each: Instruction) -> None:
        source = each["src"]

        def scaled(words: Integers, rpau: int, modulus_bank: int) -> Integers:
            constants = self.constants[rpau][modulus_bank]
            return (words * constants[each["k1"]] + constants[each["k2"]]) % (
                self.rings[rpau][modulus_bank].q
            )

        sent = scaled(self.polys[source, each["a"]], source, each["src_prime"])
        for rpau in each.rpaus():
            if rpau != source:
                self.polys[rpau, each["dst"]] = scaled(sent, rpau, each.prime)


def load(coprocessor: Coprocessor, program: RandomProgram) -> None:
    for space, unit, index, words in program.loads():
        coprocessor.write(AddressSpace[space], unit, index, words)
    coprocessor.load_program(program.words)


def test_every_instruction_has_a_meaning_here() -> None:
    inside = {
        o.name
        for o in ISA.operations
        if o.unit != "control" and o.source is None and not o.converts
    }
    assert inside - {"split", "join"} == MEANING.keys()  # those: test_rings.py


VARIANTS: list[dict[str, object]] = [
    {},
    {"modulus_banks": 3, "work_polys": 12},
    {"modulus_banks": 2, "prng": "trivium", "seeds": 2},
    {"modulus_banks": 2, "dyadic_cores": 0, "twiddles": "stored"},
    {"modulus_banks": 2, "link": False},
    {"reduction": "sparse", "family": "word48", "word_bits": 48, "modulus_banks": 2},
]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_random_programs_leave_what_plain_integers_leave(
    small_design: RpauDesign, variant: dict[str, Any], seed: int
) -> None:
    design = replace(small_design, **variant)
    program = random_program(design, seed, 2 * len(ISA.operations))
    assert {each.operation.name for each in program.instructions} == {
        operation.name for operation in ISA.available(design)
    }
    coprocessor = ModelCoprocessor(design)
    load(coprocessor, program)
    report = coprocessor.run(10**7)
    oracle = Oracle(program, design)
    for each in program.instructions:
        oracle.execute(each)
    for rpau, polys in enumerate(program.written):
        assert polys == {poly for place, poly in oracle.polys if place == rpau}
        for poly in polys:
            words = coprocessor.read(AddressSpace.POLY, rpau, poly)
            assert (words == oracle.polys[rpau, poly]).all(), f"p{poly} of RPAU {rpau}"
    assert report.instructions == len(program.instructions)


def test_a_program_runs_again_on_what_it_left(small_design: RpauDesign) -> None:
    program = random_program(small_design, 11, 30)
    coprocessor = ModelCoprocessor(small_design)
    load(coprocessor, program)
    oracle = Oracle(program, small_design)
    for _ in range(2):
        coprocessor.run(10**7)
        for each in program.instructions:
            oracle.execute(each)
    for rpau, polys in enumerate(program.written):
        for poly in polys:
            assert (
                coprocessor.read(AddressSpace.POLY, rpau, poly) == oracle.polys[rpau, poly]
            ).all()


@pytest.mark.parametrize("name", MEANING)
def test_operands_may_be_one_polynomial_read_and_written(
    small_design: RpauDesign, name: str
) -> None:
    operation = ISA.operation(name)
    operands = {operand.name: 1 for operand in operation.operands}
    operands |= {operand: index for index, operand in enumerate(operation.distinct)}
    operands |= {o.name: o.default for o in operation.operands if o.default is not None}
    each = instruction(name, 0b111, **operands)
    design = replace(small_design, prng="trivium", seeds=2)
    program = random_program(design, 5, 2)
    for rpau, (prime,) in enumerate(program.primes):
        for poly in {poly for operand, poly in each.accesses(rpau) if operand.kind == POLY}:
            program.polys[rpau, poly] = program.keys[rpau, poly][::-1] % np.uint64(prime)
    coprocessor = ModelCoprocessor(design)
    load(coprocessor, program)
    coprocessor.load_program(np.array([encode(each), encode(instruction("halt"))], dtype=np.uint64))
    coprocessor.run(10**7)
    oracle = Oracle(program, design)
    oracle.execute(each)
    for rpau in range(design.rpaus):
        words = coprocessor.read(AddressSpace.POLY, rpau, each["dst"])
        assert (words == oracle.polys[rpau, each["dst"]]).all()


@pytest.mark.parametrize("bits", [30, 48])
def test_the_ntt_of_nano_equals_the_core_s(rng: np.random.Generator, bits: int) -> None:
    nano = load_design("nano")
    (prime,) = _core.prime_search(bits, nano.n, 1)
    root = _core.smallest_root(prime, nano.n)
    coprocessor = ModelCoprocessor(nano)
    tables = prime_tables(prime, root, nano)
    for space, table in tables.loads():
        coprocessor.write(AddressSpace[space], 2, 0, table)
    words: Words = rng.integers(0, prime, nano.n, dtype=np.uint64)
    words[:3] = [0, 1, prime - 1]
    coprocessor.write(AddressSpace.POLY, 2, 0, words)
    coprocessor.write(AddressSpace.POLY, 2, 1, words)
    text = "ntt p0, p0 @2\nintt p1, p1 @2\nhalt"
    coprocessor.load_program(np.array(assemble(text, nano), dtype=np.uint64))
    coprocessor.run(10**6)
    assert (
        coprocessor.read(AddressSpace.POLY, 2, 0) == _core.ntt_forward(words, prime, root)
    ).all()
    assert (
        coprocessor.read(AddressSpace.POLY, 2, 1) == _core.ntt_inverse(words, prime, root)
    ).all()
