"""Records and instructions that Python writes have the layout of the SystemVerilog packages."""

import pytest
from tests.rtl.package_values import elaborated

from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.design import RpauDesign, load_design, named_designs
from ringsmith.backends.vector.isa import instruction_set as vector_isa
from ringsmith.hdl.generated import upper_camel

DESIGNS = [*map(load_design, named_designs())]


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_the_fields_of_a_designs_record_are_those_of_the_package(design: RpauDesign) -> None:
    record = rtl.configuration(design)
    lines = [f"localparam rs_rpau_pkg::rpau_cfg_t Cfg = {record};"]
    asked = ["$bits(Cfg)", *(f"int'(Cfg.{name})" for name in record.values)]
    bits = sum(field.bits for field in record.fields)
    assert elaborated(asked, lines) == [bits, *record.values.values()]


def test_the_record_of_blocks_on_their_own_is_that_of_nano() -> None:
    nano = rtl.configuration(load_design("nano"))
    assert elaborated([f"rs_rpau_pkg::DefaultCfg == {nano}"]) == [1]


def test_no_more_than_512_nets_join_two_neighbours_each_way() -> None:
    """A request with its words and place; and the words that are read, with a valid bit."""
    package = "rs_rpau_pkg"
    asked = []
    for design in DESIGNS:
        own = f"{package}::rpau_cfg_t'({rtl.configuration(design)})"
        back = f"{package}::host_words({design.lanes}) * {design.word_bits} + 1"
        place = (
            f"{package}::SpaceWidth + {package}::RpauWidth"
            f" + {package}::host_index_bits({own}) + {package}::host_row_bits({own})"
        )
        asked += [back, f"{back} + 1 + {place}"]
    found = elaborated(asked)
    assert max(found) <= 512
    assert {481, 506} <= {*found}  # of medha


def test_a_clusters_instructions_are_those_of_its_package() -> None:
    isa = vector_isa.ISA
    cases = [
        (f"$bits(rs_vector_isa_pkg::{name}_t)", each.width) for name, each in isa.structures.items()
    ]
    cases += [
        (f"rs_vector_isa_pkg::{upper_camel(name)}", each.value)
        for name, each in isa.numbers.items()
    ]
    cases += [
        (f"rs_vector_isa_pkg::{upper_camel(value)}", enum.number(value))
        for enum in isa.enums.values()
        for value in enum.values
    ]
    assert elaborated([expression for expression, _ in cases]) == [value for _, value in cases]


@pytest.mark.parametrize("name", vector_isa.ISA.structures)
def test_a_field_lies_where_the_package_has_it(name: str) -> None:
    """Each field alone with all of its bits set, as a number in SystemVerilog."""
    structure = vector_isa.ISA.structures[name]
    lines, expected = [], []
    for field, low in structure.positions():
        value = f"rs_vector_isa_pkg::{name}_t value = '0;"
        ones = f"value.{field.name} = type(value.{field.name})'({field.width}'('1));"
        # A number xor itself less 1: its lowest bit that is set, and the zeros below.
        for what, count in (("low", "value ^ (value - 1'b1)) - 1"), ("ones", "value)")):
            lines.append(
                f"function automatic int {field.name}_{what}(); {value} {ones} "
                f"return $countones({count}; endfunction"
            )
        expected += [low, field.width]
    asked = [f"{f.name}_{what}()" for f in structure.fields for what in ("low", "ones")]
    assert elaborated(asked, lines) == expected


def test_a_wrong_expression_is_no_number() -> None:
    with pytest.raises(AssertionError, match="mul_latenci"):
        elaborated(["rs_arith_pkg::mul_latenci()"])
