"""What flows through a subroutine graph, and the typing rule of every op.

One function, ``infer``, decides for the builder and for a file from an untrusted source alike
whether a node is legal and what it yields. ``docs/reference/subroutine-graph.md`` describes the
ops.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from math import gcd, prod
from types import MappingProxyType
from typing import Any, TypeVar

from ringsmith.errors import ProgramError

T = TypeVar("T")
MAX_NAME = 128
MOD_UP_VARIANTS = ("rns_digit", "fast_base_conv", "centred_digit", "scaled")
MOD_DOWN_VARIANTS = ("rounded", "centred_base_conv")
PRODUCT_VARIANTS = ("behz", "hps")
"""How BFV lifts to the larger modulus of products, and scales back from it."""
MAX_PLAIN_BITS = 60
MAX_WORD_BITS = 1 << 13
"""Wider than any modulus: at a low level one word may hold all of a coefficient."""


class Form(StrEnum):
    """How a polynomial is represented."""

    NTT = "ntt"
    COEFF = "coeff"


@dataclass(frozen=True)
class PolyType:
    """One residue-number-system polynomial.

    Attributes:
        base: Ascending indices into the graph's primes, one a limb.
        form: ``ntt`` (bit-reversed order) or ``coeff``.
    """

    base: tuple[int, ...]
    form: Form

    def __str__(self) -> str:
        return f"{self.form} over base {list(self.base)}"


@dataclass(frozen=True)
class Ring:
    """What typing a node must know of its graph.

    Attributes:
        n: Ring degree N.
        primes: All primes.
        key_primes: How many of them, from the first, keys have: all but the extension primes.
        keys: Digits of each key-switching key that is handed in, by name.
    """

    n: int
    primes: tuple[int, ...]
    key_primes: int
    keys: Mapping[str, int]


@dataclass(frozen=True)
class OpSpec:
    """How a node of one op is written.

    Attributes:
        operands: How many operands it takes; None: at least one.
        attrs: The names of its attributes, all of them required.
        rule: Yields the node's type from the ring, its operands' types and its attributes.
    """

    operands: int | None
    attrs: frozenset[str]
    rule: Callable[[Ring, Sequence[PolyType], Mapping[str, Any]], PolyType]


def infer(ring: Ring, op: str, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    """Returns the type of what a node yields.

    Args:
        ring: Properties of the graph.
        op: Name of the op.
        operands: Types of the operands, in order.
        attrs: Attributes as they stand in the file (JSON values).

    Raises:
        ProgramError: When the op is unknown or the node breaks its rule; says which and how.
    """
    if op not in OPS:
        raise ProgramError(f"op {op!r} is unknown: there are {', '.join(OPS)}")
    spec = OPS[op]
    if len(operands) != spec.operands and (spec.operands is not None or not operands):
        wanted = "at least 1" if spec.operands is None else str(spec.operands)
        raise ProgramError(f"{op} has {len(operands)} operands and takes {wanted}")
    if attrs.keys() != spec.attrs:
        raise ProgramError(
            f"{op} has the attributes {sorted(attrs)} and takes exactly {sorted(spec.attrs)}"
        )
    return spec.rule(ring, operands, attrs)


def checked_name(what: str, value: object) -> str:
    """Returns a name of printable characters without blanks, at most ``MAX_NAME`` long."""
    usable = isinstance(value, str) and 0 < len(value) <= MAX_NAME
    if not usable or not all(c.isascii() and (c.isalnum() or c in "_.:-") for c in str(value)):
        raise ProgramError(
            f"{what} {value!r:.80} is no name: use 1 to {MAX_NAME} letters, digits or _ . : -"
        )
    return str(value)


def checked_integer(what: str, value: object, low: int, high: int) -> int:
    """Returns an int in low … high."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ProgramError(f"{what} {value!r:.80} is not a whole number in {low} … {high}")
    return value


def _checked_base(ring: Ring, what: str, value: object) -> tuple[int, ...]:
    return _ascending(what, value, len(ring.primes), "primes")


def _ascending(what: str, value: object, most: int, kind: str) -> tuple[int, ...]:
    """Returns ascending whole numbers below ``most``, at least one."""
    if not isinstance(value, list | tuple) or not 0 < len(value) <= most:
        raise ProgramError(f"{what} {value!r:.80} is not a list of 1 to {most} {kind}")
    base = tuple(checked_integer(f"{what}: {kind[:-1]}", i, 0, most - 1) for i in value)
    if any(low >= high for low, high in pairwise(base)):
        raise ProgramError(f"{what} {list(base)} is not ascending")
    return base


def _checked_choice(what: str, value: object, choices: Sequence[T]) -> T:
    for choice in choices:
        if value == choice and type(value) in (int, str):
            return choice
    raise ProgramError(f"{what} {value!r:.80} is not one of {', '.join(map(str, choices))}")


def _require_form(op: str, operand: PolyType, form: Form) -> None:
    if operand.form != form:
        raise ProgramError(f"{op} takes {form} form and its operand is {operand}")


def _input(ring: Ring, _: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    checked_name("input name", attrs["name"])
    form = _checked_choice("form", attrs["form"], tuple(Form))
    return PolyType(_checked_base(ring, "base", attrs["base"]), form)


def _output(_: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    checked_name("output name", attrs["name"])
    return operands[0]


def _same_types(_: Ring, operands: Sequence[PolyType], __: Mapping[str, Any]) -> PolyType:
    first, *others = operands
    for other in others:
        if other != first:
            raise ProgramError(f"operands differ: {first}, and {other}")
    return first


def _mul(ring: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    _require_form("mul", operands[0], Form.NTT)
    return _same_types(ring, operands, attrs)


def _automorph(ring: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    element = checked_integer("element", attrs["element"], 1, 2 * ring.n - 1)
    if element % 2 == 0:
        raise ProgramError(f"element {element} is even: automorphisms are X -> X^odd")
    return operands[0]


def _ntt(_: Ring, operands: Sequence[PolyType], __: Mapping[str, Any]) -> PolyType:
    _require_form("ntt", operands[0], Form.COEFF)
    return PolyType(operands[0].base, Form.NTT)


def _intt(_: Ring, operands: Sequence[PolyType], __: Mapping[str, Any]) -> PolyType:
    _require_form("intt", operands[0], Form.NTT)
    return PolyType(operands[0].base, Form.COEFF)


def _mod_up(ring: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    variant = _checked_choice("mod_up variant", attrs["variant"], MOD_UP_VARIANTS)
    digit = _checked_base(ring, "digit", attrs["digit"])
    operand = operands[0]
    if variant == "scaled":
        if digit != operand.base:
            raise ProgramError(f"scaled mod_up takes all limbs: digit {list(digit)} of {operand}")
    else:
        _require_form("mod_up", operand, Form.COEFF)
        if not set(digit) <= set(operand.base) or (variant == "rns_digit" and len(digit) != 1):
            count = "one prime" if variant == "rns_digit" else "primes"
            raise ProgramError(f"digit {list(digit)} is not {count} of the operand: {operand}")
    base = _checked_base(ring, "base", attrs["base"])
    if not set(digit) <= set(base):
        raise ProgramError(f"digit {list(digit)} is not in the base {list(base)} that it goes to")
    return PolyType(base, operand.form)


def _ksk(ring: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    key = checked_name("key", attrs["key"])
    if key not in ring.keys:
        raise ProgramError(f"key {key!r} is not among the graph's keys: {sorted(ring.keys)}")
    _checked_choice("half", attrs["half"], (0, 1))
    most = max(ring.keys[key], len(ring.primes))  # words of BFV's keys may be more than primes
    digits = _ascending("digits", attrs["digits"], most, "digits")
    if len(digits) != len(operands):
        raise ProgramError(f"{len(digits)} digits are named for {len(operands)} operands")
    if digits[-1] >= ring.keys[key]:
        raise ProgramError(f"digit {digits[-1]} is beyond the {ring.keys[key]} digits of {key!r}")
    expected = PolyType(_checked_base(ring, "base", attrs["base"]), Form.NTT)
    if expected.base[-1] >= ring.key_primes:
        raise ProgramError(
            f"base {list(expected.base)} has an extension prime, and keys have none: they are over "
            f"the primes 0 … {ring.key_primes - 1}"
        )
    for operand in operands:
        if operand != expected:
            raise ProgramError(f"ksk_inner_product works in {expected}; an operand is {operand}")
    return expected


def _mod_down(ring: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    variant = _checked_choice("mod_down variant", attrs["variant"], MOD_DOWN_VARIANTS)
    drop = _checked_base(ring, "drop", attrs["drop"])
    base = operands[0].base
    if not set(drop) < set(base) or (variant == "rounded" and len(drop) != 1):
        count = "one prime" if variant == "rounded" else "primes"
        raise ProgramError(
            f"drop {list(drop)} must be {count} of the operand and leave another; "
            f"the operand is {operands[0]}"
        )
    return PolyType(tuple(i for i in base if i not in drop), operands[0].form)


def _drop_limbs(ring: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    base = _checked_base(ring, "base", attrs["base"])
    if not set(base) < set(operands[0].base):
        raise ProgramError(
            f"base {list(base)} must keep fewer primes of the operand, which is {operands[0]}"
        )
    return PolyType(base, operands[0].form)


def _lift(ring: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    _checked_choice("lift variant", attrs["variant"], PRODUCT_VARIANTS)
    operand = operands[0]
    _require_form("lift", operand, Form.COEFF)
    base = _checked_base(ring, "base", attrs["base"])
    count = len(operand.base)
    if len(base) == count or base[:count] != operand.base:
        raise ProgramError(
            f"lift adds primes behind, and base {list(base)} is not {operand} and more"
        )
    return PolyType(base, Form.COEFF)


def _scale(ring: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    variant = _checked_choice("scale variant", attrs["variant"], PRODUCT_VARIANTS)
    least = 2 if variant == "behz" else 1  # behz has m_sk and at least one prime
    operand = operands[0]
    _require_form("scale", operand, Form.COEFF)
    base = _checked_base(ring, "base", attrs["base"])
    if operand.base[: len(base)] != base or len(operand.base) - len(base) < least:
        raise ProgramError(
            f"scale of variant {variant} takes the last {least} primes away, or more, and base "
            f"{list(base)} does not leave as many: {operand}"
        )
    plain = checked_integer("plain_modulus", attrs["plain_modulus"], 2, (1 << MAX_PLAIN_BITS) - 1)
    if any(gcd(plain, ring.primes[i]) > 1 for i in operand.base):
        raise ProgramError(f"plain_modulus {plain} is not coprime to the primes of {operand}")
    return PolyType(base, Form.COEFF)


def _decompose(ring: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    operand = operands[0]
    _require_form("decompose", operand, Form.COEFF)
    bits = prod(ring.primes[i] for i in operand.base).bit_length()
    width = checked_integer("word_bits", attrs["word_bits"], 1, MAX_WORD_BITS)
    checked_integer("digit", attrs["digit"], 0, -(-bits // width) - 1)
    return PolyType(_checked_base(ring, "base", attrs["base"]), Form.COEFF)


OPS: Mapping[str, OpSpec] = MappingProxyType(
    {
        "input": OpSpec(0, frozenset({"name", "base", "form"}), _input),
        "output": OpSpec(1, frozenset({"name"}), _output),
        "add": OpSpec(2, frozenset(), _same_types),
        "sub": OpSpec(2, frozenset(), _same_types),
        "neg": OpSpec(1, frozenset(), _same_types),
        "mul": OpSpec(2, frozenset(), _mul),
        "automorph": OpSpec(1, frozenset({"element"}), _automorph),
        "ntt": OpSpec(1, frozenset(), _ntt),
        "intt": OpSpec(1, frozenset(), _intt),
        "mod_up": OpSpec(1, frozenset({"digit", "base", "variant"}), _mod_up),
        "ksk_inner_product": OpSpec(None, frozenset({"key", "half", "digits", "base"}), _ksk),
        "mod_down": OpSpec(1, frozenset({"drop", "variant"}), _mod_down),
        "drop_limbs": OpSpec(1, frozenset({"base"}), _drop_limbs),
        "lift": OpSpec(1, frozenset({"base", "variant"}), _lift),
        "scale": OpSpec(1, frozenset({"base", "plain_modulus", "variant"}), _scale),
        "decompose": OpSpec(1, frozenset({"digit", "word_bits", "base"}), _decompose),
    }
)
"""Every op of version 2."""
