"""The exact forecast, operation by operation: products on an accelerator, all else on its host.

A coprocessor of a few conversions, constants and keys does not hold the whole program. Here it gets
one product or relinearization at a time, as in HEAWS's own forecast (Turan, Roy, Verbauwhede 2020,
section 5.2), and the host adds, and multiplies by numbers. The parameters are that paper's, with a
digit for each prime: digits of three primes would leave no noise budget.

**Packing.** The plain moduli t are too small to batch N numbers. Modulo a prime t that is 1 modulo
2m, m a divisor of N, the polynomials in Y = X^(N/m) are those modulo Y^m + 1, which splits into m
factors: a message of this kind holds m numbers, its values at the m roots, and sums and products
act on each of them. A number that is the same for all is the constant polynomial.
"""

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray
from rich.console import RenderableType

from ringsmith import _core, runtime
from ringsmith.apps import session
from ringsmith.apps.application import Inputs, Numbers, Server
from ringsmith.apps.conditions import ASSUMED_HZ, seconds_at_assumed_clock
from ringsmith.apps.gmdh import (
    OUTPUT,
    Forecast,
    Forecasts,
    Layer,
    Network,
    Neuron,
    forward,
    input_name,
)
from ringsmith.apps.report import figures_table
from ringsmith.apps.seal_baseline import SealBaseline
from ringsmith.apps.session import Answer, Client, Session, device_and_design
from ringsmith.apps.stages import Stages
from ringsmith.backends.base import Design
from ringsmith.backends.keys import AnyKey
from ringsmith.caching import cached
from ringsmith.client import decode_coefficients, decrypt, encode_coefficients, encrypt
from ringsmith.errors import ParameterError
from ringsmith.files import Target
from ringsmith.lower import lower_operation
from ringsmith.objects import Ciphertext, PlainPolynomial
from ringsmith.params import BfvParameters, KeyNeeds, parameter_set
from ringsmith.program import ClientKit, Op, Port
from ringsmith.progress import task
from ringsmith.runtime.designs import limits_of, named_design
from ringsmith.runtime.evaluator import Evaluator

METERS = 512
"""Numbers of a message: each plain modulus is a prime that is 1 modulo twice as many."""
MAX_PLAIN = 1 << 16
"""What plain moduli are below. Up to here the noise forecast is positive, and the seven primes of
the extension hold the products; from nearly twice as large a t on they do not."""

STEPS = (str(Op.MULTIPLY), str(Op.RELINEARIZE))
"""What runs on the accelerator."""

_SWITCHED = 2
"""Polynomials of a ciphertext that was relinearized."""


@cached
def paper_set() -> BfvParameters:
    """The paper's parameters, with a digit for each prime."""
    given = parameter_set("heaws")
    return replace(given, dnum=given.limbs, name="heaws, a digit a prime")


def takes_steps(design: str | Design) -> bool:
    """Whether a design multiplies and relinearizes in the ring of ``paper_set``."""
    limits, wanted = limits_of(design), paper_set()
    return (
        limits.min_n <= wanted.n == limits.max_n
        and wanted.multiplication in limits.bfv_multiplications
        and limits.max_prime_bits >= max(wanted.extended_primes).bit_length()
        and limits.max_primes is not None
        and limits.max_primes >= len(wanted.extended_primes)
    )


def parameters_of(network: Network) -> list[BfvParameters]:
    """Returns the parameters of each run: one for each plain modulus."""
    given = paper_set()
    return [
        replace(given, plain_modulus=t, extension_primes=())
        for t in plain_moduli(network.largest_integer())
    ]


def plain_moduli(largest: int, most: int = MAX_PLAIN) -> list[int]:
    """Returns the fewest primes below ``most`` that pack ``METERS`` numbers, for an integer's CRT.

    Of as many primes one after the other, the smallest that do: a small t leaves more noise budget.
    Raises ParameterError when all of them together are too small.
    """
    primes = [t for t in range(2 * METERS + 1, most, 2 * METERS) if _core.is_prime(t)]
    for count in range(1, len(primes) + 1):
        for first in range(len(primes) - count + 1):
            chosen = primes[first : first + count]
            if math.prod(chosen) > 2 * largest:
                return chosen
    raise ParameterError(
        f"the {len(primes)} primes below {most} that are 1 modulo {2 * METERS} do not hold "
        f"integers of {largest.bit_length()} bits and a sign: allow a larger t"
    )


def pack(parameters: BfvParameters, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the N coefficients, in 0 … t - 1, of the message that holds some numbers.

    Raises ParameterError when there are more than ``METERS``.
    """
    t = parameters.plain_modulus
    if len(values) > METERS:
        raise ParameterError(f"{len(values)} meters: a message holds {METERS}: make batches")
    padded = np.zeros(METERS, np.int64)
    padded[: len(values)] = values % t
    message = np.zeros(parameters.n, np.int64)
    message[:: parameters.n // METERS] = _matrices(t)[0] @ padded % t
    return message


def unpack(parameters: BfvParameters, coefficients: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the numbers, modulo t, that a message holds."""
    t = parameters.plain_modulus
    return _matrices(t)[1] @ (coefficients[:: parameters.n // METERS] % t) % t


@cached
def _matrices(t: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """From numbers to coefficients of Y, and back: the values at the odd powers of a root.

    t is a prime that is 1 modulo 2 * ``METERS``, below 2^20: sums of products fit 64 bits.
    """
    candidates = (pow(a, (t - 1) // (2 * METERS), t) for a in range(2, t))
    root = next(each for each in candidates if pow(each, METERS, t) == t - 1)
    powers = np.array([pow(root, k, t) for k in range(2 * METERS)], np.int64)
    odd, degree = np.arange(1, 2 * METERS, 2), np.arange(METERS)
    values = powers[np.outer(odd, degree) % (2 * METERS)]
    inverse = powers[-np.outer(degree, odd) % (2 * METERS)] * pow(METERS, -1, t) % t
    return inverse, values


class StepServer(Server):
    """A network made ready to forecast encrypted meters, a product at a time.

    Attributes:
        parameters: Of each run, with a plain modulus of its own.
        graphs: For each plain modulus those of ``STEPS``, by their names.
        ran: Steps of a forecast modulo one plain modulus, in order; of the last run.
        host_seconds: CPU time of the host's operations, of all plain moduli; of the last run.
    """

    def __init__(self, network: Network, design: str | Design) -> None:
        """Compiles both operations for each plain modulus.

        Raises ProgramError when the design cannot run one of them.
        """
        super().__init__([], None)
        self._design, self._network = named_design(design), network
        self.ran: Sequence[str] = ()
        self.host_seconds = 0.0
        self.parameters = parameters_of(network)
        self.graphs: list[dict[str, runtime.CompiledGraph]] = [
            {
                name: runtime.compile_graph(lower_operation(name, of, of.limbs), self._design)
                for name in STEPS
            }
            for of in self.parameters
        ]

    @property
    def kits(self) -> Sequence[ClientKit]:
        """What clients must know for each plain modulus."""
        return [
            ClientKit(
                "gmdh",
                of,
                {input_name(h): Port(of.limbs, 1.0, METERS) for h in self._network.hours},
                {OUTPUT: Port(of.limbs, 1.0, METERS)},
                KeyNeeds(relin=of.limbs),
            )
            for of in self.parameters
        ]

    @property
    def seeded(self) -> bool:
        """Whether clients make half of each key from a seed, which the device expands."""
        return any(each.expands_keys for graphs in self.graphs for each in graphs.values())

    @property
    def design(self) -> Design:
        """The accelerator."""
        return self._design

    @property
    def note(self) -> str:
        """Parameters and design."""
        of = self.parameters[0]
        return (
            f"product and relinearization for {len(self.parameters)} plain moduli, N = {of.n}, "
            f"{of.log_qp} bits, for design {self._design.name}"
        )

    @property
    def coprocessors(self) -> int:
        """Coprocessors of the design, which work in parallel."""
        return int(getattr(self._design, "coprocessors", 1))

    def run(
        self, device: runtime.Device, inputs: Sequence[Inputs], keys: runtime.AnyKeys
    ) -> Sequence[runtime.RunResult]:
        """Returns the forecasts modulo each plain modulus, as output ``OUTPUT``.

        As many runs as there are coprocessors work at once.
        """
        named = runtime.named_keys(keys)
        runs = [
            _Run(of, graphs, device, named)
            for of, graphs in zip(self.parameters, self.graphs, strict=True)
        ]
        with (
            ThreadPoolExecutor(self.coprocessors) as pool,
            task("forecasts modulo a plain modulus", len(runs), "runs") as counted,
        ):
            waiting: list[Future[runtime.RunResult]] = [
                pool.submit(run.forecast, self._network, given)
                for run, given in zip(runs, inputs, strict=True)
            ]
            for each in as_completed(waiting):
                each.result()
                counted.advance()
        self.ran = runs[0].ran
        self.host_seconds = sum(run.host_seconds for run in runs)
        return [each.result() for each in waiting]


@dataclass
class _Run:
    """One forecast modulo one plain modulus."""

    parameters: BfvParameters
    graphs: Mapping[str, runtime.CompiledGraph]
    device: runtime.Device
    keys: Mapping[str, AnyKey]
    ran: list[str] = field(default_factory=list)
    results: list[runtime.GraphResult] = field(default_factory=list)
    host_seconds: float = 0.0

    def __post_init__(self) -> None:
        self._host = Evaluator(self.parameters)

    def forecast(self, network: Network, inputs: Inputs) -> runtime.RunResult:
        """Returns the encrypted forecast."""
        t = self.parameters.plain_modulus

        def coefficients(_: Layer, neuron: Neuron) -> tuple[int, ...]:
            return tuple((b + t // 2) % t - t // 2 for b in neuron.coefficients)

        readings = {hour: _Value(self, inputs[input_name(hour)]) for hour in network.hours}
        found = forward(network, readings, coefficients).switched
        total = runtime.RunReport.total(result.report for result in self.results)
        return runtime.RunResult({OUTPUT: found}, total)

    def step(self, name: str, *operands: Ciphertext) -> Ciphertext:
        """Returns what the accelerator makes of ciphertexts."""
        compiled = self.graphs[name]
        polynomials = [polynomial for operand in operands for polynomial in operand.data]
        given = dict(zip(compiled.graph.inputs, polynomials, strict=True))
        result = runtime.run_graph(compiled, self.device, given, self.keys)
        self.ran.append(name)
        self.results.append(result)
        data = np.stack([result.outputs[output] for output in compiled.graph.outputs])
        return replace(operands[0], data=data)

    def host(
        self, operation: Op, a: Ciphertext, b: Ciphertext | PlainPolynomial | None = None
    ) -> Ciphertext:
        """Returns what the host makes of a ciphertext."""
        begin = time.thread_time()
        found = self._host.run(operation, a, b)
        self.host_seconds += time.thread_time() - begin
        return found

    def constant(self, value: int) -> PlainPolynomial:
        """Returns the message with a number in every slot."""
        data = np.zeros(self.parameters.n, np.uint64)
        data[0] = value % self.parameters.plain_modulus
        return PlainPolynomial(data, parameters_id=self.parameters.parameters_id)


@dataclass(frozen=True)
class _Value:
    """An encrypted value of the network: what ``forward`` adds and multiplies."""

    run: _Run
    data: Ciphertext

    @cached_property
    def switched(self) -> Ciphertext:
        """The ciphertext with two polynomials."""
        if self.data.size == _SWITCHED:
            return self.data
        return self.run.step(STEPS[1], self.data)

    def __add__(self, other: "_Value | int") -> "_Value":
        if not isinstance(other, _Value):
            return self._host(Op.ADD_PLAIN, self.run.constant(other))
        if self.data.size == other.data.size:  # two products: relinearized together
            return _Value(self.run, self.run.host(Op.ADD, self.data, other.data))
        return self._host(Op.ADD, other.switched)

    def __mul__(self, other: "_Value | int") -> "_Value":
        if isinstance(other, _Value):
            return _Value(self.run, self.run.step(STEPS[0], self.switched, other.switched))
        found = self._host(Op.MULTIPLY_PLAIN, self.run.constant(abs(other)))
        return found if other > 0 else found._host(Op.NEGATE, None)

    def _host(self, operation: Op, other: Ciphertext | PlainPolynomial | None) -> "_Value":
        return _Value(self.run, self.run.host(operation, self.switched, other))


class PackedClient(Client):
    """Households whose readings are packed into coefficients: t is too small to batch."""

    def _encrypted(self, kit: ClientKit, numbers: Numbers) -> Inputs:
        of = cast("BfvParameters", kit.parameters)
        messages = {name: encode_coefficients(of, pack(of, v)) for name, v in numbers.items()}
        return {name: encrypt(of, self.public_key, each) for name, each in messages.items()}

    def _decrypted(self, kit: ClientKit, outputs: Inputs) -> Numbers:
        of = cast("BfvParameters", kit.parameters)
        message = decrypt(of, self._secret_key, outputs[OUTPUT])
        return {OUTPUT: unpack(of, decode_coefficients(of, message))}


@dataclass(frozen=True)
class StepForecast(Forecast):
    """The same for an accelerator that does not hold the whole program."""

    design: str | Design = "heaws"

    def server(
        self, design: str | Design | None = None, *, accelerated: bool | None = None
    ) -> StepServer:
        """Returns the server, of the application's own design."""
        return StepServer(self.network, self.design)


def steps_taken(
    _: Stages,
    device: runtime.Device,
    current: Session[Forecasts],
    answer: Answer[Forecasts],
    __: SealBaseline | None,
) -> tuple[list[RenderableType], dict[str, object]]:
    """Returns what the accelerator did for all forecasts, and how long that takes."""
    server, cycles = current.server, [result.cycles for result in answer.results]
    assert isinstance(server, StepServer), "made by StepForecast"
    with_one, with_all = seconds_of(cycles, server.coprocessors)
    done, moduli = Counter(server.ran), [of.plain_modulus for of in server.parameters]
    rows = [
        ("runs, one for each plain modulus", str(len(moduli))),
        ("plain moduli", ", ".join(map(str, moduli))),
        ("meters of a run, at most", str(METERS)),
        ("operations of a run", ", ".join(f"{n} x {name}" for name, n in done.items())),
    ]
    if with_one is not None:
        clock = f"at {ASSUMED_HZ / 1e6:.0f} MHz, without link and host"
        rows.append((f"seconds with one, {clock}", f"{with_one:.4f}"))
        if server.coprocessors > 1:
            rows.append((f"with {server.coprocessors} in parallel", f"{with_all:.4f}"))
    where = device_and_design(device.name, server.design)
    return [figures_table(f"All forecasts on {where}", rows)], {
        "plain_moduli": moduli,
        "steps": dict(done),
        "reports": [result.report.numbers() for result in answer.results],
        "coprocessors": server.coprocessors,
        "seconds_with_one": with_one,
        "seconds_with_all": with_all,
    }


def seconds_of(
    cycles: Sequence[int | None], coprocessors: int
) -> tuple[float | None, float | None]:
    """Returns the seconds of runs at the assumed clock, link and host left out.

    With one coprocessor all runs follow one another; with all, each is on the one that is free
    first, until the last has ended. None on the cpu device.
    """
    counted = [each for each in cycles if each is not None]
    if not counted:
        return None, None
    busy = [0] * coprocessors
    for each in counted:
        busy[busy.index(min(busy))] += each
    return seconds_at_assumed_clock(sum(counted)), seconds_at_assumed_clock(max(busy))


def begin_steps(stages: Stages, design: str | Design) -> Session[Forecasts]:
    """Trains, compiles, makes keys and encrypts; the server is a ``StepServer``.

    Raises ProgramError when the design cannot run an operation; ToolError when sktime, which
    carries the data, is missing.
    """
    return session.begin(stages, StepForecast(design=design), client=PackedClient)


def run(device: str, design: str, output: Target | None) -> None:
    """Runs ``ringsmith run gmdh`` on such a design; arguments and errors as of ``session.run``."""
    application = StepForecast(design=design)
    session.run(application, device, design, output, client=PackedClient, more=steps_taken)
