"""The register map as plain records, read from SystemRDL."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from peakrdl_regblock.udps import ALL_UDPS
from systemrdl.compiler import RDLCompiler
from systemrdl.messages import RDLCompileError
from systemrdl.node import AddrmapNode, FieldNode, Node, RegfileNode, RegNode
from systemrdl.rdltypes.user_enum import UserEnum

from ringsmith.errors import ToolError

CAPABILITIES = "capabilities"
"""The regfile of the capability registers."""


@dataclass(frozen=True)
class Field:
    """Bits of a register; ``reset`` is None where the hardware decides the value.

    ``encoding`` names what ``values`` are: the enumeration, less the ``_e`` that ends it.
    """

    name: str
    lsb: int
    width: int
    access: str
    reset: int | None
    doc: str
    values: tuple[tuple[str, int, str], ...]
    encoding: str

    @property
    def bits(self) -> str:
        """``7:0``, or ``3`` for one bit."""
        return f"{self.lsb + self.width - 1}:{self.lsb}" if self.width > 1 else str(self.lsb)


@dataclass(frozen=True)
class Array:
    """An array of regfiles: its name, and where the first and each next one begins."""

    name: str
    address: int
    count: int
    stride: int


@dataclass(frozen=True)
class Register:
    """A register; ``rtl_field`` names the field of the RTL's record that a capability reports.

    Of an array of regfiles it is that of the first; ``array`` is the array.
    """

    name: str
    address: int
    width: int
    doc: str
    rtl_field: str | None
    fields: tuple[Field, ...]
    array: "Array | None" = None

    @property
    def attribute(self) -> str:
        """The name of a capability register's value in a design.

        Its name, less the underscore that ends it where it would be a word of SystemVerilog.
        """
        return self.name.rstrip("_")

    @property
    def value(self) -> Field:
        """The only field.

        Raises:
            ValueError: If there are several.
        """
        (field,) = self.fields
        return field


@dataclass(frozen=True)
class RegisterMap:
    """The registers of a device: ``plain``, then those that tell its design."""

    node: AddrmapNode
    plain: tuple[Register, ...]
    capabilities: tuple[Register, ...]

    def register(self, name: str) -> Register:
        """The plain register of that name."""
        return next(register for register in self.plain if register.name == name)


def read_register_map(path: Path) -> RegisterMap:
    """Compiles a SystemRDL file.

    Raises:
        ToolError: If it is no SystemRDL, a register has no description, or a capability names no
            field of the RTL.
    """
    compiler = RDLCompiler()
    for definition in ALL_UDPS:
        compiler.register_udp(definition, soft=False)
    try:
        compiler.compile_file(str(path))
        top = compiler.elaborate().top
    except RDLCompileError as error:
        raise ToolError(f"{path} is no register map: {error}") from error
    capabilities = {node.get_path() for node in _registers(top.get_child_by_name(CAPABILITIES))}
    records = {node.get_path(): _record(node) for node in _registers(top)}
    for place, register in records.items():
        if not register.doc:
            raise ToolError(f"{path}: register {register.name} has no desc: say what it is")
        if (register.rtl_field is None) == (place in capabilities):
            raise ToolError(
                f"{path}: register {register.name}: the registers of {CAPABILITIES}, and "
                "no others, name the field of the RTL that they tell"
            )
        if place in capabilities and [n for _, n, _ in register.value.values] != [
            *range(len(register.value.values))
        ]:
            raise ToolError(
                f"{path}: register {register.name}: the words of a capability stand for 0, "
                "1, … in order"
            )
    plain = (record for place, record in records.items() if place not in capabilities)
    return RegisterMap(
        top, tuple(plain), tuple(records[place] for place in records if place in capabilities)
    )


def _registers(node: Node | None) -> Iterator[RegNode]:
    if node is not None:
        yield from (child for child in node.descendants() if isinstance(child, RegNode))


def _record(node: RegNode) -> Register:
    fields = tuple(_field(field) for field in node.fields())
    doc = node.get_property("desc") or ""
    rtl_field = node.get_property("rtl_field", default=None)
    width = node.get_property("regwidth")
    address, array = node.raw_absolute_address, _array(node.parent)
    return Register(node.inst_name, address, width, doc, rtl_field, fields, array)


def _array(node: Node | None) -> Array | None:
    """The array that a regfile is, where it is one."""
    if not isinstance(node, RegfileNode) or node.array_dimensions is None:
        return None
    (count,) = node.array_dimensions
    return Array(node.inst_name, node.raw_absolute_address, count, node.array_stride or 0)


def _field(node: FieldNode) -> Field:
    encode = node.get_property("encode")
    members: list[UserEnum] = [] if encode is None else [*encode.members.values()]
    values = tuple((member.name, int(member.value), member.rdl_desc or "") for member in members)
    reset = node.get_property("reset")
    return Field(
        node.inst_name,
        node.low,
        node.width,
        _access(node),
        reset if isinstance(reset, int) else None,
        node.get_property("desc") or "",
        values,
        "" if encode is None else encode.type_name.removesuffix("_e"),
    )


def _access(node: FieldNode) -> str:
    """What software may do: ``r``, ``w``, ``rw``, or ``rw1c``, writing ones clears."""
    if node.get_property("woclr"):
        return "rw1c"
    return ("r" if node.is_sw_readable else "") + ("w" if node.is_sw_writable else "")
