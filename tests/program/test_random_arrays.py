"""Random programs: NumPy, ``evaluate``, ``simulate`` and the CPU device agree, or it is refused."""

import warnings
from collections import Counter
from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.program.random_arrays import RandomProgram, random_program

from ringsmith import AutoBfvParameters, AutoParameters, compile_program, open_device, trace
from ringsmith.errors import ProgramError
from ringsmith.params import BfvParameters, CkksParameters, RlweParameters, SecurityWarning
from ringsmith.params.security import STANDARDS
from ringsmith.program import CkksProgram, InputSpec, Program

BOUND = 3
"""Magnitude of the integers that BFV's programs take."""
REASONS = {
    "overflow: ": "overflow",
    "may reach": "overflow",
    "leaves the integers": "overflow",
    "is the same for all inputs": "constant",
    "out of levels": "levels",
    "out of noise budget": "budget",
    "past the end of a row": "row",
    "is encoded as zero": "plain",
    "needs": "plain",
    "do not fit, as in NumPy": "shapes",
    "and the vector holds": "shapes",
    "no parameters fit": "parameters",
}


@pytest.fixture(scope="module", params=["ckks", "bfv"])
def parameters(request: pytest.FixtureRequest) -> RlweParameters:
    """Small rings with many levels, or much noise budget."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        if request.param == "ckks":
            return CkksParameters.create(
                n=256 * 4,
                prime_bits=[60, *[35] * 12],
                special_bits=60,
                scale_bits=35,
                security=None,
            )
        return BfvParameters.create(
            n=1024,
            prime_bits=[60] * 6,
            special_bits=60,
            plain_bits=45,
            security=None,
        )


def traced(
    made: RandomProgram,
    parameters: RlweParameters | AutoParameters | AutoBfvParameters,
    bounds: Mapping[str, float],
) -> Program | str:
    """The planned program, or why it is refused."""
    inputs = {name: InputSpec(size, bound=bounds[name]) for name, size in made.lengths.items()}
    try:
        return trace(made.encrypted, parameters, inputs)
    except ProgramError as error:
        message = str(error)
    reason = next((name for words, name in REASONS.items() if words in message), "")
    assert reason, f"refused for another reason: {message}\n{made}"
    assert (reason == "shapes") <= (not made.fits), f"NumPy takes it: {message}\n{made}"
    return reason


def numbers(
    made: RandomProgram, rng: np.random.Generator, *, exact: bool
) -> dict[str, NDArray[np.generic]]:
    """Random inputs; half of them at the ends of their ranges."""
    found: dict[str, NDArray[np.generic]] = {}
    for name, length in made.lengths.items():
        if exact:
            found[name] = rng.integers(-BOUND, BOUND + 1, length)
        else:
            found[name] = rng.choice([rng.uniform(-1, 1, length), rng.choice([-1.0, 1.0], length)])
    return found


def check(
    count: int, parameters: RlweParameters, rng: np.random.Generator, *, encrypted: int
) -> Counter[str]:
    """Checks random programs, and some of them on the CPU device."""
    reasons: Counter[str] = Counter()
    for index in range(count):
        seed = int(rng.integers(1 << 32))
        own = np.random.default_rng(seed)
        made = random_program(own, parameters.row_size, exact=parameters.exact)
        bound = BOUND if parameters.exact else 1.0
        program = traced(made, parameters, dict.fromkeys(made.lengths, bound))
        if isinstance(program, str):
            reasons[program] += 1
            if program == "constant":
                pair = (made.clear(numbers(made, own, exact=parameters.exact)) for _ in range(2))
                moved = any("rotat" in step.text for step in made.steps)
                assert moved or np.allclose(next(pair), next(pair)), f"{seed}: not constant\n{made}"
            continue
        assert made.fits, f"seed {seed}: NumPy refuses the shapes\n{made}"
        reasons["ran"] += 1
        inputs = numbers(made, own, exact=parameters.exact)
        expected = made.clear(inputs)
        message = f"seed {seed}\n{made}\n{expected[:20]}"
        shown = program.output_lengths["result"]
        expected = expected[:shown]
        assert shown == expected.size, message
        size = max(1.0, float(np.abs(expected).max()))
        for found in (program.evaluate(inputs)["result"], program.simulate(inputs)["result"]):
            assert np.abs(found[:shown] - expected).max() <= 1e-9 * size, f"{message}\n{found[:20]}"
        if encrypted and index % encrypted == 0:
            check_encrypted(program, inputs, expected, message)
    return reasons


def check_encrypted(
    program: Program,
    inputs: Mapping[str, NDArray[np.generic]],
    expected: NDArray[np.generic],
    message: str,
) -> None:
    """Runs a program on the CPU device: the result is within its forecast."""
    secret, public, keys = program.generate_keys()
    compiled, device = compile_program(program), open_device("cpu")
    try:
        result = compiled.run(device, program.encrypt(public, inputs), keys)
    except ProgramError as error:  # (v + 1) - v, which is 1 whatever v is
        if "is transparent" not in str(error):
            raise
        zeros = {name: np.zeros_like(vector) for name, vector in inputs.items()}
        assert np.allclose(expected, program.evaluate(zeros)["result"]), message
        return
    found = program.decrypt(secret, result.outputs)["result"]
    allowed = program.forecast().outputs["result"].error if isinstance(program, CkksProgram) else 0
    assert np.abs(found - expected).max() <= allowed, f"{message}\n{found[:20]}"


def test_random_programs_mean_what_numpy_means(
    parameters: RlweParameters, rng: np.random.Generator
) -> None:
    reasons = check(400, parameters, rng, encrypted=40)
    print(reasons)
    assert reasons["ran"] > 200
    assert reasons["shapes"] > 20


@pytest.mark.full
def test_ten_thousand_random_programs_mean_what_numpy_means(
    parameters: RlweParameters, rng: np.random.Generator
) -> None:
    reasons = check(10_000, parameters, rng, encrypted=100)
    print(reasons)
    assert reasons["ran"] > 5000


@pytest.mark.parametrize("level", [128, 192, 256])
def test_automatic_parameters_stay_within_the_bounds_of_2024(
    rng: np.random.Generator, level: int
) -> None:
    """Whatever is asked of random programs; some fill the bound to the last bits."""
    bounds, least = STANDARDS["2024"].bounds[level], 1 << 16
    for _ in range(25):
        seed = int(rng.integers(1 << 32))
        own = np.random.default_rng(seed)
        exact = bool(own.integers(2))
        made = random_program(own, 512, exact=exact, growing=not exact)
        wish: AutoParameters | AutoBfvParameters
        if exact:
            wish = AutoBfvParameters(
                plain_bits=int(own.integers(17, 40)),
                margin_bits=int(own.integers(1, 60)),
                security=level,
            )
        else:
            wish = AutoParameters(precision_bits=int(own.integers(2, 25)), security=level)
        program = traced(made, wish, dict.fromkeys(made.lengths, 4.0))
        if isinstance(program, str):
            continue
        n, log_qp = program.parameters.n, program.parameters.log_qp
        assert log_qp <= bounds[n], f"seed {seed}: {wish}\n{made}"
        least = min(least, bounds[n] - log_qp)
    assert least <= 40, "no program came near the bound"


def check_automatic(count: int, rng: np.random.Generator) -> int:
    """Runs random programs with automatic parameters, inputs at the ends of their ranges."""
    done = 0
    for _ in range(count):
        seed = int(rng.integers(1 << 32))
        own = np.random.default_rng(seed)
        made = random_program(own, 4096, exact=False, growing=True)
        bounds = {name: float(2 ** own.uniform(-2, 8)) for name in made.lengths}
        program = traced(made, AutoParameters(precision_bits=2, max_n=16384), bounds)
        if isinstance(program, str):
            continue
        vectors = {n: own.choice([-b, b], made.lengths[n]) for n, b in bounds.items()}
        expected = made.clear(vectors)[: program.output_lengths["result"]]
        check_encrypted(program, vectors, expected, f"seed {seed} {bounds}\n{made}\n{expected}")
        done += 1
    return done


def test_automatic_parameters_hold_what_random_programs_grow_to(rng: np.random.Generator) -> None:
    assert check_automatic(12, rng) >= 4


@pytest.mark.full
def test_automatic_parameters_hold_what_many_programs_grow_to(rng: np.random.Generator) -> None:
    assert check_automatic(300, rng) > 100
