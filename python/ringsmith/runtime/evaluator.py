"""Single HE operations on ciphertexts, on any device, with the checks that Microsoft SEAL makes.

Programs written for SEAL ask for one result at a time. For programs of several operations use
``compile_program``, which keeps intermediate results on the device.
"""

from functools import partial

from ringsmith.backends.base import CompiledGraph, Design, Device
from ringsmith.backends.cards.interface import CARD, DEFAULT_BAUD
from ringsmith.backends.keys import expandable
from ringsmith.backends.registry import (
    backend_without_designs,
    fitting_backend,
    multiplications,
    named_design,
)
from ringsmith.errors import DeviceError, ProgramError
from ringsmith.graph.operations import Drops, Key, Op, operations
from ringsmith.lower import RELIN_KEY, galois_key_name, graph_of_steps
from ringsmith.objects import (
    Ciphertext,
    EvaluationKeys,
    History,
    KeySwitchKey,
    OfParameters,
    Plaintext,
    Residues,
    check_opaque,
)
from ringsmith.params import RlweParameters
from ringsmith.runtime.check import check_belonging, check_key_shapes
from ringsmith.runtime.compiled import compile_graph, named_keys, open_device, run_graph, stacked
from ringsmith.runtime.noise import USED, result_history
from ringsmith.runtime.precomputed_keys import AnyKeys
from ringsmith.schemes.base import Operand
from ringsmith.schemes.registry import SCHEMES, scheme_of

_Shape = tuple[Op, tuple[int, ...], int, tuple[int, ...]]
"""Operation, ciphertext sizes, limbs and Galois elements: these determine a graph."""


class Evaluator:
    """Runs HE operations of CKKS or BFV one by one.

    Args:
        parameters: The parameter set.
        keys: Evaluation keys for relinearize, rotate and conjugate. Keys expanded on the fly and
            precomputed keys are for the ``cpu`` only.
        device: ``cpu``, ``model``, ``rtl``, ``card``, or a kind that another package's backend
            adds.
        design: The accelerator of ``model``, ``rtl`` or ``card``; None: the smallest that runs
            the operation (a card needs a design). An accelerator computes BFV products with primes
            of its word width, by ``hps``. With a design, so does the ``cpu``.
        port: The serial port of a ``card``.
        baud: The port's rate in bits per second.
        check_noise: Whether a BFV result is refused when its noise may have reached the modulus, as
            a program's is when it is traced. The noise is followed from ``client.encrypt`` on;
            ciphertexts from files and results of programs have no known noise, and are computed on
            as Microsoft SEAL does: their user ensures that the modulus suffices.

    Raises:
        ParameterError: When no design has that name, or there are too few primes of its words.
        DeviceError: When there is no such device, or a card has no design.
    """

    def __init__(
        self,
        parameters: RlweParameters,
        keys: AnyKeys | None = None,
        device: str = "cpu",
        design: str | Design | None = None,
        port: str | None = None,
        baud: int = DEFAULT_BAUD,
        *,
        check_noise: bool = True,
    ) -> None:
        if device == CARD and design is None:
            raise DeviceError(f"device {CARD} is of one design: name the one that the board holds")
        self._open = partial(open_device, device, port=port, baud=baud)
        self._design = None if design is None else named_design(design)
        variants = multiplications(device, self._design)
        self.parameters = parameters.multiplied_by(variants)
        self._scheme = scheme_of(parameters)
        self._check_noise = check_noise
        self._identity = parameters.parameters_id  # of the operands, for either method
        self._given = keys or EvaluationKeys()
        check_key_shapes(parameters, self._given)
        self._keys = named_keys(self._given)
        whole = ((name, key) for name, key in self._keys.items() if isinstance(key, KeySwitchKey))
        self._seeded = [name for name, key in whole if expandable(key, parameters.primes)]
        self._interprets = backend_without_designs(device) is not None
        self._compiled: dict[_Shape, CompiledGraph] = {}
        self._devices: dict[Design | None, Device] = {}

    def run(
        self, operation: str, a: Ciphertext, b: Operand = None, *, steps: int = 0
    ) -> Ciphertext:
        """Runs one operation.

        Args:
            operation: Any operation of the scheme (``graph.operations``), by its name. In BFV,
                rotate rotates both rows, and conjugate swaps them.
            a: The first operand.
            b: The second operand, if any: a ciphertext, or a plaintext of the scheme.
            steps: Of rotate: slots to the left, or negative to the right; 0 changes nothing. A
                step without its own key is composed of other steps, as in SEAL.

        Raises:
            ProgramError: When operands do not fit each other or the operation (level, scale,
                number of polynomials), or are of other parameters or different key pairs. When a
                key is missing, or the result would be transparent. When the noise of a BFV result
                may reach the modulus (``check_noise``).
            ParameterError: When BFV's t has no slots to rotate, or the device cannot be opened.
            DeviceError, ToolError: When the device cannot be opened.
        """
        tag = check_belonging(
            "the evaluator", self._identity, self._given, _named_operands(operation, a, b)
        )
        op = operation_named(operation, self.parameters)
        check_operands(self.parameters, op, a, b)
        elements: tuple[int, ...] = ()
        if op is Op.ROTATE:
            elements = self._rotations(steps)
        elif op.record.key is Key.GALOIS:
            elements = (self._existing(self.parameters.conjugation_element, "conjugation"),)
        scale = self._scheme.result_scale(self.parameters, op, a, b)
        if a.size == 2 and (op is Op.RELINEARIZE or (op is Op.ROTATE and not elements)):
            return a  # nothing to do: a rotation by 0, or two polynomials already
        if op.record.key is Key.RELINEARIZATION and RELIN_KEY not in self._keys:
            raise ProgramError(f"{op} needs relinearization keys, and none are given")
        sizes = (a.size, b.size) if isinstance(b, Ciphertext) else (a.size,)
        data = self._execute((op, sizes, a.limbs, elements), a, b)
        check_opaque(data, f"the result of {operation}")
        history = self._history(op, a, b, data.shape[1], len(elements))
        return Ciphertext(data, scale, parameters_id=self._identity, key_tag=tag, history=history)

    def _history(
        self, op: Op, a: Ciphertext, b: Operand, limbs: int, rotations: int
    ) -> History | None:
        """Returns what is known of a result; refuses one that may be wrong."""
        if self._check_noise:
            return result_history(self.parameters, op, a, b, limbs, rotations)
        return USED if self.parameters.exact else None

    def _execute(self, shape: _Shape, a: Ciphertext, b: Operand) -> Residues:
        if shape not in self._compiled:
            op, sizes, limbs, elements = shape
            steps = [(op, element) for element in elements or (None,)]
            graph = graph_of_steps(self.parameters, steps, sizes, limbs, op)
            if self._interprets or self._design is not None:
                design = None if self._interprets else self._design
                self._compiled[shape] = compile_graph(graph, design, self._seeded)
            else:
                executable = fitting_backend().fit(graph, self._seeded)
                self._compiled[shape] = CompiledGraph(graph, executable)
        compiled = self._compiled[shape]
        polynomials = list(a.data)
        if isinstance(b, Ciphertext):
            polynomials += list(b.data)
        elif b is not None:
            polynomials.append(self._scheme.residues(self.parameters, shape[0], b, a.limbs))
        inputs = dict(zip(compiled.graph.inputs, polynomials, strict=True))
        outputs = run_graph(compiled, self._device(compiled), inputs, self._keys).outputs
        return stacked([outputs[name] for name in compiled.graph.outputs])

    def _device(self, compiled: CompiledGraph) -> Device:
        design = compiled.design
        if design not in self._devices:
            self._devices[design] = self._open() if design is None else self._open(design)
        return self._devices[design]

    def _rotations(self, steps: int) -> tuple[int, ...]:
        """Returns a rotation's Galois elements: its own key's, else its signed binary digits'."""
        if steps == 0:
            return ()
        element = self.parameters.galois_element(steps)
        if galois_key_name(element) in self._keys:
            return (element,)
        terms = non_adjacent_form(steps)
        if len(terms) == 1:
            return (self._existing(element, f"rotation by {steps}"),)
        whole = self.parameters.row_size
        return tuple(
            self._existing(self.parameters.galois_element(term), f"rotation by {steps}, {term} of")
            for term in terms
            if abs(term) != whole
        )

    def _existing(self, element: int, what: str) -> int:
        if galois_key_name(element) not in self._keys:
            raise ProgramError(
                f"the Galois key of element {element} is missing ({what}): create it with the keys"
            )
        return element


def _named_operands(operation: str, a: Ciphertext, b: Operand) -> dict[str, OfParameters]:
    """Returns the operands by their names in error messages."""
    named = {f"{operation}: the first operand": a, f"{operation}: the second operand": b}
    return {what: operand for what, operand in named.items() if isinstance(operand, OfParameters)}


def non_adjacent_form(value: int) -> list[int]:
    """Returns the non-adjacent form of ``value``: signed powers of two, the smallest first.

    >>> non_adjacent_form(7), non_adjacent_form(-6)
    ([-1, 8], [2, -8])
    """
    sign, value = (-1, -value) if value < 0 else (1, value)
    terms = []
    power = 1
    while value:
        if value & 1:
            digit = 2 - (value & 3)
            terms.append(sign * digit * power)
            value -= digit
        value >>= 1
        power <<= 1
    return terms


# ---- Operands of single HE operations, checked as Microsoft SEAL checks them ---------------------


def operation_named(name: str, parameters: RlweParameters) -> Op:
    """Returns an operation of the parameters' scheme.

    ``conjugate`` is the Galois element 2N - 1 in every scheme: in BFV it swaps the rows.

    Raises:
        ProgramError: When the scheme has no operation of that name; says which it has.
    """
    known = operations(parameters.scheme)
    if name == Op.CONJUGATE and Op.CONJUGATE not in known:
        return Op.SWAP_COLUMNS
    found = next((op for op in known if op == name), None)
    if found is not None:
        return found
    others = [s.name.upper() for s in SCHEMES if name in operations(s.name)]
    if others:
        shortens = Op(name).record.drops is not Drops.NONE
        instead = (Op.MOD_SWITCH,) if shortens else known
        raise ProgramError(
            f"{name} is {others[0]}'s, and the parameters are {parameters.scheme.upper()}'s: use "
            f"{', '.join(instead)}"
        )
    raise ProgramError(f"no operation {name!r}: choose one of {', '.join(known)}")


def check_operands(parameters: RlweParameters, op: Op, a: Ciphertext, b: Operand) -> None:
    """Refuses operands of the wrong type, scheme, level or number of polynomials.

    Raises:
        ProgramError: Names the operation and the operands that it accepts.
        ParameterError: When BFV's t has no slots to rotate.
    """
    record = op.record
    if record.key is Key.GALOIS:
        parameters.require_batching()
    _check_second(op, b, scheme_of(parameters).plaintext)
    if isinstance(b, Ciphertext | Plaintext) and a.limbs != b.limbs:
        raise ProgramError(
            f"{op}: the operands have {a.limbs} and {b.limbs} limbs: mod_switch the higher one down"
        )
    size = max([a.size] + ([b.size] if isinstance(b, Ciphertext) else []))
    if record.takes == (2,) and size > 2:
        raise ProgramError(f"{op} takes 2 polynomials, not {size}: relinearize first")
    if record.takes == (3,) and size > 3:
        raise ProgramError(f"{op} takes 3 polynomials, not {size}: do it more often")
    if record.takes == (3,) and size < 3 and record.drops is not Drops.NONE:
        raise ProgramError(f"{op} takes 3 polynomials, not {size}: {Op.RESCALE} alone will do")
    lowest = parameters.lowest_limbs
    if record.drops is not Drops.NONE and a.limbs <= lowest:
        left = "one limb" if a.limbs == 1 else f"{a.limbs} limbs"
        reason = ": without them q would not exceed t" if lowest > 1 else ""
        raise ProgramError(f"{op}: the ciphertext has {left} left and drops none{reason}")


def _check_second(op: Op, b: Operand, plain: type) -> None:
    """Refuses a second operand of the wrong type."""
    wanted: tuple[type, str] = (type(None), "no second operand")
    if op.record.encrypted == 2:
        wanted = (Ciphertext, "a second ciphertext")
    elif op.record.plain:
        wanted = (plain, "a plaintext of its scheme")
    if not isinstance(b, wanted[0]):
        raise ProgramError(f"{op} takes {wanted[1]}")
