"""A LiteX module around a design, and a simulation of it on a LiteX system's bus."""

from collections.abc import Iterator, Sequence
from importlib import resources
from string import Template

from ringsmith.backends.exporter import Greeting, Hardware
from ringsmith.generate.packaging import MAKE, VERILATE, Names
from ringsmith.hdl import interfaces as buses
from ringsmith.hdl.interfaces import Interface, Port

_CHANNELS = ("AW", "AR", "W", "B", "R")
_PREFIX = {buses.INPUT: "i", buses.OUTPUT: "o"}


def litex_files(names: Names, hardware: Hardware, sources: Sequence[str]) -> dict[str, str]:
    """The files of ``litex/``: the module, and the simulation."""
    first, *others = [each for each in hardware.interfaces if each.kind == buses.CLOCK]
    domains = {first.name: "sys", **{each.name: each.name for each in others}}
    module = _template("module.py.in").substitute(
        design=names.design,
        top=names.top,
        name=_class_name(names),
        sources="\n".join(f'    "{file}",' for file in sources),
        defines=", ".join(f'"{macro}"' for macro in hardware.macros),
        domains=", ".join(f'"{domain}"' for domain in domains.values()),
        members="\n".join(_members(hardware.interfaces, domains)),
        ports="\n".join(_ports(hardware.interfaces, domains)),
    )
    greeting = hardware.greeting
    simulation = _template("simulate.py.in").substitute(
        module=f"ringsmith_{names.design}_litex",
        name=_class_name(names),
        top=names.top,
        options=_list((*VERILATE, *hardware.simulation, *MAKE)).replace("-O1", "-O0"),
        domains="\n".join(
            f'        self.cd_{domain} = ClockDomain("{domain}")\n'
            f"        self.comb += [self.cd_{domain}.clk.eq(clock), self.cd_{domain}.rst.eq(reset)]"
            for domain in domains.values()
        ),
        greet=_greeting(greeting),
        wanted=len(greeting.reads) or 1,
    )
    return {
        f"litex/ringsmith_{names.design}_litex.py": module,
        "litex/simulate.py": simulation,
    }


def _template(name: str) -> Template:
    folder = resources.files("ringsmith.generate") / "templates" / "litex"
    return Template((folder / name).read_text(encoding="utf-8"))


def _class_name(names: Names) -> str:
    return "Ringsmith" + "".join(part.capitalize() for part in names.design.split("_"))


def _list(words: Sequence[str]) -> str:
    """Words of a command as a Python list; LiteX's options may hold several words."""
    return ", ".join(f'"{part}"' for word in words for part in word.split(" "))


def _members(interfaces: Sequence[Interface], domains: dict[str, str]) -> Iterator[str]:
    """The module's interfaces, as its attributes."""
    for each in interfaces:
        bits = {port.signal: port.bits for port in each.ports}
        domain = f'clock_domain="{domains.get(each.clock, "sys")}"'
        match each.kind:
            case buses.AXI_LITE:
                shape = f"data_width={bits['WDATA']}, address_width={bits['AWADDR']}"
                yield f"        self.{each.name} = axi.AXILiteInterface({shape}, {domain})"
            case buses.AXI:
                shape = f"data_width={bits['RDATA']}, address_width={bits['ARADDR']}"
                shape += f", id_width={bits['ARID']}" if "ARID" in bits else ""
                yield f"        self.{each.name} = axi.AXIInterface({shape}, {domain})"
            case buses.AXI_STREAM:
                shape = f"data_width={bits['TDATA']}"
                yield f"        self.{each.name} = axi.AXIStreamInterface({shape}, {domain})"
            case buses.INTERRUPT | buses.PLAIN:
                yield f"        self.{each.name} = Signal({each.ports[0].bits})"


def _ports(interfaces: Sequence[Interface], domains: dict[str, str]) -> Iterator[str]:
    """Connections of the instance."""
    for each in interfaces:
        for port in each.ports:
            value = _value(each, port, domains)
            yield f"            {_PREFIX[port.direction]}_{port.name}={value},"


def _value(interface: Interface, port: Port, domains: dict[str, str]) -> str:
    match interface.kind:
        case buses.CLOCK:
            return f'ClockSignal("{domains[port.name]}")'
        case buses.RESET:
            return f'~ResetSignal("{domains[interface.clock]}")'
        case buses.AXI_LITE | buses.AXI:
            channel = next(each for each in _CHANNELS if port.signal.startswith(each))
            field = port.signal.removeprefix(channel).lower()
            return f"self.{interface.name}.{channel.lower()}.{field}"
        case buses.AXI_STREAM:
            return f"self.{interface.name}.{port.signal.removeprefix('T').lower()}"
    return f"self.{interface.name}"


def _greeting(greeting: Greeting) -> str:
    """The part of the simulation that talks to the device."""
    if greeting.reads:
        reads = ", ".join(f"(0x{address:x}, 0x{value:x})" for address, value in greeting.reads)
        return _template("registers.py.in").substitute(bus=greeting.bus, reads=reads)
    words = ", ".join(f"0x{word:x}" for word in greeting.words)
    return _template("streams.py.in").substitute(
        bus=greeting.bus, words=words, answers=greeting.answers, answer=greeting.answer
    )
