"""BFV's operations on vector designs: the interpreter's results, and what is refused."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.backends.vector.test_programs import (
    RADIX_4,
    RADIX_16,
    WIDE,
    check_results,
    check_schedule,
)

from ringsmith import BfvParameters, _core
from ringsmith.backends.vector.backend import BACKEND
from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.compiler.quotients import Quotient, digit_bits, quotient
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.errors import ProgramError
from ringsmith.graph.operations import operations
from ringsmith.hdl import base_conversion
from ringsmith.lower import lower_operation
from ringsmith.params import parameter_set

WIDE_16 = replace(WIDE, name="wide-16", log_radix=4)
TWO = replace(WIDE_16, name="two", clusters=2, banks=3, ports=1)
MIDDLE = replace(RADIX_4, name="middle", word_bits=45)
DESIGNS = [RADIX_4, WIDE, WIDE_16, TWO, MIDDLE]
OPERATIONS = [
    "add", "sub_plain", "multiply", "multiply_plain", "square", "mod_switch", "rotate",
    "swap_columns", "relinearize", "multiply_relinearize",
]  # fmt: skip


def parameters(
    design: VectorDesign,
    limbs: int,
    n: int = 1 << 10,
    **others: Any,  # noqa: ANN401 - of BfvParameters, or `special` and `bits`
) -> BfvParameters:
    """Parameters whose primes a design takes, the widest where their ``bits`` are not given."""
    special = others.pop("special", 1)
    primes = _core.prime_search(others.pop("bits", design.word_bits), design.n, limbs + special)
    return BfvParameters.from_primes(
        n=n,
        data_primes=primes[:limbs],
        special_prime=primes[limbs:],
        security=None,
        **{"plain_modulus": 40961, "multiplication": "hps", **others},
    )


def check(of: BfvParameters, operation: str, design: VectorDesign) -> None:
    executable = compile_graph(lower_operation(operation, of, of.limbs), design)
    check_results(executable)
    check_schedule(executable)


def test_all_operations_are_tried() -> None:
    assert {*operations("bfv")} <= {*OPERATIONS, "sub", "negate", "add_plain", "input", "output"}


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_operations_are_the_interpreters(design: VectorDesign, operation: str) -> None:
    check(parameters(design, 3), operation, design)


@pytest.mark.parametrize(
    ("limbs", "others"),
    [
        (2, {"n": 1 << 12, "bits": 54}),
        (6, {"n": 1 << 12, "bits": 30, "plain_modulus": 2}),
        (5, {"special": 2, "dnum": 3, "bits": 36}),
        (4, {"special": 0, "relinearization": "residue", "dnum": 2}),
        (3, {"special": 0, "relinearization": "residue", "plain_modulus": (1 << 40) - 87}),
    ],
    ids=str,
)
@pytest.mark.parametrize("operation", ["multiply_relinearize", "rotate"])
def test_parameter_sets_are_the_interpreters(
    limbs: int, others: dict[str, Any], operation: str
) -> None:
    check(parameters(WIDE, limbs, **others), operation, WIDE)


@pytest.mark.parametrize(
    ("limbs", "special"), [(2, 1), (3, 2), pytest.param(5, 1, marks=pytest.mark.full)]
)
def test_larger_rings_are_the_interpreters(limbs: int, special: int) -> None:
    design = BACKEND.load_design("vector-small")
    of = parameters(design, limbs, n=1 << 13, bits=54, special=special)
    check(of, "multiply_relinearize", design)


def test_a_quotient_over_many_digits_is_the_interpreters() -> None:
    """Words of 22 bits: five digits, and several steps for most."""
    narrow = replace(RADIX_4, name="narrow", word_bits=22)
    check(parameters(narrow, 4, plain_modulus=17), "multiply", narrow)


# ---- quotients ---------------------------------------------------------------------------------


def divided(plan: Quotient, words: list[int], word_bits: int) -> int:
    """What the steps make of words, in Python's integers; no carry may exceed a word."""
    odd, items, rest = (1 << word_bits) - 1, [*words], 0
    for step in plan.steps:
        total = step.first + sum(items[i] * factor for i, factor in step.terms)
        total += rest * step.after_rest
        rest = total % (1 << step.bits)
        carry = (total - rest) * pow(1 << step.bits, -1, odd) % odd
        assert carry == total >> step.bits
        items.append(carry)
    return sum(items[part] for part in plan.parts)


@pytest.mark.parametrize(
    ("word_bits", "bits", "limbs"),
    [(60, 30, 6), (60, 60, 6), (60, 54, 5), (36, 30, 6), (30, 30, 7), (20, 20, 5)],
)
def test_quotients_are_exact(
    rng: np.random.Generator, word_bits: int, bits: int, limbs: int
) -> None:
    primes = _core.prime_search(bits, 256, 2 * limbs)
    q, p = primes[:limbs], primes[limbs:]
    for own in (base_conversion.lift(q, p), base_conversion.divide(q, p, 65537)):
        plan = quotient([each - 1 for each in q], own.fractions, word_bits)
        for number in range(200):
            edges = [[0, 1, each - 1, int(rng.integers(each))] for each in q]
            words = [each - 1 for each in q] if not number else [
                int(rng.choice(np.array(some, dtype=object))) for some in edges
            ]  # fmt: skip
            exact = sum(x * t for x, t in zip(words, own.fractions, strict=True))
            assert divided(plan, words, word_bits) == (exact + (1 << 88)) >> 89


def test_digits_are_powers_of_two_that_barrett_takes() -> None:
    for width in range(11, 61):
        digits = digit_bits(width)
        assert sum(digits) == base_conversion.FRACTION_BITS
        assert all(width / 2 <= bits < width for bits in digits)


# ---- what is refused ---------------------------------------------------------------------------


def test_what_is_left_is_refused_by_name() -> None:
    behz = parameters(WIDE, 3, bits=54, multiplication="behz")
    with pytest.raises(ProgramError, match="no lift of variant behz, whose primes of 61 bits"):
        compile_graph(lower_operation("multiply", behz, 3), WIDE)
    words = parameters(WIDE, 3, special=0, relinearization="word", word_bits=60)
    with pytest.raises(ProgramError, match="no digits in words: take keys with a special"):
        compile_graph(lower_operation("rotate", words, 3), WIDE)
    of = parameters(RADIX_16, 3)
    with pytest.raises(ProgramError, match="montgomery reduction cannot do; take a design with"):
        compile_graph(lower_operation("multiply", of, 3), RADIX_16)


@pytest.mark.parametrize("operation", ["rotate", "relinearize", "multiply_plain", "mod_switch"])
def test_montgomery_does_what_has_no_quotient(operation: str) -> None:
    check(parameters(RADIX_16, 3, plain_modulus=257), operation, RADIX_16)


def test_limits_say_what_is_compiled() -> None:
    barrett, montgomery = (BACKEND.limits(design) for design in (WIDE, RADIX_16))
    assert (barrett.bfv_multiplications, montgomery.bfv_multiplications) == (("hps",), ())
    assert barrett.bfv_rotations
    assert montgomery.bfv_rotations
    residue = parameters(WIDE, 4, special=0, relinearization="residue", dnum=2)
    assert barrett.error(residue, products=True) == ""
    words = parameters(WIDE, 3, special=0, relinearization="word", word_bits=60)
    assert "takes keys with a special prime or in residue digits" in barrett.error(words)
    narrow = parameters(RADIX_16, 4, special=0, relinearization="residue", dnum=2)
    assert montgomery.error(narrow).endswith("takes keys with a special prime")


def test_heaws_own_set_takes_so_many_cycles() -> None:
    """The numbers of ``docs/reference/vector.md``."""
    graph = lower_operation("multiply_relinearize", parameter_set("heaws"), 6)
    executable = compile_graph(graph, BACKEND.load_design("vector-small"))
    check_results(executable)
    page = (Path(__file__).parents[3] / "docs" / "reference" / "vector.md").read_text()
    assert f"takes {executable.cycles:,} cycles" in " ".join(page.split())
