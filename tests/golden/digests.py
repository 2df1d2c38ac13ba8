"""Digests of what a change of structure must leave alone, and the command that renews them.

``python tests/golden/digests.py`` writes ``digests.json`` anew; see README.md in this folder.
"""

import hashlib
import json
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

from ringsmith.graph import to_json
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

_TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/|\w+|\s+|.', re.DOTALL)
"""A SystemVerilog string, comment, word, white space or single character."""


def found() -> dict[str, str]:
    """Returns every digest by what it is of: graphs, compiled programs, RTL."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sets below 128 bits; nothing is encrypted here
        return dict(sorted([*_graphs(), *_programs(), *_rtl()]))


def differences(kept: dict[str, str], now: dict[str, str]) -> list[str]:
    """Returns what is gone, new or changed, a line each."""
    lines = [f"{name}: gone" for name in kept.keys() - now.keys()]
    lines += [f"{name}: new" for name in now.keys() - kept.keys()]
    both = kept.keys() & now.keys()
    lines += [f"{name}: {kept[name]} -> {now[name]}" for name in both if kept[name] != now[name]]
    return sorted(lines)


def tokens(source: str) -> list[str]:
    """Returns the tokens of SystemVerilog text, without comments and white space."""
    parts = _TOKEN.findall(source)
    return [part for part in parts if not part.isspace() and not part.startswith(("//", "/*"))]


def _operations(parameters: RlweParameters) -> tuple[str, ...]:
    products = ("multiply_relinearize",) if parameters.scheme == "ckks" else ()
    return (*map(str, operations(parameters.scheme)), *products)


def _graphs() -> Iterator[tuple[str, str]]:
    for name, make in PARAMETER_SETS.items():
        parameters = make()
        for operation in _operations(parameters):
            graph = lower_operation(operation, parameters, parameters.limbs)
            yield f"graph {name} {operation}", _digest(to_json(graph))


def _programs() -> Iterator[tuple[str, str]]:
    for design, name in RUNS:
        parameters = PARAMETER_SETS[name]()
        for operation in _operations(parameters):
            graph = lower_operation(operation, parameters, parameters.limbs)
            for keys, seeded in (("", None), (", whole keys", ())):
                what = f"program {design} {name} {operation}{keys}"
                compiled = compile_graph(graph, design, seeded)
                executable = compiled.executable
                assert executable is not None
                words = getattr(executable, "to_json", None)  # programs, but not streams, have some
                yield (
                    what,
                    " ".join(
                        [f"{executable.cycles} cycles", *([_digest(words())] if words else [])]
                    ),
                )


def _rtl() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "rtl").rglob("*.sv")):
        text = "\n".join(tokens(path.read_text()))
        yield f"rtl {path.relative_to(ROOT / 'rtl').as_posix()}", _digest(text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


if __name__ == "__main__":
    renewed = found()
    for line in differences(json.loads(KEPT.read_text()) if KEPT.exists() else {}, renewed):
        print(line, file=sys.stderr)
    KEPT.write_text(json.dumps(renewed, indent=0) + "\n")
