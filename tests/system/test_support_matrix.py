"""The README's table of schemes, operations and devices says what the compilers do."""

import re
import warnings
from collections.abc import Mapping
from pathlib import Path

import pytest

from ringsmith.backends.base import Design
from ringsmith.backends.registry import named_design
from ringsmith.backends.stream.compiler.executable import StreamExecutable
from ringsmith.errors import RingsmithError
from ringsmith.lower import lower_operation
from ringsmith.params import BfvParameters, CkksParameters, RlweParameters, SecurityWarning
from ringsmith.runtime import compile_graph

README = Path(__file__).resolve().parents[2] / "README.md"
COLUMNS: Mapping[str, str] = {
    "`rpau`": "nano",
    "`rpau` with converters": "heaws-seal",
    "`stream`": "rpm",
    "`vector`": "vector-small",
}
BITS = {"nano": 40, "heaws-seal": 40, "rpm": 30, "vector-small": 30}
"""Of the primes of a set for each design."""


def table() -> list[tuple[str, str, list[str]]]:
    """Scheme, operations, and cells of each row."""
    part = README.read_text().partition("## What runs where")[2].partition("\n\n")[2]
    rows = re.findall(r"^\| (CKKS|BFV) \| (.+?) \| (.+) \|$", part, re.MULTILINE)
    return [(scheme, text, cells.split(" | ")) for scheme, text, cells in rows]


def parameters(scheme: str, design: Design, *, several: bool) -> RlweParameters:
    """A set that a design can hold; ``several``: with two primes a digit."""
    bits, n = BITS[design.name], 1 << design.log_n
    special = (bits, bits) if several else (bits,)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SecurityWarning)
        if scheme == "CKKS":
            return CkksParameters.create(
                n=n,
                prime_bits=(bits,) * 4,
                special_bits=special,
                scale_bits=bits - 4,
                security=None,
            )
        return BfvParameters.create(
            n=n,
            prime_bits=(bits,) * 4,
            special_bits=special,
            plain_bits=17,
            security=None,
            multiplication="hps",
        )


def answer(scheme: str, operation: str, design: Design, *, several: bool) -> str:
    """What a design does with an operation: yes, no, products, or CPU."""
    of = parameters(scheme, design, several=several)
    graph = lower_operation(operation, of, of.limbs)
    try:
        executable = compile_graph(graph, design).executable
    except RingsmithError:
        return "no"
    if isinstance(executable, StreamExecutable):
        return "products" if executable.products else "CPU"
    return "yes"


@pytest.mark.parametrize("column", COLUMNS)
def test_the_table_says_what_a_design_computes(column: str) -> None:
    heads = re.search(r"^\| scheme \| operation \| (.+) \|$", README.read_text(), re.MULTILINE)
    assert heads is not None
    place = heads[1].split(" | ").index(column)
    design = named_design(COLUMNS[column])
    wrong = []
    for scheme, text, cells in table():
        for operation in re.findall(r"`(\w+)`", text):
            found = answer(scheme, operation, design, several="several primes" in text)
            if found != cells[place]:
                wrong.append((scheme, operation, found))
    assert wrong == []


def test_the_cpu_computes_all() -> None:
    assert {cells[0] for _, _, cells in table()} == {"yes"}
    assert len(table()) >= 8
