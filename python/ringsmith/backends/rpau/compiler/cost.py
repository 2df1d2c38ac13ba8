"""Cycles of BFV's multiplication with relinearization, from a design's parameters alone.

For designs with converters, two modulus banks and no dyadic unit, as ``heaws``: q lies in the first
set, the extension in the second, and relinearization has digits of several primes without a special
prime. No program is compiled, so this also costs shapes that no instruction can name.

**Composition.** Two units work in parallel: the main unit of all RPAUs in step, and the
coefficient unit, which all RPAUs share. The product is a fixed set of steps, each of one unit, with
the latencies of :mod:`ringsmith.backends.rpau.design.latency`. A step begins when its unit is free
and its operands are there; of those that can begin first, the one with the longest way to the end
goes first. What is left out: cycles in which instructions are fetched and issued, about 20 of a
product, and transfers of polynomials where work memory is too small, so that it must hold ten.

A lift precedes both transforms of its polynomial: they are in place, and it reads what the first
one would overwrite.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.latency import arrival_cycles
from ringsmith.backends.rpau.isa.instruction_set import latencies
from ringsmith.errors import ParameterError

_SETS = 2
_OPERANDS = ("x.0", "x.1", "y.0", "y.1")
_TENSOR = {
    "z.2": (("x.1", "y.1"),),
    "z.1": (("x.0", "y.1"), ("x.1", "y.0")),
    "z.0": (("x.0", "y.0"),),
}
_FEWEST_WORK_POLYS = 10


@dataclass(frozen=True)
class Shape(RpauDesign):
    """A design point that need not be legal: its cycles can be counted, and it cannot be built."""

    def __post_init__(self) -> None:
        """Checks nothing."""

    @classmethod
    def of(cls, design: RpauDesign, **changes: Any) -> "Shape":  # noqa: ANN401
        """Returns a design's shape with other parameters."""
        kept = {each.name: getattr(design, each.name) for each in fields(design)}
        return cls(**{**kept, **changes})


@dataclass(frozen=True)
class _Step:
    """Work of one unit, after the steps that ``after`` names and not before cycle ``ready``."""

    name: str
    unit: str
    cycles: int
    after: tuple[str, ...] = ()
    ready: int = 0


def product_cycles(
    design: RpauDesign, digits: int, limbs: int, arrivals: Sequence[int] = ()
) -> int:
    """Returns the cycles of a multiplication with relinearization.

    Args:
        design: The design, or the ``Shape`` of one, with an RPAU for each prime of the extension.
        digits: Digits of relinearization.
        limbs: Primes of q, each a polynomial of every key.
        arrivals: When the key's polynomials arrive, counted from the start, in the order digit,
            half, limb; none: they are there.

    Raises:
        ParameterError: If the design is of another kind, or its work memory is too small.
    """
    _check(design)
    cycles = latencies(design)
    return _last_end(
        [
            *_lifted(cycles),
            *_tensor(cycles),
            *_relinearized(cycles, digits, _ready(design, digits, limbs, arrivals)),
        ]
    )


def _check(design: RpauDesign) -> None:
    for what, value, wanted, text in (
        ("converters", design.converters, design.converters > 0, "at least 1"),
        (
            "modulus_banks",
            design.modulus_banks,
            design.modulus_banks == _SETS,
            "2, q's and the extension's",
        ),
        ("dyadic_cores", design.dyadic_cores, design.dyadic_cores == 0, "0"),
        (
            *("work_polys", design.work_polys, design.work_polys >= _FEWEST_WORK_POLYS),
            f"at least {_FEWEST_WORK_POLYS}, or polynomials move to the host during the program",
        ),
    ):
        if not wanted:
            raise ParameterError(
                f"design {design.name}: {what} = {value}: this estimate is of designs with {what} "
                f"{text}; compile the product and run it on the model"
            )


def _ready(
    design: RpauDesign, digits: int, limbs: int, arrivals: Sequence[int]
) -> dict[tuple[int, int], int]:
    """The cycle from which each digit's half of the key may be read."""
    wanted = 2 * digits * limbs
    if arrivals and len(arrivals) != wanted:
        raise ParameterError(
            f"{len(arrivals)} arrivals of key polynomials: {digits} digits of {limbs} limbs have "
            f"{wanted}, or give none"
        )
    pairs = list(product(range(digits), range(2)))
    if not arrivals:
        return dict.fromkeys(pairs, 0)
    last = arrivals[limbs - 1 :: limbs]
    return {pair: came + arrival_cycles(design) for pair, came in zip(pairs, last, strict=True)}


def _lifted(cycles: dict[str, int]) -> list[_Step]:
    """Operands over the extension, transformed."""
    steps = [_Step(f"lift {p}", "coefficient", cycles["convert"]) for p in _OPERANDS]
    return steps + [
        _Step(f"ntt {p} {each}", "main", cycles["ntt"], (f"lift {p}",))
        for p in _OPERANDS
        for each in range(_SETS)
    ]


def _tensor(cycles: dict[str, int]) -> list[_Step]:
    """The three polynomials of the product, divided by q and back over its primes."""
    steps = []
    for result, terms in _TENSOR.items():
        inverses = []
        for each in range(_SETS):
            before: tuple[str, ...] = ()
            for a, b in terms:
                name = f"{a} * {b}, {each}"
                operands = f"ntt {a} {each}", f"ntt {b} {each}"
                steps.append(_Step(name, "main", cycles["mul"], (*operands, *before)))
                before = (name,)
            inverses.append(f"intt {result} {each}")
            steps.append(_Step(inverses[-1], "main", cycles["intt"], before))
        steps += [
            _Step(f"divide {result}", "coefficient", cycles["convert_own"], tuple(inverses)),
            _Step(f"scale {result}", "coefficient", cycles["convert"], (f"divide {result}",)),
        ]
    return steps


def _relinearized(
    cycles: dict[str, int], digits: int, ready: dict[tuple[int, int], int]
) -> list[_Step]:
    """The last polynomial's digits, their products with the key, and the sums."""
    steps = []
    for digit in range(digits):
        steps += [
            _Step(f"digit {digit}", "coefficient", cycles["convert"], ("scale z.2",)),
            _Step(f"ntt digit {digit}", "main", cycles["ntt"], (f"digit {digit}",)),
        ]
    for half in range(2):
        before: tuple[str, ...] = ()
        for digit in range(digits):
            name = f"key {digit} {half}"
            after = (f"ntt digit {digit}", *before)
            steps.append(_Step(name, "main", cycles["mul_key"], after, ready[digit, half]))
            before = (name,)
        switched = f"intt half {half}"
        steps += [
            _Step(switched, "main", cycles["intt"], before),
            _Step(f"add {half}", "main", cycles["add"], (switched, f"scale z.{half}")),
        ]
    return steps


def _last_end(steps: Sequence[_Step]) -> int:
    """The end of the last step, by list scheduling; steps stand behind those they wait for."""
    way = dict.fromkeys((step.name for step in steps), 0)  # from a step's end to the last one
    for step in reversed(steps):
        for before in step.after:
            way[before] = max(way[before], step.cycles + way[step.name])
    end: dict[str, int] = {}
    free: dict[str, int] = {}
    left = list(steps)

    def begin(step: _Step) -> int:
        operands = (end[before] for before in step.after)
        return max(step.ready, free.get(step.unit, 0), *operands)

    while left:
        can = [step for step in left if end.keys() >= set(step.after)]
        chosen = min(can, key=lambda step: (begin(step), -step.cycles - way[step.name]))
        end[chosen.name] = free[chosen.unit] = begin(chosen) + chosen.cycles
        left.remove(chosen)
    return max(end.values())
