"""Functions of encrypted numbers, against NumPy's and math's, on random intervals."""

import math
import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ringsmith
from ringsmith import (
    AutoBfvParameters,
    AutoParameters,
    CkksParameters,
    EncryptedVector,
    InputSpec,
    Program,
    absolute,
    bounded,
    chebyshev,
    compare,
    compile_program,
    exp,
    gelu,
    inverse,
    log,
    maximum,
    minimum,
    open_device,
    polynomial,
    relu,
    sigmoid,
    sign,
    sqrt,
    tanh,
    trace,
)
from ringsmith.errors import ProgramError
from ringsmith.graph.operations import Op
from ringsmith.params import SecurityWarning
from ringsmith.program import CkksProgram
from ringsmith.program.packing import tensors
from ringsmith.program.plans import (
    Chain,
    Goldschmidt,
    Squarings,
    default_error,
    plan_of_degree,
    plan_of_error,
)

Numbers = NDArray[np.float64]
Oracle = Callable[[Numbers], Numbers]
SLACK = 1.05

ORACLES: dict[str, Oracle] = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "inverse": lambda x: 1 / x,
    "relu": lambda x: np.where(x > 0, x, 0),
    "gelu": lambda x: np.array([v / 2 * math.erfc(-v / math.sqrt(2)) for v in x]),
    "absolute": np.abs,
}
FUNCTIONS: dict[str, Callable[..., EncryptedVector]] = {
    name: getattr(ringsmith, name) for name in ORACLES
}
POSITIVE = ("log", "sqrt", "inverse")


def small(levels: int) -> CkksParameters:
    """Parameters for as many levels, far from secure."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        return CkksParameters.create(
            n=1024, prime_bits=[60] + [45] * levels, special_bits=60, scale_bits=45, security=None
        )


def a_domain(name: str, rng: np.random.Generator) -> tuple[float, float]:
    """An interval that the function takes: symmetric, on both sides of 0, or above 0."""
    size = float(10 ** rng.uniform(-0.5, 1))
    if name in POSITIVE:
        ends = (size * float(rng.uniform(0.02, 0.8)), size)
        return (-ends[1], -ends[0]) if name == "inverse" and rng.random() < 0.3 else ends
    return (-size, size) if rng.random() < 0.5 else (-size * float(rng.uniform(0.1, 1)), size)


@pytest.mark.parametrize("name", ORACLES)
def test_the_error_on_random_intervals_is_the_one_that_is_stated(
    name: str, rng: np.random.Generator
) -> None:
    least, count = (0, 3) if name in ("relu", "absolute") else (-2, 6)  # theirs take long
    for _ in range(count):
        domain = a_domain(name, rng)
        allowed = default_error(name, domain) * float(2 ** rng.uniform(least, 5))
        plan = plan_of_error(name, domain, allowed)
        assert plan is not None, (domain, allowed)
        x = np.linspace(*domain, 30_011)
        found = float(np.abs(plan.form.values(x) - ORACLES[name](x)).max())
        assert found <= plan.error * SLACK, (domain, plan.text)
        assert plan.error <= allowed
        assert found >= plan.error / 1.1, (domain, plan.text)


@pytest.mark.parametrize("name", ORACLES)
def test_a_degree_has_the_error_that_is_stated_and_one_more_has_no_larger_one(
    name: str, rng: np.random.Generator
) -> None:
    domain = a_domain(name, rng)
    x = np.linspace(*domain, 30_011)
    errors = []
    for degree in (2, 3, 4, 9, 10):
        plan = plan_of_degree(name, domain, degree)
        assert plan is not None
        found = float(np.abs(plan.form.values(x) - ORACLES[name](x)).max())
        assert found <= plan.error * SLACK
        assert plan.form.cost.levels <= degree.bit_length() + 1
        errors.append(plan.error)
    assert all(later <= before * 1.001 for before, later in pairwise(errors))


@pytest.mark.parametrize("name", ["tanh", "sigmoid", "gelu", "relu", "absolute"])
def test_odd_and_even_functions_have_polynomials_with_half_of_the_terms(name: str) -> None:
    plan = plan_of_error(name, (-3.0, 3.0), default_error(name, (-3.0, 3.0)))
    assert plan is not None
    assert isinstance(plan.form, Chain)
    c = plan.form.stages[0].coefficients
    kept = {"tanh": 0, "absolute": 0, "sigmoid": 1, "gelu": 1, "relu": 1}[name]
    odd = name in ("tanh", "sigmoid")
    assert np.count_nonzero(c[::2] if odd else c[1::2]) == kept


def test_the_cheapest_form_is_taken() -> None:
    """One polynomial, squarings, Goldschmidt's iteration, or x times a sign."""
    forms = {
        Squarings: plan_of_error("exp", (-20.0, 20.0), math.exp(20) / 1024),
        Goldschmidt: plan_of_error("inverse", (0.5, 1.0), 2.0**-24),
    }
    for form, plan in forms.items():
        assert plan is not None
        assert isinstance(plan.form, form)
    sharp = plan_of_error("relu", (-1.0, 1.0), 2.0**-12)
    assert sharp is not None
    assert isinstance(sharp.form, Chain)
    assert sharp.form.factor
    smooth = plan_of_error("relu", (-1.0, 1.0), 2.0**-6)
    assert smooth is not None
    assert isinstance(smooth.form, Chain)
    assert not smooth.form.factor


def test_no_single_polynomial_costs_less_than_the_form_that_is_taken() -> None:
    for name, domain in (("exp", (-8.0, 2.0)), ("inverse", (0.3, 1.0)), ("sigmoid", (-4.0, 4.0))):
        allowed = default_error(name, domain) / 4
        taken = plan_of_error(name, domain, allowed)
        assert taken is not None
        for degree in range(1, 32):
            plan = plan_of_degree(name, domain, degree)
            if plan is not None and plan.error <= allowed:
                assert not plan.form.cost < taken.form.cost, (name, plan.text, taken.text)


# ---- programs ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ORACLES)
def test_levels_and_products_are_those_that_are_stated(name: str) -> None:
    domain = (0.2, 1.5) if name in POSITIVE else (-2.0, 1.5)
    program = trace(
        lambda x: FUNCTIONS[name](x, error=0.01), small(9), {"x": InputSpec(8, bound=domain)}
    )
    plan = plan_of_error(name, domain, 0.01)
    assert plan is not None
    used = program.parameters.levels + 1 - program.outputs["result"].limbs
    products = sum(node.op in (Op.MULTIPLY, Op.SQUARE) for node in program.nodes)
    assert products == plan.form.cost.products
    with pytest.raises(ProgramError):
        trace(
            lambda x: FUNCTIONS[name](x, error=0.01),
            small(plan.form.cost.levels - 1),
            {"x": InputSpec(8, bound=domain)},
        )
    assert used >= plan.form.cost.levels
    assert f"{name} by {plan.text}" in program.explain()
    assert program.forecast().outputs["result"].approximation == plan.error


def ran(program: Program, x: Numbers) -> Numbers:
    """What a program decrypts to; it is checked against the forecast and ``simulate``."""
    assert isinstance(program, CkksProgram)
    secret, public, keys = program.generate_keys()
    result = compile_program(program).run(
        open_device("cpu"), program.encrypt(public, {"x": x}), keys
    )
    found = program.decrypt(secret, result.outputs)["result"]
    meant = program.evaluate({"x": x})["result"].real
    forecast = program.forecast()
    assert np.abs(found - meant).max() <= forecast.outputs["result"].error
    assert np.abs(program.simulate({"x": x})["result"][: x.size] - meant).max() < 1e-9
    assert forecast.overflows == ()
    return found


@pytest.mark.parametrize(
    ("name", "bound", "options"),
    [
        ("sigmoid", 8, {}),
        ("absolute", 1, {"error": 0.02}),
        ("exp", (-8, 1), {}),
        ("inverse", (0.3, 1), {"error": 4e-4}),
        ("relu", (-1, 2), {"degree": 8}),
        ("sqrt", (0.5, 1), {}),
    ],
)
def test_encrypted_results_err_by_what_is_forecast(
    name: str, bound: float | tuple[float, float], options: dict[str, Any], rng: np.random.Generator
) -> None:
    program = trace(
        lambda x: FUNCTIONS[name](x, **options), small(6), {"x": InputSpec(100, bound=bound)}
    )
    low, high = bound if isinstance(bound, tuple) else (-bound, bound)
    x = rng.uniform(low, high, 100)
    x[:2] = low, high
    error = np.abs(ran(program, x) - ORACLES[name](x)).max()
    assert error <= program.forecast().outputs["result"].total


def test_x_times_a_sign_runs_encrypted(rng: np.random.Generator) -> None:
    program = trace(lambda x: relu(x, error=2.0**-12), small(17), {"x": InputSpec(64, bound=2)})
    assert "x times" in program.explain()
    x = rng.uniform(-2, 2, 64)
    error = np.abs(ran(program, x) - np.maximum(x, 0)).max()
    assert error <= program.forecast().outputs["result"].total
    assert program.forecast().outputs["result"].approximation <= 2.0**-12


def test_the_interval_follows_from_ranges_and_functions_compose() -> None:
    program = trace(
        lambda x: log(1 + exp(x)), AutoParameters(precision_bits=8), {"x": InputSpec(8, bound=2)}
    )
    assert "exp by 1 polynomial of degree 5 on [-2, 2]" in program.explain()
    x = np.linspace(-2, 2, 8)
    found = program.evaluate({"x": x})["result"].real
    assert np.abs(found - np.log1p(np.exp(x))).max() < 2.0**-6


def test_slots_behind_the_numbers_lie_in_the_interval_too() -> None:
    program = trace(inverse, small(6), {"x": InputSpec(4, bound=(0.5, 1))})
    slots = program.simulate({"x": [0.5, 0.7, 0.9, 1]})["result"]
    assert np.abs(slots).max() < 2.01


@pytest.mark.parametrize("call", [abs, np.abs, np.fabs])
def test_pythons_and_numpys_magnitudes_are_absolute(call: Callable[..., Any]) -> None:
    inputs = {"x": InputSpec(4, bound=1)}
    found = trace(lambda x: call(x), small(9), inputs)
    meant = trace(lambda x: absolute(x), small(9), inputs)
    assert len(found.nodes) == len(meant.nodes)
    x = [0.5, -0.5, -1, 0]
    assert (found.evaluate({"x": x})["result"] == meant.evaluate({"x": x})["result"]).all()


def test_numbers_on_one_side_of_zero_take_no_polynomial() -> None:
    x = [0.5, 1, 2, 0.75]
    inputs = {"x": InputSpec(4, bound=(0.5, 2))}
    for function, factor in ((relu, 1), (absolute, 1), (lambda v: absolute(-v), 1)):
        program = trace(lambda x, f=function: f(x) * 2, small(1), inputs)
        assert program.outputs["result"].limbs == 1
        found = program.evaluate({"x": x})["result"]
        assert np.abs(found - 2 * factor * np.array(x)).max() < 1e-12
    with pytest.raises(ProgramError, match=r"relu is 0 for all numbers in \[-2, -0.5\]"):
        trace(lambda x: relu(-x), small(3), inputs)


WRONG: dict[str, tuple[Callable[[Any], Any], str]] = {
    "log": (lambda x: log(x), r"log takes numbers above 0, and x may lie in \[-1, 1\].*bounded"),
    "log of 0": (lambda x: log(bounded(x, (0, 1))), "log takes numbers above 0"),
    "sqrt": (lambda x: sqrt(x), r"sqrt takes numbers from 0, and x may lie in \[-1, 1\]"),
    "inverse": (lambda x: inverse(x), "inverse takes numbers on one side of 0"),
    "inverse of 0": (lambda x: inverse(x, interval=(0, 1)), "inverse takes numbers on one side"),
    "both": (lambda x: tanh(x, degree=3, error=0.1), "tanh takes degree or error, not both"),
    "degree": (lambda x: tanh(x, degree=0), "degree = 0 is not a whole number in 1 … 511"),
    "half": (lambda x: tanh(x, degree=1.5), "degree = 1.5 is not a whole number"),
    "constant": (lambda x: absolute(x, degree=1), "degree = 1: .* is a constant: take degree 2"),
    "error": (lambda x: exp(x, error=0), "error = 0 is not a number above 0"),
    "text": (lambda x: exp(x, error="1"), "error = '1' is not a number above 0"),
    "interval": (lambda x: gelu(x, interval=(2, 1)), "is no range"),
    "point": (lambda x: gelu(x, interval=(1, 1)), "is one number"),
    "outside": (lambda x: sigmoid(x, interval=0.5), r"may lie in \[-1, 1\] .* is \[-0.5, 0.5\]"),
    "exact": (
        lambda x: sqrt(bounded(x, (0, 1)), error=1e-9),
        "no polynomial of sqrt to degree 511",
    ),
    "great": (lambda x: exp(x, interval=2000), "exp exceeds double precision"),
    "complex": (lambda x: tanh(x * 1j), "tanh: the numbers have no range of real numbers"),
    "number": (lambda x: tanh(0.5), r"stands where the encrypted vector x does: call tanh\(x\)"),  # type: ignore[type-var]
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_approximated_is_refused_at_its_line(name: str) -> None:
    function, message = WRONG[name]
    with pytest.raises(ProgramError, match=rf"test_approximations.py:\d+: .*{message}"):
        trace(function, small(9), {"x": 4})


@pytest.mark.parametrize("name", ORACLES)
def test_bfv_has_no_fractions(name: str) -> None:
    with pytest.raises(ProgramError, match=f"{name} has fractions for coefficients"):
        trace(FUNCTIONS[name], AutoBfvParameters(plain_bits=20), {"x": 4})


# ---- arrays --------------------------------------------------------------------------------

ARRAYS: dict[str, tuple[Callable[..., Any], Callable[[Numbers, Numbers], Numbers], float]] = {
    "sigmoid": (lambda a, b: sigmoid(a) + b, lambda a, b: ORACLES["sigmoid"](a) + b, 2e-3),
    "exp": (lambda a, b: exp(a, error=0.01) + b, lambda a, b: np.exp(a) + b, 0.011),
    "absolute": (lambda a, b: absolute(a, error=0.02) + b, lambda a, b: np.abs(a) + b, 0.021),
    "polynomial": (
        lambda a, b: polynomial(a, [1, 0, 2]) + b,
        lambda a, b: 1 + 2 * a * a + b,
        1e-9,
    ),
    "chebyshev": (
        lambda a, b: chebyshev(a, np.sin, 9, (-1, 2)) + b,
        lambda a, b: np.sin(a) + b,
        1e-4,
    ),
    "sign": (lambda a, b: sign(a / 2, margin=0.1) + b, lambda a, b: np.sign(a) + b, 2.0**-7),
    "compare": (lambda a, b: compare(a, b, margin=0.3), lambda a, b: 1.0 * (a > b), 2.0**-7),
    "span": (lambda a, b: compare(a, b, span=3, margin=0.3), lambda a, b: 1.0 * (a > b), 2.0**-7),
    "maximum": (lambda a, b: maximum(a, b, margin=0.3), np.maximum, 0.02),
    "minimum": (lambda a, b: minimum(a, b, margin=0.3), np.minimum, 0.02),
    "a number": (
        lambda a, b: maximum(a, 0.25, margin=0.3) + b,
        lambda a, b: np.maximum(a, 0.25) + b,
        0.15,  # some numbers are closer to 0.25 than the margin
    ),
    "padded": (
        lambda a, b: inverse(1.5 + a.reshape(30, 23)[3:, 1:]) + b.reshape(30, 23)[3:, 1:],
        lambda a, b: 1 / (1.5 + a.reshape(30, 23)[3:, 1:]) + b.reshape(30, 23)[3:, 1:],
        4e-3,
    ),
}


def simulated(program: Program, inputs: dict[str, Any]) -> NDArray[Any]:
    """What the slots of the result hold, as an array."""
    return tensors(program.packed_outputs, program.simulate(inputs))["result"]


@pytest.mark.parametrize("name", ARRAYS)
def test_functions_apply_to_every_entry_of_an_array(name: str, rng: np.random.Generator) -> None:
    """An array of two ciphertexts; ``evaluate`` and ``simulate`` compute by one polynomial."""
    function, oracle, error = ARRAYS[name]
    a = rng.uniform(-1, 2, (10, 69))
    b = np.where(rng.random((10, 69)) < 0.5, a - 0.35, a + 0.35).clip(-1, 1)
    a = np.where(np.abs(a - b) < 0.3, b + 0.3, a)
    a = np.where(np.abs(a) < 0.2, 0.2, a)
    a = np.where(np.abs(a - b) < 0.3, b + 0.5, a)
    inputs = {"a": InputSpec((10, 69), bound=(-1, 2)), "b": InputSpec((10, 69), bound=1)}
    program = trace(function, small(12), inputs)
    numbers = {"a": a, "b": b}
    meant = program.evaluate(numbers)["result"].real
    assert np.abs(simulated(program, numbers).real - meant).max() < 1e-9
    assert np.abs(meant - oracle(a, b)).max() <= error


def test_an_array_runs_encrypted(rng: np.random.Generator) -> None:
    program = trace(
        lambda x: absolute(sigmoid(x).sum(axis=1) - 10, error=0.2) * 2,
        small(12),
        {"x": InputSpec((8, 20), bound=4)},
    )
    x = rng.uniform(-4, 4, (8, 20))
    secret, public, keys = program.generate_keys()
    encrypted = program.encrypt(public, {"x": x})
    result = compile_program(program).run(open_device("cpu"), encrypted, keys)
    found = program.decrypt(secret, result.outputs)["result"]
    assert found.shape == (8,)
    assert np.abs(found - program.evaluate({"x": x})["result"]).max() < 1e-3
    meant = 2 * np.abs((1 / (1 + np.exp(-x))).sum(axis=1) - 10)
    assert np.abs(found - meant).max() < 0.45


def test_polynomials_of_arrays_are_exact_in_bfv(rng: np.random.Generator) -> None:
    program = trace(
        lambda x: polynomial(x, [3, -1, 2]),
        AutoBfvParameters(plain_bits=30),
        {"x": InputSpec((3, 5), bound=1000)},
    )
    x = rng.integers(-1000, 1001, (3, 5))
    for found in (program.evaluate({"x": x})["result"], simulated(program, {"x": x})):
        assert (found == 3 - x + 2 * x * x).all()


def test_powers_leave_out_what_a_search_leaves_of_zeros() -> None:
    low, high = -3.5760815689072025, 3.7368159818747646  # the best polynomial has no odd terms
    program = trace(
        lambda x: ringsmith.gelu(x, error=0.06), "auto", {"x": InputSpec((4,), bound=(low, high))}
    )
    plain = [node.plain.values for node in program.nodes if node.plain is not None]
    assert min(float(np.abs(values).max()) for values in plain) > 1e-6
