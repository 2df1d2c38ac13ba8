"""What flows through a subroutine graph, and the typing rule of every op.

One function, ``infer``, decides for the builder and for a file from an untrusted source alike
whether a node is legal and what it yields. ``docs/reference/subroutine-graph.md`` describes the
ops.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import pairwise
from math import gcd, prod
from types import MappingProxyType
from typing import Any, TypeVar

from ringsmith.errors import ProgramError
from ringsmith.params.keys import KeyShape

T = TypeVar("T")
MAX_NAME = 128
MOD_UP_VARIANTS = ("rns_digit", "fast_base_conv", "centred_digit", "scaled")
MOD_DOWN_VARIANTS = ("rounded", "centred_base_conv")
DIGIT_VARIANTS = ("fast_base_conv", "centred_digit", "words")
"""How a value is cut into digits: by primes, not centred or centred, or in words of bits."""
PRODUCT_VARIANTS = ("behz", "hps")
"""How BFV lifts to the larger modulus of products, and scales back from it."""
MAX_DIGITS = 128
"""Of a value, and so of a key."""
MAX_PLAIN_BITS = 60
MAX_WORD_BITS = 1 << 13
"""Wider than any modulus: at a low level one word may hold all of a coefficient."""


class Form(StrEnum):
    """How a polynomial is represented."""

    NTT = "ntt"
    COEFF = "coeff"


class Kind(StrEnum):
    """What a value is."""

    POLYNOMIAL = "polynomial"
    DIGITS = "digits"
    PAIR = "pair"


@dataclass(frozen=True)
class PolyType:
    """Residue-number-system polynomials of one base and form: one, a pair, or a value's digits.

    Attributes:
        base: Ascending indices into the graph's primes, one a limb.
        form: ``ntt`` (bit-reversed order) or ``coeff``.
        kind: What the value is.
        count: How many polynomials it is: 1, of a pair 2, of digits as many as there are.
    """

    base: tuple[int, ...]
    form: Form
    kind: Kind = Kind.POLYNOMIAL
    count: int = 1

    def over(self, base: tuple[int, ...]) -> "PolyType":
        """The same over another base."""
        return replace(self, base=base)

    def __str__(self) -> str:
        kinds = {
            Kind.POLYNOMIAL: "",
            Kind.PAIR: "a pair in ",
            Kind.DIGITS: f"{self.count} digits in ",
        }
        return f"{kinds[self.kind]}{self.form} over base {list(self.base)}"


@dataclass(frozen=True)
class Ring:
    """What typing a node must know of its graph.

    Attributes:
        n: Ring degree N.
        primes: All primes.
        key_primes: How many of them, from the first, keys have: all but the extension primes.
        keys: Shape of each key-switching key that is handed in, by name.
    """

    n: int
    primes: tuple[int, ...]
    key_primes: int
    keys: Mapping[str, KeyShape]


@dataclass(frozen=True)
class OpSpec:
    """How a node of one op is written.

    Attributes:
        operands: The fewest and the most operands that it takes.
        attrs: The names of its attributes, all of them required.
        rule: Yields the node's type from the ring, its operands' types and its attributes.
        kinds: Kinds of its operands: one for each in turn, the last for all others.
    """

    operands: tuple[int, int]
    attrs: frozenset[str]
    rule: Callable[[Ring, Sequence[PolyType], Mapping[str, Any]], PolyType]
    kinds: tuple[frozenset[Kind], ...] = (frozenset({Kind.POLYNOMIAL}),)


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
    fewest, most = spec.operands
    if not fewest <= len(operands) <= most:
        wanted = str(fewest) if fewest == most else f"{fewest} to {most}"
        raise ProgramError(f"{op} has {len(operands)} operands and takes {wanted}")
    for i, operand in enumerate(operands):
        kinds = spec.kinds[min(i, len(spec.kinds) - 1)]
        if operand.kind not in kinds:
            wanted = " or ".join(kind for kind in Kind if kind in kinds)
            raise ProgramError(f"operand {i} of {op} must be of kind {wanted}; it is {operand}")
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
    first, second = operands
    _require_form("mul", first, Form.NTT)
    _same_types(ring, [replace(first, kind=second.kind, count=second.count), second], attrs)
    return first


def _scalar(ring: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    base, values = operands[0].base, attrs["values"]
    if not isinstance(values, list | tuple) or len(values) != len(base):
        raise ProgramError(
            f"values {values!r:.80} is not a list of {len(base)} residues, one for each prime of "
            f"{operands[0]}"
        )
    for value, i in zip(values, base, strict=True):
        checked_integer(f"residue modulo prime {i}", value, 0, ring.primes[i] - 1)
    return operands[0]


def _automorph(ring: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    _element(ring, attrs)
    return operands[0]


def _ntt(_: Ring, operands: Sequence[PolyType], __: Mapping[str, Any]) -> PolyType:
    _require_form("ntt", operands[0], Form.COEFF)
    return replace(operands[0], form=Form.NTT)


def _intt(_: Ring, operands: Sequence[PolyType], __: Mapping[str, Any]) -> PolyType:
    _require_form("intt", operands[0], Form.NTT)
    return replace(operands[0], form=Form.COEFF)


def _mod_up(ring: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    variant = _checked_choice("mod_up variant", attrs["variant"], MOD_UP_VARIANTS)
    digit = _checked_base(ring, "digit", attrs["digit"])
    operand = operands[0]
    if variant == "scaled":
        if digit != operand.base:
            raise ProgramError(f"scaled mod_up takes all limbs: digit {list(digit)} of {operand}")
    else:
        _require_form("mod_up", operand, Form.COEFF)
        if operand.kind is not Kind.POLYNOMIAL:
            raise ProgramError(f"mod_up of variant {variant} takes a polynomial, not {operand}")
        if not set(digit) <= set(operand.base) or (variant == "rns_digit" and len(digit) != 1):
            count = "one prime" if variant == "rns_digit" else "primes"
            raise ProgramError(f"digit {list(digit)} is not {count} of the operand: {operand}")
    base = _checked_base(ring, "base", attrs["base"])
    if not set(digit) <= set(base):
        raise ProgramError(f"digit {list(digit)} is not in the base {list(base)} that it goes to")
    return operand.over(base)


def _ksk(ring: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    _checked_choice("half", attrs["half"], (0, 1))
    digits = _ascending("digits", attrs["digits"], MAX_DIGITS, "digits")
    if len(digits) != len(operands):
        raise ProgramError(f"{len(digits)} digits are named for {len(operands)} operands")
    base = _key_base(ring, attrs["base"])
    _key(ring, attrs, digits[-1] + 1, base)
    expected = PolyType(base, Form.NTT)
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
    return operands[0].over(tuple(i for i in base if i not in drop))


def _drop_limbs(ring: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    base = _checked_base(ring, "base", attrs["base"])
    if not set(base) < set(operands[0].base):
        raise ProgramError(
            f"base {list(base)} must keep fewer primes of the operand, which is {operands[0]}"
        )
    return operands[0].over(base)


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


# ---- key switching -------------------------------------------------------------------------------


def checked_shape(ring: Ring, name: str, shape: KeyShape) -> KeyShape:
    """Returns a key's shape with its base written out, after it was checked."""
    checked_integer(f"digits of key {checked_name('key', name)}:", shape.digits, 1, MAX_DIGITS)
    if not shape.base:
        return KeyShape.full(shape.digits, ring.key_primes)
    what = f"base of key {name}"
    return KeyShape(shape.digits, _ascending(what, shape.base, ring.key_primes, "primes"))


def _key(ring: Ring, attrs: Mapping[str, Any], digits: int, base: tuple[int, ...]) -> None:
    """Refuses a key that the graph has not, or that has fewer digits or not all primes."""
    key = checked_name("key", attrs["key"])
    if key not in ring.keys:
        raise ProgramError(f"key {key!r} is not among the graph's keys: {sorted(ring.keys)}")
    shape = ring.keys[key]
    if digits > shape.digits:
        raise ProgramError(f"{digits} digits are beyond the {shape.digits} digits of {key!r}")
    if missing := sorted(set(base).difference(shape.base)):
        raise ProgramError(
            f"key {key!r} has the primes {list(shape.base)} and is used at {list(base)}: give it a "
            f"base with {missing}, or drop these limbs before"
        )


def _key_base(ring: Ring, value: object) -> tuple[int, ...]:
    base = _checked_base(ring, "base", value)
    if base[-1] >= ring.key_primes:
        raise ProgramError(
            f"base {list(base)} has an extension prime, and keys have none: they are over "
            f"the primes 0 … {ring.key_primes - 1}"
        )
    return base


def _element(ring: Ring, attrs: Mapping[str, Any]) -> None:
    element = checked_integer("element", attrs["element"], 1, 2 * ring.n - 1)
    if element % 2 == 0:
        raise ProgramError(f"element {element} is even: automorphisms are X -> X^odd")


def _cut(ring: Ring, operand: PolyType, attrs: Mapping[str, Any]) -> PolyType:
    """The digits of a polynomial, which ``sizes`` and ``variant`` say."""
    variant = _checked_choice("variant", attrs["variant"], DIGIT_VARIANTS)
    base, sizes = _key_base(ring, attrs["base"]), attrs["sizes"]
    if not isinstance(sizes, list | tuple) or not 0 < len(sizes) <= MAX_DIGITS:
        raise ProgramError(f"sizes {sizes!r:.80} is not a list of 1 to {MAX_DIGITS} sizes")
    for size in sizes:
        checked_integer("size of a digit", size, 1, MAX_WORD_BITS)
    if variant == "words":
        bits = prod(ring.primes[i] for i in operand.base).bit_length()
        if len(set(sizes)) > 1 or len(sizes) != -(-bits // sizes[0]):
            raise ProgramError(
                f"sizes {list(sizes)!r:.80} do not cut {bits} bits into words of equal size"
            )
    elif sum(sizes) != len(operand.base) or not set(operand.base) <= set(base):
        raise ProgramError(
            f"sizes {list(sizes)!r:.80} to base {list(base)} must cut all primes of the operand, "
            f"which the base has, too; the operand is {operand}"
        )
    return PolyType(base, Form.NTT, Kind.DIGITS, len(sizes))


def _digits(ring: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    return _cut(ring, operands[0], attrs)


def _key_product(ring: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    digits, *added = operands
    _key(ring, attrs, digits.count, digits.base)
    _element(ring, attrs)
    for each in added:
        _require_form("key_product", each, Form.NTT)
        if not set(each.base) <= set(digits.base) or each.base != added[0].base:
            raise ProgramError(
                f"what is added must be over one part of the base {list(digits.base)}; it is {each}"
            )
    return PolyType(digits.base, Form.NTT, Kind.PAIR, 2)


def _key_switch(ring: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    first, *added = operands
    digits = _cut(ring, first, attrs)
    _key(ring, attrs, digits.count, digits.base)
    _element(ring, attrs)
    for each in added:
        if each != first:
            raise ProgramError(f"what is added is {each}, and what is switched {first}")
    if not set(first.base) <= set(digits.base):
        raise ProgramError(f"base {list(digits.base)} lacks primes of the operand, {first}")
    drop = attrs["drop"]
    if isinstance(drop, list | tuple) and not drop:
        return PolyType(digits.base, first.form, Kind.PAIR, 2)
    drop = _checked_base(ring, "drop", drop)
    if not set(drop) < set(digits.base):
        raise ProgramError(f"drop {list(drop)} must leave a prime of base {list(digits.base)}")
    left = tuple(i for i in digits.base if i not in drop)
    return PolyType(left, first.form, Kind.PAIR, 2)


def _half(_: Ring, operands: Sequence[PolyType], attrs: Mapping[str, Any]) -> PolyType:
    _checked_choice("half", attrs["half"], (0, 1))
    return PolyType(operands[0].base, operands[0].form)


_EITHER = (frozenset({Kind.POLYNOMIAL, Kind.PAIR}),)
_PAIR_FIRST = (*_EITHER, frozenset({Kind.POLYNOMIAL}))
_CUT = frozenset({"sizes", "variant", "base"})
_KEYED = frozenset({"key", "element"})

OPS: Mapping[str, OpSpec] = MappingProxyType(
    {
        "input": OpSpec((0, 0), frozenset({"name", "base", "form"}), _input),
        "output": OpSpec((1, 1), frozenset({"name"}), _output),
        "add": OpSpec((2, 2), frozenset(), _same_types, _EITHER),
        "sub": OpSpec((2, 2), frozenset(), _same_types, _EITHER),
        "neg": OpSpec((1, 1), frozenset(), _same_types, _EITHER),
        "mul": OpSpec((2, 2), frozenset(), _mul, _PAIR_FIRST),
        "automorph": OpSpec((1, 1), frozenset({"element"}), _automorph, _EITHER),
        "ntt": OpSpec((1, 1), frozenset(), _ntt, _EITHER),
        "intt": OpSpec((1, 1), frozenset(), _intt, _EITHER),
        "mod_up": OpSpec((1, 1), frozenset({"digit", "base", "variant"}), _mod_up, _EITHER),
        "ksk_inner_product": OpSpec(
            (1, MAX_DIGITS), frozenset({"key", "half", "digits", "base"}), _ksk
        ),
        "digits": OpSpec((1, 1), _CUT, _digits),
        "key_product": OpSpec(
            (1, 3), _KEYED, _key_product, (frozenset({Kind.DIGITS}), frozenset({Kind.POLYNOMIAL}))
        ),
        "key_switch": OpSpec((1, 3), _CUT | _KEYED | {"drop"}, _key_switch),
        "half": OpSpec((1, 1), frozenset({"half"}), _half, (frozenset({Kind.PAIR}),)),
        "mul_scalar": OpSpec((1, 1), frozenset({"values"}), _scalar, _EITHER),
        "add_scalar": OpSpec((1, 1), frozenset({"values"}), _scalar),
        "mod_down": OpSpec((1, 1), frozenset({"drop", "variant"}), _mod_down, _EITHER),
        "drop_limbs": OpSpec((1, 1), frozenset({"base"}), _drop_limbs, _EITHER),
        "lift": OpSpec((1, 1), frozenset({"base", "variant"}), _lift),
        "scale": OpSpec((1, 1), frozenset({"base", "plain_modulus", "variant"}), _scale),
        "decompose": OpSpec((1, 1), frozenset({"digit", "word_bits", "base"}), _decompose),
    }
)
"""Every op."""
