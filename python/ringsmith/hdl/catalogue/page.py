"""The catalogue as a page: a table of blocks for each folder of the RTL."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from ringsmith.hdl.catalogue.blocks import Block
from ringsmith.hdl.catalogue.checks import Checks
from ringsmith.hdl.catalogue.lists import BENDER, CORE, LIST
from ringsmith.markdown import DASH, table_lines

HEADINGS = ("module", "what it computes", "latency", "cost", "checked by")

_CODE = re.compile(r"`[^`]*`|\bdocs/[\w/.-]*\w|\brs[_/][\w/.]*\w(?:::\w+)?")
_OPEN = """\
# Blocks of the RTL

After reading this page you know which block to take, how long it takes, and what checks it.
`{command}` writes the page from the sources and the tests.
A header says more: ranges of inputs, ports and bounds. There are {modules} modules and {packages}
packages in {folders} folders. In the diagrams, words and commands go along the arrows.

A **latency** is a function of a package: the schedulers compute with the same numbers, which the
tests compare with the RTL. A file of a cost model has the cycles of a unit's instructions. "{dash}"
means that the header names none. **Checked by** names the proof by k-induction, if there is one,
and the tests that drive the block itself. "in" names the nearest larger blocks that tests drive.

Other tools read all files, in order, from these lists:

| file | for |
| --- | --- |
| [`{list_name}`]({list_name}) | simulators, linters and synthesis: `verilator -F`, `slang -F` |
| [`{core_name}`]({core_name}) | FuseSoC: `ringsmith:rtl:all`, a fileset for each folder |
| [`{bender}`](../{bender}) | Bender: a group of sources for each folder |
"""


def page(
    blocks: Mapping[str, Block],
    checks: Mapping[str, Checks],
    folders: Mapping[str, str],
    figures: Mapping[str, str],
    command: str,
) -> str:
    """The catalogue.

    Args:
        blocks: All blocks.
        checks: Block -> what checks it.
        folders: Folder -> what it holds, in the order of the page.
        figures: Path of a block diagram -> its title.
        command: What writes the page.
    """
    counted = Counter(each.is_package for each in blocks.values())
    lines = [
        _OPEN.format(
            command=command,
            dash=DASH,
            modules=counted[False],
            packages=counted[True],
            folders=len(folders),
            list_name=PurePosixPath(LIST).name,
            core_name=PurePosixPath(CORE).name,
            bender=BENDER,
        ),
        *(f"![{title}](../{path})\n" for path, title in figures.items()),
    ]
    for folder, holds in folders.items():
        lines += _folder(folder, holds, blocks, checks)
    return "\n".join(lines) + "\n"


def _folder(
    folder: str, holds: str, blocks: Mapping[str, Block], checks: Mapping[str, Checks]
) -> Iterator[str]:
    own = [each for each in blocks.values() if each.folder == folder]
    used = {blocks[name].folder for each in own for name in (*each.instances, *each.packages)}
    uses = ", ".join(f"`{name}`" for name in sorted(used - {folder})) or "no other folder"
    yield f"## {folder}\n"
    yield f"{holds} Uses {uses}.\n"
    rows = [_row(each, checks) for each in own if not each.is_package]
    if rows:
        yield from table_lines(HEADINGS, rows, text=HEADINGS)
        yield ""
    for package in (each for each in own if each.is_package):
        yield f"Package {_link(package)}: {_prose(package.summary)}.\n"


def _row(block: Block, checks: Mapping[str, Checks]) -> tuple[str, ...]:
    return (
        _link(block),
        _prose(block.summary),
        _prose(block.latency) or DASH,
        _prose(block.cost) or DASH,
        _checked(checks[block.name]),
    )


def _link(block: Block) -> str:
    return f"[`{block.name}`]({block.path})"


def _checked(checks: Checks) -> str:
    found = [f"[proof](../{checks.proof})"] if checks.proof else []
    found += [f"[{PurePosixPath(test).stem}](../{test})" for test in checks.tests]
    if checks.inside:
        found.append("in " + ", ".join(f"`{name}`" for name in checks.inside))
    return ", ".join(found) or DASH


def _prose(text: str) -> str:
    """Words of a header as Markdown: names as code, and nothing that is markup by chance."""
    parts, end = [], 0
    for code in _CODE.finditer(text):
        parts += [_plain(text[end : code.start()]), f"`{code[0].strip('`')}`"]
        end = code.end()
    return "".join([*parts, _plain(text[end:])])


def _plain(text: str) -> str:
    return re.sub(r"([\\*|<\[\]])", r"\\\1", text)
