"""What Ringsmith itself writes of the register map: a page, and a Python module."""

import textwrap
from collections.abc import Iterator

from ringsmith.hdl.register_map import Register, RegisterMap


def _prose(text: str) -> list[str]:
    return textwrap.wrap(text, 100, break_on_hyphens=False)


# ---- page ----------------------------------------------------------------------------------------


def render_page(
    registers: RegisterMap, card: RegisterMap, notice: str, top: str, card_top: str
) -> str:
    """The page ``docs/reference/registers.md``.

    Args:
        registers: The map of a device.
        card: The map of a card with several.
        notice: What the page is made from.
        top: The module that is an accelerator with this bus, its path.
        card_top: The module of a card.
    """
    lines = [
        *_prose(f"<!-- {notice} -->"),
        "# The register block",
        "",
        *_prose(
            "After reading this page you can drive a device over its AXI4-Lite bus: tell what it "
            "is, load its memories and its program, run it, and read the results."
        ),
        "",
        *_prose(
            f"`{top}` is the accelerator with this bus: 32-bit data, byte "
            "addresses in a page of 4 KiB. A register of 64 bits is two words, the lower first. An "
            "address without a register, a write to one that is only read and a read of one that "
            "is only written are answered with SLVERR. What is illegal at that moment or for that "
            "device is answered with OKAY, has no effect and sets a bit of `refused`. "
            "`rtl/shell/rs_registers.h` is the same map in C. Polynomials may cross the data path, "
            "an AXI4 bus of 512 bits next to this one, the data path, where "
            "`data_path` says that there is one."
        ),
        "",
        "## A host's work",
        "",
        "1. Read `magic`, `version`, `architecture` and the capabilities: is it the "
        "device you expect?",
        "2. Write `control.reset` and wait until `status` is 0: whatever a host before you left",
        "   half done is gone.",
        "3. Set `host_space`, `host_unit`, `host_index`, `host_word`; write words to `host_data`.",
        "   Set `program_address`; write instructions to `program_data`.",
        "4. Write `control.start`; wait until `status.busy` is 0. Read `cycles`.",
        "5. Set the place again and read words from `host_data`.",
        "6. Read `refused`: 0 says that everything was done.",
        "",
        "## Registers",
        "",
        *_TABLE,
    ]
    for register in registers.plain:
        lines += _rows(register)
    lines += ["", "## Capabilities", "", *_prose(_CAPABILITIES), ""]
    lines += ["| address | register | field of the record | |", "| --- | --- | --- | --- |"]
    lines += [
        f"| `0x{capability.address:03X}` | `{capability.name}` | `{capability.rtl_field}` "
        f"| {_doc(capability)} |"
        for capability in registers.capabilities
    ]
    lines += ["", "## A card's registers", "", *_prose(f"`{card_top}` {_CARD}"), "", *_TABLE]
    for register in card.plain:
        lines += _rows(register)
    return "\n".join(lines) + "\n"


_TABLE = [
    "| address | register | bits | access | reset | |",
    "| --- | --- | --- | --- | --- | --- |",
]

_CARD = (
    "is a card of several coprocessors behind one DMA (dma.md). Its AXI4-Lite bus has byte "
    "addresses of 16 bits: the first page of 4 KiB holds the registers below, page c + 1 those of "
    "coprocessor c, as above. An address behind the last coprocessor, and one of a coprocessor "
    "while all are in reset, is answered with SLVERR. The coprocessors have no data path. "
    "`rtl/card/rs_card_registers.h` is this map in C."
)

_CAPABILITIES = (
    "What the design is: 32 bits each, read only. The names are those of the design's attributes. "
    "A capability that a device does not have, beyond its `capability_count`, is answered "
    "with SLVERR."
)


def _doc(register: Register) -> str:
    field = register.fields[0]
    encoded = "; ".join(f"{number} = `{word}`" for word, number, _ in field.values)
    return register.doc + (f" {encoded}." if encoded else "")


def _rows(register: Register) -> Iterator[str]:
    """A register's row, and one for each of its fields where it has several."""
    name, address = register.name, f"0x{register.address:03X}"
    if register.array is not None:
        name = f"{register.array.name}[c].{name}"
        address += f" + 0x{register.array.stride:X}*c"
    start = f"| `{address}` | `{name}` |"
    if len(register.fields) == 1:
        field = register.value
        yield f"{start} {field.bits} | {field.access} | {_hex(field.reset)} | {register.doc} |"
        for word, number, doc in field.values:
            yield f"| | {number} = `{word}` | | | | {doc} |"
        return
    yield f"{start} | | | {register.doc} |"
    for field in register.fields:
        yield (
            f"| | `.{field.name}` | {field.bits} | {field.access} | {_hex(field.reset)} | "
            f"{field.doc} |"
        )


def _hex(reset: int | None) -> str:
    return "" if reset is None else f"`{reset:#x}`"


# ---- Python --------------------------------------------------------------------------------------

_HEAD = '''
from enum import IntEnum, IntFlag
from typing import NamedTuple


class Capability(NamedTuple):
    """Something that a device says of its own design.

    Attributes:
        name: The attribute of the design.
        rtl_field: The field of the RTL's record that carries it.
        address: The address of its register.
        values: Words that stand for the numbers 0, 1, …; empty where the number itself is meant.
    """

    name: str
    rtl_field: str
    address: int
    values: tuple[str, ...]
'''


def render_python(registers: RegisterMap, notice: str) -> str:
    """A Python module with the registers' addresses and values."""
    lines = ['"""The registers of a device.', "", *_prose(notice), '"""', *_HEAD.splitlines()]
    lines += ["", "", "class Register(IntEnum):", '    """Byte addresses."""', ""]
    lines += [
        f"    {register.name.upper()} = 0x{register.address:02X}" for register in registers.plain
    ]
    for register in registers.plain:
        lines += _class_of(register)
    lines += ["", "", *_identity(registers)]
    lines += [f"ARCHITECTURE = {registers.register('architecture').value.reset}", ""]
    lines += ["CAPABILITIES = ("]
    for capability in registers.capabilities:
        values = ", ".join(f'"{word}"' for word, _, _ in capability.value.values)
        comma = "," if len(capability.value.values) == 1 else ""
        lines.append(
            f'    Capability("{capability.attribute}", "{capability.rtl_field}", '
            f"0x{capability.address:02X}, "
            f"({values}{comma})),"
        )
    lines += [")", '"""What a device tells, in the order of its registers."""']
    return "\n".join(lines) + "\n"


_CARD_HEAD = ["", "from enum import IntEnum, IntFlag"]


def render_card_python(card: RegisterMap, notice: str) -> str:
    """A Python module with the addresses of a card's registers."""
    return render_array_python(card, notice, "Card", "The registers of a card.")


def render_array_python(registers: RegisterMap, notice: str, name: str, title: str) -> str:
    """A Python module with the addresses of a map that has one array of regfiles.

    Args:
        registers: The map.
        notice: What the module is made from.
        name: What begins the name of the class of all other registers.
        title: The module's first line.
    """
    lines = [f'"""{title}', "", *_prose(notice), '"""', *_CARD_HEAD]
    own = [register for register in registers.plain if register.array is None]
    (array,) = {register.array for register in registers.plain} - {None}
    assert array is not None
    parts = [register for register in registers.plain if register.array == array]
    lines += ["", "", f"class {name}Register(IntEnum):", '    """Byte addresses."""', ""]
    lines += [f"    {register.name.upper()} = 0x{register.address:02X}" for register in own]
    for register in own:
        lines += _class_of(register)
    several = array.name.capitalize()
    lines += ["", "", f"class {several}Register(IntEnum):"]
    lines += [f'    """Byte addresses from a {array.name}\'s first on."""', ""]
    lines += [
        f"    {register.name.upper()} = 0x{register.address - array.address:02X}"
        for register in parts
    ]
    for register in parts:
        lines += _class_of(register, several)
    lines += ["", "", *_identity(registers)]
    lines += [
        f"{several.upper()}S = 0x{array.address:03X}",
        f'"""Where the first {array.name} begins."""',
    ]
    lines += [f"{several.upper()}_BYTES = 0x{array.stride:02X}"]
    return "\n".join(lines) + "\n"


def render_map_page(registers: RegisterMap, notice: str, title: str, after: str) -> str:
    """A page with the registers of a map, and nothing else.

    Args:
        registers: The map.
        notice: What the page is made from.
        title: Its title.
        after: What its reader can do, and what else must be known.
    """
    lines = [*_prose(f"<!-- {notice} -->"), f"# {title}", "", *_prose(after), "", *_TABLE]
    for register in registers.plain:
        lines += _rows(register)
    return "\n".join(lines) + "\n"


def _identity(registers: RegisterMap) -> list[str]:
    """What tells a device, and the version of its map."""
    version = registers.register("version")
    return [
        f"MAGIC = 0x{registers.register('magic').value.reset:08X}",
        *(f"VERSION_{field.name.upper()} = {field.reset}" for field in version.fields),
    ]


def _class_of(register: Register, prefix: str = "") -> list[str]:
    """The class of a register's bits, or of its values; nothing where it is a number."""
    if len(register.fields) > 1 and all(field.width == 1 for field in register.fields):
        name = prefix + register.name.capitalize()
        lines = ["", "", f"class {name}(IntFlag):", f'    """Bits of ``{register.name}``."""']
        for field in register.fields:
            lines += ["", f"    {field.name.upper()} = {1 << field.lsb:#x}"]
            lines += _docstring(field.doc)
        return lines
    if len(register.fields) == 1 and "w" in register.value.access:
        return _enumeration(register)
    return []


def _class_name(encoding: str) -> str:
    """``address_space`` -> ``AddressSpace``."""
    return encoding.title().replace("_", "")


def _enumeration(register: Register) -> list[str]:
    """The class of what a host writes to a register; nothing where it is a number."""
    field = register.value
    if not field.values:
        return []
    lines = ["", "", f"class {_class_name(field.encoding)}(IntEnum):"]
    lines += _docstring(f"{register.doc.rstrip('.')}: values of ``{register.name}``.")
    for word, number, doc in field.values:
        lines += ["", f"    {word.upper()} = {number}", *_docstring(doc)]
    return lines


def _docstring(doc: str) -> list[str]:
    text = textwrap.wrap(f'"""{doc}"""', 96, break_on_hyphens=False)
    return [f"    {line}" for line in text]
