"""Tracing: a Python function on encrypted vectors becomes a planned program."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from ringsmith.errors import ProgramError
from ringsmith.params import CkksParameters
from ringsmith.program.graph import Program
from ringsmith.program.nodes import Op
from ringsmith.program.plain import whole_number
from ringsmith.program.plan import InputSpec, Planner
from ringsmith.program.sink import sink_mod_switches
from ringsmith.program.source import SourceLine, caller
from ringsmith.program.vector import EncryptedVector, Trace, TraceNode

DEFAULT_HEADROOM_BITS = 3
"""Messages of magnitude up to 2^3 fit below the modulus everywhere, unless told otherwise."""

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def trace(
    function: Callable[..., Any],
    parameters: CkksParameters,
    inputs: Mapping[str, InputSpec | int | None] | Iterable[str] | None = None,
    *,
    headroom_bits: int = DEFAULT_HEADROOM_BITS,
) -> Program:
    """Calls a function once on encrypted vectors that record, and plans what they recorded.

    Args:
        function: Takes encrypted vectors by keyword. Returns one (output ``result``), a tuple or
            list (``result0``, ``result1``, …), or a mapping of names to vectors.
        parameters: The parameter set to plan for.
        inputs: Names of the encrypted inputs: a mapping to how each arrives (an ``InputSpec``, or
            its length, or None for all slots), or names alone. None: the function's
            parameters that have no default.
        headroom_bits: Messages are promised to stay within ±2^headroom_bits throughout; scales
            are checked to leave that much room below the modulus.

    Returns:
        The program with relinearization, rescaling, modulus switching, scales and keys planned.

    Raises:
        ProgramError: When the program cannot be planned; begins with the user's file and line.
    """
    source = caller()
    specs = _checked_inputs(function, inputs, parameters, source)
    room = whole_number(headroom_bits)
    if room is None or not 0 <= room <= 1024:
        raise source.error(f"headroom_bits = {headroom_bits!r:.60} is not a whole number from 0")
    recorder = Trace(parameters.slots)
    vectors = {name: recorder.record(TraceNode(Op.INPUT, (), source, name=name)) for name in specs}
    try:
        inspect.signature(function).bind(**vectors)
    except TypeError as error:
        raise source.error(
            f"{_name(function)} cannot be called with the inputs {sorted(specs)}: {error}"
        ) from None
    outputs = _checked_outputs(function, function(**vectors), recorder)
    used = _reachable(recorder, outputs.values())
    for name, vector in vectors.items():
        if vector.index not in used:
            raise source.error(
                f"input {name!r} is used by no output: use it, or take it out of the inputs"
            )
    ascending = sorted(used)

    def plan(on_ladder: bool) -> tuple[Planner, Program]:
        planner = Planner(parameters, recorder.nodes, room, on_ladder)
        nodes = sink_mod_switches(planner.plan(specs, outputs, ascending))
        lengths = {name: spec.length or parameters.slots for name, spec in specs.items()}
        return planner, Program(_name(function), parameters, nodes, MappingProxyType(lengths))

    return _best_plan(plan)


def _best_plan(plan: Callable[[bool], tuple[Planner, Program]]) -> Program:
    """Takes the cheap plan unless it fails or loses a level that the ladder would have kept."""
    try:
        planner, program = plan(False)
    except ProgramError as error:
        try:
            return plan(True)[1]
        except ProgramError:
            raise error from None
    if planner.levels_lost:
        try:
            other, on_ladder = plan(True)
        except ProgramError:
            return program
        if other.levels_lost < planner.levels_lost:
            return on_ladder
    return program


def _checked_inputs(
    function: Callable[..., Any],
    inputs: Mapping[str, InputSpec | int | None] | Iterable[str] | None,
    parameters: CkksParameters,
    source: SourceLine,
) -> dict[str, InputSpec]:
    if inputs is None:
        declared = inspect.signature(function).parameters.values()
        inputs = [p.name for p in declared if p.default is p.empty and p.kind in _BY_NAME]
    given = dict(inputs) if isinstance(inputs, Mapping) else dict.fromkeys(inputs)
    if not given:
        raise source.error("the program has no inputs: name at least one encrypted vector")
    specs = {}
    for name, value in given.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise source.error(f"input {name!r:.60} is not a name: use a Python identifier")
        spec = value if isinstance(value, InputSpec) else InputSpec(length=value)
        for what, number, limit in (
            ("length", spec.length, parameters.slots),
            ("limbs", spec.limbs, parameters.limbs),
        ):
            whole = whole_number(number)
            if number is not None and (whole is None or not 1 <= whole <= limit):
                raise source.error(
                    f"input {name!r}: {what} = {number!r:.60} is not a whole number in 1 … {limit}"
                )
        if spec.scale is not None and not spec.scale > 1:
            raise source.error(f"input {name!r}: scale = {spec.scale!r} must exceed 1")
        specs[name] = spec
    return specs


def _checked_outputs(
    function: Callable[..., Any], returned: object, recorder: Trace
) -> dict[str, int]:
    if isinstance(returned, Mapping):
        named = dict(returned)
    elif isinstance(returned, tuple | list):
        named = {f"result{i}": value for i, value in enumerate(returned)}
    else:
        named = {"result": returned}
    source = _definition(function)
    if not named:
        raise source.error(f"{_name(function)} returns nothing: return an encrypted vector")
    outputs = {}
    for name, value in named.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise source.error(f"output {name!r:.60} is not a name: use a Python identifier")
        if not isinstance(value, EncryptedVector) or value.trace is not recorder:
            raise source.error(
                f"output {name!r} of {_name(function)} is {value!r:.60}, which does not come from "
                "its inputs: return encrypted vectors computed from them"
            )
        outputs[name] = value.index
    return outputs


def _reachable(recorder: Trace, outputs: Iterable[int]) -> set[int]:
    """Returns the traced nodes that the outputs depend on."""
    reached: set[int] = set()
    waiting = list(outputs)
    while waiting:
        index = waiting.pop()
        if index not in reached:
            reached.add(index)
            waiting.extend(recorder.nodes[index].operands)
    return reached


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _definition(function: Callable[..., Any]) -> SourceLine:
    code = getattr(function, "__code__", None)
    return caller() if code is None else SourceLine(code.co_filename, code.co_firstlineno)
