"""Hybrid key switching with any dnum and k, held against integers that share no code with it."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from ringsmith import _core
from ringsmith._core import secret
from ringsmith.errors import ProgramError
from ringsmith.graph import SubroutineGraph
from ringsmith.lower import lower_operation
from ringsmith.objects import Residues
from ringsmith.params import CkksParameters, core_context

Integers = list[int]


def negacyclic_product(a: Integers, b: Integers) -> Integers:
    """The product in Z[x]/(x^N + 1) by one of Python integers (Kronecker substitution)."""
    n = len(a)
    top = 2 * n * max(map(abs, a)) * max(map(abs, b)) + 1
    width = top.bit_length() // 8 + 1
    offset = int.from_bytes((1 << 8 * width - 1).to_bytes(width, "little") * (2 * n), "little")
    packed = []
    for values in (a, b):
        low = min(values)
        raised = b"".join((value - low).to_bytes(width, "little") for value in values)
        ones = int.from_bytes((1).to_bytes(width, "little") * n, "little")
        packed.append(int.from_bytes(raised, "little") + low * ones)
    data = (packed[0] * packed[1] + offset).to_bytes(2 * n * width + 1, "little")
    half = 1 << 8 * width - 1
    full = [
        int.from_bytes(data[i * width : (i + 1) * width], "little") - half for i in range(2 * n)
    ]
    return [full[i] - full[n + i] for i in range(n)]


def test_the_reference_product_is_right_on_schoolbook(rng: np.random.Generator) -> None:
    a, b = (rng.integers(-1000, 1000, 8).tolist() for _ in range(2))
    expected = [0] * 8
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            expected[(i + j) % 8] += x * y if i + j < 8 else -x * y
    assert negacyclic_product(a, b) == expected


def combine(limbs: Residues, primes: list[int]) -> Integers:
    """The centred integers behind coefficient-form limbs, by the Chinese remainder theorem."""
    total = math.prod(primes)
    values = np.zeros(limbs.shape[1], dtype=object)
    for limb, q in zip(limbs, primes, strict=True):
        rest = total // q
        values += limb.astype(object) * (rest * pow(rest, -1, q) % total)
    values %= total
    return [int(v) - total if v > total // 2 else int(v) for v in values]


def centred(values: Integers, modulus: int) -> Integers:
    """The residues of smallest magnitude."""
    halves = (v % modulus for v in values)
    return [v - modulus if v > modulus // 2 else v for v in halves]


@dataclass
class Case:
    """One parameter set with a secret and its relinearization key."""

    parameters: CkksParameters
    context: _core.Context
    key: Residues
    relin: Residues
    small: Integers

    def integers(self, polynomial: Residues) -> Integers:
        """The centred integers of an NTT-form polynomial over data primes."""
        primes = self.parameters.primes[: len(polynomial)]
        limbs = [
            _core.ntt_inverse(limb, q, root)
            for limb, q, root in zip(polynomial, primes, self.parameters.roots, strict=False)
        ]
        return combine(np.stack(limbs), list(primes))

    def under_secret(self, ciphertext: Residues, modulus: int) -> Integers:
        """c_0 + c_1 s + ..., modulo the given modulus, in plain integers."""
        *rest, total = (self.integers(polynomial) for polynomial in ciphertext)
        for polynomial in reversed(rest):
            product = negacyclic_product(total, self.small)
            total = centred([a + b for a, b in zip(product, polynomial, strict=True)], modulus)
        return total

    def random(self, rng: np.random.Generator, size: int, limbs: int) -> Residues:
        """Uniform residues (size, limbs, N)."""
        primes = self.parameters.primes[:limbs]
        stack = [rng.integers(0, q, (size, self.parameters.n), dtype=np.uint64) for q in primes]
        return np.ascontiguousarray(np.stack(stack, axis=1))


@cache
def make_case(
    log_n: int, limbs: int, digits: int | tuple[int, ...], special: int, special_bits: int = 41
) -> Case:
    """40-bit data primes, so that special primes as many as a digit has outweigh the digit."""
    parameters = CkksParameters.create(
        n=1 << log_n,
        prime_bits=(40,) * limbs,
        special_bits=(special_bits,) * special,
        scale_bits=40,
        security=None,
        **{"dnum": digits} if isinstance(digits, int) else {"digit_sizes": digits},
    )
    context = core_context(parameters)
    key = secret.generate_secret_key(context)
    relin = secret.generate_key_switch_key(context, key, None)
    q, root = parameters.primes[0], parameters.roots[0]
    small = combine(_core.ntt_inverse(key[0], q, root)[None], [q])
    assert set(small) == {-1, 0, 1}
    return Case(parameters, context, key, relin, small)


def full(*values: object) -> object:
    """A case for the full run only."""
    return pytest.param(*values, marks=pytest.mark.full)


CASES = [
    (10, 6, 6, 1),
    (10, 6, 6, 2),  # one prime a digit, two special primes
    (10, 6, 3, 2),
    (10, 6, 2, 3),
    (10, 6, 1, 6),
    (10, 5, 2, 3),  # digits of three and two primes
    (10, 5, 3, 1),  # P smaller than a digit: a large error, within its large bound
    (10, 6, (1, 3, 2), 3),  # digits of other sizes
    (10, 6, (4, 2), 4),
    (11, 4, 2, 2),
    full(12, 9, 3, 3),
    full(14, 9, (2, 4, 3), 4),
    full(13, 8, 2, 4),
    full(14, 8, 4, 2),
    full(15, 6, 3, 2),
    full(16, 4, 2, 2),
    full(16, 6, 2, 3),
]
SHAPES = pytest.mark.parametrize(("log_n", "limbs", "digits", "special"), CASES)


def levels(case: Case) -> list[int]:
    """Top, a cut digit, and two limbs; at large degrees the top only."""
    top = case.parameters.limbs
    return [top] if case.parameters.n > 4096 else sorted({top, top - 1, 2})


@SHAPES
def test_relinearization_is_right_within_its_bound(
    log_n: int,
    limbs: int,
    digits: int | tuple[int, ...],
    special: int,
    rng: np.random.Generator,
) -> None:
    case = make_case(log_n, limbs, digits, special)
    count = digits if isinstance(digits, int) else len(digits)
    assert case.relin.shape == (count, 2, limbs + special, case.parameters.n)
    for level in levels(case):
        modulus = math.prod(case.parameters.primes[:level])
        x = case.random(rng, 3, level)
        before = case.under_secret(x, modulus)
        after = case.under_secret(_core.relinearize(case.context, x, case.relin), modulus)
        error = centred([a - b for a, b in zip(after, before, strict=True)], modulus)
        largest, bound = max(map(abs, error)), case.parameters.key_switch_error_bound(level)
        assert 0 < largest <= bound < modulus / 4, (level, math.log2(largest), math.log2(bound))


@SHAPES
def test_relinearization_and_rescale_fused_are_right_within_their_bound(
    log_n: int,
    limbs: int,
    digits: int | tuple[int, ...],
    special: int,
    rng: np.random.Generator,
) -> None:
    case = make_case(log_n, limbs, digits, special)
    for level in levels(case):
        modulus = math.prod(case.parameters.primes[:level])
        last = case.parameters.primes[level - 1]
        x = case.random(rng, 3, level)
        before = case.under_secret(x, modulus)
        result = _core.relinearize_rescale(case.context, x, case.relin)
        assert result.shape == (2, level - 1, case.parameters.n)
        after = case.under_secret(result, modulus // last)
        error = centred([last * a - b for a, b in zip(after, before, strict=True)], modulus)
        bound = case.parameters.key_switch_error_bound(level, fused=True)
        assert 0 < max(map(abs, error)) <= bound * last < modulus / 4


@pytest.mark.parametrize(("dnum", "special"), [(6, 1), (3, 2), (2, 3), (1, 6)])
def test_rotation_and_conjugation_decrypt_right(
    dnum: int, special: int, rng: np.random.Generator
) -> None:
    case = make_case(10, 6, dnum, special)
    context, key, n = case.context, case.key, case.parameters.n
    values = rng.uniform(-1, 1, n // 2) + 1j * rng.uniform(-1, 1, n // 2)
    public = secret.generate_public_key(context, key)
    for limbs in (6, 3):
        plain = _core.CkksEncoder(context).encode(values, 2.0**40, limbs)
        cipher = _core.encrypt(context, public, plain)
        for element, expected in (
            (_core.galois_element(n, 5), np.roll(values, -5)),
            (2 * n - 1, values.conj()),
        ):
            galois = secret.generate_key_switch_key(context, key, element)
            moved = _core.apply_galois(context, cipher, element, galois)
            result = _core.CkksEncoder(context).decode(secret.decrypt(context, key, moved), 2.0**40)
            assert np.abs(result - expected).max() < 2.0**-20


@pytest.mark.parametrize("operation", ["relinearize", "rotate", "relinearize_rescale"])
@pytest.mark.parametrize(
    ("digits", "special"),
    [(6, 1), (6, 2), (3, 2), (2, 3), (1, 6), (3, 1), ((1, 3, 2), 3), ((2, 1, 1, 2), 1)],
)
def test_operations_in_subroutines_equal_the_evaluator(
    operation: str, digits: int | tuple[int, ...], special: int, rng: np.random.Generator
) -> None:
    case = make_case(10, 6, digits, special)
    for limbs in (2, 5, 6):
        graph = lower_operation(operation, case.parameters, limbs, steps=3)
        x = case.random(rng, 2 if operation == "rotate" else 3, limbs)
        if operation == "rotate":
            element = case.parameters.galois_element(3)
            expected = _core.apply_galois(case.context, x, element, case.relin)
        else:
            expected = getattr(_core, operation)(case.context, x, case.relin)
        (name,) = graph.keys
        outputs = graph.to_core().run({f"x.{i}": p for i, p in enumerate(x)}, {name: case.relin})
        assert np.array_equal(np.stack([outputs["z.0"], outputs["z.1"]]), expected)


# ---- every bit of the conversions --------------------------------------------------------------


def run_node(
    case: Case, words: Residues, base: list[int], op: str, attrs: dict[str, object]
) -> Residues:
    """One node in coefficient form on the interpreter."""
    graph = SubroutineGraph.for_parameters(case.parameters)
    node = graph.add_node("input", (), {"name": "x", "base": base, "form": "coeff"})
    graph.output(graph.add_node(op, (node,), attrs), "z")
    return graph.to_core().run({"x": words}, {})["z"]


def edges_and_random(case: Case, rng: np.random.Generator, base: list[int]) -> Residues:
    """Random coefficients over a base, with 0, 1 and q - 1 first."""
    primes = [case.parameters.primes[i] for i in base]
    words = np.stack([rng.integers(0, q, case.parameters.n, dtype=np.uint64) for q in primes])
    words[:, 0], words[:, 1], words[:, 2] = 0, 1, [q - 1 for q in primes]
    return words


@pytest.mark.parametrize("digit", [[0, 1], [2, 3], [1], [0, 1, 2, 3]])
def test_fast_base_conversion_is_the_stated_sum(digit: list[int], rng: np.random.Generator) -> None:
    case = make_case(10, 6, 3, 2)
    primes, base = case.parameters.primes, list(range(8))
    words = edges_and_random(case, rng, [0, 1, 2, 3])
    attrs = {"digit": digit, "base": base, "variant": "fast_base_conv"}
    result = run_node(case, words, [0, 1, 2, 3], "mod_up", attrs)
    product = math.prod(primes[i] for i in digit)
    lifted = np.zeros(case.parameters.n, dtype=object)
    for i in digit:
        rest = product // primes[i]
        lifted += words[i].astype(object) * pow(rest, -1, primes[i]) % primes[i] * rest
    assert lifted.max() < len(digit) * product
    for j in base:
        assert np.array_equal(result[j], (lifted % primes[j]).astype(np.uint64))


@pytest.mark.parametrize("drop", [[6, 7], [5, 6, 7], [0, 3], [7]])
def test_division_by_several_primes_is_the_stated_sum_and_errs_by_half_of_them(
    drop: list[int], rng: np.random.Generator
) -> None:
    case = make_case(10, 6, 3, 2)
    primes, base = case.parameters.primes, list(range(8))
    words = edges_and_random(case, rng, base)
    attrs = {"drop": drop, "variant": "centred_base_conv"}
    result = run_node(case, words, base, "mod_down", attrs)
    divisor = math.prod(primes[i] for i in drop)
    removed = np.zeros(case.parameters.n, dtype=object)
    for i in drop:
        rest = divisor // primes[i]
        residue = words[i].astype(object) * pow(rest, -1, primes[i]) % primes[i]
        removed += np.where(residue > primes[i] // 2, residue - primes[i], residue) * rest
    assert 2 * np.abs(removed).max() <= len(drop) * divisor
    kept = [i for i in base if i not in drop]
    for position, j in enumerate(kept):
        expected = (words[j].astype(object) - removed) * pow(divisor, -1, primes[j]) % primes[j]
        assert np.array_equal(result[position], expected.astype(np.uint64))
    values = combine(words, list(primes))
    quotients = combine(result, [primes[i] for i in kept])
    error = centred(
        [divisor * y - x for x, y in zip(values, quotients, strict=True)], math.prod(primes)
    )
    assert 2 * max(map(abs, error)) <= len(drop) * divisor


def test_one_prime_gives_the_bits_of_the_one_prime_variants(rng: np.random.Generator) -> None:
    case = make_case(10, 6, 3, 2)
    words = edges_and_random(case, rng, list(range(8)))
    for op, attrs, names in (
        ("mod_up", {"digit": [2], "base": list(range(8))}, ("rns_digit", "fast_base_conv")),
        ("mod_down", {"drop": [7]}, ("rounded", "centred_base_conv")),
    ):
        one, other = (
            run_node(case, words, list(range(8)), op, {**attrs, "variant": name}) for name in names
        )
        assert np.array_equal(one, other)


def test_scaled_mod_up_is_exact(rng: np.random.Generator) -> None:
    case = make_case(10, 6, 3, 2)
    primes = case.parameters.primes
    words = edges_and_random(case, rng, [0, 1, 2])
    attrs = {"digit": [0, 1, 2], "base": [0, 1, 2, 6, 7], "variant": "scaled"}
    result = run_node(case, words, [0, 1, 2], "mod_up", attrs)
    factor = primes[6] * primes[7]
    values = combine(words, list(primes[:3]))
    raised = combine(result, [primes[i] for i in (0, 1, 2, 6, 7)])
    assert raised == [factor * value for value in values]


# ---- what is refused ---------------------------------------------------------------------------


def test_a_key_of_another_shape_is_refused(rng: np.random.Generator) -> None:
    whole, halves = make_case(10, 6, 6, 2), make_case(10, 6, 3, 2)
    for case, other in ((whole, halves), (halves, whole)):
        for limbs in (6, 2):
            x = case.random(rng, 3, limbs)
            dnum = case.parameters.dnum
            with pytest.raises(_core.ParameterError, match=f"the parameters have dnum = {dnum}"):
                _core.relinearize(case.context, x, other.relin)
    x = halves.random(rng, 3, 6)
    fewer = make_case(10, 6, 3, 1)
    with pytest.raises(_core.ParameterError, match=r"expected is \(digits, 2, 8, 1024\)"):
        _core.relinearize(halves.context, x, fewer.relin)


@pytest.mark.parametrize(
    ("special", "dnum", "words"),
    [
        (8, 0, "8 special primes of 8 primes"),
        (2, 4, "dnum = 4 does not cut 6 data primes: digits of 2 make 3 digits"),
        (2, 7, "dnum = 7 does not cut 6 data primes"),
    ],
)
def test_a_context_that_cannot_be_cut_is_refused(special: int, dnum: int, words: str) -> None:
    primes = list(make_case(10, 6, 3, 2).parameters.primes)
    with pytest.raises(_core.ParameterError, match=words):
        _core.Context(1024, primes, special, dnum)


@pytest.mark.parametrize(
    ("op", "attrs", "words"),
    [
        ("mod_up", {"digit": [0, 1], "base": [0, 1], "variant": "rns_digit"}, "not one prime"),
        ("mod_up", {"digit": [0, 5], "base": [0, 5], "variant": "fast_base_conv"}, "not primes"),
        ("mod_up", {"digit": [0, 1], "base": [0, 7], "variant": "fast_base_conv"}, "in the base"),
        ("mod_up", {"digit": [0, 1], "base": [0, 1, 7], "variant": "scaled"}, "all limbs"),
        ("mod_up", {"digit": [0], "base": [0], "variant": "hps"}, "not one of rns_digit"),
        ("mod_down", {"drop": [0, 1], "variant": "rounded"}, "must be one prime"),
        ("mod_down", {"drop": [0, 1, 2], "variant": "centred_base_conv"}, "leave another"),
        ("mod_down", {"drop": [7], "variant": "centred_base_conv"}, "must be primes of"),
    ],
)
def test_a_wrong_conversion_is_refused_in_words(
    op: str, attrs: dict[str, object], words: str
) -> None:
    case = make_case(10, 6, 3, 2)
    graph = SubroutineGraph.for_parameters(case.parameters)
    node = graph.add_node("input", (), {"name": "x", "base": [0, 1, 2], "form": "coeff"})
    with pytest.raises(ProgramError, match=words):
        graph.add_node(op, (node,), attrs)
