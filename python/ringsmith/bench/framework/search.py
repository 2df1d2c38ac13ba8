"""Designs that fit the card, beside the paper's figure 8: time by words a cycle of permutation."""

import re
from collections.abc import Iterator
from itertools import product

from ringsmith.bench.framework.cases import MAIN_OPERATION
from ringsmith.bench.framework.resources import CARD_NAME
from ringsmith.bench.records import Found
from ringsmith.explore.evaluate import Evaluator
from ringsmith.explore.points import Job
from ringsmith.explore.request import Request, explorer
from ringsmith.progress import task

SEARCHED = f"{MAIN_OPERATION}: designs"
"""The operation of their records."""

_ARCHITECTURE = "vector"
_VALUES = {"banks": (3, 4, 6), "reduction": ("montgomery",)}
"""Values that are tried of some parameters; of lanes and radix all, of others the doubled ones."""


def designs(params: str) -> Iterator[Found]:
    """The estimated milliseconds of each design that fits the card."""
    request = Request(CARD_NAME, (_ARCHITECTURE,), params, (MAIN_OPERATION,))
    evaluator, own = Evaluator(request), explorer(_ARCHITECTURE)
    of = evaluator.task(_ARCHITECTURE)
    space = own.space(of)
    values = [_VALUES.get(p.name, p.values if p.name == "log_lanes" else p.doubling) for p in space]
    points = [*product(*values)]
    text = (
        f"a design for {CARD_NAME} that leaves a fifth of it free; {own.megahertz:g} MHz, assumed"
    )
    with task("estimating designs", len(points), "points") as tried:
        for point in points:
            names = (parameter.name for parameter in space)
            found = evaluator.tried(Job(_ARCHITECTURE, tuple(zip(names, point, strict=True))))
            tried.advance()
            if found.feasible:
                time = found.milliseconds
                yield Found(found.name, params, SEARCHED, "milliseconds", time, "estimate", text)


def words_and_alus(design: str) -> tuple[int, int]:
    """Words a cycle of all networks, the paper's PermTput, and ALUs, by a design's name."""
    found = re.match(r"vector-t(\d+)-r(\d+)-c(\d+)-", design)
    assert found is not None
    lanes, radix, clusters = map(int, found.groups())
    return clusters * lanes, clusters * lanes // 2 * radix
