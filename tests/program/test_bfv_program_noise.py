"""The noise forecast of BFV programs: never more than there is, and not far off."""

import math
import statistics
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from ringsmith.errors import ProgramError
from ringsmith.params import AutoBfvParameters, BfvParameters, SecurityWarning, parameter_set
from ringsmith.program import EncryptedVector, trace
from ringsmith.schemes.bfv import norms
from ringsmith.schemes.bfv.emitter import NoiseError
from ringsmith.schemes.bfv.norms import Norms

Runner = Callable[..., Any]


def exact(n: int, prime_bits: tuple[int, ...], plain_bits: int, **more: object) -> BfvParameters:
    """Parameters with noise budget for programs; the ring degree may be too small to be secure."""
    literal: dict[str, Any] = {"special_bits": max(prime_bits)} | more
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        return BfvParameters.create(
            n=n, prime_bits=prime_bits, plain_bits=plain_bits, security=None, **literal
        )


def random_program(rng: np.random.Generator, t: int, slots: int, steps: int) -> Runner:
    """Returns a function of x and y of random operations, all of whose values are outputs."""
    kinds = rng.choice(
        ["add", "sub", "multiply", "square", "number", "vector", "shift", "rotate", "swap"], steps
    )
    picks = rng.random((steps, 2))
    numbers = rng.integers(-(t - 1), t, steps)
    small = rng.integers(-9, 10, steps)
    vectors = [rng.integers(0, t, int(rng.integers(1, slots + 1))) for _ in range(steps)]
    rotations = rng.integers(1, slots // 2, steps)

    def function(x: EncryptedVector, y: EncryptedVector) -> dict[str, EncryptedVector]:
        values = [x, y]
        for i, kind in enumerate(kinds):
            # Later values more often, so that depth grows.
            a, b = (values[int(len(values) * math.sqrt(p))] for p in picks[i])
            match kind:
                case "add":
                    value = a + b
                case "sub":
                    if a.index == b.index:  # its noise cancels, as is not forecast
                        b = x if a.index == y.index else y
                    value = a - b
                case "multiply":
                    value = a * b
                case "square":
                    value = a * a
                case "number":
                    value = a * int(small[i] or numbers[i])
                case "vector":
                    value = a * vectors[i]
                case "shift":
                    value = (a - vectors[i]) + int(numbers[i])
                case "rotate":
                    value = -a.rotate(int(rotations[i]))
                case _:
                    value = a.swap_columns()
            values.append(value)
        return {f"v{i}": value for i, value in enumerate(values)}

    return function


def gaps(
    parameters: BfvParameters, rng: np.random.Generator, run_exact: Runner, programs: int
) -> list[int]:
    """Runs random programs, checks every value, and returns how much budget was not promised."""
    found: list[int] = []
    t, n = parameters.plain_modulus, parameters.n
    steps = 12
    while programs:
        try:
            program = trace(random_program(rng, t, n, steps), parameters, "xy", allow_overflow=True)
        except NoiseError:
            steps -= 1  # shorter programs, until they fit
            assert steps, "the parameters hold no program"
            continue
        except ProgramError as error:  # of x * 1 - x, planned as x - x
            if "is the same for all inputs" not in str(error):
                raise
            continue
        inputs = {name: rng.integers(0, t, n) for name in "xy"}
        try:
            run = run_exact(program, inputs)
        except ProgramError as error:  # of (x - y) + (y - x), a ciphertext of zeros
            if "is transparent" not in str(error):
                raise
            continue
        programs -= 1
        expected = program.evaluate(inputs)
        for name, promised in program.forecast().outputs.items():
            assert promised >= 1
            assert run.budgets[name] >= promised, (name, program.explain())
            assert np.array_equal(run.decrypted[name], expected[name]), (name, program.explain())
            found.append(run.budgets[name] - promised)
    return found


@pytest.mark.parametrize(
    ("n", "prime_bits", "plain_bits", "programs"),
    [
        (1024, (40,) * 4, 14, 8),
        (1024, (45,) * 5, 30, 8),
        (2048, (50,) * 4, 20, 6),
        (2048, (36,) * 3, 14, 6),
        (4096, (36,) * 6, 17, 4),
        (8192, (43,) * 4, 20, 3),
        (8192, (58,) * 6, 58, 2),
        pytest.param(16384, (48,) * 8, 33, 8, marks=pytest.mark.full),
        pytest.param(32768, (55,) * 14, 50, 6, marks=pytest.mark.full),
        pytest.param(1024, (40,) * 4, 14, 300, marks=pytest.mark.full),
        pytest.param(2048, (50,) * 4, 20, 100, marks=pytest.mark.full),
        pytest.param(8192, (43,) * 4, 20, 40, marks=pytest.mark.full),
    ],
)
def test_no_value_of_a_random_program_has_less_budget_than_forecast(
    n: int,
    prime_bits: tuple[int, ...],
    plain_bits: int,
    programs: int,
    rng: np.random.Generator,
    run_exact: Runner,
) -> None:
    found = gaps(exact(n, prime_bits, plain_bits), rng, run_exact, programs)
    assert statistics.median(found) <= 15  # and not far off


@pytest.mark.parametrize(
    "more",
    [
        {"multiplication": "hps"},
        {"relinearization": "word", "word_bits": 20, "special_bits": ()},
        {"relinearization": "residue", "special_bits": ()},
        {"relinearization": "residue", "dnum": 2, "special_bits": ()},
        {"dnum": 2, "special_bits": (41, 41)},
        {"error_deviation": 102.0},
        {
            "multiplication": "hps",
            "relinearization": "word",
            "word_bits": 60,
            "special_bits": (),
            "error_deviation": 102.0,
        },
    ],
)
def test_the_forecast_holds_for_every_variant_of_the_operations(
    more: dict[str, Any], rng: np.random.Generator, run_exact: Runner
) -> None:
    gaps(exact(2048, (40,) * 4, 16, **more), rng, run_exact, 5)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_a_program_at_the_end_of_its_budget_still_decrypts(
    depth: int, rng: np.random.Generator, run_exact: Runner
) -> None:
    wish = AutoBfvParameters(plain_bits=20, multiplication="behz" if depth % 2 else "hps")
    program = trace(lambda x: (x * 3 - 1) ** (1 << depth), wish, allow_overflow=True)
    assert program.forecast().bits in (1, 2)
    inputs = {"x": rng.integers(0, program.parameters.plain_modulus, program.parameters.n)}
    run = run_exact(program, inputs)
    assert np.array_equal(run.decrypted["result"], program.evaluate(inputs)["result"])
    assert run.budgets["result"] <= 1 + 6 * (depth + 1)  # the promise is not wasteful


def test_a_negative_number_costs_no_more_budget_than_its_magnitude(
    rng: np.random.Generator, run_exact: Runner
) -> None:
    """Lifted from modulo t as SEAL does it, -3 would be t - 3, and cost all bits of t."""
    parameters = exact(1024, (40, 40), 30)
    budgets = []
    for factor in (3, -3):
        program = trace(lambda x, k=factor: x * k, parameters, ["x"], allow_overflow=True)
        inputs = {"x": rng.integers(0, parameters.plain_modulus, 1024)}
        run = run_exact(program, inputs)
        assert np.array_equal(run.decrypted["result"], program.evaluate(inputs)["result"])
        assert run.budgets["result"] >= program.forecast().bits
        budgets.append(program.forecast().bits)
    assert budgets[0] == budgets[1]
    vector = trace(
        lambda x: x * ([-3] * 1024), parameters, allow_overflow=True
    )  # a polynomial of one coefficient, too
    assert vector.forecast().bits < budgets[0] - 20
    inputs = {"x": rng.integers(0, parameters.plain_modulus, 1024)}
    run = run_exact(vector, inputs)
    assert run.budgets["result"] >= vector.forecast().bits
    assert np.array_equal(run.decrypted["result"], vector.evaluate(inputs)["result"])


def test_the_forecast_holds_on_heaws_parameters(
    rng: np.random.Generator, run_exact: Runner
) -> None:
    """Two words of 90 bits make relinearization the largest noise of all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        heaws = parameter_set("heaws")
        assert isinstance(heaws, BfvParameters)
        with pytest.raises(ProgramError, match="t = 2 does not batch"):
            trace(lambda x: x**4, heaws)
        batching = replace(heaws, plain_modulus=40961, extension_primes=())
    program = trace(lambda x: x**4, batching, allow_overflow=True)
    inputs = {"x": rng.integers(0, 40961, heaws.n)}
    run = run_exact(program, inputs)
    assert run.budgets["result"] >= program.forecast().bits
    assert np.array_equal(run.decrypted["result"], program.evaluate(inputs)["result"])


# ---- norms ------------------------------------------------------------------------------------


def measured(a: np.ndarray[Any, Any]) -> Norms:
    """log2 of the norms of a polynomial."""
    n = a.size
    slots = np.abs(np.fft.fft(a * np.exp(1j * np.pi * np.arange(n) / n))).max()
    return Norms(*(math.log2(x) for x in (np.abs(a).max(), np.linalg.norm(a), slots)))


def negacyclic(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The product in R[x]/(x^N + 1), by definition."""
    full = np.convolve(a, b)
    full.resize(2 * a.size)
    return full[: a.size] - full[a.size :]


def at_most(found: Norms, bound: Norms) -> bool:
    """Whether no norm exceeds its bound, but for rounding of doubles."""
    pairs = zip(
        (found.largest, found.length, found.slots),
        (bound.largest, bound.length, bound.slots),
        strict=True,
    )
    return all(new <= old + 1e-9 for new, old in pairs)


@pytest.mark.parametrize("n", [8, 64, 1024])
def test_norms_of_sums_and_products_hold_whatever_the_factors(
    n: int, rng: np.random.Generator
) -> None:
    for a, b in (
        (rng.normal(size=n), rng.normal(size=n)),
        (np.ones(n), np.ones(n)),  # all of it in the embeddings nearest to 1
        (rng.normal(size=n),) * 2,
        (np.eye(n)[n // 2] * 7.0, rng.integers(-5, 6, n) + 0.5),
    ):
        norms_a, norms_b = measured(a), measured(b)
        assert at_most(measured(negacyclic(a, b)), norms.multiply(norms_a, norms_b))
        assert at_most(measured(a + b), norms.add(norms_a, norms_b))
        assert at_most(norms_a, norms.bounded(n, float(np.abs(a).max())))


@pytest.mark.parametrize("n", [1024, 4096])
def test_what_is_drawn_stays_within_its_norms(n: int, rng: np.random.Generator) -> None:
    for _ in range(50):
        uniform = rng.uniform(-0.5, 0.5, n)
        secret = rng.integers(-1, 2, n).astype(float)
        error = np.rint(rng.normal(0, 3.24, n))
        assert at_most(measured(uniform), norms.drawn(n, 1 / 12, 0.5))
        assert at_most(measured(secret), norms.drawn(n, 2 / 3, 1.0))
        product = np.fft.ifft(spectrum(uniform) * spectrum(secret)) / twist(n)
        assert at_most(measured(product.real), norms.drawn_product(n, 1 / 12, 2 / 3))
        known = measured(uniform)
        product = np.fft.ifft(spectrum(uniform) * spectrum(error)) / twist(n)
        assert at_most(measured(product.real), norms.times_drawn(n, known, 10.6))


@pytest.mark.parametrize("log_n", range(10, 17))
def test_a_length_exceeds_its_norm_with_less_than_2_to_the_minus_45(log_n: int) -> None:
    n = 1 << log_n
    factor = 2 ** (2 * norms.drawn(n, 7.0).length) / (7.0 * n)
    assert -60 < squares_tail(n, factor) <= -45  # and not wasteful
    factor = 2 ** (2 * norms.drawn_product(n, 7.0, 3.0).length) / (21.0 * n**2)
    assert products_tail(n, factor) <= -45


def squares_tail(n: int, factor: float) -> float:
    """log2 of the probability that the mean of n squared standard Gaussians exceeds a factor.

    For an even n, that is the probability of fewer than n/2 events where n * factor / 2 are due.
    """
    due = n * factor / 2
    logs = [k * math.log(due) - math.lgamma(k + 1) - due for k in range(n // 2)]
    return float(np.logaddexp.reduce(logs)) / math.log(2)


def products_tail(n: int, factor: float) -> float:
    """log2 of at most the probability that a product's squared length exceeds its mean so often.

    That is a mean of n/2 products x * y of exponentials, the squared embeddings of both factors.
    Those with a y above 42.25 count as exceeding by themselves; for the others Chernoff's bound,
    where exp(r * x * y) has the mean 1 / (1 - r * y) over x.
    """
    limit, pairs = 42.25, n // 2
    y = np.linspace(0, limit, 100_001)
    chernoff = min(
        pairs * (math.log(np.trapezoid(np.exp(-y) / (1 - rate * y), y)) - rate * factor)
        for rate in np.linspace(0, 0.99 / limit, 100)
    )
    return float(np.logaddexp(chernoff, math.log(pairs) - limit)) / math.log(2)


def twist(n: int) -> np.ndarray[Any, Any]:
    """The powers of a primitive 2N-th root, which make a product negacyclic."""
    return np.exp(1j * np.pi * np.arange(n) / n)


def spectrum(a: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The embeddings of a polynomial."""
    return np.fft.fft(a * twist(a.size))
