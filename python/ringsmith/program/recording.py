"""Recording: a Python function is called on encrypted vectors that record its operations."""

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ringsmith.graph.operations import Op
from ringsmith.objects import Contents
from ringsmith.params import RlweParameters
from ringsmith.program.arrays import ArrayNode
from ringsmith.program.loops import Unrolling, inside, loops_of
from ringsmith.program.ndarray.array import EncryptedArray
from ringsmith.program.ndarray.layout import Layout
from ringsmith.program.ndarray.packings import best as packed_best
from ringsmith.program.ndarray.packings import usual
from ringsmith.program.ndarray.parts import Part
from ringsmith.program.ndarray.placing import Origin
from ringsmith.program.ndarray.ports import (
    checked_shape,
    input_packing,
    input_parts,
    output_packing,
    vector_packing,
)
from ringsmith.program.nodes import Bound, Note
from ringsmith.program.packing import Packing, of_entries
from ringsmith.program.plain import Space, whole_number
from ringsmith.program.planner import InputSpec, multiplicative_depth
from ringsmith.program.ranges import interval_of
from ringsmith.program.recorder import Trace, TraceNode
from ringsmith.program.source import SourceLine, caller
from ringsmith.program.spans import Structure, of_input
from ringsmith.program.vector import EncryptedVector

_BY_NAME = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)

Inputs = Mapping[str, InputSpec | int | tuple[int, ...] | None] | Iterable[str] | None
"""Inputs as users declare them; see ``trace``."""
Outputs = Mapping[str, int | None] | None
"""Lengths of outputs as users declare them; see ``trace``."""


@dataclass(frozen=True, eq=False)
class Recording:
    """A function's recorded operations on encrypted vectors, before parameters are chosen.

    Attributes:
        name: Name of the function.
        trace: The recorded operations.
        inputs: How each input arrives.
        outputs: Operations whose results are returned, by name.
        used: Operations that the outputs depend on, ascending.
        source: The line that asked for the trace.
        output_lengths: Numbers that each output holds, by name.
        arrays: What each output means as an array, by name; empty: it is not known.
        packed_inputs: How arrays lie in the inputs, by the array's name; empty: there are none.
        packed_outputs: The same of the outputs.
        input_contents: What slots of inputs must hold, as of ``Program``.
        results: What is returned, by name.
        recorded: As ``outputs``, of the trace of ``results``; a later one has bootstrappings, too.
        ranges: Ranges of planned nodes by ``spans.structure``, since it is planned several times.
    """

    name: str
    trace: Trace
    inputs: Mapping[str, InputSpec]
    outputs: Mapping[str, int]
    used: tuple[int, ...]
    source: SourceLine
    output_lengths: Mapping[str, int]
    arrays: Mapping[str, ArrayNode] = field(default_factory=dict)
    packed_inputs: Mapping[str, Packing] = field(default_factory=dict)
    packed_outputs: Mapping[str, Packing] = field(default_factory=dict)
    input_contents: Mapping[str, Contents] = field(default_factory=dict)
    results: "Mapping[str, EncryptedVector | EncryptedArray]" = field(default_factory=dict)
    recorded: Mapping[str, int] = field(default_factory=dict)
    ranges: dict[Structure, tuple[list[float], list[int]]] = field(default_factory=dict, repr=False)

    @property
    def depth(self) -> int:
        """The most multiplications that follow one another: CKKS needs that many levels."""
        return multiplicative_depth(self.trace.nodes, self.used)

    @cached_property
    def output_contents(self) -> Mapping[str, Contents]:
        """What the slots of the outputs hold, as of ``Program``."""
        found: dict[str, Contents] = {}
        for name, result in self.results.items():
            if isinstance(result, EncryptedArray):
                ports = {port: self.recorded[port] for port in self.packed_outputs[name].ports}
                found.update(_array_contents(result, ports))
            else:
                numbers, slots = result.shape[0], result.trace.space.slots
                rest = result.trace.span(result.index).part(numbers, slots, slots)
                zeros = bool((rest.low == 0).all() and (rest.high == 0).all())
                found[name] = Contents(numbers, zeros=zeros)
        return found

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was added to the program so that it is right."""
        return tuple(self.trace.notes)

    @property
    def complex_inputs(self) -> tuple[str, ...]:
        """Inputs whose numbers may be complex."""
        return tuple(name for name, spec in self.inputs.items() if spec.complex_numbers)

    @property
    def complex_outputs(self) -> tuple[str, ...]:
        """Outputs whose numbers may be complex."""
        found: set[int] = set()
        for index in self.used:
            node = self.trace.nodes[index]
            is_input = node.op is Op.INPUT and node.name in self.complex_inputs
            plain = node.values is not None and np.iscomplexobj(node.values)
            if is_input or plain or found.intersection(node.operands):
                found.add(index)
        return tuple(name for name, index in self.outputs.items() if index in found)

    @property
    def lengths(self) -> dict[str, int]:
        """Numbers that each input holds, by name."""
        slots = self.trace.space.slots
        return {
            name: spec.length if isinstance(spec.length, int) else slots
            for name, spec in self.inputs.items()
        }

    @property
    def loops(self) -> int:
        """How many loops there are."""
        return len({self.trace.nodes[i].loop for i in self.used} - {0})

    @property
    def flat_size(self) -> int:
        """Operations with loops written out."""
        loops = loops_of(self.trace.nodes, self.used)
        return len(self.used) + sum(loop.count * len(loop.body) for loop in loops.values())

    def unrolled(self, factor: int | None = None) -> "Recording":
        """Returns the recording with its loops written out.

        Args:
            factor: How often a body is written out in a loop that stays, and which is repeated less
                often; None: as often as it is repeated, and no loop stays.
        """
        before = self.trace
        if not any(before.nodes[i].loop for i in self.used):
            return self
        found, trace = Unrolling(before.nodes, self.used, factor=factor), Trace(before.space)
        trace.notes = dict(before.notes)
        for copy in found.copies:
            node = before.nodes[copy.index]
            trace.append(replace(node, operands=copy.operands, count=copy.count))
        return replace(
            self,
            trace=trace,
            outputs={name: found.last[index] for name, index in self.outputs.items()},
            used=tuple(range(len(trace.nodes))),
        )

    def check_limbs(self, parameters: RlweParameters) -> None:
        """Refuses an input of limbs that no level of the parameters has.

        Raises:
            ProgramError: Names the input.
        """
        for name, spec in self.inputs.items():
            if spec.limbs is not None and spec.limbs > parameters.limbs:
                raise self.source.error(
                    f"input {name!r}: limbs = {spec.limbs} is not a whole number in "
                    f"1 … {parameters.limbs}"
                )
            if spec.limbs is not None and not parameters.is_level(spec.limbs):
                raise self.source.error(
                    f"input {name!r}: limbs = {spec.limbs} are those of no level of parameters "
                    f"{parameters.name!r}: take {parameters.below(spec.limbs)}"
                )


def record(
    function: Callable[..., Any],
    space: Space,
    inputs: Inputs,
    source: SourceLine,
    outputs: Outputs = None,
    default_bound: float | None = None,
    matters: Callable[[Recording], bool] = lambda _: True,
) -> Recording:
    """Calls a function on encrypted vectors that record.

    With arrays among the inputs it is called again for other ways to pack these, of which the
    cheapest is kept.

    Args:
        function: As for ``trace``.
        space: What one ciphertext holds.
        inputs: As for ``trace``.
        source: The line that asks, for errors.
        outputs: As for ``trace``.
        default_bound: The magnitude that inputs without a range are declared with; None: none.
        matters: Tells whether a cheaper packing of a recording is of use.

    Raises:
        ProgramError: When inputs, the function's operations or its results are not legal.
    """
    if not callable(function):
        raise source.error(
            f"{function!r:.60} is no function: give a Python function of encrypted vectors"
        )
    specs = _checked_inputs(function, inputs, space, source, default_bound)

    def with_layouts(layouts: Mapping[str, Layout]) -> tuple[Recording, dict[str, Origin]]:
        return _record(function, specs, space, layouts, source, outputs)

    return packed_best(with_layouts, matters)


def _record(
    function: Callable[..., Any],
    specs: Mapping[str, InputSpec],
    space: Space,
    layouts: Mapping[str, Layout],
    source: SourceLine,
    outputs: Outputs,
) -> tuple[Recording, dict[str, Origin]]:
    """Calls the function once; returns what it recorded, and what it wishes of the arrays."""
    recorder = Trace(space)
    values, ports, packed = _inputs(recorder, specs, layouts, source)
    try:
        inspect.signature(function).bind(**values)
    except TypeError as error:
        raise source.error(
            f"{_name(function)} cannot be called with the inputs {sorted(specs)}: {error}"
        ) from None
    returned = function(**values)
    if recorder.open_loop is not None:
        raise recorder.open_loop.error(
            "the loop over repeat was left before its end: break and return in it are not "
            "recorded; write for step in range(…), which is unrolled"
        )
    results = _checked_outputs(function, returned, recorder)
    results = _declared_outputs(results, {} if outputs is None else outputs, source)
    found = _outputs(results, source, packs=bool(packed))
    used = _reachable(recorder, found.indices.values())
    _check_loops(recorder, used, found.indices)
    unused = {node.name or "" for i, node in enumerate(recorder.nodes) if i not in used}
    for name in specs:
        if unused >= set(packed[name].ports if name in packed else (name,)):
            raise source.error(
                f"input {name!r} is used by no output: use it, or take it out of the inputs"
            )
    packed = {name: each.without(unused) for name, each in packed.items()}
    ports = {name: spec for name, spec in ports.items() if name not in unused}
    recording = Recording(
        _name(function),
        recorder,
        ports,
        found.indices,
        tuple(sorted(used)),
        source,
        found.lengths,
        {name: result.node for name, result in results.items()},
        packed,
        found.packed,
        _input_contents(specs, packed, space),
        results,
        found.indices,
    )
    origins = {
        name: value.content.origin
        for name, value in values.items()
        if isinstance(value, EncryptedArray) and value.content.origin is not None
    }
    return recording, origins


def _inputs(
    trace: Trace,
    specs: Mapping[str, InputSpec],
    layouts: Mapping[str, Layout],
    source: SourceLine,
) -> tuple[dict[str, EncryptedVector | EncryptedArray], dict[str, InputSpec], dict[str, Packing]]:
    """Returns the values that the function takes, the ciphertexts, and how arrays lie in them."""
    values: dict[str, EncryptedVector | EncryptedArray] = {}
    ports: dict[str, InputSpec] = {}
    packed: dict[str, Packing] = {}
    space = trace.space
    arrays = any(isinstance(spec.length, tuple) for spec in specs.values())
    for name, spec in specs.items():
        if isinstance(spec.length, tuple):
            layout = layouts.get(name) or usual(spec.length, space.slot_bits)
            packing = input_packing(name, spec.length, layout, whole=space.exact, source=source)
            table = packing.table.reshape(-1, space.slots)
            parts: list[Part] = []
            for port, row in zip(packing.ports, table, strict=True):
                if port in ports:
                    raise source.error(f"two inputs are named {port!r}: name one otherwise")
                ports[port] = replace(spec, length=space.slots)
                parts.append(_input(trace, port, ports[port], source, row > 0).slots_of())
            size = math.prod(spec.length)
            node = ArrayNode(size, lambda a: a, name=name, shape=spec.length)
            values[name] = EncryptedArray(trace, input_parts(layout, parts), node)
            packed[name] = packing
            continue
        if name in ports:
            raise source.error(f"two inputs are named {name!r}: name one otherwise")
        ports[name] = spec
        values[name] = _input(trace, name, spec, source)
        if arrays:
            ports[name] = replace(spec, length=space.slots)
            packed[name] = vector_packing(
                name, spec.length or space.slots, space.slots, whole=space.exact, is_input=True
            )
    return values, ports, packed


@dataclass(frozen=True)
class _Outputs:
    """The ciphertexts of the outputs, the numbers in them, and how arrays lie."""

    indices: dict[str, int]
    lengths: dict[str, int]
    packed: dict[str, Packing]


def _outputs(
    results: Mapping[str, EncryptedVector | EncryptedArray], source: SourceLine, *, packs: bool
) -> _Outputs:
    found = _Outputs({}, {}, {})
    packs = packs or any(isinstance(each, EncryptedArray) for each in results.values())
    for name, result in results.items():
        space = result.trace.space
        if isinstance(result, EncryptedArray):
            ports, found.packed[name] = output_packing(
                name, result, found.indices, whole=space.exact, source=source
            )
            found.indices.update(ports)
            found.lengths.update(dict.fromkeys(ports, space.slots))
            continue
        if name in found.indices:
            raise source.error(f"two outputs are named {name!r}: name one otherwise")
        found.indices[name] = result.index
        found.lengths[name] = result.array.numbers
        if packs:
            found.packed[name] = vector_packing(
                name, result.array.numbers, space.slots, whole=space.exact, is_input=False
            )
            found.lengths[name] = space.slots
    return found


def _input_contents(
    specs: Mapping[str, InputSpec], packed: Mapping[str, Packing], space: Space
) -> dict[str, Contents]:
    """What the slots of the inputs must hold; of all slots nothing."""
    found: dict[str, Contents] = {}
    for name, spec in specs.items():
        if isinstance(spec.length, tuple):
            packing = packed[name]
            for port, row in zip(
                packing.ports, packing.table.reshape(-1, space.slots), strict=True
            ):
                found[port] = of_entries(packing.shape, row)
        elif spec.length is not None and spec.length < space.slots:
            found[name] = Contents(spec.length)
    return found


def _array_contents(array: EncryptedArray, ports: Mapping[str, int]) -> dict[str, Contents]:
    """What the slots of an output's ciphertexts hold."""
    layout, trace = array.content.layout, array.trace
    rows = layout.table.reshape(layout.ciphertexts, layout.slots)
    found = {}
    for name, index in ports.items():
        number = next(
            i
            for i, part in enumerate(array.content.parts)
            if isinstance(part, EncryptedVector) and part.index == index and rows[i].any()
        )
        others = rows[number] == 0
        span = trace.span(index)
        low, high = (np.broadcast_to(end, others.shape)[others] for end in (span.low, span.high))
        zeros = not (low.any() or high.any())
        found[name] = replace(of_entries(layout.shape, rows[number]), zeros=zeros)
    return found


def _input(
    trace: Trace,
    name: str,
    spec: InputSpec,
    source: SourceLine,
    filled: NDArray[np.bool_] | None = None,
) -> EncryptedVector:
    """An encrypted input; ``filled`` says which slots hold numbers, if these are not the first."""
    slots = trace.space.slots
    assert not isinstance(spec.length, tuple), "arrays have ciphertexts of all slots"
    length, bound = spec.length or slots, None
    if spec.bound is not None:
        interval = interval_of(spec.bound, source)
        bound = Bound(float(interval.low), float(interval.high), source)
    low, high = (-1.0, 1.0) if bound is None else (bound.low, bound.high)
    if filled is None:
        filled = np.arange(slots) < length
    span = of_input(filled, low, high, complex_numbers=spec.complex_numbers)
    index = trace.record(TraceNode(Op.INPUT, (), source, name=name, bound=bound, span=span))
    whole = spec.length is None or (length == slots and not trace.space.chosen)
    node = ArrayNode(length, lambda a: a, name=name, all_slots=whole)
    return EncryptedVector(trace, index, node)


def _declared_outputs(
    results: Mapping[str, EncryptedVector | EncryptedArray],
    declared: Mapping[str, int | None],
    source: SourceLine,
) -> dict[str, EncryptedVector | EncryptedArray]:
    """Returns results that hold as many numbers as was declared of them; zeros follow theirs."""
    if not isinstance(declared, Mapping):
        raise source.error(
            f'outputs = {declared!r:.60} are no lengths by name: write outputs={{"result": 1}}'
        )
    unknown = sorted(map(str, declared.keys() - results.keys()))
    if unknown:
        raise source.error(
            f"outputs names {unknown}, and the program's outputs are {sorted(results)}: name those"
        )
    found = dict(results)
    for name, value in declared.items():
        vector = results[name]
        if isinstance(vector, EncryptedArray):
            raise source.error(
                f"output {name!r} is an array of shape {vector.shape}: leave its length out"
            )
        slots = vector.trace.space.slots
        number = slots if value is None else whole_number(value)
        if number is None or not 1 <= number <= slots:
            raise source.error(
                f"output {name!r}: length = {value!r:.60} is not a whole number in 1 … {slots}"
            )
        if number > vector.array.numbers:
            vector = vector.all_slots(source)
        node = replace(vector.array, numbers=number, filled=0)
        found[name] = EncryptedVector(vector.trace, vector.index, node)
    return found


def _checked_inputs(
    function: Callable[..., Any],
    inputs: Inputs,
    space: Space,
    source: SourceLine,
    default_bound: float | None,
) -> dict[str, InputSpec]:
    slots = space.slots
    if inputs is None:
        try:
            signature = inspect.signature(function)
        except ValueError:
            raise source.error(
                f"the inputs of {_name(function)} are not known: pass inputs="
            ) from None
        declared = signature.parameters.values()
        inputs = [p.name for p in declared if p.default is p.empty and p.kind in _BY_NAME]
        if not inputs and declared:
            raise source.error(
                f"{_name(function)}{signature} names no inputs, which are handed over by name: "
                "name its parameters, or take **vectors and pass inputs= with the names"
            )
    given = dict(inputs) if isinstance(inputs, Mapping) else dict.fromkeys(inputs)
    if not given:
        raise source.error("the program has no inputs: name at least one encrypted vector")
    specs = {}
    for name, value in given.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise source.error(f"input {name!r:.60} is not a name: use a Python identifier")
        spec = value if isinstance(value, InputSpec) else InputSpec(length=value)
        if isinstance(spec.length, tuple):
            spec = replace(spec, length=checked_shape(name, spec.length, source))
            length = None
        else:
            length = whole_number(spec.length)
        limbs = whole_number(spec.limbs)
        if length is not None and length > slots:
            raise source.error(
                f"input {name!r}: length = {length} exceeds the {slots} slots of a ciphertext: "
                "split it, or take a larger N"
            )
        given_length = spec.length is not None and not isinstance(spec.length, tuple)
        if given_length and (length is None or length < 1):
            raise source.error(
                f"input {name!r}: length = {spec.length!r:.60} is neither a whole number from 1 "
                "nor a shape, a tuple of such"
            )
        if spec.limbs is not None and (limbs is None or limbs < 1):
            raise source.error(
                f"input {name!r}: limbs = {spec.limbs!r:.60} is not a whole number from 1"
            )
        if spec.scale is not None and not (isinstance(spec.scale, int | float) and spec.scale > 1):
            raise source.error(f"input {name!r}: scale = {spec.scale!r} must be a number above 1")
        if spec.complex_numbers and space.exact:
            raise source.error(f"input {name!r}: complex_numbers is for CKKS: leave it out")
        if spec.complex_numbers and isinstance(spec.bound, tuple | list):
            raise source.error(
                f"input {name!r}: complex numbers have no range {spec.bound!r:.40}: give a "
                "magnitude"
            )
        specs[name] = spec if spec.bound is not None else replace(spec, bound=default_bound)
    return specs


def _checked_outputs(
    function: Callable[..., Any], returned: object, recorder: Trace
) -> dict[str, EncryptedVector | EncryptedArray]:
    if isinstance(returned, Mapping):
        named = dict(returned)
    elif isinstance(returned, tuple | list):
        named = {f"result{i}": value for i, value in enumerate(returned)}
    else:
        named = {"result": returned}
    source = _definition(function)
    if not named:
        raise source.error(f"{_name(function)} returns nothing: return an encrypted vector")
    outputs: dict[str, EncryptedVector | EncryptedArray] = {}
    for name, value in named.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise source.error(f"output {name!r:.60} is not a name: use a Python identifier")
        ours = isinstance(value, EncryptedVector | EncryptedArray)
        if not ours or value.trace is not recorder:
            raise source.error(
                f"output {name!r} of {_name(function)} is {value!r:.60}, which does not come from "
                "its inputs: return encrypted vectors computed from them"
            )
        outputs[name] = value
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
            if index in recorder.next_of:
                waiting.append(recorder.next_of[index])
    return reached


def _check_loops(recorder: Trace, used: set[int], outputs: Mapping[str, int]) -> None:
    """Refuses values from inside of a loop that are used after it."""
    if not recorder.loops:
        return
    nodes = recorder.nodes
    of = inside(nodes, sorted(used))
    ends: dict[int, int] = {}
    for i in used:
        if nodes[i].op is Op.NEXT:
            ends[nodes[i].loop] = max(i, ends.get(nodes[i].loop, 0))
    wrong = [i for i, loop in of.items() if i > ends[loop]]
    wrong += [i for i in outputs.values() if i in of and nodes[i].op is not Op.NEXT]
    if wrong:
        raise nodes[min(wrong)].source.error(
            "a value from inside of a loop over repeat is used after it, and no local name held it "
            "at the end of the loop's body: assign it to one there"
        )


def _name(function: Callable[..., Any]) -> str:
    return str(getattr(function, "__name__", type(function).__name__))


def _definition(function: Callable[..., Any]) -> SourceLine:
    code = getattr(function, "__code__", None)
    return caller() if code is None else SourceLine(code.co_filename, code.co_firstlineno)
