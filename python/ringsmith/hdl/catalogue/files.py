"""The files that are written from the sources of the RTL."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ringsmith.errors import ToolError
from ringsmith.hdl.catalogue import lists
from ringsmith.hdl.catalogue.blocks import read_blocks
from ringsmith.hdl.catalogue.checks import find_checks
from ringsmith.hdl.catalogue.figure import Plan, draw
from ringsmith.hdl.catalogue.page import page
from ringsmith.hdl.generated import GeneratedFiles, notice

SOURCES = ("rtl/catalogue.toml", "rtl/")
COMMAND = "python -m ringsmith.hdl.catalogue"
README = "rtl/README.md"


def settings(root: Path) -> dict[str, Any]:
    """What the sources do not say: ``rtl/catalogue.toml`` of a checkout."""
    return tomllib.loads((root / SOURCES[0]).read_text(encoding="utf-8"))


def render(root: Path) -> Mapping[str, str]:
    """The texts of all files, by their paths in the checkout ``root``.

    Raises:
        ToolError: If a folder has no description, a shared one uses another that is not, or a
            diagram shows other blocks than there are.
    """
    known, blocks = settings(root), read_blocks(root / "rtl")
    folders = {each.folder for each in blocks.values()}
    if folders != known["folders"].keys():
        raise ToolError(
            f"rtl/ has the folders {', '.join(sorted(folders))}, and {SOURCES[0]} describes "
            f"{', '.join(sorted(known['folders']))}: describe each one there"
        )
    _check_shared(known["shared"], lists.uses(blocks))
    plan = Plan(known["inside"], known["labels"])
    if wrong := plan.wrong(blocks):
        raise ToolError("; ".join(wrong))
    figures = {
        f"docs/pictures/rtl-{each['top'].removeprefix('rs_').replace('_', '-')}.svg": each
        for each in known["figures"]
    }
    titles = {path: each["title"] for path, each in figures.items()}
    checks = find_checks(root, blocks, known["tested"])
    version = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "version"
    ]
    said = notice(SOURCES, COMMAND)
    return {
        README: page(blocks, checks, known, titles, COMMAND),
        **lists.folder_cores(blocks, known["folders"], said, version),
        lists.LIST: lists.file_list(blocks, said),
        lists.CORE: lists.fusesoc_core(blocks, said, version),
        lists.BENDER: lists.bender(blocks, said),
        **{
            path: draw(each["top"], each["title"], plan.without(each.get("closed", ())))
            for path, each in figures.items()
        },
    }


def _check_shared(shared: Sequence[str], uses: Mapping[str, set[str]]) -> None:
    """Refuses a shared folder that names something of another one."""
    for folder in shared:
        if more := uses[folder] - {*shared}:
            raise ToolError(
                f"rtl/{folder} is shared and uses {', '.join(sorted(more))}, which is not: move "
                f"what it needs into a shared folder, or take it out of `shared` in {SOURCES[0]}"
            )


FILES = GeneratedFiles(SOURCES, COMMAND, render)
