"""Digits of key switching and the size of keys: chosen, shown before there are keys, and held."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ringsmith.errors import ParameterError, ProgramError
from ringsmith.params import AutoBfvParameters, AutoParameters, CkksParameters
from ringsmith.params.digits import key_switching_transforms
from ringsmith.program import EncryptedVector, Program, trace
from ringsmith.runtime import compile_program, open_device
from ringsmith.schemes.grouping import SMALL_KEYS


def rotated(x: EncryptedVector) -> EncryptedVector:
    """A power of many rotations' sum: large keys."""
    total = x
    for steps in range(1, 40):
        total = total + x.rotate(steps)
    return (total * 0.025) ** 8


def bytes_of(program: Program) -> int:
    return program.key_needs.bytes(program.parameters)


def test_small_keys_have_digits_of_one_prime_as_seals_have() -> None:
    program = trace(lambda x: x**8 + x.rotate(1), "auto")
    parameters = program.parameters
    assert (parameters.digit_size, len(parameters.special_primes)) == (1, 1)
    assert "digits of one prime, as SEAL has them: 2 evaluation keys of" in program.choice


def test_large_keys_get_digits_of_several_primes() -> None:
    wish = AutoParameters()
    program = trace(lambda x: rotated(x) * rotated(x), wish, {"x": 1 << 12})
    parameters = program.parameters
    assert parameters.digit_size > 1
    assert parameters.security is not None
    single = wish.candidate(parameters.n, parameters.levels, round(math.log2(parameters.scale)))
    before = program.key_needs.bytes(single)
    assert before > SMALL_KEYS
    assert bytes_of(program) < before / 2
    assert program.forecast().bits >= 20
    largest = max(
        math.prod(parameters.primes[i] for i in digit)
        for digit in parameters.digits(parameters.limbs)
    )
    assert math.prod(parameters.special_primes) > 8 * largest
    assert f"{parameters.dnum} digits of up to {parameters.digit_size} primes" in program.choice


def test_a_program_with_grouped_digits_is_as_precise_as_forecast(
    rng: np.random.Generator, run_encrypted: Callable[..., Any]
) -> None:
    program = trace(lambda x: (x**4).rotate(1) + x, AutoParameters(keys=1_800_000), {"x": 2048})
    assert program.parameters.digit_size > 1
    x = rng.choice([-1.0, 1.0], 2048)
    found = run_encrypted(program, {"x": x}).decrypted()["result"]
    error = np.abs(found - program.simulate({"x": x})["result"]).max()
    assert error <= program.forecast().outputs["result"].error < 2.0**-20


def test_a_budget_of_key_bytes_is_kept_or_refused_with_the_figure() -> None:
    def function(x: EncryptedVector) -> EncryptedVector:
        return (x**4).rotate(1) + x.rotate(2)

    free = trace(function, AutoParameters(max_n=1 << 14))
    budget = int(0.85 * bytes_of(free))
    program = trace(function, AutoParameters(keys=budget, max_n=1 << 14))
    assert bytes_of(program) <= budget
    with pytest.raises(
        ProgramError, match=r"its 3 evaluation keys have [\d.]+ MB at least, and keys = 100000 all"
    ):
        trace(function, AutoParameters(keys=100_000, max_n=1 << 14))
    assert trace(lambda x: x + 1, AutoParameters(keys=0)).key_needs.count == 0
    for wrong in (-1, 2.5, "1 GB"):
        with pytest.raises(ParameterError, match=r"keys = .* (from 0|no number of its kind)"):
            AutoParameters(keys=wrong)  # type: ignore[arg-type]


def test_bfv_keys_are_grouped_and_limited_in_the_same_way(rng: np.random.Generator) -> None:
    def function(x: EncryptedVector) -> EncryptedVector:
        total = x
        for steps in range(1, 30):
            total = total + x.rotate(steps)
        return total**4

    wish = AutoBfvParameters(plain_bits=30, margin_bits=100, max_n=1 << 14)
    single = trace(function, replace(wish, max_prime_bits=60))
    budget = int(0.6 * bytes_of(single))
    program = trace(function, replace(wish, keys=budget))
    assert single.parameters.digit_size == 1
    assert program.parameters.digit_size > 1
    assert bytes_of(program) <= budget
    assert program.forecast().bits >= 100
    x = rng.integers(-3, 4, program.parameters.slots)
    secret, public, keys = program.generate_keys()
    run = compile_program(program).run(open_device("cpu"), program.encrypt(public, {"x": x}), keys)
    found = program.decrypt(secret, run.outputs)["result"]
    assert np.array_equal(found, program.evaluate({"x": x})["result"])
    with pytest.raises(ProgramError, match=r"30 evaluation keys have \d+ MB at least"):
        trace(function, replace(wish, keys=1 << 20))


def test_keys_are_described_before_there_are_any(small: CkksParameters) -> None:
    program = trace(lambda x: (x * x).rotate(1) + x.rotate(-3) + x.rotate(40).conjugate(), small)
    _, _, keys = program.generate_keys(seeded=False)
    assert keys.nbytes == bytes_of(program)
    (line,) = (line for line in program.explain().splitlines() if line.startswith("keys: "))
    assert line.startswith("keys: 5 (2.29 MB, or 1.15 MB with seeds): relinearization at up to 5 ")
    assert "relinearization at up to 5 limbs, 492 kB; conjugation" in line
    assert "rotation by -3, 40 at up to 5 limbs, 492 kB each; rotation by 1 at up to 4" in line
    assert line.endswith("limbs, 328 kB")
    assert "conjugation at up to" in line
    assert "\nkeys: none\n" in trace(lambda x: x + 1, small).explain()


def test_transforms_of_a_key_switching_are_counted() -> None:
    # One prime a digit: L back, L digits to L - 1 and the special one, and the two divisions.
    assert key_switching_transforms(4, 4, 1) == 4 + 4 * 4 + 2 * 5
    assert key_switching_transforms(4, 2, 2) == 4 + 2 * (2 + 2) + 2 * 6
