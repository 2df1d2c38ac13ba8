"""Graphs, programs, cycles and RTL are what they were: a change of structure changes no result."""

import json

from tests.golden.digests import KEPT, differences, found, tokens


def test_graphs_programs_cycles_and_rtl_are_what_was_recorded() -> None:
    assert differences(json.loads(KEPT.read_text()), found()) == []


def test_a_change_is_seen() -> None:
    assert differences({"a": "1", "b": "2", "c": "3"}, {"b": "2", "c": "4", "d": "5"}) == [
        "a: gone",
        "c: 3 -> 4",
        "d: new",
    ]


def test_tokens_leave_out_comments_and_keep_strings() -> None:
    assert tokens('a = "x // y"; // no\n/* no */ b <= 4\'d2;') == [
        *("a", "=", '"x // y"', ";", "b", "<", "=", "4", "'", "d2", ";"),
    ]
