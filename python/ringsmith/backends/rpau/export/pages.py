"""Register maps, C headers and the page about the registers of a design that is written out."""

from collections.abc import Iterable, Sequence

from ringsmith.backends.rpau.design import rtl
from ringsmith.backends.rpau.design.design import RpauDesign
from ringsmith.backends.rpau.design.register_table import (
    ARCHITECTURE,
    CAPABILITIES,
    MAGIC,
    AddressSpace,
    Control,
    Refused,
    Register,
    Status,
)
from ringsmith.backends.rpau.device.interface import BEAT_BYTES
from ringsmith.hdl.sources import rtl_root
from ringsmith.markdown import table_lines

_MAPS = ("shell/rs_registers.rdl", "shell/rs_registers.h")
_CARD_MAPS = ("card/rs_card_registers.rdl", "card/rs_card_registers.h")


def files(design: RpauDesign, *, card: bool) -> dict[str, str]:
    """The files of ``registers/`` by their path in the folder."""
    maps = (*_MAPS, *(_CARD_MAPS if card else ()))
    found = {
        f"registers/{path.rpartition('/')[2]}": (rtl_root() / path).read_text() for path in maps
    }
    found["registers/rs_design.h"] = _header(design)
    found["registers/registers.md"] = _page(design, card=card)
    return found


def greeting(design: RpauDesign, *, page: int) -> tuple[tuple[int, int], ...]:
    """Registers that say what a device is: address -> value.

    Args:
        design: The design.
        page: The page of 4 KiB that they lie in.
    """
    capabilities = zip(CAPABILITIES, rtl.capabilities(design).values(), strict=True)
    found = [(int(Register.MAGIC), MAGIC), (int(Register.CAPABILITY_COUNT), len(CAPABILITIES))]
    found += [(capability.address, value) for capability, value in capabilities]
    return tuple((4096 * page + address, value) for address, value in found)


def _header(design: RpauDesign) -> str:
    """Capability values as C constants: a driver compares them with the device's registers."""
    lines = [
        f"// What design {design.name} is, as its registers say: a driver compares them.",
        "#ifndef RS_DESIGN_H",
        "#define RS_DESIGN_H",
        "",
        f"#define RS_DESIGN_MAGIC 0x{MAGIC:08x}u",
        f"#define RS_DESIGN_ARCHITECTURE {ARCHITECTURE}u",
        f"#define RS_DESIGN_CAPABILITY_COUNT {len(CAPABILITIES)}u",
        f"#define RS_DESIGN_COPROCESSORS {design.coprocessors}u",
        "",
        "// Capabilities: address of the register, and the value that this design has there.",
    ]
    values = rtl.capabilities(design)
    for capability in CAPABILITIES:
        name = capability.name.upper()
        lines.append(f"#define RS_CAPABILITY_{name}_ADDRESS 0x{capability.address:03x}u")
        lines.append(f"#define RS_CAPABILITY_{name} {values[capability.name]}u")
    return "\n".join([*lines, "", "#endif", ""])


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return "\n".join(table_lines(headings, rows, headings))


def _page(design: RpauDesign, *, card: bool) -> str:
    values = rtl.capabilities(design)
    where = (
        "Addresses are those within a page of 4 KiB: page 0 has the card's own registers "
        "(rs_card_registers.rdl), page c + 1 those of coprocessor c."
        if card
        else "The bus has 32-bit data and byte addresses in a page of 4 KiB."
    )
    parts = [
        f"# Registers of {design.name}",
        f"{where} A register of 64 bits is two words, the lower one first. rs_registers.rdl "
        "describes every field; rs_registers.h and rs_design.h are for C.",
        "## A host's work",
        _WORK,
        *(() if card else (_data_path(design),)),
        "## Registers",
        _table(
            ["address", "register"],
            [(f"`{each:#05x}`", f"`{each.name.lower()}`") for each in Register],
        ),
        "## Bits",
        _table(
            ["register", "bit", "name"],
            [
                (f"`{name}`", str(int(bit).bit_length() - 1), f"`{str(bit.name).lower()}`")
                for name, kind in (("control", Control), ("status", Status), ("refused", Refused))
                for bit in kind
            ],
        ),
        "## Address spaces of `host_space`",
        _table(
            ["number", "space"],
            [(str(int(space)), f"`{space.name.lower()}`") for space in AddressSpace],
        ),
        "## Capabilities: what this design says of itself",
        _table(
            ["address", "register", "value"],
            [
                (f"`{each.address:#05x}`", f"`{each.name}`", str(values[each.name]))
                for each in CAPABILITIES
            ],
        ),
    ]
    return "\n\n".join(parts) + "\n"


_WORK = """\
1. Read `magic` and the capabilities: is it the device that you expect?
2. Write `control.reset` and wait until `status` is 0.
3. Write `ring`: log2 of the ring's degree.
4. Set `host_space`, `host_unit`, `host_index`, `host_word`; write words to `host_data`.
5. Write 0 to `program_address`, then the instructions to `program_data`.
6. Write `control.start`; wait until `status.busy` is 0. Read `cycles`.
7. Read words from `host_data`, or over the data path.
8. Read `refused`: 0 says that everything was done.

The testbench in `tb/` does exactly this, with the steps in `program/steps.hex`."""


def _data_path(design: RpauDesign) -> str:
    return (
        f"Polynomials also cross the data path, the AXI4 bus `s_axi`: {BEAT_BYTES} bytes a beat, a "
        "word of a polynomial in 8 bytes, little-endian. Polynomial i of RPAU u begins at byte "
        f"((z · 16 + u) · 4096 + i) · {8 * design.n}, z = 0 for work polynomials and 1 for keys. "
        "Bursts are whole beats of ascending addresses."
    )
