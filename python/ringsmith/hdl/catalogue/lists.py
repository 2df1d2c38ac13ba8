"""The RTL's file lists: for simulators and synthesis, for FuseSoC and for Bender."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ringsmith.hdl.catalogue.blocks import Block, in_order
from ringsmith.hdl.sources import COMMON, rtl_sources

LIST, CORE, BENDER = "rtl/ringsmith.f", "rtl/ringsmith.core", "Bender.yml"
"""The lists, from the root of the checkout on."""

COMMON_TITLE = "Macros that modules include: assertions, types of AXI."


def _groups(blocks: Mapping[str, Block]) -> dict[str, list[Block]]:
    """Files in an order in which they can be read: all packages, then the folders of modules.

    A folder stands behind those whose modules it has instances of.
    """
    ordered = in_order(blocks)
    folders = {each.folder: set[str]() for each in ordered}
    for each in ordered:
        folders[each.folder] |= {blocks[name].folder for name in each.instances} - {each.folder}
    groups = {"packages": [each for each in ordered if each.is_package]}
    while folders:
        name = next(n for n, used in folders.items() if used <= groups.keys())
        del folders[name]
        groups[name] = [b for b in ordered if b.folder == name and not b.is_package]
    return groups


def file_list(blocks: Mapping[str, Block], notice: str) -> str:
    """A list of files, paths from the folder of the list on.

    Args:
        blocks: All blocks.
        notice: What the list says of itself.
    """
    lines = [
        f"// {notice}",
        "// verilator -F rtl/ringsmith.f; slang -F rtl/ringsmith.f; paths begin in this folder.",
        "",
        f"+incdir+{COMMON}",
    ]
    for name, files in _groups(blocks).items():
        lines += ["", f"// {name}", *(each.path for each in files)]
    return "\n".join(lines) + "\n"


def tops(blocks: Mapping[str, Block]) -> list[str]:
    """Modules that no other has an instance of."""
    inside = {name for each in blocks.values() for name in each.instances}
    return [n for n, each in blocks.items() if n not in inside and not each.is_package]


def uses(blocks: Mapping[str, Block]) -> dict[str, set[str]]:
    """Folder -> the other folders whose modules and packages its files name."""
    found = {each.folder: set[str]() for each in blocks.values()}
    for each in blocks.values():
        named = {blocks[name].folder for name in (*each.instances, *each.packages)}
        found[each.folder] |= named - {each.folder}
    return found


def folder_core(folder: str) -> str:
    """The core file of a folder, from the root of the checkout on."""
    return f"rtl/{folder}/{folder}.core"


def folder_cores(
    blocks: Mapping[str, Block], holds: Mapping[str, str], notice: str, version: str
) -> dict[str, str]:
    """A core file for each folder, in FuseSoC's CAPI 2, which names the folders that it uses.

    Args:
        blocks: All blocks.
        holds: Folder -> what it holds.
        notice: What the files say of themselves.
        version: Of all cores.
    """
    ordered = in_order(blocks)
    cores = {}
    for folder, used in uses(blocks).items():
        names = "".join(f"      - {each.name}.sv\n" for each in ordered if each.folder == folder)
        common = {COMMON} if any(b.includes and b.folder == folder for b in ordered) else set()
        depend = f"    depend: [{_cores(used | common)}]\n" if used | common else ""
        files = f"{depend}    files:\n{names}"
        cores[folder_core(folder)] = _CORE.format(notice, folder, version, holds[folder], files)
    headers = [file.name for file in rtl_sources() if file.suffix == ".svh"]
    listed = "".join(f"      - {name}: {{is_include_file: true}}\n" for name in headers)
    files = f"    files:\n{listed}"
    cores[folder_core(COMMON)] = _CORE.format(notice, COMMON, version, COMMON_TITLE, files)
    return cores


_CORE = """\
CAPI=2:
# {}
name: ringsmith:rtl:{}:{}
description: "{}"

filesets:
  rtl:
{}    file_type: systemVerilogSource

targets:
  default:
    filesets: [rtl]
"""


def _cores(folders: Iterable[str]) -> str:
    return ", ".join(f"ringsmith:rtl:{name}" for name in sorted(folders))


def fusesoc_core(blocks: Mapping[str, Block], notice: str, version: str) -> str:
    """The core file of all folders' cores, with a target to lint each top."""
    lints = "".join(_LINT.format(top=top) for top in tops(blocks))
    return f"""\
CAPI=2:
# {notice}
name: ringsmith:rtl:all:{version}
description: Accelerators for computing on encrypted data, and the blocks that they are made of

filesets:
  rtl:
    depend: [{_cores(uses(blocks))}]
  waivers:
    files:
      - verilator.vlt: {{file_type: vlt}}

targets:
  default: &default
    filesets: [rtl]
{lints}"""


_LINT = """\
  lint_{top}:
    <<: *default
    filesets_append: [waivers]
    flow: lint
    flow_options: {{tool: verilator, verilator_options: [-Wall]}}
    toplevel: {top}
"""


def bender(blocks: Mapping[str, Block], notice: str) -> str:
    """The manifest of Bender, a group of sources for the packages and one for each folder."""
    groups = "".join(
        f"  # {name}\n  - files:\n{_listed(files, '      - rtl/')}"
        for name, files in _groups(blocks).items()
    )
    return f"""\
# {notice}
package:
  name: ringsmith

export_include_dirs: [rtl/{COMMON}]

sources:
{groups}"""


def _listed(files: Sequence[Block], before: str) -> str:
    return "".join(_lines(files, before))


def _lines(files: Sequence[Block], before: str) -> Iterator[str]:
    for each in files:
        yield f"{before}{each.path}\n"
