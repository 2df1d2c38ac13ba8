"""The smart-grid forecast: the network in the clear, and encrypted in BFV and in CKKS."""

import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from tests.apps.commands import run

from ringsmith import runtime
from ringsmith.apps.application import Server
from ringsmith.apps.gmdh import (
    COEFFICIENT_BITS,
    HELD_OUT,
    INPUT_BITS,
    OUTPUT,
    PARAMETERS,
    PLAIN_MODULI,
    WIDTHS,
    Curves,
    Forecast,
    Layer,
    Network,
    _exact,
    bounds_of,
    combined,
    forward,
    input_name,
    load_curves,
    plain_bits,
    plan_approximate,
    plan_exact,
    steps,
    train,
    with_moduli,
)
from ringsmith.apps.gmdh.steps import METERS, pack, plain_moduli, unpack
from ringsmith.apps.session import Client, begin, open_device
from ringsmith.apps.stages import Stages
from ringsmith.backends.registry import design_names
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.params import (
    BfvParameters,
    CkksParameters,
    ckks_set,
    security_level,
)
from ringsmith.program import CkksProgram, Op

STAGES = Stages(Console(quiet=True))

Split = tuple[Curves, Curves, Curves]


@pytest.fixture(scope="module")
def curves() -> Split:
    """Days to fit to, to choose by, and held out."""
    return load_curves()


@pytest.fixture(scope="module")
def network(curves: Split) -> Network:
    """The trained network."""
    return train(curves[0], curves[1])


@pytest.fixture(scope="module")
def exact(network: Network) -> Server:
    """The operator, in BFV."""
    return Server(plan_exact(network), None)


# ---- in the clear ------------------------------------------------------------------------------


def test_the_archive_has_the_days_it_should_and_they_are_standardized(curves: Split) -> None:
    assert [len(part) for part in curves] == [400, 200, 496]
    readings = np.concatenate([part.readings for part in curves])
    assert readings.shape == (1096, 24)
    assert np.abs(readings.mean(axis=1)).max() < 1e-6
    assert np.abs(readings.std(axis=1, ddof=1) - 1).max() < 1e-6
    assert len(np.unique(readings, axis=0)) > 1000  # no day in two parts, but for true repeats


def test_the_network_has_three_hidden_layers_and_depth_four(network: Network) -> None:
    assert [len(layer.neurons) for layer in network.layers] == list(WIDTHS) == [8, 4, 2, 1]
    assert network.output_bits == 16 * INPUT_BITS + 15 * COEFFICIENT_BITS
    quadratic = [
        n.coefficients[3:]
        for layer, used in zip(network.layers, network.used[1:], strict=True)
        for n in (layer.neurons[i] for i in used)
    ]
    assert all(any(coefficients) for coefficients in quadratic)


def test_the_forecast_is_better_than_simpler_ones(network: Network, curves: Split) -> None:
    fit, select, days = curves

    def rms(errors: np.ndarray) -> float:
        return float(np.sqrt(np.mean(errors**2)))

    error = rms(network.forecast(days.observed) - days.target)
    known = np.concatenate([fit.readings, select.readings])
    columns = np.c_[np.ones(len(known)), known[:, :12]]
    weights = np.linalg.lstsq(columns, known[:, 16], rcond=None)[0]
    linear = np.c_[np.ones(len(days)), days.observed] @ weights
    assert error < rms(linear - days.target)
    assert error < 0.5 * rms(fit.target.mean() - days.target)
    assert error < 0.3 * rms(days.observed[:, -1] - days.target)


def test_fixed_point_costs_next_to_nothing(
    network: Network, curves: Split, monkeypatch: pytest.MonkeyPatch
) -> None:
    fit, select, days = curves
    monkeypatch.setattr("ringsmith.apps.gmdh.INPUT_BITS", 16)
    monkeypatch.setattr("ringsmith.apps.gmdh.COEFFICIENT_BITS", 16)
    fine = train(fit, select)

    def rms(forecast: np.ndarray) -> float:
        return float(np.sqrt(np.mean((forecast - days.target) ** 2)))

    assert fine.output_bits > 400
    assert rms(network.forecast(days.observed)) < 1.05 * rms(fine.forecast(days.observed))


def test_the_exact_integers_are_the_polynomials_of_the_layers(
    network: Network, curves: Split
) -> None:
    """Against fractions, term by term as the definition of a neuron has them."""
    days = curves[2].observed[:5]
    integers = network.readings.integers(days)
    for day, found in zip(integers, network.exact(integers), strict=True):
        values = {h: Fraction(int(day[h]), 1 << INPUT_BITS) for h in range(len(day))}
        for layer in network.layers:
            values = {
                i: polynomial(layer, n.coefficients, values[n.first], values[n.second])
                for i, n in enumerate(layer.neurons)
            }
        assert Fraction(int(found), 1 << network.output_bits) == values[0]


def polynomial(layer: Layer, b: tuple[int, ...], x: Fraction, y: Fraction) -> Fraction:
    """b0 + b1*x + b2*y + b3*x*y + b4*x^2 + b5*y^2 of the numbers that coefficients stand for."""
    s, c = layer.operand_bits, layer.coefficient_bits
    one = [1 << places for places in (2 * s + c, s + c, s + c, c, c, c)]
    b0, b1, b2, b3, b4, b5 = (Fraction(k, o) for k, o in zip(b, one, strict=True))
    return b0 + b1 * x + b2 * y + b3 * x * y + b4 * x * x + b5 * y * y


def test_no_forecast_exceeds_the_bound_and_readings_stay_in_their_limits(
    network: Network, curves: Split, rng: np.random.Generator
) -> None:
    limits = np.array(network.readings.limits)
    largest = network.largest_integer()
    corners = rng.choice([-1.0, 1.0], (200, limits.size)) * 100  # clipped
    assert (np.abs(network.readings.integers(corners)) == limits * (1 << INPUT_BITS)).all()
    for readings in (corners, curves[2].observed, rng.uniform(-3, 3, (200, limits.size))):
        found = network.exact(network.readings.integers(readings))
        assert max(abs(int(v)) for v in found) <= largest
    used = list(network.hours)
    held_out = np.abs(curves[2].observed[:, used])
    assert (held_out > limits[used]).mean() < 0.01  # clipping is an exception


# ---- plain moduli ------------------------------------------------------------------------------


def test_residues_of_several_moduli_give_the_integer_back(rng: np.random.Generator) -> None:
    moduli = [65537, 114689, 147457]
    product = math.prod(moduli)
    half = product // 2
    integers = np.array([0, 1, -1, half, -half, *map(int, rng.integers(-half, half, 50))], object)
    residues = [(integers % t).astype(np.int64) for t in moduli]
    residues[1] = np.where(residues[1] > moduli[1] // 2, residues[1] - moduli[1], residues[1])
    assert (combined(residues, moduli) == integers).all()


def test_moduli_that_do_not_hold_the_integer_are_refused(exact: Server, network: Network) -> None:
    parameters = exact.programs[0].parameters
    assert isinstance(parameters, BfvParameters)
    largest = network.largest_integer()
    assert plain_bits(largest, PLAIN_MODULI) <= 60
    found = with_moduli(parameters, largest, PLAIN_MODULI)
    moduli = [p.plain_modulus for p in found]
    assert math.prod(moduli) > 2 * largest
    assert len(set(moduli)) == PLAIN_MODULI
    assert all(p.batching and p.primes == parameters.primes for p in found)
    with pytest.raises(ParameterError, match=r"2 plain moduli of \d+ bits do not hold integers"):
        with_moduli(parameters, largest, 2)


@pytest.mark.parametrize("t", [12289, 25601, 40961])
def test_sums_and_products_of_packed_messages_are_those_of_the_numbers(
    t: int, rng: np.random.Generator
) -> None:
    parameters = replace(steps.paper_set(), plain_modulus=t, extension_primes=())
    n = parameters.n
    a, b = (rng.integers(-t, t, count) for count in (METERS, METERS - 3))
    x, y = (pack(parameters, each) for each in (a, b))
    assert x.shape == (n,)
    padded = np.concatenate([b, np.zeros(3, np.int64)])
    assert (unpack(parameters, x + y) == (a + padded) % t).all()
    whole = np.convolve(x[:: n // METERS], y[:: n // METERS])
    product = np.zeros(n, np.int64)
    product[:: n // METERS] = whole[:METERS] - np.append(whole[METERS:], 0)
    assert (unpack(parameters, product) == a * padded % t).all()


def test_what_a_small_modulus_does_not_hold_is_refused() -> None:
    parameters = replace(steps.paper_set(), plain_modulus=25601, extension_primes=())
    with pytest.raises(ParameterError, match="513 meters: a message holds 512: make batches"):
        pack(parameters, np.zeros(513, np.int64))
    with pytest.raises(ParameterError, match=r"primes below 20000 .* do not hold integers of 140"):
        plain_moduli((1 << 140) - 1, 20_000)


# ---- encrypted ---------------------------------------------------------------------------------


def test_the_exact_programs_are_secure_alike_and_within_their_budget(exact: Server) -> None:
    assert len(exact.programs) == PLAIN_MODULI
    for program in exact.programs:
        assert program.parameters.primes == exact.programs[0].parameters.primes
        assert (security_level(program.parameters.n, program.parameters.log_qp) or 0) >= 128
        assert not isinstance(program, CkksProgram)
        assert program.forecast().bits >= 1
        products = [n for n in program.nodes if n.op in (Op.MULTIPLY, Op.SQUARE)]
        assert len(products) >= 10


def test_a_forecast_modulo_one_plain_modulus_is_exact(
    exact: Server, network: Network, curves: Split
) -> None:
    """The quick part of the next test: one of the moduli, at full size."""
    days = curves[2]
    client = Client(exact.kits)
    inputs = client.encrypt(list(Forecast().vectors(exact)))[-1]
    device = runtime.open_device("cpu")
    result = exact.compiled[-1].run(device, inputs, client.evaluation_keys)
    program = exact.programs[-1]
    found = program.decrypt(client._secret_key, result.outputs)[OUTPUT]
    expected = network.exact(network.readings.integers(days.observed))
    assert ((found - expected) % program.parameters.message_modulus == 0).all()


@pytest.mark.full
def test_the_encrypted_forecast_equals_the_clear_one_exactly_in_bfv() -> None:
    current = begin(STAGES, Forecast("bfv"))
    answer = current.answer(STAGES, runtime.open_device("cpu"))
    quality = answer.outcome.quality
    assert quality["exact"] == quality["meters"] == 496
    assert quality["largest_difference"] == 0
    assert quality["error_encrypted"] == quality["error_clear"]
    promised = [program.forecast().bits for program in current.server.programs]  # type: ignore[call-arg]
    assert all(b >= p for b, p in zip(answer.noise_budgets, promised, strict=True))


def test_the_encrypted_forecast_is_within_the_forecast_precision_in_ckks() -> None:
    application = Forecast("ckks")
    current = begin(STAGES, application)
    (program,) = current.server.programs
    assert isinstance(program, CkksProgram)
    assert (security_level(program.parameters.n, program.parameters.log_qp) or 0) >= 128
    assert not program.forecast(bounds_of(application.network, application.unit)).overflows
    answer = current.answer(STAGES, runtime.open_device("cpu"))
    quality, promised = answer.outcome.quality, answer.outcome.error
    assert promised is not None
    assert quality["largest_difference"] <= promised < 1e-5
    assert quality["exact"] is None


def test_a_layer_takes_one_level_in_ckks(network: Network) -> None:
    program = plan_approximate(network, ckks_set(PARAMETERS))
    fresh = {node.limbs for node in program.inputs.values()}
    assert fresh == {program.outputs[OUTPUT].limbs + len(network.layers)} == {6}
    products = [n for n in program.nodes if n.op in (Op.MULTIPLY, Op.SQUARE)]
    rescaled = [n for n in program.nodes if n.op is Op.RESCALE]
    neurons = sum(len(used) for used in network.used[1:])
    assert len(rescaled) == neurons < len(products)


def test_both_schemes_plan_the_same_function(network: Network, curves: Split) -> None:
    """In the clear, the planned programs are the network: the traced function is the one of it."""
    integers = network.readings.integers(curves[2].observed)
    expected = network.exact(integers)
    inputs = {input_name(h): integers[:, h] for h in network.hours}
    for program in plan_exact(network)[:1]:
        t = program.parameters.plain_modulus
        found = program.evaluate(inputs)[OUTPUT][: len(integers)]
        assert ((found.astype(object) - expected) % t == 0).all()
    reals = {h: network.readings.real(integers[:, h]) for h in network.hours}
    approximate = forward(network, reals, Layer.real)
    forecast = network.forecast(curves[2].observed)
    assert np.abs(approximate - forecast).max() < 1e-9
    divided = {name: network.readings.real(each) / network.unit for name, each in inputs.items()}
    program = plan_approximate(network, ckks_set(PARAMETERS))
    found = program.evaluate(divided)[OUTPUT][: len(integers)].real * network.unit
    assert np.abs(found - forecast).max() < 1e-9


# ---- on an accelerator -------------------------------------------------------------------------


def small_medha() -> RpauDesign:
    """Seven RPAUs of one core for N = 2^10, their words of two widths, as those of ``medha``."""
    return replace(
        load_design("medha"),
        name="small",
        log_n=10,
        cores=1,
        dyadic_cores=1,
        rpaus=7,
        narrow_rpaus=4,
        larger_rings=0,
        smaller_rings=0,
        link=False,
    )


@pytest.fixture(scope="module")
def insecure() -> CkksParameters:
    """Medha's primes at N = 2^10, whose slots hold all meters."""
    primes = ckks_set("medha21-set1")
    return CkksParameters.from_primes(
        n=1 << 10,
        data_primes=primes.data_primes,
        special_prime=primes.special_primes,
        scale=primes.scale,
        security=None,
    )


@pytest.mark.parametrize("device", ["model", "rtl"])
def test_a_small_accelerator_of_medhas_kind_forecasts_with_the_cpus_bits(
    network: Network, curves: Split, insecure: CkksParameters, device: str
) -> None:
    current = begin(STAGES, Forecast("ckks", insecure), small_medha())
    answer = current.answer(STAGES, runtime.open_device(device, small_medha()))
    assert current.server.executable is not None
    assert answer.results[0].cycles == current.server.executable.cycles
    assert answer.equal_bits is True
    expected = network.forecast(curves[2].observed)
    assert np.abs(answer.outcome.demand - expected).max() < 1e-6


@pytest.mark.full
@pytest.mark.parametrize("device", ["model", "rtl"])
def test_medha_forecasts_with_the_cpus_bits(device: str) -> None:
    current = begin(STAGES, Forecast("ckks"), "medha")
    answer = current.answer(STAGES, open_device(STAGES, device, "medha"))
    assert answer.equal_bits is True
    executable = current.server.executable
    assert executable is not None
    assert answer.results[0].cycles == executable.cycles < 1_100_000
    quality, promised = answer.outcome.quality, answer.outcome.error
    assert promised is not None
    assert quality["largest_difference"] <= promised < 1e-5


def test_meters_that_do_not_fit_are_refused(exact: Server) -> None:
    client = Client(exact.kits)
    hours = dict.fromkeys(exact.program.inputs, np.zeros(HELD_OUT + 1, np.int64))
    with pytest.raises(ProgramError, match=r"shape \(497,\), and the program takes \(496,\)"):
        client.encrypt([hours] * PLAIN_MODULI)
    with pytest.raises(ProgramError, match="give an array for each"):
        client.encrypt([{}] * PLAIN_MODULI)


def test_the_noise_forecast_bears_every_plain_modulus_of_the_steps(network: Network) -> None:
    given = replace(steps.paper_set(), plain_modulus=65537, extension_primes=())
    found = steps.parameters_of(network)
    moduli = [of.plain_modulus for of in found]
    assert max(moduli) < given.plain_modulus  # less noise than with it
    assert _exact(network, given, given.plain_modulus).forecast().bits >= 1
    assert math.prod(moduli) > 2 * network.largest_integer()
    assert all(len(of.extension(of.limbs)) == 7 for of in found)


def test_designs_of_the_papers_ring_take_steps_and_others_do_not() -> None:
    found = {name for name in design_names() if steps.takes_steps(name)}
    assert found == {"heaws", "heaws6"}


def forecast_in_steps(tmp_path: Path, device: str, design: str) -> dict[str, Any]:
    """The command's numbers, exact for all held-out days."""
    numbers, said = run(["run", "gmdh", "--device", device, "--design", design], tmp_path)
    assert numbers["quality"]["exact"] == numbers["quality"]["meters"] == 496
    assert numbers["steps"] == {"multiply": 18, "relinearize": 10}
    assert len(numbers["plain_moduli"]) == 9
    assert min(numbers["noise_budgets"]) >= 20
    assert "496 of 496" in said
    return numbers


def test_heaws_parameters_forecast_exactly_on_the_cpu(tmp_path: Path) -> None:
    numbers = forecast_in_steps(tmp_path, "cpu", "heaws")
    assert [report["cycles"] for report in numbers["reports"]] == [None] * 9
    assert numbers["seconds_with_one"] is None


def test_six_coprocessors_of_heaws_forecast_with_the_cpus_bits(tmp_path: Path) -> None:
    numbers = forecast_in_steps(tmp_path, "model", "heaws6")
    assert numbers["equal_bits_with_cpu"] is True
    assert numbers["coprocessors"] == 6
    assert len({report["cycles"] for report in numbers["reports"]}) == 1
    one, six = numbers["seconds_with_one"], numbers["seconds_with_all"]
    assert six == pytest.approx(2 / 9 * one)  # two runs on three of them, one on the others


@pytest.mark.full
def test_the_rtl_of_heaws_forecasts_with_the_cpus_bits(tmp_path: Path) -> None:
    numbers = forecast_in_steps(tmp_path, "rtl", "heaws")
    assert numbers["equal_bits_with_cpu"] is True


# ---- the command -------------------------------------------------------------------------------


def test_run_gmdh_prints_its_figures_and_writes_them(tmp_path: Path) -> None:
    numbers, said = run(["run", "gmdh", "--scheme", "ckks", "--device", "cpu"], tmp_path)
    assert numbers["parameters"]["scheme"] == "ckks"
    assert numbers["quality"]["meters"] == 496
    assert numbers["quality"]["largest_difference"] <= numbers["forecast_error"]
    assert f"{numbers['quality']['error_encrypted']:.4f}" in said
    assert "standard deviations" in said
    assert "1 evaluation key for the server" in said
    program = numbers["program"]
    assert sum(program["operations"].values()) > 100
    assert program["cycles"] is program["breakdown"] is program["seal_seconds"] is None


@pytest.mark.full
def test_run_gmdh_is_exact_in_bfv(tmp_path: Path) -> None:
    numbers, said = run(["run", "gmdh", "--scheme", "bfv"], tmp_path)
    assert numbers["quality"]["exact"] == 496
    assert len({part["plain_modulus"] for part in numbers["programs"]}) == PLAIN_MODULI
    assert numbers["forecast_error"] is None
    assert "496 of 496" in said


@pytest.mark.full
def test_the_model_of_the_smallest_design_equals_the_cpu_in_ckks(tmp_path: Path) -> None:
    """No design is named, so one is made to fit."""
    numbers, said = run(["run", "gmdh", "--scheme", "ckks", "--device", "model"], tmp_path)
    assert numbers["equal_bits_with_cpu"] is True
    program = numbers["program"]
    assert program["cycles"] == program["predicted_cycles"] > 0
    assert sum(share["cycles"] for share in program["breakdown"]) == program["cycles"]
    assert numbers["design"]
    assert numbers["quality"]["largest_difference"] <= numbers["forecast_error"]
    assert f"{program['cycles']:,}" in said


def test_the_exact_forecast_runs_on_an_accelerator_made_to_fit(tmp_path: Path) -> None:
    numbers, _ = run(["run", "gmdh", "--scheme", "bfv", "--device", "model"], tmp_path)
    assert numbers["equal_bits_with_cpu"] is True
    assert numbers["quality"]["exact"] == numbers["quality"]["meters"] == 496
    assert len(numbers["programs"]) == PLAIN_MODULI
    assert all(p["cycles"] == p["predicted_cycles"] > 0 for p in numbers["programs"])
    assert min(numbers["noise_budgets"]) > 0


@pytest.mark.parametrize("design", ["heaws-seal", "medha"])
def test_a_design_that_cannot_run_the_exact_forecast_is_refused(
    network: Network, design: str
) -> None:
    words = {
        "heaws-seal": "no parameters fit; N = 8192 does not do: .* out of noise budget",
        "medha": r"__init__\.py:\d+: multiplies two encrypted BFV vectors",
    }
    with pytest.raises(ProgramError, match=words[design]):
        Forecast("bfv").server(design)
