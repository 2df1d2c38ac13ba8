"""A traced module as a program with HEIR's own operations, level by level."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import cast

from ringsmith.heir.module import Traced
from ringsmith.heir.plan import (
    OPS,
    Ports,
    check_numbers,
    check_slots,
    filled,
    ports_of,
    with_packing,
)
from ringsmith.heir.tape import Kind, Step
from ringsmith.params import BfvParameters, CkksParameters, RlweParameters
from ringsmith.program.emitter import Emitter
from ringsmith.program.graph import Program
from ringsmith.program.plain import Space
from ringsmith.program.source import SourceLine
from ringsmith.schemes.bfv.emitter import BfvEmitter
from ringsmith.schemes.ckks.emitter import CkksEmitter
from ringsmith.schemes.ckks.plan import Ladder
from ringsmith.schemes.registry import scheme_of


def as_heir_planned(
    traced: Traced, parameters: RlweParameters, *, promised: bool = False
) -> Program:
    """Returns a program with HEIR's own operations, level by level.

    CKKS scales are exact in place of HEIR's nominal ones: what HEIR calls 2^45 is the scale that
    rescaling gives at that level, and plain factors are encoded so that products have it. Where two
    values meet whose scales differ all the same, the plain factors of one are encoded anew.

    Args:
        traced: The module.
        parameters: The parameters.
        promised: Whether CKKS results are promised to fit, whatever the inputs' ranges allow.

    Raises:
        ProgramError: When the parameters have too few primes, or scales do not meet.
    """
    source = SourceLine(traced.file, traced.line)
    if traced.scheme is None:
        raise source.error("the vector level has no levels: take plan ours, or a scheme-level one")
    space = scheme_of(parameters).space(parameters.n)
    check_slots(traced, space, source)
    check_numbers(traced, parameters.exact)
    used = _reachable(traced)
    ports = ports_of(traced, traced.steps, {i: i for i in used})
    emitter = _written(traced, parameters, space, ports, sorted(used))
    program = scheme_of(parameters).program(
        traced.name,
        parameters,
        tuple(emitter.nodes),
        MappingProxyType(dict.fromkeys(ports.inputs.values(), space.slots)),
        MappingProxyType(dict.fromkeys(ports.outputs, traced.slots)),
        f"operations and levels are HEIR's; it chose N = {traced.parameters.n}"
        if traced.parameters
        else "",
        unchecked=parameters.exact or promised,
    )
    program.check_ranges()
    return with_packing(program, ports)


def _reachable(traced: Traced) -> set[int]:
    reached: set[int] = set()
    waiting = [step for output in traced.outputs for step in output.steps]
    while waiting:
        i = waiting.pop()
        if i not in reached:
            reached.add(i)
            waiting += traced.steps[i].operands
    return reached


def _written(
    traced: Traced, parameters: RlweParameters, space: Space, ports: Ports, used: list[int]
) -> Emitter:
    """Writes all steps; once more after each meeting of scales that had to be made equal."""
    ratios: dict[int, float] = {}
    for _ in range(len(used) + 1):
        writer = _WRITERS[parameters.scheme](traced, parameters, space, ratios)
        try:
            nodes: dict[int, int] = {}
            for i in used:
                writer.emitter.source = SourceLine(traced.file, traced.steps[i].line)
                operands = [nodes[j] for j in traced.steps[i].operands]
                nodes[i] = writer.write(i, operands, ports.inputs.get(i, ""))
        except _UnequalScalesError as unequal:
            for i in unequal.factors:
                ratios[i] = ratios.get(i, 1.0) * unequal.ratio
            continue
        for name, i in ports.outputs.items():
            writer.emitter.output(writer.emitter.relinearize(nodes[i]), name)
        return writer.emitter
    raise SourceLine(traced.file, traced.line).error(
        "HEIR's levels do not let all scales meet: take --plan ours"
    )


class _UnequalScalesError(Exception):
    """Two scales that differ."""

    def __init__(self, factors: set[int], ratio: float) -> None:
        super().__init__()
        self.factors = factors
        self.ratio = ratio


class _Steps(ABC):
    """Writes HEIR's steps as nodes of a scheme."""

    emitter: Emitter

    def __init__(self, traced: Traced, space: Space) -> None:
        self._steps = traced.steps
        self._space = space

    def write(self, i: int, operands: list[int], name: str) -> int:
        """Writes one step, and returns its node."""
        emitter, step = self.emitter, self._steps[i]
        match step.kind:
            case Kind.INPUT:
                return self._input(step, name)
            case Kind.ADD | Kind.SUB:
                self._check_scales(step, operands)
                return emitter.add_or_sub(OPS[step.kind], *operands)
            case Kind.NEGATE:
                return emitter.negate(operands[0])
            case Kind.MULTIPLY:
                return emitter.multiply(*operands)
            case Kind.ADD_PLAIN | Kind.SUB_PLAIN:
                values = filled(step, self._space)
                return emitter.add_or_sub_plain(OPS[step.kind], operands[0], values)
            case Kind.MULTIPLY_PLAIN:
                return self._multiply_plain(i, operands[0])
            case Kind.ROTATE:
                return emitter.rotate(operands[0], step.amount)
            case Kind.RELINEARIZE:
                return emitter.relinearize(operands[0])
            case _:
                return self._change_level(step, operands[0])

    @abstractmethod
    def _input(self, step: Step, name: str) -> int:
        """Writes an input."""

    @abstractmethod
    def _check_scales(self, step: Step, operands: list[int]) -> None:
        """Checks that two values to add or subtract have one scale."""

    @abstractmethod
    def _multiply_plain(self, i: int, operand: int) -> int:
        """Writes a product with a plaintext."""

    @abstractmethod
    def _change_level(self, step: Step, operand: int) -> int:
        """Writes a step that changes the level."""


class _CkksSteps(_Steps):
    """Writes HEIR's steps as CKKS nodes.

    Args:
        traced: The module.
        parameters: The parameter set.
        space: What one ciphertext holds.
        ratios: By product with a plaintext: its scale, by the one that HEIR's levels give it.
    """

    def __init__(
        self,
        traced: Traced,
        parameters: RlweParameters,
        space: Space,
        ratios: Mapping[int, float],
    ) -> None:
        super().__init__(traced, space)
        ckks = cast(CkksParameters, parameters)
        self._ratios = ratios
        self.emitter: CkksEmitter = CkksEmitter(ckks, 0)
        self._parameters = parameters
        self._ladder = Ladder.of(ckks).scales
        self._log_scale = round(math.log2(ckks.scale))
        assert traced.parameters is not None, "the scheme level has them"
        if traced.parameters.log_scale != self._log_scale:
            raise SourceLine(traced.file, traced.line).error(
                f"HEIR's scale is 2^{traced.parameters.log_scale}, and parameters "
                f"{parameters.name!r} have 2^{self._log_scale}: take --parameters heir"
            )
        top = max(step.type.level for step in traced.steps if step.type is not None)
        if top >= parameters.limbs:
            raise SourceLine(traced.file, traced.line).error(
                f"HEIR's levels take {top + 1} data primes, and parameters {parameters.name!r} "
                f"have {parameters.limbs}: take --parameters heir"
            )

    def _input(self, step: Step, name: str) -> int:
        limbs, log_scale = _limbs_and_scale(step)
        return self.emitter.input(name, limbs, self._scale(limbs, log_scale))

    def _check_scales(self, step: Step, operands: list[int]) -> None:
        left, right = (self.emitter.nodes[i] for i in operands)
        if left.scale != right.scale:
            self._make_equal(step, left.scale, right.scale)

    def _multiply_plain(self, i: int, operand: int) -> int:
        step = self._steps[i]
        scale = self._scale(*_limbs_and_scale(step)) * self._ratios.get(i, 1.0)
        return self.emitter.multiply_plain(operand, filled(step, self._space), scale)

    def _change_level(self, step: Step, operand: int) -> int:
        limbs, log_scale = _limbs_and_scale(step)
        match step.kind:
            case Kind.RESCALE:
                return self._rescaled(operand, limbs, log_scale)
            case Kind.LEVEL_REDUCE:
                return self.emitter.mod_switch(operand, limbs)
        raise self.emitter.source.error(f"{step.kind.value} is no operation of CKKS")

    def _make_equal(self, step: Step, left: float, right: float) -> None:
        """Asks for other scales of plain factors."""
        for operand, ratio in zip(step.operands, (right / left, left / right), strict=True):
            factors = self._factors(operand)
            if factors and abs(ratio - 1) > 2.0**-52:
                raise _UnequalScalesError(factors, ratio)
        raise self.emitter.source.error(
            f"{step.kind.value} of scales 2^{math.log2(left):.9f} and 2^{math.log2(right):.9f}, "
            "which HEIR takes for equal: take --plan ours"
        )

    def _factors(self, i: int) -> set[int]:
        """The products with plaintexts that make a value's scale; none: something else does."""
        found: set[int] = set()
        waiting = [i]
        while waiting:
            j = waiting.pop()
            step = self._steps[j]
            if step.kind is Kind.MULTIPLY_PLAIN:
                found.add(j)
            elif step.kind in (Kind.INPUT, Kind.MULTIPLY):
                return set()
            else:
                waiting += step.operands
        return found

    def _rescaled(self, operand: int, limbs: int, log_scale: int) -> int:
        """Rescales; declares the ladder's scale where that is the quotient up to rounding."""
        node = self.emitter.nodes[operand]
        quotient = node.scale / self._parameters.data_primes[limbs]
        wanted = self._scale(limbs, log_scale)
        return self.emitter.rescale(
            operand, wanted if abs(wanted / quotient - 1) < 2.0**-51 else None
        )

    def _scale(self, limbs: int, log_scale: int) -> float:
        """What HEIR calls 2^log_scale at this number of limbs."""
        whole, rest = divmod(log_scale, self._log_scale)
        return self._ladder[limbs] ** whole * math.ldexp(1.0, rest)


class _BfvSteps(_Steps):
    """Writes HEIR's steps of BFV, or of BGV as BFV, as nodes."""

    def __init__(
        self,
        traced: Traced,
        parameters: RlweParameters,
        space: Space,
        ratios: Mapping[int, float],
    ) -> None:
        super().__init__(traced, space)
        bfv = cast(BfvParameters, parameters)
        self.emitter: BfvEmitter = BfvEmitter(bfv)
        self._parameters = parameters
        stated = traced.parameters.plain_modulus if traced.parameters else None
        if stated != bfv.plain_modulus:
            raise SourceLine(traced.file, traced.line).error(
                f"the module computes modulo {stated}, and parameters {parameters.name!r} modulo "
                f"{bfv.plain_modulus}: take --parameters heir"
            )

    def _input(self, step: Step, name: str) -> int:
        return self.emitter.input(name, self._parameters.limbs, 1.0)

    def _check_scales(self, step: Step, operands: list[int]) -> None:
        """BFV has no scales."""

    def _multiply_plain(self, i: int, operand: int) -> int:
        return self.emitter.multiply_plain(operand, filled(self._steps[i], self._space))

    def _change_level(self, step: Step, operand: int) -> int:
        if step.kind not in (Kind.MODULUS_SWITCH, Kind.LEVEL_REDUCE):
            raise self.emitter.source.error(f"{step.kind.value} is no operation of BFV")
        return operand  # levels of BGV; a BFV value stands modulo all primes


def _limbs_and_scale(step: Step) -> tuple[int, int]:
    """Returns data primes of a step's result, and the logarithm of HEIR's nominal scale."""
    assert step.type is not None, "the scheme level's steps have types"
    return step.type.level + 1, step.type.scale


_WRITERS: Mapping[str, Callable[[Traced, RlweParameters, Space, Mapping[int, float]], _Steps]] = {
    "ckks": _CkksSteps,
    "bfv": _BfvSteps,
}
"""What writes steps, by the scheme's name."""
