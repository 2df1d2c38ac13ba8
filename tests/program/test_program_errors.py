"""What the front end refuses: errors that name the user's line and a hint.

Each function's faulty line carries the mark "# here".
"""

import inspect
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from ringsmith.errors import ProgramError
from ringsmith.params import CkksParameters
from ringsmith.program import EncryptedVector, InputSpec, inner_product, polynomial, trace


def compares(x: EncryptedVector) -> EncryptedVector:
    return x if x > 0 else -x  # here


def equals(x: EncryptedVector) -> EncryptedVector:
    return x if x == 0 else -x  # here


def branches(x: EncryptedVector) -> EncryptedVector:
    y = x + 1
    if y:  # here
        return x
    return y


def too_deep(x: EncryptedVector) -> EncryptedVector:
    y = x**16
    return y * 3.5  # here


def rotates_too_far(x: EncryptedVector) -> EncryptedVector:
    return x.rotate(512)  # here


def rotates_by_half(x: EncryptedVector) -> EncryptedVector:
    return x.rotate(0.5)  # type: ignore[arg-type]  # here


def too_long(x: EncryptedVector) -> EncryptedVector:
    return x * np.ones(513)  # here


def matrix(x: EncryptedVector) -> EncryptedVector:
    return x + np.ones((2, 2))  # here


def empty(x: EncryptedVector) -> EncryptedVector:
    return np.array([]) + x  # here


def ragged(x: EncryptedVector) -> EncryptedVector:
    return x * [[1], [2, 3]]  # here


def text(x: EncryptedVector) -> EncryptedVector:
    return x * "2"  # here


def nothing(x: EncryptedVector) -> EncryptedVector:
    return x + None  # here


def infinite(x: EncryptedVector) -> EncryptedVector:
    return x - [1, np.inf]  # here


def masked(x: EncryptedVector) -> EncryptedVector:
    return x - np.ma.MaskedArray([1, 2], [False, True])  # here


def zero_power(x: EncryptedVector) -> EncryptedVector:
    return x**0  # here


def broken_power(x: EncryptedVector) -> EncryptedVector:
    return x**0.5  # here


def divides_by_zero(x: EncryptedVector) -> EncryptedVector:
    return x / [1, 0]  # here


def divides_by_cipher(x: EncryptedVector) -> EncryptedVector:
    return x / x  # here


def odd_length(x: EncryptedVector) -> EncryptedVector:
    return inner_product(x, [1] * 30, 30)  # here


def long_stride(x: EncryptedVector) -> EncryptedVector:
    return inner_product(x, [1], 64, stride=16)  # here


def constant_polynomial(x: EncryptedVector) -> EncryptedVector:
    return polynomial(x, [1, 0, 0])  # here


def huge_constant(x: EncryptedVector) -> EncryptedVector:
    y = x**8
    return y + 1e30  # here


def overflowing(x: EncryptedVector) -> EncryptedVector:
    return x * 1  # here


def lost_digits(x: EncryptedVector) -> EncryptedVector:
    return x * 0.1  # here


def huge_factor(x: EncryptedVector) -> EncryptedVector:
    y = x**4
    return y * 1e24  # here


def huge_factors(x: EncryptedVector) -> EncryptedVector:
    y = x * 1e4 * 1e4
    y = y * x  # here
    y = y * x
    return y * x


def vanishing_factor(x: EncryptedVector) -> EncryptedVector:
    return x * 1e-20  # here


def vanishing_summand(x: EncryptedVector) -> EncryptedVector:
    return x + 1e-20  # here


def vanishing_vector(x: EncryptedVector) -> EncryptedVector:
    return x + np.array([2.0**-37])  # here


def reciprocal(x: EncryptedVector) -> EncryptedVector:
    return 1 / x  # here


def array_quotient(x: EncryptedVector) -> EncryptedVector:
    return np.ones(4) / x  # here


def exponential(x: EncryptedVector) -> EncryptedVector:
    return 2**x  # here


def indexes(x: EncryptedVector) -> EncryptedVector:
    return x[0] + x  # here


def iterates(x: EncryptedVector) -> EncryptedVector:
    return next(y * y for y in x)  # here


def sums(x: EncryptedVector) -> EncryptedVector:
    return x + sum(x)  # here


def sine(x: EncryptedVector) -> EncryptedVector:
    return x + np.sin(x)  # type: ignore[call-overload]  # here


def math_sine(x: EncryptedVector) -> EncryptedVector:
    return x + math.sin(x)  # here


def becomes_array(x: EncryptedVector) -> EncryptedVector:
    return x + [x, x]  # noqa: RUF005  # here


def compares_arrays(x: EncryptedVector) -> EncryptedVector:
    return x if np.ones(4) < x else -x  # here


ERRORS: list[tuple[Callable[..., Any], InputSpec, str]] = [
    (
        compares,
        InputSpec(),
        "cannot be compared exactly: in CKKS compare(a, b, margin=…) is about 1",
    ),
    (equals, InputSpec(), "cannot be compared"),
    (branches, InputSpec(), "asks for the truth of an encrypted value"),
    (
        too_deep,
        InputSpec(),
        "out of levels: the program needs at least 5 levels (6 data primes) and parameters "
        "'test-1024' have 4 (5 data primes): add data primes",
    ),
    (rotates_too_far, InputSpec(), "rotation by 512 slots, and a row has 512: use -511 … 511"),
    (rotates_by_half, InputSpec(), "rotation by 0.5: use a whole number"),
    (too_long, InputSpec(), "a vector of 513 numbers exceeds the 512 slots"),
    (matrix, InputSpec(), "an array of shape (2, 2) is no vector"),
    (empty, InputSpec(), "an array of shape (0,) is no vector"),
    (ragged, InputSpec(), "is not numeric"),
    (text, InputSpec(), "'2' (str) is not numeric"),
    (nothing, InputSpec(), "None (NoneType) is not numeric"),
    (infinite, InputSpec(), "holds NaN or infinity"),
    (masked, InputSpec(), "a plain operand is a masked array, whose hidden numbers would be used"),
    (zero_power, InputSpec(), "to the power 0: use a whole number from 1"),
    (broken_power, InputSpec(), "sqrt takes numbers from 0, and x may lie in [-1, 1]"),
    (divides_by_zero, InputSpec(), "a divisor is 0"),
    (
        divides_by_cipher,
        InputSpec(),
        "inverse takes numbers on one side of 0, and x may lie in [-1, 1]",
    ),
    (reciprocal, InputSpec(), "inverse takes numbers on one side of 0, and x may lie in"),
    (array_quotient, InputSpec(), "inverse takes numbers on one side of 0, and x may lie in"),
    (
        exponential,
        InputSpec(),
        "cannot be an exponent: approximate it: chebyshev(x, function, degree",
    ),
    (indexes, InputSpec(), "cannot be taken out by [0]: x.rotate(i) brings slot i to slot 0"),
    (iterates, InputSpec(), "cannot be iterated over: x.rotate(i) brings"),
    (sums, InputSpec(), "sum_slots(x) sums the slots"),
    (sine, InputSpec(), "np.sin does not take encrypted vectors"),
    (math_sine, InputSpec(), "is not a number, as float() and math want one: approximate it: cheb"),
    (becomes_array, InputSpec(), "cannot become a NumPy array"),
    (compares_arrays, InputSpec(), "encrypted values cannot be compared"),
    (odd_length, InputSpec(), "length = 30 is not a power of two in 1 … 512: pad to 32"),
    (long_stride, InputSpec(), "stride = 16 is not a power of two in 1 … 8"),
    (constant_polynomial, InputSpec(), "the polynomial is constant"),
    (huge_constant, InputSpec(), "largest number 1e+30 at scale 2^40.0 needs 140.7 bits"),
    (overflowing, InputSpec(limbs=2, scale=2.0**88), "with 3 bits of message and a sign needs 92"),
    (
        huge_factor,
        InputSpec(),
        "overflow: output 'result' may hold numbers up to 1e+24 for inputs in their ranges, and at "
        "the scale 2^40.0 the modulus of 2 limbs holds numbers up to 5.63e+14: declare tighter",
    ),
    (
        huge_factors,
        InputSpec(),
        "overflow: output 'result' may hold numbers up to 1e+08 for inputs in their ranges, and at "
        "the scale 2^40.0 the modulus of 1 limbs holds numbers up to 512: declare tighter",
    ),
    (vanishing_factor, InputSpec(), "largest number 1e-20 at scale 2^40.0 is encoded as zero"),
    (vanishing_summand, InputSpec(), "largest number 1e-20 at scale 2^40.0 is encoded as zero"),
    (vanishing_vector, InputSpec(), "largest number 7.28e-12 at scale 2^40.0 is encoded as zero"),
    (lost_digits, InputSpec(scale=2.0**75), "would be encoded at 2^5.0, below 2^10"),
]


@pytest.mark.parametrize(("function", "spec", "words"), ERRORS)
def test_an_error_names_the_users_line(
    function: Callable[..., Any], spec: InputSpec, words: str, small: CkksParameters
) -> None:
    lines, first = inspect.getsourcelines(function)
    (offset,) = (i for i, line in enumerate(lines) if "# here" in line)
    with pytest.raises(ProgramError) as caught:
        trace(function, small, {"x": spec})
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{__file__}:{first + offset}: ") or (
        function is overflowing  # its input is refused, at the line that traces
    )


CALLS: list[tuple[Callable[..., Any], Any, str]] = [
    (lambda x, y: x, ["x", "y"], "input 'y' is used by no output"),
    (lambda x: 3, ["x"], "output 'result' of <lambda> is 3, which does not come from its inputs"),
    (lambda x: None, ["x"], "output 'result' of <lambda> is None"),
    (lambda x: {}, ["x"], "<lambda> returns nothing"),
    (lambda x: {"a b": x}, ["x"], "output 'a b' is not a name"),
    (lambda x: {1: x}, ["x"], "output 1 is not a name"),
    (lambda x: x, ["z"], "<lambda> cannot be called with the inputs ['z']"),
    (lambda x: x, {}, "the program has no inputs"),
    (lambda: 3, None, "the program has no inputs"),
    (lambda *v: v[0], None, "<lambda>(*v) names no inputs, which are handed over by name: name"),
    (lambda **v: v["x"], None, "take **vectors and pass inputs= with the names"),
    (lambda *v: v[0], ["x"], "<lambda> cannot be called with the inputs ['x']"),
    (max, None, "the inputs of max are not known: pass inputs="),
    (3, None, "3 is no function: give a Python function of encrypted vectors"),  # type: ignore[list-item]
    (lambda x: x, {"x": 513}, "length = 513 exceeds the 512 slots"),
    (lambda x: x, {"x": InputSpec(limbs=6)}, "limbs = 6 is not a whole number in 1 … 5"),
    (lambda x: x, {"x": InputSpec(scale=0.0)}, "scale = 0.0 must be a number above 1"),
    (lambda **v: v["a b"], {"a b": None}, "input 'a b' is not a name"),
]


@pytest.mark.parametrize(("function", "inputs", "words"), CALLS)
def test_a_call_that_makes_no_program_is_refused(
    function: Callable[..., Any], inputs: object, words: str, small: CkksParameters
) -> None:
    with pytest.raises(ProgramError, match=re.escape(words)) as caught:
        trace(function, small, inputs)  # type: ignore[arg-type]
    assert str(caught.value).startswith(f"{__file__}:")


def test_automatic_parameters_bear_a_great_constant() -> None:
    headroom = {}
    for factor in (1, 1000):
        parameters = trace(lambda x, f=factor: x * f + x, "auto").parameters
        headroom[factor] = math.log2(parameters.primes[0] / parameters.scale)
    assert headroom[1000] >= 1 + math.log2(1001) > headroom[1]
    assert trace(lambda x: x * 1000, "auto", headroom_bits=10).parameters.limbs == 2


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1, np.nan], "input 'x' holds NaN or infinity at 1: use finite numbers"),
        (np.ma.MaskedArray([1, 2], [False, True]), "input 'x' is a masked array, whose hidden"),
        ([1, 2, 3], "input 'x' holds 2 numbers and was given 3"),
    ],
)
def test_inputs_that_evaluate_refuses_are_named(
    values: ArrayLike, words: str, small: CkksParameters
) -> None:
    program = trace(lambda x: x + 1, small, {"x": 2})
    with pytest.raises(ProgramError, match=re.escape(words)):
        program.evaluate({"x": values})
