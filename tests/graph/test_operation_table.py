"""The table of HE operations, ``ringsmith.graph.operations``, and those who read it."""

import re
from pathlib import Path

import numpy as np
import pytest

from ringsmith.graph.operations import Drops, Key, Op, Scale, Slots, operations
from ringsmith.graph.subroutines import SubroutineGraph
from ringsmith.params import RlweParameters, parameter_set
from ringsmith.schemes.registry import SCHEMES, scheme_of

pytestmark = pytest.mark.filterwarnings("ignore::ringsmith.params.SecurityWarning")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "subroutine-graph.md"
SETS = ("nano", "heaws")


def page_row(op: Op) -> str:
    """The line of the page that tells an operation."""
    record = op.record
    takes = "–" if not record.encrypted else " or ".join(map(str, record.takes))
    operands = f"{record.encrypted}" + (" + plain" if record.plain else "")
    makes = "as the largest operand" if record.makes is None else str(record.makes)
    drops = {Drops.NONE: "–", Drops.LAST: "1", Drops.ANY: "as many as asked"}[record.drops]
    key = "–" if record.key is None else record.key.value
    names = ", ".join(sorted(name.upper() for name in record.schemes))
    cells = (operands, takes, makes, drops, record.scale.value, record.noise.value, key, names)
    return f"| `{op}` | {' | '.join(cells)} |"


def test_the_page_tells_every_operation_as_the_table_does() -> None:
    lines = PAGE.read_text().splitlines()
    assert [row for row in map(page_row, Op) if row not in lines] == []
    printed = re.findall(r"^\| `(\w+)` \| [012](?: \+ plain)? \|", PAGE.read_text(), re.M)
    assert printed == [str(op) for op in Op]


@pytest.mark.parametrize("op", Op)
def test_a_record_is_whole(op: Op) -> None:
    record = op.record
    assert record.words
    assert record.schemes <= {scheme.name for scheme in SCHEMES}
    assert record.encrypted in (0, 1, 2)
    if not record.port:
        assert re.fullmatch(r"#[0-9a-f]{6}", record.colour)
    assert (record.scale is Scale.OWN) == (record.encrypted == 0)
    assert Op(str(op)) is op


def test_colours_differ() -> None:
    colours = [op.record.colour for op in Op if not op.record.port]
    assert len(set(colours)) == len(colours)


@pytest.mark.parametrize("name", [scheme.name for scheme in SCHEMES])
def test_every_operation_of_a_scheme_can_be_written(name: str) -> None:
    parameters = next(p for p in map(parameter_set, SETS) if p.scheme == name)
    for op in operations(name):
        result = _written(op, parameters)
        size = op.record.makes or op.record.takes[0]
        assert len(result) == size, op


def _written(op: Op, parameters: RlweParameters) -> tuple[int, ...]:
    record, limbs = op.record, parameters.limbs
    element = parameters.conjugation_element
    keys = dict.fromkeys(("relin", f"galois:{element}"), parameters.key_shape(limbs))
    used = {None: set(), Key.RELINEARIZATION: {"relin"}, Key.GALOIS: {f"galois:{element}"}}
    needed = {key: digits for key, digits in keys.items() if key in used[record.key]}
    graph = SubroutineGraph.for_parameters(parameters, needed, products=True)
    writer = scheme_of(parameters).writer(graph, parameters)
    operands = [writer.input(n, record.takes[0], limbs) for n in "xy"[: record.encrypted]]
    plain = writer.input("p", 1, limbs)[0] if record.plain else None
    return writer.write(op, operands, plain=plain, limbs=limbs - 1, element=element)


def test_meanings_in_the_clear() -> None:
    a, b = np.array([1.0, 2, 3, 4]), np.array([5.0, 6, 7, 8])
    slots = Slots(row=2, steps=1)
    expected = {
        Op.ADD: a + b,
        Op.SUB: a - b,
        Op.MULTIPLY: a * b,
        Op.NEGATE: -a,
        Op.ROTATE: [2, 1, 4, 3],
        Op.SWAP_COLUMNS: [3, 4, 1, 2],
        Op.CONJUGATE: a,
        Op.RELINEARIZE: a,
        Op.RESCALE: a,
        Op.MOD_SWITCH: a,
    }
    for op, values in expected.items():
        assert np.array_equal(op.record.meaning(a, b, slots), values), op
    assert np.array_equal(Op.SQUARE.record.meaning(a, a, slots), a * a)
    assert np.array_equal(Op.CONJUGATE.record.meaning(1j * a, b, slots), -1j * a)
