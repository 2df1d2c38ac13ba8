"""The catalogue as a page: a table of blocks for each folder of the RTL."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from ringsmith.hdl.catalogue.blocks import Block
from ringsmith.hdl.catalogue.checks import Checks
from ringsmith.hdl.catalogue.lists import BENDER, CORE, LIST, uses
from ringsmith.hdl.sources import COMMON
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
| [`{core_name}`]({core_name}) | FuseSoC: `ringsmith:rtl:all`; each folder has a core too |
| [`{bender}`](../{bender}) | Bender: a group of sources for each folder |

Modules state what they rely on by the macro of [`{header}`]({header}), which they include.
The lists name its folder. Synthesis leaves these assertions out, as `RS_ASSERT_OFF` does.
[`{axi}`]({axi}) has the types of AXI4 and AXI4-Lite buses.
"""


_SHARED = """\
Other projects can take these folders as they are: they use nothing of an architecture. The NTT has
a [page](ntt/README.md) of its own, and an [example](../examples/ntt/README.md) takes it by FuseSoC.
"""


def page(
    blocks: Mapping[str, Block],
    checks: Mapping[str, Checks],
    known: Mapping[str, Any],
    figures: Mapping[str, str],
    command: str,
) -> str:
    """The catalogue.

    Args:
        blocks: All blocks.
        checks: Block -> what checks it.
        known: ``rtl/catalogue.toml``: ``folders`` in the order of the page, and ``shared`` ones.
        figures: Path of a block diagram -> its title.
        command: What writes the page.
    """
    folders: Mapping[str, str] = known["folders"]
    used = uses(blocks)
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
            axi=f"{COMMON}/rs_axi.svh",
            header=f"{COMMON}/rs_assert.svh",
        ),
        _SHARED,
        *table_lines(
            ("folder", "offers", "needs", "FuseSoC"),
            [_shared(folder, folders[folder], used[folder]) for folder in known["shared"]],
            text=("folder", "offers", "needs", "FuseSoC"),
        ),
        "",
        *(f"![{title}](../{path})\n" for path, title in figures.items()),
    ]
    for folder, holds in folders.items():
        lines += _folder(folder, holds, used[folder], blocks, checks)
    return "\n".join(lines) + "\n"


def _shared(folder: str, holds: str, used: set[str]) -> tuple[str, ...]:
    """A folder's row in the table of shared ones."""
    core = f"[`ringsmith:rtl:{folder}`]({folder}/{folder}.core)"
    return f"`{folder}`", holds, _names(used) or DASH, core


def _names(folders: set[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(folders))


def _folder(
    folder: str,
    holds: str,
    used: set[str],
    blocks: Mapping[str, Block],
    checks: Mapping[str, Checks],
) -> Iterator[str]:
    own = [each for each in blocks.values() if each.folder == folder]
    yield f"## {folder}\n"
    yield f"{holds} Uses {_names(used) or 'no other folder'}.\n"
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
