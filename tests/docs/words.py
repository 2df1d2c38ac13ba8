"""Counts the words of the documentation: ``python tests/docs/words.py [FOLDER]``.

Words, the longest sentence, sentences of more than 25 words, and terms of this project for which
the field has a name. ``tests/rules.py`` holds the pages to the last, but those of results.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LONG = 25

HOME_MADE: Mapping[str, str] = {
    "package, codebase, interface": r"\b(?:rooms|doorways?|the house)\b",
    "modulus bank": r"\bprime sets?\b",
    "seed-compressed, expanded on the fly, full key": r"\b(?:compact|whole|seeded) keys?\b",
    "precomputed key": r"\bprepared keys?\b",
    "pre-initialised accumulator": r"\bbegun sums?\b",
    "equivalent operation on the other unit": r"\btwins?\b",
    "sign-correction polynomial": r"\bpolynomials? of halves\b",
    "modulus-size kernel, pseudo-Mersenne": r"\b(?:word class|near power)\b",
    "validation error, hint": r"\b(?:refusals?|way out)\b",
    "baseline, comparison": r"\bpeers?\b",
    "someone, a name": r"\b(?:[Ww]hoever|[Nn]obody|[Ss]trangers?)\b",
}
"""The field's term -> the home-made one in prose."""


@dataclass(frozen=True)
class Count:
    """Counts of some text.

    Attributes:
        words: All words.
        longest: Words of the longest sentence.
        long: Sentences of more than ``LONG`` words.
        home_made: The field's term -> how often the home-made one is there.
    """

    words: int
    longest: int
    long: int
    home_made: Mapping[str, int]


def prose(page: str) -> str:
    """The prose of a Markdown page: no code, no tables, no targets of links."""
    page = re.sub(r"<!--.*?-->", "", page, flags=re.DOTALL)
    page = re.sub(r"^```.*?^```", "\n", page, flags=re.DOTALL | re.MULTILINE)
    page = re.sub(r"^\|.*$", "", page, flags=re.MULTILINE)
    page = re.sub(r"!\[[^\]]*\]\([^)]*\)", "", page)
    page = re.sub(r"\]\([^)]*\)", "]", page)
    return re.sub(r"`[^`]*`", "x", page)


def sentences(text: str) -> Iterator[str]:
    """Sentences of prose: they end with a stop, a colon or a paragraph."""
    for paragraph in re.split(r"\n\s*\n|\n(?=[-*#] |\d+\. )", text):
        for sentence in re.split(r"(?<=[.:;!?])\s+", " ".join(paragraph.split())):
            if sentence:
                yield sentence


def count(pages: Mapping[str, str]) -> Count:
    """Counts pages by their names."""
    lengths = [len(each.split()) for text in pages.values() for each in sentences(prose(text))]
    terms: Counter[str] = Counter()
    for text in pages.values():
        for term, pattern in HOME_MADE.items():
            terms[term] += len(re.findall(pattern, prose(text)))
    words = sum(len(text.split()) for text in pages.values())
    return Count(words, max(lengths), sum(length > LONG for length in lengths), terms)


def pages_of(root: Path) -> dict[str, str]:
    """The documentation below a folder, by the paths of pages."""
    paths = [*root.glob("*.md"), *root.glob("docs/**/*.md")]
    return {str(path.relative_to(root)): path.read_text(encoding="utf-8") for path in paths}


def main() -> None:
    """Prints the counts of a checkout."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    found = count(pages_of(root))
    print(
        f"{found.words:,} words; longest sentence {found.longest}; {found.long} of more than {LONG}"
    )
    for term, number in found.home_made.items():
        print(f"{number:6} in place of: {term}")


if __name__ == "__main__":
    main()
