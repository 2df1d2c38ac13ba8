"""The smart-grid forecast: demand in the afternoon from encrypted readings of the morning.

docs/guide/gmdh.md has the network, its papers, its data and how it is trained. It runs exactly, in
BFV, and approximately, in CKKS.

**Fixed point.** A reading r, clipped to the range that training saw, is the integer round(r * 2^a),
a = ``Readings.bits``. A neuron of a layer whose operands X, Y have s binary places computes

    b0 + b1*X + b2*Y + b3*X*Y + b4*X^2 + b5*Y^2,

with integer coefficients: b3 … b5 have c binary places, b1 and b2 have s + c, b0 has 2s + c, so
that all terms have 2s + c, and so has the result. Nothing is ever rounded after the readings: the
network is one polynomial with integer coefficients, exact in the integers and so modulo every t.

**Divided.** The same with all values divided by 2^c: x' = x / 2^c, and

    z' = b0 / 2^c + b1*x' + b2*y' + 2^c * (b3*x'*y' + b4*x'^2 + b5*y'^2).

The coefficients of the products of values are whole numbers again, the integers b3 … b5 of the
fixed point. Arrays are multiplied by them by additions, so that a layer takes one level, for the
products of values.

**Large integers.** A forecast's integer has some 140 bits, and a plain modulus at most 60: the
program runs once for each of several primes t_i, on the same keys, and the results together give
the integer by the Chinese remainder (Bos et al. 2017, section 3.3, take large integers apart in the
same way).
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from ringsmith import _core
from ringsmith.apps.application import Application, Numbers, Server
from ringsmith.apps.report import figures_table, rows_table, some
from ringsmith.backends.base import Design
from ringsmith.errors import ParameterError, ProgramError, ToolError
from ringsmith.params import AutoBfvParameters, BfvParameters, CkksParameters, ckks_set
from ringsmith.program import BfvProgram, CkksProgram, EncryptedArray, InputSpec, Program
from ringsmith.tracing import trace

Reals = NDArray[np.float64]
Integers = NDArray[np.object_]
"""Python's integers, of any size."""

OUTPUT = "forecast"
"""The encrypted programs' output."""
EXACT = "bfv"
SCHEMES = (EXACT, "ckks")
UNIT = "standard deviations of a day's demand"

HOURS = 24
OBSERVED = 12
"""Readings that a forecast is made from: those of hours 0 … 11."""
TARGET_HOUR = 16
"""The hour whose demand is forecast, at noon."""
HELD_OUT = 496
"""The other days: as many meters, whose readings are encrypted together."""
TRAINING, SELECTION = 400, 200
"""Days that coefficients are fitted to, and that neurons are chosen by; the others are held out."""
SPLIT_SEED = 2026

_FOLDER = Path("datasets", "data", "ItalyPowerDemand")
_PARTS = ("ItalyPowerDemand_TRAIN.ts", "ItalyPowerDemand_TEST.ts")
WIDTHS = (8, 4, 2, 1)
"""Neurons of the three hidden layers and of the output."""
INPUT_BITS = 5
COEFFICIENT_BITS = 3
RIDGE = 1.0
"""Penalty of a squared coefficient, in days' squared errors: holds coefficients of nearly equal
columns small."""
PLAIN_MODULI = 3
"""Plain moduli that the exact forecast is taken apart by. Fewer do not fit 60 bits, and more would
need less noise budget each, but a run each."""
PARAMETERS = "medha-set1"
"""In CKKS, the parameter set that the Medha paper takes for its forecast."""
HEADROOM_BITS = 11
"""In CKKS, messages stay within ±2^11 for all readings within their limits, by intervals."""
OUTPUT_LIMBS = 2
"""In CKKS, data primes that the output keeps: one is too small for scale and headroom."""

# ---- data ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Curves:
    """Days of demand: ``readings`` (days, 24), standardized by day."""

    readings: Reals

    def __len__(self) -> int:
        return len(self.readings)

    @property
    def observed(self) -> Reals:
        """What a forecast is made from: (days, OBSERVED)."""
        return self.readings[:, :OBSERVED]

    @property
    def target(self) -> Reals:
        """What is forecast: (days,)."""
        return self.readings[:, TARGET_HOUR]


def load_curves() -> tuple[Curves, Curves, Curves]:
    """Loads the days and splits them, always the same way.

    The archive's own split has 67 days for training; here all days are pooled and split anew.
    Returns days to fit to, days to choose neurons by, and held-out days. Raises ToolError when
    sktime, which carries the data, is not installed or has other data.
    """
    spec = find_spec("sktime")
    if spec is None or not spec.submodule_search_locations:
        raise ToolError("sktime is missing; it carries the data: pip install 'ringsmith[apps]'")
    folder = Path(spec.submodule_search_locations[0]) / _FOLDER
    try:
        lines = [line for part in _PARTS for line in (folder / part).read_text().splitlines()]
    except OSError as error:
        raise ToolError(
            f"sktime carries no {_FOLDER.name} ({error}): install version 1.2"
        ) from error
    readings = np.array([_readings(line) for line in lines if line and line[0] not in "#@"])
    order = np.random.default_rng(SPLIT_SEED).permutation(len(readings))
    parts = np.split(readings[order], [TRAINING, TRAINING + SELECTION])
    fit, select, held_out = (Curves(part) for part in parts)
    return fit, select, held_out


def _readings(line: str) -> Reals:
    """The 24 readings of a line, which ends with the day's class."""
    readings = np.array(line.split(":")[0].split(","), dtype=np.float64)
    if readings.shape != (HOURS,) or not np.isfinite(readings).all():
        raise ToolError(f"a day of {_FOLDER.name} is not {HOURS} numbers: install sktime 1.2")
    return readings


def input_name(hour: int) -> str:
    """Returns the name of the encrypted programs' input that holds the readings of an hour."""
    return f"hour{hour}"


# ---- the network in the clear --------------------------------------------------------------------


class Ring(Protocol):
    """What adds and multiplies: arrays of numbers, and encrypted vectors."""

    def __add__(self, other: Any, /) -> Self: ...  # noqa: ANN401 - other is Self or a number
    def __mul__(self, other: Any, /) -> Self: ...  # noqa: ANN401


R = TypeVar("R", bound=Ring)


@dataclass(frozen=True)
class Neuron:
    """A quadratic polynomial of two values of the layer before.

    Attributes:
        first: Index of x in the layer before; in the first layer, the reading's hour.
        second: Index of y.
        coefficients: Integers, of 1, x, y, x*y, x^2, y^2; module text: binary places.
    """

    first: int
    second: int
    coefficients: tuple[int, ...]


@dataclass(frozen=True)
class Layer:
    """Neurons of one layer.

    Attributes:
        neurons: The neurons.
        operand_bits: Binary places of the layer before: s.
        coefficient_bits: Binary places of the coefficients of x*y, x^2 and y^2: c.
    """

    neurons: tuple[Neuron, ...]
    operand_bits: int
    coefficient_bits: int

    @property
    def bits(self) -> int:
        """Binary places of the layer's values."""
        return 2 * self.operand_bits + self.coefficient_bits

    def real(self, neuron: Neuron) -> tuple[float, ...]:
        """Returns the numbers that a neuron's integer coefficients stand for."""
        s, c = self.operand_bits, self.coefficient_bits
        places = (2 * s + c, s + c, s + c, c, c, c)
        # Division of integers, since neither need fit a double.
        return tuple(b / (1 << p) for b, p in zip(neuron.coefficients, places, strict=True))

    def divided(self, neuron: Neuron) -> tuple[float, ...]:
        """Returns a neuron's coefficients for values divided by 2^c; the last three are whole."""
        b0, b1, b2, *_ = self.real(neuron)
        return (math.ldexp(b0, -self.coefficient_bits), b1, b2, *neuron.coefficients[3:])


@dataclass(frozen=True)
class Readings:
    """How readings become integers: public, since clients do it.

    Attributes:
        bits: Binary places.
        limits: What readings are clipped to in magnitude, by hour.
    """

    bits: int
    limits: tuple[float, ...]

    def integers(self, readings: Reals) -> NDArray[np.int64]:
        """Returns readings (days, hours) as integers: clipped, times 2^bits, rounded."""
        limits = np.array(self.limits)
        clipped = np.clip(readings, -limits, limits)
        return np.rint(np.ldexp(clipped, self.bits)).astype(np.int64)

    def real(self, integers: NDArray[np.int64]) -> Reals:
        """Returns the numbers that integers stand for."""
        return np.ldexp(integers.astype(np.float64), -self.bits)


def real(integers: Integers, bits: int) -> Reals:
    """Returns the numbers that integers of any size with ``bits`` binary places stand for."""
    one = 1 << bits
    return np.array([int(value) / one for value in integers])


@dataclass(frozen=True)
class Network:
    """A trained network: what the server owns."""

    readings: Readings
    layers: tuple[Layer, ...]

    @cached_property
    def used(self) -> tuple[frozenset[int], ...]:
        """Which readings, and then which neurons of each layer, the forecast depends on."""
        used = [frozenset({0})]
        for layer in reversed(self.layers):
            chosen = (layer.neurons[i] for i in used[0])
            used.insert(0, frozenset(i for n in chosen for i in (n.first, n.second)))
        return tuple(used)

    @property
    def hours(self) -> tuple[int, ...]:
        """The readings that the forecast depends on, ascending."""
        return tuple(sorted(self.used[0]))

    @property
    def unit(self) -> float:
        """What values are divided by where the network computes on divided ones: 2^c."""
        return float(1 << self.layers[0].coefficient_bits)

    @property
    def output_bits(self) -> int:
        """Binary places of the forecast's integer."""
        return self.layers[-1].bits

    def exact(self, integers: NDArray[np.int64]) -> Integers:
        """Returns the forecasts' integers, (days,), from integer readings (days, hours): exact."""
        columns = {h: integers[:, h].astype(object) for h in self.hours}
        return forward(self, columns, lambda _, neuron: neuron.coefficients)

    def forecast(self, readings: Reals) -> Reals:
        """Returns forecasts (days,) in the clear, for readings (days, hours): exact, then real."""
        return real(self.exact(self.readings.integers(readings)), self.output_bits)

    def largest_integer(self) -> int:
        """Returns an upper bound of every forecast's integer in magnitude, for any readings.

        Interval arithmetic on magnitudes, in integers: every term at its largest, all of one sign.
        """
        limits = self.readings.integers(np.array([self.readings.limits]))
        bounds = {hour: limits[:, hour].astype(object) for hour in self.hours}
        return int(forward(self, bounds, lambda _, n: tuple(abs(b) for b in n.coefficients))[0])


def forward(
    network: Network,
    readings: Mapping[int, R],
    coefficients: Callable[[Layer, Neuron], Sequence[Any]],
) -> R:
    """Evaluates the network on anything that adds and multiplies: the one way it is computed.

    Returns the forecast.

    Args:
        network: The network.
        readings: The values that stand for the used readings, by hour.
        coefficients: Returns a neuron's six coefficients, as what the values multiply with.
    """
    values: Mapping[int, R] = readings
    for layer, used in zip(network.layers, network.used[1:], strict=True):
        values = {
            i: _neuron(values[n.first], values[n.second], coefficients(layer, n))
            for i, n in enumerate(layer.neurons)
            if i in used
        }
    return values[0]


def _neuron(x: R, y: R, b: Sequence[Any]) -> R:
    """Returns x * (b3*y + b4*x + b1) + y * (b5*y + b2) + b0, without the terms that are zero.

    Two products of values and a depth of 1; and a sum of products, so that in an encrypted program
    one relinearization serves both.
    """
    terms = [
        term
        for term in (
            _product(x, [(b[3], y), (b[4], x)], b[1]),
            _product(y, [(b[5], y)], b[2]),
        )
        if term is not None
    ]
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total if b[0] == 0 else total + b[0]


def _product(
    value: R,
    weighted: list[tuple[Any, R]],
    constant: Any,  # noqa: ANN401
) -> R | None:
    """Returns value * (the weighted sum + constant); None where the factor is 0."""
    factor: R | None = None
    for weight, operand in weighted:
        if weight != 0:
            term = operand if weight == 1 else operand * weight
            factor = term if factor is None else factor + term
    if factor is None:
        return None if constant == 0 else value * constant
    return value * (factor if constant == 0 else factor + constant)


# ---- training ------------------------------------------------------------------------------------


def train(fit: Curves, select: Curves) -> Network:
    """Trains a network in the clear."""
    network = Network(Readings(INPUT_BITS, _limits(fit, select)), ())
    fitted, chosen = (_quantized(network.readings, curves) for curves in (fit, select))
    bits = INPUT_BITS
    for width in WIDTHS:
        empty = Layer((), bits, COEFFICIENT_BITS)
        candidates = []
        for i, j in combinations(range(fitted.shape[1]), 2):
            neuron = Neuron(i, j, _coefficients(empty, fitted[:, i], fitted[:, j], fit.target))
            forecast = _terms(chosen[:, i], chosen[:, j]) @ np.array(empty.real(neuron))
            candidates.append((float(np.mean((forecast - select.target) ** 2)), i, j, neuron))
        best = sorted(candidates, key=lambda candidate: candidate[:3])[:width]
        layer = Layer(tuple(neuron for *_, neuron in best), bits, COEFFICIENT_BITS)
        fitted, chosen = (_values(layer, values) for values in (fitted, chosen))
        network = replace(network, layers=(*network.layers, layer))
        bits = layer.bits
    return network


def _limits(*known: Curves) -> tuple[float, ...]:
    """The largest magnitude of each hour's readings, rounded up to a quarter."""
    largest = np.max([np.abs(curves.observed).max(axis=0) for curves in known], axis=0)
    return tuple(float(limit) for limit in np.ceil(4 * largest) / 4)


def _quantized(readings: Readings, curves: Curves) -> Reals:
    return readings.real(readings.integers(curves.observed))


def _values(layer: Layer, before: Reals) -> Reals:
    """The layer's values (days, neurons) for those of the layer before."""
    columns = [
        _terms(before[:, n.first], before[:, n.second]) @ np.array(layer.real(n))
        for n in layer.neurons
    ]
    return np.stack(columns, axis=1)


def _terms(x: Reals, y: Reals) -> Reals:
    """1, x, y, x*y, x^2, y^2 as columns."""
    return np.stack([np.ones_like(x), x, y, x * y, x * x, y * y], axis=1)


def _coefficients(layer: Layer, x: Reals, y: Reals, target: Reals) -> tuple[int, ...]:
    """The integer coefficients of a neuron of that layer, fitted to the target."""
    s, c = layer.operand_bits, layer.coefficient_bits
    terms = _terms(x, y)
    quadratic: Reals = np.rint(np.ldexp(_least_squares(terms, target)[3:], c))
    left: Reals = target - terms[:, 3:] @ np.ldexp(quadratic, -c)
    linear: Reals = _least_squares(terms[:, :3], left)
    places = (2 * s + c, s + c, s + c)
    # int() of a double is exact, and so keeps what a 64-bit integer could not hold.
    rounded = [round(float(b) * (1 << p)) for b, p in zip(linear, places, strict=True)]
    return (*rounded, *(int(b) for b in quadratic))


def _least_squares(columns: Reals, target: Reals) -> Reals:
    squares = columns.T @ columns + RIDGE * np.eye(columns.shape[1])
    return np.asarray(np.linalg.solve(squares, columns.T @ target), np.float64)


# ---- plain moduli --------------------------------------------------------------------------------


def plain_bits(largest: int, count: int) -> int:
    """Returns how wide each of ``count`` plain moduli is, that integers up to ``largest`` fit."""
    return -(-(2 * largest + 1).bit_length() // count)


def with_moduli(parameters: BfvParameters, largest: int, count: int) -> list[BfvParameters]:
    """Returns the same parameters with ``count`` plain moduli that integers up to ``largest`` fit.

    The first has the given set's own; the others are the next smaller primes that batch. Raises
    ParameterError when their product is too small.
    """
    first = parameters.plain_modulus
    found = _core.prime_search(first.bit_length(), parameters.n, count + len(parameters.primes) + 1)
    others = [t for t in found if t < first and t not in parameters.primes]
    moduli = [first, *others[: count - 1]]
    if len(moduli) < count or math.prod(moduli) <= 2 * largest:
        raise ParameterError(
            f"{len(moduli)} plain moduli of {first.bit_length()} bits do not hold integers of "
            f"{largest.bit_length()} bits and a sign: take wider ones, or more"
        )
    return [replace(parameters, plain_modulus=t, extension_primes=()) for t in moduli]


def combined(residues: Sequence[NDArray[np.int64]], moduli: Sequence[int]) -> Integers:
    """Returns the integers in -T/2 … T/2 that have these residues."""
    product = math.prod(moduli)
    total = np.zeros(residues[0].shape, dtype=object)
    for values, t in zip(residues, moduli, strict=True):
        others = product // t
        total = total + values.astype(object) % t * pow(others, -1, t) * others
    total = total % product
    return np.where(total > product // 2, total - product, total)


# ---- encrypted -----------------------------------------------------------------------------------


def plan_exact(
    network: Network, multiplication: str = "behz", design: str | Design | None = None
) -> list[BfvProgram]:
    """Returns the program modulo each of ``PLAIN_MODULI`` plain moduli, planned alike.

    The smallest parameters of 128-bit security that the noise forecast finds.

    Raises ProgramError when no parameters bear the network.

    Args:
        network: The network.
        multiplication: How products are made: ``behz``, or ``hps``, as accelerators do it.
        design: The accelerator that they must suit; None: any.
    """
    largest = network.largest_integer()
    bits = plain_bits(largest, PLAIN_MODULI)
    # A t is known only once N is. Coefficients reduced by less than any such t make as much noise:
    # the products' are small, and the others are only added.
    wanted = AutoBfvParameters(plain_bits=bits, multiplication=multiplication, design=design)
    first = _exact(network, wanted, 1 << bits - 1).parameters
    found = with_moduli(first, largest, PLAIN_MODULI)
    return [_exact(network, parameters, parameters.plain_modulus) for parameters in found]


def _exact(network: Network, parameters: BfvParameters | AutoBfvParameters, t: int) -> BfvProgram:
    """Returns the program with coefficients reduced modulo t."""

    def coefficients(_: Layer, neuron: Neuron) -> tuple[int, ...]:
        return tuple((b + t // 2) % t - t // 2 for b in neuron.coefficients)

    def gmdh(**hours: EncryptedArray) -> dict[str, EncryptedArray]:
        readings = {hour: hours[input_name(hour)] for hour in network.hours}
        return {OUTPUT: forward(network, readings, coefficients)}

    shapes = {input_name(hour): (HELD_OUT,) for hour in network.hours}
    return trace(gmdh, parameters, shapes, allow_overflow=True)


def plan_approximate(network: Network, parameters: CkksParameters) -> CkksProgram:
    """Returns the program on real numbers, divided by ``network.unit``: a level for each layer.

    Raises ProgramError when the network does not fit the parameters.
    """

    def gmdh(**hours: EncryptedArray) -> dict[str, EncryptedArray]:
        readings = {hour: hours[input_name(hour)] for hour in network.hours}
        return {OUTPUT: forward(network, readings, Layer.divided)}

    limbs = len(network.layers) + OUTPUT_LIMBS
    inputs = {
        name: InputSpec((HELD_OUT,), limbs, bound=bound)
        for name, bound in bounds_of(network, network.unit).items()
    }
    return trace(gmdh, parameters, inputs, headroom_bits=HEADROOM_BITS)


def bounds_of(network: Network, unit: float) -> dict[str, float]:
    """What readings divided by a unit stay within in magnitude, by the input's name."""
    limits = network.readings.limits
    return {input_name(hour): limits[hour] / unit for hour in network.hours}


def _rms(errors: Reals) -> float:
    return float(np.sqrt(np.mean(errors**2)))


def forecast_error(network: Network, server: Server) -> float:
    """Returns what CKKS's precision forecast says that no demand errs by more than."""
    program = server.program
    assert isinstance(program, CkksProgram), "of CKKS"
    return program.forecast(bounds_of(network, network.unit)).outputs[OUTPUT].error * network.unit


@dataclass(frozen=True, eq=False)
class Forecasts:
    """What was decrypted, for each meter.

    Attributes:
        demand: The forecasts.
        exact: Their integers, in BFV; None in CKKS.
        quality: What they are worth.
        error: What CKKS's precision forecast says that none errs by more than; None in BFV.
    """

    demand: Reals
    exact: Integers | None
    quality: Mapping[str, float | None]
    error: float | None = None


@dataclass(frozen=True)
class Forecast(Application[Forecasts]):
    """The held-out days, one a meter; in BFV a run for each plain modulus.

    Raises ProgramError when there is no such scheme.
    """

    name: ClassVar[str] = "gmdh"
    encrypted: ClassVar[str] = "the meters' readings"

    scheme: str = EXACT
    parameters: CkksParameters | None = None

    def __post_init__(self) -> None:
        if self.scheme not in SCHEMES:
            raise ProgramError(f"scheme {self.scheme!r}: choose one of {', '.join(SCHEMES)}")

    @cached_property
    def days(self) -> tuple[Curves, Curves, Curves]:
        """Days to fit to, days to choose neurons by, and held-out days."""
        return load_curves()

    @cached_property
    def network(self) -> Network:
        """The trained network; the server's."""
        return train(*self.days[:2])

    @property
    def unit(self) -> float:
        """What readings are divided by, and forecasts are multiplied by; 1 in BFV."""
        return 1.0 if self.scheme == EXACT else self.network.unit

    def prepare(self) -> str:
        """Trains the network."""
        days = len(self.days[0]) + len(self.days[1])
        hours, hidden = len(self.network.hours), len(self.network.layers) - 1
        return f"{days} days, {hidden} hidden layers, readings of {hours} hours used"

    def programs(self, design: str | Design | None, *, accelerated: bool) -> Sequence[Program]:
        """Returns the program in CKKS, one for each plain modulus in BFV."""
        if self.scheme == EXACT:
            return plan_exact(self.network, "hps" if accelerated else "behz", design)
        return [plan_approximate(self.network, self.parameters or ckks_set(PARAMETERS))]

    def vectors(self, server: Server) -> Iterator[Numbers]:
        """Returns the readings by hour, for each program: integers in BFV."""
        readings = self.network.readings
        values = readings.integers(self.days[2].observed)
        hours = {input_name(hour): values[:, hour] for hour in self.network.hours}
        if self.scheme == EXACT:
            yield from [hours] * len(server.kits)
        else:
            yield {name: readings.real(each) / self.unit for name, each in hours.items()}

    def outcome(self, server: Server, decrypted: Sequence[Numbers]) -> Forecasts:
        """Returns the forecasts, by the Chinese remainder in BFV."""
        found = [each[OUTPUT][:HELD_OUT] for each in decrypted]
        if self.scheme == EXACT:
            exact = combined(found, [kit.parameters.message_modulus for kit in server.kits])
            demand = real(exact, self.network.output_bits)
            return Forecasts(demand, exact, self._quality(demand, exact))
        demand, error = found[0] * self.unit, forecast_error(self.network, server)
        return Forecasts(demand, None, self._quality(demand, None), error)

    def _quality(self, demand: Reals, exact: Integers | None) -> dict[str, float | None]:
        """Root mean squares of errors; ``exact``: meters whose integers are the clear network's."""
        network, (fitted, _, days) = self.network, self.days
        clear, equal = network.forecast(days.observed), None
        if exact is not None:
            expected = network.exact(network.readings.integers(days.observed))
            equal = int(np.count_nonzero(exact == expected))
        return {
            "meters": len(days),
            "error_encrypted": _rms(demand - days.target),
            "error_clear": _rms(clear - days.target),
            "error_last_reading": _rms(days.observed[:, -1] - days.target),
            "error_mean": _rms(fitted.target.mean() - days.target),
            "largest_difference": float(np.abs(demand - clear).max()),
            "exact": equal,
        }

    def show(self, outcome: Forecasts) -> Iterator[Table]:
        """Shows some meters, and how good all forecasts are."""
        days, found = self.days[2], outcome.quality
        title = f"Some meters: demand at {TARGET_HOUR}:00, forecast at noon ({UNIT})"
        headings = ("meter", "last reading", "forecast, decrypted", "demand")
        cells = [
            (
                str(meter),
                f"{days.observed[meter, -1]:+.3f}",
                f"{outcome.demand[meter]:+.6f}",
                f"{days.target[meter]:+.3f}",
            )
            for meter in some(len(days))
        ]
        yield rows_table(title, headings, cells)
        rows = [
            ("network, encrypted", f"{found['error_encrypted']:.4f}"),
            ("network, in the clear", f"{found['error_clear']:.4f}"),
            ("the last reading again", f"{found['error_last_reading']:.4f}"),
            ("the training days' mean", f"{found['error_mean']:.4f}"),
            ("largest difference, encrypted to clear", f"{found['largest_difference']:.1e}"),
        ]
        if outcome.error is not None:
            error = f"{outcome.error:.1e}"
            rows.append(("the same, by the precision forecast at most", error))
        if found["exact"] is not None:
            equal = f"{found['exact']} of {found['meters']}"
            rows.append(("integers equal to the clear network's", equal))
        title = f"{found['meters']} held-out days, root mean square of errors ({UNIT})"
        yield figures_table(title, rows)

    def numbers(self, outcome: Forecasts) -> dict[str, object]:
        """Returns errors."""
        return {"quality": dict(outcome.quality), "forecast_error": outcome.error}

    def typed(self) -> str:
        """Returns the scheme."""
        return f" --scheme {self.scheme}"
