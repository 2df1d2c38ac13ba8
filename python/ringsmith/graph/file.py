"""The subroutine graph as JSON lines: one for the ring and the keys, then one for each node.

Files may be untrusted: everything in them is checked. Lines are read one by one, every key is
known, and every node is checked by the same rules as a node that the builder adds.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from ringsmith.errors import InteropError, ProgramError
from ringsmith.files.json_text import parse_json
from ringsmith.graph.subroutines import MAX_NODES, MAX_PRIMES, Origin, SubroutineGraph
from ringsmith.graph.types import MAX_DIGITS, checked_integer, checked_name
from ringsmith.params import KeyShape

FORMAT = "ringsmith-subroutine-graph"
VERSION = 1
MAX_FILE_BYTES = 1 << 24
MAX_LINE, MAX_HEAD = 1 << 16, 1 << 21
"""Characters of a node's line, and of the first one."""
MAX_KEYS = 1 << 16

_TOP = {"format", "version", "n", "primes", "roots", "special", "extension", "keys"}
_NODE = {"id", "op", "operands", "attrs"}


def to_json(graph: SubroutineGraph) -> str:
    """Returns the graph as the text of a file.

    Raises:
        ProgramError: When the graph is not finished.
    """
    return "".join(_lines(graph))


def digest(graph: SubroutineGraph) -> str:
    """Returns the BLAKE2b-256 of the text of a graph's file, in hexadecimal digits.

    Raises:
        ProgramError: When the graph is not finished.
    """
    state = hashlib.blake2b(digest_size=32)
    for line in _lines(graph):
        state.update(line.encode())
    return state.hexdigest()


def _lines(graph: SubroutineGraph) -> Iterator[str]:
    graph.validate()
    head = {
        "format": FORMAT,
        "version": VERSION,
        "n": graph.n,
        "primes": graph.primes,
        "roots": graph.roots,
        "special": graph.special,
        "extension": graph.extension,
        "keys": {
            name: {"digits": shape.digits, "base": shape.base} for name, shape in graph.keys.items()
        },
    }
    yield json.dumps(head) + "\n"
    for node in graph.nodes:
        record: dict[str, Any] = {
            "id": node.id,
            "op": node.op,
            "operands": node.operands,
            "attrs": dict(node.attrs),
        }
        if node.origin is not None:
            record["origin"] = {"node": node.origin.node, "op": node.origin.op}
        yield json.dumps(record) + "\n"


def from_json(text: str) -> SubroutineGraph:
    """Reads a graph from the text of a file.

    Raises:
        InteropError: When the text is no valid graph; says where and why.
    """
    if len(text) > MAX_FILE_BYTES or not text.isascii():
        raise InteropError(
            f"the graph file has {len(text)} characters; at most {MAX_FILE_BYTES} are read, all of "
            "ASCII: split the program"
        )
    try:
        return _graph(_values(text))
    except ProgramError as error:
        raise InteropError(f"the graph file is refused: {error}") from None


def _values(text: str) -> Iterator[object]:
    """The JSON value of each line."""
    start, number, limit = 0, 1, MAX_HEAD
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        if end - start > limit:
            raise ProgramError(f"line {number} has more than {limit} characters")
        yield parse_json(text[start:end], partial(_refused, number))
        start, number, limit = end + 1, number + 1, MAX_LINE


def _refused(line: int, reason: str) -> ProgramError:
    return ProgramError(f"line {line}: {reason}")


def _graph(values: Iterator[object]) -> SubroutineGraph:
    top = _object("the first line", next(values, None), _TOP)
    if top["format"] != FORMAT:
        raise ProgramError(f"format is {top['format']!r:.80}, not {FORMAT!r}")
    if isinstance(top["version"], bool) or top["version"] != VERSION:
        raise ProgramError(
            f"version is {top['version']!r:.80}, and this Ringsmith reads {VERSION}: "
            "write the graph anew with this version"
        )
    primes, roots, special, extension = (
        tuple(checked_integer(f"{key}: entry", value, 0, (1 << 64) - 1) for value in entries)
        for key, entries in (
            (key, _list(key, top[key], MAX_PRIMES))
            for key in ("primes", "roots", "special", "extension")
        )
    )
    checked_integer("n", top["n"], 1, 1 << 32)
    graph = SubroutineGraph(top["n"], primes, roots, special, _keys(top["keys"]), extension)
    for identity, node in enumerate(values):
        _add(graph, identity, node)
    graph.validate()
    return graph


def _keys(value: object) -> dict[str, KeyShape]:
    if not isinstance(value, dict) or len(value) > MAX_KEYS:
        raise ProgramError(f"keys is not an object of at most {MAX_KEYS} entries")
    keys = {}
    for name, entry in value.items():
        shape = _object(f"key {name!r:.80}", entry, {"digits", "base"})
        digits = checked_integer(f"digits of key {name!r:.80}", shape["digits"], 1, MAX_DIGITS)
        base = _list(f"base of key {name!r:.80}", shape["base"], MAX_PRIMES)
        if not base:
            raise ProgramError(f"base of key {name!r:.80} names no prime: name those of its limbs")
        keys[name] = KeyShape(digits, tuple(base))
    return keys


def _add(graph: SubroutineGraph, identity: int, value: object) -> None:
    node = _object(f"node {identity}", value, _NODE, optional={"origin"})
    if isinstance(node["id"], bool) or node["id"] != identity:
        raise ProgramError(f"node {identity} calls itself {node['id']!r:.80}: ids count from 0")
    if not isinstance(node["op"], str):
        raise ProgramError(f"node {identity}: op is not a text")
    if not isinstance(node["attrs"], dict):
        raise ProgramError(f"node {identity}: attrs is not an object")
    origin = None
    if "origin" in node:
        fields = _object(f"origin of node {identity}", node["origin"], {"node", "op"})
        checked_integer(f"origin of node {identity}: node", fields["node"], 0, MAX_NODES)
        checked_name(f"origin of node {identity}: op", fields["op"])
        origin = Origin(fields["node"], fields["op"])
    graph.at_origin(origin)
    graph.add_node(node["op"], _list("operands", node["operands"], MAX_PRIMES), node["attrs"])


def _object(
    what: str, value: object, keys: set[str], optional: frozenset[str] | set[str] = frozenset()
) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ProgramError(f"{what} is not an object")
    missing, unknown = keys - value.keys(), value.keys() - keys - optional
    if missing or unknown:
        raise ProgramError(
            f"{what} lacks {sorted(missing)} and has unknown {sorted(unknown)[:8]!r:.200}"
        )
    return value


def _list(what: str, value: object, limit: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > limit:
        raise ProgramError(f"{what} is not a list of at most {limit} entries")
    return value
