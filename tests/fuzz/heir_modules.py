"""HEIR's modules: damaged by their structure, and made to take memory."""

import re
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
from tests.heir.make import PROGRAMS, levels, text_of

from ringsmith.heir import text as heir_text
from ringsmith.heir.text import Block, ModuleText, Operation

T = TypeVar("T")

_MOST = 60_000
"""Characters of a module that is damaged."""
_VALUES = (
    *("-1", "0", "9" * 20, "1 : i1", "true", "nan", "0x7FF0000000000000", '"x"', "[]", "{}"),
    *("dense<1> : tensor<1xi64>", 'dense<"0x00">', "dense<[1,[2]]>", "dense<99999999999999999999>"),
    *("array<i64: -5>", "array<i64: 9999999999999>", "dense_resource<r>", "@nope", ""),
)
_TYPES = (
    *("i1", "i64", "index", "f32", "f64", "none", "()", "i129", "bf16", "!ct_L3", "tensor<f32>"),
    *("tensor<0xf32>", "tensor<3x5xi64>", "tensor<1x!x>", "tensor<4xbf16>", "tensor<?xf32>"),
    *("!secret.secret<i1>", "tensor<8192x8192xf64>", "tensor<1x1x1x1x1xi1>"),
)
_NUMBERS = ("0", "-1", "1", "2", "1000", "65536", "9" * 20)


def texts() -> list[str]:
    """Compiled modules of every level."""
    found = [text_of(name, level) for name in PROGRAMS for level in levels(name)]
    return [text for text in found if len(text) < _MOST] + [text_of("weighted", "split")]


def printed(module: ModuleText) -> str:
    """A module as text."""
    aliases = [f"{name} = {value}" for name, value in module.aliases.items()]
    return "\n".join([*aliases, _operation(module.operation), ""])


def _operation(operation: Operation) -> str:
    groups: dict[str, int] = {}
    for name in operation.results:
        groups[name.partition("#")[0]] = groups.get(name.partition("#")[0], 0) + 1
    results = ", ".join(
        f"{name}:{count}" if f"{name}#0" in operation.results else name
        for name, count in groups.items()
    )
    attributes = ", ".join(f"{k} = {v}" if v else k for k, v in operation.attributes.items())
    regions = ", ".join(map(_block, operation.regions))
    return (
        f'{results}{" = " if results else ""}"{operation.name}"({", ".join(operation.operands)})'
        f"{f' <{{{attributes}}}>' if attributes else ''}{f' ({regions})' if regions else ''}"
        f" : ({', '.join(operation.operand_types)}) -> ({', '.join(operation.result_types)})"
    )


def _block(block: Block) -> str:
    pairs = zip(block.arguments, block.types, strict=True)
    head = ", ".join(f"{name}: {kind}" for name, kind in pairs)
    lines = [f"^bb0({head}):"] if head else []
    return "\n".join(["{", *lines, *map(_operation, block.operations), "}"])


def _walked(operation: Operation) -> Iterator[Operation]:
    yield operation
    for block in operation.regions:
        for inner in block.operations:
            yield from _walked(inner)


def damaged(text: str, rng: np.random.Generator) -> str:
    """A module with one to three changes: of regions, operands, types, attributes or names."""
    module = heir_text.read_module(text, "seed")
    for _ in range(rng.integers(1, 4)):
        _damage(module, rng)
    return printed(module)


def _pick(items: Sequence[T], rng: np.random.Generator) -> T:
    return items[int(rng.integers(len(items)))]


def _damage(module: ModuleText, rng: np.random.Generator) -> None:
    everything = [*_walked(module.operation)][1:]
    functions = module.operation.regions[0].operations
    few = [each for each in everything if each.name != "arith.constant"]
    at = _pick((functions, few, everything)[rng.integers(3)] or everything, rng)
    values = [name for each in everything for name in each.results] or ["%x"]
    kinds = [*_TYPES, *(kind for each in everything for kind in each.result_types)]
    match rng.integers(8):
        case 0:
            at.regions = []
        case 1 if at.regions:
            block = _pick(at.regions, rng)
            block.operations = block.operations[: rng.integers(len(block.operations) + 1)]
        case 2 if at.operands:
            i = int(rng.integers(len(at.operands)))
            at.operands = (*at.operands[:i], _pick(values, rng), *at.operands[i + 1 :])
        case 3 if at.operands:
            at.operands, at.operand_types = at.operands[:-1], at.operand_types[:-1]
        case 4 if at.result_types:
            i = int(rng.integers(len(at.result_types)))
            at.result_types = (*at.result_types[:i], _pick(kinds, rng), *at.result_types[i + 1 :])
        case 5 if at.regions and at.regions[0].arguments:
            block = at.regions[0]
            block.types = (*block.types[:-1], _pick(kinds, rng))
        case 6 if at.attributes:
            key = _pick([*at.attributes], rng)
            others = [value for each in everything for value in each.attributes.values()]
            at.attributes[key] = _number(_pick([*_VALUES, *others, at.attributes[key]], rng), rng)
        case _:
            at.name = _pick(everything, rng).name


def _number(text: str, rng: np.random.Generator) -> str:
    """A text, half of the time with another number in it."""
    found = [*re.finditer(r"-?\d+", text)]
    if not found or rng.integers(2):
        return text
    number = _pick(found, rng)
    return text[: number.start()] + _pick(_NUMBERS, rng) + text[number.end() :]


def _function(name: str, body: str, arguments: str = "", extra: str = "") -> str:
    head = f"^bb0({arguments}):\n" if arguments else ""
    return f'"func.func"() <{{sym_name = "{name}"{extra}}}> ({{\n{head}{body}\n}}) : () -> ()\n'


def _module(body: str, *functions: str) -> bytes:
    """A module at the vector level whose evaluation begins with a body."""
    roles = ', heir.interface = {func_name = "f", index = 0, roles = [ROLE], input_types = '
    roles += "[tensor<1024xf64>], result_types = [tensor<1024xf64>]}"
    entry = _function(
        "f",
        f'{body}\n"func.return"(%x) : (tensor<1x1024xf64>) -> ()',
        "%x: !secret.secret<tensor<1x1024xf64>>",
        roles.replace("ROLE", '"entry"'),
    )
    client = [
        _function(
            role,
            '"func.return"(%x) : (tensor<1x1024xf64>) -> ()',
            "%x: tensor<1x1024xf64>",
            roles.replace("ROLE", f'"client.{role}"'),
        )
        for role in ("encrypt", "decrypt")
    ]
    whole = "".join([entry, *client, *functions])
    return (f'"builtin.module"() ({{\n{whole}}}) : () -> ()\n').encode()


def _splat(name: str, shape: str) -> str:
    return (
        f'{name} = "arith.constant"() <{{value = dense<1.0> : tensor<{shape}xf64>}}> : () -> '
        f"tensor<{shape}xf64>\n"
    )


def _sums(count: int, shape: str) -> str:
    """Sums of large tensors, each a value of its own."""
    kind = f"tensor<{shape}xf64>"
    lines = [_splat("%b0", shape)]
    for i in range(count):
        lines.append(f'%b{i + 1} = "arith.addf"(%b{i}, %b{i}) : ({kind}, {kind}) -> {kind}\n')
    return "".join(lines)


def _scalars(count: int) -> str:
    """Numbers in the clear, each a line of Python."""
    kind = "(f64, f64) -> f64"
    first = '%b0 = "arith.constant"() <{value = 1.0 : f64}> : () -> f64\n'
    rest = (f'%b{i + 1} = "arith.addf"(%b{i}, %b{i}) : {kind}\n' for i in range(count))
    return first + "".join(rest)


def worst() -> list[bytes]:
    """Modules of some kB that ask for gigabytes, or make many objects of few characters."""
    call = '"func.call"() <{callee = @g}> : () -> tensor<1xf64>\n'
    calls = _function(
        "g", _sums(3, "1024x1024") + f'%v = {call}"func.return"(%v) : (tensor<1xf64>) -> ()'
    )
    used = '%w = "arith.negf"(%u) : (tensor<1xf64>) -> tensor<1xf64>'
    bare = '"builtin.module"() ({\n%s\n}) : () -> ()\n'
    return [
        _module(_sums(40, "4096x4096")),
        _module(_sums(400, "512x1024")),
        _module(f"%u = {call}{used}", calls),
        _module('%t = "tensor.empty"() : () -> tensor<8192x8192xf64>'),
        _module('%t = "tensor.empty"() : () -> tensor<8192x2048x!p>'),
        _module(_scalars(20_000)),
        _module("\n" * 100_000),
        _module("//\n" * 100_000),
        (bare % "".join(f"%a{i}:999," for i in range(2000))).encode(),
        (bare % ("%a:999," * 9 + '%b = "x"() : () -> ()')).encode(),
        (bare % ('"a"():()->()\n' * 20_000)).encode(),
        (bare % ('"a"() ({' + "},{" * 50_000 + "}) : () -> ()")).encode(),
        (bare % ('"a"(' + "%aa," * 50_000 + "%a) : () -> ()")).encode(),
        "".join(f"!a{i}=i{i}\n" for i in range(30_000)).encode() + (bare % "").encode(),
        (bare % ('"a"() {' + ",".join(f"a{i}" for i in range(30_000)) + "} : () -> ()")).encode(),
    ]
