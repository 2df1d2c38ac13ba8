"""What is added to isa.yaml runs on the RTL as it is: a unit, a feature, pointwise instructions."""

from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from ringsmith import _core
from ringsmith.backends.rpau.design.constants import modulus_words
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.device.interface import AddressSpace
from ringsmith.backends.rpau.isa.generate import render_systemverilog
from ringsmith.backends.rpau.isa.instruction_set import Isa, parse_isa
from ringsmith.hdl.block import Block, Words
from ringsmith.hdl.sources import rtl_root, rtl_sources
from ringsmith.hdl.verilate import build_block

BENCHES = Path(__file__).parent / "blocks"
TEXT = (resources.files("ringsmith.backends.rpau.isa") / "isa.yaml").read_text(encoding="utf-8")

POINTWISE = """  - name: msub
    opcode: 58
    unit: main
    operands:
      - {name: dst, access: rw}
      - {name: a, access: r}
      - {name: b, access: r}
    latency: pointwise_cycles
    computes: {times: b, minus: dst}
    doc: dst = a*b - dst.
  - name: dmsub
    opcode: 59
    unit: dyadic
    operands: [{name: dst, access: rw}, {name: a, access: r}, {name: b, access: r}]
    latency: dyadic_cycles
    computes: {times: b, minus: dst}
    doc: dst = a*b - dst on the dyadic cores.
"""

ANOTHER = """  - name: another
    opcode: 60
    unit: base
    needs: base_cores
    operands: [{name: dst, access: w}, {name: a, access: r}]
    latency: pointwise_cycles
    doc: An instruction of a new unit, which needs a new feature.
"""


def with_pointwise() -> Isa:
    """The instruction set with two pointwise instructions more."""
    return parse_isa(TEXT.rstrip("\n") + "\n" + POINTWISE)


def with_unit() -> Isa:
    """The instruction set with one unit and one feature more."""
    text = TEXT.replace("{lsb: 9,  width: 3, ", "{lsb: 9,  width: 2, ", 1)
    wait = "  wait_base:    {lsb: 11, width: 1, doc: Wait for the new unit.}\n"
    text = text.replace("  prime:        {", f"{wait}  prime:        {{", 1)
    text = text.replace("\ninstructions:\n", "  base: A new one.\n\ninstructions:\n", 1)
    return parse_isa(text.rstrip("\n") + "\n" + ANOTHER)


def encoded(isa: Isa, name: str, mask: int = 1, waits: tuple[str, ...] = (), **values: int) -> int:
    """The word of an instruction."""
    numbers = {"opcode": isa.operation(name).opcode, "mask": mask, **values}
    numbers |= {f"wait_{unit}": 1 for unit in waits}
    return sum(value << isa.fields[each].lsb for each, value in numbers.items())


def built(top: str, isa: Isa, folder: Path, **parameters: int) -> Block:
    """A bench with the generated package of an instruction set in place of ours."""
    package = folder / "rs_rpau_isa_pkg.sv"
    package.write_text(render_systemverilog(isa))
    ours = rtl_root() / "rpau" / package.name
    sources = rtl_sources("mem", "arith", "ntt", "prng", "baseconv", "rpau")
    sources = [package if each == ours else each for each in sources]
    assert package in sources
    return Block(build_block(top, [*sources, BENCHES / f"{top}.sv"], parameters))


# ---- the controller ------------------------------------------------------------------------------


@dataclass
class Issues:
    """Issue cycles by the issue rule of docs/reference/rpau.md, written out once more."""

    units: list[str]
    free: dict[tuple[str, int], int] = field(default_factory=dict)
    ready: int = 4

    def issue(self, unit: str, mask: int, waits: tuple[str, ...], cycles: int) -> int:
        """The cycle in which an instruction issues that is done ``cycles`` after its start."""
        rpaus = [i for i in range(2) if mask >> i & 1]
        needed = (
            self.free.values()
            if unit == "halt"
            else [self.free.get((each, i), 0) for each in (unit, *waits) for i in rpaus]
        )
        now = max([self.ready, *needed])
        self.ready = now + 4
        # The start a cycle later, the count from the next on, and a cycle to see that it is done.
        self.free |= {(unit, i): now + cycles + 2 for i in rpaus}
        return now


PROGRAM = [
    ("ntt", 0b11, (), 40),
    ("another", 0b01, (), 60),
    ("dmul", 0b10, ("base",), 5),  # the new unit of its RPAU is idle
    ("dmul", 0b01, ("base",), 3),  # waits for another
    ("another", 0b11, ("main", "dyadic"), 9),
    ("another", 0b10, (), 4),
    ("mul", 0b11, ("base",), 1),
]


def run(block: Block, words: list[int]) -> dict[str, Words]:
    """Loads a program, runs it and records what happens."""
    block.poke("rst_ni", 0)
    block.step(4)
    block.poke("rst_ni", 1)
    for address, word in enumerate(words):
        block.poke("program_addr_i", address)
        block.poke("program_data_i", word)
        block.poke("program_we_i", 1)
        block.step()
    block.poke("program_we_i", 0)
    return block.run({"start_i": [1, 0]}, cycles=400)


def test_a_new_unit_needs_no_edit_of_the_controller(tmp_path: Path) -> None:
    isa = with_unit()
    assert isa.execution_units == ("main", "dyadic", "link", "coefficient", "base")
    assert isa.features[-1] == "base_cores"
    words = [encoded(isa, name, mask, waits, dst=cycles) for name, mask, waits, cycles in PROGRAM]
    rule = Issues(list(isa.execution_units))
    expected = []
    for name, mask, waits, cycles in PROGRAM:
        unit = isa.operation(name).unit
        bits = sum(1 << 5 * i + isa.execution_units.index(unit) for i in range(2) if mask >> i & 1)
        expected.append((rule.issue(unit, mask, waits, cycles) + 1, bits))
    end = rule.issue("halt", 0b11, (), 0)
    with built("rs_controller_bench", isa, tmp_path, Has=0b11111, Knows=0b1111) as block:
        seen = run(block, [*words, encoded(isa, "halt")])
    starts = [(int(t), int(seen["start_o"][t])) for t in np.flatnonzero(seen["start_o"])]
    assert starts == expected
    assert [int(seen["word_o"][t]) for t, _ in starts] == words
    # Both counters are complete in the first cycle in which the program is over.
    over = end + 1
    assert seen["busy_o"][end] == 1
    assert seen["busy_o"][over] == 0
    for cycle in (over, -1):
        assert seen["cycles_o"][cycle] == end
        assert seen["instructions_o"][cycle] == len(PROGRAM) + 1
    assert not seen["error_o"].any()


@pytest.mark.parametrize(("has", "knows"), [(0b01111, 0b1111), (0b11111, 0b0111)])
def test_an_instruction_of_a_unit_or_feature_that_is_missing_ends_the_program(
    has: int, knows: int, tmp_path: Path
) -> None:
    isa = with_unit()
    words = [encoded(isa, name, dst=5) for name in ("mul", "another", "mul", "halt")]
    with built("rs_controller_bench", isa, tmp_path, Has=has, Knows=knows) as block:
        seen = run(block, words)
    assert np.count_nonzero(seen["start_o"]) == 1
    assert (seen["busy_o"][-1], seen["error_o"][-1]) == (0, 1)
    assert seen["instructions_o"][-1] == 2


# ---- pointwise instructions ----------------------------------------------------------------------

DESIGN = RpauDesign(
    name="new-instructions",
    log_n=8,
    word_bits=30,
    rpaus=2,
    cores=2,
    dyadic_cores=2,
    work_polys=4,
    key_polys=1,
    constants=4,
    program_words=16,
    reduction="barrett",
    twiddles="stored",
)


def write(block: Block, space: AddressSpace, index: int, rows: Words) -> None:
    """Writes rows of words, or words that are each the first one of a row."""
    lanes = np.zeros((len(rows), DESIGN.lanes), np.uint64)
    lanes[:, : rows.shape[1] if rows.ndim == 2 else 1] = rows.reshape(len(rows), -1)
    count = len(rows)
    block.run(
        {
            "host_we_i": [1] * count + [0],
            "host_space_i": [space.value] * (count + 1),
            "host_index_i": [index] * (count + 1),
            "host_row_i": [*range(count), 0],
            "host_wdata_i": np.vstack([lanes, lanes[:1]]),
        }
    )


def read(block: Block, index: int) -> Words:
    """Reads a work polynomial."""
    rows = DESIGN.rows
    block.poke("host_space_i", AddressSpace.POLY.value)
    block.poke("host_index_i", index)
    strobes = {"host_re_i": [1] * rows + [0], "host_row_i": [*range(rows), 0]}
    seen = block.run(strobes, ["host_rvalid_o", "host_rdata_o"], cycles=rows + 20)
    return seen["host_rdata_o"][seen["host_rvalid_o"] == 1].reshape(-1)


@pytest.mark.parametrize("name", ["msub", "dmsub"])
def test_a_new_pointwise_instruction_needs_no_edit_of_the_rtl(
    name: str, tmp_path: Path, rng: np.random.Generator
) -> None:
    isa = with_pointwise()
    prime = _core.prime_search(30, DESIGN.n, 1)[0]
    a, b, c = (rng.integers(0, prime, DESIGN.n, dtype=np.uint64) for _ in range(3))
    with built("rs_rpau_bench", isa, tmp_path) as block:
        block.poke("rst_ni", 0)
        block.step(130)
        block.poke("rst_ni", 1)
        write(block, AddressSpace.MODULUS, 0, modulus_words(prime, DESIGN))
        for index, words in enumerate((a, b, c)):
            write(block, AddressSpace.POLY, index, words.reshape(DESIGN.rows, DESIGN.lanes))
        block.poke("word_i", encoded(isa, name, dst=2, a=0, b=1))
        unit = isa.execution_units.index(isa.operation(name).unit)
        seen = block.run({"start_i": [1 << unit, 0]}, ["done_o"], cycles=400)
        assert np.count_nonzero(seen["done_o"]) == 1
        result = read(block, 2)
    product = a.astype(object) * b.astype(object)
    np.testing.assert_array_equal(result, (product - c.astype(object)) % prime)
