"""Every instruction on the simulated RTL with assertions: contents against plain Python, cycles.

The oracle knows nothing of the model: residues are Python integers, the NTT is the core's.
"""

from collections.abc import Callable

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.backends.rpau.design import latency
from ringsmith.backends.rpau.design.constants import prime_tables
from ringsmith.backends.rpau.design.conversions import conversion_words, placed
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.interface import AddressSpace, Words
from ringsmith.backends.rpau.device.rtl import RtlCoprocessor
from ringsmith.backends.rpau.isa.assembler import encode
from ringsmith.backends.rpau.isa.instruction_set import ISA, instruction, latencies
from ringsmith.errors import DeviceError
from ringsmith.hdl.base_conversion import divide, lift

DST, A, B = 1, 2, 5
K1, K2 = 3, 6


class Bench:
    """A device with a prime, tables, constants and keys in every RPAU."""

    def __init__(self, design: RpauDesign, rng: np.random.Generator) -> None:
        self.design = design
        self.coprocessor = RtlCoprocessor(design, assertions=True)
        self.everyone = (1 << design.rpaus) - 1
        # The smallest and the largest words that the multiplier takes, and one between.
        bits = np.linspace(design.word_bits // 2, design.word_bits, design.rpaus).astype(int)
        self.primes = [_core.prime_search(int(b), design.n, 1)[0] for b in bits]
        self.roots = [_core.smallest_root(q, design.n) for q in self.primes]
        self.constants = [
            np.array([0, 1, q - 1, *rng.integers(0, q, design.constants - 3)], dtype=np.uint64)
            for q in self.primes
        ]
        self.keys = [self.random(q, rng) for q in self.primes]
        for rpau, (prime, root) in enumerate(zip(self.primes, self.roots, strict=True)):
            for space, words in prime_tables(prime, root, design).loads():
                self.coprocessor.write(AddressSpace[space], rpau, 0, words)
            self.coprocessor.write(AddressSpace.CONSTANT, rpau, 0, self.constants[rpau])
            self.coprocessor.write(AddressSpace.KEY, rpau, design.key_polys - 1, self.keys[rpau])
        own = divide(self.primes[:1], self.primes[1:], 5)
        for index, conversion in enumerate(
            [
                placed(lift(self.primes[:2], self.primes[2:]), [0, 1], [2], design.rpaus),
                placed(own, [0], [1, 2], design.rpaus),
            ]
        ):
            self.coprocessor.write(
                AddressSpace.CONVERSION, 0, index, conversion_words(design, conversion)
            )

    def random(self, prime: int, rng: np.random.Generator) -> Words:
        """Residues with the edges 0, 1, q - 1 first."""
        words = rng.integers(0, prime, self.design.n, dtype=np.uint64)
        words[:9] = [x for x in (0, 1, prime - 1) for _ in range(3)]
        return words

    def fill(self, rng: np.random.Generator) -> dict[tuple[int, int], list[int]]:
        """Random residues in DST, A and B of every RPAU: (RPAU, polynomial) -> residues.

        A repeats each edge three times, B runs through the edges: all pairs of edges meet.
        """
        contents = {}
        for rpau, prime in enumerate(self.primes):
            for poly in (DST, A, B):
                words = self.random(prime, rng)
                if poly == B:
                    words[:9] = [0, 1, prime - 1] * 3
                self.coprocessor.write(AddressSpace.POLY, rpau, poly, words)
                contents[rpau, poly] = [int(word) for word in words]
        return contents

    def execute(self, name: str, mask: int | None = None, **operands: int) -> int:
        """Runs one instruction and halt; returns the cycles that the instruction took."""
        mask = self.everyone if mask is None else mask
        program = [instruction(name, mask, **operands), instruction("halt", self.everyone)]
        self.coprocessor.load_program(np.array([encode(i) for i in program], dtype=np.uint64))
        report = self.coprocessor.run(1_000_000)
        assert report.instructions == len(program)
        return report.cycles - latency.FETCH_CYCLES

    def read(self, rpau: int, poly: int = DST) -> list[int]:
        """The residues of a polynomial."""
        return [int(word) for word in self.coprocessor.read(AddressSpace.POLY, rpau, poly)]


@pytest.fixture(scope="module")
def bench(small_design: RpauDesign) -> Bench:
    return Bench(small_design, np.random.default_rng(1))


def operands_of(name: str, bench: Bench) -> dict[str, int]:
    """Operands for an instruction, by the fields it has."""
    values = {
        "dst": DST,
        "a": A,
        "b": B,
        "b_key": bench.design.key_polys - 1,
        "k1": K1,
        "k2": K2,
        "element": 3,
        "sub_poly": 0,
        "src": 1,
        "src_prime": 0,
        "first": 0,
        "last": 0,
        "conversion": int(name == "convert_own"),
    }
    return {operand.name: values[operand.name] for operand in ISA.operation(name).operands}


POINTWISE: dict[str, Callable[[int, int, int, int, int, int], int]] = {
    "mul": lambda d, a, b, key, k1, k2: a * b,
    "mac": lambda d, a, b, key, k1, k2: d + a * b,
    "add": lambda d, a, b, key, k1, k2: a + b,
    "sub": lambda d, a, b, key, k1, k2: a - b,
    "affine": lambda d, a, b, key, k1, k2: a * k1 + k2,
    "scale_add": lambda d, a, b, key, k1, k2: a * k1 + b,
    "scale_sub": lambda d, a, b, key, k1, k2: a * k1 - b,
    "reduce": lambda d, a, b, key, k1, k2: a * k1 + k2,
    "mul_key": lambda d, a, b, key, k1, k2: a * key,
    "mac_key": lambda d, a, b, key, k1, k2: d + a * key,
    "dmul": lambda d, a, b, key, k1, k2: a * b,
    "dmac": lambda d, a, b, key, k1, k2: d + a * b,
    "dmul_key": lambda d, a, b, key, k1, k2: a * key,
    "dmac_key": lambda d, a, b, key, k1, k2: d + a * key,
    "daffine": lambda d, a, b, key, k1, k2: a * k1 + k2,
    "dscale_add": lambda d, a, b, key, k1, k2: a * k1 + b,
    "dscale_sub": lambda d, a, b, key, k1, k2: a * k1 - b,
    "dadd": lambda d, a, b, key, k1, k2: a + b,
    "dsub": lambda d, a, b, key, k1, k2: a - b,
}


@pytest.mark.parametrize("name", sorted(POINTWISE))
def test_pointwise_instructions_compute_their_formula(
    bench: Bench, name: str, rng: np.random.Generator
) -> None:
    contents = bench.fill(rng)
    bench.execute(name, **operands_of(name, bench))
    for rpau, prime in enumerate(bench.primes):
        k1, k2 = (int(bench.constants[rpau][k]) for k in (K1, K2))
        keys = [int(word) for word in bench.keys[rpau]]
        polys = (contents[rpau, poly] for poly in (DST, A, B))
        expected = [
            POINTWISE[name](d, a, b, key, k1, k2) % prime
            for d, a, b, key in zip(*polys, keys, strict=True)
        ]
        assert bench.read(rpau) == expected
        assert bench.read(rpau, A) == contents[rpau, A]


@pytest.mark.parametrize(("k1", "k2"), [(0, 0), (1, 0), (2, 1), (2, 2)])
def test_affine_takes_edge_constants(
    bench: Bench, k1: int, k2: int, rng: np.random.Generator
) -> None:
    contents = bench.fill(rng)
    bench.execute("affine", dst=DST, a=A, k1=k1, k2=k2)
    for rpau, prime in enumerate(bench.primes):
        factor, addend = (int(bench.constants[rpau][k]) for k in (k1, k2))
        assert bench.read(rpau) == [(a * factor + addend) % prime for a in contents[rpau, A]]


@pytest.mark.parametrize("name", ["reduce", "daffine"])
def test_what_reduces_takes_every_word(bench: Bench, name: str, rng: np.random.Generator) -> None:
    words = rng.integers(0, 1 << bench.design.word_bits, bench.design.n, dtype=np.uint64)
    top = (1 << bench.design.word_bits) - 1
    words[:4] = [0, 1, top - 1, top]
    for rpau in range(bench.design.rpaus):
        bench.coprocessor.write(AddressSpace.POLY, rpau, A, words)
    for k1, k2 in [(K1, K2), (2, 2), (1, 0)]:
        bench.execute(name, dst=DST, a=A, k1=k1, k2=k2)
        for rpau, prime in enumerate(bench.primes):
            factor, addend = (int(bench.constants[rpau][k]) for k in (k1, k2))
            assert bench.read(rpau) == [(int(a) * factor + addend) % prime for a in words]


def test_an_instruction_may_write_where_it_reads(bench: Bench, rng: np.random.Generator) -> None:
    contents = bench.fill(rng)
    bench.execute("mul", dst=A, a=A, b=A)
    bench.execute("dmac", dst=B, a=B, b=B)
    for rpau, prime in enumerate(bench.primes):
        assert bench.read(rpau, A) == [a * a % prime for a in contents[rpau, A]]
        assert bench.read(rpau, B) == [(b + b * b) % prime for b in contents[rpau, B]]


@pytest.mark.parametrize("name", ["ntt", "intt"])
@pytest.mark.parametrize(
    ("kind", "a"),
    [
        ("random", DST),
        ("zero", DST),
        ("one", DST),
        ("largest", DST),
        ("impulse", DST),
        ("random", A),
    ],
)
def test_ntt_equals_the_core(
    bench: Bench, name: str, kind: str, a: int, rng: np.random.Generator
) -> None:
    contents = bench.fill(rng)
    for rpau, prime in enumerate(bench.primes):
        if kind != "random":
            word = {"zero": 0, "one": 1, "largest": prime - 1, "impulse": 0}[kind]
            words = np.full(bench.design.n, word, dtype=np.uint64)
            if kind == "impulse":
                words[rng.integers(bench.design.n)] = prime - 1
            bench.coprocessor.write(AddressSpace.POLY, rpau, a, words)
            contents[rpau, a] = words.tolist()
    bench.execute(name, dst=DST, a=a)
    transform = _core.ntt_forward if name == "ntt" else _core.ntt_inverse
    for rpau, (prime, root) in enumerate(zip(bench.primes, bench.roots, strict=True)):
        words = np.array(contents[rpau, a], dtype=np.uint64)
        assert bench.read(rpau) == transform(words, prime, root).tolist()
        assert a == DST or bench.read(rpau, a) == contents[rpau, a]


def test_intt_undoes_ntt(bench: Bench, rng: np.random.Generator) -> None:
    contents = bench.fill(rng)
    bench.execute("ntt", dst=DST, a=DST)
    bench.execute("intt", dst=DST, a=DST)
    for rpau in range(bench.design.rpaus):
        assert bench.read(rpau) == contents[rpau, DST]


def reversed_bits(value: int, bits: int) -> int:
    """``value`` with its lowest ``bits`` bits in reverse order."""
    return int(f"{value:0{bits}b}"[::-1], 2)


@pytest.mark.parametrize("element", [1, 3, 5, 9, 127, 255, 257, 341, 509, 511])
def test_automorph_permutes_as_seal_does(
    bench: Bench, element: int, rng: np.random.Generator
) -> None:
    contents = bench.fill(rng)
    bench.execute("automorph", dst=DST, a=A, element=element)
    n, log_n = bench.design.n, bench.design.log_n
    source = [
        reversed_bits((element * reversed_bits(n + i, log_n + 1) >> 1) % n, log_n) for i in range(n)
    ]
    for rpau in range(bench.design.rpaus):
        assert bench.read(rpau) == [contents[rpau, A][i] for i in source]


@pytest.mark.parametrize("k", [(K1, K2), (1, 0)])
def test_broadcast_reaches_every_receiver_from_every_source(
    bench: Bench, k: tuple[int, int], rng: np.random.Generator
) -> None:
    k1, k2 = k
    for source in range(bench.design.rpaus):
        contents = bench.fill(rng)
        cycles = bench.execute("broadcast", dst=DST, a=A, src=source, src_prime=0, k1=k1, k2=k2)
        assert cycles == latency.broadcast_cycles(bench.design)
        prime = bench.primes[source]
        factor, addend = (int(bench.constants[source][i]) for i in k)
        sent = [(a * factor + addend) % prime for a in contents[source, A]]
        assert bench.read(source) == contents[source, DST]
        for rpau in set(range(bench.design.rpaus)) - {source}:
            prime = bench.primes[rpau]
            factor, addend = (int(bench.constants[rpau][i]) for i in k)
            assert bench.read(rpau) == [(word * factor + addend) % prime for word in sent]


def test_send_takes_words_to_every_receiver_from_every_source(
    bench: Bench, rng: np.random.Generator
) -> None:
    top = 1 << bench.design.word_bits
    for source in range(bench.design.rpaus):
        contents = bench.fill(rng)
        words = rng.integers(0, top, bench.design.n, dtype=np.uint64)
        words[:3] = [0, 1, top - 1]
        bench.coprocessor.write(AddressSpace.POLY, source, A, words)
        cycles = bench.execute("send", dst=DST, a=A, src=source)
        assert cycles == latency.send_cycles(bench.design)
        assert bench.read(source) == contents[source, DST]
        for rpau in set(range(bench.design.rpaus)) - {source}:
            assert bench.read(rpau) == words.tolist()
            assert bench.read(rpau, A) == contents[rpau, A]


def test_a_send_passes_by_who_is_not_in_its_mask(bench: Bench, rng: np.random.Generator) -> None:
    contents = bench.fill(rng)
    bench.execute("send", mask=0b101, dst=DST, a=A, src=0)
    assert bench.read(1) == contents[1, DST]
    assert bench.read(2) == contents[0, A]


def test_a_broadcast_passes_by_who_is_not_in_its_mask(
    bench: Bench, rng: np.random.Generator
) -> None:
    contents = bench.fill(rng)
    bench.execute("broadcast", mask=0b101, dst=DST, a=A, src=0, src_prime=0, k1=1, k2=0)
    assert bench.read(1) == contents[1, DST]
    assert bench.read(2) == [word % bench.primes[2] for word in contents[0, A]]


@pytest.mark.parametrize(
    "operation",
    # test_seeded.py and test_rings.py have the others.
    [each for each in ISA.operations if not each.seeded and not each.needs],
    ids=lambda operation: operation.name,
)
def test_latency_is_what_the_cost_function_says(
    bench: Bench, operation: object, rng: np.random.Generator
) -> None:
    name = str(getattr(operation, "name", ""))
    if name in ("nop", "halt"):
        pytest.skip("occupies no unit")
    bench.fill(rng)
    assert bench.execute(name, **operands_of(name, bench)) == latencies(bench.design)[name]


def test_only_the_rpaus_of_the_mask_take_part(bench: Bench, rng: np.random.Generator) -> None:
    contents = bench.fill(rng)
    bench.execute("add", mask=0b010, dst=DST, a=A, b=B)
    assert bench.read(0) == contents[0, DST]
    assert bench.read(2) == contents[2, DST]
    assert bench.read(1) != contents[1, DST]


def test_a_program_longer_than_allowed_is_stopped_and_the_device_goes_on(
    bench: Bench, rng: np.random.Generator
) -> None:
    contents = bench.fill(rng)
    program = [
        instruction("ntt", bench.everyone, dst=DST, a=DST),
        instruction("halt", bench.everyone),
    ]
    bench.coprocessor.load_program(np.array([encode(i) for i in program], dtype=np.uint64))
    with pytest.raises(DeviceError, match="not ended after 100 cycles"):
        bench.coprocessor.run(100)
    assert bench.read(0, A) == contents[0, A]
    assert bench.execute("add", dst=DST, a=A, b=B) == latency.pointwise_cycles(bench.design)


def test_the_device_refuses_what_it_does_not_hold(bench: Bench) -> None:
    words = np.zeros(bench.design.n, dtype=np.uint64)
    with pytest.raises(DeviceError, match="cannot be read"):
        bench.coprocessor.read(AddressSpace.KEY, 0, 0)
    with pytest.raises(DeviceError, match="no RPAU 3"):
        bench.coprocessor.write(AddressSpace.POLY, 3, 0, words)
    with pytest.raises(DeviceError, match="no index 8"):
        bench.coprocessor.read(AddressSpace.POLY, 0, 8)
    with pytest.raises(DeviceError, match="program"):
        bench.coprocessor.load_program(np.array([0], dtype=np.uint64))


def test_after_a_load_that_failed_no_program_is_loaded(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(function: str, *_: object) -> None:
        raise DeviceError(f"{function} stopped")

    halt = np.array([encode(instruction("halt", bench.everyone))], dtype=np.uint64)
    bench.coprocessor.load_program(halt)
    with monkeypatch.context() as patch:
        patch.setattr(bench.coprocessor, "_call", stop)
        with pytest.raises(DeviceError, match="load_program stopped"):
            bench.coprocessor.load_program(halt)
    with pytest.raises(DeviceError, match="no program is loaded"):
        bench.coprocessor.run(100)


def test_an_assertion_stops_a_program_that_breaks_the_hazard_rule(
    small_design: RpauDesign, rng: np.random.Generator
) -> None:
    bench = Bench(small_design, rng)
    bench.fill(rng)
    program = [
        instruction("dmul", bench.everyone, dst=DST, a=A, b=B),
        instruction("mul", bench.everyone, dst=DST, a=A, b=B),
        instruction("halt", bench.everyone),
    ]
    bench.coprocessor.load_program(np.array([encode(i) for i in program], dtype=np.uint64))
    with pytest.raises(DeviceError, match="the simulated RTL stopped"):
        bench.coprocessor.run(1_000_000)
