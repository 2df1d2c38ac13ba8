"""Loops in the language: ``for step in repeat(100): w = …``.

A loop is a Python loop whose body is run two times, and recorded. The first time is the first
repetition. Then the names whose encrypted values it changed are known: these are what the loop
carries. The second time is recorded as the body of all further repetitions. It must end with
values like those that it began with: of the same shapes, at the same places in slots, and with
numbers in ranges that do not grow. If it does not, it counts as one more repetition, and the body
is run again.

Names are found in the local variables of the function that the loop is in, also in lists, tuples
and mappings of them. Encrypted values are objects: what a name holds at the end of the body is made
the result of the loop in place, so that Python's own names need not be set.
"""

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from types import FrameType
from typing import Any, NoReturn, cast

import numpy as np

from ringsmith.graph.operations import Op
from ringsmith.program.arrays import Array, ArrayNode, ordered
from ringsmith.program.ndarray.array import EncryptedArray
from ringsmith.program.ndarray.parts import Part
from ringsmith.program.plain import whole_number
from ringsmith.program.recorder import Trace, TraceNode
from ringsmith.program.source import SourceLine, caller
from ringsmith.program.spans import Span
from ringsmith.program.vector import EncryptedVector

MOST = 1 << 14
"""Repetitions of a loop, at most."""
_BODIES = 4
"""How often a body is run for values at its end like those at its beginning."""
_SLACK = 1e-9
"""Part of a range by which it may grow: rounding."""

Encrypted = EncryptedVector | EncryptedArray
Path = tuple[object, ...]


class Step:
    """What ``repeat`` yields: no number, since the body is recorded for all repetitions alike."""

    def __init__(self, source: SourceLine) -> None:
        """Args: the line of the loop."""
        self._source = source

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise self._source.error(
            "the variable of a loop over repeat is no number, since its body is recorded once for "
            "all repetitions: write for step in range(…), which is unrolled"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse
    __truediv__ = __rtruediv__ = __floordiv__ = __mod__ = __pow__ = __rpow__ = __neg__ = _refuse
    __int__ = __float__ = __index__ = __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse
    __array__ = __len__ = __getitem__ = __iter__ = _refuse


def repeat(count: int) -> "Repeat":
    """Returns an iterator for a loop that is recorded once.

    It is written ``for step in repeat(100): w = …``. The body is recorded once and planned once, so
    that the program stays small, and is run many times. What it changes must be held by local
    names, and be alike at the end of the body and at its beginning: of the same shapes, and with
    ranges that do not grow, for which ``bounded`` promises one. Levels are given back by
    bootstrappings, which are placed in the body. Where no parameters bootstrap, and on designs, the
    loop is unrolled.

    Args:
        count: Repetitions, 1 … 2^14.

    Raises:
        ProgramError: When the count is none; in the loop, when values at the end of the body are
            not like those at its beginning.
    """
    source, number = caller(), whole_number(count)
    if number is None or not 1 <= number <= MOST:
        raise source.error(f"repeat({count!r:.40}): give a whole number of times in 1 … {MOST:,}")
    return Repeat(number, source)


@dataclass(frozen=True, eq=False)
class _Held:
    """What a loop carries, under one name or several.

    Attributes:
        paths: The names.
        value: The object that the body begins with.
        begins: Its ``carried`` nodes.
        before: What these were before.
        leaf: What it means as an array, in the body.
        node: What it meant before.
    """

    paths: tuple[Path, ...]
    value: Encrypted
    begins: tuple[int, ...]
    before: tuple[int, ...]
    leaf: ArrayNode
    node: ArrayNode

    @property
    def path(self) -> Path:
        """The first name."""
        return self.paths[0]


class Repeat:
    """The iterator of ``repeat``."""

    def __init__(self, count: int, source: SourceLine) -> None:
        """Args: the repetitions; the user's line."""
        self._count, self._source = count, source
        self._step = Step(source)
        self._done = 0  # bodies that were run, or are being run
        self._before: dict[Path, Encrypted] = {}
        self._held: list[_Held] = []
        self._spans: dict[Path, list[Span]] = {}
        self._start = 0

    def __iter__(self) -> "Repeat":
        return self

    def __next__(self) -> Step:
        found = dict(_values(sys._getframe(1)))
        if self._done == 0:
            self._begin(found)
        elif self._done == 1:
            self._first_end(found)
        else:
            self._end(found)
        self._done += 1
        return self._step

    def _begin(self, found: dict[Path, Encrypted]) -> None:
        """Before the first body."""
        for trace in {id(value.trace): value.trace for value in found.values()}.values():
            if trace.open_loop is not None:
                raise self._source.error(
                    f"a loop over repeat in that of line {trace.open_loop}: write for step in "
                    "range(…) for the inner one, which is unrolled"
                )
            trace.open_loop = self._source
        self._before = found

    def _first_end(self, found: dict[Path, Encrypted]) -> None:
        """After the first body: the names that it changed are known."""
        changed = {p: v for p, v in found.items() if self._before.get(p) is not v}
        if not changed:
            raise self._source.error(
                "the loop changes no encrypted value that a local name holds: assign to one, such "
                "as w = w - …"
            )
        trace = self._trace(found)
        if self._count == 1:
            self._close(trace)
        self._check_names(found, changed)
        self._hold(changed)

    def _check_names(self, found: dict[Path, Encrypted], changed: dict[Path, Encrypted]) -> None:
        """Refuses a changed name for a value that another name holds that does not change."""
        kept = {id(value): path for path, value in found.items() if path not in changed}
        for path, value in changed.items():
            if id(value) in kept:
                raise self._source.error(
                    f"in the loop, {_name(path)} becomes another name of {_name(kept[id(value)])}, "
                    f"which does not change: use {_name(kept[id(value)])} itself"
                )

    def _hold(self, changed: dict[Path, Encrypted]) -> None:
        """Begins the body that may be repeated: its values are carried."""
        self._held = []
        trace = self._trace(changed)
        self._start = len(trace.nodes)
        names: dict[int, list[Path]] = {}
        for path, value in changed.items():
            names.setdefault(id(value), []).append(path)
        for paths in names.values():
            path, value = paths[0], changed[paths[0]]
            before = _indices(value)
            spans = [_promised(trace, i) for i in before]
            if len(self._spans.get(path, ())) == len(spans):
                spans = [_hull(a, b) for a, b in zip(spans, self._spans[path], strict=True)]
            self._spans[path] = spans
            begins = tuple(
                trace.append(
                    TraceNode(Op.CARRIED, (i,), self._source, span=span, loop=trace.loops + 1)
                )
                for i, span in zip(before, spans, strict=True)
            )
            node = value.node
            leaf = replace(node, operands=(node,), name=None, compute=_same)
            self._held.append(_Held(tuple(paths), value, begins, before, leaf, node))
            _set(value, begins, leaf)

    def _end(self, found: dict[Path, Encrypted]) -> None:
        """After a body that may be repeated."""
        trace = self._trace(found)
        grown = [text for held in self._held if (text := self._unlike(trace, held, found))]
        known = {path for held in self._held for path in held.paths}
        grown += [
            f"{_name(path)} changes, and did not in the repetition before"
            for path, value in found.items()
            if path not in known and self._before.get(path) is not value
        ]
        if not grown:
            self._finish(trace, found)
        if self._done > _BODIES:
            raise self._source.error(
                f"{grown[0]}: the body of a loop over repeat must end with values like those that "
                "it begins with"
            )
        self._dissolve(trace)
        if self._done == self._count:
            self._close(trace)
        changed = {
            p: v for p, v in found.items() if self._before.get(p) is not v or self._is_held(v)
        }
        self._hold(changed)

    def _is_held(self, value: Encrypted) -> bool:
        return any(held.value is value for held in self._held)

    def _unlike(self, trace: Trace, held: _Held, found: dict[Path, Encrypted]) -> str:
        """Says how a value at the end of the body is unlike that at its beginning; or nothing."""
        name, after = _name(held.path), found.get(held.path)
        if after is None:
            return f"{name} is no encrypted value any more"
        for path in held.paths[1:]:
            if found.get(path) is not after:
                return f"{name} and {_name(path)} are one value, and then two"
        if not _alike(held.value, held.leaf, after):
            return f"{name} has another shape, or other places in slots, in each repetition"
        for begin, end in zip(held.begins, _indices(after), strict=True):
            first, last = trace.span(begin), trace.span(end)
            if last.exceeds(first, _SLACK * max(first.magnitude, 1.0)) or (
                first.real and not last.real
            ):
                return (
                    f"the numbers of {name} grow, from up to {first.magnitude:.4g} to "
                    f"{last.magnitude:.4g} in one repetition: promise their range at the end of "
                    f"the body, such as {name} = bounded({name}, 1)"
                )
        return ""

    def _dissolve(self, trace: Trace) -> None:
        """Makes the last body a repetition of its own, of the values before it."""
        moved = {
            begin: index
            for held in self._held
            for begin, index in zip(held.begins, held.before, strict=True)
        }
        trace.substitute(self._start, moved)
        for held in self._held:
            _set(held.value, held.before, held.node)

    def _finish(self, trace: Trace, found: dict[Path, Encrypted]) -> None:
        """Makes the body a loop, and what names hold its results."""
        trace.loops += 1
        left = self._count - (self._done - 1)
        after = [found[held.path] for held in self._held]
        ends = [
            tuple(
                trace.append(
                    TraceNode(Op.NEXT, (i, begin), self._source, loop=trace.loops, count=left)
                )
                for i, begin in zip(_indices(value), held.begins, strict=True)
            )
            for held, value in zip(self._held, after, strict=True)
        ]
        for held, own in zip(self._held, ends, strict=True):
            trace.next_of.update(zip(held.begins, own, strict=True))
        nodes = _repeated(self._held, [value.node for value in after], left)
        for value, own, node in zip(after, ends, nodes, strict=True):
            _set(value, own, node)
        self._close(trace)

    def _close(self, trace: Trace) -> NoReturn:
        trace.open_loop = None
        self._done = self._count
        raise StopIteration

    def _trace(self, found: Mapping[Path, Encrypted]) -> Trace:
        """The trace of the values; a loop that began without any begins here."""
        trace = next(iter(found.values())).trace
        trace.open_loop = self._source
        return trace


def _values(frame: FrameType) -> Iterator[tuple[Path, Encrypted]]:
    """Yields the encrypted values that local names hold, also in lists, tuples and mappings."""
    waiting: list[tuple[Path, Any]] = [((name,), value) for name, value in frame.f_locals.items()]
    seen: set[int] = set()
    while waiting:
        path, value = waiting.pop(0)
        if isinstance(value, EncryptedVector | EncryptedArray):
            yield path, value
        elif isinstance(value, list | tuple | dict) and id(value) not in seen:
            seen.add(id(value))
            items = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [((*path, key), each) for key, each in items]


def _same(array: Array) -> Array:
    return array


def _name(path: Path) -> str:
    return str(path[0]) + "".join(f"[{key!r}]" for key in path[1:])


def _indices(value: Encrypted) -> tuple[int, ...]:
    """The traced nodes of a value's ciphertexts."""
    if isinstance(value, EncryptedVector):
        return (value.index,)
    parts = value.content.parts
    return tuple(part.index for part in parts if isinstance(part, EncryptedVector))


def _set(value: Encrypted, indices: tuple[int, ...], node: ArrayNode) -> None:
    """Makes an object hold other ciphertexts."""
    if isinstance(value, EncryptedVector):
        EncryptedVector.__init__(value, value.trace, indices[0], node)
        return
    given = iter(indices)
    parts: list[Part] = [
        part.slots_of(next(given)) if isinstance(part, EncryptedVector) else part
        for part in value.content.parts
    ]
    content = replace(value.content, parts=parts, origin=None, unshaped=None)
    EncryptedArray.__init__(value, value.trace, content, node)


def _alike(first: Encrypted, leaf: ArrayNode, last: Encrypted) -> bool:
    """Whether numbers lie in slots alike."""
    node = last.node
    if type(first) is not type(last):
        return False
    marks = [(n.numbers, n.all_slots, n.filled, n.period, n.shape) for n in (leaf, node)]
    if marks[0] != marks[1]:
        return False
    if isinstance(first, EncryptedVector):
        return True
    a, b = first.content, cast("EncryptedArray", last).content
    if a.layout != b.layout or len(a.parts) != len(b.parts):
        return False
    return all(
        isinstance(p, EncryptedVector) == isinstance(q, EncryptedVector)
        and (isinstance(p, EncryptedVector) or np.array_equal(p, cast("Any", q)))
        for p, q in zip(a.parts, b.parts, strict=True)
    )


def _promised(trace: Trace, index: int) -> Span:
    """The ranges of what a loop carries: those promised of it, in slots that are not known."""
    span, bound = trace.span(index), trace.nodes[index].bound
    if bound is None or bound.computed or not span.real:
        return span
    low, high = np.broadcast_arrays(span.low.real, span.high.real)
    return Span(
        np.where(span.known, low, np.minimum(low, bound.low)),
        np.where(span.known, high, np.maximum(high, bound.high)),
    )


def _hull(a: Span, b: Span) -> Span:
    """The ranges that hold both."""
    if a.disc or b.disc:
        return Span.of_magnitude(np.maximum(a.magnitudes, b.magnitudes))
    if np.iscomplexobj(a.low) or np.iscomplexobj(b.low):
        low, high = (
            fold(x.real, y.real) + 1j * fold(np.imag(x), np.imag(y))
            for fold, x, y in ((np.minimum, a.low, b.low), (np.maximum, a.high, b.high))
        )
        return Span(low, high)
    return Span(np.minimum(a.low, b.low), np.maximum(a.high, b.high))


def _repeated(held: list[_Held], after: list[ArrayNode], count: int) -> list[ArrayNode]:
    """Returns what values mean after a loop, as arrays: the body written out."""
    order = ordered(after)
    current = [each.node for each in held]
    for _ in range(count):
        made = {id(each.leaf): node for each, node in zip(held, current, strict=True)}
        for node in order:
            operands = tuple(made.get(id(each), each) for each in node.operands)
            if any(a is not b for a, b in zip(operands, node.operands, strict=True)):
                made[id(node)] = replace(node, operands=operands)
        current = [made.get(id(node), node) for node in after]
    return current
