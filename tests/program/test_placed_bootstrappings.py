"""Bootstrappings that are placed: where, how many, and that results are right."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tests.program.small_bootstrapping import N, tiny

import ringsmith as rs
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.graph.operations import Op
from ringsmith.params import AutoParameters, CkksParameters
from ringsmith.program import CkksProgram
from ringsmith.program.costs import CPU
from ringsmith.program.plain import Space
from ringsmith.program.recording import record
from ringsmith.program.source import caller
from ringsmith.schemes.ckks.placing import Graph, graph_of, placed
from ringsmith.schemes.ckks.work import Work

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")


def traced(
    function: Callable[..., object],
    levels: int,
    inputs: Any = None,  # noqa: ANN401 - as of trace
) -> CkksProgram:
    program = rs.trace(function, tiny(levels), inputs)
    assert isinstance(program, CkksProgram)
    return program


def count(program: CkksProgram) -> int:
    return sum(node.op is Op.BOOTSTRAP for node in program.nodes)


def checked(program: CkksProgram, seed: int, *, least: float = 0.0) -> None:
    """Runs a program, and compares with NumPy and the forecast."""
    rng = np.random.default_rng(seed)
    given = {}
    for name, port in program.client_kit().inputs.items():
        low, high = (-1.0, 1.0) if port.low is None or port.high is None else (port.low, port.high)
        given[name] = rng.uniform(max(low, -1), min(high, 1), port.length)
    wanted = program.evaluate(given)
    assert all(
        np.allclose(found, wanted[name], atol=1e-12)
        for name, found in program.simulate(given).items()
    )
    forecast = program.forecast(each_node=False).outputs
    for name, found in program.run(given).items():
        error = np.abs(found - wanted[name]).max()
        assert error <= forecast[name].total, name
        assert -math.log2(max(error, 2.0**-60)) >= least


# ---- how many, and where -------------------------------------------------------------------------


@pytest.mark.parametrize(("depth", "wanted"), [(3, 0), (4, 1), (6, 1), (7, 2), (9, 2), (10, 3)])
def test_a_chain_is_bootstrapped_as_seldom_as_levels_allow(depth: int, wanted: int) -> None:
    def chain(x: rs.EncryptedVector, y: rs.EncryptedVector) -> rs.EncryptedVector:
        for _ in range(depth):
            x = x * y
        return x

    assert count(traced(chain, 3)) == wanted


def test_one_value_is_bootstrapped_where_several_lead_to_it() -> None:
    """The product of four values, before they are used further, and not each of them."""

    def function(a: Any, b: Any, c: Any, d: Any) -> Any:  # noqa: ANN401
        parts = [each * each * each for each in (a, b, c, d)]  # two levels
        one = parts[0] + parts[1] * 0.5 + parts[2] - parts[3]  # the third
        one = one * 0.25
        return one * one * one

    program = traced(function, 4)
    assert count(program) == 1


def test_a_value_is_bootstrapped_once_for_all_its_users() -> None:
    def function(x: Any) -> Any:  # noqa: ANN401
        low = (x * x) * (x * x)
        return {f"out{i}": (low + 0.1 * i) * low * low for i in range(3)}

    program = traced(function, 2)
    assert count(program) == 1
    checked(program, 1)


def test_inputs_and_bootstrapped_values_have_the_levels_that_are_needed() -> None:
    def function(x: Any) -> Any:  # noqa: ANN401
        for _ in range(2):
            x = rs.bounded(x * x, 1)
        for _ in range(3):
            x = rs.bounded(x * x, 1)
        return x

    program = traced(function, 4)
    limbs = program.inputs["x"].limbs
    ends = [node for node in program.nodes if node.op is Op.MOD_SWITCH and not node.stage]
    starts = [node.limbs for node in ends if program.nodes[node.operands[0]].op is Op.BOOTSTRAP]
    assert limbs - 1 + sum(n - 1 for n in starts) == 5
    checked(program, 2)


def test_a_value_whose_range_is_too_large_is_not_the_one() -> None:
    """The numbers are bootstrapped before they grow, though after would do as well."""

    def function(x: Any) -> Any:  # noqa: ANN401
        large = (x * x) * 4000.0
        small = large * 0.0002
        return small * small * small

    program = traced(function, 3)
    assert count(program) == 1
    [end] = [node for node in program.nodes if node.op is Op.BOOTSTRAP]
    assert end.bound is not None
    assert end.bound.magnitude <= 1
    checked(program, 3)


def test_levels_of_inputs_by_hand_are_kept() -> None:
    inputs = {"x": rs.InputSpec(limbs=2), "y": rs.InputSpec()}
    program = traced(lambda x, y: x * y * y * x, 3, inputs)
    assert program.inputs["x"].limbs == 2
    assert count(program) == 1
    checked(program, 4)


def exhaustive(graph: Graph) -> float:
    """The least cost of all choices."""
    places = [j for j in range(graph.size) if graph.prices[j] < math.inf]
    return min(
        graph.cost(frozenset(chosen))
        for size in range(5)
        for chosen in itertools.combinations(places, size)
    )


@pytest.mark.parametrize("seed", range(40))
def test_the_choice_is_the_cheapest_of_all(seed: int) -> None:
    """Of small random graphs; in the rest a percent more is allowed."""
    rng = np.random.default_rng(seed)

    def function(x: Any, y: Any) -> Any:  # noqa: ANN401
        values = [x, x * y]
        for _ in range(9):
            a, b = (values[int(i)] for i in rng.integers(max(0, len(values) - 4), len(values), 2))
            values.append(a * b if rng.random() < 0.7 else 0.5 * (a + b))
        return values[-1] + (x - y)

    parameters = tiny(2)
    space = Space(N // 2, N // 2, exact=False)
    recording = record(function, space, None, caller())
    work = Work(parameters, CPU)
    graph = graph_of(recording, parameters, 2, work, 1000.0)
    chosen = placed(graph)
    assert chosen is not None
    assert graph.cost(chosen) <= 1.01 * exhaustive(graph)


# ---- results -------------------------------------------------------------------------------------


def random_deep(rng: np.random.Generator, depth: int) -> Callable[..., Any]:
    """A random function of two vectors with about so many multiplications in a row."""
    plan = [(rng.integers(0, 6), rng.uniform(-1, 1), rng.integers(1, 64)) for _ in range(4 * depth)]

    def function(x: Any, y: Any) -> Any:  # noqa: ANN401
        values = [x, y]
        multiplied = 0
        for kind, number, steps in plan:
            a, b = values[-1], values[-2 - steps % min(3, len(values) - 1)]
            match kind:
                case 0 | 1:
                    a = a * b
                case 2:
                    a = 0.5 * a + 0.5 * b
                case 3:
                    a = 0.5 * a - 0.5 * a.rotate(int(steps))
                case 4:
                    a = a * number
                case _:
                    a = 0.5 * (a + number)
            multiplied += kind != 5
            values.append(a)
            if multiplied == depth:
                break
        return {"last": values[-1], "before": values[-2] + values[-3], "both": x - y}

    return function


@pytest.mark.parametrize("seed", range(6))
def test_random_deep_programs_are_right(seed: int) -> None:
    """Three to four times as deep as there are levels, with results of several levels."""
    levels = 3 + seed % 2
    program = traced(random_deep(np.random.default_rng(seed), 3 * levels + seed % levels), levels)
    assert count(program) >= 1
    checked(program, seed)


def test_arrays_are_bootstrapped() -> None:
    rng = np.random.default_rng(5)
    weights = rng.uniform(-1, 1, (8, 8)) / 8

    def layers(x: Any) -> Any:  # noqa: ANN401
        for _ in range(4):
            x = x @ weights
            x = 0.5 * x * x
        return x

    program = traced(layers, 3, {"x": (4, 8)})
    assert count(program) >= 2
    x = rng.uniform(-1, 1, (4, 8))
    wanted = program.evaluate({"x": x})["result"]
    found = program.run(x=x)["result"]
    assert np.abs(found - wanted).max() <= program.forecast(each_node=False).outputs["result"].total


def test_complex_numbers_and_bootstrappings_of_the_user_stay() -> None:
    inputs = {"z": rs.InputSpec(complex_numbers=True)}

    def function(z: Any) -> Any:  # noqa: ANN401
        z = 0.5 * (z * z)
        z = rs.bootstrap(z)
        return 0.5 * z * z.conjugate() * z

    program = traced(function, 2, inputs)
    assert count(program) == 2
    z = np.exp(1j * np.linspace(0, 6, N // 2))
    wanted = program.evaluate({"z": z})["result"]
    assert np.abs(program.run(z=z, complex_numbers=True)["result"] - wanted).max() < 2**-12


# ---- what is said --------------------------------------------------------------------------------


def test_the_explanation_says_where_why_and_how_much() -> None:
    def function(x: Any) -> Any:  # noqa: ANN401
        for _ in range(8):
            x = x * x
        return x

    text = traced(function, 3).explain()
    line = next(line for line in text.splitlines() if line.startswith("added: "))
    assert "test_placed_bootstrappings.py:" in line
    assert "2 bootstrappings: up to 3 multiplications in a row follow" in line
    assert "% of the time on cpu" in line
    assert "bootstrapping: 2 times, 9" in text


def test_a_program_that_fits_is_left_alone() -> None:
    program = traced(lambda x: x * x * x, 3)
    assert not program.notes
    assert program.inputs["x"].limbs == 4


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            lambda x: (4000.0 * x) ** 16,
            r"cannot be bootstrapped: numbers may reach 4e\+03, and at most 1024",
        ),
        (lambda x: (x + 2000.0) ** 64, "cannot be bootstrapped: numbers may reach 2e[+]03"),
    ],
)
def test_a_range_that_cannot_be_bootstrapped_is_refused_at_the_line(
    function: Callable[..., object], message: str
) -> None:
    with pytest.raises(ProgramError, match=message) as caught:
        traced(function, 3)
    assert "test_placed_bootstrappings.py:" in str(caught.value)


def test_parameters_without_levels_for_programs_are_refused() -> None:
    with pytest.raises(ProgramError, match="no bootstrapping helps with the 0 levels"):
        traced(lambda x: x * x, 0)


def test_one_level_is_enough_for_products() -> None:
    program = traced(lambda x: x * x * x * x, 1)
    assert count(program) >= 2
    checked(program, 6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"design": "nano"}, "no design bootstraps, only the cpu device"),
        ({"share": 4}, "no bound of the noise of a bootstrapping is known"),
        ({"security": 192}, "security = 192 is not the level of the sparse secret"),
        ({"bootstrapping": 1}, "bootstrapping = 1 is not True or False"),
    ],
)
def test_requirements_that_exclude_bootstrapping_are_refused(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        AutoParameters(**{"bootstrapping": True, **options})


def test_automatic_parameters_bootstrap_where_no_others_do() -> None:
    wish = AutoParameters(bootstrapping=True, precision_bits=12)
    shallow = rs.trace(lambda x: x * x, wish, {"x": 4})
    assert isinstance(shallow.parameters, CkksParameters)
    assert shallow.parameters.bootstrapping is None


@pytest.mark.full
def test_automatic_parameters_bootstrap_a_deep_program() -> None:
    def deep(x: Any) -> Any:  # noqa: ANN401
        for _ in range(84):
            x = rs.bounded(x * (x - 0.1) * 0.5, 1)
        return x

    wish = AutoParameters(bootstrapping=True, precision_bits=1)
    program = rs.trace(deep, wish, {"x": rs.InputSpec(4, bound=0.5)})
    assert isinstance(program, CkksProgram)
    assert program.parameters.bootstrapping is not None
    assert count(program) >= 8
    assert "levels between bootstrappings" in program.explain()
