"""Scripts and constraints by which Vivado takes a folder.

Clocks of the top module are constrained for synthesis out of context alone: in a larger design they
come from there. Paths between clocks are limited in both, by a file for each module that has
some: it lies next to the module in ``rtl/``, and its paths are those of an instance.
"""

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import PurePosixPath
from string import Template

from ringsmith.backends.exporter import Hardware
from ringsmith.generate import wrapper
from ringsmith.generate.packaging import Names, include_folders
from ringsmith.hdl.sources import rtl_root
from ringsmith.platforms import NO_PLATFORM, Platform, load_platform

NOT_RUN = "Vivado is not among Ringsmith's tools: this script was never run where it was made."
FAMILIES = ("xcup", "xc7")
"""Families, as Yosys calls them, whose tools are Vivado."""


def vivado_files(
    names: Names, hardware: Hardware, sources: Sequence[str], title: str
) -> dict[str, str]:
    """The files of ``vivado/``; none for a platform of another vendor.

    Args:
        names: The folder's names.
        hardware: The design's hardware.
        sources: RTL in the order in which it is read.
        title: What the design is.
    """
    platform = None if hardware.platform == NO_PLATFORM else load_platform(hardware.platform)
    if platform and platform.family not in FAMILIES:
        return {}
    crossings = crossing_files(sources) if len(hardware.clocks) > 1 else {}
    common: Mapping[str, object] = {
        "title": title,
        "name": names.design,
        "design": names.design,
        "top": names.top,
        "version": names.version,
        "not_run": NOT_RUN,
        "sources": "\n".join(f"  {file}" for file in sources),
        "includes": " ".join(f"[file join $root {folder}]" for folder in include_folders(sources)),
        "defines": " ".join(hardware.macros),
        "interfaces": _interface_commands(hardware),
        "crossings": " ".join(crossings),
        "part": platform.part if platform else "",
        "board": platform.board if platform else "",
        "part_argument": "[PART]" if platform else "PART",
        "part_about": _about(hardware, platform),
    }
    scripts = ("part.tcl", "project.tcl", "files.tcl", "crossings.tcl", "package_ip.tcl")
    found = {f"vivado/{script}": _filled(script, common) for script in scripts}
    found[f"vivado/{names.top}.xdc"] = clock_constraints(hardware)
    return found | {
        f"vivado/{module}.xdc": f"# {NOT_RUN}\n{text}" for module, text in crossings.items()
    }


def crossing_files(sources: Sequence[str]) -> dict[str, str]:
    """Constraints of the modules among sources that have paths between two clocks, by module."""
    found = {}
    for source in sources:
        path = PurePosixPath(source)
        file = (rtl_root().parent / path).with_suffix(".xdc")
        if path.parts[0] == "rtl" and file.is_file():
            found[path.stem] = file.read_text(encoding="utf-8")
    return found


def clock_constraints(hardware: Hardware) -> str:
    """The clocks of the top module, as Vivado reads them (XDC): for synthesis out of context."""
    lines = [
        f"# {NOT_RUN}",
        "# Clocks out of context: assumed, not measured. In a larger design they come from there.",
    ]
    lines += [
        f"create_clock -name {name} -period {1000 / mhz:.3f} [get_ports {name}]  ;# {mhz:g} MHz"
        for name, mhz in hardware.clocks.items()
    ]
    return "\n".join(lines) + "\n"


def _about(hardware: Hardware, platform: Platform | None) -> str:
    if platform is None:
        return (
            "The design names no platform, and so no part: give the part as an argument, or write\n"
            "# platform = ... into its file and generate the folder again."
        )
    return f"The part of platform {hardware.platform}, {platform.card}, or an argument."


def _filled(script: str, values: Mapping[str, object]) -> str:
    folder = resources.files("ringsmith.generate") / "templates" / "vivado"
    return Template((folder / script).read_text(encoding="utf-8")).substitute(values)


def _interface_commands(hardware: Hardware) -> str:
    """Tcl that checks that the packager found every bus, and joins each with its clock."""
    lines = []
    for each in hardware.interfaces:
        if wrapper.is_bus(each):
            lines.append(
                f"if {{[ipx::get_bus_interfaces {each.name} -of_objects $ip] eq {{}}}} "
                f'{{ error "interface {each.name} was not found" }}'
            )
            lines.append(
                f"ipx::associate_bus_interfaces -busif {each.name} -clock {each.clock} $ip"
            )
    return "\n".join(lines)
