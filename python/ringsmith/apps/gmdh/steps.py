"""The exact forecast, operation by operation: products on an accelerator, all else on its host.

A coprocessor of a few conversions, constants and keys does not hold the whole program. Here it gets
one product or relinearization at a time, as in HEAWS's own forecast (Turan, Roy, Verbauwhede 2020,
section 5.2), and the host adds, and multiplies by numbers. The parameters are that paper's, with a
digit for each prime: digits of three primes would leave no noise budget.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ringsmith import runtime
from ringsmith.apps.gmdh.interface import OUTPUT, Interface, Part, input_name
from ringsmith.apps.gmdh.network import Layer, Network, Neuron, forward
from ringsmith.apps.gmdh.packing import plain_moduli
from ringsmith.apps.interface import Inputs
from ringsmith.backends.base import Design
from ringsmith.backends.keys import AnyKey
from ringsmith.caching import cached
from ringsmith.lower import lower_operation
from ringsmith.objects import Ciphertext, PlainPolynomial
from ringsmith.params import BfvParameters, KeyNeeds, parameter_set
from ringsmith.program import Op
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
        for t in plain_moduli(network.largest_integer(), METERS, MAX_PLAIN)
    ]


class Server:
    """A network made ready to forecast encrypted meters, a product at a time.

    Attributes:
        design: The accelerator.
        parameters: Of each run, with a plain modulus of its own.
        interface: What clients need to know.
        graphs: For each plain modulus those of ``STEPS``, by their names.
        ran: Steps of a forecast modulo one plain modulus, in order; of the last run.
        host_seconds: CPU time of the host's operations, of all plain moduli; of the last run.
    """

    def __init__(self, network: Network, design: str | Design) -> None:
        """Compiles both operations for each plain modulus.

        Raises:
            ProgramError: When the design cannot run one of them.
        """
        self.design = named_design(design)
        self._network = network
        self.ran: Sequence[str] = ()
        self.host_seconds = 0.0
        self.parameters = found = parameters_of(network)
        self.graphs: list[dict[str, runtime.CompiledGraph]] = [
            {
                name: runtime.compile_graph(lower_operation(name, of, of.limbs), self.design)
                for name in STEPS
            }
            for of in found
        ]
        names = [input_name(hour) for hour in network.hours]
        limbs = found[0].limbs
        self.interface = Interface(
            found[0],
            KeyNeeds(relin=limbs),
            False,
            tuple(
                Part(of, dict.fromkeys(names, 1.0), dict.fromkeys(names, limbs), 1.0)
                for of in found
            ),
            network.hours,
            network.readings,
            network.output_bits,
        )

    @property
    def coprocessors(self) -> int:
        """Accelerators of the design that work side by side."""
        return int(getattr(self.design, "coprocessors", 1))

    def run(
        self, machine: runtime.Machine, inputs: Sequence[Inputs], keys: runtime.AnyKeys
    ) -> list[runtime.RunResult]:
        """Returns the forecasts modulo each plain modulus, as output ``OUTPUT``.

        As many runs as there are coprocessors are under way at once.

        Args:
            machine: Where products run, from ``runtime.open_device``.
            inputs: For each plain modulus the encrypted readings by name.
            keys: The clients' evaluation keys.
        """
        named = runtime.named_keys(keys)
        runs = [
            _Run(of, graphs, machine, named)
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
    machine: runtime.Machine
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
        return runtime.RunResult(
            {OUTPUT: found},
            self._total(lambda result: result.cycles),
            self._total(lambda result: result.instructions),
            sum(result.host_transfers for result in self.results),
            sum(result.spilled_words for result in self.results),
            sum(result.key_words for result in self.results),
        )

    def step(self, name: str, *operands: Ciphertext) -> Ciphertext:
        """Returns what the accelerator makes of ciphertexts."""
        compiled = self.graphs[name]
        polynomials = [polynomial for operand in operands for polynomial in operand.data]
        given = dict(zip(compiled.graph.inputs, polynomials, strict=True))
        result = runtime.run_graph(compiled, self.machine, given, self.keys)
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

    def _total(self, of: Callable[[runtime.GraphResult], int | None]) -> int | None:
        found = [value for value in map(of, self.results) if value is not None]
        return sum(found) if found else None


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
