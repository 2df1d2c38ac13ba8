"""HEIR's modules on designs that take few primes: parameters are found, compile, and compute."""

import numpy as np
import pytest
from tests.heir.make import PROGRAMS
from tests.heir.test_heir import HIGHEST, PLAIN, TOLERANCE, inputs_of, run, traced_of

from ringsmith import CkksParameters, Program, compile_program
from ringsmith.errors import ProgramError
from ringsmith.heir.importing import Imported, Wish, program_of
from ringsmith.heir.module import Scheme
from ringsmith.program import CkksProgram
from ringsmith.runtime.designs import limits_of

CKKS = [name for name, program in PROGRAMS.items() if Scheme.CKKS in program.schemes]
MEDHA = {
    "dot_f32": (8192, 45),
    "matmul": (8192, 45),
    "matvec": (8192, 45),
    "conv2d": (8192, 45),
    "sigmoid": (16384, 48),
    "eight_products": (32768, 50),
    "two_vectors": (8192, 45),
    "weighted": (8192, 45),
}
"""Program -> N and log2 of the scale: the nearest to 45 that has primes in the smallest ring."""
SLOW = {"matmul", "matvec", "conv2d", "sigmoid", "eight_products"}
"""Programs that medha's compiler takes seconds for."""


def planned(name: str, wish: Wish) -> Program:
    return program_of(traced_of(name, "vector"), wish)


def runs_on(program: Program, name: str, design: str, rng: np.random.Generator) -> None:
    """Compares a run on the simulated design with the plain result, as precisely as forecast."""
    assert isinstance(program, CkksProgram)
    inputs = inputs_of(traced_of(name, "vector"), rng)
    found = run(program, inputs, "model", design)["result"]
    expected = np.asarray(PLAIN[name](*inputs.values()))
    forecast = 2.0 ** -program.forecast(HIGHEST.get(name, 1.0)).bits
    tolerance = TOLERANCE.get(name, 1e-6) + forecast
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", CKKS)
def test_medha_has_parameters_for_every_module(name: str) -> None:
    program = planned(name, Wish(design="medha"))
    parameters = program.parameters
    assert isinstance(parameters, CkksParameters)
    assert (parameters.n, np.log2(parameters.scale)) == MEDHA[name]
    assert limits_of("medha").error(parameters) == ""
    assert parameters.security is not None
    assert ("scale" in program.choice) == (parameters.scale != 2.0**45)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.full] * (name in SLOW)) for name in CKKS]
)
def test_every_module_runs_on_the_simulated_medha(name: str, rng: np.random.Generator) -> None:
    runs_on(planned(name, Wish(design="medha")), name, "medha", rng)


@pytest.mark.parametrize("name", CKKS)
def test_every_module_runs_in_words_of_32_bits(name: str, rng: np.random.Generator) -> None:
    program = planned(name, Wish(design="framework-512", headroom_bits=1))
    assert isinstance(program.parameters, CkksParameters)
    assert program.parameters.scale == 2.0**29
    assert all(q % 131072 == 1 for q in program.parameters.primes)
    runs_on(program, name, "framework-512", rng)


def test_the_ring_is_the_smallest_that_carries_the_levels() -> None:
    wish = Wish(design="framework-512", headroom_bits=1)
    degrees = {name: planned(name, wish).parameters.n for name in CKKS}
    larger = {"matmul": 8192, "sigmoid": 8192, "eight_products": 16384}
    assert degrees == dict.fromkeys(CKKS, 4096) | larger


@pytest.mark.parametrize("name", CKKS)
def test_a_design_that_takes_any_prime_gets_what_no_design_gets(name: str) -> None:
    free, small = planned(name, Wish()), planned(name, Wish(design="vector-small"))
    assert free.parameters == small.parameters
    assert free.choice == ""


def test_a_low_precision_is_told() -> None:
    traced = traced_of("dot_f32", "vector")
    program = program_of(traced, Wish(design="framework-512"))
    assert program.choice == (
        "scale 2^22: the nearest to HEIR's 2^45 that N = 4096 carries and design framework-512 has "
        "primes for, with headroom_bits = 8\nprecision: 2.4 bits by the forecast, for inputs "
        "within ±1; fewer headroom bits, or a design of wider words, allow a larger scale"
    )
    printed = Imported(program, traced).figures()["choice"]
    assert printed == program.choice.replace("\n", "; ")
    assert program.choice in program.explain()
    assert "choice" not in Imported(program_of(traced, Wish()), traced).figures()


@pytest.mark.parametrize(
    ("name", "wish", "message"),
    [
        (
            "sigmoid",
            Wish(design="framework-512"),
            "no parameters fit 4 levels; N = 8192 does not do: design framework-512 takes too few "
            "primes near 2.22 at N = 8192, 1 of the 4 needed: .*; nor does any other N or scale up "
            "to 2.22: take another design, lower --headroom-bits, multiply less deeply",
        ),
        (
            "eight_products",
            Wish(design="medha", headroom_bits=9),
            "no parameters fit 8 levels; N = 16384 does not do: design medha takes too few primes "
            "near 2.40 at N = 16384, 0 of the 8 needed: .*; nor does any other N or scale up to "
            "2.49: take another design",
        ),
        (
            "eight_products",
            Wish(design="nano"),
            "no parameters fit 8 levels; 8 levels at the scale 2.38 need 400 bits of modulus, and "
            "N = 8192 carries 214 at 128-bit security by the 2024 guidelines: take another design",
        ),
    ],
)
def test_a_design_without_parameters_is_named(name: str, wish: Wish, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        planned(name, wish)


@pytest.mark.parametrize("name", ["box_blur", "simple_sum"])
def test_bfv_takes_the_smallest_ring_in_words_of_32_bits(
    name: str, rng: np.random.Generator
) -> None:
    program = planned(
        name, Wish(design="framework-512", plain_modulus=PROGRAMS[name].plain_modulus)
    )
    assert (program.parameters.n, program.parameters.limbs) == (4096, 2)
    inputs = {key: values % 50 for key, values in inputs_of(traced_of(name, "vector"), rng).items()}
    found = run(program, inputs, "model", "framework-512")["result"]
    np.testing.assert_array_equal(found, np.asarray(PLAIN[name](*inputs.values())))


def test_what_is_planned_for_medha_compiles_where_words_are_wide_enough() -> None:
    program = planned("weighted", Wish(design="medha"))
    for design in ("medha", "vector-small"):
        assert compile_program(program, design).compiled_graph.design is not None
    with pytest.raises(ProgramError, match="design framework-512"):
        compile_program(program, "framework-512")
