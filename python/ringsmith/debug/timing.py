"""What ``ringsmith timing`` shows: tables for a terminal, a page, and JSON."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime

from rich.markup import escape
from rich.table import Table

from ringsmith import __version__
from ringsmith.backends.inspector import TimedDesign
from ringsmith.hdl.timing.graph import Family, delays
from ringsmith.hdl.timing.report import TimedPath
from ringsmith.hdl.yosys import yosys
from ringsmith.markdown import table_lines

FORMAT = "ringsmith-timing"
VERSION = 1

_BLOCKS = ("block", "inputs", "levels", "delay (ns)")
_PATHS = ("block", "clock", "levels", "delay (ns)", "fan-out", "alike", "from", "to", "cells")
_PATH_WORDS = ("block", "clock", "from", "to", "cells")


def conditions() -> str:
    """What the numbers are, in a sentence or two, for every place that shows them."""
    return (
        "Delays of cells by family (UltraScale+: "
        f"{delays()[Family.ULTRASCALE_PLUS]['source']}), and an estimate for each net by the "
        "inputs that it drives: nothing was placed or routed."
    )


def worst(timed: TimedDesign, count: int) -> list[TimedPath]:
    """The worst paths, those of one block together, the block with the longest first."""
    chosen = timed.timing.paths[:count]
    blocks = list(dict.fromkeys(path.block for path in chosen))
    return sorted(chosen, key=lambda path: blocks.index(path.block))


def tables(timed: TimedDesign, count: int) -> Iterator[Table]:
    """Tables for a terminal: the blocks, and the worst paths."""
    blocks = Table(title=f"Blocks of {escape(timed.name)}", title_justify="left")
    for heading in _BLOCKS:
        blocks.add_column(heading, justify="left" if heading == "block" else "right")
    for row in _block_rows(timed):
        blocks.add_row(*row)
    yield blocks
    paths = Table(title="Worst paths between registers", title_justify="left", show_lines=True)
    for heading in _PATHS:
        words = heading in _PATH_WORDS
        paths.add_column(heading, justify="left" if words else "right", overflow="fold")
    for row in _path_rows(worst(timed, count)):
        paths.add_row(*map(escape, row))
    yield paths


def page(timed: TimedDesign, count: int, command: str) -> str:
    """A page in Markdown; ``command`` is what was typed."""
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    blocks = "\n".join(table_lines(_BLOCKS, _block_rows(timed)))
    rows = [
        [
            f"`{cell}`" if heading in _PATH_WORDS else cell
            for heading, cell in zip(_PATHS, row, strict=True)
        ]
        for row in _path_rows(worst(timed, count))
    ]
    paths = "\n".join(table_lines(_PATHS, rows, _PATH_WORDS))
    return f"""<!-- Written by `{command}`; do not edit. -->
# Timing of {timed.name}

After reading this page you know the longest paths between registers of {timed.name}, by block.

Written on {date} by `{command}` (Ringsmith {__version__}, Yosys {yosys().version}). Synthesized:
{timed.what}.

{conditions()}

## Blocks

{blocks}

## Worst paths

{paths}
"""


def to_json(timed: TimedDesign, command: str) -> str:
    """Everything that was found, as JSON; delays in picoseconds."""
    details = {
        "format": FORMAT,
        "version": VERSION,
        "command": command,
        "ringsmith": __version__,
        "yosys": yosys().version,
        "design": timed.name,
        "synthesized": timed.what,
        "conditions": conditions(),
        "delays": delays(),
    }
    return json.dumps({**details, **asdict(timed.timing)}, indent=1) + "\n"


def _block_rows(timed: TimedDesign) -> list[list[str]]:
    return [
        [block.name, f"{block.inputs:,}", str(block.levels), _ns(block.delay_ps)]
        for block in timed.timing.blocks
    ]


def _path_rows(paths: Sequence[TimedPath]) -> list[list[str]]:
    return [
        [
            path.block,
            path.clock,
            str(path.levels),
            _ns(path.delay_ps),
            f"{path.fanout:,}",
            str(path.alike),
            path.start,
            path.end,
            path.cells,
        ]
        for path in paths
    ]


def _ns(picoseconds: int) -> str:
    return f"{picoseconds / 1000:.2f}"
