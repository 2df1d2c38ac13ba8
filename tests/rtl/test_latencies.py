"""The latencies that Python knows are those of the SystemVerilog packages, as elaborated."""

from collections.abc import Sequence
from dataclasses import replace

import pyslang
import pytest
from pyslang import ast, syntax

from ringsmith.backends.rpau.design import latency as rpau_cost
from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.area import LUT_RAM_WORDS
from ringsmith.backends.rpau.design.design import load_design, named_designs
from ringsmith.backends.stream.design import latency as stream_latency
from ringsmith.backends.vector.compiler import memory_map as vector_memory
from ringsmith.backends.vector.compiler import timeline as vector_timing
from ringsmith.backends.vector.design import design as vector_design
from ringsmith.backends.vector.design import latency as vector_latency
from ringsmith.backends.vector.design.design import VectorDesign
from ringsmith.backends.vector.device import image
from ringsmith.backends.vector.isa import instruction_set as vector_isa
from ringsmith.hdl import latencies
from ringsmith.hdl.base_conversion import FRACTION_BITS, BaseConverter, Load
from ringsmith.hdl.generated import upper_camel
from ringsmith.hdl.sources import rtl_sources


def elaborated(expressions: list[str], functions: Sequence[str] = ()) -> list[int]:
    """Values of constant expressions over the packages of ``rtl/``, and some functions."""
    compilation = ast.Compilation()
    for path in rtl_sources("arith", "prng", "baseconv", "rpau", "stream", "vector"):
        if path.stem.endswith("_pkg"):
            compilation.addSyntaxTree(syntax.SyntaxTree.fromFile(str(path)))
    names = [f"V{number}" for number in range(len(expressions))]
    lines = [*functions]
    lines += [f"localparam int {n} = {e};" for n, e in zip(names, expressions, strict=True)]
    text = "module asked;\n" + "\n".join(lines) + "\nendmodule"
    compilation.addSyntaxTree(syntax.SyntaxTree.fromText(text))
    errors = [d for d in compilation.getAllDiagnostics() if d.isError()]
    assert not errors, pyslang.DiagnosticEngine.reportAll(compilation.sourceManager, errors)
    (module,) = (each for each in compilation.getRoot().topInstances if each.name == "asked")
    return [int(module.body.lookupName(name).value.value) for name in names]


CONVERTERS = [BaseConverter(), BaseConverter(54, 15, 5), BaseConverter(60, 13, 8, 3, 2, 80)]
LOADS = {
    "Shape": Load.SHAPE,
    "InputModulus": Load.INPUT_MODULUS,
    "InputFactor": Load.INPUT_FACTOR,
    "Fraction": Load.FRACTION,
    "Weight": Load.WEIGHT,
    "OutputModulus": Load.OUTPUT_MODULUS,
    "QuotientFactor": Load.QUOTIENT_FACTOR,
}
WIDTHS = [(log_n, width) for log_n in (8, 12, 16) for width in (17, 30, 48, 60)]

CASES = [
    ("rs_arith_pkg::mul_latency()", latencies.MUL_LATENCY),
    ("rs_arith_pkg::mul_low_latency()", latencies.MUL_LOW_LATENCY),
    ("rs_arith_pkg::mod_addsub_latency()", latencies.MOD_ADDSUB_LATENCY),
    ("rs_arith_pkg::mod_halve_latency()", latencies.MOD_HALVE_LATENCY),
    ("rs_arith_pkg::sparse_times_latency()", latencies.SPARSE_TIMES_LATENCY),
    ("rs_arith_pkg::scale_step_latency()", latencies.SCALE_STEP_LATENCY),
    ("rs_arith_pkg::mod_mul_barrett_latency()", latencies.MOD_MUL_LATENCY["barrett"]),
    ("rs_arith_pkg::mod_mul_sparse_latency()", latencies.MOD_MUL_LATENCY["sparse"]),
    ("rs_arith_pkg::pair_latency()", latencies.PAIR_LATENCY),
    ("rs_arith_pkg::mod_mul_folded_latency()", latencies.MOD_MUL_LATENCY["folded"]),
    ("rs_arith_pkg::mod_shorten_latency()", latencies.MOD_SHORTEN_LATENCY),
    ("rs_arith_pkg::DspShort", latencies.DSP_SHORT),
    ("rs_baseconv_pkg::tile_latency()", latencies.TILE_LATENCY),
    ("rs_baseconv_pkg::LiftFractionBits", FRACTION_BITS),
    *((f"rs_baseconv_pkg::Load{name}", int(kind)) for name, kind in LOADS.items()),
    *(
        (
            f"rs_baseconv_pkg::base_convert_latency({unit.width}, {unit.step_bits}, "
            f"{unit.fraction_bits}, {unit.terms}, {used})",
            unit.latency(used),
        )
        for unit in CONVERTERS
        for used in range(1, unit.terms + 1)
    ),
    *(
        (f"rs_baseconv_pkg::reduced_bits({unit.width}, {unit.terms})", unit.reduced_bits)
        for unit in CONVERTERS
    ),
    ("rs_rpau_pkg::RamLatency", latencies.RAM_LATENCY),
    ("rs_rpau_pkg::LutRamWords", LUT_RAM_WORDS),
    ("rs_stream_pkg::RamLatency", latencies.RAM_LATENCY),
    ("rs_vector_pkg::RamLatency", latencies.RAM_LATENCY),
    ("rs_arith_pkg::mod_mul_two_steps_latency()", latencies.TWO_STEPS_LATENCY),
    *(
        (f"rs_arith_pkg::scale_step_bits({log_n})", latencies.scale_step_bits(log_n))
        for log_n in range(8, 18)
    ),
    *(
        (
            f"rs_arith_pkg::mod_mul_montgomery_latency({width}, {latencies.scale_step_bits(n)})",
            latencies.montgomery_cycles(n, width),
        )
        for n, width in WIDTHS
    ),
]


def test_latencies_are_those_of_the_packages() -> None:
    assert elaborated([expression for expression, _ in CASES]) == [value for _, value in CASES]


def test_architectures_take_them_from_one_place() -> None:
    """Where an architecture says a number of its own, the two could differ."""
    for module in (rpau_cost, stream_latency):
        own = {name for name in vars(module) if name.endswith("_LATENCY")}
        assert {name: getattr(module, name) for name in own} == {
            name: getattr(latencies, name) for name in own
        }


DESIGNS = [*map(load_design, named_designs())]


def test_the_hosts_chain_is_as_wide_and_as_long_as_the_package_says() -> None:
    cases = [
        case
        for design in (*DESIGNS, replace(DESIGNS[0], constants=128, larger_rings=1))
        for case in (
            (f"rs_rpau_pkg::host_words({design.lanes})", rpau_cost.host_words(design)),
            (f"rs_rpau_pkg::host_read_latency({design.rpaus})", rpau_cost.host_read_cycles(design)),
        )
    ]
    assert elaborated([expression for expression, _ in cases]) == [value for _, value in cases]


def test_no_more_than_512_nets_join_two_neighbours_each_way() -> None:
    """A request with its words and place; and the words that are read, with a valid bit."""
    package, parts = "rs_rpau_pkg", ("WorkPolys", "KeyPolys", "ModulusBanks", "Seeds")
    asked = []
    for design in DESIGNS:
        own = rtl.parameters(design)
        rows = f"{design.log_n}, {design.lanes}, {design.constants}, {design.max_log_n}"
        back = f"{package}::host_words({design.lanes}) * {design.word_bits} + 1"
        place = (
            f"{package}::SpaceWidth + {package}::RpauWidth"
            f" + {package}::host_index_bits({', '.join(str(own[name]) for name in parts)})"
            f" + {package}::host_row_bits({rows}, {own['Twiddles']})"
        )
        asked += [back, f"{back} + 1 + {place}"]
    found = elaborated(asked)
    assert max(found) <= 512
    assert {481, 506} <= {*found}  # of medha


VECTORS = [
    VectorDesign("barrett", 16, 8, 2, 32),
    VectorDesign("wide", 12, 4, 4, 60, bank_rows=1024, table_rows=2048),
    VectorDesign("two-steps", 16, 8, 4, 32, vector_design.MONTGOMERY),
    VectorDesign("montgomery", 10, 4, 2, 30, vector_design.MONTGOMERY),
]


def vector_cases(design: VectorDesign) -> list[tuple[str, int]]:
    """What a design's blocks take, and when."""
    kind = int(design.reduction == vector_design.MONTGOMERY)
    alu = f"{kind}, {design.word_bits}, {vector_latency.step_bits(design)}"
    array = f"{alu}, {design.log_lanes}, {design.log_radix}"
    cases = [
        (f"alu_latency({alu})", vector_latency.alu_cycles(design)),
        (
            f"permute_latency({design.log_lanes}, {design.log_radix})",
            vector_latency.permute_cycles(design),
        ),
        (f"array_turn({alu}, {design.log_radix})", vector_latency.turn_cycles(design)),
        (f"core_transform_latency({array})", vector_latency.pass_cycles(design)),
    ]
    for stage in range(design.log_radix):
        cases += [
            (f"array_z_time({array}, {stage})", vector_latency.summand_cycles(design, stage)),
            (f"array_y_time({array}, {stage})", vector_latency.factor_cycles(design, stage)),
            (f"core_point_latency({array}, {stage})", vector_latency.result_cycles(design, stage)),
        ]
    return [(f"rs_vector_pkg::{expression}", value) for expression, value in cases]


def test_a_clusters_latencies_are_those_of_its_package() -> None:
    cases = [case for design in VECTORS for case in vector_cases(design)]
    assert elaborated([expression for expression, _ in cases]) == [value for _, value in cases]


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


def test_a_clusters_lists_and_rows_lie_in_memory_as_its_package_says() -> None:
    """The numbers that the schedule and the memory's contents take from the package."""
    package = "rs_vector_pkg"
    cases = [
        (f"1 << {package}::LogListed", vector_timing.LISTED),
        (
            f"(1 << {package}::LogListBeats) / {package}::SlotBeats",
            vector_timing.LIST_SLOTS,
        ),
        (f"{package}::SlotBeats", vector_timing.SLOT_BEATS),
        (f"{package}::InstructionBeats", vector_timing.INSTRUCTION_BEATS),
        (
            f"8 * {package}::SlotBytes / $bits(rs_vector_isa_pkg::load_t)",
            vector_timing.SLOT_LOADS,
        ),
        (
            f"8 * {package}::SlotBytes / $bits(rs_vector_isa_pkg::store_t)",
            vector_timing.SLOT_STORES,
        ),
        (f"{package}::SlotBytes", image.SLOT_BYTES),
        (f"{package}::ListBits / 64", image.BEAT_WORDS),
        (f"{package}::ListBits", vector_design.LIST_BITS),
        (f"{package}::MemoryRowBits", vector_memory.HOME_SHIFT),
        (f"$bits({package}::place_t)", 32),
    ]
    for design in (*VECTORS[:3], replace(VECTORS[0], ports=8)):
        values = f"{design.word_bits}, {design.log_lanes}, {design.ports}, 256"
        cases.append((f"{package}::row_cycles({values})", design.row_cycles))
    assert elaborated([expression for expression, _ in cases]) == [value for _, value in cases]


def test_a_wrong_expression_is_no_number() -> None:
    with pytest.raises(AssertionError, match="mul_latenci"):
        elaborated(["rs_arith_pkg::mul_latenci()"])
