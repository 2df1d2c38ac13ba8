"""BFV parameters chosen: for a depth alone, and why none could be."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ringsmith import AutoBfvParameters, bfv_parameters_for_depth, client, trace
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.params import KeyNeeds
from ringsmith.runtime.evaluator import Evaluator

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
