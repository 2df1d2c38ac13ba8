"""Writes what is made from ``isa.yaml``: the SystemVerilog package and the page.

``python -m ringsmith.backends.vector.isa.generate`` writes the files into the checkout; with
``--check`` it only compares and exits with 1 when one differs.
"""

import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from ringsmith.backends.vector.isa.instruction_set import Enum, Field, Isa, Structure, parse_isa
from ringsmith.hdl.generated import GeneratedFiles, notice, prose, upper_camel

SOURCE = "python/ringsmith/backends/vector/isa/isa.yaml"
COMMAND = "python -m ringsmith.backends.vector.isa.generate"
NOTICE = notice((SOURCE,), COMMAND)


def _words(structure: Structure) -> str:
    return f"{upper_camel(structure.name)}Words"


def render_systemverilog(isa: Isa) -> str:
    """The package ``rs_vector_isa_pkg``: numbers, enumerations and structures."""
    lines = [
        *prose(NOTICE, "// "),
        "//",
        *prose(
            f"A structure of a list is there in whole words of {isa.word_bits} bits, the lowest "
            "one first; the bits above it are zero.",
            "// ",
        ),
        "package rs_vector_isa_pkg;",
    ]
    for number in isa.numbers.values():
        lines += [*prose(number.doc, "  // ")]
        lines.append(f"  localparam int unsigned {upper_camel(number.name)} = {number.value};")
    lines.append("")
    for each in isa.listed:
        lines += prose(f"Words of {each.name}_t in list {each.listed}.", "  // ")
        lines.append(f"  localparam int unsigned {_words(each)} = {isa.words(each)};")
    for enum in isa.enums.values():
        lines += ["", *_enum(enum)]
    for structure in isa.structures.values():
        lines += ["", *_structure(structure)]
    return "\n".join([*lines, "endpackage"]) + "\n"


def _enum(enum: Enum) -> Iterator[str]:
    yield from prose(enum.doc, "  // ")
    yield f"  typedef enum logic [{enum.width - 1}:0] {{"
    for i, (name, doc) in enumerate(enum.values.items()):
        yield from prose(doc, "    // ")
        comma = "," if i + 1 < len(enum.values) else ""
        yield f"    {upper_camel(name)} = {enum.width}'d{i}{comma}"
    yield f"  }} {enum.name}_e;"


def _structure(structure: Structure) -> Iterator[str]:
    yield from prose(f"{structure.doc} {structure.width} bits.", "  // ")
    yield "  typedef struct packed {"
    for field in structure.fields:
        yield from prose(field.doc, "    // ")
        yield f"    {_declared(field)} {field.name};"
    yield f"  }} {structure.name}_t;"


def _declared(field: Field) -> str:
    """A field's type."""
    array = f" [{_spelled(field.array)}-1:0]" if field.count else ""
    if isinstance(field.kind, Structure):
        return f"{field.kind.name}_t{array}"
    if isinstance(field.kind, Enum):
        return f"{field.kind.name}_e{array}"
    if field.index:
        return f"logic{array} [$clog2({_spelled(field.spelled)})-1:0]"
    if field.element == 1 and not array:
        return "logic"
    if field.spelled.isdecimal():
        return f"logic{array} [{field.element - 1}:0]"
    return f"logic{array} [{_spelled(field.spelled)}-1:0]"


def _spelled(name: str) -> str:
    return name if name.isdecimal() else upper_camel(name)


_INTRODUCTION = """\
# The vector instruction set

After reading this page you can read the lists of a program of the `vector` architecture, bit by bit
and as text. [The vector architecture](vector.md) says what the instructions do, and when.

A cluster works off three lists: loads, computing and stores. Each instruction is a packed
structure. Its first field lies highest, and its last one ends at bit 0. In a list it takes whole
words of {word_bits} bits, the lowest one first. The bits above a structure are zero.

| list | structure | bits | words |
| --- | --- | ---: | ---: |
"""

_TEXT = """
`backends/vector/isa/text.py` writes an instruction as a line, and `backends/vector/isa/decoding.py`
makes the compiler's records from its bits. `b1:3` is limb 3 of bank 1. `x`, `y0` and `y1` are load
streams, and `r1` is the store stream of result 1. `q2` is the prime with index 2, and `0x…` a
constant:

```
load table@684 <- table(3, 1), 342 rows, after computing 12
load y0 <- key relin(0, 1, 2), 64 rows
ntt q0 b1:3 <- b0:1 by 342; q1 b0:2 <- x by 684  gap 130 tables 2
point q3 b0:4 <- b2:1*y0/f + b1:2; q3 memory <- b2:1*b3:0/f  gap 64 tables 2
automorph q3 b2:2 <- b1:0 by 5  gap 200 tables 2
store r1 -> output c0(3), 64 rows
```
"""


def render_page(isa: Isa) -> str:
    """The page ``docs/reference/isa-vector.md``."""
    return "".join(
        [
            "".join(f"{line}\n" for line in prose(f"<!-- {NOTICE} -->")),
            _INTRODUCTION.format(word_bits=isa.word_bits),
            *(
                f"| {each.listed} | [{each.name}](#{each.name}) | {each.width:,} | "
                f"{isa.words(each)} |\n"
                for each in isa.listed
            ),
            _TEXT,
            "\n## Numbers\n\n| number | value | |\n| --- | ---: | --- |\n",
            *(f"| {each.name} | {each.value} | {each.doc} |\n" for each in isa.numbers.values()),
            *(text for each in isa.structures.values() for text in _structure_table(each)),
            *(text for each in isa.enums.values() for text in _enum_table(each)),
        ]
    )


def _structure_table(structure: Structure) -> Iterator[str]:
    yield f"\n## {structure.name}\n\n{_escaped(structure.doc)} {structure.width:,} bits.\n\n"
    yield "| field | bits | holds | |\n| --- | --- | --- | --- |\n"
    for field, low in structure.positions():
        high = low + field.width - 1
        bits = f"{high}:{low}" if high > low else f"{low}"
        plural = "s" if field.element > 1 else ""
        holds = f"{field.element} bit{plural}"
        if field.kind:
            holds = f"[{field.kind.name}](#{field.kind.name})"
        holds = f"{field.count} × {holds}" if field.count else holds
        yield f"| {field.name} | {bits} | {holds} | {_escaped(field.doc)} |\n"


def _enum_table(enum: Enum) -> Iterator[str]:
    yield f"\n## {enum.name}\n\n{enum.doc} {enum.width} bits.\n\n"
    yield "| value | name | |\n| ---: | --- | --- |\n"
    for number, (name, doc) in enumerate(enum.values.items()):
        yield f"| {number} | {name} | {_escaped(doc)} |\n"


def _escaped(text: str) -> str:
    return text.replace("*", "\\*")


FILES: Mapping[str, Callable[[Isa], str]] = {
    "rtl/vector/rs_vector_isa_pkg.sv": render_systemverilog,
    "docs/reference/isa-vector.md": render_page,
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
