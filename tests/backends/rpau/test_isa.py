"""The instruction-set file, what is generated from it, and the instruction records."""

from importlib import resources
from pathlib import Path

import pytest

from ringsmith.backends.rpau.design import latency
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.isa.generate import (
    FILES,
    GENERATED,
    main,
    render_cpp,
    render_page,
    render_systemverilog,
)
from ringsmith.backends.rpau.isa.instruction_set import ISA, equivalent_of, instruction, parse_isa
from ringsmith.backends.rpau.isa.kinds import KINDS
from ringsmith.errors import ProgramError
from ringsmith.hdl.isa_file import IsaError

CHECKOUT = Path(__file__).parents[3]
TEXT = (resources.files("ringsmith.backends.rpau.isa") / "isa.yaml").read_text(encoding="utf-8")


def test_generated_files_equal_what_isa_yaml_gives() -> None:
    assert GENERATED.stale(CHECKOUT) == []


def test_check_fails_on_a_difference_and_writing_mends_it(tmp_path: Path) -> None:
    source = tmp_path / "python/ringsmith/backends/rpau/isa/isa.yaml"
    source.parent.mkdir(parents=True)
    source.write_text(TEXT, encoding="utf-8")
    assert main(["--check", "--root", str(tmp_path)]) == 1
    assert main(["--root", str(tmp_path)]) == 0
    assert main(["--check", "--root", str(tmp_path)]) == 0
    first = tmp_path / next(iter(FILES))
    first.write_text(first.read_text(encoding="utf-8") + " ", encoding="utf-8")
    assert main(["--check", "--root", str(tmp_path)]) == 1


def test_every_latency_is_a_function_of_latency() -> None:
    for operation in ISA.operations:
        assert callable(getattr(latency, operation.latency)), operation.name


def test_every_field_holds_what_the_largest_design_needs() -> None:
    largest = RpauDesign("largest", 16, 60, 16, 32, 32, 128, 4096, 128, 65536, "barrett", 8)
    for operation in ISA.operations:
        for operand in operation.operands:
            limit = KINDS[operand.kind].limit(largest)
            assert limit <= 1 << operand.field.width, operand.name
    assert ISA.fields["mask"].width >= largest.rpaus


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("opcode: 9\n", "opcode: 8\n", "opcode 8 is used twice"),
        ("name: intt\n", "name: ntt\n", "name 'ntt' is used twice"),
        ("opcode: 27\n", "opcode: 64\n", "opcode 64 does not fit"),
        ("unit: dyadic\n", "unit: scalar\n", "unknown unit 'scalar'"),
        ("kind: constant,", "kind: word,", "unknown kind 'word'"),
        ("{lsb: 35, width: 7, ", "{lsb: 30, width: 7, ", "fields dst and a overlap"),
        ("{lsb: 56, width: 7, ", "{lsb: 58, width: 7, ", "does not lie inside the 64-bit word"),
        ("{name: element}, ", "{name: exponent}, ", "operand 'exponent' is not a field"),
        ("{name: element}, ", "{name: element, access: r}, ", "has access 'r'"),
        (
            "{name: a, access: r}, {name: sub_poly, default: 0}]\n    latency: ntt",
            "{name: a}, {name: sub_poly, default: 0}]\n    latency: ntt",
            "has access ''",
        ),
        ("where: others", "where: nobody", "unknown where"),
        (
            "{name: a, access: r}, {name: b",
            "{name: a, access: r, where: source}, {name: b",
            "source",
        ),
        ("distinct: [dst, a]", "distinct: [dst, b]", "distinct names 'b'"),
        ("    distinct:", "    distnict:", "unknown keys ['distnict']"),
        ("  wait_main:", "  wait_mian:", "wait_main"),
        ("    latency: zero_cycles\n", "", "missing keys ['latency']"),
        (
            "equivalent: dmul\n",
            "equivalent: dmac\n",
            "mul: its equivalent 'dmac' is no instruction of another unit",
        ),
        (
            "equivalent: dmul\n",
            "equivalent: mac\n",
            "mul: its equivalent 'mac' is no instruction of another unit",
        ),
        ("{times: b, plus: dst}", "{times: b_key, plus: dst}", "computes times 'b_key'"),
        ("{times: b, plus: dst}", "{times: b, plus: k2}", "computes plus or minus 'k2'"),
        ("{times: b, plus: dst}", "{times: b}", "which it reads if it adds to it"),
        ("{times: b, plus: dst}", "{times: b, plus: dst, minus: b}", "plus or minus, and at"),
    ],
)
def test_a_contradicting_isa_file_is_refused(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(IsaError) as caught:
        parse_isa(TEXT.replace(old, new, 1))
    assert message in str(caught.value)


def test_broadcast_reads_in_the_source_and_writes_in_the_others() -> None:
    send = instruction("broadcast", 0b111, dst=4, a=2, src=1, src_prime=0, k1=0, k2=1)
    assert send.rpaus() == (0, 1, 2)
    touched = [{poly for _, poly in send.accesses(rpau)} for rpau in send.rpaus()]
    assert touched == [{4}, {2}, {4}]


@pytest.mark.parametrize(
    ("name", "operands", "waits", "message"),
    [
        ("multiply", {}, [], "there is no instruction 'multiply'"),
        ("mul", {"dst": 1, "a": 2}, [], "mul takes the operands (dst, a, b), not (dst, a)"),
        ("ntt", {"dst": 1, "a": 1}, ["ring"], "cannot wait for ring"),
    ],
)
def test_an_instruction_that_does_not_exist_is_refused(
    name: str, operands: dict[str, int], waits: list[str], message: str
) -> None:
    with pytest.raises(ProgramError) as caught:
        instruction(name, 1, waits=waits, **operands)
    assert message in str(caught.value)


DMSUB = """  - name: dmsub
    opcode: 35
    unit: dyadic
    operands: [{name: dst, access: rw}, {name: a, access: r}, {name: b, access: r}]
    latency: dyadic_cycles
    computes: {times: b, minus: dst}
    doc: dst = a*b - dst on the dyadic cores.
"""


def test_a_new_dyadic_instruction_is_one_record() -> None:
    """And its datapath: the model computes by the table that is made of the record."""
    isa = parse_isa(TEXT.rstrip("\n") + "\n" + DMSUB)
    row = 'Opcode::kDmsub, "dmsub", Unit::kDyadic, {true, Term::kB, Term::kDst, true, false}, 3,'
    assert row in render_cpp(isa)
    assert "OpDmsub" in render_systemverilog(isa)
    assert "`dmsub`" in render_page(isa)


def test_equivalents_compute_the_same_on_the_other_unit() -> None:
    design = load_design("nano")
    named = {operation.name: equivalent_of(operation, design) for operation in ISA.operations}
    equivalents = {
        name: equivalent.name for name, equivalent in named.items() if equivalent is not None
    }
    assert equivalents["mac"] == "dmac"
    assert equivalents["dmac"] == "mac"
    assert equivalents["reduce"] == "daffine"
    assert equivalents["affine"] == "daffine"
    assert equivalents["daffine"] == "reduce"
    assert {"ntt", "broadcast", "send", "dmul_seed"} & equivalents.keys() == set()
    assert len(equivalents) == 19
