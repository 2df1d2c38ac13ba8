"""Home-made terms of pages are seen, in prose alone."""

import pytest
from tests.docs.words import count


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
