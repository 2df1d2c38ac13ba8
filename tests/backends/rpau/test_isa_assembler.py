"""Words and assembly text: round trips of everything legal, clear errors for the rest."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.isa.assembler import (
    assemble,
    check,
    check_program,
    decode,
    disassemble,
    encode,
    format_instruction,
    parse_instruction,
)
from ringsmith.backends.rpau.isa.instruction_set import CONTROL, ISA, Instruction, instruction
from ringsmith.backends.rpau.isa.kinds import KINDS, RPAU
from ringsmith.errors import ProgramError

NANO = replace(load_design("nano"), prng="trivium", seeds=5)


@st.composite
def legal_instructions(draw: st.DrawFn, design: RpauDesign = NANO) -> Instruction:
    """Any instruction that nano accepts."""
    operation = draw(st.sampled_from(ISA.available(design)))
    lowest = 0 if operation.unit == CONTROL else 1
    mask = draw(st.integers(lowest, (1 << design.rpaus) - 1))
    rpaus = [i for i in range(design.rpaus) if mask >> i & 1]
    values: dict[str, int] = {}
    for operand in operation.operands:
        kind = KINDS[operand.kind]
        legal = st.integers(0, kind.limit(design) - 1)
        if operand.kind == RPAU:
            legal = st.sampled_from(rpaus)
        if kind.odd:
            legal = legal.map(lambda value: value | 1)
        if operand.name in operation.distinct:
            taken = [values[name] for name in operation.distinct if name in values]
            legal = legal.filter(lambda value, taken=taken: value not in taken)
        values[operand.name] = draw(legal)
    waits = draw(st.sets(st.sampled_from(ISA.execution_units)))
    return instruction(operation.name, mask, waits=waits, **values)


@given(legal_instructions())
def test_a_legal_instruction_survives_word_and_text(each: Instruction) -> None:
    check(each, NANO)
    assert decode(encode(each)) == each
    assert parse_instruction(format_instruction(each), NANO) == each


@given(st.integers(0, (1 << 64) - 1))
def test_any_word_decodes_to_what_encodes_to_it_or_is_refused(word: int) -> None:
    try:
        decoded = decode(word)
    except ProgramError:
        return
    assert encode(decoded) == word


def test_a_word_carries_its_fields_where_isa_yaml_puts_them() -> None:
    word = encode(instruction("scale_sub", 0b1001, dst=3, a=1, b=2, k1=7, waits=["dyadic"]))
    assert word == 14 | 1 << 7 | 0b1001 << 12 | 3 << 28 | 1 << 35 | 2 << 42 | 7 << 49


def test_text_and_words_of_a_program_are_each_others_inverse() -> None:
    text = """\
ntt p1, p1  @0-4
affine p2, p3, c0, c63  @0,2-3 wait(main, dyadic)
dmac_key p4, p5, key47  @4
broadcast p6, p7, r2, q0, c1, c2  @0-4 wait(dyadic)
automorph p8, p9, g16383  @1
halt
"""
    words = assemble(text, NANO)
    assert disassemble(words) == text
    assert [each.operation.name for each in check_program(words, NANO)][-1] == "halt"


def test_comments_blank_lines_and_all_are_understood() -> None:
    words = assemble("# nothing\n\n  add p1,p2 , p3 @all # sum\n", NANO)
    assert disassemble(words) == "add p1, p2, p3  @0-4\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("multiply p1, p2, p3 @0", "there is no instruction 'multiply'"),
        ("mul p1, p2 @0", "mul takes (p<dst>, p<a>, p<b>), not (p1, p2)"),
        ("mul p1, p2, c3 @0", "b is a poly: write p<number>, not 'c3'"),
        ("mul p1, p2, p16 @0", "b = 16 is not in 0 … 15"),
        ("dmul_key p1, p2, key48 @0", "b_key = 48 is not in 0 … 47"),
        ("affine p1, p2, c64, c0 @0", "k1 = 64 is not in 0 … 63"),
        ("automorph p1, p2, g16385 @0", "element = 16385 is not in 0 … 16383"),
        ("automorph p1, p2, g2 @0", "element = 2 is even"),
        ("automorph p1, p1, g3 @0", "dst and a are one polynomial, p1"),
        ("ntt p1, p1", "the mask is empty"),
        ("ntt p1, p1 @5", "design nano does not have: it has 0 … 4"),
        ("ntt p1, p1 @3-1", "cannot read the RPAUs '@3-1'"),
        ("ntt p1, p1 @0,", "cannot read the RPAUs '@0,'"),
        ("broadcast p1, p2, r3, q0, c0, c1 @0-2", "RPAU 3 sends but is not in the mask"),
        ("broadcast p1, p2, r5, q0, c0, c1 @0-2", "src = 5 is not in 0 … 4"),
        ("ntt p1, p1 @0 q1", "modulus bank 1 does not exist: design nano has 0 … 0"),
        ("halt @0 q1", "modulus bank 1 does not exist"),
        ("send p1, p2, r0 @0-1", "send: design nano has no link unit (link = false)"),
        ("ntt p1, p1 @0 wait(ring)", "cannot wait for ring: units are main, dyadic, link"),
        ("ntt p1, p1 @0 sometimes", "cannot read 'ntt p1, p1 @0 sometimes'"),
    ],
)
def test_a_wrong_line_is_refused_with_its_number(line: str, message: str) -> None:
    with pytest.raises(ProgramError) as caught:
        assemble(f"nop\n\n{line}\n", NANO)
    assert str(caught.value).startswith("line 3: ")
    assert message in str(caught.value)


def test_polynomials_that_share_a_read_port_are_not_read_together() -> None:
    design = replace(NANO, work_uram_polys=6)  # p0 … p3 and p4, p5
    for line in ("mac p4, p0, p8 @0", "mul p0, p1, p4 @0", "mul p0, p1, p1 @0", "ntt p0, p1 @0"):
        assemble(line, design)
    for line, clash in (("mul p8, p0, p3 @0", "p0 and p3"), ("mac p4, p8, p5 @0", "p4 and p5")):
        with pytest.raises(ProgramError, match=f"{clash} are read together, and .* one bank of"):
            assemble(line, design)


@pytest.mark.parametrize(
    ("word", "message"),
    [
        (62, "there is no opcode 62"),
        (
            encode(instruction("add", 1, dst=1, a=1, b=1)) | 1 << 62,
            "bits 0x4000000000000000 belong to none",
        ),
        (1 << 64, "is no instruction"),
        (-1, "is no instruction"),
    ],
)
def test_a_word_that_is_no_instruction_is_refused(word: int, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        decode(word)
    with pytest.raises(ProgramError, match=f"instruction 1: .*{message}"):
        disassemble([0, word])


def test_a_value_wider_than_its_field_is_refused() -> None:
    with pytest.raises(ProgramError, match="dst = 128 does not fit the field's 7 bits"):
        encode(instruction("ntt", 1, dst=128, a=1))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nop", "halt at \\[\\]: end it with one halt"),
        ("halt\nnop", "halt at \\[0\\]: end it with one halt"),
        ("halt\nhalt", "halt at \\[0, 1\\]: end it with one halt"),
        ("nop\n" * 1024 + "halt", "has 1025 instructions and the program store of design nano"),
    ],
)
def test_a_program_without_its_one_halt_or_too_long_is_refused(text: str, message: str) -> None:
    with pytest.raises(ProgramError, match=message):
        check_program(assemble(text, NANO), NANO)


def test_what_does_not_compute_names_no_modulus_bank(small_design: RpauDesign) -> None:
    design = replace(small_design, modulus_banks=2)
    assemble("daffine p1, p2, c0, c1 @0 q1\nsend p1, p2, r0 @0-2", design)
    with pytest.raises(
        ProgramError, match=r"modulus bank 1 does not exist.* of the link unit name"
    ):
        assemble("send p1, p2, r0 @0-2 q1", design)


def test_a_program_for_a_larger_design_is_refused_with_the_index(small_design: RpauDesign) -> None:
    words = assemble("nop\nntt p9, p9 @0\nhalt", NANO)
    with pytest.raises(ProgramError, match="instruction 1: ntt: dst = 9 is not in 0 … 7"):
        check_program(words, small_design)
