"""Encrypted vectors mean what NumPy means: shapes, what lies behind numbers, and ranges."""

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from ringsmith import (
    AutoBfvParameters,
    AutoParameters,
    EncryptedVector,
    InputSpec,
    bounded,
    chebyshev,
    compare,
    compile_program,
    inner_product,
    matmul,
    matvec,
    open_device,
    parameter_set,
    polynomial,
    sum_slots,
    trace,
)
from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op
from ringsmith.params import BfvParameters, CkksParameters
from ringsmith.program import CkksProgram, Program

Numbers = NDArray[Any]
EXACT = AutoBfvParameters(plain_bits=20)
RNG = np.random.default_rng(44)
X8, Y8 = RNG.uniform(-1, 1, (2, 8))
W1, W2 = RNG.uniform(-0.5, 0.5, (4, 8)), RNG.uniform(-0.5, 0.5, (3, 4))


def ran(program: Program, inputs: Mapping[str, ArrayLike]) -> Numbers:
    """What the program's result decrypts to on the CPU; within the forecast of ``evaluate``."""
    secret, public, keys = program.generate_keys()
    encrypted = program.encrypt(public, inputs)
    result = compile_program(program).run(open_device("cpu"), encrypted, keys)
    found: Numbers = program.decrypt(secret, result.outputs)["result"]
    expected = program.evaluate(inputs)["result"]
    assert found.shape == expected.shape
    allowed = program.forecast().outputs["result"].error if isinstance(program, CkksProgram) else 0
    assert np.abs(found - expected).max() <= allowed
    return found


def doubled(x: EncryptedVector) -> EncryptedVector:
    for _ in range(5):
        x = x + x
    return x


def packed_products(x: EncryptedVector, y: EncryptedVector) -> EncryptedVector:
    return x.dot(y) * [1, 0] + (x * x).sum() * [0, 1]


RIGHT: dict[str, tuple[Callable[..., EncryptedVector], Any, dict[str, Any], Any]] = {
    # What lies behind a vector.
    "product of products": (
        lambda a: matmul(matmul(a, a, 2), a, 2),
        "auto",
        {"a": np.eye(2).ravel()},
        [1, 0, 0, 1],
    ),
    "a constant before a matrix": (
        lambda x: matvec(np.eye(4), x + 1),
        "auto",
        {"x": np.zeros(4)},
        [1, 1, 1, 1],
    ),
    "two dense layers": (lambda x: matvec(W2, matvec(W1, x)), "auto", {"x": X8}, W2 @ W1 @ X8),
    "mean of squares": (
        lambda x: sum_slots((x - 1) ** 2, 8) / 6,
        "auto",
        {"x": X8[:6]},
        [((X8[:6] - 1) ** 2).mean()],
    ),
    "times one number": (lambda x, y: x * y, "auto", {"x": X8, "y": [0.5]}, X8 * 0.5),
    "a sum times a vector": (
        lambda x: inner_product(x, Y8, 8) * [1, 2, 3],
        "auto",
        {"x": X8},
        (X8 @ Y8) * np.array([1, 2, 3]),
    ),
    "two products in one vector": (packed_products, "auto", {"x": X8, "y": Y8}, [X8 @ Y8, X8 @ X8]),
    "a rotation of leftovers": (
        lambda x: (inner_product(x, Y8, 8) + 1).rotate(-2) + np.array([1, 2]),
        "auto",
        {"x": X8},
        [1, 2, X8 @ Y8 + 1],
    ),
    # Sums beyond the headroom.
    "a sum of a thousand": (
        lambda x: sum_slots(x, 1024),
        "auto",
        {"x": np.full(1000, 0.7472)},
        [747.2],
    ),
    "doublings": (doubled, "auto", {"x": np.ones(4)}, [32, 32, 32, 32]),
    "a sum of cubes": (
        lambda x: inner_product(x * x * x, np.ones(1024), 1024),
        "auto",
        {"x": np.ones(1024)},
        [1024],
    ),
    # Rows of BFV.
    "a sum over both rows": (sum_slots, EXACT, {"x": np.arange(3000) % 7}, [8994]),
    # NumPy's own functions and operators.
    "mean": (lambda x: np.mean(x), "auto", {"x": X8[:5]}, [X8[:5].mean()]),
    "variance": (lambda x: np.var(x), "auto", {"x": X8[:5]}, [X8[:5].var()]),
    "centred": (lambda x: x - x.mean(), "auto", {"x": X8}, X8 - X8.mean()),
    "matrix @ vector": (lambda x: W1 @ x, "auto", {"x": X8}, W1 @ X8),
    "vector @ matrix": (lambda x: x @ W1.T, "auto", {"x": X8}, X8 @ W1.T),
    "vector @ vector": (lambda x, y: x @ y, "auto", {"x": X8, "y": Y8}, [X8 @ Y8]),
    "np.dot": (lambda x: np.dot(Y8, x), "auto", {"x": X8}, [X8 @ Y8]),
    "a mask of booleans": (lambda x: x * (X8 > 0), "auto", {"x": X8}, X8 * (X8 > 0)),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_program_computes_what_numpy_computes(name: str) -> None:
    function, parameters, inputs, expected = RIGHT[name]
    lengths = {key: len(value) for key, value in inputs.items()}
    program = trace(function, parameters, lengths)
    found = ran(program, inputs)
    assert found.shape == np.shape(expected)
    assert np.abs(found - expected).max() < 1e-5 * max(1, np.abs(expected).max())


def test_a_result_in_several_rows_does_not_depend_on_the_ring() -> None:
    x = np.arange(3000) % 7
    for n in (4096, 8192, 16384):
        parameters = BfvParameters.create(
            n=n, prime_bits=[36, 36], special_bits=37, plain_bits=20, security=None
        )
        assert trace(sum_slots, parameters, {"x": 3000}).evaluate({"x": x})["result"] == [8994]
        if n == 4096:
            with pytest.raises(ProgramError, match="3000 numbers, which lie in two rows of 2048"):
                trace(lambda x: x.rotate(1), parameters, {"x": 3000})
            with pytest.raises(ProgramError, match="leave the length out to sum all numbers"):
                trace(lambda x: sum_slots(x, 2048), parameters, {"x": 3000})
            with pytest.raises(ProgramError, match="passes the end of a row of 2048 slots"):
                trace(lambda x: x.rotate(-48), parameters, {"x": 2040})


REFUSED: dict[str, tuple[Callable[..., Any], dict[str, Any], str]] = {
    "a matrix of fewer columns": (
        lambda x: matvec(np.eye(4), x),
        {"x": 8},
        "a matrix of 4 x 4 takes 4 numbers, and the vector holds 8",
    ),
    "a matrix of other columns": (
        lambda x: matvec(np.ones((4, 7)), x),
        {"x": 8},
        "a matrix of 4 x 7 takes 7 numbers, and the vector holds 8",
    ),
    "fewer weights": (
        lambda x: inner_product(x, [1, 2, 3, 4], 8),
        {"x": 8},
        r"shapes \(8,\) and \(4,\) do not fit",
    ),
    "vectors of other lengths": (
        lambda x, y: x + y,
        {"x": 8, "y": 3},
        r"shapes \(8,\) and \(3,\) do not fit",
    ),
    "an array of another length": (
        lambda x: x * np.ones(5),
        {"x": 8},
        r"shapes \(8,\) and \(5,\) do not fit",
    ),
    "no square matrix": (
        lambda x: matmul(x, x, 4),
        {"x": 12},
        "a matrix of 16 numbers is expected, row by row, and the vector holds 12",
    ),
    "zeros": (lambda x: x * 0, {"x": 4}, "output 'result' is the same for all inputs"),
    "what cancels": (lambda x: (x - x) + [1, 2], {"x": 2}, "is the same for all inputs"),
    "an interval that is too narrow": (
        lambda x: chebyshev(x, np.exp, 7, (0, 1)),
        {"x": 4},
        r"may lie in \[-1, 1\] by the ranges of the inputs, and .* is \[0, 1\]: widen it",
    ),
    "a broken promise": (
        lambda x: bounded(x * x + 2, (0, 1)),
        {"x": 4},
        r"the range \[0, 1\] has no number of the range \[2, 3\]",
    ),
    "a contradicted range": (
        lambda x: bounded(x, (5, 6)),
        {"x": InputSpec(4, bound=(0, 1))},
        "has no number of the range",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("parameters", ["auto", "nano"])
def test_what_numpy_or_a_range_refuses_is_refused_at_the_users_line(
    name: str, parameters: str
) -> None:
    function, inputs, message = REFUSED[name]
    wanted = parameter_set("nano") if parameters == "nano" else "auto"
    with pytest.raises(ProgramError, match=message) as caught:
        trace(function, wanted, inputs)  # type: ignore[call-overload]
    assert str(caught.value).startswith(f"{__file__}:")


# ---- ranges ----------------------------------------------------------------------------------


def test_given_parameters_refuse_a_sum_that_they_do_not_hold() -> None:
    with pytest.raises(
        ProgramError, match=r"test_arrays.py:\d+: overflow: output .* numbers up to 1.02e\+03"
    ):
        trace(
            lambda x: inner_product(x * x * x, np.ones(1024), 1024),
            parameter_set("nano"),
            {"x": 1024},
        )


def test_values_may_exceed_their_modulus_where_results_do_not() -> None:
    """A modulus that holds numbers up to 512, sums and products of up to 10^6 on the way."""
    small = CkksParameters.create(
        n=2048, prime_bits=[50, 40, 40], special_bits=51, scale_bits=40, security=None
    )

    def function(x: EncryptedVector, y: EncryptedVector) -> EncryptedVector:
        a, b = x * 1000, y * 1000
        return bounded(a * b - (a * (b - 0.25) + x * 249), 1)

    x, y = RNG.uniform(-1, 1, (2, 8))
    program = trace(function, small, {"x": 8, "y": 8})
    assert np.abs(ran(program, {"x": x, "y": y}) - x).max() < 1e-4


def test_automatic_parameters_fit_declared_ranges() -> None:
    program = trace(lambda x: x * x, "auto", {"x": InputSpec(4, bound=1000)})
    found = ran(program, {"x": [1000, -999, 3, 4]})
    assert np.abs(found - [1e6, 998001, 9, 16]).max() < 1e-3


def test_slots_behind_numbers_lie_in_a_functions_interval_too() -> None:
    program = trace(
        lambda x: chebyshev(x, lambda t: 1 / t, 7, (0.5, 1)),
        AutoParameters(precision_bits=10),
        {"x": InputSpec(8, bound=(0.5, 1))},
    )
    x = np.linspace(0.5, 1, 8)
    assert np.abs(ran(program, {"x": x}) - 1 / x).max() < 2e-3
    assert np.abs(program.simulate({"x": x})["result"]).max() < 2.01


def test_a_comparison_spans_the_ranges_of_what_it_compares() -> None:
    program = trace(
        lambda a, b: compare(a, b, margin=0.25, precision=4),
        AutoParameters(precision_bits=3),
        {"a": 4, "b": 4},
    )
    found = ran(program, {"a": [1, -1, 1, 0.5], "b": [-1, 1, 0.7, 0.9]})
    assert np.abs(found - [1, 0, 1, 0]).max() < 2**-4 + 2**-3  # the approximation, and noise


@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_encryption_refuses_numbers_outside_their_range(scheme: str) -> None:
    parameters: Any = "auto" if scheme == "ckks" else EXACT
    program = trace(lambda x: x * 2, parameters, {"x": InputSpec(4, bound=1)})
    _, public, _ = program.generate_keys()
    for numbers in ([0, 10**15, 0, 0], [0, 2, 0, 0], [0, -2, 0, 0]):
        with pytest.raises(
            ProgramError, match=r"input 'x': number 1 is .*, outside its range -1 … 1"
        ):
            program.encrypt(public, {"x": numbers})
        with pytest.raises(ProgramError, match="number 1"):
            program.evaluate({"x": numbers})
    assert program.encrypt(public, {"x": [1, -1, 0, 1]})


def test_inputs_without_a_range_take_what_cannot_overflow() -> None:
    """A declared range of as much is planned, and one of a quarter more is not."""
    parameters = parameter_set("nano")

    def function(x: EncryptedVector) -> EncryptedVector:
        return x * x + x

    limit = trace(function, parameters, {"x": 4}).client_kit().inputs["x"].high
    assert limit is not None
    assert limit > 1
    trace(function, parameters, {"x": InputSpec(4, bound=limit)})
    with pytest.raises(ProgramError, match="overflow"):
        trace(function, parameters, {"x": InputSpec(4, bound=1.25 * limit)})


def test_integers_stay_integers_or_are_meant_modulo_t() -> None:
    program = trace(lambda x: x**4, EXACT, {"x": InputSpec(4, bound=200)})
    assert list(ran(program, {"x": [200, -1, 3, 4]})) == [200**4, 1, 81, 256]
    assert "bits, batches" in program.choice
    given = BfvParameters.create(
        n=4096, prime_bits=[36, 36], special_bits=37, plain_bits=17, security=None
    )
    t = given.plain_modulus
    with pytest.raises(
        ProgramError, match=r"output 'result' may reach 4e\+10 .*allow_overflow=True"
    ):
        trace(lambda x: x * x, given, {"x": InputSpec(2, bound=2 * 10**5)})
    ring = trace(lambda x: x * x, given, {"x": 2}, allow_overflow=True)
    value = ran(ring, {"x": [t // 2, 3]})
    assert value[1] == 9
    assert (int(value[0]) - (t // 2) ** 2) % t == 0


def test_a_program_may_promise_that_its_results_fit() -> None:
    spec = {"x": InputSpec(4, bound=2.0**55)}
    with pytest.raises(ProgramError, match=r"overflow: .*allow_overflow=True"):
        trace(lambda x: x * x, "nano", spec)
    promised = trace(lambda x: x * x, "nano", spec, allow_overflow=True)
    assert ran(promised, {"x": [3, -2, 1, 0]}).round(3).tolist() == [9, 4, 1, 0]


def test_complex_numbers_are_declared() -> None:
    program = trace(lambda x: x * x, "auto", {"x": InputSpec(2, complex_numbers=True)})
    secret, public, keys = program.generate_keys()
    x = np.array([0.6 + 0.8j, 1j])
    result = compile_program(program).run(
        open_device("cpu"), program.encrypt(public, {"x": x}), keys
    )
    found = program.decrypt(secret, result.outputs, complex_numbers=True)["result"]
    assert np.abs(found - x * x).max() < 1e-5
    real = trace(lambda x: x * x, "auto", {"x": 2})
    with pytest.raises(ProgramError, match="declare InputSpec\\(complex_numbers=True\\)"):
        real.encrypt(public, {"x": x})


def test_a_transparent_result_is_refused_when_it_is_made() -> None:
    program = trace(lambda x: x + (-x), "auto", {"x": 4})
    with pytest.raises(ProgramError, match="output 'result' is transparent"):
        ran(program, {"x": np.ones(4)})


# ---- what is added, and what is not ------------------------------------------------------------


def masks(function: Callable[..., Any], inputs: Mapping[str, int]) -> int:
    """How many masks a program takes; each is in its notes and in ``explain``."""
    program = trace(function, "auto", inputs)
    assert program.explain().count("are cleared by a product") == len(program.notes)
    return len(program.notes)


def test_only_leftovers_that_depend_on_inputs_take_a_mask() -> None:
    assert masks(lambda x: matvec(W2, matvec(W1, x)), {"x": 8}) == 0  # zeros in the matrix
    assert masks(lambda x: matvec(np.eye(4), x + 1), {"x": 4}) == 0  # a constant is subtracted
    assert masks(lambda a: matmul(matmul(a, a, 4), a, 4), {"a": 16}) == 0  # copies stay copies
    assert masks(lambda x: matvec(W1, x).sum(), {"x": 8}) == 0  # a sum of this number of slots
    assert masks(lambda x: x - x.mean(), {"x": 8}) == 0  # the sum stands in every slot
    assert masks(lambda x: matvec(W1, x).rotate(1), {"x": 8}) == 1
    assert masks(lambda x: inner_product(x, X8, 8) * [1, 2], {"x": 8}) == 1


def test_known_slots_are_cleared_without_a_level() -> None:
    program = trace(
        lambda x: sum_slots(polynomial(x, [0.5, 1, 0.25])), parameter_set("nano"), {"x": 6}
    )
    subtracted = [node for node in program.nodes if node.op is Op.SUB_PLAIN]
    assert len(subtracted) == 1
    assert subtracted[0].plain is not None
    values = subtracted[0].plain.vector(program.parameters.row_size)
    assert not values[:6].any()
    assert np.all(values[6:] == 0.5)
    assert program.outputs["result"].level == program.parameters.levels - 2


FIRST: dict[str, tuple[Callable[..., Any], str]] = {
    "x > 0": (lambda x: x > 0, r"compare\(a, b, margin=…\) is about 1 where a > b"),
    "np.maximum": (lambda x: np.maximum(x, 0), r"np.maximum does not take .*: maximum\(x, y\)"),
    "1 / x": (lambda x: 1 / x, r"inverse takes numbers on one side of 0"),
    "np.exp": (lambda x: np.exp(x), r"np.exp does not take encrypted vectors: exp\(x\)"),
    "np.sin": (
        lambda x: np.sin(x),
        r"chebyshev\(x, np.sin, degree, \(low, high\)\) approximates it",
    ),
    "np.std": (lambda x: np.std(x), r"np.std does not take .*: sqrt\(x.var\(\)\)"),
    "np.sort": (lambda x: np.sort(x), "np.sort does not take encrypted vectors"),
    "steps=1.0": (lambda x: x.rotate(steps=1.0), "rotation by 1.0: use a whole number of slots"),
    "x[0]": (lambda x: x[0], "cannot be taken out"),
    "matvec(x, W)": (lambda x: matvec(x, W1), r"call matvec\(matrix, x\)"),
    "float(x)": (lambda x: float(x), "is not a number"),
}


@pytest.mark.parametrize("name", FIRST)
def test_what_is_typed_first_names_what_to_call(name: str) -> None:
    function, message = FIRST[name]
    with pytest.raises(ProgramError, match=message):
        trace(function, "auto", {"x": 8})


def test_functions_of_one_number_are_taken_too() -> None:
    program = trace(
        lambda x: chebyshev(x, math.exp, 9), AutoParameters(precision_bits=10), {"x": 4}
    )
    x = np.array([-1, 0, 0.5, 1])
    assert np.abs(program.evaluate({"x": x})["result"] - np.exp(x)).max() < 1e-6


# ---- what an attack found ----------------------------------------------------------------------


def test_constants_take_space_too() -> None:
    for function, expected in (
        (lambda x: x + 16, 17),
        (lambda x: 1.8 * x + 32, 33.8),
        (lambda x: 1000 * x + 1e6, 1_001_000),
    ):
        program = trace(function, "auto", {"x": 5})
        assert np.abs(ran(program, {"x": np.ones(5)}) - expected).max() < 1e-2


def test_zeros_behind_fewer_numbers_are_in_the_range_too() -> None:
    program = trace(lambda x: x * x, "auto", {"x": InputSpec(8, bound=(0.5, 1))})
    _, public, _ = program.generate_keys()
    for numbers in ([0.5, 0.7, 1], 0.5):
        with pytest.raises(
            ProgramError, match=r"was given [13], and the zeros that follow are out"
        ):
            program.encrypt(public, {"x": numbers})
        with pytest.raises(ProgramError, match="zeros that follow"):
            program.evaluate({"x": numbers})


def test_nothing_depends_on_a_ring_that_is_chosen() -> None:
    """Where numbers would pass the end of a row, a larger ring is chosen."""
    rotated = trace(lambda x: x.rotate(-1), "auto", {"x": 2048})
    assert rotated.parameters.n == 8192
    assert not rotated.evaluate({"x": np.ones(2048)})["result"][0]
    windows = trace(lambda x: sum_slots(x, 4), "auto", {"x": 2047})
    assert windows.evaluate({"x": np.ones(2047)})["result"][-1] == 1
    with pytest.raises(ProgramError, match="the mean of all slots depends on N"):
        trace(lambda x: x.rotate(1).mean(), "auto", {"x": 5})
    kept = trace(lambda x: ((x.rotate(1) - x) * [1, 1, 1, 1, 0]).mean(), "auto", {"x": 5})
    x = np.array([0.1, 0.2, 0.4, 0.8, 1.0])
    assert np.abs(ran(kept, {"x": x}) - np.diff(x).sum() / 5).max() < 1e-5


def test_a_dot_product_takes_as_many_numbers_as_numpys() -> None:
    for function in (lambda x, y: x @ y, lambda x, y: y @ x, lambda x, y: y.dot(x)):
        with pytest.raises(ProgramError, match="do not fit, as in NumPy"):
            trace(function, "auto", {"x": 5, "y": 1})
    with pytest.raises(ProgramError, match="do not fit"):
        trace(lambda x: x + np.ones(2048), "auto", {"x": 5})
    x = np.arange(5) / 5
    assert np.abs(ran(trace(lambda x: x.dot(2), "auto", {"x": 5}), {"x": x}) - 2 * x).max() < 1e-5
    long = trace(lambda x: x @ np.arange(3000), EXACT, {"x": InputSpec(3000, bound=1)})
    ones = np.arange(3000) % 2
    assert list(ran(long, {"x": ones})) == [ones @ np.arange(3000)]


def test_the_variance_of_complex_numbers_is_numpys() -> None:
    z = np.array([1, -1, 1j, -1j, 1])
    program = trace(lambda z: z.var(), "auto", {"z": InputSpec(5, complex_numbers=True)})
    assert np.abs(program.evaluate({"z": z})["result"] - z.var()).max() < 1e-9
    assert np.abs(program.simulate({"z": z})["result"][0] - z.var()) < 1e-9


def test_polynomials_of_either_kind_mean_the_same() -> None:
    x = np.array([0.5, -1])
    for c in (np.poly1d([1, 2, 3]), np.polynomial.Polynomial([3, 2, 1])):
        program = trace(lambda x, c=c: polynomial(x, c), "auto", {"x": 2})
        assert np.abs(program.evaluate({"x": x})["result"] - (x * x + 2 * x + 3)).max() < 1e-9


def test_the_ends_of_integers_are_exact() -> None:
    program = trace(lambda x: x + 0, EXACT, {"x": InputSpec(2, bound=1000)})
    _, public, _ = program.generate_keys()
    with pytest.raises(ProgramError, match="number 0 is 1001, outside its range"):
        program.encrypt(public, {"x": [1001, 0]})
    wide = AutoBfvParameters(plain_bits=59)
    half = trace(lambda x: x, wide, {"x": 2}, allow_overflow=True).parameters.plain_modulus // 2
    given = AutoBfvParameters(plain_modulus=2 * half + 1)
    for bound in (half, half - 100):
        with pytest.raises(ProgramError, match="may reach"):
            trace(lambda x: x + 1, given, {"x": InputSpec(2, bound=(0, bound))})


def test_a_sum_of_approximations_adds_their_errors() -> None:
    """Of as many numbers as there are, all of them at the worst point of the interpolant."""

    def sigmoid(t: Numbers) -> Numbers:
        return np.asarray(1 / (1 + np.exp(-t)))

    points = np.linspace(-4, 4, 20001)
    series = np.polynomial.Chebyshev.interpolate(sigmoid, 7, domain=[-4, 4])
    worst = float(points[np.argmax(np.abs(series(points) - sigmoid(points)))])
    for count in (4, 1000):
        program = trace(
            lambda x: chebyshev(x, sigmoid, 7, 4).sum(),
            AutoParameters(precision_bits=12),
            {"x": InputSpec(count, bound=4)},
        )
        x = np.full(count, worst)
        error = abs(float(ran(program, {"x": x})[0]) - count * float(sigmoid(np.asarray(worst))))
        total = program.forecast().outputs["result"].total
        assert error <= total <= 1.5 * error


def test_integers_are_promised_with_their_sign() -> None:
    program = trace(lambda x: bounded(x - 3, (-10, 10)) * 2, EXACT, {"x": InputSpec(2, bound=9)})
    assert list(program.evaluate({"x": [-5, 9]})["result"]) == [-16, 12]
    assert list(program.simulate({"x": [-5, 9]})["result"][:2]) == [-16, 12]
    for run in (program.evaluate, program.simulate):
        with pytest.raises(ProgramError, match=r"-12.*, and the range \[-10, 10\] was promised"):
            run({"x": [0, -9]})


def test_a_program_with_declared_ranges_is_saved(tmp_path: Path) -> None:
    for parameters in (EXACT, "auto"):
        program = trace(lambda x: x * x - 7, parameters, {"x": InputSpec(5, bound=99)})  # type: ignore[call-overload]
        program.save(tmp_path / f"{program.parameters.scheme}.rsp")
        again = Program.load(tmp_path / f"{program.parameters.scheme}.rsp")
        assert isinstance(again, Program)
        x = {"x": np.array([99, 1, 2, 3, -99])}
        assert np.allclose(again.evaluate(x)["result"], program.evaluate(x)["result"])


ODD: dict[str, tuple[Callable[..., Any], str]] = {
    "x // 2": (lambda x: x // 2, "encrypted numbers are not rounded"),
    "x % 2": (lambda x: x % 2, "encrypted numbers are not rounded"),
    "x.std()": (lambda x: x.std(), "no std: sqrt"),
    "x.max()": (lambda x: x.max(), r"no max: maximum\(x, y\)"),
    "x.T": (lambda x: x.T, "no T: a vector has one axis"),
    "axis": (lambda x: x.sum(axis=1), "axis = 1: a vector has the axis 0 only"),
    "np.cumsum": (
        lambda x: np.cumsum(x),
        "np.cumsum does not take .*: write it with the operations",
    ),
    "Polynomial(x)": (lambda x: np.polynomial.Polynomial([1, 2])(x), "encrypted"),
    "compare in BFV": (lambda x: compare(x, 0), "compare: BFV computes modulo t"),
}


@pytest.mark.parametrize("name", ODD)
def test_what_vectors_do_not_have_says_what_to_write(name: str) -> None:
    function, message = ODD[name]
    with pytest.raises(ProgramError, match=message) as caught:
        trace(function, EXACT if "BFV" in name else "auto", {"x": 8})  # type: ignore[call-overload]
    assert str(caught.value).startswith(f"{__file__}:")
