"""The RTL's file lists: for simulators and synthesis, for FuseSoC and for Bender."""

from collections.abc import Iterator, Mapping, Sequence

from ringsmith.hdl.catalogue.blocks import Block, in_order

LIST, CORE, BENDER = "rtl/ringsmith.f", "rtl/ringsmith.core", "Bender.yml"
"""The lists, from the root of the checkout on."""


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
    ]
    for name, files in _groups(blocks).items():
        lines += ["", f"// {name}", *(each.path for each in files)]
    return "\n".join(lines) + "\n"


def tops(blocks: Mapping[str, Block]) -> list[str]:
    """Modules that no other has an instance of."""
    inside = {name for each in blocks.values() for name in each.instances}
    return [n for n, each in blocks.items() if n not in inside and not each.is_package]


def fusesoc_core(blocks: Mapping[str, Block], notice: str, version: str) -> str:
    """The core file, in FuseSoC's CAPI 2: a fileset a folder, and a target to lint each top."""
    groups = _groups(blocks)
    sets = "".join(
        f"  {name}:\n    files:\n{_listed(files, '      - ')}    file_type: systemVerilogSource\n"
        for name, files in groups.items()
    )
    lints = "".join(_LINT.format(top=top) for top in tops(blocks))
    return f"""\
CAPI=2:
# {notice}
name: ringsmith:rtl:all:{version}
description: Accelerators for computing on encrypted data, and the blocks that they are made of

filesets:
{sets}  waivers:
    files:
      - verilator.vlt: {{file_type: vlt}}

targets:
  default: &default
    filesets: [{", ".join(groups)}]
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

sources:
{groups}"""


def _listed(files: Sequence[Block], before: str) -> str:
    return "".join(_lines(files, before))


def _lines(files: Sequence[Block], before: str) -> Iterator[str]:
    for each in files:
        yield f"{before}{each.path}\n"
