"""docs/reference/formats.md has every format of our files, with the version that is written."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "reference" / "formats.md").read_text()


def written() -> dict[str, int]:
    """Formats that the package names, and the version of each name in the source."""
    found: dict[str, int] = {}
    for path in (ROOT / "python" / "ringsmith").glob("**/*.py"):
        text = path.read_text()
        both = re.findall(r'^_?FORMAT, _?VERSION = "(ringsmith-[\w-]+)", (\d+)', text, re.M)
        apart = re.findall(r'^FORMAT = "(ringsmith-[\w-]+)"\nVERSION = (\d+)', text, re.M)
        inside = re.findall(r'"format": "(ringsmith-[\w-]+)",\s+"version": (\d+)', text)
        found |= {name: int(version) for name, version in (*both, *apart, *inside)}
    return found


@pytest.mark.parametrize("name", written())
def test_the_page_has_a_format_with_its_version(name: str) -> None:
    told = re.search(rf"`{name}` (\d+)(?:; [^|]*?(\d+))?[ ,|]", PAGE)
    assert told is not None, f"{name} is not on the page"
    assert written()[name] == max(int(version) for version in told.groups() if version)


def test_formats_are_found_in_the_sources() -> None:
    assert len(written()) >= 10


def test_the_page_has_no_format_that_nobody_writes() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "python" / "ringsmith").glob("**/*.py"))
    assert [
        n for n in re.findall(r"`(ringsmith-[\w-]+)` \d", PAGE) if f'"{n}"' not in sources
    ] == []
