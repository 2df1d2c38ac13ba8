"""Automatic parameters for a design have primes that it takes: SEAL's, or the next ones."""

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import islice, product
from typing import Any

import pytest

from ringsmith import (
    AutoBfvParameters,
    AutoParameters,
    _core,
    compile_program,
    inner_product,
    polynomial,
    trace,
)
from ringsmith.design_files import named
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.params import ParameterLimits
from ringsmith.params.design_primes import DesignPrimes
from ringsmith.params.primes import MOST_CANDIDATES, primes_above, primes_below
from ringsmith.runtime.designs import limits_of

SEARCHED = [name for name in named() if not limits_of(name).primes]
"""Designs that are not made for a few primes."""


def ckks(limits: ParameterLimits, **options: Any) -> AutoParameters:  # noqa: ANN401 - of any wish
    return AutoParameters(design=limits.design, limits=limits, **options)


def test_primes_below_a_power_of_two_are_those_of_seals_search() -> None:
    for n, bits in product((1024, 8192, 65536), (20, 32, 45, 60)):
        found = list(islice(primes_below(n, bits), 4))
        assert found == _core.prime_search(bits, n, len(found))
        above = list(islice(primes_above(n, bits), 4))
        assert all(_core.is_prime(q) and q % (2 * n) == 1 for q in above)
        assert above == sorted(above)
        assert all(1 << bits < q < 1.25 * 2**bits for q in above)


def test_the_search_is_bounded() -> None:
    for search, first in ((primes_below, 2**60 - 2048), (primes_above, 2**60)):
        assert all(abs(q - first) <= 2048 * MOST_CANDIDATES for q in search(1024, 60))


def test_a_family_is_the_designs_primes_near_a_power_of_two() -> None:
    limits = limits_of("medha21-set1")  # a prime of 60 bits, and those of 54
    n = 1 << 14
    narrow, wide = limits.family(n, 53), limits.family(n, 59)
    assert len(wide) == 1
    assert narrow == tuple(sorted(narrow))
    assert {*narrow, *wide} == set(limits.primes)
    assert all(abs(q / 2.0**53 - 1) < 0.25 for q in narrow)
    assert limits.family(n, 40) == ()
    data, special = limits.ckks_primes(n, 5, 53, 58)
    assert data == (*wide, *narrow[:5])
    assert special == narrow[-1]


@pytest.mark.parametrize("design", SEARCHED)
def test_a_design_that_takes_seals_primes_gets_them(design: str) -> None:
    limits = limits_of(design)
    shape = ckks(limits, headroom_bits=1)
    free = AutoParameters(headroom_bits=1, max_prime_bits=limits.max_prime_bits)
    compared = 0
    for (n, carried), levels in product(shape.degrees(), range(6)):
        for scale in range(limits.min_prime_bits, shape.max_scale_bits + 1, 3):
            if scale < 20 or sum(shape.prime_bits(levels, scale)) > carried:
                continue
            try:
                seals = free.candidate(n, levels, scale)
            except ParameterError:  # there are too few of that size
                continue
            if not limits.error(seals):
                assert shape.candidate(n, levels, scale) == seals
                compared += 1
    assert compared or design in ("framework-512", "medha", "vector-1024", "vector-zu15eg")


@pytest.mark.parametrize("design", SEARCHED)
def test_a_design_that_takes_seals_primes_gets_them_in_bfv(design: str) -> None:
    limits = limits_of(design)
    shape = AutoBfvParameters(plain_bits=20, design=design, limits=limits)
    for n, carried in shape.degrees():
        for bits in range(20, shape.widest(carried), 7):
            sizes = shape.sizes(bits, carried)
            if sizes is None:
                continue
            try:
                seals = replace(shape, design=None, limits=None).candidate(n, bits, carried)
            except ParameterError:
                continue
            same = tuple(q.bit_length() for q in seals.primes) == (*sizes[0], sizes[1])
            if same and not limits.error(seals):
                assert shape.candidate(n, bits, carried).primes == seals.primes


@pytest.mark.parametrize(
    ("design", "scales"), [("framework-512", range(24, 30)), ("medha", range(44, 51, 2))]
)
def test_other_primes_are_the_next_ones_that_a_design_takes(design: str, scales: range) -> None:
    limits = limits_of(design)
    shape = ckks(limits, headroom_bits=1)
    found = 0
    for (n, carried), levels, scale in product(shape.degrees(), (1, 2, 4), scales):
        if sum(shape.prime_bits(levels, scale)) > carried:
            continue
        below = [q for q in primes_below(n, scale) if not limits.prime_error(q)][:levels]
        above = [q for q in primes_above(n, scale) if not limits.prime_error(q)]
        expected = sorted(below + above[: levels - len(below)])
        try:
            parameters = shape.candidate(n, levels, scale)
        except ParameterError:
            assert len(expected) < levels
            continue
        assert list(parameters.data_primes[1:]) == expected
        assert limits.error(parameters) == ""
        assert parameters.log_qp <= shape.bounds[n]
        q_0, special = parameters.data_primes[0], parameters.special_primes[0]
        assert scale + 3 <= q_0.bit_length() <= special.bit_length() <= limits.max_prime_bits
        found += 1
    assert found > 10


def test_too_few_primes_are_told_with_the_design_the_size_and_the_numbers() -> None:
    message = re.escape(
        "design medha takes too few primes near 2^48 at N = 32768, 2 of the 8 needed: another size "
        "or a smaller ring may have more"
    )
    with pytest.raises(ParameterError, match=message):
        ckks(limits_of("medha")).candidate(32768, 8, 48)
    with pytest.raises(ParameterError, match=r"too few primes of 46 bits at N = 8192, 0 of the 1 "):
        DesignPrimes(limits_of("medha"), 8192).of_sizes((46,))
    with pytest.raises(ParameterError, match="10 data and 1 special, and design medha holds 10"):
        ckks(limits_of("medha")).candidate(32768, 9, 48)


def test_the_first_prime_is_wider_where_a_design_has_none_of_its_size() -> None:
    shape = ckks(limits_of("medha"), headroom_bits=0)
    chosen = shape.candidate(8192, 1, 44)  # the first would have 46 bits
    assert [q.bit_length() for q in chosen.primes] == [47, 44, 51]


def test_the_special_prime_and_the_first_fit_the_other_primes() -> None:
    """A design that refuses sets in which the first and the special prime are both wide."""

    def together(primes: Any, special: int) -> str:  # noqa: ANN401 - a sequence of primes
        wide = sum(q.bit_length() > 50 for q in primes)
        return f"{wide} wide primes" if wide > 1 else ""

    limits = replace(limits_of("vector-small"), together=together)
    chosen = ckks(limits).candidate(8192, 2, 44)
    assert [q.bit_length() for q in chosen.primes] == [49, 44, 44, 54]
    chosen = ckks(limits).candidate(8192, 2, 45)
    assert [q.bit_length() for q in chosen.primes] == [50, 45, 45, 55]
    with pytest.raises(ParameterError, match="2 wide primes"):
        ckks(limits).candidate(8192, 2, 46)
    everywhere = replace(
        limits, together=lambda primes, _: "narrow" if primes[0].bit_length() < 53 else ""
    )
    chosen = ckks(everywhere).candidate(8192, 2, 44)
    assert chosen.primes[0].bit_length() == 53
    narrow = replace(
        limits, together=lambda primes, _: "wide" if primes[-1].bit_length() > 51 else ""
    )
    chosen = ckks(narrow).candidate(8192, 2, 44)
    assert [q.bit_length() for q in chosen.primes] == [49, 44, 44, 51]


def moved(x: Any) -> Any:  # noqa: ANN401 - an encrypted vector
    return x + (x * x).rotate(1) * [0.5, 0.25, 1, -1]


def score(x: Any) -> Any:  # noqa: ANN401 - an encrypted vector
    return polynomial(inner_product(x, [0.5, -1, 2, 0.25], 4), [0.5, 0.197, 0, -0.004])


@pytest.mark.parametrize(
    ("function", "wish", "n"),
    [
        (moved, AutoParameters(design="medha"), 8192),
        (score, AutoParameters(design="medha"), 16384),
        (lambda x: x**16, AutoParameters(design="medha", precision_bits=30), 16384),
        (moved, AutoParameters(design="framework-512", precision_bits=5, headroom_bits=1), 4096),
        (
            lambda x: x**16,
            AutoParameters(design="framework-512", precision_bits=10, headroom_bits=1),
            8192,
        ),
    ],
)
def test_parameters_are_found_in_a_small_ring(
    function: Callable[..., Any], wish: AutoParameters, n: int
) -> None:
    program = trace(function, wish, {"x": 4})
    assert program.parameters.n == n
    assert limits_of(wish.design).error(program.parameters) == ""
    assert program.forecast().bits >= wish.precision_bits


def test_such_a_program_compiles() -> None:
    wish = AutoParameters(design="framework-512", precision_bits=5, headroom_bits=1)
    assert compile_program(trace(moved, wish, {"x": 4}), "framework-512").compiled_graph.design
    program = trace(lambda x: x * x, AutoParameters(design="medha"), {"x": 4})
    assert compile_program(program, "medha").compiled_graph.design


def test_the_error_names_the_words_of_the_design() -> None:
    with pytest.raises(ProgramError, match=r"primes of 32 bear 2\^27: .* than framework-512"):
        trace(lambda x: x * x, AutoParameters(design="framework-512"), {"x": 4})


@pytest.mark.parametrize("design", ["framework-512", "medha", "vector-1024"])
@pytest.mark.parametrize("plain_bits", [17, 30, 45])
def test_bfv_takes_the_ring_that_a_design_of_any_primes_takes(design: str, plain_bits: int) -> None:
    """The same as of a design that takes any prime of that many bits; medha's are wider."""
    limits = limits_of(design)
    wish = AutoBfvParameters(plain_bits=plain_bits, design=design)
    program = trace(lambda x: x * [1, 3, 0, 2] + 1, wish, {"x": 4})
    assert limits.error(program.parameters) == ""
    free = AutoBfvParameters(plain_bits=plain_bits, max_prime_bits=limits.max_prime_bits)
    assert (
        program.parameters.n == trace(lambda x: x * [1, 3, 0, 2] + 1, free, {"x": 4}).parameters.n
    )


def test_bfv_primes_become_more_or_wider_for_a_design() -> None:
    limits = limits_of("medha")
    shape = AutoBfvParameters(plain_bits=17, design="medha", limits=limits)
    sizes, carried = {}, shape.bounds[16384]
    for bits in (45, 90, 180, 260, 300):
        found = shape.candidate(16384, bits, carried)
        assert limits.error(found) == ""
        assert sum(q.bit_length() for q in found.data_primes) >= bits
        sizes[bits] = [q.bit_length() for q in found.primes]
    assert sizes[180] == [60, 60, 60, 60]
    assert sizes[260] == [52] * 6  # five of 57 or more need five RPAUs of 60-bit words
    none = replace(shape, limits=replace(limits, reduction_error=lambda _: "no prime"))
    with pytest.raises(ParameterError, match="design medha takes too few primes of 60 bits"):
        none.candidate(16384, 180, carried)
