"""NumPy's numbers where Python's are taken: parameters, requirements, programs, clients."""

import json
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

from ringsmith import (
    AutoBfvParameters,
    AutoParameters,
    InputSpec,
    bfv_parameters_for_depth,
    chebyshev,
    client,
    compare,
    exp,
    inner_product,
    matmul,
    matvec,
    pack_matrix,
    polynomial,
    sum_rotations,
    sum_slots,
    tanh,
    trace,
)
from ringsmith.errors import ParameterError
from ringsmith.files.records import Encoder
from ringsmith.lower import lower_operation
from ringsmith.params import (
    BfvParameters,
    CkksParameters,
    KeyNeeds,
    RlweParameters,
    parameter_set,
    security_level,
    sparse_primes,
)

INT, FLOAT = np.int64, np.float64
KINDS = (np.int32, np.int64, np.uint16, np.uint64)


def is_plain(value: object) -> bool:
    """Whether a value has no number of NumPy in it."""
    if isinstance(value, tuple):
        return all(map(is_plain, value))
    return type(value) in (int, float, str, bool, type(None))


@pytest.mark.parametrize("kind", KINDS)
def test_parameters_of_numpy_s_numbers_equal_those_of_python_s(kind: Callable[[int], Any]) -> None:
    def ckks(number: Callable[[int], Any], sizes: Any) -> list[RlweParameters]:  # noqa: ANN401
        made = CkksParameters.create(
            n=number(8192), prime_bits=sizes, special_bits=number(48), scale_bits=number(41)
        )
        primes = {"data_primes": made.data_primes, "special_primes": made.special_primes}
        return [
            made,
            CkksParameters.create(
                n=number(4096),
                prime_bits=sizes,
                special_bits=[number(30), number(30)],
                scale_bits=number(27),
                security=None,
                dnum=number(2),
                declared_security=number(100),
            ),
            CkksParameters(number(8192), scale=made.scale, dnum=number(0), **primes),
            BfvParameters.create(
                n=number(4096), prime_bits=[number(36)] * 2, special_bits=37, plain_bits=number(17)
            ),
            BfvParameters.create(
                n=number(4096), prime_bits=(36, 36), special_bits=37, plain_modulus=number(40961)
            ),
        ]

    python = ckks(int, (47, 41, 41, 41))
    for sizes in (np.array([47, 41, 41, 41], kind), [kind(47), kind(41), kind(41), kind(41)]):
        for numpy, plain in zip(ckks(kind, sizes), python, strict=True):
            assert numpy == plain
            assert numpy.parameters_id == plain.parameters_id
            assert all(is_plain(getattr(numpy, field.name)) for field in fields(numpy))
            assert json.dumps(Encoder().encode(numpy, type(numpy), "parameters"))


def test_given_primes_may_be_an_array() -> None:
    nano = parameter_set("nano")
    again = CkksParameters.from_primes(
        n=INT(nano.n),
        data_primes=np.array(nano.data_primes),
        special_prime=INT(nano.special_primes[0]),
        scale=FLOAT(nano.scale),
        name="nano",
    )
    assert again == nano


EXACT = BfvParameters.create(n=4096, prime_bits=(36, 36), special_bits=37, plain_bits=17)

CALLS: dict[str, Callable[[Callable[[Any], Any], Callable[[Any], Any]], object]] = {
    "automatic": lambda i, f: AutoParameters(
        security=i(128), max_n=i(8192), precision_bits=f(20), headroom_bits=i(3), input_bound=f(1)
    ),
    "automatic BFV": lambda i, f: AutoBfvParameters(plain_bits=i(20), margin_bits=i(2)),
    "for a depth": lambda i, f: bfv_parameters_for_depth(i(2), AutoBfvParameters(plain_bits=i(17))),
    "sparse primes": lambda i, f: sparse_primes(i(54), i(2)),
    "security": lambda i, f: security_level(i(8192), i(200)),
    "an operation": lambda i, f: len(lower_operation("add", parameter_set("nano"), i(2)).nodes),
    "needs": lambda i, f: [
        key.data.shape
        for key in client.generate_keys(parameter_set("pico"), KeyNeeds(i(1), {i(3): i(1)}))[
            2
        ].galois.values()
    ],
    "a key's shape": lambda i, f: parameter_set("pico").key_shape(i(1)),
    "fixed point": lambda i, f: client.FixedPoint(i(12)),
    "encoding": lambda i, f: client.encode(
        parameter_set("pico"), [f(1)], scale=f(2.0**20), limbs=i(1)
    ).data.tolist(),
    "an integer": lambda i, f: client.encode_integer(EXACT, i(5)).data.tolist(),
    "integers": lambda i, f: client.encode(EXACT, [i(5), i(7)]).data.tolist(),
    "a rotation's key": lambda i, f: parameter_set("pico").galois_element(i(3)),
    "packing": lambda i, f: pack_matrix(np.eye(2), i(4)).tolist(),
}


@pytest.mark.parametrize("name", CALLS)
def test_calls_with_numpy_s_numbers_are_those_with_python_s(name: str) -> None:
    call = CALLS[name]
    assert repr(call(INT, FLOAT)) == repr(call(int, float))
    assert call(np.int32, np.float32) is not None


PROGRAMS: dict[str, Callable[[Callable[[Any], Any], Callable[[Any], Any], Any], object]] = {
    "rotate": lambda i, f, x: x.rotate(i(1)) + x.rotate(steps=i(2)),
    "power": lambda i, f, x: x ** i(3),
    "numbers": lambda i, f, x: (x * f(0.5) + i(1) - f(0.25)) / f(2),
    "sums": lambda i, f, x: sum_slots(x, i(4), stride=i(1)) + sum_rotations(x, i(3), i(1)),
    "inner product": lambda i, f, x: inner_product(x, [f(0.5)] * 4, i(4)),
    "matvec": lambda i, f, x: matvec(np.eye(4), x, stride=i(1)),
    "polynomial": lambda i, f, x: polynomial(x, [f(1), f(0.5), f(0.25)]),
    "functions": lambda i, f, x: tanh(x, degree=i(3)) + exp(x, error=f(0.125), interval=f(1)),
    "compare": lambda i, f, x: compare(x, f(0), span=f(1), margin=f(0.5), precision=i(4)),
    "chebyshev": lambda i, f, x: chebyshev(x, np.sin, i(3), (f(-1), f(1))),
    "matmul": lambda i, f, x: matmul(x, x, i(2)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_with_numpy_s_numbers_are_those_with_python_s(
    name: str, small: CkksParameters
) -> None:
    body = PROGRAMS[name]
    found, plain = (
        trace(lambda x, i=i, f=f: body(i, f, x), small, {"x": InputSpec(i(4), bound=f(1))})
        for i, f in ((INT, FLOAT), (int, float))
    )
    assert found.describe().splitlines()[1:] == plain.describe().splitlines()[1:]
    assert found.to_bytes()


@pytest.mark.parametrize("wrong", [np.float64(4096), np.bool_(True), np.str_("4096"), [4096]])
def test_what_is_no_whole_number_is_refused_all_the_same(wrong: Any) -> None:  # noqa: ANN401
    with pytest.raises(ParameterError, match=r"N = .* is not a power of two"):
        CkksParameters.create(n=wrong, prime_bits=(30,), special_bits=30, scale_bits=20)
