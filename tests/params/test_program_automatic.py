"""Parameters chosen automatically: secure, precise, small, and explained."""

import math
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ringsmith import AutoBfvParameters, bfv_parameters_for_depth, client, trace
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.params import AutoParameters, CkksParameters, KeyNeeds
from ringsmith.program import (
    CkksProgram,
    EncryptedArray,
    EncryptedVector,
    Forecast,
    InputSpec,
    bounded,
    chebyshev,
    inner_product,
    matvec,
    polynomial,
)
from ringsmith.runtime import compile_program
from ringsmith.runtime.evaluator import Evaluator

MATRIX = np.arange(1.0, 257).reshape(16, 16) / 4096
"""A small matrix without zeros."""


def logistic(x: EncryptedVector) -> EncryptedVector:
    """The demo's program in small: three levels."""
    return polynomial(inner_product(x, np.ones(32) / 32, 32) + 0.25, [0.5, 0.197, 0, -0.004])


@pytest.mark.parametrize(
    ("function", "wish"),
    [
        (lambda x: x + 1, AutoParameters()),
        (lambda x: x**2, AutoParameters(precision_bits=12)),
        (logistic, AutoParameters()),
        (logistic, AutoParameters(security=256, precision_bits=15)),
        (logistic, AutoParameters(standard="2018-post-quantum")),
        (lambda x, y: polynomial(x * y, np.ones(16) / 16), AutoParameters(precision_bits=30)),
        (lambda x: x**16, AutoParameters(precision_bits=10, headroom_bits=1)),
        (lambda x: matvec(MATRIX, x), AutoParameters()),
        (lambda x: matvec(MATRIX, x), AutoParameters(precision_bits=25)),
        (lambda x: x + 1, AutoParameters(precision_bits=38)),  # near to double precision
        (lambda x: x.rotate(1) + x, AutoParameters(precision_bits=22, max_prime_bits=50)),
    ],
)
def test_chosen_parameters_hold_what_was_asked_and_no_smaller_ring_would(
    function: Callable[..., Any], wish: AutoParameters
) -> None:
    program = trace(function, wish)
    parameters = program.parameters
    assert parameters.log_qp <= wish.bounds[parameters.n]
    assert program.forecast(wish.input_bound).bits >= wish.precision_bits
    assert f"N = {parameters.n}" in program.choice
    assert program.choice in program.explain()
    smaller = parameters.n // 2
    if smaller in wish.bounds:
        narrow = replace(wish, input_bound=1, max_n=smaller)
        with pytest.raises(ProgramError, match="no parameters fit"):
            trace(function, narrow)
    bits = round(np.log2(parameters.scale))
    assert not holds(function, wish, parameters.n, parameters.levels, bits - 1)
    if parameters.levels:
        assert not holds(function, wish, parameters.n, parameters.levels - 1, bits)


def holds(
    function: Callable[..., Any], wish: AutoParameters, n: int, levels: int, scale_bits: int
) -> bool:
    """Whether a program can be planned, and precisely enough, with such parameters."""
    try:
        parameters = wish.candidate(n, levels, scale_bits)
        program = trace(function, parameters, headroom_bits=wish.headroom_bits)
    except (ProgramError, ParameterError):
        return False
    return program.forecast(wish.input_bound).bits >= wish.precision_bits


def test_a_program_with_chosen_parameters_runs_as_precisely_as_forecast(
    rng: np.random.Generator, run_encrypted: Callable[..., Any]
) -> None:
    program = trace(logistic, "auto", {"x": 1024})
    x = rng.uniform(-1, 1, 1024)
    found = run_encrypted(program, {"x": x}).decrypted()["result"]
    assert np.abs(found - program.simulate({"x": x})["result"]).max() < 2.0**-20
    assert np.abs(found[:1024] - program.evaluate({"x": x})["result"]).max() < 2.0**-20


def test_the_ring_is_as_large_as_the_vectors_need() -> None:
    program = trace(lambda x: x + 1, "auto", {"x": 5000})
    assert program.parameters.n == 16384
    assert "5000" in program.choice


def test_a_program_says_the_level_of_its_parameters_and_the_standard() -> None:
    def said(parameters: Any) -> list[str]:  # noqa: ANN401 - what trace takes
        return trace(lambda x: x * x, parameters).explain().splitlines()

    assert "security: 192 bits (2018 standard, 2024 guidelines)" in said("auto")
    assert (
        "security: 128 bits (2018 standard); below 128 by the 2024 guidelines: at most 214 bits "
        "of modulus at N = 8192"
    ) in said("nano")
    choice = trace(lambda x: x * x, AutoParameters(standard="2018", security=192)).choice
    assert "192-bit security by the 2018 standard" in choice


def test_headroom_is_taken_from_the_call_or_the_wish() -> None:
    def first_bits(parameters: CkksParameters) -> float:
        return float(np.log2(parameters.data_primes[0] / parameters.scale))

    assert first_bits(trace(lambda x: x**2, "auto").parameters) == pytest.approx(5, abs=0.1)
    wish = AutoParameters(headroom_bits=6)
    assert first_bits(trace(lambda x: x**2, wish).parameters) == pytest.approx(8, abs=0.1)
    program = trace(lambda x: x**2, wish, headroom_bits=1)
    assert first_bits(program.parameters) == pytest.approx(3, abs=0.1)


def test_primes_are_no_wider_than_a_designs_words() -> None:
    program = trace(logistic, AutoParameters(precision_bits=15, max_prime_bits=48), {"x": 4096})
    assert max(program.parameters.primes).bit_length() <= 48
    assert program.parameters.n == 8192
    executable = compile_program(program, "nano").compiled_graph.executable
    assert executable is not None
    with pytest.raises(ProgramError, match="primes of 48 bear"):
        trace(logistic, AutoParameters(precision_bits=35, max_prime_bits=48))


def test_what_no_parameters_hold_is_refused_in_words() -> None:
    with pytest.raises(ProgramError, match=r"no parameters fit; N = 4096 .* 207 bits .* 106"):
        trace(lambda x: x**16, AutoParameters(max_n=4096))
    with pytest.raises(ProgramError, match=r"2\^55 forecasts 3\d\.\d bits.*precision_bits = 50"):
        trace(lambda x: x * x, AutoParameters(precision_bits=50, max_n=8192))


def test_a_program_that_is_too_deep_is_refused_in_one_sentence() -> None:
    def deep(x: EncryptedVector) -> EncryptedVector:
        for _ in range(84):
            x = bounded(x * (x - 0.1), 1)
        return x

    with pytest.raises(ProgramError) as caught:
        trace(deep, "auto")
    message = str(caught.value)
    assert message.count("N = ") == 1
    assert re.search(r"too deep: 84 levels, and at most \d\d fit: at the scale 2\^\d\d", message)
    assert message.endswith("split the program, or ask for AutoParameters(bootstrapping=True)")
    with pytest.raises(ProgramError, match=r"4 levels, and at most 0 fit.*: raise max_n, multiply"):
        trace(lambda x: x**16, AutoParameters(max_n=4096))


def test_less_headroom_is_not_advised_where_more_is_needed() -> None:
    with pytest.raises(ProgramError) as caught:
        trace(lambda x: x * 1e12, "auto")
    assert "tighter bounds" in str(caught.value)
    assert "less headroom" not in str(caught.value)


def test_the_message_names_the_best_scale() -> None:
    with pytest.raises(ProgramError, match=r"2\^55 forecasts 3[6-9]\.\d bits of precision, 42"):
        trace(lambda x: chebyshev(x, np.sin, 7), AutoParameters(precision_bits=42, max_n=1 << 14))


@pytest.mark.parametrize(
    ("precision", "scales"),
    [
        (3, [27, 21, 22]),  # 21 is too few; one bit a step would be seven forecasts
        (6, [27, 26]),  # 26 is too few
        (8, [27]),  # of key switching's error, with a special prime of 40 bits, too much stays
    ],
)
def test_scales_are_stepped_to_by_what_makes_the_error(
    precision: float, scales: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[int] = []
    forecast = CkksProgram.forecast

    def counted(program: CkksProgram, *args: Any, **options: Any) -> Forecast:  # noqa: ANN401
        tried.append(round(math.log2(program.parameters.scale)))
        return forecast(program, *args, **options)

    monkeypatch.setattr(CkksProgram, "forecast", counted)
    wish = AutoParameters(precision_bits=precision, max_prime_bits=40, headroom_bits=10, max_n=4096)
    with suppress(ProgramError):
        trace(lambda x: inner_product(x, np.ones(512), 512), wish, {"x": 512})
    assert tried == scales


def test_other_packings_are_tried_only_where_the_levels_may_fit() -> None:
    lengths: list[int] = []
    matrix = np.arange(1.0, 129).reshape(16, 8) / 1024

    def deep(x: EncryptedArray) -> EncryptedArray:
        lengths.append(x.trace.space.slots)
        return (matrix @ x) ** 64

    program = trace(deep, AutoParameters(precision_bits=10), {"x": (8, 12)})
    times = Counter(lengths)
    assert times[program.parameters.slots] > 1
    assert times[min(times)] == 1


def test_errors_of_the_program_itself_come_through() -> None:
    with pytest.raises(ProgramError, match="division by zero"):
        trace(lambda x: x / 0, "auto")
    with pytest.raises(ProgramError, match="exceeds the 32768 slots"):
        trace(lambda x: x + np.ones(40000), "auto")
    with pytest.raises(ProgramError, match="no parameter set is called 'best'"):
        trace(lambda x: x, "best")
    with pytest.raises(ProgramError, match="limbs = 9"):
        trace(lambda x: x, AutoParameters(max_n=1 << 13), {"x": InputSpec(limbs=9)})


@pytest.mark.parametrize(
    ("literal", "message"),
    [
        ({"security": 100}, "security = 100 is not a level"),
        ({"standard": "2020"}, "standard = '2020' is no security standard: choose one of '2018'"),
        ({"precision_bits": 0}, "precision_bits = 0 is outside 1 … 60"),
        ({"headroom_bits": -1}, "headroom_bits = -1 is not a whole number"),
        ({"headroom_bits": 2.5}, "headroom_bits = 2.5 is not a whole number"),
        ({"input_bound": 0}, "input_bound = 0 must be positive"),
        ({"precision_bits": "20"}, "precision_bits = '20' is no number"),
        ({"max_prime_bits": 48.5}, "max_prime_bits = 48.5 is no number of its kind"),
        ({"max_prime_bits": 24}, "max_prime_bits = 24 is outside 25 … 60"),
        ({"max_prime_bits": 61}, "max_prime_bits = 61 is outside 25 … 60"),
        ({"max_n": 512}, "max_n = 512 is outside"),
    ],
)
def test_illegal_wishes_are_refused(literal: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        AutoParameters(**literal)


# ---- BFV parameters chosen: for a depth alone, and why none could be -----------------------------


# ---- for a depth ---------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "wish",
    [
        AutoBfvParameters(plain_bits=20),
        AutoBfvParameters(plain_modulus=65537, margin_bits=12, security=192),
        AutoBfvParameters(plain_bits=17, max_prime_bits=30, multiplication="hps"),
    ],
)
def test_parameters_for_a_depth_hold_every_shape_of_products(
    depth: int, wish: AutoBfvParameters
) -> None:
    parameters = bfv_parameters_for_depth(depth, wish)
    assert parameters.batching
    assert parameters.log_qp <= wish.bounds[parameters.n]
    assert parameters.multiplication == wish.multiplication

    def chain(x: Any, y: Any) -> Any:  # noqa: ANN401 - encrypted vectors
        for _ in range(depth):
            x = x * y
        return x

    def tree(**leaves: Any) -> Any:  # noqa: ANN401 - encrypted vectors
        row = list(leaves.values())
        while len(row) > 1:
            row = [a * b for a, b in zip(row[::2], row[1::2], strict=True)]
        return row[0]

    names = [f"x{i}" for i in range(2**depth)]
    assert trace(chain, parameters).forecast().bits >= wish.margin_bits
    assert trace(tree, parameters, names).forecast().bits >= wish.margin_bits
    assert trace(lambda x: x ** (2**depth), parameters).forecast().bits >= wish.margin_bits


def test_no_smaller_ring_would_do_for_a_depth() -> None:
    wish = AutoBfvParameters(plain_bits=20)
    degrees = [bfv_parameters_for_depth(depth, wish).n for depth in range(1, 7)]
    assert degrees == sorted(degrees)
    assert degrees[0] < degrees[-1]
    deep = bfv_parameters_for_depth(6, wish)
    with pytest.raises(ProgramError, match=f"no parameters fit; N = {deep.n // 2} does not do"):
        bfv_parameters_for_depth(6, AutoBfvParameters(plain_bits=20, max_n=deep.n // 2))


def test_ciphertexts_of_the_depth_decrypt(rng: np.random.Generator) -> None:
    depth = 3
    parameters = bfv_parameters_for_depth(depth, AutoBfvParameters(plain_bits=20))
    secret, public, keys = client.generate_keys(parameters, KeyNeeds(parameters.limbs))
    t = parameters.plain_modulus
    expected = rng.integers(0, t, parameters.n)
    cipher = client.encrypt_vector(parameters, public, expected)
    evaluator = Evaluator(parameters, keys)
    for _ in range(depth):
        cipher = evaluator.run("relinearize", evaluator.run("square", cipher))
        expected = expected * expected % t
    assert client.noise_budget(parameters, secret, cipher) >= 1
    assert np.array_equal(client.decrypt_vector(parameters, secret, cipher) % t, expected)


@pytest.mark.parametrize("depth", [0, -1, True, 2.0, "3", 10**6])
def test_a_depth_that_is_none_is_refused(depth: Any) -> None:  # noqa: ANN401 - any literal
    with pytest.raises(ParameterError, match="is not a whole number in 1 … "):
        bfv_parameters_for_depth(depth, AutoBfvParameters(plain_bits=20))


def test_a_depth_that_nothing_holds_is_told() -> None:
    with pytest.raises(ProgramError, match="after this square the forecast lacks") as caught:
        bfv_parameters_for_depth(90, AutoBfvParameters(plain_bits=20))
    assert str(caught.value).startswith(f"{__file__}:")


# ---- why no parameters fit -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("t", "message"),
    [
        (1, "plain_modulus = 1 is not a whole number in 2 … 2^60 - 1"),
        (1 << 60, "is not a whole number in 2 … 2^60 - 1"),
        (65536, "plain_modulus = 65536 batches for no ring degree: slots need a prime"),
        (2**12 + 1, "plain_modulus = 4097 batches for no ring degree"),  # 17 * 241, 1 mod 2048
        (
            257,
            "257 batches for no ring degree: slots need a prime that is 1 mod 2N, and so 1 mod 2",
        ),
    ],
)
def test_a_t_that_never_batches_is_refused_when_it_is_asked_for(t: int, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        AutoBfvParameters(plain_modulus=t)
    assert message in str(caught.value)


def powers(exponent: int) -> Callable[[Any], Any]:
    return lambda x: x**exponent


def test_the_obstacle_told_is_the_widest_modulus_not_the_narrowest() -> None:
    """Of a q of 2 bits the error would be that no prime has so few: true, and not the reason."""
    with pytest.raises(ProgramError) as caught:
        trace(powers(2), AutoBfvParameters(plain_bits=40, max_n=2048))
    assert "plain_modulus = 1099511590913 is not below q, which has 26 bits" in str(caught.value)
    with pytest.raises(ProgramError) as caught:
        trace(powers(2), AutoBfvParameters(plain_bits=12, max_n=2048))
    assert "plain_bits = 12 is not a number of bits in 13 … 60" in str(caught.value)


def test_only_degrees_that_t_batches_for_are_told_of() -> None:
    wish = AutoBfvParameters(plain_modulus=12289)  # 1 mod 4096, not mod 8192
    assert [n for n, _ in wish.degrees()] == [1024, 2048]
    with pytest.raises(ProgramError) as caught:
        trace(powers(8), wish)
    assert "N = 2048 does not do: " in str(caught.value)
    assert "out of noise budget" in str(caught.value)
    assert "take plain_bits for a t that batches for larger N, as 12289 does not" in str(
        caught.value
    )


def test_a_ring_too_small_for_two_primes_is_named() -> None:
    with pytest.raises(ProgramError, match="it carries 26 bits of modulus at 128-bit security by"):
        trace(powers(2), AutoBfvParameters(plain_bits=12, max_n=1024))
