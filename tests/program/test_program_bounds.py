"""Ranges that a program promises, and the iterative algorithms that they make possible."""

import math
import re
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, Polynomial
from numpy.typing import NDArray

import ringsmith
from ringsmith import (
    ApproximationWarning,
    AutoParameters,
    BfvParameters,
    CkksParameters,
    EncryptedVector,
    InputSpec,
    Interval,
    Program,
    bounded,
    chebyshev,
    compare,
    compile_program,
    matmul,
    maximum,
    minimum,
    open_device,
    pack_matrix,
    parameter_set,
    polynomial,
    sign,
    trace,
    unpack_matrix,
)
from ringsmith.errors import ProgramError
from ringsmith.params import SecurityWarning
from ringsmith.params.bfv import batching_prime
from ringsmith.program import CkksProgram
from ringsmith.program.comparisons import sign_degrees

Numbers = NDArray[np.float64]
N = 1024
SLOTS = N // 2


def small(levels: int) -> CkksParameters:
    """Parameters for as many levels, far from secure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        return CkksParameters.create(
            n=N, prime_bits=[60] + [45] * levels, special_bits=60, scale_bits=45, security=None
        )


def ran(program: Program, inputs: Mapping[str, Numbers], device: str = "cpu") -> Numbers:
    """What a program's one output decrypts to; it is checked against the forecast."""
    secret, public, keys = program.generate_keys()
    compiled = compile_program(program, None if device == "cpu" else "nano")
    result = compiled.run(open_device(device), program.encrypt(public, inputs), keys)
    found = program.decrypt(secret, result.outputs)["result"]
    expected = program.evaluate(inputs)["result"]
    if isinstance(program, CkksProgram):
        error = np.abs(found - expected.real[: found.size]).max()
        assert error <= program.forecast().outputs["result"].error
        assert program.forecast().overflows == ()
    return found


def square_root(x: EncryptedVector) -> EncryptedVector:
    """Wilkes's iteration, as in Cheon, Kim, Kim, Lee, Lee 2019, algorithm 2: numbers in [0, 1]."""
    a, b = x, x - 1
    for _ in range(8):
        a = bounded(a * (1 - b * 0.5), (0, 1))
        b = bounded(b * b * ((b - 3) * 0.25), (-1, 0))
    return a


def goldschmidt(x: EncryptedVector) -> EncryptedVector:
    """1 / x for numbers in [0.1, 1]."""
    a, b = 2 - x, 1 - x
    for _ in range(8):
        b = bounded(b * b, (0, 1))
        a = bounded(a * (1 + b), (0, 10))
    return a


def newton(x: EncryptedVector) -> EncryptedVector:
    """1 / x for numbers in [0.5, 1]."""
    y = 2.9142 - 2 * x
    for _ in range(6):
        y = bounded(y * (2 - bounded(x * y, (0, 2))), (0, 4))
    return y


ITERATIONS: Mapping[
    str,
    tuple[Callable[[EncryptedVector], EncryptedVector], Callable[[Numbers], Numbers], float, int],
] = {
    "square root": (square_root, np.sqrt, 0.05, 17),
    "Goldschmidt": (goldschmidt, np.reciprocal, 0.1, 10),
    "Newton": (newton, np.reciprocal, 0.5, 13),
}
"""The function, what it computes, the least number of its range, and the levels that it takes."""


@pytest.mark.parametrize("name", ITERATIONS)
def test_an_iteration_runs_as_one_program(name: str, rng: np.random.Generator) -> None:
    function, meant, least, levels = ITERATIONS[name]
    inputs = {"x": InputSpec(bound=(least, 1))}
    program = trace(function, small(levels), inputs)
    x = rng.uniform(least, 1, SLOTS)
    assert np.abs(ran(program, {"x": x}) - meant(x)).max() < 1e-4


@pytest.mark.full
@pytest.mark.parametrize("name", ITERATIONS)
def test_an_iteration_runs_with_secure_parameters(name: str, rng: np.random.Generator) -> None:
    function, meant, least, _ = ITERATIONS[name]
    inputs = {"x": InputSpec(bound=(least, 1))}
    program = trace(function, AutoParameters(precision_bits=8), inputs)
    assert (program.parameters.security or 0) >= 128
    x = rng.uniform(least, 1, program.parameters.row_size)
    assert np.abs(ran(program, {"x": x}) - meant(x)).max() < 2.0**-8


def test_an_iteration_without_ranges_is_refused() -> None:
    def unbounded(x: EncryptedVector) -> EncryptedVector:
        y = 2.9142 - 2 * x
        for _ in range(6):
            y = y * (2 - x * y)
        return y

    with pytest.raises(ProgramError, match=r"overflow: output .* may hold numbers up to 2.52e\+49"):
        trace(unbounded, small(13))


# ---- comparisons ---------------------------------------------------------------------------


def test_the_comparison_of_two_polynomials_keeps_its_margin(rng: np.random.Generator) -> None:
    margin, precision = 2.0**-5, 8
    assert sign_degrees(margin, precision, 2.0) == (7, 27)
    program = trace(
        lambda a, b: compare(a, b, span=2, margin=2 * margin, precision=precision), small(14)
    )
    a, b = rng.uniform(-1, 1, (2, SLOTS))
    b[:5] = a[:5]
    found = ran(program, {"a": a, "b": b})
    distinct = np.abs(a - b) >= 2 * margin
    assert np.abs(found - (a > b))[distinct].max() <= 2.0**-precision
    assert np.abs(found[:5] - 0.5).max() < 1e-4


def test_maximum_and_minimum_differ_by_the_difference(rng: np.random.Generator) -> None:
    a, b = rng.uniform(0, 1, (2, SLOTS))
    both = {"a": a, "b": b}
    high = ran(trace(lambda a, b: maximum(a, b, margin=0.1, precision=6), small(14)), both)
    low = ran(trace(lambda a, b: minimum(a, b, margin=0.1, precision=6), small(14)), both)
    assert np.abs(high - np.maximum(a, b)).max() < 0.05
    assert np.abs(low - np.minimum(a, b)).max() < 0.05


# ---- polynomials ---------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [1, 2, 5, 7, 16, 31])
def test_a_chebyshev_interpolant_takes_the_levels_of_its_degree(
    degree: int, rng: np.random.Generator
) -> None:
    levels = degree.bit_length()
    program = trace(lambda x: chebyshev(x, lambda t: 1 / (1.2 - t), degree), small(levels))
    x = rng.uniform(-1, 1, SLOTS)
    error = np.abs(ran(program, {"x": x}) - 1 / (1.2 - x)).max()
    assert error <= program.forecast().outputs["result"].total
    assert program.outputs["result"].limbs == 1


def test_an_interpolant_of_too_high_a_degree_loses_terms_that_no_scale_holds(
    rng: np.random.Generator,
) -> None:
    program = trace(lambda x: chebyshev(x, np.exp, 100), small(4))
    assert program.outputs["result"].limbs == 1  # of degree 8 to 15
    x = rng.uniform(-1, 1, SLOTS)
    error = np.abs(ran(program, {"x": x}) - np.exp(x)).max()
    assert error <= program.forecast().outputs["result"].total


def relu(x: Numbers) -> Numbers:
    return np.maximum(x, 0)


def sigmoid(x: Numbers) -> Numbers:
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize(
    ("function", "interval"),
    [(relu, (-1, 1)), (sigmoid, (-8, 8)), (np.abs, (-1, 1)), (np.sqrt, (0, 1))],
)
def test_the_error_of_an_approximation_is_apart_from_noise(
    function: Callable[[Numbers], Numbers], interval: tuple[float, float], rng: np.random.Generator
) -> None:
    """It counted as noise, so that no scale was precise enough for automatic parameters."""
    inputs = {"x": InputSpec(512, bound=interval)}
    program = trace(
        lambda x: chebyshev(x, function, 15, interval), AutoParameters(max_n=1 << 14), inputs
    )
    output = program.forecast().outputs["result"]
    assert output.bits >= 20
    x = np.concatenate([rng.uniform(*interval, 500), np.linspace(*interval, 12)])
    secret, public, keys = program.generate_keys()
    run = compile_program(program).run(open_device("cpu"), program.encrypt(public, {"x": x}), keys)
    found = program.decrypt(secret, run.outputs)["result"]
    assert np.abs(found - program.evaluate({"x": x})["result"][:512]).max() <= output.error
    distance = np.abs(found - function(x)).max()
    assert output.approximation / 16 < distance <= output.total
    assert re.search(
        rf"result: .* \(largest error {output.approximation:.2g}; with noise", program.explain()
    )
    assert re.search(
        rf"test_program_bounds.py:\d+: its function is off by up to {output.approximation:.2g}",
        program.explain(),
    )


def test_approximations_of_an_approximation_are_counted_by_its_derivative(
    rng: np.random.Generator,
) -> None:
    def function(x: EncryptedVector) -> EncryptedVector:
        inner = chebyshev(x, lambda t: np.sin(2 * t), 5)
        return inner * chebyshev(inner, relu, 7) - inner.rotate(1)

    program = trace(function, small(8))
    x = np.concatenate([np.linspace(-1, 1, SLOTS // 2), rng.uniform(-1, 1, SLOTS // 2)])
    sine = np.sin(2 * x)
    distance = np.abs(ran(program, {"x": x}) - (sine * relu(sine) - np.roll(sine, -1))).max()
    total = program.forecast().outputs["result"].total
    assert distance <= total < 32 * distance


def test_the_degree_that_an_error_takes_is_found_or_named() -> None:
    program = trace(lambda x: chebyshev(x, sigmoid, interval=8, error=1e-3), small(6))
    assert 0 < program.forecast().outputs["result"].approximation <= 1e-3
    taken = trace(lambda x: chebyshev(x, sigmoid, 17, 8), small(6))
    assert len(taken.nodes) == len(program.nodes)
    with pytest.raises(ProgramError, match=r"degree = 15 has an error of 0.0014 .* 0.001 is all"):
        trace(lambda x: chebyshev(x, sigmoid, 15, 8, error=1e-3), small(6))
    with pytest.raises(ProgramError, match="take degree 17, which consumes 6 levels"):
        trace(lambda x: chebyshev(x, sigmoid, 15, 8, error=1e-3), small(6))
    with pytest.raises(ProgramError, match="no degree to 1024 has an error of 1e-09"):
        trace(lambda x: chebyshev(x, relu, error=1e-9), small(6))


@pytest.mark.parametrize(
    ("function", "levels"),
    [
        (lambda x, y: compare(x, y), 7),
        (lambda x, y: maximum(x, y, span=2), 6),
        (lambda x, y: maximum(x, y, margin=2.0**-3), 8),
        (lambda x, y: minimum(x, y), 6),
        (lambda x, y: sign((x - y) * 0.5), 8),
    ],
)
def test_comparisons_get_automatic_parameters(
    function: Callable[[EncryptedVector, EncryptedVector], EncryptedVector], levels: int
) -> None:
    program = trace(function, AutoParameters(), {"x": 8, "y": 8})
    assert program.parameters.n == 1 << 14
    assert program.parameters.levels == levels
    assert program.forecast().bits >= 20


def test_approximations_get_the_precision_that_they_deserve() -> None:
    """Noise stays below an eighth of the least error, and exact programs get 20 bits."""
    inputs = {"x": InputSpec(8, bound=4)}
    for error in (2.0**-6, 2.0**-10, 2.0**-17):
        found = trace(lambda x, error=error: ringsmith.sigmoid(x, error=error), "auto", inputs)  # type: ignore[misc]
        output = found.forecast().outputs["result"]
        bits = min(20, 3 - math.log2(output.approximation))
        assert bits <= output.bits <= bits + 2
    assert trace(lambda x: x * x, "auto", inputs).forecast().bits >= 20


def test_a_function_is_interpolated_on_any_interval(rng: np.random.Generator) -> None:
    program = trace(
        lambda x: chebyshev(x, np.sqrt, 15, (1, 9)), small(5), {"x": InputSpec(bound=(1, 9))}
    )
    x = rng.uniform(1, 9, SLOTS)
    error = np.abs(ran(program, {"x": x}) - np.sqrt(x)).max()
    assert error <= program.forecast().outputs["result"].total < 1e-3


@pytest.mark.parametrize(
    "given",
    [
        Polynomial([1, -2, 0, 0.5]),
        Polynomial([1, -2, 0, 0.5], domain=[-4, 2]),
        Chebyshev([0.25, 0, 1, -0.125]),
        Chebyshev([0.25, 3, 1], domain=[-2, 1]),
    ],
)
def test_numpys_polynomials_are_taken_with_their_domain(
    given: Polynomial | Chebyshev, rng: np.random.Generator
) -> None:
    program = trace(lambda x: polynomial(x, given), small(4))
    x = rng.uniform(-1, 1, SLOTS)
    assert np.abs(ran(program, {"x": x}) - given(x)).max() < 1e-6


def test_sparse_series_of_any_decimals_are_split_without_rounding_errors(
    rng: np.random.Generator,
) -> None:
    """A remainder of 1e-18 where 0 belongs was refused: no scale encodes it."""
    parameters = small(6)
    for _ in range(150):
        degree, step = int(rng.integers(2, 64)), int(rng.integers(1, 4))
        c = np.zeros(degree + 1)
        c[degree::-step] = rng.choice([1, 0.5, 0.25, 0.1, 1 / 3], c[degree::-step].size)
        c[:degree] *= rng.random(degree) < 0.6
        c /= np.abs(c).sum()
        program = trace(lambda x, c=c: polynomial(x, Chebyshev(c)), parameters)
        x = rng.uniform(-1, 1, SLOTS)
        assert np.abs(program.evaluate({"x": x})["result"] - Chebyshev(c)(x)).max() < 1e-12


def test_coefficients_below_the_tolerance_are_dropped_and_counted() -> None:
    coefficients = [0.5, 1, 1e-20, 0.25, -1e-19]
    with pytest.warns(ApproximationWarning, match=r"degree 2, 4 are dropped: .* 1.1e-19"):
        program = trace(lambda x: polynomial(x, coefficients, tolerance=1e-12), small(3))
    assert program.outputs["result"].limbs == 2  # of degree 3
    with pytest.warns(ApproximationWarning, match="degree 3 are dropped"):
        program = trace(lambda x: polynomial(x, [0, 1, 0, 0.25], tolerance=0.3), small(3))
    output = program.forecast().outputs["result"]
    assert output.approximation == pytest.approx(0.25)
    assert output.error < 1e-6


def test_a_polynomial_of_a_range_has_a_range() -> None:
    def function(x: EncryptedVector) -> EncryptedVector:
        return polynomial(bounded(x, (0, 2)), [1, -2, 1]) * 1

    program = trace(function, small(4))
    assert program.forecast().outputs["result"].bound == pytest.approx(1, rel=1e-5)


# ---- promises ------------------------------------------------------------------------------


def test_a_broken_promise_is_told_with_line_number_and_value() -> None:
    program = trace(lambda x: bounded(x + 1, (0.5, 1.5)) * x, small(2), {"x": 4})
    program.evaluate({"x": [0.1, -0.2, 0.4]})
    message = r"test_program_bounds.py:\d+: number 2 is 1.75, .* \[0.5, 1.5\]"
    for call in (program.evaluate, program.simulate):
        with pytest.raises(ProgramError, match=message):
            call({"x": [0.1, -0.2, 0.75]})


def test_an_inputs_interval_is_of_its_numbers_alone(rng: np.random.Generator) -> None:
    program = trace(lambda x: x * x, small(2), {"x": InputSpec(length=4, bound=(0.5, 1))})
    x = rng.uniform(0.5, 1, 4)
    assert np.abs(ran(program, {"x": x}) - x * x).max() < 1e-6
    assert not program.simulate({"x": x})["result"][4:].any()
    _, public, _ = program.generate_keys()
    for call in (program.evaluate, lambda given: program.encrypt(public, given)):
        with pytest.raises(ProgramError, match=r"'x': number 2 is 0.4, outside its range 0.5 … 1"):
            call({"x": [0.6, 0.7, 0.4, 0.9]})


def test_the_forecast_takes_intervals_of_inputs() -> None:
    program = trace(lambda x: x * x, small(2))
    assert program.forecast({"x": Interval(-3, 2)}).outputs["result"].bound == 9
    declared = trace(lambda x: x * x, small(2), {"x": InputSpec(bound=(-3, 2))})
    assert declared.forecast().outputs["result"].bound == 9


def test_a_promise_is_kept_in_a_programs_file(tmp_path: Path) -> None:
    program = trace(
        lambda x: chebyshev(bounded(5 * x, (-1, 3)), np.exp, 5, (-1, 3)), small(5), {"x": 4}
    )
    program.save(tmp_path / "program.rsp")
    loaded = Program.load(tmp_path / "program.rsp")
    for ours, theirs in zip(program.nodes, loaded.nodes, strict=True):
        assert (ours.bound is None) == (theirs.bound is None)
        assert ours.bound is None or ours.bound.magnitude == theirs.bound.magnitude
        assert ours.approximation == theirs.approximation
    assert loaded.forecast().bits == program.forecast().bits
    with pytest.raises(ProgramError, match=r"the range \[-1, 3\] was promised"):
        loaded.evaluate({"x": [0.8]})
    with pytest.raises(ProgramError, match="'x': number 0 is 4, outside its range -1 … 1"):
        loaded.evaluate({"x": [4.0]})


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: bounded(x, "1"), "'1' is no range: give a magnitude from 0, or a pair"),
        (lambda x: bounded(x, -1), "-1 is no range"),
        (lambda x: bounded(x, (2, 1)), r"\(2, 1\) is no range"),
        (lambda x: bounded(x, (0, np.inf)), "is no range"),
        (lambda x: bounded(bounded(x, (0, 1)), (2, 3)), r"\[2, 3\] has no number of .* \[0, 1\]"),
        (lambda x: chebyshev(x, np.exp), "degree = None .* or the error that is allowed"),
        (lambda x: chebyshev(x, np.exp, error=0), "error = 0 is not a number above 0"),
        (lambda x: chebyshev(x, np.exp, 0), "degree = 0 is not a whole number in 1"),
        (lambda x: chebyshev(x, np.log, 5, (0, 1)), "is not finite everywhere in"),
        (lambda x: chebyshev(x, np.sum, 5), "make a real number|makes a real number"),
        (lambda x: chebyshev(x, np.exp, 5, (1, 1)), "holds one number"),
        (lambda x: polynomial(x, [1, 2], tolerance=-1), "tolerance = -1 is not a number from 0"),
        (lambda x: polynomial(x, Chebyshev([1, 2], window=[0, 1])), "window"),
        (lambda x: sign(x, margin=1), "margin = 1.0 times the span is outside"),
        (lambda x: sign(x, precision=99), "precision = 99 is outside"),
        (lambda x: compare(x, x, span=0), "span = 0 is not a number above 0"),
        (lambda x: matmul(x, x, 3), "size = 3 is not a power of two"),
        (lambda x: matmul(x, x, 64), "size = 64 is not a power of two in 1 … 16"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_cannot_be_meant_is_refused_at_its_line(
    function: Callable[[EncryptedVector], EncryptedVector], message: str
) -> None:
    with pytest.raises(ProgramError, match=rf"test_program_bounds.py:\d+: .*({message})"):
        trace(function, small(3))


def exact() -> BfvParameters:
    """BFV parameters of as many slots, far from secure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        return BfvParameters.create(
            n=N,
            prime_bits=[55] * 4,
            special_bits=56,
            plain_modulus=batching_prime(N, 20),
            security=None,
        )


@pytest.mark.parametrize(
    "function",
    [lambda x: sign(x), lambda x: chebyshev(x, np.exp, 3)],
)
def test_bfv_approximates_no_functions(
    function: Callable[[EncryptedVector], EncryptedVector],
) -> None:
    with pytest.raises(ProgramError, match="BFV"):
        trace(function, exact())


def test_whole_numbers_are_bounded_too(rng: np.random.Generator) -> None:
    def fourth(x: EncryptedVector) -> EncryptedVector:
        return bounded(x * x, 100) * x * x

    inputs = {"x": InputSpec(4, bound=50)}
    with pytest.raises(ProgramError, match=r"may reach 6.25e\+06 for inputs in their ranges"):
        trace(lambda x: x**4, exact(), inputs)
    program = trace(fourth, exact(), inputs)
    x = rng.integers(-10, 11, 4)
    assert (ran(program, {"x": x}) == x**4).all()
    with pytest.raises(ProgramError, match=r"number 1 is 121, and the range .* was promised"):
        program.evaluate({"x": [1, 11]})


# ---- products of matrices ------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 4])
def test_encrypted_matrices_are_multiplied(size: int, rng: np.random.Generator) -> None:
    a, b = rng.uniform(-1, 1, (2, size, size))
    lengths = {"a": size * size, "b": size * size}
    program = trace(lambda a, b: matmul(a, b, size), small(3), lengths)
    found = ran(program, {"a": pack_matrix(a), "b": pack_matrix(b)})
    assert np.abs(unpack_matrix(found, size) - a @ b).max() < 1e-6


def test_encrypted_matrices_of_whole_numbers_are_multiplied_exactly(
    rng: np.random.Generator,
) -> None:
    a, b = rng.integers(-9, 10, (3, 2)), rng.integers(-9, 10, (2, 4))
    program = trace(lambda a, b: matmul(a, b, 4), exact(), {"a": 16, "b": 16})
    found = ran(program, {"a": pack_matrix(a, 4), "b": pack_matrix(b, 4)})
    assert (unpack_matrix(found, 4, (3, 4)) == a @ b).all()


def test_a_matrix_of_another_shape_is_padded() -> None:
    packed = pack_matrix([[1, 2, 3]])
    assert packed.tolist() == [1, 2, 3, 0, *[0] * 12]
    assert unpack_matrix(packed, 4, (1, 3)).tolist() == [[1, 2, 3]]
    with pytest.raises(ProgramError, match="size = 2 is not a power of two of at least 4"):
        pack_matrix([[1, 2, 3]], 2)
    with pytest.raises(ProgramError, match="no matrix of size 4"):
        unpack_matrix([1, 2, 3], 4)


# ---- on an accelerator ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "function",
    [lambda x: chebyshev(x, np.tanh, 7), lambda x: sign(x, margin=0.9, precision=2)],
    ids=["tanh", "sign"],
)
def test_a_function_runs_on_the_model(
    function: Callable[[EncryptedVector], EncryptedVector], rng: np.random.Generator
) -> None:
    program = trace(function, parameter_set("nano"))
    x = rng.uniform(-1, 1, 4096)
    on_cpu, on_model = (ran(program, {"x": x}, device) for device in ("cpu", "model"))
    assert np.abs(on_cpu - on_model).max() < 1e-3
