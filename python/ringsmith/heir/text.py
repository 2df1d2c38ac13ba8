"""Reads the generic textual form of MLIR: operations, regions, and raw text of attributes.

Nothing is interpreted here. One operation has the form

    %r = "dialect.op"(%a, %b) <{properties}> ({regions}) {attributes} : (types) -> types loc(…)

Properties and attributes become one mapping. Aliases (``!ct``, ``#key``) stay text and are looked
up by ``ringsmith.heir.types``.
"""

import bisect
import re
from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from ringsmith.errors import InteropError

MAX_BYTES = 1 << 29
"""Bytes of a module: 512 MiB. LeNet as HEIR compiles it has 238 MB."""
MAX_OPERATIONS = 1 << 20
"""Operations of a module's text."""
MAX_NESTING = 64
"""Regions inside each other."""

# Repetitions are possessive (*+): what could be given back takes memory.
_TOKEN = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|->|>=|[<>\[\](){},\n]')
_OPENING = frozenset("<[({")
_CLOSING = frozenset(">])}")
_SPACE = re.compile(r"(?:\s++|//[^\n]*+)*+")
_NAME = re.compile(r"%[\w$.-]+")
_RESULTS = re.compile(r"%[\w$.-]++(?::\d++)?+(?:\s*+,\s*+%[\w$.-]++(?::\d++)?+)*+\s*+=")
_USE = re.compile(r"%[\w$.-]+(?:#\d+)?")
_QUOTED = re.compile(r'"([A-Za-z_][\w.$]*)"')
_KEY = re.compile(r'"(?:[^"\\]|\\.)*+"|[\w.$]++')
_ALIAS = re.compile(r"([!#][\w.$]+)\s*=\s*")
_RESOURCE = re.compile(r'([\w.$-]+)\s*:\s*"(0x[0-9A-Fa-f]*)"')
_MAX_RESULTS = 1 << 10


class HeirError(InteropError):
    """A module that cannot be read, with the line of its text and what to do."""


@dataclass(slots=True, eq=False)
class Operation:
    """One operation.

    Attributes:
        name: Dialect and operation: ``arith.addf``.
        line: Line of the text, from 1.
        results: Names of the results; ``%3#1`` in a group.
        operands: Names of the operands.
        attributes: Properties and attributes: raw text by name; empty text for a unit.
        regions: The regions.
        operand_types: Raw text of each operand's type.
        result_types: Raw text of each result's type.
    """

    name: str
    line: int
    results: tuple[str, ...]
    operands: tuple[str, ...]
    attributes: dict[str, str]
    regions: list["Block"]
    operand_types: tuple[str, ...]
    result_types: tuple[str, ...]


@dataclass(slots=True, eq=False)
class Block:
    """A region, which has one block.

    Attributes:
        arguments: Names of the block's arguments.
        types: Raw text of each argument's type.
        operations: The operations in order.
    """

    arguments: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    operations: list[Operation] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class ModuleText:
    """A module as it was read.

    Attributes:
        file: What errors call the module.
        operation: The operation ``builtin.module``.
        aliases: Types and attributes by their alias, sigil in.
        resources: Hexadecimal digits by the key of a ``dense_resource``.
        size: Characters of the text.
    """

    file: str
    operation: Operation
    aliases: Mapping[str, str]
    resources: Mapping[str, str]
    size: int

    def error(self, line: int, message: str) -> HeirError:
        """Returns (does not raise) an error that begins with a line of the module."""
        return HeirError(f"{self.file}:{line}: {message}")


def read_module(text: str, file: str) -> ModuleText:
    """Reads a module in generic form.

    Args:
        text: The text.
        file: What errors call it.

    Raises:
        HeirError: When the text is no such module, or exceeds a limit; names the line.
    """
    return _Reader(text, file).module()


def split(text: str) -> list[str]:
    """Splits a list at its commas outside of brackets and strings."""
    parts, start, depth = [], 0, 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        if mark in _OPENING:
            depth += 1
        elif mark in _CLOSING:
            depth -= 1
        elif mark == "," and depth == 0:
            parts.append(text[start : token.start()].strip())
            start = token.end()
    last = text[start:].strip()
    return [*parts, last] if last else parts


def entries(text: str) -> dict[str, str]:
    """Returns a dictionary attribute's entries: ``key = value``, or ``key`` alone."""
    found = {}
    for part in split(text):
        key = _KEY.match(part)
        if key is None:
            continue
        value = part[key.end() :].strip()
        found[key[0].strip('"')] = value[1:].strip() if value.startswith("=") else ""
    return found


class _Reader:
    """Reads one text from front to back."""

    def __init__(self, text: str, file: str) -> None:
        self._text = text
        self._file = file
        self._at = 0
        self._count = 0
        self._newlines = array("Q", (match.start() for match in re.finditer("\n", text)))

    def module(self) -> ModuleText:
        """Reads aliases, the module and resources."""
        aliases: dict[str, str] = {}
        found: Operation | None = None
        resources: dict[str, str] = {}
        while True:
            self._skip_space()
            alias = _ALIAS.match(self._text, self._at)
            if alias is not None:
                start = alias.end()
                self._at = self._end(start, "\n")
                aliases[alias[1]] = self._text[start : self._at].strip()
            elif self._text.startswith("{-#", self._at):
                end = self._text.find("#-}", self._at)
                if end < 0:
                    raise self._error("the resources do not end: the text is truncated")
                resources = dict(_RESOURCE.findall(self._text, self._at, end))
                self._at = end + 3
            elif self._at == len(self._text):
                break
            elif found is not None:
                raise self._error(f"{self._near()} follows the module: give one module a file")
            else:
                found = self._operation(0)
        if found is None:
            raise self._error(
                'there is no "builtin.module"', "print it with --mlir-print-op-generic"
            )
        if found.name != "builtin.module" or not found.regions:
            raise self._error(
                f"the outermost operation is {found.name}: give a module, as heir-opt prints it"
            )
        return ModuleText(self._file, found, aliases, resources, len(self._text))

    # ---- operations ------------------------------------------------------------------------

    def _operation(self, depth: int) -> Operation:
        self._count += 1
        if self._count > MAX_OPERATIONS:
            raise self._error(
                f"more than {MAX_OPERATIONS} operations: compile without full unrolling"
            )
        line = self._line(self._at)
        results = self._results()
        quoted = _QUOTED.match(self._text, self._at)
        if quoted is None:
            raise self._error(
                f"{self._near()} is no operation in generic form",
                "print the module with --mlir-print-op-generic",
            )
        self._at = quoted.end()
        operands = tuple(self._uses())
        attributes: dict[str, str] = {}
        regions: list[Block] = []
        if self._next("["):
            raise self._error(f"{quoted[1]} has successor blocks: lower it to structured loops")
        if self._next("<{"):
            attributes |= entries(self._inside("}", "properties"))
            self._expect(">")
        if self._next("("):
            regions = self._regions(depth)
        if self._next("{"):
            attributes |= entries(self._inside("}", "attributes"))
        self._expect(":")
        self._expect("(")
        operand_types = tuple(split(self._inside(")", "types")))
        self._expect("->")
        result_types = tuple(self._result_types())
        self._location()
        typed = len(operand_types) == len(operands) and len(result_types) == len(results)
        if not typed:
            raise self._error(
                f"{quoted[1]} has {len(operands)} operands and {len(results)} results, and "
                f"types of {len(operand_types)} and {len(result_types)}"
            )
        return Operation(
            quoted[1], line, results, operands, attributes, regions, operand_types, result_types
        )

    def _results(self) -> tuple[str, ...]:
        match = _RESULTS.match(self._text, self._at)
        if match is None:
            return ()
        self._at = match.end()
        self._skip_space()
        names: list[str] = []
        typed = (len(self._text) - self._at) // 2 + 1  # a comma and a letter for each type
        for part in match[0][:-1].split(","):
            name, _, count = part.strip().partition(":")
            if not count:
                names.append(name)
            elif len(count) < 5 and int(count) <= min(_MAX_RESULTS, typed - len(names)):
                names += [f"{name}#{i}" for i in range(int(count))]
            else:
                raise self._error(
                    f"{name} stands for {count:.20} results: {_MAX_RESULTS} at most, and each has "
                    "its type"
                )
        return tuple(names)

    def _uses(self) -> Iterator[str]:
        self._expect("(")
        for use in split(self._inside(")", "operands")):
            if not _USE.fullmatch(use):
                raise self._error(f"{use!r:.40} is no operand")
            yield use

    def _regions(self, depth: int) -> list[Block]:
        if depth >= MAX_NESTING:
            raise self._error(f"regions are nested more than {MAX_NESTING} deep")
        regions = []
        while True:
            self._expect("{")
            regions.append(self._block(depth + 1))
            if not self._next(","):
                break
        self._expect(")")
        return regions

    def _block(self, depth: int) -> Block:
        block = Block()
        seen = False
        while not self._next("}"):
            if self._at >= len(self._text):
                raise self._error("the text ends inside a region: it is truncated")
            if self._text.startswith("^", self._at):
                if seen or block.operations:
                    raise self._error(
                        "a region of several blocks",
                        "compile loops to scf, not to cf: leave out --convert-scf-to-cf",
                    )
                seen = True
                self._arguments(block)
            else:
                block.operations.append(self._operation(depth))
        return block

    def _arguments(self, block: Block) -> None:
        header = re.compile(r"\^[\w$.-]+\s*").match(self._text, self._at)
        if header is None:
            raise self._error(f"{self._near()} is no block")
        self._at = header.end()
        names, types = [], []
        if self._next("("):
            for part in split(self._inside(")", "arguments of the block")):
                name, _, kind = part.partition(":")
                if not _NAME.fullmatch(name.strip()):
                    raise self._error(f"{part!r:.40} is no argument of a block")
                names.append(name.strip())
                types.append(kind.partition(" loc(")[0].strip())
        self._expect(":")
        block.arguments, block.types = tuple(names), tuple(types)

    def _result_types(self) -> list[str]:
        if self._next("("):
            return split(self._inside(")", "types"))
        self._skip_space()
        start = self._at
        self._at = self._end(start, "\n")
        kind, here, _ = self._text[start : self._at].partition(" loc(")
        if here:
            self._at = start + len(kind)
        return [kind.strip()]

    def _location(self) -> None:
        if self._next("loc("):
            self._inside(")", "location")

    # ---- characters ------------------------------------------------------------------------

    def _skip_space(self) -> None:
        match = _SPACE.match(self._text, self._at)
        assert match is not None, "it matches nothing, too"
        self._at = match.end()

    def _next(self, mark: str) -> bool:
        """Steps over a mark if it comes next."""
        self._skip_space()
        if not self._text.startswith(mark, self._at):
            return False
        self._at += len(mark)
        self._skip_space()
        return True

    def _expect(self, mark: str) -> None:
        if not self._next(mark):
            raise self._error(f"{mark!r} belongs before {self._near()}: the text is damaged")

    def _inside(self, closing: str, what: str) -> str:
        """Returns the text up to a closing bracket, and steps over it."""
        start = self._at
        self._at = self._end(start, closing)
        if self._at >= len(self._text):
            self._at = start
            raise self._error(f"the {what} do not end: the text is truncated")
        text = self._text[start : self._at]
        self._at += len(closing)
        return text

    def _end(self, start: int, closing: str) -> int:
        """Where a mark stands outside of brackets and strings; the text's end, if nowhere."""
        depth = 0
        for token in _TOKEN.finditer(self._text, start):
            mark = token[0]
            if depth == 0 and mark == closing:
                return token.start()
            if mark in _OPENING:
                depth += 1
            elif mark in _CLOSING:
                depth -= 1
                if depth < 0:
                    return len(self._text) if closing != "\n" else token.start()
        return len(self._text)

    def _line(self, at: int) -> int:
        return bisect.bisect_left(self._newlines, at) + 1

    def _near(self) -> str:
        found = self._text[self._at : self._at + 30].partition("\n")[0]
        return repr(found) if found else "the end of the text"

    def _error(self, message: str, hint: str = "") -> HeirError:
        line = self._line(min(self._at, len(self._text)))
        hint = f": {hint}" if hint else ""
        return HeirError(f"{self._file}:{line}: {message}{hint}")
