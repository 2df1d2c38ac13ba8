"""The grid operator: it holds the network and computes on ciphertexts; it has no secret key.

Nothing here imports ``client``, and a test follows the imports to see that nothing it uses does.
"""

from collections.abc import Sequence

from ringsmith import runtime
from ringsmith.apps.gmdh.interface import OUTPUT, Interface, Part, input_name
from ringsmith.apps.gmdh.network import Layer, Network, Neuron, forward
from ringsmith.apps.gmdh.residues import plain_bits, with_moduli
from ringsmith.apps.interface import Inputs
from ringsmith.backends.base import Design
from ringsmith.params import AutoBfvParameters, BfvParameters, CkksParameters, KeyNeeds, ckks_set
from ringsmith.program import BfvProgram, CkksProgram, EncryptedVector, InputSpec
from ringsmith.tracing import trace

EXACT = "bfv"
SCHEMES = (EXACT, "ckks")
PLAIN_MODULI = 3
"""Plain moduli that the exact forecast is taken apart by. Fewer do not fit 60 bits, and more would
need less noise budget each, but a run each."""
PARAMETERS = "medha-set1"
"""In CKKS, the parameter set that the Medha paper takes for its forecast."""
HEADROOM_BITS = 11
"""In CKKS, messages stay within ±2^11 for all readings within their limits, by intervals."""
OUTPUT_LIMBS = 2
"""In CKKS, data primes that the output keeps: one is too small for scale and headroom."""


def plan_exact(
    network: Network, multiplication: str = "behz", design: str | Design | None = None
) -> list[BfvProgram]:
    """Returns the program modulo each of ``PLAIN_MODULI`` plain moduli, planned alike.

    The smallest parameters of 128-bit security that the noise forecast finds.

    Args:
        network: The network.
        multiplication: How products are made: ``behz``, or ``hps``, as accelerators do it.
        design: The accelerator that they must suit; None: any.

    Raises:
        ProgramError: When no parameters bear the network.
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

    def gmdh(**hours: EncryptedVector) -> dict[str, EncryptedVector]:
        readings = {hour: hours[input_name(hour)] for hour in network.hours}
        return {OUTPUT: forward(network, readings, coefficients)}

    return trace(gmdh, parameters, [input_name(hour) for hour in network.hours], modular=True)


def plan_approximate(network: Network, parameters: CkksParameters) -> CkksProgram:
    """Returns the program on real numbers, divided by ``network.unit``: a level for each layer.

    Args:
        network: The network.
        parameters: Of as many levels, and primes for ``OUTPUT_LIMBS``.

    Raises:
        ProgramError: When the network does not fit the parameters.
    """

    def gmdh(**hours: EncryptedVector) -> dict[str, EncryptedVector]:
        readings = {hour: hours[input_name(hour)] for hour in network.hours}
        return {OUTPUT: forward(network, readings, Layer.divided, _multiple)}

    limbs = len(network.layers) + OUTPUT_LIMBS
    inputs = {
        name: InputSpec(limbs=limbs, bound=bound)
        for name, bound in _bounds(network, network.unit).items()
    }
    return trace(gmdh, parameters, inputs, headroom_bits=HEADROOM_BITS)


def _multiple(x: EncryptedVector, times: int) -> EncryptedVector:
    """Returns a whole multiple of a vector by additions, which take no level."""
    if times < 0:
        return -_multiple(x, -times)
    if times == 1:
        return x
    half = _multiple(x, times // 2)
    return half + half + x if times % 2 else half + half


class Server:
    """A network made ready to forecast encrypted meters.

    Attributes:
        programs: The planned HE programs; one in CKKS, one for each plain modulus in BFV.
        compiled: The same for the interpreter and, where a design is given, its accelerator.
        interface: What clients need to know.
        bounds: What the magnitudes of each input's messages stay within.
    """

    def __init__(
        self,
        network: Network,
        scheme: str,
        design: str | Design | None = None,
        *,
        smallest: bool = False,
        parameters: CkksParameters | None = None,
    ) -> None:
        """Plans and compiles.

        Args:
            network: The trained network.
            scheme: One of ``SCHEMES``.
            design: Accelerator to schedule for.
            smallest: Where no design is given, whether to schedule for the smallest that runs a
                program; else it runs on the ``cpu`` device only.
            parameters: In CKKS, what to plan for; None: ``PARAMETERS``.

        Raises:
            ProgramError: When the design cannot run the programs.
        """
        self.programs: Sequence[BfvProgram | CkksProgram] = (
            plan_exact(network, "hps" if smallest or design is not None else "behz", design)
            if scheme == "bfv"
            else [plan_approximate(network, parameters or ckks_set(PARAMETERS))]
        )
        self.compiled = [
            runtime.compile_for_smallest_design(program)
            if smallest and design is None
            else runtime.compile_program(program, design)
            for program in self.programs
        ]
        needs, unit = KeyNeeds(), 1.0 if scheme == "bfv" else network.unit
        for program in self.programs:
            needs |= program.key_needs
        self.interface = Interface(
            self.programs[0].parameters,
            needs,
            any(compiled.compiled_graph.expands_keys for compiled in self.compiled),
            tuple(_part(program, unit) for program in self.programs),
            network.hours,
            network.readings,
            network.output_bits,
        )
        self.bounds = _bounds(network, unit)

    @property
    def design(self) -> Design | None:
        """The accelerator that the programs are scheduled for; None: for none."""
        executable = self.compiled[0].compiled_graph.executable
        return None if executable is None else executable.design

    def run(
        self, machine: runtime.Machine, inputs: Sequence[Inputs], keys: runtime.AnyKeys
    ) -> list[runtime.RunResult]:
        """Returns the encrypted forecasts of each part, as output ``OUTPUT``, and what runs took.

        Args:
            machine: Where to run, from ``runtime.open_device``.
            inputs: For each part the encrypted readings by name.
            keys: The clients' evaluation keys.
        """
        pairs = zip(self.compiled, inputs, strict=True)
        return [compiled.run(machine, part, keys) for compiled, part in pairs]


def _bounds(network: Network, unit: float) -> dict[str, float]:
    """What readings divided by a unit stay within in magnitude, by the input's name."""
    limits = network.readings.limits
    return {input_name(hour): limits[hour] / unit for hour in network.hours}


def _part(program: BfvProgram | CkksProgram, unit: float) -> Part:
    inputs = program.inputs
    return Part(
        program.parameters,
        {name: node.scale for name, node in inputs.items()},
        {name: node.limbs for name, node in inputs.items()},
        unit,
    )
