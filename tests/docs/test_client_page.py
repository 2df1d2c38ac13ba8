"""What docs/guide/client.md and docs/reference/formats.md show works as it is printed there."""

import re
import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def blocks(page: str) -> list[str]:
    """The programs of a page."""
    return re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)


def printed(block: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What a program of the page prints."""
    script = folder / "page.py"
    script.write_text(block)
    runpy.run_path(str(script))
    return capsys.readouterr().out


def test_the_pages_programs_print_their_messages(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ckks, belongs, seeded, fewer, *more = blocks("guide/client.md")
    on_the_fly, precomputed, bfv, shared = more
    first, second = re.findall(r"-?[0-9.]+", printed(ckks, tmp_path, capsys))
    assert (round(float(first), 3), round(float(second), 3)) == (1.5, -2.25)
    same, error = printed(belongs, tmp_path, capsys).splitlines()
    assert same == "True True"
    assert error.startswith("the ciphertext: of another key pair (tag ")
    assert re.fullmatch(r"\(4, 2, 5, 8192\) [0-9a-f]{20}\n", printed(seeded, tmp_path, capsys))
    assert printed(fewer, tmp_path, capsys).splitlines() == [
        f"4 (0, 1, 2, 3, 4) {8 * 4 * 2 * 5 * 8192}",
        f"2 (0, 1, 4) {8 * 2 * 2 * 3 * 8192}",
        f"{8 * 2 * 2 * 3 * 8192}",
    ]
    whole, half = map(int, printed(on_the_fly, tmp_path, capsys).split())
    assert (whole, half) == (8 * 4 * 2 * 5 * 8192 + 10, 8 * 4 * 5 * 8192 + 10)
    assert printed(precomputed, tmp_path, capsys) == "(2, 4, 8192) True\n"
    first, second, budget = re.findall(r"-?[0-9.]+", printed(bfv, tmp_path, capsys))
    assert (float(first), float(second)) == (0.375, -3.125)
    assert int(budget) > 0
    bits, *numbers = re.findall(r"-?[0-9.]+", printed(shared, tmp_path, capsys))
    assert int(bits) == 8
    for found, exact in zip(map(float, numbers), (0.25, 1, 0.0625, 0), strict=True):
        assert abs(found - exact) <= 2**-8


def test_the_program_of_the_page_of_formats_writes_and_reads_its_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (files,) = blocks("reference/formats.md")
    monkeypatch.chdir(tmp_path)
    assert printed(files, tmp_path, capsys) == "True\nSecretKey(hidden)\n"
    names = {path.name for path in tmp_path.iterdir()} - {"page.py"}
    assert names == {"secret_key.seal", "evaluation", "x.seal"}
