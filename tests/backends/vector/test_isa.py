"""The instruction-set file of the vector architecture, what is made from it, and its bits."""

from collections.abc import Callable
from dataclasses import replace
from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from tests.backends.vector.test_programs import (
    QUICK_CARD,
    RADIX_4,
    RADIX_16,
    SETS,
    TWO,
    parameters,
    random_graph,
)

from ringsmith.backends.vector.compiler.compile import compile_graph
from ringsmith.backends.vector.compiler.executable import VectorExecutable
from ringsmith.backends.vector.compiler.memory_map import places
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.isa import decoding, encoding, text
from ringsmith.backends.vector.isa.generate import FILES, GENERATED, SOURCE, main
from ringsmith.backends.vector.isa.instruction_set import (
    ENTRY,
    INSTRUCTION,
    ISA,
    LOAD,
    parse_isa,
)
from ringsmith.backends.vector.isa.instructions import (
    SPILLED,
    Automorph,
    Computing,
    Constant,
    Entry,
    Limb,
    Load,
    Operation,
    Point,
    Program,
    Result,
    Same,
    Slot,
    Store,
    Stream,
    Transform,
)
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.graph.subroutines import MAX_PRIMES
from ringsmith.hdl.generated import IsaError

CHECKOUT = Path(__file__).parents[3]
TEXT = (resources.files("ringsmith.backends.vector.isa") / "isa.yaml").read_text(encoding="utf-8")


def test_generated_files_equal_what_isa_yaml_gives() -> None:
    assert GENERATED.stale(CHECKOUT) == []


def test_check_fails_on_a_difference_and_writing_mends_it(tmp_path: Path) -> None:
    source = tmp_path / SOURCE
    source.parent.mkdir(parents=True)
    source.write_text(TEXT, encoding="utf-8")
    assert main(["--check", "--root", str(tmp_path)]) == 1
    assert main(["--root", str(tmp_path)]) == 0
    assert main(["--check", "--root", str(tmp_path)]) == 0
    first = tmp_path / next(iter(FILES))
    first.write_text(first.read_text(encoding="utf-8") + " ", encoding="utf-8")
    assert main(["--check", "--root", str(tmp_path)]) == 1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("width: row_width,", "width: rows,", "there is no number 'rows'"),
        ("enum: arrange,", "enum: arranged,", "there is no enum 'arranged' before it"),
        (
            "- {name: inverse, width: 1,",
            "- {name: point, width: 1,",
            "'operation.point' is defined",
        ),
        ("- {name: subtract, width: 1,", "- {name: subtract,", "takes one of width, index_of"),
        ("- name: store\n", "- name: load\n", "'load' is defined twice"),
        ("width: 2\n    doc: Where", "width: 1\n    doc: Where", "4 values do not fit its 1 bits"),
        ("doc: Zero.}", "about: Zero.}", "unknown keys"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(IsaError, match=message):
        parse_isa(TEXT.replace(old, new, 1))


# ---- bits ----------------------------------------------------------------------------------------


def test_the_lists_take_whole_words() -> None:
    assert [(each.name, each.width, ISA.words(each)) for each in ISA.listed] == [
        ("instruction", 1031, 17),
        ("load", 128, 2),
        ("store", 64, 1),
    ]


def test_a_load_and_a_store_bit_by_bit() -> None:
    limb = Limb("table", "", (3, 1))
    load = Load(limb, 342, None, 684, after_store=(5, 7), after_computing=12)
    assert encoding.load(load, 0x1234) == (
        1 << 125 | 342 << 107 | 684 << 91 | 0x1234 << 59 | 5 << 56 | 7 << 28 | 12
    )
    assert encoding.store(Store(limb, 64, 1), 0x1234) == 1 << 48 | 64 << 32 | 0x1234
    words = ISA.split(LOAD, encoding.load(load, 0x1234))
    assert len(words) == 2
    assert ISA.join(words) == encoding.load(load, 0x1234)


def test_an_instruction_bit_by_bit() -> None:
    entry = Entry(3, 342, Stream(2), Slot(1, 5), True)
    own = Computing(Transform(True, (entry, replace(entry, source=Slot(2, 9)))), 17, 4, -1)
    number = encoding.instruction(own, [])
    assert number >> 999 == 17
    assert number >> 967 & 0xFFFFFFFF == 4
    assert number >> 955 & 0xFFF == 1 << 8  # a limb from stream 2
    assert number >> 950 & 0x1F == 0b01_001
    first = 3 << 56 | 342 << 40 | 1 << 38 | 2 << 35 | 1 << 16 | 5
    second = 3 << 56 | 342 << 40 | 2 << 35 | 9 << 19 | 1 << 16 | 5
    assert number >> 438 & (1 << 128) - 1 == second << 64 | first


def as_decoded(own: Computing) -> Computing:
    """An instruction as its bits have it: without what the compiler alone knows."""
    operation: Operation = own.operation
    if isinstance(operation, Transform):
        entries = (replace(each, reduce=not operation.inverse) for each in operation.entries)
        operation = replace(operation, entries=tuple(entries))
    if isinstance(operation, Point):
        results = (replace(r, z=None if r.z == Constant(0) else r.z) for r in operation.results)
        operation = replace(operation, results=tuple(results))
    return replace(own, operation=operation, origin=-1)


def check_bits(executable: VectorExecutable) -> None:
    """All instructions of a program, to bits and back."""
    found, _ = places(executable.programs, executable.design)
    at = {limb: place.address for limb, place in found.items()}
    limbs = {address: limb for limb, address in at.items()}
    # Limbs that gave way to memory follow each other in a place, whose name is the last one's.
    named = {limb: limbs[address] for limb, address in at.items()}
    assert all(limb == name or limb.kind == SPILLED for limb, name in named.items())
    factors = [executable.design.factor(q) for q in executable.graph.primes]
    for program in executable.programs:
        for load in program.loads:
            number = encoding.load(load, at[load.limb])
            assert decoding.load(number, limbs) == replace(load, limb=named[load.limb])
        for store in program.stores:
            number = encoding.store(store, at[store.limb])
            assert decoding.store(number, limbs) == replace(store, limb=named[store.limb])
        for own in program.computing:
            number = encoding.instruction(own, factors)
            words = ISA.split(INSTRUCTION, number)
            assert all(0 <= word < 1 << 64 for word in words)
            assert decoding.instruction(ISA.join(words)) == as_decoded(own)


@pytest.mark.parametrize("design", [RADIX_4, TWO], ids=lambda design: design.name)
def test_programs_come_back_from_their_bits(design: VectorDesign) -> None:
    random = np.random.default_rng(5)
    graph = random_graph(parameters(design, SETS[1]), random)
    check_bits(compile_graph(graph, design))


ADDRESS = {7: Limb("input", "a", (3,))}


@pytest.mark.parametrize(
    ("bits", "message"),
    [
        (lambda: decoding.instruction(1 << 1031), "it has 1032 bits, and structure instruction"),
        (lambda: decoding.load(1 << 127, ADDRESS), "load.reserved = 2 is not 0"),
        (lambda: decoding.store(8, ADDRESS), "nothing begins at row 8 of memory"),
        (lambda: decoding.instruction(1 << 954 | 2 << 419), "x cannot be Constant"),
        (lambda: decoding.instruction(1 << 954 | 5 << 421), "an automorphism cannot be"),
        (lambda: decoding.instruction(2 << 476), "the source of a transform cannot be Constant"),
        (lambda: decoding.instruction(1 << 954 | 1 << 421 | 1 | 1 << 104), "z cannot be Stream"),
    ],
)
def test_bits_of_no_instruction_are_refused(bits: Callable[[], object], message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        bits()


# ---- limits --------------------------------------------------------------------------------------


def test_a_value_that_does_not_fit_its_field_is_refused() -> None:
    load = Load(Limb("input", "a", (0,)), 1 << 16, 1)
    with pytest.raises(ProgramError, match=r"load.rows = 65536 is outside 0 … 65535, what its 16"):
        encoding.load(load, 0)
    with pytest.raises(ProgramError, match=r"load.address = 4294967296 is outside"):
        encoding.load(replace(load, rows=4), 1 << 32)
    nine = Transform(False, 9 * (Entry(0, 0, Slot(0, 0), Slot(0, 0), False),))
    with pytest.raises(ProgramError, match=r"operation.last = 8 is outside 0 … 7"):
        encoding.instruction(Computing(nine, 0, 0, -1), [])


def test_instructions_tell_all_primes_of_a_graph_apart() -> None:
    assert 1 << ENTRY.field("prime").width >= MAX_PRIMES


def test_lists_and_gaps_that_are_too_long_are_refused() -> None:
    own = Computing(Point(Slot(0, 0), ()), 1 << 32, 0, -1)
    with pytest.raises(ProgramError, match=r"cluster 1 has gap = 4294967296, and can have"):
        encoding.check_programs([Program((), (), ()), Program((), (own,), ())])

    class Long(tuple[Store, ...]):
        def __len__(self) -> int:
            return 1 << 28

    with pytest.raises(ProgramError, match="list stores of cluster 0 has 268435456 instructions"):
        encoding.check_programs([Program((), (), Long())])


@pytest.mark.parametrize(
    ("name", "most"),
    [("banks", ISA.value("max_banks")), ("clusters", ISA.value("max_clusters")),
     ("bank_rows", 1 << 16), ("table_rows", 1 << 16)],
)  # fmt: skip
def test_a_design_has_no_more_than_instructions_can_name(name: str, most: int) -> None:
    of = replace(RADIX_16, platform=QUICK_CARD)  # it has a port for the list of each cluster
    assert getattr(replace(of, **{name: most}), name) == most  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=f"{name} = {most + 1} is outside"):
        replace(of, **{name: most + 1})  # type: ignore[arg-type]


# ---- text ----------------------------------------------------------------------------------------


def test_instructions_as_text_are_those_of_the_page() -> None:
    two = Transform(
        False,
        (Entry(0, 342, Slot(0, 1), Slot(1, 3), False), Entry(1, 684, Stream(2), Slot(0, 2), False)),
    )
    point = Point(
        Slot(2, 1),
        (
            Result(3, Stream(0), Slot(1, 2), False, Slot(0, 4)),
            Result(3, Slot(3, 0), None, False, None, True),
        ),
    )
    lines = [
        text.load_text(Load(Limb("table", "", (3, 1)), 342, None, 684, None, 12)),
        text.load_text(Load(Limb("key", "relin", (0, 1, 2)), 64, 0)),
        text.computing_text(Computing(two, 130, 2, 0)),
        text.computing_text(Computing(point, 64, 2, 0)),
        text.computing_text(Computing(Automorph(5, 3, Slot(1, 0), Slot(2, 2)), 200, 2, 0)),
        text.store_text(Store(Limb("output", "c0", (3,)), 64, 1)),
    ]
    assert "\n".join(lines) in (CHECKOUT / "docs/reference/isa-vector.md").read_text()


def test_every_source_has_its_text() -> None:
    result = Result(0, Same(), Constant(255), True, Slot(1, 1), True)
    assert text.operation_text(
        Point(Stream(2), (result, replace(result, y=Stream(1), z=Same())))
    ) == ("point q0 b1:1, memory <- x*x/f - 0xff; q0 b1:1, memory <- x*y1/f - x")
    load = Load(Limb("spill", "", (9,), scaled=True), 64, 1, 0, (0, 3))
    assert text.load_text(load) == (
        "load y1 <- spill(9) scaled, 64 rows, after store 3 of cluster 0"
    )
