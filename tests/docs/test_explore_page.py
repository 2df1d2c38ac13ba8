"""The page docs/results/explore.md.

Its commands can be typed, and what is said by hand follows from tables.
"""

import re
import shlex
from pathlib import Path

import pytest
import typer

from ringsmith.cli.main import app
from ringsmith.explore.request import Request
from ringsmith.platforms import load_platform

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "results" / "explore.md").read_text()
ANSWERS = " ".join(PAGE.partition("\n## Answers\n")[2].partition("\n## ")[0].split())
SECTIONS = dict(
    re.findall(r"^## ([^\n]* on [^\n]*)\n(.*?)<!-- end of section -->", PAGE, re.M | re.S)
)
MEDHA = "ctctmult, rotate, rescale of medha-set1 on Alveo U250"
FRAMEWORK = "ctctmult of framework-set1 on Alveo U280"

Row = dict[str, str]


def rows(section: str, *headings: str) -> list[Row]:
    """The rows of a section's table that has these headings."""
    tables = re.findall(r"^\|.*\n\|[-: |]*\|\n(?:\|.*\n)+", SECTIONS[section], re.M)
    for table in tables:
        head, _, *lines = [
            [cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()
        ]
        if set(headings) <= set(head):
            return [dict(zip(head, line, strict=True)) for line in lines]
    raise AssertionError(f"{section} has no table with {headings}")


def value(text: str) -> float:
    return float(text.replace(",", "").rstrip("%"))


# ---- commands ----------------------------------------------------------------------------------


@pytest.mark.parametrize("title", [MEDHA, FRAMEWORK])
def test_a_sections_command_can_be_typed_and_is_that_sections(title: str) -> None:
    typed = re.search(r"^Written on \S+ by `(ringsmith explore [^`]*)`", SECTIONS[title].strip())
    assert typed is not None
    words = shlex.split(typed[1])[2:]
    group = typer.main.get_command(app)
    command = group.get_command(None, "explore")  # type: ignore[attr-defined]
    given = command.make_context("explore", words).params
    if given["report"] is not None:  # commands were written without files before
        assert str(given["report"]) == "docs/results/explore.md"
        assert given["force"]
        assert given["record"].parts[0] == "build"
    request = Request(
        given["platform"],
        tuple(given["arch"].split(",")),
        given["params"],
        tuple(given["ops"].split(",")),
        megahertz=given["mhz"],
    )
    assert f"{request.subject} on {load_platform(request.platform).card}" == title


# ---- answers -----------------------------------------------------------------------------------


def shares_of(resource: str) -> list[Row]:
    """Who wins within a share of the card's resource."""
    return rows(MEDHA, resource, "`vector`, ms", "`rpau`, ms")


def test_who_wins_for_medhas_set_is_what_the_tables_say() -> None:
    most = {
        name: next(
            row["of the card"] for row in shares_of(name)[::-1] if row["fastest"] == "`vector`"
        )
        for name in ("DSP", "LUT", "RAM Mbit")
    }
    dsps, luts, rams = (most[name].replace("%", " %") for name in most)
    assert f"up to {dsps} of the card's DSPs, {luts} of its LUTs or {rams} of its RAM" in ANSWERS
    factor = max(
        value(row["`vector`, ms"]) / value(row["`rpau`, ms"])
        for name in most
        for row in shares_of(name)
        if row["fastest"] == "`rpau`" and row["`vector`, ms"] != "–"
    )
    assert f"From there on `rpau` wins, by up to {factor:.1f} times" in ANSWERS


def test_what_stream_gains_as_a_unit_is_what_the_table_says() -> None:
    found = rows(MEDHA, "speedup", "speedup without host and link")
    speedups = [value(row["speedup"]) for row in found]
    assert max(speedups) < 1
    assert (
        f"it takes {1 / max(speedups):.1f} to {1 / min(speedups):.1f} times as long as the CPU"
    ) in ANSWERS
    without = [row["speedup without host and link"] for row in found]
    most = max(value(text) for text in without if text != "–")
    assert f"up to {most:.1f} times as fast as one thread" in ANSWERS


def test_the_array_of_table_iii_is_found_and_beaten_as_the_table_says() -> None:
    designs = rows(FRAMEWORK, "design", "ms", "DSP")
    array = next(row for row in designs if row["design"].startswith("`vector-t256-r2-c1-"))
    fastest = designs[0]
    assert fastest["design"].startswith("`vector-t256-r4-c1-")  # 512 ALUs, the same network
    assert f"{value(array['ms']):.1f} ms with {array['DSP']} DSPs" in ANSWERS
    assert f"{value(fastest['ms']):.1f} ms with {fastest['DSP']} DSPs" in ANSWERS
    banks = re.search(r"-b(\d+)x(\d+)-", array["design"])
    assert banks is not None
    mebibytes = int(banks[1]) * int(banks[2]) * 256 * 4 >> 20
    assert f"{mebibytes} MiB" in ANSWERS
