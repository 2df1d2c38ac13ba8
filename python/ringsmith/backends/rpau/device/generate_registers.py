"""Writes what is made from the maps of a device's registers, and of a card's.

The maps are ``rtl/shell/rs_registers.rdl`` and ``rtl/card/rs_card_registers.rdl``.

``python -m ringsmith.backends.rpau.device.generate_registers`` writes into the checkout; with
``--check`` it only compares and exits with 1 when something differs. It needs PeakRDL, which is
among the development packages.

Made are whole files and, in SystemVerilog that people write, sections between two comments::

    // generated from rtl/shell/rs_registers.rdl: record
    // end of generated
"""

import re
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from ringsmith.backends.rpau.design.design import RANGES, RpauDesign, load_design
from ringsmith.errors import ToolError
from ringsmith.hdl.generated import GeneratedFiles, notice
from ringsmith.hdl.register_block import block_files
from ringsmith.hdl.register_map import Field, Register, RegisterMap, read_register_map
from ringsmith.hdl.register_pages import render_card_python, render_page, render_python

SOURCE = "rtl/shell/rs_registers.rdl"
CARD_SOURCE = "rtl/card/rs_card_registers.rdl"
COMMAND = "python -m ringsmith.backends.rpau.device.generate_registers"

_BEGIN = re.compile(rf"^( *)// generated from {re.escape(SOURCE)}: (\w+)\n", re.M)
_END = "// end of generated\n"
_SHARED = ("reduction", "family", "twiddles")
"""Enumerations of the record that shared folders declare."""
_SPACE_BITS = 4
"""Bits of ``space_e``."""


def files(registers: RegisterMap, card: RegisterMap) -> dict[str, str]:
    """Every file that is generated whole: its path in the checkout, and its text."""
    made = block_files(registers, SOURCE, COMMAND)
    made |= block_files(card, CARD_SOURCE, COMMAND)
    made["docs/reference/registers.md"] = render_page(
        registers,
        card,
        notice((SOURCE, CARD_SOURCE), COMMAND),
        "rtl/shell/rs_rpau_axil.sv",
        "rtl/card/rs_rpau_card.sv",
    )
    folder = "python/ringsmith/backends/rpau"
    made[f"{folder}/design/register_table.py"] = render_python(
        registers, notice((SOURCE,), COMMAND)
    )
    made[f"{folder}/device/card_table.py"] = render_card_python(
        card, notice((CARD_SOURCE,), COMMAND)
    )
    return made


def sections(registers: RegisterMap, defaults: RpauDesign) -> dict[str, dict[str, list[str]]]:
    """The sections of hand-written files: path -> name of the section -> its lines."""
    names = [str(capability.rtl_field) for capability in registers.capabilities]
    capabilities = [f"Capability{name}," for name in names]
    reported = [f"assign design_o[Capability{n}] = CapabilityBits'(Cfg.{n});" for n in names]
    registered = [
        f"assign hwif_in.capabilities.{capability.name}.value.next = "
        f"reported[Capability{capability.rtl_field}];"
        for capability in registers.capabilities
    ]
    spaces = registers.register("host_space").value.values
    return {
        "rtl/rpau/rs_rpau_pkg.sv": {
            "spaces": list(_space_members(spaces)),
            "choices": list(_choices(registers.capabilities)),
            "record": list(_record_fields(registers.capabilities, defaults)),
            "default": list(_default_fields(registers.capabilities, defaults)),
            "capabilities": capabilities,
        },
        "rtl/rpau/rs_rpau_top.sv": {"capabilities": reported},
        "rtl/shell/rs_rpau_shell.sv": {"capabilities": registered},
    }


def _choices(capabilities: Sequence[Register]) -> Iterator[str]:
    """The enumerations of the record, but those that blocks of ``rtl/arith`` have."""
    done = set(_SHARED)
    for value in (capability.value for capability in capabilities):
        if not value.values or value.encoding in done:
            continue
        done.add(value.encoding)
        yield "typedef enum int unsigned {"
        for word, number, doc in value.values:
            yield from _comment(doc, "  ")
            last = "," if number < len(value.values) - 1 else ""
            yield f"  {_member(value, word)} = {number}{last}"
        yield f"}} {value.encoding}_e;"


def _member(value: Field, word: str) -> str:
    """The name of a member of an enumeration."""
    return value.encoding.title() + word.title()


def _record_fields(capabilities: Sequence[Register], defaults: RpauDesign) -> Iterator[str]:
    """The fields of ``rpau_cfg_t``, each below what it is and its range."""
    for capability in capabilities:
        kind, bounds = "int unsigned", ""
        if capability.value.values:
            kind = f"{capability.value.encoding}_e"
        elif isinstance(getattr(defaults, capability.attribute), bool):
            kind = "bit"
        elif capability.attribute in RANGES:
            bounds = " From {} to {}.".format(*RANGES[capability.attribute])
        yield from _comment(capability.doc + bounds)
        yield f"{kind} {capability.rtl_field};"


def _default_fields(capabilities: Sequence[Register], design: RpauDesign) -> Iterator[str]:
    """The fields' values for a design."""
    for number, capability in enumerate(capabilities):
        value = getattr(design, capability.attribute)
        text = f"1'b{value:d}" if isinstance(value, bool) else str(value)
        if capability.value.values:
            text = _member(capability.value, value)
        last = "," if number < len(capabilities) - 1 else ""
        yield f"{capability.rtl_field}: {text}{last}"


def _comment(doc: str, indent: str = "") -> list[str]:
    """A description as comment lines."""
    begin = f"{indent}// "
    return textwrap.wrap(
        doc, 90, initial_indent=begin, subsequent_indent=begin, break_on_hyphens=False
    )


def _space_members(spaces: Sequence[tuple[str, int, str]]) -> Iterator[str]:
    """The members of ``space_e``, each below what it is."""
    for name, number, doc in spaces:
        yield from _comment(doc)
        member = "Space" + name.title().replace("_", "")
        yield f"{member} = {_SPACE_BITS}'d{number}" + ("," if number < len(spaces) - 1 else "")


def fill(text: str, lines: Mapping[str, Iterable[str]], path: str) -> str:
    """A file's text with its sections filled in.

    Raises:
        ToolError: If a section is missing, unknown, or has no end.
    """
    found = [name for _, name in _BEGIN.findall(text)]
    if sorted(found) != sorted(lines):
        raise ToolError(
            f"{path} has the sections {', '.join(found)}; it takes {', '.join(lines)}, each once"
        )
    parts, position = [], 0
    for begin in _BEGIN.finditer(text):
        indent, name = begin.groups()
        end = text.find(indent + _END, begin.end())
        if end < 0:
            raise ToolError(f"{path}: section {name} has no line {_END!r} of its indentation")
        parts.append(text[position : begin.end()])
        parts += [f"{indent}{line}\n" for line in lines[name]]
        position = end
    return "".join(parts) + text[position:]


def expected(root: Path) -> dict[str, str]:
    """What every generated file, and every file with generated sections, should hold.

    Raises:
        ToolError: If the map is wrong, or a section is missing.
    """
    registers = read_register_map(root / SOURCE)
    made = files(registers, read_register_map(root / CARD_SOURCE))
    for path, lines in sections(registers, load_design("nano")).items():
        made[path] = fill((root / path).read_text(encoding="utf-8"), lines, path)
    return made


GENERATED = GeneratedFiles((SOURCE, CARD_SOURCE), COMMAND, expected)


def main(arguments: list[str] | None = None) -> int:
    """Writes or checks the generated files; returns the exit status."""
    return GENERATED.main(arguments, __doc__.splitlines()[0] if __doc__ else None)


if __name__ == "__main__":
    sys.exit(main())
