"""The top module of a folder: the design's parameters bound, its ports in plain Verilog."""

from collections.abc import Iterable, Iterator
from textwrap import fill, indent

from ringsmith.backends.exporter import Hardware
from ringsmith.hdl import interfaces as buses
from ringsmith.hdl.interfaces import Interface, Port
from ringsmith.hdl.record import Record

_LINE = 100
"""Letters of a line."""

_VENDOR = "xilinx.com:interface"
_BUS_TYPES = {
    buses.AXI_LITE: f"{_VENDOR}:aximm:1.0",
    buses.AXI: f"{_VENDOR}:aximm:1.0",
    buses.AXI_STREAM: f"{_VENDOR}:axis:1.0",
    buses.CLOCK: "xilinx.com:signal:clock:1.0",
    buses.RESET: "xilinx.com:signal:reset:1.0",
    buses.INTERRUPT: "xilinx.com:signal:interrupt:1.0",
}
"""What Vivado's IP packager calls interfaces."""


def all_ports(interfaces: Iterable[Interface]) -> Iterator[Port]:
    """All ports, in order."""
    for each in interfaces:
        yield from each.ports


def is_bus(interface: Interface) -> bool:
    """Whether it is one of AXI's."""
    return interface.kind in (buses.AXI_LITE, buses.AXI, buses.AXI_STREAM)


def top_module(name: str, hardware: Hardware, title: str) -> str:
    """The module in Verilog of 2001, with the attributes by which Vivado finds interfaces.

    Args:
        name: The module's.
        hardware: What it instantiates.
        title: What it is, in a line.
    """
    ports = []
    for interface in hardware.interfaces:
        about = f": {interface.about}" if interface.about else ""
        ports.append(f"  // {interface.name}{about}")
        ports += [_declared(interface, port, hardware.interfaces) for port in interface.ports]
    last = max(i for i, line in enumerate(ports) if not line.lstrip().startswith("//"))
    ports[last] = ports[last].rstrip(",")
    parameters = ",\n".join(
        f"    .{key}({_literal(value)})" for key, value in hardware.parameters.items()
    )
    return f"""\
// {title}
//
// The parameters of {hardware.top} are bound here; nothing else is. Attributes name the interfaces
// for tools that look for them.
module {name} (
{chr(10).join(ports)}
);
  {hardware.top} #(
{parameters}
  ) u_design (
{_inner_connections(hardware)}
  );
endmodule
"""


def _literal(value: int | str | Record) -> str:
    """A parameter's value in Verilog of 2001: a record's fields are joined, each with its name."""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return f'"{value}"'
    last = len(value.fields) - 1
    lines = (
        f"      {field.bits}'d{field.value}{',' if number < last else ' '}  // {field.name}"
        for number, field in enumerate(value.fields)
    )
    return "\n".join(["{", *lines, "    }"])


def _inner_connections(hardware: Hardware) -> str:
    """Every port of the design connected to those that it is made of, the first ones lowest."""
    parts: dict[str, list[str]] = {}
    for port in all_ports(hardware.interfaces):
        parts.setdefault(port.part_of or port.name, []).append(port.name)
    joined = {
        name: of_it[0] if len(of_it) == 1 else fill(
            f"{{{', '.join(reversed(of_it))}}}", _LINE, subsequent_indent=" " * 6
        )
        for name, of_it in parts.items()
    }  # fmt: skip
    joined |= hardware.tied
    return ",\n".join(f"    .{name}({value})" for name, value in joined.items())


def _declared(interface: Interface, port: Port, known: Iterable[Interface]) -> str:
    """A port's declaration, its attributes before it."""
    bits = f"[{port.bits - 1}:0] " if port.bits > 1 else ""
    line = f"  {port.direction:6} wire {bits}{port.name},"
    if not port.signal or interface.kind == buses.PLAIN:
        return line
    found = [f'X_INTERFACE_INFO = "{_BUS_TYPES[interface.kind]} {interface.name} {port.signal}"']
    parameter = _parameter(interface, known)
    if parameter and port is interface.ports[0]:
        found.append(f'X_INTERFACE_PARAMETER = "{parameter}"')
    return f"  (* {', '.join(found)} *)\n{line}"


def _parameter(interface: Interface, known: Iterable[Interface]) -> str:
    """Vivado's properties of an interface, without its signals."""
    if interface.kind == buses.RESET:
        return "POLARITY ACTIVE_LOW"
    if interface.kind == buses.INTERRUPT:
        return "SENSITIVITY LEVEL_HIGH"
    if interface.kind != buses.CLOCK:
        return ""
    of_it = [each for each in known if each.clock == interface.name]
    served = ":".join(each.name for each in of_it if is_bus(each))
    resets = ":".join(each.name for each in of_it if each.kind == buses.RESET)
    entries = [f"ASSOCIATED_BUSIF {served}"] if served else []
    entries += [f"ASSOCIATED_RESET {resets}"] if resets else []
    return ", ".join(entries)


def connections(interfaces: Iterable[Interface]) -> str:
    """Every port connected to what has its name."""
    return ",\n".join(f"    .{port.name}({port.name})" for port in all_ports(interfaces))


def declarations(interfaces: Iterable[Interface]) -> str:
    """A variable for every port in SystemVerilog; what the design reads begins at zero."""
    lines = []
    for port in all_ports(interfaces):
        bits = f"[{port.bits - 1}:0] " if port.bits > 1 else ""
        begin = " = '0" if port.direction == buses.INPUT else ""
        lines.append(f"logic {bits}{port.name}{begin};")
    return indent("\n".join(lines), "  ")
