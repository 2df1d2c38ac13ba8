"""Pages use the field's terms, and short sentences."""

import pytest
from tests.docs.words import HOME_MADE, LONG, ROOT, count, pages_of, prose, sentences

RESULTS = "docs/results/"
"""Pages whose conditions are those of records, as they were measured."""

PAGES = {name: text for name, text in pages_of(ROOT).items() if not name.startswith(RESULTS)}
MAY_BE_LONG = 0.02
"""The share of sentences that may have more than ``LONG`` words: lists of names and formulas."""


def test_pages_have_no_home_made_terms() -> None:
    found = count(PAGES).home_made
    assert {term: number for term, number in found.items() if number} == {}
    assert set(found) == set(HOME_MADE)


def test_sentences_are_short() -> None:
    lengths = [len(each.split()) for text in PAGES.values() for each in sentences(prose(text))]
    assert sum(length > LONG for length in lengths) < MAY_BE_LONG * len(lengths)
    assert max(lengths) <= 2 * LONG


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("Each of the rooms imports it.", "package, codebase, interface"),
        ("An RPAU with two prime sets.", "modulus bank"),
        ("Whoever reads it.", "someone, a name"),
    ],
)
def test_a_home_made_term_is_seen(text: str, term: str) -> None:
    assert count({"page": text}).home_made[term] == 1
    assert count({"page": f"```\n{text}\n```\nOther words."}).home_made[term] == 0
