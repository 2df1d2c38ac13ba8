"""The instruction-set file, what is generated from it, and the instruction records."""

import re
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ringsmith import _core
from ringsmith.backends.rpau.design import latency
from ringsmith.backends.rpau.design.constants import (
    modulus_words,
    prime_tables,
    stored_twiddles,
    twiddle_tables,
)
from ringsmith.backends.rpau.design.design import RpauDesign, load_design
from ringsmith.backends.rpau.design.limits import parameter_limits
from ringsmith.backends.rpau.design.sparse import FAMILIES
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
from ringsmith.backends.rpau.isa.generate import (
    FILES,
    GENERATED,
    main,
    render_cpp,
    render_page,
    render_systemverilog,
)
from ringsmith.backends.rpau.isa.instruction_set import (
    CONTROL,
    ISA,
    Instruction,
    equivalent_of,
    instruction,
    parse_isa,
)
from ringsmith.backends.rpau.isa.kinds import KINDS, RPAU
from ringsmith.errors import ParameterError, ProgramError
from ringsmith.hdl.generated import IsaError
from ringsmith.hdl.sources import rtl_root

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


# ---- Words and assembly text: round trips of everything legal, clear errors for the rest ---------


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


# ---- Modulus words and twiddle tables, against their definitions in plain Python -----------------


DEFAULT = load_design("nano")


@pytest.mark.parametrize("bits", [30, 41, 48])
def test_modulus_words_make_the_barrett_quotient_right_to_three(bits: int) -> None:
    (prime,) = _core.prime_search(bits, DEFAULT.n, 1)
    q, mu, k, index = (int(word) for word in modulus_words(prime, DEFAULT))
    width = DEFAULT.word_bits
    assert (q, k, index) == (prime, bits, 0)
    assert 0 <= mu < 1 << width
    assert (mu + (1 << width)) * q <= 1 << (width + bits) < (mu + 1 + (1 << width)) * q
    for product in (0, q - 1, (q - 1) ** 2, ((1 << width) - 1) * (q - 1)):
        t = product >> k
        assert 0 <= product - (t + (t * mu >> width)) * q < 4 * q


@pytest.mark.parametrize("log_n", [8, 9, 13])
def test_the_product_of_a_high_and_a_low_entry_is_the_power_of_the_root(log_n: int) -> None:
    design = RpauDesign("odd", log_n, 48, 2, 1, 1, 4, 1, 4, 16, "barrett")
    (prime,) = _core.prime_search(40, design.n, 1)
    root = _core.smallest_root(prime, design.n)
    low, high = twiddle_tables(prime, root, design)
    assert len(low) * len(high) == design.n
    assert len(low) in (len(high), 2 * len(high))
    for exponent in (0, 1, len(low) - 1, len(low), design.n // 2 + 3, design.n - 1):
        product = int(high[exponent // len(low)]) * int(low[exponent % len(low)]) % prime
        assert product == pow(root, exponent, prime)


@pytest.mark.parametrize(
    ("prime", "message"),
    [
        (
            _core.prime_search(49, DEFAULT.n, 1)[0],
            "has 49 bits .* takes primes of 24 to 48 bits",
        ),
        (
            _core.prime_search(23, DEFAULT.n, 1)[0],
            "has 23 bits .* takes primes of 24 to 48 bits",
        ),
        ((1 << 40) - 87, "modulo 2N = 16384, and design nano needs 1"),
        (0, "has 0 bits"),
    ],
)
def test_a_prime_that_the_design_cannot_take_is_refused(prime: int, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        modulus_words(prime, DEFAULT)


def test_a_root_of_another_order_is_refused() -> None:
    (prime,) = _core.prime_search(40, DEFAULT.n, 1)
    root = _core.smallest_root(prime, DEFAULT.n)
    for wrong in (0, 1, prime, pow(root, 2, prime)):
        with pytest.raises(ParameterError, match="no primitive root of unity of order 2N = 16384"):
            prime_tables(prime, wrong, DEFAULT)


@pytest.mark.parametrize(("log_n", "cores"), [(8, 32), (9, 1), (13, 4)])
def test_stored_factors_of_a_step_lie_in_one_row(log_n: int, cores: int) -> None:
    """Word m + b belongs to block b of the stage of m blocks; mirrored it is the inverse's."""
    design = replace(
        DEFAULT, log_n=log_n, cores=cores, dyadic_cores=1, word_bits=48, twiddles="stored"
    )
    (prime,) = _core.prime_search(40, design.n, 1)
    root = _core.smallest_root(prime, design.n)
    table = [int(word) for word in stored_twiddles(prime, root, design)]
    for stage in range(log_n):
        m = 1 << stage
        for b in {0, m // 2, m - 1}:
            exponent = int(f"{m + b:0{log_n}b}"[::-1], 2)
            assert table[m + b] == pow(root, exponent, prime)
            assert -pow(root, -exponent, prime) % prime == table[m + (m - 1 - b)]


SPARSE = replace(DEFAULT, name="sparsely", reduction="sparse", family="word48")


def test_a_folded_design_refuses_a_prime_far_from_a_power_of_two() -> None:
    design = replace(load_design("octo"), name="folding", word_bits=60, reduction="folded")
    short, far = 0xFFFFFC0001, 0x1FFFFFFE48001 - (1 << 40)
    with pytest.raises(ParameterError, match=r"near 2\^40, and words of 60 bits need 2\^45"):
        modulus_words(short, design)
    with pytest.raises(
        ParameterError, match=r"take at most 2097151 away from 2.49, and design folding"
    ):
        modulus_words(far, design)
    assert modulus_words(0x1FFFFFFE48001, design)[2] == 49
    limits = parameter_limits(design)
    assert (limits.min_prime_bits, limits.max_prime_bits) == (45, 60)
    assert limits.reduction_error is not None
    assert "away from 2^49" in limits.reduction_error(far)
    assert limits.reduction_error(0x1FFFFFFE48001) == ""


def test_a_sparse_design_is_reported_the_index_of_its_prime() -> None:
    for index, prime in enumerate(FAMILIES["word48"]):
        assert modulus_words(prime, SPARSE).tolist() == [prime, 0, 48, index]


def test_a_prime_outside_the_family_is_refused_with_a_design_that_takes_it() -> None:
    (prime,) = _core.prime_search(48, DEFAULT.n, 1)
    with pytest.raises(
        ParameterError, match=r"not among the 10 primes of family word48.*design nano"
    ):
        modulus_words(prime, SPARSE)
    with pytest.raises(ParameterError, match="reduction = 'barrett', log_n = 13 and word_bits"):
        modulus_words((1 << 59) + 1, SPARSE)


def test_the_families_are_those_that_rtl_is_elaborated_for() -> None:
    text = (rtl_root() / "arith" / "rs_sparse_pkg.sv").read_text()
    formulas = re.findall(r"// (\d+): (2\^.*)", text)
    found: list[list[int]] = []
    for index, formula in formulas:
        value = sum(
            (-1 if sign == "-" else 1) * (1 << int(power) if power else 1)
            for sign, power in re.findall(r"([+-]?) ?(?:2\^(\d+)|1\b)", formula)
        )
        if index == "9":
            found.append([])
        found[-1].insert(0, value)
    assert found == [list(primes) for primes in reversed(FAMILIES.values())]
    assert all(_core.is_prime(q) and q % 2**17 == 1 for primes in found for q in primes)


def test_a_family_is_cut_to_what_the_width_takes() -> None:
    narrow = replace(DEFAULT, word_bits=54, reduction="sparse", family="medha")
    assert list(narrow.sparse_primes.values()) == list(range(1, 10))
