"""A traced module as a program that is planned anew, and parameters for it.

A vector of S slots fills a ciphertext by repetition, so that a rotation by k modulo S is one by k
of the whole row.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ringsmith.caching import cached
from ringsmith.errors import ParameterError
from ringsmith.graph.operations import Op
from ringsmith.heir.module import PLAIN_MODULUS, Scheme, TensorPlan, Traced
from ringsmith.heir.simplify import simplified, with_fewer_keys
from ringsmith.heir.tape import Kind, Step
from ringsmith.params import (
    AutoBfvParameters,
    AutoParameters,
    BfvParameters,
    CkksParameters,
    ParameterLimits,
    RlweParameters,
)
from ringsmith.params.automatic import MAX_HEADROOM_BITS, MIN_SCALE_BITS, AutoRlweParameters
from ringsmith.params.security import CURRENT, STANDARDS
from ringsmith.program.graph import Program
from ringsmith.program.overflow import RangeError
from ringsmith.program.packing import Packing
from ringsmith.program.plain import Space
from ringsmith.program.planner import InputSpec
from ringsmith.program.recorder import Trace, TraceNode
from ringsmith.program.recording import Recording
from ringsmith.program.source import SourceLine
from ringsmith.schemes.automatic import choose
from ringsmith.schemes.base import Options
from ringsmith.schemes.ckks.plan import LevelsError
from ringsmith.schemes.ckks.program import CkksProgram
from ringsmith.schemes.registry import CKKS, scheme_of

HEADROOM_BITS = 8
"""Messages stay within ±2^8: with a sign, what HEIR's q_0 of 55 bits holds at its scale 2^45."""
SPECIAL_BITS = 60
"""Bits of the special prime in place of HEIR's 61-bit ones."""
SCALE_BITS = 45
"""log2 of the scale where nothing is said of precision, HEIR's."""
NARROWEST_SCALE_BITS = 40
"""How small that scale may be where a larger one needs a larger ring."""
LOW_SCALE_BITS = 30
"""With a smaller scale few bits of a result are correct: a program then states the forecast."""
SECURITY = 128
"""Bits of security of parameters that are chosen here."""
NOISE_MARGIN_BITS = 8
"""Bits of q beyond HEIR's in BFV: our forecast of noise is stricter than HEIR's model."""
_LIMB_BITS = 60


@dataclass(frozen=True)
class FewestLevels:
    """CKKS parameters to be found by levels alone: HEIR's scale, the smallest ring that does.

    The scale is 2^45, or from 2^40 where the ring would be larger otherwise; for a design that
    lacks primes of that size, the nearest to 2^45 that it has primes for in the smallest ring.

    Attributes:
        headroom_bits: Messages stay within ±2^headroom_bits.
        limits: Of the design that is to run the program; None: no design is named.
    """

    headroom_bits: int = HEADROOM_BITS
    limits: ParameterLimits | None = None

    @property
    def shape(self) -> AutoParameters:
        """Makes the parameter sets."""
        return AutoParameters(headroom_bits=self.headroom_bits, **_designed(self.limits))


ParametersWish = RlweParameters | AutoRlweParameters | FewestLevels

OPS = {
    Kind.ADD: Op.ADD,
    Kind.SUB: Op.SUB,
    Kind.NEGATE: Op.NEGATE,
    Kind.MULTIPLY: Op.MULTIPLY,
    Kind.ADD_PLAIN: Op.ADD_PLAIN,
    Kind.SUB_PLAIN: Op.SUB_PLAIN,
    Kind.MULTIPLY_PLAIN: Op.MULTIPLY_PLAIN,
    Kind.ROTATE: Op.ROTATE,
}


@dataclass(frozen=True, eq=False)
class Ports:
    """The inputs and outputs of a program, and how tensors lie in them."""

    inputs: Mapping[int, str]
    outputs: Mapping[str, int]
    packed_inputs: Mapping[str, Packing]
    packed_outputs: Mapping[str, Packing]


def planned(
    traced: Traced,
    wish: ParametersWish,
    headroom_bits: int | None = None,
    *,
    fewer_keys: bool = False,
) -> Program:
    """Plans a traced module anew.

    Args:
        traced: The module, of either level.
        wish: A parameter set, or what a set to be found must hold.
        headroom_bits: Of CKKS: promises that results stay within ±2^headroom_bits. None: the ranges
            of results decide, for inputs within ±1.
        fewer_keys: Whether rotations are composed, so that fewer have keys.

    Raises:
        ProgramError: When it cannot be planned, or no parameters fit; begins with the module's
            line.
    """
    steps, moved = simplified(traced.steps, traced.outputs, traced.slots)
    if fewer_keys:
        steps, again = with_fewer_keys(steps, traced.slots)
        moved = {old: again[new] for old, new in moved.items()}
    ports = ports_of(traced, steps, moved)
    source = SourceLine(traced.file, traced.line)
    kind = wish.shape if isinstance(wish, FewestLevels) else wish
    scheme = scheme_of(kind)
    headroom = HEADROOM_BITS if headroom_bits is None else headroom_bits
    exact = scheme.space(traced.slots).exact
    check_numbers(traced, exact)
    options = Options(headroom_bits=None if exact else headroom)
    options = replace(options, unchecked=exact or headroom_bits is not None)

    def recording(n: int) -> Recording:
        return _recording(traced, steps, ports, scheme.space(n), source)

    program: Program
    if isinstance(wish, RlweParameters):
        try:
            wish.require_batching()
        except ParameterError as error:
            raise source.error(str(error)) from None
        program = scheme.plan(recording(wish.n), wish, options)
    elif isinstance(wish, FewestLevels):
        program = _fewest_levels(wish, recording, traced.slots, options, source)
    else:
        program = choose(
            recording,
            lambda found, n, carried: scheme.search(found, wish, n, carried, options),
            wish,
            source,
        )
    return with_packing(program, ports)


def _fewest_levels(
    wish: FewestLevels,
    recording: Callable[[int], Recording],
    slots: int,
    options: Options,
    source: SourceLine,
) -> Program:
    """Plans for the fewest levels that do, in the smallest ring that carries them."""
    shape = wish.shape
    options = replace(options, headroom_bits=wish.headroom_bits)
    recorded = cached(recording)
    levels = 0
    while True:
        parameters = _nearest_scale(shape, levels, slots, source)
        found = recorded(parameters.n)
        if found.depth > levels:
            levels = found.depth
            continue
        try:
            program = CKKS.plan(found, parameters, options)
        except LevelsError:
            levels += 1
            continue
        except RangeError as error:
            headroom = wish.headroom_bits + math.ceil(error.missing_bits)
            if headroom > MAX_HEADROOM_BITS:
                raise
            wish = replace(wish, headroom_bits=headroom)
            shape, options = wish.shape, replace(options, headroom_bits=headroom)
            continue
        return replace(program, choice=_scale_words(program, wish))


def _nearest_scale(
    shape: AutoParameters, levels: int, slots: int, source: SourceLine
) -> CkksParameters:
    """Returns the set of the smallest ring that carries the levels, of the scale next to 2^45.

    The ring is the smallest that carries ``NARROWEST_SCALE_BITS``, or the most that q_0 leaves to
    the scale. Where a design lacks primes for it, a larger ring is taken; where it lacks them in
    all rings, a smaller scale.

    Raises:
        ProgramError: When no set fits; says why, of the set that was tried first.
    """
    narrowest = min(NARROWEST_SCALE_BITS, shape.max_scale_bits)
    degrees = [(n, carried) for n, carried in shape.degrees() if n >= 2 * slots]
    if not degrees:
        largest = shape.limits.max_n if shape.limits else shape.max_n
        raise source.error(_slots_error(slots, largest // 2))
    obstacle = ""
    usual = range(narrowest, shape.max_scale_bits + 1)
    for scales in (usual, range(MIN_SCALE_BITS, narrowest if shape.limits else 0)):
        for n, carried in degrees:
            fitting = [s for s in scales if sum(shape.prime_bits(levels, s)) <= carried]
            for scale in sorted(fitting, key=lambda s: (abs(s - SCALE_BITS), -s)):
                try:
                    return shape.candidate(n, levels, scale)
                except ParameterError as error:
                    obstacle = obstacle or f"N = {n} does not do: {error}"
    n, carried = degrees[-1]
    if obstacle:
        obstacle += f"; nor does any other N or scale up to 2^{shape.max_scale_bits}"
    else:
        bits = sum(shape.prime_bits(levels, narrowest))
        obstacle = (
            f"{levels} levels at the scale 2^{narrowest} need {bits} bits of modulus, and N = {n} "
            f"carries {carried} at {shape.security_text}"
        )
    ways = "take another design, lower --headroom-bits, " if shape.limits else ""
    raise source.error(
        f"no parameters fit {levels} levels; {obstacle}: {ways}multiply less deeply, or split the "
        "program"
    )


def _scale_words(program: CkksProgram, wish: FewestLevels) -> str:
    """Says, for a design, why the scale is not HEIR's; nothing where it is, or without a design."""
    scale_bits = round(math.log2(program.parameters.scale))
    if wish.limits is None or scale_bits == SCALE_BITS:
        return ""
    words = (
        f"scale 2^{scale_bits}: the nearest to HEIR's 2^{SCALE_BITS} that N = "
        f"{program.parameters.n} carries and design {wish.limits.design} has primes for, with "
        f"headroom_bits = {wish.headroom_bits}"
    )
    if scale_bits >= LOW_SCALE_BITS:
        return words
    bits = program.forecast().bits
    return (
        f"{words}\nprecision: {bits:.1f} bits by the forecast, for inputs within "
        "±1; fewer headroom bits, or a design of wider words, allow a larger scale"
    )


def heir_parameters(traced: Traced) -> RlweParameters:
    """Returns HEIR's parameters with special primes that SEAL and hardware take.

    CKKS keeps HEIR's primes. Those of BFV and BGV have 61 bits, or belong to the levels of BGV:
    other primes, of a few bits more in all, stand in their place. N is the smallest that carries
    them.

    Raises:
        ProgramError: At the vector level, which has none; when no N carries them.
    """
    source = SourceLine(traced.file, traced.line)
    found = traced.parameters
    if found is None:
        raise source.error("the vector level has no parameters: take --parameters auto or a name")
    try:
        if found.log_scale is not None:
            bits = math.prod(found.data_primes).bit_length() + SPECIAL_BITS
            n = _degree(bits, traced, source)
            special = _special_prime(n, found.data_primes)
            return CkksParameters.from_primes(
                n=n,
                data_primes=found.data_primes,
                special_prime=special,
                scale=math.ldexp(1.0, found.log_scale),
                name=f"heir-{n}-{len(found.data_primes)}",
            )
        bits = math.prod(found.data_primes).bit_length() + NOISE_MARGIN_BITS
        limbs = max(1, -(-bits // _LIMB_BITS))
        size = max(30, -(-bits // limbs))
        n = _degree((limbs + 1) * size, traced, source)
        return BfvParameters.create(
            n=n,
            prime_bits=[size] * limbs,
            special_bits=size,
            plain_modulus=found.plain_modulus,
            name=f"heir-bfv-{n}-{limbs}",
        )
    except ParameterError as error:
        raise source.error(f"HEIR's parameters cannot be taken: {error}") from None


def automatic(
    traced: Traced,
    *,
    scheme: Scheme | None = None,
    plain_modulus: int | None = None,
    precision_bits: float | None = None,
    headroom_bits: int | None = None,
    limits: ParameterLimits | None = None,
) -> AutoRlweParameters | FewestLevels:
    """Returns what parameters must hold that are chosen for a traced module.

    Args:
        traced: The module.
        scheme: The scheme; None: the module's, or by its numbers.
        plain_modulus: t of BFV; None: the module's, else 65,537.
        precision_bits: Of CKKS: what the forecast must promise; None: the scale is HEIR's.
        headroom_bits: Of CKKS; None: 8.
        limits: Of the design that is to run the program; None: no design is named.
    """
    chosen = scheme or traced.scheme or (Scheme.BFV if traced.whole else Scheme.CKKS)
    if chosen is not Scheme.CKKS:
        stated = traced.parameters.plain_modulus if traced.parameters else None
        t = plain_modulus or stated or PLAIN_MODULUS
        try:
            return AutoBfvParameters(plain_modulus=t, **_designed(limits))
        except ParameterError as error:
            raise SourceLine(traced.file, traced.line).error(str(error)) from None
    headroom = HEADROOM_BITS if headroom_bits is None else headroom_bits
    if precision_bits is None:
        return FewestLevels(headroom, limits)
    return AutoParameters(
        precision_bits=precision_bits, headroom_bits=headroom, **_designed(limits)
    )


def _designed(limits: ParameterLimits | None) -> dict[str, Any]:
    """What parameters must hold that a design is to take."""
    return {} if limits is None else {"design": limits.design, "limits": limits}


# ---- ports -------------------------------------------------------------------------------------


def _port_names(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}_{k}" for k in range(count)]


def ports_of(traced: Traced, steps: Sequence[Step], moved: Mapping[int, int]) -> Ports:
    """Names the vectors of tensors; those that no result depends on are left out."""
    inputs: dict[int, str] = {}
    packed_inputs: dict[str, Packing] = {}
    for tensor in traced.inputs:
        names = _port_names(tensor.name, len(tensor.steps))
        kept = [k for k, step in enumerate(tensor.steps) if step in moved]
        for k in kept:
            inputs[moved[tensor.steps[k]]] = names[k]
        table = tensor.table[kept].ravel()
        packed_inputs[tensor.name] = _packing(tensor, [names[k] for k in kept], traced, table)
    outputs: dict[str, int] = {}
    packed_outputs: dict[str, Packing] = {}
    for tensor in traced.outputs:
        names = _port_names(tensor.name, len(tensor.steps))
        outputs |= {name: moved[step] for name, step in zip(names, tensor.steps, strict=True)}
        packed_outputs[tensor.name] = _packing(tensor, names, traced, tensor.table)
    if not inputs:
        raise SourceLine(traced.file, traced.line).error("no result depends on a secret argument")
    return Ports(inputs, outputs, packed_inputs, packed_outputs)


def _packing(
    tensor: TensorPlan, ports: Sequence[str], traced: Traced, table: "np.ndarray[Any, Any]"
) -> Packing:
    return Packing(tensor.shape, tuple(ports), traced.slots, table, tensor.whole)


def with_packing(program: Program, ports: Ports) -> Program:
    """Returns the program that takes and gives tensors."""
    return replace(program, packed_inputs=ports.packed_inputs, packed_outputs=ports.packed_outputs)


# ---- our plan ----------------------------------------------------------------------------------


def _recording(
    traced: Traced, steps: Sequence[Step], ports: Ports, space: Space, source: SourceLine
) -> Recording:
    """The steps as a recorded function on ciphertexts of that many slots."""
    check_slots(traced, space, source)
    trace = Trace(space)
    found: list[int] = []
    for i, step in enumerate(steps):
        line = SourceLine(traced.file, step.line)
        if step.kind is Kind.INPUT:
            node = TraceNode(Op.INPUT, (), line, name=ports.inputs[i])
        else:
            node = TraceNode(
                OPS[step.kind],
                tuple(found[j] for j in step.operands),
                line,
                steps=step.amount or None,
                values=filled(step, space),
            )
        found.append(trace.record(node))
    return Recording(
        traced.name,
        trace,
        {name: InputSpec() for name in ports.inputs.values()},
        {name: found[i] for name, i in ports.outputs.items()},
        tuple(sorted(set(found))),
        source,
        dict.fromkeys(ports.outputs, traced.slots),
    )


def filled(step: Step, space: Space) -> Any:  # noqa: ANN401 - an array of the scheme's numbers
    """A plain operand in every slot of a ciphertext."""
    if step.plain is None:
        return None
    values = step.plain.astype(np.int64 if space.exact else np.float64)
    if values.ndim:
        values = np.tile(values, space.slots // values.size)
    values.setflags(write=False)
    return values


def check_slots(traced: Traced, space: Space, source: SourceLine) -> None:
    """Refuses vectors that a ciphertext's row is too short for."""
    if traced.slots > space.row:
        raise source.error(_slots_error(traced.slots, space.row))


def _slots_error(slots: int, row: int) -> str:
    return f"vectors of {slots} slots do not fit a ciphertext's row of {row}: raise N"


def check_numbers(traced: Traced, exact: bool) -> None:
    """Refuses fractions where a scheme computes on whole numbers."""
    if exact and not traced.whole:
        raise SourceLine(traced.file, traced.line).error(
            "the module computes on fractions, and BFV on whole numbers: take CKKS parameters"
        )


# ---- parameters --------------------------------------------------------------------------------


def _degree(bits: int, traced: Traced, source: SourceLine) -> int:
    """The smallest N that carries this many bits and holds the vectors."""
    secure = STANDARDS[CURRENT].degree(bits, SECURITY)
    if secure is None:
        raise source.error(
            f"the modulus of {bits} bits is more than any N carries by the "
            f"{STANDARDS[CURRENT].name}: compile with a smaller "
            "greedy-level-budget, or take --plan ours"
        )
    return max(secure, 2 * traced.slots, 1024)


def _special_prime(n: int, taken: Sequence[int]) -> int:
    found = CkksParameters.create(
        n=n, prime_bits=[SPECIAL_BITS], special_bits=SPECIAL_BITS, scale_bits=40, security=None
    )
    return next(q for q in reversed(found.primes) if q not in taken)
