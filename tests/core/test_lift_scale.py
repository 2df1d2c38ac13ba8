"""The graph's Lift, Scale and both kinds of exact digits, held against Python's integers."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import log2, prod
from typing import TYPE_CHECKING

import numpy as np
import pytest
import seal

from ringsmith import _core, interop
from ringsmith._core import bfv, secret
from ringsmith.objects import Ciphertext, Residues
from ringsmith.params import (
    BfvParameters,
    bfv_context,
    core_context,
    parameter_set,
)

N = 256
FRACTION_BITS = 89
Integers = list[int]


def distinct_primes(*sizes: int) -> list[int]:
    """A prime for each size, all distinct."""
    primes: list[int] = []
    for bits in sizes:
        primes.append(next(q for q in _core.prime_search(bits, N, 20) if q not in primes))
    return primes


def integers(limbs: Residues, primes: list[int]) -> Integers:
    """The integers in [0, Q) behind coefficients, by the Chinese remainder theorem."""
    total = prod(primes)
    units = [total // q * pow(total // q, -1, q) for q in primes]
    rows = [limb.tolist() for limb in limbs]
    return [
        sum(x * u for x, u in zip(column, units, strict=True)) % total
        for column in zip(*rows, strict=True)
    ]


def residues(values: Integers, primes: list[int]) -> Residues:
    """Limbs of integers."""
    return np.array([[value % q for value in values] for q in primes], dtype=np.uint64)


def run_node(
    op: str, primes: list[int], base: list[int], given: Residues, /, **attrs: object
) -> Residues:
    """What one node makes of an operand over `base` in coefficient form."""
    graph = _core.Graph(N, primes, [_core.smallest_root(q, N) for q in primes])
    node = graph.add_node("input", [], {"name": "a", "base": base, "form": "coeff"})
    graph.add_node("output", [graph.add_node(op, [node], attrs)], {"name": "b"})
    return graph.run({"a": given}, {})["b"]


@dataclass(frozen=True)
class Bases:
    """Primes of q and of the extension."""

    q: list[int]
    p: list[int]

    @property
    def primes(self) -> list[int]:
        """Those of q, then the extension."""
        return self.q + self.p

    @property
    def small(self) -> list[int]:
        """Indices of q's."""
        return list(range(len(self.q)))

    @property
    def large(self) -> list[int]:
        """Indices of all."""
        return list(range(len(self.primes)))


SIZES = {
    "HEAWS": ((30,) * 6, (30,) * 7),
    "SEAL": ((60, 60, 59), (61,) * 4),
    "mixed": ((21, 60, 40), (61, 55, 30, 48)),
    "one": ((50,), (61, 61)),
    "many": ((30,) * 20, (31,) * 20),
}


@pytest.fixture(params=SIZES, ids=str)
def bases(request: pytest.FixtureRequest) -> Bases:
    """Primes of several sizes and numbers."""
    q, p = SIZES[request.param]
    primes = distinct_primes(*q, *p)
    return Bases(primes[: len(q)], primes[len(q) :])


def nearest(numerator: int, denominator: int) -> int:
    """The quotient of a number and an odd one, rounded."""
    return (numerator + denominator // 2) // denominator


def hps_lift(values: Integers, q: list[int]) -> Integers:
    """The integer that HPS extends for every residue (docs/reference/arithmetic.md)."""
    total = prod(q)
    lifted = []
    for value in values:
        y = [value * pow(total // prime, -1, prime) % prime for prime in q]
        fractions = sum(a * nearest(1 << FRACTION_BITS, b) for a, b in zip(y, q, strict=True))
        v = (fractions + (1 << FRACTION_BITS - 1)) >> FRACTION_BITS
        lifted.append(sum(a * (total // b) for a, b in zip(y, q, strict=True)) - v * total)
    return lifted


def edges(rng: np.random.Generator, total: int, count: int = N) -> Integers:
    """Random integers in [0, total), with those where rounding decides among them."""
    values = [int.from_bytes(rng.bytes(200), "little") % total for _ in range(count - 8)]
    half = total // 2
    return [0, 1, total - 1, half, half + 1, half - 1, total // 4, total // 3, *values]


def test_lift_by_hps_is_the_centred_integer(bases: Bases, rng: np.random.Generator) -> None:
    total = prod(bases.q)
    values = edges(rng, total)
    expected = hps_lift(values, bases.q)
    for value, lifted in zip(values, expected, strict=True):
        assert lifted % total == value
        assert abs(2 * lifted) <= total + total // 2**20
    given = residues(values, bases.q)
    mine = run_node("lift", bases.primes, bases.small, given, base=bases.large, variant="hps")
    assert np.array_equal(mine, residues(expected, bases.primes))


@pytest.mark.parametrize("positions", [(0,), (1, 2), (0, 1, 2, 3)], ids=str)
def test_a_centred_digit_is_one_integer_modulo_all_primes(
    bases: Bases, positions: tuple[int, ...], rng: np.random.Generator
) -> None:
    """Also at its own primes, in the middle of the base, and where it is all of the base."""
    digit = [i for i in positions if i < len(bases.primes)]
    own = [bases.primes[i] for i in digit]
    values = edges(rng, prod(bases.primes))
    expected = hps_lift([value % prod(own) for value in values], own)
    for value, lifted in zip(values, expected, strict=True):
        assert (value - lifted) % prod(own) == 0
        assert abs(2 * lifted) <= prod(own) * (1 + 2**-20)
    given = residues(values, bases.primes)
    for base in (bases.large, digit, bases.large[::-1]):
        mine = run_node(
            "mod_up",
            bases.primes,
            bases.large,
            given,
            digit=digit,
            base=base,
            variant="centred_digit",
        )
        assert np.array_equal(mine, residues(expected, [bases.primes[i] for i in base]))


def hps_divide(values: Integers, bases: Bases, t: int) -> Integers:
    """Each integer over Q times t / q, rounded, modulo p (docs/reference/arithmetic.md)."""
    q, p = prod(bases.q), prod(bases.p)
    scaled = []
    for value in values:
        numerators = [t * pow(q // prime, -1, prime) % prime for prime in bases.q]
        fractions = sum(
            value % prime * nearest((u << FRACTION_BITS), prime)
            for u, prime in zip(numerators, bases.q, strict=True)
        )
        v = (fractions + (1 << FRACTION_BITS - 1)) >> FRACTION_BITS
        whole = sum(
            value % prime * u * pow(prime, -1, p)
            for u, prime in zip(numerators, bases.q, strict=True)
        )
        scaled.append((t * value * pow(q, -1, p) - whole + v) % p)
    return scaled


@pytest.mark.parametrize("t", [2, 65537, (1 << 40) + 15])
def test_scale_by_hps_rounds_t_over_q_times_the_integer(
    bases: Bases, t: int, rng: np.random.Generator
) -> None:
    q, p = prod(bases.q), prod(bases.p)
    bound = q * p // (2 * t + 2)  # so that the result fits the extension
    values = [value - bound for value in edges(rng, 2 * bound)]
    mod_q = run_node(
        "scale",
        bases.primes,
        bases.large,
        residues(values, bases.primes),
        base=bases.small,
        plain_modulus=t,
        variant="hps",
    )
    assert np.array_equal(mod_q, residues(hps_lift(hps_divide(values, bases, t), bases.p), bases.q))
    wrong = 0
    for value, result in zip(values, integers(mod_q, bases.q), strict=True):
        difference = (result - nearest(t * value, q)) % q
        assert difference in {0, 1, q - 1}
        wrong += difference != 0
    assert wrong <= 2  # one of N is near enough to a tie, at most, but by chance


def fast_conversion(values: Integers, q: list[int]) -> Integers:
    """The integers value + u * q that fast base conversion stands for."""
    total = prod(q)
    return [
        sum(value * pow(total // prime, -1, prime) % prime * (total // prime) for prime in q)
        for value in values
    ]


def test_lift_by_behz_is_seals(bases: Bases, rng: np.random.Generator) -> None:
    q = prod(bases.q)
    values = edges(rng, q)
    expected = []
    for value, c in zip(values, fast_conversion([v << 32 for v in values], bases.q), strict=True):
        r = -c * pow(q, -1, 1 << 32) % (1 << 32)
        r -= (1 << 32) * (r >= 1 << 31)
        assert (c + q * r) % (1 << 32) == 0
        expected.append((c + q * r) >> 32)
        assert expected[-1] % q == value
        assert abs(expected[-1]) <= q // 2 + q * len(bases.q) // 2**31 + 1
    given = residues(values, bases.q)
    mine = run_node("lift", bases.primes, bases.small, given, base=bases.large, variant="behz")
    assert np.array_equal(mine[: len(bases.q)], given)
    assert np.array_equal(mine[len(bases.q) :], residues(expected, bases.p))


@pytest.mark.parametrize("t", [2, 65537])
def test_scale_by_behz_is_seals(bases: Bases, t: int, rng: np.random.Generator) -> None:
    q, m_sk, base_b = prod(bases.q), bases.p[0], bases.p[1:]
    total_b = prod(base_b)
    bound = q * total_b // (2 * t + 2)
    values = [value - bound for value in edges(rng, 2 * bound)]
    expected = []
    for value, c in zip(values, fast_conversion([t * v for v in values], bases.q), strict=True):
        assert (t * value - c) % q == 0
        w = (t * value - c) // q
        (e,) = fast_conversion([w], base_b)
        alpha = (e - w) * pow(total_b, -1, m_sk) % m_sk
        alpha -= m_sk * (alpha > m_sk // 2)
        expected.append(e - alpha * total_b)
        assert expected[-1] == w  # Shenoy and Kumaresan's conversion is exact
        assert 0 <= t * value // q - w < len(bases.q)
    mine = run_node(
        "scale",
        bases.primes,
        bases.large,
        residues(values, bases.primes),
        base=bases.small,
        plain_modulus=t,
        variant="behz",
    )
    assert np.array_equal(mine, residues(expected, bases.q))


@pytest.mark.parametrize("word_bits", [1, 13, 60, 64, 90, 128, 4000])
def test_decompose_slices_the_integer(
    bases: Bases, word_bits: int, rng: np.random.Generator
) -> None:
    total = prod(bases.q)
    values = edges(rng, total)
    given = residues(values, bases.q)
    count = -(-total.bit_length() // word_bits)
    for digit in {0, count // 2, count - 1}:
        mine = run_node(
            "decompose",
            bases.primes,
            bases.small,
            given,
            digit=digit,
            word_bits=word_bits,
            base=bases.large,
        )
        words = [value >> word_bits * digit & (1 << word_bits) - 1 for value in values]
        assert np.array_equal(mine, residues(words, bases.primes))
    with pytest.raises(_core.GraphError, match=f"digit {count} of {word_bits} bits"):
        run_node(
            "decompose",
            bases.primes,
            bases.small,
            given,
            digit=count,
            word_bits=word_bits,
            base=bases.small,
        )


# HPS multiplication compared with Microsoft SEAL's: equal plaintexts, one bit less of budget


if TYPE_CHECKING:
    from tests.core.conftest import BfvCase, BfvOracle

CASES: dict[str, tuple["BfvCase", int, int]] = {
    "2^10": ((10, (30, 30, 31), 2), 30, 2800),
    "2^11": ((11, (30, 30, 30, 31), 17 * 241), 30, 2300),
    "2^12 HEAWS": ((12, (*(30,) * 6, 31), 2), 30, 1500),
    "2^12 wide t": ((12, (*(30,) * 6, 31), "batching 30"), 30, 1000),
    "2^12 60-bit primes": ((12, (60, 60, 60, 59), "batching 40"), 60, 1000),
    "2^13": ((13, (60, 60, 60, 59), "batching 20"), 61, 600),
    "2^13 mixed": ((13, (54, 44, 30, 60, 59), 1 << 25), 50, 400),
    "2^14": ((14, (60, *(45,) * 5, 60), "batching 20"), 60, 200),
    "2^15": ((15, (60, *(50,) * 12, 60), "batching 33"), 60, 200),
}
"""SEAL's case, the size of the extension primes, and how many products the full run makes."""

assert sum(count for _, _, count in CASES.values()) == 10_000

QUICK_CASES = tuple(CASES)[:-2]
"""Those up to N = 2^13."""


@dataclass
class Comparison:
    """What SEAL and HPS make of one parameter set."""

    oracle: "BfvOracle"
    context: _core.BfvContext

    @classmethod
    def of(cls, oracle: "BfvOracle", bits: int) -> "Comparison":
        """With the fewest extension primes of a size that the bound allows."""
        n, taken = oracle.n, {*oracle.primes, oracle.t}
        found = [q for q in _core.prime_search(bits, n, 30) if q not in taken]
        context = _core.BfvContext(oracle.core, oracle.t, found)
        needed = len(context.extension_base(context.max_limbs, "hps"))
        return cls(oracle, _core.BfvContext(oracle.core, oracle.t, found[:needed]))

    def encryption(self, rng: np.random.Generator, budget: float) -> Residues:
        """An encryption of a random message whose noise leaves about so much budget, or less."""
        oracle = self.oracle
        cipher = secret.bfv_encrypt_symmetric(oracle.bfv, oracle.secret_key, oracle.message(rng))
        primes = oracle.primes[:-1]
        bits = int(sum(map(log2, primes)) - log2(oracle.t) - 2 - budget)
        if bits > 5:
            narrow = min(bits, 30)
            noise = rng.integers(-(1 << narrow), 1 << narrow, oracle.n).astype(object)
            limbs = [noise * pow(2, bits - narrow, p) % p for p in primes]
            added = np.zeros_like(cipher)
            added[0] = np.stack(limbs).astype(np.uint64)
            cipher = _core.add(oracle.core, cipher, added)
        return cipher

    def budgets(self, rng: np.random.Generator, budget: float) -> tuple[int, int]:
        """Budgets of SEAL's and of HPS's product; where SEAL has some, plaintexts are the same."""
        oracle, context = self.oracle, self.context
        x, y = self.encryption(rng, budget), self.encryption(rng, budget)
        a, b = (
            oracle.load(
                seal.Ciphertext(), interop.write_ciphertext(Ciphertext(words), oracle.parameters)
            )
            for words in (x, y)
        )
        theirs = oracle.evaluator.multiply(a, b)
        mine = bfv.multiply(context, x, y, "hps")
        expected = oracle.decryptor.invariant_noise_budget(theirs)
        found = secret.bfv_noise_budget(context, oracle.secret_key, mine)
        if expected > 0:
            plain = oracle.words(oracle.decryptor.decrypt(theirs))
            assert np.array_equal(secret.bfv_decrypt(context, oracle.secret_key, mine), plain)
        return expected, found

    def spread(self, rng: np.random.Generator, count: int) -> list[tuple[int, int]]:
        """Products of fresh encryptions down to ones without budget, more of those near the end."""
        q_bits = sum(log2(q) for q in self.oracle.primes[:-1])
        most = q_bits - 2 * log2(self.oracle.t) - 3
        least = log2(self.oracle.t) + log2(self.oracle.n) / 2
        targets = least + np.linspace(0, 1, count) ** 3 * max(most - least, 4)
        return [self.budgets(rng, float(target)) for target in targets]


def check(pairs: list[tuple[int, int]]) -> None:
    """HPS keeps SEAL's budget less one bit; and the pairs reach from next to no budget upwards."""
    expected, found = np.array(pairs).T
    print(
        f"{len(pairs)} products, SEAL's budget {expected.min()} ... {expected.max()}, "
        f"HPS's less SEAL's {(found - expected).min()} ... {(found - expected).max()}, "
        f"{int((expected <= 3).sum())} with at most 3 bits left"
    )
    assert (found >= expected - 1).all()


@pytest.mark.parametrize("case", QUICK_CASES)
def test_products_by_hps_are_seals_less_at_most_a_bit_of_budget(
    case: str, make_bfv_oracle: "Callable[[BfvCase], BfvOracle]", rng: np.random.Generator
) -> None:
    parameters, bits, _ = CASES[case]
    pairs = Comparison.of(make_bfv_oracle(parameters), bits).spread(rng, 6)
    check(pairs)
    assert min(expected for expected, _ in pairs) <= 4


@pytest.mark.full
@pytest.mark.parametrize("case", CASES)
def test_ten_thousand_products_by_hps_are_seals_less_at_most_a_bit_of_budget(
    case: str, make_bfv_oracle: "Callable[[BfvCase], BfvOracle]", rng: np.random.Generator
) -> None:
    parameters, bits, count = CASES[case]
    comparison = Comparison.of(make_bfv_oracle(parameters), bits)
    check([pair for _ in range(count // 100) for pair in comparison.spread(rng, 100)])


def test_products_of_three_polynomials_by_hps_decrypt_as_seals(
    make_bfv_oracle: "Callable[[BfvCase], BfvOracle]", rng: np.random.Generator
) -> None:
    parameters, bits, _ = CASES["2^12 60-bit primes"]
    oracle = make_bfv_oracle((11, *parameters[1:]))
    context = _core.BfvContext(
        oracle.core,
        oracle.t,
        [q for q in _core.prime_search(bits, 2048, 9) if q not in oracle.primes],
    )
    a, b = oracle.ciphertext(rng), oracle.ciphertext(rng)
    x, y = oracle.words(a), oracle.words(b)
    mine = bfv.multiply(context, bfv.multiply(context, x, y, "hps"), x, "hps")
    theirs = oracle.evaluator.multiply(oracle.evaluator.multiply(a, b), a)
    assert mine.shape == (4, 3, 2048)
    plain = secret.bfv_decrypt(context, oracle.secret_key, mine)
    assert np.array_equal(plain, oracle.words(oracle.decryptor.decrypt(theirs)))
    budget = oracle.decryptor.invariant_noise_budget(theirs)
    assert secret.bfv_noise_budget(context, oracle.secret_key, mine) >= budget - 1 > 0


def heaws(relinearization: str, plain_modulus: int = 2) -> BfvParameters:
    """HEAWS's set, with another plain modulus, its keys in two words or two residue digits."""
    parameters = parameter_set("heaws")
    assert isinstance(parameters, BfvParameters)
    if relinearization == "residue":
        parameters = replace(parameters, relinearization="residue", word_bits=0, dnum=2)
    parameters = replace(parameters, plain_modulus=plain_modulus, extension_primes=())
    assert parameters.key_digits == 2
    return parameters


def new_relin_key(parameters: BfvParameters, key: Residues) -> Residues:
    """A relinearization key of the set's kind."""
    core = core_context(parameters)
    if parameters.word_bits:
        return secret.generate_key_switch_key(core, key, None, word_bits=parameters.word_bits)
    return secret.generate_key_switch_key(core, key, None)


def test_two_residue_digits_add_no_more_noise_than_two_words(rng: np.random.Generator) -> None:
    """A product of uniform messages, relinearized, at HEAWS's size."""
    budgets = {}
    for kind in ("word", "residue"):
        parameters = heaws(kind, 40961)
        core, context = core_context(parameters), bfv_context(parameters)
        key = secret.generate_secret_key(core)
        message = rng.integers(0, 40961, parameters.n, dtype=np.uint64)
        plain = bfv.encode(context, message)
        cipher = bfv.encrypt(context, secret.generate_public_key(core, key), plain)
        product = bfv.multiply(context, cipher, cipher, "hps")
        relin = new_relin_key(parameters, key)
        switched = bfv.relinearize(context, product, relin, parameters.word_bits)
        slots = bfv.decode(context, secret.bfv_decrypt(context, key, switched))
        assert np.array_equal(slots, message * message % 40961)
        budgets[kind] = secret.bfv_noise_budget(context, key, switched)
        left = parameters.log_qp - 1 - log2(parameters.key_switch_error_bound(6)) - log2(40961)
        assert budgets[kind] >= left - 1
    assert budgets["residue"] >= budgets["word"] > 50


@pytest.mark.parametrize("kind", ["word", "residue"])
def test_the_parameters_of_heaws_reach_their_depth_of_four(
    kind: str, rng: np.random.Generator
) -> None:
    """HEAWS, section 2.4: 180 bits of q, deviation 102, t = 2, two digits, HPS products."""
    parameters = heaws(kind)
    core, context = core_context(parameters), bfv_context(parameters)
    assert (core.error_deviation, context.plain_modulus) == (102.0, 2)
    n, word_bits = parameters.n, parameters.word_bits
    key = secret.generate_secret_key(core)
    public = secret.generate_public_key(core, key)
    relin = new_relin_key(parameters, key)

    def product(a: Residues, b: Residues) -> Residues:
        full = np.convolve(a.astype(np.int64), b.astype(np.int64))
        full[: n - 1] -= full[n:]
        return (full[:n] % 2).astype(np.uint64)

    def times(a: Residues, b: Residues) -> Residues:
        return bfv.relinearize(context, bfv.multiply(context, a, b, "hps"), relin, word_bits)

    messages = [rng.integers(0, 2, n, dtype=np.uint64) for _ in range(2)]
    ciphers = [bfv.encrypt(context, public, message) for message in messages]
    for _ in range(4):
        messages = [product(messages[0], messages[1]), product(messages[0], messages[0])]
        ciphers = [times(ciphers[0], ciphers[1]), times(ciphers[0], ciphers[0])]
    for message, cipher in zip(messages, ciphers, strict=True):
        assert np.array_equal(secret.bfv_decrypt(context, key, cipher), message)
        assert secret.bfv_noise_budget(context, key, cipher) >= 20
