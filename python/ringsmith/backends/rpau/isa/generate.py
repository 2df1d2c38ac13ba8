"""Writes what is made from ``isa.yaml``: the SystemVerilog package, the C++ header and the page.

``python -m ringsmith.backends.rpau.isa.generate`` writes the files into the checkout; with
``--check`` it only compares and exits with 1 when one differs.
"""

import sys
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

from ringsmith.backends.rpau.isa.instruction_set import (
    ADDENDS,
    CONTROL,
    TIMES,
    WHERE,
    Formula,
    Isa,
    Operation,
    common_fields,
    parse_isa,
)
from ringsmith.backends.rpau.isa.kinds import KEY_POLY, KINDS, POLY
from ringsmith.hdl.generated import GeneratedFiles, notice, prose, upper_camel

SOURCE = "python/ringsmith/backends/rpau/isa/isa.yaml"
COMMAND = "python -m ringsmith.backends.rpau.isa.generate"
NOTICE = notice((SOURCE,), COMMAND)


def flags(operation: Operation) -> frozenset[str]:
    """The operands of an instruction that name no polynomial, as the decoder's flags uses_X."""
    operands = (each for each in operation.operands if each.kind not in (POLY, KEY_POLY))
    return frozenset(f"uses_{each.name}" for each in operands)


def _all_flags(isa: Isa) -> list[str]:
    return sorted(frozenset().union(*(flags(operation) for operation in isa.operations)))


def _needs(operation: Operation) -> list[str]:
    """The decoder's line on what an instruction needs of the design, if anything."""
    need = upper_camel(operation.needs)
    return [f"        decoded.needs[Needs{need}] = 1'b1;"] if need else []


def _enum(name: str, prefix: str, values: Mapping[str, str]) -> list[str]:
    """An enumeration from 0 on, from its names and their comments."""
    width = max(1, (len(values) - 1).bit_length())
    lines = [f"  typedef enum logic [{width - 1}:0] {{"]
    for i, (value, doc) in enumerate(values.items()):
        comma = "," if i + 1 < len(values) else ""
        lines += prose(doc, "    // ")
        lines.append(f"    {prefix}{upper_camel(value)} = {width}'d{i}{comma}")
    return [*lines, f"  }} {name};", ""]


def _computes(operation: Operation) -> list[str]:
    """The decoder's lines on what a pointwise instruction computes."""
    formula = operation.formula or Formula()
    factor, addend = upper_camel(formula.times), upper_camel(formula.addend)
    return [
        *([f"        decoded.factor = Factor{factor};"] if factor else []),
        *([f"        decoded.addend = Addend{addend};"] if addend else []),
        *(["        decoded.minus = 1'b1;"] if formula.minus else []),
    ]


def _terms() -> list[str]:
    """What a pointwise instruction may multiply by, and what it may add."""
    factors = {"none": "By 1."} | {name: f"Operand {name}." for name in TIMES}
    addends = {"none": "0."} | {name: f"Operand {name}." for name in ADDENDS}
    return [
        "  // What a pointwise instruction multiplies operand a by.",
        *_enum("factor_e", "Factor", factors),
        "  // What it adds to the product, or subtracts from it.",
        *_enum("addend_e", "Addend", addends),
    ]


def _unit(operation: Operation) -> list[str]:
    """The decoder's line on an instruction's unit, if the program controller is not it."""
    unit = upper_camel(operation.unit)
    return [] if operation.unit == CONTROL else [f"        decoded.unit[Unit{unit}] = 1'b1;"]


def _units(isa: Isa) -> list[str]:
    """Numbers of the units of an RPAU."""
    units = {unit: isa.units[unit] for unit in isa.execution_units}
    return [
        "  // Units that an RPAU may have, numbered from 0 on.",
        f"  parameter int unsigned Units = {len(units)};",
        *_enum("unit_e", "Unit", units),
    ]


def _features(isa: Isa) -> list[str]:
    """Numbers of the design's features that some instructions need."""
    docs = {each: f"Parameter {each} of the design is not 0." for each in isa.features}
    return [
        "  // Features of a design that some instructions need, numbered from 0 on.",
        f"  parameter int unsigned Features = {len(docs)};",
        *_enum("feature_e", "Needs", docs),
    ]


def _initializer(begin: str, values: str) -> list[str]:
    """A C++ initializer in lines as clang-format has them."""
    return textwrap.wrap(f"{begin}{values}}};", 100, subsequent_indent=" " * len(begin))


def render_systemverilog(isa: Isa) -> str:
    """The package ``rs_rpau_isa_pkg``: opcodes, field positions, decoder."""
    opcode = isa.fields["opcode"]
    lines = [
        *prose(NOTICE, "// "),
        "//",
        *prose(
            "An instruction word carries all its fields: get_<field>() takes out one that every "
            "instruction has, and decode() says what the instruction does with them: by its "
            "opcode, by what it computes if it is pointwise, and by a flag uses_X for each operand "
            "X that names no polynomial.",
            "// ",
        ),
        "package rs_rpau_isa_pkg;",
        "",
        f"  parameter int unsigned WordBits = {isa.word_bits};",
        "  typedef logic [WordBits-1:0] word_t;",
        "",
    ]
    for field in isa.fields.values():
        name = upper_camel(field.name)
        lines += [
            f"  // {field.doc}",
            f"  parameter int unsigned {name}Lsb = {field.lsb};",
            f"  parameter int unsigned {name}Width = {field.width};",
        ]
    lines += ["", f"  typedef enum logic [{opcode.width - 1}:0] {{"]
    for i, operation in enumerate(isa.operations):
        comma = "," if i + 1 < len(isa.operations) else ""
        lines += prose(operation.doc, "    // ")
        lines.append(
            f"    Op{upper_camel(operation.name)} = {opcode.width}'d{operation.opcode}{comma}"
        )
    lines += ["  } opcode_e;", "", *_units(isa), *_features(isa), *_terms()]
    lines += [
        "  typedef struct packed {",
        "    logic                valid;   // the opcode exists; else nothing else means anything",
        "    opcode_e             opcode;",
        "    logic [Units-1:0]    unit;    // the one that carries it out, by number; else none",
        "    logic [Units-1:0]    waits;   // for other units, by their number",
        "    logic [Features-1:0] needs;   // features of the design, by their number",
        "    factor_e             factor;  // pointwise: dst = a * factor + addend",
        "    addend_e             addend;",
        "    logic                minus;   // the addend is subtracted",
        *(f"    logic                {flag};" for flag in _all_flags(isa)),
        "  } decoded_t;",
        "",
    ]
    for field in common_fields(isa):
        name = upper_camel(field.name)
        lines += [
            f"  function automatic logic [{name}Width-1:0] get_{field.name}(word_t word);",
            f"    return {name}Width'(word >> {name}Lsb);",
            "  endfunction",
            "",
        ]
    lines += [
        "  function automatic decoded_t decode(word_t word);",
        "    decoded_t decoded;",
        "    decoded = '0;",
        "    decoded.valid = 1'b1;",
        *(
            f"    decoded.waits[Unit{upper_camel(unit)}] = get_wait_{unit}(word);"
            for unit in isa.execution_units
        ),
        "    decoded.opcode = opcode_e'(get_opcode(word));",
        "    case (decoded.opcode)",
    ]
    for operation in isa.operations:
        name = f"Op{upper_camel(operation.name)}"
        lines += [
            f"      {name}: begin",
            *_unit(operation),
            *_needs(operation),
            *_computes(operation),
            *(f"        decoded.{flag} = 1'b1;" for flag in sorted(flags(operation))),
            "      end",
        ]
    lines += [
        "      default: decoded.valid = 1'b0;",
        "    endcase",
        "    return decoded;",
        "  endfunction",
        "",
        "endpackage",
    ]
    return "\n".join(lines) + "\n"


_TERMS = ("", *dict.fromkeys((*TIMES, *ADDENDS)))


def _term(operand: str) -> str:
    return f"k{upper_camel(operand or 'none')}"


def _formula(operation: Operation) -> str:
    """The formula of an operation as a C++ initializer."""
    formula, a = operation.formula or Formula(), operation.operand("a")
    flags = (formula.minus, a is not None and a.any_words)
    minus, any_words = (str(flag).lower() for flag in flags)
    pointwise = str(operation.formula is not None).lower()
    times, addend = f"Term::{_term(formula.times)}", f"Term::{_term(formula.addend)}"
    return f"{{{pointwise}, {times}, {addend}, {minus}, {any_words}}}"


def render_cpp(isa: Isa) -> str:
    """The header ``model/isa.h``: opcodes and the decoder's table."""
    units = ", ".join(f"k{upper_camel(unit)}" for unit in isa.units)
    wheres = ", ".join(f"k{upper_camel(where)}" for where in WHERE)
    names = [f"k{upper_camel(kind)}" for kind in KINDS]
    kinds = [f"  {name}," for name in names[:-1]] + [f"  {names[-1]}"]
    lines = [
        *prose(NOTICE, "// "),
        "#pragma once",
        "",
        "#include <array>",
        "#include <cstdint>",
        "",
        "namespace ringsmith::sim::isa {",
        "",
        "enum class Opcode : std::uint8_t {",
    ]
    for operation in isa.operations:
        lines += prose(operation.doc, "  /// ")
        lines.append(f"  k{upper_camel(operation.name)} = {operation.opcode},")
    lines += [
        "};",
        "",
        f"enum class Unit : std::uint8_t {{ {units} }};",
        f"inline constexpr int kUnits = {len(isa.units)};",
        "",
        "/// What the value in an operand field counts.",
        "enum class Kind : std::uint8_t {",
        *kinds,
        "};",
        "",
        "/// In which RPAUs of the mask a polynomial is accessed.",
        f"enum class Where : std::uint8_t {{ {wheres} }};",
        "",
        "/// Bits lsb to lsb + width - 1 of an instruction word.",
        "struct Field {",
        "  int lsb;",
        "  int width;",
        "  [[nodiscard]] constexpr std::uint64_t extract(std::uint64_t word) const {",
        "    return (word >> lsb) & ((std::uint64_t{1} << width) - 1);",
        "  }",
        "  [[nodiscard]] constexpr bool operator==(const Field&) const = default;",
        "};",
        "",
    ]
    for field in isa.fields.values():
        lines += [
            f"/// {field.doc}",
            f"inline constexpr Field k{upper_camel(field.name)}{{{field.lsb}, {field.width}}};",
        ]
    waits = ", ".join(
        f"k{upper_camel(f'wait_{unit}')}" if unit in isa.execution_units else "Field{0, 0}"
        for unit in isa.units
    )
    most = max(len(operation.operands) for operation in isa.operations)
    lines += [
        "",
        "/// Wait bit of each unit, by Unit; of width 0 for the controller, which has none.",
        *_initializer("inline constexpr std::array<Field, kUnits> kWaits{", waits),
        "",
        "struct Operand {",
        "  Field field;",
        "  Kind kind;",
        "  bool reads;",
        "  bool writes;",
        "  bool takes_read_port;  // reads it, or reads back what it has written there",
        "  Where where;",
        "};",
        "",
        f"inline constexpr int kMaxOperands = {most};",
        "",
        "/// An operand of a pointwise instruction's formula.",
        f"enum class Term : std::uint8_t {{ {', '.join(map(_term, _TERMS))} }};",
        "",
        "/// dst = a * times + addend, or minus it; a may hold any words where it says so.",
        "struct Formula {",
        "  bool pointwise;",
        "  Term times;",
        "  Term addend;",
        "  bool minus;",
        "  bool any_words;",
        "};",
        "",
        "struct Operation {",
        "  Opcode opcode;",
        "  const char* name;",
        "  Unit unit;",
        "  Formula formula;",
        "  int operand_count;",
        "  std::array<Operand, kMaxOperands> operands;",
        "",
        "  /// Whether it takes the main unit's selector of operand c: for an addend there, and,",
        "  /// where the link unit sends, for what it reads.",
        "  [[nodiscard]] constexpr bool takes_operand_c() const {",
        "    const bool adds = formula.addend == Term::kB || formula.addend == Term::kDst;",
        "    return unit == Unit::kLink || (unit == Unit::kMain && adds);",
        "  }",
        "};",
        "",
        "// clang-format off: one line an operand",
        f"inline constexpr std::array<Operation, {len(isa.operations)}> kOperations{{{{",
    ]
    for operation in isa.operations:
        lines += [
            f'    {{Opcode::k{upper_camel(operation.name)}, "{operation.name}", '
            f"Unit::k{upper_camel(operation.unit)}, {_formula(operation)}, "
            f"{len(operation.operands)}, {{{{",
        ]
        for operand in operation.operands:
            flags = (operand.reads, operand.writes, operand.reads or operand.reads_back)
            accesses = ", ".join(str(flag).lower() for flag in flags)
            lines.append(
                f"        {{k{upper_camel(operand.name)}, Kind::k{upper_camel(operand.kind)}, "
                f"{accesses}, Where::k{upper_camel(operand.where)}}},"
            )
        lines.append("    }}},")
    lines += ["}};", "// clang-format on", "", "}  // namespace ringsmith::sim::isa"]
    return "\n".join(lines) + "\n"


def render_page(isa: Isa) -> str:
    """The page ``docs/reference/isa-rpau.md``."""
    lines = [
        *prose(f"<!-- {NOTICE} -->"),
        "# The RPAU instruction set",
        "",
        *prose(
            "After reading this page you can read and write programs of the `rpau` architecture, "
            "as text and as words."
        ),
        "",
        f"An instruction is one {isa.word_bits}-bit word, and one line of assembly text:",
        "",
        "```",
        "scale_sub p3, p1, p2, c7  @0-3 wait(dyadic)   # a comment",
        "```",
        "",
        *prose(
            "The operands follow the name in the order of the table below, each with its kind's "
            "letters. `@` lists the RPAUs that take part (`@0-3`, `@0,2,4`, `@all`); `wait(...)` "
            "names units that must be idle in all of them, in addition to the instruction's own. "
            "The issue rule and the hazard rule in [The RPAU architecture](rpau.md) say when an "
            "instruction issues, and what may be in flight with it. Bits that belong to none of an "
            "instruction's fields are zero."
        ),
        "",
        "## Units",
        "",
        "| unit | |",
        "| --- | --- |",
        *(f"| {unit} | {doc} |" for unit, doc in isa.units.items()),
        "",
        "## Operand kinds",
        "",
        "| kind | text | |",
        "| --- | --- | --- |",
        *(f"| {name} | `{kind.prefix}5` | {kind.doc} |" for name, kind in KINDS.items()),
        "",
        "## Fields",
        "",
        "| field | bits | kind | |",
        "| --- | --- | --- | --- |",
    ]
    for field in isa.fields.values():
        top = field.lsb + field.width - 1
        bits = f"{top}:{field.lsb}" if field.width > 1 else f"{top}"
        lines.append(f"| {field.name} | {bits} | {field.kind or ''} | {field.doc} |")
    lines += [
        "",
        "## Instructions",
        "",
        "| instruction | opcode | unit | operands | cycles | meaning |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for operation in isa.operations:
        operands = ", ".join(
            operand.name + (f" ({operand.access})" if operand.access else "")
            for operand in operation.operands
        )
        meaning = operation.doc.replace("*", "\\*")
        if operation.distinct:
            meaning += f" Different polynomials: {', '.join(operation.distinct)}."
        lines.append(
            f"| `{operation.name}` | {operation.opcode} | {operation.unit} | {operands} | "
            f"`{operation.latency}` | {meaning} |"
        )
    lines += [
        "",
        *prose(
            "Cycles are functions of a design in `backends/rpau/design/latency.py`; (r), (w), "
            "(rw): the polynomial is read, written, or both."
        ),
    ]
    return "\n".join(lines) + "\n"


FILES: Mapping[str, Callable[[Isa], str]] = {
    "rtl/rpau/rs_rpau_isa_pkg.sv": render_systemverilog,
    "python/ringsmith/backends/rpau/model/isa.h": render_cpp,
    "docs/reference/isa-rpau.md": render_page,
}
"""Every generated file, by its path in the checkout, with the function that renders it."""


def _rendered(root: Path) -> Mapping[str, str]:
    """The generated files of the instruction set in a checkout."""
    isa = parse_isa((root / SOURCE).read_text(encoding="utf-8"))
    return {path: render(isa) for path, render in FILES.items()}


GENERATED = GeneratedFiles((SOURCE,), COMMAND, _rendered)


def main(arguments: list[str] | None = None) -> int:
    """Writes or checks the generated files; returns the exit status."""
    return GENERATED.main(arguments, __doc__.splitlines()[0] if __doc__ else None)


if __name__ == "__main__":
    sys.exit(main())
