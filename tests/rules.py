"""Rules for sources and pages: ``python -m tests.rules`` prints what breaks one of them.

``make lint-sources`` runs it. Import rules of packages are the contracts in pyproject.toml.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.docs.words import LONG, count, pages_of, prose, sentences

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "ringsmith"

SECRET = re.compile(r"\b_core\.secret\b|\b_core import [^\n]*\bsecret\b|\b_core as\b")
"""What touches the code of the secret key, or gives the core a name that hides it."""
MAY_TOUCH = ("client",)

SCHEME = re.compile(
    r"isinstance\([^()]*, *\(?[^()]*\b(?:Auto)?(?:Bfv|Ckks)?Parameters\b(?<!Rlwe)|"
    r"scheme *[=!]= *[\"']|[\"'](?:ckks|bfv)[\"'] *[=!]=|isinstance\([^()]*\b(?:Bfv|Ckks)\w+"
)
"""What asks which scheme it is."""
MAY_ASK = ("params", "schemes", "client/checks.py", "apps/gmdh")
"""The schemes themselves, their parameters, the client's check of a scheme's own functions, and an
application that is written for each scheme."""

ARCHITECTURE = re.compile(
    r"(?i:rpau|StreamDesign|StreamExecutable|StreamDevice|[=!]= *[\"']cpu[\"'])"
    r"|[\"']cpu[\"'] *[=!]="
    r"|ringsmith\.backends\.(?:rpau|stream|cpu)\b"
)
"""What names an architecture, or asks for the reference by its name; comments count."""
MAY_NAME = (
    *("backends/rpau", "backends/stream", "backends/registry.py"),
    *("bench/heaws", "bench/medha", "bench/nano", "bench/programs.py", "bench/rpm"),
    "bench/service/card.py",
)
"""An architecture's own folder, the list of them, and the benches of its papers and designs."""

KEY_SUM = re.compile(
    r"(?:[=!]=|\bin\b)[^\n:]*[\"']ksk_inner_product[\"']"
    r"|[\"']ksk_inner_product[\"'](?!\s*:)|\.ksk_inner_product\("
)
"""What writes sums of digits times a key, or looks for them among nodes. A table of what each op
does may have the op as a key."""
MAY_WRITE = ("graph",)

WIDEST = 78
"""Columns of a line in a code block: the site has no more."""
RESULTS = "docs/results/"
"""Pages whose conditions are those of records, as they were measured."""
MAY_BE_LONG = 0.02
"""The share of sentences that may have more than ``LONG`` words: lists of names and formulas."""

SOURCES = (
    ("touches the secret key, which only the client may", SECRET, MAY_TOUCH),
    ("asks which scheme it is: give the scheme a method", SCHEME, MAY_ASK),
    ("asks for the shape of a key switch: take the record of expand", KEY_SUM, MAY_WRITE),
    ("names an architecture: ask the backend's interface", ARCHITECTURE, MAY_NAME),
)
"""What breaks a rule, its pattern in a Python source, and the packages where it stands rightly."""


def broken_by(text: str, name: str) -> Iterator[str]:
    """The rules that a Python source breaks, a line each.

    Args:
        text: The source.
        name: Its path below the package.
    """
    for what, pattern, allowed in SOURCES:
        if not name.startswith(allowed):
            for found in pattern.finditer(text):
                line = text.count("\n", 0, found.start()) + 1
                yield f"python/ringsmith/{name}:{line}: {found[0]!r} {what}"


def broken_links(page: Path) -> Iterator[str]:
    """The links of a page to files and headings that are not there."""
    text = page.read_text(encoding="utf-8")
    for target, heading in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", text):
        path = page.parent / target if target else page
        if "://" in target:
            continue
        if not path.exists():
            yield f"{page}: the link {target} leads nowhere"
        elif heading and path.suffix == ".md" and heading not in anchors(path):
            yield f"{page}: {target or 'the page'} has no heading #{heading}"


def anchors(page: Path) -> set[str]:
    """The headings of a page as links name them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def wide_blocks(name: str, page: str) -> Iterator[str]:
    """The lines of a page's code blocks that the site would cut off."""
    for block in re.finditer(r"^```.*\n((?:.*\n)*?)```", page, re.M):
        for number, line in enumerate(
            block[1].splitlines(), page.count("\n", 0, block.start()) + 2
        ):
            if len(line) > WIDEST:
                yield f"{name}:{number}: {len(line)} columns of code, the most are {WIDEST}"


def unlisted_pages(docs: Path) -> Iterator[str]:
    """The pages of the documentation that its table lacks, and rows without a page."""
    table = (docs / "README.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| \[[^\]]+\]\(([a-z].*?\.md)\) \|", table, re.M))
    pages = {str(path.relative_to(docs)) for path in docs.glob("**/*.md")} - {"README.md"}
    for page in sorted(pages ^ listed):
        yield f"{docs}/README.md: the table and the folder differ in {page}"


def broken_words(pages: Mapping[str, str]) -> Iterator[str]:
    """Terms of pages for which the field has a name, and too many or too long sentences."""
    for page, text in pages.items():
        for term, number in count({page: text}).home_made.items():
            if number:
                yield f"{page}: {number} words for which the field says {term}"
    lengths = [len(each.split()) for text in pages.values() for each in sentences(prose(text))]
    long = sum(length > LONG for length in lengths)
    if long >= MAY_BE_LONG * len(lengths) or max(lengths) > 2 * LONG:
        yield f"{long} of {len(lengths)} sentences have more than {LONG} words, one {max(lengths)}"


def broken() -> Iterator[str]:
    """Everything in the checkout that breaks a rule, a line each."""
    for path in sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")]):
        if PACKAGE / "_core" not in path.parents:
            yield from broken_by(path.read_text(encoding="utf-8"), str(path.relative_to(PACKAGE)))
    for folder in ("*.md", "docs/**/*.md", "examples/**/*.md"):
        for page in sorted(ROOT.glob(folder)):
            yield from broken_links(page)
            yield from wide_blocks(str(page.relative_to(ROOT)), page.read_text(encoding="utf-8"))
    yield from unlisted_pages(ROOT / "docs")
    pages = pages_of(ROOT)
    yield from broken_words({name: pages[name] for name in pages if not name.startswith(RESULTS)})


if __name__ == "__main__":
    lines = list(broken())
    print("\n".join(lines), end="\n" if lines else "")
    sys.exit(bool(lines))
