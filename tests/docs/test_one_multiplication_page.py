"""docs/start/one-multiplication.md: its code prints what it says; its listing is the real one."""

import re
import runpy
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ringsmith.cli.main import app

PAGE = Path(__file__).resolve().parents[2] / "docs" / "start" / "one-multiplication.md"
BLOCK = re.compile(r"^```(python|text|sh)\n(.*?)^```", re.DOTALL | re.MULTILINE)
BLOCKS = BLOCK.findall(PAGE.read_text())
LISTING = "ringsmith trace product.rsp --design nano --listing\n"
END = "end of a block\n"


def printed(folder: Path, capsys: pytest.CaptureFixture[str], rtl: bool) -> list[str]:
    """Runs the page's code as one program; returns what each block that prints printed."""
    code = f"print({END.strip()!r})\n".join(text for kind, text in BLOCKS if kind == "python")
    if not rtl:
        code = code.replace(', "rtl")', ")").replace('results["rtl"]', 'results["model"]')
    script = folder / "page.py"
    script.write_text(code)
    runpy.run_path(str(script))
    return [text for text in capsys.readouterr().out.split(END) if text]


@pytest.mark.parametrize("rtl", [False, pytest.param(True, marks=pytest.mark.full)])
def test_the_page_prints_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], rtl: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    stated = [text for kind, text in BLOCKS if kind == "text"]
    (listing,) = (text for text in stated if "waited for" in text)
    stated.remove(listing)
    without = "" if rtl else "rtl (2, 3, 8192) 159026\n"
    assert printed(tmp_path, capsys, rtl) == [text.replace(without, "") for text in stated]

    assert LISTING in [text for kind, text in BLOCKS if kind == "sh"]
    result = CliRunner().invoke(app, LISTING.split()[1:])
    lines = [line.split() for line in result.output.splitlines()]
    assert len(lines) == 1 + 113
    assert [line for line in listing.splitlines() if line.split() not in lines] == []
