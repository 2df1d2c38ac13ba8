"""Digests of what a change of structure must leave alone, and the command that renews them.

``python tests/golden/digests.py`` writes ``digests.json`` anew; see README.md in this folder.
"""

import hashlib
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from ringsmith.graph import SubroutineGraph, to_json
from ringsmith.lower import lower_operation
from ringsmith.params import RlweParameters
from ringsmith.params.sets import PARAMETER_SETS
from ringsmith.program import operations
from ringsmith.runtime import compile_graph

ROOT = Path(__file__).resolve().parents[2]
KEPT = Path(__file__).with_name("digests.json")

RUNS = (
    ("nano", "nano"),
    ("octo", "medha-set1"),
    ("medha", "medha-set1"),
    ("medha", "medha-set2"),
    ("medha21-set1", "medha21-set1"),
    ("medha21-set2", "medha21-set2"),
    ("medha21-set3", "medha21-set3"),
    ("rpm", "heaws"),
    ("heaws", "heaws"),
)
"""Named design, and a named parameter set that it runs."""

SEARCHED = re.compile(r"program medha (medha-set2|.*whole keys)")
"""Rows whose programs come from a long search for a schedule."""


def found(wanted: Callable[[str], object] = bool) -> dict[str, str]:
    """Returns the wanted digests by what they are of: graphs and compiled programs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sets below 128 bits; nothing is encrypted here
        return {row: digest() for row, digest in sorted(_rows()) if wanted(row)}


def differences(kept: dict[str, str], now: dict[str, str]) -> list[str]:
    """Returns what is gone, new or changed, a line each."""
    lines = [f"{name}: gone" for name in kept.keys() - now.keys()]
    lines += [f"{name}: new" for name in now.keys() - kept.keys()]
    both = kept.keys() & now.keys()
    lines += [f"{name}: {kept[name]} -> {now[name]}" for name in both if kept[name] != now[name]]
    return sorted(lines)


def _operations(parameters: RlweParameters) -> tuple[str, ...]:
    products = ("multiply_relinearize",) if parameters.scheme == "ckks" else ()
    return (*map(str, operations(parameters.scheme)), *products)


def _rows() -> Iterator[tuple[str, Callable[[], str]]]:
    for name, make in PARAMETER_SETS.items():
        parameters = make()
        for operation in _operations(parameters):
            lowered = partial(lower_operation, operation, parameters, parameters.limbs)
            yield f"graph {name} {operation}", partial(_graph, lowered)
            for design in (design for design, run in RUNS if run == name):
                for keys, seeded in (("", None), (", whole keys", ())):
                    row = f"program {design} {name} {operation}{keys}"
                    yield row, partial(_program, lowered, design, seeded)


def _graph(lowered: Callable[[], SubroutineGraph]) -> str:
    return _digest(to_json(lowered()))


def _program(
    lowered: Callable[[], SubroutineGraph], design: str, seeded: tuple[str, ...] | None
) -> str:
    executable = compile_graph(lowered(), design, seeded).executable
    assert executable is not None
    words = getattr(executable, "to_json", None)  # programs, but not streams, have some
    return " ".join([f"{executable.cycles} cycles", *([_digest(words())] if words else [])])


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    renewed = found()
    for line in differences(json.loads(KEPT.read_text()) if KEPT.exists() else {}, renewed):
        print(line, file=sys.stderr)
    KEPT.write_text(json.dumps(renewed, indent=0) + "\n")
